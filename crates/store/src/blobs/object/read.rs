//! Reading: hashed as it comes, never trusted before its end.

use super::{
    ObjectBlobs,
    place::Scheme,
    spool::{self, Spool},
};
use crate::blobs::{BlobError, Listed, draft::TOUCH_AGAIN};
use bindery_core::{ContentHash, hash::Hasher};
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt};
use object_store::{ObjectMeta, ObjectStoreExt};
use std::{path::Path, time::SystemTime};
use tokio::sync::mpsc;

/// Where the bytes of a blob go.
pub(super) enum To<'a> {
    Nowhere,
    Memory(&'a mut Vec<u8>),
    Writer(mpsc::Sender<Bytes>),
}

impl To<'_> {
    async fn take(&mut self, piece: Bytes) -> Result<(), BlobError> {
        match self {
            Self::Nowhere => Ok(()),
            Self::Memory(bytes) => {
                bytes.extend_from_slice(&piece);
                Ok(())
            }
            Self::Writer(sender) => spool::send(sender, piece).await,
        }
    }
}

/// What is under the key of a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    /// Nothing, or something damaged.
    Absent,
    /// It was written so long ago that a sweep may soon take it for garbage: it has to be touched.
    Old,
    Young,
}

/// Whether an object was written within [`TOUCH_AGAIN`], by our clock. Services refuse requests of clocks that differ from
/// theirs by a quarter of an hour, so that it is far from the end of a grace period whatever the clocks say.
pub(super) fn is_young(meta: &ObjectMeta) -> bool {
    SystemTime::now().duration_since(meta.last_modified.into()).is_ok_and(|age| age < TOUCH_AGAIN)
}

impl ObjectBlobs {
    /// Passes on the bytes of a blob, and fails at the end when they were not the right ones. Returns their number.
    pub(super) async fn read(&self, hash: ContentHash, mut to: To<'_>) -> Result<u64, BlobError> {
        let key = self.place.blob(hash);
        let found = self.store.get(&key).await.map_err(|error| self.on_blob(hash, &error))?;
        let mut pieces = found.into_stream();
        let (mut hasher, mut size) = (Hasher::default(), 0);
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|error| self.on_blob(hash, &error))?;
            hasher.update(&piece);
            size += piece.len() as u64;
            to.take(piece).await?;
        }
        let found = hasher.finish();
        if found != hash {
            return Err(BlobError::Corrupt { hash, location: self.place.location(&key), found, size });
        }
        Ok(size)
    }

    pub(super) async fn read_all(&self, hash: ContentHash) -> Result<Vec<u8>, BlobError> {
        let mut bytes = Vec::new();
        self.read(hash, To::Memory(&mut bytes)).await?;
        Ok(bytes)
    }

    pub(super) async fn read_to(&self, hash: ContentHash, target: &Path) -> Result<u64, BlobError> {
        let (sender, spool) = Spool::create_beside(target).await?;
        let read = self.read(hash, To::Writer(sender)).await;
        spool.finish(read).await
    }

    /// Looks whether the blob is there and sound, so that it need not be written again.
    pub(super) async fn existing(&self, hash: ContentHash, size: u64) -> Result<Existing, BlobError> {
        let meta = match self.head(hash).await {
            Ok(meta) => meta,
            Err(BlobError::Missing { .. }) => return Ok(Existing::Absent),
            Err(error) => return Err(error),
        };
        let mut is_sound = meta.size == size;
        if is_sound && self.options.check_existing {
            is_sound = match self.read(hash, To::Nowhere).await {
                Ok(_) => true,
                Err(BlobError::Corrupt { .. } | BlobError::Missing { .. }) => false,
                Err(error) => return Err(error),
            };
        }
        if !is_sound {
            tracing::warn!(blob.hash = %hash, place = %self.place, "replacing a damaged blob");
            return Ok(Existing::Absent);
        }
        Ok(if is_young(&meta) { Existing::Young } else { Existing::Old })
    }

    pub(super) async fn page(&self, after: Option<ContentHash>, limit: usize) -> Result<Vec<Listed>, BlobError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        // Services list in the order of keys, which is that of hashes. File systems list in none.
        if self.place.scheme() != Scheme::File
            && let Some(page) = self.page_in_order(after, limit).await?
        {
            return Ok(page);
        }
        self.page_by_shards(after, limit).await
    }

    /// A page as the service lists it; nothing if it lists out of order, as a few do.
    async fn page_in_order(&self, after: Option<ContentHash>, limit: usize) -> Result<Option<Vec<Listed>>, BlobError> {
        let blobs = self.place.blobs();
        let mut objects = match after {
            Some(hash) => self.store.list_with_offset(Some(&blobs), &self.place.blob(hash)),
            None => self.store.list(Some(&blobs)),
        };
        let mut page: Vec<Listed> = Vec::new();
        while page.len() < limit
            && let Some(object) = objects.try_next().await.map_err(|error| self.on_error("list", &blobs, &error))?
        {
            let Some(listed) = self.to_listed(&object) else { continue };
            if page.last().is_some_and(|last| last.hash >= listed.hash) {
                return Ok(None);
            }
            page.push(listed);
        }
        Ok(Some(page))
    }

    /// A page put in order here: memory is bounded by it and a 256th of the names.
    async fn page_by_shards(&self, after: Option<ContentHash>, limit: usize) -> Result<Vec<Listed>, BlobError> {
        let mut page = Vec::new();
        let first_shard = after.map_or(0, |hash| hash.as_bytes()[0]);
        for first_byte in first_shard..=u8::MAX {
            let shard = self.place.shard(first_byte);
            let objects: Vec<ObjectMeta> = self
                .store
                .list(Some(&shard))
                .try_collect()
                .await
                .map_err(|error| self.on_error("list", &shard, &error))?;
            let mut listed: Vec<Listed> = objects.iter().filter_map(|object| self.to_listed(object)).collect();
            listed.retain(|listed| after.is_none_or(|after| listed.hash > after));
            listed.sort_unstable_by_key(|listed| listed.hash);
            page.extend(listed);
            if page.len() >= limit {
                page.truncate(limit);
                break;
            }
        }
        Ok(page)
    }

    fn to_listed(&self, object: &ObjectMeta) -> Option<Listed> {
        let hash = self.place.hash(&object.location)?;
        Some(Listed { hash, size: object.size, touched: object.last_modified.into() })
    }
}
