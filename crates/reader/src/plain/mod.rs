//! Plain text, and what is written in it: lines, Markdown, and tables with a sign between the cells.

pub mod delimited;
pub mod encoding;
pub mod markdown;
pub mod text;

pub(crate) mod symbols;

mod markdown_inline;
