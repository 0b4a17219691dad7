//! Who works on a store, and who did.

use crate::{app::App, error::AppResult, supervisor::SILENT_AFTER};
use bindery_core::{Name, Timestamp, job::JobState};
use bindery_engine::runs::is_run;
use bindery_store::query::{JobFilter, WorkerView};
use serde::Serialize;
use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    time::Duration,
};

/// Those that ended longer ago are not listed unless asked for.
const A_DAY: Duration = Duration::from_hours(24);

/// How a worker stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerState {
    Working,
    Idle,
    /// It said that it stops.
    Stopped,
    /// It said nothing for too long.
    Gone,
    /// It was last seen in the future: nobody knows when that was.
    ClockAhead,
}

impl fmt::Display for WorkerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Working => "working",
            Self::Idle => "idle",
            Self::Stopped => "stopped",
            Self::Gone => "GONE",
            Self::ClockAhead => "CLOCK AHEAD",
        })
    }
}

/// A worker with what it holds.
#[derive(Debug, Serialize)]
pub struct WorkerInfo {
    #[serde(flatten)]
    pub view: WorkerView,
    pub state: WorkerState,
    pub seen_seconds_ago: f64,
    /// How far its clock is ahead of the store's; none where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_ahead_seconds: Option<f64>,
    pub began_seconds_ago: f64,
    /// Jobs finished in a second, on average since it began.
    pub per_second: f64,
    /// How many jobs of each stage it holds.
    pub holds: BTreeMap<Name, u64>,
}

impl App {
    /// The workers, and how many were left out because they ended more than a day ago.
    pub async fn workers(&self, also_old: bool) -> AppResult<(Vec<WorkerInfo>, usize)> {
        let mut held = self.jobs_in_hand().await?;
        let now = self.store().clock().now();
        let views = self.store().workers().await?.into_iter().filter(|view| !is_run(&view.worker));
        let mut workers: Vec<WorkerInfo> = views.map(|view| WorkerInfo::new(view, &mut held, now)).collect();
        // A claim comes before the first sign of life, and may outlast the row of a worker.
        let ended = |worker: &WorkerInfo| {
            matches!(worker.state, WorkerState::Stopped | WorkerState::Gone) && worker.holds.is_empty()
        };
        let listed = workers.len();
        workers.retain(|worker| also_old || !ended(worker) || now.since(worker.view.seen_at) < A_DAY);
        let left_out = listed - workers.len();
        Ok((workers, left_out))
    }

    /// What each worker holds: how many jobs of each stage.
    async fn jobs_in_hand(&self) -> AppResult<HashMap<Name, BTreeMap<Name, u64>>> {
        let running = JobFilter { states: vec![JobState::Running], ..JobFilter::default() };
        let mut held: HashMap<Name, BTreeMap<Name, u64>> = HashMap::new();
        for view in self.store().jobs(running).await? {
            if let Some(worker) = view.job.worker {
                *held.entry(worker).or_default().entry(view.job.stage).or_default() += 1;
            }
        }
        Ok(held)
    }
}

impl WorkerInfo {
    fn new(view: WorkerView, held: &mut HashMap<Name, BTreeMap<Name, u64>>, now: Timestamp) -> Self {
        let holds = held.remove(&view.worker).unwrap_or_default();
        let (silent, ahead) = (now.since(view.seen_at), view.clock_ahead(now));
        let state = match view.left_at {
            Some(_) => WorkerState::Stopped,
            None if ahead.is_some() => WorkerState::ClockAhead,
            None if silent > SILENT_AFTER => WorkerState::Gone,
            None if holds.is_empty() => WorkerState::Idle,
            None => WorkerState::Working,
        };
        let worked = view.seen_at.since(view.started_at).as_secs_f64();
        let per_second = if worked > 0.0 { view.finished as f64 / worked } else { 0.0 };
        let (seen_seconds_ago, began_seconds_ago) = (silent.as_secs_f64(), now.since(view.started_at).as_secs_f64());
        let clock_ahead_seconds = ahead.map(|ahead| ahead.as_secs_f64());
        Self { view, state, seen_seconds_ago, clock_ahead_seconds, began_seconds_ago, per_second, holds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_told_from_a_goodbye() {
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
        let view = |seen: i64, left: Option<i64>| WorkerView {
            worker: "w".into(),
            started_at: at(0),
            seen_at: at(seen),
            left_at: left.map(at),
            running: 0,
            finished: 50,
        };
        let state = |view, now| WorkerInfo::new(view, &mut HashMap::new(), at(now)).state;
        assert_eq!(state(view(100, None), 105), WorkerState::Idle);
        assert_eq!(state(view(100, None), 131), WorkerState::Gone);
        assert_eq!(state(view(100, Some(100)), 500), WorkerState::Stopped);
        assert_eq!(state(view(100, None), 99), WorkerState::Idle, "clocks differ a little");
        let ahead = WorkerInfo::new(view(100_000, None), &mut HashMap::new(), at(500));
        assert_eq!((ahead.state, ahead.clock_ahead_seconds), (WorkerState::ClockAhead, Some(99_500.0)));
        let mut held = HashMap::from([("w".into(), BTreeMap::from([("count".into(), 2)]))]);
        let working = WorkerInfo::new(view(100, None), &mut held, at(101));
        assert_eq!((working.state, working.per_second), (WorkerState::Working, 0.5));
    }
}
