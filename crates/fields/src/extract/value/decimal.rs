//! Exact decimals: an integer and a number of decimals, never a binary fraction.

use super::Parsed;
use std::{cmp::Ordering, fmt};

/// More digits than any amount on paper, few enough that sums of thousands of them fit 128 bits.
const MOST_DIGITS: usize = 24;
const MOST_DECIMALS: u32 = 12;

/// An exact number.
#[derive(Debug, Clone, Copy)]
pub struct Decimal {
    units: i128,
    decimals: u32,
}

impl Decimal {
    pub const ZERO: Self = Self { units: 0, decimals: 0 };

    /// Reads the normalised form, `-1234.56`.
    pub fn from_plain(text: &str) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let decimals = u32::try_from(fraction.len()).ok().filter(|decimals| *decimals <= MOST_DECIMALS)?;
        let all = [whole, fraction].concat();
        if all.is_empty() || all.len() > MOST_DIGITS || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let units: i128 = all.parse().ok()?;
        Some(Self { units: if negative { -units } else { units }, decimals })
    }

    pub fn is_zero(self) -> bool {
        self.units == 0
    }

    pub fn is_negative(self) -> bool {
        self.units < 0
    }

    #[must_use]
    pub fn abs(self) -> Self {
        Self { units: self.units.abs(), ..self }
    }

    #[must_use]
    pub fn negated(self) -> Self {
        Self { units: -self.units, ..self }
    }

    /// None only if the sum has more digits than any amount.
    pub fn plus(self, other: Self) -> Option<Self> {
        let decimals = self.decimals.max(other.decimals);
        Some(Self { units: self.scaled(decimals)?.checked_add(other.scaled(decimals)?)?, decimals })
    }

    pub fn minus(self, other: Self) -> Option<Self> {
        self.plus(other.negated())
    }

    pub fn times(self, other: Self) -> Option<Self> {
        Some(Self { units: self.units.checked_mul(other.units)?, decimals: self.decimals + other.decimals })
    }

    /// Whether two amounts differ by no more than `tolerance`.
    pub fn is_within(self, other: Self, tolerance: Self) -> bool {
        self.minus(other).is_some_and(|difference| difference.abs() <= tolerance)
    }

    fn scaled(self, decimals: u32) -> Option<i128> {
        let factor = 10i128.checked_pow(decimals.checked_sub(self.decimals)?)?;
        self.units.checked_mul(factor)
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let decimals = self.decimals.max(other.decimals);
        match (self.scaled(decimals), other.scaled(decimals)) {
            (Some(left), Some(right)) => left.cmp(&right),
            // Only numbers far beyond any amount overflow; their size without decimals orders them well enough.
            _ => (self.units / 10i128.pow(self.decimals.min(30)))
                .cmp(&(other.units / 10i128.pow(other.decimals.min(30)))),
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.units.unsigned_abs().to_string();
        let decimals = self.decimals as usize;
        let padded = format!("{digits:0>width$}", width = decimals + 1);
        let (whole, fraction) = padded.split_at(padded.len() - decimals);
        let sign = if self.units < 0 { "-" } else { "" };
        if decimals == 0 { write!(f, "{sign}{whole}") } else { write!(f, "{sign}{whole}.{fraction}") }
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '\u{2007}')
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}' | '\u{2bc}')
}

fn is_minus(c: char) -> bool {
    matches!(c, '-' | '\u{2212}' | '\u{2013}' | '\u{2010}' | '\u{2011}')
}

/// Reads a number as printed: `1.234,56`, `1,234.56`, `1 234,56`, `1'234.56`, `(12.00)`, `12,00-`.
///
/// `decimal_mark` is the document's, for the numbers that do not show it themselves, such as `1.234`.
pub fn parse(text: &str, decimal_mark: Option<char>) -> Option<Parsed> {
    let text = text.trim();
    let (bracketed, text) = match text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => (true, inner.trim()),
        None => (false, text),
    };
    let without_minus = text.trim_start_matches(is_minus).trim_start_matches(is_space);
    let body = without_minus.trim_end_matches(is_minus).trim_end_matches(is_space);
    let negative = bracketed || text.starts_with(is_minus) || text.ends_with(is_minus);
    let body = body.trim_start_matches('+');
    if !body.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == ',') || body.len() > 64 {
        return None;
    }
    let (magnitude, doubt) = magnitude(body, decimal_mark)?;
    let number = Decimal::from_plain(&magnitude)?;
    let number = if negative { number.negated() } else { number };
    Some(Parsed { normalised: number.to_string(), doubt, checksum: None })
}

