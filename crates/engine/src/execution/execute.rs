//! Running one processor on many inputs.

use super::{
    NAME_PREFIX,
    context::ExecutionContext,
    input::{ProcessorInput, kind_of},
    merge::{MergePolicy, merge},
    metrics::{Metrics, milliseconds},
    new_run_id,
    prevalidate::{Admitted, Duplicates, check_owner, prevalidate},
    result::{InputReport, Output, Passed, ProcessingResult, RunError},
    resume::{Fingerprint, Start, start_of},
};
use crate::{
    processor::Processor,
    runner::{Limits, Ran, Runner, RunnerKind, RunnerReport, Sequential, Task, Unit},
    steps::StepTimes,
    work_id::WorkId,
};
use bindery_core::{
    ContentHash, Timestamp,
    error::ErrorClass,
    outcome::Step,
    time::{Clock, SystemClock},
};
use serde_json::{Map, Value};
use std::{collections::HashMap, sync::Arc, time::Instant};

/// Why a processor cannot be executed at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExecutionError {
    #[error("a processor needs a name that is not blank")]
    BlankName,
    #[error("{0} is blank, expected the id of an owner")]
    BlankOwner(&'static str),
}

/// An input that an earlier run of the lineage has done.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedInput {
    pub run_id: String,
    pub processor_version: u32,
    /// Of the input's data: another input under the same id is not the same work.
    pub input_hash: ContentHash,
    pub factors: Map<String, Value>,
}

/// What earlier runs of the lineage have done, by input id.
pub type Finished = HashMap<String, FinishedInput>;

/// Told of each input as soon as it is done, on the thread that called [`Execution::execute_with`].
pub trait Observer {
    fn done(&mut self, input: &ProcessorInput, report: &InputReport);
}

/// Tells nobody.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {
    fn done(&mut self, _input: &ProcessorInput, _report: &InputReport) {}
}

/// A processor with its owner and its runner. Calls do not influence each other.
#[derive(Debug, Clone)]
pub struct Execution {
    account_id: String,
    underwriting_id: String,
    task: Task,
    runner: Arc<dyn Runner>,
    merge: MergePolicy,
    duplicates: Duplicates,
    clock: Arc<dyn Clock>,
}

impl Execution {
    /// Runs one input after the other unless another runner is chosen.
    pub fn new(
        processor: Arc<dyn Processor>,
        account_id: impl Into<String>,
        underwriting_id: impl Into<String>,
    ) -> Result<Self, ExecutionError> {
        let (account_id, underwriting_id) = (account_id.into(), underwriting_id.into());
        if processor.name().trim().is_empty() {
            return Err(ExecutionError::BlankName);
        }
        if account_id.trim().is_empty() {
            return Err(ExecutionError::BlankOwner("account_id"));
        }
        if underwriting_id.trim().is_empty() {
            return Err(ExecutionError::BlankOwner("underwriting_id"));
        }
        Ok(Self {
            account_id,
            underwriting_id,
            task: Task::new(processor),
            runner: Arc::new(Sequential),
            merge: MergePolicy::default(),
            duplicates: Duplicates::default(),
            clock: Arc::new(SystemClock),
        })
    }

    #[must_use]
    pub fn with_runner(mut self, runner: Arc<dyn Runner>) -> Self {
        self.runner = runner;
        self
    }

