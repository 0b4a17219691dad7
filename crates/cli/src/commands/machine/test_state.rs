//! `bindery machine test-state`: one state alone, with an answer made up for what it would ask others.

use super::definition_file::Source;
use crate::{exit::Exit, failure::Failure, output};
use bindery_core::{Clock as _, time::SystemClock};
use bindery_states::asl::{
    definition::{Data, Definition, Entry, MachineId, Node, Place},
    stepper::{Answer, Detail, Moment, Trial, TrialError, TrialStatus, Tried, try_state},
};
use clap::ValueEnum;
use serde_json::{Map, Value};
use std::{collections::BTreeSet, path::PathBuf};

/// Run one state alone and show its output, the next state, and the data on the way
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery machine test-state machine.asl.json --state Choice --input '{\"status\": \"COMPLETE\"}'
  bindery machine test-state task.json --input '{}' --result '{\"Payload\": {\"n\": 1}}' --inspection-level DEBUG
  bindery machine test-state task.json --input '{}' --error Lambda.ServiceException --cause 'busy' --retry-count 3
The file is a machine, or one state. What a Task, Map or Parallel comes to has to be given. The status is SUCCEEDED,
CAUGHT_ERROR, RETRIABLE or FAILED; the exit code is 10 for FAILED.")]
pub(crate) struct Args {
    /// A machine or a single state, in JSON or YAML, or `-` for standard input
    file: PathBuf,

    /// The state of a machine
    #[arg(long, value_name = "NAME")]
    state: Option<String>,

    /// What the state is given
    #[arg(long, value_name = "JSON", default_value = "{}")]
    input: String,

    /// Parts of the context object, for example '{"Execution": {"Name": "night"}}'
    #[arg(long, value_name = "JSON")]
    context: Option<String>,

    /// Workflow variables, as an object
    #[arg(long, value_name = "JSON")]
    variables: Option<String>,

    /// What the state's task, branches or iterations come to
    #[arg(long, value_name = "JSON", conflicts_with_all = ["error", "cause"])]
    result: Option<String>,

    /// The name of the error that they end with
    #[arg(long, value_name = "NAME")]
    error: Option<String>,

    /// Why, in words
    #[arg(long, value_name = "TEXT", requires = "error")]
    cause: Option<String>,

    /// How often the state was tried before
    #[arg(long, value_name = "N", default_value_t = 0)]
    retry_count: u32,

    /// How much is told: what came out, the data on the way, or also what is asked and the history
    #[arg(long, value_enum, ignore_case = true, default_value = "INFO")]
    inspection_level: Level,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "UPPER")]
enum Level {
    Info,
    Debug,
    Trace,
}

/// What a state is called that is given without a name.
const UNNAMED: &str = "State";

pub(super) fn run(args: Args) -> anyhow::Result<Exit> {
    let trial = trial(&args)?;
    let source = Source::read(&args.file)?;
    let node = source.node().map_err(|faults| source.refusal(&faults))?;
    let is_machine = field(&node, "States").is_some();
    let node = if is_machine { node } else { around(node, args.state.as_deref().unwrap_or(UNNAMED)) };
    let definition = Definition::from_node(&node).map_err(|faults| source.refusal(&faults))?;
    let name = match args.state {
        Some(name) => name,
        None if is_machine => return Err(which(&definition).into()),
        None => UNNAMED.to_owned(),
    };
    let machine = machine_with(&definition, &name).ok_or_else(|| unknown(&definition, &name))?;
    let detail = match args.inspection_level {
        Level::Info => Detail::Info,
        Level::Debug => Detail::Debug,
        Level::Trace => Detail::Trace,
    };
    let now = SystemClock.now().as_millis();
    let tried = try_state(&definition, machine, &name, &trial, detail, Moment::new(now, now as u64))
        .map_err(|error| refusal(&error))?;
    let exit = if tried.status == TrialStatus::Failed { Exit::SubmissionFailed } else { Exit::Ok };
    output::json(&to_json(tried))?;
    Ok(exit)
}

