//! Parsers side by side: each reads a whole file and gives Markdown. The workflows `parsers` and `parsers-foundry`.
//!
//! | processor | works on | does |
//! |---|---|---|
//! | `markitdown` | each file | reads it on this machine, by OCR where it has no text of its own |
//! | [`foundry()`] | each file | has it read by Azure AI Document Intelligence, with its layout |
//! | `parsing_consolidator` | the submission | which parser read which file, how far they agree, what is missing and why |
//!
//! What a parser made of a file is stored under `text-docs/FILE.PARSER.md`. A file counts as read when one of them has
//! read it.

mod compare;
mod consolidator;
mod foundry;
mod markitdown;
mod parsed;

pub use foundry::{ENDPOINT_VARIABLE, KEY_VARIABLE, foundry};

use crate::{consolidate::Consolidator, http::Environment, reading::SharedReaders, stage::erased};
use bindery_engine::Registry;
use consolidator::ParsingResult;
use markitdown::MarkItDown;
use std::sync::Arc;

/// The names under which the parsers are known, in workflows and in events.
const MARKITDOWN: &str = "markitdown";
const FOUNDRY: &str = "foundry";

pub(crate) fn register(registry: &mut Registry, readers: &Arc<SharedReaders>) {
    registry.register(erased(MarkItDown::new(Arc::clone(readers))));
    registry.register(foundry(Environment::default()));
    registry.register(erased(Consolidator(ParsingResult)));
}
