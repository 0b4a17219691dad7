//! What can be asked of a store, and what it answers with.

use crate::lease::CLOCK_TOLERANCE;
use bindery_core::{
    ContentHash, EventSeq, ItemId, JobId, JoinId, Name, ReviewId, SubmissionId, Timestamp,
    job::{Job, JobState, WaitReason},
    outcome::{Outcome, OutcomeStatus},
    progress::StageCounts,
    review::ReviewStatus,
    submission::SubmissionStatus,
};
use serde::Serialize;
use std::{collections::BTreeMap, time::Duration};

/// Kinds of ids that callers draw ahead of the commit that uses them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IdKind {
    Submission,
    Item,
    Join,
    /// Of texts that can be searched.
    Chunk,
}

impl IdKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Submission => "submission",
            Self::Item => "item",
            Self::Join => "join",
            Self::Chunk => "chunk",
        }
    }
}

/// Who wants how much work.
#[derive(Debug, Clone)]
pub struct ClaimRequest {
    pub worker: Name,
    /// None: from every queue.
    pub queues: Option<Vec<Name>>,
    /// Only work of these submissions; None: of all. The usual claim, of all, is the fast one.
    pub submissions: Option<Vec<SubmissionId>>,
    pub max: usize,
    /// How long the claims hold without a heartbeat.
    pub lease: Duration,
    /// Whether the claimer runs the jobs, so that an attempt is under way. One that only carries them to somebody else
    /// does not: that one [adopts](crate::store::Queue::adopt) them.
    pub counts: bool,
}

/// Which jobs that wait for an outside report are to be told about.
#[derive(Debug, Clone)]
pub struct AnnounceRequest {
    /// None: from every queue.
    pub queues: Option<Vec<Name>>,
    pub max: usize,
    /// When they are due again, unless [`announced`](crate::store::Queue::announced) says otherwise.
    pub again_after: Duration,
}

/// When a job is announced again whose message is known to be with somebody: not before its time limit is over, and it is
/// awaited anew. The last moment of the year 9999.
pub(crate) const DELIVERED: i64 = 253_402_300_799_999;

/// What a broker says about a queue from which programs outside take their work, in the order in which it was announced.
#[derive(Debug, Clone)]
pub struct Undelivered {
    pub queue: Name,
    /// How many messages lie in it that nobody has taken.
    pub ready: u64,
    /// The [last announcement](crate::store::Queue::last_announced) before the broker was asked: those after it are not
    /// among the messages that it has counted.
    pub until: Timestamp,
    /// How long an announcement may be on its way to the broker: what is due again sooner is not judged.
    pub publishing: Duration,
    /// How far beyond its own limit the report of an undelivered job is due.
    pub hold: Duration,
}

/// What a sweep found and did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Swept {
    /// Jobs whose worker stopped answering, given back.
    pub leases_expired: u64,
    /// Parked jobs whose time has come, made ready.
    pub parked_woken: u64,
    /// Outside reports that did not come in time.
    pub reports_overdue: u64,
    pub deadlines_warned: u64,
    pub deadlines_escalated: u64,
    pub deadlines_breached: u64,
}

/// Which jobs are meant. Empty fields mean all.
#[derive(Debug, Clone, Default)]
pub struct JobFilter {
    pub ids: Vec<JobId>,
    pub submission: Option<SubmissionId>,
    pub item: Option<ItemId>,
    pub queue: Option<Name>,
    pub stage: Option<Name>,
    pub states: Vec<JobState>,
    /// None: no limit.
    pub limit: Option<usize>,
}

/// A job with the reason why it waits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobView {
    #[serde(flatten)]
    pub job: Job,
    pub reason: WaitReason,
}

/// Which events are meant.
#[derive(Debug, Clone, Default)]
pub struct EventFilter {
    pub kinds: Vec<Name>,
    pub submission: Option<SubmissionId>,
}

/// Which submissions are meant.
#[derive(Debug, Clone, Default)]
pub struct SubmissionFilter {
    pub statuses: Vec<SubmissionStatus>,
    /// How they came in, exactly; None: in any way.
    pub channel: Option<String>,
    /// Newest first; None: no limit.
    pub limit: Option<usize>,
}

/// Which reviews are meant.
#[derive(Debug, Clone, Default)]
pub struct ReviewFilter {
    pub submission: Option<SubmissionId>,
    pub item: Option<ItemId>,
    pub statuses: Vec<ReviewStatus>,
    pub queue: Option<Name>,
    /// Those that ask about this content.
    pub subject: Option<ContentHash>,
    /// Those that ask for all of these.
    pub skills: Vec<Name>,
    /// Those behind this one, the oldest first; None: the greatest priority first, then the oldest.
    pub after: Option<ReviewId>,
    /// None: no limit.
    pub limit: Option<usize>,
}

/// Whose parts a join collects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinScope {
    Submission,
    Item(ItemId),
}

