//! The traits that a database backend implements.

use crate::{
    blobs::BlobRows,
    commit::{Commit, CommitResult, Enqueued, FeedCommit},
    error::StoreResult,
    executions::Executions,
    portable::Portable,
    query::{
        AnnounceRequest, Cancelled, ClaimRequest, ConsumerView, EventFilter, IdKind, ItemCounts, ItemFilter, JobFilter,
        JobView, JoinFilter, OutcomePage, QueueView, Retried, ReviewFilter, StageRow, StoredWorkflow, SubmissionFilter,
        Swept, Undelivered, WorkerView,
    },
    retention::Retention,
    rows::RowStore,
    search::Search,
};
use async_trait::async_trait;
use bindery_core::{
    Clock, ContentHash, EventSeq, ItemId, JobId, JoinId, Name, ReviewId, SubmissionId, Timestamp,
    artifact::Artifact,
    event::{Event, NewEvent},
    item::Item,
    job::{ClaimedJob, Job, NewJob, Token},
    join::Join,
    outcome::Outcome,
    review::Review,
    submission::Submission,
};
use std::{fmt, ops::Range, sync::Arc, time::Duration};

/// Claiming work and committing its effects. All of it may be called by any number of processes at once.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Reserves `count` ids that nobody else will ever be given; they may stay unused. A power cut takes back at most those
    /// that nothing durable names.
    async fn reserve_ids(&self, kind: IdKind, count: u32) -> StoreResult<Range<i64>>;

    /// Stores jobs. Durable when it returns, all or none. The results are in the order of the jobs.
    async fn enqueue(&self, jobs: Vec<NewJob>) -> StoreResult<Vec<Enqueued>>;

    /// Leases up to `max` ready jobs to a worker: the greatest priority first, then the oldest; none from a paused
    /// queue; none beyond a limit; no suspects. Each claim draws a fresh token. A claim is not an attempt: attempts are
    /// counted when they end. Everybody sees the lease when this returns; if the caller dies, [`sweep`](Self::sweep) gives
    /// the jobs back once it has run out. A power cut, which ends the caller too, may undo it: then they are ready again.
    async fn claim(&self, request: ClaimRequest) -> StoreResult<Vec<ClaimedJob>>;

    /// Leases a group of suspects: ready jobs (or such whose time has come) that a worker held when it died. Those with the fewest losses come first,
    /// then the largest group. The caller runs them when nothing else runs in its process, and
    /// [says so](Self::begin_suspects) before.
    async fn claim_suspects(&self, request: ClaimRequest) -> StoreResult<Vec<ClaimedJob>>;

    /// Marks that these suspects begin to run now, together and with nothing beside them. Durable when it returns. Where
    /// the caller dies with one that runs alone, that counts as its loss; a group is divided; those that were not marked
    /// are not blamed. Returns those that are still held.
    async fn begin_suspects(&self, leases: Vec<(JobId, Token)>) -> StoreResult<Vec<JobId>>;

    /// Takes over jobs that somebody claimed only to carry them here, each under a fresh token. Those that the token does
    /// not hold (any more), or that were adopted before, are left out.
    async fn adopt(&self, worker: &Name, leases: Vec<(JobId, Token)>, lease: Duration) -> StoreResult<Vec<ClaimedJob>>;

    /// The jobs waiting for an outside report that are due to be told about: those that nobody was told about since
    /// they wait, and those whose time has come again. None from a paused queue.
    async fn announce(&self, request: AnnounceRequest) -> StoreResult<Vec<Job>>;

    /// They were told about: not again before this time, in case nobody listened.
    async fn announced(&self, jobs: Vec<JobId>, again_after: Duration) -> StoreResult<()>;

    /// When the last job of a queue that waits for an outside report and may not be delivered yet is due to be announced
    /// again. None: there is no such job.
    async fn last_announced(&self, queue: &Name) -> StoreResult<Option<Timestamp>>;

    /// Moves the time limits of a queue's outside reports by what a broker says about it: an undelivered job's report is
    /// not due, and the limit of a delivered one begins now, if it has not begun before. Returns how many are delivered.
    async fn hold_reports(&self, undelivered: Undelivered) -> StoreResult<u64>;

    /// Extends leases and says that the worker lives; not durable, as the worker will say so again. Returns the jobs that the
    /// caller does *not* hold any more and should stop working on. `finished` is how many jobs the worker has finished in all.
    async fn heartbeat(
        &self,
        worker: &Name,
        leases: Vec<(JobId, Token)>,
        lease: Duration,
        finished: u64,
    ) -> StoreResult<Vec<JobId>>;

    /// Says that a worker begins under this name: its figures start anew.
    async fn arrive(&self, worker: &Name) -> StoreResult<()>;

    /// A worker's last word: it stops, and holds nothing any more. Whoever says nothing has died.
    async fn leave(&self, worker: &Name, finished: u64) -> StoreResult<()>;

    /// Gives back at once what workers hold that are known to have died, as [`sweep`](Self::sweep) would when their
    /// leases have run out. Returns how many jobs that were. A worker that lives after all finds its commits rejected.
    async fn release_dead_workers(&self, workers: Vec<Name>) -> StoreResult<u64>;

    /// Gives back jobs that were claimed but not begun. They are what they were before the claim.
    async fn release(&self, leases: Vec<(JobId, Token)>) -> StoreResult<()>;

    /// Applies each commit whole or, where its guard does not hold, not at all; one does not disturb another. Durable
    /// when it returns. On an error nothing of the batch is stored, and the same batch may be sent again: an effect
    /// that was stored after all is rejected the second time.
    async fn commit(&self, commits: Vec<Commit>) -> StoreResult<Vec<CommitResult>>;

    /// Gives back expired leases, wakes parked jobs whose time has come and overdue reports, and marks passed deadlines,
    /// each once. Any number of processes may sweep at any time. The jobs of an expired lease are suspects, unless they
    /// were only carried. A lease that ends later than it can, because its holder's clock was ahead of ours, has expired
    /// when it was not extended for as long as it holds.
    async fn sweep(&self) -> StoreResult<Swept>;

    /// The time that leases, waits and deadlines go by. Whoever reckons with them goes by it, too: machines differ.
    fn clock(&self) -> Arc<dyn Clock>;

    /// A number that grows with every change that this process knows of. Take it before looking for work, and wait
    /// with [`changed`](Self::changed) for more: what came in between is then not missed.
    fn change_mark(&self) -> u64;

    /// How often the connection to the database was lost and made anew; none where there is none.
    fn reconnects(&self) -> Option<u64> {
        None
    }

    /// Returns when there may be news since `mark`, at the latest after `at_most`. A hint: it may return for nothing,
    /// and changes by other processes are noticed with a small delay.
    async fn changed(&self, mark: u64, at_most: Duration);
}

