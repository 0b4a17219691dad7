//! What has happened, as messages: each once for everybody who wants it.
//!
//! The log of events says which meetings were changed or read. Messages follow from those, under keys that say what they
//! are about; one that is stored already is not stored again. The place in the log is stored after them. So a pass that
//! is killed anywhere, or runs twice at once, loses nothing and doubles nothing.

use super::{
    compose::{Composer, alert_line, change_line},
    follower::{self, Follower, Thing, short_hash},
    matching::{self, Interest, Page, is_urgent},
    period::today,
};
use crate::records::{
    ChangeFilter, Channel, Civic as _, GATHERED, Jurisdiction, JurisdictionFilter, MatterFilter, Meeting,
    MeetingChange, MeetingFilter, NOTICES_WORKFLOW_VERSION, Notification,
};
use crate::{
    export::{between, city_name},
    history,
    processing::events::{ITEM_SUMMARISED, MATTER_SUMMARISED, MEETING_PROCESSED},
    sync::plan,
};
use bindery_core::{EventSeq, Name, Timestamp, event::Event};
use bindery_store::{Store, StoreResult, commit::FeedCommit, query::EventFilter};
use jiff::ToSpan as _;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The name under which the place in the log is kept.
pub const CONSUMER: &str = "civic-notices";

/// How many events are looked at before the place is stored.
const BATCH: usize = 500;

/// Where nothing is of interest, the place is stored only now and then.
const STORE_PLACE_EVERY: i64 = 1_000;

/// How many meetings are read at a time.
const AT_A_TIME: usize = 50;

/// Meetings of so many days are looked through for somebody who begins to follow something.
const DAYS_AHEAD: i64 = 60;

/// What a pass has found that nobody had found before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Produced {
    /// Messages about changes, and about items and matters; those that wait for a digest, too.
    pub messages: usize,
    /// Digests that are to be sent.
    pub digests: usize,
}

/// Finds out what is to be told. Idempotent: doing it twice does it once.
pub async fn produce(store: &dyn Store) -> StoreResult<Produced> {
    let (name, text) = crate::NOTICES_WORKFLOW;
    store.put_workflow(&name.into(), NOTICES_WORKFLOW_VERSION, text).await?;
    let mut pass = Pass::new(store).await?;
    let mut produced = Produced { messages: pass.begin_following().await?, digests: 0 };
    for announcement in store.civic().announcements().await? {
        produced.messages += pass.announce(&announcement).await?;
    }
    produced.messages += pass.follow_log().await?;
    produced.digests = super::gather::digests(&mut pass).await?;
    Ok(produced)
}

/// What one pass knows.
pub(super) struct Pass<'s> {
    pub(super) store: &'s dyn Store,
    pub(super) now: Timestamp,
    pub(super) followers: Vec<Follower>,
    pub(super) composer: Composer<'s>,
    cities: HashMap<String, Option<Jurisdiction>>,
}

/// What happened to a meeting, as far as the log says.
#[derive(Debug, Default)]
struct Touched {
    revisions: BTreeSet<i64>,
    /// Where the log does not know revisions.
    moments: BTreeSet<Timestamp>,
}

impl<'s> Pass<'s> {
    async fn new(store: &'s dyn Store) -> StoreResult<Self> {
        Ok(Self {
            store,
            now: store.clock().now(),
            followers: follower::load(store).await?,
            composer: Composer::new(store),
            cities: HashMap::new(),
        })
    }

    pub(super) async fn city(&mut self, city_key: &str) -> StoreResult<Option<Jurisdiction>> {
        if !self.cities.contains_key(city_key) {
            let found = self.store.civic().jurisdiction(city_key).await?;
            self.cities.insert(city_key.to_owned(), found);
        }
        Ok(self.cities.get(city_key).cloned().flatten())
    }

