//! A page that was read.

use super::{Block, Rect, Size};
use serde::{Deserialize, Serialize};

/// A page, with how it was read and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// From 1.
    pub number: usize,
    /// The name of a sheet, the title of a slide, the label of a PDF page.
    pub label: Option<String>,
    /// None where nothing says how it would be printed.
    pub size: Option<Size>,
    /// By how many degrees, clockwise, the page is turned for showing. Boxes are those of the turned page.
    pub rotation: u16,
    pub kind: PageKind,
    pub read_by: ReadBy,
    /// Why it is of this kind and was read this way: one sentence.
    pub reason: String,
    /// From 0 to 1; None where the text is exact.
    pub confidence: Option<f32>,
    /// In reading order.
    pub blocks: Vec<Block>,
    /// In reading order, each with its place. Empty where the file has no places.
    pub words: Vec<Word>,
    /// What could not be read, one sentence each.
    pub warnings: Vec<String>,
}

impl Page {
    /// An empty page of a file that was converted, to be filled.
    pub fn converted(number: usize) -> Self {
        Self {
            number,
            label: None,
            size: None,
            rotation: 0,
            kind: PageKind::Text,
            read_by: ReadBy::Converted,
            reason: "the file holds text".to_owned(),
            confidence: None,
            blocks: Vec::new(),
            words: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// What is on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageKind {
    /// Its text is in the file.
    Text,
    /// A picture of text.
    Scan,
    /// Text, and pictures that hold more of it.
    Mixed,
    Blank,
}

/// Where the words came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadBy {
    /// The page's own text.
    Embedded,
    Ocr,
    /// Translated from a format without printed pages.
    Converted,
    /// There was nothing to read, or OCR was not allowed.
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Word {
    pub text: String,
    pub bbox: Rect,
    /// From 0 to 1; None where the text is exact.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub confidence: Option<f32>,
}

/// A page as a picture: 8 bits a pixel of grey, or 24 of red, green, blue; rows from the top, no padding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageImage {
    pub width: u32,
    pub height: u32,
    /// 1 or 3.
    pub channels: u8,
    pub pixels: Vec<u8>,
    /// How many pixels make an inch.
    pub dpi: u32,
}
