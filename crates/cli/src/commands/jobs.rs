//! `bindery jobs`: what is queued, and why each job waits.

use crate::{exit::Exit, output};
use bindery_app::{
    App, Settings,
    items::ItemNames,
    jobs::{JobFilter, JobView},
};
use bindery_core::job::JobState;

/// List jobs, each with the reason why it waits
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery jobs                                 what runs, what waits, and why
  bindery jobs --state parked,scheduled        only these states
  bindery jobs --submission sub_1 --limit 500
  bindery jobs --queue word_counter --json
States: ready, scheduled, running, parked, awaiting, dead, cancelled.")]
pub(crate) struct Args {
    /// Only these states, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "STATES", value_parser = state)]
    state: Vec<JobState>,

    /// Only this queue
    #[arg(long)]
    queue: Option<String>,

    /// Only this stage
    #[arg(long)]
    stage: Option<String>,

    /// Only this submission: sub_N, or your own id
    #[arg(long)]
    submission: Option<String>,

    /// How many to list
    #[arg(long, default_value_t = 100, value_name = "N")]
    limit: usize,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn state(text: &str) -> Result<JobState, String> {
    JobState::from_name(text).ok_or_else(|| {
        let known: Vec<&str> = JobState::ALL.into_iter().map(JobState::as_str).collect();
        format!("expected one of {}", known.join(", "))
    })
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let submission = match &args.submission {
        Some(named) => Some(app.engine.find_submission(named).await?.id),
        None => None,
    };
    let queue = match &args.queue {
        Some(named) => Some(app.queue_named(named).await?),
        None => None,
    };
    let (stage, states) = (args.stage.map(Into::into), args.state);
    let filter = JobFilter { submission, queue, stage, states, ..JobFilter::default() };
    let (jobs, more) = app.jobs(filter, args.limit).await?;
    if args.json {
        output::json(&jobs)?;
    } else {
        show(&app, &jobs).await?;
    }
    if more {
        output::note(format!("the first {}; --limit shows more", args.limit));
    }
    Ok(Exit::Ok)
}

pub(crate) async fn show(app: &App, jobs: &[JobView]) -> anyhow::Result<()> {
    if jobs.is_empty() {
        output::note("there are no such jobs");
        return Ok(());
    }
    let mut names = ItemNames::new(app);
    let mut rows = Vec::with_capacity(jobs.len());
    for view in jobs {
        let job = &view.job;
        rows.push([
            job.id.to_string(),
            job.submission.to_string(),
            job.stage.to_string(),
            names.label(job.submission, job.item).await?,
            job.state.to_string(),
            job.attempt.to_string(),
            view.reason.to_string(),
        ]);
    }
    output::table(&["JOB", "SUBMISSION", "STAGE", "ON", "STATE", "ATTEMPT#", "WHY"], rows)?;
    Ok(())
}
