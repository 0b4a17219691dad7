//! What becomes of each row: the stored one, and what changes tell.

use super::{
    changes::CivicChanges,
    matters::{Appearance, CastBallot, Matter, VoteEvent},
    meetings::{AgendaItem, Meeting, MeetingChange},
    merge::Merge,
    people::{Committee, Person},
    places::{CityRequest, RequestStatus},
};
use bindery_core::Timestamp;
use bindery_store::{
    StoreError, StoreResult,
    rows::{Answers, Query, Record, RowWrites, column, decode},
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The rows that changes are about, as they are stored, and then as each change leaves them.
pub(super) struct Rows {
    now: Timestamp,
    meetings: HashMap<String, Meeting>,
    items: HashMap<String, AgendaItem>,
    matters: HashMap<String, Matter>,
    /// Those that have changed, as they were; none: new.
    changed_matters: BTreeMap<String, Option<Matter>>,
    appearances: HashMap<(String, String, String), Appearance>,
    /// The meetings that each matter appeared in.
    met: BTreeMap<String, BTreeSet<String>>,
    committees: HashMap<String, Committee>,
    people: HashMap<String, Person>,
    votes: HashMap<String, VoteEvent>,
    requests: HashMap<String, CityRequest>,
    /// Votes whose ballots are stored anew.
    recast: Vec<String>,
    writes: RowWrites,
}

fn index_by<R: Record>(answers: &Answers, query: usize, id: impl Fn(&R) -> String) -> StoreResult<HashMap<String, R>> {
    Ok(decode::<R>(answers.rows(query))?.into_iter().map(|noun| (id(&noun), noun)).collect())
}

/// The row as it is to be stored; none where it says what is stored already.
fn merged<R: Merge>(stored: Option<&R>, new: &R) -> Option<R> {
    let mut new = new.clone();
    if let Some(stored) = stored {
        new.keep(stored);
        if new == *stored {
            return None;
        }
    }
    Some(new)
}

impl Rows {
    /// From the answers beginning with this one: meetings, items, matters, appearances, committees, people, votes and
    /// requests, in this order.
    pub(super) fn read(answers: &Answers, first: usize) -> StoreResult<Self> {
        let appearances = decode::<Appearance>(answers.rows(first + 3))?;
        let mut met: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for appearance in &appearances {
            met.entry(appearance.matter_id.clone()).or_default().insert(appearance.meeting_id.clone());
        }
        Ok(Self {
            now: answers.now,
            meetings: index_by(answers, first, |meeting: &Meeting| meeting.id.clone())?,
            items: index_by(answers, first + 1, |item: &AgendaItem| item.id.clone())?,
            matters: index_by(answers, first + 2, |matter: &Matter| matter.id.clone())?,
            changed_matters: BTreeMap::new(),
            appearances: appearances.into_iter().map(|appearance| (place(&appearance), appearance)).collect(),
            met,
            committees: index_by(answers, first + 4, |committee: &Committee| committee.id.clone())?,
            people: index_by(answers, first + 5, |person: &Person| person.id.clone())?,
            votes: index_by(answers, first + 6, |vote: &VoteEvent| vote.id.clone())?,
            requests: index_by(answers, first + 7, |request: &CityRequest| request.city_key.clone())?,
            recast: Vec::new(),
            writes: RowWrites::default(),
        })
    }

    /// Takes changes in. Returns the revision that their meeting is at.
    pub(super) fn store(&mut self, part: &CivicChanges) -> StoreResult<i64> {
        check(part)?;
        for committee in &part.committees {
            if let Some(committee) = merged(self.committees.get(&committee.id), committee) {
                self.writes.put(&committee);
                self.committees.insert(committee.id.clone(), committee);
            }
        }
        for person in &part.people {
            let mut person = person.clone();
            (person.sponsorship_count, person.vote_count) = (0, 0);
            if let Some(person) = merged(self.people.get(&person.id), &person) {
                self.writes.put(&person);
                self.people.insert(person.id.clone(), person);
            }
        }
        part.matters.iter().for_each(|matter| self.matter(matter));
        part.sponsorships.iter().for_each(|sponsorship| self.writes.put(sponsorship));
        let mut skipped = part.skipped.clone();
        for skipped in &mut skipped {
            skipped.seen_at = Some(self.now);
            self.writes.add(skipped);
        }
        let mut notifications = part.notifications.clone();
        for notification in &mut notifications {
            notification.created_at = Some(self.now);
            notification.due_at = notification.due_at.or(Some(self.now));
            self.writes.add(notification);
        }
        match &part.about {
            Some((id, _)) => self.meeting(part, id),
            None => Ok(0),
        }
    }

    fn matter(&mut self, matter: &Matter) {
        let Some(mut matter) = merged(self.matters.get(&matter.id), matter) else { return };
        matter.created_at = matter.created_at.or(Some(self.now));
        let id = matter.id.clone();
        let before = self.matters.insert(id.clone(), matter);
        self.changed_matters.entry(id).or_insert(before);
    }

    /// The meeting with what is part of it: any change of those is a change of the meeting.
    fn meeting(&mut self, part: &CivicChanges, id: &str) -> StoreResult<i64> {
        let stored = self.meetings.get(id);
        let told = part.meeting.as_ref().and_then(|meeting| merged(stored, meeting));
        let is_told = told.is_some();
        let Some(mut meeting) = told.or_else(|| stored.cloned()) else {
            return Err(StoreError::Invalid(format!(
                "{id}: no such meeting is stored, and the changes do not bring it"
            )));
        };
        let parts = [
            part.items.iter().filter(|item| self.item(item)).count(),
            part.appearances.iter().filter(|appearance| self.appearance(appearance)).count(),
            part.votes.iter().filter(|vote| self.vote(vote)).count(),
            part.item_revisions.len(),
            part.history.len(),
        ];
        if !is_told && parts.iter().all(|changed| *changed == 0) {
            return Ok(meeting.revision);
        }
        meeting.revision += 1;
        self.date(&mut meeting.created_at, &mut meeting.updated_at);
        for (ordinal, change) in (0_i64..).zip(&part.history) {
            self.writes.put(&MeetingChange {
                meeting_id: id.to_owned(),
                revision: meeting.revision,
                ordinal,
                city_key: part.city_key.clone(),
                kind: change.kind,
                item_id: change.item_id.clone(),
                before: change.before.clone(),
                after: change.after.clone(),
                at: self.now,
            });
        }
        for revision in &part.item_revisions {
            let mut revision = revision.clone();
            revision.seen_at = revision.seen_at.or(Some(self.now));
            self.writes.put(&revision);
        }
        // Somebody asked for this city, and here it is.
        if let Some(mut request) = self.requests.remove(&part.city_key) {
            request.status = RequestStatus::Added;
            self.writes.put(&request);
        }
        self.writes.put(&meeting);
        let revision = meeting.revision;
        self.meetings.insert(id.to_owned(), meeting);
        Ok(revision)
    }

    /// Whether it changed.
    fn item(&mut self, item: &AgendaItem) -> bool {
        let Some(mut item) = merged(self.items.get(&item.id), item) else { return false };
        self.date(&mut item.created_at, &mut item.updated_at);
        self.writes.put(&item);
        self.items.insert(item.id.clone(), item);
        true
    }

    fn appearance(&mut self, appearance: &Appearance) -> bool {
        let place = place(appearance);
        let Some(appearance) = merged(self.appearances.get(&place), appearance) else { return false };
        self.met.entry(appearance.matter_id.clone()).or_default().insert(appearance.meeting_id.clone());
        self.writes.put(&appearance);
        self.appearances.insert(place, appearance);
        true
    }

    fn vote(&mut self, vote: &VoteEvent) -> bool {
        let mut vote = vote.clone();
        if let Some(stored) = self.votes.get(&vote.id) {
            (vote.created_at, vote.updated_at) = (stored.created_at, stored.updated_at);
            if vote == *stored {
                return false;
            }
        }
        self.date(&mut vote.created_at, &mut vote.updated_at);
        for ballot in &vote.ballots {
            self.writes.put(&CastBallot {
                vote_event_id: vote.id.clone(),
                person_id: ballot.person_id.clone(),
                meeting_id: vote.meeting_id.clone(),
                matter_id: vote.matter_id.clone(),
                vote: ballot.vote.clone(),
                voted_at: vote.voted_at,
            });
        }
        self.recast.push(vote.id.clone());
        self.writes.put(&vote);
        self.votes.insert(vote.id.clone(), vote);
        true
    }

    fn date(&self, created_at: &mut Option<Timestamp>, updated_at: &mut Option<Timestamp>) {
        *created_at = created_at.or(Some(self.now));
        *updated_at = Some(self.now);
    }

    /// Everything that is stored in the end. Matters come last, because all that appeared counts.
    pub(super) fn finish(mut self) -> RowWrites {
        for (id, mut matter) in std::mem::take(&mut self.matters) {
            let before = self.changed_matters.get(&id).map(Option::as_ref);
            let meetings = (self.met.get(&id).map_or(0, BTreeSet::len) as i64).max(1);
            let is_recounted = std::mem::replace(&mut matter.appearance_count, meetings) != meetings;
            // Several meetings may have told different things, and come to what was known before.
            if is_recounted || before.is_some_and(|before| before != Some(&matter)) {
                matter.updated_at = Some(self.now);
                self.writes.put(&matter);
            }
        }
        if !self.recast.is_empty() {
            let recast = column("vote_event_id").is_any_of(&self.recast);
            self.writes.delete(Query::records::<CastBallot>().filter(recast));
        }
        self.writes
    }
}

fn place(appearance: &Appearance) -> (String, String, String) {
    (appearance.matter_id.clone(), appearance.meeting_id.clone(), appearance.item_id.clone())
}

/// What belongs to a meeting belongs to the one that the changes are about.
fn check(part: &CivicChanges) -> StoreResult<()> {
    let about = part.about.as_ref().map(|(id, _)| id.as_str());
    let meeting = part.meeting.iter().map(|meeting| ("meeting", meeting.id.as_str()));
    let items = part.items.iter().map(|item| ("item", item.meeting_id.as_str()));
    let revisions = part.item_revisions.iter().map(|revision| ("revision of an item", revision.meeting_id.as_str()));
    let appearances = part.appearances.iter().map(|appearance| ("appearance", appearance.meeting_id.as_str()));
    let votes = part.votes.iter().map(|vote| ("vote", vote.meeting_id.as_str()));
    let mut all = meeting.chain(items).chain(revisions).chain(appearances).chain(votes);
    if let Some((what, id)) = all.find(|(_, id)| Some(*id) != about) {
        let about = about.unwrap_or("no meeting");
        return Err(StoreError::Invalid(format!("{what} of meeting {id:?}: the changes are about {about}")));
    }
    let foreign = part.meeting.as_ref().filter(|meeting| meeting.city_key != part.city_key);
    if let Some(meeting) = foreign {
        let (id, city_key) = (&meeting.id, &meeting.city_key);
        return Err(StoreError::Invalid(format!("meeting {id} of {city_key:?}: the changes are of {}", part.city_key)));
    }
    if about.is_none() && !part.history.is_empty() {
        return Err(StoreError::Invalid("history: the changes are about no meeting".to_owned()));
    }
    Ok(())
}
