//! A place with readable keys, for what others put there and look for there: a prefix of a bucket, or a folder.
//!
//! Blobs are found by their hash, and only Bindery knows that. A shelf is where files stand under names that were agreed
//! with others: `raw/…` for what comes in, `text-docs/…` for what goes out (see [`KeyLayout`](super::KeyLayout)).
//!
//! * **All or nothing.** What is put or copied appears whole, and replaces what was there.
//! * **A copy is verified** before anybody is told of it: its length, and its bytes or what the service says of them.
//! * **Nothing goes by itself.** Only [`remove`](Shelf::remove) removes, one key at a time.

use super::{
    ObjectError, ObjectOptions, Offer, OutwardKey,
    connect::connect,
    error::{is_no_bucket, on_object},
    place::Place,
};
use crate::blobs::BlobError;
use bindery_core::{ContentHash, hash::Hasher};
use futures_util::TryStreamExt;
use object_store::{Error, GetOptions, ObjectStore, ObjectStoreExt, PutPayload, WriteMultipart, path::Path as Key};
use std::{fmt, sync::Arc};

/// Larger objects are copied in parts, so that a copy needs little memory.
const WHOLE: u64 = 8 << 20;

/// How many parts are on their way at once.
const PARTS_AT_ONCE: usize = 2;

/// A prefix of a bucket, or a folder. Cheap to clone.
#[derive(Clone)]
pub struct Shelf {
    place: Arc<Place>,
    store: Arc<dyn ObjectStore>,
}

impl Shelf {
    /// The place at a URL such as `s3://papers/idp` or `file:///srv/idp`. Asks nobody: the first use tells whether it
    /// is there. A folder is made.
    pub fn connect(url: &str, options: &ObjectOptions) -> Result<Self, BlobError> {
        let place = Place::parse(url, options)?;
        let store = connect(&place, options)?;
        Ok(Self { place: Arc::new(place), store })
    }

    /// The name of the bucket, or the folder.
    pub fn bucket(&self) -> &str {
        self.place.bucket()
    }

    /// The whole address of a key.
    pub fn location(&self, key: &OutwardKey) -> String {
        self.place.location(&self.at(key))
    }

    fn at(&self, key: &OutwardKey) -> Key {
        self.place.outward(key.as_key())
    }

    fn on_error(&self, action: &'static str, key: &Key, error: &Error) -> BlobError {
        on_object(&self.place, action, self.place.location(key), error)
    }

    /// What stands there, without reading it.
    pub async fn look(&self, key: &OutwardKey) -> Result<Option<Offer>, BlobError> {
        let at = self.at(key);
        match self.store.head(&at).await {
            Ok(meta) => Ok(Some(Offer::from_object(&self.place, &meta, key.to_string()))),
            Err(error @ Error::NotFound { .. }) if !is_no_bucket(&error) => Ok(None),
            Err(error) => Err(self.on_error("read", &at, &error)),
        }
    }

    /// The bytes that stand there, all in memory.
    pub async fn read(&self, key: &OutwardKey) -> Result<Option<Vec<u8>>, BlobError> {
        let at = self.at(key);
        let found = match self.store.get(&at).await {
            Ok(found) => found,
            Err(error @ Error::NotFound { .. }) if !is_no_bucket(&error) => return Ok(None),
            Err(error) => return Err(self.on_error("read", &at, &error)),
        };
        let bytes = found.bytes().await.map_err(|error| self.on_error("read", &at, &error))?;
        Ok(Some(bytes.into()))
    }

    /// Puts bytes there, in the place of what was there. Returns the whole address.
    pub async fn put(&self, key: &OutwardKey, bytes: Vec<u8>) -> Result<String, BlobError> {
        let at = self.at(key);
        self.store.put(&at, PutPayload::from(bytes)).await.map_err(|error| self.on_error("write", &at, &error))?;
        Ok(self.place.location(&at))
    }

    /// Removes what stands there. False if there was nothing.
    pub async fn remove(&self, key: &OutwardKey) -> Result<bool, BlobError> {
        if self.look(key).await?.is_none() {
            return Ok(false);
        }
        let at = self.at(key);
        match self.store.delete(&at).await {
            Ok(()) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(self.on_error("remove", &at, &error)),
        }
    }

