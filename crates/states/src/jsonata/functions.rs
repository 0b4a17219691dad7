//! Functions that stand in for built-in ones, or check a value on its way. Their names hold a space, so that no
//! expression can mean them; `guard` puts them where they are needed.

use super::{error::JsonataError, limits::Limits, needs::Need};
use jsonata_core::{
    evaluator::{Evaluator, EvaluatorError},
    value::{JValue, with_stack},
};
use std::collections::HashSet;

/// The value itself. The library asks whether an expression is a variable in places where only its value matters.
pub(super) const SAME: &str = "the same";
/// A width for `$pad` that is within the limits.
pub(super) const WIDTH: &str = "a width";
/// A text or list that is within the limits.
pub(super) const SIZED: &str = "a sized value";
/// A value that is within the limits when it is written out.
pub(super) const WRITABLE: &str = "a writable value";
/// Undefined instead of an empty list.
pub(super) const FILLED: &str = "a filled list";
/// A list of one null instead of a null.
pub(super) const LISTED: &str = "a listed null";
/// `$distinct` in one pass.
pub(super) const DISTINCT: &str = "distinct values";

/// Lists and objects are compared one by one, so there may be this many of them.
const MOST_COMPARED: usize = 5_000;

type Result = std::result::Result<JValue, EvaluatorError>;

/// Gives an evaluator the functions that its expression mentions: naming one costs as much as a small evaluation.
pub(super) struct Registry<'e> {
    pub(super) evaluator: &'e mut Evaluator,
    pub(super) needs: &'e Need,
}

impl Registry<'_> {
    pub(super) fn add(
        &mut self,
        name: &str,
        function: impl Fn(&[JValue]) -> Result + 'static,
    ) -> std::result::Result<(), EvaluatorError> {
        if self.is_mentioned(name) { self.evaluator.register_fn(name, function) } else { Ok(()) }
    }

    /// Instead of the built-in one.
    pub(super) fn replace(
        &mut self,
        name: &str,
        function: impl Fn(&[JValue]) -> Result + 'static,
    ) -> std::result::Result<(), EvaluatorError> {
        if self.is_mentioned(name) { self.evaluator.register_fn_override(name, function) } else { Ok(()) }
    }

    fn is_mentioned(&self, name: &str) -> bool {
        self.needs.part(name).is_some()
    }
}

pub(super) fn register(registry: &mut Registry<'_>, limits: Limits) -> std::result::Result<(), EvaluatorError> {
    registry.add(SAME, |given: &[JValue]| Ok(first(given)))?;
    registry.add(FILLED, |given: &[JValue]| Ok(non_empty(first(given))))?;
    registry.add(LISTED, |given: &[JValue]| Ok(to_list(first(given))))?;
    registry.add(DISTINCT, |given: &[JValue]| distinct(first(given)))?;
    registry.add(WIDTH, move |given: &[JValue]| width(first(given), limits))?;
    registry.add(SIZED, move |given: &[JValue]| sized(first(given), limits))?;
    registry.add(WRITABLE, move |given: &[JValue]| writable(first(given), limits))?;
    if !limits.eval {
        registry.replace("eval", |_: &[JValue]| Err(coded(JsonataError::EVAL_OFF, "$eval is switched off")))?;
    }
    Ok(())
}

fn first(given: &[JValue]) -> JValue {
    given.first().cloned().unwrap_or(JValue::Undefined)
}

fn coded(code: &str, message: impl std::fmt::Display) -> EvaluatorError {
    EvaluatorError::EvaluationError(format!("{code}: {message}"))
}

pub(super) fn too_long(limits: Limits) -> EvaluatorError {
    coded(JsonataError::BYTES, format!("a text has more than {} bytes", limits.bytes))
}

fn too_many(limits: Limits) -> EvaluatorError {
    coded(JsonataError::ITEMS, format!("a list has more than {} values", limits.items))
}

fn non_empty(value: JValue) -> JValue {
    match &value {
        JValue::Array(values) if values.is_empty() => JValue::Undefined,
        _ => value,
    }
}

fn to_list(value: JValue) -> JValue {
    if value.is_null() { JValue::array(vec![value]) } else { value }
}

fn width(value: JValue, limits: Limits) -> Result {
    match value {
        JValue::Number(width) if width.abs() > limits.bytes as f64 => Err(too_long(limits)),
        _ => Ok(value),
    }
}

fn sized(value: JValue, limits: Limits) -> Result {
    match &value {
        JValue::String(text) if text.len() > limits.bytes => Err(too_long(limits)),
        JValue::Array(values) if values.len() > limits.items => Err(too_many(limits)),
        _ => Ok(value),
    }
}

/// Parts may be shared, so that a value of a few kilobytes would fill any memory as text.
fn writable(value: JValue, limits: Limits) -> Result {
    fn weigh(value: &JValue, room: &mut usize) -> Option<()> {
        let weight = if let JValue::String(text) = value { text.len() } else { 1 };
        *room = room.checked_sub(weight)?;
        match value {
            JValue::Array(values) => with_stack(|| values.iter().try_for_each(|value| weigh(value, room))),
            JValue::Object(entries) => with_stack(|| {
                entries.iter().try_for_each(|(key, value)| {
                    *room = room.checked_sub(key.len())?;
                    weigh(value, room)
                })
            }),
            _ => Some(()),
        }
    }
    let mut room = limits.bytes;
    weigh(&value, &mut room).ok_or_else(|| too_long(limits))?;
    Ok(value)
}

/// A number, text, boolean or null as something that can be looked up.
#[derive(PartialEq, Eq, Hash)]
enum Plain {
    Null,
    Bool(bool),
    Number(u64),
    Text(std::rc::Rc<str>),
}

fn plain(value: &JValue) -> Option<Plain> {
    Some(match value {
        JValue::Null => Plain::Null,
        JValue::Bool(value) => Plain::Bool(*value),
        // Zero has two signs, which are equal.
        JValue::Number(value) => Plain::Number((value + 0.0).to_bits()),
        JValue::String(text) => Plain::Text(text.clone()),
        _ => return None,
    })
}

fn distinct(value: JValue) -> Result {
    let JValue::Array(values) = &value else { return Ok(value) };
    if values.len() <= 1 {
        return Ok(value);
    }
    let mut seen = HashSet::new();
    let mut compared: Vec<&JValue> = Vec::new();
    let mut kept = Vec::new();
    for value in &**values {
        let is_new = match plain(value) {
            Some(plain) => seen.insert(plain),
            None => {
                !compared.contains(&value) && {
                    compared.push(value);
                    true
                }
            }
        };
        if compared.len() > MOST_COMPARED {
            let message = format!("$distinct compares at most {MOST_COMPARED} different lists and objects");
            return Err(coded(JsonataError::ITEMS, message));
        }
        if is_new {
            kept.push(value.clone());
        }
    }
    Ok(JValue::Array(values.with_items(kept)))
}
