//! Cursors over long lists: what a submission has of items and outcomes, a page at a time, so that a million of them need
//! no memory.
//!
//! Each page is a snapshot of its own. A row that is there all the while is read exactly once.

use crate::{
    error::StoreResult,
    query::{ItemFilter, OutcomePage},
    store::Store,
};
use bindery_core::{Name, SubmissionId, item::Item, outcome::Outcome, outcome::OutcomeStatus};

/// How many rows are read at a time.
pub const PAGE: usize = 500;

/// A cursor over items, in the order of their ids.
#[derive(Debug)]
pub struct ItemPages<'s> {
    store: &'s dyn Store,
    submission: SubmissionId,
    filter: ItemFilter,
    ended: bool,
}

impl<'s> ItemPages<'s> {
    /// A filter's own limit is not looked at.
    pub fn new(store: &'s dyn Store, submission: SubmissionId, filter: ItemFilter) -> Self {
        Self { store, submission, filter: ItemFilter { limit: Some(PAGE), ..filter }, ended: false }
    }

    /// The next page; an empty one is the end.
    pub async fn next(&mut self) -> StoreResult<Vec<Item>> {
        if self.ended {
            return Ok(Vec::new());
        }
        let page = self.store.items(self.submission, self.filter.clone()).await?;
        self.ended = page.len() < PAGE;
        self.filter.after = page.last().map(|item| item.id).or(self.filter.after);
        Ok(page)
    }
}

/// A cursor over the outcomes of a stage, in the order of their items and processors.
#[derive(Debug)]
pub struct OutcomePages<'s> {
    store: &'s dyn Store,
    submission: SubmissionId,
    page: OutcomePage,
    ended: bool,
}

impl<'s> OutcomePages<'s> {
    /// Those with a status; none: all.
    pub fn new(store: &'s dyn Store, submission: SubmissionId, stage: &Name, status: Option<OutcomeStatus>) -> Self {
        let page = OutcomePage { status, ..OutcomePage::first(stage.clone(), PAGE) };
        Self { store, submission, page, ended: false }
    }

    /// The next page; an empty one is the end.
    pub async fn next(&mut self) -> StoreResult<Vec<Outcome>> {
        if self.ended {
            return Ok(Vec::new());
        }
        let page = self.store.outcome_page(self.submission, self.page.clone()).await?;
        self.ended = page.len() < PAGE;
        if let Some(last) = page.last() {
            self.page.after = Some(last.into());
        }
        Ok(page)
    }
}
