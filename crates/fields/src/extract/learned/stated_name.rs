//! A name that a slip states beside a label of its own, such as `Merchant: Corner Shop`. No model is needed to find it.

use super::Decided;
use super::merchant::{behind_owner_label, has_legal_form, is_bare_trade};
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
            Decided {
                value: text.clone(),
                normalised: text,
                spans: std::iter::once(behind).collect(),
                confidence: CONFIDENCE,
                rival: None,
                label: Some(label.text.clone()),
                because: vec![format!("beside {:?}", label.text)],
                doubt: None,
            }
        })
    })
}

/// The company that a slip names as the owner of the shop, on the same line or on the next.
pub(crate) fn owner(sheet: &Sheet) -> Option<String> {
    let page = sheet.pages.first()?;
    page.lines.clone().find_map(|line| {
        let own = sheet.quote(&sheet.lines[line].tokens);
        let behind = behind_owner_label(&own)?.to_owned();
        let below = || page.lines.contains(&(line + 1)).then(|| sheet.quote(&sheet.lines[line + 1].tokens));
        let name = if behind.is_empty() { below()? } else { behind };
        has_legal_form(&name).then_some(name)
    })
}

/// Why a name may be a part of one that is printed on several lines: nothing but a trade and a legal form (`RESTAURANT SDN
/// BHD`), a bracket that is not closed, or `GMBH &`.
pub(crate) fn fragment(name: &str) -> Option<String> {
    if name.matches('(').count() != name.matches(')').count() {
        return Some(format!("{name} may be a part of a longer name: its bracket is open"));
    }
    if name.ends_with(['&', '+']) {
        return Some(format!("{name} may be a part of a longer name: it goes on behind its last sign"));
    }
    is_bare_trade(name).then(|| format!("{name} may be a part of a longer name: it names a trade alone"))
}

/// How far down a slip a company that is not its issuer may be named: below stand those of tills, cards and lotteries.
const HEAD_LINES: usize = 14;

/// A company with a legal form at the head of a slip whose name has no word of the one that was chosen, which has none.
pub(crate) fn other_company(sheet: &Sheet, chosen: &str) -> Option<String> {
    if has_legal_form(chosen) {
        return None;
    }
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= 3);
        words.map(str::to_lowercase).collect()
    };
    let own = words(chosen);
    let page = sheet.pages.first()?;
    let names = page.lines.clone().take(HEAD_LINES).map(|line| sheet.quote(&sheet.lines[line].tokens));
    let mut companies = names.filter(|name| has_legal_form(name) && name.split(' ').count() <= 9);
    companies.find(|name| words(name).iter().all(|word| !own.contains(word)))
}

/// Why a name that OCR read may be misread: a figure among the letters of a word (`1DEA`), or a legal form that is not whole
/// (`GREEN HILL SDN`, `GREEN HILL SON BHD`).
pub(crate) fn misreading(name: &str) -> Option<String> {
    let words: Vec<&str> = name.split_whitespace().collect();
    let is_mixed = |word: &&&str| {
        let letters = word.chars().filter(|c| c.is_alphabetic()).count();
        let figures = word.chars().filter(char::is_ascii_digit).count();
        figures == 1 && letters >= 1 && word.chars().all(|c| c.is_uppercase() || c.is_ascii_digit() || c == '/')
    };
    if let Some(word) = words.iter().find(is_mixed) {
        return Some(format!("{word} may be misread: a figure stands among its letters"));
    }
    let plain =
        |word: &&str| word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let ending: Vec<String> = words.iter().rev().take(2).rev().map(plain).collect();
    let [before, last] = ending.as_slice() else { return None };
    let differs_by_one = |read: &str, meant: &str| {
        read.len() == meant.len() && read.bytes().zip(meant.bytes()).filter(|(a, b)| a != b).count() == 1
    };
    let is_whole = FORMS_OF_TWO_WORDS.iter().any(|[first, second]| before == first && last == second);
    let is_broken = !is_whole
        && FORMS_OF_TWO_WORDS.iter().any(|[first, second]| {
            last == first || (last == second && differs_by_one(before, first)) || (before == first && last != second)
        });
    is_broken.then(|| format!("the legal form at the end of {name} may be misread"))
}

/// Legal forms of two words, of which the first says nothing alone.
const FORMS_OF_TWO_WORDS: &[[&str; 2]] = &[["sdn", "bhd"], ["pte", "ltd"], ["pty", "ltd"], ["pvt", "ltd"]];

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
    fn the_owner_of_a_shop_is_named_beside_or_below_its_label() {
        let read = |lines: &[&str]| owner(&sheet(lines));
        let company = Some("NORDBAY FOODS SDN BHD".to_owned());
        assert_eq!(read(&["BELLA PIZZA", "TOTAL 12.00", "OWNED BY :", "NORDBAY FOODS SDN BHD"]), company);
        assert_eq!(read(&["BELLA PIZZA", "Owned by NORDBAY FOODS SDN BHD"]), company);
        assert_eq!(read(&["BELLA PIZZA", "OWNED BY", "PEOPLE LIKE YOU"]), None);
        assert_eq!(read(&["BELLA PIZZA", "Nordbay Foods Sdn Bhd", "OWNED BY"]), None);
    }

    #[test]
    fn names_that_ocr_has_misread_are_doubted() {
        for name in
            ["URBAN 1DEA SDN BHD", "99 SPEED MART 5/B", "GREEN HILL TRADING SDN", "GREEN HILL SON BHD", "HILL PTE LTO"]
        {
            assert!(misreading(name).is_some(), "{name}");
        }
        for name in [
            "GREEN HILL SDN. BHD.",
            "AEON CO. (M) BHD",
            "99 SPEED MART S/B",
            "Corner Shop",
            "BIRCH PTE. LTD.",
            "SUBWAY",
        ] {
            assert_eq!(misreading(name), None, "{name}");
        }
    }

    #[test]
    fn parts_of_names_are_doubted() {
        for name in ["RESTAURANT SDN BHD", "TRADING SDN. BHD.", "GREEN HILL HARDWARE ENTERPRISE (NORTH", "HILL GMBH &"]
        {
            assert!(fragment(name).is_some(), "{name}");
        }
        for name in
            ["GREEN HILL RESTAURANT SDN BHD", "AEON CO. (M) BHD", "Corner Shop", "GREEN HILL", "99 SPEED MART S/B"]
        {
            assert_eq!(fragment(name), None, "{name}");
        }
    }

    #[test]
    fn a_company_beside_the_sign_of_a_shop_is_found() {
        let slip = sheet(&["BELLA PIZZA", "NORDBAY FOODS SDN BHD", "44300 BATANG KALI"]);
        assert_eq!(other_company(&slip, "BELLA PIZZA").as_deref(), Some("NORDBAY FOODS SDN BHD"));
        assert_eq!(other_company(&slip, "NORDBAY FOODS SDN BHD"), None);
        assert_eq!(other_company(&slip, "NORDBAY"), None, "the same words");
    }

    #[test]
    fn without_a_label_nothing_is_stated() {
        assert_eq!(read(&["Corner Shop", "Cashier: Ann", "Store: 0042"]), None);
        assert_eq!(read(&["Store:", "Merchant of Venice"]), None);
    }
}
