//! Takes a submission apart into pages.

use crate::{
    reading::ReadingRoom,
    results::{in_order, name_of, none_opened},
};
use bindery_core::{
    StepError,
    error::ErrorClass,
    item::{Item, ItemKind},
};
use bindery_engine::{Child, Children, Extracted, Processor, context::StepContext};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Opens every file of the submission and numbers their pages from 0, in the order of the files. A file that cannot be
/// opened is named in the result with the reason; if none can, the submission has failed.
#[derive(Debug, Clone)]
pub struct RequestSplitter {
    room: Arc<ReadingRoom>,
}

impl RequestSplitter {
    pub fn new(room: Arc<ReadingRoom>) -> Self {
        Self { room }
    }

    /// What a file is and how many pages it has.
    fn about(&self, context: &StepContext, file: &Item) -> Result<Value, StepError> {
        let content = file.content.ok_or_else(|| {
            StepError::reject("the file has no bytes here: it is known from outside only").named("NoContent")
        })?;
        let opened = self.room.open(context, content, file.label.as_deref())?;
        let about = opened.about();
        if about.page_count == 0 {
            return Err(StepError::reject("the file has no pages").named("NoPages"));
        }
        Ok(json!({
            "pages": about.page_count, "type": about.file_type.name(), "content": content.to_string(),
            "warnings": about.warnings,
        }))
    }
}

impl Processor for RequestSplitter {
    fn name(&self) -> &'static str {
        "splitter"
    }

    /// Which of the files can be read, and how many pages have they?
    fn process(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        let (mut files, mut reasons) = (Vec::new(), Vec::new());
        for file in in_order(context.items(Some(ItemKind::File), None)?) {
            if context.is_cancelled() {
                return Err(StepError::retry("stopped before all files were opened").named("Cancelled"));
            }
            let mut entry = json!({
                "file_index": file.ordinal, "original_filename": name_of(&file), "file_path": format!("raw/{}", file.id),
            });
            match self.about(context, &file) {
                Ok(Value::Object(about)) => {
                    if let Value::Object(entry) = &mut entry {
                        entry.extend(about);
                    }
                }
                Ok(_) => {}
                // What is wrong with a file is its own matter; a store that cannot be reached is ours.
                Err(error) if error.class() == ErrorClass::Reject => {
                    entry["error"] = json!(error.message);
                    reasons.push(error.message);
                }
                Err(error) => return Err(error),
            }
            files.push(entry);
        }
        if let Some(first) = reasons.first() {
            none_opened(files.len(), reasons.len(), first)?;
        }
        Ok(json!({"files": files}))
    }

    fn extract(&self, context: &StepContext, mut processed: Value) -> Result<Extracted, StepError> {
        let Value::Array(mut files) = processed["files"].take() else {
            return Err(StepError::bug("the step before left no files"));
        };
        let mut places = Vec::new();
        for (index, file) in files.iter_mut().enumerate() {
            let pages = file["pages"].as_u64().unwrap_or(0);
            file["first_page_index"] = if pages > 0 { json!(places.len()) } else { Value::Null };
            places.extend((1..=pages).map(|number| (index, number)));
        }
        let page_count = places.len();
        let output = json!({"page_count": page_count, "files": files.clone()});
        let submission = context.submission()?;
        let metadata = serde_json::from_str(&submission.metadata).unwrap_or_default();
        let for_all =
            Map::from_iter([("channel".to_owned(), json!(submission.channel)), ("metadata".to_owned(), metadata)]);
        let children = Children::generate(ItemKind::Page, page_count, move |page_index| {
            let Some((file, number)) = places.get(page_index) else { return Child::default() };
            page_of(&files[*file], page_index, *number, for_all.clone())
        });
        Ok(Extracted::new(output).with_children(children))
    }
}

/// A page as its message tells of it.
fn page_of(file: &Value, page_index: usize, number: u64, input: Map<String, Value>) -> Child {
    // The same however often the work is done.
    let page_id = format!("page_{page_index}");
    let mut data = Map::from_iter([
        ("page_id".to_owned(), json!(page_id)),
        ("page_index".to_owned(), json!(page_index)),
        ("page_number".to_owned(), json!(number)),
        ("file_content".to_owned(), file["content"].clone()),
    ]);
    for key in ["file_index", "file_path", "original_filename"] {
        data.insert(key.to_owned(), file[key].clone());
    }
    let label = Some(format!("page {number} of {}", file["original_filename"].as_str().unwrap_or_default()));
    Child { label, key: Some(page_id), data, input, ..Child::default() }
}
