//! What a state machine gives its expressions: the functions that Step Functions adds, and time and chance that come from
//! outside, so that the same surroundings give the same result.

use super::{convert, functions::Registry, limits::Limits};
use crate::asl::functions as shared;
use jsonata_core::{evaluator::EvaluatorError, value::JValue};
use std::{cell::Cell, rc::Rc};

/// Cloned surroundings share their chance: every number is drawn once.
#[derive(Debug, Clone)]
pub struct Surroundings {
    now: i64,
    chance: Rc<Cell<u64>>,
}

type Result = std::result::Result<JValue, EvaluatorError>;

impl Surroundings {
    /// `now` in milliseconds since 1970; `chance` is the state that random numbers are drawn from.
    pub fn new(now: i64, chance: u64) -> Self {
        Self { now, chance: Rc::new(Cell::new(chance)) }
    }

    /// The state of chance after everything that was drawn.
    pub fn chance(&self) -> u64 {
        self.chance.get()
    }

    /// The next random number: 64 bits.
    pub fn draw(&self) -> u64 {
        let mut state = self.chance.get();
        let drawn = shared::next_random(&mut state);
        self.chance.set(state);
        drawn
    }

    pub fn uuid(&self) -> String {
        shared::uuid(self.draw(), self.draw())
    }

    /// From 0 to below 1.
    pub fn fraction(&self) -> f64 {
        shared::fraction(self.draw())
    }

    pub(super) fn register(
        &self,
        registry: &mut Registry<'_>,
        limits: Limits,
    ) -> std::result::Result<(), EvaluatorError> {
        let now = self.now;
        registry.replace("millis", move |_: &[JValue]| Ok(JValue::Number(now as f64)))?;
        // With a picture it was rewritten to `$fromMillis($millis(), picture)` when it was parsed.
        registry.replace("now", move |_: &[JValue]| Ok(JValue::from(crate::asl::time::show(now).as_str())))?;
        let own = self.clone();
        registry.replace("random", move |given: &[JValue]| match given.first() {
            Some(JValue::Number(seed)) => {
                let mut state = seed.to_bits();
                Ok(JValue::Number(shared::fraction(shared::next_random(&mut state))))
            }
            _ => Ok(JValue::Number(own.fraction())),
        })?;
        let own = self.clone();
        registry.add("uuid", move |_: &[JValue]| Ok(JValue::from(own.uuid().as_str())))?;
        registry.add("partition", move |given: &[JValue]| partition(given, limits))?;
        registry.add("range", range)?;
        registry.add("hash", move |given: &[JValue]| hash(given, limits))?;
        registry.add("parse", parse)
    }
}

fn fault(name: &str, reason: impl std::fmt::Display) -> EvaluatorError {
    EvaluatorError::EvaluationError(format!("D3050: ${name}: {reason}"))
}

fn number(name: &str, given: &[JValue], place: usize) -> std::result::Result<f64, EvaluatorError> {
    match given.get(place) {
        Some(JValue::Number(number)) => Ok(*number),
        _ => Err(EvaluatorError::TypeError(format!("T0410: argument {} of ${name} is a number", place + 1))),
    }
}

fn is_nothing(given: &[JValue]) -> bool {
    matches!(given.first(), None | Some(JValue::Undefined))
}

fn partition(given: &[JValue], limits: Limits) -> Result {
    if is_nothing(given) {
        return Ok(JValue::Undefined);
    }
    let list = convert::to_json(&given[0], &limits).map_err(|error| fault("partition", error))?.unwrap_or_default();
    let values = list.as_array().cloned().unwrap_or_else(|| vec![list]);
    let parts =
        shared::partition(&values, number("partition", given, 1)?).map_err(|reason| fault("partition", reason))?;
    Ok(convert::from_json(&parts))
}

fn range(given: &[JValue]) -> Result {
    let step = if given.len() > 2 { number("range", given, 2)? } else { 1.0 };
    let list = shared::range(number("range", given, 0)?, number("range", given, 1)?, step);
    Ok(convert::from_json(&list.map_err(|reason| fault("range", reason))?))
}

fn hash(given: &[JValue], limits: Limits) -> Result {
    if is_nothing(given) {
        return Ok(JValue::Undefined);
    }
    let value = convert::to_json(&given[0], &limits).map_err(|error| fault("hash", error))?.unwrap_or_default();
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let algorithm = if let Some(JValue::String(name)) = given.get(1) { name } else { "SHA-1" };
    let hash = shared::hash(&text, algorithm);
    let hash = hash.ok_or_else(|| {
        fault("hash", format!("the algorithm is one of {}, not `{algorithm}`", shared::ALGORITHMS.join(", ")))
    })?;
    Ok(JValue::from(hash.as_str()))
}

fn parse(given: &[JValue]) -> Result {
    match given.first() {
        None | Some(JValue::Undefined) => Ok(JValue::Undefined),
        Some(JValue::String(text)) => {
            let value =
                shared::parse_json(text).map_err(|error| fault("parse", format!("this is no JSON: {error}")))?;
            Ok(convert::from_json(&value))
        }
        Some(_) => Err(EvaluatorError::TypeError("T0410: argument 1 of $parse is a text".to_owned())),
    }
}
