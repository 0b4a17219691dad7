//! Pages in messages and in the results of earlier stages.

use super::message::PageMessage;
use crate::{
    borders::{data_of, said_by, stored_page},
    results::reason,
};
use bindery_core::{
    ContentHash, ItemId, Name, StepError,
    item::{Item, ItemKind},
    outcome::{Outcome, OutcomeStatus},
};
use bindery_engine::{
    context::StepContext,
    workflow::{Over, Stage, Workflow},
};
use bindery_reader::{OpenFile as _, Page, ReadOptions, model::FileType, plain};
use std::collections::HashMap;

/// A page: as our reader has stored it, or, where another program has read it, made of its text.
pub(super) fn page_of(
    context: &StepContext,
    content: Option<ContentHash>,
    text: Option<&str>,
) -> Result<Page, StepError> {
    if let Some(content) = content {
        return stored_page(context, content);
    }
    let Some(text) = text else {
        let message = "the page has no text: whoever reads it should send `ocr_text`";
        return Err(StepError::reject(message).named("NoText"));
    };
    // It is one page, whatever it says.
    let text = text.replace('\u{c}', "\n");
    let page =
        plain::text::open(text.as_bytes(), FileType::Text, &ReadOptions::default()).and_then(|file| file.page(0));
    page.map_err(|error| StepError::reject(format!("the text of the page cannot be used: {error}")).named("BadText"))
}

/// What became of a page.
#[derive(Debug)]
pub(super) struct PageResult {
    /// What was said of it when it was made.
    pub(super) data: PageMessage,
    /// Its place among all pages of the submission, from 0.
    pub(super) index: u64,
    /// Why it could not be read or classified, if it could not.
    pub(super) failed: Option<String>,
    /// Of the stages that it has passed, in their order.
    outcomes: Vec<Outcome>,
}

impl PageResult {
    /// How sure its type is.
    pub(super) fn confidence(&self) -> Option<f64> {
        self.outcomes.last().and_then(|outcome| outcome.confidence)
    }

    /// The last message about it. What that lacks, because a program outside has not sent it on, is taken from those
    /// before it.
    pub(super) fn message(self, context: &StepContext) -> Result<PageMessage, StepError> {
        let mut known = PageMessage::default();
        for outcome in self.outcomes.iter().rev() {
            known = known.or(said_by(context, outcome)?);
            if known.page_content.is_some() {
                break;
            }
        }
        Ok(known.or(self.data))
    }
}

/// The stages of a workflow that run over something, in order.
pub(super) fn stages_over(workflow: &Workflow, over: Over) -> impl DoubleEndedIterator<Item = &Stage> {
    workflow.stages.iter().filter(move |stage| stage.over == over)
}

/// The one result of a stage for an item: that of the processor which has one, if it has several.
pub(super) fn the_one_result(mut outcomes: Vec<Outcome>) -> Option<Outcome> {
    let place = outcomes.iter().position(is_done).unwrap_or(0);
    (place < outcomes.len()).then(|| outcomes.swap_remove(place))
}

/// The same for each item of a list.
pub(super) fn by_item(outcomes: Vec<Outcome>) -> HashMap<ItemId, Outcome> {
    let mut all: HashMap<ItemId, Vec<Outcome>> = HashMap::new();
    for outcome in outcomes {
        if let Some(item) = outcome.item {
            all.entry(item).or_default().push(outcome);
        }
    }
    all.into_iter().filter_map(|(item, outcomes)| Some((item, the_one_result(outcomes)?))).collect()
}

pub(super) fn is_done(outcome: &Outcome) -> bool {
    matches!(outcome.status, OutcomeStatus::Completed | OutcomeStatus::Skipped)
}

/// Whether a result is a person's: it is certain, and the message still says how sure the component was.
pub(super) fn by_a_person(confidence: Option<f64>, of_component: Option<f64>) -> bool {
    confidence == Some(1.0) && of_component.is_some_and(|sure| sure < 1.0)
}

/// The order in which the pages of a submission are numbered.
fn page_order(page: &Item) -> (Option<ItemId>, i64, ItemId) {
    (page.parent, page.ordinal, page.id)
}

/// What the stages over pages have found, page by page.
pub(super) fn page_results(context: &StepContext) -> Result<Vec<PageResult>, StepError> {
    page_results_of(context, |page| page)
}

/// The same without the messages, which are long where there are many pages.
pub(super) fn page_fates(context: &StepContext) -> Result<Vec<PageResult>, StepError> {
    page_results_of(context, |page| PageResult { outcomes: Vec::new(), ..page })
}

fn page_results_of(
    context: &StepContext,
    keep: impl Fn(PageResult) -> PageResult,
) -> Result<Vec<PageResult>, StepError> {
    let stages: Vec<Name> = stages_over(context.workflow()?, Over::Page).map(|stage| stage.name.clone()).collect();
    let mut results = Vec::new();
    for part in context.each_part(ItemKind::Page, &stages)? {
        let (item, found) = part?;
        let outcomes: Vec<Outcome> = found.into_iter().filter_map(the_one_result).collect();
        // A page may have been sent past a stage; it is here all the same.
        let failed = outcomes.iter().find(|outcome| outcome.status == OutcomeStatus::Failed).map(reason);
        let failed = failed.or_else(|| outcomes.is_empty().then(|| "was not read".to_owned()));
        let page = keep(PageResult { data: data_of(&item), index: 0, failed, outcomes });
        results.push((page_order(&item), page));
    }
    results.sort_by_key(|(order, _)| *order);
    let numbered = results.into_iter().enumerate().map(|(place, (_, page))| {
        let index = page.data.page_index.unwrap_or(place as u64);
        PageResult { index, ..page }
    });
    Ok(numbered.collect())
}
