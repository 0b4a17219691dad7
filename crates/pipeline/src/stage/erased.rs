//! The adapter from a stage with types to a processor with values.

use super::{Misfit, Stage, fit};
use bindery_core::StepError;
use bindery_engine::{Correction, Extracted, Kind, Processor, Reusable, context::StepContext, workflow};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// A stage as the engine's [`Processor`].
#[derive(Debug, Clone)]
pub(crate) struct Erased<S>(S);

/// Erases the types of a stage's borders.
pub(crate) const fn erased<S: Stage>(stage: S) -> Erased<S> {
    Erased(stage)
}

/// What a step of the same stage has left; anything else is a mistake of ours.
fn decode<S: Stage, T: DeserializeOwned>(value: &Value) -> Result<T, StepError> {
    fit(value).map_err(|misfit| StepError::bug(format!("{}: the step before left something else: {misfit}", S::NAME)))
}

fn wire<S: Stage>(value: &impl Serialize) -> Result<Value, StepError> {
    serde_json::to_value(value)
        .map_err(|error| StepError::bug(format!("{}: the result cannot be written: {error}", S::NAME)))
}

/// An input that is not what the stage works on.
fn refusal<S: Stage>(context: &StepContext, misfit: &Misfit) -> StepError {
    let stage = context.stage().map(|stage| format!("stage {}: ", stage.name)).unwrap_or_default();
    StepError::reject(format!("{stage}{} expects {}; {misfit}", S::NAME, S::EXPECTS)).named("BadInput")
}

impl<S: Stage> Processor for Erased<S> {
    fn name(&self) -> &str {
        S::NAME
    }

    fn version(&self) -> u32 {
        S::VERSION
    }

    fn kind(&self) -> Kind {
        S::KIND
    }

    fn hands_on(&self) -> bool {
        S::HANDS_ON
    }

    fn reads(&self, here: &workflow::Stage, earlier: &workflow::Stage) -> bool {
        self.0.reads(here, earlier)
    }

    fn reuse(&self) -> Option<&dyn Reusable> {
        self.0.reuse()
    }

    fn validate(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        let typed = fit(&input).map_err(|misfit| refusal::<S>(context, &misfit))?;
        self.0.validate(context, &typed)?;
        Ok(input)
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        wire::<S>(&self.0.process(context, decode::<S, _>(&input)?)?)
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let extracted = self.0.extract(context, decode::<S, _>(&processed)?)?;
        let output = wire::<S>(&extracted.output)?;
        Ok(extracted.with_output(output))
    }

    fn correct(&self, found: Value, correction: &Correction) -> Result<Extracted, StepError> {
        self.0.correct(found, correction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_engine::context::CancelFlag;
    use serde::Deserialize;
    use serde_json::json;
    use std::sync::Arc;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Pile {
        pages: Vec<Sheet>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Sheet {
        number: u32,
    }

    struct Count;

    impl Stage for Count {
        const NAME: &'static str = "count";
        const EXPECTS: &'static str = "a pile of pages";
        type Input = Pile;
        type Made = u32;
        type Output = u32;

        fn process(&self, _context: &StepContext, pile: Pile) -> Result<u32, StepError> {
            Ok(pile.pages.iter().map(|sheet| sheet.number).sum())
        }

        fn extract(&self, _context: &StepContext, sum: u32) -> Result<Extracted<u32>, StepError> {
            Ok(Extracted::new(sum).with_confidence(0.5))
        }
    }

    #[test]
    fn values_become_types_and_types_values() {
        let (context, stage) = (StepContext::standalone(Arc::default(), 1, CancelFlag::default()), erased(Count));
        let input = stage.validate(&context, json!({"pages": [{"number": 2}, {"number": 3}], "more": 1})).unwrap();
        let made = stage.process(&context, input).unwrap();
        let extracted = stage.extract(&context, made).unwrap();
        assert_eq!((extracted.output, extracted.confidence), (json!(5), Some(0.5)));
    }

    #[test]
    fn what_does_not_fit_names_stage_and_field() {
        let (context, stage) = (StepContext::standalone(Arc::default(), 1, CancelFlag::default()), erased(Count));
        for (input, why) in [
            (json!({"pages": [{"number": 1}, {"number": "two"}]}), "pages[1].number: invalid type: string \"two\""),
            (json!({"pages": [{}]}), "pages[0]: missing field `number`"),
            (json!({}), "missing field `pages`"),
            (json!(null), "invalid type: null"),
        ] {
            let error = stage.validate(&context, input).unwrap_err();
            assert!(error.message.starts_with(&format!("count expects a pile of pages; {why}")), "{error}");
        }
        let error = stage.extract(&context, json!("five")).unwrap_err();
        assert!(error.message.starts_with("count: the step before left something else: invalid type"), "{error}");
    }
}
