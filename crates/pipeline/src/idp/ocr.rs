//! Pages that are read by OCR.

use super::{
    OCR,
    border::{IdpPage, IdpPageText},
    page_text::{DPI, extracted, written},
    places::Places,
    setting, switched_on,
};
use crate::{
    reading::{SharedReaders, languages, ocr_service::HttpEngine, refusal},
    stage::Stage,
};
use bindery_core::StepError;
use bindery_engine::{Extracted, context::StepContext};
use bindery_reader::{EngineChoice, OcrMode, ReadOptions, Reader, ocr::OcrEngine};
use serde_json::Value;
use std::{env, sync::Arc};

/// Reads a page by OCR, as the settings say: `engine` (`tesseract`, `ppocr`, `auto`, or `http` with a `url`), `languages`, `dpi`. The key
/// of a service is in the environment variable that `api_key_variable` names, and goes out in the header `api_key_header`.
#[derive(Debug, Clone)]
pub(crate) struct OcrExtractor {
    readers: Arc<SharedReaders>,
    places: Arc<Places>,
}

impl OcrExtractor {
    pub(crate) fn new(readers: Arc<SharedReaders>, places: Arc<Places>) -> Self {
        Self { readers, places }
    }

    fn reader(&self, context: &StepContext) -> Result<Reader, StepError> {
        let defaults = ReadOptions::default();
        let (engine, choice) = self.engine(context)?;
        let options = ReadOptions {
            engine: choice,
            ocr: if switched_on(context, "force_ocr")? { OcrMode::Force } else { OcrMode::Auto },
            languages: languages(context)?.unwrap_or(defaults.languages),
            dpi: crate::settings::whole(context, "dpi", DPI, 30..=1200)? as f32,
            ..ReadOptions::default()
        };
        Ok(Reader::new(options, Some(engine)))
    }

    fn engine(&self, context: &StepContext) -> Result<(Arc<dyn OcrEngine>, EngineChoice), StepError> {
        let local = |choice: EngineChoice| Ok((self.readers.engines.choose(choice), choice));
        match text(context, "engine")?.unwrap_or("tesseract") {
            "tesseract" => local(EngineChoice::Tesseract),
            "ppocr" => local(EngineChoice::PpOcr),
            "auto" => local(EngineChoice::Auto),
            "http" => {
                let url = text(context, "url")?.ok_or_else(|| bad("settings.url: expected the service's address"))?;
                Ok((Arc::new(HttpEngine::new(url, api_key(context)?)), EngineChoice::default()))
            }
            other => Err(bad(&format!("settings.engine: expected tesseract, ppocr, auto or http, found {other:?}"))),
        }
    }
}

/// The header that a service knows us by, with its value.
fn api_key(context: &StepContext) -> Result<Option<(String, String)>, StepError> {
    let Some(variable) = text(context, "api_key_variable")? else { return Ok(None) };
    let header = text(context, "api_key_header")?.unwrap_or("x-api-key").to_owned();
    match env::var(variable) {
        Ok(key) if !key.is_empty() => Ok(Some((header, key))),
        // It can be set, so the work waits for it.
        _ => Err(StepError::park(variable, format!("the environment variable {variable} has no key")).named("NoKey")),
    }
}

fn text<'a>(context: &'a StepContext, name: &str) -> Result<Option<&'a str>, StepError> {
    match setting(context, name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(found) => Err(bad(&format!("settings.{name}: expected a text, found {found}"))),
    }
}

fn bad(message: &str) -> StepError {
    StepError::reject(message).named("BadSettings")
}

impl Stage for OcrExtractor {
    const NAME: &'static str = OCR;
    const EXPECTS: &'static str = "a page that idp_page_classifier has looked at";
    type Input = IdpPage;
    type Made = IdpPageText;
    type Output = IdpPageText;

    fn validate(&self, context: &StepContext, _page: &IdpPage) -> Result<(), StepError> {
        self.reader(context).map(drop)
    }

    fn process(&self, context: &StepContext, page: IdpPage) -> Result<IdpPageText, StepError> {
        let file = self.readers.open(context, page.content, page.name.as_deref())?;
        let read = self.reader(context)?.read_page(&*file, page.index()).map_err(|error| refusal(&error))?;
        written(context, &self.places, page, &read)
    }

    fn extract(&self, context: &StepContext, text: IdpPageText) -> Result<Extracted<IdpPageText>, StepError> {
        extracted(context, text)
    }
}
