//! The last stage of a workflow: one result for the submission.
//!
//! There is one stage; what it gathers, and under which names that goes out, is each workflow's own ([`Gather`]).

use crate::{results::store_result, stage::Stage};
use bindery_core::StepError;
use bindery_engine::{Extracted, context::StepContext, workflow};
use serde::{Serialize, de::IgnoredAny};
use serde_json::Value;

/// What a workflow's result is made of. Everything comes from the store; what the message before says does not count.
pub(crate) trait Gather: Send + Sync + 'static {
    /// The name by which workflows call the stage.
    const NAME: &'static str;
    const VERSION: u32 = 1;
    /// The result, under the names that it has on the wire.
    type Result: Serialize;

    /// Whether it gathers what an earlier stage has found.
    fn reads(&self, _here: &workflow::Stage, _earlier: &workflow::Stage) -> bool {
        true
    }

    /// Is there anything to gather?
    fn check(&self, _context: &StepContext) -> Result<(), StepError> {
        Ok(())
    }

    fn gather(&self, context: &StepContext) -> Result<Self::Result, StepError>;

    /// Stores the result, also as an artifact.
    fn store(&self, context: &StepContext, result: Value) -> Result<Extracted, StepError> {
        store_result(context, result)
    }
}

/// The stage that gathers.
#[derive(Debug, Clone)]
pub(crate) struct Consolidator<G>(pub(crate) G);

impl<G: Gather> Stage for Consolidator<G> {
    const NAME: &'static str = G::NAME;
    const VERSION: u32 = G::VERSION;
    type Input = IgnoredAny;
    type Made = Value;
    type Output = Value;

    fn reads(&self, here: &workflow::Stage, earlier: &workflow::Stage) -> bool {
        self.0.reads(here, earlier)
    }

    fn validate(&self, context: &StepContext, _input: &IgnoredAny) -> Result<(), StepError> {
        self.0.check(context)
    }

    fn process(&self, context: &StepContext, _input: IgnoredAny) -> Result<Value, StepError> {
        serde_json::to_value(self.0.gather(context)?)
            .map_err(|error| StepError::bug(format!("{}: the result cannot be written: {error}", G::NAME)))
    }

    fn extract(&self, context: &StepContext, result: Value) -> Result<Extracted, StepError> {
        self.0.store(context, result)
    }
}
