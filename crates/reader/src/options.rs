//! What a caller may choose, and the limits no file gets past.

use std::time::Duration;

/// Whether pages are read by OCR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OcrMode {
    /// Pages without a usable text layer are.
    #[default]
    Auto,
    /// Every page is, whatever text it holds.
    Force,
    /// No page is; a scan stays empty and says so.
    Never,
}

#[derive(Debug, Clone)]
pub struct ReadOptions {
    pub ocr: OcrMode,
    /// Languages for OCR, as Tesseract names them.
    pub languages: Vec<String>,
    /// How page images are rendered for OCR.
    pub dpi: f32,
    pub password: Option<String>,
    pub limits: Limits,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            ocr: OcrMode::default(),
            languages: vec!["eng".to_owned()],
            dpi: 300.0,
            password: None,
            limits: Limits::default(),
        }
    }
}

/// What no file gets past. Reaching one is an error with the limit in it, for the page or the file it concerns.
#[derive(Debug, Clone)]
pub struct Limits {
    pub file_bytes: u64,
    pub pages: usize,
    /// What all parts of an archive or package may unpack to, together.
    pub unpacked_bytes: u64,
    /// What one part may unpack to.
    pub part_bytes: u64,
    pub archive_entries: usize,
    /// Archives in archives, mails in mails, elements in elements of a package's XML.
    pub nesting: usize,
    pub xml_depth: usize,
    /// Width times height of one decoded image.
    pub image_pixels: u64,
    /// The longer side of a page, in points; larger pages are read, but rendered smaller.
    pub page_points: f32,
    pub time_per_page: Duration,
    /// For reading a picture of a page by OCR, which takes seconds where a text layer takes milliseconds.
    pub time_per_ocr_page: Duration,
    pub time_per_file: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 4 << 30,
            pages: 100_000,
            unpacked_bytes: 1 << 30,
            part_bytes: 512 << 20,
            archive_entries: 20_000,
            nesting: 5,
            xml_depth: 256,
            image_pixels: 200_000_000,
            page_points: 14_400.0,
            time_per_page: Duration::from_secs(20),
            time_per_ocr_page: Duration::from_mins(2),
            time_per_file: Duration::from_hours(1),
        }
    }
}
