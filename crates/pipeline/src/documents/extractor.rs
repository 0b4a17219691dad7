//! The fields of a document.

use super::{EXTRACTOR, Knowledge};
use crate::reading::{ReadingRoom, content_of, stored_page};
use bindery_core::StepError;
use bindery_engine::{Correction, Extracted, Processor, context::StepContext, workflow::Target};
use bindery_fields::classify::LEAST_TYPE_CONFIDENCE;
use bindery_fields::doctype::OTHER;
use bindery_fields::extract::{CorrectionError, Extraction, Schema, Sources, extract};
use bindery_reader::{Attachment, Page, model::FileType};
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::sync::Arc;

/// Reads the fields that the document's type has, from an attached e-invoice, by the user's templates, or by their labels.
/// Where the stage has a `backoffice_queue`, what needs a person goes there.
#[derive(Debug, Clone)]
pub struct FieldExtractor {
    room: Arc<ReadingRoom>,
    knowledge: Arc<Knowledge>,
}

impl FieldExtractor {
    pub fn new(room: Arc<ReadingRoom>, knowledge: Arc<Knowledge>) -> Self {
        Self { room, knowledge }
    }

    pub(crate) fn attachments(&self, context: &StepContext, file: &Value) -> Result<Vec<Attachment>, StepError> {
        attachments_of(&self.room, context, file)
    }
}

/// Files inside the file: an e-invoice has its data there. What is wrong with them is no reason to read no fields.
pub(super) fn attachments_of(
    room: &ReadingRoom,
    context: &StepContext,
    file: &Value,
) -> Result<Vec<Attachment>, StepError> {
    let Some(content) = content_of(file) else { return Ok(Vec::new()) };
    let file = room.open(context, content, file["name"].as_str())?;
    if file.about().file_type != FileType::Pdf {
        return Ok(Vec::new());
    }
    Ok(file.attachments().unwrap_or_default())
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What fits no type is asked about where some type comes this near.
const LEAST_OTHER_CONFIDENCE: f64 = 0.6;

/// A document that is perhaps something else: its fields would be others.
fn doubtful_type(document: &Value) -> Option<String> {
    let doc_type = document["doc_type"].as_str()?;
    let confidence = document["confidence"].as_f64()?;
    if doc_type != OTHER {
        let is_unsure = confidence < LEAST_TYPE_CONFIDENCE;
        return is_unsure
            .then(|| format!("that it is of the type {doc_type} is only {:.0} % sure", confidence * 100.0));
    }
    let nearest = document["runners_up"].as_array().and_then(|all| all.first()).filter(|_| {
        // A page of pictures has no type to come near to.
        confidence < LEAST_OTHER_CONFIDENCE
    })?;
    let (name, likelihood) = (nearest[0].as_str()?, nearest[1].as_f64()?);
    Some(format!("it fits no type well; it is perhaps of the type {name} ({:.0} %)", likelihood * 100.0))
}

/// The fields that are less sure than the stage wants them, each with its doubts.
fn unsure(extraction: &Value, threshold: f64) -> Vec<String> {
    let fields = extraction["fields"].as_object().into_iter().flatten();
    let unsure = fields.filter_map(|(name, field)| {
        let confidence = field["confidence"].as_f64().filter(|confidence| *confidence < threshold)?;
        let doubts: Vec<&str> =
            field["doubts"].as_array().into_iter().flatten().filter_map(|doubt| doubt["text"].as_str()).collect();
        let because = if doubts.is_empty() { String::new() } else { format!(": {}", doubts.join("; ")) };
        Some(format!("{name} is {:.0} % sure{because}", confidence * 100.0))
    });
    unsure.collect()
}

/// Why a value is not taken, and which fields there are.
fn refused(error: &CorrectionError, schema: &Schema) -> StepError {
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

impl Processor for FieldExtractor {
    fn name(&self) -> &'static str {
        EXTRACTOR
    }

    /// Is it a document with pages, of a type that is known?
    fn validate(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        self.knowledge.doctype(input["doc_type"].as_str().unwrap_or_default())?;
        if !input["page_contents"].is_array() {
            let message = "this is no document: the stage before should put pages together to documents";
            return Err(StepError::reject(message).named("NoDocument"));
        }
        Ok(input)
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        let doctype = self.knowledge.doctype(input["doc_type"].as_str().unwrap_or_default())?;
        let contents = input["page_contents"].as_array().into_iter().flatten();
        let pages: Vec<Page> =
            contents.map(|content| stored_page(context, &json!({"content": content}))).collect::<Result<_, _>>()?;
        let attachments = self.attachments(context, &input["file"])?;
        let sources = Sources { attachments: &attachments, templates: &self.knowledge.templates };
        let mut extraction = extract(doctype, &pages, &sources);
        extraction.needs_review.extend(doubtful_type(&input));
        Ok(json!({
            "doc_type": input["doc_type"], "page_indices": input["pages"], "file": input["file"]["name"],
            "type_confidence": input["confidence"], "because": input["because"], "extraction": extraction,
        }))
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let extraction = &processed["extraction"];
        let confidence = extraction["confidence"].as_f64().unwrap_or(0.0);
        let mut reasons = texts(&extraction["needs_review"]);
        let for_a_person = !reasons.is_empty() && context.stage().is_ok_and(|stage| stage.backoffice_queue.is_some());
        let target = for_a_person.then_some(Target::Backoffice);
        if let Some(threshold) = context.stage().ok().and_then(|stage| stage.confidence_threshold) {
            for reason in unsure(extraction, threshold) {
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
        }
        Ok(Extracted { target, reasons, ..Extracted::new(processed).with_confidence(confidence) })
    }

    /// A person states values of fields and of cells, or that all is right. Each value must be one of its type; then the
    /// document's checks are run again.
    fn correct(&self, mut found: Value, correction: &Correction) -> Result<Extracted, StepError> {
        let schema = &self.knowledge.doctype(found["doc_type"].as_str().unwrap_or_default())?.fields;
        let mut extraction = Extraction::deserialize(&found["extraction"])
            .map_err(|_| StepError::reject("no fields were read from this document that could be corrected"))?;
        // A back office that speaks in messages sends the values under the name that results have for them.
        let stated = match correction.fields.get("extracted_data") {
            Some(Value::Object(values)) => values,
            _ => &correction.fields,
        };
        let by = correction.source();
        if stated.is_empty() {
            extraction.accept(schema, &by);
        } else {
            let stated: Vec<(&str, String)> =
                stated.iter().map(|(name, value)| (name.as_str(), text_of(value))).collect();
            let stated = stated.iter().map(|(name, value)| (*name, value.as_str()));
            extraction.correct(schema, stated, &by).map_err(|error| refused(&error, schema))?;
        }
        found["extraction"] = json!(extraction);
        Ok(Extracted::new(found))
    }
}
