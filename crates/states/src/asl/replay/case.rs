//! One line of a file of recorded runs.

use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Case {
    pub name: String,
    #[serde(default)]
    pub snapshot: String,
    /// The services it touches; none if it needs nobody.
    #[serde(default)]
    pub needs: Vec<String>,
    pub definition: Value,
    /// JSON as text.
    #[serde(default)]
    pub input: Value,
    pub events: Vec<Value>,
}

#[derive(Debug, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct CaseError {
    pub line: usize,
    pub column: usize,
    message: String,
}

impl CaseError {
    /// The reader of JSON counts lines within the line that it was given, which nobody wants to know.
    fn new(line: usize, error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
        Self { line, column: error.column(), message }
    }
}

impl Case {
    /// One case for each line; empty lines are skipped.
    pub fn read_all(text: &str) -> Result<Vec<Self>, CaseError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(number, line)| serde_json::from_str(line).map_err(|error| CaseError::new(number + 1, &error)))
            .collect()
    }

    /// Something in it was made up by the recorder, and cannot be run.
    pub(super) fn is_made_up(&self) -> bool {
        self.definition.to_string().contains("__MOCK__")
    }

    /// An execution without an input has an empty one.
    pub(super) fn input(&self) -> Value {
        if self.input.is_null() { Value::Object(serde_json::Map::new()) } else { decoded(&self.input) }
    }

    /// Its results differ from run to run.
    pub(super) fn depends_on_chance(&self) -> bool {
        let text = self.definition.to_string();
        ["$now(", "$millis(", "$uuid(", "$random(", "States.UUID(", "States.MathRandom("]
            .iter()
            .any(|call| text.contains(call))
    }
}

/// JSON that was written as text, if it is JSON.
pub(super) fn decoded(value: &Value) -> Value {
    match value {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| value.clone()),
        _ => value.clone(),
    }
}

/// The details of an event, whatever they are called.
pub(super) fn details(event: &Value) -> Option<&Value> {
    let is_details = |key: &&String| key.ends_with("EventDetails");
    event.as_object()?.iter().find(|(key, _)| is_details(key)).map(|(_, value)| value)
}

pub(super) fn kind(event: &Value) -> &str {
    event["type"].as_str().unwrap_or_default()
}
