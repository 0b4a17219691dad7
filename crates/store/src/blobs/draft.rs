//! Bytes that wait for the commit that will point to them.

use super::{HashedBytes, Stored, files::Part};
use std::time::{Duration, Instant};

/// A blob that was found or stored this long before it is named is touched once more.
pub(super) const TOUCH_AGAIN: Duration = Duration::from_secs(5 * 60);

/// Bytes that are written, but neither durable nor in their place yet: [`Blobs::keep`](super::Blobs::keep) makes
/// any number of them so with one wait for the disk. Nobody can read them before. One that is dropped instead is removed,
/// and one whose process is killed is a leftover that is removed later: a draft that was not kept never was.
#[derive(Debug)]
pub struct Draft {
    stored: Stored,
    made: Instant,
    bytes: Bytes,
}

/// Where the bytes are.
#[derive(Debug)]
pub(super) enum Bytes {
    /// In their place, or in a store that was written to at once.
    Durable,
    /// In a file that waits for its name.
    Written(Written),
    /// Here: they become a row.
    Small(HashedBytes),
}

/// What is to be put in its place.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) part: Part,
    /// How often the disk had failed before it was written to.
    pub(super) failures_before: u64,
}

impl Draft {
    pub(super) fn from_written(stored: Stored, written: Written) -> Self {
        Self { stored, made: Instant::now(), bytes: Bytes::Written(written) }
    }

    pub(super) fn small(blob: HashedBytes) -> Self {
        let stored = Stored { hash: blob.hash(), size: blob.bytes().len() as u64, new: true };
        Self { stored, made: Instant::now(), bytes: Bytes::Small(blob) }
    }

    /// Takes out those that a commit can store itself. They are as durable as it is, and nothing else is to be done for
    /// them; the others have to be [kept](super::Blobs::keep).
    pub fn take_small(drafts: &mut Vec<Self>) -> Vec<HashedBytes> {
        let is_small = |draft: &mut Self| matches!(draft.bytes, Bytes::Small(_));
        let taken = drafts.extract_if(.., is_small).filter_map(|draft| match draft.bytes {
            Bytes::Small(blob) => Some(blob),
            Bytes::Durable | Bytes::Written(_) => None,
        });
        taken.collect()
    }

    /// The bytes were in the store before, or went there at once.
    pub fn durable(stored: Stored) -> Self {
        Self { stored, made: Instant::now(), bytes: Bytes::Durable }
    }

    /// What the receipt will be once it is kept.
    pub fn stored(&self) -> Stored {
        self.stored
    }

    /// Whether it was made longer ago than this.
    pub(super) fn is_older_than(&self, age: Duration) -> bool {
        self.made.elapsed() > age
    }

    pub(super) fn into_parts(self) -> (Stored, Bytes) {
        (self.stored, self.bytes)
    }
}
