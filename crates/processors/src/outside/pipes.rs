//! Small tools for the pipes of a child process: reading without blocking, and keeping only the end of what is said.

use bindery_http::text::one_line;
use std::{
    io::{self, Read},
    os::fd::AsFd,
};

const CHUNK_BYTES: usize = 16 * 1024;
/// A pipe holds 64 KiB unless somebody asked for more, and nobody may ask for more than 1 MiB.
pub(super) const CHUNKS_IN_A_PIPE: usize = 64;
/// Of the messages on stderr this much is kept.
const TAIL_BYTES: usize = 8 * 1024;

/// What became of one look into a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunk {
    Read,
    NothingYet,
    /// Nobody holds the other end any more.
    Closed,
}

pub(super) fn never_block(pipe: Option<&impl AsFd>) -> io::Result<()> {
    pipe.map_or(Ok(()), |pipe| Ok(rustix::io::ioctl_fionbio(pipe, true)?))
}

pub(super) fn is_not_ready(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// One read of at most one chunk.
pub(super) fn read_chunk(pipe: &mut Option<impl Read>, take: &mut dyn FnMut(&[u8])) -> Chunk {
    let Some(pipe) = pipe else { return Chunk::Closed };
    let mut buffer = [0; CHUNK_BYTES];
    match pipe.read(&mut buffer) {
        // A pipe that cannot be read will say nothing more, as if it were closed.
        Ok(0) => Chunk::Closed,
        Ok(read) => {
            take(&buffer[..read]);
            Chunk::Read
        }
        Err(error) if is_not_ready(&error) => Chunk::NothingYet,
        Err(_) => Chunk::Closed,
    }
}

/// The end of a stream that may be endless.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL_BYTES)..]);
        let surplus = self.bytes.len().saturating_sub(TAIL_BYTES);
        self.bytes.drain(..surplus);
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// The last line with something on it.
    pub(super) fn last_line(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(one_line).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_http::text::LONGEST_LINE;

    #[test]
    fn of_an_endless_stream_the_end_is_kept() {
        let mut tail = Tail::default();
        for line in 0..100_000 {
            tail.push(format!("line {line}\n").as_bytes());
        }
        assert!(tail.bytes.len() <= TAIL_BYTES);
        assert_eq!(tail.last_line(), "line 99999");
        tail.push(&vec![b'x'; 3 * TAIL_BYTES]);
        assert_eq!(tail.last_line().len(), LONGEST_LINE + 3);
    }

    #[test]
    fn the_last_line_is_the_last_one_that_says_something() {
        let mut tail = Tail::default();
        assert_eq!(tail.last_line(), "");
        tail.push(b"first\n\x1b[31msecond \xff\n\n  \n");
        assert_eq!(tail.last_line(), " [31msecond \u{fffd}");
    }
}
