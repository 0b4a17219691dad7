//! A name that a slip states beside a label of its own, such as `Merchant: Corner Shop`. No model is needed to find it.

use super::{Decided, name_doubts::doubt_of_text};
use crate::extract::{label::Label, sheet::Sheet};
use std::ops::Range;

/// How often what stands behind such a label is the name.
const CONFIDENCE: f32 = 0.95;

/// The text behind one of these labels and a colon, on the first line that has one.
pub(crate) fn beside_label(sheet: &Sheet, labels: &[Label]) -> Option<Decided> {
    let page = sheet.pages.first()?;
    page.lines.clone().find_map(|line| {
        let tokens = &sheet.lines[line].tokens;
        let colon = tokens.clone().find(|token| sheet.tokens[*token].text.ends_with(':'))?;
        let label = sheet.quote(&(tokens.start..colon + 1)).trim_end_matches(':').trim().to_lowercase();
        let label = labels.iter().find(|known| known.text.to_lowercase() == label)?;
        let behind = colon + 1..tokens.end;
        is_name(sheet, &behind).then(|| {
            let text = sheet.quote(&behind);
            let spans: Vec<Range<usize>> = std::iter::once(behind).collect();
            Decided {
                confidence: CONFIDENCE,
                rival: None,
                label: Some(label.text.clone()),
                because: vec![format!("beside {:?}", label.text)],
                doubt: doubt_of_text(sheet, &text, &spans),
                value: text.clone(),
                normalised: text,
                spans,
            }
        })
    })
}

/// `Store: 0042` states a number.
fn is_name(sheet: &Sheet, tokens: &Range<usize>) -> bool {
    let text = sheet.quote(tokens);
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    letters >= 2 && letters > text.chars().filter(char::is_ascii_digit).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_reader::{Block, BlockKind, Page, model::Inlines};

    fn sheet(lines: &[&str]) -> Sheet {
        let mut page = Page::converted(1);
        for line in lines {
            page.blocks.push(Block::body(BlockKind::Paragraph { text: Inlines::plain(*line) }));
        }
        Sheet::new(&[page])
    }

    fn read(lines: &[&str]) -> Option<String> {
        let labels: Vec<Label> = ["merchant", "store"].iter().filter_map(|text| Label::new(text)).collect();
        beside_label(&sheet(lines), &labels).map(|name| name.value)
    }

    #[test]
    fn a_name_behind_its_label_is_the_name() {
        assert_eq!(read(&["Receipt", "Merchant: Corner Shop", "Date: 2 April 2026"]).as_deref(), Some("Corner Shop"));
        assert_eq!(read(&["Store: 0042", "Merchant: Birch & Sons"]).as_deref(), Some("Birch & Sons"));
    }

    #[test]
    fn without_a_label_nothing_is_stated() {
        assert_eq!(read(&["Corner Shop", "Cashier: Ann", "Store: 0042"]), None);
        assert_eq!(read(&["Store:", "Merchant of Venice"]), None);
    }
}
