//! Which way a file goes.

use super::{
    CLASSIFIER, OFFICE, SPLITTER,
    border::IdpFile,
    outward::{Bytes, Outward},
    places::Places,
    to_stage_of,
};
use crate::{
    borders::{FileData, data_of},
    reading::{SharedReaders, received},
    stage::Stage,
};
use bindery_core::StepError;
use bindery_engine::{Extracted, context::StepContext};
use bindery_reader::model::FileType;
use serde::de::IgnoredAny;
use std::sync::Arc;

/// Tells files by their content: PDFs and pictures have printed pages and are taken apart; everything else is converted as
/// a whole. Whether a page of a PDF has text is decided page by page, so that one scan in it is not lost.
#[derive(Debug, Clone)]
pub(crate) struct FileClassifier {
    readers: Arc<SharedReaders>,
    places: Arc<Places>,
}

impl FileClassifier {
    pub(crate) fn new(readers: Arc<SharedReaders>, places: Arc<Places>) -> Self {
        Self { readers, places }
    }
}

impl Stage for FileClassifier {
    const NAME: &'static str = CLASSIFIER;
    type Input = IgnoredAny;
    type Made = IdpFile;
    type Output = IdpFile;

    /// Are there bytes, and are they of a type that can be read?
    fn validate(&self, context: &StepContext, _input: &IgnoredAny) -> Result<(), StepError> {
        let (item, content) = received(context)?;
        self.readers.open_shared(context, content, item.label).map(drop)
    }

    fn process(&self, context: &StepContext, _input: IgnoredAny) -> Result<IdpFile, StepError> {
        let (item, content) = received(context)?;
        let opened = self.readers.open_shared(context, content, item.label.clone())?;
        let kind = self.readers.open(context, content, item.label.as_deref())?.info().file_type;
        Ok(IdpFile {
            document: item.public_id(),
            name: opened.name,
            content,
            size: data_of::<FileData>(&item).size,
            file_type: opened.file_type,
            extension: kind.extension().to_owned(),
            media_type: kind.media_type().to_owned(),
            printed: is_printed(kind),
            page_count: opened.pages,
            key: None,
        })
    }

    fn extract(&self, context: &StepContext, mut file: IdpFile) -> Result<Extracted<IdpFile>, StepError> {
        let outward = Outward::from_context(context, &self.places)?;
        let (kind, next) = if file.printed { ("pdf_raw", SPLITTER) } else { ("office", OFFICE) };
        // A name that cannot be a key is a name all the same: the file is then called by its type.
        let key = outward
            .key(kind, &format!("{}/{}", file.document, file.name.as_deref().unwrap_or_default()))
            .or_else(|_| outward.key(kind, &format!("{}/file.{}", file.document, file.extension)))?;
        let bytes = Bytes::Known(file.content, file.size.unwrap_or(0));
        let artifact = outward.keep(context, &key, bytes, &file.media_type)?;
        file.key = Some(artifact.key.clone());
        let target = Some(to_stage_of(context, next)?);
        Ok(Extracted { artifacts: vec![artifact], target, ..Extracted::new(file) })
    }
}

/// Whether a file of this type is pages as they are printed.
fn is_printed(kind: FileType) -> bool {
    use FileType::{Bmp, Gif, Jpeg, Pdf, Png, Tiff, WebP};
    matches!(kind, Pdf | Png | Jpeg | Tiff | Bmp | WebP | Gif)
}
