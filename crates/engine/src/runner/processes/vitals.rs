//! What is known about a child while it works, shared by the thread that talks to it and the one that watches it.

use super::status::{self, Status};
use crate::{context::CancelFlag, runner::Limits};
use bindery_core::AwakeInstant;
use rustix::process::{Pid, Signal, kill_process_group};
use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Why a child was killed by us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    Time { limit: Duration },
    Memory { used: u64, limit: u64 },
    Silent { duration: Duration },
    Cancelled,
}

/// The rules that a busy child is held to.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    pub(super) limits: Limits,
    pub(super) silent_for: Duration,
    pub(super) cancel: CancelFlag,
    pub(super) cancel_grace: Duration,
}

#[derive(Debug)]
struct Busy {
    rules: Rules,
    /// When the input under way began.
    since: AwakeInstant,
    /// When something last came from the child.
    heard: AwakeInstant,
    cancelled: Option<AwakeInstant>,
}

impl Busy {
    /// What is wrong with it, if anything.
    fn verdict(&mut self, now: AwakeInstant, resident: Option<u64>) -> Option<Reason> {
        let Rules { limits, silent_for, cancel, cancel_grace } = &self.rules;
        if let (Some(used), Some(limit)) = (resident, limits.memory)
            && used > limit
        {
            return Some(Reason::Memory { used, limit });
        }
        let over = |from: AwakeInstant, limit: Duration| now.saturating_duration_since(from) >= limit;
        if let Some(limit) = limits.time
            && over(self.since, limit)
        {
            return Some(Reason::Time { limit });
        }
        if cancel.is_cancelled() && over(*self.cancelled.get_or_insert(now), *cancel_grace) {
            return Some(Reason::Cancelled);
        }
        over(self.heard.max(self.since), *silent_for).then_some(Reason::Silent { duration: *silent_for })
    }
}

#[derive(Debug, Default)]
struct State {
    busy: Option<Busy>,
    /// How many inputs it has answered: tells which one was under way.
    answered: u64,
    /// Why it was killed, and at which input.
    killed: Option<(Reason, u64)>,
    /// Its number may be somebody else's from here on.
    gone: bool,
    peak: Option<u64>,
    /// When the kernel was last asked for it.
    asked: Option<Instant>,
}

/// A child's pulse.
#[derive(Debug)]
pub(super) struct Vitals {
    pub(super) pid: Pid,
    state: Mutex<State>,
}

