//! `bindery process`: runs one processor on inputs, without a workflow.

use crate::{
    exit::Exit,
    failure::Failure,
    intake_args::key_value,
    standalone::{self, RunnerArgs},
};
use bindery_app::{
    Settings,
    inputs::{InputPile, Owner},
    reviews::json_or_text,
    runs::{Duplicates, ExecutionContext, FactorPolicy, Limits, MergePolicy, RunSetup, RunnerChoice, Trigger},
};
use bindery_core::Timestamp;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Run one processor on inputs of your own
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery process application_form form.json              the file is the input's data
  bindery process bank_statement statements/ --json       every *.json and *.jsonl below the folder
  bindery process bank_statement batch.jsonl --runner processes:4 --timeout 30
  cat form.json | bindery process application_form - > factors.json
  bindery process application_form fixed.json --previous 1f0c9a2e
  bindery process application_form form.json --parent nightly-7 --meta batch=12 --trigger automatic --trigger-by cron
A .json file holds an input (input_id, account_id, underwriting_id, data), a list of inputs, or any
other JSON: then it is the data of an input that is called like the file. A .jsonl file holds an
input on each line. Where everything succeeds, the factors are printed. Whatever happens is stored:
`bindery runs` lists it, `bindery runs retry` goes on with it. Ctrl-C lets inputs under way finish.")]
pub(crate) struct Args {
    /// The processor; `bindery processors` lists them
    #[arg(value_name = "NAME")]
    processor: String,

    /// Files, folders, or - for standard input
    #[arg(required = true, value_name = "INPUTS")]
    inputs: Vec<String>,

    #[command(flatten)]
    runner: RunnerArgs,

    /// Whose inputs they are (default: what the first input says, or else local)
    #[arg(long, value_name = "ID", value_parser = not_blank)]
    account: Option<String>,

    /// What they belong to (default: what the first input says, or else local)
    #[arg(long, value_name = "ID", value_parser = not_blank)]
    underwriting: Option<String>,

    /// A setting of the processor as key=value; may be given several times. The value is JSON where it can be read as
    /// JSON, or else a text
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, String)>,

    /// Go on with this run: what it has done is skipped, these inputs take the place of its own of the same ids
    #[arg(long, value_name = "RUN", value_parser = not_blank)]
    previous: Option<String>,

    /// The run that this one belongs to, as the result shows it; with --previous, the run that its lineage began with
    #[arg(long, value_name = "RUN", value_parser = not_blank)]
    parent: Option<String>,

    /// Anything to keep with the run, as key=value; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    meta: Vec<(String, String)>,

    /// What set the run going
    #[arg(long, default_value = "manual", value_name = "manual|automatic", value_parser = trigger)]
    trigger: Trigger,

    /// Who or what set it going
    #[arg(long, value_name = "NAME", value_parser = not_blank)]
    trigger_by: Option<String>,

    /// When that was, such as 2026-11-16T09:30:00Z
    #[arg(long, value_name = "TIME", value_parser = timestamp)]
    trigger_at: Option<String>,

    /// Of inputs with the same id, the last one counts, or all are refused
    #[arg(long, default_value = "last", value_name = "last|refuse", value_parser = duplicates)]
    duplicates: Duplicates,

    /// Which value counts where inputs disagree about a factor
    #[arg(long, default_value = "last", value_name = "last|first|all", value_parser = policy)]
    merge: FactorPolicy,

    /// The same for one factor; may be given several times
    #[arg(long, value_name = "FACTOR=last|first|all", value_parser = factor_policy)]
    merge_factor: Vec<(String, FactorPolicy)>,

    /// Show no progress
    #[arg(long)]
    no_progress: bool,

    /// Print the whole result as JSON
    #[arg(long)]
    json: bool,
}

fn not_blank(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("it is blank".to_owned()) } else { Ok(text.to_owned()) }
}

