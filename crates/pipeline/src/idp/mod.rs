//! The document chain of the `idp` workflow: any file in, one JSON of Markdown pages out, every step under keys that other
//! programs can look for.
//!
//! ```text
//!  file ──classify──► office ───────────────────────────► combine ──► consolidate
//!            └──────► split ──► page kind? ── text ──► text ─┤ (one join per file)
//!                                         └── scan ──► ocr ──┘
//! ```
//!
//! | processor | works on | keeps |
//! |---|---|---|
//! | `idp_file_classifier` | each file | `pdf-raw/` or `office/`: which way it goes, by its content |
//! | `idp_office_extractor` | each file without printed pages | `text-pages/{doc}/page_NNN.md` |
//! | `idp_pdf_split` | each PDF and picture | `pdf-pages/{doc}/page_NNN.pdf`, and `manifest.json` last |
//! | `idp_page_classifier` | each page | `text-pages/` or `scan-pages/`: whether it has text of its own |
//! | `idp_text_extractor`, `idp_ocr_extractor` | each page | `text-pages/{doc}/page_NNN.md`, `hocr/{doc}/page_NNN.json` |
//! | `idp_combine` | each file | `text-docs/{doc}.json`, when the last page is there |
//! | `idp_consolidator` | the submission | `output/` |
//!
//! Beside the chain: [`file_processing`] copies a file to where the chain takes files in, [`file_processing_status`] says
//! how far a document is, [`audit`] is the same from the inside, and [`retention`] removes what is not needed any more.
//!
//! **Outward keys.** Every artifact has its readable key in the store. With the setting `publish`, the bytes are also
//! written under that key to a bucket or folder, in the step that makes them: before anybody is told, and again if the
//! step runs again, which changes nothing.

pub mod audit;
mod border;
mod classifier;
mod clean;
mod combiner;
mod consolidator;
pub mod document;
pub mod file_processing;
pub mod file_processing_status;
pub mod location;
mod ocr;
mod office;
mod outward;
mod page_kind;
mod page_text;
mod places;
pub mod retention;
mod splitter;
mod task;

pub use places::Places;
pub use task::{IdpPlace, TaskError, respond};
pub(crate) use task::{object, required};

use crate::{consolidate::Consolidator, reading::SharedReaders, stage::erased};
use bindery_core::StepError;
use bindery_engine::{Registry, context::StepContext, workflow::Target};
use classifier::FileClassifier;
use combiner::DocumentCombiner;
use consolidator::IdpResult;
use ocr::OcrExtractor;
use office::OfficeExtractor;
use page_kind::PageKindClassifier;
use page_text::TextExtractor;
use serde_json::Value;
use splitter::PageSplitter;
use std::sync::Arc;

/// The names under which the processors are known.
pub const CLASSIFIER: &str = "idp_file_classifier";
pub const OFFICE: &str = "idp_office_extractor";
pub const SPLITTER: &str = "idp_pdf_split";
pub const PAGE_KIND: &str = "idp_page_classifier";
pub const TEXT: &str = "idp_text_extractor";
pub const OCR: &str = "idp_ocr_extractor";
pub const COMBINER: &str = "idp_combine";
pub const CONSOLIDATOR: &str = "idp_consolidator";

/// Adds the chain and its tasks. Places are opened with what `places` knows of credentials.
pub fn register(registry: &mut Registry, readers: &Arc<SharedReaders>, places: &Arc<Places>) {
    registry.register(erased(FileClassifier::new(Arc::clone(readers), Arc::clone(places))));
    registry.register(erased(OfficeExtractor::new(Arc::clone(readers), Arc::clone(places))));
    registry.register(erased(PageSplitter::new(Arc::clone(readers), Arc::clone(places))));
    registry.register(erased(PageKindClassifier::new(Arc::clone(readers), Arc::clone(places))));
    registry.register(erased(TextExtractor::new(Arc::clone(places))));
    registry.register(erased(OcrExtractor::new(Arc::clone(readers), Arc::clone(places))));
    registry.register(erased(DocumentCombiner::new(Arc::clone(places))));
    registry.register(erased(Consolidator(IdpResult::new(Arc::clone(places)))));
    registry.register(erased(file_processing::FileProcessing::new(Arc::clone(places))));
    registry.register(erased(file_processing_status::FileProcessingStatus::new(Arc::clone(places))));
    registry.register(erased(retention::Cleanup::new(Arc::clone(places))));
}

/// A setting of the stage or, where it says nothing, of the first stage of the workflow that does: what holds for all of
/// them is written once.
fn setting<'a>(context: &'a StepContext, name: &str) -> Option<&'a Value> {
    let elsewhere = || context.workflow().ok()?.stages.iter().find_map(|stage| stage.settings.get(name));
    context.settings().get(name).or_else(elsewhere)
}

/// A setting that is on or off.
fn switched_on(context: &StepContext, name: &str) -> Result<bool, StepError> {
    match setting(context, name) {
        None => Ok(false),
        Some(Value::Bool(on)) => Ok(*on),
        Some(found) => {
            Err(StepError::reject(format!("settings.{name}: expected true or false, found {found}"))
                .named("BadSettings"))
        }
    }
}

/// The stage that runs a processor, as the place where work goes on.
fn to_stage_of(context: &StepContext, processor: &str) -> Result<Target, StepError> {
    let workflow = context.workflow()?;
    let stage = workflow.stages.iter().find(|stage| stage.processor(processor).is_some());
    stage.map(|stage| Target::Key(stage.routing_key.clone())).ok_or_else(|| {
        let message = format!("workflow {} has no stage with the processor {processor}", workflow.name);
        StepError::reject(message).named("BadWorkflow")
    })
}
