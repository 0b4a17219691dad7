//! The fields of a document.

use super::{EXTRACTOR, Knowledge};
use crate::{
    borders::{DocumentGroup, ExtractedDocument, StoredFile, stored_page},
    reading::SharedReaders,
    settings::yes_or_no,
    stage::{Carried, Stage},
};
use bindery_core::StepError;
use bindery_engine::{Correction, Extracted, Reusable, context::StepContext, workflow::Target};
use bindery_fields::classify::LEAST_TYPE_CONFIDENCE;
use bindery_fields::doctype::OTHER;
use bindery_fields::extract::{CorrectionError, Extraction, Schema, Sources, extract};
use bindery_reader::{Attachment, Page, model::FileType};
use serde_json::Value;
use std::sync::Arc;

/// Reads the fields that the document's type has, from an attached e-invoice, by the user's templates, or by their labels.
/// Where the stage has `model_tier: true` among its settings, a language model is asked about what is still doubtful. Where
/// it has a `backoffice_queue`, what needs a person goes there.
#[derive(Debug, Clone)]
pub(crate) struct FieldExtractor {
    readers: Arc<SharedReaders>,
    knowledge: Arc<Knowledge>,
}

impl FieldExtractor {
    pub(crate) fn new(readers: Arc<SharedReaders>, knowledge: Arc<Knowledge>) -> Self {
        Self { readers, knowledge }
    }

    pub(super) fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }
}

/// Files inside the file: an e-invoice has its data there. What is wrong with them is no reason to read no fields.
pub(crate) fn attachments_of(
    readers: &SharedReaders,
    context: &StepContext,
    file: &StoredFile,
) -> Result<Vec<Attachment>, StepError> {
    let Some(content) = file.content else { return Ok(Vec::new()) };
    let file = readers.open(context, content, file.name.as_deref())?;
    if file.info().file_type != FileType::Pdf {
        return Ok(Vec::new());
    }
    Ok(file.attachments().unwrap_or_default())
}

/// The setting that lets a language model be asked.
const MODEL_TIER: &str = "model_tier";
/// What fits no type is asked about where some type comes this near.
const LEAST_OTHER_CONFIDENCE: f64 = 0.6;

/// A document that is perhaps something else: its fields would be others.
fn doubtful_type(document: &DocumentGroup) -> Option<String> {
    let DocumentGroup { doc_type, confidence, runners_up, .. } = document;
    if *doc_type != OTHER {
        let is_unsure = *confidence < LEAST_TYPE_CONFIDENCE;
        return is_unsure
            .then(|| format!("that it is of the type {doc_type} is only {:.0} % sure", confidence * 100.0));
    }
    // A page of pictures has no type to come near to.
    let (name, likelihood) = runners_up.first().filter(|_| *confidence < LEAST_OTHER_CONFIDENCE)?;
    Some(format!("it fits no type well; it is perhaps of the type {name} ({:.0} %)", likelihood * 100.0))
}

/// The fields that are less sure than the stage wants them, each with its doubts.
fn unsure(extraction: &Extraction, threshold: f64) -> impl Iterator<Item = String> {
    let unsure = extraction.fields.iter().filter(move |(_, field)| f64::from(field.confidence) < threshold);
    unsure.map(|(name, field)| {
        let doubts: Vec<&str> = field.doubts.iter().map(|doubt| doubt.text.as_str()).collect();
        let because = if doubts.is_empty() { String::new() } else { format!(": {}", doubts.join("; ")) };
        format!("{name} is {:.0} % sure{because}", f64::from(field.confidence) * 100.0)
    })
}

/// Why a value is not taken, and which fields there are.
fn refusal(error: &CorrectionError, schema: &Schema) -> StepError {
    let mut message = error.to_string();
    if matches!(error, CorrectionError::UnknownField { .. }) {
        let names: Vec<&str> = schema.fields.iter().map(|field| field.name.as_str()).collect();
        message = match names.as_slice() {
            [] => format!("{message}, nor any other"),
            _ => format!("{message}; its fields are {}", names.join(", ")),
        };
    }
    StepError::reject(message).named("BadCorrection")
}

