//! Values between JSON and the library's own, which many places of one evaluation share.

use super::{error::JsonataError, limits::Limits, needs::Need};
use jsonata_core::value::{JValue, with_stack};
use serde_json::{Map, Number, Value};

/// The largest whole number that a float holds exactly together with all smaller ones.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

pub(super) fn from_json(value: &Value) -> JValue {
    match value {
        Value::Null => JValue::Null,
        Value::Bool(value) => JValue::Bool(*value),
        Value::Number(number) => JValue::Number(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => JValue::from(text.as_str()),
        Value::Array(values) => with_stack(|| JValue::array(values.iter().map(from_json).collect())),
        Value::Object(entries) => {
            with_stack(|| JValue::object(entries.iter().map(|(key, value)| (key.clone(), from_json(value))).collect()))
        }
    }
}

/// Only what is needed of it.
pub(super) fn convert_needed(value: &Value, need: &Need) -> JValue {
    match (need, value) {
        (Need::Fields(fields), Value::Object(entries)) => with_stack(|| {
            let found =
                fields.iter().filter_map(|(name, need)| Some((name.clone(), convert_needed(entries.get(name)?, need))));
            JValue::object(found.collect())
        }),
        (Need::Fields(_), Value::Array(values)) => {
            with_stack(|| JValue::array(values.iter().map(|value| needed_item(value, need)).collect()))
        }
        (Need::Item(number, need), Value::Array(values)) => with_stack(|| {
            let only = |(place, value)| if place == *number { needed_item(value, need) } else { JValue::Null };
            JValue::array(values.iter().enumerate().map(only).collect())
        }),
        (Need::Item(_, need), _) => convert_needed(value, need),
        _ => from_json(value),
    }
}

/// Lists of lists are taken as they are: how they become one is the library's business.
pub(super) fn needed_item(value: &Value, need: &Need) -> JValue {
    if value.is_array() { from_json(value) } else { convert_needed(value, need) }
}

/// The same as JSON; none for an undefined result. A value that is small because its parts are shared may be huge when
/// written out, so the room is counted while it is written.
pub(super) fn to_json(value: &JValue, limits: &Limits) -> Result<Option<Value>, JsonataError> {
    let mut room = Room { items: limits.items, bytes: limits.bytes, limits };
    room.write(value, 0)
}

struct Room<'a> {
    items: usize,
    bytes: usize,
    limits: &'a Limits,
}

impl Room<'_> {
    fn write(&mut self, value: &JValue, nesting: usize) -> Result<Option<Value>, JsonataError> {
        if nesting > Limits::MAX_NESTING {
            let message = format!("the result is nested more than {} levels deep", Limits::MAX_NESTING);
            return Err(JsonataError::coded(JsonataError::DEPTH, message));
        }
        self.items = self.items.checked_sub(1).ok_or_else(|| {
            let message = format!("the result has more than {} values", self.limits.items);
            JsonataError::coded(JsonataError::ITEMS, message)
        })?;
        Ok(Some(match value {
            JValue::Undefined => return Ok(None),
            JValue::Null => Value::Null,
            JValue::Bool(value) => Value::Bool(*value),
            JValue::Number(value) => number(*value)?,
            JValue::String(text) => Value::String(self.text(text)?),
            JValue::Array(values) => {
                let mut written = Vec::with_capacity(values.len().min(self.items));
                for value in &**values {
                    written.push(self.write(value, nesting + 1)?.unwrap_or(Value::Null));
                }
                Value::Array(written)
            }
            JValue::Object(entries) => {
                let mut written = Map::new();
                for (key, value) in entries.iter() {
                    let key = self.text(key)?;
                    if let Some(value) = self.write(value, nesting + 1)? {
                        written.insert(key, value);
                    }
                }
                Value::Object(written)
            }
            // JSON has no functions; the reference implementation writes them as nothing.
            JValue::Lambda(_) | JValue::Builtin { .. } | JValue::Regex { .. } => Value::String(String::new()),
        }))
    }

    fn text(&mut self, text: &str) -> Result<String, JsonataError> {
        self.bytes = self.bytes.checked_sub(text.len()).ok_or_else(|| {
            let message = format!("the result has more than {} bytes of text", self.limits.bytes);
            JsonataError::coded(JsonataError::BYTES, message)
        })?;
        Ok(text.to_owned())
    }
}

fn number(value: f64) -> Result<Value, JsonataError> {
    if value.fract() == 0.0 && value.abs() <= LARGEST_EXACT {
        return Ok(Value::from(value as i64));
    }
    let number = Number::from_f64(value);
    number.map(Value::Number).ok_or_else(|| JsonataError::coded("D1001", format!("number out of range: {value}")))
}
