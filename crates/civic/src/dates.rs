//! Days and hours as councils write them.
//!
//! A date stands somewhere in the text; a time may follow it. What is said in place of a time ("immediately following
//! the council meeting") is kept as a note. Zones are never guessed here: a time is what the clock on the wall shows.

use crate::{pattern::pattern, vendor::model::Start};
use jiff::civil::{Date, Time};
use regex::Regex;
use std::sync::LazyLock;

/// `2025-11-18`, `2025/12/17`; also in front of a time.
static ISO: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:\D|$)"));
/// `11/18/2025`, `1-8-25`, with spaces around the strokes.
static NUMERIC: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\d{1,2})\s*[/-]\s*(\d{1,2})\s*[/-]\s*(\d{4}|\d{2})\b"));
/// `Nov 18, 2025`, `November 18th 2025`, `Nov. 18 '25`.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s*(\d{1,2})(?:st|nd|rd|th)?\s*,?\s*'?(\d{4}|\d{2})\b",
    )
});
/// `18 Mar 2026`, `18-Mar-2026`.
static DAY_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(\d{1,2})(?:st|nd|rd|th)?[\s-]+(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?,?[\s-]+(\d{4})\b",
    )
});
/// `6:30 PM`, `6 p.m.`, `18:30:00`, `6:30PM`; digits alone are no time.
static CLOCK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\b(?:T)?(\d{1,2})(?::(\d{2}))?(?::(\d{2})(?:\.\d+)?)?\s*(a\.?\s?m\b\.?|p\.?\s?m\b\.?)?")
});
static SAID_INSTEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:immediately|directly)?\s*(?:following|after|upon adjournment of|prior to)\b.*|\btb[ad]\b|\bto be (?:determined|announced)\b",
    )
});

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The first date in a text.
pub fn date(text: &str) -> Option<Date> {
    find_date(text).map(|(date, _)| date)
}

/// The first time in a text.
pub fn time(text: &str) -> Option<Time> {
    let lower = text.to_lowercase();
    // "Afternoon" is no hour.
    if lower.split(|c: char| !c.is_alphabetic()).any(|word| word == "noon") {
        return Time::new(12, 0, 0, 0).ok();
    }
    if lower.contains("midnight") {
        return Some(Time::midnight());
    }
    CLOCK.captures_iter(text).find_map(|found| {
        let number = |group: usize| found.get(group).and_then(|text| text.as_str().parse::<i8>().ok());
        let half = found.get(4).map(|half| half.as_str().starts_with(['p', 'P']));
        if found.get(2).is_none() && half.is_none() {
            return None;
        }
        let hour = match (number(1)?, half) {
            (12, Some(afternoon)) => {
                if afternoon {
                    12
                } else {
                    0
                }
            }
            (hour @ 1..=11, Some(true)) => hour + 12,
            // In `18:30 PM` the half adds nothing.
            (hour @ 0..=11, Some(false)) | (hour @ 0..=23, None) | (hour @ 13..=23, Some(_)) => hour,
            _ => return None,
        };
        Time::new(hour, number(2).unwrap_or(0), number(3).unwrap_or(0), 0).ok()
    })
}

/// Date and time out of one text, e.g. `Nov 18, 2025 - 6:30 PM` or `2025-11-18T18:30:00`.
pub fn start(text: &str) -> Option<Start> {
    let (date, rest) = find_date(text)?;
    Some(with_time(date, rest))
}

/// Date and time out of two texts, e.g. `2025-11-18T00:00:00` and `6:30 PM`: what the second says of the hour counts,
/// and midnight beside a date is no hour.
pub fn combine(date_text: &str, time_text: &str) -> Option<Start> {
    let mut begins = start(date_text)?;
    if begins.time == Some(Time::midnight()) {
        begins.time = None;
    }
    let said = with_time(begins.date, time_text);
    begins.time = said.time.or(begins.time);
    begins.note = said.note.or(begins.note);
    Some(begins)
}

fn with_time(date: Date, text: &str) -> Start {
    let instead = SAID_INSTEAD.find(text).map(|said| said.as_str().trim().to_owned());
    match instead {
        // "after 6 PM" names an hour; "following the 6 PM meeting" does not, and looks the same: no hour is given.
        Some(note) => Start { date, time: None, note: Some(note) },
        None => Start { date, time: time(text), note: None },
    }
}

