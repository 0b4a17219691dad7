//! `bindery workflows`: what can be done with documents, and checking files of your own.

use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    Settings,
    workflows::{CheckedWorkflow, KnownWorkflow, WorkflowChecks},
};
use bindery_core::Name;
use clap::Subcommand;
use serde_json::json;
use std::{collections::BTreeMap, path::PathBuf};

/// List, check or show workflows
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery workflows
  bindery workflows show words > mine.yaml     a start for your own
  bindery workflows check mine.yaml            every problem with its line
  bindery --workflows ./workflows run inbox --workflow mine
docs/workflows.md describes every key.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List them (what happens without a word, too)
    List,
    /// Check files without storing them; all problems are shown
    ///
    /// Problems are wrong or unknown keys, and routing keys that lead to another queue in another workflow.
    Check {
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Print the text of one
    Show { name: String },
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action.unwrap_or(Action::List) {
        Action::List => list(&settings.known_workflows().await?, args.json),
        Action::Check { files } => check(settings, &files).await,
        Action::Show { name } => {
            let known = settings.known_workflows().await?;
            let Some(found) = known.get(&*name) else {
                let names: Vec<&str> = known.keys().map(Name::as_str).collect();
                let message = format!("there is no workflow {name:?}; known are {}", names.join(", "));
                return Err(Failure::usage(message).into());
            };
            output::line(found.text.trim_end_matches('\n'))?;
            Ok(Exit::Ok)
        }
    }
}

fn list(known: &BTreeMap<Name, KnownWorkflow>, as_json: bool) -> anyhow::Result<Exit> {
    let stages =
        |known: &KnownWorkflow| known.workflow.stages.iter().map(|stage| stage.name.to_string()).collect::<Vec<_>>();
    if as_json {
        let listed: Vec<_> = known
            .iter()
            .map(|(name, known)| {
                json!({
                    "name": name, "version": known.workflow.version, "from": known.from,
                    "description": known.workflow.description, "stages": stages(known),
                })
            })
            .collect();
        output::json(&listed)?;
        return Ok(Exit::Ok);
    }
    let rows = known.iter().map(|(name, known)| {
        [name.to_string(), known.workflow.version.to_string(), known.from.clone(), known.workflow.description.clone()]
    });
    output::table(&["WORKFLOW", "VERSION#", "FROM", "DESCRIPTION"], rows)?;
    Ok(Exit::Ok)
}

async fn check(settings: &Settings, files: &[PathBuf]) -> anyhow::Result<Exit> {
    let mut checks = WorkflowChecks::new(settings).await?;
    if let Some(why) = &checks.store_unread {
        output::note(format!("note: not compared with what is stored: {why}"));
    }
    let mut bad = 0;
    for file in files {
        let shown = file.display();
        let (name, version, stages, clashes, missing) = match checks.check(file) {
            CheckedWorkflow::Unusable(problems) => {
                bad += 1;
                output::line(problems)?;
                continue;
            }
            CheckedWorkflow::Usable { name, version, stages, clashes, missing_processors } => {
                (name, version, stages, clashes, missing_processors)
            }
        };
        if clashes.is_empty() {
            let stages = output::count(stages as u64, "stage");
            output::line(format!("{shown}: {name} version {version} is good, {stages}"))?;
        } else {
            bad += 1;
        }
        for (clash, stage) in &clashes {
            output::line(format!("{shown}: {clash}"))?;
            output::line(format!("  hint: leave `routing_key` of the stage {stage} out, or choose another"))?;
        }
        for processor in &missing {
            output::note(format!("note: this program has no processor {processor}"));
        }
    }
    if bad == 0 {
        return Ok(Exit::Ok);
    }
    Err(Failure::usage(format!("{} cannot be used", output::count(bad, "file"))).into())
}
