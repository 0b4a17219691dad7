//! What is stored, as a digest. Nothing but the store and the days that are asked for goes in: the same store makes the
//! same digest.

use super::{
    digest::{AlertLine, ChangeLine, CityDigest, Digest, ItemDigest, MatterLine, MeetingDigest, MeetingLine},
    facts,
    follower::{self, Follower},
    markdown::{self, Block},
    matching::{self, Interest, Page},
    period::zone,
    shown, text,
};
use crate::records::{
    AgendaItem, Alert, Appearance, ChangeFilter, ChangeKind, Civic as _, ItemRevision, Jurisdiction, Matter, Meeting,
    MeetingChange, MeetingFilter,
};
use crate::{
    analyst::local_topics::topics_of,
    export::{between, city_name, full_title},
    history,
    prose::topics::Topics,
};
use bindery_core::Timestamp;
use bindery_store::{Store, StoreResult};
use jiff::{ToSpan as _, civil::Date};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// So many items of a meeting are shown where all of it is followed.
const MOST_ITEMS: usize = 12;

/// A digest that somebody asks for.
#[derive(Debug, Clone)]
pub struct DigestRequest {
    pub cities: Vec<Jurisdiction>,
    /// Only what this alert is about.
    pub alert: Option<Alert>,
    /// Meetings of this day and so many after it, by the clocks of the cities.
    pub from: Date,
    pub days: u32,
    /// Changes and votes that were seen on this day or later.
    pub since: Date,
}

/// Everything of these days.
pub async fn digest(store: &dyn Store, request: &DigestRequest) -> StoreResult<Digest> {
    let until = request.from.checked_add(i64::from(request.days.max(1) - 1).days()).unwrap_or(Date::MAX);
    let follower = request.alert.clone().map(follower::of_alert).map(|mut follower| {
        // What happened before there was such an alert is of interest, too.
        follower.wants.iter_mut().for_each(|want| want.since = None);
        follower
    });
    let composer = Composer::new(store);
    let mut digest = Digest {
        alert: follower.as_ref().map(alert_line),
        from: request.from.to_string(),
        until: until.to_string(),
        since: Some(request.since.to_string()),
        ..Digest::default()
    };
    for city in &request.cities {
        let (from, until) = between(city, Some(request.from), Some(until));
        let city_key = Some(city.city_key.clone());
        let filter = MeetingFilter { city_key, from, until, ..MeetingFilter::default() };
        let mut told = empty_city(city);
        for page in composer.pages(store.civic().meetings(filter).await?).await? {
            let interest = follower.as_ref().map(|follower| Interest::new(follower, &page, None));
            match interest {
                _ if !matching::is_on(&page.meeting) => told.also.push(shown::line(&page.meeting)),
                None => told.meetings.push(composer.meeting(city, &page, None).await?),
                Some(interest) if !interest.whole.is_empty() => {
                    told.meetings.push(composer.meeting(city, &page, None).await?);
                }
                Some(interest) if !interest.items.is_empty() => {
                    told.meetings.push(composer.meeting(city, &page, Some(&interest.items)).await?);
                }
                Some(_) => told.also.push(shown::line(&page.meeting)),
            }
        }
        let (since, _) = between(city, Some(request.since), None);
        composer.changes_since(city, follower.as_ref(), since, &mut told).await?;
        digest.cities.push(told);
    }
    digest.title = title(&digest);
    Ok(digest)
}

/// A line of the agenda that only stands above others: `CONSENT CALENDAR`.
fn is_heading(item: &AgendaItem) -> bool {
    let is_bare = item.agenda_number.is_none() && item.matter_id.is_none() && item.filter_reason.is_none();
    let is_empty = item.attachments.is_empty() && item.body_text.is_none() && item.summary.is_none();
    is_bare && is_empty && !item.title.chars().any(char::is_lowercase)
}

/// `8. Appeal of a permit`.
fn numbered(item: &AgendaItem) -> String {
    let number = item.agenda_number.as_deref().map(|number| format!("{}. ", number.trim_end_matches('.')));
    format!("{}{}", number.unwrap_or_default(), item.title)
}

pub(super) fn alert_line(follower: &Follower) -> AlertLine {
    AlertLine { id: follower.id.clone(), name: follower.name.clone(), owner: follower.owner.clone() }
}

