//! Reading text from a picture of a page.
//!
//! An [`OcrEngine`] takes a picture and gives its words with boxes. There are two here: [`tesseract::Tesseract`], loaded at
//! run time, and [`ppocr::PpOcr`], whose models are installed by the user; [`local::LocalEngines`] chooses between them. An
//! engine behind an address is in `bindery_pipeline::reading`, as the reader makes no network calls.
//!
//! | module | what it owns |
//! |---|---|
//! | [`tesseract`] | the engine in this process: instances, orientation, languages |
//! | [`ppocr`] | the engine for receipts, photographs and poor scans: models, detection, recognition |
//! | [`local`] | the choice between the engines of this process |
//! | `prepare` | what is done to a picture before it is read |
//! | `measure` | how large the letters in a picture are |
//! | `blocks` | from words in pixels to blocks and words of a page |

mod blocks;
pub mod local;
mod measure;
pub mod ppocr;
mod prepare;
pub mod tesseract;

use crate::{
    error::ReadResult,
    model::{PageImage, Rect},
};
use std::{fmt, time::Duration};

pub use blocks::{OcrText, to_text};

/// Something that reads pictures of pages, from any number of threads at once.
pub trait OcrEngine: Send + Sync + fmt::Debug {
    /// A short name for the reasons that pages carry: "Tesseract 5.3.0".
    fn name(&self) -> String;

    fn read(&self, image: &PageImage, request: &OcrRequest) -> ReadResult<OcrPage>;

    /// Whether every process of this program has the same engine, so that a page can be read where its file is open.
    fn is_everywhere(&self) -> bool {
        false
    }
}

/// What is wanted of the engine for a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OcrRequest {
    /// As Tesseract names them, the most likely first.
    pub languages: Vec<String>,
    /// Whether a page that lies on its side or head is to be recognised as such.
    pub find_orientation: bool,
    /// The page is given up after this.
    pub time: Duration,
}

/// What was read. Boxes are in pixels of the picture turned upright.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OcrPage {
    /// In reading order.
    pub words: Vec<OcrWord>,
    /// The whole text, from engines that give no words.
    pub text: Option<String>,
    /// From 0 to 1, over the page; None if nothing was read.
    pub confidence: Option<f32>,
    /// By how many degrees lines fall towards their end, where the page was laid crookedly. Boxes follow them.
    pub slant: f32,
    /// By how many degrees the picture must be turned clockwise to be upright: 0, 90, 180 or 270.
    pub rotation: u16,
    /// Of the picture turned upright.
    pub width: u32,
    pub height: u32,
    /// How many of its pixels make an inch.
    pub dpi: u32,
    /// The name of the engine that read this page, where another than the one that was asked did.
    pub read_by: Option<String>,
    /// What did not go as it should have, one sentence each.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct OcrWord {
    pub text: String,
    pub bbox: Rect,
    /// From 0 to 1.
    pub confidence: f32,
    /// Words with the same number stand in the same line, paragraph and block. The numbers count over the page.
    pub line: usize,
    pub paragraph: usize,
    pub block: usize,
}

impl OcrPage {
    /// The mean confidence of the words, each weighed by its letters.
    pub fn mean_confidence(words: &[OcrWord]) -> Option<f32> {
        let letters = |word: &OcrWord| word.text.chars().count() as f32;
        let total: f32 = words.iter().map(letters).sum();
        (total > 0.0).then(|| words.iter().map(|word| word.confidence * letters(word)).sum::<f32>() / total)
    }
}
