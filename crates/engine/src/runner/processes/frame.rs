//! Frames: how messages lie in a pipe.
//!
//! ```text
//! ┌────────────────────────────┬──────────────┐
//! │ length, 4 bytes, low first │ JSON         │
//! └────────────────────────────┴──────────────┘
//! ```
//!
//! A frame whose first byte is 1 holds no JSON but a request to a service, see [`raw`]; its answer is bytes as well.
//!
//! An empty frame is a message too, the shortest: to the child it says *stop what you are doing*, from the child it says
//! *I am alive*. Before its first frame a child writes [`GREETING`]; whatever came before it, such as a banner, is not
//! ours and is skipped.

use serde::Serialize;
use std::io::{self, Read, Write};

/// The most that one message may hold, in bytes of JSON.
pub const MAX_FRAME: usize = 256 << 20;

/// What the frames of a child begin after. The number is raised when messages change their meaning.
pub(super) const GREETING: &[u8] = b"\0bindery-frames-1\n";

/// How much a child may say before its greeting.
const MAX_BANNER: usize = 64 << 10;

pub(super) const EMPTY: [u8; 4] = [0; 4];

/// What a message begins with that is not JSON.
const RAW: u8 = 1;

/// Why a message could not be made or read.
#[derive(Debug, thiserror::Error)]
pub(super) enum FrameError {
    #[error("a message of {size} bytes is larger than the {MAX_FRAME} that one may have")]
    TooLarge { size: usize },
    #[error("a message cannot be written as JSON: {0}")]
    NotJson(serde_json::Error),
    #[error(transparent)]
    Pipe(#[from] io::Error),
}

/// One message with its length.
pub(super) fn encode(message: &impl Serialize) -> Result<Vec<u8>, FrameError> {
    let mut frame = EMPTY.to_vec();
    serde_json::to_writer(&mut frame, message).map_err(FrameError::NotJson)?;
    let size = frame.len() - EMPTY.len();
    let length = u32::try_from(size).ok().filter(|_| size <= MAX_FRAME).ok_or(FrameError::TooLarge { size })?;
    frame[..EMPTY.len()].copy_from_slice(&length.to_le_bytes());
    Ok(frame)
}

/// A request to a service: a head, which is a frame of its own, and bytes.
pub(super) fn raw(head: &[u8], body: &[u8]) -> Result<Vec<u8>, FrameError> {
    let size = 1 + head.len() + body.len();
    let length = u32::try_from(size).ok().filter(|_| size <= MAX_FRAME).ok_or(FrameError::TooLarge { size })?;
    let mut frame = Vec::with_capacity(EMPTY.len() + size);
    frame.extend_from_slice(&length.to_le_bytes());
    frame.push(RAW);
    frame.extend_from_slice(head);
    frame.extend_from_slice(body);
    Ok(frame)
}

/// An answer of a service.
pub(super) fn raw_answer(mut bytes: Vec<u8>) -> Result<Vec<u8>, FrameError> {
    let size = bytes.len();
    let length = u32::try_from(size).ok().filter(|_| size <= MAX_FRAME).ok_or(FrameError::TooLarge { size })?;
    bytes.splice(..0, length.to_le_bytes());
    Ok(bytes)
}

/// The head and the bytes of a request to a service; none if the message is another.
pub(super) fn split_raw(message: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = message.strip_prefix(&[RAW])?.split_first_chunk()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

/// The next message, without its length. None at the end of the pipe, also when it ends inside a message: whoever was
/// writing it is gone.
pub(super) fn read(pipe: &mut impl Read) -> Result<Option<Vec<u8>>, FrameError> {
    let mut length = EMPTY;
    if !fill(pipe, &mut length)? {
        return Ok(None);
    }
    let size = u32::from_le_bytes(length) as usize;
    if size > MAX_FRAME {
        return Err(FrameError::TooLarge { size });
    }
    let mut message = Vec::with_capacity(size);
    pipe.take(size as u64).read_to_end(&mut message)?;
    Ok((message.len() == size).then_some(message))
}

fn fill(pipe: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match pipe.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

pub(super) fn greet(pipe: &mut impl Write) -> io::Result<()> {
    pipe.write_all(GREETING)
}

/// Reads up to the end of the greeting. False if there was none.
pub(super) fn skip_to_greeting(pipe: &mut impl Read) -> io::Result<bool> {
    let mut seen = Vec::new();
    let mut byte = [0];
    while seen.len() < MAX_BANNER && fill(pipe, &mut byte)? {
        seen.push(byte[0]);
        if seen.ends_with(GREETING) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let mut pipe = encode(&"one").unwrap();
        pipe.extend_from_slice(&EMPTY);
        pipe.extend(encode(&vec![2; 3]).unwrap());
        let mut pipe = pipe.as_slice();
        assert_eq!(read(&mut pipe).unwrap().unwrap(), b"\"one\"");
        assert_eq!(read(&mut pipe).unwrap().unwrap(), b"");
        assert_eq!(read(&mut pipe).unwrap().unwrap(), b"[2,2,2]");
        assert!(read(&mut pipe).unwrap().is_none());
    }

    #[test]
    fn a_request_is_told_from_json() {
        let frame = raw(&encode(&"head").unwrap(), b"{body}").unwrap();
        let message = read(&mut frame.as_slice()).unwrap().unwrap();
        assert_eq!(split_raw(&message), Some((b"\"head\"".as_slice(), b"{body}".as_slice())));
        assert_eq!(split_raw(b"{}"), None);
        assert_eq!(split_raw(&message[..8]), None);
    }

    #[test]
    fn a_pipe_that_ends_inside_a_message_has_ended() {
        let frame = encode(&"a message").unwrap();
        for cut in 0..frame.len() {
            assert!(read(&mut &frame[..cut]).unwrap().is_none());
        }
    }

    #[test]
    fn a_length_beyond_the_limit_is_refused_before_memory_is_taken_for_it() {
        let error = read(&mut b"text where a frame should be".as_slice()).unwrap_err();
        assert_eq!(error.to_string(), "a message of 1954047348 bytes is larger than the 268435456 that one may have");
    }

    #[test]
    fn a_banner_before_the_greeting_is_skipped() {
        let mut pipe = b"\nrunning 1 test\n\0bindery-".to_vec();
        pipe.extend_from_slice(GREETING);
        pipe.extend_from_slice(b"rest");
        let mut pipe = pipe.as_slice();
        assert!(skip_to_greeting(&mut pipe).unwrap());
        assert_eq!(pipe, b"rest");
        assert!(!skip_to_greeting(&mut pipe).unwrap());
    }
}
