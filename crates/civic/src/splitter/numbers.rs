//! The numbers in front of an agenda's items, and which of two comes first.

use crate::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;

/// How a number is written. Items side by side are numbered in one style.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Style {
    /// `2026-0417`: a file's number in place of one of the agenda.
    File,
    /// `ITEM 3:`
    Item,
    /// `7.1`, `7.A`, with so many parts.
    Dotted(usize),
    /// `7.`
    Digits,
    /// `A.`
    Letter,
    /// `a.`
    SmallLetter,
    /// `IV.`
    Roman,
    /// `iv.`
    SmallRoman,
    /// `(7)`
    BracketedDigits,
    /// `(b)`
    BracketedLetter,
}

/// A number at the beginning of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number {
    pub style: Style,
    /// As printed, without the mark behind it.
    pub text: String,
    /// Grows from item to item.
    pub value: u64,
}

static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:(?P<file>\d{4}-\d{1,5})",
        r"|(?i:(?:agenda\s+)?item)\s+(?:(?i:no\.?)\s*)?(?P<item>\d{1,3}(?:\.?[A-Za-z])?|[A-Z](?:\.?\d{1,2})?)\s*[:.)–-]",
        r"|(?P<dotted>(?:\d{1,3}|[A-Z])(?:\.(?:\d{1,3}|[A-Za-z]))+)[.)]?",
        r"|\((?P<bdigits>\d{1,3})\)|\((?P<bletter>[a-zA-Z])\)",
        r"|(?P<digits>\d{1,3})(?P<after>[a-z]?)[.)]",
        r"|(?P<roman>[IVXLC]{1,6})[.)]|(?P<sroman>[ivx]{2,6})[.)]",
        r"|(?P<letter>[A-Z])[.)]|(?P<sletter>[a-z])[.)])(?:\s+|$)",
    ))
});

/// The number in front of a line, and what the line says behind it.
pub fn split(line: &str) -> Option<(Number, &str)> {
    let found = NUMBER.captures(line)?;
    let rest = line.get(found.get(0)?.end()..).unwrap_or_default().trim();
    let group = |name: &str| found.name(name).map(|text| text.as_str());
    let number = |style, text: &str, value| Some(Number { style, text: text.to_owned(), value });
    let number = if let Some(text) = group("file") {
        number(Style::File, text, digits(text))
    } else if let Some(text) = group("item") {
        number(Style::Item, text, mixed(text))
    } else if let Some(text) = group("dotted") {
        number(Style::Dotted(text.matches('.').count()), text, mixed(text))
    } else if let Some(text) = group("bdigits") {
        number(Style::BracketedDigits, text, digits(text))
    } else if let Some(text) = group("bletter") {
        number(Style::BracketedLetter, text, letter(text))
    } else if let Some(text) = group("digits") {
        let whole = format!("{text}{}", group("after").unwrap_or_default());
        number(Style::Digits, &whole, mixed(&whole))
    } else if let Some(text) = group("roman") {
        number(Style::Roman, text, roman(text)?)
    } else if let Some(text) = group("sroman") {
        number(Style::SmallRoman, text, roman(&text.to_uppercase())?)
    } else if let Some(text) = group("letter") {
        number(Style::Letter, text, letter(text))
    } else {
        group("sletter").and_then(|text| number(Style::SmallLetter, text, letter(text)))
    };
    Some((number?, rest))
}

impl Number {
    /// `I.` is a letter behind `H.`, and `i.` behind `h.`; else it is a roman number.
    #[must_use]
    pub fn as_letter_behind(self, before: Option<&Self>) -> Self {
        let one = (self.text.chars().count() == 1).then(|| letter(&self.text));
        let style = match self.style {
            Style::Roman => Style::Letter,
            Style::SmallRoman => Style::SmallLetter,
            _ => return self,
        };
        let follows = |value: u64| before.is_some_and(|before| before.style == style && before.value + 1 == value);
        match one.filter(|value| follows(*value)) {
            Some(value) => Self { style, value, ..self },
            None => self,
        }
    }
}

