//! The settlers: results become commits, and commits go to the store in groups.

use super::{Shared, health::Call, in_flight::Claim};
use crate::{
    catalog::SubmissionInfo,
    error::{EngineError, EngineResult},
    fan_out::{CHILDREN_PER_COMMIT, FanOut},
    internal,
    settle::{Found, Settlement, Settler, Work, engine_failure},
    steps::Failure,
    store_retry,
};
use bindery_core::{
    JoinId, StepError,
    error::ErrorClass,
    event::{NewEvent, kind},
    fault::FaultPoint,
    job::{ClaimedJob, ErrorRecord, Job},
};
use bindery_store::{
    Changes, Commit, CommitResult, Guard, JobEnd, StoreError, StoreResult,
    blobs::{BlobError, Draft, HashedBytes},
    query::JoinFilter,
};
use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use tokio::{
    sync::{Mutex, mpsc::UnboundedReceiver},
    task::JoinHandle,
};

/// How many results one commit takes.
const LARGEST_COMMIT: usize = 1_000;

/// Several, so that some plan while others wait for the store.
const SETTLERS: usize = 3;

/// How long a result waits for others to be stored with, while all threads are busy. A group of any size waits for the
/// disk about as long as one alone.
const GROUP_COMMIT_WINDOW: Duration = Duration::from_millis(10);

/// What became of a claimed job.
#[derive(Debug)]
pub(super) enum Worked {
    Found {
        claimed: ClaimedJob,
        info: Arc<SubmissionInfo>,
        stage: usize,
        found: Box<Found>,
        drafts: Vec<Draft>,
    },
    Failed {
        claimed: ClaimedJob,
        info: Arc<SubmissionInfo>,
        stage: usize,
        failure: Failure,
        drafts: Vec<Draft>,
    },
    /// One of the engine's own.
    Internal {
        claimed: ClaimedJob,
        info: Arc<SubmissionInfo>,
    },
    /// An outside processor has not reported in time.
    Overdue {
        claimed: ClaimedJob,
        info: Arc<SubmissionInfo>,
        stage: usize,
    },
    /// Its submission or workflow cannot be read.
    Lookup {
        claimed: ClaimedJob,
        error: EngineError,
    },
    /// Its steps took longer than they may; the job itself is still with the thread.
    TookTooLong {
        held: Claim,
        limit: Duration,
    },
}

pub(super) struct Settlers(Vec<JoinHandle<()>>);

impl Settlers {
    /// Waits until everything that was handed over is stored.
    pub(super) async fn finish(self) {
        for settler in self.0 {
            let _ = settler.await;
        }
    }
}

pub(super) fn start(shared: &Arc<Shared>, inbox: UnboundedReceiver<Worked>) -> Settlers {
    let inbox = Arc::new(Mutex::new(inbox));
    let settlers = (0..SETTLERS).map(|_| {
        let (shared, inbox) = (Arc::clone(shared), Arc::clone(&inbox));
        tokio::spawn(async move {
            let mut results = Vec::new();
            loop {
                gather(&shared, &mut *inbox.lock().await, &mut results).await;
                if results.is_empty() {
                    return;
                }
                settle_all(&shared, std::mem::take(&mut results)).await;
            }
        })
    });
    Settlers(settlers.collect())
}

/// The next results; none once the threads have ended.
async fn gather(shared: &Shared, inbox: &mut UnboundedReceiver<Worked>, results: &mut Vec<Worked>) {
    let first = inbox.recv_many(results, LARGEST_COMMIT).await;
    let is_awaited = || shared.idle_threads.load(Ordering::SeqCst) > 0 || shared.in_flight.at_work() == 0;
    if first == 0 || first == LARGEST_COMMIT || is_awaited() {
        return;
    }
    // An idle thread ends the wait: what it could do may follow from these results. While all are busy, the wait delays no work.
    let _ = tokio::time::timeout(GROUP_COMMIT_WINDOW, shared.thread_idle.notified()).await;
    while results.len() < LARGEST_COMMIT
        && let Ok(worked) = inbox.try_recv()
    {
        results.push(worked);
    }
}

async fn settle_all(shared: &Arc<Shared>, results: Vec<Worked>) {
    let mut claims = Vec::new();
    let mut commits = Vec::new();
    for (worked, mut blobs) in with_blobs_kept(shared, results).await {
        let held = worked.claim();
        match settle(shared, worked, &mut blobs).await {
            Ok(Some(Settlement::Commit(mut commit))) => {
                commit.changes.blobs = blobs;
                claims.push(held);
                commits.push(*commit);
            }
            Ok(Some(Settlement::FanOut(_)) | None) => {}
            Err(error) => {
                // The store could not be asked: keep the lease until it expires, then the job runs again.
                tracing::warn!(job.id = %held.0, error = %error, "a result could not be settled; it will run again");
                finish_claim(shared, held, false);
            }
        }
    }
    shared.engine.faults().hit(FaultPoint::AfterWorkBeforeCommit);
    store_all(shared, &claims, commits).await;
}

