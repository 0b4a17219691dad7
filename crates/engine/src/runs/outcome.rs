//! What became of an input, as an outcome.

use super::STAGE;
use crate::{
    context::Cost,
    engine::Engine,
    error::{EngineError, EngineResult},
    execution::{InputReport, Passed},
    steps::StepTimes,
};
use bindery_core::{
    ContentHash, ItemId, Name, SubmissionId, Timestamp,
    job::ErrorRecord,
    outcome::{Outcome, OutcomeStatus, ResumePoint, Step},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::time::Duration;

/// How long the steps took, in microseconds; none where a step did not run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StepMicros {
    #[serde(rename = "validation_us", default, skip_serializing_if = "Option::is_none")]
    validation: Option<u64>,
    #[serde(rename = "processing_us", default, skip_serializing_if = "Option::is_none")]
    processing: Option<u64>,
    #[serde(rename = "extraction_us", default, skip_serializing_if = "Option::is_none")]
    extraction: Option<u64>,
}

impl StepMicros {
    fn of_times(times: &StepTimes) -> Self {
        let micros = |step| times.duration_of(step).map(|took| u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        Self {
            validation: micros(Step::Validation),
            processing: micros(Step::Processing),
            extraction: micros(Step::Extraction),
        }
    }

    pub(super) fn duration_of(self, step: Step) -> Option<Duration> {
        let micros = match step {
            Step::Validation => self.validation,
            Step::Processing => self.processing,
            Step::Extraction => self.extraction,
        };
        micros.map(Duration::from_micros)
    }
}

/// The output of an outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Written {
    /// None where the input failed.
    pub(super) factors: Option<Map<String, Value>>,
    pub(super) steps: StepMicros,
    /// The step that it began with.
    pub(super) from: Step,
    pub(super) costs: Vec<Cost>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) peak_memory: Option<u64>,
    /// Why a resume point was set aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
}

impl Written {
    pub(super) async fn read(engine: &Engine, outcome: &Outcome) -> EngineResult<Self> {
        let output = engine.read_payload(&outcome.output).await?;
        serde_json::from_value(output).map_err(|error| EngineError::Invalid(format!("a stored outcome: {error}")))
    }
}

/// An input that has just been done.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) input_hash: ContentHash,
    pub(super) report: InputReport,
    pub(super) at: Timestamp,
}

/// Whose outcomes are written.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    pub(super) engine: Engine,
    pub(super) submission: SubmissionId,
    pub(super) processor: Name,
    pub(super) version: u32,
}

impl Writer {
    /// None for an input that did not run: it has no outcome.
    pub(super) async fn outcome(&self, item: ItemId, done: Done) -> EngineResult<Option<Outcome>> {
        let Done { input_hash, report, at } = done;
        let cost_micros = report.cost_micros();
        let InputReport { passed, from, attempt, times, costs, peak_memory, note, .. } = report;
        let (factors, error, resume) = match passed {
            Passed::Succeeded { factors } => (Some(factors), None, None),
            Passed::Failed { step, exception, message, class, resume } => {
                let error = ErrorRecord { class, kind: exception, message, step: Some(step) };
                (None, Some(error), resume)
            }
            Passed::Skipped { .. } | Passed::NotRun => return Ok(None),
        };
        let status = if error.is_some() { OutcomeStatus::Failed } else { OutcomeStatus::Completed };
        let resume = match resume {
            Some((step, given)) => {
                let input = self.engine.store_payload(&given).await?;
                Some(ResumePoint { step, input, input_hash, processor_version: self.version })
            }
            None => None,
        };
        let written = Written { factors, steps: StepMicros::of_times(&times), from, costs, peak_memory, note };
        let output = serde_json::to_value(&written)
            .map_err(|error| EngineError::Invalid(format!("the outcome of {item}: {error}")))?;
        Ok(Some(Outcome {
            submission: self.submission,
            item: Some(item),
            stage: STAGE.into(),
            processor: self.processor.clone(),
            status,
            output: self.engine.store_payload(&output).await?,
            confidence: None,
            error,
            resume,
            input_hash: Some(input_hash),
            processor_version: self.version,
            attempts: attempt,
            cost_micros,
            finished_at: at,
            reuse: None,
        }))
    }
}
