//! `bindery civic queue`: jobs about meetings and matters, run again or given up.

use super::{city::existing, preview_queue::show};
use crate::{exit::Exit, output};
use bindery_app::{App, Settings, councils::records::QueueStatus};
use bindery_core::JobId;
use clap::Subcommand;
use serde_json::json;
use std::time::Duration;

/// List what waits or was given up, run it again, or give it up
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic queue list --status dead_letter
  bindery civic queue list --city paloaltoCA --json
  bindery civic queue retry job_12 job_14
  bindery civic queue retry --all --city paloaltoCA    everything of it that was given up
  bindery civic queue drop job_12
  bindery civic queue drop --older-than 90    forget what was given up, and made more than 90 days ago
What is dropped by its id is kept among what failed, and can be retried.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List jobs: those that run, then those that wait in their order, then those that were given up
    List {
        /// Only with this status
        #[arg(long, value_parser = QueueStatus::from_name)]
        status: Option<QueueStatus>,
        /// Only of this city
        #[arg(long, value_name = "BANANA")]
        city: Option<String>,
        /// How many to list
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run again what was given up
    Retry {
        /// job_N
        #[arg(required_unless_present = "all", value_name = "JOB")]
        jobs: Vec<JobId>,
        /// Everything that was given up
        #[arg(long, conflicts_with = "jobs")]
        all: bool,
        /// With --all: only of this city
        #[arg(long, value_name = "BANANA", requires = "all")]
        city: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Give up what waits or runs, or forget what was given up long ago
    Drop {
        /// job_N
        #[arg(required_unless_present = "older_than", value_name = "JOB")]
        jobs: Vec<JobId>,
        /// Forget what was given up and made more than so many days ago
        #[arg(long, value_name = "DAYS", conflicts_with = "jobs", value_parser = clap::value_parser!(u32).range(1..))]
        older_than: Option<u32>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = existing(settings).await?;
    match args.action {
        Action::List { status, city, limit, json } => list(&app, status, city.as_deref(), limit, json).await,
        Action::Retry { jobs, city, json, .. } => retry(&app, jobs, city.as_deref(), json).await,
        Action::Drop { older_than: Some(days), json, .. } => forget(&app, days, json).await,
        Action::Drop { jobs, json, .. } => give_up(&app, jobs, json).await,
    }
}

async fn list(
    app: &App,
    status: Option<QueueStatus>,
    city: Option<&str>,
    limit: usize,
    as_json: bool,
) -> anyhow::Result<Exit> {
    let (jobs, total) = app.council_jobs(status, city, limit).await?;
    if as_json {
        output::json(&jobs)?;
    } else {
        show(&jobs)?;
    }
    if total > limit {
        output::note(format!("the first {limit} of {total}; --limit shows more"));
    }
    Ok(Exit::Ok)
}

async fn retry(app: &App, named: Vec<JobId>, city: Option<&str>, as_json: bool) -> anyhow::Result<Exit> {
    let retried = app.retry_council_jobs(named, city).await?;
    if as_json {
        output::json(&json!({"retried": retried}))?;
    } else if retried == 0 {
        output::note("there was nothing to run again");
    } else {
        output::line(format!("made {} ready", output::count(retried, "job")))?;
    }
    Ok(Exit::Ok)
}

async fn give_up(app: &App, named: Vec<JobId>, as_json: bool) -> anyhow::Result<Exit> {
    let (dropped, unchanged): (Vec<_>, Vec<_>) =
        app.drop_council_jobs(named).await?.into_iter().partition(|(_, dropped)| *dropped);
    for (id, _) in unchanged.into_iter().filter(|_| !as_json) {
        output::note(format!("{id} is not waiting or running; nothing was changed"));
    }
    let dropped: Vec<JobId> = dropped.into_iter().map(|(id, _)| id).collect();
    if as_json {
        output::json(&json!({"dropped": dropped}))?;
        return Ok(Exit::Ok);
    }
    for id in dropped {
        output::line(format!("gave up {id}"))?;
        output::note(format!("undo: bindery civic queue retry {id}"));
    }
    Ok(Exit::Ok)
}

async fn forget(app: &App, days: u32, as_json: bool) -> anyhow::Result<Exit> {
    let age = Duration::from_secs(u64::from(days) * 86_400);
    let forgotten = app.forget_council_jobs(age).await?;
    if as_json {
        output::json(&json!({"forgotten": forgotten}))?;
    } else if forgotten == 0 {
        output::note(format!("nothing was given up that is older than {}", output::count(u64::from(days), "day")));
    } else {
        output::line(format!("forgot {}", output::count(forgotten, "job")))?;
    }
    Ok(Exit::Ok)
}