/// The date that stands first, and what stands behind it.
pub(crate) fn find_date(text: &str) -> Option<(Date, &str)> {
    let candidates = [
        ISO.captures(text).and_then(|found| Some((found.get(3)?, [1, 2, 3].map(|at| number(&found, at))))),
        NUMERIC.captures(text).and_then(|found| Some((found.get(0)?, [3, 1, 2].map(|at| number(&found, at))))),
        NAMED
            .captures(text)
            .and_then(|found| Some((found.get(0)?, [number(&found, 3), month(&found, 1), number(&found, 2)]))),
        DAY_FIRST
            .captures(text)
            .and_then(|found| Some((found.get(0)?, [number(&found, 3), month(&found, 2), number(&found, 1)]))),
    ];
    let valid = candidates.into_iter().flatten().filter_map(|(found, [year, month, day])| {
        let year = match year? {
            short @ 0..=99 => 2000 + short,
            long => long,
        };
        let date = Date::new(year, i8::try_from(month?).ok()?, i8::try_from(day?).ok()?).ok()?;
        Some((found.start(), date, found.end()))
    });
    let (_, date, end) = valid.min_by_key(|(at, ..)| *at)?;
    Some((date, text.get(end..).unwrap_or_default()))
}

fn number(found: &regex::Captures<'_>, group: usize) -> Option<i16> {
    found.get(group)?.as_str().parse().ok()
}

fn month(found: &regex::Captures<'_>, group: usize) -> Option<i16> {
    let name = found.get(group)?.as_str().to_lowercase();
    let at = MONTHS.iter().position(|month| *month == name)?;
    i16::try_from(at + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(text: &str) -> String {
        start(text).map_or_else(|| "none".into(), |start| show(&start))
    }

    fn show(start: &Start) -> String {
        let time = start.time.map_or_else(|| "-".to_owned(), |time| time.strftime("%H:%M").to_string());
        format!("{} {time}", start.date)
    }

    #[test]
    fn dates_are_read_as_councils_write_them() {
        for (text, expected) in [
            ("2025-11-18T18:30:00", "2025-11-18 18:30"),
            ("2025/12/17 17:15:00", "2025-12-17 17:15"),
            ("Nov 18, 2025 6:30 PM", "2025-11-18 18:30"),
            ("November 18th, 2025 - 6:30PM", "2025-11-18 18:30"),
            ("Tuesday, March 3, 2026 @ 9 a.m.", "2026-03-03 09:00"),
            ("09/27/22", "2022-09-27 -"),
            ("11 / 8 / 2025 12 noon", "2025-11-08 12:00"),
            ("18 Mar 2026", "2026-03-18 -"),
            ("Sept. 3 2024 at 12:00 AM", "2024-09-03 00:00"),
            ("Jan 5, 2026 18:30", "2026-01-05 18:30"),
            ("January 5, 2026 at 6:30 PM", "2026-01-05 18:30"),
            ("01/05/2026 6:30:00 PM", "2026-01-05 18:30"),
            ("1/5/2026 18:30", "2026-01-05 18:30"),
            ("January 5 2026", "2026-01-05 -"),
            ("2026-01-05T18:30:00Z", "2026-01-05 18:30"),
            ("January 5, 2026 midnight", "2026-01-05 00:00"),
            ("January 5, 2026 6:30 p.m. PDT", "2026-01-05 18:30"),
            ("13/45/2026", "none"),
            ("02/30/2025", "none"),
            ("no date at 6:30 PM", "none"),
        ] {
            assert_eq!(excerpt(text), expected, "{text}");
        }
    }

    #[test]
    fn s001_63_a_date_and_a_time_are_combined() {
        let combined = |date: &str, time: &str| combine(date, time).map(|start| show(&start)).unwrap_or_default();
        assert_eq!(combined("2025-11-18T00:00:00", "6:30 PM"), "2025-11-18 18:30");
        assert_eq!(combined("2025-11-18T00:00:00", "6:30 PM EST"), "2025-11-18 18:30");
        assert_eq!(combined("2025-11-18", "18:30:00"), "2025-11-18 18:30");
        assert_eq!(combined("2025-11-18T00:00:00", ""), "2025-11-18 -");
        for (time, expected) in [
            ("6:30PM", "18:30"),
            ("6 p.m.", "18:00"),
            ("12 noon", "12:00"),
            ("6:30:00 PM CDT", "18:30"),
            ("18:30", "18:30"),
            ("when ready", "-"),
        ] {
            assert_eq!(combined("2025-11-18T00:00:00", time), format!("2025-11-18 {expected}"), "{time}");
        }
        assert_eq!(combine("2025-11-18", "TBD").unwrap().note.as_deref(), Some("TBD"));
        let later = combine("2025-11-18", "Immediately following the Council meeting").unwrap();
        assert_eq!((later.time, later.note.as_deref()), (None, Some("Immediately following the Council meeting")));
    }
}
