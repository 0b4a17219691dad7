//! `bindery rerun`: works again on what depends on something that has changed.

use super::retry::refuse_run;
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{App, Settings};
use bindery_core::{ContentHash, SubmissionId, submission::BY_CONTENT, submission::SubmissionStatus};
use bindery_engine::{
    intake::Received,
    reuse::{changed::ChangedSubmission, rerun_of, state_anew},
    runs::CHANNEL,
};
use bindery_store::query::SubmissionFilter;
use serde_json::{Value, json};
use std::{
    collections::HashSet,
    io::{self, IsTerminal as _, Write as _},
};

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
    for name in &args.processor {
        if app.engine.registry().get(name).is_none() {
            let message = format!("there is no processor {name:?}");
            return Err(Failure::usage(message).hint("`bindery processors` lists them").into());
        }
    }
    let mut meant = Vec::new();
    for id in submissions(&app, &args.ids).await? {
        let found = app.engine.changed_results(id).await?;
        if args.anew || found.changed() > 0 {
            meant.push(found);
        }
    }
    let results = meant.iter().map(|one| count(&args, one)).sum();
    let said = format!("{} of {}", output::count(results, "result"), output::count(meant.len() as u64, "submission"));
    if !args.json {
        for one in &meant {
            output::line(line(&args, one))?;
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
    if !args.yes && !confirmed(&said)? {
        output::note("nothing is run again");
        return Ok(Exit::Ok);
    }
    let mut begun = Vec::new();
    for one in &meant {
        let now = begin(&app, &args, one).await?;
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

/// Those that are named, or all that have ended and whose place no other has taken.
async fn submissions(app: &App, named: &[String]) -> anyhow::Result<Vec<SubmissionId>> {
    let mut ids = Vec::new();
    for id in named {
        let found = app.engine.find_submission(id).await?;
        refuse_run(app, found.id).await?;
        if !found.status.is_final() {
            let message = format!("{} is still at work; it can be run again when it has ended", found.id);
            return Err(Failure::usage(message).into());
        }
        if !ids.contains(&found.id) {
            ids.push(found.id);
        }
    }
    if !named.is_empty() {
        return Ok(ids);
    }
    let statuses = vec![SubmissionStatus::Completed, SubmissionStatus::Failed];
    let ended = app.store().submissions(SubmissionFilter { statuses, ..SubmissionFilter::default() }).await?;
    let all = app.store().submissions(SubmissionFilter::default()).await?;
    let replaced: HashSet<_> = all.iter().filter_map(|one| rerun_of(&one.metadata)).collect();
    let mut ids: Vec<_> = ended.into_iter().filter(|one| one.channel != CHANNEL).map(|one| one.id).collect();
    ids.retain(|id| !replaced.contains(id));
    ids.sort_unstable();
    Ok(ids)
}

/// How many results would be found again, those not counted that follow from them.
fn count(args: &Args, one: &ChangedSubmission) -> u64 {
    let of = |processor: &str| args.processor.is_empty() || args.processor.iter().any(|name| name == processor);
    let stages = one.stages.iter().filter(|stage| !args.anew || of(&stage.processor));
    stages.map(|stage| if args.anew { stage.results } else { stage.changed }).sum()
}

fn line(args: &Args, one: &ChangedSubmission) -> String {
    let stages: Vec<String> = one
        .stages
        .iter()
        .filter(|stage| args.anew || stage.changed > 0)
        .map(|stage| {
            let number = if args.anew { stage.results } else { stage.changed };
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

/// The same change once more is the same submission: a command that was killed half-way can be given again.
async fn begin(app: &App, args: &Args, one: &ChangedSubmission) -> anyhow::Result<SubmissionId> {
    let mut intake = app.engine.intake_again(one.submission).await?;
    if args.anew {
        let only = (!args.processor.is_empty()).then_some(args.processor.as_slice());
        state_anew(&mut intake.metadata, only);
    } else {
        let what = json!([one.submission, one.recipes.to_string()]).to_string();
        intake.external_id = Some(format!("{BY_CONTENT}{}", ContentHash::of(what.as_bytes())));
    }
    let received: Received = app.engine.submit(intake).await?;
    Ok(received.id())
}

fn confirmed(said: &str) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        let message = format!("{said} would be run again, and there is nobody to ask");
        return Err(Failure::usage(message).hint("--yes runs them without asking, --dry-run only says what").into());
    }
    let mut err = io::stderr().lock();
    write!(err, "Run {said} again? [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes" | "Yes"))
}