fn trigger(text: &str) -> Result<Trigger, String> {
    match text {
        "manual" => Ok(Trigger::Manual),
        "automatic" => Ok(Trigger::Automatic),
        _ => Err("expected manual or automatic".to_owned()),
    }
}

/// Kept as it is written.
fn timestamp(text: &str) -> Result<String, String> {
    let read: Result<Timestamp, _> = text.parse();
    read.map(|_| text.to_owned()).map_err(|_| "expected a time such as 2026-11-16T09:30:00Z".to_owned())
}

fn duplicates(text: &str) -> Result<Duplicates, String> {
    match text {
        "last" => Ok(Duplicates::LastWins),
        "refuse" => Ok(Duplicates::Refuse),
        _ => Err("expected last or refuse".to_owned()),
    }
}

fn policy(text: &str) -> Result<FactorPolicy, String> {
    match text {
        "last" => Ok(FactorPolicy::Last),
        "first" => Ok(FactorPolicy::First),
        "all" => Ok(FactorPolicy::All),
        _ => Err("expected last, first or all".to_owned()),
    }
}

fn factor_policy(text: &str) -> Result<(String, FactorPolicy), String> {
    let (factor, named) = key_value(text).map_err(|_| "expected FACTOR=last, FACTOR=first or FACTOR=all".to_owned())?;
    Ok((factor, policy(&named)?))
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    // Whatever can be wrong is told before a store is made.
    let processors = settings.known_processors()?;
    processors.find(&args.processor)?;
    let own_settings = unique("--set", args.set.iter().cloned())?;
    let factors = unique("--merge-factor", args.merge_factor.iter().cloned())?;
    let execution_metadata = unique("--meta", args.meta.iter().cloned())?;
    let pile = InputPile::read(&args.inputs)?;
    let app = match args.previous {
        Some(_) => settings.existing_with(&processors).await?,
        None => settings.create_with(&processors).await?,
    };
    let runs = app.runs();
    let previous = match &args.previous {
        Some(named) => Some(runs.find(named).await?),
        None => None,
    };
    let before = previous.as_ref().map(|record| Owner {
        account_id: record.account_id.clone(),
        underwriting_id: record.details.underwriting_id.clone(),
    });
    let owner = pile.owner(args.account.as_deref(), args.underwriting.as_deref(), before);
    let inputs = pile.into_inputs(&owner);
    let own_settings =
        own_settings.into_iter().map(|(key, value)| (key, json_or_text(value))).collect::<Map<String, Value>>();
    let (limits, runner) = (args.runner.limits(Limits::default()), args.runner.runner.unwrap_or(RunnerChoice::Auto));
    let mut execution = RunSetup { settings, app: &app, processors: &processors, limits, runner }
        .execution(&args.processor, &owner, inputs.len())?
        .with_settings(own_settings)
        .with_duplicates(args.duplicates)
        .with_merge(MergePolicy { default: args.merge, factors });
    let cancel = execution.task_mut().cancel.clone();
    let context = ExecutionContext {
        trigger_type: args.trigger,
        trigger_initiator: args.trigger_by,
        trigger_timestamp: args.trigger_at,
        parent_run_id: args.parent,
        execution_metadata,
        previous_run_id: previous.map(|record| record.run_id),
        ..ExecutionContext::default()
    };
    let ended = standalone::follow(&cancel, !args.no_progress, |tell| {
        runs.start(execution, inputs, Some(context), move |progress| {
            tell.send_replace(Some(progress));
        })
    });
    standalone::conclude(ended.await?, args.json)
}

/// Each name once.
fn unique<V>(flag: &str, given: impl Iterator<Item = (String, V)>) -> anyhow::Result<BTreeMap<String, V>> {
    let mut named = BTreeMap::new();
    for (name, value) in given {
        if named.contains_key(&name) {
            return Err(Failure::usage(format!("{flag}: {name:?} is given twice")).into());
        }
        named.insert(name, value);
    }
    Ok(named)
}
