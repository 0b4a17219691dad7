//! Small blobs as rows of a database.

use super::{Listed, Removal};
use crate::error::StoreResult;
use async_trait::async_trait;
use bindery_core::ContentHash;
use std::{
    fmt::{self, Debug},
    sync::Arc,
    time::SystemTime,
};

/// Larger blobs are files: a row is written twice, to the log and to its place, and read in one piece.
pub(super) const LARGEST_ROW: usize = 256 * 1024;

/// Bytes with their hash.
#[derive(Clone, PartialEq, Eq)]
pub struct HashedBytes {
    hash: ContentHash,
    bytes: Arc<Vec<u8>>,
}

impl HashedBytes {
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { hash: ContentHash::of(&bytes), bytes: Arc::new(bytes) }
    }

    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        Arc::unwrap_or_clone(self.bytes)
    }
}

impl Debug for HashedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HashedBytes({}, {} bytes)", self.hash, self.bytes.len())
    }
}

/// The rows of one database that hold blobs. They go by the clock of the machine, as files do, and not by the store's.
#[async_trait]
pub trait BlobRows: Send + Sync + Debug {
    /// Where they are, to show.
    fn location(&self) -> String;

    /// Whether rows can be written here. A child process only reads them.
    fn is_read_only(&self) -> bool {
        false
    }

    /// Stores them all, durably, and touches those that were there.
    async fn put(&self, blobs: Vec<HashedBytes>) -> StoreResult<()>;

    async fn get(&self, hash: ContentHash) -> StoreResult<Option<Vec<u8>>>;

    /// The size; none where there is no such row.
    async fn size(&self, hash: ContentHash) -> StoreResult<Option<u64>>;

    /// Says that it will be named. False where it is not there. Everybody sees it when this returns.
    async fn touch(&self, hash: ContentHash) -> StoreResult<bool>;

    /// Removes it unless it was touched after this time; without a time, in any case.
    async fn remove(&self, hash: ContentHash, unused_since: Option<SystemTime>) -> StoreResult<Removal>;

    /// At most `limit` in the order of their hashes, those after `after` only.
    async fn list(&self, after: Option<ContentHash>, limit: usize) -> StoreResult<Vec<Listed>>;
}
