//! Numbers as texts write them, and what they mean.

use super::NumberKind;
use crate::pattern::pattern;
use bindery_fields::extract::value::{DateOrder, Decimal, date};
use regex::{Captures, Regex};
use std::{ops::Range, sync::LazyLock};

/// A number where it stands in a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mention {
    pub(super) text: String,
    pub(super) meaning: Meaning,
    /// It only counts the lines of a list.
    pub(super) is_list_marker: bool,
    at: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Meaning {
    Money(Number),
    Percentage(Number),
    Count(Number),
    Date {
        year: Option<i16>,
        month: i8,
        day: Option<i8>,
    },
    /// In minutes since midnight; more than one where the text does not say which half of the day it means.
    Time(Vec<u32>),
}

impl Meaning {
    pub(super) fn kind(&self) -> NumberKind {
        match self {
            Self::Money(_) => NumberKind::Money,
            Self::Percentage(_) => NumberKind::Percentage,
            Self::Count(_) => NumberKind::Count,
            Self::Date { .. } => NumberKind::Date,
            Self::Time(_) => NumberKind::Time,
        }
    }
}

/// A number, with more than one reading where `1.200` can be two numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Number {
    pub(super) readings: Vec<Decimal>,
    /// How much it may be off, because it was rounded.
    rounding: Decimal,
    pub(super) has_decimals: bool,
}

impl Number {
    pub(super) fn agrees_with(&self, value: Decimal) -> bool {
        self.readings.iter().any(|reading| reading.is_within(value, self.rounding))
    }

    pub(super) fn agrees_with_any(&self, other: &Self) -> bool {
        other.readings.iter().any(|value| self.agrees_with(*value))
    }

    /// Whether a figure without a sign may be an amount.
    pub(super) fn looks_like_money(&self) -> bool {
        let thousand = Decimal::from_plain("1000").unwrap_or(Decimal::ZERO);
        self.has_decimals || self.readings.iter().any(|reading| *reading >= thousand)
    }
}

/// A currency before a number.
const SIGN: &str = r"(?:(?:US|C|CA|A|AU)?\$|[€£¥]|\b(?:USD|EUR|GBP|CAD)\b)";
const SCALE: &str = r"(?:hundred|thousand|million|billion|trillion)";

static MARKER: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^[ \t]*(?:[-*#>]+[ \t]*)?(\d{1,3})[.)](?:[ \t]|$)"));
static TIME_OF_HALF: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(?P<h>\d{1,2})(?::(?P<m>[0-5]\d))?[ \u{a0}]?(?P<half>[ap])\.?[ ]?m\b\.?"));
static TIME_OF_DAY: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?P<h>[01]?\d|2[0-3]):(?P<m>[0-5]\d)\b"));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"(?ix)(?P<sign>{SIGN}[\ \u{{a0}}]?)?
        (?P<n>\d{{1,3}}(?:[,\u{{a0}}\u{{202f}}'’]\d{{3}})+(?:\.\d+)?|\d{{1,3}}(?:\.\d{{3}}){{2,}}(?:,\d+)?|\d+(?:[.,]\d+)?)
        (?:[\ \u{{a0}}-]?(?P<scale>{SCALE})\b|(?P<short>bn|mm|[kmb])\b)?
        (?P<percent>[\ \u{{a0}}]?(?:%|per[\ ]?cent\b|pct\b|percentage\ points?\b))?
        (?P<unit>[\ \u{{a0}}-]?(?:dollars?|euros?|USD|EUR|€|£)(?:\b|$|[^\w]))?"
    ))
});
static MONTH_DAY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(r"(?i)\b(?P<m>{})[ \u{{a0}}](?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b", date::MONTH_WORDS))
});
static DAY_MONTH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"(?i)\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?[ \u{{a0}}](?:of )?(?P<m>{})(?:[^\w]|$)",
        date::MONTH_WORDS
    ))
});
static MONTH_YEAR: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"(?i)\b(?P<m>{}),?[ \u{{a0}}](?P<y>(?:19|20)\d{{2}})\b", date::MONTH_WORDS)));

/// All numbers of a text, from left to right.
pub(super) fn mentions(text: &str, order: DateOrder) -> Vec<Mention> {
    let mut found = Found { text, mentions: Vec::new(), taken: Vec::new() };
    for dated in date::find(text, order) {
        if let Ok(date) = dated.parsed.normalised.parse::<jiff::civil::Date>() {
            let meaning = Meaning::Date { year: Some(date.year()), month: date.month(), day: Some(date.day()) };
            found.add(dated.range, meaning);
        }
    }
    for captures in MONTH_YEAR.captures_iter(text) {
        found.add_month(&captures);
    }
    for captures in MONTH_DAY.captures_iter(text).chain(DAY_MONTH.captures_iter(text)) {
        found.add_month(&captures);
    }
    for captures in TIME_OF_HALF.captures_iter(text).chain(TIME_OF_DAY.captures_iter(text)) {
        if let Some(minutes) = minutes(&captures) {
            found.add(whole(&captures), Meaning::Time(minutes));
        }
    }
    for captures in NUMBER.captures_iter(text) {
        if let Some(meaning) = number(&captures) {
            found.add(whole(&captures), meaning);
        }
    }
    let markers: Vec<usize> = MARKER.captures_iter(text).filter_map(|line| line.get(1).map(|n| n.start())).collect();
    for mention in &mut found.mentions {
        mention.is_list_marker = matches!(mention.meaning, Meaning::Count(_)) && markers.contains(&mention.at);
    }
    found.mentions.sort_by_key(|mention| mention.at);
    found.mentions
}

