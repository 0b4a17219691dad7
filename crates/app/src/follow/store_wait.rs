//! How long a command that somebody waits for goes on while the store cannot be used: a disk without space, a database
//! that is away. A worker goes on without end; a person is told after a while.

use crate::{
    app::App,
    error::{AppError, AppResult},
    notice::Notice,
};
use bindery_core::{SubmissionId, job::JobState, progress::Progress};
use bindery_engine::{StoreHealth, error::NO_SPACE};
use bindery_store::query::JobFilter;
use std::time::{Duration, Instant};

/// How long a command waits unless told otherwise.
pub const USUAL_SECONDS: u64 = 60;

/// Work that waits for space tries now and then, and looks healthy for a moment. Trouble that was not seen for this long
/// is over.
const OVER_AFTER: Duration = Duration::from_secs(40);

/// On a disk that is nearly full, trouble comes and goes.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// A bounded wait for a store that cannot be used.
#[derive(Debug)]
pub struct StoreWait {
    limit: Duration,
    /// Since when, and when it was seen for the last time.
    trouble: Option<(Instant, Instant)>,
    /// When it was last said that it is waited for.
    told: Option<Instant>,
    /// How much was done when something was last seen to be done.
    done: u64,
}

impl StoreWait {
    pub fn new(seconds: u64) -> Self {
        Self { limit: Duration::from_secs(seconds), trouble: None, told: None, done: 0 }
    }

    /// Looks at the worker, and at work that waits for space. Fails when that has lasted too long.
    pub(super) async fn look(
        &mut self,
        app: &App,
        id: SubmissionId,
        progress: &Progress,
        health: &StoreHealth,
    ) -> AppResult<()> {
        let done = progress.stages.iter().map(|stage| stage.counts.done()).sum();
        if done > self.done {
            self.done = done;
            self.trouble = None;
        }
        if let Some(error) = health.trouble() {
            return self.go_on(app, error.to_string());
        }
        if let Some(reason) = no_space(app, id, progress).await? {
            return self.go_on(app, reason);
        }
        self.trouble = self.trouble.filter(|(_, seen)| seen.elapsed() < OVER_AFTER);
        Ok(())
    }

    /// Whether something waits for space.
    pub(super) fn is_waiting(&self) -> bool {
        self.trouble.is_some()
    }

    /// The store could not even be read. Fails if that is no reason to wait, or has lasted too long.
    pub(super) fn not_read(&mut self, app: &App, error: AppError) -> AppResult<()> {
        if error.is_passing() { self.go_on(app, error.to_string()) } else { Err(error) }
    }

    fn go_on(&mut self, app: &App, reason: String) -> AppResult<()> {
        let now = Instant::now();
        let (since, _) = self.trouble.unwrap_or((now, now));
        if !self.limit.is_zero() && self.told.is_none_or(|told| told.elapsed() >= TELL_EVERY) {
            self.told = Some(now);
            app.notify(&Notice::WaitingForStore { reason: reason.clone(), limit: self.limit });
        }
        self.trouble = Some((since, now));
        if since.elapsed() < self.limit {
            return Ok(());
        }
        Err(AppError::StoreAway(reason))
    }
}

/// Why work of the submission waits for space, if some does.
async fn no_space(app: &App, id: SubmissionId, progress: &Progress) -> AppResult<Option<String>> {
    if progress.stages.iter().all(|stage| stage.counts.parked == 0) {
        return Ok(None);
    }
    parked_for_space(app, id).await
}

/// The same, asked of the jobs alone.
pub(super) async fn parked_for_space(app: &App, id: SubmissionId) -> AppResult<Option<String>> {
    let filter =
        JobFilter { submission: Some(id), states: vec![JobState::Parked], limit: Some(100), ..JobFilter::default() };
    let parked = app.store().jobs(filter).await?;
    let error = parked.into_iter().filter_map(|view| view.job.error).find(|error| error.kind == NO_SPACE);
    Ok(error.map(|error| error.message))
}
