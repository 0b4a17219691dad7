//! What people see: meetings, items, matters, votes, histories, counts.

use super::{
    CivicRecords,
    jobs::{CIVIC_QUEUE, QueueJob, standing_submission},
    matters::{Appearance, CastBallot, Matter, Sponsorship, VoteEvent},
    meetings::{AgendaItem, ItemRevision, Meeting, MeetingChange, SkippedMeeting},
    people::{Committee, CommitteeMember, Person},
    work::{Question, Row, Value, nouns},
};
use crate::{error::StoreResult, query::JobFilter};
use bindery_core::{Name, Timestamp, job::JobState};
use serde::Serialize;
use std::collections::BTreeMap;

/// Which meetings are meant. Empty fields mean all; by their beginning, those without one last.
#[derive(Debug, Clone, Default)]
pub struct MeetingFilter {
    pub banana: Option<String>,
    pub ids: Vec<String>,
    /// Beginning at this time or later, and before this time.
    pub from: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub status: Option<String>,
    /// Also those that the vendor does not list any more.
    pub with_removed: bool,
    pub newest_first: bool,
    pub limit: Option<usize>,
}

/// Which matters are meant: those seen last first.
#[derive(Debug, Clone, Default)]
pub struct MatterFilter {
    pub banana: Option<String>,
    pub ids: Vec<String>,
    pub matter_file: Option<String>,
    pub seen_since: Option<Timestamp>,
    pub limit: Option<usize>,
}

/// Which pieces of history are meant: the newest first.
#[derive(Debug, Clone, Default)]
pub struct ChangeFilter {
    pub banana: Option<String>,
    pub meeting_id: Option<String>,
    pub since: Option<Timestamp>,
    pub limit: Option<usize>,
}

/// How much there is of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct CivicCounts {
    pub jurisdictions: u64,
    pub active: u64,
    /// Active ones whose last visit failed, that fell silent, and that never had a meeting.
    pub failing: u64,
    pub silent: u64,
    pub never_yielded: u64,
    pub meetings: u64,
    pub summarised: u64,
    /// Those that wait for being read, or are being read.
    pub pending: u64,
    pub failed: u64,
    pub items: u64,
    pub summarised_items: u64,
    pub matters: u64,
}

fn listed(ids: &Vec<String>) -> Option<&Vec<String>> {
    Some(ids).filter(|ids| !ids.is_empty())
}

