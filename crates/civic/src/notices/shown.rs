//! Pieces of meetings as people read them: when, where, how to take part, what to open.

use super::{
    digest::{Fact, Link, MeetingLine},
    markdown::safe_link,
};
use crate::records::{Appearance, Attachment, Jurisdiction, Meeting};
use crate::{
    export::{Begins, full_title, page},
    participation::{Participation, Purpose},
};
use jiff::{civil::Date, tz::TimeZone};
use serde_json::Value;

const MOST_DOCUMENTS: usize = 5;

pub(super) fn line(meeting: &Meeting) -> MeetingLine {
    let removed = meeting.removed_at.map(|_| "no longer listed".to_owned());
    MeetingLine {
        id: meeting.id.clone(),
        title: full_title(meeting),
        when: when(meeting),
        starts_at_local: meeting.starts_at_local.clone(),
        tz: meeting.tz.clone(),
        place: non_empty(meeting.location.as_deref()),
        status: removed.or_else(|| non_empty(meeting.status.as_deref())),
        url: page(meeting).and_then(safe_link).map(str::to_owned),
    }
}

/// `Monday, March 9, 2026, 6:00 PM PDT`.
pub(super) fn when(meeting: &Meeting) -> String {
    let Some(begins) = Begins::from_meeting(meeting) else {
        return non_empty(meeting.start_note.as_deref()).unwrap_or_else(|| "no day is known".to_owned());
    };
    let day = day(begins.date);
    match (begins.zoned(), begins.time) {
        (Some(zoned), _) => format!("{day}, {}", zoned.strftime("%-I:%M %p %Z")),
        (None, Some(time)) => format!("{day}, {}", time.strftime("%-I:%M %p")),
        (None, None) => day,
    }
}

/// `Monday, March 9, 2026`.
pub(super) fn day(date: Date) -> String {
    date.strftime("%A, %B %-d, %Y").to_string()
}

fn non_empty(text: Option<&str>) -> Option<String> {
    text.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())
}

pub(super) fn links(meeting: &Meeting) -> Vec<Link> {
    let named = [
        ("Agenda", &meeting.agenda_url),
        ("Packet", &meeting.packet_url),
        ("Minutes", &meeting.minutes_url),
        ("Recording", &meeting.video_url),
    ];
    let link = |(name, url): (&str, &Option<String>)| {
        Some(Link { name: name.to_owned(), url: safe_link(url.as_deref()?)?.to_owned() })
    };
    let mut links: Vec<Link> = Vec::new();
    for link in named.into_iter().filter_map(link) {
        // One file may be agenda and packet.
        if !links.iter().any(|known| known.url == link.url) {
            links.push(link);
        }
    }
    links
}

/// Those that can be opened, and how many more there are.
pub(super) fn documents(attachments: &[Attachment]) -> (Vec<Link>, usize) {
    let open = |attachment: &Attachment| {
        let url = attachment.portal_url.as_deref().and_then(safe_link).or_else(|| safe_link(&attachment.url))?;
        let name = non_empty(Some(&attachment.name)).unwrap_or_else(|| "Document".to_owned());
        Some(Link { name, url: url.to_owned() })
    };
    let mut all: Vec<Link> = attachments.iter().filter_map(open).collect();
    let more = all.len().saturating_sub(MOST_DOCUMENTS);
    all.truncate(MOST_DOCUMENTS);
    (all, more)
}

/// How to take part in a meeting, as its agenda says it; then how to in all of the city's.
pub(super) fn take_part(city: &Jurisdiction, meeting: &Meeting) -> Vec<Fact> {
    let told = meeting.participation.clone().and_then(|told| serde_json::from_value::<Participation>(told).ok());
    let mut facts = told.map(|told| of_agenda(&told, meeting)).unwrap_or_default();
    let usual = city.participation.as_ref().unwrap_or(&Value::Null);
    let said = |key: &str| usual.get(key).and_then(Value::as_str).and_then(|text| non_empty(Some(text)));
    if let Some(url) = said("testimony_url") {
        facts.push(fact("Testify", &url, Some(&url)));
    }
    if let Some(address) = said("testimony_email") {
        facts.push(mail("Testimony by mail", &address));
    }
    if let Some(url) = said("process_url") {
        facts.push(fact("How it works", &url, Some(&url)));
    }
    facts.dedup_by(|one, other| one.text == other.text);
    facts
}

