//! A page on its way: where it is, what it says, what it is of.

use crate::stage::fields_of;
use bindery_core::{ContentHash, StepError, item::ItemKind};
use bindery_engine::{Child, Children, context::StepContext};
use bindery_fields::classify::PageClass;
use bindery_reader::{
    Page,
    model::{PageKind, ReadBy},
};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// A page that is to be read: its number in a file, and where the bytes of that file are.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PageOfFile {
    /// From 1.
    pub(crate) page: NonZeroUsize,
    pub(crate) content: ContentHash,
    pub(crate) name: Option<String>,
}

impl PageOfFile {
    /// From 0.
    pub(crate) fn index(&self) -> usize {
        self.page.get() - 1
    }
}

/// A page that was read: what people ask first, and where the whole of it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PageText {
    pub(crate) page: usize,
    pub(crate) kind: PageKind,
    pub(crate) read_by: ReadBy,
    pub(crate) reason: String,
    pub(crate) confidence: Option<f32>,
    pub(crate) words: usize,
    pub(crate) warnings: Vec<String>,
    pub(crate) content: ContentHash,
    pub(crate) markdown: Option<String>,
}

/// Which type of document a page is from: as it was found, and as it counts, because a person may have said otherwise.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ClassifiedPage {
    pub(crate) content: ContentHash,
    pub(crate) doc_type: String,
    pub(crate) class: PageClass,
}

/// The pages that a file is taken apart into, each with its number from 1.
pub(crate) fn page_children<T: Serialize>(
    count: usize,
    make: impl Fn(NonZeroUsize) -> T + Send + Sync + 'static,
) -> Children {
    Children::generate(ItemKind::Page, count, move |index| {
        let page = NonZeroUsize::MIN.saturating_add(index);
        Child { label: Some(format!("page {page}")), data: fields_of(&make(page)), ..Child::default() }
    })
}

/// Reads back a page that was kept.
pub(crate) fn stored_page(context: &StepContext, content: ContentHash) -> Result<Page, StepError> {
    serde_json::from_slice(&context.blob(content)?)
        .map_err(|error| StepError::bug(format!("a stored page cannot be understood: {error}")))
}
