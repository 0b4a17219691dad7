//! A child process under limits: the one place that starts programs, talks to them and ends them.
//!
//! What is promised:
//! - Nothing that the child does can block us: its three pipes are served together, without blocking, so a child that
//!   floods one of them or never reads another only hurts itself.
//! - Its output is bounded; of its messages (stderr) only the end is kept.
//! - The time limit, the memory limit and a cancellation are looked at every [`TICK`], and end it.
//! - Whoever ends it ends its whole process group, and no zombie stays, also on drop. A program that leaves the group
//!   on purpose (a daemon) is not followed, nor waited for.

use super::{
    memory,
    pipes::{self, Chunk},
};
use bindery_core::{AwakeInstant, Backoff};
use rustix::{
    event::{PollFd, PollFlags, Timespec},
    process::{Pid, Signal, WaitId, WaitIdOptions},
};
use std::{
    io::{self, Write},
    os::{fd::AsFd, unix::process::CommandExt},
    process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    time::Duration,
};

/// How often the limits are looked at.
const TICK: Duration = Duration::from_millis(50);
/// Adding up a group's memory reads some files of `/proc`, so it is done less often than at every chunk of output.
const MEMORY_INTERVAL: Duration = Duration::from_millis(100);
/// How long the pipes of a child that has ended may stay open in the hands of a grandchild.
const GRACE: Duration = Duration::from_millis(200);

/// What a child may use while we talk to it.
pub(super) struct Limits<'a> {
    pub(super) until: AwakeInstant,
    /// Asked at every tick; the child is ended when it says yes.
    pub(super) cancelled: &'a dyn Fn() -> bool,
    pub(super) output_bytes: usize,
    pub(super) memory_bytes: Option<u64>,
}

/// Why a child was ended by us.
#[derive(Debug)]
pub(super) enum Trouble {
    TimeOver,
    Cancelled,
    TooMuchOutput,
    TooMuchMemory {
        used: u64,
    },
    /// It closed its output and lives on, so no answer can come.
    Closed,
    Io(io::Error),
}

/// How a talk ended when nothing went wrong on our side.
#[derive(Debug)]
pub(super) enum Turn {
    /// The answer is whole, and the child goes on.
    Answered,
    Ended(ExitStatus),
}

/// Is the answer whole? It is given all that was printed so far, and how much of it was seen before.
type IsWhole<'a> = &'a dyn Fn(&[u8], usize) -> bool;

/// One thing to say, and what comes back.
pub(super) struct Talk<'a> {
    input: &'a [u8],
    /// Tells when an answer is whole. Without it the answer is all that the child prints until it ends, and its input
    /// is closed once everything is said.
    is_whole: Option<IsWhole<'a>>,
    pub(super) output: Vec<u8>,
}

impl<'a> Talk<'a> {
    pub(super) fn until_the_end(input: &'a [u8]) -> Self {
        Self { input, is_whole: None, output: Vec::new() }
    }

    pub(super) fn until_whole(input: &'a [u8], is_whole: IsWhole<'a>) -> Self {
        Self { input, is_whole: Some(is_whole), output: Vec::new() }
    }
}

#[derive(Debug)]
pub(super) struct Child {
    process: std::process::Child,
    group: Pid,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    messages: pipes::Tail,
    reaped: bool,
}

impl Child {
    /// Starts the program in a process group of its own, with pipes for its three streams.
    pub(super) fn start(command: &mut Command, memory_bytes: Option<u64>) -> io::Result<Self> {
        let streams = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = streams.process_group(0).spawn()?;
        let group = Pid::from_child(&process);
        let (stdin, stdout, stderr) = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let child = Self { process, group, stdin, stdout, stderr, messages: pipes::Tail::default(), reaped: false };
        // From here on dropping the child ends it, also when one of these fails.
        pipes::never_block(child.stdin.as_ref())?;
        pipes::never_block(child.stdout.as_ref())?;
        pipes::never_block(child.stderr.as_ref())?;
        memory::restrain(group, memory_bytes);
        Ok(child)
    }

    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    /// The last line that it wrote to stderr since the talk began; empty if there was none.
    pub(super) fn last_message(&self) -> String {
        self.messages.last_line()
    }

    /// What the group uses now, where that can be known.
    pub(super) fn memory(&self) -> Option<u64> {
        memory::of_group(self.group)
    }

