//! Retention: what is deleted, when, and what must stay.
//!
//! [`Retention`] is what a backend does for it: legal holds, deleting submissions with everything that is stored of them,
//! deleting parts of them that have expired, and finding out which blobs nothing names any more. When that happens is decided
//! by the engine and by people; [`OWNERS`] says for every table of the store
//! who deletes its rows, and a [domain](crate::rows::Schema::owners) for its own.
//!
//! **Deleting a submission** takes its rows, its events and its texts in the search index. A small one goes in one
//! transaction, together with the event that reports it; a large one in several, marked from the first on, so that a deletion
//! that was interrupted is taken up again. Blobs are only named *candidates* then: others may name the same bytes.
//!
//! **Which blobs are in use.** A blob can be named in three places: in a column, inside the JSON text of a row, or inside a
//! payload that was too long for its row and is a blob itself. [`Retention::mark_blobs`] looks at the first two, conservatively:
//! any 64 hexadecimal digits count. Payloads are read by whoever has the blob store at hand, once, and what they name is cached.
//! How that becomes a sweep that is safe beside running work is described in the engine's `retention` module.

mod marking;
mod owners;
pub(crate) mod statements;
mod types;

pub use marking::{Candidates, Marked, mentions};
pub use owners::{OWNERS, Owner};
pub use types::{
    Deleted, Deletion, EventAge, Expiry, Extent, Hold, Reason, Reclaimed, Refusal, Retained, RetentionFilter,
};

pub(crate) use marking::{Marking, write_mentions};
pub(crate) use owners::{BLOB_COLUMNS, PAYLOAD_COLUMNS};
pub(crate) use types::PARTS;

use crate::{error::StoreResult, store::Store};
use async_trait::async_trait;
use bindery_core::{ContentHash, Name, SubmissionId, Timestamp};
use std::{collections::HashMap, sync::Arc, time::Duration};

/// Deleting what is stored, and keeping what must not be deleted. Each call is one durable transaction.
#[async_trait]
pub trait Retention: Send + Sync {
    /// Places submissions on legal hold: they are neither deleted nor do parts of them expire. A new reason replaces the old
    /// one. Returns those that were not on hold before; an unknown one, or one whose deletion has begun, is an error.
    async fn hold(&self, submissions: Vec<SubmissionId>, reason: &str) -> StoreResult<Vec<SubmissionId>>;

    /// Takes submissions off hold. Returns those that were on hold.
    async fn release_hold(&self, submissions: Vec<SubmissionId>) -> StoreResult<Vec<SubmissionId>>;

    /// All holds, by submission.
    async fn holds(&self) -> StoreResult<Vec<Hold>>;

    /// Submissions with what counts for their retention, by their ids.
    async fn list_retained(&self, filter: RetentionFilter) -> StoreResult<Vec<Retained>>;

    /// How much is stored of submissions. Changes nothing.
    async fn extent(&self, submissions: Vec<SubmissionId>) -> StoreResult<Extent>;

    /// Deletes submissions that are final and not on hold, with everything that is stored of them, and writes
    /// `SubmissionDeleted` in the transaction that takes the last row. At most about `max_rows` rows go: call it again for
    /// those that are [`Deleted::Partly`]. The results are in the order of the submissions.
    async fn delete_submissions(
        &self,
        submissions: Vec<SubmissionId>,
        because: Reason,
        max_rows: usize,
    ) -> StoreResult<Vec<Deletion>>;

    /// Deletes parts of submissions, as [`delete_submissions`](Self::delete_submissions) does with all of it.
    async fn expire(
        &self,
        submissions: Vec<SubmissionId>,
        expiry: Expiry,
        max_rows: usize,
    ) -> StoreResult<Vec<Deletion>>;

    /// Deletes events that every consumer has passed, at most `limit`. Returns how many went. The newest event stays: the
    /// next position is counted from it.
    async fn delete_events(&self, age: EventAge, limit: usize) -> StoreResult<u64>;

    /// Deletes the rows of workers that were last seen before this time. Returns how many went.
    async fn delete_workers(&self, before: Timestamp) -> StoreResult<u64>;

    /// Deletes the dead letters of a queue that were made before this time. Returns how many went. Nothing remembers them
    /// then: the same work is done again when it is enqueued again.
    async fn delete_dead_letters(&self, queue: &Name, before: Timestamp) -> StoreResult<u64>;

    /// Whether a sweep of this name is due. Of all who ask, one is told so, and it is due again after `every`.
    async fn claim_sweep(&self, name: &Name, every: Duration) -> StoreResult<bool>;

    /// Blobs that deleted rows have named, the oldest first; with a time, only those whose rows went before it.
    async fn blob_candidates(&self, before: Option<Timestamp>, limit: usize) -> StoreResult<Candidates>;

    /// What a payload named that goes itself.
    async fn add_candidates(&self, candidates: Candidates) -> StoreResult<()>;

    /// These are no candidates any more: they are gone, or in use.
    async fn settle_candidates(&self, hashes: Vec<ContentHash>) -> StoreResult<()>;

    /// Which of the blobs rows name, as of one moment that is not before this call.
    async fn mark_blobs(&self, candidates: Arc<Candidates>) -> StoreResult<Marked>;

    /// Keeps what payloads name, so that they are read once; of blobs that are gone, forgets it.
    async fn cache_mentions(
        &self,
        read: HashMap<ContentHash, Vec<ContentHash>>,
        gone: Vec<ContentHash>,
    ) -> StoreResult<()>;

    /// Whether nobody but this handle uses the store at this moment: no other process has it open, no job is running, and no
    /// worker has sent a heartbeat lately.
    async fn is_used_alone(&self) -> StoreResult<bool>;

    /// Gives the space of deleted rows back to the system, and takes deleted content out of what is left behind of it (free
    /// pages, the write-ahead log), as far as others who use the store allow. `whole` rewrites all of it, which stops others
    /// while it takes place.
    async fn reclaim(&self, whole: bool) -> StoreResult<Reclaimed>;
}

/// How many events go in one transaction.
const EVENTS_AT_ONCE: usize = 5_000;

/// Deletes old events in portions. Returns how many went.
pub async fn delete_events(store: &dyn Store, age: EventAge) -> StoreResult<u64> {
    let mut total = 0;
    loop {
        let gone = store.delete_events(age.clone(), EVENTS_AT_ONCE).await?;
        total += gone;
        if gone < EVENTS_AT_ONCE as u64 {
            return Ok(total);
        }
    }
}
