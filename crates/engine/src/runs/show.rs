//! One run with everything that is known of its inputs.

use super::{
    RunSummary, Runs, id_after,
    item::StoredInput,
    lineage::{KnownInput, Lineage},
    outcome::Written,
};
use crate::{context::Cost, error::EngineResult};
use bindery_core::{
    ContentHash,
    job::ErrorRecord,
    outcome::{Outcome, OutcomeStatus, Step},
};
use serde::Serialize;

/// What became of an input in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InputStatus {
    Succeeded,
    Failed,
    /// Done by an earlier run of the lineage.
    Skipped,
    NotRun,
}

/// What became of one of the three steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// In milliseconds.
    Ran(f64),
    /// Done earlier; the run began behind it.
    Skipped,
    /// The run did not get as far.
    NotReached,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StepView {
    pub step: Step,
    pub state: StepState,
}

/// Where an input's data is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DataSource {
    /// With the run.
    Inline,
    /// In the blob store.
    Blob(ContentHash),
}

/// One input's part of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InputView {
    pub input_id: String,
    pub status: InputStatus,
    /// The run that did it, where that was an earlier one.
    pub done_by: Option<String>,
    /// The step that it began with.
    pub from: Option<Step>,
    pub steps: Vec<StepView>,
    pub error: Option<ErrorRecord>,
    pub attempts: u32,
    pub cost_micros: i64,
    pub costs: Vec<Cost>,
    pub peak_memory: Option<u64>,
    /// Why a resume point was set aside.
    pub note: Option<String>,
    pub data: DataSource,
}

/// A run with its inputs, in their order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunView {
    #[serde(flatten)]
    pub summary: RunSummary,
    /// The ids of all runs of the lineage, the oldest first; this one is among them.
    pub lineage: Vec<String>,
    pub details: Vec<InputView>,
}

impl Runs {
    /// `run_id` may be shortened, see [`find`](Self::find).
    pub async fn show(&self, run_id: &str) -> EngineResult<RunView> {
        let record = self.find(run_id).await?;
        let summary = self.summary(&record, &self.read_last_seen().await?).await?;
        let refused = record.details.refused.is_some();
        let lineage = self.lineage(record).await?;
        let mut ids: Vec<String> = lineage.runs.iter().map(|run| run.record.run_id.clone()).collect();
        let mut next = id_after(&summary.run_id);
        while self.record(&next).await?.is_some() {
            let after = id_after(&next);
            ids.push(std::mem::replace(&mut next, after));
        }
        let mut details = Vec::new();
        // One that was refused is about other inputs than those of the lineage, and they are not stored.
        for known in lineage.inputs().iter().filter(|_| !refused) {
            details.push(self.input_view(&lineage, known).await?);
        }
        Ok(RunView { summary, lineage: ids, details })
    }

    async fn input_view(&self, lineage: &Lineage, known: &KnownInput<'_>) -> EngineResult<InputView> {
        let shown = lineage.runs.len() - 1;
        let executed = known.item.submission == lineage.runs[shown].record.submission;
        let here = known.outcomes.iter().rev().find(|(run, _)| *run == shown);
        // The plan has decided which result of an earlier run counts; it was made of the newest one.
        let earlier = known.outcomes.iter().rev().find(|(_, one)| one.status == OutcomeStatus::Completed);
        let (status, told) = match here {
            Some((_, outcome)) if outcome.status == OutcomeStatus::Completed => (InputStatus::Succeeded, here),
            Some(_) => (InputStatus::Failed, here),
            None if executed => (InputStatus::NotRun, None),
            None => (if earlier.is_some() { InputStatus::Skipped } else { InputStatus::NotRun }, earlier),
        };
        let stored = StoredInput::from_item(known.item)?;
        let mut view = InputView {
            input_id: known.item.public_id(),
            status,
            done_by: None,
            from: None,
            steps: Vec::new(),
            error: None,
            attempts: 0,
            cost_micros: 0,
            costs: Vec::new(),
            peak_memory: None,
            note: None,
            data: stored.blob.map_or(DataSource::Inline, DataSource::Blob),
        };
        if let Some((run, outcome)) = told {
            view.tell(outcome, Written::read(&self.engine, outcome).await?);
            view.done_by = (status == InputStatus::Skipped).then(|| lineage.runs[*run].record.run_id.clone());
        }
        Ok(view)
    }
}

impl InputView {
    fn tell(&mut self, outcome: &Outcome, written: Written) {
        let state = |step: Step| match written.steps.duration_of(step) {
            Some(took) => StepState::Ran(took.as_secs_f64() * 1_000.0),
            None if step < written.from => StepState::Skipped,
            None => StepState::NotReached,
        };
        self.steps = Step::ALL.into_iter().map(|step| StepView { step, state: state(step) }).collect();
        self.from = Some(written.from);
        self.error.clone_from(&outcome.error);
        self.attempts = outcome.attempts;
        self.cost_micros = outcome.cost_micros;
        self.costs = written.costs;
        self.peak_memory = written.peak_memory;
        self.note = written.note;
    }
}
