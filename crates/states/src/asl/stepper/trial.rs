//! One state alone, as the service's TestState runs it: with an input, variables and a context object of one's own, and
//! an answer made up for what the state would ask somebody else.
//!
//! The state is entered by the same stepper as any other, and left before the next one is entered.

use super::{
    data::combine,
    event::{Command, Event, Moment},
    execution::{Activity, Execution, Identity, ROOT, Status, Thread},
    failure::Failure,
    machine::{Handled, Handler, Stepper},
};
use crate::asl::{
    definition::{Definition, MachineId, QueryLanguage, State, StateKind},
    time,
};
use serde_json::{Map, Value, json};

/// What a state is tried with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trial {
    pub input: Value,
    pub variables: Map<String, Value>,
    /// Parts of the context object, in place of what it would say by itself.
    pub context: Option<Value>,
    /// What a Task, Map or Parallel comes to.
    pub answer: Option<Answer>,
    /// How often it was tried before.
    pub retries: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Result(Value),
    Error { error: Option<String>, cause: Option<String> },
}

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Detail {
    /// What came out.
    #[default]
    Info,
    /// And the data after each step on the way.
    Debug,
    /// And what a task is asked, and the history.
    Trace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialStatus {
    Succeeded,
    Failed,
    /// A retrier would try again.
    Retriable,
    CaughtError,
}

impl TrialStatus {
    /// The service's word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
            Self::Retriable => "RETRIABLE",
            Self::CaughtError => "CAUGHT_ERROR",
        }
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    pub status: TrialStatus,
    pub output: Option<Value>,
    pub next: Option<String>,
    pub error: Option<String>,
    pub cause: Option<String>,
    /// The data on the way, under the names that the service has for them.
    pub inspection: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrialError {
    #[error("the definition has no state `{0}`")]
    NoSuchState(String),
    #[error("`{0}` is a {1}: what it comes to has to be given as a result or an error")]
    AnswerMissing(String, &'static str),
    #[error("`{0}` is a {1}, which asks nobody: no result or error can be given for it")]
    AnswerUnused(String, &'static str),
}

/// Runs one state of a definition.
pub fn try_state(
    definition: &Definition,
    machine: MachineId,
    name: &str,
    trial: &Trial,
    detail: Detail,
    moment: Moment,
) -> Result<Tried, TrialError> {
    let state = definition.state(machine, name).ok_or_else(|| TrialError::NoSuchState(name.to_owned()))?;
    let asks = matches!(state.kind, StateKind::Task(_) | StateKind::Map(_) | StateKind::Parallel { .. });
    match (&trial.answer, asks) {
        (None, true) => return Err(TrialError::AnswerMissing(name.to_owned(), state.kind.name())),
        (Some(_), false) => return Err(TrialError::AnswerUnused(name.to_owned(), state.kind.name())),
        _ => {}
    }
    let mut execution = Execution::new(identity(trial.context.as_ref()), started_with(trial));
    execution.started_at = moment.now;
    let mut thread = Thread::new(None, 0, machine, name, trial.input.clone());
    thread.variables.clone_from(&trial.variables);
    execution.threads.insert(ROOT, thread);
    let mut stepper = Stepper::new(definition, &mut execution, moment);
    stepper.given_context.clone_from(&trial.context);
    let mut inspection = Map::new();
    if detail >= Detail::Debug {
        inspect_input(&stepper, state, trial, &mut inspection);
    }
    stepper.enter(ROOT);
    if detail >= Detail::Debug {
        inspect_request(&stepper, state, detail, &mut inspection);
    }
    answer(&mut stepper, state, trial);
    if detail >= Detail::Debug {
        after(&stepper, state, trial, &mut inspection);
    }
    if detail >= Detail::Trace {
        let events = stepper.step.history.iter().map(super::HistoryEvent::to_json).collect();
        inspection.insert("history".to_owned(), events);
    }
    let handled = stepper.handled.take();
    Ok(outcome(&mut execution, handled, inspection))
}

/// What the execution was started with, if the context object says so.
fn started_with(trial: &Trial) -> Value {
    let given = trial.context.as_ref().and_then(|context| context.get("Execution")?.get("Input"));
    given.unwrap_or(&trial.input).clone()
}

fn identity(context: Option<&Value>) -> Identity {
    let text = |part: &str, key: &str| {
        let found = context.and_then(|context| context.get(part)?.get(key)?.as_str());
        found.unwrap_or_default().to_owned()
    };
    Identity {
        id: text("Execution", "Id"),
        name: text("Execution", "Name"),
        role: text("Execution", "RoleArn"),
        machine_id: text("StateMachine", "Id"),
        machine_name: text("StateMachine", "Name"),
    }
}

/// Gives the state what it waits for, if it waits.
fn answer<'a>(stepper: &mut Stepper<'a>, state: &'a State, trial: &Trial) {
    let Some(thread) = stepper.execution.threads.get_mut(&ROOT) else { return };
    thread.attempts.iter_mut().for_each(|used| *used = trial.retries);
    thread.retries = trial.retries;
    match (&thread.activity, trial.answer.clone()) {
        (Activity::Waiting { timer }, _) => {
            let timer = *timer;
            stepper.timer_fired(timer);
        }
        (Activity::Task { task }, Some(answer)) => {
            let task = *task;
            stepper.task_event(match answer {
                Answer::Result(output) => Event::TaskSucceeded { task, output },
                Answer::Error { error, cause } => Event::TaskFailed { task, error, cause },
            });
        }
        (Activity::Composite(_), Some(answer)) => {
            stepper.drop_children(ROOT);
            match answer {
                Answer::Result(output) => stepper.completed(ROOT, state, output),
                Answer::Error { error, cause } => stepper.fail_from(ROOT, Failure::from_parts(error, cause), true),
            }
        }
        _ => {}
    }
}

fn inspect_input(stepper: &Stepper<'_>, state: &State, trial: &Trial, inspection: &mut Map<String, Value>) {
    inspection.insert("input".to_owned(), trial.input.clone());
    if state.language == QueryLanguage::JsonPath
        && let Ok(selected) = stepper.selected_input(ROOT, state)
    {
        inspection.insert("afterInputPath".to_owned(), selected.into_owned());
    }
    // A task's are seen when it asks: drawn once, and never again.
    if state.arguments.is_some()
        && !matches!(state.kind, StateKind::Task(_))
        && let Ok(arguments) = stepper.arguments(ROOT, state, None)
    {
        inspection.insert(arguments_name(state).to_owned(), arguments);
    }
}

fn arguments_name(state: &State) -> &'static str {
    if state.language == QueryLanguage::Jsonata { "afterArguments" } else { "afterParameters" }
}

fn inspect_request(stepper: &Stepper<'_>, state: &State, detail: Detail, inspection: &mut Map<String, Value>) {
    for command in &stepper.step.commands {
        match command {
            Command::RunTask { resource, input, timeout_seconds, heartbeat_seconds, token, .. } => {
                inspection.insert(arguments_name(state).to_owned(), input.clone());
                if detail >= Detail::Trace {
                    let request = json!({
                        "resource": resource, "input": input, "timeoutSeconds": timeout_seconds,
                        "heartbeatSeconds": heartbeat_seconds, "taskToken": token,
                    });
                    inspection.insert("request".to_owned(), request);
                }
            }
            Command::StartTimer { until, .. } if matches!(state.kind, StateKind::Wait(_)) => {
                inspection.insert("waitsUntil".to_owned(), time::show(*until).into());
            }
            _ => {}
        }
    }
    if let Some(Activity::Composite(composite)) = stepper.execution.threads.get(&ROOT).map(|thread| &thread.activity)
        && let StateKind::Map(map) = &state.kind
    {
        if map.item_reader.is_none() {
            inspection.insert("afterItemsPath".to_owned(), composite.items.clone().into());
        }
        let concurrency = if composite.concurrency == usize::MAX { 0 } else { composite.concurrency };
        inspection.insert("maxConcurrency".to_owned(), concurrency.into());
    }
}

fn after(stepper: &Stepper<'_>, state: &State, trial: &Trial, inspection: &mut Map<String, Value>) {
    let mut result = match (&state.kind, &trial.answer) {
        (StateKind::Pass { result: Some(result) }, _) => Some(result.clone()),
        (StateKind::Pass { .. }, _) if state.language == QueryLanguage::JsonPath => {
            inspection.get("afterParameters").or(inspection.get("afterInputPath")).cloned()
        }
        (_, Some(Answer::Result(result))) => Some(result.clone()),
        _ => None,
    };
    if let Some(result) = result.as_mut().filter(|_| stepper.handled.is_none()) {
        inspection.insert("result".to_owned(), result.clone());
        if let Some(template) = &state.result_selector
            && let Ok(selected) = stepper.view(ROOT, result).resolve(template)
        {
            inspection.insert("afterResultSelector".to_owned(), selected.clone());
            *result = selected;
        }
        if state.language == QueryLanguage::JsonPath
            && let Ok(combined) = combine(&state.result_path, &trial.input, result.clone())
        {
            inspection.insert("afterResultPath".to_owned(), combined);
        }
    }
    let thread = stepper.execution.threads.get(&ROOT);
    let mut variables = trial.variables.clone();
    match thread {
        Some(thread) => variables.clone_from(&thread.variables),
        // The machine has ended: what was assigned is told by the history alone.
        None => variables.extend(assigned(stepper)),
    }
    inspection.insert("variables".to_owned(), variables.into());
    if let Some(handled) = &stepper.handled {
        let details = match handled.by {
            Handler::Retrier(number, seconds) => json!({"retryIndex": number, "retryBackoffIntervalSeconds": seconds}),
            Handler::Catcher(number) => json!({"catchIndex": number}),
        };
        inspection.insert("errorDetails".to_owned(), details);
    }
}

fn assigned(stepper: &Stepper<'_>) -> Map<String, Value> {
    let exits = stepper.step.history.iter().filter_map(|event| event.details.as_ref());
    let texts = exits.filter_map(|details| details.get("assignedVariables")?.as_object());
    let decoded = |(name, text): (&String, &Value)| Some((name.clone(), serde_json::from_str(text.as_str()?).ok()?));
    texts.flatten().filter_map(decoded).collect()
}

fn outcome(execution: &mut Execution, handled: Option<Handled>, inspection: Map<String, Value>) -> Tried {
    let mut tried =
        Tried { status: TrialStatus::Succeeded, output: None, next: None, error: None, cause: None, inspection };
    let caught = handled.as_ref().is_some_and(|handled| matches!(handled.by, Handler::Catcher(_)));
    match execution.status().clone() {
        Status::Succeeded { output } => tried.output = Some(output),
        Status::Failed { error, cause } => {
            tried.status = TrialStatus::Failed;
            (tried.error, tried.cause) = (error, cause);
            return tried;
        }
        _ => {
            if let Some(thread) = execution.threads.remove(&ROOT) {
                if matches!(thread.activity, Activity::Retrying { .. }) {
                    tried.status = TrialStatus::Retriable;
                } else {
                    tried.output = Some(thread.input);
                    tried.next = Some(thread.state);
                }
            }
        }
    }
    if caught {
        tried.status = TrialStatus::CaughtError;
    }
    if let Some(Handled { failure, .. }) = handled {
        (tried.error, tried.cause) = (failure.error, failure.cause);
    }
    tried
}
