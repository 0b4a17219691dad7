//! The store's traits on SQLite: each write is a request to the writer thread, each read a snapshot.

use super::{
    broker_claims, claim, commit, control, events, jobs,
    open::{Options, check_writable, open_frozen, open_reader},
    progress,
    reader::Readers,
    records, report_limits, reviews,
    rows::{self, ITEM_COLUMNS, JOIN_COLUMNS, OUTCOME_COLUMNS, REVIEW_COLUMNS, SUBMISSION_COLUMNS},
    suspects, sweep,
    use_lock::UseLock,
    workers,
    writer::Writer,
};
use crate::{
    blobs::BlobRows,
    commit::{Commit, CommitResult, Enqueued, FeedCommit},
    error::{StoreError, StoreResult},
    query::{
        AnnounceRequest, Cancelled, ClaimRequest, ConsumerView, EventFilter, IdKind, ItemCounts, ItemFilter, JobFilter,
        JobView, JoinFilter, OutcomePage, QueueView, Retried, ReviewFilter, StageRow, StoredWorkflow, SubmissionFilter,
        Swept, Undelivered, WorkerView,
    },
    store::{Control, Feed, Queue, Records},
};
use async_trait::async_trait;
use bindery_core::{
    Clock, ContentHash, EventSeq, ItemId, JobId, JoinId, Name, ReviewId, SubmissionId, Timestamp,
    artifact::Artifact,
    event::{Event, NewEvent},
    fault::FaultPoint,
    item::Item,
    job::{ClaimedJob, Job, NewJob, Token},
    join::Join,
    outcome::Outcome,
    review::Review,
    submission::Submission,
};
use rusqlite::{Connection, OptionalExtension};
use std::{
    fs, io,
    ops::Range,
    path::PathBuf,
    sync::{Arc, LazyLock, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

/// How often a waiting process looks whether another one has written.
const OTHERS_POLL: Duration = Duration::from_millis(50);

/// A store in one SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    writer: Writer,
    readers: Arc<Readers>,
    options: Options,
    others: Mutex<Others>,
    in_use: UseLock,
}

/// What tells us that another process has written.
#[derive(Debug)]
enum Others {
    Version {
        db: Connection,
        seen: i64,
    },
    /// Where we cannot write: the sizes and times of the files.
    Files {
        seen: [Option<(u64, SystemTime)>; 2],
    },
}

impl SqliteStore {
    pub(super) fn readers(&self) -> &Arc<Readers> {
        &self.readers
    }

    pub(super) fn writer(&self) -> &Writer {
        &self.writer
    }

    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    pub(super) fn in_use(&self) -> &UseLock {
        &self.in_use
    }

    /// Opens the file, or makes it; brings an older one forward. Blocks while it does.
    pub fn open(options: Options) -> StoreResult<Self> {
        let writer = Writer::start(options.clone())?;
        let in_use = UseLock::take(&options.path);
        let db = open_reader(&options)?;
        let others = Mutex::new(Others::Version { db, seen: 0 });
        Ok(Self { writer, readers: Arc::new(Readers::new(options.clone())), options, others, in_use })
    }

    /// Opens the file that is there. One that this process cannot write, because of its permissions or because its disk
    /// is mounted read-only or full, can be looked at: every change is refused.
    pub fn open_existing(options: Options) -> StoreResult<Self> {
        let refusal = match check_writable(&options.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                StoreError::NotWritable { path: options.path.clone(), detail: error.to_string() }
            }
            // On a full disk SQLite has no room for what it needs to write.
            _ => match Self::open(options.clone()) {
                Err(full @ StoreError::Full { .. }) if open_frozen(&options).is_ok() => full,
                opened => return opened,
            },
        };
        drop(open_frozen(&options)?);
        let in_use = UseLock::take(&options.path);
        let (writer, readers) = (Writer::always_refusing(refusal), Arc::new(Readers::of_frozen(options.clone())));
        Ok(Self { writer, readers, options, others: Mutex::new(Others::Files { seen: [None; 2] }), in_use })
    }

    /// Whether it can only be looked at.
    pub fn is_read_only(&self) -> bool {
        self.writer.is_refusing()
    }

    fn others_have_written(&self) -> bool {
        match &mut *self.others.lock().unwrap_or_else(PoisonError::into_inner) {
            Others::Version { db, seen } => {
                let version = db.pragma_query_value(None, "data_version", |row| row.get(0)).unwrap_or(0);
                std::mem::replace(seen, version) != version
            }
            Others::Files { seen } => {
                let found = ["", "-wal"].map(|ending| {
                    let mut name = self.options.path.as_os_str().to_owned();
                    name.push(ending);
                    let about = fs::metadata(PathBuf::from(name)).ok()?;
                    Some((about.len(), about.modified().ok()?))
                });
                std::mem::replace(seen, found) != found
            }
        }
    }
}

