//! A worker for some jobs that ends when they are *quiet*: none of them runs, or will within the time that one cares to
//! wait.

use bindery_core::{Timestamp, job::JobState};
use bindery_engine::{Engine, StopSignal, Worker, WorkerOptions, stop_pair};
use bindery_store::{
    Store, StoreResult,
    query::{JobFilter, JobView},
};
use std::time::Duration;

/// How long nothing may have been heard of the store before it is looked at again.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Runs a worker until the jobs that are meant are quiet, or somebody says stop. What it says is why the worker ended by
/// itself.
pub(crate) async fn work_until_quiet(
    engine: &Engine,
    options: WorkerOptions,
    meant: JobFilter,
    wait: Duration,
    stop: &StopSignal,
) -> StoreResult<Option<String>> {
    let store = &**engine.store();
    let patience = store.clock().now() + wait;
    if stop.is_stopping() || !can_go_on(store, &meant, patience).await? {
        return Ok(None);
    }
    let (handle, own_stop) = stop_pair();
    let worker = Worker::new(engine.clone(), options);
    let mut work = tokio::spawn(async move { worker.run(own_stop).await });
    let mut asked = stop.clone();
    let quiet = tokio::select! {
        quiet = until_quiet(store, &meant, patience) => quiet,
        () = asked.stopping() => Ok(()),
        ended = &mut work => {
            return Ok(Some(match ended {
                Ok(Ok(_)) => "it ended by itself".to_owned(),
                Ok(Err(error)) => error.to_string(),
                Err(error) => error.to_string(),
            }));
        }
    };
    handle.stop();
    let at_once = async {
        asked.now().await;
        handle.stop();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        ended = &mut work => {
            if let Err(error) = ended {
                tracing::error!(%error, "a worker did not end as it should; its leases will expire");
            }
        }
        () = at_once => {}
    }
    quiet.map(|()| None)
}

async fn until_quiet(store: &dyn Store, meant: &JobFilter, patience: Timestamp) -> StoreResult<()> {
    loop {
        let mark = store.change_mark();
        if !can_go_on(store, meant, patience).await? {
            return Ok(());
        }
        store.changed(mark, LOOK_EVERY).await;
    }
}

/// Whether one of the jobs runs, or will before this time.
async fn can_go_on(store: &dyn Store, meant: &JobFilter, patience: Timestamp) -> StoreResult<bool> {
    let is_paused = store.queues().await?.iter().any(|view| Some(&view.queue) == meant.queue.as_ref() && view.paused);
    let in_states = |states: &[JobState]| JobFilter { states: states.to_vec(), ..meant.clone() };
    let one = JobFilter { limit: Some(1), ..in_states(&[JobState::Running, JobState::Ready]) };
    if !is_paused && !store.jobs(one).await?.is_empty() {
        return Ok(true);
    }
    // All states in one look: a job that goes from one to another between two looks would be in neither.
    let live = [JobState::Running, JobState::Ready, JobState::Scheduled, JobState::Parked];
    let live = store.jobs(in_states(&live)).await?;
    let moves = |state: JobState| state == JobState::Running || (state == JobState::Ready && !is_paused);
    let is_due = |view: &JobView| !is_paused && view.job.run_at.is_some_and(|at| at <= patience);
    Ok(live.iter().any(|view| moves(view.job.state) || is_due(view)))
}
