//! One child, as its parent sees it.

use super::{
    command::ChildCommand,
    death::{Cause, Death, StartError},
    frame,
    stderr::Stderr,
    vitals::{Reason, Rules, Vitals},
    watch::Watch,
    wire::Answer,
};
use crate::{context::CancelFlag, runner::Limits};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::{
    collections::VecDeque,
    io::{self, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout},
    sync::Arc,
    time::{Duration, Instant},
};

/// A child that has not reported by then never will.
const READY_WITHIN: Duration = Duration::from_secs(30);

/// An input that takes this long is not sent ahead.
const SLOW: Duration = Duration::from_millis(2);

/// The most inputs that a child has at a time.
const MOST_AHEAD: usize = 32;

/// The most bytes that are sent ahead, and that are kept for sending.
pub(super) const LARGE: usize = 256 << 10;

/// How much of an answer fits into the pipe, if the system allows it: a child that has written its answer need not wait
/// until all of it is read.
const PIPE: usize = 1 << 20;

/// How many keys are noted of a child.
const MOST_KEYS: usize = 256;

/// What comes from a child.
#[derive(Debug)]
pub(super) enum Received {
    Answer(Answer),
    Alive,
    /// Nothing more will come.
    Ended,
    /// Nobody understands it.
    Garbled(String),
}

/// A running child and the pipes to it. Dropping it ends it and all that it has started.
#[derive(Debug)]
pub(super) struct ChildProcess {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    stderr: Stderr,
    vitals: Arc<Vitals>,
    /// Frames that are ready to go.
    outgoing: Vec<u8>,
    /// The task that it was last told of.
    setup: Vec<u8>,
    /// Moving average of the time that one input takes.
    pace: Duration,
    /// The keys of the requests that it answered last, the newest at the end.
    keys: VecDeque<u64>,
    /// Whether it was given anything to do.
    is_fresh: bool,
}

