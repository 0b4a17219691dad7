//! Deleting submissions, and what people have besides, in portions.

use crate::error::EngineResult;
use bindery_core::SubmissionId;
use bindery_store::{
    Store,
    executions::DeletedExecutions,
    retention::{Deleted, Deletion, Expiry, Reason, Refusal},
};

/// How many rows, and how many submissions, go in one transaction. Others wait no longer than such a one takes.
const ROWS: usize = 2_000;
const SUBMISSIONS: usize = 50;

/// How many executions, or indexed documents, go in one transaction.
const AT_ONCE: usize = 50;

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

/// Deletes executions in portions. Returns how many went.
pub async fn delete_executions(store: &dyn Store, which: DeletedExecutions, because: Reason) -> EngineResult<u64> {
    let mut total = 0;
    loop {
        let gone = store.delete_executions(which.clone(), because, AT_ONCE).await?;
        if gone == 0 {
            return Ok(total);
        }
        total += gone;
    }
}

/// What went of a person besides submissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnedDeletions {
    pub executions: u64,
    /// Documents of the search index, and rows of domains.
    pub rows: u64,
}

/// Deletes what a person has besides submissions: executions, also those under way, texts in the search index, and what
/// domains keep.
pub async fn delete_owned(store: &dyn Store, owner: &str) -> EngineResult<OwnedDeletions> {
    let hers = DeletedExecutions::OwnedBy(owner.to_owned());
    let executions = delete_executions(store, hers, Reason::Asked).await?;
    let mut rows = 0;
    loop {
        let gone = store.remove_documents_of(owner, AT_ONCE).await?;
        if gone == 0 {
            break;
        }
        rows += gone;
    }
    for domain in store.domains() {
        rows += domain.delete_owner(store, owner).await?;
    }
    Ok(OwnedDeletions { executions, rows })
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
