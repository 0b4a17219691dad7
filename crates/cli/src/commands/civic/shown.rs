//! Pieces of meetings as terminals show them.

use crate::output;
use bindery_app::councils::{client::address, export::Begins, records::Meeting};
use bindery_core::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Wide enough to read, narrow enough for a window beside another.
const USUAL_WIDTH: u16 = 110;

/// Something that people configured, as JSON without the tokens and passwords in it.
pub(super) fn without_secrets(value: &impl Serialize) -> Value {
    address::shown_json(serde_json::to_value(value).unwrap_or_default())
}

/// How many characters a column may have when the others take so many.
pub(super) fn room(taken: usize, least: usize, most: usize) -> usize {
    let width = usize::from(output::stdout_width().unwrap_or(USUAL_WIDTH));
    width.saturating_sub(taken).clamp(least, most)
}

/// `Mon 2026-03-09` and `18:30`.
pub(super) fn begins(meeting: &Meeting) -> (String, String) {
    match Begins::from_meeting(meeting) {
        Some(begins) => {
            let (day, time) = begins.day_and_hour();
            (format!("{} {day}", begins.date.strftime("%a")), time)
        }
        None => ("no day".to_owned(), String::new()),
    }
}

/// `2026-03-09` and `18:30`, where there is little room.
pub(super) fn day_and_time(meeting: &Meeting) -> (String, String) {
    Begins::from_meeting(meeting).map_or_else(|| ("no day".to_owned(), String::new()), |begins| begins.day_and_hour())
}

/// How it stands, if not as announced.
pub(super) fn status(meeting: &Meeting) -> String {
    let word = if meeting.removed_at.is_some() { Some("removed") } else { meeting.status.as_deref() };
    word.unwrap_or_default().to_owned()
}

/// A moment by the clock of the city.
pub(super) fn moment(at: Timestamp, zone: Option<&str>) -> String {
    let zone = zone.and_then(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC);
    match jiff::Timestamp::from_millisecond(at.as_millis()) {
        Ok(moment) => moment.to_zoned(zone).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => at.to_string(),
    }
}

/// `5–2`, and who did neither.
pub(super) fn tally(tally: &BTreeMap<String, i64>) -> String {
    let count = |key: &str| tally.get(key).copied().unwrap_or(0);
    let others = ["abstain", "absent", "present"].into_iter().filter(|key| count(key) > 0);
    let others = others.map(|key| format!("{} {key}", count(key)));
    std::iter::once(format!("{}–{}", count("yes"), count("no"))).chain(others).collect::<Vec<_>>().join(", ")
}

/// Millionths of the currency unit, as people write them.
pub(super) fn money(micros: i64) -> String {
    format!("{:.4}", micros as f64 / 1e6)
}

/// A name and a value on a line, where there is a value.
pub(super) fn fact(name: &str, value: Option<&str>) -> std::io::Result<()> {
    match value.map(str::trim).filter(|value| !value.is_empty()) {
        Some(value) => output::line(format!("{name:<9} {value}")),
        None => Ok(()),
    }
}
