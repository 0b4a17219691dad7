//! A whole file in, Markdown with its layout out, read by Azure AI Document Intelligence.
//!
//! The file leaves the machine, so this runs only in workflows that name it and where its endpoint and key are set.

mod answer;
mod service;

use super::{
    FOUNDRY,
    parsed::{About, Parsed, ParsedFile},
};
use crate::{
    http::{Client, Environment},
    reading::received,
    stage::{Stage, erased},
    text::{Encoding, decode},
};
use bindery_core::StepError;
use bindery_engine::{Extracted, Kind, Processor, context::StepContext};
use bindery_processors::outside::client::megabytes;
use bindery_reader::{detect, model::FileType};
use serde::de::IgnoredAny;
use service::Service;
pub use service::{ENDPOINT_VARIABLE, KEY_VARIABLE};
use std::time::{Duration, Instant};

/// The service takes no larger ones.
const MOST_BYTES: u64 = 500 * 1024 * 1024;

/// Has a file read by the service. What the service does not take is decoded as text.
#[derive(Debug)]
pub(super) struct Foundry {
    environment: Environment,
    client: Client,
}

/// The processor, with endpoint and key from these variables: `BINDERY_FOUNDRY_ENDPOINT` and `BINDERY_FOUNDRY_KEY`.
pub fn foundry(environment: Environment) -> impl Processor {
    erased(Foundry { environment, client: Client::open() })
}

impl Foundry {
    fn service(&self) -> Result<Service<'_>, StepError> {
        Service::configured(&self.environment, &self.client)
    }
}

impl Stage for Foundry {
    const NAME: &'static str = FOUNDRY;
    const KIND: Kind = Kind::Io;
    type Input = IgnoredAny;
    type Made = Parsed;
    type Output = ParsedFile;

    /// Are there bytes that the service takes, and is it configured? Or is it text, for which it is not needed?
    fn validate(&self, context: &StepContext, _input: &IgnoredAny) -> Result<(), StepError> {
        match read_task(context)? {
            Taken::ByService { .. } => self.service().map(drop),
            Taken::AsText { .. } => Ok(()),
        }
    }

    fn process(&self, context: &StepContext, _input: IgnoredAny) -> Result<Parsed, StepError> {
        let (bytes, kind, media_type) = match read_task(context)? {
            Taken::ByService { bytes, kind, media_type } => (bytes, kind, media_type),
            Taken::AsText { text, encoding } => {
                let about = About {
                    file_type: "txt".to_owned(),
                    encoding: Some(encoding.as_str().to_owned()),
                    pages: Some(1),
                    read_as: Some("text".to_owned()),
                    ..About::default()
                };
                return Parsed::keep(context, &text, about, None);
            }
        };
        let stage = context.stage()?;
        let limit = stage.processor(FOUNDRY).map_or(stage.timeout, |processor| stage.timeout_of(processor));
        // The stage gives up at its own limit; ours should say so before.
        let until = Instant::now() + limit.mul_f64(0.95).max(Duration::from_millis(1));
        let (found, whole) = self.service()?.analyse(context, bytes, media_type, until)?;
        let about = About {
            file_type: kind.to_owned(),
            media_type: Some(media_type.to_owned()),
            pages: Some(found.page_count()),
            tables: Some(found.table_count()),
            read_as: Some("layout".to_owned()),
            warnings: Some(found.warnings()),
            model: found.model_id,
            api_version: found.api_version,
            ..About::default()
        };
        let raw = context.put_json(&whole)?;
        Parsed::keep(context, &found.content.unwrap_or_default(), about, Some((raw.hash, raw.size)))
    }

    fn extract(&self, context: &StepContext, parsed: Parsed) -> Result<Extracted<ParsedFile>, StepError> {
        parsed.finish(context, FOUNDRY)
    }
}

/// How a file is read.
enum Taken {
    ByService { bytes: Vec<u8>, kind: &'static str, media_type: &'static str },
    AsText { text: String, encoding: Encoding },
}

/// The file that is worked on, if it is one that can be read.
fn read_task(context: &StepContext) -> Result<Taken, StepError> {
    let (item, content) = received(context)?;
    let bytes = context.blob(content)?;
    if bytes.is_empty() {
        return Err(StepError::reject("the file is empty").named("Empty"));
    }
    let size = bytes.len() as u64;
    if size > MOST_BYTES {
        let message = format!("the file has {}, the service takes {}", megabytes(size), megabytes(MOST_BYTES));
        return Err(StepError::reject(message).named("TooLarge"));
    }
    if let Some((kind, media_type)) = taken_by_service(&bytes, item.label.as_deref()) {
        return Ok(Taken::ByService { bytes, kind, media_type });
    }
    let (text, encoding) = decode(bytes).map_err(|why| StepError::reject(why).named("NotText"))?;
    Ok(Taken::AsText { text, encoding })
}

/// The type of a file that the service reads: PDF, JPEG, PNG, BMP, TIFF, HEIF, Word, Excel, PowerPoint, HTML. By its
/// content, whatever its name says.
fn taken_by_service(bytes: &[u8], name: Option<&str>) -> Option<(&'static str, &'static str)> {
    const TAKEN: [FileType; 9] = [
        FileType::Pdf,
        FileType::Jpeg,
        FileType::Png,
        FileType::Bmp,
        FileType::Tiff,
        FileType::Docx,
        FileType::Xlsx,
        FileType::Pptx,
        FileType::Html,
    ];
    if is_heif(bytes) {
        return Some(("heif", "image/heif"));
    }
    let found = detect(bytes, name).ok().filter(|found| TAKEN.contains(found))?;
    Some((found.name(), found.media_type()))
}

/// A picture of a phone: boxes, of which the first says by one of a few names what the others hold.
fn is_heif(bytes: &[u8]) -> bool {
    const BRANDS: [&[u8; 4]; 6] = [b"heic", b"heix", b"heim", b"heis", b"mif1", b"msf1"];
    bytes.get(4..8) == Some(b"ftyp") && bytes.get(8..12).is_some_and(|brand| BRANDS.iter().any(|known| *known == brand))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_by_content() {
        let taken = |bytes: &[u8], name| taken_by_service(bytes, Some(name)).map(|(kind, _)| kind);
        assert_eq!(taken(b"%PDF-1.7\n", "a.txt"), Some("pdf"));
        assert_eq!(taken(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "a.heic"), Some("heif"));
        assert_eq!(taken(b"<html><body><p>Hello</p></body></html>", "a.html"), Some("html"));
        assert_eq!(taken(b"Dear reader, hello.\n", "a.pdf"), None);
        assert_eq!(taken(b"a,b\n1,2\n", "a.csv"), None);
    }
}
