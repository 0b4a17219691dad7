//! `bindery workflows`: what can be done with documents, and checking files of your own.

use crate::{exit::Exit, failure::Failure, output};
use bindery_app::Settings;
use bindery_core::Name;
use bindery_engine::{
    Registry,
    workflow::{RoutingClash, Stage, Workflow, builtin, load_file, routing_clashes, unread_outputs},
};
use bindery_processors::StageContract;
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

/// A workflow that can be asked for.
struct Known {
    text: String,
    from: String,
    workflow: Workflow,
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action.unwrap_or(Action::List) {
        Action::List => list(&known_workflows(settings).await?, args.json),
        Action::Check { files } => check(settings, &files).await,
        Action::Show { name } => {
            let known = known_workflows(settings).await?;
            output::line(find(&known, &name)?.text.trim_end_matches('\n'))?;
            Ok(Exit::Ok)
        }
        Action::Schema { name, stage } => {
            let known = known_workflows(settings).await?;
            schema(&find(&known, &name)?.workflow, stage.as_deref(), args.json)
        }
    }
}

fn find<'k>(known: &'k BTreeMap<Name, Known>, name: &str) -> anyhow::Result<&'k Known> {
    known.get(name).ok_or_else(|| {
        let names: Vec<&str> = known.keys().map(Name::as_str).collect();
        Failure::usage(format!("there is no workflow {name:?}; known are {}", names.join(", "))).into()
    })
}

