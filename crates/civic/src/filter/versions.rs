//! Of several versions of one document, the last counts.
//!
//! Documents belong together when their names, without the words about versions, are the same: a digest and the
//! legislation that it digests are two documents. Where the name says nothing of a version, the file name in the
//! address does.

use crate::{filter::title, pattern::pattern};
use regex::Regex;
use std::{collections::HashMap, sync::LazyLock};

/// `Ver2`, `Version 3`, `v.2`, `Rev 4`.
static NUMBERED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:ver(?:sion)?|rev(?:ision)?)[\s.#-]*(\d{1,3})\b|\bv\.?(\d{1,3})\b"));
static WORDED: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(draft|revised|amended|final)\b"));
static ENDING: LazyLock<Regex> = LazyLock::new(|| pattern(r"\.(?:pdf|docx?|xlsx?|pptx?|rtf|txt|html?)$"));

/// How far a document has come: its number counts before its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    number: u32,
    word: i8,
}

/// The name without words about versions, and the version, if it names one.
fn read(name: &str) -> (String, Option<Version>) {
    let name = title::lowered(&decoded(name).replace(['_', '+'], " "));
    let name = ENDING.replace(&name, "");
    let number = NUMBERED.captures(&name).and_then(|found| found.get(1).or(found.get(2))?.as_str().parse().ok());
    let word = WORDED.captures_iter(&name).filter_map(|found| word_rank(found.get(1)?.as_str())).max();
    let bare = WORDED.replace_all(&NUMBERED.replace_all(&name, " "), " ").into_owned();
    let base = bare.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let version =
        (number.is_some() || word.is_some()).then(|| Version { number: number.unwrap_or(0), word: word.unwrap_or(0) });
    (base, version)
}

fn word_rank(word: &str) -> Option<i8> {
    Some(match word {
        "draft" => -1,
        "revised" => 1,
        "amended" => 2,
        "final" => 3,
        _ => return None,
    })
}

/// Percent signs with two digits behind them read as the byte that they stand for.
pub fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let byte = behind.get(..2).filter(|_| *first == b'%').and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 16).ok()
        });
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { behind.get(2..).unwrap_or_default() } else { behind };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn file_name(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default()
}

/// Of each document, given as name and address, whether a later version of it is among the others.
pub fn superseded(documents: &[(&str, &str)]) -> Vec<bool> {
    let known: Vec<_> = documents
        .iter()
        .map(|(name, url)| {
            let by_name = read(name);
            let by_file = read(file_name(url));
            if by_name.1.is_none() && by_file.1.is_some() { by_file } else { by_name }
        })
        .collect();
    let plain = Version { number: 0, word: 0 };
    // A document without a version counts only where another says one.
    let mut latest: HashMap<&str, Version> = HashMap::new();
    for (base, version) in known.iter().filter(|(base, _)| !base.is_empty()) {
        if let Some(version) = version {
            let last = latest.entry(base).or_insert(*version);
            *last = (*last).max(*version);
        }
    }
    for (base, version) in &known {
        if let (None, Some(last)) = (version, latest.get_mut(base.as_str())) {
            *last = (*last).max(plain);
        }
    }
    let is_older = |(base, version): &(String, Option<Version>)| {
        latest.get(base.as_str()).is_some_and(|last| version.unwrap_or(plain) < *last)
    };
    known.iter().map(is_older).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep<'a>(documents: &[(&'a str, &'a str)]) -> Vec<&'a str> {
        let older = superseded(documents);
        documents.iter().zip(older).filter(|(_, older)| !older).map(|((name, _), _)| *name).collect()
    }

    #[test]
    fn s001_50_the_last_version_of_a_document_is_kept() {
        assert_eq!(keep(&[("Leg Ver1", "a"), ("Leg Ver2", "b")]), ["Leg Ver2"]);
        assert_eq!(keep(&[("Leg Ver10", "a"), ("Leg Ver9", "b")]), ["Leg Ver10"]);
        // The digest and the legislation are two documents.
        let both = [("Leg Dig Ver1", "a"), ("Leg Dig Ver2", "b"), ("Legislation Ver1", "c"), ("Legislation Ver3", "d")];
        assert_eq!(keep(&both), ["Leg Dig Ver2", "Legislation Ver3"]);
        // Where the name says nothing, the address does.
        let by_file =
            [("A", "https://example.com/x/Leg%20Ver1.pdf"), ("B", "https://example.com/y/Leg%20Ver2.pdf?x=1")];
        assert_eq!(keep(&by_file), ["B"]);
        assert_eq!(
            keep(&[("Draft Resolution", "a"), ("Resolution", "b"), ("Resolution - FINAL.pdf", "c")]),
            ["Resolution - FINAL.pdf"]
        );
        assert_eq!(keep(&[("Ordinance", "a"), ("Ordinance (Revised)", "b")]), ["Ordinance (Revised)"]);
        assert_eq!(keep(&[("Plan rev. 3", "a"), ("Plan v2", "b"), ("Plan version 4", "c")]), ["Plan version 4"]);
        // Not versions: the same name twice, names that are nothing but a version, others.
        let others =
            [("Exhibit", "a"), ("Exhibit", "b"), ("Final", "c"), ("Draft", "d"), ("Map 1", "e"), ("Map 2", "f")];
        assert_eq!(keep(&others).len(), 6);
        assert_eq!(decoded("a%20b%2"), "a b%2");
    }
}
