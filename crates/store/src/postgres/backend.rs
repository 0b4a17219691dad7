//! The store's traits on PostgreSQL: each write is a transaction. What is committed goes through the group.

use super::{
    broker_claims, claim, control,
    empty_answer_cache::EmptyAnswerCache,
    ends, events,
    group::Committer,
    jobs,
    listen::Listener,
    open::{self, PostgresOptions},
    progress::Folding,
    repair, report_limits, reviews,
    rows::get,
    session::{Db, transaction},
    suspects, sweep, workers,
};
use crate::{
    commit::{Commit, CommitResult, Enqueued, FeedCommit},
    error::{StoreError, StoreResult},
    lease::LeasesAhead,
    query::{AnnounceRequest, Cancelled, ClaimRequest, EventFilter, IdKind, JobFilter, Retried, Swept, Undelivered},
    store::{Control, Feed, Queue},
};
use async_trait::async_trait;
use bindery_core::{
    Clock, EventSeq, JobId, Name, ReviewId, SubmissionId, Timestamp,
    event::{Event, NewEvent},
    fault::FaultPoint,
    job::{ClaimedJob, Job, NewJob, Token},
};
use std::{
    ops::Range,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// The queues and submissions that a claim is for.
type Meant = (Option<Vec<Name>>, Option<Vec<SubmissionId>>);

/// A store in one schema of a PostgreSQL database.
#[derive(Debug)]
pub struct PostgresStore {
    pub(super) db: Arc<Db>,
    committer: Committer,
    listener: Listener,
    /// Where the next claim starts among the limit keys, so that all get their turn.
    limit_cursor: Mutex<String>,
    /// The last claim found nothing: then a look comes before the next one.
    found_nothing: AtomicBool,
    /// Queues and submissions without work, and nothing to sweep.
    unclaimed: EmptyAnswerCache<Meant>,
    unswept: EmptyAnswerCache<()>,
    /// Queues and submissions without suspects.
    unsuspected: EmptyAnswerCache<Meant>,
    leases_ahead: Mutex<LeasesAhead>,
    folding: Folding,
}

impl PostgresStore {
    /// Connects, makes the schema or brings an older one forward. Must be called inside the runtime that uses it.
    pub async fn open(options: PostgresOptions) -> StoreResult<Self> {
        Ok(Self::from_db(open::open(&options).await?))
    }

    /// Opens a store that is there, without changing anything; none where the schema has none of our tables. One that
    /// an older program has made is [`StoreError::Older`](crate::StoreError::Older): [`open`](Self::open) brings it
    /// forward.
    pub async fn open_existing(options: PostgresOptions) -> StoreResult<Option<Self>> {
        Ok(open::open_existing(&options).await?.map(Self::from_db))
    }

    fn from_db(db: Db) -> Self {
        let db = Arc::new(db);
        let (committer, listener) = (Committer::start(&db), Listener::start(&db));
        Self {
            db,
            committer,
            listener,
            limit_cursor: Mutex::default(),
            found_nothing: AtomicBool::new(true),
            unclaimed: EmptyAnswerCache::default(),
            unsuspected: EmptyAnswerCache::default(),
            leases_ahead: Mutex::default(),
            unswept: EmptyAnswerCache::default(),
            folding: Folding::default(),
        }
    }

    /// How long "nothing" stands. A test's clock may jump, so that every question is asked.
    fn look_after(&self) -> Duration {
        if self.db.setup.clock.is_some() { Duration::ZERO } else { self.listener.pause() }
    }

    fn limit_cursor(&self) -> String {
        self.limit_cursor.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

pub(super) fn check_events(commits: &[Commit]) -> StoreResult<()> {
    commits.iter().flat_map(|commit| &commit.changes.events).try_for_each(events::check)
}

#[async_trait]
impl Queue for PostgresStore {
    async fn reserve_ids(&self, kind: IdKind, count: u32) -> StoreResult<Range<i64>> {
        let count = i64::from(count);
        let end = transaction!(self.db, Quiet, tx => {
            tx.collect(repair::RESERVE, &[&kind.as_str(), &count], |row| get::<i64>(row, 0)).await
        })?;
        let end = end.first().copied().unwrap_or(count);
        Ok(end - count..end)
    }

    async fn enqueue(&self, jobs: Vec<NewJob>) -> StoreResult<Vec<Enqueued>> {
        let all: Vec<&NewJob> = jobs.iter().collect();
        transaction!(self.db, Write, tx => jobs::enqueue(&tx, &all).await)
    }

    async fn claim(&self, request: ClaimRequest) -> StoreResult<Vec<ClaimedJob>> {
        let mark = self.change_mark();
        let meant = (request.queues.clone(), request.submissions.clone());
        if self.unclaimed.holds(&meant, mark) {
            return Ok(Vec::new());
        }
        let seen = claim::look(&self.db, &request, self.found_nothing.load(Ordering::Relaxed)).await?;
        self.found_nothing.store(seen.nothing(), Ordering::Relaxed);
        if seen.nothing() {
            self.unclaimed.found_nothing(meant, mark, seen.next(), self.look_after());
            return Ok(Vec::new());
        }
        let from = self.limit_cursor();
        let (claimed, cursor) = transaction!(self.db, Lease, tx => claim::claim(&tx, &request, seen, &from).await)?;
        self.found_nothing.store(claimed.is_empty(), Ordering::Relaxed);
        *self.limit_cursor.lock().unwrap_or_else(PoisonError::into_inner) = cursor;
        Ok(claimed)
    }

    async fn claim_suspects(&self, request: ClaimRequest) -> StoreResult<Vec<ClaimedJob>> {
        let mark = self.change_mark();
        let meant = (request.queues.clone(), request.submissions.clone());
        if self.unsuspected.holds(&meant, mark) {
            return Ok(Vec::new());
        }
        let next_in = suspects::next_in(&self.db).await?;
        if next_in.is_none_or(|next_in| !next_in.is_zero()) {
            self.unsuspected.found_nothing(meant, mark, next_in, self.look_after());
            return Ok(Vec::new());
        }
        transaction!(self.db, Quiet, tx => suspects::claim_suspects(&tx, &request).await)
    }

    async fn begin_suspects(&self, leases: Vec<(JobId, Token)>) -> StoreResult<Vec<JobId>> {
        transaction!(self.db, Quiet, tx => suspects::begin_suspects(&tx, &leases).await)
    }

    async fn adopt(&self, worker: &Name, leases: Vec<(JobId, Token)>, lease: Duration) -> StoreResult<Vec<ClaimedJob>> {
        transaction!(self.db, Lease, tx => broker_claims::adopt(&tx, worker, &leases, lease).await)
    }

    async fn announce(&self, request: AnnounceRequest) -> StoreResult<Vec<Job>> {
        transaction!(self.db, Quiet, tx => broker_claims::announce(&tx, &request).await)
    }

    async fn announced(&self, jobs: Vec<JobId>, again_after: Duration) -> StoreResult<()> {
        transaction!(self.db, Quiet, tx => broker_claims::announced(&tx, &jobs, again_after).await)
    }

    async fn last_announced(&self, queue: &Name) -> StoreResult<Option<Timestamp>> {
        transaction!(self.db, Read, tx => report_limits::last_announced(&tx, queue).await)
    }

    async fn hold_reports(&self, undelivered: Undelivered) -> StoreResult<u64> {
        transaction!(self.db, Quiet, tx => report_limits::hold_reports(&tx, &undelivered).await)
    }

    async fn heartbeat(
        &self,
        worker: &Name,
        leases: Vec<(JobId, Token)>,
        lease: Duration,
        finished: u64,
    ) -> StoreResult<Vec<JobId>> {
        transaction!(self.db, Lease, tx => ends::heartbeat(&tx, worker, &leases, lease, finished).await)
    }

    async fn arrive(&self, worker: &Name) -> StoreResult<()> {
        transaction!(self.db, Quiet, tx => workers::arrive(&tx, worker).await)
    }

    async fn leave(&self, worker: &Name, finished: u64) -> StoreResult<()> {
        transaction!(self.db, Quiet, tx => workers::leave(&tx, worker, finished).await)
    }

    async fn release_dead_workers(&self, workers: Vec<Name>) -> StoreResult<u64> {
        transaction!(self.db, Write, tx => sweep::release_dead_workers(&tx, &workers).await)
    }

    async fn release(&self, leases: Vec<(JobId, Token)>) -> StoreResult<()> {
        transaction!(self.db, Write, tx => ends::release(&tx, &leases).await)
    }

    async fn commit(&self, commits: Vec<Commit>) -> StoreResult<Vec<CommitResult>> {
        check_events(&commits)?;
        check_blobs(&commits)?;
        self.committer.commit(commits).await
    }

    async fn sweep(&self) -> StoreResult<Swept> {
        let mark = self.change_mark();
        if self.unswept.holds(&(), mark) {
            return Ok(Swept::default());
        }
        self.folding.fold_if_due(&self.db).await?;
        let seen = sweep::look(&self.db).await?;
        let ahead = if seen.has_leases_ahead { sweep::leases_ahead(&self.db).await? } else { Vec::new() };
        let wrong = self.leases_ahead.lock().unwrap_or_else(PoisonError::into_inner).expire(seen.now, ahead);
        if wrong.is_empty() && seen.due_in.is_none_or(|due_in| !due_in.is_zero()) {
            if !seen.has_leases_ahead {
                self.unswept.found_nothing((), mark, seen.due_in, self.look_after());
            }
            return Ok(Swept::default());
        }
        transaction!(self.db, Write, tx => sweep::sweep(&mut tx, &wrong).await)
    }

    fn clock(&self) -> Arc<dyn Clock> {
        match &self.db.setup.clock {
            Some(clock) => Arc::clone(clock),
            None => Arc::clone(&self.db.time) as Arc<dyn Clock>,
        }
    }

    fn change_mark(&self) -> u64 {
        *self.db.changes.borrow()
    }

    fn reconnects(&self) -> Option<u64> {
        Some(self.listener.reconnects())
    }

    async fn changed(&self, mark: u64, at_most: Duration) {
        let until = Instant::now() + at_most.min(self.listener.pause());
        let mut changes = self.db.changes.subscribe();
        while *changes.borrow_and_update() == mark {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || tokio::time::timeout(left, changes.changed()).await.is_err() {
                return;
            }
        }
    }
}

#[async_trait]
impl Feed for PostgresStore {
    async fn append_events(&self, new: Vec<NewEvent>) -> StoreResult<Vec<Option<EventSeq>>> {
        new.iter().try_for_each(events::check)?;
        let all: Vec<&NewEvent> = new.iter().collect();
        transaction!(self.db, Write, tx => events::append(&tx, &all).await)
    }

    async fn read_events(&self, after: EventSeq, filter: EventFilter, limit: usize) -> StoreResult<Vec<Event>> {
        events::read(&self.db, after, &filter, limit).await
    }

    async fn last_event(&self) -> StoreResult<EventSeq> {
        events::last(&self.db).await
    }

    async fn consumer_position(&self, consumer: &Name) -> StoreResult<EventSeq> {
        let sql = "SELECT position FROM consumer WHERE name = $1";
        let found = self.db.ask(sql, &[&consumer.as_str()], |row| get(row, 0).map(EventSeq::from_raw)).await?;
        Ok(found.first().copied().unwrap_or(EventSeq::START))
    }

    async fn commit_feed(
        &self,
        consumer: &Name,
        from: EventSeq,
        to: EventSeq,
        effects: Vec<Commit>,
    ) -> StoreResult<FeedCommit> {
        check_events(&effects)?;
        check_blobs(&effects)?;
        self.db.setup.faults.hit(FaultPoint::BeforeFeedCommit);
        let effects: Vec<&Commit> = effects.iter().collect();
        transaction!(self.db, Write, tx => events::commit_feed(&mut tx, consumer, from, to, &effects).await)
    }

    async fn reset_consumer(&self, consumer: &Name, to: EventSeq) -> StoreResult<()> {
        transaction!(self.db, Write, tx => events::set_position(&tx, consumer, to).await)
    }
}

#[async_trait]
impl Control for PostgresStore {
    async fn pause(&self, queue: &Name, because: Option<String>) -> StoreResult<bool> {
        transaction!(self.db, Write, tx => control::pause(&tx, queue, because.as_deref()).await)
    }

    async fn resume(&self, queue: &Name) -> StoreResult<bool> {
        transaction!(self.db, Write, tx => control::resume(&tx, queue).await)
    }

    async fn retry(&self, filter: JobFilter) -> StoreResult<Retried> {
        transaction!(self.db, Write, tx => control::retry(&mut tx, &filter).await)
    }

    async fn unpark(&self, until: &str) -> StoreResult<u64> {
        transaction!(self.db, Write, tx => control::unpark(&tx, until).await)
    }

    async fn cancel_submission(&self, id: SubmissionId) -> StoreResult<Cancelled> {
        transaction!(self.db, Write, tx => control::cancel_submission(&mut tx, id).await)
    }

    async fn cancel_job(&self, id: JobId) -> StoreResult<bool> {
        transaction!(self.db, Write, tx => control::cancel_job(&mut tx, id).await)
    }

    async fn raise_priorities(&self, jobs: Vec<(JobId, i32)>) -> StoreResult<u64> {
        transaction!(self.db, Quiet, tx => control::raise_priorities(&tx, &jobs).await)
    }

    async fn assign_review(&self, id: ReviewId, to: &str) -> StoreResult<bool> {
        transaction!(self.db, Write, tx => reviews::assign(&tx, id, to).await)
    }

    async fn put_workflow(&self, name: &Name, version: i64, text: &str) -> StoreResult<()> {
        transaction!(self.db, Write, tx => control::put_workflow(&tx, name, version, text).await)
    }
}

/// Blobs are kept beside this database, never in it.
fn check_blobs(commits: &[Commit]) -> StoreResult<()> {
    if commits.iter().all(|commit| commit.changes.blobs.is_empty()) {
        return Ok(());
    }
    Err(StoreError::Invalid("a commit has blobs for rows, and PostgreSQL has no rows for blobs".to_owned()))
}
