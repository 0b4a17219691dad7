//! What a run answers.

use super::{
    context::ExecutionContext,
    input::ProcessorInput,
    merge::Conflict,
    metrics::Metrics,
    resume::{Fingerprint, Payload},
};
use crate::{
    context::Cost,
    steps::{StepTimes, Stopped},
};
use bindery_core::{Timestamp, error::ErrorClass, outcome::Step};
use serde::Serialize;
use serde_json::{Map, Value};

/// Why a run as a whole did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunError {
    pub exception: String,
    pub message: String,
}

/// What became of one input.
#[derive(Debug, Clone, PartialEq)]
pub enum Passed {
    Succeeded {
        factors: Map<String, Value>,
    },
    /// An earlier run of the lineage has done it; nothing was run, and nothing paid.
    Skipped {
        run_id: String,
        factors: Map<String, Value>,
    },
    Failed {
        step: Step,
        exception: String,
        message: String,
        class: ErrorClass,
        /// Where a retry begins, and with what; none where it begins with the input itself.
        resume: Option<(Step, Value)>,
    },
    /// The run was cancelled before its turn.
    NotRun,
}

impl Passed {
    pub(super) fn refusal(exception: &str, message: String) -> Self {
        Self::Failed {
            step: Step::Validation,
            exception: exception.to_owned(),
            message,
            class: ErrorClass::Reject,
            resume: None,
        }
    }

    /// `given` is what the first step was given, where that was not the input itself.
    pub(super) fn stopped(stopped: Stopped, given: Option<Value>) -> Self {
        let Stopped { step, error, input } = stopped;
        let class = error.class();
        Self::Failed {
            step,
            exception: error.kind,
            message: error.message,
            class,
            resume: input.or(given).map(|data| (step, data)),
        }
    }

    /// The factors of a success, this time or earlier.
    pub fn factors(&self) -> Option<&Map<String, Value>> {
        match self {
            Self::Succeeded { factors } | Self::Skipped { factors, .. } => Some(factors),
            Self::Failed { .. } | Self::NotRun => None,
        }
    }
}

/// One input's part of a run.
#[derive(Debug, Clone)]
pub struct InputReport {
    pub input_id: String,
    pub passed: Passed,
    /// The step that it began with.
    pub from: Step,
    pub attempt: u32,
    pub times: StepTimes,
    pub costs: Vec<Cost>,
    /// Of the process that ran it, in bytes, where it had one.
    pub peak_memory: Option<u64>,
    /// Why a resume point was set aside.
    pub note: Option<String>,
}

impl InputReport {
    pub fn cost_micros(&self) -> i64 {
        self.costs.iter().map(|cost| cost.micros).sum()
    }

    /// In the form that users of the seed systems know.
    pub fn result(&self, input: &ProcessorInput) -> InputResult {
        let input_id = self.input_id.clone();
        match &self.passed {
            Passed::Succeeded { factors } | Passed::Skipped { factors, .. } => {
                InputResult::Success { input_id, success: true, output: factors.clone() }
            }
            Passed::Failed { step, exception, message, .. } => InputResult::Failure {
                input_id,
                success: false,
                step: *step,
                exception: exception.clone(),
                message: message.clone(),
                payload: self.payload(input),
            },
            Passed::NotRun => InputResult::Failure {
                input_id,
                success: false,
                step: self.from,
                exception: NOT_RUN.to_owned(),
                message: "not run: the run was cancelled before its turn".to_owned(),
                payload: None,
            },
        }
    }

    fn payload(&self, input: &ProcessorInput) -> Option<Payload> {
        let Passed::Failed { exception, message, resume, .. } = &self.passed else { return None };
        let (step, data) = resume.clone().unwrap_or_else(|| (Step::Validation, input.data.clone()));
        let (exception, message) = (exception.clone(), message.clone());
        Some(Payload { step, exception, message, data, retry_count: None, fingerprint: None })
    }

    /// The input as a retry needs it; none where there is nothing to retry.
    pub(super) fn for_retry(
        &self,
        input: &ProcessorInput,
        fingerprint: &Fingerprint,
        retry_count: u32,
    ) -> Option<ProcessorInput> {
        match self.passed {
            Passed::Succeeded { .. } | Passed::Skipped { .. } => return None,
            Passed::NotRun => return Some(input.clone()),
            Passed::Failed { .. } => {}
        }
        let payload = self.payload(input).map(|payload| Payload {
            retry_count: Some(retry_count),
            fingerprint: Some(fingerprint.to_string()),
            ..payload
        });
        let payload = payload.and_then(|payload| serde_json::to_value(payload).ok());
        Some(ProcessorInput { payload, ..input.clone() })
    }
}

const NOT_RUN: &str = "Cancelled";

/// One input's result on the wire.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum InputResult {
    Success {
        input_id: String,
        success: bool,
        output: Map<String, Value>,
    },
    Failure {
        input_id: String,
        success: bool,
        step: Step,
        exception: String,
        message: String,
        payload: Option<Payload>,
    },
}

/// The factors of all inputs as one set or, where one has failed, the result of each.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Output {
    Factors(Map<String, Value>),
    Results(Vec<InputResult>),
}

/// The answer to one call.
#[derive(Debug, Clone, Serialize)]
pub struct ProcessingResult {
    pub run_id: String,
    pub account_id: String,
    pub underwriting_id: String,
    pub processor_name: String,
    pub processor_version: u32,
    pub success: bool,
    pub output: Output,
    pub context: ExecutionContext,
    /// When it began.
    pub timestamp: Timestamp,
    /// In milliseconds.
    pub duration: f64,
    pub error: Option<RunError>,
    /// What a retry is to be given; none where everything succeeded.
    pub payloads: Option<Vec<ProcessorInput>>,
    /// Factors for which inputs disagree.
    pub conflicts: Vec<Conflict>,
    pub warnings: Vec<String>,
    pub metrics: Metrics,
    /// Each input's part, in the order of the inputs.
    #[serde(skip)]
    pub inputs: Vec<InputReport>,
}

impl ProcessingResult {
    /// The step of the last input that failed.
    pub fn last_error_step(&self) -> Option<Step> {
        self.inputs.iter().rev().find_map(|report| match report.passed {
            Passed::Failed { step, .. } => Some(step),
            _ => None,
        })
    }
}
