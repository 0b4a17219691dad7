//! `bindery runs retry`: goes on with a run.

use crate::{
    commands::process::Making,
    exit::Exit,
    standalone::{self, RunnerArgs},
};
use bindery_app::{Settings, inputs::Owner};
use bindery_engine::{
    runner::RunnerChoice,
    runs::{HEARTBEAT_INTERVAL, Runs},
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
    let runs = Runs::new(app.engine.clone(), HEARTBEAT_INTERVAL);
    let record = runs.find(&args.run).await?;
    let details = &record.details;
    let owner = Owner { account_id: record.account_id.clone(), underwriting_id: details.underwriting_id.clone() };
    let making = Making { settings, app: &app, processors: &processors, args: &args.runner };
    let same = RunnerChoice::Fixed(details.runner, None);
    let mut execution = making
        .execution(&details.processor, &owner, details.inputs, details.limits(), same)?
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
