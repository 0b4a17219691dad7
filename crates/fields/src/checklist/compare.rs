//! Whether two values of different documents are the same.

use crate::extract::value::Decimal;
use bindery_core::fold::{fold_text, tokens};
use std::collections::BTreeSet;

/// How the values of an agreement are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Comparison {
    /// Names of people and companies: the order of words, titles and middle names do not matter.
    Name,
    /// The same words in the same order.
    Text,
    Date,
    /// Amounts that differ by no more than this.
    Amount {
        tolerance: Decimal,
    },
    /// Account and other numbers: letters and digits alone.
    Code,
}

/// Words beside a name that are no part of it.
const TITLES: &[&str] = &[
    "mr", "mrs", "ms", "miss", "mx", "dr", "prof", "sir", "dame", "herr", "frau", "monsieur", "madame", "mme", "mlle",
    "m", "senor", "senora", "sr", "sra", "don", "dona", "signor", "signora", "sig", "de", "van", "von", "der", "del",
    "la", "le", "gmbh", "ltd", "limited", "inc", "llc", "ag", "sa", "sl", "bv", "co", "plc", "srl", "spa", "corp",
];

impl Comparison {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Text => "text",
            Self::Date => "date",
            Self::Amount { .. } => "amount",
            Self::Code => "code",
        }
    }

    /// Whether two normalised values say the same.
    pub(super) fn agree(self, one: &str, other: &str) -> bool {
        match self {
            Self::Name => same_name(one, other),
            Self::Text => words(one) == words(other),
            Self::Date => one.trim() == other.trim(),
            Self::Amount { tolerance } => match (Decimal::from_plain(one), Decimal::from_plain(other)) {
                (Some(one), Some(other)) => one.is_within(other, tolerance),
                _ => one.trim() == other.trim(),
            },
            Self::Code => code(one) == code(other),
        }
    }
}

fn words(text: &str) -> Vec<String> {
    tokens(text).into_iter().map(|token| token.folded).collect()
}

fn code(text: &str) -> String {
    fold_text(text).chars().filter(|letter| letter.is_alphanumeric()).collect()
}

/// Names are the same when all words of the shorter one are in the longer one, an initial standing for its word. One word
/// alone, such as a common surname, is the same as itself only.
fn same_name(one: &str, other: &str) -> bool {
    let (one, other) = (name_words(one), name_words(other));
    let (short, long) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    if short.len() < 2 {
        return one == other;
    }
    let is_in = |word: &String| {
        let initial = |known: &String| {
            (word.chars().count() == 1 && known.starts_with(word.as_str()))
                || (known.chars().count() == 1 && word.starts_with(known.as_str()))
        };
        long.contains(word) || long.iter().any(initial)
    };
    let whole = short.iter().filter(|word| long.contains(*word)).count();
    whole > 0 && short.iter().all(is_in)
}

fn name_words(text: &str) -> BTreeSet<String> {
    let all: BTreeSet<String> = words(text).into_iter().collect();
    let own: BTreeSet<String> = all.iter().filter(|word| !TITLES.contains(&word.as_str())).cloned().collect();
    if own.is_empty() { all } else { own }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_in_any_order_with_titles_and_initials() {
        let same = |one, other| Comparison::Name.agree(one, other);
        assert!(same("Jana Holm", "HOLM, Jana"));
        assert!(same("Dr. Jana Maria Holm", "Jana Holm"));
        assert!(same("J. Holm", "Jana Holm"));
        assert!(same("José Núñez", "JOSE NUNEZ"));
        assert!(same("Nordwind Papier GmbH", "Nordwind Papier"));
        assert!(!same("Jana Holm", "Jonas Holm"));
        assert!(!same("Holm", "Jana Holm"), "a surname alone is no proof");
        assert!(!same("J. H.", "Jana Holm"), "nor are initials");
        assert!(same("Holm", "holm"));
    }

    #[test]
    fn numbers_are_compared_without_their_spacing_and_amounts_by_value() {
        assert!(Comparison::Code.agree("DE02 1203 0000 0000 2020 51", "de02120300000000202051"));
        assert!(!Comparison::Code.agree("DE02120300000000202051", "DE02120300000000202015"));
        let amount = |text| Comparison::Amount { tolerance: Decimal::from_plain(text).unwrap() };
        assert!(amount("0").agree("1200", "1200.00"));
        assert!(!amount("0").agree("1200.00", "1200.01"));
        assert!(amount("0.05").agree("1200.00", "1200.01"));
        assert!(
            Comparison::Text.agree("Sales Clerk", "sales  clerk") && !Comparison::Text.agree("Clerk", "Sales Clerk")
        );
        assert!(
            Comparison::Date.agree("2026-01-02", "2026-01-02") && !Comparison::Date.agree("2026-01-02", "2026-02-01")
        );
    }
}
