//! Copies that are not durable yet: the disk is waited for once for many of them.

use bindery_store::blobs::{BlobError, Blobs, Draft, Stored};
use std::path::Path;

/// How many copies become durable together. Each is an open file until then.
const AT_ONCE: usize = 64;

pub(super) struct Copies<'a> {
    blobs: &'a dyn Blobs,
    waiting: Vec<Draft>,
}

impl<'a> Copies<'a> {
    pub(super) fn new(blobs: &'a dyn Blobs) -> Self {
        Self { blobs, waiting: Vec::new() }
    }

    pub(super) async fn of_bytes(&mut self, bytes: Vec<u8>) -> Result<Stored, BlobError> {
        let draft = self.blobs.draft(bytes).await?;
        self.add(draft).await
    }

    pub(super) async fn of_file(&mut self, path: &Path) -> Result<Stored, BlobError> {
        let draft = self.blobs.draft_file(path).await?;
        self.add(draft).await
    }

    async fn add(&mut self, draft: Draft) -> Result<Stored, BlobError> {
        let stored = draft.stored();
        self.waiting.push(draft);
        if self.waiting.len() >= AT_ONCE {
            self.keep().await?;
        }
        Ok(stored)
    }

    /// All of them are durable when this returns.
    pub(super) async fn keep(&mut self) -> Result<(), BlobError> {
        self.blobs.keep(std::mem::take(&mut self.waiting)).await
    }
}
