//! A run's own row.

use super::{CHANNEL, WORKFLOW_VERSION};
use crate::{
    error::{EngineError, EngineResult},
    execution::{Duplicates, Execution, ExecutionContext, MergePolicy},
    runner::{Limits, RunnerKind},
};
use bindery_core::{
    SubmissionId, Timestamp,
    submission::{Deadline, NewSubmission, Submission, SubmissionStatus},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::time::Duration;

/// What a run is, said once when it begins: the submission's metadata.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunDetails {
    pub processor: String,
    /// As results show it.
    pub processor_name: String,
    pub processor_version: u32,
    pub underwriting_id: String,
    pub runner: RunnerKind,
    pub settings: Map<String, Value>,
    #[serde(default)]
    pub merge: MergePolicy,
    #[serde(default)]
    pub duplicates: Duplicates,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<u64>,
    pub context: ExecutionContext,
    /// All that the run is about; in a lineage, all of the lineage.
    pub inputs: usize,
    /// Those of them that it executes.
    pub executes: usize,
    /// The caller brought inputs along; otherwise all of them are stored in earlier runs.
    pub given: bool,
    /// Why nothing was run, and no input stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    pub began: Timestamp,
}

impl RunDetails {
    /// Of a run that begins now; what it is about is not said yet.
    pub(super) fn new(execution: &Execution, context: ExecutionContext, began: Timestamp) -> Self {
        let Limits { time, memory } = execution.limits();
        Self {
            processor: execution.processor().name().to_owned(),
            processor_name: execution.processor_name(),
            processor_version: execution.processor().version(),
            underwriting_id: execution.underwriting_id().to_owned(),
            runner: execution.runner(),
            settings: execution.settings().clone(),
            merge: execution.merge_policy().clone(),
            duplicates: execution.duplicates(),
            time_limit_ms: time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            memory_limit: memory,
            context,
            inputs: 0,
            executes: 0,
            given: false,
            refused: None,
            began,
        }
    }

    /// What one input was allowed to use.
    pub fn limits(&self) -> Limits {
        Limits { time: self.time_limit_ms.map(Duration::from_millis), memory: self.memory_limit }
    }
}

/// A stored run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    pub run_id: String,
    pub submission: SubmissionId,
    pub account_id: String,
    /// `received` while its inputs are being stored, `processing` from then on until it ends.
    pub status: SubmissionStatus,
    pub ended: Option<Timestamp>,
    pub error: Option<String>,
    pub details: RunDetails,
}

impl RunRecord {
    /// None for a submission that is no run.
    pub(super) fn from_submission(submission: Submission) -> EngineResult<Option<Self>> {
        let (true, Some(run_id)) = (submission.channel == CHANNEL, submission.external_id) else { return Ok(None) };
        // Another program may name its channel like this; a run tells of its processor.
        let details = match serde_json::from_str(&submission.metadata) {
            Ok(details) => details,
            Err(_) if submission.workflow != CHANNEL => return Ok(None),
            Err(error) => return Err(EngineError::Invalid(format!("run {run_id}: its stored details: {error}"))),
        };
        Ok(Some(Self {
            run_id,
            submission: submission.id,
            account_id: submission.owner.unwrap_or_default(),
            status: submission.status,
            ended: submission.completed_at,
            error: submission.error,
            details,
        }))
    }

    pub fn context(&self) -> &ExecutionContext {
        &self.details.context
    }
}

/// The row of a run about to be stored.
pub(super) fn new_submission(
    id: SubmissionId,
    run_id: &str,
    account_id: &str,
    details: &RunDetails,
) -> EngineResult<NewSubmission> {
    Ok(NewSubmission {
        id,
        external_id: Some(run_id.to_owned()),
        owner: Some(account_id.to_owned()),
        channel: CHANNEL.to_owned(),
        workflow: CHANNEL.into(),
        workflow_version: WORKFLOW_VERSION,
        priority: 0,
        received_at: details.began,
        deadline: Deadline::default(),
        metadata: serde_json::to_string(details)
            .map_err(|error| EngineError::Invalid(format!("run {run_id}: its details: {error}")))?,
    })
}