/// The event log and its consumers.
#[async_trait]
pub trait Feed: Send + Sync {
    /// Appends events from outside. Durable when it returns. An event whose id is in the log already is not appended
    /// again (its result is `None`).
    async fn append_events(&self, events: Vec<NewEvent>) -> StoreResult<Vec<Option<EventSeq>>>;

    /// Events after a position, in their one order. An event that this skipped will never appear before it: reading
    /// on from the last position misses nothing, whatever other transactions are under way.
    async fn read_events(&self, after: EventSeq, filter: EventFilter, limit: usize) -> StoreResult<Vec<Event>>;

    /// The position of the newest event.
    async fn last_event(&self) -> StoreResult<EventSeq>;

    /// Where a consumer goes on; [`EventSeq::START`] for one that is not known yet.
    async fn consumer_position(&self, consumer: &Name) -> StoreResult<EventSeq>;

    /// Moves a consumer from `from` to `to` and applies its effects, in one transaction. If the consumer is not at
    /// `from` any more (another instance was faster), nothing happens.
    async fn commit_feed(
        &self,
        consumer: &Name,
        from: EventSeq,
        to: EventSeq,
        effects: Vec<Commit>,
    ) -> StoreResult<FeedCommit>;

    /// Sets a consumer back (or forward), for a replay.
    async fn reset_consumer(&self, consumer: &Name, to: EventSeq) -> StoreResult<()>;
}

/// What people do. Each is one durable transaction, guarded at the moment of writing: doing it twice does it once.
#[async_trait]
pub trait Control: Send + Sync {
    /// Nothing more is claimed from the queue. Running jobs finish.
    async fn pause(&self, queue: &Name, because: Option<String>) -> StoreResult<bool>;

    /// Claims go on. False if it was not paused.
    async fn resume(&self, queue: &Name) -> StoreResult<bool>;

    /// Makes jobs ready now: dead letters (uncounting their failure, or running the stage that had closed over them
    /// again), cancelled, parked and scheduled ones. Attempts start anew, the resume point stays.
    async fn retry(&self, filter: JobFilter) -> StoreResult<Retried>;

    /// Wakes the jobs that are parked until a dependency is there, also those that would wake by themselves later.
    async fn unpark(&self, until: &str) -> StoreResult<u64>;

    /// Stops everything of a submission. Its jobs and reviews are kept, so that a retry can take them up again.
    async fn cancel_submission(&self, id: SubmissionId) -> StoreResult<Cancelled>;