impl ChildProcess {
    /// Starts one and waits until it is ready.
    pub(super) fn start(command: &ChildCommand, watch: &Watch) -> Result<Self, StartError> {
        let begun = Instant::now();
        let failed = |error: &io::Error| StartError {
            reason: format!("{}: {error}", command.program.display()),
            hopeless: matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied),
        };
        let process = command.spawn().map_err(|error| failed(&error))?;
        let mut child = Self::attach(process, watch).map_err(|error| failed(&error))?;
        let limits = Limits { time: Some(READY_WITHIN), memory: None };
        let rules =
            Rules { limits, silent_for: READY_WITHIN, cancel: CancelFlag::default(), cancel_grace: READY_WITHIN };
        watch.begin(&child.vitals, rules);
        if let Err(garbled) = child.wait_until_ready() {
            let program = &command.program;
            return Err(StartError::from_death(program, &child.into_death(garbled, begun), READY_WITHIN));
        }
        child.vitals.rest();
        tracing::debug!(pid = child.pid(), took = ?begun.elapsed(), "started a child");
        Ok(child)
    }

    fn attach(mut process: Child, watch: &Watch) -> io::Result<Self> {
        let pid = process.id();
        let mut parts = || {
            let missing = || io::Error::other("a pipe to the child is missing");
            let orders = process.stdin.take().ok_or_else(missing)?;
            let answers = process.stdout.take().ok_or_else(missing)?;
            // A pipe of the usual size does as well.
            let _ = rustix::pipe::fcntl_setpipe_size(&answers, PIPE);
            let answers = BufReader::with_capacity(64 << 10, answers);
            let stderr = Stderr::follow(process.stderr.take().ok_or_else(missing)?, pid)?;
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(missing)?;
            let vitals = Arc::new(Vitals::new(pid));
            watch.add(&vitals)?;
            Ok((orders, answers, stderr, vitals))
        };
        match parts() {
            Ok((orders, answers, stderr, vitals)) => Ok(Self {
                process,
                orders,
                answers,
                stderr,
                vitals,
                outgoing: Vec::new(),
                setup: Vec::new(),
                pace: SLOW,
                keys: VecDeque::new(),
                is_fresh: true,
            }),
            Err(error) => {
                let _ = process.kill();
                let _ = process.wait();
                Err(error)
            }
        }
    }

    fn wait_until_ready(&mut self) -> Result<(), Option<String>> {
        match frame::skip_to_greeting(&mut self.answers) {
            Ok(true) => {}
            Ok(false) | Err(_) => return Err(None),
        }
        match self.receive() {
            Received::Answer(Answer::Ready { pid }) if pid == self.process.id() => Ok(()),
            Received::Answer(answer) => Err(Some(format!("{answer:?} instead of its own number"))),
            Received::Garbled(why) => Err(Some(why)),
            Received::Alive | Received::Ended => Err(None),
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(super) fn vitals(&self) -> &Vitals {
        &self.vitals
    }

    /// Whether it has ended while nobody asked anything of it.
    pub(super) fn has_ended(&self) -> bool {
        // Without taking note of it: until then its number is its own.
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.vitals.pid), look), Ok(None))
    }

    /// Whether nothing was asked of it yet.
    pub(super) fn is_fresh(&self) -> bool {
        self.is_fresh
    }

    /// Whether it has seen a request of this key not long ago.
    pub(super) fn knows(&self, key: u64) -> bool {
        self.keys.contains(&key)
    }

    /// Notes that a request of this key goes to it; true if it has seen one not long ago.
    pub(super) fn note_key(&mut self, key: u64) -> bool {
        self.is_fresh = false;
        let known = self.keys.iter().position(|known| *known == key).and_then(|place| self.keys.remove(place));
        self.keys.push_back(key);
        if self.keys.len() > MOST_KEYS {
            self.keys.pop_front();
        }
        known.is_some()
    }

    /// Tells it of the task, unless it knows.
    pub(super) fn set_up(&mut self, setup: &[u8]) {
        self.is_fresh = false;
        if self.setup != setup {
            self.outgoing.extend_from_slice(setup);
            setup.clone_into(&mut self.setup);
        }
    }

    /// Puts an order behind those that are ready to go.
    pub(super) fn queue(&mut self, order: &[u8]) {
        self.outgoing.extend_from_slice(order);
    }

    /// Asks it to stop, and not to begin with what it was sent ahead.
    pub(super) fn stop(&mut self) {
        self.outgoing.extend_from_slice(&frame::EMPTY);
    }

    /// Sends what is ready. Where the child is dead, its answers end too, and that is where it is noticed.
    pub(super) fn flush(&mut self) {
        if !self.outgoing.is_empty() {
            let _ = self.orders.write_all(&self.outgoing);
            self.outgoing.clear();
            self.outgoing.shrink_to(LARGE);
        }
    }

    /// Waits for the next message. None at the end of the pipe; an error where nobody understands it.
    pub(super) fn receive_raw(&mut self) -> Result<Option<Vec<u8>>, String> {
        match frame::read(&mut self.answers) {
            Ok(message) => Ok(message),
            Err(frame::FrameError::Pipe(_)) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Waits for whatever comes next.
    pub(super) fn receive(&mut self) -> Received {
        let message = match self.receive_raw() {
            Ok(Some(message)) => message,
            Ok(None) => return Received::Ended,
            Err(why) => return Received::Garbled(why),
        };
        if message.is_empty() {
            self.vitals.record_output();
            return Received::Alive;
        }
        match serde_json::from_slice(&message) {
            Ok(answer) => Received::Answer(answer),
            Err(error) => Received::Garbled(error.to_string()),
        }
    }

    /// Notes an answer. Returns the memory that the child has used at most, and whether it is still to be used.
    pub(super) fn end_answer(&mut self) -> (Option<u64>, bool) {
        let (took, usable) = self.vitals.end_answer();
        self.pace = (self.pace * 7 + took) / 8;
        (self.peak_memory(), usable)
    }

    /// The most memory that it has used, in bytes. Of inputs that take no time at all, some may be missed.
    pub(super) fn peak_memory(&self) -> Option<u64> {
        self.vitals.refresh_peak(SLOW)
    }

    /// How many inputs it may be sent so that it need not wait for the next one. Long ones are sent one by one: another
    /// child may be free sooner.
    pub(super) fn window(&self) -> usize {
        let fitting = SLOW.as_nanos() / self.pace.as_nanos().max(1);
        usize::try_from(fitting).unwrap_or(usize::MAX).clamp(1, MOST_AHEAD)
    }

    /// Ends it, if it has not ended, and says how. `since` is when it was sent its input.
    pub(super) fn into_death(mut self, garbled: Option<String>, since: Instant) -> Death {
        let killed = self.vitals.killed();
        let peak_memory = self.vitals.peak();
        self.vitals.end();
        let status = self.process.wait();
        let (cause, blames_input) = match (killed, garbled, status) {
            (Some((reason, under_way)), _, _) => (Cause::Killed(reason), under_way && reason != Reason::Cancelled),
            (None, Some(why), _) => (Cause::Garbled(why), true),
            (None, None, Ok(status)) => (Cause::Ended(status), true),
            (None, None, Err(error)) => (Cause::Garbled(error.to_string()), true),
        };
        let said = self.stderr.last_words(since);
        Death { cause, blames_input, said, peak_memory }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.vitals.end();
        // An error means that it was waited for already.
        let _ = self.process.wait();
    }
}
