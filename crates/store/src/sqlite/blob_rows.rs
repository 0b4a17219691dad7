//! Rows that hold small blobs.

use super::{
    backend::SqliteStore,
    open::Options,
    reader::Readers,
    rows::RowResult,
    writer::{Tx, WriteResult},
};
use crate::{
    blobs::{BlobRows, HashedBytes, Listed, Removal},
    error::{StoreError, StoreResult},
};
use async_trait::async_trait;
use bindery_core::ContentHash;
use rusqlite::{Connection, OptionalExtension};
use std::{
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// In milliseconds, as it is stored.
fn millis(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// In the transaction of the rows that name them.
pub(super) fn insert(tx: &Tx<'_>, blobs: &[HashedBytes]) -> WriteResult<()> {
    if blobs.is_empty() {
        return Ok(());
    }
    let now = millis(SystemTime::now());
    // Damaged bytes are replaced by sound ones.
    let mut insert = tx.db.prepare_cached(
        "INSERT INTO small_blob (hash, touched, bytes) VALUES (?1, ?2, ?3) \
         ON CONFLICT (hash) DO UPDATE SET touched = max(touched, excluded.touched), bytes = excluded.bytes",
    )?;
    for blob in blobs {
        insert.execute((blob.hash().as_bytes(), now, blob.bytes()))?;
    }
    Ok(())
}

fn get(db: &Connection, hash: ContentHash) -> RowResult<Option<Vec<u8>>> {
    let mut get = db.prepare_cached("SELECT bytes FROM small_blob WHERE hash = ?1")?;
    get.query_row([hash.as_bytes()], |row| row.get(0)).optional()
}

fn size(db: &Connection, hash: ContentHash) -> RowResult<Option<u64>> {
    // The length of a value is in the head of its row.
    let mut size = db.prepare_cached("SELECT length(bytes) FROM small_blob WHERE hash = ?1")?;
    size.query_row([hash.as_bytes()], |row| row.get(0).map(i64::unsigned_abs)).optional()
}

fn touch(tx: &Tx<'_>, hash: ContentHash) -> WriteResult<bool> {
    let mut touch = tx.db.prepare_cached("UPDATE small_blob SET touched = max(touched, ?2) WHERE hash = ?1")?;
    Ok(touch.execute((hash.as_bytes(), millis(SystemTime::now())))? == 1)
}

fn remove(tx: &Tx<'_>, hash: ContentHash, unused_since: Option<SystemTime>) -> WriteResult<Removal> {
    let Some(size) = size(tx.db, hash)? else { return Ok(Removal::Missing) };
    let mut remove =
        tx.db.prepare_cached("DELETE FROM small_blob WHERE hash = ?1 AND (?2 IS NULL OR touched <= ?2)")?;
    let removed = remove.execute((hash.as_bytes(), unused_since.map(millis)))? == 1;
    Ok(if removed { Removal::Removed(size) } else { Removal::InUse })
}

/// Whether it is there, and was touched after this time: then a removal would change nothing, and need not be tried.
fn is_in_use(db: &Connection, hash: ContentHash, unused_since: Option<SystemTime>) -> RowResult<Option<bool>> {
    let mut touched = db.prepare_cached("SELECT touched FROM small_blob WHERE hash = ?1")?;
    let touched: Option<i64> = touched.query_row([hash.as_bytes()], |row| row.get(0)).optional()?;
    Ok(touched.map(|touched| unused_since.is_some_and(|since| touched > millis(since))))
}

fn list(db: &Connection, after: Option<ContentHash>, limit: usize) -> RowResult<Vec<Listed>> {
    let mut list = db
        .prepare_cached("SELECT hash, length(bytes), touched FROM small_blob WHERE hash > ?1 ORDER BY hash LIMIT ?2")?;
    let after = after.map_or_else(Vec::new, |hash| hash.as_bytes().to_vec());
    let listed = list.query_map((after, i64::try_from(limit).unwrap_or(i64::MAX)), |row| {
        let touched = UNIX_EPOCH + Duration::from_millis(row.get::<_, i64>(2)?.unsigned_abs());
        let size = row.get::<_, i64>(1)?.unsigned_abs();
        Ok(Listed { hash: ContentHash::from_bytes(row.get(0)?), size, touched })
    })?;
    listed.collect()
}

#[async_trait]
impl BlobRows for SqliteStore {
    fn location(&self) -> String {
        self.options().path.display().to_string()
    }

    fn is_read_only(&self) -> bool {
        self.is_read_only()
    }

    async fn put(&self, blobs: Vec<HashedBytes>) -> StoreResult<()> {
        self.writer().write(move |tx| insert(tx, &blobs)).await
    }

    async fn get(&self, hash: ContentHash) -> StoreResult<Option<Vec<u8>>> {
        self.readers().read(move |db| get(db, hash)).await
    }

    async fn size(&self, hash: ContentHash) -> StoreResult<Option<u64>> {
        self.readers().read(move |db| size(db, hash)).await
    }

    // A power cut that undoes it ends the process that was about to name the blob, too.
    async fn touch(&self, hash: ContentHash) -> StoreResult<bool> {
        if self.readers().read(move |db| size(db, hash)).await?.is_none() {
            return Ok(false);
        }
        self.writer().write_relaxed(move |tx| touch(tx, hash)).await
    }

    // The log is one sequence: what is durable after it makes it durable.
    async fn remove(&self, hash: ContentHash, unused_since: Option<SystemTime>) -> StoreResult<Removal> {
        match self.readers().read(move |db| is_in_use(db, hash, unused_since)).await? {
            None => return Ok(Removal::Missing),
            Some(true) => return Ok(Removal::InUse),
            Some(false) => {}
        }
        self.writer().write_relaxed(move |tx| remove(tx, hash, unused_since)).await
    }

    async fn list(&self, after: Option<ContentHash>, limit: usize) -> StoreResult<Vec<Listed>> {
        self.readers().read(move |db| list(db, after, limit)).await
    }
}

/// The rows of a store that another process has open, to read: for children, which touch nothing else of it.
#[derive(Debug)]
pub struct SqliteBlobRows {
    readers: Arc<Readers>,
    options: Options,
}

impl SqliteBlobRows {
    /// Of the database at this path. Nothing is opened before the first question.
    pub fn at(path: impl AsRef<Path>) -> Self {
        let options = Options::at(path.as_ref());
        Self { readers: Arc::new(Readers::new(options.clone())), options }
    }

    fn refusal(&self) -> StoreError {
        StoreError::NotWritable { path: self.options.path.clone(), detail: "it is open to read only".to_owned() }
    }
}

#[async_trait]
impl BlobRows for SqliteBlobRows {
    fn location(&self) -> String {
        self.options.path.display().to_string()
    }

    fn is_read_only(&self) -> bool {
        true
    }

    async fn put(&self, _blobs: Vec<HashedBytes>) -> StoreResult<()> {
        Err(self.refusal())
    }

    async fn get(&self, hash: ContentHash) -> StoreResult<Option<Vec<u8>>> {
        self.readers.read(move |db| get(db, hash)).await
    }

    async fn size(&self, hash: ContentHash) -> StoreResult<Option<u64>> {
        self.readers.read(move |db| size(db, hash)).await
    }

    async fn touch(&self, _hash: ContentHash) -> StoreResult<bool> {
        Err(self.refusal())
    }

    async fn remove(&self, _hash: ContentHash, _unused_since: Option<SystemTime>) -> StoreResult<Removal> {
        Err(self.refusal())
    }

    async fn list(&self, after: Option<ContentHash>, limit: usize) -> StoreResult<Vec<Listed>> {
        self.readers.read(move |db| list(db, after, limit)).await
    }
}
