//! `bindery retry`: runs again what failed, was cancelled or is parked.

use crate::{exit::Exit, output, standalone::short_id};
use bindery_app::{
    Settings,
    jobs::{JobRefused, Retried, Retry},
};

/// Run again what was given up, cancelled, parked or scheduled for later
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery retry job_12                this one
  bindery retry sub_3                 everything of a submission, also when it was cancelled
  bindery retry --all                 every dead letter
  bindery retry --all --stage split   every dead letter of a stage
Attempts start anew, at the step that failed. What comes after the repaired part is done again, too.")]
pub(crate) struct Args {
    /// job_N, sub_N or your own id of a submission
    #[arg(required_unless_present = "all", value_name = "ID")]
    ids: Vec<String>,

    /// Every dead letter
    #[arg(long, conflicts_with = "ids")]
    all: bool,

    /// With --all: only of this stage
    #[arg(long, requires = "all")]
    stage: Option<String>,

    /// With --all: only of this queue
    #[arg(long, requires = "all")]
    queue: Option<String>,
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let Args { ids, stage, queue, .. } = args;
    let retried = app.retry(Retry { ids, stage, queue }).await?;
    if retried == Retried::default() {
        output::note("there was nothing to run again");
        return Ok(Exit::Ok);
    }
    let reopened = match retried.reopened {
        0 => String::new(),
        number => format!(" and took up {} again", output::count(number, "submission")),
    };
    output::line(format!("made {} ready{reopened}", output::count(retried.jobs, "job")))?;
    output::note("`bindery worker --until-idle` works on them, unless a worker is running already");
    Ok(Exit::Ok)
}

/// What can be done instead.
pub(crate) fn hint(refused: &JobRefused) -> String {
    match refused {
        JobRefused::Unknown { .. } => "`bindery jobs` lists them".to_owned(),
        JobRefused::Cancelled { submission, .. } => format!("`bindery retry {submission}` takes it up again"),
        JobRefused::IsRun { run, .. } => {
            format!("`bindery runs show {0}` shows it, `bindery runs retry {0}` goes on with it", short_id(run))
        }
    }
}
