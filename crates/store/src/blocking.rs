//! Where work that waits for a disk runs.
//!
//! A thread of the async runtime must not wait, so such work goes to one that may. A thread that has nothing else to do
//! than to wait for the answer does the work itself: handing it over and back would cost more than most answers.

use std::cell::Cell;

thread_local! {
    static MAY_BLOCK: Cell<bool> = const { Cell::new(false) };
}

/// Says that this thread may wait: it is not one of the async runtime.
pub fn allow_blocking_on_this_thread() {
    MAY_BLOCK.set(true);
}

/// The runtime ended before the work was done.
pub(crate) struct Cancelled;

/// Runs `work` where it may wait. A panic in it is this caller's.
pub(crate) async fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Cancelled> {
    if MAY_BLOCK.get() {
        return Ok(work());
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => Ok(result),
        Err(failure) => match failure.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_cancelled) => Err(Cancelled),
        },
    }
}
