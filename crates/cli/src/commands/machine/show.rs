//! `bindery machine list`, `status` and `history`: what executions are and were.

use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    Settings,
    machines::{ExecutionFilter, ExecutionStatus, StoredExecution, describe_execution},
};
use bindery_core::Name;
use serde_json::{Value, json};

/// What is shown of a payload in a table.
const SHORT: usize = 60;

/// The most events that one question brings.
const PAGE: u64 = 1_000;

/// List executions, the newest first; with --machines, the machines
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery machine list --status running
  bindery machine list --machine file_ingestion --limit 5 --json
  bindery machine list --machines")]
pub(crate) struct ListArgs {
    /// Only those of this machine
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,

    /// Only those that are running, succeeded, failed, timed_out or aborted
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,

    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,

    /// The stored machines instead
    #[arg(long, conflicts_with_all = ["machine", "status"])]
    machines: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn list(settings: &Settings, args: ListArgs) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    if args.machines {
        let all = app.store().machines().await?;
        if args.json {
            let all: Vec<Value> =
                all.iter().map(|machine| json!({"name": machine.name, "version": machine.version})).collect();
            output::json(&all)?;
        } else {
            let rows = all.iter().map(|machine| [machine.name.to_string(), machine.version.to_string()]);
            output::table(&["MACHINE", "VERSION"], rows)?;
        }
        return Ok(Exit::Ok);
    }
    let status = args.status.as_deref().map(status_named).transpose()?;
    let filter = ExecutionFilter { machine: args.machine.map(Name::from), status, limit: Some(args.limit) };
    let all = app.machines().executions(filter).await?;
    if args.json {
        output::json(&all.iter().map(describe_execution).collect::<Vec<_>>())?;
        return Ok(Exit::Ok);
    }
    if all.is_empty() {
        output::note("there are no such executions");
        return Ok(Exit::Ok);
    }
    let row = |execution: &StoredExecution| {
        [
            execution.id.to_string(),
            execution.machine.to_string(),
            execution.name.clone(),
            execution.status.to_string(),
            output::ago(execution.started_at),
            execution.events.to_string(),
            execution.error.clone().unwrap_or_default(),
        ]
    };
    output::table(&["ID", "MACHINE", "NAME", "STATUS", "STARTED", "EVENTS", "ERROR"], all.iter().map(row))?;
    Ok(Exit::Ok)
}

fn status_named(text: &str) -> anyhow::Result<ExecutionStatus> {
    ExecutionStatus::from_name(text).ok_or_else(|| {
        let known = ExecutionStatus::ALL.map(|status| status.as_str().to_lowercase()).join(", ");
        Failure::usage(format!("--status {text:?} is none")).hint(format!("one of {known}")).into()
    })
}

/// Show one execution
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery machine status exec_3
  bindery machine status orders:order-7 --json")]
pub(crate) struct StatusArgs {
    /// exec_N, machine:name, or its ARN
    #[arg(value_name = "EXECUTION")]
    execution: String,

    /// Print JSON, as DescribeExecution answers
    #[arg(long)]
    json: bool,
}

pub(crate) async fn status(settings: &Settings, args: StatusArgs) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let execution = app.machines().find(&args.execution).await?;
    if args.json {
        output::json(&describe_execution(&execution))?;
        return Ok(Exit::Ok);
    }
    let whole = |text: &Option<String>| text.clone().unwrap_or_default();
    let lines = [
        ("execution", execution.id.to_string()),
        ("machine", format!("{} version {}", execution.machine, execution.version)),
        ("name", execution.name.clone()),
        ("owner", whole(&execution.owner)),
        ("status", execution.status.to_string()),
        ("started", output::ago(execution.started_at)),
        ("ended", execution.ended_at.map(output::ago).unwrap_or_default()),
        ("rests", execution.due_at.filter(|_| !execution.is_held).map(|at| format!("until {at}")).unwrap_or_default()),
        ("events", execution.events.to_string()),
        ("input", output::short(&execution.input, 1_000)),
        ("output", output::short(&whole(&execution.output), 1_000)),
        ("error", whole(&execution.error)),
        ("cause", whole(&execution.cause)),
    ];
    for (name, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
        output::line(format!("{name:<10} {value}"))?;
    }
    Ok(Exit::Ok)
}

/// Show what happened in an execution, event by event
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery machine history exec_3
  bindery machine history exec_3 --json > events.json
  bindery machine graph --execution exec_3 --out way.svg   the same as a picture")]
pub(crate) struct HistoryArgs {
    /// exec_N, machine:name, or its ARN
    #[arg(value_name = "EXECUTION")]
    execution: String,

    /// Only events after this one
    #[arg(long, value_name = "EVENT", default_value_t = 0)]
    after: u64,

    /// Print the events as JSON, as GetExecutionHistory answers
    #[arg(long)]
    json: bool,
}

pub(crate) async fn history(settings: &Settings, args: HistoryArgs) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let machines = app.machines();
    let execution = machines.find(&args.execution).await?;
    let mut after = args.after;
    let mut all = Vec::new();
    loop {
        let events = machines.history(execution.id, after, PAGE).await?;
        if events.is_empty() {
            break;
        }
        after += events.len() as u64;
        if args.json {
            all.extend(events);
        } else {
            for event in &events {
                output::line(line_of(event))?;
            }
        }
    }
    if args.json {
        output::json(&json!({"events": all}))?;
    }
    Ok(Exit::Ok)
}

/// Number, time, kind, state, and what went in or out.
fn line_of(event: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let details = event.as_object().and_then(|event| event.iter().find(|(name, _)| name.ends_with("Details")));
    let said = details.map_or_else(String::new, |(_, details)| {
        let name = details.get("name").map(|name| format!("{} ", text(name)));
        let payload = ["input", "output", "parameters", "error"].iter().find_map(|key| details.get(*key));
        let cause = details.get("cause").map(|cause| format!(": {}", text(cause)));
        let payload = payload.map(text).unwrap_or_default();
        format!("{}{payload}{}", name.unwrap_or_default(), cause.unwrap_or_default())
    });
    format!(
        "{:>5}  {}  {:<28} {}",
        event["id"],
        text(&event["timestamp"]),
        text(&event["type"]),
        output::short(&said, SHORT)
    )
}
