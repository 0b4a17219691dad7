//! Tries within one call: which failures are tried again, and after how long.

use super::{
    config::Retry,
    failure::{Failed, Verdict},
};
use bindery_core::error::Disposition;
use bindery_engine::context::StepContext;
use bindery_http::timer;
use std::time::Duration;

/// How long to wait before the next try; `None` when this failure is for the engine.
///
/// Only a transient fault of the other side is tried again, and only if the wait ends before the deadline. When the
/// other side asks for a longer wait than the longest one configured, the engine waits instead: it does so without
/// holding a thread.
pub(super) fn wait_before_next(retry: &Retry, tries: u32, failed: &Failed, left: Option<Duration>) -> Option<Duration> {
    let Disposition::Retry { after } = failed.error.disposition else { return None };
    if failed.verdict != Verdict::Broken
        || tries >= retry.max_attempts
        || after.is_some_and(|after| after > retry.backoff.max)
    {
        return None;
    }
    let wait = retry.backoff.random_delay(tries).max(after.unwrap_or_default());
    left.is_none_or(|left| wait < left).then_some(wait)
}

/// Waits; false when the work was cancelled meanwhile.
pub fn pause(context: &StepContext, wait: Duration) -> bool {
    timer::pause(wait, &|| context.is_cancelled())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_core::StepError;
    use bindery_engine::workflow::Backoff;

    const RETRY: Retry = Retry {
        max_attempts: 3,
        backoff: Backoff { initial: Duration::from_secs(1), factor: 2.0, max: Duration::from_secs(10), jitter: 0.0 },
    };

    fn wait(tries: u32, error: StepError, left: Option<u64>) -> Option<u64> {
        let left = left.map(Duration::from_secs);
        wait_before_next(&RETRY, tries, &Failed::of_service(error), left).map(|wait| wait.as_secs())
    }

    #[test]
    fn transient_faults_are_tried_again_until_the_attempts_are_used_up() {
        assert_eq!(wait(1, StepError::retry("busy"), None), Some(1));
        assert_eq!(wait(2, StepError::retry("busy"), None), Some(2));
        assert_eq!(wait(3, StepError::retry("busy"), None), None);
        assert_eq!(wait(1, StepError::reject("bad"), None), None);
        assert_eq!(wait(1, StepError::bug("nonsense"), None), None);
        let not_theirs = Failed::of_client(StepError::retry("cancelled"));
        assert_eq!(wait_before_next(&RETRY, 1, &not_theirs, None), None);
    }

    #[test]
    fn no_wait_passes_the_deadline() {
        assert_eq!(wait(1, StepError::retry("busy"), Some(2)), Some(1));
        assert_eq!(wait(1, StepError::retry("busy"), Some(1)), None);
        assert_eq!(wait(1, StepError::retry("busy"), Some(0)), None);
    }

    #[test]
    fn the_other_side_may_ask_for_a_longer_wait_within_reason() {
        let after = |seconds| StepError::retry_after(Duration::from_secs(seconds), "busy");
        assert_eq!(wait(1, after(5), None), Some(5));
        assert_eq!(wait(2, after(1), None), Some(2));
        assert_eq!(wait(1, after(11), None), None);
    }
}
