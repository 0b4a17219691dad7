//! Exit codes. Scripts depend on these numbers: they are part of the interface and described in docs/cli.md.

use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok = 0,
    /// Something that should not happen, or does not happen as it was recorded.
    Unexpected = 1,
    /// Wrong flags, or input that cannot be used.
    Usage = 2,
    /// Some of what was asked for was done, and some could not be.
    Partial = 3,
    /// The submission failed or was cancelled, the run failed, a state failed, or a file or page could not be read.
    SubmissionFailed = 10,
    /// The submission waits for a person.
    WaitingForReview = 11,
    /// The submission waits for something else: parked, paused, or a program outside.
    Waiting = 12,
    /// The store cannot be used.
    StoreUnavailable = 20,
    /// Stopped by Ctrl-C or SIGTERM before the end.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_depend_on_these_numbers() {
        let all = [
            Exit::Ok,
            Exit::Unexpected,
            Exit::Usage,
            Exit::Partial,
            Exit::SubmissionFailed,
            Exit::WaitingForReview,
            Exit::Waiting,
            Exit::StoreUnavailable,
            Exit::Interrupted,
        ];
        assert_eq!(all.map(|exit| exit as u8), [0, 1, 2, 3, 10, 11, 12, 20, 130]);
    }
}