/// `Palo Alto, CA: 3 meetings from Monday, March 9`.
pub(super) fn title(digest: &Digest) -> String {
    let names: Vec<&str> = digest.cities.iter().map(|city| city.name.as_str()).collect();
    let cities = match names.as_slice() {
        [] => "No city".to_owned(),
        [one] => (*one).to_owned(),
        [one, other] => format!("{one} and {other}"),
        [first, rest @ ..] => format!("{first} and {} other cities", rest.len()),
    };
    let name = digest.alert.as_ref().map(|alert| format!("{}: ", alert.name)).unwrap_or_default();
    let meetings = digest.cities.iter().map(|city| city.meetings.len()).sum::<usize>();
    let changes = digest.cities.iter().map(|city| city.changes.len() + city.votes.len()).sum::<usize>();
    let counted = |number: usize, noun: &str| match number {
        0 => None,
        1 => Some(format!("1 {noun}")),
        more => Some(format!("{more} {noun}s")),
    };
    let parts: Vec<String> = [counted(meetings, "meeting"), counted(changes, "change")].into_iter().flatten().collect();
    let what = if parts.is_empty() { "nothing new".to_owned() } else { parts.join(", ") };
    format!("{name}{cities}: {what}")
}

/// Finds what a digest tells.
pub(super) struct Composer<'s> {
    store: &'s dyn Store,
}

/// A city of which nothing is told yet.
pub(super) fn empty_city(city: &Jurisdiction) -> CityDigest {
    CityDigest { city_key: city.city_key.clone(), name: city_name(city), ..CityDigest::default() }
}

impl<'s> Composer<'s> {
    pub(super) fn new(store: &'s dyn Store) -> Self {
        Self { store }
    }

    /// Meetings with their agendas.
    pub(super) async fn pages(&self, meetings: Vec<Meeting>) -> StoreResult<Vec<Page>> {
        let ids: Vec<String> = meetings.iter().map(|meeting| meeting.id.clone()).collect();
        let mut items: HashMap<String, Vec<AgendaItem>> = HashMap::new();
        for item in self.store.civic().agendas(&ids).await? {
            items.entry(item.meeting_id.clone()).or_default().push(item);
        }
        let mut pages = Vec::with_capacity(meetings.len());
        for meeting in meetings {
            let items = items.remove(&meeting.id).unwrap_or_default();
            let revisions = self.revisions(&meeting.id, &items).await?;
            pages.push(Page::new(meeting, items, &revisions));
        }
        Ok(pages)
    }

    async fn revisions(&self, meeting_id: &str, items: &[AgendaItem]) -> StoreResult<Vec<ItemRevision>> {
        if items.iter().all(|item| item.revisions == 0) {
            return Ok(Vec::new());
        }
        self.store.civic().item_revisions(meeting_id).await
    }

