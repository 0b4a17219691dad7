//! Visits to jurisdictions: beginning and ending them, and what that does to the health of the city.

use super::{
    CivicRecords,
    alerts::Notification,
    places::{Jurisdiction, SyncRun, SyncStatus},
    work::{Question, Seen, Value, Work, Writes, nouns, run},
};
use crate::{
    commit::CommitResult,
    error::{StoreError, StoreResult},
};
use bindery_core::Timestamp;

/// Which visits are meant: the newest first.
#[derive(Debug, Clone, Default)]
pub struct SyncRunFilter {
    pub banana: Option<String>,
    pub status: Option<SyncStatus>,
    pub since: Option<Timestamp>,
    pub limit: Option<usize>,
}

impl CivicRecords<'_> {
    /// Begins a visit. One that was begun before and never ended has been interrupted.
    pub async fn start_sync_run(&self, banana: &str) -> StoreResult<SyncRun> {
        run(self.backend, StartRun { banana: banana.to_owned(), by: None }).await
    }

    /// The same for a visitor with a name among the workers of the store: while that gives signs of life, the visit is
    /// under way.
    pub async fn start_sync_run_by(&self, banana: &str, by: &str) -> StoreResult<SyncRun> {
        run(self.backend, StartRun { banana: banana.to_owned(), by: Some(by.to_owned()) }).await
    }

    /// Ends visits behind which nobody is any more: those that are under way and are made by nobody of `alive`. Returns
    /// them as they stand now.
    pub async fn close_abandoned_runs(&self, alive: Vec<String>) -> StoreResult<Vec<SyncRun>> {
        let filter = SyncRunFilter { status: Some(SyncStatus::InProgress), ..SyncRunFilter::default() };
        let mut left = self.sync_runs(filter).await?;
        left.retain(|run| !run.by().is_some_and(|by| alive.iter().any(|name| name == by)));
        if left.is_empty() {
            return Ok(left);
        }
        run(self.backend, CloseRuns(left)).await
    }

    /// Ends a visit as it says, and stores how the jurisdiction stands after it and when it is visited next: one
    /// transaction.
    pub async fn finish_sync_run(&self, ended: SyncRun, next_sync_at: Option<Timestamp>) -> StoreResult<Jurisdiction> {
        run(self.backend, FinishRun { run: ended, next_sync_at }).await
    }

    pub async fn sync_runs(&self, filter: SyncRunFilter) -> StoreResult<Vec<SyncRun>> {
        let question = Question::of::<SyncRun>()
            .given("banana = ?", filter.banana.as_deref())
            .given("status = ?", filter.status.map(SyncStatus::as_str))
            .given("started_at >= ?", filter.since);
        self.list(question.by("id DESC", filter.limit)).await
    }

    /// Forgets visits that were begun before, and messages that were made before and are settled. What is known of
    /// meetings and cities stays. Returns how many rows went.
    pub async fn forget_visits_and_messages(&self, before: Timestamp) -> StoreResult<u64> {
        run(self.backend, Forget(before)).await
    }
}

fn unknown(banana: &str) -> StoreError {
    StoreError::Invalid(format!("{banana}: no such jurisdiction is stored; add it first"))
}

fn city(seen: &Seen, question: usize, banana: &str) -> StoreResult<Jurisdiction> {
    nouns(seen.answer(question))?.pop().ok_or_else(|| unknown(banana))
}

struct StartRun {
    banana: String,
    by: Option<String>,
}

impl Work for StartRun {
    type Done = SyncRun;

    fn cities(&self) -> Vec<String> {
        vec![self.banana.clone()]
    }

    fn questions(&self) -> Vec<Question> {
        vec![
            Question::of::<Jurisdiction>().whose("banana = ?", &self.banana),
            Question::of::<SyncRun>().whose("banana = ?", &self.banana).that("status = 'in_progress'"),
        ]
    }

