//! A workflow as the engine uses it: every default filled in, every rule of [`check`](super) held.

use super::result_shape::ResultShape;
pub use super::retention::Retention;
use bindery_core::{Backoff, Name, item::ItemKind, submission::SubmissionStatus};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, fmt, time::Duration};

/// A versioned list of stages that a submission passes in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Workflow {
    pub name: Name,
    pub description: String,
    /// A submission keeps the version it started with.
    pub version: i64,
    pub sla: Option<Sla>,
    /// How long its submissions are kept, part by part.
    pub retention: Retention,
    /// Never empty.
    pub stages: Vec<Stage>,
    /// The fields to read from each type of document.
    pub extraction_schemas: BTreeMap<String, ExtractionSchema>,
}

/// How long a submission may take, counted from its reception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sla {
    pub deadline: Duration,
    /// At this share of the deadline a warning is given.
    pub warn_threshold_pct: u8,
    /// At this share of the deadline the submission's work is moved to the front.
    pub escalation_threshold_pct: u8,
}

impl Sla {
    pub const DEFAULT_WARN_PCT: u8 = 70;
    pub const DEFAULT_ESCALATION_PCT: u8 = 90;
}

/// What a stage runs once for, from coarse to fine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Over {
    Submission,
    File,
    Document,
    Page,
}

impl Over {
    pub const ALL: [Self; 4] = [Self::Submission, Self::File, Self::Document, Self::Page];

    /// None for the submission, which is no item.
    pub const fn item_kind(self) -> Option<ItemKind> {
        match self {
            Self::Submission => None,
            Self::File => Some(ItemKind::File),
            Self::Document => Some(ItemKind::Document),
            Self::Page => Some(ItemKind::Page),
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Submission => "submission",
            Self::File => "file",
            Self::Document => "document",
            Self::Page => "page",
        }
    }
}

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One step of a workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// Unique in its workflow; positions are resolved by it alone.
    pub name: Name,
    pub component: Name,
    /// Unique in its workflow; the workflow and the stage where it is not written, so that no other workflow has it.
    pub routing_key: Name,
    pub over: Over,
    /// Never empty.
    pub processors: Vec<StageProcessor>,
    pub timeout: Duration,
    pub max_attempts: u32,
    /// How many workers may die while they run one job of the stage and nothing else, before it is given up.
    pub max_worker_losses: u32,
    pub backoff: Backoff,
    pub parallel: bool,
    pub limits: Option<StageLimits>,
    /// A result below it goes to a person; a result equal to it passes.
    pub confidence_threshold: Option<f64>,
    pub backoffice_queue: Option<Name>,
    pub on_review: OnReview,
    /// How long a person may keep a review without deciding.
    pub review_timeout: Duration,
    pub aggregation: Option<Aggregation>,
    /// What the submission's status becomes when this stage begins.
    pub status: Option<SubmissionStatus>,
    pub complete_when: CompleteWhen,
    pub runner: StageRunner,
    /// What a processor in a process of its own may take, in bytes.
    pub memory: Option<u64>,
    /// What a result of a program outside must have.
    pub result: ResultShape,
    /// Handed to the processors as it is.
    pub settings: Map<String, Value>,
}

impl Stage {
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
    pub const DEFAULT_MAX_ATTEMPTS: u32 = 3;
    pub const DEFAULT_MAX_WORKER_LOSSES: u32 = 10;
    pub const DEFAULT_REVIEW_TIMEOUT: Duration = Duration::from_secs(120);

    /// The queue that the stage's work waits in.
    pub fn queue(&self) -> Name {
        Name::from(format!("q.{}", self.component))
    }

    pub fn processor(&self, name: &str) -> Option<&StageProcessor> {
        self.processors.iter().find(|processor| processor.name == *name)
    }

    /// Whether what comes from an earlier stage does not go through this one in one piece.
    pub(super) fn takes_apart(&self, earlier: &Self) -> bool {
        self.over != earlier.over || self.processors.len() > 1
    }

    /// How long one attempt of this processor may take.
    pub fn timeout_of(&self, processor: &StageProcessor) -> Duration {
        processor.timeout.unwrap_or(self.timeout)
    }

    /// How many attempts this processor has.
    pub fn max_attempts_of(&self, processor: &StageProcessor) -> u32 {
        processor.max_attempts.unwrap_or(self.max_attempts)
    }
}

/// Where a worker runs a stage's processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StageRunner {
    /// Those that are declared risky in processes of their own, the others on threads of the worker.
    #[default]
    Auto,
    Threads,
    Processes,
}

impl StageRunner {
    pub const ALL: [Self; 3] = [Self::Auto, Self::Threads, Self::Processes];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Threads => "threads",
            Self::Processes => "processes",
        }
    }
}

/// A processor that a stage runs on each of its items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageProcessor {
    pub name: Name,
    /// A program outside does the work and reports its result.
    pub external: bool,
    /// Instead of the stage's.
    pub timeout: Option<Duration>,
    /// Instead of the stage's.
    pub max_attempts: Option<u32>,
}

/// How much of a stage may run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageLimits {
    pub concurrency: Option<u32>,
    pub rate_per_minute: Option<u32>,
    pub per: LimitPer,
}

/// Who shares a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LimitPer {
    /// All work of the stage.
    #[default]
    Stage,
    /// Each submission has its own.
    Submission,
    /// Each owner has its own.
    Owner,
}

/// A stage that waits for the parts before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aggregation {
    /// What is completed: the submission or each file.
    pub scope: Over,
    /// The parts that are waited for; always finer than `scope`.
    pub counts: Over,
    pub on_failed: OnFailed,
}

/// What a failed part does to the stage that waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnFailed {
    /// The stage runs with what arrived.
    #[default]
    Continue,
    /// The stage fails.
    Fail,
}

/// What becomes of an item while a person is asked about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnReview {
    /// It waits for the answer.
    #[default]
    Wait,
    /// It goes on with what there is. The answer makes what came after it run again.
    Continue,
}

/// When an item with several processors counts as completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CompleteWhen {
    /// At least one processor completed.
    #[default]
    Any,
    /// All processors completed.
    All,
}

/// The fields of one type of document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExtractionSchema {
    pub fields: Vec<FieldSchema>,
}

/// A field to read from a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldSchema {
    pub name: String,
    pub field_type: FieldType,
    pub required: bool,
}

/// What a field's value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldType {
    String,
    Integer,
    Decimal,
    Boolean,
    Date,
    DateTime,
}

impl FieldType {
    pub const ALL: [Self; 6] = [Self::String, Self::Integer, Self::Decimal, Self::Boolean, Self::Date, Self::DateTime];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Decimal => "decimal",
            Self::Boolean => "boolean",
            Self::Date => "date",
            Self::DateTime => "datetime",
        }
    }
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
