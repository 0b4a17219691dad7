//! Jobs about meetings and matters, on the engine's queue.
//!
//! Every job of the engine belongs to a submission. Each jurisdiction has one that never ends, `civic:{city_key}`, which is
//! made with its first job. A meeting or matter has at most one live job: a second wish joins the first, or makes it run
//! once more if it is running. A job that was given up stays so until there is something new to read, or a person wants
//! it ([`CivicJob::forced`]).
//!
//! A finished job leaves no row: what came of it is on its meeting or matter.

use bindery_core::{
    JobId, Payload, SubmissionId, Timestamp,
    error::ErrorClass,
    job::{Job, JobState, NewJob},
    submission::{Deadline, NewSubmission},
};
use bindery_store::{StoreError, StoreResult};
use serde::{Deserialize, Serialize};

/// The queue of civic jobs.
pub const CIVIC_QUEUE: &str = "q.civic";

/// The workflow of the submissions that civic jobs belong to.
pub const CIVIC_WORKFLOW: &str = "civic";

/// The version of it that new ones are pinned to. Those of earlier versions go on with theirs: their stages are the same.
pub const CIVIC_WORKFLOW_VERSION: i64 = 2;

/// The queue of messages that are to be delivered. Only whoever knows how mail is sent claims from it.
pub const NOTICES_QUEUE: &str = "q.only.civic_notices";

/// The workflow of the submission that they belong to. It has its name, too, and never ends.
pub const NOTICES_WORKFLOW: &str = "civic-notices";

pub const NOTICES_WORKFLOW_VERSION: i64 = 1;

/// The stage of that workflow, and its processor.
pub const NOTIFY: &str = "notify";

/// The names of two errors that the engine and the store give jobs.
const WORKER_LOST: &str = "WorkerLost";
const CANCELLED: &str = "Cancelled";

/// The external id of the submission that a jurisdiction's jobs belong to.
pub fn standing_submission(city_key: &str) -> String {
    format!("civic:{city_key}")
}

/// A submission that jobs without a beginning and an end belong to.
pub(super) fn new_standing_submission(
    external_id: String,
    (workflow, workflow_version): (&str, i64),
    metadata: &serde_json::Value,
    (id, received_at): (SubmissionId, Timestamp),
) -> NewSubmission {
    NewSubmission {
        id,
        external_id: Some(external_id),
        owner: None,
        channel: workflow.to_owned(),
        workflow: workflow.into(),
        workflow_version,
        priority: 0,
        received_at,
        deadline: Deadline::default(),
        metadata: metadata.to_string(),
    }
}

/// What a job is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "job_type", rename_all = "snake_case")]
pub enum CivicTask {
    Meeting { meeting_id: String },
    Matter { matter_id: String, meeting_id: String, item_ids: Vec<String> },
}

impl CivicTask {
    pub const fn job_type(&self) -> &'static str {
        match self {
            Self::Meeting { .. } => "meeting",
            Self::Matter { .. } => "matter",
        }
    }

    /// No two live jobs have the same.
    pub fn dedup_key(&self) -> String {
        match self {
            Self::Meeting { meeting_id } => format!("meeting://{meeting_id}"),
            Self::Matter { matter_id, .. } => format!("matter://{matter_id}"),
        }
    }

    /// The meeting that it is, or that it follows from.
    pub fn meeting_id(&self) -> &str {
        let (Self::Meeting { meeting_id } | Self::Matter { meeting_id, .. }) = self;
        meeting_id
    }

    /// The jurisdiction, by the id that it begins.
    pub fn city_key(&self) -> Option<&str> {
        let (Self::Meeting { meeting_id: id } | Self::Matter { matter_id: id, .. }) = self;
        id.split_once('_').map(|(city_key, _)| city_key)
    }

    /// Ids are whole, and all of this jurisdiction.
    fn check(&self, city_key: &str) -> StoreResult<()> {
        let check = |what: &str, id: &str| {
            let rest = id.strip_prefix(city_key).and_then(|rest| rest.strip_prefix('_'));
            if !city_key.is_empty() && rest.is_some_and(|rest| !rest.is_empty()) {
                return Ok(());
            }
            Err(StoreError::Invalid(format!("{what}: expected an id such as {city_key}_…, found {id:?}")))
        };
        match self {
            Self::Meeting { meeting_id } => check("meeting_id", meeting_id),
            Self::Matter { matter_id, meeting_id, item_ids } => {
                check("matter_id", matter_id)?;
                check("meeting_id", meeting_id)?;
                item_ids.iter().try_for_each(|id| check("item_ids", id))
            }
        }
    }
}

