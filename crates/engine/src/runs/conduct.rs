//! A run from its first row to its last: inputs, then results as they come, then the answer.

use super::{
    CHANNEL, Runs, WORKFLOW_VERSION,
    checks::already_followed,
    heartbeat::RunHeartbeat,
    item::item_of,
    outcome::{Done, Writer},
    plan::Plan,
    record::{RunDetails, new_submission},
};
use crate::{
    context::{BlobAccess, CancelFlag},
    error::{EngineError, EngineResult},
    execution::{Execution, Fingerprint, InputReport, Observer, Passed, ProcessingResult, ProcessorInput},
    heartbeat::Heartbeat,
    processor::Processor,
    store_retry::commit_with_retry,
    workflow::builtin,
};
use bindery_core::{
    Clock, ItemId, Name, SubmissionId,
    artifact::Artifact,
    event::{NewEvent, kind},
    submission::SubmissionStatus,
};
use bindery_store::{
    Changes, Commit, CommitResult, Guard, Rejection, StoreError, StoreResult, SubmissionChange, blobs::BlobsExt,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::mpsc;

/// Inputs per commit.
const INPUTS_AT_ONCE: usize = 2_000;

/// Results per commit, at most.
const RESULTS_AT_ONCE: usize = 500;

/// A result waits no longer than this for others to be stored with.
const STORE_EVERY: Duration = Duration::from_millis(100);

/// A full disk or a locked file may pass; a run waits less long than it takes to be given up.
const PATIENCE: Duration = Duration::from_secs(20);

/// A run about to begin.
#[derive(Debug)]
pub(super) struct NewRun {
    pub(super) run_id: String,
    pub(super) execution: Execution,
    pub(super) details: RunDetails,
    pub(super) plan: Plan,
}

/// How far a run is. What it says is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunProgress {
    pub run_id: String,
    /// All that the run is about.
    pub inputs: usize,
    pub succeeded: usize,
    pub failed: usize,
    /// Done by an earlier run.
    pub skipped: usize,
}

impl RunProgress {
    pub fn done(&self) -> usize {
        self.succeeded + self.failed + self.skipped
    }
}

impl Runs {
    pub(super) async fn conduct(
        &self,
        run: NewRun,
        mut on_progress: impl FnMut(RunProgress) + Send,
    ) -> EngineResult<ProcessingResult> {
        let NewRun { run_id, execution, mut details, plan } = run;
        details.inputs = plan.entries.len();
        details.executes = plan.executed().count();
        self.ensure_workflow().await?;
        let mut execution = execution.with_clock(Arc::clone(self.engine.clock()));
        let runtime = tokio::runtime::Handle::current();
        execution.task_mut().blobs = Some(BlobAccess { blobs: Arc::clone(self.engine.blobs()), runtime });
        let cancel = execution.task_mut().cancel.clone();
        let submission = self.engine.ids().submission().await?;
        let alive = Arc::new(RunHeartbeat {
            engine: self.engine.clone(),
            run_id: run_id.clone(),
            submission,
            finished: AtomicU64::new(0),
            cancel: cancel.clone(),
        });
        // Before anything else of the run can be seen.
        alive.show().await?;
        let beating = Arc::clone(&alive);
        let _heartbeat = Heartbeat::start(self.heartbeat_interval, move || Arc::clone(&beating).beat());
        let items = self.store_inputs(&run_id, submission, &execution, &details, &plan).await?;
        let mut progress = RunProgress {
            run_id: run_id.clone(),
            inputs: plan.entries.len(),
            succeeded: 0,
            failed: 0,
            skipped: plan.finished.len(),
        };
        on_progress(progress.clone());
        let writer = Writer {
            engine: self.engine.clone(),
            submission,
            processor: details.processor.as_str().into(),
            version: details.processor_version,
        };
        let (outbox, mut inbox) = mpsc::channel(RESULTS_AT_ONCE);
        let mut reporter = Reporter {
            outbox,
            processor: Arc::clone(&execution.task_mut().processor),
            cancel: cancel.clone(),
            clock: Arc::clone(self.engine.clock()),
        };
        let context = details.context.clone();
        // The steps block; so does the reporter while results come faster than they are stored.
        let running = tokio::task::spawn_blocking(move || {
            let (inputs, finished) = plan.into_inputs();
            execution.execute_with(run_id, inputs, Some(context), &finished, &mut reporter)
        });
        let stored = async {
            while let Some(group) = next_group(&mut inbox).await {
                self.store_results(&writer, &items, group, &mut progress).await?;
                alive.finished.store((progress.succeeded + progress.failed) as u64, Ordering::Relaxed);
                on_progress(progress.clone());
            }
            Ok::<_, EngineError>(())
        }
        .await;
        if stored.is_err() {
            // Nothing more can be kept, so nothing more is begun.
            cancel.cancel();
        }
        drop(inbox);
        let result = running.await.map_err(|error| EngineError::Invalid(format!("the run broke off: {error}")))?;
        stored?;
        self.conclude(submission, &details, &result).await?;
        Ok(result)
    }

