//! What people have decided about the same content.

use crate::{
    decision::{correction, signed},
    engine::Engine,
    error::EngineResult,
    processor::Extracted,
};
use bindery_core::{
    ContentHash, ItemId, Name, Payload, SubmissionId,
    review::{Decision, Review, ReviewStatus},
};
use bindery_store::query::ReviewFilter;
use serde_json::Value;

/// What an earlier decision makes of a result.
#[derive(Debug)]
pub(crate) enum Earlier {
    /// It stands: this is the result.
    Stands { review: Review, extracted: Box<Extracted> },
    /// It was rejected, for this reason.
    Rejected { review: Review, reason: String },
    /// It does not fit what is found now, and why.
    DoesNotFit { why: String },
}

impl Engine {
    /// The newest decision about a content, of whichever submission of its owner.
    pub(crate) async fn decision_about(&self, subject: ContentHash) -> EngineResult<Option<Review>> {
        let statuses = vec![ReviewStatus::Completed];
        let about = ReviewFilter { subject: Some(subject), statuses, ..ReviewFilter::default() };
        let decided = self.store().reviews(about).await?.into_iter();
        let decided = decided.filter(|review| !matches!(review.decision, None | Some(Decision::Superseded)));
        Ok(decided.max_by_key(|review| (review.completed_at, review.id)))
    }

    /// What the newest decision about the same content makes of a result that was found anew.
    pub(crate) async fn earlier_decision(
        &self,
        subject: ContentHash,
        processor: &Name,
        output: &Payload,
        (submission, item): (SubmissionId, Option<ItemId>),
    ) -> EngineResult<Option<Earlier>> {
        let Some(review) = self.decision_about(subject).await? else { return Ok(None) };
        let Some(decision) = review.decision.clone() else { return Ok(None) };
        let by = review.assigned_to.clone();
        let at = review.completed_at.unwrap_or(review.created_at);
        let correction = correction(&decision, by.as_deref(), at);
        match &decision {
            Decision::Rejected { .. } if review.submission == submission && review.item == item => Ok(None),
            Decision::Rejected { reason } => {
                let reason = reason.clone();
                Ok(Some(Earlier::Rejected { review, reason }))
            }
            // What was accepted is what was found then.
            Decision::Accepted if review.input != *output => Ok(None),
            Decision::Accepted | Decision::Corrected { .. } => {
                let found: Value = self.read_payload(output).await?;
                Ok(Some(match self.corrected(processor, found, &correction) {
                    Ok(mut extracted) => {
                        extracted.output = signed(extracted.output, &decision, &correction);
                        Earlier::Stands { review, extracted: Box::new(extracted) }
                    }
                    Err(error) => Earlier::DoesNotFit {
                        why: format!(
                            "what {} has corrected before does not fit any more: {error}",
                            correction.source()
                        ),
                    },
                }))
            }
            Decision::Superseded => Ok(None),
        }
    }

    /// Other open questions about the same content are answered by the same decision. What they were asked because of
    /// must be the same where it was accepted. One that somebody else has in hand stays theirs.
    pub(crate) async fn decide_same_content(&self, decided: &Review, by: Option<&str>, decision: &Decision) {
        let Some(subject) = decided.subject else { return };
        let statuses = ReviewStatus::OPEN.to_vec();
        let about = ReviewFilter { subject: Some(subject), statuses, ..ReviewFilter::default() };
        let Ok(others) = self.store().reviews(about).await else { return };
        for other in others.into_iter().filter(|other| other.id != decided.id) {
            if *decision == Decision::Accepted && other.input != decided.input {
                continue;
            }
            if let Err(error) = self.decide_one(other.id, by, decision).await {
                tracing::info!(review = %other.id, %error, "the same question elsewhere stays open");
            }
        }
    }
}
