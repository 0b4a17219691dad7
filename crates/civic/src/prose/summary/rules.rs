//! The rules of extraction, read from the word lists beside this module. English; another language is another set of
//! lists.
//!
//! Patterns are in lower case and see text in lower case on one line.

use crate::{
    pattern::pattern,
    prose::word_lists::{section, sections, with_remark},
};
use regex::Regex;
use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, value},
};
use std::{collections::HashMap, sync::LazyLock};

/// What the part of a document that a passage stands in is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Section {
    /// Nothing says.
    Body,
    Subject,
    Purpose,
    Action,
    Fiscal,
    Background,
    Discussion,
    Affected,
    Next,
    /// An unknown heading.
    Other,
    /// Nothing below this heading is for readers: routing, signatures, lists of files.
    Dropped,
}

/// What a body is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    Adopt,
    Approve,
    Authorize,
    Award,
    Appropriate,
    Amend,
    Introduce,
    Appoint,
    Deny,
    Set,
    Direct,
    Hear,
    Determine,
    Consider,
    Receive,
}

/// A variant by the name that a word list has for it.
fn variant<T: DeserializeOwned>(name: &str) -> Option<T> {
    T::deserialize(value::StrDeserializer::<value::Error>::new(name)).ok()
}

/// Headings and labels: the section that each opens, and whether only for its own line.
pub(super) static HEADINGS: LazyLock<HashMap<&'static str, (Section, bool)>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    for list in sections(include_str!("headings.txt")) {
        let Some((name, kind)) = list.heading.split_once(' ') else { continue };
        let Some(section) = variant(name) else { continue };
        for words in list.lines {
            all.entry(words).or_insert((section, kind == "label"));
        }
    }
    all
});

/// Passages that say nothing of the item. None of them keeps a passage that asks for a decision about money out: see
/// `lines`.
#[derive(Debug)]
pub(super) struct Boilerplate {
    pub(super) pattern: Regex,
    /// A passage with an amount is kept nevertheless.
    pub(super) unless_money: bool,
}

pub(super) static BOILERPLATE: LazyLock<Vec<Boilerplate>> = LazyLock::new(|| {
    let lists = sections(include_str!("boilerplate.txt")).into_iter();
    let rule = lists.map(|list| Boilerplate {
        pattern: pattern(&list.lines.join("|")),
        unless_money: list.heading.ends_with(", unless money"),
    });
    rule.collect()
});

/// The words that ask for an action.
#[derive(Debug)]
pub(super) struct ActionRule {
    pub(super) kind: ActionKind,
    /// In the form of an order: `adopt`.
    pub(super) verbs: Vec<&'static str>,
    /// As a noun, in front of `of`, `to`, `for`: `adoption`.
    pub(super) nouns: Vec<&'static str>,
    /// From 0, nothing is decided, to 2.
    pub(super) weight: u8,
}

/// In the order in which they are asked: the first that fits names the kind.
pub(super) static ACTIONS: LazyLock<Vec<ActionRule>> = LazyLock::new(|| {
    let rule = |heading: &str, lines: Vec<&'static str>| {
        let (kind, weight) = heading.split_once(' ')?;
        let mut rule =
            ActionRule { kind: variant(kind)?, verbs: Vec::new(), nouns: Vec::new(), weight: weight.parse().ok()? };
        for line in lines {
            match with_remark(line) {
                (noun, "noun") => rule.nouns.push(noun),
                (verb, _) => rule.verbs.push(verb),
            }
        }
        Some(rule)
    };
    sections(include_str!("actions.txt")).into_iter().filter_map(|list| rule(list.heading, list.lines)).collect()
});

const CUES: &str = include_str!("cues.txt");

/// The patterns of a cue as one: its whole words, and what else says the same.
fn cue(name: &str) -> Regex {
    let words = section(CUES, &format!("{name} words"));
    let whole = (!words.is_empty()).then(|| format!(r"\b(?:{})\b", words.join("|")));
    let phrases = section(CUES, name).into_iter().map(ToOwned::to_owned);
    pattern(&whole.into_iter().chain(phrases).collect::<Vec<_>>().join("|"))
}

/// It begins an order without being one: `Staff recommends that the Council …`.
pub(super) static ASKING: LazyLock<Regex> = LazyLock::new(|| cue("asking"));
/// Who feels it.
pub(super) static AFFECTED: LazyLock<Regex> = LazyLock::new(|| cue("affected"));
/// What comes after.
pub(super) static NEXT: LazyLock<Regex> = LazyLock::new(|| cue("next"));
/// Money without an amount.
pub(super) static NO_COST: LazyLock<Regex> = LazyLock::new(|| cue("no_cost"));
/// What makes an item weigh more, whatever it costs.
pub(super) static GRAVE: LazyLock<Regex> = LazyLock::new(|| cue("grave"));

/// What goes on behind an order, as alternatives of a pattern: `approve the contract`.
pub(super) fn objects() -> String {
    section(CUES, "objects").join("|")
}

/// What goes on behind the name of a paper, as alternatives of a pattern: `Resolution calling upon the Governor`.
pub(super) fn qualifiers() -> String {
    section(CUES, "qualifying").join("|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_lists_is_a_rule() {
        let headings = sections(include_str!("headings.txt"));
        for list in &headings {
            let (name, kind) = list.heading.split_once(' ').unwrap();
            assert!(variant::<Section>(name).is_some() && ["heading", "label"].contains(&kind), "{}", list.heading);
        }
        let words: usize = headings.iter().map(|list| list.lines.len()).sum();
        assert_eq!((headings.len(), HEADINGS.len()), (10, words), "no heading is there twice");
        assert_eq!(ACTIONS.len(), sections(include_str!("actions.txt")).len());
        assert!(ACTIONS.iter().all(|rule| rule.weight <= 2 && !rule.verbs.is_empty() && !rule.nouns.is_empty()));
        assert_eq!(BOILERPLATE.iter().filter(|rule| rule.unless_money).count(), 1);
        // An empty pattern would fit everything.
        for cue in [&ASKING, &AFFECTED, &NEXT, &NO_COST, &GRAVE] {
            assert!(!cue.is_match(""), "{}", cue.as_str());
        }
        assert!(BOILERPLATE.iter().all(|rule| !rule.pattern.is_match("")));
        assert!(!objects().is_empty() && !qualifiers().is_empty());
    }
}