    /// The workflow that runs are recorded under; one that is stored already stays.
    async fn ensure_workflow(&self) -> EngineResult<()> {
        let name = Name::from(CHANNEL);
        if self.engine.store().workflow(&name, Some(WORKFLOW_VERSION)).await?.is_none()
            && let Some(text) = builtin::find(CHANNEL)
        {
            self.engine.store().put_workflow(&name, WORKFLOW_VERSION, text).await?;
        }
        Ok(())
    }

    /// All inputs that are executed, with their ids. Durable when it returns; from then on a retry finds them.
    async fn store_inputs(
        &self,
        run_id: &str,
        submission: SubmissionId,
        execution: &Execution,
        details: &RunDetails,
        plan: &Plan,
    ) -> EngineResult<HashMap<String, ItemId>> {
        let mut executed: Vec<_> = if details.refused.is_none() { plan.executed().collect() } else { Vec::new() };
        let mut ids = HashMap::with_capacity(executed.len());
        let mut guard = Guard::NewSubmission;
        let mut changes = Changes {
            submissions: vec![new_submission(submission, run_id, execution.account_id(), details)?],
            events: vec![run_started(run_id, submission, execution.account_id(), details)],
            submission_changes: self.end_of_interrupted(run_id, details).await?,
            ..Changes::default()
        };
        loop {
            let rest = executed.split_off(executed.len().min(INPUTS_AT_ONCE));
            let item_ids = self.engine.ids().items(executed.len()).await?;
            for ((place, entry), id) in executed.into_iter().zip(item_ids) {
                changes.items.push(item_of(&self.engine, submission, id, place, entry).await?);
                ids.insert(entry.input.input_id.clone(), id);
            }
            if rest.is_empty() {
                let status = SubmissionStatus::Processing;
                changes.submission_changes.push(SubmissionChange { id: submission, status, error: None });
            }
            match self.commit(Commit { guard, changes }).await? {
                CommitResult::Applied { .. } => {}
                // A first answer that got lost.
                CommitResult::Rejected(Rejection::AlreadyExists(existing)) if existing == submission => {}
                CommitResult::Rejected(_) => {
                    let previous = details.context.previous_run_id.as_deref().unwrap_or(run_id);
                    return Err(already_followed(previous));
                }
            }
            if rest.is_empty() {
                return Ok(ids);
            }
            (guard, changes, executed) = (Guard::Always, Changes::default(), rest);
        }
    }

    /// A run that was interrupted never ends by itself; the one that goes on with it says so.
    async fn end_of_interrupted(&self, run_id: &str, details: &RunDetails) -> EngineResult<Vec<SubmissionChange>> {
        let Some(previous) = &details.context.previous_run_id else { return Ok(Vec::new()) };
        let previous = self.record(previous).await?.filter(|previous| !previous.status.is_final());
        let error = format!("interrupted; run {run_id} goes on with it");
        let end = |id| SubmissionChange { id, status: SubmissionStatus::Failed, error: Some(error) };
        Ok(previous.map(|previous| end(previous.submission)).into_iter().collect())
    }

    async fn store_results(
        &self,
        writer: &Writer,
        items: &HashMap<String, ItemId>,
        group: Vec<Done>,
        progress: &mut RunProgress,
    ) -> EngineResult<()> {
        let mut after = progress.clone();
        let mut outcomes = Vec::with_capacity(group.len());
        for done in group {
            match done.report.passed {
                Passed::Succeeded { .. } => after.succeeded += 1,
                Passed::Failed { .. } => after.failed += 1,
                Passed::Skipped { .. } | Passed::NotRun => {}
            }
            let unknown = || EngineError::Invalid(format!("input {} ran and is not stored", done.report.input_id));
            let item = *items.get(&done.report.input_id).ok_or_else(unknown)?;
            outcomes.extend(writer.outcome(item, done).await?);
        }
        self.commit(Commit::always(Changes { outcomes, ..Changes::default() })).await?;
        *progress = after;
        Ok(())
    }

