//! A program of the user's own between `field_extractor` and the end: one document flows through it.
//!
//! ```text
//!  extract ──document──► risk ──document with its field──► audit ──► … ──► consolidate
//! ```
//!
//! What a program states as `fields` changes the document, which the next stage gets. What else it says is kept in the
//! document's `more` under the stage's name. A person who corrects such a document corrects it as `field_extractor`'s.

use super::{
    EXTRACTOR,
    own_stages::{doubts_of, fields_of_answer, state_fields},
};
use crate::{borders::ExtractedDocument, stage::Carried};
use bindery_core::StepError;
use bindery_engine::{Correction, Extracted, Kind, Processor, Registry, context::StepContext, workflow::Stage};
use bindery_fields::extract::{ConfidenceParts, Extraction, Tier};
use bindery_processors::{Declared, Definition, StageContract};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Adds a processor of the user's own; one of the same name is replaced.
pub fn register_own(registry: &mut Registry, definition: Definition) {
    let corrector = registry.get(EXTRACTOR).cloned();
    registry.register(OwnStep { inner: Declared::new(definition), corrector });
}

/// A definition's processor, with documents that flow through it.
struct OwnStep {
    inner: Declared,
    /// Knows what a person's word about a document means.
    corrector: Option<Arc<dyn Processor>>,
}

/// What the second step leaves to the third, where a document flows.
const DOCUMENT: &str = "document";
const MADE: &str = "made";

/// The document that flows through the stage; none where its input is something else.
fn document_of_input(context: &StepContext, input: &Value) -> Option<Carried<ExtractedDocument>> {
    let (workflow, stage) = (context.workflow().ok()?, context.stage().ok()?);
    let contract = StageContract::of_stage(workflow, workflow.index_of(&stage.name)?)?;
    // Several processors each say something; what they say together is put together at the end.
    let in_one_piece = contract.gets_document && stage.processors.len() == 1;
    in_one_piece.then(|| Carried::read(input.clone()).ok()).flatten()
}

/// Whether the stage is one where a document may flow, whatever its input was.
fn may_flow(context: &StepContext) -> bool {
    let (Ok(workflow), Ok(stage)) = (context.workflow(), context.stage()) else { return false };
    let index = workflow.index_of(&stage.name);
    let contract = index.and_then(|index| StageContract::of_stage(workflow, index));
    contract.is_some_and(|contract| contract.gets_document && stage.processors.len() == 1)
}

impl Processor for OwnStep {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn version(&self) -> u32 {
        self.inner.version()
    }

    fn kind(&self) -> Kind {
        self.inner.kind()
    }

    fn reads(&self, here: &Stage, earlier: &Stage) -> bool {
        self.inner.reads(here, earlier)
    }

    fn validate(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        self.inner.validate(context, input)
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        if !may_flow(context) {
            return self.inner.process(context, input);
        }
        let document = document_of_input(context, &input).map(|_| input.clone());
        let made = self.inner.process(context, input)?;
        Ok(json!({DOCUMENT: document, MADE: made}))
    }

    fn extract(&self, context: &StepContext, mut processed: Value) -> Result<Extracted, StepError> {
        if !may_flow(context) {
            return self.inner.extract(context, processed);
        }
        let mut take = |name: &str| processed.get_mut(name).map(Value::take).unwrap_or_default();
        let (document, made) = (take(DOCUMENT), take(MADE));
        let mut extracted = self.inner.extract(context, made)?;
        let Some(document) = document_of_input(context, &document) else { return Ok(extracted) };
        let stage = context.stage()?;
        let confidence = extracted.confidence;
        let mut changed = document.part.clone();
        let answer = std::mem::take(&mut extracted.output);
        let (fields, rest) = fields_of_answer(answer);
        state_fields(&mut changed.extraction, &fields, confidence, &stage.name);
        if let Some(rest) = rest {
            changed.more.insert(stage.name.clone(), rest);
        }
        for doubt in doubts_of(&stage.name, &extracted.reasons) {
            if !changed.extraction.needs_review.contains(&doubt) {
                changed.extraction.needs_review.push(doubt);
            }
        }
        extracted.output = Value::Object(document.with(changed).into_message());
        Ok(extracted)
    }

    fn correct(&self, found: Value, correction: &Correction) -> Result<Extracted, StepError> {
        let Some(corrector) = &self.corrector else { return self.inner.correct(found, correction) };
        let Ok(document) = Carried::<ExtractedDocument>::read(found.clone()) else {
            return self.inner.correct(found, correction);
        };
        let (corrected, left) = correct_stated(&document.part.extraction, correction);
        if left.is_empty() && !correction.fields.is_empty() {
            let changed = ExtractedDocument { extraction: corrected, ..document.part.clone() };
            return Ok(Extracted::new(Value::Object(document.with(changed).into_message())));
        }
        let changed = ExtractedDocument { extraction: corrected, ..document.part.clone() };
        let found = Value::Object(document.with(changed).into_message());
        corrector.correct(found, &Correction { fields: left, ..correction.clone() })
    }
}

/// How the evidence of a field begins that a program has stated and a person corrected.
const STATED_BEFORE: &str = "before a person: ";

/// Corrects the fields that programs have stated, which no type of document knows. Returns what is said of the others.
fn correct_stated(extraction: &Extraction, correction: &Correction) -> (Extraction, Map<String, Value>) {
    let mut corrected = extraction.clone();
    let mut left = Map::new();
    for (name, value) in &correction.fields {
        let stated = corrected.fields.get_mut(name).filter(|field| {
            field.tier == Tier::Program || field.because.iter().any(|because| because.starts_with(STATED_BEFORE))
        });
        let text = match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            _ => None,
        };
        match (stated, text) {
            (Some(field), Some(text)) => {
                if field.tier == Tier::Program {
                    let before = field.source.take().unwrap_or_default();
                    field.because = vec![format!("{STATED_BEFORE}{} ({before})", field.value)];
                }
                field.value.clone_from(&text);
                field.normalised = text;
                (field.tier, field.source, field.confidence) = (Tier::Person, Some(correction.source()), 1.0);
                field.parts = ConfidenceParts { label: 1.0, ..field.parts };
                field.doubts.clear();
            }
            _ => drop(left.insert(name.clone(), value.clone())),
        }
    }
    (corrected, left)
}
