//! Any files in, their text out, page by page: the `read` workflow.
//!
//! | processor | works on | does |
//! |---|---|---|
//! | `file_splitter` | each file | opens it by its content and counts its pages |
//! | `page_reader` | each page | reads it: its own text, or by OCR where it has none |
//! | `page_combiner` | each file | puts its pages together as Markdown and JSON; a page that could not be read is a stated gap |
//! | `reading_consolidator` | the submission | lists the files with what was read and what is missing |
//!
//! Files are opened and read in child processes (`isolated`), unless the stage has `runner: threads` or the program starts
//! none.
//!
//! A page that was read is one blob; rows carry its hash and what people ask about first.

mod combiner;
mod consolidator;
mod isolated;
pub mod ocr_service;
mod open_files;
mod page_reader;
mod reuse;
mod splitter;

use combiner::PageCombiner;
use consolidator::ReadingResult;
pub(crate) use consolidator::{FilesRead, files_read};
pub use isolated::{FileService, IsolatedReader};
pub(crate) use open_files::{SharedFile, refusal};
pub(crate) use page_reader::{PageReader, keep_page, page_json};
pub(crate) use reuse::{changed_children, ending, place_of_page, results_of_parts};
use splitter::FileSplitter;

use crate::{
    borders::{OpenedFile, PageOfFile},
    consolidate::Consolidator,
    stage::erased,
};
use bindery_core::{ContentHash, StepError, item::Item};
use bindery_engine::{Registry, context::StepContext, processor::PageImages};
use bindery_reader::{
    EngineChoice, OcrMode, ReadOptions, Reader,
    image::raster,
    ocr::{local::LocalEngines, tesseract::AUTO},
};
use open_files::OpenFiles;
use serde_json::Value;
use std::sync::Arc;

/// The names under which the processors of the `read` workflow are known.
pub(crate) const SPLITTER: &str = "file_splitter";
pub(crate) const PAGE_READER: &str = "page_reader";
pub(crate) const PAGE_COMBINER: &str = "page_combiner";

pub(crate) fn register(registry: &mut Registry, readers: &Arc<SharedReaders>) {
    registry.register(erased(FileSplitter::new(Arc::clone(readers))));
    registry.register(erased(PageReader::new(Arc::clone(readers))));
    registry.register(erased(PageCombiner));
    registry.register(erased(Consolidator(ReadingResult)));
    registry.register_service(Arc::new(FileService::default()));
    registry.register_page_images(Arc::new(PagePictures(Arc::clone(readers))));
}

/// Pages as pictures, for programs of the user's own.
struct PagePictures(Arc<SharedReaders>);

impl PageImages for PagePictures {
    /// As the file prints it. A page that is not of a file that we read has none.
    fn png(&self, context: &StepContext, page: &Item, dpi: u32) -> Result<Option<Vec<u8>>, StepError> {
        let Ok(place) = serde_json::from_str::<PageOfFile>(&page.data) else { return Ok(None) };
        let file = self.0.open(context, place.content, place.name.as_deref())?;
        let image = file.image(place.index(), dpi as f32).map_err(|error| open_files::refusal(&error))?;
        let cannot = |error: String| StepError::reject(format!("the page cannot be drawn: {error}")).named("NoImage");
        image.map(|image| raster::to_png(&image).map_err(cannot)).transpose()
    }
}

/// What reading needs, shared by all steps of a process.
#[derive(Debug, Default)]
pub struct SharedReaders {
    files: OpenFiles,
    pub(crate) engines: LocalEngines,
}

impl SharedReaders {
    /// A received file, open.
    pub(crate) fn open(
        &self,
        context: &StepContext,
        content: ContentHash,
        name: Option<&str>,
    ) -> Result<SharedFile, StepError> {
        self.files.open(context, content, name)
    }

    /// A received file that has pages, and what is known of it.
    pub(crate) fn open_shared(
        &self,
        context: &StepContext,
        content: ContentHash,
        name: Option<String>,
    ) -> Result<OpenedFile, StepError> {
        let file = self.open(context, content, name.as_deref())?;
        let about = file.info();
        if about.page_count == 0 {
            return Err(StepError::reject("the file has no pages").named("NoPages"));
        }
        Ok(OpenedFile {
            content,
            name,
            file_type: about.file_type.name().to_owned(),
            pages: about.page_count,
            metadata: about.metadata.clone(),
            warnings: about.warnings.clone(),
        })
    }

    /// A reader as the stage's settings want it.
    pub(crate) fn reader(&self, context: &StepContext) -> Result<Reader, StepError> {
        let engine = engine_choice(context)?;
        let options = ReadOptions {
            ocr: ocr_mode(context)?,
            engine,
            languages: languages(context)?.unwrap_or_else(|| vec![AUTO.to_owned()]),
            dpi: crate::settings::whole(context, "dpi", 300, 30..=1200)? as f32,
            ..ReadOptions::default()
        };
        Ok(Reader::new(options, Some(self.engines.choose(engine))))
    }
}

/// The file that is worked on, with its bytes.
pub(crate) fn received(context: &StepContext) -> Result<(Item, ContentHash), StepError> {
    let item = context.item()?;
    let content = content_of(&item)?;
    Ok((item, content))
}

/// The bytes of a received file.
pub(crate) fn content_of(file: &Item) -> Result<ContentHash, StepError> {
    file.content.ok_or_else(|| {
        StepError::reject("the file has no bytes here: it is known from outside only").named("NoContent")
    })
}

fn ocr_mode(context: &StepContext) -> Result<OcrMode, StepError> {
    match context.settings().get("ocr").map(|value| value.as_str().unwrap_or_default()) {
        None | Some("auto") => Ok(OcrMode::Auto),
        Some("force") => Ok(OcrMode::Force),
        Some("never") => Ok(OcrMode::Never),
        Some(_) => Err(crate::settings::wrong(context, "ocr", "auto, force or never")),
    }
}

fn engine_choice(context: &StepContext) -> Result<EngineChoice, StepError> {
    match context.settings().get("ocr_engine").map(|value| value.as_str().unwrap_or_default()) {
        None | Some("auto") => Ok(EngineChoice::Auto),
        Some("tesseract") => Ok(EngineChoice::Tesseract),
        Some("ppocr") => Ok(EngineChoice::PpOcr),
        Some(_) => Err(crate::settings::wrong(context, "ocr_engine", "auto, tesseract or ppocr")),
    }
}

/// As Tesseract names them: a list, or joined by `+`, or `auto`.
pub(crate) fn languages(context: &StepContext) -> Result<Option<Vec<String>>, StepError> {
    let wrong = || crate::settings::wrong(context, "languages", "a list such as [eng, deu], or auto");
    let languages: Vec<String> = match context.settings().get("languages") {
        None => return Ok(None),
        Some(Value::String(joined)) => joined.split('+').map(str::to_owned).collect(),
        Some(Value::Array(names)) => {
            names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>().ok_or_else(wrong)?
        }
        Some(_) => return Err(wrong()),
    };
    if languages.iter().any(String::is_empty) { Err(wrong()) } else { Ok(Some(languages)) }
}
