//! By what the results of classifying, grouping and reading fields are known again, and which of them depend on which type
//! of document and which template.

use super::{CLASSIFIER, Knowledge, classifier::PageClassifier, extractor::FieldExtractor, grouper::DocumentGrouper};
use crate::{
    borders::{DocumentGroup, ExtractedDocument},
    intake::stated_doctype,
    reading::{changed_children, ending, place_of_page, results_of_parts},
    results::stage_of,
    stage::{Carried, Misfit, fields_of, fit},
};
use bindery_core::{ContentHash, StepError, item::ItemKind};
use bindery_engine::{Content, Extracted, Reusable, context::StepContext, workflow::Stage};
use bindery_fields::doctype::OTHER;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What results depend on of the types and templates, as hashes. Made once: neither changes while a process runs.
#[derive(Debug)]
pub(super) struct Recipes {
    /// How all types are recognised.
    classes: String,
    /// All types with all of their fields.
    types: String,
    /// A type with its fields and the templates that are for it.
    of_type: BTreeMap<String, String>,
}

impl Recipes {
    pub(super) fn new(knowledge: &Knowledge) -> Self {
        let hash = |text: String| ContentHash::of(text.as_bytes()).to_string();
        // In whatever order they were read.
        let mut sorted: Vec<_> = knowledge.doctypes.iter().collect();
        sorted.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        let all = || sorted.iter();
        let classes: Vec<String> = all().map(|one| format!("{:?} {:?}", one.name, one.recognise)).collect();
        let types: Vec<String> = all().map(|one| format!("{one:?}")).collect();
        let of_type = all().map(|one| {
            let templates: Vec<_> = knowledge.templates.for_doctype(&one.name).collect();
            (one.name.to_string(), hash(format!("{:?} {templates:?}", one.fields)))
        });
        Self { classes: hash(classes.join("\n")), types: hash(types.join("\n")), of_type: of_type.collect() }
    }

    fn of_type(&self, name: &str) -> Option<&String> {
        self.of_type.get(name).or_else(|| self.of_type.get(OTHER))
    }
}

impl Reusable for PageClassifier {
    fn recipe(&self, _stage: &Stage, _label: Option<&str>) -> Value {
        json!(self.knowledge().recipes().classes)
    }

    fn content(&self, context: &StepContext, input: &Value) -> Result<Content, StepError> {
        let mut read = input.clone();
        // The page itself is named by its hash.
        read.as_object_mut().and_then(|read| read.shift_remove("markdown"));
        let stated = stated_doctype(&context.submission()?.metadata);
        let subject = place_of_page(context)?.map(|(file, page)| json!([file, page]));
        Ok(Content { reads: json!([read, stated]), subject, label: None })
    }
}

impl Reusable for DocumentGrouper {
    fn recipe(&self, _stage: &Stage, _label: Option<&str>) -> Value {
        json!(self.knowledge().recipes().types)
    }

    fn content(&self, context: &StepContext, _input: &Value) -> Result<Content, StepError> {
        let file = context.item()?;
        let pages = results_of_parts(context, file.id, ItemKind::Page, stage_of(context, CLASSIFIER)?)?;
        Ok(Content { reads: json!([file.content, ending(file.label.as_deref()), pages]), ..Content::default() })
    }

    fn names_its_submission(&self) -> bool {
        true
    }

    /// A document is known by the place of its file in the submission, and names it.
    fn adopt(&self, context: &StepContext, _input: &Value, mut found: Extracted) -> Result<Extracted, StepError> {
        let file = context.item()?;
        found.children = found.children.map(|children| {
            changed_children(&children, |place, child| {
                child.key = Some(format!("doc_{}_{}", file.ordinal + 1, place + 1));
                let group = Value::Object(std::mem::take(&mut child.data));
                child.data = match fit::<DocumentGroup>(&group) {
                    Ok(mut group) => {
                        group.file.name.clone_from(&file.label);
                        fields_of(&group)
                    }
                    // The next stage tells what is wrong with it.
                    Err(_) => fields_of(&group),
                };
            })
        });
        Ok(found)
    }
}

impl Reusable for FieldExtractor {
    fn recipe(&self, stage: &Stage, label: Option<&str>) -> Value {
        let of_type = label.and_then(|name| self.knowledge().recipes().of_type(name));
        json!([of_type, stage.confidence_threshold, stage.backoffice_queue.is_some()])
    }

    fn content(&self, _context: &StepContext, input: &Value) -> Result<Content, StepError> {
        let mut group: DocumentGroup = fit(input).map_err(|misfit| StepError::reject(misfit.to_string()))?;
        group.file.name = ending(group.file.name.as_deref());
        let reads = Value::Object(fields_of(&group));
        let subject = group.file.content.map(|file| json!([file, group.pages]));
        Ok(Content { reads, subject, label: Some(group.doc_type.to_string()) })
    }

    fn names_its_submission(&self) -> bool {
        true
    }

    fn adopt(&self, _context: &StepContext, input: &Value, mut found: Extracted) -> Result<Extracted, StepError> {
        let bad = |misfit: Misfit| StepError::bug(format!("a stored result is of another form: {misfit}"));
        let group: DocumentGroup = fit(input).map_err(bad)?;
        let extracted = Carried::<ExtractedDocument>::read(std::mem::take(&mut found.output)).map_err(bad)?;
        let here = ExtractedDocument { file: group.file.name, ..extracted.part.clone() };
        found.output = Value::Object(extracted.with(here).into_message());
        Ok(found)
    }
}
