//! What happened, in the words of the service.

use serde_json::{Map, Value, json};

/// One event of an execution's history.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryEvent {
    pub id: u64,
    /// The event that led to it; 0 for the first ones.
    pub previous: u64,
    /// Milliseconds since 1970.
    pub at: i64,
    /// For example `TaskStateEntered`.
    pub kind: &'static str,
    pub details: Option<Details>,
}

/// What an event says besides, under its own name.
#[derive(Debug, Clone, PartialEq)]
pub struct Details {
    /// For example `stateEnteredEventDetails`.
    pub name: &'static str,
    pub values: Map<String, Value>,
}

impl HistoryEvent {
    /// As the service writes it. Payloads are JSON as text.
    pub fn to_json(&self) -> Value {
        let mut event = json!({
            "timestamp": crate::asl::time::show(self.at),
            "type": self.kind,
            "id": self.id,
            "previousEventId": self.previous,
        });
        if let (Some(details), Value::Object(entries)) = (&self.details, &mut event) {
            entries.insert(details.name.to_owned(), Value::Object(details.values.clone()));
        }
        event
    }
}

impl Details {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, values: Map::new() }
    }

    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.values.insert(key.to_owned(), value.into());
        self
    }

    pub(super) fn with_some(self, key: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// A payload, which is never cut short.
    pub(super) fn payload(self, key: &str, text: String) -> Self {
        self.with(key, text).with(&format!("{key}Details"), json!({"truncated": false}))
    }
}

/// `Pass` and `Entered` make `PassStateEntered`.
macro_rules! state_events {
    ($name:ident, $suffix:literal) => {
        pub(super) fn $name(kind: &str) -> &'static str {
            match kind {
                "Pass" => concat!("PassState", $suffix),
                "Task" => concat!("TaskState", $suffix),
                "Choice" => concat!("ChoiceState", $suffix),
                "Wait" => concat!("WaitState", $suffix),
                "Succeed" => concat!("SucceedState", $suffix),
                "Fail" => concat!("FailState", $suffix),
                "Parallel" => concat!("ParallelState", $suffix),
                _ => concat!("MapState", $suffix),
            }
        }
    };
}

state_events!(entered, "Entered");
state_events!(exited, "Exited");
state_events!(aborted, "Aborted");
state_events!(failed, "Failed");
state_events!(succeeded, "Succeeded");
