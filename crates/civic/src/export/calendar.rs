//! Meetings as a calendar: iCalendar, RFC 5545.
//!
//! There is no `METHOD`, so that `DTSTAMP` says when a meeting was last changed and not when the file was written. A
//! meeting keeps its `UID` whatever happens to it, and its `SEQUENCE` grows with every change, so that a calendar that was
//! imported before is brought up to date instead of filled twice. Nobody announces when a meeting ends, and no end is made
//! up.

use super::{AUTHORITY, Begins, Shape, Whole, city_name, full_title, is_off, is_open, page, zone};
use crate::records::{Jurisdiction, Meeting};
use bindery_core::Timestamp;
use jiff::civil::Date;
use std::{
    collections::BTreeMap,
    io::{self, Write},
};

/// A line has at most so many octets, its end not counted.
const WIDEST: usize = 75;

/// How many items of an agenda a description lists.
const MOST_ITEMS: usize = 40;

pub(super) struct Calendar {
    name: String,
    /// The city's, by its IANA name.
    zone: Option<String>,
    /// The zones that meetings are in, with the first and the last day of them.
    zones: BTreeMap<String, (Date, Date)>,
}

impl Calendar {
    pub(super) fn new(city: &Jurisdiction, meetings: &[Meeting]) -> Self {
        let mut zones: BTreeMap<String, (Date, Date)> = BTreeMap::new();
        for begins in meetings.iter().filter_map(Begins::from_meeting).filter(|begins| begins.time.is_some()) {
            if let Some((name, _)) = begins.zone {
                let days = zones.entry(name).or_insert((begins.date, begins.date));
                *days = (days.0.min(begins.date), days.1.max(begins.date));
            }
        }
        Self { name: format!("{}: council meetings", city_name(city)), zone: city.tz.clone(), zones }
    }
}

impl Shape for Calendar {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        line(out, "BEGIN:VCALENDAR")?;
        line(out, "VERSION:2.0")?;
        line(out, "PRODID:-//Bindery//City councils//EN")?;
        line(out, "CALSCALE:GREGORIAN")?;
        line(out, &format!("X-WR-CALNAME:{}", escape(&self.name)))?;
        if let Some(zone) = &self.zone {
            line(out, &format!("X-WR-TIMEZONE:{}", escape(zone)))?;
        }
        for (name, (first, last)) in &self.zones {
            for text in zone::lines(name, *first, *last) {
                line(out, &text)?;
            }
        }
        Ok(())
    }

    fn meeting(&mut self, out: &mut dyn Write, whole: &Whole) -> io::Result<()> {
        let meeting = &whole.meeting;
        // An event has to begin some day.
        let Some(begins) = Begins::from_meeting(meeting) else { return Ok(()) };
        line(out, "BEGIN:VEVENT")?;
        line(out, &format!("UID:{}@{AUTHORITY}", meeting.id))?;
        if let Some(changed) = meeting.updated_at.or(meeting.created_at) {
            line(out, &format!("DTSTAMP:{}", stamp(changed)))?;
            line(out, &format!("LAST-MODIFIED:{}", stamp(changed)))?;
        } else {
            line(out, "DTSTAMP:19700101T000000Z")?;
        }
        if let Some(created) = meeting.created_at {
            line(out, &format!("CREATED:{}", stamp(created)))?;
        }
        line(out, &format!("SEQUENCE:{}", (meeting.revision - 1).max(0)))?;
        line(out, &starts(&begins))?;
        line(out, &format!("SUMMARY:{}", escape(&full_title(meeting))))?;
        line(out, &format!("STATUS:{}", status(meeting)))?;
        if begins.time.is_none() || is_off(meeting) {
            line(out, "TRANSP:TRANSPARENT")?;
        }
        if let Some(location) = non_empty(meeting.location.as_deref()) {
            line(out, &format!("LOCATION:{}", escape(location)))?;
        }
        if let Some(url) = page(meeting) {
            line(out, &format!("URL:{}", address(url)))?;
        }
        if let Some(body) = non_empty(meeting.body.as_deref()) {
            line(out, &format!("CATEGORIES:{}", escape(body)))?;
        }
        let description = description(whole);
        if !description.is_empty() {
            line(out, &format!("DESCRIPTION:{}", escape(&description)))?;
        }
        line(out, "END:VEVENT")
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        line(out, "END:VCALENDAR")
    }
}

