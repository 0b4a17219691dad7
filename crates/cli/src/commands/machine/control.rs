//! `bindery machine stop`, `redrive` and `report`: what people tell an execution. `prune`: forgetting old ones.

use super::stored::read_json;
use crate::{exit::Exit, output};
use bindery_app::{Settings, machines::Answer};
use std::time::Duration;

/// Stop a running execution, and what it has started
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery machine stop exec_3 --cause 'ordered twice'
`bindery machine redrive` starts it again from where it was.")]
pub(crate) struct StopArgs {
    /// exec_N, machine:name, or its ARN
    #[arg(value_name = "EXECUTION")]
    execution: String,

    /// The name of an error to end with
    #[arg(long)]
    error: Option<String>,

    /// Why
    #[arg(long)]
    cause: Option<String>,
}

pub(crate) async fn stop(settings: &Settings, args: StopArgs) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let machines = app.machines();
    let execution = machines.find(&args.execution).await?;
    if machines.stop(execution.id, args.error, args.cause).await? {
        output::line(format!("asked {} to stop", execution.id))?;
        output::note("it ends when a worker next looks at it");
    } else {
        output::note(format!("{} is {} already; nothing was changed", execution.id, execution.status));
    }
    Ok(Exit::Ok)
}

/// Start an execution that did not succeed again, from the state that it failed in
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery machine redrive exec_3")]
pub(crate) struct RedriveArgs {
    /// exec_N, machine:name, or its ARN
    #[arg(value_name = "EXECUTION")]
    execution: String,
}

pub(crate) async fn redrive(settings: &Settings, args: RedriveArgs) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let machines = app.machines();
    let execution = machines.find(&args.execution).await?;
    machines.redrive(execution.id).await?;
    output::line(format!("{} runs again", execution.id))?;
    Ok(Exit::Ok)
}

/// Report on a task that waits for its token
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery machine report TOKEN --success '{\"approved\": true}'
  bindery machine report TOKEN --failure Refused --cause 'the invoice is not ours'
  bindery machine report TOKEN --heartbeat")]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub(crate) struct ReportArgs {
    /// The token that the task was given
    token: String,

    /// It is done: the result as JSON, @file, or - for standard input
    #[arg(long, value_name = "JSON", group = "what")]
    success: Option<String>,

    /// It failed: the name of the error
    #[arg(long, value_name = "ERROR", group = "what")]
    failure: Option<String>,

    /// Somebody is still at it
    #[arg(long, group = "what")]
    heartbeat: bool,

    /// Why it failed
    #[arg(long, requires = "failure")]
    cause: Option<String>,
}

pub(crate) async fn report(settings: &Settings, args: ReportArgs) -> anyhow::Result<Exit> {
    let answer = match (args.success, args.failure) {
        (Some(output), _) => Answer::Succeeded(read_json("--success", &output)?),
        (None, Some(error)) => Answer::Failed { error: Some(error), cause: args.cause },
        (None, None) => Answer::Heartbeat,
    };
    let app = settings.existing().await?;
    app.machines().report(&args.token, answer).await?;
    output::note("reported");
    Ok(Exit::Ok)
}

/// Delete executions that ended long ago, with their histories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery machine prune               those that ended more than 90 days ago
  bindery machine prune --days 7")]
pub(crate) struct PruneArgs {
    /// How many days ago they must have ended
    #[arg(long, value_name = "N", default_value_t = 90, value_parser = clap::value_parser!(u32).range(0..=36_500))]
    days: u32,
}

pub(crate) async fn prune(settings: &Settings, args: &PruneArgs) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let age = Duration::from_secs(u64::from(args.days) * 86_400);
    let pruned = app.machines().prune(app.engine.clock().now() - age).await?;
    output::line(format!("deleted {}", output::count(pruned, "execution")))?;
    Ok(Exit::Ok)
}
