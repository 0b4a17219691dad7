//! `bindery runs stats`: figures of all runs, by processor and runner.

use crate::{
    exit::Exit,
    output,
    standalone::{money, step_time},
};
use bindery_app::{Settings, runs::RunStats};
use bindery_core::outcome::Step;
use std::time::Duration;

/// Show the figures of all runs that have ended, by processor and runner
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery runs stats
  bindery runs stats --json
OK is the share of inputs that succeeded, RETRIED the share that ran again after an earlier run;
the times are means.")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let stats = app.runs().stats().await?;
    if args.json {
        output::json(&stats)?;
    } else if stats.is_empty() {
        output::note("no run has ended yet; `bindery process NAME INPUTS…` makes one");
    } else {
        let header = [
            "PROCESSOR",
            "RUNNER",
            "RUNS#",
            "INPUTS#",
            "OK#",
            "RETRIED#",
            "VALIDATION#",
            "PROCESSING#",
            "EXTRACTION#",
            "PER SECOND#",
            "COST#",
        ];
        output::table(&header, stats.iter().map(row))?;
    }
    Ok(Exit::Ok)
}

fn row(stats: &RunStats) -> Vec<String> {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let mean = |step: Step| {
        let found = stats.steps.iter().find(|mean| mean.step == step);
        found.map_or_else(|| "–".to_owned(), |mean| step_time(Duration::from_secs_f64(mean.mean_ms / 1_000.0)))
    };
    let mut row = vec![
        stats.processor.clone(),
        stats.runner.to_string(),
        stats.runs.to_string(),
        stats.inputs.to_string(),
        percent(stats.success_rate),
        percent(stats.retry_rate),
    ];
    row.extend(Step::ALL.map(mean));
    row.extend([format!("{:.1}", stats.throughput_per_second), money(stats.cost_micros)]);
    row
}