    /// A meeting with these items and why they are told; none: those that matter most.
    pub(super) async fn meeting(
        &self,
        city: &Jurisdiction,
        page: &Page,
        items: Option<&BTreeMap<String, BTreeSet<String>>>,
    ) -> StoreResult<MeetingDigest> {
        let live: Vec<&AgendaItem> =
            page.items.iter().filter(|item| item.removed_at.is_none() && item.duplicate_of.is_none()).collect();
        let live: Vec<&AgendaItem> = live.into_iter().filter(|item| !is_heading(item)).collect();
        let is_wanted = |item: &AgendaItem| match items {
            Some(items) => items.contains_key(&item.id),
            None => item.filter_reason.is_none(),
        };
        let mut wanted: Vec<(&AgendaItem, facts::Facts)> =
            live.iter().filter(|item| is_wanted(item)).map(|item| (*item, facts::from_item(item))).collect();
        wanted.sort_by_key(|(item, facts)| {
            (std::cmp::Reverse((facts.consequence, facts.most_money)), item.sequence, item.id.clone())
        });
        if items.is_none() {
            wanted.truncate(MOST_ITEMS);
        }
        let shown_ids: BTreeSet<&str> = wanted.iter().map(|(item, _)| item.id.as_str()).collect();
        let rest = live.iter().filter(|item| !shown_ids.contains(item.id.as_str()));
        let (more, skipped): (Vec<&AgendaItem>, Vec<&AgendaItem>) =
            rest.copied().partition(|item| item.filter_reason.is_none());
        let revisions = self.revisions(&page.meeting.id, &page.items).await?;
        let topics = topics_of(city);
        let mut told = Vec::with_capacity(wanted.len());
        for (item, facts) in wanted {
            let why = items.and_then(|items| items.get(&item.id)).into_iter().flatten();
            let why = why.filter(|why| !why.is_empty()).cloned().collect();
            let latest = revisions.iter().rfind(|revision| revision.item_id == item.id);
            let (decided, earlier) = self.course(city, item).await?;
            told.push(ItemDigest { decided, why, earlier, ..digested(&topics, item, latest, facts) });
        }
        Ok(MeetingDigest {
            line: shown::line(&page.meeting),
            summary: page.meeting.summary.clone().filter(|_| live.is_empty()),
            take_part: shown::take_part(city, &page.meeting),
            links: shown::links(&page.meeting),
            items: told,
            more_items: more.len(),
            more_titles: if items.is_none() { more.iter().map(|item| numbered(item)).collect() } else { Vec::new() },
            skipped_items: skipped.len(),
            has_no_agenda: live.is_empty() && page.meeting.agenda_url.is_none() && page.meeting.packet_url.is_none(),
        })
    }

    /// What became of an item's matter at this meeting, and the meetings that it was in before.
    async fn course(&self, city: &Jurisdiction, item: &AgendaItem) -> StoreResult<(Option<String>, Vec<String>)> {
        let Some(matter) = &item.matter_id else { return Ok((None, Vec::new())) };
        let all = self.store.civic().appearances(matter).await?;
        let here = all.iter().find(|appearance| appearance.item_id == item.id);
        let decided = here.and_then(shown::outcome);
        let here = here.and_then(|here| here.appeared_at);
        let is_before = |appearance: &&Appearance| {
            appearance.meeting_id != item.meeting_id && (here.is_none() || appearance.appeared_at < here)
        };
        let zone = zone(city.tz.as_deref());
        Ok((decided, all.iter().filter(is_before).map(|before| shown::appearance(before, &zone)).collect()))
    }

    /// A matter with where it was.
    pub(super) async fn matter(
        &self,
        city: &Jurisdiction,
        matter: Matter,
        why: Vec<String>,
    ) -> StoreResult<MatterLine> {
        let zone = zone(city.tz.as_deref());
        let appearances = self.store.civic().appearances(&matter.id).await?;
        let timeline = appearances.iter().map(|one| shown::appearance(one, &zone)).collect();
        Ok(MatterLine {
            id: matter.id,
            file: matter.matter_file,
            title: matter.title,
            status: matter.status,
            summary: matter.canonical_summary,
            why,
            timeline,
        })
    }

    /// What has happened in a city, from its history.
    async fn changes_since(
        &self,
        city: &Jurisdiction,
        follower: Option<&Follower>,
        since: Option<Timestamp>,
        told: &mut CityDigest,
    ) -> StoreResult<()> {
        let filter = ChangeFilter { city_key: Some(city.city_key.clone()), since, ..ChangeFilter::default() };
        let mut revisions: BTreeMap<(String, i64), Vec<MeetingChange>> = BTreeMap::new();
        for change in self.store.civic().meeting_changes(filter).await? {
            revisions.entry((change.meeting_id.clone(), change.revision)).or_default().push(change);
        }
        let ids: BTreeSet<String> = revisions.keys().map(|(meeting, _)| meeting.clone()).collect();
        let ids: Vec<String> = ids.into_iter().collect();
        if ids.is_empty() {
            return Ok(());
        }
        let filter = MeetingFilter { ids, with_removed: true, ..MeetingFilter::default() };
        let pages = self.pages(self.store.civic().meetings(filter).await?).await?;
        let pages: HashMap<&str, &Page> = pages.iter().map(|page| (page.meeting.id.as_str(), page)).collect();
        let calendar = told.meetings.iter().map(|meeting| &meeting.line).chain(&told.also);
        let shown: BTreeSet<String> = calendar.map(|line| line.id.clone()).collect();
        let mut lines = Vec::new();
        for ((meeting, _), mut changes) in revisions {
            let Some(page) = pages.get(meeting.as_str()) else { continue };
            changes.sort_by_key(|change| change.ordinal);
            let interest = match follower {
                Some(follower) => Interest::new(follower, page, None),
                None => Interest { whole: BTreeSet::from([String::new()]), ..Interest::default() },
            };
            let news = matching::relevant_changes(&interest, &page.meeting, &changes);
            let news = news.iter().filter(|change| !(shown.contains(&meeting) && is_shown_elsewhere(change.kind)));
            lines.extend(news.map(|change| change_line(page, change)));
        }
        sort_changes(lines, told);
        Ok(())
    }
}

