//! `bindery machine put`, `start` and `run`.

use super::stored::StartFlags;
use crate::{exit::Exit, output};
use bindery_app::{
    Settings, Signals, Supervisor,
    machines::{ExecutionStatus, describe_execution},
    supervisor::WorkerOptions,
};
use serde_json::json;
use std::{path::PathBuf, time::Duration};

/// Store a machine, so that it can be started by its name
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery machine put orders.asl.json             stored as orders
  bindery machine put v2.asl.json --name orders   the next version of it
Executions under way go on with the version that they were started with.")]
pub(crate) struct PutArgs {
    /// A definition in JSON or YAML
    file: PathBuf,

    /// What it is called; the name of the file unless said
    #[arg(long)]
    name: Option<String>,
}

pub(crate) async fn put(settings: &Settings, args: PutArgs) -> anyhow::Result<Exit> {
    let app = settings.create().await?;
    let tasks = settings.functions(&app)?;
    let (name, version) = app.put_machine(&args.file, args.name, &tasks).await?;
    output::line(format!("{name} version {version}"))?;
    Ok(Exit::Ok)
}

/// Start an execution; workers run it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery machine start orders --input '{\"order\": 7}'
  bindery machine start orders.asl.json --input @order.json --name order-7
`bindery worker` runs it, and goes on with it after a crash. Under the same name and with the same input it is started
once.")]
pub(crate) struct StartArgs {
    #[command(flatten)]
    start: StartFlags,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn start(settings: &Settings, args: StartArgs) -> anyhow::Result<Exit> {
    let start = args.start.read()?;
    let app = settings.create().await?;
    let (id, new) = app.start_machine(start, &settings.functions(&app)?).await?;
    if args.json {
        output::json(&json!({"execution": id, "new": new}))?;
    } else {
        output::line(id.to_string())?;
        output::note(if new {
            "started; `bindery worker` runs it"
        } else {
            "it was started before; nothing was changed"
        });
    }
    Ok(Exit::Ok)
}

/// Start an execution and run it here to its end
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery machine run hello.asl.json --input '{\"name\": \"harbour\"}'
  bindery machine run file_ingestion --input '{\"file\": \"file:///srv/in/a.pdf\", \"collection_name\": \"letters\",
    \"StatusPollSeconds\": 1}'
Prints the output. Whatever workflows it needs are worked on here, too. If it is interrupted, the same command with the
same --name goes on with it, and so does `bindery worker`.")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    start: StartFlags,

    /// Print the whole execution as JSON, instead of its output alone
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: RunArgs) -> anyhow::Result<Exit> {
    let mut signals = Signals::new()?;
    let start = args.start.read()?;
    let app = settings.create().await?;
    let tasks = settings.functions(&app)?;
    let (id, _) = app.start_machine(start, &tasks).await?;
    output::note(format!("{id} runs"));
    let machines = app.machines();
    let mut supervisor = Supervisor::start(&app, WorkerOptions::default()).with_machines(tasks);
    let ended = async {
        loop {
            if let Some(ended) = machines.wait(id, Duration::from_secs(3_600)).await? {
                return anyhow::Ok(ended);
            }
        }
    };
    let ended = supervisor.run_until(&mut signals, ended).await?;
    supervisor.stop(&mut signals).await?;
    let Some(ended) = ended else {
        output::note(format!(
            "{id} goes on when `bindery worker` runs, or with `bindery machine run` and the same --name"
        ));
        return Ok(Exit::Interrupted);
    };
    if args.json {
        output::json(&describe_execution(&ended))?;
    } else if let Some(text) = &ended.output {
        output::json(&serde_json::from_str::<serde_json::Value>(text)?)?;
    }
    if ended.status == ExecutionStatus::Succeeded {
        return Ok(Exit::Ok);
    }
    let (error, cause) = (ended.error.unwrap_or_default(), ended.cause.unwrap_or_default());
    let hint =
        format!("`bindery machine history {id}` tells how it came to that, `bindery machine redrive {id}` tries again");
    output::error(&format!("{id} is {}: {error}: {cause}", ended.status), Some(&hint));
    Ok(Exit::SubmissionFailed)
}
