//! How a child ended, and what its input is told.

use super::vitals::Reason;
use crate::runner::{Limits, too_slow};
use bindery_core::StepError;
use std::{fmt, os::unix::process::ExitStatusExt as _, process::ExitStatus, time::Duration};

/// How the standard library ends a process whose memory has run out.
const ALLOCATION_FAILED: (&str, &str) = ("memory allocation of ", " bytes failed");

/// Why a child is not there any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cause {
    /// We killed it.
    Killed(Reason),
    /// It ended by itself, or by somebody else's hand.
    Ended(ExitStatus),
    /// It answered what nobody understands, and was killed for it.
    Garbled(String),
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Killed(Reason::Time { limit }) => write!(f, "took longer than {} s", limit.as_secs_f64()),
            Self::Killed(Reason::Memory { used, limit }) => {
                write!(f, "used {} of memory, more than its limit of {}", mebibytes(*used), mebibytes(*limit))
            }
            Self::Killed(Reason::Silent { duration }) => {
                write!(f, "was frozen: nothing was heard from it for {} s", duration.as_secs_f64())
            }
            Self::Killed(Reason::Cancelled) => f.write_str("was cancelled"),
            Self::Ended(status) => match (status.signal(), status.code()) {
                (Some(signal), _) => write!(f, "was ended by signal {signal}{}", signal_name(signal)),
                (None, Some(code)) => write!(f, "ended with exit code {code}"),
                (None, None) => f.write_str("ended"),
            },
            Self::Garbled(why) => write!(f, "answered what cannot be read: {why}"),
        }
    }
}

fn signal_name(signal: i32) -> &'static str {
    const NAMES: [(rustix::process::Signal, &str); 9] = [
        (rustix::process::Signal::ABORT, " (SIGABRT)"),
        (rustix::process::Signal::BUS, " (SIGBUS)"),
        (rustix::process::Signal::FPE, " (SIGFPE)"),
        (rustix::process::Signal::HUP, " (SIGHUP)"),
        (rustix::process::Signal::ILL, " (SIGILL)"),
        (rustix::process::Signal::INT, " (SIGINT)"),
        (rustix::process::Signal::KILL, " (SIGKILL)"),
        (rustix::process::Signal::SEGV, " (SIGSEGV)"),
        (rustix::process::Signal::TERM, " (SIGTERM)"),
    ];
    NAMES.iter().find(|(known, _)| known.as_raw() == signal).map_or("", |(_, name)| name)
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// The end of one child.
#[derive(Debug)]
pub(super) struct Death {
    pub(super) cause: Cause,
    /// Whether the input that was under way may have to do with it.
    pub(super) blames_input: bool,
    /// The last line of its standard error.
    pub(super) said: Option<String>,
    pub(super) peak_memory: Option<u64>,
}

impl Death {
    /// What the input is told that has ended as many children as it may.
    pub(super) fn error(&self, limits: Limits, times: u32) -> StepError {
        if let Some(error) = self.allocation_error(limits) {
            return error;
        }
        match &self.cause {
            Cause::Killed(Reason::Time { limit }) => too_slow(*limit),
            // Another try would need as much.
            Cause::Killed(Reason::Memory { .. }) => StepError::reject(self.cause.to_string()).named("MemoryLimit"),
            Cause::Killed(Reason::Cancelled) => cancelled(),
            cause => {
                let times = if times > 1 { format!(", {times} times in a row") } else { String::new() };
                let said = self.said.as_ref().map(|line| format!("; the last it said: {line}")).unwrap_or_default();
                let text = format!("the child process that worked on it {cause}{times}{said}");
                StepError::retry(text).named("WorkerDied")
            }
        }
    }

    /// A single allocation beyond the limit fails before a look at the memory could have seen it.
    fn allocation_error(&self, limits: Limits) -> Option<StepError> {
        let Cause::Ended(status) = &self.cause else { return None };
        let limit = limits.memory.filter(|_| status.signal().is_some())?;
        let (_, rest) = self.said.as_ref()?.split_once(ALLOCATION_FAILED.0)?;
        let asked: u64 = rest.strip_suffix(ALLOCATION_FAILED.1)?.parse().ok()?;
        let text = format!(
            "asked for {} of memory at once and could not have it; its limit is {}",
            mebibytes(asked),
            mebibytes(limit)
        );
        Some(StepError::reject(text).named("MemoryLimit"))
    }
}

/// What an input is told that was under way when the task was cancelled and did not end in time.
pub(super) fn cancelled() -> StepError {
    StepError::retry("cancelled before it was done").named("Cancelled")
}

/// A child that did not come up.
#[derive(Debug)]
pub(super) struct StartError {
    pub(super) reason: String,
    /// Trying again soon will not help: there is no such program.
    pub(super) hopeless: bool,
}

impl StartError {
    pub(super) fn error(&self) -> StepError {
        StepError::retry(format!("no child process could be started: {}", self.reason)).named("WorkerNotStarted")
    }

    pub(super) fn from_death(program: &std::path::Path, death: &Death, within: Duration) -> Self {
        let said = death.said.as_ref().map(|line| format!("; the last it said: {line}")).unwrap_or_default();
        let how = match &death.cause {
            Cause::Killed(Reason::Time { .. }) => format!("did not report within {} s", within.as_secs()),
            cause => cause.to_string(),
        };
        Self { reason: format!("{} {how} before it was ready{said}", program.display()), hopeless: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_core::error::ErrorClass;

    fn death(cause: Cause, said: Option<&str>) -> Death {
        Death { cause, blames_input: true, said: said.map(str::to_owned), peak_memory: None }
    }

    const LIMITED: Limits = Limits { time: None, memory: Some(200 << 20) };

    #[test]
    fn the_signal_and_the_last_line_are_named() {
        let error = death(Cause::Ended(ExitStatus::from_raw(11)), Some("page 7")).error(Limits::default(), 2);
        assert_eq!((error.kind.as_str(), error.class()), ("WorkerDied", ErrorClass::Retry));
        assert_eq!(
            error.message,
            "the child process that worked on it was ended by signal 11 (SIGSEGV), 2 times in a row; the last it said: \
             page 7"
        );
        let error = death(Cause::Ended(ExitStatus::from_raw(3 << 8)), None).error(Limits::default(), 1);
        assert_eq!(error.message, "the child process that worked on it ended with exit code 3");
    }

    #[test]
    fn too_much_memory_names_both_numbers() {
        let cause = Cause::Killed(Reason::Memory { used: 212 << 20, limit: 200 << 20 });
        let error = death(cause, None).error(LIMITED, 2);
        assert_eq!((error.kind.as_str(), error.class()), ("MemoryLimit", ErrorClass::Reject));
        assert_eq!(error.message, "used 212.0 MiB of memory, more than its limit of 200.0 MiB");
    }

    #[test]
    fn a_failed_allocation_is_the_memory_limit_where_there_is_one() {
        let said = Some("memory allocation of 2147483648 bytes failed");
        let aborted = Cause::Ended(ExitStatus::from_raw(6));
        let error = death(aborted.clone(), said).error(LIMITED, 2);
        assert_eq!(error.kind, "MemoryLimit");
        assert_eq!(
            error.message,
            "asked for 2048.0 MiB of memory at once and could not have it; its limit is 200.0 MiB"
        );
        assert_eq!(death(aborted, said).error(Limits::default(), 2).kind, "WorkerDied");
    }
}
