//! Which way a file goes.

use super::{
    CLASSIFIER, OFFICE, SPLITTER,
    outward::{Bytes, Outward},
    places::Places,
    to_stage_of,
};
use crate::reading::ReadingRoom;
use bindery_core::{ContentHash, StepError};
use bindery_engine::{Extracted, Processor, context::StepContext};
use bindery_reader::model::FileType;
use serde_json::{Value, json};
use std::sync::Arc;

/// Tells files by their content: PDFs and pictures have printed pages and are taken apart; everything else is converted as
/// a whole. Whether a page of a PDF has text is decided page by page, so that one scan in it is not lost.
#[derive(Debug, Clone)]
pub struct FileClassifier {
    room: Arc<ReadingRoom>,
    places: Arc<Places>,
}

impl FileClassifier {
    pub fn new(room: Arc<ReadingRoom>, places: Arc<Places>) -> Self {
        Self { room, places }
    }
}

impl Processor for FileClassifier {
    fn name(&self) -> &'static str {
        CLASSIFIER
    }

    /// Are there bytes, and are they of a type that can be read?
    fn validate(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        let item = context.item()?;
        let content = item.content.ok_or_else(|| {
            StepError::reject("the file has no bytes here: it is known from outside only").named("NoContent")
        })?;
        let file = self.room.open(context, content, item.label.as_deref())?;
        let about = file.about();
        if about.page_count == 0 {
            return Err(StepError::reject("the file has no pages").named("NoPages"));
        }
        let data: Value = serde_json::from_str(&item.data).unwrap_or_default();
        Ok(json!({
            "document": item.public_id(), "name": item.label, "content": content.to_string(), "size": data["size"],
            "type": about.file_type.name(), "extension": about.file_type.extension(),
            "media_type": about.file_type.media_type(), "printed": is_printed(about.file_type),
            "page_count": about.page_count,
        }))
    }

    fn process(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        Ok(input)
    }

    fn extract(&self, context: &StepContext, mut processed: Value) -> Result<Extracted, StepError> {
        let outward = Outward::of(context, &self.places)?;
        let is_printed = processed["printed"] == true;
        let text = |name: &str| processed[name].as_str().unwrap_or_default();
        let (document, name) = (text("document"), text("name"));
        let kind = if is_printed { "pdf_raw" } else { "office" };
        // A name that cannot be a key is a name all the same: the file is then called by its type.
        let key = outward
            .key(kind, &format!("{document}/{name}"))
            .or_else(|_| outward.key(kind, &format!("{document}/file.{}", text("extension"))))?;
        let content: ContentHash =
            text("content").parse().map_err(|_| StepError::bug("the step before left no content"))?;
        let size = processed["size"].as_u64().unwrap_or(0);
        let artifact = outward.keep(context, &key, Bytes::Known(content, size), text("media_type"))?;
        let target = to_stage_of(context, if is_printed { SPLITTER } else { OFFICE })?;
        processed["key"] = json!(artifact.key);
        let mut extracted = Extracted::new(processed);
        extracted.artifacts.push(artifact);
        extracted.target = Some(target);
        Ok(extracted)
    }
}

/// Whether a file of this type is pages as they are printed.
fn is_printed(kind: FileType) -> bool {
    use FileType::{Bmp, Gif, Jpeg, Pdf, Png, Tiff, WebP};
    matches!(kind, Pdf | Png | Jpeg | Tiff | Bmp | WebP | Gif)
}