/// A stated value as a text; null says that there is none.
fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Stage for FieldExtractor {
    const NAME: &'static str = EXTRACTOR;
    const EXPECTS: &'static str = "a document, as document_grouper makes them of pages";
    type Input = DocumentGroup;
    type Made = ExtractedDocument;
    type Output = ExtractedDocument;

    fn reuse(&self) -> Option<&dyn Reusable> {
        Some(self)
    }

    /// Is it of a type that is known?
    fn validate(&self, _context: &StepContext, document: &DocumentGroup) -> Result<(), StepError> {
        self.knowledge.doctype(&document.doc_type).map(drop)
    }

    fn process(&self, context: &StepContext, document: DocumentGroup) -> Result<ExtractedDocument, StepError> {
        let doctype = self.knowledge.doctype(&document.doc_type)?;
        let contents = document.page_contents.iter();
        let pages: Vec<Page> = contents.map(|content| stored_page(context, *content)).collect::<Result<_, _>>()?;
        let attachments = attachments_of(&self.readers, context, &document.file)?;
        let sources = Sources { attachments: &attachments, templates: &self.knowledge.templates };
        let mut extraction = extract(doctype, &pages, &sources);
        if yes_or_no(context, MODEL_TIER, false)? {
            self.knowledge.models.ask_about_doubts(context, &doctype.fields, &pages, &mut extraction)?;
        }
        extraction.needs_review.extend(doubtful_type(&document));
        let DocumentGroup { doc_type, pages, confidence, because, file, .. } = document;
        Ok(ExtractedDocument {
            doc_type,
            page_indices: pages,
            file: file.name,
            type_confidence: confidence,
            because,
            extraction,
            decided: None,
            more: std::collections::BTreeMap::new(),
        })
    }

    fn extract(&self, context: &StepContext, found: ExtractedDocument) -> Result<Extracted<Self::Output>, StepError> {
        let extraction = &found.extraction;
        let confidence = f64::from(extraction.confidence);
        let mut reasons = extraction.needs_review.clone();
        let for_a_person = !reasons.is_empty() && context.stage().is_ok_and(|stage| stage.backoffice_queue.is_some());
        let target = for_a_person.then_some(Target::Backoffice);
        if let Some(threshold) = context.stage().ok().and_then(|stage| stage.confidence_threshold) {
            for reason in unsure(extraction, threshold) {
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
        }
        Ok(Extracted { target, reasons, ..Extracted::new(found).with_confidence(confidence) })
    }

    /// A person states values of fields and of cells, or that all is right. Each value must be one of its type; then the
    /// document's checks are run again.
    fn correct(&self, found: Value, correction: &Correction) -> Result<Extracted, StepError> {
        let found = Carried::<ExtractedDocument>::read(found)
            .map_err(|_| StepError::reject("no fields were read from this document that could be corrected"))?;
        let mut document = found.part.clone();
        let schema = &self.knowledge.doctype(&document.doc_type)?.fields;
        // A back office that speaks in messages sends the values under the name that results have for them.
        let stated = match correction.fields.get("extracted_data") {
            Some(Value::Object(values)) => values,
            _ => &correction.fields,
        };
        let by = correction.source();
        if stated.is_empty() {
            document.extraction.accept(schema, &by);
        } else {
            let stated: Vec<(&str, String)> =
                stated.iter().map(|(name, value)| (name.as_str(), text_of(value))).collect();
            let stated = stated.iter().map(|(name, value)| (*name, value.as_str()));
            document.extraction.correct(schema, stated, &by).map_err(|error| refusal(&error, schema))?;
        }
        Ok(Extracted::new(Value::Object(found.with(document).into_message())))
    }
}