/// Done by the caller's thread, so that the writer has only to write.
pub(super) fn check_events(commits: &[Commit]) -> StoreResult<()> {
    commits.iter().flat_map(|commit| &commit.changes.events).try_for_each(events::check)
}

#[async_trait]
impl Queue for SqliteStore {
    async fn reserve_ids(&self, kind: IdKind, count: u32) -> StoreResult<Range<i64>> {
        self.writer.write_relaxed(move |tx| Ok(tx.reserve(kind.as_str(), i64::from(count))?)).await
    }

    async fn enqueue(&self, jobs: Vec<NewJob>) -> StoreResult<Vec<Enqueued>> {
        self.writer.write(move |tx| jobs.iter().map(|job| jobs::enqueue(tx, job)).collect()).await
    }

    async fn claim(&self, request: ClaimRequest) -> StoreResult<Vec<ClaimedJob>> {
        self.writer.write_relaxed(move |tx| claim::claim(tx, &request)).await
    }

    async fn claim_suspects(&self, request: ClaimRequest) -> StoreResult<Vec<ClaimedJob>> {
        self.writer.write_relaxed(move |tx| suspects::claim_suspects(tx, &request)).await
    }

    async fn begin_suspects(&self, leases: Vec<(JobId, Token)>) -> StoreResult<Vec<JobId>> {
        self.writer.write(move |tx| suspects::begin_suspects(tx, &leases)).await
    }

    async fn adopt(&self, worker: &Name, leases: Vec<(JobId, Token)>, lease: Duration) -> StoreResult<Vec<ClaimedJob>> {
        let worker = worker.clone();
        self.writer.write(move |tx| broker_claims::adopt(tx, &worker, &leases, lease)).await
    }

    async fn announce(&self, request: AnnounceRequest) -> StoreResult<Vec<Job>> {
        self.writer.write(move |tx| broker_claims::announce(tx, &request)).await
    }

    async fn announced(&self, jobs: Vec<JobId>, again_after: Duration) -> StoreResult<()> {
        self.writer.write(move |tx| broker_claims::announced(tx, &jobs, again_after)).await
    }

    async fn last_announced(&self, queue: &Name) -> StoreResult<Option<Timestamp>> {
        let queue = queue.clone();
        self.readers.read(move |db| report_limits::last_announced(db, &queue)).await
    }

    async fn hold_reports(&self, undelivered: Undelivered) -> StoreResult<u64> {
        self.writer.write(move |tx| report_limits::hold_reports(tx, &undelivered)).await
    }

    async fn heartbeat(
        &self,
        worker: &Name,
        leases: Vec<(JobId, Token)>,
        lease: Duration,
        finished: u64,
    ) -> StoreResult<Vec<JobId>> {
        let worker = worker.clone();
        self.writer.write_relaxed(move |tx| jobs::heartbeat(tx, &worker, &leases, lease, finished)).await
    }

    async fn arrive(&self, worker: &Name) -> StoreResult<()> {
        let worker = worker.clone();
        self.writer.write_relaxed(move |tx| workers::arrive(tx, &worker)).await
    }

    async fn leave(&self, worker: &Name, finished: u64) -> StoreResult<()> {
        let worker = worker.clone();
        self.writer.write_relaxed(move |tx| workers::leave(tx, &worker, finished)).await
    }

    async fn release_dead_workers(&self, workers: Vec<Name>) -> StoreResult<u64> {
        self.writer.write(move |tx| sweep::release_dead_workers(tx, &workers)).await
    }

