//! What people see: meetings, items, matters, votes, histories, counts.

use super::{
    CivicRecords,
    jobs::{CIVIC_QUEUE, QueueJob, standing_submission},
    matters::{Appearance, CastBallot, Matter, Sponsorship, VoteEvent},
    meetings::{AgendaItem, ItemRevision, Meeting, MeetingChange, SkippedMeeting},
    people::{Committee, Person},
    tables::{BALLOT, ITEM, JURISDICTION, MATTER, MEETING, PERSON, SPONSORSHIP},
};
use bindery_core::{Name, Timestamp, job::JobState};
use bindery_store::{
    StoreResult,
    query::JobFilter,
    rows::{Condition, Query, QueryRow, Record, Table, column, decode, joined},
};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Which meetings are meant. Empty fields mean all; by their beginning, those without one last.
#[derive(Debug, Clone, Default)]
pub struct MeetingFilter {
    pub city_key: Option<String>,
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
    pub city_key: Option<String>,
    pub ids: Vec<String>,
    pub matter_file: Option<String>,
    pub seen_since: Option<Timestamp>,
    pub limit: Option<usize>,
}

/// Which pieces of history are meant: the newest first.
#[derive(Debug, Clone, Default)]
pub struct ChangeFilter {
    pub city_key: Option<String>,
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

fn non_empty(ids: &Vec<String>) -> Option<&Vec<String>> {
    Some(ids).filter(|ids| !ids.is_empty())
}

impl CivicRecords<'_> {
    pub async fn meeting(&self, id: &str) -> StoreResult<Option<Meeting>> {
        self.first(Query::records::<Meeting>().filter(column("id").equals(id))).await
    }

    pub async fn meetings(&self, filter: MeetingFilter) -> StoreResult<Vec<Meeting>> {
        let mut query = Query::records::<Meeting>()
            .filter_some(filter.city_key.as_deref().map(|it| column("city_key").equals(it)))
            .filter_some(non_empty(&filter.ids).map(|it| column("id").is_any_of(it)))
            .filter_some(filter.from.map(|it| column("starts_at").is_at_least(it)))
            .filter_some(filter.until.map(|it| column("starts_at").is_below(it)))
            .filter_some(filter.status.as_deref().map(|it| column("status").equals(it)));
        if !filter.with_removed {
            query = query.filter(column("removed").equals(false));
        }
        let starts_at = column("starts_at");
        let order = if filter.newest_first { starts_at.descending() } else { starts_at.ascending() };
        self.list(query.order(order.nulls_last()).ascending(&["id"]).limit(filter.limit)).await
    }

    /// In the order of the agenda, also those that were removed from it.
    pub async fn agenda(&self, meeting_id: &str) -> StoreResult<Vec<AgendaItem>> {
        self.list(
            Query::records::<AgendaItem>()
                .filter(column("meeting_id").equals(meeting_id))
                .ascending(&["sequence", "id"]),
        )
        .await
    }

    /// The same of several meetings, meeting by meeting.
    pub async fn agendas(&self, meeting_ids: &[String]) -> StoreResult<Vec<AgendaItem>> {
        let query = Query::records::<AgendaItem>().filter(column("meeting_id").is_any_of(meeting_ids));
        self.list(query.ascending(&["meeting_id", "sequence", "id"])).await
    }

    pub async fn agenda_item(&self, id: &str) -> StoreResult<Option<AgendaItem>> {
        self.first(Query::records::<AgendaItem>().filter(column("id").equals(id))).await
    }

    /// What items of a meeting became after they were summarised.
    pub async fn item_revisions(&self, meeting_id: &str) -> StoreResult<Vec<ItemRevision>> {
        self.list(
            Query::records::<ItemRevision>()
                .filter(column("meeting_id").equals(meeting_id))
                .ascending(&["item_id", "revision"]),
        )
        .await
    }

    pub async fn matter(&self, id: &str) -> StoreResult<Option<Matter>> {
        self.first(Query::records::<Matter>().filter(column("id").equals(id))).await
    }

    pub async fn matters(&self, filter: MatterFilter) -> StoreResult<Vec<Matter>> {
        let query = Query::records::<Matter>()
            .filter_some(filter.city_key.as_deref().map(|it| column("city_key").equals(it)))
            .filter_some(non_empty(&filter.ids).map(|it| column("id").is_any_of(it)))
            .filter_some(filter.matter_file.as_deref().map(|it| column("matter_file").equals(it)))
            .filter_some(filter.seen_since.map(|it| column("last_seen").is_at_least(it)));
        self.list(query.order(column("last_seen").descending().nulls_last()).ascending(&["id"]).limit(filter.limit))
            .await
    }

