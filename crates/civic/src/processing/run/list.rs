//! Many cities, three at a time; visited before, if that is wanted.

use super::{CITIES_AT_ONCE, CityProcessed, CityStatus, Processing};
use crate::conductor::{Conductor, SyncResult};
use crate::records::SyncStatus;
use bindery_engine::StopSignal;
use serde::Serialize;
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};
use tokio::{sync::Semaphore, task::JoinSet};

/// What a visit found and what processing made of it. The fields are those of processing, and `sync` is the visit.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Visited {
    #[serde(flatten)]
    pub processed: CityProcessed,
    pub sync: SyncResult,
}

impl Processing {
    /// Works on the jobs of these cities until each is quiet. Observers hear of each as it ends; the results are in the
    /// order of the list.
    pub async fn process_cities(&self, city_keys: &[String], stop: &StopSignal) -> Vec<CityProcessed> {
        let processing = self.clone();
        self.each(city_keys, stop, move |city_key, turn, stop| {
            let processing = processing.clone();
            async move { turn.process(&processing, &city_key, &stop).await }
        })
        .await
        .into_iter()
        .map(|(city_key, result)| result.unwrap_or_else(|| not_begun(&city_key)))
        .collect()
    }

    /// The same, and visits each city before, due or not. What waits is processed also if the visit fails.
    pub async fn sync_and_process_cities(
        &self,
        conductor: &Conductor,
        city_keys: &[String],
        stop: &StopSignal,
    ) -> Vec<Visited> {
        let (processing, conductor) = (self.clone(), conductor.clone());
        self.each(city_keys, stop, move |city_key, turn, stop| {
            let (processing, conductor) = (processing.clone(), conductor.clone());
            async move {
                let sync = conductor.sync_city(&city_key, &stop).await;
                let mut processed = match sync.status {
                    SyncStatus::Pending => not_begun(&city_key),
                    _ => turn.process(&processing, &city_key, &stop).await,
                };
                processed.not_visited(&sync);
                let visited = Visited { processed, sync };
                processing.hearing.visited(&visited);
                visited
            }
        })
        .await
        .into_iter()
        .map(|(city_key, result)| {
            result.unwrap_or_else(|| Visited { processed: not_begun(&city_key), ..Visited::default() })
        })
        .collect()
    }

    /// One task for each city. None: it failed.
    async fn each<T, F>(
        &self,
        city_keys: &[String],
        stop: &StopSignal,
        work: impl Fn(String, Turn, StopSignal) -> F,
    ) -> Vec<(String, Option<T>)>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let turn = Turn {
            cities: Arc::new(Semaphore::new(CITIES_AT_ONCE)),
            left: Arc::new(AtomicUsize::new(city_keys.len())),
        };
        let mut under_way = JoinSet::new();
        for city_key in city_keys {
            let (name, work) = (city_key.clone(), work(city_key.clone(), turn.clone(), stop.clone()));
            under_way.spawn(async move { (name, work.await) });
        }
        let mut results = HashMap::new();
        while let Some(ended) = under_way.join_next().await {
            match ended {
                Ok((city_key, result)) => drop(results.insert(city_key, result)),
                Err(error) => tracing::error!(%error, "a city is not processed any further"),
            }
        }
        city_keys.iter().map(|city_key| (city_key.clone(), results.remove(city_key))).collect()
    }
}

/// Whose turn it is.
#[derive(Debug, Clone)]
struct Turn {
    cities: Arc<Semaphore>,
    /// Cities that are not done.
    left: Arc<AtomicUsize>,
}

impl Turn {
    async fn process(&self, processing: &Processing, city_key: &str, stop: &StopSignal) -> CityProcessed {
        let mut stopped = stop.clone();
        let pass = tokio::select! {
            biased;
            () = stopped.stopping() => None,
            pass = self.cities.acquire() => pass.ok(),
        };
        let Some(_pass) = pass else {
            let result = not_begun(city_key);
            processing.hearing.city_ended(&result);
            return result;
        };
        // The threads are shared; a city that is alone has them all.
        let beside = self.left.load(Ordering::Relaxed).clamp(1, CITIES_AT_ONCE);
        let threads = (processing.options.threads / beside).max(1);
        let result = processing.process_city(city_key, threads, stop).await;
        self.left.fetch_sub(1, Ordering::Relaxed);
        result
    }
}

impl CityProcessed {
    /// A visit that did not take place, or failed, is not hidden by what went well besides.
    fn not_visited(&mut self, sync: &SyncResult) {
        let worst = match sync.status {
            SyncStatus::Failed => CityStatus::Failed,
            SyncStatus::Skipped => CityStatus::Skipped,
            SyncStatus::Pending | SyncStatus::InProgress | SyncStatus::Completed => return,
        };
        if matches!(self.status, CityStatus::Pending | CityStatus::Skipped) {
            return;
        }
        self.status = if self.processed_count + self.partial_count == 0 { worst } else { CityStatus::Partial };
        let said: Vec<&str> =
            [&sync.error_message, &self.error_message].into_iter().flatten().map(String::as_str).collect();
        self.error_message = Some(said.join("; "));
    }
}

fn not_begun(city_key: &str) -> CityProcessed {
    CityProcessed::without_work(city_key, CityStatus::Pending, "not processed: the program is stopping")
}