    /// The answer, how the run ended and the event about it, in one commit.
    async fn conclude(
        &self,
        submission: SubmissionId,
        details: &RunDetails,
        result: &ProcessingResult,
    ) -> EngineResult<()> {
        let run_id = &result.run_id;
        let answer = serde_json::to_value(result)
            .map_err(|error| EngineError::Invalid(format!("the result of run {run_id}: {error}")))?;
        let stored = self.engine.blobs().put_json(&answer).await?;
        let artifact = Artifact {
            submission,
            item: None,
            key: answer_key(run_id),
            hash: stored.hash,
            size: stored.size,
            media_type: "application/json".to_owned(),
        };
        let (status, kind) = if result.success {
            (SubmissionStatus::Completed, kind::RUN_COMPLETED)
        } else {
            (SubmissionStatus::Failed, kind::RUN_FAILED)
        };
        let error = result.error.as_ref().map(|error| format!("{}: {}", error.exception, error.message));
        let data = json!({
            "runId": run_id, "processor": details.processor, "processorVersion": details.processor_version,
            "runner": details.runner, "retryCount": details.context.retry_count, "error": error,
            "metrics": answer.get("metrics"),
        });
        let changes = Changes {
            artifacts: vec![artifact],
            submission_changes: vec![SubmissionChange { id: submission, status, error }],
            events: vec![event(kind, run_id, submission, "run-ended", &data)],
            ..Changes::default()
        };
        self.commit(Commit::always(changes)).await?;
        Ok(())
    }

    async fn commit(&self, commit: Commit) -> EngineResult<CommitResult> {
        let warn = |answer: &StoreResult<_>, _| {
            if let Err(error) = answer {
                tracing::warn!(%error, "a commit of a run failed");
            }
        };
        let results = commit_with_retry(&**self.engine.store(), &[commit], PATIENCE, warn).await?;
        let lost = || EngineError::Store(StoreError::Invalid("a commit had no result".to_owned()));
        results.into_iter().next().ok_or_else(lost)
    }
}

/// The key of a run's answer among its artifacts.
pub(super) fn answer_key(run_id: &str) -> String {
    format!("runs/{run_id}/result.json")
}

fn run_started(run_id: &str, submission: SubmissionId, account_id: &str, details: &RunDetails) -> NewEvent {
    let context = &details.context;
    let data = json!({
        "runId": run_id, "processor": details.processor, "processorVersion": details.processor_version,
        "accountId": account_id, "underwritingId": details.underwriting_id, "runner": details.runner,
        "inputs": details.inputs, "parentRunId": context.parent_run_id, "previousRunId": context.previous_run_id,
        "retryCount": context.retry_count,
    });
    event(kind::RUN_STARTED, run_id, submission, "run-started", &data)
}

/// The id makes a commit that is sent twice tell its event once.
fn event(kind: &str, run_id: &str, submission: SubmissionId, what: &str, data: &Value) -> NewEvent {
    NewEvent {
        subject: Some(run_id.into()),
        id: Some(format!("{run_id}:{what}")),
        ..NewEvent::new(kind, Some(submission), data.to_string())
    }
}

/// Waits for a result, then a little for more; none when no more will come.
async fn next_group(inbox: &mut mpsc::Receiver<Done>) -> Option<Vec<Done>> {
    let mut group = vec![inbox.recv().await?];
    let due = tokio::time::Instant::now() + STORE_EVERY;
    while group.len() < RESULTS_AT_ONCE {
        match tokio::time::timeout_at(due, inbox.recv()).await {
            Ok(Some(done)) => group.push(done),
            Ok(None) | Err(_) => break,
        }
    }
    Some(group)
}

/// Hands results over to be stored. When nobody takes them any more, the run is cancelled.
struct Reporter {
    outbox: mpsc::Sender<Done>,
    processor: Arc<dyn Processor>,
    cancel: CancelFlag,
    clock: Arc<dyn Clock>,
}

impl Observer for Reporter {
    fn done(&mut self, input: &ProcessorInput, report: &InputReport) {
        let input_hash = Fingerprint::compute(self.processor.as_ref(), &input.data).input;
        let done = Done { input_hash, report: report.clone(), at: self.clock.now() };
        if self.outbox.blocking_send(done).is_err() {
            self.cancel.cancel();
        }
    }
}
