//! Following a submission: until it is final, or nothing more happens to it by itself, and why that is so.
//!
//! | file | what it does |
//! |---|---|
//! | `store_wait` | how long somebody waits for a store that cannot be used |
//! | `report` | what failed, what waits and for what, and where the result is |

mod report;
mod store_wait;

pub use report::{Failed, FailedPart, ResultLocation, Waits, failed_parts, has_worker, stored_result, waits};
pub use store_wait::{StoreWait, USUAL_SECONDS};

use crate::{app::App, error::AppResult, signals::Signals, supervisor::Supervisor};
use bindery_core::{SubmissionId, job::JobState, progress::Progress};
use bindery_engine::{StoreHealth, view};
use bindery_store::query::JobFilter;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// How often it is asked whether it is over.
const LOOK_FOR_END_EVERY: Duration = Duration::from_millis(10);

/// How following a submission ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Final,
    /// Everything left of it waits for somebody or something else.
    Stuck,
    Interrupted,
}

/// Follows a submission that the supervisor's worker works on. `tell` gets its progress, some times a second.
pub async fn follow(
    app: &App,
    id: SubmissionId,
    supervisor: &mut Supervisor,
    signals: &mut Signals,
    wait: &mut StoreWait,
    tell: impl FnMut(&Progress),
) -> AppResult<End> {
    let health = Arc::clone(supervisor.health());
    let end = supervisor.run_until(signals, until_settled(app, id, &health, wait, tell)).await?;
    Ok(end.unwrap_or(End::Interrupted))
}

async fn until_settled(
    app: &App,
    id: SubmissionId,
    health: &StoreHealth,
    wait: &mut StoreWait,
    mut tell: impl FnMut(&Progress),
) -> AppResult<End> {
    loop {
        let (mark, begun) = (app.store().change_mark(), Instant::now());
        match look(app, id, health, wait, &mut tell).await {
            Ok(Some(end)) => return Ok(end),
            Ok(None) => {}
            Err(error) => wait.not_read(app, error)?,
        }
        // Not for every commit: looking twenty times a second is live enough, and leaves the cores to the work. Less often
        // where looking takes long.
        let pause = (begun.elapsed() * 20).clamp(Duration::from_millis(50), Duration::from_secs(2));
        pause_unless_final(app, id, pause).await;
        app.store().changed(mark, Duration::from_millis(500)).await;
    }
}

/// Whether it is over costs one row to know: that is asked during the pause, too.
async fn pause_unless_final(app: &App, id: SubmissionId, pause: Duration) {
    let is_over = async {
        loop {
            tokio::time::sleep(LOOK_FOR_END_EVERY).await;
            // What cannot be read is told by the next look.
            let found = app.store().submission(id).await;
            if !matches!(found, Ok(Some(submission)) if !submission.status.is_final()) {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(pause, is_over).await;
}

/// How it stands; the end if it has come to one.
async fn look(
    app: &App,
    id: SubmissionId,
    health: &StoreHealth,
    wait: &mut StoreWait,
    tell: &mut impl FnMut(&Progress),
) -> AppResult<Option<End>> {
    let progress = view::progress(&app.engine, id).await?;
    tell(&progress);
    if progress.status.is_final() {
        return Ok(Some(End::Final));
    }
    wait.look(app, id, &progress, health).await?;
    // What waits for space goes on by itself once there is some. It may wait since just now, after the progress was looked at.
    let is_stuck = !wait.is_waiting()
        && is_stuck(app, id, &progress).await?
        && store_wait::parked_for_space(app, id).await?.is_none();
    Ok(is_stuck.then_some(End::Stuck))
}

/// Whether nothing will happen to a submission by itself: everything left of it waits for a person, for a program
/// outside, for a dependency, or for a paused queue.
pub async fn is_stuck(app: &App, id: SubmissionId, progress: &Progress) -> AppResult<bool> {
    if progress.status.is_final() {
        return Ok(false);
    }
    let paused = app.store().queues().await?.into_iter().filter(|queue| queue.paused).collect::<Vec<_>>();
    let states = vec![JobState::Ready, JobState::Running, JobState::Scheduled];
    // Without a paused queue a single such job answers the question.
    let limit = paused.is_empty().then_some(1);
    let moving = app.store().jobs(JobFilter { submission: Some(id), states, limit, ..JobFilter::default() }).await?;
    let will_move = |state: JobState, queue: &str| {
        state == JobState::Running || !paused.iter().any(|paused| paused.queue == *queue)
    };
    if moving.iter().any(|view| will_move(view.job.state, &view.job.queue)) {
        return Ok(false);
    }
    // The last job may have ended since the progress was looked at, and the submission with it.
    let now = app.store().submission(id).await?;
    Ok(now.is_some_and(|submission| !submission.status.is_final()))
}
