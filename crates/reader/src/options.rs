//! What a caller may choose, and the limits no file gets past.

use crate::render::Form;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Whether pages are read by OCR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum OcrMode {
    /// Pages without a usable text layer are.
    #[default]
    Auto,
    /// Every page is, whatever text it holds.
    Force,
    /// No page is; a scan stays empty and says so.
    Never,
}

/// Which of the engines of this process reads pages by OCR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum EngineChoice {
    /// Tesseract; and PP-OCR for narrow and doubtful pages, where its models are installed.
    #[default]
    Auto,
    Tesseract,
    PpOcr,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadOptions {
    pub ocr: OcrMode,
    /// Which engine a child process reads with. A reader that is given its engine has it chosen already.
    pub engine: EngineChoice,
    /// Languages for OCR, as Tesseract names them.
    pub languages: Vec<String>,
    /// How page images are rendered for OCR.
    pub dpi: f32,
    pub password: Option<String>,
    /// Whether the words of a page are wanted with their places. Where they are not, a child process does not send them:
    /// they are most of what there is to send.
    pub words: bool,
    /// The forms in which [`Reader::render_pages`](crate::Reader::render_pages) gives out pages. A child process writes them, so
    /// that nothing else has to travel.
    pub forms: Vec<Form>,
    pub limits: Limits,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            ocr: OcrMode::default(),
            engine: EngineChoice::default(),
            languages: vec!["eng".to_owned()],
            dpi: 300.0,
            password: None,
            words: true,
            forms: Vec::new(),
            limits: Limits::default(),
        }
    }
}

/// What no file gets past. Reaching one is an error with the limit in it, for the page or the file it concerns. The
/// defaults are what ships; together they keep the reading of a file within a gigabyte of memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// The file itself: 512 MB.
    pub file_bytes: u64,
    /// A file that is text as a whole (plain text, Markdown, JSON, XML, HTML), and what the cells of a sheet say
    /// together: 64 MB.
    pub text_bytes: u64,
    /// 100,000.
    pub pages: usize,
    /// What all parts of an archive or package may unpack to, together: 512 MB.
    pub unpacked_bytes: u64,
    /// What one part may unpack to: 256 MB.
    pub part_bytes: u64,
    /// How many times its packed size a part may unpack to, once it is larger than [`Self::RATIO_COUNTS_FROM`]: 200.
    pub unpack_ratio: u64,
    /// 20,000.
    pub archive_entries: usize,
    /// Archives in archives, mails in mails: 5.
    pub nesting: usize,
    /// A part of a package that is parsed as a tree: 128 MB of XML.
    pub xml_bytes: u64,
    /// Elements and texts of such a part: 2,000,000.
    pub xml_nodes: usize,
    /// Elements in elements: 256.
    pub xml_depth: usize,
    /// Width times height of one decoded image: 200,000,000.
    pub image_pixels: u64,
    /// The longer side of a page, in points; larger pages are read, but rendered smaller.
    pub page_points: f32,
    /// What was read of one page, as JSON: 128 MB.
    pub page_bytes: u64,
    /// 20 s.
    pub time_per_page: Duration,
    /// For reading a picture of a page by OCR, which takes seconds where a text layer takes milliseconds: 2 min.
    pub time_per_ocr_page: Duration,
    /// 1 h.
    pub time_per_file: Duration,
    /// For unpacking an archive with all that is inside of it: 5 min.
    pub time_to_unpack: Duration,
}

impl Limits {
    /// Smaller parts may be packed as well as they can be: a blank sheet is packed to nothing.
    pub const RATIO_COUNTS_FROM: u64 = 16 << 20;

    /// What a part of this packed size may unpack to.
    pub fn most_unpacked(&self, packed: u64) -> u64 {
        packed.saturating_mul(self.unpack_ratio).max(Self::RATIO_COUNTS_FROM)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 512 << 20,
            text_bytes: 64 << 20,
            pages: 100_000,
            unpacked_bytes: 512 << 20,
            part_bytes: 256 << 20,
            unpack_ratio: 200,
            archive_entries: 20_000,
            nesting: 5,
            xml_bytes: 128 << 20,
            xml_nodes: 2_000_000,
            xml_depth: 256,
            image_pixels: 200_000_000,
            page_points: 14_400.0,
            page_bytes: 128 << 20,
            time_per_page: Duration::from_secs(20),
            time_per_ocr_page: Duration::from_mins(2),
            time_per_file: Duration::from_hours(1),
            time_to_unpack: Duration::from_mins(5),
        }
    }
}