fn non_empty(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// A day where the hour is not known; a time of nowhere in particular where the zone is not.
fn starts(begins: &Begins) -> String {
    let day = begins.date.strftime("%Y%m%d");
    match (begins.time, &begins.zone) {
        (None, _) => format!("DTSTART;VALUE=DATE:{day}"),
        (Some(time), Some((zone, _))) => format!("DTSTART;TZID={zone}:{day}T{}", time.strftime("%H%M%S")),
        (Some(time), None) => format!("DTSTART:{day}T{}", time.strftime("%H%M%S")),
    }
}

fn status(meeting: &Meeting) -> &'static str {
    match () {
        () if is_off(meeting) => "CANCELLED",
        () if is_open(meeting) => "TENTATIVE",
        () => "CONFIRMED",
    }
}

/// What a person sees who opens the event: what is unusual, where everything is, and what is on the agenda.
fn description(whole: &Whole) -> String {
    let meeting = &whole.meeting;
    let mut lines: Vec<String> = Vec::new();
    if meeting.removed_at.is_some() {
        lines.push("The council no longer lists this meeting.".to_owned());
    }
    if let Some(status) = non_empty(meeting.status.as_deref()) {
        lines.push(format!("Status: {status}"));
    }
    if let Some(note) = non_empty(meeting.start_note.as_deref()) {
        lines.push(format!("Begins: {note}"));
    }
    let links = [
        ("Agenda", &meeting.agenda_url),
        ("Packet", &meeting.packet_url),
        ("Minutes", &meeting.minutes_url),
        ("Recording", &meeting.video_url),
    ];
    lines.extend(links.iter().filter_map(|(name, url)| Some(format!("{name}: {}", non_empty(url.as_deref())?))));
    if let Some(summary) = non_empty(meeting.summary.as_deref()) {
        lines.push(String::new());
        lines.push(summary.to_owned());
    }
    // What only runs the meeting is in every agenda.
    let items = whole
        .items
        .iter()
        .filter(|item| item.removed_at.is_none() && item.filter_reason.is_none() && item.duplicate_of.is_none());
    let titles: Vec<String> = items
        .map(|item| match non_empty(item.agenda_number.as_deref()) {
            Some(number) => format!("{number} {}", item.title),
            None => item.title.clone(),
        })
        .collect();
    if !titles.is_empty() {
        lines.push(String::new());
        lines.extend(titles.iter().take(MOST_ITEMS).cloned());
        if titles.len() > MOST_ITEMS {
            lines.push(format!("and {} more", titles.len() - MOST_ITEMS));
        }
    }
    lines.join("\n").trim_start().to_owned()
}

fn stamp(at: Timestamp) -> String {
    // Calendars know no parts of seconds.
    match jiff::Timestamp::from_second(at.as_millis().div_euclid(1000)) {
        Ok(moment) => moment.strftime("%Y%m%dT%H%M%SZ").to_string(),
        Err(_) => "19700101T000000Z".to_owned(),
    }
}

/// A text as the value of a property.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.replace("\r\n", "\n").chars() {
        match letter {
            '\\' | ';' | ',' => escaped.extend(['\\', letter]),
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => escaped.push_str("\\n"),
            '\t' => escaped.push(' '),
            control if control.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}

/// An address is no text, and is not escaped; what no address can have is.
fn address(url: &str) -> String {
    let plain =
        |letter: char| if letter.is_whitespace() || letter.is_control() { "%20".to_owned() } else { letter.into() };
    url.trim().chars().map(plain).collect()
}

/// A line of content: where it is too long it goes on in the next, behind a space. No letter is cut in two.
fn line(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let mut room = WIDEST;
    let mut folded = String::with_capacity(text.len() + text.len() / WIDEST * 3 + 2);
    for letter in text.chars() {
        if letter.len_utf8() > room {
            folded.push_str("\r\n ");
            room = WIDEST - 1;
        }
        room -= letter.len_utf8();
        folded.push(letter);
    }
    folded.push_str("\r\n");
    out.write_all(folded.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        let mut out = Vec::new();
        line(&mut out, text).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn long_lines_go_on_behind_a_space_and_no_letter_is_cut() {
        assert_eq!(folded(&"a".repeat(75)), format!("{}\r\n", "a".repeat(75)));
        assert_eq!(folded(&"a".repeat(76)), format!("{}\r\n a\r\n", "a".repeat(75)));
        let whole = format!("SUMMARY:{}", "🏛é".repeat(60));
        for line in folded(&whole).split("\r\n") {
            assert!(line.len() <= 75, "{line}");
        }
        assert_eq!(folded(&whole).replace("\r\n ", "").trim_end(), whole);
    }

    #[test]
    fn texts_are_escaped_and_addresses_are_not() {
        assert_eq!(escape("a,b;c\\d\r\ne\u{7}\tf"), "a\\,b\\;c\\\\d\\ne f");
        assert_eq!(address("https://example.com/a,b;c d\n"), "https://example.com/a,b;c%20d");
    }
}
