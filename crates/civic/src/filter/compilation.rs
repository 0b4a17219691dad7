//! Compilations of letters from the public, told by their text: hundreds of pages that no summary needs.

use crate::pattern::pattern;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::{collections::HashSet, sync::LazyLock};

/// From where on a document counts as a compilation. A limit that is none is not asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompilationLimits {
    /// More pages than this, whatever is on them. Off: long contracts and bids have as many.
    pub pages: Option<u32>,
    /// More than so many pages, of which more than that share were read by OCR. Off: so are scanned contracts.
    pub scanned: Option<(u32, f64)>,
    /// More letters' ends ("sincerely,") than this…
    pub closings: Option<u32>,
    /// … in texts of at least so many characters.
    pub least_characters: usize,
    /// One letter's beginning and end per so many pages …
    pub pages_per_letter: Option<u32>,
    /// … over at least so many pages.
    pub least_pages: u32,
    /// More senders of mail than this.
    pub senders: Option<u32>,
}

impl Default for CompilationLimits {
    fn default() -> Self {
        Self {
            pages: None,
            scanned: None,
            closings: Some(20),
            least_characters: 5000,
            pages_per_letter: Some(2),
            least_pages: 10,
            senders: Some(20),
        }
    }
}

impl CompilationLimits {
    /// All three as the seed has them.
    pub fn strict() -> Self {
        Self { pages: Some(1000), scanned: Some((50, 0.3)), least_characters: 0, ..Self::default() }
    }
}

static SALUTATION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?im)^\s*(?:dear|hello|hi|greetings|honorable)\b.{0,80}[,:]\s*$|^\s*to whom it may concern")
});
static CLOSING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?im)\bsincerely,|^\s*(?:sincerely|(?:best |kind |warm )?regards|respectfully|thank you|best),?\s*$")
});
static SINCERELY: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\bsincerely,"));
static SENDER: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?im)^\s*from:\s*(\S.{0,100})$"));

/// The rule by which a document is a compilation, and why.
pub fn decide(text: &str, pages: u32, pages_by_ocr: u32, limits: &CompilationLimits) -> Option<(&'static str, String)> {
    if let Some(most) = limits.pages.filter(|most| pages > *most) {
        return Some(("compilation.pages", format!("{pages} pages are more than {most}")));
    }
    let share = f64::from(pages_by_ocr) / f64::from(pages.max(1));
    if let Some((least, most)) = limits.scanned.filter(|(least, most)| pages > *least && share > *most) {
        return Some((
            "compilation.scanned",
            format!("of {pages} pages, more than {least}, a share of {share:.2} above {most} is scanned"),
        ));
    }
    let count = |found: &Regex| u32::try_from(found.find_iter(text).count()).unwrap_or(u32::MAX);
    if let Some(most) =
        limits.closings.filter(|most| text.len() >= limits.least_characters && count(&SINCERELY) > *most)
    {
        return Some(("compilation.closings", format!("more than {most} letters end in it")));
    }
    let letters = || count(&SALUTATION).min(count(&CLOSING));
    if let Some(per) =
        limits.pages_per_letter.filter(|per| pages >= limits.least_pages && letters().saturating_mul(*per) >= pages)
    {
        return Some(("compilation.density", format!("there is a letter on every {per} pages")));
    }
    let senders = || {
        SENDER
            .captures_iter(text)
            .filter_map(|found| Some(found.get(1)?.as_str().trim().to_lowercase()))
            .collect::<HashSet<_>>()
    };
    let most = limits.senders.filter(|most| u32::try_from(senders().len()).unwrap_or(u32::MAX) > *most)?;
    Some(("compilation.senders", format!("more than {most} senders have written it")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str, pages: u32, scanned: u32, limits: &CompilationLimits) -> Option<&'static str> {
        decide(text, pages, scanned, limits).map(|(rule, _)| rule)
    }

    #[test]
    fn s001_54_compilations_of_letters_are_told_by_their_text() {
        let (strict, usual) = (CompilationLimits::strict(), CompilationLimits::default());
        assert_eq!(rule("", 1001, 0, &strict), Some("compilation.pages"));
        assert_eq!(rule("", 1000, 0, &strict), None);
        assert_eq!(rule("", 60, 20, &strict), Some("compilation.scanned"));
        assert_eq!(rule("", 60, 18, &strict), None);
        // The usual limits leave long and scanned contracts alone.
        assert_eq!(rule("", 2000, 2000, &usual), None);
        let letters = format!("{}\nSincerely, a resident\n", "We write about the park. ".repeat(20)).repeat(21);
        assert_eq!(rule(&letters, 0, 0, &usual), Some("compilation.closings"));
        assert_eq!(rule(&"Sincerely, a resident\n".repeat(20), 0, 0, &strict), None);
        let dense = "Dear Council,\nNo.\nRegards,\n".repeat(6);
        assert_eq!(rule(&dense, 12, 0, &usual), Some("compilation.density"));
        assert_eq!(rule(&dense, 13, 0, &usual), None);
        assert_eq!(rule(&dense, 9, 0, &usual), None);
        let mails = (0..21).map(|at| format!("From: resident{at}@example.com")).collect::<Vec<_>>().join("\nNo.\n");
        assert_eq!(rule(&mails, 5, 0, &usual), Some("compilation.senders"));
    }
}