/// The results, each with the blobs that its commit stores. The others that they name are made durable here, all with one
/// wait for the disk, before any row points to one of them. Where that fails, what they were made by has failed, and is
/// tried again as after any other failure.
async fn with_blobs_kept(shared: &Shared, results: Vec<Worked>) -> Vec<(Worked, Vec<HashedBytes>)> {
    let (mut files, mut judged) = (Vec::new(), Vec::with_capacity(results.len()));
    for mut worked in results {
        let mut drafts = worked.take_drafts();
        let small = Draft::take_small(&mut drafts);
        judged.push((worked, small, !drafts.is_empty()));
        files.append(&mut drafts);
    }
    let has_files = !files.is_empty();
    let kept = if has_files { shared.engine.blobs().keep(files).await } else { Ok(()) };
    let Err(error) = kept else {
        if has_files {
            shared.engine.faults().hit(FaultPoint::AfterBlobBeforeCommit);
        }
        return judged.into_iter().map(|(worked, small, _)| (worked, small)).collect();
    };
    // That there is no space is said by the jobs, which wait for it.
    if !matches!(error, BlobError::NoSpace { .. }) {
        tracing::warn!(%error, "what results name could not be stored; they count as failed");
    }
    let error = StepError::from(EngineError::from(error));
    let failed = |(worked, small, had_files): (Worked, _, _)| {
        if had_files { (worked.failed_with(error.clone()), Vec::new()) } else { (worked, small) }
    };
    judged.into_iter().map(failed).collect()
}

impl Worked {
    /// The blobs that the result, or its resume point, names and that are not durable yet.
    fn take_drafts(&mut self) -> Vec<Draft> {
        match self {
            Self::Found { drafts, .. } | Self::Failed { drafts, .. } => std::mem::take(drafts),
            Self::Internal { .. } | Self::Overdue { .. } | Self::Lookup { .. } | Self::TookTooLong { .. } => Vec::new(),
        }
    }

    /// What was worked out is gone: the steps have to run again.
    fn failed_with(self, error: StepError) -> Self {
        match self {
            Self::Found { claimed, info, stage, .. } | Self::Failed { claimed, info, stage, .. } => {
                Self::Failed { claimed, info, stage, failure: Failure::new(error), drafts: Vec::new() }
            }
            other => other,
        }
    }

    /// Whether the job is given up without having begun.
    pub(super) fn is_given_up(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::Lookup { .. })
    }

    pub(super) fn claim(&self) -> Claim {
        match self {
            Self::Found { claimed, .. }
            | Self::Failed { claimed, .. }
            | Self::Internal { claimed, .. }
            | Self::Overdue { claimed, .. }
            | Self::Lookup { claimed, .. } => (claimed.job.id, claimed.token),
            Self::TookTooLong { held, .. } => *held,
        }
    }
}

/// Plans the commit of one result. Large fan-outs run on their own, as they need many commits, and take the blobs along.
async fn settle(
    shared: &Arc<Shared>,
    worked: Worked,
    blobs: &mut Vec<HashedBytes>,
) -> EngineResult<Option<Settlement>> {
    let engine = &shared.engine;
    match worked {
        Worked::Found { claimed, info, stage, found, .. } => {
            let settler = Settler { engine, info: &info };
            let work = Work::of_job(&claimed.job, stage);
            let failures = internal::intolerable_failures(engine, &info, stage, claimed.job.item).await?;
            if failures > 0 {
                let error = StepError::reject(format!("{failures} of the parts failed, and on_failed is fail"));
                let failure = Failure::new(error.named("PartsFailed"));
                return commit(settler.failed(&claimed.job, claimed.token, &work, failure).await);
            }
            let guard = Settler::done(&claimed.job, claimed.token);
            match settler.settle_found(guard, work.clone(), *found).await {
                Ok(Settlement::FanOut(mut fan_out))
                    if claimed.job.cursor == 0 && fan_out.children.count <= CHILDREN_PER_COMMIT =>
                {
                    // All in one commit, which goes with those of others.
                    let claim = (&claimed.job, claimed.token);
                    let step = settler.fan_out_step(&mut fan_out, claim, 0, &mut None).await;
                    commit(step.map(|(commit, _)| commit))
                }
                Ok(Settlement::FanOut(fan_out)) => {
                    let (shared, info, blobs) = (Arc::clone(shared), Arc::clone(&info), std::mem::take(blobs));
                    tokio::spawn(run_fan_out(shared, claimed, info, fan_out, blobs));
                    Ok(None)
                }
                Ok(settlement) => Ok(Some(settlement)),
                Err(EngineError::Store(error)) => Err(error.into()),
                // What the processor returned does not fit its workflow.
                Err(error) => commit(settler.failed(&claimed.job, claimed.token, &work, engine_failure(error)).await),
            }
        }
        Worked::Failed { claimed, info, stage, failure, .. } => {
            shared.metrics.error(failure.error.class());
            let work = Work::of_job(&claimed.job, stage);
            commit(Settler { engine, info: &info }.failed(&claimed.job, claimed.token, &work, failure).await)
        }
        Worked::Internal { claimed, info } => match internal::run(engine, &info, &claimed).await {
            Err(error) => commit(without_stage(shared, &claimed, error)),
            planned => commit(planned),
        },
        Worked::Overdue { claimed, info, stage } => {
            commit(crate::report::overdue(engine, &info, &claimed, stage).await)
        }
        Worked::Lookup { claimed, error } => commit(without_stage(shared, &claimed, error)),
        Worked::TookTooLong { held, limit } => took_too_long(shared, held, limit).await,
    }
}

