//! The feed beside a listing: the same meetings, and those to come, as RSS.
//!
//! A title ends with the meeting's day (`City Council - Aug 20, 2026`). The feed's own dates tell when something was
//! published, so they stand in only where the title has no day.

use super::{agenda_request, hour_in, mark_as_the_same, meeting_id};
use crate::{
    dates, status,
    vendor::{FetchedPage, PageFault, PageReading, VendorMeeting, Window, model::Start, xml_character::character},
};
use jiff::civil::Date;
use quick_xml::{Reader, events::Event};

#[derive(Debug, Default)]
struct Entry {
    title: String,
    link: String,
    description: String,
    published: Option<Date>,
}

pub(super) fn read(window: Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let text = page.text();
    if !text.contains("<rss") && !text.contains("<channel") {
        return Err(PageFault::new_unexpected(&page.url, "an RSS feed", "something else"));
    }
    let entries = entries(&text).map_err(|detail| PageFault::cut_short(&page.url, detail))?;
    let mut reading = PageReading::default();
    reading.landmark("items of the feed", entries.len());
    for entry in entries {
        let Some(id) = meeting_id(&entry.link) else {
            reading.doubts.push(format!("\"{}\" leads to no meeting: {}", entry.title, entry.link));
            continue;
        };
        let mut meeting = VendorMeeting::new(id);
        let (title, day) = split_day(&entry.title);
        let date = day.or(entry.published);
        meeting.start = date.map(|date| Start { date, time: hour_in(title), note: None });
        if meeting.start.is_none() {
            reading.doubts.push(format!("{} (\"{title}\") has no date", meeting.vendor_id));
        }
        meeting.title = Some(title.to_owned()).filter(|title| !title.is_empty());
        meeting.body = page.about.get(1).cloned();
        meeting.status = status::find(&[title]);
        let link = entry.link.trim().to_owned();
        if link.contains("MinutesViewer") {
            meeting.minutes_url = Some(link);
        } else if link.contains("MediaPlayer") {
            meeting.video_url = Some(link);
        } else {
            meeting.agenda_url = Some(link);
        }
        mark_as_the_same(&mut meeting);
        reading.meeting(meeting);
    }
    reading.follow = reading.meetings.iter().filter_map(|meeting| agenda_request(window, meeting)).collect();
    Ok(reading)
}

/// A title and the day at its end.
fn split_day(text: &str) -> (&str, Option<Date>) {
    let text = text.trim();
    let parts = text.rsplit_once(" - ").and_then(|(title, day)| Some((title.trim(), dates::date(day)?)));
    if let Some((title, date)) = parts {
        return (title, Some(date));
    }
    (text, dates::date(text))
}

fn entries(text: &str) -> Result<Vec<Entry>, String> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = false;
    let (mut entries, mut entry, mut field) = (Vec::new(), None::<Entry>, String::new());
    loop {
        match reader.read_event() {
            Err(error) => return Err(format!("the XML breaks off: {error}")),
            Ok(Event::Eof) if entry.is_some() => return Err("the last <item> has no end".into()),
            Ok(Event::Eof) => return Ok(entries),
            Ok(Event::Start(tag) | Event::Empty(tag)) => {
                field = String::from_utf8_lossy(tag.local_name().as_ref()).into_owned();
                if field == "item" {
                    entry = Some(Entry::default());
                } else if let Some(entry) = entry.as_mut().filter(|_| field == "pubDateParts") {
                    let part = |name: &str| {
                        let value = tag.try_get_attribute(name).ok()??.value;
                        std::str::from_utf8(&value).ok()?.trim().parse::<i16>().ok()
                    };
                    let (year, month, day) = (part("yr"), part("mo"), part("day"));
                    entry.published = year.zip(month).zip(day).and_then(|((year, month), day)| {
                        Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
                    });
                }
            }
            Ok(Event::End(tag)) => {
                field.clear();
                if tag.local_name().as_ref() == b"item" {
                    entries.extend(entry.take());
                }
            }
            Ok(Event::Text(words)) => {
                let words = words.decode().unwrap_or_default();
                add(&mut entry, &field, &words);
            }
            Ok(Event::CData(words)) => {
                let words = String::from_utf8_lossy(&words).into_owned();
                add(&mut entry, &field, &words);
            }
            Ok(Event::GeneralRef(name)) => {
                add(&mut entry, &field, &character(&name.decode().unwrap_or_default()));
            }
            Ok(_) => {}
        }
    }
}

fn add(entry: &mut Option<Entry>, field: &str, words: &str) {
    let Some(entry) = entry else { return };
    match field {
        "title" => entry.title.push_str(words),
        "link" => entry.link.push_str(words),
        "description" => entry.description.push_str(words),
        "pubDate" if entry.published.is_none() => entry.published = dates::date(words),
        _ => {}
    }
}
