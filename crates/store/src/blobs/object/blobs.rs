//! The backend itself: what it holds, and the trait.

use super::{
    ObjectOptions,
    connect::connect,
    error::{is_no_bucket, on_object},
    place::Place,
    read::To,
};
use crate::blobs::{BlobError, Blobs, Draft, Listed, Removal, Stored, draft::TOUCH_AGAIN};
use async_trait::async_trait;
use bindery_core::ContentHash;
use futures_util::TryStreamExt;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt, path::Path as Key};
use std::{
    fmt,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

/// Blobs in object storage. Cheap to clone.
#[derive(Clone)]
pub struct ObjectBlobs {
    pub(super) place: Arc<Place>,
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) options: Arc<ObjectOptions>,
}

impl ObjectBlobs {
    /// Opens the store at a URL such as `s3://bucket/prefix`, and lists a first page to see that the bucket is there
    /// and may be read: a mistake is better found now than by the first document.
    pub async fn open(url: &str, options: ObjectOptions) -> Result<Self, BlobError> {
        let blobs = Self::connect(url, options)?;
        let first = blobs.store.list(Some(&blobs.place.blobs())).try_next().await;
        first.map_err(|error| blobs.on_error("list", &blobs.place.blobs(), &error))?;
        Ok(blobs)
    }

    /// The same without asking: the first use will tell.
    pub fn connect(url: &str, options: ObjectOptions) -> Result<Self, BlobError> {
        let place = Place::parse(url, &options)?;
        let store = connect(&place, &options)?;
        Ok(Self { place: Arc::new(place), store, options: Arc::new(options) })
    }

    pub(super) fn on_error(&self, action: &'static str, key: &Key, error: &object_store::Error) -> BlobError {
        on_object(&self.place, action, self.place.location(key), error)
    }

    /// An error of reading or looking at a blob. A bucket that is not there is not a missing blob.
    pub(super) fn on_blob(&self, hash: ContentHash, error: &object_store::Error) -> BlobError {
        let key = self.place.blob(hash);
        if matches!(error, object_store::Error::NotFound { .. }) && !is_no_bucket(error) {
            return BlobError::Missing { hash, location: self.place.location(&key) };
        }
        self.on_error("read", &key, error)
    }

    pub(super) async fn head(&self, hash: ContentHash) -> Result<ObjectMeta, BlobError> {
        self.store.head(&self.place.blob(hash)).await.map_err(|error| self.on_blob(hash, &error))
    }
}

impl fmt::Debug for ObjectBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The client knows the credentials, and is left out for that.
        f.debug_struct("ObjectBlobs").field("place", &self.place).finish_non_exhaustive()
    }
}

#[async_trait]
impl Blobs for ObjectBlobs {
    fn place(&self) -> &dyn Blobs {
        self
    }

    async fn put(&self, bytes: Vec<u8>) -> Result<Stored, BlobError> {
        let blobs = self.clone();
        // On its own, so that a caller who stops waiting does not leave half an upload behind.
        finished(tokio::spawn(async move { blobs.put_bytes(bytes).await })).await
    }

    async fn put_file(&self, path: &Path) -> Result<Stored, BlobError> {
        let (blobs, path) = (self.clone(), path.to_owned());
        finished(tokio::spawn(async move { blobs.put_path(path).await })).await
    }

    async fn get(&self, hash: ContentHash) -> Result<Vec<u8>, BlobError> {
        self.read_all(hash).await
    }

    async fn fetch_to(&self, hash: ContentHash, target: &Path) -> Result<u64, BlobError> {
        self.read_to(hash, target).await
    }

    async fn verify(&self, hash: ContentHash) -> Result<u64, BlobError> {
        self.read(hash, To::Nowhere).await
    }

    async fn contains(&self, hash: ContentHash) -> Result<bool, BlobError> {
        match self.head(hash).await {
            Ok(_) => Ok(true),
            Err(BlobError::Missing { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn size(&self, hash: ContentHash) -> Result<u64, BlobError> {
        self.head(hash).await.map(|meta| meta.size)
    }

    async fn delete(&self, hash: ContentHash) -> Result<bool, BlobError> {
        // Services answer the same whether there was something to delete or not, so they are asked first.
        if !self.contains(hash).await? {
            return Ok(false);
        }
        let key = self.place.blob(hash);
        match self.store.delete(&key).await {
            Ok(()) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(self.on_error("remove", &key, &error)),
        }
    }

    async fn keep(&self, drafts: Vec<Draft>) -> Result<(), BlobError> {
        // They were stored at once, perhaps long before they are named.
        for draft in drafts.iter().filter(|draft| draft.is_older_than(TOUCH_AGAIN)) {
            let hash = draft.stored().hash;
            if !self.touch(hash).await? {
                return Err(BlobError::Missing { hash, location: self.place.location(&self.place.blob(hash)) });
            }
        }
        Ok(())
    }

    async fn touch(&self, hash: ContentHash) -> Result<bool, BlobError> {
        self.write_again(hash).await
    }

    async fn remove_unused(&self, hash: ContentHash, unused_since: SystemTime) -> Result<Removal, BlobError> {
        let meta = match self.head(hash).await {
            Ok(meta) => meta,
            Err(BlobError::Missing { .. }) => return Ok(Removal::Missing),
            Err(error) => return Err(error),
        };
        if SystemTime::from(meta.last_modified) > unused_since {
            return Ok(Removal::InUse);
        }
        let key = self.place.blob(hash);
        match self.store.delete(&key).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(Removal::Removed(meta.size)),
            Err(error) => Err(self.on_error("remove", &key, &error)),
        }
    }

    /// Services keep whole seconds, by their own clocks: a small object is written, and its time read.
    async fn now(&self) -> Result<SystemTime, BlobError> {
        let key = self.place.clock();
        let failed = |error: object_store::Error| self.on_error("write", &key, &error);
        self.store.put(&key, object_store::PutPayload::from_static(b"now")).await.map_err(failed)?;
        let written = self.store.head(&key).await.map_err(failed)?;
        // What is touched within the same second counts as touched later.
        Ok(SystemTime::from(written.last_modified) - Duration::from_secs(1))
    }

    async fn list(&self, after: Option<ContentHash>, limit: usize) -> Result<Vec<Listed>, BlobError> {
        self.page(after, limit).await
    }
}

/// What a task of ours came to.
pub(super) async fn finished<T>(task: tokio::task::JoinHandle<Result<T, BlobError>>) -> Result<T, BlobError> {
    match task.await {
        Ok(result) => result,
        Err(failure) => match failure.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_cancelled) => Err(BlobError::ShuttingDown),
        },
    }
}

/// Runs file work and hashing where they cannot hold up the runtime.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BlobError> + Send + 'static,
) -> Result<T, BlobError> {
    finished(tokio::task::spawn_blocking(work)).await
}