/// A task as a job carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CivicPayload {
    #[serde(flatten)]
    pub task: CivicTask,
    /// The hash of what there is to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
}

impl CivicPayload {
    /// Reads what a job carries; whatever else it is, is refused.
    pub fn read(payload: &Payload) -> StoreResult<Self> {
        let wrong = |detail: String| {
            StoreError::Invalid(format!("payload of a civic job: expected a meeting or a matter: {detail}"))
        };
        let read: Self = match payload.read() {
            Some(read) => read.map_err(|error| wrong(error.to_string()))?,
            None => return Err(wrong("it is kept as a file".to_owned())),
        };
        let city_key = read.task.city_key().ok_or_else(|| wrong("its id has no jurisdiction".to_owned()))?.to_owned();
        read.task.check(&city_key)?;
        Ok(read)
    }
}

/// A job about to be stored with what it follows from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CivicJob {
    pub payload: CivicPayload,
    pub priority: i32,
    /// Also if the same was given up before.
    pub forced: bool,
}

impl CivicJob {
    pub fn meeting(meeting_id: impl Into<String>, priority: i32) -> Self {
        Self::new(CivicTask::Meeting { meeting_id: meeting_id.into() }, priority)
    }

    pub fn matter(
        matter_id: impl Into<String>,
        meeting_id: impl Into<String>,
        item_ids: Vec<String>,
        priority: i32,
    ) -> Self {
        let task = CivicTask::Matter { matter_id: matter_id.into(), meeting_id: meeting_id.into(), item_ids };
        Self::new(task, priority)
    }

    fn new(task: CivicTask, priority: i32) -> Self {
        Self { payload: CivicPayload { task, content_hash: None }, priority, forced: false }
    }

    /// Says what there is to read, so that a job that was given up runs again once that has changed.
    #[must_use]
    pub fn reading(mut self, content_hash: impl Into<String>) -> Self {
        self.payload.content_hash = Some(content_hash.into());
        self
    }

    #[must_use]
    pub const fn forced(mut self) -> Self {
        self.forced = true;
        self
    }

    /// As the engine's queue takes it.
    pub(crate) fn queued(&self, city_key: &str, submission: SubmissionId) -> StoreResult<NewJob> {
        let task = &self.payload.task;
        task.check(city_key)?;
        let payload = Payload::json(&self.payload)
            .map_err(|error| StoreError::Invalid(format!("payload of {}: {error}", task.dedup_key())))?;
        let mut job = NewJob::new(CIVIC_QUEUE, submission, task.job_type(), task.job_type());
        job.dedup_key = Some(task.dedup_key());
        job.priority = self.priority;
        job.payload = payload;
        Ok(job)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueStatus {
    Pending,
    Processing,
    Completed,
    /// Given up at once, because trying again would not help.
    Failed,
    /// Given up after several attempts.
    DeadLetter,
}

impl QueueStatus {
    pub const ALL: [Self; 5] = [Self::Pending, Self::Processing, Self::Completed, Self::Failed, Self::DeadLetter];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Processing => "processing",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::DeadLetter => "dead_letter",
        }
    }

    /// The status of this name, or which names there are.
    pub fn from_name(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|status| status.as_str() == name);
        found.ok_or_else(|| format!("expected one of {}", Self::ALL.map(Self::as_str).join(", ")))
    }
}

/// A job as people see it. One that ended well leaves no row in the queue; its meeting has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueJob {
    pub id: JobId,
    pub job_type: String,
    /// The dedup key.
    pub source_url: String,
    pub payload: CivicTask,
    pub meeting_id: String,
    #[serde(rename = "banana")]
    pub city_key: String,
    pub priority: i32,
    pub status: QueueStatus,
    pub retry_count: u32,
    pub error_message: Option<String>,
    pub created_at: Timestamp,
    /// When the attempt that is under way, or was the last one, was claimed.
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    /// When it was given up.
    pub failed_at: Option<Timestamp>,
}

