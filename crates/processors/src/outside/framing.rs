//! How messages to and from a persistent program are told apart.

use super::config::Framing;

const LENGTH_BYTES: usize = 4;

/// A message as it goes over the pipe; `Err` when it is too long for its length to be written.
pub(super) fn wrap(framing: Framing, message: String) -> Result<Vec<u8>, String> {
    let mut bytes = message.into_bytes();
    match framing {
        Framing::Lines => bytes.push(b'\n'),
        Framing::Length => {
            let length = u32::try_from(bytes.len())
                .map_err(|_| format!("the request has {} bytes, more than `framing: length` can carry", bytes.len()))?;
            bytes.splice(..0, length.to_be_bytes());
        }
    }
    Ok(bytes)
}

/// Is there a whole message, or can there never be one within `most` bytes? The first `seen` bytes have been looked at.
pub(super) fn is_whole(framing: Framing, bytes: &[u8], seen: usize, most: usize) -> bool {
    match framing {
        Framing::Lines => bytes[seen..].contains(&b'\n'),
        Framing::Length => length(bytes).is_some_and(|length| length > most || bytes.len() >= LENGTH_BYTES + length),
    }
}

/// The one message that was read; `Err` with the end of a sentence when there is more than one, or none.
pub(super) fn unwrap(framing: Framing, bytes: &[u8], most: usize) -> Result<&[u8], String> {
    match framing {
        Framing::Lines => match bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) if end + 1 == bytes.len() => Ok(&bytes[..end]),
            Some(_) => Err("said more than the one line of its answer".to_owned()),
            None => Err("answered with a line that has no end".to_owned()),
        },
        Framing::Length => match length(bytes) {
            Some(length) if length > most => {
                Err(format!("announced an answer of {length} bytes, more than the {most} allowed"))
            }
            Some(length) if LENGTH_BYTES + length == bytes.len() => Ok(&bytes[LENGTH_BYTES..]),
            Some(length) if LENGTH_BYTES + length < bytes.len() => {
                Err(format!("said more than the {length} bytes that it announced"))
            }
            _ => Err("answered with less than it announced".to_owned()),
        },
    }
}

fn length(bytes: &[u8]) -> Option<usize> {
    let (length, _) = bytes.split_first_chunk::<LENGTH_BYTES>()?;
    usize::try_from(u32::from_be_bytes(*length)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_message_is_whole_and_a_shorter_one_is_not() {
        for framing in [Framing::Lines, Framing::Length] {
            let wrapped = wrap(framing, "{\"id\":1}".to_owned()).unwrap();
            assert!(is_whole(framing, &wrapped, 3, 100));
            assert_eq!(unwrap(framing, &wrapped, 100).unwrap(), b"{\"id\":1}");
            for end in 0..wrapped.len() {
                assert!(!is_whole(framing, &wrapped[..end], 0, 100), "{framing:?} {end}");
                assert!(unwrap(framing, &wrapped[..end], 100).is_err());
            }
            let twice = [wrapped.clone(), wrapped].concat();
            assert!(unwrap(framing, &twice, 100).unwrap_err().starts_with("said more"), "{framing:?}");
        }
    }

    #[test]
    fn an_announcement_beyond_the_limit_is_not_waited_for() {
        let bytes = 1_000_000_u32.to_be_bytes();
        assert!(is_whole(Framing::Length, &bytes, 0, 999_999));
        assert_eq!(
            unwrap(Framing::Length, &bytes, 999_999).unwrap_err(),
            "announced an answer of 1000000 bytes, more than the 999999 allowed"
        );
    }
}