    /// Whoever follows something new hears first of what is to come already.
    async fn begin_following(&mut self) -> StoreResult<usize> {
        let mark = |follower: &Follower| format!("begun:{}:{}", follower.id, follower.mark());
        let marks: Vec<String> = self.followers.iter().map(mark).collect();
        let known = self.store.civic().known_notifications(&marks).await?;
        let known: BTreeSet<String> = known.into_iter().map(|message| message.key).collect();
        let mut found = 0;
        for follower in self.followers.clone() {
            let key = mark(&follower);
            if known.contains(&key) {
                continue;
            }
            let mut messages = Vec::new();
            for city_key in follower.cities() {
                let Some(city) = self.city(&city_key).await? else { continue };
                let day = today(&super::period::zone(city.tz.as_deref()), self.now);
                let (from, until) = between(&city, Some(day), day.checked_add(DAYS_AHEAD.days()).ok());
                let filter = MeetingFilter { city_key: Some(city_key), from, until, ..MeetingFilter::default() };
                for some in self.store.civic().meetings(filter).await?.chunks(AT_A_TIME) {
                    for page in self.pages(some.to_vec()).await? {
                        messages.extend(self.matches(&follower, &page).await?);
                    }
                }
            }
            found += self.store.civic().add_notifications(messages).await?;
            let (alert_id, sent_at) = (Some(follower.id.clone()), Some(self.now));
            let begun = Notification { key, kind: BEGUN.to_owned(), alert_id, sent_at, ..Notification::default() };
            self.store.civic().add_notifications(vec![begun]).await?;
        }
        Ok(found)
    }

    /// The first meeting of a city was found: whoever wants to hear of the city is told, each address once.
    async fn announce(&self, announcement: &Notification) -> StoreResult<usize> {
        let is_told = |follower: &&Follower| {
            announcement.city_key.as_ref().is_some_and(|city_key| follower.calendars().contains(city_key))
        };
        let mut messages: BTreeMap<String, Notification> = BTreeMap::new();
        for channel in self.followers.iter().filter(is_told).flat_map(|follower| &follower.channels) {
            let key = format!("{}:{}", announcement.key, address_mark(channel));
            let message = Notification { key: key.clone(), channel: Some(channel.clone()), ..announcement.clone() };
            messages.insert(key, message);
        }
        let found = messages.len();
        let is_first = self.store.civic().announce(&announcement.key, messages.into_values().collect()).await?;
        Ok(if is_first { found } else { 0 })
    }

    /// Everything in the log that was not looked at yet.
    async fn follow_log(&mut self) -> StoreResult<usize> {
        let consumer = Name::from(CONSUMER);
        let kinds: Vec<Name> =
            [plan::EVENT, ITEM_SUMMARISED, MEETING_PROCESSED, MATTER_SUMMARISED].map(Name::from).to_vec();
        let mut found = 0;
        loop {
            let from = self.store.consumer_position(&consumer).await?;
            let newest = self.store.last_event().await?;
            let filter = EventFilter { kinds: kinds.clone(), submission: None };
            let mut events = self.store.read_events(from, filter, BATCH).await?;
            // What came after `newest` was asked for is left for the next time.
            let all_read = events.len() < BATCH;
            events.retain(|event| event.seq <= newest);
            let last = events.last().map_or(newest, |event| event.seq);
            let to: EventSeq = if all_read { newest.max(from) } else { last };
            if events.is_empty() && to.raw() - from.raw() < STORE_PLACE_EVERY {
                return Ok(found);
            }
            found += self.look_at(&events).await?;
            // Somebody else may have been faster: what they have found is what we have.
            match self.store.commit_feed(&consumer, from, to, Vec::new()).await? {
                FeedCommit::Applied(_) if all_read => return Ok(found),
                FeedCommit::Applied(_) | FeedCommit::Moved { .. } => {}
            }
        }
    }

