//! The project's samples, opened and read.

use bindery_reader::{
    OpenFile, Page, ReadOptions, Reader,
    ocr::{OcrEngine, tesseract::Tesseract},
};
use std::{fs, sync::Arc};

pub(crate) const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/files");

/// What opens the encrypted one.
pub(crate) const PASSWORD: &str = "bindery";

pub(crate) fn bytes(name: &str) -> Vec<u8> {
    fs::read(format!("{FOLDER}/{name}")).unwrap()
}

pub(crate) fn options() -> ReadOptions {
    ReadOptions { password: Some(PASSWORD.to_owned()), ..ReadOptions::default() }
}

/// A sample that was opened.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) reader: Reader,
    pub(crate) file: Box<dyn OpenFile>,
}

impl Sample {
    pub(crate) fn open(name: &str) -> Self {
        let engine: Arc<dyn OcrEngine> = Arc::new(Tesseract::default());
        let reader = Reader::new(options(), Some(engine));
        let file = reader.open(bytes(name), Some(name)).unwrap();
        Self { reader, file }
    }

    pub(crate) fn pages(&self) -> Vec<Page> {
        (0..self.file.info().page_count).map(|index| self.reader.read_page(&*self.file, index).unwrap()).collect()
    }
}
