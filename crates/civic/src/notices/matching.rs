//! What of a meeting somebody wants to hear of, and why.

use super::{
    follower::{Follower, Thing},
    words::Text,
};
use crate::people;
use crate::records::{AgendaItem, ChangeKind, ItemRevision, Matter, Meeting, MeetingChange, Person, VoteEvent};
use bindery_core::Timestamp;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// A meeting is past for this long after it began, before nothing of it is announced any more.
const STILL_ON: Duration = Duration::from_hours(24);

/// What happens to a meeting so long after it is no news any more.
const OLD: Duration = Duration::from_hours(24 * 90);

/// A meeting with all that words are looked for in.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) meeting: Meeting,
    /// In the order of the agenda, also those that were removed from it.
    pub(super) items: Vec<AgendaItem>,
    pub(super) votes: Vec<VoteEvent>,
    /// By their ids.
    pub(super) members: BTreeMap<String, Person>,
    title: Text,
    texts: Vec<Text>,
}

impl Page {
    pub(super) fn new(meeting: Meeting, items: Vec<AgendaItem>, revisions: &[ItemRevision]) -> Self {
        // Where there are items, the summary of the meeting says what theirs say.
        let summary = meeting.summary.as_ref().filter(|_| items.is_empty());
        let title = [Some(&meeting.title), meeting.body.as_ref(), summary];
        let title = Text::new(title.into_iter().flatten().map(String::as_str));
        let texts = items
            .iter()
            .map(|item| {
                let own = [Some(&item.title), item.summary.as_ref(), item.body_text.as_ref()];
                let later = revisions.iter().filter(|revision| revision.item_id == item.id);
                let later = later.flat_map(|later| [Some(&later.title), later.summary.as_ref()]);
                Text::new(own.into_iter().chain(later).flatten().map(String::as_str))
            })
            .collect();
        Self { meeting, items, title, texts, ..Self::default() }
    }

    fn all(&self) -> impl Iterator<Item = (&AgendaItem, &Text)> {
        self.items.iter().zip(&self.texts)
    }
}

/// What somebody wants to hear of a meeting, with the reasons.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Interest {
    /// Of the meeting as a whole.
    pub(super) whole: BTreeSet<String>,
    /// Of single items, by their ids.
    pub(super) items: BTreeMap<String, BTreeSet<String>>,
}

impl Interest {
    /// With what is followed since before this moment.
    pub(super) fn new(follower: &Follower, page: &Page, at: Option<Timestamp>) -> Self {
        let mut interest = Self::default();
        if !follower.is_about(&page.meeting.city_key) {
            return interest;
        }
        let is_since = |since: Option<Timestamp>| at.is_none() || since.is_none() || since <= at;
        for want in follower.wants.iter().filter(|want| is_since(want.since)) {
            interest.add(&want.thing, page);
        }
        interest
    }

    fn add(&mut self, thing: &Thing, page: &Page) {
        let meeting = &page.meeting;
        match thing {
            Thing::Everything => self.whole.extend([String::new()]),
            Thing::City(city_key) if *city_key == meeting.city_key => self.whole.extend([String::new()]),
            Thing::Meeting(id) if *id == meeting.id => self.whole.extend(["this meeting".to_owned()]),
            Thing::Committee(id) if meeting.committee_id.as_ref() == Some(id) => {
                self.whole.extend([meeting.body.clone().unwrap_or_else(|| "this body".to_owned())]);
            }
            Thing::Keyword { shown, phrase } => {
                if page.title.has(phrase) {
                    self.whole.extend([shown.clone()]);
                }
                self.items_where(page, shown, |_, text| text.has(phrase));
            }
            Thing::Matter(id) => {
                self.items_where(page, "a matter that you follow", |item, _| item.matter_id.as_ref() == Some(id));
            }
            Thing::Topic(key) => self.items_where(page, &key.replace('_', " "), |item, _| item.topics.contains(key)),
            Thing::Member(id) => self.add_member(id, page),
            Thing::City(_) | Thing::Meeting(_) | Thing::Committee(_) => {}
        }
    }

