//! One commit per finished job: everything that a piece of work causes, as one value.
//!
//! A [`Commit`] is a [`Guard`] and the [`Changes`] that follow if the guard holds *at the moment of writing*. Guard and
//! changes are one transaction: there is no moment at which a crash loses or repeats an effect. The guard is also the
//! token that a join counts by: it can hold only once, so a duplicate or late delivery changes nothing.

use crate::blobs::HashedBytes;
use bindery_core::{
    EventSeq, ItemId, JobId, JoinId, Name, ReviewId, SubmissionId,
    artifact::Artifact,
    event::NewEvent,
    item::Item,
    job::{ErrorRecord, NewJob, Token},
    join::{JoinStep, NewJoin},
    outcome::{Outcome, ResumePoint},
    review::{Decision, NewReview},
    submission::{NewSubmission, SubmissionStatus},
};
use std::time::Duration;

/// What must be true for the changes to be made.
#[derive(Debug, Clone, PartialEq)]
pub enum Guard {
    /// The caller still holds its claim on the job; the job then ends as said.
    Claim { job: JobId, token: Token, end: JobEnd },
    /// This work is still awaited from a program outside; the waiting job is removed.
    Report { submission: SubmissionId, item: Option<ItemId>, stage: Name, processor: Name },
    /// The outcome is `failed`: a late success may still replace it (and its dead letter), but is not counted again.
    LateReport { submission: SubmissionId, item: Option<ItemId>, stage: Name, processor: Name },
    /// The review is open, and nobody other than `by` has it; it is then completed with this decision.
    Review { review: ReviewId, by: Option<String>, decision: Decision },
    /// The current result of this work is still this one: nobody else has changed it.
    Unchanged(Box<Outcome>),
    /// No submission has the external id of the first new submission in the changes.
    NewSubmission,
    /// The submission has no item with the key of the first item in the changes.
    NewItem,
    /// Nothing to check.
    Always,
}

/// How a claimed job ends. Waits are lengths and not moments: they are counted by the store's clock, whatever the time is
/// at the worker's.
#[derive(Debug, Clone, PartialEq)]
pub enum JobEnd {
    /// Finished: the row goes away, or starts afresh if its dedup key was enqueued again meanwhile.
    Done,
    /// Try again after a while; the attempt counts.
    Retry { after: Duration, error: ErrorRecord, resume: Option<ResumePoint> },
    /// Wait for `until`, a dependency, or for this long, whichever ends first; the attempt does not count.
    Park { until: String, after: Option<Duration>, error: ErrorRecord, resume: Option<ResumePoint> },
    /// Given up; kept for a person. The attempt counts.
    Dead { error: ErrorRecord, resume: Option<ResumePoint> },
    /// Not finished: `cursor` children are made so far, more than before, and the claim goes on.
    Continue { cursor: i64 },
    /// Nothing ends: the changes are stored because the claim is held, and it goes on. With `has_advanced` a part of the
    /// work is done for good, and attempts and losses are counted anew: a job that gets on does not kill its workers.
    Hold { has_advanced: bool },
    /// Wait (again) for an outside report for this long; the attempt counts.
    Await { within: Duration, error: Option<ErrorRecord> },
}

impl JobEnd {
    /// Whether the run goes on with what it has begun. What was enqueued under the job's key meanwhile then waits until it
    /// does not: it takes the place of the older payload, or runs once more, with the first end of the run.
    pub const fn run_goes_on(&self) -> bool {
        match self {
            Self::Continue { .. } | Self::Hold { .. } => true,
            Self::Done | Self::Retry { .. } | Self::Park { .. } | Self::Dead { .. } | Self::Await { .. } => false,
        }
    }
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
    /// What the rows that follow name. Only for a store that has [rows for blobs](crate::Records::blob_rows).
    pub blobs: Vec<HashedBytes>,
    pub submissions: Vec<NewSubmission>,
    /// New items; one that exists already under its id is updated.
    pub items: Vec<Item>,
    /// Items that a repeated stage did not make again; they go with their outcomes, jobs and reviews.
    pub removed_items: Vec<(SubmissionId, ItemId)>,
    /// Items that a repeated stage has made again: what was under way on them, and what was asked, is taken back. The
    /// joins that it would have ended in do not expect it any more.
    pub restarted_items: Vec<(SubmissionId, ItemId)>,
    pub artifacts: Vec<Artifact>,
    /// Current results; each replaces the one before it.
    pub outcomes: Vec<Outcome>,
    /// Open reviews about these outcomes that no chain waits for are superseded.
    pub supersedes_reviews: bool,
    /// A chain that had gone on earlier begins again with these changes.
    pub again: Option<Again>,
    pub reviews: Vec<NewReview>,
    pub jobs: Vec<NewJob>,
    pub submission_changes: Vec<SubmissionChange>,
    pub events: Vec<NewEvent>,
    /// New joins, then steps; a join that becomes full closes and enqueues its job.
    pub joins: Vec<NewJoin>,
    pub join_steps: Vec<JoinStep>,
}

/// The chain of an item that ends in a join, begun again after it has gone on. Whatever is left of it is taken back, and
/// the join expects it once more. Where the join has closed, one of the next generation takes its place, in the jobs,
/// steps and joins of the same changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Again {
    pub submission: SubmissionId,
    pub item: Option<ItemId>,
    pub join: JoinId,
}

impl Changes {
    /// The same with another join at the end of the chain.
    #[must_use]
    pub(crate) fn ending_in(mut self, old: JoinId, new: JoinId) -> Self {
        let renew = |join: &mut Option<JoinId>| {
            if *join == Some(old) {
                *join = Some(new);
            }
        };
        self.jobs.iter_mut().for_each(|job| renew(&mut job.join));
        for join in &mut self.joins {
            renew(&mut join.outer);
            renew(&mut join.on_close.join);
        }
        self.join_steps.iter_mut().filter(|step| step.join == old).for_each(|step| step.join = new);
        self.reviews.iter_mut().for_each(|review| renew(&mut review.join));
        self.join_steps.sort_by_key(|step| step.join);
        self
    }
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
    #[error("the result was changed by somebody else meanwhile")]
    Changed,
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