/// What programs get and may answer, stage by stage.
fn schema(workflow: &Workflow, wanted: Option<&str>, as_json: bool) -> anyhow::Result<Exit> {
    let stages: Vec<(usize, &Stage)> = workflow.stages.iter().enumerate().collect();
    let stages: Vec<(usize, &Stage)> = match wanted {
        None => stages,
        Some(name) => {
            let found: Vec<_> = stages.iter().copied().filter(|(_, stage)| *stage.name == *name).collect();
            if found.is_empty() {
                let names: Vec<&str> = workflow.stages.iter().map(|stage| &*stage.name).collect();
                let message = format!(
                    "the workflow {} has no stage {name:?}; its stages are {}",
                    workflow.name,
                    names.join(", ")
                );
                return Err(Failure::usage(message).into());
            }
            found
        }
    };
    let contracts =
        stages.iter().filter_map(|(index, stage)| Some((*stage, StageContract::of_stage(workflow, *index)?)));
    if as_json {
        let listed: Vec<_> = contracts
            .map(|(stage, contract)| {
                json!({
                    "workflow": workflow.name, "stage": stage.name, "over": stage.over.as_str(),
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
    for (place, (stage, contract)) in contracts.enumerate() {
        if place > 0 {
            output::line("")?;
        }
        output::line(format!("{} / {}: {}", workflow.name, stage.name, contract.title()))?;
        output::line(contract.in_words().trim_end())?;
    }
    Ok(Exit::Ok)
}

/// Name and text of every workflow that ships.
fn shipped() -> impl Iterator<Item = (&'static str, &'static str)> {
    let councils = [bindery_civic::WORKFLOW, bindery_civic::NOTICES_WORKFLOW];
    builtin::all().into_iter().chain(bindery_pipeline::workflows::SHIPPED).chain(councils)
}

/// By name, the newest version of each: those that ship, those in the store, those in the user's folder.
async fn known_workflows(settings: &Settings) -> anyhow::Result<BTreeMap<Name, Known>> {
    let mut known: BTreeMap<Name, Known> = BTreeMap::new();
    let mut add = |text: String, from: String, workflow: Workflow| {
        let newer = known.get(&workflow.name).is_none_or(|other| other.workflow.version <= workflow.version);
        if newer {
            known.insert(workflow.name.clone(), Known { text, from, workflow });
        }
    };
    for (name, text) in shipped() {
        add(text.to_owned(), "shipped".to_owned(), Workflow::parse(text, Some(name))?);
    }
    if let Some(app) = settings.if_existing().await? {
        for stored in app.store().workflows().await? {
            let shipped = shipped().any(|known| known == (stored.name.as_str(), stored.text.as_str()));
            let from = if shipped { "shipped" } else { "stored" };
            let workflow = Workflow::parse(&stored.text, Some(&stored.name))?;
            add(stored.text, from.to_owned(), workflow);
        }
    }
    for loaded in settings.own_workflows()? {
        add(loaded.text, loaded.file.display().to_string(), loaded.workflow);
    }
    Ok(known)
}

fn list(known: &BTreeMap<Name, Known>, as_json: bool) -> anyhow::Result<Exit> {
    let stages = |known: &Known| known.workflow.stages.iter().map(|stage| stage.name.to_string()).collect::<Vec<_>>();
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
    let processors = settings.known_processors()?;
    let others = others(settings).await;
    let mut bad = 0;
    let mut good: Vec<Workflow> = Vec::new();
    for file in files {
        let workflow = match load_file(file) {
            Ok(loaded) => loaded.workflow,
            Err(problems) => {
                bad += 1;
                output::line(problems.to_string())?;
                continue;
            }
        };
        let clashes = clashes(&workflow, others.values().chain(&good));
        let unread = unread_outputs(&workflow, processors.registry());
        if clashes.is_empty() && unread.is_empty() {
            output::line(format!(
                "{}: {} version {} is good, {}",
                file.display(),
                workflow.name,
                workflow.version,
                output::count(workflow.stages.len() as u64, "stage")
            ))?;
        } else {
            bad += 1;
            for clash in &clashes {
                output::line(format!("{}: {clash}", file.display()))?;
                let stage = &clash.second.1;
                output::line(format!("  hint: leave `routing_key` of the stage {stage} out, or choose another"))?;
            }
            for unread in &unread {
                output::line(format!("{}: {unread}", file.display()))?;
                output::line(format!("  hint: {}", unread.hint()))?;
            }
        }
        missing_processors(&workflow, processors.registry());
        good.push(workflow);
    }
    if bad == 0 {
        return Ok(Exit::Ok);
    }
    Err(Failure::usage(format!("{} cannot be used", output::count(bad, "file"))).into())
}

fn missing_processors(workflow: &Workflow, registry: &Registry) {
    let processors = workflow.stages.iter().flat_map(|stage| &stage.processors);
    for processor in processors.filter(|known| !known.external && registry.get(&known.name).is_none()) {
        output::note(format!("note: this program has no processor {}", processor.name));
    }
}

/// The workflows that a file is compared with: those that ship, those in the store, those in the user's folder. A file is
/// checked also where the store cannot be read or the folder holds other mistakes.
async fn others(settings: &Settings) -> BTreeMap<Name, Workflow> {
    let shipped = shipped().filter_map(|(_, text)| Workflow::parse(text, None).ok());
    let mut others: BTreeMap<Name, Workflow> = shipped.map(|workflow| (workflow.name.clone(), workflow)).collect();
    let stored = async {
        let Some(app) = settings.if_existing().await? else { return Ok(Vec::new()) };
        anyhow::Ok(app.store().workflows().await?)
    };
    match stored.await {
        Ok(stored) => {
            let parsed = stored.iter().filter_map(|stored| Workflow::parse(&stored.text, None).ok());
            others.extend(parsed.map(|workflow| (workflow.name.clone(), workflow)));
        }
        Err(error) => output::note(format!("note: not compared with what is stored: {error:#}")),
    }
    let own = settings.own_workflows().unwrap_or_default().into_iter().map(|loaded| loaded.workflow);
    others.extend(own.map(|workflow| (workflow.name.clone(), workflow)));
    others
}

/// The clashes of a workflow with others; a version of its own is none of them.
fn clashes<'w>(workflow: &'w Workflow, others: impl Iterator<Item = &'w Workflow>) -> Vec<RoutingClash> {
    let others = others.filter(|other| other.name != workflow.name).chain([workflow]);
    let mut clashes = routing_clashes(others);
    clashes.retain(|clash| clash.second.0 == workflow.name);
    clashes
}
