//! Stages with typed borders, and the adapter that makes them processors of the engine.
//!
//! ```text
//!  engine ──Value──► Erased ──Input──► validate, process ──Made──► extract ──Output──► Erased ──Value──► engine
//! ```
//!
//! A value of JSON is looked at in two places only: here, where it becomes a type or is refused with the name of the stage
//! and of the field, and where a seed's names are written. What passes the borders is in [`borders`](crate::borders).

mod carried;
mod erased;
mod fit;

pub(crate) use carried::Carried;
pub(crate) use erased::erased;
pub(crate) use fit::{Misfit, fields_of, fit, lenient};

use bindery_core::StepError;
use bindery_engine::{Correction, Extracted, Kind, Reusable, context::StepContext, workflow};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// A stage's work on one item, in three steps with types between them. What one step leaves to the next is stored where
/// the next one fails, so that a retry begins there.
pub(crate) trait Stage: Send + Sync + 'static {
    /// The name by which workflows call it. Unique in the application.
    const NAME: &'static str;
    /// Raise it when the steps' results change meaning.
    const VERSION: u32 = 1;
    const KIND: Kind = Kind::Cpu;
    /// Whether it only hands on what earlier stages have found.
    const HANDS_ON: bool = false;
    /// What its input is, as a sentence says it where something else comes.
    const EXPECTS: &'static str = "what the stage before sends";

    /// Whether it looks at what an earlier stage has found, beside its own input.
    fn reads(&self, _here: &workflow::Stage, _earlier: &workflow::Stage) -> bool {
        true
    }

    /// What comes over the border.
    type Input: DeserializeOwned;
    /// What the second step leaves to the third.
    type Made: Serialize + DeserializeOwned;
    /// What goes over the border.
    type Output: Serialize;

    /// How its results are known again, where work on the same content need not be done twice.
    fn reuse(&self) -> Option<&dyn Reusable> {
        None
    }

    /// Is the input what we can work on?
    fn validate(&self, _context: &StepContext, _input: &Self::Input) -> Result<(), StepError> {
        Ok(())
    }

    /// The work itself.
    fn process(&self, context: &StepContext, input: Self::Input) -> Result<Self::Made, StepError>;

    /// The result in its final shape.
    fn extract(&self, context: &StepContext, made: Self::Made) -> Result<Extracted<Self::Output>, StepError>;

    /// What a person's word makes of a result, on the wire: people and programs outside may say more than we have a type
    /// for. Their fields are laid over what was found, unless the stage knows better.
    fn correct(&self, found: Value, correction: &Correction) -> Result<Extracted, StepError> {
        Ok(Extracted::new(correction.laid_over(found)))
    }
}
