//! What the history of an execution says of its states.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The way that an execution took. States are known by their names, so that two of the same name in different branches
/// count as one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Path {
    visits: BTreeMap<String, usize>,
    /// From a state to the next, or to the end.
    taken: BTreeSet<(String, Option<String>)>,
    failed: BTreeSet<String>,
    current: BTreeSet<String>,
}

/// What to make of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing is known of any state.
    Unknown,
    NotVisited,
    Visited,
    Current,
    Failed,
}

impl Path {
    /// From events in the service's shape, as [`HistoryEvent::to_json`](crate::asl::stepper::HistoryEvent::to_json)
    /// writes them, in their order. What is not an event says nothing.
    pub fn from_history<'a>(events: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut path = Self::default();
        let mut reader = Reader::default();
        for event in events {
            reader.event(event, &mut path);
        }
        let open = reader.open.iter().filter(|(_, times)| **times > 0).map(|(name, _)| name.clone());
        if reader.ended_badly {
            let is_to_blame = |name: &String| {
                reader.culprit.as_ref().is_none_or(|culprit| culprit == name) || reader.composite.contains(name)
            };
            path.failed = open.filter(is_to_blame).collect();
        } else {
            path.current = open.collect();
        }
        path
    }

    /// From a file: a list of events, or the answer of `get-execution-history` that has one.
    pub fn read(history: &Value) -> Result<Self, String> {
        let list = history.get("events").unwrap_or(history);
        let Some(events) = list.as_array() else {
            return Err("a history is a list of events, or an object whose `events` are one".to_owned());
        };
        if let Some(place) = events.iter().position(|event| !event["type"].is_string()) {
            return Err(format!("event {} of the history has no `type`", place + 1));
        }
        Ok(Self::from_history(events))
    }

    pub fn is_empty(&self) -> bool {
        self.visits.is_empty()
    }

    /// How often a state was entered.
    pub fn visits(&self, state: &str) -> usize {
        self.visits.get(state).copied().unwrap_or(0)
    }

    pub(super) fn status_of(&self, state: &str) -> Standing {
        if self.is_empty() {
            Standing::Unknown
        } else if self.failed.contains(state) {
            Standing::Failed
        } else if self.current.contains(state) {
            Standing::Current
        } else if self.visits(state) > 0 {
            Standing::Visited
        } else {
            Standing::NotVisited
        }
    }

    /// Whether the execution went from one state to another, or to the end.
    pub(super) fn was_taken(&self, from: &str, to: Option<&str>) -> bool {
        self.taken.contains(&(from.to_owned(), to.map(str::to_owned)))
    }
}

#[derive(Default)]
struct Reader {
    /// The state that each event belongs to.
    owners: BTreeMap<u64, String>,
    /// The states that were left by these events.
    exits: BTreeMap<u64, String>,
    open: BTreeMap<String, usize>,
    composite: BTreeSet<String>,
    ended_badly: bool,
    culprit: Option<String>,
}

impl Reader {
    fn event(&mut self, event: &Value, path: &mut Path) {
        let kind = event["type"].as_str().unwrap_or_default();
        let (id, previous) = (event["id"].as_u64(), event["previousEventId"].as_u64());
        let name = |details: &str| event[details]["name"].as_str().map(str::to_owned);
        let mut owner = previous.and_then(|previous| self.owners.get(&previous).cloned());
        if kind.ends_with("StateEntered")
            && let Some(name) = name("stateEnteredEventDetails")
        {
            *path.visits.entry(name.clone()).or_default() += 1;
            *self.open.entry(name.clone()).or_default() += 1;
            if let Some(from) = previous.and_then(|previous| self.exits.get(&previous)) {
                path.taken.insert((from.clone(), Some(name.clone())));
            }
            if kind.starts_with("Map") || kind.starts_with("Parallel") {
                self.composite.insert(name.clone());
            }
            owner = Some(name);
        } else if kind.ends_with("StateExited")
            && let Some(name) = name("stateExitedEventDetails")
        {
            if let Some(times) = self.open.get_mut(&name) {
                *times = times.saturating_sub(1);
            }
            self.exits.extend(id.map(|id| (id, name.clone())));
            owner = Some(name);
        } else if kind == "ExecutionSucceeded" {
            let last = previous.and_then(|previous| self.exits.get(&previous));
            path.taken.extend(last.map(|last| (last.clone(), None)));
        } else if ["ExecutionFailed", "ExecutionTimedOut", "ExecutionAborted"].contains(&kind) {
            self.ended_badly = true;
            self.culprit.clone_from(&owner);
        } else if kind == "ExecutionRedriven" {
            self.ended_badly = false;
            // The state that failed starts anew.
            self.open.clear();
        }
        self.owners.extend(id.zip(owner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entered(id: u64, previous: u64, kind: &str, name: &str) -> Value {
        json!({"id": id, "previousEventId": previous, "type": format!("{kind}StateEntered"),
            "stateEnteredEventDetails": {"name": name}})
    }

    fn exited(id: u64, previous: u64, kind: &str, name: &str) -> Value {
        json!({"id": id, "previousEventId": previous, "type": format!("{kind}StateExited"),
            "stateExitedEventDetails": {"name": name}})
    }

    #[test]
    fn states_are_counted_and_the_one_that_failed_is_told() {
        let mut events = vec![
            json!({"id": 1, "previousEventId": 0, "type": "ExecutionStarted"}),
            entered(2, 0, "Pass", "A"),
            exited(3, 2, "Pass", "A"),
            entered(4, 3, "Pass", "A"),
            exited(5, 4, "Pass", "A"),
            entered(6, 5, "Parallel", "P"),
            entered(7, 6, "Task", "good"),
            entered(8, 6, "Task", "bad"),
        ];
        let under_way = Path::from_history(&events);
        assert_eq!(under_way.visits("A"), 2);
        assert_eq!(under_way.status_of("bad"), Standing::Current);
        assert_eq!(under_way.status_of("other"), Standing::NotVisited);
        assert!(
            under_way.was_taken("A", Some("A"))
                && under_way.was_taken("A", Some("P"))
                && !under_way.was_taken("P", None)
        );
        events.push(json!({"id": 9, "previousEventId": 8, "type": "ParallelStateFailed"}));
        events.push(json!({"id": 10, "previousEventId": 9, "type": "ExecutionFailed"}));
        let failed = Path::from_history(&events);
        let standings = ["P", "good", "bad", "A"].map(|name| failed.status_of(name));
        assert_eq!(standings, [Standing::Failed, Standing::Visited, Standing::Failed, Standing::Visited]);
        assert_eq!(Path::default().status_of("A"), Standing::Unknown);
    }

    #[test]
    fn what_is_not_a_history_is_said() {
        assert_eq!(Path::read(&json!({"events": []})), Ok(Path::default()));
        assert!(Path::read(&json!(3)).unwrap_err().contains("a list of events"));
        let missing = Path::read(&json!([{"type": "ExecutionStarted"}, {}])).unwrap_err();
        assert_eq!(missing, "event 2 of the history has no `type`");
    }
}
