//! Deleting submissions, in portions.

use crate::error::EngineResult;
use bindery_core::SubmissionId;
use bindery_store::{
    Store,
    retention::{Deleted, Deletion, Expiry, Reason, Refusal},
};

/// How many rows, and how many submissions, go in one transaction. Others wait no longer than such a one takes.
const ROWS: usize = 2_000;
const SUBMISSIONS: usize = 50;

/// What has been deleted so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Deletions {
    pub submissions: u64,
    pub rows: u64,
    pub refused: Vec<(SubmissionId, Refusal)>,
}

impl Deletions {
    /// Those that are not done yet.
    fn count(&mut self, deletions: Vec<Deletion>) -> Vec<SubmissionId> {
        let mut left = Vec::new();
        for Deletion { submission, deleted } in deletions {
            match deleted {
                Deleted::Whole { rows } => {
                    self.submissions += 1;
                    self.rows += rows;
                }
                Deleted::Partly { rows } => {
                    self.rows += rows;
                    left.push(submission);
                }
                Deleted::Refused(refusal) => self.refused.push((submission, refusal)),
            }
        }
        left
    }
}

/// Deletes submissions with everything that is stored of them; `progress` is told after each portion. What is refused is
/// reported, and the rest goes all the same. Interrupted, it leaves whole submissions and at most one that is marked: the next
/// sweep takes that up.
pub async fn delete(
    store: &dyn Store,
    submissions: Vec<SubmissionId>,
    because: Reason,
    mut progress: impl FnMut(&Deletions) + Send,
) -> EngineResult<Deletions> {
    let mut done = Deletions::default();
    let mut left = submissions;
    while !left.is_empty() {
        let rest = left.split_off(left.len().min(SUBMISSIONS));
        left = done.count(store.delete_submissions(left, because, ROWS).await?);
        left.extend(rest);
        progress(&done);
    }
    Ok(done)
}

/// Deletes parts of submissions in the same way.
pub(super) async fn expire(
    store: &dyn Store,
    submissions: Vec<SubmissionId>,
    expiry: &Expiry,
) -> EngineResult<Deletions> {
    let mut done = Deletions::default();
    let mut left = submissions;
    while !left.is_empty() {
        let rest = left.split_off(left.len().min(SUBMISSIONS));
        left = done.count(store.expire(left, expiry.clone(), ROWS).await?);
        left.extend(rest);
    }
    Ok(done)
}