fn commit(commit: EngineResult<Commit>) -> EngineResult<Option<Settlement>> {
    Ok(Some(Settlement::Commit(Box::new(commit?))))
}

async fn took_too_long(shared: &Arc<Shared>, held: Claim, limit: Duration) -> EngineResult<Option<Settlement>> {
    shared.metrics.error(ErrorClass::Retry);
    let error = StepError::retry(format!("took longer than {} s", limit.as_secs_f64())).named("Timeout");
    let failure = |job: &Job| Failure::with_resume(error, job.resume.clone());
    let commit = failed_in_flight(shared, held, failure).await?;
    Ok(commit.map(|commit| Settlement::Commit(Box::new(commit))))
}

/// The failure of a job that is not at hand any more, so the store is asked for it. None if the job is gone.
async fn failed_in_flight(
    shared: &Arc<Shared>,
    (job, token): Claim,
    failure: impl FnOnce(&Job) -> Failure,
) -> EngineResult<Option<Commit>> {
    let engine = &shared.engine;
    let Some(view) = engine.store().job(job).await? else { return Ok(None) };
    let info = engine.catalog().submission(view.job.submission).await?;
    let Some(stage) = info.workflow.index_of(&view.job.stage) else { return Ok(None) };
    let work = Work::of_job(&view.job, stage);
    let settler = Settler { engine, info: &info };
    settler.failed(&view.job, token, &work, failure(&view.job)).await.map(Some)
}

/// The failure of a job that no stage's rules apply to: one of the engine's own, or one whose submission cannot be
/// read. Trouble that passes is waited out; anything else is kept for a person to see. A store that is closed under a
/// process says nothing of the job: its lease is left to expire.
fn without_stage(shared: &Shared, claimed: &ClaimedJob, error: EngineError) -> EngineResult<Commit> {
    if matches!(error, EngineError::Store(StoreError::Closed)) {
        return Err(error);
    }
    let failure = engine_failure(error);
    shared.metrics.error(failure.error.class());
    let error = ErrorRecord {
        class: failure.error.class(),
        kind: failure.error.kind.clone(),
        message: failure.error.message.clone(),
        step: None,
    };
    let data = serde_json::json!({"job": claimed.job.id, "error": error.message}).to_string();
    let event = NewEvent::new(kind::JOB_DEAD_LETTERED, Some(claimed.job.submission), data);
    let claim = |end| Guard::Claim { job: claimed.job.id, token: claimed.token, end };
    if error.class == ErrorClass::Retry {
        let after = Duration::from_secs(1);
        return Ok(Commit { guard: claim(JobEnd::Retry { after, error, resume: None }), changes: Changes::default() });
    }
    let changes = Changes { events: vec![event], ..Changes::default() };
    Ok(Commit { guard: claim(JobEnd::Dead { error, resume: None }), changes })
}

/// Stores the children of an item, chunk by chunk; each chunk is durable, and a crash goes on behind it.
async fn run_fan_out(
    shared: Arc<Shared>,
    claimed: ClaimedJob,
    info: Arc<SubmissionInfo>,
    mut fan_out: Box<FanOut>,
    mut blobs: Vec<HashedBytes>,
) {
    let held @ (job, token) = (claimed.job.id, claimed.token);
    let settler = Settler { engine: &shared.engine, info: &info };
    let mut cursor = usize::try_from(claimed.job.cursor).unwrap_or(0);
    let mut own_join = None;
    if cursor > 0 {
        own_join = match open_join_of(&shared, &claimed, &info, fan_out.work.stage).await {
            Ok(own_join) => own_join,
            Err(error) => {
                // Without its join the other children would end in another one, and neither would ever be full.
                tracing::warn!(job.id = %job, error = %error, "a fan-out did not go on; it will with the next attempt");
                return finish_claim(&shared, held, false);
            }
        };
    }
    loop {
        let step = settler.fan_out_step(&mut fan_out, (&claimed.job, token), cursor, &mut own_join).await;
        let (mut commit, upto) = match step {
            Ok(step) => step,
            Err(error) => {
                tracing::warn!(job.id = %job, error = %error, "a fan-out stopped; it will go on with the next attempt");
                return finish_claim(&shared, held, false);
            }
        };
        // With the first, which may name them.
        commit.changes.blobs = std::mem::take(&mut blobs);
        let commit = [commit];
        match commit_with_retry(&shared, &commit).await {
            Ok(results) if results.iter().all(CommitResult::is_applied) => shared.metrics.ended(&commit[0]),
            Ok(_) => return finish_claim(&shared, held, false),
            Err(error) => return not_stored(&shared, held, &error).await,
        }
        if upto >= fan_out.children.count {
            return finish_claim(&shared, held, true);
        }
        shared.engine.faults().hit(FaultPoint::MidFanOut);
        cursor = upto;
    }
}

