//! What a child says on its standard error: always read, shortened, and the end of it kept for error messages.

use std::{
    collections::VecDeque,
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

/// How many lines are kept.
const LINES: usize = 32;

/// The rest of what a dead child has said comes at once, unless something that it started holds the pipe open.
const LAST_WORDS_WITHIN: Duration = Duration::from_millis(500);

type Lines = Mutex<VecDeque<(Instant, String)>>;

/// The reader of one child's standard error, on a thread of its own.
#[derive(Debug)]
pub(super) struct Stderr {
    lines: Arc<Lines>,
    end: Receiver<()>,
}

fn lock(lines: &Lines) -> MutexGuard<'_, VecDeque<(Instant, String)>> {
    lines.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stderr {
    pub(super) fn follow(pipe: ChildStderr, pid: u32) -> std::io::Result<Self> {
        let lines = Arc::new(Lines::default());
        let kept = Arc::clone(&lines);
        let (at_end, end) = mpsc::channel();
        std::thread::Builder::new().name("bindery-stderr".to_owned()).spawn(move || {
            read(pipe, |line| {
                tracing::debug!(pid, line, "a child says");
                let mut kept = lock(&kept);
                if kept.len() == LINES {
                    kept.pop_front();
                }
                kept.push_back((Instant::now(), line.to_owned()));
            });
            // Whoever would like to know may be gone.
            let _ = at_end.send(());
        })?;
        Ok(Self { lines, end })
    }

    /// The last line that tells something and came after `since`. To be asked when the child is dead.
    pub(super) fn last_words(&self, since: Instant) -> Option<String> {
        let _ = self.end.recv_timeout(LAST_WORDS_WITHIN);
        let lines = lock(&self.lines);
        let tells = |line: &str| !line.is_empty() && !line.starts_with("note: run with `RUST_BACKTRACE");
        lines.iter().rev().find(|(at, line)| *at >= since && tells(line)).map(|(_, line)| line.clone())
    }
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
}