    #[must_use]
    pub fn with_settings(mut self, settings: Map<String, Value>) -> Self {
        self.task.settings = Arc::new(settings);
        self
    }

    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.task.limits = limits;
        self
    }

    #[must_use]
    pub fn with_merge(mut self, merge: MergePolicy) -> Self {
        self.merge = merge;
        self
    }

    #[must_use]
    pub fn with_duplicates(mut self, duplicates: Duplicates) -> Self {
        self.duplicates = duplicates;
        self
    }

    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// What is run, to be given access to blobs or cancelled.
    pub fn task_mut(&mut self) -> &mut Task {
        &mut self.task
    }

    pub fn processor(&self) -> &dyn Processor {
        self.task.processor.as_ref()
    }

    pub fn account_id(&self) -> &str {
        &self.account_id
    }

    pub fn underwriting_id(&self) -> &str {
        &self.underwriting_id
    }

    pub fn settings(&self) -> &Map<String, Value> {
        &self.task.settings
    }

    pub fn limits(&self) -> Limits {
        self.task.limits
    }

    pub fn runner(&self) -> RunnerKind {
        self.runner.kind()
    }

    pub fn merge_policy(&self) -> &MergePolicy {
        &self.merge
    }

    pub fn duplicates(&self) -> Duplicates {
        self.duplicates
    }

    /// Whether the inputs belong to this owner; an error says that a run of them would be refused.
    pub fn check_owner(&self, inputs: &[ProcessorInput]) -> Result<(), RunError> {
        check_owner(inputs, &self.account_id, &self.underwriting_id)
    }

    /// `p_` and the processor's name.
    pub fn processor_name(&self) -> String {
        format!("{NAME_PREFIX}{}", self.processor().name())
    }

    /// Runs the inputs under a fresh run id.
    pub fn execute(&self, inputs: Vec<ProcessorInput>, context: Option<ExecutionContext>) -> ProcessingResult {
        self.execute_with(new_run_id(), inputs, context, &Finished::new(), &mut Silent)
    }

    /// Runs the inputs, except those that are `finished`, and tells the observer of each that ran.
    pub fn execute_with(
        &self,
        run_id: String,
        inputs: Vec<ProcessorInput>,
        context: Option<ExecutionContext>,
        finished: &Finished,
        observer: &mut dyn Observer,
    ) -> ProcessingResult {
        let begun = Begun { at: self.clock.now(), since: Instant::now(), run_id, context: context.unwrap_or_default() };
        match prevalidate(inputs, &self.account_id, &self.underwriting_id, self.duplicates) {
            Ok((admitted, warnings)) => self.run(begun, admitted, warnings, finished, observer),
            Err(error) => self.refusal_result(begun, error),
        }
    }

    fn run(
        &self,
        begun: Begun,
        admitted: Vec<Admitted>,
        warnings: Vec<String>,
        finished: &Finished,
        observer: &mut dyn Observer,
    ) -> ProcessingResult {
        let processor = self.processor();
        tracing::info!(
            run.id = %begun.run_id, processor = processor.name(), inputs = admitted.len(),
            runner = %self.runner.kind(), retry = begun.context.retry_count, "a run begins"
        );
        let attempt = begun.context.attempt();
        let mut inputs = Vec::with_capacity(admitted.len());
        let mut reports: Vec<InputReport> = Vec::with_capacity(admitted.len());
        let mut units = Vec::with_capacity(admitted.len());
        // The place among the inputs, and what the first step is given where that is not the input itself.
        let mut under_way: Vec<(usize, Option<Value>)> = Vec::with_capacity(admitted.len());
        for (input, refused) in admitted {
            let planned = match refused {
                Some(refused) => Planned::Ended(refused),
                None => self.plan(&input, &begun.context, finished),
            };
            let mut report = InputReport::new(&input.input_id, attempt);
            match planned {
                Planned::Runs(Start { step, data, note }) => {
                    under_way.push((inputs.len(), data.clone()));
                    // The same in every run of a lineage.
                    let first = begun.context.parent_run_id.as_ref().unwrap_or(&begun.run_id);
                    let about = format!("{first}/{}/{}/{}", input.account_id, input.underwriting_id, input.input_id);
                    let work = Some(WorkId { job: begun.run_id.clone(), about });
                    units.push(Unit { from: step, value: data.unwrap_or_else(|| input.data.clone()), attempt, work });
                    report.from = step;
                    report.note = note;
                }
                Planned::Ended(passed) => {
                    report.passed = passed;
                    if matches!(report.passed, Passed::Failed { .. }) {
                        log_failure(&begun.run_id, processor, &report);
                        observer.done(&input, &report);
                    }
                }
            }
            reports.push(report);
            inputs.push(input);
        }
        let runner_report = self.runner.run(&self.task, units, &mut |place, ran| {
            let Some((at, given)) = under_way.get_mut(place) else { return };
            reports[*at].take_over(ran, given.take());
            log_failure(&begun.run_id, processor, &reports[*at]);
            observer.done(&inputs[*at], &reports[*at]);
        });
        self.conclude(begun, &inputs, reports, warnings, runner_report)
    }

    /// Where an input begins, or what it has come to without running.
    fn plan(&self, input: &ProcessorInput, context: &ExecutionContext, finished: &Finished) -> Planned {
        let processor = self.processor();
        if let Some(done) = finished.get(&input.input_id) {
            let now = Fingerprint::compute(processor, &input.data);
            if done.input_hash == now.input && done.processor_version == now.version {
                return Planned::Ended(Passed::Skipped { run_id: done.run_id.clone(), factors: done.factors.clone() });
            }
        }
        match start_of(input, context, processor) {
            Ok(start) => Planned::Runs(start),
            Err(error) => Planned::Ended(Passed::refusal(&error.kind, error.message)),
        }
    }

    fn conclude(
        &self,
        begun: Begun,
        inputs: &[ProcessorInput],
        reports: Vec<InputReport>,
        mut warnings: Vec<String>,
        runner_report: RunnerReport,
    ) -> ProcessingResult {
        let is_retry = begun.context.is_retry();
        let metrics =
            Metrics::from_reports(&reports, self.runner.kind(), runner_report, is_retry, begun.since.elapsed());
        for report in &reports {
            if let Some(note) = &report.note {
                warnings.push(format!("input {} starts at validation: {note}", report.input_id));
            }
        }
        let bad = metrics.failed + metrics.not_run;
        let mut result = self.result(begun, metrics, warnings);
        if bad == 0 {
            let factors =
                reports.iter().filter_map(|report| Some((report.input_id.as_str(), report.passed.factors()?)));
            let (merged, conflicts) = merge(factors, &self.merge);
            result.success = true;
            result.output = Output::Factors(merged);
            result.conflicts = conflicts;
        } else {
            let results = reports.iter().zip(inputs).map(|(report, input)| report.result(input)).collect();
            let retry_count = result.context.retry_count.saturating_add(1);
            let payloads = reports.iter().zip(inputs).filter_map(|(report, input)| {
                report.for_retry(input, &Fingerprint::compute(self.processor(), &input.data), retry_count)
            });
            result.payloads = Some(payloads.collect());
            result.output = Output::Results(results);
            let message = format!("{bad} of {} inputs did not succeed", inputs.len());
            result.error = Some(RunError { exception: "InputsFailed".to_owned(), message });
        }
        result.inputs = reports;
        tracing::info!(
            run.id = %result.run_id, processor = self.processor().name(), success = result.success,
            succeeded = result.metrics.succeeded, failed = result.metrics.failed, skipped = result.metrics.skipped,
            duration_ms = result.duration, "a run has ended"
        );
        result
    }

    /// Nothing may run.
    fn refusal_result(&self, begun: Begun, error: RunError) -> ProcessingResult {
        tracing::info!(
            run.id = %begun.run_id, processor = self.processor().name(), exception = error.exception,
            error = error.message, "a run was refused before any step"
        );
        let report = RunnerReport::default();
        let metrics =
            Metrics::from_reports(&[], self.runner.kind(), report, begun.context.is_retry(), begun.since.elapsed());
        let mut result = self.result(begun, metrics, Vec::new());
        result.metrics.success_rate = 0.0;
        result.error = Some(error);
        result
    }

    fn result(&self, begun: Begun, metrics: Metrics, warnings: Vec<String>) -> ProcessingResult {
        ProcessingResult {
            run_id: begun.run_id,
            account_id: self.account_id.clone(),
            underwriting_id: self.underwriting_id.clone(),
            processor_name: self.processor_name(),
            processor_version: self.processor().version(),
            success: false,
            output: Output::Results(Vec::new()),
            context: begun.context,
            timestamp: begun.at,
            duration: milliseconds(begun.since.elapsed()),
            error: None,
            payloads: None,
            conflicts: Vec::new(),
            warnings,
            metrics,
            inputs: Vec::new(),
        }
    }
}