    /// What stands below a prefix such as `text-docs`.
    pub async fn list(&self, below: &OutwardKey) -> Result<Vec<Offer>, BlobError> {
        let at = self.at(below);
        let objects: Vec<_> = self
            .store
            .list(Some(&at))
            .try_collect()
            .await
            .map_err(|error| on_object(&self.place, "list", self.place.location(&at), &error))?;
        let key = |object: &object_store::ObjectMeta| -> Option<String> {
            let below: Key = object.location.prefix_match(self.place.prefix())?.collect();
            Some(below.to_string())
        };
        Ok(objects.iter().filter_map(|object| Some(Offer::from_object(&self.place, object, key(object)?))).collect())
    }

    /// Copies what was looked at on another shelf, and verifies the copy. What was replaced in between is not copied.
    pub async fn copy_from(&self, source: &Self, offer: &Offer, to: &OutwardKey) -> Result<Offer, BlobError> {
        let (from, at) = (source.at(&OutwardKey::parse(&offer.key)?), self.at(to));
        let options = GetOptions { if_match: offer.etag.clone(), ..GetOptions::default() };
        let changed = || BlobError::from(ObjectError::Changed { location: offer.location.clone() });
        let found = match source.store.get_opts(&from, options).await {
            Ok(found) => found,
            Err(Error::NotFound { .. } | Error::Precondition { .. }) => return Err(changed()),
            Err(error) => return Err(source.on_error("read", &from, &error)),
        };
        let mut hasher = Hasher::default();
        let mut size = 0_u64;
        let mut pieces = found.into_stream();
        let on_read = |error: Error| source.on_error("read", &from, &error);
        let on_write = |error: Error| self.on_error("write", &at, &error);
        if offer.size <= WHOLE {
            let mut bytes = Vec::with_capacity(offer.size as usize);
            while let Some(piece) = pieces.try_next().await.map_err(on_read)? {
                bytes.extend_from_slice(&piece);
            }
            size = bytes.len() as u64;
            hasher.update(&bytes);
            self.store.put(&at, PutPayload::from(bytes)).await.map_err(on_write)?;
        } else {
            let mut upload = WriteMultipart::new(self.store.put_multipart(&at).await.map_err(on_write)?);
            loop {
                match pieces.try_next().await {
                    Ok(Some(piece)) => {
                        size += piece.len() as u64;
                        hasher.update(&piece);
                        upload.wait_for_capacity(PARTS_AT_ONCE).await.map_err(on_write)?;
                        upload.put(piece);
                    }
                    Ok(None) => break,
                    Err(error) => {
                        let _ = upload.abort().await;
                        return Err(on_read(error));
                    }
                }
            }
            upload.finish().await.map_err(on_write)?;
        }
        let copy = self.look(to).await?.ok_or_else(|| differs(offer, "it is not there"))?;
        self.verify_copy(offer, &copy, to, size, hasher.finish()).await?;
        Ok(copy)
    }

    /// An ETag is the hash of the bytes where an object went up whole; where one went up in parts it is not, and the
    /// copy is read.
    async fn verify_copy(
        &self,
        offer: &Offer,
        copy: &Offer,
        key: &OutwardKey,
        size: u64,
        hash: ContentHash,
    ) -> Result<(), BlobError> {
        if size != offer.size || copy.size != offer.size {
            return Err(differs(offer, &format!("it has {} bytes instead of {}", copy.size, offer.size)));
        }
        if offer.etag.is_some() && copy.etag == offer.etag {
            return Ok(());
        }
        let at = self.at(key);
        let on_read = |error: Error| self.on_error("read", &at, &error);
        let mut pieces = self.store.get(&at).await.map_err(on_read)?.into_stream();
        let mut hasher = Hasher::default();
        while let Some(piece) = pieces.try_next().await.map_err(on_read)? {
            hasher.update(&piece);
        }
        if hasher.finish() == hash { Ok(()) } else { Err(differs(offer, "its bytes are others")) }
    }
}

fn differs(offer: &Offer, why: &str) -> BlobError {
    ObjectError::CopyDiffers { location: offer.location.clone(), why: why.to_owned() }.into()
}

impl fmt::Debug for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The client knows the credentials.
        f.debug_struct("Shelf").field("place", &self.place).finish_non_exhaustive()
    }
}
