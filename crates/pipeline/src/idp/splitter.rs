//! Files with printed pages, taken apart.

use super::{
    SPLITTER,
    office::kept,
    outward::{Bytes, Outward},
    places::Places,
};
use crate::reading::{ReadingRoom, content_of};
use bindery_core::{StepError, item::ItemKind};
use bindery_engine::{Child, Children, Extracted, Processor, context::StepContext};
use bindery_reader::{
    OpenFile,
    error::ReadError,
    image::raster,
    model::FileType,
    split::{MANIFEST, Manifest},
};
use bindery_store::blobs::OutwardKey;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// How pictures of several pages are cut apart; each keeps its own density where it has one.
const DPI: f32 = 300.0;

/// Makes a file of each page, `page_001.pdf` and so on, and then the manifest that says how many there are. The pages
/// become items in the same commit, so that nobody waits for a page that nobody works on. A page that cannot be copied is
/// a page all the same: it fails by itself, and says why.
#[derive(Debug, Clone)]
pub struct PageSplitter {
    room: Arc<ReadingRoom>,
    places: Arc<Places>,
}

impl PageSplitter {
    pub fn new(room: Arc<ReadingRoom>, places: Arc<Places>) -> Self {
        Self { room, places }
    }
}

impl Processor for PageSplitter {
    fn name(&self) -> &'static str {
        SPLITTER
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        let content = content_of(&input).ok_or_else(|| StepError::bug("the stage before left no file"))?;
        let document = input["document"].as_str().unwrap_or_default().to_owned();
        let outward = Outward::of(context, &self.places)?;
        let file = self.room.open(context, content, input["name"].as_str())?;
        let pages = Pages::open(context, &*file, &input)?;
        let mut files = Vec::with_capacity(pages.count());
        for index in 0..pages.count() {
            if context.is_cancelled() {
                return Err(StepError::retry("the work was stopped"));
            }
            files.push(match pages.page(index) {
                Ok(bytes) => {
                    let key = outward.page("pdf_page", &document, index as u64 + 1, pages.ending())?;
                    let kept = outward.keep(context, &key, Bytes::New(&bytes), pages.media_type())?;
                    json!({"key": kept.key, "content": kept.hash, "size": kept.size})
                }
                Err(error) => json!({"error": error.to_string()}),
            });
        }
        let manifest = Manifest { document_id: document.clone(), pages: files.len() };
        let bytes = serde_json::to_vec(&manifest)
            .map_err(|error| StepError::bug(format!("the manifest cannot be written: {error}")))?;
        let key: OutwardKey = outward.key("pdf_page", &format!("{document}/{MANIFEST}"))?;
        let kept = outward.keep(context, &key, Bytes::New(&bytes), "application/json")?;
        Ok(json!({
            "document": document, "type": input["type"], "content": input["content"], "name": input["name"],
            "page_count": files.len(), "ending": pages.ending(), "media_type": pages.media_type(), "files": files,
            "manifest": {"key": kept.key, "content": kept.hash, "size": kept.size},
        }))
    }

    fn extract(&self, _context: &StepContext, mut processed: Value) -> Result<Extracted, StepError> {
        let Value::Array(files) = processed["files"].take() else {
            return Err(StepError::bug("the step before left no pages"));
        };
        let media_type = processed["media_type"].as_str().unwrap_or_default().to_owned();
        let mut artifacts: Vec<_> = files.iter().filter_map(|file| kept(file, &media_type)).collect();
        artifacts.extend(kept(&processed["manifest"], "application/json"));
        let shared: Map<String, Value> = ["document", "content", "name", "ending", "media_type"]
            .into_iter()
            .map(|name| (name.to_owned(), processed[name].clone()))
            .collect();
        let children = Children::generate(ItemKind::Page, files.len(), move |index| {
            let mut data = shared.clone();
            data.insert("page".to_owned(), json!(index + 1));
            data.insert("file".to_owned(), files.get(index).cloned().unwrap_or_default());
            Child { label: Some(format!("page {}", index + 1)), data, ..Child::default() }
        });
        if let Value::Object(output) = &mut processed {
            output.retain(|_, value| !value.is_null());
        }
        let mut extracted = Extracted::new(processed).with_children(children);
        extracted.artifacts = artifacts;
        Ok(extracted)
    }
}

/// The pages of a file, as files.
enum Pages<'a> {
    Pdf(&'a dyn OpenFile),
    /// A picture of one page is its own page.
    Single {
        bytes: Vec<u8>,
        kind: FileType,
    },
    /// Each picture of a file that has several, as PNG.
    Pictures(&'a dyn OpenFile),
}

impl<'a> Pages<'a> {
    fn open(context: &StepContext, file: &'a dyn OpenFile, input: &Value) -> Result<Self, StepError> {
        let about = file.about();
        if about.file_type != FileType::Pdf && about.page_count > 1 {
            return Ok(Self::Pictures(file));
        }
        if about.file_type == FileType::Pdf {
            return Ok(Self::Pdf(file));
        }
        let content = content_of(input).ok_or_else(|| StepError::bug("the stage before left no file"))?;
        Ok(Self::Single { bytes: context.blob(content)?, kind: about.file_type })
    }

    fn count(&self) -> usize {
        match self {
            Self::Single { .. } => 1,
            Self::Pdf(file) | Self::Pictures(file) => file.about().page_count,
        }
    }

    fn ending(&self) -> &'static str {
        match self {
            Self::Pdf(_) => FileType::Pdf.extension(),
            Self::Single { kind, .. } => kind.extension(),
            Self::Pictures(_) => FileType::Png.extension(),
        }
    }

    fn media_type(&self) -> &'static str {
        match self {
            Self::Pdf(_) => FileType::Pdf.media_type(),
            Self::Single { kind, .. } => kind.media_type(),
            Self::Pictures(_) => FileType::Png.media_type(),
        }
    }

    fn page(&self, index: usize) -> Result<Vec<u8>, ReadError> {
        match self {
            Self::Pdf(file) => {
                file.page_file(index)?.ok_or_else(|| ReadError::damaged("PDF", "it cannot be taken apart"))
            }
            Self::Single { bytes, .. } => Ok(bytes.clone()),
            Self::Pictures(file) => {
                let damaged = || ReadError::damaged("picture", "it cannot be shown");
                let image = file.image(index, DPI)?.ok_or_else(damaged)?;
                raster::to_png(&image).map_err(|_| damaged())
            }
        }
    }
}