/// What is to be done with an input.
enum Planned {
    Runs(Start),
    /// It has come to this without running.
    Ended(Passed),
}

/// A run under way.
struct Begun {
    run_id: String,
    context: ExecutionContext,
    at: Timestamp,
    since: Instant,
}

impl InputReport {
    fn new(input_id: &str, attempt: u32) -> Self {
        Self {
            input_id: input_id.to_owned(),
            passed: Passed::NotRun,
            from: Step::Validation,
            attempt,
            times: StepTimes::default(),
            costs: Vec::new(),
            peak_memory: None,
            note: None,
        }
    }

    fn take_over(&mut self, ran: Ran, given: Option<Value>) {
        self.times = ran.times;
        self.costs = ran.costs;
        self.peak_memory = ran.peak_memory;
        self.passed = match ran.result {
            Ok(extracted) => match extracted.output {
                Value::Object(factors) => Passed::Succeeded { factors },
                Value::Null => Passed::Succeeded { factors: Map::new() },
                other => not_factors(&other),
            },
            Err(stopped) => Passed::stopped(*stopped, given),
        };
    }
}

/// The processor is at fault; what extraction was given is gone, so a retry starts over.
fn not_factors(output: &Value) -> Passed {
    Passed::Failed {
        step: Step::Extraction,
        exception: "FactorExtractionError".to_owned(),
        message: format!("extraction must return a map of factors, and returned {}", kind_of(output)),
        class: ErrorClass::Bug,
        resume: None,
    }
}

/// Not a warning: the result tells of it, and whoever reads that need not read it twice.
fn log_failure(run_id: &str, processor: &dyn Processor, report: &InputReport) {
    if let Passed::Failed { step, exception, message, class, .. } = &report.passed {
        tracing::info!(
            run.id = run_id, processor = processor.name(), input.id = report.input_id, step = %step,
            exception, error = message, class = %class, attempt = report.attempt, resumed_from = %report.from,
            duration_ms = milliseconds(report.times.total()), "an input failed"
        );
    }
}