struct Found<'t> {
    text: &'t str,
    mentions: Vec<Mention>,
    /// By start; one number is not two.
    taken: Vec<Range<usize>>,
}

impl Found<'_> {
    fn add(&mut self, range: Range<usize>, meaning: Meaning) {
        let place = self.taken.partition_point(|other| other.start < range.start);
        let is_free = self.taken.get(place).is_none_or(|next| range.end <= next.start)
            && place
                .checked_sub(1)
                .and_then(|before| self.taken.get(before))
                .is_none_or(|before| before.end <= range.start);
        if is_free {
            let text = self.text[range.clone()].trim_matches(|c: char| !c.is_alphanumeric() && !"$€£¥%".contains(c));
            self.mentions.push(Mention { text: text.to_owned(), meaning, is_list_marker: false, at: range.start });
            self.taken.insert(place, range);
        }
    }

    fn add_month(&mut self, captures: &Captures<'_>) {
        let Some(month) = date::month_of(&captures["m"]) else { return };
        let year = captures.name("y").and_then(|year| year.as_str().parse().ok());
        let day = captures.name("d").and_then(|day| day.as_str().parse().ok()).filter(|day| (1..=31).contains(day));
        if year.is_some() || day.is_some() {
            self.add(whole(captures), Meaning::Date { year, month, day });
        }
    }
}

fn whole(captures: &Captures<'_>) -> Range<usize> {
    captures.get(0).map_or(0..0, |whole| whole.range())
}

fn minutes(captures: &Captures<'_>) -> Option<Vec<u32>> {
    let hour: u32 = captures["h"].parse().ok()?;
    let minute: u32 = captures.name("m").map_or(Some(0), |minute| minute.as_str().parse().ok())?;
    let Some(half) = captures.name("half") else {
        let later = (hour < 12).then_some((hour + 12) * 60 + minute);
        return Some([Some(hour * 60 + minute), later].into_iter().flatten().collect());
    };
    let is_later = half.as_str().eq_ignore_ascii_case("p");
    (1..=12).contains(&hour).then(|| vec![(hour % 12 + if is_later { 12 } else { 0 }) * 60 + minute])
}

fn number(captures: &Captures<'_>) -> Option<Meaning> {
    let is_money = captures.name("sign").is_some() || captures.name("unit").is_some();
    let digits = &captures["n"];
    let scale = match (captures.name("scale"), captures.name("short")) {
        (Some(word), _) => scale_of(word.as_str()),
        // 5m may be metres and 5b a paragraph; of money they are millions.
        (None, Some(short)) if is_money || short.as_str() == "K" || short.as_str() == "M" => scale_of(short.as_str()),
        _ => None,
    };
    let mut readings: Vec<Decimal> = readings(digits).iter().filter_map(|plain| Decimal::from_plain(plain)).collect();
    let has_decimals = digits.contains(['.', ',']);
    let mut rounding = Decimal::ZERO;
    if let Some(scale) = scale.and_then(Decimal::from_plain) {
        let decimals = digits.rsplit_once('.').map_or(0, |(_, decimals)| decimals.len());
        let half = Decimal::from_plain(&format!("0.{}5", "0".repeat(decimals.min(10))))?;
        rounding = half.times(scale)?;
        readings = readings.into_iter().filter_map(|reading| reading.times(scale)).collect();
    }
    if readings.is_empty() {
        return None;
    }
    let number = Number { readings, rounding, has_decimals };
    Some(if captures.name("percent").is_some() {
        Meaning::Percentage(number)
    } else if is_money {
        Meaning::Money(number)
    } else {
        Meaning::Count(number)
    })
}

fn scale_of(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "hundred" => "100",
        "thousand" | "k" => "1000",
        "million" | "m" | "mm" => "1000000",
        "billion" | "b" | "bn" => "1000000000",
        "trillion" => "1000000000000",
        _ => return None,
    })
}

/// The digits in their plain form; two where the mark can be one of decimals or of thousands.
fn readings(digits: &str) -> Vec<String> {
    let plain: String = digits.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    let dots = digits.matches('.').count();
    match digits.split_once(',') {
        // 1.200.000,50
        _ if dots > 1 => {
            vec![digits.chars().filter(|c| *c != '.').map(|c| if c == ',' { '.' } else { c }).collect()]
        }
        // 12,5 or 1,200
        Some((whole, rest)) if dots == 0 && !rest.contains(',') => {
            let as_decimals = format!("{whole}.{rest}");
            if rest.len() == 3 { vec![plain, as_decimals] } else { vec![as_decimals] }
        }
        Some(_) => vec![plain],
        // 1.200
        None => match digits.split_once('.') {
            Some((whole, rest)) if rest.len() == 3 && (1..=3).contains(&whole.len()) => {
                vec![plain, format!("{whole}{rest}")]
            }
            _ => vec![plain],
        },
    }
}
