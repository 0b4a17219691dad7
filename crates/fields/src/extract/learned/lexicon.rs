//! Words around values by category: what a label says, in any language, without the word itself.

use crate::extract::label::plain_parts;
use std::{collections::HashMap, sync::LazyLock};

macro_rules! categories {
    ($($variant:ident $name:literal,)*) => {
        /// A category of words.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Category { $($variant,)* }

        impl Category {
            pub(crate) const ALL: &[Self] = &[$(Self::$variant),*];

            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}

categories! {
    Total "total", Grand "grand", Sub "sub", Excl "excl", Incl "incl", Tax "tax", Cash "cash", Paid "paid",
    Change "change", Card "card", Rounding "rounding", Discount "discount", Quantity "quantity", Service "service",
    Summary "summary", Price "price", Points "points", Capital "capital", Due "due", Prepaid "prepaid", Net "net",
    Tip "tip", Line "line", Legal "legal", Trade "trade", Address "address", Contact "contact",
    Registration "registration", Title "title", Greeting "greeting", Clerk "clerk", Date "date", DueDate "duedate",
    Time "time", Number "number",
}

/// A set of categories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Categories(u64);

impl Categories {
    pub(crate) fn has(self, category: Category) -> bool {
        self.0 & (1 << category as u64) != 0
    }

    pub(crate) fn has_any(self, categories: &[Category]) -> bool {
        categories.iter().any(|category| self.has(*category))
    }

    pub(crate) fn add(&mut self, category: Category) {
        self.0 |= 1 << category as u64;
    }

    #[must_use]
    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// A word that a category has, at its place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LexiconHit {
    /// First and last part.
    pub start: usize,
    pub end: usize,
    pub categories: Categories,
}

struct LexiconEntry {
    parts: Vec<String>,
    categories: Categories,
}

/// By the skeleton of the first word, longest first.
struct Lexicon(HashMap<String, Vec<LexiconEntry>>);

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::read(include_str!("words.txt")));

impl Lexicon {
    fn read(text: &str) -> Self {
        let mut phrases: HashMap<Vec<String>, Categories> = HashMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((name, words)) = line.split_once(':') else { continue };
            let Some(category) = Category::ALL.iter().find(|category| category.name() == name.trim()) else { continue };
            for phrase in words.split(',') {
                let parts: Vec<String> =
                    phrase.split_whitespace().flat_map(plain_parts).map(|part| skeleton(&part)).collect();
                if !parts.is_empty() {
                    phrases.entry(parts).or_default().add(*category);
                }
            }
        }
        let mut by_first: HashMap<String, Vec<LexiconEntry>> = HashMap::new();
        for (parts, categories) in phrases {
            by_first.entry(parts[0].clone()).or_default().push(LexiconEntry { parts, categories });
        }
        for entries in by_first.values_mut() {
            entries.sort_by(|a, b| b.parts.len().cmp(&a.parts.len()).then(a.parts.cmp(&b.parts)));
        }
        Self(by_first)
    }
}

/// Letters that OCR confuses made one, in words long enough that nothing else is meant.
fn skeleton(part: &str) -> String {
    if part.len() < 4 || !part.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return part.to_owned();
    }
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    if digits * 2 > part.len() {
        return part.to_owned();
    }
    part.chars()
        .map(|c| match c {
            '0' => 'o',
            '1' | 'l' => 'i',
            '5' => 's',
            '8' => 'b',
            other => other,
        })
        .collect()
}

/// The words of categories among parts of a line.
pub(crate) fn hits<'p>(parts: impl Iterator<Item = &'p str>) -> Vec<LexiconHit> {
    let parts: Vec<String> = parts.map(skeleton).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < parts.len() {
        let entry = LEXICON.0.get(&parts[at]).into_iter().flatten().find(|entry| parts[at..].starts_with(&entry.parts));
        match entry {
            Some(entry) => {
                let end = at + entry.parts.len();
                found.push(LexiconHit { start: at, end, categories: entry.categories });
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All categories among the words of a text.
    fn of_text(text: &str) -> Categories {
        let parts: Vec<String> = text.split_whitespace().flat_map(plain_parts).collect();
        let found = hits(parts.iter().map(String::as_str));
        found.iter().fold(Categories::default(), |all, hit| all.union(hit.categories))
    }

    #[test]
    fn the_longest_phrase_counts() {
        assert!(of_text("SUB-TOTAL:").has(Category::Sub));
        assert!(!of_text("SUB-TOTAL:").has(Category::Total));
        assert!(of_text("TOTAL SALES (EXCLUDING GST)").has_any(&[Category::Excl]));
        assert!(of_text("Gesamtbetrag").has(Category::Total));
        assert!(of_text("Rückgeld").has(Category::Change));
        assert!(of_text("Celkem k úhradě").has(Category::Grand));
    }

    #[test]
    fn letters_that_ocr_confuses_do_not_matter() {
        assert!(of_text("T0TAL").has(Category::Total));
        assert!(of_text("TOTAI").has(Category::Total));
        assert!(of_text("CHAN6E").is_empty());
    }

    #[test]
    fn every_line_of_the_list_names_a_category() {
        for line in include_str!("words.txt").lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let name = line.split(':').next().unwrap();
            assert!(Category::ALL.iter().any(|category| category.name() == name), "{line}");
        }
    }
}
