//! What a child says on its standard error: always read, so that a flood stops nothing; only the last line is
//! kept, for error messages.

use std::{
    io::Read,
    process::ChildStderr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{self, Receiver},
    },
    time::{Duration, Instant},
};

/// A line is cut after this many bytes.
const LONGEST_LINE: usize = 1_024;

/// What a backtrace begins with.
const BACKTRACE: &str = "stack backtrace:";

/// The rest of what a dead child has said comes at once, unless something that it started holds the pipe open.
const LAST_WORDS_WITHIN: Duration = Duration::from_millis(500);

/// The last line that tells something, and when it came.
type LastLine = Mutex<Option<(Instant, String)>>;

/// The reader of one child's standard error, on a thread of its own.
#[derive(Debug)]
pub(super) struct Stderr {
    last: Arc<LastLine>,
    end: Receiver<()>,
}

fn lock(last: &LastLine) -> MutexGuard<'_, Option<(Instant, String)>> {
    last.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stderr {
    pub(super) fn follow(pipe: ChildStderr, pid: u32) -> std::io::Result<Self> {
        let last = Arc::new(LastLine::default());
        let kept = Arc::clone(&last);
        let (at_end, end) = mpsc::channel();
        std::thread::Builder::new().name("bindery-stderr".to_owned()).spawn(move || {
            let mut in_backtrace = false;
            read(pipe, |line| {
                tracing::debug!(pid, line, "a child says");
                in_backtrace = line == BACKTRACE || in_backtrace && is_frame(line);
                if in_backtrace || !tells_something(line) {
                    return;
                }
                *lock(&kept) = Some((Instant::now(), line.to_owned()));
            });
            // Whoever would like to know may be gone.
            let _ = at_end.send(());
        })?;
        Ok(Self { last, end })
    }

    /// The last line that tells something, so nothing of a backtrace, and came after `since`. To be asked when the child is dead.
    pub(super) fn last_words(&self, since: Instant) -> Option<String> {
        let _ = self.end.recv_timeout(LAST_WORDS_WITHIN);
        let last = lock(&self.last);
        last.as_ref().filter(|(at, _)| *at >= since).map(|(_, line)| line.clone())
    }
}

/// A place in the code, as a backtrace names it: `7: function`, and below it `at file:line`.
fn is_frame(line: &str) -> bool {
    line.starts_with("at ") || line.split_once(": ").is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

fn tells_something(line: &str) -> bool {
    let is_hint = line.starts_with("note: ") && line.contains("`RUST_BACKTRACE");
    !line.is_empty() && !is_hint
}

/// Reads to the end and tells of each line, cut where it is too long.
fn read(mut pipe: impl Read, mut on_line: impl FnMut(&str)) {
    let mut buffer = [0; 16 << 10];
    let mut line = Vec::new();
    while let Ok(read @ 1..) = pipe.read(&mut buffer) {
        for piece in buffer[..read].split_inclusive(|byte| *byte == b'\n') {
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            let room = LONGEST_LINE.saturating_sub(line.len());
            line.extend_from_slice(&text[..text.len().min(room)]);
            if text.len() < piece.len() {
                on_line(String::from_utf8_lossy(&line).trim());
                line.clear();
            }
        }
    }
    if !line.is_empty() {
        on_line(String::from_utf8_lossy(&line).trim());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_or_cut() {
        let mut lines = Vec::new();
        let long = "x".repeat(100_000);
        read(format!("one\n\n{long}\nlast").as_bytes(), |line| lines.push(line.to_owned()));
        assert_eq!(lines, ["one", "", &long[..LONGEST_LINE], "last"]);
    }

    #[test]
    fn a_backtrace_tells_nothing() {
        assert!(is_frame("12: core::panicking::panic_fmt") && is_frame("at ./src/steps.rs:118:5"));
        assert!(!is_frame("page 12: not a number"));
        assert!(!tells_something("note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"));
        assert!(tells_something("note: page 12 is empty"));
    }
}
