//! One state alone, with an answer made up for what it would ask others.

use super::{DefinitionError, DefinitionFile};
use bindery_core::{Clock as _, time::SystemClock};
use bindery_states::asl::{
    definition::{Data, Definition, Entry, MachineId, Node, Place},
    stepper::{Detail, Moment, Trial, TrialStatus, Tried, try_state},
};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What a state is called that is given without a name.
const UNNAMED: &str = "State";

/// What a state came to.
#[derive(Debug)]
pub struct TrialResult {
    pub status: TrialStatus,
    /// As `TestState` answers, with JSON where the service has JSON as text.
    pub answer: Map<String, Value>,
}

/// Tries a state of a machine, or the one state that a file holds.
pub fn try_one_state(
    source: &DefinitionFile,
    state: Option<String>,
    trial: &Trial,
    detail: Detail,
) -> Result<TrialResult, DefinitionError> {
    let node = source.node().map_err(|faults| source.refusal(&faults))?;
    let is_machine = field(&node, "States").is_some();
    let node = if is_machine { node } else { around(node, state.as_deref().unwrap_or(UNNAMED)) };
    let definition = Definition::from_node(&node).map_err(|faults| source.refusal(&faults))?;
    let name = match state {
        Some(name) => name,
        None if is_machine => return Err(DefinitionError::StateNotNamed { known: names(&definition) }),
        None => UNNAMED.to_owned(),
    };
    let Some(machine) = machine_with(&definition, &name) else {
        return Err(DefinitionError::UnknownState { name, known: names(&definition) });
    };
    let now = SystemClock.now().as_millis();
    let tried = try_state(&definition, machine, &name, trial, detail, Moment::new(now, now as u64))?;
    Ok(TrialResult { status: tried.status, answer: to_json(tried) })
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

fn names(definition: &Definition) -> Vec<String> {
    definition.machines().iter().flat_map(|machine| machine.states.keys()).cloned().collect()
}

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
