//! Who signs a contract: the companies that are printed above the lines to sign on.

use crate::extract::{sheet::Sheet, value::address};

/// What stands on or below the line to sign on.
const SIGNING: &[&str] = &["by:", "name:", "title:", "its:", "signature:", "signed:", "par:", "por:"];
/// How far above it the company is named, in lines.
const FARTHEST_NAME: usize = 4;
const LONGEST_NAME: usize = 10;

/// The companies that sign, each once.
pub(crate) fn signers(sheet: &Sheet) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (index, line) in sheet.lines.iter().enumerate() {
        for segment in &line.segments {
            let first = sheet.tokens[segment.tokens.start].text.to_lowercase();
            if !SIGNING.contains(&first.as_str()) {
                continue;
            }
            let rect = sheet.rect_of(&segment.tokens);
            let page = sheet.page_of(index).lines.clone();
            let mut above = (page.start.max(index.saturating_sub(FARTHEST_NAME))..index).rev();
            let named = above.find_map(|above| company_in_column(sheet, above, rect.x0, rect.x1));
            let Some(name) = named else { continue };
            let key = address::name_key(&name);
            if found.iter().all(|other| address::name_key(other) != key) {
                found.push(name);
            }
        }
    }
    found
}

/// The company that a line names in a column: "COMPANY: Birch Paper, Inc.".
fn company_in_column(sheet: &Sheet, line: usize, left: f32, right: f32) -> Option<String> {
    let segments = sheet.lines[line].segments.iter();
    let text = segments
        .filter(|segment| {
            let rect = sheet.rect_of(&segment.tokens);
            rect.x0 < right && rect.x1 > left
        })
        .map(|segment| sheet.quote(&segment.tokens))
        .next()?;
    let name = text.rsplit_once(": ").map_or(text.as_str(), |(_, name)| name).trim();
    let is_name = name.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit())
        && name.split_whitespace().count() <= LONGEST_NAME
        && address::has_legal_form(name);
    is_name.then(|| name.to_owned())
}

/// Whether two names are of one party, the one perhaps shortened.
pub(crate) fn is_same_party(one: &str, other: &str) -> bool {
    let (one, other) = (address::name_key(one), address::name_key(other));
    !one.is_empty() && !other.is_empty() && (one.contains(&other) || other.contains(&one))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_reader::{Page, Rect, Word};

    fn sheet(lines: &[&[(f32, &str)]]) -> Sheet {
        let mut page = Page::converted(1);
        for (row, texts) in lines.iter().enumerate() {
            for (left, text) in *texts {
                let mut x = *left;
                for word in text.split(' ') {
                    let width = word.chars().count() as f32 * 5.0;
                    let y = 12.0 * row as f32;
                    page.words.push(Word {
                        text: word.to_owned(),
                        bbox: Rect::new(x, y, x + width, y + 10.0),
                        confidence: None,
                    });
                    x += width + 4.0;
                }
            }
        }
        Sheet::new(&[page])
    }

    #[test]
    fn companies_above_the_lines_to_sign_on_are_the_signers() {
        let found = signers(&sheet(&[
            &[(20.0, "BIRCH PAPER, INC."), (300.0, "Harbour Books Ltd.")],
            &[(20.0, "By: ____________"), (300.0, "By: ____________")],
            &[(20.0, "Name: Ann Birch"), (300.0, "Name: John Demo")],
            &[(20.0, "Title: President"), (300.0, "Title: Director")],
        ]));
        assert_eq!(found, ["BIRCH PAPER, INC.", "Harbour Books Ltd."]);
        assert!(signers(&sheet(&[&[(20.0, "Paper is delivered by Birch Paper, Inc. today")]])).is_empty());
    }

    #[test]
    fn names_are_compared_without_their_legal_form() {
        assert!(is_same_party("BIRCH PAPER, INC.", "Birch Paper, Inc."));
        assert!(!is_same_party("Birch Paper, Inc.", "Harbour Books Ltd."));
    }
}
