//! `bindery runs list`: a line for each run.

use crate::{exit::Exit, output, standalone::short_id};
use bindery_app::{
    Settings,
    runs::{RunFilter, RunStatus, RunSummary},
};
use std::time::Duration;

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Only of this processor
    #[arg(long, value_name = "NAME")]
    processor: Option<String>,

    /// How many to list
    #[arg(long, default_value_t = 20, value_name = "N")]
    limit: usize,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: ListArgs) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let limit = Some(args.limit.saturating_add(1));
    let mut runs = app.runs().list(RunFilter { processor: args.processor, limit }).await?;
    let more = runs.len() > args.limit;
    runs.truncate(args.limit);
    if args.json {
        output::json(&runs)?;
    } else if runs.is_empty() {
        output::note("there are no such runs; `bindery process NAME INPUTS…` makes one");
    } else {
        let header =
            ["RUN", "PROCESSOR", "STATUS", "INPUTS#", "OK#", "FAILED#", "SKIPPED#", "RUNNER", "BEGAN", "TOOK#", ""];
        output::table(&header, runs.iter().map(row))?;
    }
    if more {
        output::note(format!("the newest {}; --limit shows more", args.limit));
    }
    Ok(Exit::Ok)
}

fn row(run: &RunSummary) -> [String; 11] {
    [
        short_id(&run.run_id).to_owned(),
        format!("{} {}", run.processor, run.processor_version),
        run.status.to_string(),
        run.inputs.to_string(),
        run.succeeded.to_string(),
        run.failed.to_string(),
        run.skipped.to_string(),
        run.runner.to_string(),
        output::ago(run.began),
        duration_text(run).unwrap_or_default(),
        remark(run),
    ]
}

pub(super) fn duration_text(run: &RunSummary) -> Option<String> {
    run.duration_ms.map(|milliseconds| output::duration(Duration::from_millis(milliseconds)))
}

fn remark(run: &RunSummary) -> String {
    let seen = run.seen_at.filter(|_| run.status == RunStatus::Running).map(|at| format!("seen {}", output::ago(at)));
    let retry = run.previous_run_id.as_deref().map(|previous| format!("retry of {}", short_id(previous)));
    seen.into_iter().chain(retry).collect::<Vec<_>>().join("; ")
}