    /// Has it ended? It stays a zombie until [`Child::end`], so that its id cannot belong to anybody else.
    pub(super) fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.reaped || matches!(rustix::process::waitid(WaitId::Pid(self.group), options), Ok(Some(_)))
    }

    /// Has it printed something that nobody asked for?
    pub(super) fn speaks_unasked(&self) -> bool {
        let Some(stdout) = &self.stdout else { return false };
        let mut ready = [PollFd::new(stdout, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        rustix::event::poll(&mut ready, Some(&now)).is_ok() && !ready[0].revents().is_empty()
    }

    /// Ends the whole group and reaps the child.
    pub(super) fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.reaped {
            // While the child is not reaped its id, and with it the group's, cannot be given to somebody else.
            let _ = rustix::process::kill_process_group(self.group, Signal::KILL);
        }
        let status = self.process.wait()?;
        self.reaped = true;
        Ok(status)
    }

    /// Says what there is to say and listens until the answer is whole or the child has ended. When this fails, the
    /// child has been ended.
    pub(super) fn talk(&mut self, talk: &mut Talk<'_>, limits: &Limits<'_>) -> Result<Turn, Trouble> {
        self.messages.clear();
        let result = self.serve(talk, limits);
        if result.is_err() {
            let _ = self.end();
        }
        result
    }

    fn serve(&mut self, talk: &mut Talk<'_>, limits: &Limits<'_>) -> Result<Turn, Trouble> {
        let mut written = 0;
        let mut ended_at = None;
        let mut closed_at = None;
        let mut memory_due = AwakeInstant::now();
        let mut short_ticks = Backoff::doubling(Duration::from_millis(1), TICK).exact().retries();
        loop {
            let now = AwakeInstant::now();
            check(limits, now)?;
            if let Some(limit) = limits.memory_bytes.filter(|_| now >= memory_due) {
                if let Some(used) = self.memory().filter(|used| *used > limit) {
                    return Err(Trouble::TooMuchMemory { used });
                }
                memory_due = now + MEMORY_INTERVAL;
            }
            if written == talk.input.len() && talk.is_whole.is_none() {
                self.stdin = None;
            }
            let silent = self.stdout.is_none() && self.stderr.is_none();
            if self.has_ended() {
                let since = *ended_at.get_or_insert(now);
                if silent || now >= since + GRACE {
                    let status = self.end().map_err(Trouble::Io)?;
                    self.read_the_rest(talk, limits)?;
                    return Ok(Turn::Ended(status));
                }
            } else if self.stdout.is_none() && talk.is_whole.is_some() && now >= *closed_at.get_or_insert(now) + GRACE {
                return Err(Trouble::Closed);
            }
            // A child whose pipes are all closed is about to end; there is nothing to wake us but the clock.
            let tick = if silent { short_ticks.next_delay() } else { TICK };
            let writing = written < talk.input.len();
            let ready =
                self.wait(writing, tick.min(limits.until.saturating_duration_since(now))).map_err(Trouble::Io)?;
            if ready.input {
                written = self.write(talk.input, written)?;
            }
            if ready.messages {
                self.read_messages();
            }
            if ready.output && self.read_output(talk, limits)? {
                return Ok(Turn::Answered);
            }
        }
    }

    /// Waits until a pipe is ready, for at most this long.
    fn wait(&self, writing: bool, tick: Duration) -> io::Result<Ready> {
        let mut pipes = Vec::with_capacity(3);
        let stdin = add(&mut pipes, self.stdin.as_ref().filter(|_| writing), PollFlags::OUT);
        let stdout = add(&mut pipes, self.stdout.as_ref(), PollFlags::IN);
        let stderr = add(&mut pipes, self.stderr.as_ref(), PollFlags::IN);
        let timeout = Timespec { tv_sec: tick.as_secs() as i64, tv_nsec: tick.subsec_nanos().into() };
        match rustix::event::poll(&mut pipes, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        // Errors and hang-ups count as ready: the read or write that follows finds out.
        let is_ready = |at: Option<usize>| at.is_some_and(|at| !pipes[at].revents().is_empty());
        Ok(Ready { input: is_ready(stdin), output: is_ready(stdout), messages: is_ready(stderr) })
    }

    /// Writes what the pipe takes. Returns how much has been written; everything counts as written when the child does
    /// not want to hear it.
    fn write(&mut self, input: &[u8], written: usize) -> Result<usize, Trouble> {
        let Some(stdin) = &mut self.stdin else { return Ok(input.len()) };
        match stdin.write(&input[written..]) {
            Ok(taken) => Ok(written + taken),
            Err(error) if pipes::is_not_ready(&error) => Ok(written),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.stdin = None;
                Ok(input.len())
            }
            Err(error) => Err(Trouble::Io(error)),
        }
    }

    /// Reads a chunk of output. Says whether the answer is whole.
    fn read_output(&mut self, talk: &mut Talk<'_>, limits: &Limits<'_>) -> Result<bool, Trouble> {
        let seen = talk.output.len();
        let read = pipes::read_chunk(&mut self.stdout, &mut |bytes| talk.output.extend_from_slice(bytes));
        if read == Chunk::Closed {
            self.stdout = None;
        }
        let got = talk.output.len() > seen;
        let whole = got && talk.is_whole.is_some_and(|is_whole| is_whole(&talk.output, seen));
        if talk.output.len() > limits.output_bytes {
            return Err(Trouble::TooMuchOutput);
        }
        Ok(whole)
    }

    fn read_messages(&mut self) -> Chunk {
        let read = pipes::read_chunk(&mut self.stderr, &mut |bytes| self.messages.push(bytes));
        if read == Chunk::Closed {
            self.stderr = None;
        }
        read
    }

    /// What the pipes still hold after the end. Bounded, because somebody who left the group may go on writing.
    fn read_the_rest(&mut self, talk: &mut Talk<'_>, limits: &Limits<'_>) -> Result<(), Trouble> {
        for _ in 0..pipes::CHUNKS_IN_A_PIPE {
            if self.read_messages() != Chunk::Read {
                break;
            }
        }
        for _ in 0..pipes::CHUNKS_IN_A_PIPE {
            let before = talk.output.len();
            self.read_output(talk, limits)?;
            if talk.output.len() == before {
                break;
            }
        }
        Ok(())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.reaped {
            let _ = self.end();
        }
    }
}

/// Which pipes can be served without waiting.
struct Ready {
    input: bool,
    output: bool,
    messages: bool,
}

fn add<'p>(pipes: &mut Vec<PollFd<'p>>, pipe: Option<&'p impl AsFd>, flags: PollFlags) -> Option<usize> {
    pipes.push(PollFd::new(pipe?, flags));
    Some(pipes.len() - 1)
}

fn check(limits: &Limits<'_>, now: AwakeInstant) -> Result<(), Trouble> {
    if now >= limits.until {
        return Err(Trouble::TimeOver);
    }
    if (limits.cancelled)() { Err(Trouble::Cancelled) } else { Ok(()) }
}