    fn ids(&self, _: &Seen) -> StoreResult<Option<(&'static str, i64)>> {
        Ok(Some(("sync_run", 1)))
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, SyncRun)> {
        let mut writes = Writes::default();
        let mut jurisdiction = city(seen, 0, &self.banana)?;
        jurisdiction.health.last_attempt_at = Some(seen.now);
        writes.put(&jurisdiction);
        for left in nouns::<SyncRun>(seen.answer(1))? {
            writes.put(&interrupted(left, seen.now));
        }
        let by = self.by.iter().map(|by| (SyncRun::BY.to_owned(), by.as_str().into()));
        let begun = SyncRun {
            id: seen.ids.first().copied().unwrap_or_default(),
            banana: self.banana.clone(),
            status: SyncStatus::InProgress,
            details: by.collect(),
            started_at: Some(seen.now),
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

impl Work for CloseRuns {
    type Done = Vec<SyncRun>;

    fn cities(&self) -> Vec<String> {
        self.0.iter().map(|run| run.banana.clone()).collect()
    }

    fn questions(&self) -> Vec<Question> {
        let ids = Value::Numbers(self.0.iter().map(|run| run.id).collect());
        vec![Question::of::<SyncRun>().whose("id = ANY(?)", ids).that("status = 'in_progress'")]
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, Vec<SyncRun>)> {
        let mut writes = Writes::default();
        let left: Vec<SyncRun> = nouns(seen.answer(0))?;
        let closed: Vec<SyncRun> = left.into_iter().map(|run| interrupted(run, seen.now)).collect();
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

impl Work for FinishRun {
    type Done = Jurisdiction;

    fn cities(&self) -> Vec<String> {
        vec![self.run.banana.clone()]
    }

    fn questions(&self) -> Vec<Question> {
        vec![
            Question::of::<Jurisdiction>().whose("banana = ?", &self.run.banana),
            Question::of::<SyncRun>().whose("id = ?", self.run.id),
        ]
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, Jurisdiction)> {
        let mut writes = Writes::default();
        let stored: Vec<SyncRun> = nouns(seen.answer(1))?;
        let Some(begun) = stored.first().filter(|begun| begun.banana == self.run.banana) else {
            let (id, banana) = (self.run.id, &self.run.banana);
            return Err(StoreError::Invalid(format!("{banana}: visit {id} was never begun")));
        };
        let mut jurisdiction = city(seen, 0, &self.run.banana)?;
        jurisdiction.health.after(&self.run, seen.now);
        jurisdiction.health.next_sync_at = self.next_sync_at;
        writes.put(&jurisdiction);
        let mut ended = self.run.clone();
        (ended.started_at, ended.finished_at) = (begun.started_at, Some(seen.now));
        writes.put(&ended);
        Ok((writes, jurisdiction))
    }
}

struct Forget(Timestamp);

impl Work for Forget {
    type Done = u64;

    fn cities(&self) -> Vec<String> {
        Vec::new()
    }

    fn questions(&self) -> Vec<Question> {
        let of_runs = Question::new("SELECT id FROM civic_sync_run");
        vec![
            of_runs.whose("started_at < ?", self.0).that("status <> 'in_progress'"),
            Question::of::<Notification>().that("due_at IS NULL"),
        ]
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, u64)> {
        let runs = seen.answer(0).iter().map(|row| row.number(0)).collect::<StoreResult<Vec<_>>>()?;
        let mut settled: Vec<Notification> = nouns(seen.answer(1))?;
        settled.retain(|notification| notification.created_at < Some(self.0));
        let keys: Vec<&str> = settled.iter().map(|notification| notification.key.as_str()).collect();
        let count = (runs.len() + keys.len()) as u64;
        let mut writes = Writes::default();
        writes.statements = vec![
            Question::new("DELETE FROM civic_sync_run").whose("id = ANY(?)", Value::Numbers(runs)),
            Question::new("DELETE FROM civic_notification").whose("key = ANY(?)", &keys),
        ];
        Ok((writes, count))
    }
}