impl QueueJob {
    /// From a job of the engine; an error for one that is not ours.
    pub fn from_job(job: &Job) -> StoreResult<Self> {
        let task = CivicPayload::read(&job.payload)?.task;
        let retryable = job.error.as_ref().is_none_or(|error| matches!(error.class, ErrorClass::Retry));
        let status = match job.state {
            JobState::Ready | JobState::Scheduled | JobState::Parked | JobState::Awaiting => QueueStatus::Pending,
            JobState::Running => QueueStatus::Processing,
            JobState::Dead if retryable => QueueStatus::DeadLetter,
            JobState::Dead | JobState::Cancelled => QueueStatus::Failed,
        };
        Ok(Self {
            id: job.id,
            job_type: task.job_type().to_owned(),
            source_url: task.dedup_key(),
            meeting_id: task.meeting_id().to_owned(),
            city_key: task.city_key().unwrap_or_default().to_owned(),
            payload: task,
            priority: job.priority,
            status,
            retry_count: failed_attempts(job),
            error_message: job.error.as_ref().map(|error| error.message.clone()),
            created_at: job.created_at,
            started_at: job.claimed_at,
            completed_at: None,
            failed_at: job.ended_at.filter(|_| !job.state.is_live()),
        })
    }

    /// The same once it has ended well.
    #[must_use]
    pub fn completed(self, at: Timestamp) -> Self {
        Self { status: QueueStatus::Completed, completed_at: Some(at), ..self }
    }
}

/// How many attempts have failed in a way that trying again may help. The attempt under way has not; nor was it one that
/// found out that nothing helps, or that workers die of the job.
fn failed_attempts(job: &Job) -> u32 {
    let last_counts = match (job.state, &job.error) {
        (JobState::Running, _) => false,
        (JobState::Dead, Some(error)) => match (error.class, error.kind.as_str()) {
            (ErrorClass::Retry, kind) => kind != WORKER_LOST,
            // By hand, whatever had failed before.
            (_, CANCELLED) => true,
            _ => false,
        },
        _ => true,
    };
    if last_counts { job.attempt } else { job.attempt.saturating_sub(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s001_34_a_payload_is_one_of_two_and_checked_when_it_is_read() {
        let job = CivicJob::matter("paloaltoCA_00ff", "paloaltoCA_1", vec!["paloaltoCA_1_7".to_owned()], 3);
        let payload = Payload::json(&job.payload).unwrap();
        let text = r#"{"job_type":"matter","matter_id":"paloaltoCA_00ff","meeting_id":"paloaltoCA_1","item_ids":["paloaltoCA_1_7"]}"#;
        assert_eq!(payload, Payload::Inline(text.to_owned()));
        assert_eq!(CivicPayload::read(&payload).unwrap(), job.payload);
        let refused = |text: &str| CivicPayload::read(&Payload::Inline(text.to_owned())).unwrap_err().to_string();
        for wrong in [
            r#"{"job_type":"packet","meeting_id":"a_1"}"#,
            r#"{"job_type":"matter","matter_id":"a_1"}"#,
            r#"{"job_type":"meeting"}"#,
            r#"{"meeting_id":"a_1"}"#,
            "null",
            "[]",
        ] {
            assert!(refused(wrong).contains("expected a meeting or a matter"), "{wrong}");
        }
        let other_city = r#"{"job_type":"matter","matter_id":"a_1","meeting_id":"b_1","item_ids":[]}"#;
        assert!(refused(other_city).contains("meeting_id: expected an id such as a_…"), "{}", refused(other_city));
        assert!(refused(r#"{"job_type":"meeting","meeting_id":"a_"}"#).contains("meeting_id"));
    }

    #[test]
    fn s001_67_jobs_are_valid_queue_rows() {
        let submission = SubmissionId::from_raw(4);
        let meeting = CivicJob::meeting("paloaltoCA_1", 149).queued("paloaltoCA", submission).unwrap();
        assert_eq!((meeting.dedup_key.as_deref(), meeting.priority), (Some("meeting://paloaltoCA_1"), 149));
        assert_eq!((&*meeting.queue, &*meeting.stage, &*meeting.processor), (CIVIC_QUEUE, "meeting", "meeting"));
        let matter = CivicJob::matter("paloaltoCA_2", "paloaltoCA_1", Vec::new(), -7).queued("paloaltoCA", submission);
        let matter = matter.unwrap();
        assert_eq!((matter.dedup_key.as_deref(), &*matter.stage), (Some("matter://paloaltoCA_2"), "matter"));
        let foreign = CivicJob::meeting("oaklandCA_1", 0).queued("paloaltoCA", submission);
        assert!(foreign.unwrap_err().to_string().contains("paloaltoCA_…"));
    }
}
