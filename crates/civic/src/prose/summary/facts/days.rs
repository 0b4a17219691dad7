//! Days that a text names, and what happens on each.

use crate::pattern::pattern;
use bindery_fields::extract::value::{DateOrder, date};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::{ops::Range, sync::LazyLock};

/// What happens on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateRole {
    Deadline,
    Hearing,
    Effective,
    Begins,
    Ends,
    /// It was decided, signed or received then.
    Past,
    Mentioned,
}

/// A day as a text prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundDay {
    pub(crate) range: Range<usize>,
    /// `2026-03-05`.
    pub(crate) date: String,
}

/// The days of a text, from left to right. In figures the month comes first, as councils write it.
pub(crate) fn find(text: &str) -> Vec<FoundDay> {
    let found = date::find(text, DateOrder::MonthFirst).into_iter();
    found.map(|day| FoundDay { range: day.range, date: day.parsed.normalised }).collect()
}

// In the order in which they are asked. Each looks at the words just in front of the day.
static RANGE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:from|commencing|beginning|starting|between)\b[^.;]{0,40}\d{1,4},?\s+(?:to|through|until|and(?: ending)?)\s+$",
    )
});
static DEADLINE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\b(?:by|before|no later than|not later than|deadline|due|until|prior to)\b[^.;]{0,25}$")
});
static ENDS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\b(?:through|expir\w*|ends?|ending|terminat\w*|completed?|completion|conclud\w*)\b[^.;]{0,25}$")
});
static EFFECTIVE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(?:effective|takes? effect|in effect)\b[^.;]{0,25}$"));
static BEGINS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(?:beginning|begins?|commenc\w*|starting|starts?|from|as of)\b[^.;]{0,20}$"));
static AHEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\bwill be (?:held|heard|considered|received|opened|issued|conducted|introduced)\b[^.;]{0,40}$")
});
static HEARING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(?:hearing|reading|workshop|meeting|scheduled|return)\b[^.;]{0,40}$"));
static PAST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:adopted|approved|held|received|dated|issued|introduced|authorized|awarded|voted|executed|entered into|heard|continued from|since|released|opened|published|conducted|directed|considered)\b[^.;]{0,60}$",
    )
});

pub(crate) fn role(text: &str, day: &FoundDay) -> DateRole {
    let before = text.get(..day.range.start).unwrap_or_default();
    let from = before.char_indices().rev().nth(90).map_or(0, |(at, _)| at);
    let before = before.get(from..).unwrap_or_default();
    // "On May 3, the Council approved" has it behind the day.
    let behind = text.get(day.range.end..).unwrap_or_default();
    let behind: String = behind.chars().take(70).collect();
    let rules: [(&regex::Regex, DateRole); 8] = [
        (&RANGE, DateRole::Ends),
        (&DEADLINE, DateRole::Deadline),
        (&EFFECTIVE, DateRole::Effective),
        (&ENDS, DateRole::Ends),
        (&BEGINS, DateRole::Begins),
        (&AHEAD, DateRole::Hearing),
        (&PAST, DateRole::Past),
        (&HEARING, DateRole::Hearing),
    ];
    let found = rules.into_iter().find(|(pattern, _)| pattern.is_match(before)).map(|(_, role)| role);
    let told = || DONE.is_match(&behind).then_some(DateRole::Past);
    found.or_else(told).unwrap_or(DateRole::Mentioned)
}

static DONE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^,? (?:the )?[\w' ]{0,50}?\b(?:adopted|approved|held|received|issued|introduced|authorized|awarded|voted|executed|entered|heard|released|published|conducted|directed|considered|declared)\b",
    )
});

/// The words around a day: no more than are needed to see what it is.
pub(crate) fn around(text: &str, day: &FoundDay) -> String {
    const BEFORE: usize = 10;
    const BEHIND: usize = 6;
    let front = text.get(..day.range.start).unwrap_or_default();
    let back = text.get(day.range.end..).unwrap_or_default();
    let words: Vec<&str> = front.split_whitespace().collect();
    let kept = words.get(words.len().saturating_sub(BEFORE)..).unwrap_or_default().join(" ");
    let glued = !front.ends_with(char::is_whitespace);
    let rest: Vec<&str> = back.split_whitespace().take(BEHIND).collect();
    let rest_glued = !back.starts_with(char::is_whitespace);
    let mut quote = kept;
    if !glued && !quote.is_empty() {
        quote.push(' ');
    }
    quote.push_str(text.get(day.range.clone()).unwrap_or_default());
    if !rest_glued && !rest.is_empty() {
        quote.push(' ');
    }
    quote.push_str(&rest.join(" "));
    quote
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_know_what_happens_on_them() {
        for (text, role) in [
            ("The lease expires on June 30, 2027.", DateRole::Ends),
            ("Work begins on 7/1/2026 at the weir.", DateRole::Begins),
            ("Bids are due by noon on March 5, 2026.", DateRole::Deadline),
            ("The ordinance is effective January 1, 2027.", DateRole::Effective),
            ("A public hearing will be held on May 4, 2026.", DateRole::Hearing),
            ("A second reading is scheduled for May 4, 2026.", DateRole::Hearing),
            ("On May 3, 2022, the City Council approved the plan.", DateRole::Past),
            ("The storm of May 3, 2022 was strong.", DateRole::Mentioned),
        ] {
            let found = find(text);
            assert_eq!(super::role(text, &found[0]), role, "{text}");
        }
        assert_eq!(
            around("It ends (June 30, 2027), or so.", &find("It ends (June 30, 2027), or so.")[0]),
            "It ends (June 30, 2027), or so."
        );
    }
}
