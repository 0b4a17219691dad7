//! What happens in a city, as a feed that programs follow: Atom, RFC 4287.
//!
//! An entry is one look at a meeting that found something new: it was posted, moved, cancelled, its agenda came or changed,
//! a vote was recorded. What was found at the same moment is one entry, named by what weighs most, with everything in its
//! text. Entries keep their ids, and none is ever written anew.

use super::{AUTHORITY, Begins, city_name, full_title, page};
use crate::history::{headline, name, sentence, weight};
use crate::records::{ChangeKind, Jurisdiction, Meeting, MeetingChange};
use bindery_core::Timestamp;
use quick_xml::{
    Writer,
    events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event},
};
use std::{
    collections::{BTreeMap, HashMap},
    io::{self, Write},
};

/// When ids were first given out, which is a part of them.
const SINCE: &str = "2026";

/// What was found out about a meeting at one moment.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) meeting: Meeting,
    at: Timestamp,
    revision: i64,
    changes: Vec<MeetingChange>,
}

/// The newest first. Changes of meetings that are not among these are left out.
pub(super) fn entries(changes: Vec<MeetingChange>, meetings: Vec<Meeting>, most: usize) -> Vec<Entry> {
    let meetings: HashMap<String, Meeting> =
        meetings.into_iter().map(|meeting| (meeting.id.clone(), meeting)).collect();
    let mut grouped: BTreeMap<(String, i64), Vec<MeetingChange>> = BTreeMap::new();
    for change in changes.into_iter().filter(|change| meetings.contains_key(&change.meeting_id)) {
        grouped.entry((change.meeting_id.clone(), change.revision)).or_default().push(change);
    }
    let mut entries: Vec<Entry> = grouped
        .into_iter()
        .filter_map(|((id, revision), mut changes)| {
            changes.sort_by_key(|change| (std::cmp::Reverse(weight(change.kind)), change.ordinal));
            Some(Entry { meeting: meetings.get(&id)?.clone(), at: changes.first()?.at, revision, changes })
        })
        .collect();
    entries.sort_by(|one, other| (other.at, &other.meeting.id).cmp(&(one.at, &one.meeting.id)));
    entries.truncate(most);
    entries
}

pub(super) fn write(
    out: &mut dyn Write,
    city: &Jurisdiction,
    entries: &[Entry],
    items: &HashMap<String, String>,
) -> io::Result<()> {
    let mut xml = Writer::new_with_indent(out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("utf-8"), None)))?;
    let root = BytesStart::new("feed").with_attributes([("xmlns", "http://www.w3.org/2005/Atom")]);
    xml.write_event(Event::Start(root))?;
    let newest = entries.iter().map(|entry| entry.at).max();
    let updated = newest.or(city.updated_at).or(city.created_at).unwrap_or(Timestamp::from_millis(0));
    text(&mut xml, "id", &format!("tag:{AUTHORITY},{SINCE}:{}", city.city_key))?;
    text(&mut xml, "title", &format!("{}: council meetings", city_name(city)))?;
    text(&mut xml, "updated", &updated.to_string())?;
    author(&mut xml, &city_name(city))?;
    text(&mut xml, "generator", "Bindery")?;
    for one in entries {
        entry(&mut xml, one, items)?;
    }
    xml.write_event(Event::End(BytesEnd::new("feed")))?;
    xml.get_mut().write_all(b"\n")
}

type Xml<'a> = Writer<&'a mut dyn Write>;

