//! Reviews that a later stage requests about an item whose own stage is done.
//!
//! Some doubts show only when all results are there: two documents of a submission that are the same invoice. The stage
//! that sees it opens a review of the item's last result. The chain has gone on by then, so a decision starts it again
//! behind that result, as with `on_review: continue`.

use crate::{
    catalog::SubmissionInfo,
    chain::Next,
    decision::work_on,
    engine::Engine,
    error::{EngineError, EngineResult},
    settle::Settler,
};
use bindery_core::{ItemId, JobId, event::kind, job::Token, review::ReviewStatus};
use bindery_store::{Commit, CommitResult, Guard, JobEnd, query::ReviewFilter};

impl Engine {
    /// Opens a review of an item's last result while the job's claim is held. False where nobody is asked: a review of
    /// the item is open already, its stage has no `backoffice_queue`, or there is no single result to decide about.
    ///
    /// Only the holder of the claim writes, and what it wrote before is seen, so an attempt that runs again asks once.
    pub(crate) async fn request_review(
        &self,
        info: &SubmissionInfo,
        (job, token): (JobId, Token),
        item: ItemId,
        reasons: Vec<String>,
    ) -> EngineResult<bool> {
        let statuses = ReviewStatus::OPEN.to_vec();
        let (submission, item_id) = (Some(info.id), Some(item));
        let open = ReviewFilter { submission, item: item_id, statuses, limit: Some(1), ..ReviewFilter::default() };
        if !self.store().reviews(open).await?.is_empty() {
            return Ok(false);
        }
        let Some(item) = self.store().item(info.id, item).await? else {
            return Err(EngineError::NotFound(format!("{item} in {}", info.id)));
        };
        let (index, outcome) = match self.last_result(info, &item).await {
            Ok(last) => last,
            // There is no single result that a person could decide about.
            Err(EngineError::Invalid(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        let queue = info.workflow.stages[index].backoffice_queue.clone();
        let Some(queue) = queue.filter(|_| info.workflow.taken_apart_after(index).is_none()) else { return Ok(false) };
        let work = work_on(self, info, &item, index, &outcome).await?;
        let settler = Settler { engine: self, info };
        let subject = outcome.reuse.as_ref().and_then(|reuse| reuse.subject);
        let mut review = settler.new_review(&work, queue, reasons, outcome.output).await?;
        review.subject = subject;
        review.goes_on = true;
        let mut next = Next::new(self, info);
        next.event(kind::REVIEW_REQUESTED, work.item, &Settler::request_event(&review));
        next.changes.reviews.push(review);
        let guard = Guard::Claim { job, token, end: JobEnd::Hold { has_advanced: false } };
        match self.store().commit(vec![Commit { guard, changes: next.into_changes() }]).await?.pop() {
            Some(CommitResult::Applied { .. }) => Ok(true),
            other => Err(EngineError::Invalid(format!("the review of {} was not stored: {other:?}", item.id))),
        }
    }
}
