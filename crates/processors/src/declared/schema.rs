//! What an input has to look like: a JSON Schema, compiled when its file is loaded. References are followed inside of
//! the schema only; nothing is fetched.

use bindery_yaml::{Data, Node, Place, Problems};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;
use std::{fmt, sync::Arc};

/// An error names this many things that are wrong, and counts the others.
const MOST_SHOWN: usize = 5;
/// Nobody reads on after so many.
const MOST_COUNTED: usize = 100;

/// A compiled JSON Schema; draft 2020-12 unless it says otherwise.
#[derive(Clone)]
pub struct InputSchema {
    schema: Arc<Value>,
    validator: Arc<Validator>,
}

impl InputSchema {
    pub fn compile(schema: Value) -> Result<Self, ValidationError<'static>> {
        let validator = jsonschema::options().offline().should_validate_formats(true).build(&schema)?;
        Ok(Self { schema: Arc::new(schema), validator: Arc::new(validator) })
    }

    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// One sentence with the first few things that are wrong, each with its place. It does not repeat the values
    /// themselves, which may be nobody else's business.
    pub fn check(&self, input: &Value) -> Result<(), String> {
        self.check_as("the input", input).map_err(|wrong| format!("the input is not as expected: {wrong}"))
    }

    /// The same for a value that sentences call `what`: the end of one, with the things that are wrong.
    pub(crate) fn check_as(&self, what: &str, value: &Value) -> Result<(), String> {
        let mut errors = self.validator.iter_errors(value);
        let shown: Vec<String> = errors.by_ref().take(MOST_SHOWN).map(|error| violation(what, &error)).collect();
        if shown.is_empty() {
            return Ok(());
        }
        let more = errors.take(MOST_COUNTED).count();
        let rest = match more {
            0 => String::new(),
            MOST_COUNTED => format!("; and at least {more} more"),
            _ => format!("; and {more} more"),
        };
        Err(format!("{}{rest}", shown.join("; ")))
    }
}

impl fmt::Debug for InputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InputSchema").field(&self.schema).finish()
    }
}

fn violation(what: &str, error: &ValidationError<'_>) -> String {
    let pointer = error.instance_path().to_string();
    let place = if pointer.is_empty() { what.to_owned() } else { pointer };
    format!("{place}: {}", error.masked_with("the value"))
}

/// `None` only together with a problem.
pub(crate) fn read_schema(node: &Node, path: &str, problems: &mut Problems) -> Option<InputSchema> {
    if !matches!(node.data, Data::Mapping(_) | Data::Bool(_)) {
        let message = format!("expected a JSON Schema, found {}", node.describe());
        problems.add_with_hint(node.place, path, message, "leave the key out to take every input");
        return None;
    }
    let schema = node.to_json(path, problems)?;
    match InputSchema::compile(schema) {
        Ok(schema) => Some(schema),
        Err(error) => {
            let pointer = error.instance_path().to_string();
            let (place, path) = find(node, path, &pointer);
            problems.add(place, &path, format!("not a valid JSON Schema: {error}"));
            None
        }
    }
}

/// The place and the path of what a JSON pointer points to, as far as it goes.
fn find(node: &Node, path: &str, pointer: &str) -> (Place, String) {
    let (mut place, mut path) = (node.place, path.to_owned());
    let mut current = node;
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        let next = match &current.data {
            Data::Mapping(entries) => {
                path = format!("{path}.{part}");
                entries.iter().find(|(key, _)| key.as_text() == Some(&part)).map(|(_, value)| value)
            }
            Data::List(nodes) => {
                path = format!("{path}[{part}]");
                part.parse::<usize>().ok().and_then(|index| nodes.get(index))
            }
            _ => None,
        };
        let Some(next) = next else { break };
        place = next.place;
        current = next;
    }
    (place, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_few_violations_are_named_without_their_values() {
        let schema = json!({
            "type": "object",
            "required": ["name", "rows"],
            "properties": {"rows": {"items": {"type": "number", "maximum": 5}}, "day": {"format": "date"}}
        });
        let schema = InputSchema::compile(schema).unwrap();
        assert_eq!(schema.check(&json!({"name": "x", "rows": [1]})), Ok(()));
        assert_eq!(
            schema.check(&json!({"rows": [1, "secret", 7], "day": "2026-02-30"})).unwrap_err(),
            "the input is not as expected: the input: \"name\" is a required property; \
             /rows/1: the value is not of type \"number\"; \
             /rows/2: the value is greater than the maximum of 5; \
             /day: the value is not a \"date\""
        );
        let many = schema.check(&json!({"name": "x", "rows": vec!["a"; 8]})).unwrap_err();
        assert!(many.ends_with("; and 3 more"), "{many}");
        let endless = schema.check(&json!({"name": "x", "rows": vec!["a"; 1000]})).unwrap_err();
        assert!(endless.ends_with("; and at least 100 more"), "{endless}");
    }

    #[test]
    fn nothing_is_fetched() {
        for reference in ["https://example.com/schema.json", "file:///etc/hostname", "http://localhost:1/"] {
            assert!(InputSchema::compile(json!({"$ref": reference})).is_err(), "{reference}");
        }
        assert!(InputSchema::compile(json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}})).is_ok());
    }
}
