//! A page, or a whole file, as JSON.

use crate::{
    combine::{BoxedWord, PageWords},
    model::{About, Page, Rect},
};
use serde::Serialize;

/// A file with all its pages, as the model has them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
struct WholeFile<'pages> {
    about: &'pages About,
    pages: &'pages [Page],
}

/// Everything that was read: blocks, words, tables, how and why. One line a file.
pub fn json(about: &About, pages: &[Page]) -> serde_json::Result<String> {
    serde_json::to_string(&WholeFile { about, pages })
}

/// The words of a page with boxes in whole pixels at a density, as hOCR has them.
pub fn page_words(page: &Page, dpi: f32) -> PageWords {
    let words = page.words.iter().map(|word| BoxedWord { bbox: in_pixels(&word.bbox, dpi), text: word.text.clone() });
    PageWords { words: words.collect() }
}

pub(super) fn in_pixels(bbox: &Rect, dpi: f32) -> [i64; 4] {
    [bbox.x0, bbox.y0, bbox.x1, bbox.y1].map(|side| (side * dpi / 72.0).round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Word;

    #[test]
    fn words_are_in_whole_pixels() {
        let bbox = Rect::new(7.2, 14.4, 72.0, 21.7);
        let word = Word { text: "Invoice".into(), bbox, confidence: Some(0.9) };
        let page = Page { words: vec![word], ..Page::converted(1) };
        let json = serde_json::to_string(&page_words(&page, 300.0)).unwrap();
        assert_eq!(json, r#"{"words":[{"bbox":[30,60,300,90],"text":"Invoice"}]}"#);
    }
}
