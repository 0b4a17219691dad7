//! What is known of a city's councils, for other programs.
//!
//! Nothing but what is stored goes into an export: no time of writing, no chance. The same store makes the same bytes,
//! so that a copy that has not changed need not be published again. (`ocd` tells past meetings from coming ones, which a
//! clock decides: it is given by the caller.)
//!
//! | module | format | what it holds |
//! |---|---|---|
//! | `json` | JSON | everything: meetings, agendas, votes, histories, matters |
//! | `sheet` | CSV | a row for each item of each agenda |
//! | `calendar`, `zone` | iCalendar (RFC 5545) | an event for each meeting |
//! | `feed` | Atom (RFC 4287) | an entry for each time that something about a meeting was found out |
//! | `ocd` | Open Civic Data | an event for each meeting, with its agenda |
//! | `when` | | when a meeting begins, as exports need it |
//!
//! Meetings are read and written a few at a time: an export of a city's whole past needs no more memory than its list of
//! meetings.

mod calendar;
mod feed;
mod json;
mod ocd;
mod sheet;
mod when;
mod zone;

pub use when::Begins;

use crate::records::{
    AgendaItem, ChangeFilter, Civic as _, ItemRevision, Jurisdiction, Matter, MatterFilter, Meeting, MeetingChange,
    MeetingFilter, VoteEvent,
};
use bindery_core::Timestamp;
use bindery_store::{Store, StoreError};
use jiff::{civil::Date, tz::TimeZone};
use std::{
    collections::{BTreeSet, HashMap},
    io::{self, Write},
};
use thiserror::Error;

/// Where ids of ours that have to be unique everywhere end or begin: in `UID`s of events and `tag:` ids of entries.
const AUTHORITY: &str = "civic.bindery";

/// How many meetings are read at a time.
const AT_A_TIME: usize = 100;

/// What an export is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    Csv,
    Ics,
    Atom,
    Ocd,
}

/// What is wanted.
#[derive(Debug, Clone)]
pub struct ExportRequest {
    pub city: Jurisdiction,
    pub format: Format,
    /// Meetings of these days, both included, by the clock of the city. With one of them, a meeting that has no day is
    /// left out.
    pub from: Option<Date>,
    pub to: Option<Date>,
    /// How many entries a feed has at most: the newest.
    pub most_entries: usize,
    /// What is before it has passed.
    pub now: Timestamp,
}

impl ExportRequest {
    pub fn new(city: Jurisdiction, format: Format, now: Timestamp) -> Self {
        Self { city, format, from: None, to: None, most_entries: 200, now }
    }
}

/// How much was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exported {
    pub meetings: u64,
    pub items: u64,
    /// Of a feed.
    pub entries: u64,
}

/// Why there is no export.
#[derive(Debug, Error)]
pub enum ExportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A meeting with what belongs to it.
#[derive(Debug, Default)]
struct Whole {
    meeting: Meeting,
    /// In the order of the agenda, also those that were removed from it.
    items: Vec<AgendaItem>,
    votes: Vec<VoteEvent>,
    /// The oldest first. Only where the format asks for it, as the revisions.
    history: Vec<MeetingChange>,
    revisions: Vec<ItemRevision>,
}

/// A format into which meetings are written one after the other.
trait Shape: Send {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()>;
    fn meeting(&mut self, out: &mut dyn Write, whole: &Whole) -> io::Result<()>;
    fn end(&mut self, out: &mut dyn Write) -> io::Result<()>;

    /// Histories, revisions and matters are asked for.
    fn takes_everything(&self) -> bool {
        false
    }

    /// After the last meeting, where everything is taken.
    fn matter(&mut self, _: &mut dyn Write, _: &Matter) -> io::Result<()> {
        Ok(())
    }
}

/// Writes what is stored of a city.
pub async fn export(
    store: &dyn Store,
    request: &ExportRequest,
    out: &mut (dyn Write + Send),
) -> Result<Exported, ExportError> {
    let meetings = meetings(store, request).await?;
    let mut shape: Box<dyn Shape> = match request.format {
        Format::Atom => return feed(store, request, meetings, out).await,
        Format::Json => Box::new(json::Json::new(request)),
        Format::Csv => Box::new(sheet::Sheet),
        Format::Ics => Box::new(calendar::Calendar::new(&request.city, &meetings)),
        Format::Ocd => Box::new(ocd::Events::new(&request.city, request.now)),
    };
    let mut done = Exported::default();
    let mut matters: BTreeSet<String> = BTreeSet::new();
    let mut histories =
        if shape.takes_everything() { histories(store, &request.city.city_key).await? } else { HashMap::new() };
    shape.begin(out)?;
    for some in meetings.chunks(AT_A_TIME) {
        for mut whole in wholes(store, some).await? {
            if shape.takes_everything() {
                whole.history = histories.remove(&whole.meeting.id).unwrap_or_default();
                if whole.items.iter().any(|item| item.revisions > 0) {
                    whole.revisions = store.civic().item_revisions(&whole.meeting.id).await?;
                }
                matters.extend(whole.items.iter().filter_map(|item| item.matter_id.clone()));
            }
            shape.meeting(out, &whole)?;
            done.meetings += 1;
            done.items += whole.items.len() as u64;
        }
    }
    let matters: Vec<String> = matters.into_iter().collect();
    for some in matters.chunks(AT_A_TIME) {
        let mut found = store.civic().matters(MatterFilter { ids: some.to_vec(), ..MatterFilter::default() }).await?;
        found.sort_by(|one, other| one.id.cmp(&other.id));
        for matter in &found {
            shape.matter(out, matter)?;
        }
    }
    shape.end(out)?;
    out.flush()?;
    Ok(done)
}

