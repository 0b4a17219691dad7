//! `bindery rerun`: works again on what depends on something that has changed.

use crate::{confirm, exit::Exit, output};
use bindery_app::{
    Settings,
    rerun::{ChangedSubmission, Rerun, RerunRefused},
};
use bindery_core::SubmissionId;
use serde_json::{Value, json};

/// Work again on what depends on something that has changed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery rerun --changed --dry-run          say what depends on changed types, templates, settings or processors
  bindery rerun --changed                    run that again, of all submissions
  bindery rerun --changed sub_3 --yes        of one submission, without asking
  bindery rerun --anew sub_3                 everything of it, whatever was done before
  bindery rerun --anew --processor ocr sub_3 only that processor, because its code is new and its version is not
A submission is run again as a new one with the same files, which takes its place. What does not depend on the change
is taken over, and so is what people have decided. `bindery worker` does the work, unless a worker is running already.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// sub_N, or your own ids of submissions; none: all that have ended and were not run again
    #[arg(value_name = "SUBMISSION", required_unless_present = "changed")]
    ids: Vec<String>,

    /// What depends on a changed type of document, template, setting, workflow or version of a processor
    #[arg(long, required_unless_present = "anew")]
    changed: bool,

    /// Everything, whatever was done before
    #[arg(long, conflicts_with = "changed")]
    anew: bool,

    /// With --anew: only the work of this processor, and what follows from it; may be given several times
    #[arg(long, value_name = "NAME", requires = "anew")]
    processor: Vec<String>,

    /// Only say what would be run again
    #[arg(long)]
    dry_run: bool,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.create().await?;
    let rerun = if args.anew { Rerun::Anew { processors: args.processor } } else { Rerun::Changed };
    let meant = app.find_reruns(&rerun, &args.ids).await?;
    let results = meant.iter().flat_map(|one| &one.stages).map(|stage| rerun.results_of(stage)).sum();
    let said = format!("{} of {}", output::count(results, "result"), output::count(meant.len() as u64, "submission"));
    if !args.json {
        for one in &meant {
            output::line(line(&rerun, one))?;
        }
    }
    if args.dry_run || meant.is_empty() {
        if args.json {
            output::json(&answer(args.dry_run, results, &meant, &[]))?;
        } else if meant.is_empty() {
            output::note("nothing has changed; there is nothing to run again");
        } else {
            output::note(format!("would run {said} again"));
        }
        return Ok(Exit::Ok);
    }
    if !args.yes && !is_confirmed(&said)? {
        output::note("nothing is run again");
        return Ok(Exit::Ok);
    }
    let mut begun = Vec::new();
    for one in &meant {
        let now = app.begin_rerun(&rerun, one).await?;
        if !args.json {
            output::line(format!("{now} takes the place of {}", one.submission))?;
        }
        begun.push(now);
    }
    if args.json {
        output::json(&answer(false, results, &meant, &begun))?;
    } else {
        output::note("`bindery worker --until-idle` works on it, unless a worker is running already");
    }
    Ok(Exit::Ok)
}

/// What can be done instead.
pub(crate) fn hint(refused: &RerunRefused) -> Option<&'static str> {
    match refused {
        RerunRefused::NoProcessor(_) => Some("`bindery processors` lists them"),
        RerunRefused::AtWork(_) => None,
    }
}

fn line(rerun: &Rerun, one: &ChangedSubmission) -> String {
    let stages = one.stages.iter().filter(|stage| *rerun != Rerun::Changed || stage.changed > 0);
    let stages: Vec<String> = stages
        .map(|stage| {
            let number = if *rerun == Rerun::Changed { stage.changed } else { stage.results };
            format!("{} {number} of {}", stage.stage, stage.results)
        })
        .collect();
    format!("{}: {}", one.submission, stages.join(", "))
}

fn answer(dry_run: bool, results: u64, meant: &[ChangedSubmission], begun: &[SubmissionId]) -> Value {
    let submissions: Vec<Value> = meant
        .iter()
        .enumerate()
        .map(|(place, one)| {
            json!({
                "submission": one.submission, "newer_workflow": one.newer_workflow, "stages": one.stages,
                "run_again_as": begun.get(place),
            })
        })
        .collect();
    json!({"dry_run": dry_run, "results": results, "submissions": submissions})
}

fn is_confirmed(said: &str) -> anyhow::Result<bool> {
    let unasked = format!("{said} would be run again, and there is nobody to ask");
    confirm::ask(&format!("Run {said} again?"), unasked, "--yes runs them without asking, --dry-run only says what")
}
