//! What is measured: a processor that does nothing, one that computes, and one that fails and counts.

use bindery_core::{StepError, outcome::Step};
use bindery_engine::{Extracted, Processor, Registry, context::StepContext};
use serde_json::{Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

/// Hands its input on.
pub(crate) struct NoOp;

impl Processor for NoOp {
    fn name(&self) -> &'static str {
        "no_op"
    }

    fn process(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        Ok(input)
    }
}

/// Mixes bits for about two milliseconds.
pub(crate) struct Compute;

impl Processor for Compute {
    fn name(&self) -> &'static str {
        "compute"
    }

    fn process(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        let mut state = input["n"].as_u64().unwrap_or(1) | 1;
        for _ in 0..1_000_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
        Ok(json!({"mixed": state}))
    }
}

/// Fails one input in a hundred, at each of the steps in turn, until it is repaired; counts what it runs.
#[derive(Clone, Default)]
pub(crate) struct Flaky {
    pub(crate) repaired: Arc<AtomicBool>,
    pub(crate) ran: Arc<[AtomicU64; 3]>,
}

impl Flaky {
    fn step(&self, step: Step, input: &Value) -> Result<(), StepError> {
        self.ran[step as usize].fetch_add(1, Ordering::Relaxed);
        let number = input["n"].as_u64().unwrap_or(0);
        let fails = number.is_multiple_of(100) && (number / 100) % 3 == step as u64;
        if fails && !self.repaired.load(Ordering::Relaxed) { Err(StepError::retry("not yet")) } else { Ok(()) }
    }

    pub(crate) fn steps_run(&self) -> [u64; 3] {
        [0, 1, 2].map(|step| self.ran[step].load(Ordering::Relaxed))
    }
}

impl Processor for Flaky {
    fn name(&self) -> &'static str {
        "flaky"
    }

    fn validate(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        self.step(Step::Validation, &input).map(|()| input)
    }

    fn process(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        self.step(Step::Processing, &input).map(|()| input)
    }

    fn extract(&self, _context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        self.step(Step::Extraction, &processed).map(|()| Extracted::new(processed))
    }
}

/// What the children know.
pub(crate) fn registry() -> Registry {
    let mut registry = Registry::default();
    registry.register(NoOp);
    registry.register(Compute);
    registry
}
