//! Events: what happened, append-only, written in the same transaction as the change that they report.

use crate::{EventSeq, ItemId, Name, SubmissionId, Timestamp};
use serde::Serialize;

/// The event types that the engine itself writes. Anybody may append others.
pub mod kind {
    pub const SUBMISSION_CREATED: &str = "SubmissionCreated";
    pub const DOCUMENT_UPLOADED: &str = "DocumentUploadedEvent";
    pub const DOCUMENT_PROCESSED: &str = "DocumentProcessedEvent";
    pub const DOCUMENT_FULLY_PROCESSED: &str = "DocumentFullyProcessedEvent";
    pub const SUBMISSION_DOCUMENTS_COMPLETE: &str = "SubmissionDocumentsCompleteEvent";
    pub const SUBMISSION_ANALYSIS_COMPLETE: &str = "SubmissionAnalysisCompleteEvent";
    pub const SUBMISSION_COMPLETED: &str = "SubmissionCompleted";
    pub const SUBMISSION_FAILED: &str = "SubmissionFailed";
    pub const SUBMISSION_CANCELLED: &str = "SubmissionCancelled";
    pub const SUBMISSION_REOPENED: &str = "SubmissionReopened";
    pub const SUBMISSION_HELD: &str = "SubmissionHeld";
    pub const SUBMISSION_RELEASED: &str = "SubmissionReleased";
    pub const SUBMISSION_EXPIRED: &str = "SubmissionExpired";
    pub const SUBMISSION_DELETED: &str = "SubmissionDeleted";
    pub const EXECUTIONS_DELETED: &str = "ExecutionsDeleted";
    pub const RETENTION_SWEPT: &str = "RetentionSwept";
    pub const OUTCOME_RECORDED: &str = "OutcomeRecorded";
    pub const STAGE_CLOSED: &str = "StageClosed";
    pub const JOB_RETRIED: &str = "JobRetried";
    pub const JOB_PARKED: &str = "JobParked";
    pub const JOB_DEAD_LETTERED: &str = "JobDeadLettered";
    pub const REVIEW_REQUESTED: &str = "ReviewRequested";
    pub const REVIEW_COMPLETED: &str = "ReviewCompleted";
    pub const RUN_STARTED: &str = "RunStarted";
    pub const RUN_COMPLETED: &str = "RunCompleted";
    pub const RUN_FAILED: &str = "RunFailed";
    pub const CIRCUIT_OPENED: &str = "CircuitOpened";
    pub const CIRCUIT_CLOSED: &str = "CircuitClosed";
    pub const DEADLINE_WARNING: &str = "DeadlineWarning";
    pub const DEADLINE_ESCALATED: &str = "DeadlineEscalated";
    pub const DEADLINE_BREACHED: &str = "DeadlineBreached";
}

/// An event about to be appended.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    pub kind: Name,
    pub submission: Option<SubmissionId>,
    pub item: Option<ItemId>,
    /// The submission's id as its sender knows it, where that is not ours.
    pub subject: Option<Name>,
    /// A unique id. Appending a second event with the same one changes nothing. Without one, the id is made from the
    /// event's position.
    pub id: Option<String>,
    /// When it happened; the time of the commit if not said.
    pub at: Option<Timestamp>,
    /// A JSON value.
    pub data: String,
}

impl NewEvent {
    pub fn new(kind: impl Into<Name>, submission: Option<SubmissionId>, data: String) -> Self {
        Self { kind: kind.into(), submission, item: None, subject: None, id: None, at: None, data }
    }
}

/// A stored event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub seq: EventSeq,
    pub kind: Name,
    pub submission: Option<SubmissionId>,
    pub item: Option<ItemId>,
    pub subject: Option<Name>,
    pub id: Option<String>,
    pub at: Timestamp,
    pub data: String,
}

impl Event {
    /// The id outside: the appender's own, or the position.
    pub fn public_id(&self) -> String {
        self.id.clone().unwrap_or_else(|| self.seq.to_string())
    }

    /// The envelope on the wire. Data that is not JSON (which the store never accepts) would come out as a string.
    pub fn envelope(&self) -> Envelope {
        let submission_id =
            self.subject.as_ref().map(ToString::to_string).or_else(|| self.submission.map(|id| id.to_string()));
        Envelope {
            id: self.public_id(),
            position: self.seq.raw(),
            event_type: self.kind.clone(),
            submission_id,
            timestamp: self.at,
            data: serde_json::from_str(&self.data).unwrap_or_else(|_| serde_json::Value::String(self.data.clone())),
        }
    }
}

/// An event as the outside sees it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    pub id: String,
    /// Where to go on reading after this event.
    pub position: i64,
    pub event_type: Name,
    pub submission_id: Option<String>,
    pub timestamp: Timestamp,
    pub data: serde_json::Value,
}
