//! Visits to jurisdictions: beginning and ending them, and what that does to the health of the city.

use super::{
    CivicRecords,
    alerts::Notification,
    jobs::NOTICES_QUEUE,
    notices::NoticePayload,
    places::{Jurisdiction, SyncRun, SyncStatus},
    tables::SYNC_RUN,
};
use bindery_core::{Timestamp, job::JobState};
use bindery_store::{
    CommitResult, StoreError, StoreResult,
    query::JobFilter,
    rows::{Answers, Query, RowWrites, UnitOfWork, Value, column, decode, run},
};
use std::collections::BTreeSet;

/// Which visits are meant: the newest first.
#[derive(Debug, Clone, Default)]
pub struct SyncRunFilter {
    pub city_key: Option<String>,
    pub status: Option<SyncStatus>,
    pub since: Option<Timestamp>,
    pub limit: Option<usize>,
}

impl CivicRecords<'_> {
    /// Begins a visit of a visitor who has this name among the workers of the store: while that one's heartbeats come,
    /// the visit is under way. One that was begun before and never ended has been interrupted.
    pub async fn start_sync_run(&self, city_key: &str, by: &str) -> StoreResult<SyncRun> {
        run(self.store, StartRun { city_key: city_key.to_owned(), by: by.to_owned() }).await
    }

    /// Ends visits behind which nobody is any more: those that are under way and are made by nobody of `alive`. Returns
    /// them as they stand now.
    pub async fn close_abandoned_runs(&self, alive: Vec<String>) -> StoreResult<Vec<SyncRun>> {
        let filter = SyncRunFilter { status: Some(SyncStatus::InProgress), ..SyncRunFilter::default() };
        let mut left = self.sync_runs(filter).await?;
        left.retain(|run| !run.worker().is_some_and(|by| alive.iter().any(|name| name == by)));
        if left.is_empty() {
            return Ok(left);
        }
        run(self.store, CloseRuns(left)).await
    }

    /// Ends a visit as it says, and stores how the jurisdiction stands after it and when it is visited next: one
    /// transaction.
    pub async fn finish_sync_run(&self, ended: SyncRun, next_sync_at: Option<Timestamp>) -> StoreResult<Jurisdiction> {
        run(self.store, FinishRun { run: ended, next_sync_at }).await
    }

    pub async fn sync_runs(&self, filter: SyncRunFilter) -> StoreResult<Vec<SyncRun>> {
        let query = Query::records::<SyncRun>()
            .filter_some(filter.city_key.as_deref().map(|it| column("city_key").equals(it)))
            .filter_some(filter.status.map(SyncStatus::as_str).map(|it| column("status").equals(it)))
            .filter_some(filter.since.map(|it| column("started_at").is_at_least(it)));
        self.list(query.order(column("id").descending()).limit(filter.limit)).await
    }

    /// Forgets visits that were begun before, and messages that were made before and are settled. What is known of
    /// meetings and cities stays. Returns how many rows went.
    pub async fn forget_visits_and_messages(&self, before: Timestamp) -> StoreResult<u64> {
        let states = JobState::ALL.into_iter().filter(|state| state.is_live()).collect();
        let of_messages = JobFilter { queue: Some(NOTICES_QUEUE.into()), states, ..JobFilter::default() };
        let jobs = self.store.jobs(of_messages).await?;
        let waiting =
            jobs.iter().filter_map(|view| Some(view.job.payload.read::<NoticePayload>()?.ok()?.key)).collect();
        run(self.store, Forget { before, waiting }).await
    }
}

fn unknown(city_key: &str) -> StoreError {
    StoreError::Invalid(format!("{city_key}: no such jurisdiction is stored; add it first"))
}

fn city(answers: &Answers, query: usize, city_key: &str) -> StoreResult<Jurisdiction> {
    decode(answers.rows(query))?.pop().ok_or_else(|| unknown(city_key))
}

struct StartRun {
    city_key: String,
    by: String,
}

impl UnitOfWork for StartRun {
    type Output = SyncRun;

    fn lock_keys(&self) -> Vec<String> {
        vec![self.city_key.clone()]
    }

    fn queries(&self) -> Vec<Query> {
        vec![
            Query::records::<Jurisdiction>().filter(column("city_key").equals(&self.city_key)),
            Query::records::<SyncRun>()
                .filter(column("city_key").equals(&self.city_key))
                .filter(column("status").equals("in_progress")),
        ]
    }