fn entry(xml: &mut Xml<'_>, entry: &Entry, items: &HashMap<String, String>) -> io::Result<()> {
    let meeting = &entry.meeting;
    xml.write_event(Event::Start(BytesStart::new("entry")))?;
    text(xml, "id", &format!("tag:{AUTHORITY},{SINCE}:{}/{}", meeting.id, entry.revision))?;
    text(xml, "title", &title(entry))?;
    text(xml, "updated", &entry.at.to_string())?;
    text(xml, "published", &entry.at.to_string())?;
    if let Some(url) = page(meeting) {
        empty(xml, "link", &[("rel", "alternate"), ("href", &plain(url.trim()))])?;
    }
    if let Some(body) = meeting.body.as_deref().filter(|body| !body.trim().is_empty()) {
        empty(xml, "category", &[("term", &plain(body)), ("scheme", &format!("tag:{AUTHORITY},{SINCE}:body"))])?;
    }
    let mut kinds: Vec<String> = entry.changes.iter().map(|change| name(change.kind)).collect();
    kinds.dedup();
    for kind in kinds {
        empty(xml, "category", &[("term", &kind), ("scheme", &format!("tag:{AUTHORITY},{SINCE}:change"))])?;
    }
    xml.create_element("content")
        .with_attribute(("type", "html"))
        .write_text_content(BytesText::new(&plain(&content(entry, items))))?;
    xml.write_event(Event::End(BytesEnd::new("entry")))
}

/// `Cancelled: City Council: Regular Meeting, 2026-03-09 18:00`.
fn title(entry: &Entry) -> String {
    let what = entry.changes.first().map_or("Changed", |change| headline(change.kind));
    // Some are announced as what will not take place.
    let told = entry.changes.first().filter(|change| change.kind == ChangeKind::Added);
    let status = told.and_then(|change| change.after["status"].as_str());
    let status = status.map(|status| format!(" ({status})")).unwrap_or_default();
    let when = meeting_line(&entry.meeting);
    let comma = if when.is_empty() { "" } else { ", " };
    format!("{what}{status}: {}{comma}{when}", full_title(&entry.meeting))
}

fn meeting_line(meeting: &Meeting) -> String {
    let (day, time) = Begins::from_meeting(meeting).map(|begins| begins.day_and_hour()).unwrap_or_default();
    format!("{day} {time}").trim().to_owned()
}

/// All that was found, and where to go from there, as HTML.
fn content(entry: &Entry, items: &HashMap<String, String>) -> String {
    let meeting = &entry.meeting;
    let told = entry.changes.iter().map(|change| {
        let item = change.item_id.as_ref().and_then(|id| items.get(id)).map(String::as_str);
        let said = sentence(change, item);
        let colon = if said.is_empty() { "" } else { ": " };
        format!("<li>{}{colon}{}</li>", headline(change.kind), in_html(&said))
    });
    let list = format!("<ul>{}</ul>", told.collect::<String>());
    let mut facts: Vec<String> = Vec::new();
    let (when, place) = (meeting_line(meeting), meeting.location.as_deref().unwrap_or_default());
    facts.extend([when.as_str(), place].into_iter().filter(|fact| !fact.trim().is_empty()).map(in_html));
    let links = [
        ("Agenda", &meeting.agenda_url),
        ("Packet", &meeting.packet_url),
        ("Minutes", &meeting.minutes_url),
        ("Recording", &meeting.video_url),
    ];
    facts.extend(links.into_iter().filter_map(|(name, url)| {
        let url =
            url.as_deref().map(str::trim).filter(|url| url.starts_with("https://") || url.starts_with("http://"))?;
        Some(format!("<a href=\"{}\">{name}</a>", in_html(url)))
    }));
    if facts.is_empty() { list } else { format!("{list}<p>{}</p>", facts.join(" · ")) }
}

fn in_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Without what XML cannot hold in any form.
fn plain(text: &str) -> String {
    let is_allowed = |letter: &char| match letter {
        '\t' | '\n' | '\r' => true,
        '\u{FFFE}' | '\u{FFFF}' => false,
        other => !other.is_control(),
    };
    text.chars().filter(is_allowed).collect()
}

fn text(xml: &mut Xml<'_>, name: &str, value: &str) -> io::Result<()> {
    xml.create_element(name).write_text_content(BytesText::new(&plain(value)))?;
    Ok(())
}

fn empty(xml: &mut Xml<'_>, name: &str, attributes: &[(&str, &str)]) -> io::Result<()> {
    xml.create_element(name).with_attributes(attributes.iter().copied()).write_empty()?;
    Ok(())
}

fn author(xml: &mut Xml<'_>, name: &str) -> io::Result<()> {
    xml.write_event(Event::Start(BytesStart::new("author")))?;
    text(xml, "name", name)?;
    xml.write_event(Event::End(BytesEnd::new("author")))
}