    async fn release(&self, leases: Vec<(JobId, Token)>) -> StoreResult<()> {
        self.writer.write_relaxed(move |tx| jobs::release(tx, &leases)).await
    }

    async fn commit(&self, commits: Vec<Commit>) -> StoreResult<Vec<CommitResult>> {
        check_events(&commits)?;
        self.writer.write(move |tx| commit::apply(tx, &commits)).await
    }

    async fn sweep(&self) -> StoreResult<Swept> {
        self.writer.write(sweep::sweep).await
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.options.clock)
    }

    fn change_mark(&self) -> u64 {
        *self.writer.changes.borrow()
    }

    async fn changed(&self, mark: u64, at_most: Duration) {
        let until = Instant::now() + at_most;
        let mut changes = self.writer.changes.subscribe();
        loop {
            if *changes.borrow_and_update() != mark {
                return;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = tokio::time::timeout(left.min(OTHERS_POLL), changes.changed()).await;
            if waited.is_err() && self.others_have_written() {
                self.writer.changes.send_modify(|mark| *mark += 1);
            }
        }
    }
}

#[async_trait]
impl Feed for SqliteStore {
    async fn append_events(&self, new: Vec<NewEvent>) -> StoreResult<Vec<Option<EventSeq>>> {
        new.iter().try_for_each(events::check)?;
        self.writer.write(move |tx| new.iter().map(|event| events::append(tx, event)).collect()).await
    }

    async fn read_events(&self, after: EventSeq, filter: EventFilter, limit: usize) -> StoreResult<Vec<Event>> {
        self.readers.read(move |db| records::events(db, after, &filter, limit)).await
    }

    async fn last_event(&self) -> StoreResult<EventSeq> {
        let sql = "SELECT ifnull(max(seq), 0) FROM event";
        self.readers.read(move |db| db.query_row(sql, [], |row| row.get(0)).map(EventSeq::from_raw)).await
    }

    async fn consumer_position(&self, consumer: &Name) -> StoreResult<EventSeq> {
        let consumer = consumer.clone();
        let sql = "SELECT position FROM consumer WHERE name = ?1";
        let found = self.readers.read(move |db| db.query_row(sql, [&*consumer], |row| row.get(0)).optional()).await?;
        Ok(found.map_or(EventSeq::START, EventSeq::from_raw))
    }

    async fn commit_feed(
        &self,
        consumer: &Name,
        from: EventSeq,
        to: EventSeq,
        effects: Vec<Commit>,
    ) -> StoreResult<FeedCommit> {
        check_events(&effects)?;
        self.options.faults.hit(FaultPoint::BeforeFeedCommit);
        let consumer = consumer.clone();
        self.writer.write(move |tx| events::commit_feed(tx, &consumer, from, to, &effects)).await
    }

    async fn reset_consumer(&self, consumer: &Name, to: EventSeq) -> StoreResult<()> {
        let consumer = consumer.clone();
        self.writer.write(move |tx| events::set_position(tx, &consumer, to)).await
    }
}

#[async_trait]
impl Control for SqliteStore {
    async fn pause(&self, queue: &Name, because: Option<String>) -> StoreResult<bool> {
        let queue = queue.clone();
        self.writer.write(move |tx| control::pause(tx, &queue, because.as_deref())).await
    }

    async fn resume(&self, queue: &Name) -> StoreResult<bool> {
        let queue = queue.clone();
        self.writer.write(move |tx| control::resume(tx, &queue)).await
    }

    async fn retry(&self, filter: JobFilter) -> StoreResult<Retried> {
        self.writer.write(move |tx| control::retry(tx, &filter)).await
    }

    async fn unpark(&self, until: &str) -> StoreResult<u64> {
        let until = until.to_owned();
        self.writer.write(move |tx| control::unpark(tx, &until)).await
    }

    async fn cancel_submission(&self, id: SubmissionId) -> StoreResult<Cancelled> {
        self.writer.write(move |tx| control::cancel_submission(tx, id)).await
    }

    async fn cancel_job(&self, id: JobId) -> StoreResult<bool> {
        self.writer.write(move |tx| control::cancel_job(tx, id)).await
    }

