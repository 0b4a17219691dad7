//! `bindery runs show`: one run with its inputs.

use super::list::duration_text;
use crate::{
    exit::Exit,
    failure::Failure,
    output,
    standalone::{money, short_id, step_time},
};
use bindery_app::{
    Settings,
    runs::{InputStatus, InputView, RunStatus, RunSummary, RunView, StepState},
};
use bindery_core::outcome::Step;
use std::time::Duration;

const LONGEST_MESSAGE: usize = 160;

/// Show one run, input by input
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery runs show 1f0c9a2e            every input, with the reason where it failed
  bindery runs show 1f0c9a2e --steps    with the time of each step
  bindery runs show latest --result     the whole result, as it was printed
SKIP is a step that an earlier run has done, – one that was not reached.")]
pub(crate) struct Args {
    /// The id of a run, the beginning of it, or latest
    #[arg(value_name = "RUN")]
    run: String,

    /// Show the time that each step took
    #[arg(long)]
    steps: bool,

    /// Print the result that the run returned, as JSON
    #[arg(long, conflicts_with = "steps")]
    result: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let runs = app.runs();
    if args.result {
        let Some(result) = runs.result(&args.run).await? else {
            let record = runs.find(&args.run).await?;
            let short = short_id(&record.run_id);
            let message = format!("run {} has no result: it has not ended", record.run_id);
            let hint = format!("`bindery runs show {short}` tells how far it is");
            return Err(Failure::new(Exit::Waiting, message).hint(hint).into());
        };
        output::json(&result)?;
        return Ok(Exit::Ok);
    }
    let view = runs.show(&args.run).await?;
    if args.json {
        output::json(&view)?;
    } else {
        show(&view, args.steps)?;
    }
    Ok(Exit::Ok)
}

fn show(view: &RunView, steps: bool) -> anyhow::Result<()> {
    let run = &view.summary;
    output::line(format!(
        "run {}: {}, processor {} version {}, began {}{}",
        run.run_id,
        run.status,
        run.processor,
        run.processor_version,
        output::ago(run.began),
        duration_text(run).map(|took| format!(", took {took}")).unwrap_or_default()
    ))?;
    output::line(format!("account {}, underwriting {}, {} runner", run.account_id, run.underwriting_id, run.runner))?;
    output::line(counts(run))?;
    if view.lineage.len() > 1 {
        output::line(lineage(view))?;
    }
    if let Some(error) = &run.error {
        output::line(format!("error: {error}"))?;
    }
    if let Some(line) = life(run) {
        output::line(line)?;
    }
    if view.details.is_empty() {
        return Ok(());
    }
    output::line("")?;
    inputs(&view.details, steps)?;
    if matches!(run.status, RunStatus::Failed | RunStatus::Interrupted) && view.lineage.last() == Some(&run.run_id) {
        let short = short_id(&run.run_id);
        output::note(format!("`bindery runs retry {short}` goes on with what did not succeed"));
    }
    Ok(())
}

fn counts(run: &RunSummary) -> String {
    let parts = [
        (run.succeeded, "succeeded"),
        (run.failed, "failed"),
        (run.skipped, "skipped"),
        (run.not_run, if run.status == RunStatus::Running { "to do" } else { "not run" }),
    ];
    let said = parts.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}"));
    let said: Vec<String> = said.collect();
    let inputs = output::count(run.inputs as u64, "input");
    if said.is_empty() { inputs } else { format!("{inputs}: {}", said.join(", ")) }
}

/// The runs from first to last, this one marked.
fn lineage(view: &RunView) -> String {
    let shown = view.lineage.iter().map(|id| {
        let short = short_id(id);
        if *id == view.summary.run_id { format!("[{short}]") } else { short.to_owned() }
    });
    format!("retry {}, lineage {}", view.summary.retry_count, shown.collect::<Vec<_>>().join(" → "))
}

/// What is known of a run that has not ended.
fn life(run: &RunSummary) -> Option<String> {
    let seen = run.seen_at.map_or_else(|| "never".to_owned(), output::ago);
    match run.status {
        RunStatus::Running => Some(format!("last sign of life: {seen}")),
        RunStatus::Interrupted => Some(format!("last sign of life: {seen}; its process is gone")),
        RunStatus::Succeeded | RunStatus::Failed => None,
    }
}

fn inputs(inputs: &[InputView], steps: bool) -> anyhow::Result<()> {
    let mut header = vec!["INPUT", "RESULT", "ATTEMPT#"];
    if steps {
        header.extend(["VALIDATION#", "PROCESSING#", "EXTRACTION#"]);
    }
    header.extend(["COST#", ""]);
    let rows = inputs.iter().map(|input| {
        let attempt = if input.attempts == 0 { String::new() } else { input.attempts.to_string() };
        let mut row = vec![output::short(&input.input_id, 60), came_to(input), attempt];
        if steps {
            row.extend(Step::ALL.map(|step| state(input, step)));
        }
        row.extend([money(input.cost_micros), output::short(&message(input), LONGEST_MESSAGE)]);
        row
    });
    Ok(output::table(&header, rows)?)
}

fn came_to(input: &InputView) -> String {
    match (input.status, input.error.as_ref().and_then(|error| error.step)) {
        (InputStatus::Succeeded, _) => "success".to_owned(),
        (InputStatus::Failed, Some(step)) => format!("failed at {step}"),
        (InputStatus::Failed, None) => "failed".to_owned(),
        (InputStatus::Skipped, _) => "skipped".to_owned(),
        (InputStatus::NotRun, _) => "not run".to_owned(),
    }
}

fn state(input: &InputView, step: Step) -> String {
    if input.status == InputStatus::Skipped {
        return "SKIP".to_owned();
    }
    let found = input.steps.iter().find(|view| view.step == step).map(|view| view.state);
    match found.unwrap_or(StepState::NotReached) {
        StepState::Ran(milliseconds) => step_time(Duration::from_secs_f64(milliseconds / 1_000.0)),
        StepState::Skipped => "SKIP".to_owned(),
        StepState::NotReached => "–".to_owned(),
    }
}

fn message(input: &InputView) -> String {
    let error = input.error.as_ref().filter(|_| input.status == InputStatus::Failed);
    let error = error.map(|error| format!("{}: {}", error.kind, error.message));
    let by = input.done_by.as_deref().map(|run| format!("done by run {}", short_id(run)));
    error.into_iter().chain(by).chain(input.note.clone()).collect::<Vec<_>>().join("; ")
}
