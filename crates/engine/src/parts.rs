//! What earlier stages have made, for the stages behind a join: read from the store page by page, so that a join of a
//! million parts needs no memory.

use crate::context::StepContext;
use bindery_core::{
    ItemId, Name, StepError,
    item::{Item, ItemKind},
    outcome::{Outcome, OutcomeStatus},
};
use bindery_store::{
    pages::{ItemPages, OutcomePages, PAGE},
    query::{ItemCounts, ItemFilter, OutcomePage},
};
use std::{collections::HashMap, iter::Peekable, vec::IntoIter};

impl StepContext {
    /// How many items the submission has.
    pub fn item_counts(&self) -> Result<ItemCounts, StepError> {
        let id = self.submission()?.id;
        self.wait(self.store()?.item_counts(id))
    }

    /// The submission's items of a kind, in the order of their ids.
    pub fn each_item(&self, kind: ItemKind) -> Result<Items<'_>, StepError> {
        let filter = ItemFilter { kind: Some(kind), ..ItemFilter::default() };
        let pages = ItemPages::new(&**self.store()?, self.submission()?.id, filter);
        Ok(Items { context: self, pages, read: Vec::new().into_iter() })
    }

    /// The current results of a stage, or those with a status, in the order of its items.
    pub fn each_outcome(&self, stage: &Name, status: Option<OutcomeStatus>) -> Result<Outcomes<'_>, StepError> {
        let pages = OutcomePages::new(&**self.store()?, self.submission()?.id, stage, status);
        Ok(Outcomes { context: self, pages, read: Vec::new().into_iter() })
    }

    /// The items of a kind, each with what some stages have found about it: a list of outcomes for each stage. In the
    /// order of the items' ids.
    pub fn each_part(&self, kind: ItemKind, stages: &[Name]) -> Result<Parts<'_>, StepError> {
        let outcomes = stages.iter().map(|stage| Ok(self.each_outcome(stage, None)?.peekable()));
        Ok(Parts { items: self.each_item(kind)?, outcomes: outcomes.collect::<Result<_, StepError>>()? })
    }

    /// The received file that an item is, or was taken from.
    pub fn file_of(&self, item: &Item) -> Result<Option<Item>, StepError> {
        let mut at = item.clone();
        while at.kind != ItemKind::File {
            let Some(parent) = at.parent else { return Ok(None) };
            let Some(parent) = self.wait(self.store()?.item(at.submission, parent))? else { return Ok(None) };
            at = parent;
        }
        Ok(Some(at))
    }

    /// Hands over the items of a kind that were made of one item, or all of the submission's, each with what some stages
    /// have found about it: a list of outcomes for each stage. In the order of the items' ids.
    pub fn visit_parts(
        &self,
        parent: Option<ItemId>,
        kind: ItemKind,
        stages: &[Name],
        mut visit: impl FnMut(&Item, &[Vec<Outcome>]) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        let filter = ItemFilter { kind: Some(kind), parent, ..ItemFilter::default() };
        let mut pages = ItemPages::new(&**self.store()?, self.submission()?.id, filter);
        loop {
            let items = self.wait(pages.next())?;
            if items.is_empty() {
                return Ok(());
            }
            let mut found: HashMap<ItemId, Vec<Vec<Outcome>>> = HashMap::new();
            for (place, stage) in stages.iter().enumerate() {
                for outcome in self.outcomes_of_items(&items, stage)? {
                    let Some(item) = outcome.item else { continue };
                    found.entry(item).or_insert_with(|| vec![Vec::new(); stages.len()])[place].push(outcome);
                }
            }
            for item in &items {
                visit(item, &found.remove(&item.id).unwrap_or_else(|| vec![Vec::new(); stages.len()]))?;
            }
        }
    }

    /// What a stage has found about some items: one page of them has at most a few outcomes each.
    fn outcomes_of_items(&self, items: &[Item], stage: &Name) -> Result<Vec<Outcome>, StepError> {
        let ids = items.iter().map(|item| item.id).collect();
        let mut page = OutcomePage { items: Some(ids), ..OutcomePage::first(stage.clone(), PAGE) };
        let mut found = Vec::new();
        loop {
            let read = self.wait(self.store()?.outcome_page(self.submission()?.id, page.clone()))?;
            let is_last = read.len() < PAGE;
            page.after = read.last().map(Into::into).or(page.after);
            found.extend(read);
            if is_last {
                return Ok(found);
            }
        }
    }
}

/// Items, one by one.
#[derive(Debug)]
pub struct Items<'c> {
    context: &'c StepContext,
    pages: ItemPages<'c>,
    read: IntoIter<Item>,
}

impl Iterator for Items<'_> {
    type Item = Result<Item, StepError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.read.len() == 0 {
            match self.context.wait(self.pages.next()) {
                Ok(page) => self.read = page.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
        self.read.next().map(Ok)
    }
}

/// Outcomes, one by one.
#[derive(Debug)]
pub struct Outcomes<'c> {
    context: &'c StepContext,
    pages: OutcomePages<'c>,
    read: IntoIter<Outcome>,
}

impl Iterator for Outcomes<'_> {
    type Item = Result<Outcome, StepError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.read.len() == 0 {
            match self.context.wait(self.pages.next()) {
                Ok(page) => self.read = page.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
        self.read.next().map(Ok)
    }
}

/// A merge of items and their outcomes, all in the order of ids.
#[derive(Debug)]
pub struct Parts<'c> {
    items: Items<'c>,
    outcomes: Vec<Peekable<Outcomes<'c>>>,
}

impl Iterator for Parts<'_> {
    type Item = Result<(Item, Vec<Vec<Outcome>>), StepError>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = match self.items.next()? {
            Ok(item) => item,
            Err(error) => return Some(Err(error)),
        };
        let found = self.outcomes.iter_mut().map(|outcomes| outcomes_of(&item, outcomes)).collect::<Result<_, _>>();
        Some(found.map(|found| (item, found)))
    }
}

/// Those of the item; what comes before them is of items of another kind, or of the submission as a whole.
fn outcomes_of(item: &Item, outcomes: &mut Peekable<Outcomes<'_>>) -> Result<Vec<Outcome>, StepError> {
    let mut own = Vec::new();
    let up_to_it = |next: &Result<Outcome, StepError>| next.as_ref().map_or(true, |next| next.item <= Some(item.id));
    while let Some(next) = outcomes.next_if(up_to_it) {
        own.extend(Some(next?).filter(|outcome| outcome.item == Some(item.id)));
    }
    Ok(own)
}
