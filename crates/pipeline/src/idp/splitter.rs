//! Files with printed pages, taken apart.

use super::{
    SPLITTER,
    border::{IdpFile, IdpPage, KeptFile, PageFile},
    outward::{Bytes, Outward},
    places::Places,
};
use crate::{borders::page_children, reading::SharedReaders, stage::Stage};
use bindery_core::{ContentHash, StepError};
use bindery_engine::{Extracted, context::StepContext, processor::NewArtifact};
use bindery_reader::{
    OpenFile,
    error::ReadError,
    image::raster,
    model::FileType,
    split::{MANIFEST, Manifest},
};
use bindery_store::blobs::OutwardKey;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How pictures of several pages are cut apart; each keeps its own density where it has one.
const DPI: f32 = 300.0;

/// Makes a file of each page, `page_001.pdf` and so on, and then the manifest that says how many there are. The pages
/// become items in the same commit, so that nobody waits for a page that nobody works on. A page that cannot be copied is
/// a page all the same: it fails by itself, and says why.
#[derive(Debug, Clone)]
pub(crate) struct PageSplitter {
    readers: Arc<SharedReaders>,
    places: Arc<Places>,
}

impl PageSplitter {
    pub(crate) fn new(readers: Arc<SharedReaders>, places: Arc<Places>) -> Self {
        Self { readers, places }
    }
}

/// A file that was taken apart.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SplitDocument {
    document: String,
    #[serde(rename = "type")]
    file_type: String,
    content: ContentHash,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    page_count: usize,
    ending: String,
    media_type: String,
    manifest: KeptFile,
}

impl Stage for PageSplitter {
    const NAME: &'static str = SPLITTER;
    const EXPECTS: &'static str = "a file that idp_file_classifier has opened";
    type Input = IdpFile;
    type Made = (SplitDocument, Vec<PageFile>);
    type Output = SplitDocument;

    fn process(&self, context: &StepContext, received: IdpFile) -> Result<Self::Made, StepError> {
        let IdpFile { document, name, content, file_type, .. } = received;
        let outward = Outward::from_context(context, &self.places)?;
        let file = self.readers.open(context, content, name.as_deref())?;
        let pages = Pages::open(context, &*file, content)?;
        let mut files = Vec::with_capacity(pages.count());
        for index in 0..pages.count() {
            if context.is_cancelled() {
                return Err(StepError::retry("the work was stopped"));
            }
            files.push(match pages.page(index) {
                Ok(bytes) => {
                    let key = outward.page("pdf_page", &document, index + 1, pages.ending())?;
                    let kept = outward.keep(context, &key, Bytes::New(&bytes), pages.media_type())?;
                    PageFile { kept: Some(kept.into()), error: None }
                }
                Err(error) => PageFile { kept: None, error: Some(error.to_string()) },
            });
        }
        let manifest = Manifest { document_id: document.clone(), pages: files.len() };
        let bytes = serde_json::to_vec(&manifest)
            .map_err(|error| StepError::bug(format!("the manifest cannot be written: {error}")))?;
        let key: OutwardKey = outward.key("pdf_page", &format!("{document}/{MANIFEST}"))?;
        let manifest = outward.keep(context, &key, Bytes::New(&bytes), "application/json")?.into();
        let split = SplitDocument {
            document,
            file_type,
            content,
            name,
            page_count: files.len(),
            ending: pages.ending().to_owned(),
            media_type: pages.media_type().to_owned(),
            manifest,
        };
        Ok((split, files))
    }

    fn extract(&self, _context: &StepContext, made: Self::Made) -> Result<Extracted<SplitDocument>, StepError> {
        let (split, files) = made;
        let kept = files.iter().filter_map(|file| file.kept.as_ref());
        let mut artifacts: Vec<NewArtifact> = kept.map(|kept| kept.artifact(&split.media_type)).collect();
        artifacts.push(split.manifest.artifact("application/json"));
        let SplitDocument { document, content, name, ending, media_type, .. } = &split;
        let (document, content, name) = (document.clone(), *content, name.clone());
        let (ending, media_type) = (ending.clone(), media_type.clone());
        let children = page_children(files.len(), move |page| IdpPage {
            document: document.clone(),
            content,
            name: name.clone(),
            ending: ending.clone(),
            media_type: media_type.clone(),
            page,
            file: files.get(page.get() - 1).cloned().unwrap_or_default(),
            kind: None,
            ocr: None,
            reason: None,
            read: None,
        });
        Ok(Extracted { artifacts, ..Extracted::new(split).with_children(children) })
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
    fn open(context: &StepContext, file: &'a dyn OpenFile, content: ContentHash) -> Result<Self, StepError> {
        let about = file.info();
        if about.file_type != FileType::Pdf && about.page_count > 1 {
            return Ok(Self::Pictures(file));
        }
        if about.file_type == FileType::Pdf {
            return Ok(Self::Pdf(file));
        }
        Ok(Self::Single { bytes: context.blob(content)?, kind: about.file_type })
    }

    fn count(&self) -> usize {
        match self {
            Self::Single { .. } => 1,
            Self::Pdf(file) | Self::Pictures(file) => file.info().page_count,
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