impl From<Option<ItemId>> for JoinScope {
    fn from(item: Option<ItemId>) -> Self {
        item.map_or(Self::Submission, Self::Item)
    }
}

impl JoinScope {
    pub(crate) const fn item(self) -> Option<ItemId> {
        match self {
            Self::Submission => None,
            Self::Item(item) => Some(item),
        }
    }
}

/// Which joins of a submission are meant, in the order of their ids. Empty fields mean all.
#[derive(Debug, Clone, Default)]
pub struct JoinFilter {
    pub stage: Option<Name>,
    pub scope: Option<JoinScope>,
    /// Only those whose chains go on to this one.
    pub outer: Option<JoinId>,
    /// Only those that wait for repaired parts.
    pub repaired: bool,
    pub after: Option<JoinId>,
    /// None: no limit. A submission may have a million: `JoinPages` reads them page by page.
    pub limit: Option<usize>,
}

/// The counts of one stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageRow {
    pub stage: Name,
    pub counts: StageCounts,
}

/// How many items of each kind a submission has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ItemCounts {
    pub files: u64,
    pub pages: u64,
    pub documents: u64,
}

/// A queue as people see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QueueView {
    pub queue: Name,
    pub paused: bool,
    pub paused_because: Option<String>,
    pub ready: u64,
    pub scheduled: u64,
    pub running: u64,
    pub parked: u64,
    pub awaiting: u64,
    pub dead: u64,
    /// When the ready job was made that waits longest.
    pub oldest_ready_at: Option<Timestamp>,
}

/// A worker process that has given a sign of life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkerView {
    pub worker: Name,
    pub started_at: Timestamp,
    pub seen_at: Timestamp,
    /// When it stopped as it should; none while it works, and for one that has died.
    pub left_at: Option<Timestamp>,
    pub running: u64,
    pub finished: u64,
}

impl WorkerView {
    /// How far its clock is, or was, ahead of this time; none where clocks agree as well as they do. When it was last seen
    /// is not known then.
    pub fn clock_ahead(&self, now: Timestamp) -> Option<Duration> {
        let ahead = self.seen_at.since(now);
        (ahead > Duration::from_millis(CLOCK_TOLERANCE.unsigned_abs())).then_some(ahead)
    }
}

/// A consumer of the feed and how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConsumerView {
    pub consumer: Name,
    pub position: EventSeq,
    pub updated_at: Timestamp,
}

/// A stored version of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredWorkflow {
    pub name: Name,
    pub version: i64,
    pub text: String,
    pub stored_at: Timestamp,
}

/// What a retry asked for by a person did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Retried {
    pub jobs: u64,
    /// Submissions that were final and are at work again.
    pub reopened: u64,
}

/// What a cancellation did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Cancelled {
    pub jobs: u64,
    pub reviews: u64,
    /// False when the submission was final already.
    pub changed: bool,
}

/// Which items are meant.
#[derive(Debug, Clone, Default)]
pub struct ItemFilter {
    pub kind: Option<bindery_core::item::ItemKind>,
    pub parent: Option<ItemId>,
    /// None: any.
    pub ids: Option<Vec<ItemId>>,
    /// Only those behind this one: the last of the page before.
    pub after: Option<ItemId>,
    /// None: no limit.
    pub limit: Option<usize>,
}

/// A page of a stage's outcomes, in the order of their items and processors.
#[derive(Debug, Clone)]
pub struct OutcomePage {
    pub stage: Name,
    /// None: whatever they came to.
    pub status: Option<OutcomeStatus>,
    /// Only of these items; None: of any.
    pub items: Option<Vec<ItemId>>,
    /// The place of the last outcome of the page before.
    pub after: Option<OutcomePlace>,
    pub limit: usize,
}

impl OutcomePage {
    /// The first page.
    pub const fn first(stage: Name, limit: usize) -> Self {
        Self { stage, status: None, items: None, after: None, limit }
    }
}

/// The cursor of an [`OutcomePage`]: where an outcome stands in the order of its stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomePlace {
    pub item: Option<ItemId>,
    pub processor: Name,
}

impl From<&Outcome> for OutcomePlace {
    fn from(outcome: &Outcome) -> Self {
        Self { item: outcome.item, processor: outcome.processor.clone() }
    }
}

/// What a unit of work asks the queue about standing submissions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueueQuery {
    /// External ids of submissions.
    pub submissions: Vec<String>,
    /// Keys under which dead letters of those submissions are wanted.
    pub dedup_keys: Vec<String>,
}

/// What the queue answers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueueRows {
    /// The submissions that are there, by their external ids.
    pub submissions: BTreeMap<String, SubmissionId>,
    /// The oldest first.
    pub dead_letters: Vec<DeadLetter>,
}

/// A job that failed for good, and keeps its row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    pub job: JobId,
    pub dedup_key: String,
    /// None where it is kept as a blob.
    pub payload: Option<String>,
}
