//! Files without printed pages: Office documents, mails, web pages, text.

use super::{
    COMBINER, OFFICE,
    clean::clean,
    outward::{Bytes, Outward},
    places::Places,
    to_stage_of,
};
use crate::reading::{ReadingRoom, content_of, refused};
use bindery_core::StepError;
use bindery_engine::{Extracted, Processor, context::StepContext, processor::NewArtifact};
use bindery_reader::{combine::page_markdown, render};
use serde_json::{Value, json};
use std::sync::Arc;

/// Converts a file to Markdown pages: a text is one, a presentation has one for each slide, a workbook for each sheet.
#[derive(Debug, Clone)]
pub struct OfficeExtractor {
    room: Arc<ReadingRoom>,
    places: Arc<Places>,
}

impl OfficeExtractor {
    pub fn new(room: Arc<ReadingRoom>, places: Arc<Places>) -> Self {
        Self { room, places }
    }
}

impl Processor for OfficeExtractor {
    fn name(&self) -> &'static str {
        OFFICE
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        let content = content_of(&input).ok_or_else(|| StepError::bug("the stage before left no file"))?;
        let document = input["document"].as_str().unwrap_or_default();
        let outward = Outward::of(context, &self.places)?;
        let file = self.room.open(context, content, input["name"].as_str())?;
        let (mut pages, mut words) = (Vec::new(), 0);
        for index in 0..file.about().page_count {
            if context.is_cancelled() {
                return Err(StepError::retry("the work was stopped"));
            }
            let page = file.page(index).map_err(|error| refused(&error))?;
            words += render::text(&page).split_whitespace().count();
            let number = index as u64 + 1;
            let markdown = page_markdown(index + 1, &clean(&render::markdown(&page)));
            let key = outward.page("text_page", document, number, "md")?;
            let kept = outward.keep(context, &key, Bytes::New(markdown.as_bytes()), "text/markdown")?;
            pages.push(json!({"key": kept.key, "content": kept.hash, "size": kept.size}));
        }
        Ok(json!({"document": document, "type": input["type"], "words": words, "pages": pages}))
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let pages = processed["pages"].as_array().cloned().unwrap_or_default();
        let mut extracted = Extracted::new(processed);
        extracted.artifacts = pages.iter().filter_map(|page| kept(page, "text/markdown")).collect();
        extracted.target = Some(to_stage_of(context, COMBINER)?);
        Ok(extracted)
    }
}

/// An artifact that an earlier step has kept.
pub(super) fn kept(entry: &Value, media_type: &str) -> Option<NewArtifact> {
    Some(NewArtifact {
        key: entry["key"].as_str()?.to_owned(),
        hash: content_of(entry)?,
        size: entry["size"].as_u64()?,
        media_type: media_type.to_owned(),
    })
}
