//! Meetings, items, matters and changes with everything that belongs to them, as whoever shows them wants it.

use super::history;
use crate::{app::App, error::AppResult};
use bindery_civic::records::{
    AgendaItem, Appearance, ChangeFilter, ItemRevision, Matter, Meeting, MeetingChange, MeetingFilter, VoteEvent,
};
use serde::Serialize;
use std::collections::HashMap;

/// A meeting in a list, with how much there is of it.
#[derive(Debug, Serialize)]
pub struct ListedMeeting {
    #[serde(flatten)]
    pub meeting: Meeting,
    pub item_count: u64,
}

/// A meeting with its agenda, what was read of it, votes and history.
#[derive(Debug, Serialize)]
pub struct MeetingView {
    pub meeting: Meeting,
    pub items: Vec<AgendaItem>,
    pub item_revisions: Vec<ItemRevision>,
    pub votes: Vec<VoteEvent>,
    /// From the first change to the last.
    pub history: Vec<MeetingChange>,
}

/// An item with its meeting and its votes.
#[derive(Debug, Serialize)]
pub struct ItemView {
    pub item: AgendaItem,
    pub meeting: Meeting,
    pub item_revisions: Vec<ItemRevision>,
    pub votes: Vec<VoteEvent>,
}

/// Somebody who stands behind a matter.
#[derive(Debug, Serialize)]
pub struct Sponsor {
    pub person_id: String,
    pub name: String,
    pub is_primary: bool,
    pub order: i64,
}

/// A matter over all its appearances.
#[derive(Debug, Serialize)]
pub struct MatterView {
    pub matter: Matter,
    pub sponsors: Vec<Sponsor>,
    pub appearances: Vec<Appearance>,
    pub votes: Vec<VoteEvent>,
    /// Where it appeared, by id.
    #[serde(skip)]
    pub meetings: HashMap<String, Meeting>,
}

/// A change in words.
#[derive(Debug, Serialize)]
pub struct ChangeView {
    #[serde(flatten)]
    pub change: MeetingChange,
    pub meeting_title: Option<String>,
    pub item_title: Option<String>,
    pub headline: &'static str,
    pub sentence: String,
    #[serde(skip)]
    pub meeting: Option<Meeting>,
}

/// The titles of items, by id.
pub fn titles_of(items: &[AgendaItem]) -> HashMap<&str, &str> {
    items.iter().map(|item| (item.id.as_str(), item.title.as_str())).collect()
}

impl App {
    /// The latest meetings, the earliest first, and whether there are more.
    pub async fn list_meetings(&self, filter: MeetingFilter, most: usize) -> AppResult<(Vec<ListedMeeting>, bool)> {
        let filter = MeetingFilter { newest_first: true, limit: Some(most.saturating_add(1)), ..filter };
        let mut meetings = self.civic().meetings(filter).await?;
        let are_more = meetings.len() > most;
        meetings.truncate(most);
        meetings.reverse();
        let ids: Vec<String> = meetings.iter().map(|meeting| meeting.id.clone()).collect();
        let mut counts: HashMap<String, u64> = HashMap::new();
        for item in self.civic().agendas(&ids).await?.into_iter().filter(|item| item.removed_at.is_none()) {
            *counts.entry(item.meeting_id).or_default() += 1;
        }
        let listed = meetings
            .into_iter()
            .map(|meeting| ListedMeeting { item_count: counts.get(&meeting.id).copied().unwrap_or(0), meeting });
        Ok((listed.collect(), are_more))
    }

    pub async fn view_meeting(&self, meeting: Meeting) -> AppResult<MeetingView> {
        let civic = self.civic();
        let items = civic.agenda(&meeting.id).await?;
        let votes = civic.votes(&meeting.id).await?;
        let filter = ChangeFilter { meeting_id: Some(meeting.id.clone()), ..ChangeFilter::default() };
        let mut history = civic.meeting_changes(filter).await?;
        history.sort_by_key(|change| (change.revision, change.ordinal));
        let item_revisions = civic.item_revisions(&meeting.id).await?;
        Ok(MeetingView { meeting, items, item_revisions, votes, history })
    }

    pub async fn view_item(&self, id: &str) -> AppResult<ItemView> {
        let (item, meeting) = self.find_agenda_item(id).await?;
        let mut item_revisions = self.civic().item_revisions(&meeting.id).await?;
        item_revisions.retain(|revision| revision.item_id == item.id);
        let mut votes = self.civic().votes(&meeting.id).await?;
        votes.retain(|vote| vote.item_id.as_ref() == Some(&item.id));
        Ok(ItemView { item, meeting, item_revisions, votes })
    }

    pub async fn view_matter(&self, matter: Matter) -> AppResult<MatterView> {
        let civic = self.civic();
        let appearances = civic.appearances(&matter.id).await?;
        let votes = civic.votes_on(&matter.id).await?;
        let people: HashMap<String, String> =
            civic.people(&matter.city_key).await?.into_iter().map(|person| (person.id, person.name)).collect();
        let sponsors = civic.sponsorships(&matter.id).await?.into_iter().map(|one| Sponsor {
            name: people.get(&one.person_id).cloned().unwrap_or_else(|| one.person_id.clone()),
            person_id: one.person_id,
            is_primary: one.is_primary,
            order: one.sponsor_order,
        });
        let sponsors = sponsors.collect();
        let meetings = self.meetings_of(appearances.iter().map(|one| one.meeting_id.clone()).collect()).await?;
        Ok(MatterView { matter, sponsors, appearances, votes, meetings })
    }

    /// What has happened to the meetings that a filter finds, in words.
    pub async fn view_changes(&self, filter: ChangeFilter) -> AppResult<Vec<ChangeView>> {
        let changes = self.civic().meeting_changes(filter).await?;
        let mut ids: Vec<String> = changes.iter().map(|change| change.meeting_id.clone()).collect();
        ids.sort_unstable();
        ids.dedup();
        let items = self.civic().agendas(&ids).await?;
        let (titles, meetings) = (titles_of(&items), self.meetings_of(ids).await?);
        let view = |change: MeetingChange| {
            let meeting = meetings.get(&change.meeting_id).cloned();
            let item_title = change.item_id.as_deref().and_then(|id| titles.get(id).copied());
            ChangeView {
                meeting_title: meeting.as_ref().map(|meeting| meeting.title.clone()),
                item_title: item_title.map(str::to_owned),
                headline: history::headline(change.kind),
                sentence: history::sentence(&change, item_title),
                change,
                meeting,
            }
        };
        Ok(changes.into_iter().map(view).collect())
    }

    /// Meetings by id, also those that their vendor does not list any more.
    async fn meetings_of(&self, ids: Vec<String>) -> AppResult<HashMap<String, Meeting>> {
        // An empty list of ids would mean all.
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let filter = MeetingFilter { ids, with_removed: true, ..MeetingFilter::default() };
        let found = self.civic().meetings(filter).await?;
        Ok(found.into_iter().map(|meeting| (meeting.id.clone(), meeting)).collect())
    }
}
