//! Which blobs are named: a conservative mark phase over rows.

use bindery_core::ContentHash;
use std::collections::{HashMap, HashSet};

/// How many hexadecimal digits a hash has.
const DIGITS: usize = 64;

/// Blobs that may be unused, each with the submissions whose word on it does not count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidates(pub HashMap<ContentHash, Vec<i64>>);

impl Candidates {
    /// Blobs of which any mention counts.
    pub fn from_hashes(hashes: impl IntoIterator<Item = ContentHash>) -> Self {
        Self(hashes.into_iter().map(|hash| (hash, Vec::new())).collect())
    }

    /// Whether this mention by a submission, or by a row of none, keeps the blob.
    pub fn is_kept_by(&self, hash: ContentHash, submission: Option<i64>) -> bool {
        let Some(ignored) = self.0.get(&hash) else { return false };
        submission.is_none_or(|submission| !ignored.contains(&submission))
    }
}

/// What a mark phase has found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marked {
    /// The candidates that are in use.
    pub in_use: HashSet<ContentHash>,
    /// Payloads in the blob store that were not read yet, with the submissions that they are of. What they name is in use, too.
    pub unread: HashSet<(Option<i64>, ContentHash)>,
}

/// A mark phase under way.
pub(crate) struct Marking<'c> {
    candidates: &'c Candidates,
    pub(crate) marked: Marked,
}

impl<'c> Marking<'c> {
    pub(crate) fn new(candidates: &'c Candidates) -> Self {
        Self { candidates, marked: Marked::default() }
    }

    fn see(&mut self, submission: Option<i64>, hash: ContentHash) {
        if self.candidates.is_kept_by(hash, submission) {
            self.marked.in_use.insert(hash);
        }
    }

    /// A hash in a column.
    pub(crate) fn see_bytes(&mut self, submission: Option<i64>, bytes: &[u8]) {
        if let Ok(bytes) = bytes.try_into() {
            self.see(submission, ContentHash::from_bytes(bytes));
        }
    }

    /// JSON in a column.
    pub(crate) fn see_text(&mut self, submission: Option<i64>, text: &[u8]) {
        mentions(text, |hash| self.see(submission, hash));
    }

    /// A payload in the blob store, with what it is known to name.
    pub(crate) fn see_payload(&mut self, submission: Option<i64>, payload: &[u8], known: Option<&[u8]>) {
        self.see_bytes(submission, payload);
        match (known, payload.try_into()) {
            (Some(known), _) => read_mentions(known).for_each(|hash| self.see(submission, hash)),
            (None, Ok(payload)) => {
                self.marked.unread.insert((submission, ContentHash::from_bytes(payload)));
            }
            (None, Err(_)) => {}
        }
    }
}

/// Calls `found` for every hash in a text: 64 lower-case hexadecimal digits, no more and no fewer.
pub fn mentions(text: &[u8], mut found: impl FnMut(ContentHash)) {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    // Any run of 64 covers exactly one of these places.
    let mut place = DIGITS - 1;
    while place < text.len() {
        if !is_digit(text[place]) {
            place += DIGITS;
            continue;
        }
        let start = text[..place].iter().rposition(|byte| !is_digit(*byte)).map_or(0, |before| before + 1);
        let end = text[place..].iter().position(|byte| !is_digit(*byte)).map_or(text.len(), |after| place + after);
        if end - start == DIGITS
            && let Some(hash) = std::str::from_utf8(&text[start..end]).ok().and_then(|digits| digits.parse().ok())
        {
            found(hash);
        }
        place = end + DIGITS - 1;
    }
}

/// Hashes one after the other.
pub(crate) fn write_mentions(hashes: &[ContentHash]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| *hash.as_bytes()).collect()
}

/// The inverse of [`write_mentions`].
fn read_mentions(bytes: &[u8]) -> impl Iterator<Item = ContentHash> {
    bytes.chunks_exact(32).filter_map(|hash| hash.try_into().ok()).map(ContentHash::from_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_hashes(text: &str) -> Vec<ContentHash> {
        let mut all = Vec::new();
        mentions(text.as_bytes(), |hash| all.push(hash));
        all
    }

    #[test]
    fn hashes_are_found_wherever_they_stand() {
        let (one, two) = (ContentHash::of(b"1"), ContentHash::of(b"2"));
        assert_eq!(find_hashes(&one.to_string()), [one]);
        for before in 0..130 {
            let text = format!("{}{one}\",\"{two}{}", "-".repeat(before), ".".repeat(before % 7));
            assert_eq!(find_hashes(&text), [one, two], "{before}");
            let text = format!("{}{one}", "a ".repeat(before));
            assert_eq!(find_hashes(&text), [one], "{before}");
        }
        let json = format!(r#"{{"content":"{one}","all":["sha256:{two}"]}}"#);
        assert_eq!(find_hashes(&json), [one, two]);
    }

    #[test]
    fn other_digits_are_no_hashes() {
        let hash = ContentHash::of(b"1").to_string();
        for text in ["", "abc", &hash[1..], &format!("0{hash}"), &format!("{hash}{hash}"), &hash.to_uppercase()] {
            assert_eq!(find_hashes(text), [], "{text}");
        }
    }

    #[test]
    fn what_an_expired_part_named_is_not_kept_by_its_submission() {
        let (one, two) = (ContentHash::of(b"1"), ContentHash::of(b"2"));
        let candidates = Candidates([(one, vec![7]), (two, vec![])].into());
        let mut marking = Marking::new(&candidates);
        marking.see_text(Some(7), format!("{one}").as_bytes());
        assert!(marking.marked.in_use.is_empty());
        marking.see_text(Some(8), format!("{one}").as_bytes());
        marking.see_bytes(None, two.as_bytes());
        assert_eq!(marking.marked.in_use, [one, two].into());
    }

    #[test]
    fn a_payload_is_read_once() {
        let (payload, named) = (ContentHash::of(b"payload"), ContentHash::of(b"named"));
        let candidates = Candidates::from_hashes([named]);
        let mut marking = Marking::new(&candidates);
        marking.see_payload(Some(1), payload.as_bytes(), None);
        assert_eq!(marking.marked.unread, [(Some(1), payload)].into());
        let mut marking = Marking::new(&candidates);
        marking.see_payload(Some(1), payload.as_bytes(), Some(&write_mentions(&[named])));
        assert_eq!((marking.marked.in_use, marking.marked.unread), ([named].into(), HashSet::new()));
    }
}