fn fact(name: &str, text: &str, url: Option<&str>) -> Fact {
    Fact { name: name.to_owned(), text: text.to_owned(), url: url.and_then(safe_link).map(str::to_owned) }
}

fn mail(name: &str, address: &str) -> Fact {
    fact(name, address, Some(&format!("mailto:{address}")))
}

fn of_agenda(told: &Participation, meeting: &Meeting) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(place) = told.physical_address.as_deref().filter(|place| Some(*place) != meeting.location.as_deref()) {
        facts.push(fact("In person", place, None));
    }
    let mut codes = Vec::new();
    codes.extend(told.meeting_id.as_ref().map(|id| format!("meeting id {id}")));
    codes.extend(told.passcode.as_ref().map(|code| format!("passcode {code}")));
    if let Some(url) = &told.virtual_url {
        facts.push(fact("Online", url, Some(url)));
    }
    if !codes.is_empty() {
        facts.push(fact("To join", &codes.join(", "), None));
    }
    if !told.dial_in.is_empty() {
        facts.push(fact("By phone", &told.dial_in.join(", "), None));
    }
    for streaming in &told.streaming_urls {
        let channel = streaming.channel.as_ref().map(|channel| format!(" {channel}")).unwrap_or_default();
        facts.push(fact("Watch", &format!("{}{channel}", streaming.platform), streaming.url.as_deref()));
    }
    let comments = told.emails.iter().find(|email| email.purpose == Purpose::WrittenComments);
    if let Some(address) = comments.map(|email| &email.address).or(told.email.as_ref()) {
        facts.push(mail("Write to", address));
    }
    if let Some(url) = &told.comment_url {
        facts.push(fact("Comment", url, Some(url)));
    }
    if let Some(url) = &told.sign_up_url {
        facts.push(fact("Sign up to speak", url, Some(url)));
    }
    if let Some(until) = &told.public_comment_deadline {
        facts.push(fact("Comments until", until, None));
    }
    if let Some(phone) = &told.phone {
        facts.push(fact("Office", phone, None));
    }
    facts
}

/// What became of a matter on one agenda: `passed, 4 to 1`.
pub(super) fn outcome(appearance: &Appearance) -> Option<String> {
    let outcome = non_empty(appearance.vote_outcome.as_deref()).filter(|outcome| outcome != "no_vote");
    let outcome = outcome.or_else(|| non_empty(appearance.action.as_deref()))?.replace('_', " ");
    let votes = |value: &str| appearance.vote_tally.get(value).copied().unwrap_or(0);
    let (yes, no) = (votes("yes"), votes("no"));
    Some(if yes + no > 0 { format!("{outcome}, {yes} to {no}") } else { outcome })
}

/// `2026-02-10, Planning Commission: referred`; days by the clock of a zone.
pub(super) fn appearance(appearance: &Appearance, zone: &TimeZone) -> String {
    let day = appearance.appeared_at.and_then(|at| jiff::Timestamp::from_millisecond(at.as_millis()).ok());
    let day = day.map(|at| at.to_zoned(zone.clone()).date().to_string());
    let body = non_empty(appearance.committee.as_deref());
    let place = [day, body].into_iter().flatten().collect::<Vec<_>>().join(", ");
    match outcome(appearance) {
        Some(outcome) if !place.is_empty() => format!("{place}: {outcome}"),
        Some(outcome) => outcome,
        None if place.is_empty() => "on an agenda".to_owned(),
        None => place,
    }
}
