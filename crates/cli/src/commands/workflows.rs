//! `bindery workflows`: what can be done with documents, and checking files of your own.

use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    Settings,
    workflows::{CheckedWorkflow, KnownWorkflow, StageContract, WorkflowChecks, stage_contracts},
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
  bindery workflows schema documents extract   what a program at this stage gets and may answer
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
    /// Problems are wrong or unknown keys, routing keys that lead to another queue in another workflow, and stages whose
    /// output nobody reads.
    Check {
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Print the text of one
    Show { name: String },
    /// Print what a program gets at each stage, and what it may answer
    ///
    /// With --json as JSON Schemas: a program's answers are held against them when they come in.
    #[command(after_help = "\
Examples:
  bindery workflows schema documents                   all stages, in words
  bindery workflows schema documents extract           one of them
  bindery workflows schema documents extract --json    the same as JSON Schemas
docs/contracts.md prints all of them.")]
    Schema {
        #[arg(value_name = "NAME")]
        name: String,
        /// One stage only
        #[arg(value_name = "STAGE")]
        stage: Option<String>,
    },
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action.unwrap_or(Action::List) {
        Action::List => list(&settings.known_workflows().await?, args.json),
        Action::Check { files } => check(settings, &files).await,
        Action::Show { name } => {
            let known = settings.known_workflows().await?;
            output::line(find(&known, &name)?.text.trim_end_matches('\n'))?;
            Ok(Exit::Ok)
        }
        Action::Schema { name, stage } => {
            let known = settings.known_workflows().await?;
            schema(find(&known, &name)?, stage.as_deref(), args.json)
        }
    }
}

fn find<'k>(known: &'k BTreeMap<Name, KnownWorkflow>, name: &str) -> anyhow::Result<&'k KnownWorkflow> {
    known.get(name).ok_or_else(|| {
        let names: Vec<&str> = known.keys().map(Name::as_str).collect();
        Failure::usage(format!("there is no workflow {name:?}; known are {}", names.join(", "))).into()
    })
}

/// What programs get and may answer, stage by stage.
fn schema(known: &KnownWorkflow, wanted: Option<&str>, as_json: bool) -> anyhow::Result<Exit> {
    let workflow = &known.workflow.name;
    let mut contracts: Vec<(Name, StageContract)> = stage_contracts(known);
    if let Some(wanted) = wanted {
        let stages = &known.workflow.stages;
        if !stages.iter().any(|stage| *stage.name == *wanted) {
            let names: Vec<&str> = stages.iter().map(|stage| &*stage.name).collect();
            let message =
                format!("the workflow {workflow} has no stage {wanted:?}; its stages are {}", names.join(", "));
            return Err(Failure::usage(message).into());
        }
        contracts.retain(|(stage, _)| **stage == *wanted);
    }
    if as_json {
        let listed: Vec<_> = contracts
            .iter()
            .map(|(stage, contract)| {
                json!({
                    "workflow": workflow, "stage": stage, "over": contract.over.as_str(),
                    "request": contract.request_schema(), "answer": contract.answer_schema(),
                })
            })
            .collect();
        match (wanted, &listed[..]) {
            (Some(_), [only]) => output::json(only)?,
            _ => output::json(&listed)?,
        }
        return Ok(Exit::Ok);
    }
    for (place, (stage, contract)) in contracts.iter().enumerate() {
        if place > 0 {
            output::line("")?;
        }
        output::line(format!("{workflow} / {stage}: {}", contract.title()))?;
        output::line(contract.in_words().trim_end())?;
    }
    Ok(Exit::Ok)
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
        let (name, version, stages, clashes, unread, missing) = match checks.check(file) {
            CheckedWorkflow::Unusable(problems) => {
                bad += 1;
                output::line(problems)?;
                continue;
            }
            CheckedWorkflow::Usable { name, version, stages, clashes, unread, missing_processors } => {
                (name, version, stages, clashes, unread, missing_processors)
            }
        };
        if clashes.is_empty() && unread.is_empty() {
            let stages = output::count(stages as u64, "stage");
            output::line(format!("{shown}: {name} version {version} is good, {stages}"))?;
        } else {
            bad += 1;
        }
        for (clash, stage) in &clashes {
            output::line(format!("{shown}: {clash}"))?;
            output::line(format!("  hint: leave `routing_key` of the stage {stage} out, or choose another"))?;
        }
        for unread in &unread {
            output::line(format!("{shown}: {unread}"))?;
            output::line(format!("  hint: {}", unread.hint()))?;
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