    async fn raise_priorities(&self, jobs: Vec<(JobId, i32)>) -> StoreResult<u64> {
        self.writer.write(move |tx| control::raise_priorities(tx, &jobs)).await
    }

    async fn assign_review(&self, id: ReviewId, to: &str) -> StoreResult<bool> {
        let to = to.to_owned();
        self.writer.write(move |tx| reviews::assign(tx, id, &to)).await
    }

    async fn put_workflow(&self, name: &Name, version: i64, text: &str) -> StoreResult<()> {
        let (name, text) = (name.clone(), text.to_owned());
        self.writer.write(move |tx| control::put_workflow(tx, &name, version, &text)).await
    }
}

#[async_trait]
impl Records for SqliteStore {
    fn blob_rows(self: Arc<Self>) -> Option<Arc<dyn BlobRows>> {
        Some(self)
    }

    async fn submission(&self, id: SubmissionId) -> StoreResult<Option<Submission>> {
        let sql = format!("SELECT {SUBMISSION_COLUMNS} FROM submission WHERE id = ?1");
        self.readers.read(move |db| rows::first(db, &sql, [id.raw()], rows::submission)).await
    }

    async fn find_submission(&self, external_id: &str) -> StoreResult<Option<Submission>> {
        let sql = format!("SELECT {SUBMISSION_COLUMNS} FROM submission WHERE external_id = ?1");
        let external_id = external_id.to_owned();
        self.readers.read(move |db| rows::first(db, &sql, [external_id], rows::submission)).await
    }

    async fn submissions(&self, filter: SubmissionFilter) -> StoreResult<Vec<Submission>> {
        let statuses: Vec<String> =
            filter.statuses.iter().map(|status| rows::status_number(*status).to_string()).collect();
        let condition =
            if statuses.is_empty() { String::new() } else { format!("AND status IN ({})", statuses.join(", ")) };
        let limit = filter.limit.map_or(-1, |limit| limit as i64);
        let sql = format!(
            "SELECT {SUBMISSION_COLUMNS} FROM submission WHERE (?1 IS NULL OR channel = ?1) {condition} \
             ORDER BY id DESC LIMIT {limit}"
        );
        self.readers.read(move |db| rows::collect(db, &sql, [filter.channel], rows::submission)).await
    }

    async fn item(&self, submission: SubmissionId, id: ItemId) -> StoreResult<Option<Item>> {
        let sql = format!("SELECT {ITEM_COLUMNS} FROM item WHERE submission_id = ?1 AND id = ?2");
        self.readers.read(move |db| rows::first(db, &sql, (submission.raw(), id.raw()), rows::item)).await
    }

    async fn find_item(&self, submission: SubmissionId, key: &str) -> StoreResult<Option<Item>> {
        let sql = format!("SELECT {ITEM_COLUMNS} FROM item WHERE submission_id = ?1 AND key = ?2");
        let key = key.to_owned();
        self.readers.read(move |db| rows::first(db, &sql, (submission.raw(), key), rows::item)).await
    }

    async fn items(&self, submission: SubmissionId, filter: ItemFilter) -> StoreResult<Vec<Item>> {
        self.readers.read(move |db| records::items(db, submission, filter)).await
    }

    async fn item_counts(&self, submission: SubmissionId) -> StoreResult<ItemCounts> {
        self.readers.read(move |db| progress::item_counts(db, submission)).await
    }

    async fn outcomes(&self, submission: SubmissionId, stage: Option<&Name>) -> StoreResult<Vec<Outcome>> {
        let stage = stage.cloned();
        self.readers.read(move |db| records::outcomes(db, submission, stage.as_ref())).await
    }

    async fn outcome_page(&self, submission: SubmissionId, page: OutcomePage) -> StoreResult<Vec<Outcome>> {
        self.readers.read(move |db| records::outcome_page(db, submission, &page)).await
    }

