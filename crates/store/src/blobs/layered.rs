//! Small blobs in the rows of a store, large ones in a place of their own.
//!
//! A small blob that a result names is a row of the very commit that stores the result: there is no file to make, no wait
//! for the disk beside that of the commit, and no moment at which one is there without the other.
//!
//! Small ones may be files all the same: results, which others open by their location, and what child processes and imports
//! write. So a blob is looked for in the rows first, and then in the place.

use super::{
    BlobError, Blobs, Draft, Listed, Removal, Stored,
    files::{Source, write_copy},
    rows::{BlobRows, HashedBytes, LARGEST_ROW},
};
use crate::{Store, blocking, error::StoreError, sqlite::SqliteBlobRows};
use async_trait::async_trait;
use bindery_core::ContentHash;
use serde::{Deserialize, Serialize};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

/// Two layers: rows, and a place. Cheap to clone.
#[derive(Debug, Clone)]
pub struct LayeredBlobs {
    rows: Arc<dyn BlobRows>,
    place: Arc<dyn Blobs>,
}

impl LayeredBlobs {
    fn new(rows: Arc<dyn BlobRows>, place: Arc<dyn Blobs>) -> Self {
        Self { rows, place }
    }

    /// The blobs of a store: its rows in front of the place, where it has some.
    pub fn of_store(store: &Arc<dyn Store>, place: Arc<dyn Blobs>) -> Arc<dyn Blobs> {
        match Arc::clone(store).blob_rows() {
            Some(rows) => Arc::new(Self::new(rows, place)),
            None => place,
        }
    }

    fn takes(&self, size: usize) -> bool {
        size <= LARGEST_ROW && !self.rows.is_read_only()
    }

    /// The bytes of a file that are to be a row; none for a file that is too large.
    async fn read_small(&self, path: &Path) -> Result<Option<Vec<u8>>, BlobError> {
        if self.rows.is_read_only() {
            return Ok(None);
        }
        let path = path.to_owned();
        blocking(move || read_small_file(&path)).await
    }

    /// What a row has, verified.
    async fn row(&self, hash: ContentHash) -> Result<Option<Vec<u8>>, BlobError> {
        let Some(bytes) = self.rows.get(hash).await? else { return Ok(None) };
        let found = ContentHash::of(&bytes);
        if found == hash {
            return Ok(Some(bytes));
        }
        Err(BlobError::Corrupt { hash, location: self.rows.location(), found, size: bytes.len() as u64 })
    }
}

/// Where the blobs of a store are, as another process is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlobsPlace {
    /// A folder, or the URL of a bucket.
    pub place: PathBuf,
    /// The database whose rows are small blobs, where it has some.
    pub rows: Option<PathBuf>,
}

impl BlobsPlace {
    /// A folder alone.
    pub fn folder(folder: impl Into<PathBuf>) -> Self {
        Self { place: folder.into(), rows: None }
    }

    /// What was opened at the place, with the rows in front, to read.
    pub fn with_rows(&self, opened: Arc<dyn Blobs>) -> Arc<dyn Blobs> {
        match &self.rows {
            Some(database) => Arc::new(LayeredBlobs::new(Arc::new(SqliteBlobRows::at(database)), opened)),
            None => opened,
        }
    }
}

/// The bytes of a file that is small enough to be a row, as they were at one moment; none for a larger one. Blocks.
pub fn read_small_file(path: &Path) -> Result<Option<Vec<u8>>, BlobError> {
    Source::open(path)?.read_up_to(LARGEST_ROW)
}

/// Runs file work where it cannot hold up the runtime.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BlobError> + Send + 'static,
) -> Result<T, BlobError> {
    blocking::run(work).await.map_err(|_| BlobError::ShuttingDown)?
}

#[async_trait]
impl Blobs for LayeredBlobs {
    fn place(&self) -> &dyn Blobs {
        &*self.place
    }

    async fn put(&self, bytes: Vec<u8>) -> Result<Stored, BlobError> {
        if !self.takes(bytes.len()) {
            return self.place.put(bytes).await;
        }
        let blob = HashedBytes::new(bytes);
        let (hash, size) = (blob.hash(), blob.bytes().len() as u64);
        let new = self.rows.size(hash).await?.is_none();
        self.rows.put(vec![blob]).await?;
        Ok(Stored { hash, size, new })
    }

