//! What tasks answered in a record.

use super::case::{decoded, details, kind};
use crate::asl::{
    definition::{Definition, ResultPath, State, StateKind},
    jsonpath::JsonPath,
    stepper::{Event, TaskId},
};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};

/// The answers to one attempt of a task.
#[derive(Debug, Default, Clone)]
struct Attempt {
    started: Option<Started>,
    submitted: Option<Value>,
    outcome: Option<Outcome>,
}

/// A worker took it, who may have said its name.
#[derive(Debug, Clone)]
struct Started {
    worker: Option<String>,
}

#[derive(Debug, Clone)]
enum Outcome {
    Succeeded(Value),
    Failed(Option<String>, Option<String>),
    TimedOut,
}

/// The answers of a whole record, in the order they are needed.
pub(super) struct Answers {
    by_state: BTreeMap<String, VecDeque<Attempt>>,
    /// Of events whose ids the recorder has hidden.
    unplaced: VecDeque<Attempt>,
    /// The outputs of Map states.
    map_outputs: BTreeMap<String, Vec<Value>>,
    reader_failures: VecDeque<(Option<String>, Option<String>)>,
}

impl Answers {
    pub(super) fn from_events(events: &[Value]) -> Self {
        let mut answers = Self {
            by_state: BTreeMap::new(),
            unplaced: VecDeque::new(),
            map_outputs: BTreeMap::new(),
            reader_failures: VecDeque::new(),
        };
        // The state that each event belongs to.
        let mut owners: BTreeMap<u64, String> = BTreeMap::new();
        for event in events {
            let id = event["id"].as_u64();
            let name = details(event).and_then(|details| details["name"].as_str());
            let owner = match (kind(event), name) {
                ("TaskStateEntered", Some(name)) => Some(name.to_owned()),
                _ => id.and(event["previousEventId"].as_u64()).and_then(|previous| owners.get(&previous).cloned()),
            };
            if let (Some(id), Some(owner)) = (id, &owner) {
                owners.insert(id, owner.clone());
            }
            answers.note(event, owner.as_deref());
        }
        answers
    }

    fn note(&mut self, event: &Value, owner: Option<&str>) {
        let empty = Value::Null;
        let details = details(event).unwrap_or(&empty);
        let text = |key: &str| match &details[key] {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let attempts = match owner {
            Some(owner) => self.by_state.entry(owner.to_owned()).or_default(),
            None => &mut self.unplaced,
        };
        let mut update = |change: &dyn Fn(&mut Attempt)| {
            if attempts.back().is_none_or(|attempt| attempt.outcome.is_some()) {
                attempts.push_back(Attempt::default());
            }
            if let Some(attempt) = attempts.back_mut() {
                change(attempt);
            }
        };
        match kind(event) {
            "ActivityStarted" => update(&|attempt| attempt.started = Some(Started { worker: text("workerName") })),
            "TaskSubmitted" => update(&|attempt| attempt.submitted = Some(decoded(&details["output"]))),
            "TaskSucceeded" | "LambdaFunctionSucceeded" | "ActivitySucceeded" => {
                update(&|attempt| attempt.outcome = Some(Outcome::Succeeded(decoded(&details["output"]))));
            }
            "TaskFailed" | "LambdaFunctionFailed" | "ActivityFailed" => {
                update(&|attempt| attempt.outcome = Some(Outcome::Failed(text("error"), text("cause"))));
            }
            "TaskTimedOut" | "LambdaFunctionTimedOut" | "ActivityTimedOut" => {
                update(&|attempt| attempt.outcome = Some(Outcome::TimedOut));
            }
            "MapRunFailed" => self.reader_failures.push_back((text("error"), text("cause"))),
            "MapStateExited" => {
                let name = details["name"].as_str().unwrap_or_default().to_owned();
                self.map_outputs.entry(name).or_default().push(decoded(&details["output"]));
            }
            _ => {}
        }
    }

    /// The events that answer a task. `runs` is how often the Map around it has ended before, `index` which of its items
    /// it works on: a distributed Map has no record of its children, only of what they came to.
    pub(super) fn for_task(
        &mut self,
        definition: &Definition,
        state: &str,
        index: usize,
        task: TaskId,
        runs: &BTreeMap<String, usize>,
    ) -> Vec<Event> {
        let placed = self.by_state.get_mut(state).and_then(VecDeque::pop_front);
        let attempt = placed.or_else(|| self.unplaced.pop_front()).unwrap_or_else(|| {
            let map = definition.machines().iter().flat_map(|machine| machine.states.values()).find(
                |found| matches!(&found.kind, StateKind::Map(map) if definition.state(map.processor, state).is_some()),
            );
            let result = map.and_then(|map| self.map_result(map, runs));
            let own = result.and_then(|result| result.get(index).cloned()).unwrap_or_default();
            Attempt { outcome: Some(Outcome::Succeeded(own)), ..Attempt::default() }
        });
        let mut events = Vec::new();
        events.extend(attempt.started.map(|started| Event::TaskStarted { task, worker: started.worker }));
        events.extend(attempt.submitted.map(|output| Event::TaskSubmitted { task, output }));
        events.extend(attempt.outcome.map(|outcome| match outcome {
            Outcome::Succeeded(output) => Event::TaskSucceeded { task, output },
            Outcome::Failed(error, cause) => Event::TaskFailed { task, error, cause },
            Outcome::TimedOut => Event::TaskTimedOut { task },
        }));
        events
    }

    /// What a reader found. It is not in the record; what became of it is.
    pub(super) fn for_reader(&mut self, map: &State, task: TaskId, runs: &BTreeMap<String, usize>) -> Event {
        if let Some(Value::Array(items)) = self.map_result(map, runs) {
            return Event::ItemsRead { task, items };
        }
        let (error, cause) = self.reader_failures.pop_front().unwrap_or_default();
        Event::TaskFailed { task, error, cause }
    }

    /// The recorded output of a Map, without the input around it.
    pub(super) fn map_result(&self, map: &State, runs: &BTreeMap<String, usize>) -> Option<Value> {
        let output = self.map_outputs.get(&map.name)?.get(runs.get(&map.name).copied().unwrap_or(0))?;
        match &map.result_path {
            ResultPath::At(path) => {
                let roots = Whole(output);
                JsonPath::parse(path.text()).ok()?.select(&roots).ok().map(std::borrow::Cow::into_owned)
            }
            _ => Some(output.clone()),
        }
    }
}

/// A value as the only thing that a path sees.
struct Whole<'a>(&'a Value);

impl crate::asl::jsonpath::Roots for Whole<'_> {
    fn input(&self) -> &Value {
        self.0
    }
    fn context(&self) -> &Value {
        &Value::Null
    }
    fn variable(&self, _: &str) -> Option<&Value> {
        None
    }
    fn random(&self) -> f64 {
        0.0
    }
    fn uuid(&self) -> String {
        String::new()
    }
}
