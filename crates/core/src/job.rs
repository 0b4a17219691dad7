//! Jobs: durable queue rows, and the honest answer to "why does it wait?".

use crate::{
    ItemId, JobId, JoinId, Name, Payload, SubmissionId, Timestamp,
    error::ErrorClass,
    outcome::{ResumePoint, Step},
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The queue of the engine's own small jobs, which go on after a join. They are not work of a stage.
pub const ENGINE_QUEUE: &str = "q.engine";

/// Queues whose names begin so are claimed only by those who name them: their jobs need what few processes have, such as
/// a mail program. Whoever claims from every queue leaves them alone.
pub const ONLY_BY_NAME: &str = "q.only.";

/// The proof of one claim. Every claim draws a fresh one, so a worker that lost its lease cannot commit. Jobs that are
/// claimed together may share theirs; no job is ever given the same one twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Token(pub i64);

/// Where a live job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// May be claimed now.
    Ready = 0,
    /// May be claimed once its time has come.
    Scheduled = 1,
    /// Claimed, under a lease.
    Running = 2,
    /// Waits for a dependency; at the latest until its time, where it has one.
    Parked = 3,
    /// Waits for a program outside to report its result.
    Awaiting = 4,
    /// Given up; kept with its reason so that a person can run it again.
    Dead = 5,
    /// Stopped by a person; kept so that it can be taken up again.
    Cancelled = 6,
}

impl JobState {
    pub const ALL: [Self; 7] =
        [Self::Ready, Self::Scheduled, Self::Running, Self::Parked, Self::Awaiting, Self::Dead, Self::Cancelled];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Scheduled => "scheduled",
            Self::Running => "running",
            Self::Parked => "parked",
            Self::Awaiting => "awaiting",
            Self::Dead => "dead",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn from_code(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|state| *state as i64 == code)
    }

    pub fn from_name(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// The job will still run by itself, so it holds its dedup key.
    pub const fn is_live(self) -> bool {
        !matches!(self, Self::Dead | Self::Cancelled)
    }
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How many jobs that share a key may run at once, and how many may start in a minute.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Limit {
    pub key: Name,
    pub running: Option<u32>,
    pub per_minute: Option<u32>,
}

/// A job about to be stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewJob {
    pub queue: Name,
    pub submission: SubmissionId,
    /// None: the work is on the submission as a whole.
    pub item: Option<ItemId>,
    pub stage: Name,
    pub processor: Name,
    /// The join that this chain of work ends in.
    pub join: Option<JoinId>,
    /// Greater is sooner.
    pub priority: i32,
    pub not_before: Option<Timestamp>,
    /// At most one live job has this key: a second enqueue merges into the first.
    pub dedup_key: Option<String>,
    pub limit: Option<Limit>,
    /// Set for work done by a program outside: how long to wait for its report, in milliseconds.
    pub await_report_ms: Option<i64>,
    pub payload: Payload,
    /// Where to begin, when an earlier run got further than the start.
    pub resume: Option<ResumePoint>,
}

impl NewJob {
    /// A plain job on a queue; set what else it needs on the value.
    pub fn new(
        queue: impl Into<Name>,
        submission: SubmissionId,
        stage: impl Into<Name>,
        processor: impl Into<Name>,
    ) -> Self {
        Self {
            queue: queue.into(),
            submission,
            item: None,
            stage: stage.into(),
            processor: processor.into(),
            join: None,
            priority: 0,
            not_before: None,
            dedup_key: None,
            limit: None,
            await_report_ms: None,
            payload: Payload::null(),
            resume: None,
        }
    }
}

/// What went wrong, as it is kept with a job or an outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorRecord {
    pub class: ErrorClass,
    /// A stable short name, such as `Timeout`.
    pub kind: String,
    pub message: String,
    pub step: Option<Step>,
}