    async fn item_outcomes(
        &self,
        submission: SubmissionId,
        item: Option<ItemId>,
        stage: &Name,
    ) -> StoreResult<Vec<Outcome>> {
        let sql = format!(
            "SELECT {OUTCOME_COLUMNS} FROM outcome WHERE submission_id = ?1 AND stage = ?2 AND item_id = ?3 \
             ORDER BY processor"
        );
        let parameters = (submission.raw(), stage.to_string(), rows::item_number(item));
        self.readers.read(move |db| rows::collect(db, &sql, parameters, rows::outcome)).await
    }

    async fn reusable_outcome(&self, key: ContentHash) -> StoreResult<Option<Outcome>> {
        static FIND: LazyLock<String> = LazyLock::new(|| {
            format!("SELECT {OUTCOME_COLUMNS} FROM outcome WHERE reuse_key = ?1 ORDER BY submission_id DESC LIMIT 1")
        });
        self.readers.read(move |db| rows::first(db, &FIND, [key.as_bytes()], rows::outcome)).await
    }

    async fn join(&self, id: JoinId) -> StoreResult<Option<Join>> {
        let sql = format!("SELECT {JOIN_COLUMNS} FROM joins WHERE id = ?1");
        self.readers.read(move |db| rows::first(db, &sql, [id.raw()], rows::join)).await
    }

    async fn joins(&self, submission: SubmissionId, filter: JoinFilter) -> StoreResult<Vec<Join>> {
        self.readers.read(move |db| records::joins(db, submission, &filter)).await
    }

    async fn artifact(&self, submission: SubmissionId, key: &str) -> StoreResult<Option<Artifact>> {
        let sql = "SELECT submission_id, key, item_id, hash, size, media_type FROM artifact \
                   WHERE submission_id = ?1 AND key = ?2";
        let key = key.to_owned();
        self.readers.read(move |db| rows::first(db, sql, (submission.raw(), key), rows::artifact)).await
    }

    async fn artifacts(
        &self,
        submission: SubmissionId,
        after: Option<&str>,
        limit: usize,
    ) -> StoreResult<Vec<Artifact>> {
        let sql = "SELECT submission_id, key, item_id, hash, size, media_type FROM artifact \
                   WHERE submission_id = ?1 AND key > ?2 ORDER BY key LIMIT ?3";
        let after = after.unwrap_or_default().to_owned();
        self.readers
            .read(move |db| rows::collect(db, sql, (submission.raw(), after, limit as i64), rows::artifact))
            .await
    }

    async fn job(&self, id: JobId) -> StoreResult<Option<JobView>> {
        let found = self.jobs(JobFilter { ids: vec![id], ..JobFilter::default() }).await?;
        Ok(found.into_iter().next())
    }

    async fn jobs(&self, filter: JobFilter) -> StoreResult<Vec<JobView>> {
        self.readers.read(move |db| records::jobs(db, &filter)).await
    }

    async fn reviews(&self, filter: ReviewFilter) -> StoreResult<Vec<Review>> {
        let now = self.options.clock.now();
        self.readers.read(move |db| reviews::list(db, &filter, now)).await
    }

    async fn review(&self, id: ReviewId) -> StoreResult<Option<Review>> {
        let sql = format!("SELECT {REVIEW_COLUMNS} FROM review WHERE id = ?1");
        let found = self.readers.read(move |db| rows::first(db, &sql, [id.raw()], rows::review)).await?;
        Ok(found.map(|review| review.at(self.options.clock.now())))
    }

    async fn stage_counts(&self, submission: SubmissionId) -> StoreResult<Vec<StageRow>> {
        self.readers.read(move |db| progress::stage_counts(db, submission)).await
    }

    async fn queues(&self) -> StoreResult<Vec<QueueView>> {
        self.readers.read(records::queues).await
    }

    async fn workers(&self) -> StoreResult<Vec<WorkerView>> {
        self.readers.read(workers::list).await
    }

    async fn consumers(&self) -> StoreResult<Vec<ConsumerView>> {
        self.readers.read(records::consumers).await
    }

    async fn workflow(&self, name: &Name, version: Option<i64>) -> StoreResult<Option<StoredWorkflow>> {
        let name = name.clone();
        self.readers.read(move |db| records::workflow(db, &name, version)).await
    }

    async fn workflows(&self) -> StoreResult<Vec<StoredWorkflow>> {
        self.readers.read(records::workflows).await
    }
}
