//! What a definition says, ready to run: paths and expressions are parsed, every target exists.

use super::{
    choice::Rule,
    diagnostic::Diagnostic,
    template::{Setting, Template},
};
use crate::asl::jsonpath::{PathExpression, ReferencePath};
use serde_json::Value;
use std::collections::BTreeMap;

/// A checked state machine. Branches and processors are machines of their own, all in one list, so that a place in it is
/// a number and a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    pub(super) machines: Vec<Machine>,
    pub(super) warnings: Vec<Diagnostic>,
    pub comment: Option<String>,
    /// How long an execution may take.
    pub timeout_seconds: Option<u64>,
}

/// The number of a machine in its definition; 0 is the outermost one.
pub type MachineId = usize;

#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    pub start_at: String,
    pub states: BTreeMap<String, State>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryLanguage {
    JsonPath,
    Jsonata,
}

#[derive(Debug, Clone, PartialEq)]
pub struct State {
    pub name: String,
    pub comment: Option<String>,
    pub language: QueryLanguage,
    pub kind: StateKind,
    /// None for states that end by themselves, and for Choice.
    pub transition: Option<Transition>,
    pub assign: Option<Template>,
    /// What JSONata makes the output of.
    pub output: Option<Template>,
    pub input_path: Selected,
    pub output_path: Selected,
    /// `Parameters`, or in JSONata `Arguments`.
    pub arguments: Option<Template>,
    pub result_selector: Option<Template>,
    pub result_path: ResultPath,
    pub retry: Vec<Retrier>,
    pub catch: Vec<Catcher>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transition {
    Next(String),
    End,
}

/// `InputPath` and `OutputPath`.
#[derive(Debug, Clone, PartialEq)]
pub enum Selected {
    All,
    /// `null`: an empty object.
    Nothing,
    Path(PathExpression),
}

#[derive(Debug, Clone, PartialEq)]
pub enum ResultPath {
    /// The result takes the place of the input.
    Replace,
    /// `null`: the result is thrown away.
    Discard,
    At(ReferencePath),
}

#[derive(Debug, Clone, PartialEq)]
pub enum StateKind {
    Pass { result: Option<Value> },
    Task(Box<Task>),
    Choice { rules: Vec<Rule>, default: Option<String> },
    Wait(WaitFor),
    Succeed,
    Fail { error: Option<Setting>, cause: Option<Setting> },
    Parallel { branches: Vec<MachineId> },
    Map(Box<Map>),
}

impl StateKind {
    /// As `Type` says it, and as events start.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pass { .. } => "Pass",
            Self::Task(_) => "Task",
            Self::Choice { .. } => "Choice",
            Self::Wait(_) => "Wait",
            Self::Succeed => "Succeed",
            Self::Fail { .. } => "Fail",
            Self::Parallel { .. } => "Parallel",
            Self::Map(_) => "Map",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub resource: String,
    pub timeout: Option<Setting>,
    pub heartbeat: Option<Setting>,
    pub credentials: Option<Template>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum WaitFor {
    Seconds(Setting),
    Timestamp(Setting),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Map {
    pub processor: MachineId,
    pub distributed: bool,
    pub label: Option<String>,
    /// JSONata: a list or an expression for one.
    pub items: Option<Template>,
    pub items_path: Option<PathExpression>,
    pub item_selector: Option<Template>,
    pub item_reader: Option<Box<ItemReader>>,
    pub item_batcher: Option<Box<ItemBatcher>>,
    pub result_writer: Option<Box<ResultWriter>>,
    pub max_concurrency: Option<Setting>,
    pub tolerated_failure_count: Option<Setting>,
    pub tolerated_failure_percentage: Option<Setting>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ItemReader {
    pub resource: String,
    pub arguments: Option<Template>,
    /// `ReaderConfig` without the limit: for whoever reads.
    pub config: Value,
    pub max_items: Option<Setting>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ItemBatcher {
    pub batch_input: Option<Template>,
    pub max_items: Option<Setting>,
    pub max_bytes: Option<Setting>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ResultWriter {
    pub resource: String,
    pub arguments: Option<Template>,
    pub config: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Retrier {
    pub errors: Vec<String>,
    pub interval_seconds: f64,
    pub max_attempts: u32,
    pub backoff_rate: f64,
    pub max_delay_seconds: Option<f64>,
    /// Any delay from nothing to the computed one.
    pub full_jitter: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Catcher {
    pub errors: Vec<String>,
    pub next: String,
    pub result_path: ResultPath,
    pub output: Option<Template>,
    pub assign: Option<Template>,
}

impl Definition {
    /// The outermost machine.
    pub fn root(&self) -> &Machine {
        &self.machines[0]
    }

    /// None for a number that this definition does not have.
    pub fn machine(&self, id: MachineId) -> Option<&Machine> {
        self.machines.get(id)
    }

    /// All machines, the outermost first.
    pub fn machines(&self) -> &[Machine] {
        &self.machines
    }

    pub fn state(&self, machine: MachineId, name: &str) -> Option<&State> {
        self.machines.get(machine)?.states.get(name)
    }

    /// What was probably meant otherwise.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The resources of all tasks, readers and writers, each with the state that uses it.
    pub fn resources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.machines.iter().flat_map(|machine| machine.states.values()).flat_map(|state| {
            let used: Vec<&str> = match &state.kind {
                StateKind::Task(task) => vec![&task.resource],
                StateKind::Map(map) => {
                    let reader = map.item_reader.as_ref().map(|reader| reader.resource.as_str());
                    reader
                        .into_iter()
                        .chain(map.result_writer.as_ref().map(|writer| writer.resource.as_str()))
                        .collect()
                }
                _ => Vec::new(),
            };
            used.into_iter().map(|resource| (state.name.as_str(), resource))
        })
    }
}
