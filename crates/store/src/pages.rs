//! Cursors over long lists: what a submission has of items, outcomes, joins and reviews, a page at a time, so that a million of them need
//! no memory.
//!
//! Each page is a snapshot of its own. A row that is there all the while is read exactly once.

use crate::{
    error::StoreResult,
    query::{ItemFilter, JoinFilter, OutcomePage, ReviewFilter},
    store::Store,
};
use bindery_core::{
    Name, ReviewId, SubmissionId, item::Item, join::Join, outcome::Outcome, outcome::OutcomeStatus, review::Review,
};

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

/// A cursor over joins, in the order of their ids.
#[derive(Debug)]
pub struct JoinPages<'s> {
    store: &'s dyn Store,
    submission: SubmissionId,
    filter: JoinFilter,
    ended: bool,
}

impl<'s> JoinPages<'s> {
    /// A filter's own limit is not looked at.
    pub fn new(store: &'s dyn Store, submission: SubmissionId, filter: JoinFilter) -> Self {
        Self { store, submission, filter: JoinFilter { limit: Some(PAGE), ..filter }, ended: false }
    }

    /// The next page; an empty one is the end.
    pub async fn next(&mut self) -> StoreResult<Vec<Join>> {
        if self.ended {
            return Ok(Vec::new());
        }
        let page = self.store.joins(self.submission, self.filter.clone()).await?;
        self.ended = page.len() < PAGE;
        self.filter.after = page.last().map(|join| join.id).or(self.filter.after);
        Ok(page)
    }
}

/// A cursor over reviews, the oldest first.
#[derive(Debug)]
pub struct ReviewPages<'s> {
    store: &'s dyn Store,
    filter: ReviewFilter,
    ended: bool,
}

impl<'s> ReviewPages<'s> {
    /// A filter's own limit is not looked at.
    pub fn new(store: &'s dyn Store, filter: ReviewFilter) -> Self {
        let after = Some(filter.after.unwrap_or(ReviewId::from_raw(0)));
        Self { store, filter: ReviewFilter { after, limit: Some(PAGE), ..filter }, ended: false }
    }

    /// The next page; an empty one is the end.
    pub async fn next(&mut self) -> StoreResult<Vec<Review>> {
        if self.ended {
            return Ok(Vec::new());
        }
        let page = self.store.reviews(self.filter.clone()).await?;
        self.ended = page.len() < PAGE;
        self.filter.after = page.last().map(|review| review.id).or(self.filter.after);
        Ok(page)
    }
}
