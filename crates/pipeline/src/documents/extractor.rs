//! The fields of a document.

use super::{EXTRACTOR, Knowledge};
use crate::reading::{ReadingRoom, content_of, stored_page};
use bindery_core::StepError;
use bindery_engine::{Extracted, Processor, context::StepContext, workflow::Target};
use bindery_insight::fields::{Sources, extract};
use bindery_reader::{Attachment, Page, model::FileType};
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

    /// Files inside the file: an e-invoice has its data there. What is wrong with them is no reason to read no fields.
    pub(crate) fn attachments(&self, context: &StepContext, file: &Value) -> Result<Vec<Attachment>, StepError> {
        let Some(content) = content_of(file) else { return Ok(Vec::new()) };
        let file = self.room.open(context, content, file["name"].as_str())?;
        if file.about().file_type != FileType::Pdf {
            return Ok(Vec::new());
        }
        Ok(file.attachments().unwrap_or_default())
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
        let extraction = extract(doctype, &pages, &sources);
        Ok(json!({
            "doc_type": input["doc_type"], "page_indices": input["pages"], "file": input["file"]["name"],
            "type_confidence": input["confidence"], "because": input["because"], "extraction": extraction,
        }))
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let extraction = &processed["extraction"];
        let confidence = extraction["confidence"].as_f64().unwrap_or(0.0);
        let doubtful = extraction["needs_review"].as_array().is_some_and(|reasons| !reasons.is_empty());
        let for_a_person = doubtful && context.stage().is_ok_and(|stage| stage.backoffice_queue.is_some());
        let target = for_a_person.then_some(Target::Backoffice);
        Ok(Extracted { target, ..Extracted::new(processed).with_confidence(confidence) })
    }
}