    /// What a member stands behind, and has voted on.
    fn add_member(&mut self, id: &str, page: &Page) {
        let person = page.members.get(id);
        let why = person.map_or("a member that you follow", |person| person.name.as_str()).to_owned();
        let sponsors = |item: &AgendaItem| {
            let is_it =
                |name: String, person: &Person| name == person.normalized_name || person.aliases.contains(&name);
            let mut names = item.sponsors.iter().filter_map(|sponsor| people::fold(sponsor));
            person.is_some_and(|person| names.any(|name| is_it(name, person)))
        };
        let has_voted = |item: &AgendaItem| {
            let on_it = page.votes.iter().filter(|vote| vote.item_id.as_ref() == Some(&item.id));
            on_it.flat_map(|vote| &vote.ballots).any(|ballot| ballot.person_id == id)
        };
        self.items_where(page, &why, |item, _| sponsors(item) || has_voted(item));
    }

    fn items_where(&mut self, page: &Page, why: &str, fits: impl Fn(&AgendaItem, &Text) -> bool) {
        for (item, _) in page.all().filter(|(item, text)| item.duplicate_of.is_none() && fits(item, text)) {
            self.items.entry(item.id.clone()).or_default().insert(why.to_owned());
        }
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.whole.is_empty() && self.items.is_empty()
    }

    /// Why somebody is told, each reason once; none where they follow everything.
    pub(super) fn reasons(&self) -> Vec<String> {
        let all: BTreeSet<&String> = self.whole.iter().chain(self.items.values().flatten()).collect();
        all.into_iter().filter(|reason| !reason.is_empty()).cloned().collect()
    }

    /// Whether a change is told: one of an item where it or all is followed, one of the meeting where anything of it is.
    fn tells(&self, change: &MeetingChange) -> bool {
        match &change.item_id {
            _ if !self.whole.is_empty() => true,
            Some(item) => self.items.contains_key(item),
            None => !self.items.is_empty(),
        }
    }
}

/// Whether words and topics have anything to do with a matter itself.
pub(super) fn matter_reasons(follower: &Follower, matter: &Matter) -> BTreeSet<String> {
    let mut why = BTreeSet::new();
    if !follower.is_about(&matter.city_key) {
        return why;
    }
    let text = Text::new([matter.title.as_str(), matter.canonical_summary.as_deref().unwrap_or_default()]);
    for want in &follower.wants {
        match &want.thing {
            Thing::Keyword { shown, phrase } if text.has(phrase) => why.extend([shown.clone()]),
            Thing::Matter(id) if *id == matter.id => why.extend(["a matter that you follow".to_owned()]),
            Thing::Topic(key) if matter.canonical_topics.contains(key) => why.extend([key.replace('_', " ")]),
            _ => {}
        }
    }
    why
}

/// It takes place, as far as anybody can tell.
pub(super) fn is_on(meeting: &Meeting) -> bool {
    let is_off = matches!(meeting.status.as_deref(), Some("cancelled" | "postponed"));
    !is_off && meeting.removed_at.is_none() && meeting.superseded_by.is_none()
}

/// It is still to come, or on.
pub(super) fn is_ahead(meeting: &Meeting, now: Timestamp) -> bool {
    meeting.starts_at.is_none_or(|begins| begins + STILL_ON > now)
}

/// Nobody should wait for the next digest to hear of it.
pub(super) const fn is_urgent(kind: ChangeKind) -> bool {
    matches!(
        kind,
        ChangeKind::Cancelled
            | ChangeKind::Moved
            | ChangeKind::StatusChanged
            | ChangeKind::Removed
            | ChangeKind::Returned
            | ChangeKind::LocationChanged
    )
}

/// The changes of one revision that are told. Of a meeting that does not take place nothing but that is news; nor is
/// one that was over before it was first seen, nor what happens long after.
pub(super) fn relevant_changes(
    interest: &Interest,
    meeting: &Meeting,
    changes: &[MeetingChange],
) -> Vec<MeetingChange> {
    let Some(at) = changes.first().map(|change| change.at) else { return Vec::new() };
    let is_first = changes.iter().any(|change| change.kind == ChangeKind::Added);
    let is_over = !is_ahead(meeting, at);
    let is_old = meeting.starts_at.is_some_and(|begins| begins + OLD < at);
    if is_old || is_first && is_over {
        return Vec::new();
    }
    let says_off = |change: &MeetingChange| match change.kind {
        ChangeKind::Cancelled | ChangeKind::StatusChanged | ChangeKind::Removed => true,
        ChangeKind::Added => change.after["status"].is_string(),
        _ => false,
    };
    let is_news = |change: &&MeetingChange| {
        interest.tells(change) && (is_on(meeting) || says_off(change)) && !(is_urgent(change.kind) && is_over)
    };
    changes.iter().filter(is_news).cloned().collect()
}
