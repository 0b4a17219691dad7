//! Bytes that wait for the commit that will point to them.

use super::{Stored, files::Temporary};

/// Bytes that are written, but neither durable nor in their place yet: [`Blobs::publish`](super::Blobs::publish) makes
/// any number of them so with one wait for the disk. Nobody can read them before. One that is dropped instead is removed,
/// and one whose process is killed is a leftover that is removed later: a draft that was not published never was.
#[derive(Debug)]
pub struct Draft {
    stored: Stored,
    /// None where the bytes are durable already.
    written: Option<Temporary>,
}

impl Draft {
    pub(super) fn written(stored: Stored, temporary: Temporary) -> Self {
        Self { stored, written: Some(temporary) }
    }

    /// The bytes were in the store before, or went there at once.
    pub fn durable(stored: Stored) -> Self {
        Self { stored, written: None }
    }

    /// What the receipt will be once it is published.
    pub fn stored(&self) -> Stored {
        self.stored
    }

    pub(super) fn into_parts(self) -> (Stored, Option<Temporary>) {
        (self.stored, self.written)
    }
}