    /// Every item of a matter, over all meetings.
    pub async fn items_of_matter(&self, matter_id: &str) -> StoreResult<Vec<AgendaItem>> {
        self.list(Query::records::<AgendaItem>().filter(column("matter_id").equals(matter_id)).ascending(&["id"])).await
    }

    /// The oldest first.
    pub async fn appearances(&self, matter_id: &str) -> StoreResult<Vec<Appearance>> {
        let query = Query::records::<Appearance>().filter(column("matter_id").equals(matter_id));
        let mut found: Vec<Appearance> = self.list(query.ascending(&["meeting_id", "item_id"])).await?;
        found.sort_by_key(|appearance| appearance.appeared_at);
        Ok(found)
    }

    /// Who stands behind a matter, in the listed order.
    pub async fn sponsorships(&self, matter_id: &str) -> StoreResult<Vec<Sponsorship>> {
        let query = Query::records::<Sponsorship>().filter(column("matter_id").equals(matter_id));
        let mut found: Vec<Sponsorship> = self.list(query.ascending(&["person_id"])).await?;
        found.sort_by_key(|sponsorship| sponsorship.sponsor_order);
        Ok(found)
    }

    /// The votes of a meeting.
    pub async fn votes(&self, meeting_id: &str) -> StoreResult<Vec<VoteEvent>> {
        self.votes_by(column("meeting_id").equals(meeting_id)).await
    }

    /// The votes on a matter, over all meetings.
    pub async fn votes_on(&self, matter_id: &str) -> StoreResult<Vec<VoteEvent>> {
        self.votes_by(column("matter_id").equals(matter_id)).await
    }

    /// The votes of several meetings.
    pub async fn votes_of(&self, meeting_ids: &[String]) -> StoreResult<Vec<VoteEvent>> {
        self.votes_by(column("meeting_id").is_any_of(meeting_ids)).await
    }

    async fn votes_by(&self, condition: Condition) -> StoreResult<Vec<VoteEvent>> {
        let mut found: Vec<VoteEvent> =
            self.list(Query::records::<VoteEvent>().filter(condition).ascending(&["id"])).await?;
        found.sort_by(|one, other| {
            (one.voted_at, &one.item_id, one.ordinal).cmp(&(other.voted_at, &other.item_id, other.ordinal))
        });
        Ok(found)
    }

    /// How a person voted, the newest first.
    pub async fn ballots(&self, person_id: &str) -> StoreResult<Vec<CastBallot>> {
        let query = Query::records::<CastBallot>().filter(column("person_id").equals(person_id));
        let mut found: Vec<CastBallot> = self.list(query.ascending(&["vote_event_id"])).await?;
        found.sort_by_key(|ballot| std::cmp::Reverse(ballot.voted_at));
        Ok(found)
    }