/// An item as it is now, with the summary of its last form that has one.
fn digested(topics: &Topics, item: &AgendaItem, latest: Option<&ItemRevision>, facts: facts::Facts) -> ItemDigest {
    let newer = latest.and_then(|revision| revision.summary.clone());
    let has_changed = latest.is_some() && newer.is_none() && item.summary.is_some();
    let origin = latest.and_then(|revision| revision.summary_of.as_ref()).or(item.summary_of.as_ref());
    let attachments = latest.map(|revision| &revision.attachments).filter(|some| !some.is_empty());
    let (documents, more_documents) = shown::documents(attachments.unwrap_or(&item.attachments));
    let summary = newer.or_else(|| item.summary.clone());
    let blocks = markdown::blocks(summary.as_deref().unwrap_or_default());
    let is_extracted = origin.is_some_and(|origin| origin.method.starts_with("extractive"))
        || blocks.first().is_some_and(text::is_label);
    let said: String = blocks.iter().map(Block::plain).collect::<Vec<_>>().join("\n");
    // What stands in the summary is not said again.
    ItemDigest {
        id: item.id.clone(),
        number: item.agenda_number.clone(),
        title: latest.map_or(&item.title, |revision| &revision.title).clone(),
        summary,
        is_extracted,
        has_changed,
        is_consent: item.is_consent == Some(true),
        action: facts.action.or_else(|| item.action.clone()).filter(|action| !said.contains(action.as_str())),
        money: facts.money.into_iter().filter(|amount| !says_amount(&said, amount)).collect(),
        dates: facts.dates,
        topics: item.topics.iter().map(|key| topics.name(key).unwrap_or(key).to_owned()).collect(),
        documents,
        more_documents,
        consequence: facts.consequence,
        ..ItemDigest::default()
    }
}

/// Whether a text names an amount: `$1,974,000, not to exceed (paving)` by its number.
fn says_amount(text: &str, amount: &str) -> bool {
    let number = amount.split(", ").next().unwrap_or(amount).split(" (").next().unwrap_or(amount);
    text.contains(number)
}

/// What need not be told of a meeting that is shown with its agenda.
pub(super) const fn is_shown_elsewhere(kind: ChangeKind) -> bool {
    matches!(kind, ChangeKind::Added | ChangeKind::AgendaPosted | ChangeKind::PacketPosted | ChangeKind::BodyChanged)
}

/// A change in words.
pub(super) fn change_line(page: &Page, change: &MeetingChange) -> ChangeLine {
    let item = change.item_id.as_ref().and_then(|id| page.items.iter().find(|item| item.id == *id));
    ChangeLine {
        kind: history::name(change.kind),
        meeting: MeetingLine { title: full_title(&page.meeting), ..shown::line(&page.meeting) },
        item_id: change.item_id.clone(),
        headline: history::headline(change.kind).to_owned(),
        sentence: history::sentence(change, item.map(|item| item.title.as_str())),
        at: Some(change.at),
    }
}

/// Votes apart from the rest, the newest first.
pub(super) fn sort_changes(mut lines: Vec<ChangeLine>, told: &mut CityDigest) {
    lines.sort_by(|one, other| (other.at, &one.meeting.id).cmp(&(one.at, &other.meeting.id)));
    let is_vote = |line: &ChangeLine| matches!(line.kind.as_str(), "vote_recorded" | "vote_corrected");
    let (votes, changes) = lines.into_iter().partition(is_vote);
    told.votes = votes;
    told.changes = changes;
}