fn trial(args: &Args) -> anyhow::Result<Trial> {
    let answer = match (&args.result, &args.error) {
        (Some(result), _) => Some(Answer::Result(parsed("result", result)?)),
        (None, Some(error)) => Some(Answer::Error { error: Some(error.clone()), cause: args.cause.clone() }),
        (None, None) => None,
    };
    let object = |flag: &str, text: &Option<String>| -> anyhow::Result<Option<Map<String, Value>>> {
        match text.as_deref().map(|text| parsed(flag, text)).transpose()? {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(other) => Err(Failure::usage(format!("--{flag} has to be an object, and is {other}")).into()),
        }
    };
    Ok(Trial {
        input: parsed("input", &args.input)?,
        variables: object("variables", &args.variables)?.unwrap_or_default(),
        context: object("context", &args.context)?.map(Value::Object),
        answer,
        retries: args.retry_count,
    })
}

fn parsed(flag: &str, text: &str) -> anyhow::Result<Value> {
    let fault =
        |error| Failure::usage(format!("--{flag} is not JSON: {error}")).hint("a text needs quotes: '\"text\"'");
    Ok(serde_json::from_str(text).map_err(fault)?)
}

fn field<'a>(node: &'a Node, name: &str) -> Option<&'a Node> {
    match &node.data {
        Data::Object(entries) => entries.iter().find(|entry| entry.key == name).map(|entry| &entry.value),
        _ => None,
    }
}

fn entry(key: &str, value: Node) -> Entry {
    Entry { key: key.to_owned(), place: Place::default(), value }
}

fn to_node(data: Data) -> Node {
    Node { place: Place::default(), data }
}

/// A machine around a state, in which everything that it leads to is there.
fn around(state: Node, name: &str) -> Node {
    let mut targets = BTreeSet::new();
    let mut add = |node: &Node, key: &str| {
        if let Some(Data::Text(target)) = field(node, key).map(|target| &target.data) {
            targets.insert(target.clone());
        }
    };
    add(&state, "Next");
    add(&state, "Default");
    for list in ["Choices", "Catch"] {
        if let Some(Data::List(nodes)) = field(&state, list).map(|list| &list.data) {
            for node in nodes {
                add(node, "Next");
            }
        }
    }
    targets.remove(name);
    let end = || to_node(Data::Object(vec![entry("Type", to_node(Data::Text("Succeed".to_owned())))]));
    let others = targets.iter().map(|target| entry(target, end()));
    let states = std::iter::once(entry(name, state)).chain(others).collect();
    to_node(Data::Object(vec![
        entry("StartAt", to_node(Data::Text(name.to_owned()))),
        entry("States", to_node(Data::Object(states))),
    ]))
}

/// The outermost machine comes first.
fn machine_with(definition: &Definition, name: &str) -> Option<MachineId> {
    definition.machines().iter().position(|machine| machine.states.contains_key(name))
}

fn names(definition: &Definition) -> String {
    let names: Vec<&str> =
        definition.machines().iter().flat_map(|machine| machine.states.keys()).map(String::as_str).collect();
    names.join(", ")
}

fn which(definition: &Definition) -> Failure {
    Failure::usage("a machine has several states: say which one with --state")
        .hint(format!("known here: {}", names(definition)))
}

fn unknown(definition: &Definition, name: &str) -> Failure {
    Failure::usage(format!("there is no state {name:?}")).hint(format!("known here: {}", names(definition)))
}

fn refusal(error: &TrialError) -> Failure {
    let hint = match error {
        TrialError::AnswerMissing(..) => Some("--result JSON, or --error NAME with --cause TEXT"),
        TrialError::AnswerUnused(..) => Some("leave --result and --error out"),
        TrialError::NoSuchState(_) => None,
    };
    let failure = Failure::usage(error.to_string());
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// As the service answers, with JSON where it has JSON as text.
fn to_json(tried: Tried) -> Map<String, Value> {
    let mut answer = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        answer.extend(value.map(|value| (key.to_owned(), value)));
    };
    put("status", Some(tried.status.name().into()));
    put("output", tried.output);
    put("nextState", tried.next.map(Value::String));
    put("error", tried.error.map(Value::String));
    put("cause", tried.cause.map(Value::String));
    put("inspectionData", Some(tried.inspection).filter(|found| !found.is_empty()).map(Value::Object));
    answer
}