    async fn look_at(&mut self, events: &[Event]) -> StoreResult<usize> {
        let mut touched: BTreeMap<String, Touched> = BTreeMap::new();
        for event in events {
            let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
            if let Some(matter) = data["matterId"].as_str().filter(|_| *event.kind == *MATTER_SUMMARISED) {
                for item in self.store.civic().items_of_matter(matter).await? {
                    touched.entry(item.meeting_id).or_default();
                }
            }
            let Some(meeting) = data["meetingId"].as_str() else { continue };
            let known = touched.entry(meeting.to_owned()).or_default();
            match data["revision"].as_i64() {
                // It was read: there are words that were not there before, and nothing has happened to it.
                _ if *event.kind != *plan::EVENT => {}
                Some(revision) => {
                    known.revisions.insert(revision);
                }
                None => {
                    known.moments.insert(event.at);
                }
            }
        }
        let ids: Vec<String> = touched.keys().cloned().collect();
        let mut found = 0;
        for some in ids.chunks(AT_A_TIME) {
            let filter = MeetingFilter { ids: some.to_vec(), with_removed: true, ..MeetingFilter::default() };
            let mut meetings = self.store.civic().meetings(filter).await?;
            meetings.retain(|meeting| self.followers.iter().any(|follower| follower.is_about(&meeting.city_key)));
            let mut messages = Vec::new();
            for page in self.pages(meetings).await? {
                let Some(touched) = touched.get(&page.meeting.id) else { continue };
                let changes = self.changes(&page, touched).await?;
                for follower in self.followers.clone() {
                    messages.extend(self.changed(&follower, &page, &changes).await?);
                    messages.extend(self.matches(&follower, &page).await?);
                }
            }
            found += self.store.civic().add_notifications(messages).await?;
        }
        Ok(found)
    }

    /// Meetings with all that somebody may look for in them.
    async fn pages(&self, meetings: Vec<Meeting>) -> StoreResult<Vec<Page>> {
        let mut pages = self.composer.pages(meetings).await?;
        let wants_members =
            |follower: &Follower| follower.wants.iter().any(|want| matches!(want.thing, Thing::Member(_)));
        if self.followers.iter().any(wants_members) {
            for page in &mut pages {
                page.votes = self.store.civic().votes(&page.meeting.id).await?;
                let people = self.store.civic().people(&page.meeting.city_key).await?;
                page.members = people.into_iter().map(|person| (person.id.clone(), person)).collect();
            }
        }
        Ok(pages)
    }

    async fn changes(&self, page: &Page, touched: &Touched) -> StoreResult<Vec<Vec<MeetingChange>>> {
        if touched.revisions.is_empty() && touched.moments.is_empty() {
            return Ok(Vec::new());
        }
        let filter = ChangeFilter { meeting_id: Some(page.meeting.id.clone()), ..ChangeFilter::default() };
        let mut revisions: BTreeMap<i64, Vec<MeetingChange>> = BTreeMap::new();
        for change in self.store.civic().meeting_changes(filter).await? {
            if touched.revisions.contains(&change.revision) || touched.moments.contains(&change.at) {
                revisions.entry(change.revision).or_default().push(change);
            }
        }
        let in_order = |mut changes: Vec<MeetingChange>| {
            changes.sort_by_key(|change| (std::cmp::Reverse(history::weight(change.kind)), change.ordinal));
            changes
        };
        Ok(revisions.into_values().map(in_order).collect())
    }

    /// A message for each look at a meeting that found something for somebody: at once where it cannot wait, to each of
    /// their addresses; else with the next digest.
    async fn changed(
        &mut self,
        follower: &Follower,
        page: &Page,
        revisions: &[Vec<MeetingChange>],
    ) -> StoreResult<Vec<Notification>> {
        let mut messages = Vec::new();
        for changes in revisions {
            let Some(first) = changes.first() else { continue };
            let interest = Interest::new(follower, page, Some(first.at));
            let told = matching::relevant_changes(&interest, &page.meeting, changes);
            let Some(named_by) = told.first() else { continue };
            let Some(city) = self.city(&page.meeting.city_key).await? else { continue };
            let lines: Vec<_> = told.iter().map(|change| change_line(page, change)).collect();
            let key = format!("change:{}:{}:{}", follower.id, page.meeting.id, first.revision);
            let message = Notification {
                kind: format!("meeting_{}", history::name(named_by.kind)),
                body: json!({
                    "city": city_name(&city), "changes": lines, "why": interest.reasons(), "alert": alert_line(follower),
                }),
                ..new_notification(follower, &page.meeting, key)
            };
            if told.iter().any(|change| is_urgent(change.kind)) {
                messages.extend(to_each(&follower.channels, &message));
            } else {
                messages.push(Notification { due_at: Some(GATHERED), ..message });
            }
        }
        Ok(messages)
    }