    /// Gives one job up; its stage goes on without it. It stays among the dead letters and can be retried.
    async fn cancel_job(&self, id: JobId) -> StoreResult<bool>;

    /// Makes jobs that wait at least so urgent. Returns how many were less.
    async fn raise_priorities(&self, jobs: Vec<(JobId, i32)>) -> StoreResult<u64>;

    /// Gives a pending review to a person, who has it alone for as long as the review says; whoever has it already
    /// has it anew. False if somebody else was faster.
    async fn assign_review(&self, id: ReviewId, to: &str) -> StoreResult<bool>;

    /// Stores a version of a workflow. The same text again changes nothing; another text under a stored version is
    /// refused, because submissions are pinned to it.
    async fn put_workflow(&self, name: &Name, version: i64, text: &str) -> StoreResult<()>;
}

/// What people and processors see. Reads what was durable when the call began, or later.
#[async_trait]
pub trait Records: Send + Sync {
    async fn submission(&self, id: SubmissionId) -> StoreResult<Option<Submission>>;
    async fn find_submission(&self, external_id: &str) -> StoreResult<Option<Submission>>;
    async fn submissions(&self, filter: SubmissionFilter) -> StoreResult<Vec<Submission>>;

    async fn item(&self, submission: SubmissionId, id: ItemId) -> StoreResult<Option<Item>>;
    async fn find_item(&self, submission: SubmissionId, key: &str) -> StoreResult<Option<Item>>;
    /// In the order of their ids. A submission may have a million: `ItemPages` reads them page by page.
    async fn items(&self, submission: SubmissionId, filter: ItemFilter) -> StoreResult<Vec<Item>>;
    /// Kept, not counted.
    async fn item_counts(&self, submission: SubmissionId) -> StoreResult<ItemCounts>;

    /// The outcomes of a stage, or of all stages, in the order of their items.
    async fn outcomes(&self, submission: SubmissionId, stage: Option<&Name>) -> StoreResult<Vec<Outcome>>;
    /// Some of the outcomes of a stage, in the same order: whoever needs many takes them page by page.
    async fn outcome_page(&self, submission: SubmissionId, page: OutcomePage) -> StoreResult<Vec<Outcome>>;
    async fn item_outcomes(
        &self,
        submission: SubmissionId,
        item: Option<ItemId>,
        stage: &Name,
    ) -> StoreResult<Vec<Outcome>>;

    /// The result that work with this key can take over, of the newest submission that has one.
    async fn reusable_outcome(&self, key: ContentHash) -> StoreResult<Option<Outcome>>;

    async fn join(&self, id: JoinId) -> StoreResult<Option<Join>>;
    async fn joins(&self, submission: SubmissionId, filter: JoinFilter) -> StoreResult<Vec<Join>>;

    /// Rows for small blobs, where the database has some. [`LayeredBlobs`](crate::blobs::LayeredBlobs) puts them in front of
    /// the place for large ones.
    fn blob_rows(self: Arc<Self>) -> Option<Arc<dyn BlobRows>> {
        None
    }

    /// By its readable key.
    async fn artifact(&self, submission: SubmissionId, key: &str) -> StoreResult<Option<Artifact>>;
    /// Those behind a key, in the order of their keys.
    async fn artifacts(
        &self,
        submission: SubmissionId,
        after: Option<&str>,
        limit: usize,
    ) -> StoreResult<Vec<Artifact>>;

    async fn job(&self, id: JobId) -> StoreResult<Option<JobView>>;
    /// Each with the reason why it waits.
    async fn jobs(&self, filter: JobFilter) -> StoreResult<Vec<JobView>>;

    async fn reviews(&self, filter: ReviewFilter) -> StoreResult<Vec<Review>>;
    async fn review(&self, id: ReviewId) -> StoreResult<Option<Review>>;

    /// What is done and what waits, stage by stage (in no particular order).
    async fn stage_counts(&self, submission: SubmissionId) -> StoreResult<Vec<StageRow>>;

    async fn queues(&self) -> StoreResult<Vec<QueueView>>;
    async fn workers(&self) -> StoreResult<Vec<WorkerView>>;
    async fn consumers(&self) -> StoreResult<Vec<ConsumerView>>;

    async fn workflow(&self, name: &Name, version: Option<i64>) -> StoreResult<Option<StoredWorkflow>>;
    /// The newest version of each.
    async fn workflows(&self) -> StoreResult<Vec<StoredWorkflow>>;
}

/// A database: all together.
pub trait Store:
    Queue + Feed + Control + Records + Retention + Executions + Search + RowStore + Portable + fmt::Debug
{
}

impl<T: Queue + Feed + Control + Records + Retention + Executions + Search + RowStore + Portable + fmt::Debug> Store
    for T
{
}