    fn ids(&self, _: &Answers) -> StoreResult<Option<(&'static str, i64)>> {
        Ok(Some(("sync_run", 1)))
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, SyncRun)> {
        let mut writes = RowWrites::default();
        let mut jurisdiction = city(answers, 0, &self.city_key)?;
        jurisdiction.health.last_attempt_at = Some(answers.now);
        writes.put(&jurisdiction);
        for left in decode::<SyncRun>(answers.rows(1))? {
            writes.put(&interrupted(left, answers.now));
        }
        let begun = SyncRun {
            id: answers.ids.first().copied().unwrap_or_default(),
            city_key: self.city_key.clone(),
            status: SyncStatus::InProgress,
            details: [(SyncRun::BY.to_owned(), self.by.as_str().into())].into_iter().collect(),
            started_at: Some(answers.now),
            ..SyncRun::default()
        };
        writes.put(&begun);
        Ok((writes, begun))
    }
}

/// A visit that nobody ends any more. The city was not to blame, so that its health stays as it is.
fn interrupted(left: SyncRun, now: Timestamp) -> SyncRun {
    let message = "interrupted: the program that made this visit stopped before its end".to_owned();
    SyncRun { status: SyncStatus::Failed, error_message: Some(message), finished_at: Some(now), ..left }
}

struct CloseRuns(Vec<SyncRun>);

impl UnitOfWork for CloseRuns {
    type Output = Vec<SyncRun>;

    fn lock_keys(&self) -> Vec<String> {
        self.0.iter().map(|run| run.city_key.clone()).collect()
    }

    fn queries(&self) -> Vec<Query> {
        let ids = Value::Numbers(self.0.iter().map(|run| run.id).collect());
        vec![
            Query::records::<SyncRun>()
                .filter(column("id").is_any_of(ids))
                .filter(column("status").equals("in_progress")),
        ]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, Vec<SyncRun>)> {
        let mut writes = RowWrites::default();
        let left: Vec<SyncRun> = decode(answers.rows(0))?;
        let closed: Vec<SyncRun> = left.into_iter().map(|run| interrupted(run, answers.now)).collect();
        for run in &closed {
            writes.put(run);
        }
        Ok((writes, closed))
    }
}

struct FinishRun {
    run: SyncRun,
    next_sync_at: Option<Timestamp>,
}

impl UnitOfWork for FinishRun {
    type Output = Jurisdiction;

    fn lock_keys(&self) -> Vec<String> {
        vec![self.run.city_key.clone()]
    }

    fn queries(&self) -> Vec<Query> {
        vec![
            Query::records::<Jurisdiction>().filter(column("city_key").equals(&self.run.city_key)),
            Query::records::<SyncRun>().filter(column("id").equals(self.run.id)),
        ]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, Jurisdiction)> {
        let mut writes = RowWrites::default();
        let stored: Vec<SyncRun> = decode(answers.rows(1))?;
        let Some(begun) = stored.first().filter(|begun| begun.city_key == self.run.city_key) else {
            let (id, city_key) = (self.run.id, &self.run.city_key);
            return Err(StoreError::Invalid(format!("{city_key}: visit {id} was never begun")));
        };
        let mut jurisdiction = city(answers, 0, &self.run.city_key)?;
        jurisdiction.health.after(&self.run, answers.now);
        jurisdiction.health.next_sync_at = self.next_sync_at;
        writes.put(&jurisdiction);
        let mut ended = self.run.clone();
        (ended.started_at, ended.finished_at) = (begun.started_at, Some(answers.now));
        writes.put(&ended);
        Ok((writes, jurisdiction))
    }
}

struct Forget {
    before: Timestamp,
    /// The messages that jobs will deliver.
    waiting: BTreeSet<String>,
}

impl UnitOfWork for Forget {
    type Output = u64;

    fn queries(&self) -> Vec<Query> {
        let of_runs = Query::select(&SYNC_RUN, &["id"]).filter(column("started_at").is_below(self.before));
        vec![
            of_runs.filter(column("status").differs_from("in_progress")),
            Query::records::<Notification>().filter(column("due_at").is_null()),
            Query::records::<Notification>().filter(column("due_at").is_below(self.before)),
        ]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, u64)> {
        let runs = answers.rows(0).iter().map(|row| row.number(0)).collect::<StoreResult<Vec<_>>>()?;
        let mut settled: Vec<Notification> = decode(answers.rows(1))?;
        // A message whose job is a dead letter that nobody wants back is not delivered any more.
        let due: Vec<Notification> = decode(answers.rows(2))?;
        settled.extend(due.into_iter().filter(|it| it.channel.is_some() && !self.waiting.contains(&it.key)));
        settled.retain(|notification| notification.created_at < Some(self.before));
        let keys: Vec<&str> = settled.iter().map(|notification| notification.key.as_str()).collect();
        let count = (runs.len() + keys.len()) as u64;
        let mut writes = RowWrites::default();
        writes.delete(Query::records::<SyncRun>().filter(column("id").is_any_of(Value::Numbers(runs))));
        writes.delete(Query::records::<Notification>().filter(column("key").is_any_of(&keys)));
        Ok((writes, count))
    }
}
