//! One city, from its first job to its result.

use super::{CityProcessed, CityStatus, Processing};
use crate::quiet::work_until_quiet;
use crate::records::{CIVIC_QUEUE, Civic as _, standing_submission};
use bindery_core::{Name, SubmissionId, job::ENGINE_QUEUE};
use bindery_engine::{StopSignal, WorkerOptions};
use bindery_store::{StoreError, StoreResult, query::JobFilter};
use std::time::Instant;

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
            return Ok(CityProcessed { status: CityStatus::Completed, ..CityProcessed::new(city_key) });
        };
        self.hearing.take(city_key);
        let number = self.number();
        let options = WorkerOptions {
            name: Name::from(format!("{}-{}", self.options.name, number.number)),
            queues: Some(vec![Name::from(CIVIC_QUEUE), Name::from(ENGINE_QUEUE)]),
            submissions: Some(vec![submission.id]),
            threads,
            drain: self.options.drain,
            follow_reports: false,
            ..WorkerOptions::default()
        };
        let meant = of_city(submission.id);
        let trouble = work_until_quiet(&self.engine, options, meant.clone(), self.options.wait, stop).await?;
        drop(number);
        let mut result = CityProcessed::new(city_key);
        let left = store.jobs(meant).await?;
        result.add_up(&self.hearing.take(city_key), &left, stop.is_stopping());
        if let Some(trouble) = trouble {
            result.status = CityStatus::Failed;
            result.error_message = Some(format!("the worker of the city failed: {trouble}"));
        }
        Ok(result)
    }
}

fn of_city(submission: SubmissionId) -> JobFilter {
    JobFilter { submission: Some(submission), queue: Some(Name::from(CIVIC_QUEUE)), ..JobFilter::default() }
}

fn of_store(error: &StoreError) -> String {
    format!("the store cannot be used: {error}")
}
