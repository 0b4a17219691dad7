//! One city, from its first job to its result.

use super::{CityProcessed, CityStatus, Processing};
use crate::records::{CIVIC_QUEUE, Civic as _, standing_submission};
use bindery_core::{
    Name, SubmissionId, Timestamp,
    job::{ENGINE_QUEUE, JobState},
};
use bindery_engine::{StopSignal, Worker, WorkerOptions, stop_pair};
use bindery_store::{
    StoreError, StoreResult,
    query::{JobFilter, JobView},
};
use std::time::{Duration, Instant};

/// How long nothing may have been heard of the store before it is looked at again.
const LOOK_EVERY: Duration = Duration::from_millis(500);

impl Processing {
    /// Works on the jobs of one city until it is quiet.
    pub async fn process_city(&self, city_key: &str, threads: usize, stop: &StopSignal) -> CityProcessed {
        let begun = Instant::now();
        let result = self.worked_on(city_key, threads, stop).await;
        let mut result = result.unwrap_or_else(|error| {
            tracing::error!(%error, city = city_key, "a city is not processed");
            CityProcessed::without_work(city_key, CityStatus::Failed, of_store(&error))
        });
        result.duration_seconds = begun.elapsed().as_secs_f64();
        self.hearing.city_ended(&result);
        result
    }

    async fn worked_on(&self, city_key: &str, threads: usize, stop: &StopSignal) -> StoreResult<CityProcessed> {
        let store = self.engine.store();
        let Some(submission) = store.find_submission(&standing_submission(city_key)).await? else {
            if store.civic().jurisdiction(city_key).await?.is_none() {
                let why = crate::conductor::unknown(city_key);
                return Ok(CityProcessed::without_work(city_key, CityStatus::Skipped, why));
            }
            // Nothing of it was ever queued.
            return Ok(CityProcessed { status: CityStatus::Completed, ..CityProcessed::of(city_key) });
        };
        self.hearing.take(city_key);
        let trouble = self.work_until_quiet(submission.id, threads, stop).await?;
        let mut result = CityProcessed::of(city_key);
        let left = store.jobs(of_city(submission.id, Vec::new())).await?;
        result.add_up(&self.hearing.take(city_key), &left, stop.is_stopping());
        if let Some(trouble) = trouble {
            result.status = CityStatus::Failed;
            result.error_message = Some(trouble);
        }
        Ok(result)
    }

    /// Runs a worker for the city, and ends it when the city is quiet or somebody says stop. What it says is why the
    /// worker ended by itself.
    async fn work_until_quiet(
        &self,
        submission: SubmissionId,
        threads: usize,
        stop: &StopSignal,
    ) -> StoreResult<Option<String>> {
        if !self.can_go_on(submission, self.engine.store().clock().now() + self.options.wait).await? {
            return Ok(None);
        }
        let number = self.number();
        let options = WorkerOptions {
            name: Name::from(format!("{}-{}", self.options.name, number.number)),
            queues: Some(vec![Name::from(CIVIC_QUEUE), Name::from(ENGINE_QUEUE)]),
            submissions: Some(vec![submission]),
            threads,
            drain: self.options.drain,
            follow_reports: false,
            ..WorkerOptions::default()
        };
        let (handle, own_stop) = stop_pair();
        let worker = Worker::new(self.engine.clone(), options);
        let mut work = tokio::spawn(async move { worker.run(own_stop).await });
        let mut asked = stop.clone();
        let quiet = tokio::select! {
            quiet = self.until_quiet(submission) => quiet,
            () = asked.stopping() => Ok(()),
            ended = &mut work => {
                let why = match ended {
                    Ok(Ok(_)) => "it ended by itself".to_owned(),
                    Ok(Err(error)) => error.to_string(),
                    Err(error) => error.to_string(),
                };
                return Ok(Some(format!("the worker of the city came to grief: {why}")));
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
        drop(number);
        quiet.map(|()| None)
    }

    async fn until_quiet(&self, submission: SubmissionId) -> StoreResult<()> {
        let store = self.engine.store();
        let patience = store.clock().now() + self.options.wait;
        loop {
            let mark = store.change_mark();
            if !self.can_go_on(submission, patience).await? {
                return Ok(());
            }
            store.changed(mark, LOOK_EVERY).await;
        }
    }

    /// Whether a job of the city runs, or will before this time.
    async fn can_go_on(&self, submission: SubmissionId, patience: Timestamp) -> StoreResult<bool> {
        let store = self.engine.store();
        let is_paused = store.queues().await?.iter().any(|view| *view.queue == *CIVIC_QUEUE && view.paused);
        let moves = |state: JobState| state == JobState::Running || (state == JobState::Ready && !is_paused);
        let moving = vec![JobState::Running, JobState::Ready];
        let one = JobFilter { limit: Some(1), ..of_city(submission, moving) };
        if !is_paused && !store.jobs(one).await?.is_empty() {
            return Ok(true);
        }
        // All states in one look: a job that goes from one to another between two looks would be in neither.
        let states = vec![JobState::Running, JobState::Ready, JobState::Scheduled, JobState::Parked];
        let live = store.jobs(of_city(submission, states)).await?;
        let is_due = |view: &JobView| !is_paused && view.job.run_at.is_some_and(|at| at <= patience);
        Ok(live.iter().any(|view| moves(view.job.state) || is_due(view)))
    }
}

fn of_city(submission: SubmissionId, states: Vec<JobState>) -> JobFilter {
    JobFilter { submission: Some(submission), queue: Some(Name::from(CIVIC_QUEUE)), states, ..JobFilter::default() }
}

fn of_store(error: &StoreError) -> String {
    format!("the store cannot be used: {error}")
}