    /// The members of a jurisdiction's councils, with what they have done counted.
    pub async fn people(&self, city_key: &str) -> StoreResult<Vec<Person>> {
        let count = |table: &'static Table| {
            let done = Query::count_by(table, &["person_id"]).join(&PERSON, "person_id", "id");
            done.filter(joined("city_key").equals(city_key))
        };
        let all = Query::records::<Person>().filter(column("city_key").equals(city_key)).ascending(&["id"]);
        let answers = self.store.query_rows(vec![all, count(&SPONSORSHIP), count(&BALLOT)]).await?;
        let answer = |place: usize| answers.get(place).map_or(&[][..], Vec::as_slice);
        let counts = |place: usize| -> StoreResult<HashMap<&str, i64>> {
            answer(place).iter().map(|row| Ok((row.text(0)?, row.number(1)?))).collect()
        };
        let (sponsorships, votes) = (counts(1)?, counts(2)?);
        let mut people: Vec<Person> = decode(answer(0))?;
        for person in &mut people {
            person.sponsorship_count = sponsorships.get(person.id.as_str()).copied().unwrap_or(0);
            person.vote_count = votes.get(person.id.as_str()).copied().unwrap_or(0);
        }
        people.sort_by(|one, other| one.normalized_name.cmp(&other.normalized_name));
        Ok(people)
    }

    pub async fn committees(&self, city_key: &str) -> StoreResult<Vec<Committee>> {
        let query = Query::records::<Committee>().filter(column("city_key").equals(city_key));
        let mut found: Vec<Committee> = self.list(query.ascending(&["id"])).await?;
        found.sort_by(|one, other| one.normalized_name.cmp(&other.normalized_name));
        Ok(found)
    }

    pub async fn meeting_changes(&self, filter: ChangeFilter) -> StoreResult<Vec<MeetingChange>> {
        let query = Query::records::<MeetingChange>()
            .filter_some(filter.city_key.as_deref().map(|it| column("city_key").equals(it)))
            .filter_some(filter.meeting_id.as_deref().map(|it| column("meeting_id").equals(it)))
            .filter_some(filter.since.map(|it| column("at").is_at_least(it)));
        let query = query.order(column("at").descending()).ascending(&["meeting_id"]);
        let query = query.order(column("revision").descending()).ascending(&["ordinal"]);
        self.list(query.limit(filter.limit)).await
    }

    pub async fn skipped_meetings(&self, city_key: &str) -> StoreResult<Vec<SkippedMeeting>> {
        self.list(
            Query::records::<SkippedMeeting>()
                .filter(column("city_key").equals(city_key))
                .ascending(&["vendor", "vendor_id"]),
        )
        .await
    }

    /// How many meetings each jurisdiction has between these times.
    pub async fn meetings_per_city(&self, from: Timestamp, until: Timestamp) -> StoreResult<BTreeMap<String, u64>> {
        let query = Query::count_by(&MEETING, &["city_key"])
            .filter(column("starts_at").is_at_least(from))
            .filter(column("starts_at").is_below(until))
            .filter(column("removed").equals(false));
        self.rows(query).await?.iter().map(|row| Ok((row.text(0)?.to_owned(), row.count(1)?))).collect()
    }

    pub async fn counts(&self) -> StoreResult<CivicCounts> {
        let queries = vec![
            Query::count_by(&JURISDICTION, &["active", "failing", "silent", "yielded"]),
            Query::count_by(&MEETING, &["summarised", "processing"]),
            Query::count_by(&ITEM, &["summarised"]),
            Query::count(&MATTER),
        ];
        let answers = self.store.query_rows(queries).await?;
        let answer = |place: usize| answers.get(place).map_or(&[][..], Vec::as_slice);
        let mut counts = CivicCounts::default();
        for row in answer(0) {
            let count = row.count(4)?;
            counts.jurisdictions += count;
            if row.number(0)? == 1 {
                counts.active += count;
                counts.failing += count * row.count(1)?;
                counts.silent += count * row.count(2)?;
                counts.never_yielded += count * u64::from(row.number(3)? == 0);
            }
        }
        for row in answer(1) {
            let count = row.count(2)?;
            counts.meetings += count;
            match (row.number(0)?, row.text(1).unwrap_or_default()) {
                (1, _) => counts.summarised += count,
                (_, "failed") => counts.failed += count,
                _ => counts.pending += count,
            }
        }
        for row in answer(2) {
            counts.items += row.count(1)?;
            counts.summarised_items += row.count(0)? * row.count(1)?;
        }
        for row in answer(3) {
            counts.matters = row.count(0)?;
        }
        Ok(counts)
    }

    /// Jobs of a jurisdiction, or of all: those that run, then those that wait in the order in which they will run, then
    /// those that were given up.
    pub async fn queue_jobs(&self, city_key: Option<&str>, limit: Option<usize>) -> StoreResult<Vec<QueueJob>> {
        let mut filter = JobFilter { queue: Some(Name::from(CIVIC_QUEUE)), ..JobFilter::default() };
        if let Some(city_key) = city_key {
            let Some(standing) = self.store.find_submission(&standing_submission(city_key)).await? else {
                return Ok(Vec::new());
            };
            filter.submission = Some(standing.id);
        }
        let mut found = self.store.jobs(filter).await?;
        let rank = |state: JobState| match state {
            JobState::Running => 0,
            JobState::Ready => 1,
            JobState::Scheduled | JobState::Parked | JobState::Awaiting => 2,
            JobState::Dead | JobState::Cancelled => 3,
        };
        found.sort_by_key(|view| (rank(view.job.state), std::cmp::Reverse(view.job.priority), view.job.id));
        found.truncate(limit.unwrap_or(usize::MAX));
        found.iter().map(|view| QueueJob::from_job(&view.job)).collect()
    }

    pub(super) async fn rows(&self, query: Query) -> StoreResult<Vec<QueryRow>> {
        Ok(self.store.query_rows(vec![query]).await?.pop().unwrap_or_default())
    }

    pub(super) async fn list<R: Record>(&self, query: Query) -> StoreResult<Vec<R>> {
        decode(&self.rows(query).await?)
    }

    pub(super) async fn first<R: Record>(&self, query: Query) -> StoreResult<Option<R>> {
        Ok(self.list(query).await?.pop())
    }
}
