//! Any files in, their text out, page by page: the `read` workflow.
//!
//! | processor | works on | does |
//! |---|---|---|
//! | [`FileSplitter`] | each file | opens it by its content and counts its pages |
//! | [`PageReader`] | each page | reads it: its own text, or by OCR where it has none |
//! | [`PageCombiner`] | each file | puts its pages together as Markdown and JSON; a page that could not be read is a stated gap |
//! | [`ReadingConsolidator`] | the submission | lists the files with what was read and what is missing |
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
mod splitter;

pub use combiner::PageCombiner;
pub use consolidator::ReadingConsolidator;
pub(crate) use consolidator::files_read;
pub use isolated::{FileService, IsolatedReader};
pub(crate) use open_files::{SharedFile, refused};
pub use page_reader::PageReader;
pub(crate) use page_reader::{content_of, keep_page, stored_page};
pub use splitter::FileSplitter;

use bindery_core::{ContentHash, StepError};
use bindery_engine::{Registry, context::StepContext};
use bindery_reader::{
    EngineChoice, OcrMode, ReadOptions, Reader,
    ocr::{local::LocalEngines, tesseract::AUTO},
};
use open_files::OpenFiles;
use serde_json::Value;
use std::sync::Arc;

/// The names under which the processors of the `read` workflow are known.
pub(crate) const SPLITTER: &str = "file_splitter";
const READER: &str = "page_reader";
pub(crate) const PAGE_COMBINER: &str = "page_combiner";

pub(crate) fn register(registry: &mut Registry, room: &Arc<ReadingRoom>) {
    registry.register(FileSplitter::new(Arc::clone(room)));
    registry.register(PageReader::new(Arc::clone(room)));
    registry.register(PageCombiner);
    registry.register(ReadingConsolidator);
    registry.register_service(Arc::new(FileService::default()));
}

/// What reading needs, shared by all steps of a process.
#[derive(Debug, Default)]
pub struct ReadingRoom {
    files: OpenFiles,
    pub(crate) engines: LocalEngines,
}

impl ReadingRoom {
    /// A received file, open.
    pub(crate) fn open(
        &self,
        context: &StepContext,
        content: ContentHash,
        name: Option<&str>,
    ) -> Result<SharedFile, StepError> {
        self.files.open(context, content, name)
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
