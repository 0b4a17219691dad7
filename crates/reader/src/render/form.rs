//! The forms in which pages are given out, and pages that were written in them where they were read.

use super::{hocr_page, markdown, text};
use crate::model::Page;
use serde::{Deserialize, Serialize};

/// A form in which the text of a page is given out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Form {
    Markdown,
    Text,
    /// The page as the model has it, in one line.
    Json,
    /// The page's part of an hOCR document; see [`HOCR_HEAD`](super::HOCR_HEAD).
    Hocr {
        dpi: f32,
    },
}

impl Form {
    /// Whether it says where the words of a page are.
    pub fn has_words(self) -> bool {
        matches!(self, Self::Json | Self::Hocr { .. })
    }

    pub fn render(self, page: &Page) -> String {
        match self {
            Self::Markdown => markdown(page),
            Self::Text => text(page),
            // Nothing can fail: a page has no keys but texts.
            Self::Json => serde_json::to_string(page).unwrap_or_default(),
            Self::Hocr { dpi } => hocr_page(page, dpi),
        }
    }
}

/// A page of which nothing but its text is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedPage {
    /// From 1.
    pub number: usize,
    /// One for each form that was asked for, in that order.
    pub texts: Vec<String>,
}

impl RenderedPage {
    pub fn new(page: &Page, forms: &[Form]) -> Self {
        Self { number: page.number, texts: forms.iter().map(|form| form.render(page)).collect() }
    }
}
