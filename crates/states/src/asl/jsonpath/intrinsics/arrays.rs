//! Functions over lists.

use super::Outcome;
use serde_json::Value;
use std::collections::HashSet;

pub(super) fn contains(values: &[Value], wanted: &Value) -> bool {
    let wanted = key(wanted);
    values.iter().any(|value| key(value) == wanted)
}

pub(super) fn item(values: &[Value], index: f64) -> Outcome {
    let found = if index < 0.0 { None } else { values.get(index as usize) };
    found.cloned().ok_or_else(|| format!("there is no item {index} in a list of {}", values.len()))
}

/// In the order of their first appearance.
pub(super) fn unique(values: &[Value]) -> Value {
    let mut seen = HashSet::new();
    Value::Array(values.iter().filter(|value| seen.insert(key(value))).cloned().collect())
}

/// Equal for equal values: `1` and `1.0` are one, and the order of keys does not matter.
fn key(value: &Value) -> String {
    fn write(value: &Value, key: &mut String) {
        match value {
            Value::Number(number) => key.push_str(&number.as_f64().unwrap_or(f64::NAN).to_string()),
            Value::Array(values) => {
                key.push('[');
                for value in values {
                    write(value, key);
                    key.push(',');
                }
                key.push(']');
            }
            Value::Object(entries) => {
                let mut sorted: Vec<_> = entries.iter().collect();
                sorted.sort_unstable_by_key(|(name, _)| *name);
                key.push('{');
                for (name, value) in sorted {
                    key.push_str(&Value::from(name.as_str()).to_string());
                    write(value, key);
                    key.push(',');
                }
                key.push('}');
            }
            _ => key.push_str(&value.to_string()),
        }
    }
    let mut text = String::new();
    write(value, &mut text);
    text
}