async fn feed(
    store: &dyn Store,
    request: &ExportRequest,
    meetings: Vec<Meeting>,
    out: &mut (dyn Write + Send),
) -> Result<Exported, ExportError> {
    let city_key = Some(request.city.city_key.clone());
    let changes = store.civic().meeting_changes(ChangeFilter { city_key, ..ChangeFilter::default() }).await?;
    let entries = feed::entries(changes, meetings, request.most_entries);
    let mut ids: Vec<String> = entries.iter().map(|entry| entry.meeting.id.clone()).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut titles: HashMap<String, String> = HashMap::new();
    for some in ids.chunks(AT_A_TIME) {
        titles.extend(store.civic().agendas(some).await?.into_iter().map(|item| (item.id, item.title)));
    }
    feed::write(out, &request.city, &entries, &titles)?;
    out.flush()?;
    Ok(Exported { meetings: ids.len() as u64, items: 0, entries: entries.len() as u64 })
}

/// Those that are wanted, by their beginning; also those that the vendor does not list any more, which each format tells.
async fn meetings(store: &dyn Store, request: &ExportRequest) -> Result<Vec<Meeting>, StoreError> {
    let (from, until) = between(&request.city, request.from, request.to);
    let city_key = Some(request.city.city_key.clone());
    store
        .civic()
        .meetings(MeetingFilter { city_key, from, until, with_removed: true, ..MeetingFilter::default() })
        .await
}

/// The moments at which days begin and end in a city: the first of `from`, and the one after the last of `to`.
pub fn between(city: &Jurisdiction, from: Option<Date>, to: Option<Date>) -> (Option<Timestamp>, Option<Timestamp>) {
    let zone = city.tz.as_deref().and_then(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC);
    let begins = |day: Date| {
        let moment = day.to_zoned(zone.clone()).ok()?.timestamp();
        Some(Timestamp::from_millis(moment.as_millisecond()))
    };
    (from.and_then(begins), to.and_then(|day| day.tomorrow().ok()).and_then(begins))
}

async fn wholes(store: &dyn Store, meetings: &[Meeting]) -> Result<Vec<Whole>, StoreError> {
    let ids: Vec<String> = meetings.iter().map(|meeting| meeting.id.clone()).collect();
    let mut items: HashMap<String, Vec<AgendaItem>> = HashMap::new();
    for item in store.civic().agendas(&ids).await? {
        items.entry(item.meeting_id.clone()).or_default().push(item);
    }
    let mut votes: HashMap<String, Vec<VoteEvent>> = HashMap::new();
    for vote in store.civic().votes_of(&ids).await? {
        votes.entry(vote.meeting_id.clone()).or_default().push(vote);
    }
    let whole = |meeting: &Meeting| Whole {
        meeting: meeting.clone(),
        items: items.remove(&meeting.id).unwrap_or_default(),
        votes: votes.remove(&meeting.id).unwrap_or_default(),
        ..Whole::default()
    };
    Ok(meetings.iter().map(whole).collect())
}

async fn histories(store: &dyn Store, city_key: &str) -> Result<HashMap<String, Vec<MeetingChange>>, StoreError> {
    let filter = ChangeFilter { city_key: Some(city_key.to_owned()), ..ChangeFilter::default() };
    let mut histories: HashMap<String, Vec<MeetingChange>> = HashMap::new();
    for change in store.civic().meeting_changes(filter).await? {
        histories.entry(change.meeting_id.clone()).or_default().push(change);
    }
    for history in histories.values_mut() {
        history.sort_by_key(|change| (change.revision, change.ordinal));
    }
    Ok(histories)
}

/// `Palo Alto, CA`.
pub(crate) fn city_name(city: &Jurisdiction) -> String {
    match (city.name.trim(), city.state.trim()) {
        ("", _) => city.city_key.clone(),
        (name, "") => name.to_owned(),
        (name, state) => format!("{name}, {state}"),
    }
}

/// The body and the title, said once.
pub(crate) fn full_title(meeting: &Meeting) -> String {
    let title = meeting.title.trim();
    match meeting.body.as_deref().map(str::trim).filter(|body| !body.is_empty()) {
        Some(body) if !title.to_lowercase().contains(&body.to_lowercase()) => format!("{body}: {title}"),
        _ => title.to_owned(),
    }
}

/// It does not take place, as far as anybody can tell.
fn is_off(meeting: &Meeting) -> bool {
    meeting.status.as_deref() == Some("cancelled") || meeting.removed_at.is_some() || meeting.superseded_by.is_some()
}

/// It takes place on another day, or nobody knows.
fn is_open(meeting: &Meeting) -> bool {
    matches!(meeting.status.as_deref(), Some("postponed" | "deferred"))
}

/// What a person opens to see the meeting.
pub(crate) fn page(meeting: &Meeting) -> Option<&str> {
    let pages = [&meeting.agenda_url, &meeting.packet_url, &meeting.minutes_url, &meeting.video_url];
    pages.into_iter().flatten().map(String::as_str).find(|url| !url.trim().is_empty())
}