/// Digits with a dot before the decimals, and a doubt where the mark could mean two things.
fn magnitude(body: &str, decimal_mark: Option<char>) -> Option<(String, Option<String>)> {
    let marks: Vec<(usize, char)> = body.char_indices().filter(|(_, c)| !c.is_ascii_digit()).collect();
    if marks.iter().any(|(_, c)| !(*c == '.' || *c == ',' || is_space(*c) || is_apostrophe(*c))) {
        return None;
    }
    let Some((last_at, last)) = marks.last().copied() else { return Some((body.to_owned(), None)) };
    let others: Vec<char> = marks[..marks.len() - 1].iter().map(|(_, mark)| *mark).collect();
    let behind = body[last_at + last.len_utf8()..].len();
    let before = &body[..last_at];
    let can_be_decimal = (last == '.' || last == ',') && !others.contains(&last) && behind > 0;
    let as_decimal = || {
        let whole = if before.is_empty() { Some("0".to_owned()) } else { ungrouped(before) };
        whole.map(|whole| format!("{whole}.{}", &body[last_at + last.len_utf8()..]))
    };
    let as_group = || ungrouped(body);
    if !can_be_decimal {
        return as_group().map(|digits| (digits, None));
    }
    let is_three_digits = behind == 3 && !before.is_empty() && before != "0" && before.len() <= 3;
    if !others.is_empty() || !is_three_digits {
        return as_decimal().map(|digits| (digits, None));
    }
    match decimal_mark {
        Some(mark) if mark == last => as_decimal().map(|digits| (digits, None)),
        Some(_) => as_group().map(|digits| (digits, None)),
        None => {
            let (grouped, decimal) = (as_group()?, as_decimal()?);
            let doubt = format!("{body} can be read as {grouped} or as {decimal}");
            Some((grouped, Some(doubt)))
        }
    }
}

/// The digits of a whole number, if its marks stand where marks of thousands stand: three digits behind each, or two
/// in the middle as in India.
fn ungrouped(text: &str) -> Option<String> {
    let groups: Vec<&str> = text.split(|c: char| !c.is_ascii_digit()).collect();
    let mut marks = text.chars().filter(|c| !c.is_ascii_digit());
    if let Some(first) = marks.next()
        && !marks.all(|mark| mark == first || (is_space(mark) && is_space(first)))
    {
        return None;
    }
    let [first, middle @ .., last] = groups.as_slice() else { return Some(groups.concat()) };
    let fits = (1..=3).contains(&first.len())
        && last.len() == 3
        && (middle.iter().all(|group| group.len() == 3) || middle.iter().all(|group| group.len() == 2));
    fits.then(|| groups.concat())
}

/// The decimal mark that an amount shows beyond doubt: one with two decimals, or with both marks.
pub fn evident_mark(text: &str) -> Option<char> {
    let marks: Vec<char> = text.chars().filter(|c| matches!(c, '.' | ',')).collect();
    let last = *marks.last()?;
    let behind = text.rsplit(last).next()?.chars().filter(char::is_ascii_digit).count();
    let only_once = marks.iter().filter(|mark| **mark == last).count() == 1;
    let is_evident = only_once && (behind == 2 || behind == 1 || behind == 4 || (marks.len() > 1 && behind > 0));
    is_evident.then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(text: &str) -> Option<String> {
        parse(text, None).map(|parsed| parsed.normalised)
    }

    #[test]
    fn all_habits_of_writing_amounts_give_the_same_number() {
        for text in
            ["1.234,56", "1,234.56", "1 234,56", "1'234.56", "1’234.56", "1\u{a0}234,56", "1\u{202f}234.56", "1234,56"]
        {
            assert_eq!(plain(text).as_deref(), Some("1234.56"), "{text}");
        }
        assert_eq!(plain("1.234.567,8").as_deref(), Some("1234567.8"));
        assert_eq!(plain("1,23,456.70").as_deref(), Some("123456.70"));
        assert_eq!(plain("0,125").as_deref(), Some("0.125"));
        assert_eq!(plain(",50").as_deref(), Some("0.50"));
        assert_eq!(plain("9,9000").as_deref(), Some("9.9000"));
    }

    #[test]
    fn signs_stand_before_behind_or_as_brackets() {
        for text in ["-12,00", "12,00-", "(12,00)", "−12,00", "- 12,00"] {
            assert_eq!(plain(text).as_deref(), Some("-12.00"), "{text}");
        }
    }

    #[test]
    fn three_digits_behind_the_only_mark_are_decided_by_the_document_or_doubted() {
        assert_eq!(parse("1.234", Some(',')), Some(Parsed::sure("1234")));
        assert_eq!(parse("1.234", Some('.')), Some(Parsed::sure("1.234")));
        let doubted = parse("1.234", None).and_then(|parsed| parsed.doubt);
        assert_eq!(doubted.as_deref(), Some("1.234 can be read as 1234 or as 1.234"));
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in ["", "abc", "1.2.3", "12:30", "1,2,3", "-", "12.34.5678", "1'23"] {
            assert_eq!(plain(text), None, "{text}");
        }
    }

    #[test]
    fn sums_are_exact() {
        let all = ["0.1", "0.2", "-0.3"].into_iter().map(|text| Decimal::from_plain(text).unwrap());
        let sum = all.reduce(|sum, next| sum.plus(next).unwrap()).unwrap();
        assert!(sum.is_zero());
    }

    proptest! {
        #[test]
        fn nothing_that_is_printed_panics(text in "\\PC{0,40}") {
            let _ = parse(&text, Some(','));
            let _ = evident_mark(&text);
        }

        #[test]
        fn an_amount_survives_german_print(units in -10_000_000i64..10_000_000) {
            let whole = (units.abs() / 100).to_string();
            let grouped = whole.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(".");
            let printed = format!("{}{grouped},{:02}", if units < 0 { "-" } else { "" }, units.abs() % 100);
            let parsed = parse(&printed, None).and_then(|parsed| Decimal::from_plain(&parsed.normalised)).unwrap();
            prop_assert_eq!(parsed, Decimal { units: i128::from(units), decimals: 2 });
        }
    }
}
