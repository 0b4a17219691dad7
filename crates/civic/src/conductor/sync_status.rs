//! How following stands: what runs, how much there is, and which cities want somebody to look.

use super::heartbeat::{FETCHER, IsDead, alive, is_alive};
use crate::processing::run::is_processor;
use crate::records::{CIVIC_QUEUE, Civic as _, Jurisdiction, JurisdictionFilter, SyncRunFilter, SyncStatus};
use bindery_core::Timestamp;
use bindery_store::{Store, StoreResult};
use serde::Serialize;

/// The names of the fields are part of the interface.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SyncStatusReport {
    /// Somebody visits cities, or waits until one is due.
    pub is_running: bool,
    /// The visits under way.
    pub running: Vec<UnderWay>,
    pub active_cities: u64,
    pub total_meetings: u64,
    pub summarized_meetings: u64,
    pub pending_meetings: u64,
    /// Those whose last visit failed.
    pub failed_cities: Vec<String>,
    pub failed_count: u64,
    pub failures: Vec<Failing>,
    /// Those that cannot be visited as they are stored.
    pub skipped: Vec<NotVisited>,
    /// Those that had meetings and have had none in several visits.
    pub stopped_yielding: Vec<Silent>,
    /// Those that were visited and never had a meeting.
    pub never_yielded: Vec<String>,
    /// When the next city is due.
    pub next_sync_at: Option<Timestamp>,
    /// Those that read what waits, and are seen at work.
    pub processors: Vec<AtWork>,
    pub queue: QueueCounts,
}

/// Somebody who reads what waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AtWork {
    pub worker: String,
    pub since: Timestamp,
    /// Jobs in hand, and jobs done.
    pub running: u64,
    pub finished: u64,
}

/// How many jobs there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct QueueCounts {
    /// Also those that wait for their time.
    pub pending: u64,
    pub processing: u64,
    /// Given up.
    pub failed: u64,
    pub is_paused: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnderWay {
    #[serde(rename = "city_banana")]
    pub city_key: String,
    pub since: Option<Timestamp>,
    pub by: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failing {
    #[serde(rename = "city_banana")]
    pub city_key: String,
    pub error: Option<String>,
    pub consecutive_failures: u32,
    pub last_success_at: Option<Timestamp>,
    pub next_sync_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotVisited {
    #[serde(rename = "city_banana")]
    pub city_key: String,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Silent {
    #[serde(rename = "city_banana")]
    pub city_key: String,
    /// When meetings were last found.
    pub since: Option<Timestamp>,
    /// Visits since then that went well and found nothing.
    pub empty_runs: u32,
}

/// How following stands on a store.
pub async fn get_sync_status(store: &dyn Store, is_dead: IsDead) -> StoreResult<SyncStatusReport> {
    let alive = alive(store, is_dead).await?;
    let civic = store.civic();
    let under_way = SyncRunFilter { status: Some(SyncStatus::InProgress), ..SyncRunFilter::default() };
    let mut runs = civic.sync_runs(under_way).await?;
    // One that nobody is behind is not under way; the next to visit a city ends it.
    runs.retain(|run| run.worker().is_some_and(|by| alive.iter().any(|name| name == by)));
    let counts = civic.counts().await?;
    let active = JurisdictionFilter { active: Some(true), ..JurisdictionFilter::default() };
    let cities = civic.jurisdictions(active).await?;
    let mut standing = SyncStatusReport {
        is_running: !runs.is_empty() || alive.iter().any(|name| name.ends_with(FETCHER)),
        active_cities: cities.len() as u64,
        total_meetings: counts.meetings,
        summarized_meetings: counts.summarised,
        pending_meetings: counts.pending,
        next_sync_at: cities.iter().filter_map(|city| city.health.next_sync_at).min(),
        ..SyncStatusReport::default()
    };
    let now = store.clock().now();
    for view in store.workers().await?.iter().filter(|view| is_processor(&view.worker) && is_alive(view, now, is_dead))
    {
        let (worker, since) = (view.worker.to_string(), view.started_at);
        standing.processors.push(AtWork { worker, since, running: view.running, finished: view.finished });
    }
    for view in store.queues().await?.iter().filter(|view| *view.queue == *CIVIC_QUEUE) {
        standing.queue = QueueCounts {
            pending: view.ready + view.scheduled + view.parked + view.awaiting,
            processing: view.running,
            failed: view.dead,
            is_paused: view.paused,
        };
    }
    for run in runs {
        let by = run.worker().map(str::to_owned);
        standing.running.push(UnderWay { city_key: run.city_key, since: run.started_at, by });
    }
    for city in cities {
        standing.look_at(city);
    }
    standing.failed_count = standing.failed_cities.len() as u64;
    Ok(standing)
}

impl SyncStatusReport {
    fn look_at(&mut self, city: Jurisdiction) {
        let Jurisdiction { city_key, health, .. } = city;
        let is_silent = health.is_silent();
        if health.consecutive_failures > 0 {
            self.failed_cities.push(city_key.clone());
            self.failures.push(Failing {
                city_key: city_key.clone(),
                error: health.last_error,
                consecutive_failures: health.consecutive_failures,
                last_success_at: health.last_success_at,
                next_sync_at: health.next_sync_at,
            });
        } else if let Some(reason) = health.last_error {
            self.skipped.push(NotVisited { city_key: city_key.clone(), reason });
        }
        if is_silent {
            let (since, empty_runs) = (health.last_found_at, health.empty_runs);
            self.stopped_yielding.push(Silent { city_key, since, empty_runs });
        } else if health.last_success_at.is_some() && health.last_found_at.is_none() {
            self.never_yielded.push(city_key);
        }
    }
}