    async fn draft(&self, bytes: Vec<u8>) -> Result<Draft, BlobError> {
        if self.takes(bytes.len()) { Ok(Draft::small(HashedBytes::new(bytes))) } else { self.place.draft(bytes).await }
    }

    async fn draft_hashed(&self, blob: HashedBytes) -> Result<Draft, BlobError> {
        if self.takes(blob.bytes().len()) { Ok(Draft::small(blob)) } else { self.place.draft_hashed(blob).await }
    }

    async fn draft_file(&self, path: &Path) -> Result<Draft, BlobError> {
        match self.read_small(path).await? {
            Some(bytes) => Ok(Draft::small(HashedBytes::new(bytes))),
            None => self.place.draft_file(path).await,
        }
    }

    /// The rows of those that no commit has taken out before, and then the others.
    async fn keep(&self, mut drafts: Vec<Draft>) -> Result<(), BlobError> {
        let small = Draft::take_small(&mut drafts);
        if !small.is_empty() {
            self.rows.put(small).await?;
        }
        self.place.keep(drafts).await
    }

    async fn put_file(&self, path: &Path) -> Result<Stored, BlobError> {
        match self.read_small(path).await? {
            Some(bytes) => self.put(bytes).await,
            None => self.place.put_file(path).await,
        }
    }

    async fn get(&self, hash: ContentHash) -> Result<Vec<u8>, BlobError> {
        match self.row(hash).await {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => self.place.get(hash).await,
            // The place may have sound ones from before.
            Err(damage) => self.place.get(hash).await.map_err(|_| damage),
        }
    }

    async fn fetch_to(&self, hash: ContentHash, target: &Path) -> Result<u64, BlobError> {
        let Some(bytes) = self.row(hash).await? else { return self.place.fetch_to(hash, target).await };
        let target = target.to_owned();
        blocking(move || write_copy(&target, |file| file.write(&bytes).map(|()| bytes.len() as u64))).await
    }

    async fn verify(&self, hash: ContentHash) -> Result<u64, BlobError> {
        match self.row(hash).await? {
            Some(bytes) => Ok(bytes.len() as u64),
            None => self.place.verify(hash).await,
        }
    }

    async fn contains(&self, hash: ContentHash) -> Result<bool, BlobError> {
        Ok(self.rows.size(hash).await?.is_some() || self.place.contains(hash).await?)
    }

    async fn size(&self, hash: ContentHash) -> Result<u64, BlobError> {
        match self.rows.size(hash).await? {
            Some(size) => Ok(size),
            None => self.place.size(hash).await,
        }
    }

    async fn delete(&self, hash: ContentHash) -> Result<bool, BlobError> {
        let row = self.rows.remove(hash, None).await?;
        Ok(self.place.delete(hash).await? || matches!(row, Removal::Removed(_)))
    }

    async fn touch(&self, hash: ContentHash) -> Result<bool, BlobError> {
        Ok(self.rows.touch(hash).await? || self.place.touch(hash).await?)
    }

    /// What one layer has touched lately stays in both.
    async fn remove_unused(&self, hash: ContentHash, unused_since: SystemTime) -> Result<Removal, BlobError> {
        let row = self.rows.remove(hash, Some(unused_since)).await?;
        if row == Removal::InUse {
            return Ok(row);
        }
        let file = self.place.remove_unused(hash, unused_since).await?;
        Ok(if file == Removal::Missing { row } else { file })
    }

    async fn now(&self) -> Result<SystemTime, BlobError> {
        self.place.now().await
    }

    async fn remove_leftovers(&self) -> Result<(), BlobError> {
        self.place.remove_leftovers().await
    }

    async fn list(&self, after: Option<ContentHash>, limit: usize) -> Result<Vec<Listed>, BlobError> {
        let mut page = self.rows.list(after, limit).await?;
        page.extend(self.place.list(after, limit).await?);
        // A row is found before a file of the same content, so it comes first and stands for both.
        page.sort_by_key(|listed| listed.hash);
        page.dedup_by_key(|listed| listed.hash);
        page.truncate(limit);
        Ok(page)
    }
}

impl From<StoreError> for BlobError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Full { path } => Self::NoSpace { path, source: std::io::ErrorKind::StorageFull.into() },
            StoreError::Closed => Self::ShuttingDown,
            error => Self::Rows(error),
        }
    }
}