/// The item's own join, made by an earlier attempt at the same fan-out.
async fn open_join_of(
    shared: &Shared,
    claimed: &ClaimedJob,
    info: &SubmissionInfo,
    stage: usize,
) -> EngineResult<Option<JoinId>> {
    let over = info.workflow.stages[stage].over;
    let Some((_, aggregation)) = info.workflow.next_collector_after(stage, over) else { return Ok(None) };
    if aggregation.aggregation.is_none_or(|aggregation| aggregation.scope != over) {
        return Ok(None);
    }
    let (stage, scope) = (Some(aggregation.name.clone()), Some(claimed.job.item.into()));
    let filter = JoinFilter { stage, scope, ..JoinFilter::default() };
    let joins = shared.engine.store().joins(claimed.job.submission, filter).await?;
    Ok(joins.into_iter().rev().find(|join| join.closed_at.is_none()).map(|join| join.id))
}

/// Stores a group. One that the store refuses for its content is tried one by one, so that it harms no other.
async fn store_all(shared: &Arc<Shared>, claims: &[Claim], commits: Vec<Commit>) {
    if commits.is_empty() {
        return;
    }
    match commit_with_retry(shared, &commits).await {
        Ok(results) => {
            for ((held, commit), result) in claims.iter().zip(&commits).zip(results) {
                if let CommitResult::Rejected(why) = &result {
                    shared.metrics.rejected();
                    tracing::info!(job.id = %held.0, why = %why, "a result came too late and was not counted");
                } else {
                    shared.metrics.ended(commit);
                }
                finish_claim(shared, *held, result.is_applied());
            }
        }
        Err(error) if error.is_transient() || commits.len() == 1 => {
            for held in claims {
                not_stored(shared, *held, &error).await;
            }
        }
        Err(_) => {
            for (held, commit) in claims.iter().zip(commits) {
                Box::pin(store_all(shared, &[*held], vec![commit])).await;
            }
        }
    }
}

/// A result that could not be stored. Where that may pass, it is forgotten and the lease left to expire: the job runs
/// again, and nothing is counted. Where the store refuses what is in it, the job becomes a dead letter with the reason,
/// counted as failed, so that what waits for it goes on.
async fn not_stored(shared: &Arc<Shared>, held: Claim, error: &StoreError) {
    if error.is_transient() {
        tracing::debug!(job.id = %held.0, %error, "a result could not be stored; its job will run again");
        return finish_claim(shared, held, false);
    }
    tracing::error!(job.id = %held.0, error = %error, "a result could not be stored");
    let refused = StepError::bug(format!("its result could not be stored: {error}")).named("Refused");
    let given_up = failed_in_flight(shared, held, |_| Failure::new(refused)).await;
    let stored = match given_up {
        Ok(Some(commit)) => commit_with_retry(shared, &[commit]).await.is_ok(),
        Ok(None) | Err(_) => false,
    };
    finish_claim(shared, held, stored);
}

/// Work in hand is kept until a store in trouble can be used again, or for as long as a lease holds.
async fn commit_with_retry(shared: &Shared, commits: &[Commit]) -> Result<Vec<CommitResult>, StoreError> {
    let observe = |answer: &StoreResult<_>, took| match answer {
        Ok(_) => {
            shared.metrics.committed(took);
            shared.health.record_answer(Call::Commit);
        }
        Err(error) => {
            shared.metrics.store_error();
            if error.is_transient() {
                shared.health.failed(Call::Commit, error);
            }
        }
    };
    store_retry::commit_with_retry(&**shared.engine.store(), commits, shared.options.lease, observe).await
}

fn finish_claim(shared: &Shared, held: Claim, finished: bool) {
    shared.in_flight.remove(held);
    if finished {
        shared.finished.fetch_add(1, Ordering::Relaxed);
    }
    shared.room_for_more.send_replace(());
}
