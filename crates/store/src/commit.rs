//! One commit per finished job: everything that a piece of work causes, as one value.
//!
//! A [`Commit`] is a [`Guard`] and the [`Changes`] that follow if the guard holds *at the moment of writing*. Guard and
//! changes are one transaction: there is no moment at which a crash loses or repeats an effect. The guard is also the
//! token that a join counts by: it can hold only once, so a duplicate or late delivery changes nothing.

use bindery_core::{
    EventSeq, ItemId, JobId, JoinId, Name, ReviewId, SubmissionId, Timestamp,
    artifact::Artifact,
    event::NewEvent,
    item::Item,
    job::{ErrorRecord, NewJob, Token},
    join::{JoinStep, NewJoin},
    outcome::{Outcome, ResumePoint},
    review::NewReview,
    submission::{NewSubmission, SubmissionStatus},
};

/// What must be true for the changes to be made.
#[derive(Debug, Clone, PartialEq)]
pub enum Guard {
    /// The caller still holds its claim on the job; the job then ends as said.
    Claim { job: JobId, token: Token, end: JobEnd },
    /// This work is still awaited from a program outside; the waiting job is removed.
    Report { submission: SubmissionId, item: Option<ItemId>, stage: Name, processor: Name },
    /// The outcome is `failed`: a late success may still replace it (and its dead letter), but is not counted again.
    LateReport { submission: SubmissionId, item: Option<ItemId>, stage: Name, processor: Name },
    /// The review is open, and not assigned to somebody other than `by`; it is then completed.
    Review { review: ReviewId, by: Option<String> },
    /// No submission has the external id of the first new submission in the changes.
    NewSubmission,
    /// The submission has no item with the key of the first item in the changes.
    NewItem,
    /// Nothing to check.
    Always,
}

/// How a claimed job ends.
#[derive(Debug, Clone, PartialEq)]
pub enum JobEnd {
    /// Finished: the row goes away, or starts afresh if its dedup key was enqueued again meanwhile.
    Done,
    /// Try again at `at`.
    Retry { at: Timestamp, error: ErrorRecord, resume: Option<ResumePoint> },
    /// Wait for `until`, a dependency; the attempt does not count.
    Park { until: String, error: ErrorRecord, resume: Option<ResumePoint> },
    /// Given up; kept for a person.
    Dead { error: ErrorRecord, resume: Option<ResumePoint> },
    /// Not finished: `cursor` children are made so far, more than before, and the claim goes on.
    Continue { cursor: i64 },
    /// Wait (again) for an outside report until `until`.
    Await { until: Timestamp, error: Option<ErrorRecord> },
}

/// A change of a submission's own row.
#[derive(Debug, Clone, PartialEq)]
pub struct SubmissionChange {
    pub id: SubmissionId,
    /// Only ever moves forward; a final status stays.
    pub status: SubmissionStatus,
    pub error: Option<String>,
}

/// Everything that follows. Applied in the order of the fields.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Changes {
    pub submissions: Vec<NewSubmission>,
    /// New items; one that exists already under its id is updated.
    pub items: Vec<Item>,
    /// Items that a repeated stage did not make again; they go with their outcomes, jobs and reviews.
    pub removed_items: Vec<(SubmissionId, ItemId)>,
    pub artifacts: Vec<Artifact>,
    /// Current results; each replaces the one before it.
    pub outcomes: Vec<Outcome>,
    pub reviews: Vec<NewReview>,
    pub jobs: Vec<NewJob>,
    pub submission_changes: Vec<SubmissionChange>,
    pub events: Vec<NewEvent>,
    /// New joins, then steps; a join that becomes full closes and enqueues its job.
    pub joins: Vec<NewJoin>,
    pub join_steps: Vec<JoinStep>,
}

/// A guard and what follows.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    pub guard: Guard,
    pub changes: Changes,
}

impl Commit {
    /// Changes without a condition.
    pub fn always(changes: Changes) -> Self {
        Self { guard: Guard::Always, changes }
    }
}

/// How a join stands after a step of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinProgress {
    pub join: JoinId,
    pub received: i64,
    pub expected: i64,
    /// This step closed it.
    pub closed: bool,
}

/// What became of a commit.
#[derive(Debug, Clone, PartialEq)]
pub enum CommitResult {
    /// Stored, all of it.
    Applied { joins: Vec<JoinProgress> },
    /// The guard did not hold; nothing was stored.
    Rejected(Rejection),
}

impl CommitResult {
    pub const fn is_applied(&self) -> bool {
        matches!(self, Self::Applied { .. })
    }
}

/// Why a guard did not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("the lease was lost: somebody else has the job now, or it was cancelled")]
    LeaseLost,
    #[error("no such report is awaited (any more)")]
    NotAwaited,
    #[error("there is no failed outcome that this could replace")]
    NotFailed,
    #[error("the review is closed, or assigned to somebody else")]
    ReviewClosed,
    #[error("it exists already as {0}")]
    AlreadyExists(SubmissionId),
    #[error("it exists already as {0}")]
    ItemExists(ItemId),
}

/// What became of a consumer's commit.
#[derive(Debug, Clone, PartialEq)]
pub enum FeedCommit {
    /// Position and effects are stored. Each effect has its own result: a rejected one was a duplicate.
    Applied(Vec<CommitResult>),
    /// Another instance of this consumer was faster and is at `at` now; nothing was stored.
    Moved { at: EventSeq },
}

/// What became of one enqueued job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enqueued {
    New(JobId),
    /// A live job has the same dedup key: it took the newer payload, the greater priority and the earlier time.
    Merged(JobId),
    /// A running job has the same dedup key: it will run once more when it has finished.
    MarkedDirty(JobId),
}
