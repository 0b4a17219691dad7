//! Trying again while the store is in trouble: a full disk, a locked file or a server that is away passes.

use bindery_core::Backoff;
use bindery_store::{Commit, CommitResult, Store, StoreError, StoreResult};
use std::time::{Duration, Instant};

/// The back-off of every loop that waits for a store in trouble.
pub(crate) const STORE_BACKOFF: Backoff = Backoff::doubling(Duration::from_millis(200), Duration::from_millis(6_400));

/// Commits, and tries again for as long as `patience` where that may help: a batch may be sent twice without harm. Each
/// answer is shown to `observe`, with the time that it took.
pub(crate) async fn commit_with_retry(
    store: &dyn Store,
    commits: &[Commit],
    patience: Duration,
    observe: impl Fn(&StoreResult<Vec<CommitResult>>, Duration),
) -> StoreResult<Vec<CommitResult>> {
    let begun = Instant::now();
    let mut tries = STORE_BACKOFF.retries();
    loop {
        let asked = Instant::now();
        let answer = store.commit(commits.to_vec()).await;
        observe(&answer, asked.elapsed());
        match answer {
            Err(StoreError::Closed) => return Err(StoreError::Closed),
            Err(error) if error.is_transient() && begun.elapsed() < patience => {
                let wait = tries.next_delay();
                tracing::debug!(%error, wait_ms = wait.as_millis(), "a commit failed; trying again");
                tokio::time::sleep(wait).await;
            }
            other => return other,
        }
    }
}
