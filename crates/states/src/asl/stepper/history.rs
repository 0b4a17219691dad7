//! What happened, in the words of the service.

use crate::asl::time;
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::Value;

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
    /// In their order. A few: a list is made and written faster than a map.
    values: Vec<(&'static str, Said)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Said {
    Value(Value),
    /// That a payload is whole.
    Whole,
}

impl HistoryEvent {
    /// As the service writes it. Payloads are JSON as text.
    pub fn to_json(&self) -> Value {
        // What consists of texts, numbers and JSON can always be written.
        serde_json::to_value(Written { event: self, timestamp: &time::show(self.at) }).unwrap_or_default()
    }

    /// The same for many, as a JSON array in one text.
    pub fn to_json_text(events: &[Self]) -> String {
        let mut text = Vec::with_capacity(events.len() * 256);
        text.push(b'[');
        // Many events happen in the same moment.
        let (mut at, mut timestamp) = (None, String::new());
        for event in events {
            if at != Some(event.at) {
                (at, timestamp) = (Some(event.at), time::show(event.at));
            }
            if text.len() > 1 {
                text.push(b',');
            }
            // Writing to memory cannot fail.
            let _ = serde_json::to_writer(&mut text, &Written { event, timestamp: &timestamp });
        }
        text.push(b']');
        String::from_utf8(text).unwrap_or_default()
    }
}

/// An event with its moment as text.
struct Written<'a> {
    event: &'a HistoryEvent,
    timestamp: &'a str,
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("timestamp", self.timestamp)?;
        map.serialize_entry("type", self.event.kind)?;
        map.serialize_entry("id", &self.event.id)?;
        map.serialize_entry("previousEventId", &self.event.previous)?;
        if let Some(details) = &self.event.details {
            map.serialize_entry(details.name, details)?;
        }
        map.end()
    }
}

impl Serialize for Details {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.values.iter().map(|(key, said)| (key, said)))
    }
}

impl Serialize for Said {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::Whole => serializer.collect_map([("truncated", false)]),
        }
    }
}

impl Details {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, values: Vec::with_capacity(4) }
    }

    pub(super) fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.values.push((key, Said::Value(value.into())));
        self
    }

    pub(super) fn with_some(self, key: &'static str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// An `input` or `output`, which is never cut short.
    pub(super) fn payload(mut self, key: &'static str, text: String) -> Self {
        self.values.push((key, Said::Value(Value::String(text))));
        self.values.push((if key == "input" { "inputDetails" } else { "outputDetails" }, Said::Whole));
        self
    }

    /// One of the values.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.iter().find_map(|(known, said)| match said {
            Said::Value(value) if *known == key => Some(value),
            _ => None,
        })
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
