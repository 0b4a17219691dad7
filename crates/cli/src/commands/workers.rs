//! `bindery workers`: who works on the store, and who did.

use crate::{exit::Exit, output};
use bindery_app::{Settings, workers::WorkerInfo};
use std::time::Duration;

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

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let (workers, left_out) = app.workers(args.all).await?;
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
    if left_out > 0 {
        output::note(format!(
            "{} ended more than a day ago; --all lists them, too",
            output::count(left_out as u64, "worker")
        ));
    }
    Ok(Exit::Ok)
}

fn row(worker: &WorkerInfo) -> [String; 8] {
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
