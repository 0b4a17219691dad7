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

use crate::{definition::Definition, produced::Produced};
use bindery_core::StepError;
use bindery_engine::{
    Extracted, Kind, Processor,
    context::StepContext,
    workflow::{Over, Stage, Target},
};
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

    /// A program is told what all stages over the same items have found, and behind a join what those over its parts have;
    /// expressions see their input alone.
    fn reads(&self, here: &Stage, earlier: &Stage) -> bool {
        let counted = here.aggregation.is_some_and(|aggregation| aggregation.counts == earlier.over);
        let same_items = here.over == earlier.over && here.over != Over::Submission;
        self.definition.work.is_outside() && (counted || same_items)
    }

    fn validate(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        if let Some(schema) = &self.definition.input {
            schema.check(&input).map_err(|message| StepError::reject(message).named(VALIDATION_ERROR))?;
        }
        Ok(input)
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        let produced = self.definition.work.process(context, input)?;
        // Only programs outside say more than an output.
        if self.definition.work.is_outside() { produced.into_value() } else { Ok(produced.output) }
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let mut produced =
            if self.definition.work.is_outside() { Produced::from_value(processed)? } else { Produced::new(processed) };
        let output = std::mem::take(&mut produced.output);
        let found = self.extract_output(context, output)?;
        let confidence = found.confidence.or(produced.confidence);
        let found = Extracted { confidence, ..produced.into_extracted(context, found.output)? };
        Ok(self.with_review_reasons(context, found))
    }
}

impl Declared {
    /// The output that the factors make of it, with its confidence.
    fn extract_output(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let failed = |message: String| StepError::reject(message).named(EXTRACTION_ERROR);
        let Definition { factors, confidence, .. } = &self.definition;
        if factors.is_none() && confidence.is_none() {
            return Ok(Extracted::new(processed));
        }
        let scope = scope(&processed, context, None, limits(context));
        let confidence = confidence.as_ref().map(|expression| confidence_of(expression, &scope)).transpose();
        let confidence = confidence.map_err(failed)?.flatten();
        let output = match factors {
            Some(factors) => Value::Object(factors.extract(&scope).map_err(failed)?),
            None => processed,
        };
        Ok(Extracted { confidence, ..Extracted::new(output) })
    }

    /// What states no confidence has not reached the one that the stage asks for: a person looks at it.
    fn with_review_reasons(&self, context: &StepContext, found: Extracted) -> Extracted {
        let asked_for = context.stage().ok().and_then(|stage| stage.confidence_threshold);
        let (None, Some(threshold)) = (found.confidence, asked_for) else { return found };
        let mut reasons = found.reasons;
        reasons.push(format!("{} states no confidence, and {threshold} is asked for", self.definition.name));
        Extracted { target: Some(Target::Backoffice), reasons, ..found }
    }
}
