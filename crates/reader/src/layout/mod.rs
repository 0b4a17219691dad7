//! From what a page shows to what a person reads: words, lines, columns, paragraphs, headings, lists and tables.
//!
//! ```text
//!  PageContent ──words──► Frame (one per direction) ──lines──► segments ──order──► columns ──paragraphs──► Block
//! ```

mod accents;
mod arabic;
mod asides;
mod characters;
mod code;
pub mod content;
mod decoration;
mod drop_caps;
mod formulas;
mod headings;
mod hyphens;
mod inlines;
mod lines;
mod lists;
mod margins;
mod order;
mod page;
mod page_numbers;
mod paragraphs;
mod repeated;
mod segments;
mod single_page;
mod sizes;
mod spacing;
pub mod tables;
mod turned;
mod words;

pub use content::{Fill, FontFacts, Glyph, GlyphFlags, Link, PageContent, Rule};
pub use page::{Laid, layout};
pub use repeated::{Repeated, RepeatedOnPage};
pub(crate) use segments::{Segment, reading_order};
