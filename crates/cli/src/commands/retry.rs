//! `bindery retry`: runs again what failed, was cancelled or is parked.

use crate::{exit::Exit, failure::Failure, output, standalone::short_id};
use bindery_app::{App, Settings};
use bindery_core::{JobId, SubmissionId, job::JobState, submission::Submission};
use bindery_engine::runs::CHANNEL;
use bindery_store::query::{JobFilter, Retried};

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
    let mut retried = Retried::default();
    for filter in filters(&app, args).await? {
        let more = app.store().retry(filter).await?;
        retried.jobs += more.jobs;
        retried.reopened += more.reopened;
    }
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

/// What is meant. Everything is looked up before anything is changed.
async fn filters(app: &App, args: Args) -> anyhow::Result<Vec<JobFilter>> {
    if args.all {
        let queue = match &args.queue {
            Some(named) => Some(app.queue_named(named).await?),
            None => None,
        };
        let states = vec![JobState::Dead];
        return Ok(vec![JobFilter { stage: args.stage.map(Into::into), queue, states, ..JobFilter::default() }]);
    }
    let mut filters = Vec::new();
    for id in &args.ids {
        filters.push(match Meant::find(app, id).await? {
            Meant::Submission(id) => {
                refuse_run(app, id).await?;
                JobFilter { submission: Some(id), ..JobFilter::default() }
            }
            Meant::Job(id, JobState::Cancelled, submission) => {
                let message = format!("{id} was cancelled together with {submission}");
                return Err(Failure::usage(message)
                    .hint(format!("`bindery retry {submission}` takes it up again"))
                    .into());
            }
            Meant::Job(id, ..) => JobFilter { ids: vec![id], ..JobFilter::default() },
        });
    }
    Ok(filters)
}

/// A job or a submission, as a person names it.
#[derive(Debug)]
pub(crate) enum Meant {
    Submission(SubmissionId),
    Job(JobId, JobState, SubmissionId),
}

impl Meant {
    pub(crate) async fn find(app: &App, named: &str) -> anyhow::Result<Self> {
        if let Ok(id) = named.parse::<JobId>() {
            let found = app.store().job(id).await?;
            let view = found.ok_or_else(|| {
                Failure::usage(format!("there is no {id}; a job that is finished is gone"))
                    .hint("`bindery jobs` lists them")
            })?;
            return Ok(Self::Job(id, view.job.state, view.job.submission));
        }
        Ok(Self::Submission(app.engine.find_submission(named).await?.id))
    }
}

/// Runs of processors are submissions as well, but have no jobs and no result of a workflow.
pub(crate) async fn refuse_run(app: &App, id: SubmissionId) -> anyhow::Result<()> {
    match app.store().submission(id).await? {
        Some(Submission { channel, external_id: Some(run), .. }) if channel == CHANNEL => {
            let hint =
                format!("`bindery runs show {0}` shows it, `bindery runs retry {0}` goes on with it", short_id(&run));
            Err(Failure::usage(format!("{id} is the run {run} of a processor")).hint(hint).into())
        }
        _ => Ok(()),
    }
}
