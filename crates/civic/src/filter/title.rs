//! A title without what only dresses it: numbering, hours, brackets at its end.

use crate::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;

/// `1.`, `1.2`, `A.`, `(a)`, `IV.`, `Item 7:`, and an hour in front.
static DRESSED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:[\s*#•·–—-]+",
        r"|(?:agenda\s+)?item\s+(?:no\.?\s*)?(?:\d{1,3}[a-z]?|[a-z])\s*[.):–-]+\s*",
        r"|\(?(?:\d{1,3}[a-z]?|[a-z]|[ivxlc]{2,6})(?:\.(?:\d{1,3}|[a-z])\b)*[.):]+\s+",
        r"|\d{1,3}(?:\.\d{1,3})+\s+",
        r"|\d{1,2}:\d{2}\s*[ap]\.?m\.?\s*[:–-]?\s*)",
    ))
});
static BRACKETS_AT_END: LazyLock<Regex> = LazyLock::new(|| pattern(r"\s*(?:\([^()]*\)|\[[^\[\]]*\])\s*$"));

/// Lower case, on one line, with straight apostrophes.
pub fn lowered(title: &str) -> String {
    let straight = title.replace(['\u{2018}', '\u{2019}'], "'").to_lowercase();
    straight.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// [`lowered`], without numbering in front, and without brackets and full stops at the end.
pub fn plain(title: &str) -> String {
    let whole = lowered(title);
    let mut rest = whole.as_str();
    while let Some(found) = DRESSED.find(rest).filter(|found| !found.is_empty() && found.end() < rest.len()) {
        rest = rest.get(found.end()..).unwrap_or_default();
    }
    loop {
        let shorter = rest.trim_end_matches(['.', ':', ';', ',', '*', '_', ' ', '-', '–', '—']);
        let at = BRACKETS_AT_END.find(shorter).map_or(shorter.len(), |found| found.start());
        // What stands in brackets alone is the title.
        let shorter = shorter.get(..at).filter(|text| !text.is_empty()).unwrap_or(shorter);
        if shorter.len() == rest.len() {
            return rest.to_owned();
        }
        rest = shorter;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbering_and_brackets_are_taken_off() {
        for (title, expected) in [
            ("1.1 Roll Call", "roll call"),
            ("A.  Public Participation - 3 Minutes", "public participation - 3 minutes"),
            ("IV. APPROVAL OF MINUTES", "approval of minutes"),
            ("(a) Adjournment.", "adjournment"),
            ("2a. 6:00 PM – Call to Order", "call to order"),
            ("Item 3: Mayor\u{2019}s Remarks", "mayor's remarks"),
            ("CLOSED SESSION (not on video)", "closed session"),
            ("(None)", "(none)"),
            ("Vision zero", "vision zero"),
            ("5.10 Stipend Pay", "stipend pay"),
            ("1.", "1"),
            ("", ""),
        ] {
            assert_eq!(plain(title), expected, "{title}");
        }
    }
}
