//! `bindery machine test-state`: one state alone, with an answer made up for what it would ask others.

use crate::{exit::Exit, failure::Failure, output};
use bindery_app::machines::{
    DefinitionError, DefinitionFile, Detail, Trial, TrialAnswer, TrialError, TrialStatus, try_one_state,
};
use clap::ValueEnum;
use serde_json::{Map, Value};
use std::path::PathBuf;

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

pub(super) fn run(args: Args) -> anyhow::Result<Exit> {
    let trial = trial(&args)?;
    let detail = match args.inspection_level {
        Level::Info => Detail::Info,
        Level::Debug => Detail::Debug,
        Level::Trace => Detail::Trace,
    };
    let source = DefinitionFile::read(&args.file)?;
    let tried = try_one_state(&source, args.state, &trial, detail).map_err(explain)?;
    output::json(&tried.answer)?;
    Ok(if tried.status == TrialStatus::Failed { Exit::SubmissionFailed } else { Exit::Ok })
}

fn trial(args: &Args) -> anyhow::Result<Trial> {
    let answer = match (&args.result, &args.error) {
        (Some(result), _) => Some(TrialAnswer::Result(parsed("result", result)?)),
        (None, Some(error)) => Some(TrialAnswer::Error { error: Some(error.clone()), cause: args.cause.clone() }),
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

/// What can be said instead.
fn explain(error: DefinitionError) -> anyhow::Error {
    let (message, hint) = match &error {
        DefinitionError::StateNotNamed { known } => (
            "a machine has several states: say which one with --state".to_owned(),
            format!("known here: {}", known.join(", ")),
        ),
        DefinitionError::UnknownState { known, .. } => (error.to_string(), format!("known here: {}", known.join(", "))),
        DefinitionError::Trial(TrialError::AnswerMissing(..)) => {
            (error.to_string(), "--result JSON, or --error NAME with --cause TEXT".to_owned())
        }
        DefinitionError::Trial(TrialError::AnswerUnused(..)) => {
            (error.to_string(), "leave --result and --error out".to_owned())
        }
        _ => return error.into(),
    };
    Failure::usage(message).hint(hint).into()
}
