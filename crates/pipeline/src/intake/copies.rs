//! Copies that are not durable yet: the disk is waited for once for many of them. What is stored already is not copied.

use bindery_core::hash::Hasher;
use bindery_store::blobs::{BlobError, Blobs, Draft, HashedBytes, Stored, read_small_file};
use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// How many copies become durable together. Each is an open file until then.
const AT_ONCE: usize = 64;

/// How much of a file is read at a time.
const CHUNK: usize = 128 * 1024;

pub(super) struct Copies<'a> {
    blobs: &'a dyn Blobs,
    waiting: Vec<Draft>,
    /// Nothing is copied: only what the files are is wanted.
    only_hashes: bool,
}

impl<'a> Copies<'a> {
    pub(super) fn new(blobs: &'a dyn Blobs) -> Self {
        Self { blobs, waiting: Vec::new(), only_hashes: false }
    }

    /// Says what copies would be, and makes none.
    pub(super) fn only_hashes(blobs: &'a dyn Blobs) -> Self {
        Self { only_hashes: true, ..Self::new(blobs) }
    }

    pub(super) async fn of_bytes(&mut self, bytes: Vec<u8>) -> Result<Stored, BlobError> {
        let blob = HashedBytes::new(bytes);
        let stored = Stored { hash: blob.hash(), size: blob.bytes().len() as u64, new: false };
        if self.only_hashes || self.blobs.touch(stored.hash).await? {
            return Ok(stored);
        }
        let draft = self.blobs.draft_hashed(blob).await?;
        self.add(draft).await
    }

    pub(super) async fn of_file(&mut self, path: &Path) -> Result<Stored, BlobError> {
        let small = path.to_owned();
        // What cannot be read is told by the copy.
        if let Ok(Ok(Some(bytes))) = tokio::task::spawn_blocking(move || read_small_file(&small)).await {
            return self.of_bytes(bytes).await;
        }
        if let Some(stored) = hash_file(path.to_owned()).await
            && (self.only_hashes || self.blobs.touch(stored.hash).await?)
        {
            return Ok(stored);
        }
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

/// What a file is; none where it cannot be read.
async fn hash_file(path: PathBuf) -> Option<Stored> {
    let hashing = move || -> io::Result<Option<Stored>> {
        if !fs::metadata(&path)?.is_file() {
            return Ok(None);
        }
        let (mut file, mut hasher, mut size) = (File::open(&path)?, Hasher::default(), 0);
        let mut chunk = vec![0; CHUNK];
        loop {
            let read = file.read(&mut chunk)?;
            if read == 0 {
                return Ok(Some(Stored { hash: hasher.finish(), size, new: false }));
            }
            hasher.update(&chunk[..read]);
            size += read as u64;
        }
    };
    tokio::task::spawn_blocking(hashing).await.ok()?.ok()?
}
