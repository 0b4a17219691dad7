//! Why the name of who issued a slip may be wrong: another company, a part of a longer name, a misreading.

use super::{
    Decided,
    lexicon::{self, Category},
    merchant::{behind_owner_label, has_legal_form, is_bare_trade, key},
};
use crate::extract::sheet::Sheet;
use std::ops::Range;

/// What is doubtful about a name that the model chose.
pub(crate) fn doubt_of_name(sheet: &Sheet, name: &Decided) -> Option<String> {
    let owner = || {
        let owner = owner(sheet)?;
        Some(format!("shop and owner have names of their own here; the owner is {owner}"))
    };
    let other = || {
        let company = other_company(sheet, &name.value)?;
        Some(format!("{company} is named on the slip, too, and has a legal form"))
    };
    let longer = || {
        let longer = longer_company(sheet, &name.value)?;
        Some(format!("{longer} is named on the slip, too, and is longer"))
    };
    let rival = || {
        let rival = name.rival.as_ref().filter(|rival| !is_part(rival, &name.value))?;
        Some(format!("{rival} could be meant as well"))
    };
    let own = || doubt_of_text(sheet, &name.value, &name.spans);
    owner().or_else(other).or_else(longer).or_else(own).or_else(rival)
}

/// What is doubtful about the words of a name, whatever else the slip says.
pub(super) fn doubt_of_text(sheet: &Sheet, text: &str, spans: &[Range<usize>]) -> Option<String> {
    let is_ocr = spans.iter().any(|span| sheet.ocr_confidence(span).is_some());
    let misread = || misreading(text).filter(|_| is_ocr);
    fragment(text).or_else(|| with_number(text)).or_else(misread)
}

/// Whether one of two names is a part of the other.
fn is_part(one: &str, other: &str) -> bool {
    let (one, other) = (key(one), key(other));
    one.contains(&other) || other.contains(&one)
}

/// The words that tell one name from another: no legal form.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= 3);
    words.filter(|word| !has_legal_form(&format!("x {word}"))).map(str::to_lowercase).collect()
}

/// A name that holds the telephone number or the number of a shop: `SUBWAY#42210 PHONE 03-7887 BIRCH SDN BHD`.
fn with_number(name: &str) -> Option<String> {
    let figures = |word: &str| word.chars().filter(char::is_ascii_digit).count();
    let number = name.split_whitespace().find(|word| figures(word) >= 5)?;
    Some(format!("{number} is hardly a part of a name"))
}

/// A company with a legal form anywhere on the slip whose name has all words of the one that was chosen, which has none.
fn longer_company(sheet: &Sheet, chosen: &str) -> Option<String> {
    let own = words(chosen);
    if has_legal_form(chosen) || own.is_empty() {
        return None;
    }
    let page = sheet.pages.first()?;
    let mut names = page.lines.clone().map(|line| sheet.quote(&sheet.lines[line].tokens));
    names.find(|name| {
        let theirs = words(name);
        has_legal_form(name) && name.split(' ').count() <= 9 && own.iter().all(|word| theirs.contains(word))
    })
}

/// The line with the title or the day of a slip: what is named below it is not who issued it.
fn end_of_head(sheet: &Sheet, lines: &Range<usize>) -> usize {
    let heads = |line: &usize| {
        let hits = lexicon::hits(sheet.lines[*line].parts.iter().map(|part| part.text.as_str()));
        hits.iter().any(|hit| hit.categories.has_any(&[Category::Date, Category::Title]))
    };
    // A title may stand above all.
    lines.clone().skip(1).take(HEAD_LINES).find(heads).unwrap_or(lines.end)
}

/// The company that a slip names as the owner of the shop, on the same line or on the next.
fn owner(sheet: &Sheet) -> Option<String> {
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
fn fragment(name: &str) -> Option<String> {
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

/// A company with a legal form at the head of a slip whose name has no word of the one that was chosen. Where the chosen
/// one has a legal form, too, only what stands above the title counts: below it stands the customer.
fn other_company(sheet: &Sheet, chosen: &str) -> Option<String> {
    let own = words(chosen);
    let page = sheet.pages.first()?;
    let end = if has_legal_form(chosen) { end_of_head(sheet, &page.lines) } else { page.lines.end };
    let head = page.lines.clone().take(HEAD_LINES).filter(|line| *line < end);
    let names = head.map(|line| sheet.quote(&sheet.lines[line].tokens));
    let mut companies = names.filter(|name| has_legal_form(name) && name.split(' ').count() <= 9);
    companies.find(|name| {
        let is_number = name.starts_with(['(', '[']) || name.contains(':');
        let theirs = words(name);
        !is_number && !theirs.is_empty() && theirs.iter().all(|word| !own.contains(word))
    })
}

/// Why a name that OCR read may be misread: a figure among the letters of a word (`1DEA`), or a legal form that is not whole
/// (`GREEN HILL SDN`, `GREEN HILL SON BHD`).
fn misreading(name: &str) -> Option<String> {
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
    fn two_companies_at_the_head_are_doubted_and_a_customer_below_the_title_is_not() {
        let two = sheet(&["NORDBAY FOODS SDN BHD", "GREEN HILL TRADING SDN BHD", "44300 BATANG KALI", "TAX INVOICE"]);
        assert_eq!(other_company(&two, "NORDBAY FOODS SDN BHD").as_deref(), Some("GREEN HILL TRADING SDN BHD"));
        let customer =
            sheet(&["NORDBAY FOODS SDN BHD", "44300 BATANG KALI", "TAX INVOICE", "GREEN HILL TRADING SDN BHD"]);
        assert_eq!(other_company(&customer, "NORDBAY FOODS SDN BHD"), None);
    }

    #[test]
    fn a_longer_name_with_a_legal_form_and_figures_within_a_name_are_doubted() {
        let slip = sheet(&["BELLA PIZZA", "TOTAL 12.00", "Bella Pizza Foods Ltd"]);
        assert_eq!(longer_company(&slip, "BELLA PIZZA").as_deref(), Some("Bella Pizza Foods Ltd"));
        assert!(with_number("BELLA#42210-0 PHONE 03-78870693 PIZZA SDN BHD").is_some());
        assert_eq!(with_number("99 SPEED MART S/B"), None);
    }
}
