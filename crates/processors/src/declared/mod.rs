//! Declared processors: no code, only what is expected and what is computed.
//!
//! | step | what it does | its error |
//! |---|---|---|
//! | validation | holds the input against the JSON Schema of `input` | `ValidationError` |
//! | processing | `transform`, then `checks` | `TransformationError` |
//! | extraction | `factors` and `confidence` over the processed value | `FactorExtractionError` |
//!
//! Validation and extraction serve the other kinds of definitions too. Every expression sees the stage's settings as
//! `$settings`. Nothing here reads a clock or a disk, so the same input gives the same factors (unless an expression
//! itself asks for `$now()` or `$random()`).

pub(crate) mod expression;
pub(crate) mod factors;
pub(crate) mod schema;
pub(crate) mod transform;

pub use factors::{Factor, Factors};
pub use schema::InputSchema;
pub use transform::Transform;

use crate::definition::Definition;
use bindery_core::StepError;
use bindery_engine::{Extracted, Kind, Processor, context::StepContext, workflow::Target};
use expression::{limits, scope};
use factors::confidence_of;
use serde_json::Value;

/// The kinds of error of the three steps.
pub const VALIDATION_ERROR: &str = "ValidationError";
pub const TRANSFORMATION_ERROR: &str = "TransformationError";
pub const EXTRACTION_ERROR: &str = "FactorExtractionError";

/// The processor of a definition.
#[derive(Debug, Clone)]
pub struct Declared {
    definition: Definition,
}

impl Declared {
    pub fn new(definition: Definition) -> Self {
        Self { definition }
    }

    pub fn definition(&self) -> &Definition {
        &self.definition
    }
}

impl Processor for Declared {
    fn name(&self) -> &str {
        &self.definition.name
    }

    fn version(&self) -> u32 {
        self.definition.version
    }

    fn kind(&self) -> Kind {
        self.definition.kind
    }

    fn validate(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        if let Some(schema) = &self.definition.input {
            schema.check(&input).map_err(|message| StepError::reject(message).named(VALIDATION_ERROR))?;
        }
        Ok(input)
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        self.definition.work.process(context, input)
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let failed = |message: String| StepError::reject(message).named(EXTRACTION_ERROR);
        let Definition { factors, confidence, .. } = &self.definition;
        if factors.is_none() && confidence.is_none() {
            return Ok(self.with_review_reasons(context, Extracted::new(processed)));
        }
        let scope = scope(&processed, context, None, limits(context));
        let confidence = confidence.as_ref().map(|expression| confidence_of(expression, &scope)).transpose();
        let confidence = confidence.map_err(failed)?.flatten();
        let output = match factors {
            Some(factors) => Value::Object(factors.extract(&scope).map_err(failed)?),
            None => processed,
        };
        Ok(self.with_review_reasons(context, Extracted { confidence, ..Extracted::new(output) }))
    }
}

impl Declared {
    /// What states no confidence has not reached the one that the stage asks for: a person looks at it.
    fn with_review_reasons(&self, context: &StepContext, found: Extracted) -> Extracted {
        let asked_for = context.stage().ok().and_then(|stage| stage.confidence_threshold);
        let (None, Some(threshold)) = (found.confidence, asked_for) else { return found };
        let reason = format!("{} states no confidence, and {threshold} is asked for", self.definition.name);
        Extracted { target: Some(Target::Backoffice), reasons: vec![reason], ..found }
    }
}
