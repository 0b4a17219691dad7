//! `bindery workers`: who works on the store, and who did.

use crate::{exit::Exit, output};
use bindery_app::{App, Settings};
use bindery_core::{Name, Timestamp, job::JobState};
use bindery_engine::{SILENT_AFTER, runs::is_run};
use bindery_store::query::{JobFilter, WorkerView};
use serde::Serialize;
use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    time::Duration,
};

/// Those that ended longer ago are not listed unless asked for.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// List the workers: when they were last seen, what they hold, how fast they are
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery workers              those at work, and those that ended today
  bindery workers --all        those of the last week, too
  bindery workers --json
A worker gives a sign of life every few seconds. One that stops says so; one that says nothing for
half a minute is gone, and others take its jobs when its lease ends.")]
pub(crate) struct Args {
    /// Also those that ended more than a day ago
    #[arg(long)]
    all: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How a worker stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Working,
    Idle,
    /// It said that it stops.
    Stopped,
    /// It said nothing for too long.
    Gone,
    /// It was last seen in the future: nobody knows when that was.
    ClockAhead,
}

impl fmt::Display for State {
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
struct Shown {
    #[serde(flatten)]
    view: WorkerView,
    state: State,
    seen_seconds_ago: f64,
    /// How far its clock is ahead of the store's; none where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_ahead_seconds: Option<f64>,
    began_seconds_ago: f64,
    /// Jobs finished in a second, on average since it began.
    per_second: f64,
    /// How many jobs of each stage it holds.
    holds: BTreeMap<Name, u64>,
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let mut held = jobs_in_hand(&app).await?;
    let now = app.store().clock().now();
    let views = app.store().workers().await?.into_iter().filter(|view| !is_run(&view.worker));
    let mut workers: Vec<Shown> = views.map(|view| new_shown(view, &mut held, now)).collect();
    // A claim comes before the first sign of life, and may outlast the row of a worker.
    let ended = |worker: &Shown| matches!(worker.state, State::Stopped | State::Gone) && worker.holds.is_empty();
    let listed = workers.len();
    workers.retain(|worker| args.all || !ended(worker) || now.since(worker.view.seen_at) < A_DAY);
    let hidden = listed - workers.len();
    if args.json {
        output::json(&workers)?;
        return Ok(Exit::Ok);
    }
    if workers.is_empty() {
        output::note("no worker works on this store; `bindery worker` starts one");
    } else {
        let header = ["WORKER", "STATE", "SEEN", "HOLDS#", "", "FINISHED#", "PER SECOND#", "BEGAN"];
        output::table(&header, workers.iter().map(row))?;
    }
    if hidden > 0 {
        output::note(format!(
            "{} ended more than a day ago; --all lists them, too",
            output::count(hidden as u64, "worker")
        ));
    }
    Ok(Exit::Ok)
}

/// What each worker holds: how many jobs of each stage.
async fn jobs_in_hand(app: &App) -> anyhow::Result<HashMap<Name, BTreeMap<Name, u64>>> {
    let running = JobFilter { states: vec![JobState::Running], ..JobFilter::default() };
    let mut held: HashMap<Name, BTreeMap<Name, u64>> = HashMap::new();
    for view in app.store().jobs(running).await? {
        if let Some(worker) = view.job.worker {
            *held.entry(worker).or_default().entry(view.job.stage).or_default() += 1;
        }
    }
    Ok(held)
}

fn new_shown(view: WorkerView, held: &mut HashMap<Name, BTreeMap<Name, u64>>, now: Timestamp) -> Shown {
    let holds = held.remove(&view.worker).unwrap_or_default();
    let (silent, ahead) = (now.since(view.seen_at), view.clock_ahead(now));
    let state = match view.left_at {
        Some(_) => State::Stopped,
        None if ahead.is_some() => State::ClockAhead,
        None if silent > SILENT_AFTER => State::Gone,
        None if holds.is_empty() => State::Idle,
        None => State::Working,
    };
    let worked = view.seen_at.since(view.started_at).as_secs_f64();
    let per_second = if worked > 0.0 { view.finished as f64 / worked } else { 0.0 };
    let (seen_seconds_ago, began_seconds_ago) = (silent.as_secs_f64(), now.since(view.started_at).as_secs_f64());
    let clock_ahead_seconds = ahead.map(|ahead| ahead.as_secs_f64());
    Shown { view, state, seen_seconds_ago, clock_ahead_seconds, began_seconds_ago, per_second, holds }
}

fn row(worker: &Shown) -> [String; 8] {
    let holds: u64 = worker.holds.values().sum();
    let of = worker.holds.iter().map(|(stage, jobs)| format!("{stage} {jobs}")).collect::<Vec<_>>().join(", ");
    [
        worker.view.worker.to_string(),
        worker.state.to_string(),
        match worker.clock_ahead_seconds {
            Some(ahead) => format!("by a clock ahead by {}", output::duration(Duration::from_secs_f64(ahead))),
            None => format!("{} ago", output::duration(Duration::from_secs_f64(worker.seen_seconds_ago))),
        },
        holds.to_string(),
        output::short(&of, 60),
        worker.view.finished.to_string(),
        format!("{:.1}", worker.per_second),
        format!("{} ago", output::duration(Duration::from_secs_f64(worker.began_seconds_ago))),
    ]
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
        let state = |view, now| new_shown(view, &mut HashMap::new(), at(now)).state;
        assert_eq!(state(view(100, None), 105), State::Idle);
        assert_eq!(state(view(100, None), 131), State::Gone);
        assert_eq!(state(view(100, Some(100)), 500), State::Stopped);
        assert_eq!(state(view(100, None), 99), State::Idle, "clocks differ a little");
        let ahead = new_shown(view(100_000, None), &mut HashMap::new(), at(500));
        assert_eq!((ahead.state, ahead.clock_ahead_seconds), (State::ClockAhead, Some(99_500.0)));
        assert_eq!(row(&ahead)[2], "by a clock ahead by 27 h");
        let mut held = HashMap::from([("w".into(), BTreeMap::from([("count".into(), 2)]))]);
        let working = new_shown(view(100, None), &mut held, at(101));
        assert_eq!((working.state, working.per_second), (State::Working, 0.5));
    }
}
