//! The small trait that backends implement, and the conveniences on top of it.

use super::{BlobError, Draft, HashedBytes};
use async_trait::async_trait;
use bindery_core::ContentHash;
use serde_json::Value;
use std::{fmt::Debug, path::Path, time::SystemTime};

/// How many blobs [`BlobsExt::verify_all`] asks for at a time.
const PAGE: usize = 1_000;

/// The receipt for bytes that are now durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    pub hash: ContentHash,
    pub size: u64,
    /// Whether this call wrote the bytes. For statistics only: of several simultaneous puts of the same bytes, more
    /// than one may say so.
    pub new: bool,
}

/// One line of [`Blobs::list`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    pub hash: ContentHash,
    pub size: u64,
    /// When it was last put or [touched](Blobs::touch), by the clock of the place.
    pub touched: SystemTime,
}

/// What became of a blob that is not needed any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// It is gone; it had so many bytes.
    Removed(u64),
    Missing,
    /// It was put or touched lately: somebody may be about to name it.
    InUse,
}

/// A place for immutable bytes. The promises are in the [module documentation](super).
///
/// Dropping a future of these methods does not undo the work: a put that was under way may still complete.
#[async_trait]
pub trait Blobs: Send + Sync + Debug {
    /// The place itself, where every blob is a file or an object, however small: for what others open by its location.
    fn place(&self) -> &dyn Blobs;

    /// Stores bytes. Durable once this returns; idempotent.
    async fn put(&self, bytes: Vec<u8>) -> Result<Stored, BlobError>;

    /// Writes bytes that a commit will point to, without waiting for the disk: they are durable, and can be read, once
    /// [`keep`](Self::keep) has returned, which must be before that commit. Writes on the caller's thread, which
    /// should be one that may block.
    ///
    /// A place that is written to in one piece, such as object storage, stores them at once.
    async fn draft(&self, bytes: Vec<u8>) -> Result<Draft, BlobError> {
        self.put(bytes).await.map(Draft::durable)
    }

    /// The same for bytes whose hash is known already.
    async fn draft_hashed(&self, blob: HashedBytes) -> Result<Draft, BlobError> {
        self.draft(blob.into_bytes()).await
    }

    /// The same for a verified copy of a file, made as [`put_file`](Self::put_file) does.
    async fn draft_file(&self, path: &Path) -> Result<Draft, BlobError> {
        self.put_file(path).await.map(Draft::durable)
    }

    /// Puts drafts of this store in their place, all with one wait for the disk. Durable once this returns. After an error some of
    /// them may be in their place, and the others are gone: what they were for has to be done again.
    async fn keep(&self, drafts: Vec<Draft>) -> Result<(), BlobError> {
        // Where drafts are stored at once, nothing is left to do.
        drop(drafts);
        Ok(())
    }

    /// Stores a verified copy of a file, in constant memory. Durable once this returns; idempotent.
    ///
    /// The file is hashed while it is copied, what was written is compared with that, and a file that changed, grew,
    /// shrank or went away in the meantime is an error with nothing stored. (A file whose times have been tampered
    /// with can escape that check; the copy is still one consistent blob under its own hash.)
    async fn put_file(&self, path: &Path) -> Result<Stored, BlobError>;

    /// The bytes, all in memory, verified against the hash. Use [`fetch_to`](Self::fetch_to) for anything large.
    async fn get(&self, hash: ContentHash) -> Result<Vec<u8>, BlobError>;

    /// Writes a verified copy of the blob to `target`, in constant memory.
    ///
    /// `target` appears complete or not at all, and replaces a file that was there. It is a working copy: unlike the
    /// blob, it is not promised to survive a crash of the machine. Returns its size.
    async fn fetch_to(&self, hash: ContentHash, target: &Path) -> Result<u64, BlobError>;

    /// Reads the blob and compares it with its hash, in constant memory. Returns its size.
    async fn verify(&self, hash: ContentHash) -> Result<u64, BlobError>;

    /// Whether the blob is there. Does not read it.
    async fn contains(&self, hash: ContentHash) -> Result<bool, BlobError>;

    /// The size of the blob in bytes. Does not read it.
    async fn size(&self, hash: ContentHash) -> Result<u64, BlobError>;

    /// Removes the blob, durably, whoever may be about to name it. Returns false when it was not there.
    async fn delete(&self, hash: ContentHash) -> Result<bool, BlobError>;

    /// Says that a row will name the blob soon, so that it is not taken for unused. False when it is not there. A put of
    /// bytes that are there already does the same.
    async fn touch(&self, hash: ContentHash) -> Result<bool, BlobError>;

    /// Removes the blob, durably, unless it was put or touched after `unused_since`, also if that happens at this moment.
    async fn remove_unused(&self, hash: ContentHash, unused_since: SystemTime) -> Result<Removal, BlobError>;

    /// The time by the clock that [`Listed::touched`] goes by: whatever is touched from now on is touched later.
    async fn now(&self) -> Result<SystemTime, BlobError>;

    /// Removes what interrupted writers have left, an hour after they last wrote.
    async fn remove_leftovers(&self) -> Result<(), BlobError> {
        // Where nothing is seen before it is complete, a rule of the place removes it.
        Ok(())
    }

    /// At most `limit` blobs in the order of their hashes, those after `after` only. An empty page is the end.
    ///
    /// Blobs that come or go between two pages may or may not be seen; every other one is seen exactly once.
    async fn list(&self, after: Option<ContentHash>, limit: usize) -> Result<Vec<Listed>, BlobError>;
}

/// What [`BlobsExt::verify_all`] found.
#[derive(Debug, Default)]
pub struct Verification {
    /// Blobs that are sound.
    pub sound: u64,
    /// Their bytes.
    pub bytes: u64,
    /// One error for each blob that is not.
    pub damaged: Vec<BlobError>,
}

/// Conveniences for every backend.
#[async_trait]
pub trait BlobsExt: Blobs {
    /// Stores a JSON value in its compact form.
    async fn put_json(&self, value: &Value) -> Result<Stored, BlobError> {
        self.put(value.to_string().into_bytes()).await
    }

    /// Reads a blob that holds JSON.
    async fn get_json(&self, hash: ContentHash) -> Result<Value, BlobError> {
        let bytes = self.get(hash).await?;
        serde_json::from_slice(&bytes).map_err(|source| BlobError::NotJson { hash, source })
    }

    /// Reads every blob and compares it with its hash. A blob that cannot be read is reported and the rest goes on.
    async fn verify_all(&self) -> Result<Verification, BlobError> {
        let mut report = Verification::default();
        let mut after = None;
        loop {
            let page = self.list(after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(report) };
            after = Some(last.hash);
            for listed in page {
                match self.verify(listed.hash).await {
                    Ok(size) => {
                        report.sound += 1;
                        report.bytes += size;
                    }
                    // Deleted since the page was listed.
                    Err(BlobError::Missing { .. }) => {}
                    Err(damage) => report.damaged.push(damage),
                }
            }
        }
    }
}

impl<T: Blobs + ?Sized> BlobsExt for T {}