fn digits(text: &str) -> u64 {
    text.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
}

/// From 1; 0 for what is no letter.
fn letter(text: &str) -> u64 {
    let first = text.chars().next().map(|letter| letter.to_ascii_lowercase());
    first.filter(char::is_ascii_lowercase).map_or(0, |letter| u64::from(u32::from(letter)) - 96)
}

/// `7`, `7a`, `7.1.B`: three digits for each part, so that parts compare one after the other.
fn mixed(text: &str) -> u64 {
    let mut parts: Vec<u64> = Vec::new();
    for piece in text.split(['.', ' ']) {
        let number = digits(piece);
        if piece.starts_with(|c: char| c.is_ascii_digit()) {
            parts.push(number);
        }
        if let Some(at) = piece.find(|c: char| c.is_ascii_alphabetic()) {
            parts.push(piece.get(at..).map_or(0, letter));
            if at == 0 && number > 0 {
                parts.push(number);
            }
        }
    }
    (0..4).fold(0, |sum, at| sum * 1_000 + parts.get(at).copied().unwrap_or(0).min(999))
}

fn roman(text: &str) -> Option<u64> {
    let values = text.chars().map(|letter| match letter {
        'I' => 1,
        'V' => 5,
        'X' => 10,
        'L' => 50,
        _ => 100,
    });
    let values: Vec<i64> = values.collect();
    let mut sum = 0;
    for (at, value) in values.iter().enumerate() {
        // A smaller one in front of a larger one is taken off.
        let is_taken_off = values.get(at + 1).is_some_and(|next| next > value);
        sum += if is_taken_off { -value } else { *value };
    }
    u64::try_from(sum).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<(Style, String, u64)> {
        split(line).map(|(number, _)| (number.style, number.text, number.value))
    }

    #[test]
    fn numbers_are_told_from_words() {
        for (line, style, text, rest) in [
            ("33. SUBJECT: REPORT", Style::Digits, "33", "SUBJECT: REPORT"),
            ("7.A. Minutes", Style::Dotted(1), "7.A", "Minutes"),
            ("5.10 Stipend pay", Style::Dotted(1), "5.10", "Stipend pay"),
            ("ITEM 2: TERRACES", Style::Item, "2", "TERRACES"),
            ("IV. OFFICERS", Style::Roman, "IV", "OFFICERS"),
            ("(b) Second", Style::BracketedLetter, "b", "Second"),
            ("B. Opening remarks", Style::Letter, "B", "Opening remarks"),
            ("2017-0346 Report", Style::File, "2017-0346", "Report"),
            ("a.", Style::SmallLetter, "a", ""),
            ("3) Vote", Style::Digits, "3", "Vote"),
        ] {
            let (number, title) = split(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((number.style, number.text.as_str(), title), (style, text, rest), "{line}");
        }
        for line in ["5 Year Plan", "A Resolution", "Adjourn.", "2019", "U.S. Mail", "e.g. this"] {
            assert!(read(line).is_none_or(|(style, ..)| style == Style::Dotted(1)), "{line}: {:?}", read(line));
        }
    }

    #[test]
    fn values_grow() {
        let value = |line: &str| split(line).map(|(number, _)| number.value).unwrap_or_default();
        for (one, next) in [
            ("3. a", "4. a"),
            ("IV. a", "V. a"),
            ("IX. a", "XI. a"),
            ("5.9 a", "5.10 a"),
            ("7.A a", "7.B a"),
            ("2a. x", "2b. x"),
            ("XIV. a", "XV. a"),
        ] {
            assert!(value(one) < value(next), "{one} {next}");
        }
        assert_eq!(["I", "IV", "IX", "XIV", "XL", "XC"].map(|text| roman(text).unwrap()), [1, 4, 9, 14, 40, 90]);
        let eight = split("H. a").unwrap().0;
        let nine = split("I. a").unwrap().0.as_letter_behind(Some(&eight));
        assert_eq!((nine.style, nine.value), (Style::Letter, 9));
    }
}
