//! Pages made of lines of text, for tests of fields.

#![allow(dead_code, reason = "each test uses a part of it")]

use bindery_fields::{
    DocType,
    extract::{self, Extraction, Sources, Templates},
};
use bindery_reader::{Page, Rect, Size, Word, model::ReadBy};

/// A narrow page of lines, each with texts that begin at places.
pub(crate) fn page(lines: &[&[(f32, &str)]]) -> Page {
    placed(lines, Size { width: 400.0, height: 20.0 + lines.len() as f32 * 14.0 }, 14.0)
}

/// The same of any size, the lines `pitch` apart.
pub(crate) fn placed(lines: &[&[(f32, &str)]], size: Size, pitch: f32) -> Page {
    let mut page = Page::converted(1);
    page.size = Some(size);
    page.read_by = ReadBy::Embedded;
    for (row, texts) in lines.iter().enumerate() {
        for (left, text) in *texts {
            let mut x = *left;
            for word in text.split(' ') {
                let width = word.chars().count() as f32 * 5.0;
                let y = 10.0 + row as f32 * pitch;
                let bbox = Rect::new(x, y, x + width, y + 10.0);
                page.words.push(Word { text: word.to_owned(), bbox, confidence: None });
                x += width + 4.0;
            }
        }
    }
    page
}

/// The fields of a page.
pub(crate) fn read(doctype: &DocType, page: Page) -> Extraction {
    let templates = Templates::default();
    extract::extract(doctype, &[page], &Sources { attachments: &[], templates: &templates })
}
