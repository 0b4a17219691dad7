//! `bindery runs retry`: goes on with a run.

use crate::{
    exit::Exit,
    standalone::{self, RunnerArgs},
};
use bindery_app::{
    Settings,
    inputs::Owner,
    runs::{RunSetup, RunnerChoice},
};

/// Go on with a run that failed or was interrupted
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery runs retry 1f0c9a2e
  bindery runs retry latest --runner processes --timeout 60
What is done is not done again. What failed begins at the step that failed, unless the processor's
version has changed. Settings, limits and the kind of runner are those of the run before, unless a
flag says otherwise.")]
pub(crate) struct Args {
    /// The id of a run, the beginning of it, or latest
    #[arg(value_name = "RUN")]
    run: String,

    #[command(flatten)]
    runner: RunnerArgs,

    /// Show no progress
    #[arg(long)]
    no_progress: bool,

    /// Print the whole result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let processors = settings.known_processors()?;
    let app = settings.existing_with(&processors).await?;
    let runs = app.runs();
    let record = runs.find(&args.run).await?;
    let details = &record.details;
    let owner = Owner { account_id: record.account_id.clone(), underwriting_id: details.underwriting_id.clone() };
    let limits = args.runner.limits(details.limits());
    let runner = args.runner.runner.unwrap_or(RunnerChoice::Fixed(details.runner, None));
    let mut execution = RunSetup { settings, app: &app, processors: &processors, limits, runner }
        .execution(&details.processor, &owner, details.inputs)?
        .with_settings(details.settings.clone())
        .with_duplicates(details.duplicates)
        .with_merge(details.merge.clone());
    let cancel = execution.task_mut().cancel.clone();
    let ended = standalone::follow(&cancel, !args.no_progress, |tell| {
        runs.retry(
            &record.run_id,
            |_| Ok(execution),
            move |progress| {
                tell.send_replace(Some(progress));
            },
        )
    });
    standalone::conclude(ended.await?, args.json)
}