impl CivicRecords<'_> {
    pub async fn meeting(&self, id: &str) -> StoreResult<Option<Meeting>> {
        self.first(Question::of::<Meeting>().whose("id = ?", id)).await
    }

    pub async fn meetings(&self, filter: MeetingFilter) -> StoreResult<Vec<Meeting>> {
        let mut question = Question::of::<Meeting>()
            .given("banana = ?", filter.banana.as_deref())
            .given("id = ANY(?)", listed(&filter.ids))
            .given("starts_at >= ?", filter.from)
            .given("starts_at < ?", filter.until)
            .given("status = ?", filter.status.as_deref());
        if !filter.with_removed {
            question = question.that("removed = 0");
        }
        let order = if filter.newest_first {
            "starts_at IS NULL, starts_at DESC, id"
        } else {
            "starts_at IS NULL, starts_at, id"
        };
        self.list(question.by(order, filter.limit)).await
    }

    /// In the order of the agenda, also those that were removed from it.
    pub async fn agenda(&self, meeting_id: &str) -> StoreResult<Vec<AgendaItem>> {
        self.list(Question::of::<AgendaItem>().whose("meeting_id = ?", meeting_id).by("sequence, id", None)).await
    }

    /// The same of several meetings, meeting by meeting.
    pub async fn agendas(&self, meeting_ids: &[String]) -> StoreResult<Vec<AgendaItem>> {
        let question = Question::of::<AgendaItem>().whose("meeting_id = ANY(?)", meeting_ids);
        self.list(question.by("meeting_id, sequence, id", None)).await
    }

    pub async fn agenda_item(&self, id: &str) -> StoreResult<Option<AgendaItem>> {
        self.first(Question::of::<AgendaItem>().whose("id = ?", id)).await
    }

    /// What items of a meeting became after they were summarised.
    pub async fn item_revisions(&self, meeting_id: &str) -> StoreResult<Vec<ItemRevision>> {
        self.list(Question::of::<ItemRevision>().whose("meeting_id = ?", meeting_id).by("item_id, revision", None))
            .await
    }

    pub async fn matter(&self, id: &str) -> StoreResult<Option<Matter>> {
        self.first(Question::of::<Matter>().whose("id = ?", id)).await
    }

    pub async fn matters(&self, filter: MatterFilter) -> StoreResult<Vec<Matter>> {
        let question = Question::of::<Matter>()
            .given("banana = ?", filter.banana.as_deref())
            .given("id = ANY(?)", listed(&filter.ids))
            .given("matter_file = ?", filter.matter_file.as_deref())
            .given("last_seen >= ?", filter.seen_since);
        self.list(question.by("last_seen IS NULL, last_seen DESC, id", filter.limit)).await
    }

    /// Every item of a matter, over all meetings.
    pub async fn items_of_matter(&self, matter_id: &str) -> StoreResult<Vec<AgendaItem>> {
        self.list(Question::of::<AgendaItem>().whose("matter_id = ?", matter_id).by("id", None)).await
    }

    /// The oldest first.
    pub async fn appearances(&self, matter_id: &str) -> StoreResult<Vec<Appearance>> {
        let question = Question::of::<Appearance>().whose("matter_id = ?", matter_id);
        let mut found: Vec<Appearance> = self.list(question.by("meeting_id, item_id", None)).await?;
        found.sort_by_key(|appearance| appearance.appeared_at);
        Ok(found)
    }

    /// Who stands behind a matter, in the listed order.
    pub async fn sponsorships(&self, matter_id: &str) -> StoreResult<Vec<Sponsorship>> {
        let question = Question::of::<Sponsorship>().whose("matter_id = ?", matter_id);
        let mut found: Vec<Sponsorship> = self.list(question.by("person_id", None)).await?;
        found.sort_by_key(|sponsorship| sponsorship.sponsor_order);
        Ok(found)
    }

    /// The votes of a meeting.
    pub async fn votes(&self, meeting_id: &str) -> StoreResult<Vec<VoteEvent>> {
        self.votes_by("meeting_id = ?", meeting_id).await
    }

    /// The votes on a matter, over all meetings.
    pub async fn votes_on(&self, matter_id: &str) -> StoreResult<Vec<VoteEvent>> {
        self.votes_by("matter_id = ?", matter_id).await
    }

    /// The votes of several meetings.
    pub async fn votes_of(&self, meeting_ids: &[String]) -> StoreResult<Vec<VoteEvent>> {
        self.votes_by("meeting_id = ANY(?)", meeting_ids).await
    }

    async fn votes_by(&self, condition: &str, id: impl Into<Value>) -> StoreResult<Vec<VoteEvent>> {
        let mut found: Vec<VoteEvent> =
            self.list(Question::of::<VoteEvent>().whose(condition, id).by("id", None)).await?;
        found.sort_by(|one, other| {
            (one.voted_at, &one.item_id, one.ordinal).cmp(&(other.voted_at, &other.item_id, other.ordinal))
        });
        Ok(found)
    }

    /// How a person voted, the newest first.
    pub async fn ballots(&self, person_id: &str) -> StoreResult<Vec<CastBallot>> {
        let question = Question::of::<CastBallot>().whose("person_id = ?", person_id);
        let mut found: Vec<CastBallot> = self.list(question.by("vote_event_id", None)).await?;
        found.sort_by_key(|ballot| std::cmp::Reverse(ballot.voted_at));
        Ok(found)
    }

    /// The members of a jurisdiction's councils, with what they have done counted.
    pub async fn people(&self, banana: &str) -> StoreResult<Vec<Person>> {
        let sql = "SELECT p.data, (SELECT count(*) FROM civic_sponsorship s WHERE s.person_id = p.id), \
                   (SELECT count(*) FROM civic_ballot b WHERE b.person_id = p.id) FROM civic_person p";
        let question = Question::new(sql).whose("p.banana = ?", banana).by("p.id", None);
        let counted = |row: &Row| {
            let mut person: Person = row.noun()?;
            (person.sponsorship_count, person.vote_count) = (row.number(1)?, row.number(2)?);
            Ok(person)
        };
        let mut people = self.rows(question).await?.iter().map(counted).collect::<StoreResult<Vec<Person>>>()?;
        people.sort_by(|one, other| one.normalized_name.cmp(&other.normalized_name));
        Ok(people)
    }

    pub async fn committees(&self, banana: &str) -> StoreResult<Vec<Committee>> {
        let question = Question::of::<Committee>().whose("banana = ?", banana);
        let mut found: Vec<Committee> = self.list(question.by("id", None)).await?;
        found.sort_by(|one, other| one.normalized_name.cmp(&other.normalized_name));
        Ok(found)
    }

    /// Who sits or sat in a body.
    pub async fn committee_members(&self, committee_id: &str) -> StoreResult<Vec<CommitteeMember>> {
        let question = Question::of::<CommitteeMember>().whose("committee_id = ?", committee_id);
        self.list(question.by("person_id, joined_at", None)).await
    }

    pub async fn meeting_changes(&self, filter: ChangeFilter) -> StoreResult<Vec<MeetingChange>> {
        let question = Question::of::<MeetingChange>()
            .given("banana = ?", filter.banana.as_deref())
            .given("meeting_id = ?", filter.meeting_id.as_deref())
            .given("at >= ?", filter.since);
        self.list(question.by("at DESC, meeting_id, revision DESC, ordinal", filter.limit)).await
    }

    pub async fn skipped_meetings(&self, banana: &str) -> StoreResult<Vec<SkippedMeeting>> {
        self.list(Question::of::<SkippedMeeting>().whose("banana = ?", banana).by("vendor, vendor_id", None)).await
    }

    /// How many meetings each jurisdiction has between these times.
    pub async fn meetings_per_city(&self, from: Timestamp, until: Timestamp) -> StoreResult<BTreeMap<String, u64>> {
        let question = Question::new("SELECT banana, count(*) FROM civic_meeting")
            .whose("starts_at >= ?", from)
            .whose("starts_at < ?", until)
            .that("removed = 0 GROUP BY banana");
        self.rows(question).await?.iter().map(|row| Ok((row.text(0)?.to_owned(), row.number(1)? as u64))).collect()
    }

    pub async fn counts(&self) -> StoreResult<CivicCounts> {
        let questions = vec![
            Question::new(
                "SELECT active, failing, silent, yielded, count(*) FROM civic_jurisdiction GROUP BY 1, 2, 3, 4",
            ),
            Question::new("SELECT summarised, coalesce(processing, ''), count(*) FROM civic_meeting GROUP BY 1, 2"),
            Question::new("SELECT summarised, count(*) FROM civic_item GROUP BY 1"),
            Question::new("SELECT count(*) FROM civic_matter"),
        ];
        let answers = self.backend.ask(questions).await?;
        let answer = |place: usize| answers.get(place).map_or(&[][..], Vec::as_slice);
        let mut counts = CivicCounts::default();
        for row in answer(0) {
            let count = row.number(4)? as u64;
            counts.jurisdictions += count;
            if row.number(0)? == 1 {
                counts.active += count;
                counts.failing += count * row.number(1)? as u64;
                counts.silent += count * row.number(2)? as u64;
                counts.never_yielded += count * u64::from(row.number(3)? == 0);
            }
        }
        for row in answer(1) {
            let count = row.number(2)? as u64;
            counts.meetings += count;
            match (row.number(0)?, row.text(1)?) {
                (1, _) => counts.summarised += count,
                (_, "failed") => counts.failed += count,
                _ => counts.pending += count,
            }
        }
        for row in answer(2) {
            counts.items += row.number(1)? as u64;
            counts.summarised_items += row.number(0)? as u64 * row.number(1)? as u64;
        }
        for row in answer(3) {
            counts.matters = row.number(0)? as u64;
        }
        Ok(counts)
    }

    /// Jobs of a jurisdiction, or of all: those that run, then those that wait in the order in which they will run, then
    /// those that were given up.
    pub async fn queue_jobs(&self, banana: Option<&str>, limit: Option<usize>) -> StoreResult<Vec<QueueJob>> {
        let mut filter = JobFilter { queue: Some(Name::from(CIVIC_QUEUE)), ..JobFilter::default() };
        if let Some(banana) = banana {
            let Some(standing) = self.backend.find_submission(&standing_submission(banana)).await? else {
                return Ok(Vec::new());
            };
            filter.submission = Some(standing.id);
        }
        let mut found = self.backend.jobs(filter).await?;
        let rank = |state: JobState| match state {
            JobState::Running => 0,
            JobState::Ready => 1,
            JobState::Scheduled | JobState::Parked | JobState::Awaiting => 2,
            JobState::Dead | JobState::Cancelled => 3,
        };
        found.sort_by_key(|view| (rank(view.job.state), std::cmp::Reverse(view.job.priority), view.job.id));
        found.truncate(limit.unwrap_or(usize::MAX));
        found.iter().map(|view| QueueJob::of(&view.job)).collect()
    }

    pub(super) async fn rows(&self, question: Question) -> StoreResult<Vec<Row>> {
        Ok(self.backend.ask(vec![question]).await?.pop().unwrap_or_default())
    }

    pub(super) async fn list<R: super::tables::Kept>(&self, question: Question) -> StoreResult<Vec<R>> {
        nouns(&self.rows(question).await?)
    }

    pub(super) async fn first<R: super::tables::Kept>(&self, question: Question) -> StoreResult<Option<R>> {
        Ok(self.list(question).await?.pop())
    }
}
