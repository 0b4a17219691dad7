//! A page as Markdown or as plain text.
//!
//! Both are made from the blocks of a page and from nothing else, so that every kind of file reads the same.
//!
//! What was decided, and holds for every file:
//!
//! - White space within a line is squeezed to one space, lines end with a single `\n`, and marks that nobody sees (soft
//!   hyphens, zero-width spaces) are dropped. Only code keeps its spaces.
//! - Tables are written with pipes, as GitHub reads them, and the first row is their heading. A cell that spans rows or
//!   columns is written once, at its top left; the places it covers stay blank. Line breaks in cells become `<br>`.
//! - Bold and italic begin and end at words, never within one. Struck text is `~~struck~~`. Underlined text is marked
//!   (`<u>`) only on pages that also strike text out, where it means an insertion.
//! - Markdown leaves out headers and footers unless asked for; plain text has them, headers first and footers last.
//! - Footnotes are `[^1]` and `[^1]: …`; speakers' notes and reviewers' comments are quotes headed "Notes" and
//!   "Comments".
//! - A list item whose number Markdown cannot count with ("iv", "2.1") is a bullet with that number written behind it.

mod escape;
mod form;
mod hocr;
mod inline;
mod json;
mod markdown;
mod table;
mod text;
mod tidy;

pub use form::{Form, RenderedPage};
pub use hocr::{HOCR_END, HOCR_HEAD, hocr, hocr_page};
pub use json::{json, page_words};
pub use markdown::{MarkdownOptions, markdown, markdown_with};
pub use text::text;
pub use tidy::{tidy, tidy_text};

use crate::model::{Block, BlockKind, Inlines, Page, Role};
use std::collections::HashSet;

/// What one page has to be known for before its first block can be written.
#[derive(Debug, Default)]
struct PageFacts {
    /// The marks of the footnotes on the page: raised text elsewhere that is one of them refers to it.
    footnotes: HashSet<String>,
    /// Underlining carries meaning because other text is struck out.
    underline_counts: bool,
}

impl PageFacts {
    fn gather(page: &Page) -> Self {
        let mut facts = Self::default();
        for block in &page.blocks {
            if block.role == Role::Footnote
                && let Some(mark) = inlines_of(block).and_then(footnote_mark)
            {
                facts.footnotes.insert(mark.to_owned());
            }
            facts.underline_counts |= strikes_out(block);
        }
        facts
    }
}

/// The text of a block that is one run of text.
fn inlines_of(block: &Block) -> Option<&Inlines> {
    match &block.kind {
        BlockKind::Heading { text, .. }
        | BlockKind::Paragraph { text }
        | BlockKind::ListItem { text, .. }
        | BlockKind::Quote { text } => Some(text),
        _ => None,
    }
}

/// The raised number or sign that a footnote begins with.
fn footnote_mark(text: &Inlines) -> Option<&str> {
    let first = text.0.first()?;
    let mark = first.text.trim();
    (first.style.superscript && !mark.is_empty() && mark.len() <= 8).then_some(mark)
}

fn strikes_out(block: &Block) -> bool {
    let any = |text: &Inlines| text.0.iter().any(|span| span.style.struck);
    match &block.kind {
        BlockKind::Table { table } => table.cells.iter().any(|cell| any(&cell.text)),
        _ => inlines_of(block).is_some_and(any),
    }
}