    /// What of a meeting that is to come somebody wants to hear of, for the next digest.
    async fn matches(&self, follower: &Follower, page: &Page) -> StoreResult<Vec<Notification>> {
        let meeting = &page.meeting;
        if !matching::is_on(meeting) || !matching::is_ahead(meeting, self.now) {
            return Ok(Vec::new());
        }
        let interest = Interest::new(follower, page, None);
        if interest.is_nothing() {
            return Ok(Vec::new());
        }
        let live = || page.items.iter().filter(|item| item.removed_at.is_none());
        let mut messages = Vec::new();
        if !interest.whole.is_empty() && (live().next().is_some() || meeting.summary.is_some()) {
            let key = format!("match:{}:{}", follower.id, meeting.id);
            messages.push(matched(follower, meeting, key, "meeting_matched", json!({"why": interest.reasons()})));
        }
        let mut matters = Vec::new();
        for item in live() {
            let Some(why) = interest.items.get(&item.id) else { continue };
            let key = format!("match:{}:{}", follower.id, item.id);
            let body = json!({"item_id": item.id, "why": why});
            let matter_id = item.matter_id.clone();
            matters.extend(item.matter_id.clone());
            messages.push(Notification { matter_id, ..matched(follower, meeting, key, "item_matched", body) });
        }
        if !matters.is_empty() {
            let filter = MatterFilter { ids: matters, ..MatterFilter::default() };
            for matter in self.store.civic().matters(filter).await? {
                let why = matching::matter_reasons(follower, &matter);
                if why.is_empty() {
                    continue;
                }
                let key = format!("matter:{}:{}", follower.id, matter.id);
                let matter_id = Some(matter.id);
                let message = matched(follower, meeting, key, "matter_matched", json!({"why": why}));
                messages.push(Notification { matter_id, ..message });
            }
        }
        Ok(messages)
    }
}

/// Remembers that somebody has heard of what was to come. Nothing to read.
pub(super) const BEGUN: &str = "begun";

fn new_notification(follower: &Follower, meeting: &Meeting, key: String) -> Notification {
    Notification {
        key,
        city_key: Some(meeting.city_key.clone()),
        meeting_id: Some(meeting.id.clone()),
        alert_id: Some(follower.id.clone()),
        ..Notification::default()
    }
}

fn matched(follower: &Follower, meeting: &Meeting, key: String, kind: &str, body: Value) -> Notification {
    Notification { kind: kind.to_owned(), body, due_at: Some(GATHERED), ..new_notification(follower, meeting, key) }
}

/// The same message for each address, the first under its own key.
pub(super) fn to_each(channels: &[Channel], message: &Notification) -> Vec<Notification> {
    let mut messages: Vec<Notification> = Vec::new();
    for channel in channels {
        if messages.iter().any(|known| known.channel.as_ref() == Some(channel)) {
            continue;
        }
        let own = if messages.is_empty() { String::new() } else { format!(":{}", address_mark(channel)) };
        let key = format!("{}{own}", message.key);
        messages.push(Notification { key, channel: Some(channel.clone()), ..message.clone() });
    }
    messages
}

/// Stands for an address in a key.
pub(super) fn address_mark(channel: &Channel) -> String {
    short_hash(&format!("{}:{}", channel.kind, channel.address))
}

/// Cities by their keys, for those who compose.
pub(super) async fn cities(store: &dyn Store, city_keys: Vec<String>) -> StoreResult<Vec<Jurisdiction>> {
    if city_keys.is_empty() {
        return Ok(Vec::new());
    }
    let mut found =
        store.civic().jurisdictions(JurisdictionFilter { city_keys, ..JurisdictionFilter::default() }).await?;
    found.sort_by(|one, other| (&one.name, &one.city_key).cmp(&(&other.name, &other.city_key)));
    Ok(found)
}