impl Vitals {
    pub(super) fn new(pid: Pid) -> Self {
        Self { pid, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on it is held to these rules.
    pub(super) fn begin(&self, rules: Rules) {
        let now = AwakeInstant::now();
        self.lock().busy = Some(Busy { rules, since: now, heard: now, cancelled: None });
    }

    /// It has nothing to do: how long it is silent does not matter.
    pub(super) fn rest(&self) {
        self.lock().busy = None;
    }

    /// Something came, but not an answer.
    pub(super) fn record_output(&self) {
        if let Some(busy) = &mut self.lock().busy {
            busy.heard = AwakeInstant::now();
        }
    }

    /// An answer came, and the next input is under way. Returns how long this one took, and whether the child is still
    /// to be used.
    pub(super) fn end_answer(&self) -> (Duration, bool) {
        let mut state = self.lock();
        state.answered += 1;
        let now = AwakeInstant::now();
        let took = state.busy.as_mut().map(|busy| {
            busy.heard = now;
            now.saturating_duration_since(std::mem::replace(&mut busy.since, now))
        });
        (took.unwrap_or_default(), state.killed.is_none())
    }

    /// Why it was killed, and whether that was for the input that is under way. None if it died by itself.
    pub(super) fn killed(&self) -> Option<(Reason, bool)> {
        let state = self.lock();
        state.killed.map(|(reason, at)| (reason, at == state.answered))
    }

    /// The most memory that it was seen to use, in bytes.
    pub(super) fn peak(&self) -> Option<u64> {
        self.lock().peak
    }

    /// Asks the kernel, which has seen what a look now and then has missed; not more often than every so long, because
    /// that takes longer than a short input.
    pub(super) fn refresh_peak(&self, every: Duration) -> Option<u64> {
        {
            let mut state = self.lock();
            if state.asked.is_some_and(|asked| asked.elapsed() < every) {
                return state.peak;
            }
            state.asked = Some(Instant::now());
        }
        let seen = status::read(self.pid);
        let mut state = self.lock();
        if let Some(Status::Alive { peak, .. }) = seen {
            state.peak = state.peak.max(Some(peak));
        }
        state.peak
    }

    pub(super) fn is_busy(&self) -> bool {
        self.lock().busy.is_some()
    }

    /// Looks at a busy child, and kills it where that has to be. Time in which nobody could look does not count.
    pub(super) fn check(&self) {
        let mut state = self.lock();
        if state.gone || state.killed.is_some() || state.busy.is_none() {
            return;
        }
        let seen = status::read(self.pid);
        let resident = match seen {
            // Something that it started holds its pipes open.
            Some(Status::Ended) => return self.kill_group(),
            Some(Status::Alive { resident, peak }) => {
                state.peak = state.peak.max(Some(peak));
                Some(resident)
            }
            None => None,
        };
        let answered = state.answered;
        let Some(busy) = &mut state.busy else { return };
        if let Some(reason) = busy.verdict(AwakeInstant::now(), resident) {
            state.killed = Some((reason, answered));
            tracing::debug!(pid = self.pid.as_raw_nonzero(), ?reason, memory = resident, "killing a child");
            self.kill_group();
        }
    }

    /// Ends the child and all that it has started. To be called before anybody waits for it: until then its number is
    /// its own.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.busy = None;
        if !std::mem::replace(&mut state.gone, true) {
            self.kill_group();
        }
    }

    fn kill_group(&self) {
        // Gone already: then that was all that was wanted.
        let _ = kill_process_group(self.pid, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(limits: Limits) -> Busy {
        let now = AwakeInstant::now();
        let rules = Rules {
            limits,
            silent_for: Duration::from_secs(10),
            cancel: CancelFlag::default(),
            cancel_grace: Duration::from_secs(1),
        };
        Busy { rules, since: now, heard: now, cancelled: None }
    }

    fn after(busy: &Busy, millis: u64) -> AwakeInstant {
        busy.since + Duration::from_millis(millis)
    }

    #[test]
    fn without_limits_only_silence_is_wrong() {
        let mut busy = busy(Limits::default());
        assert_eq!(busy.verdict(after(&busy, 9_999), Some(u64::MAX)), None);
        let silent = Reason::Silent { duration: Duration::from_secs(10) };
        assert_eq!(busy.verdict(after(&busy, 10_000), None), Some(silent));
        busy.heard = after(&busy, 9_000);
        assert_eq!(busy.verdict(after(&busy, 18_000), None), None);
    }

    #[test]
    fn limits_are_kept() {
        let limit = Duration::from_millis(300);
        let mut busy = busy(Limits { time: Some(limit), memory: Some(1_000) });
        assert_eq!(busy.verdict(after(&busy, 299), Some(1_000)), None);
        assert_eq!(busy.verdict(after(&busy, 300), Some(1_000)), Some(Reason::Time { limit }));
        let memory = Reason::Memory { used: 1_001, limit: 1_000 };
        assert_eq!(busy.verdict(after(&busy, 0), Some(1_001)), Some(memory));
    }

    #[test]
    fn a_cancelled_child_has_a_moment_to_stop() {
        let mut busy = busy(Limits::default());
        busy.rules.cancel.cancel();
        assert_eq!(busy.verdict(after(&busy, 5_000), None), None);
        assert_eq!(busy.verdict(after(&busy, 5_999), None), None);
        assert_eq!(busy.verdict(after(&busy, 6_000), None), Some(Reason::Cancelled));
    }
}