/// A stored job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Job {
    pub id: JobId,
    pub queue: Name,
    pub submission: SubmissionId,
    pub item: Option<ItemId>,
    pub stage: Name,
    pub processor: Name,
    pub join: Option<JoinId>,
    pub priority: i32,
    pub state: JobState,
    /// While it runs, the number of the attempt that is under way; else, how many attempts have ended since it was last
    /// made afresh. One that was cut off by the death of its worker does not count.
    pub attempt: u32,
    /// How many workers have died while they ran it and nothing else.
    pub losses: u32,
    /// Whether a worker died while it held this job: it then runs apart from other work until a run of it has ended.
    pub suspect: bool,
    /// When a scheduled job becomes ready, and a parked one that does not wait for ever.
    pub run_at: Option<Timestamp>,
    /// When a running job's lease, or the wait for a report, ends.
    pub lease_until: Option<Timestamp>,
    pub worker: Option<Name>,
    pub dedup_key: Option<String>,
    pub limit: Option<Limit>,
    pub await_report_ms: Option<i64>,
    pub payload: Payload,
    pub resume: Option<ResumePoint>,
    /// How many children a fan-out that goes in several commits has made so far.
    pub cursor: i64,
    /// The last error, or why it is parked or cancelled.
    pub error: Option<ErrorRecord>,
    pub created_at: Timestamp,
    /// When it was last claimed to be run.
    #[serde(skip_serializing)]
    pub claimed_at: Option<Timestamp>,
    /// When it was last given up.
    #[serde(skip_serializing)]
    pub ended_at: Option<Timestamp>,
}

/// A job together with the proof that the caller holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedJob {
    pub job: Job,
    pub token: Token,
    /// An awaited report did not come in time: the claimer decides what to do about it.
    pub report_overdue: bool,
}

/// Why a job is not running, in words that a person can act on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum WaitReason {
    Running {
        worker: Option<Name>,
    },
    NoWorkerYet {
        ahead: u64,
    },
    QueuePaused {
        queue: Name,
    },
    /// A worker died while it held the job: it runs apart from other work.
    Suspect {
        losses: u32,
    },
    LimitReached {
        key: Name,
        running: u64,
    },
    Later {
        at: Option<Timestamp>,
        because: Option<String>,
    },
    Parked {
        because: String,
        /// When it tries by itself; none: only once somebody says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        at: Option<Timestamp>,
    },
    Report {
        until: Option<Timestamp>,
    },
    Dead {
        because: String,
    },
    Cancelled,
}

impl fmt::Display for WaitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Running { worker: Some(worker) } => write!(f, "running on {worker}"),
            Self::Running { worker: None } => write!(f, "running"),
            Self::NoWorkerYet { ahead: 0 } => write!(f, "next in line, waits for a free worker"),
            Self::NoWorkerYet { ahead } => write!(f, "waits for a free worker behind {ahead} other jobs"),
            Self::QueuePaused { queue } => write!(f, "queue {queue} is paused; `bindery resume {queue}` goes on"),
            Self::Suspect { losses: 0 } => {
                write!(f, "its worker died; waits for a worker that does nothing else meanwhile")
            }
            Self::Suspect { losses } => {
                let times = if *losses == 1 { "once".to_owned() } else { format!("{losses} times") };
                write!(
                    f,
                    "its worker died {times} while it ran alone; waits for a worker that does nothing else meanwhile"
                )
            }
            Self::LimitReached { key, running } => write!(f, "limit {key} is reached ({running} running)"),
            Self::Later { at, because } => {
                match at {
                    Some(at) => write!(f, "not before {at}")?,
                    None => write!(f, "later")?,
                }
                because.as_ref().map_or(Ok(()), |because| write!(f, ", after: {because}"))
            }
            Self::Parked { because, at: None } => write!(f, "parked: {because}"),
            Self::Parked { because, at: Some(at) } => write!(f, "parked until {at}: {because}"),
            Self::Report { until: Some(until) } => write!(f, "waits for an outside processor to report, until {until}"),
            Self::Report { until: None } => write!(f, "waits for an outside processor to report"),
            Self::Dead { because } => write!(f, "given up: {because}"),
            Self::Cancelled => write!(f, "cancelled"),
        }
    }
}
