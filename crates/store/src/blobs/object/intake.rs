//! Documents that others put into object storage: what is there, and reading it.
//!
//! A watcher lists a prefix such as `s3://bucket/staging/` again and again and submits what it finds, each object once:
//!
//! ```no_run
//! # async fn watch(known: impl Fn(&str) -> bool) -> Result<(), bindery_store::blobs::BlobError> {
//! use bindery_store::blobs::ObjectIntake;
//!
//! let intake = ObjectIntake::open("s3://papers/staging/").await?;
//! let mut offers = intake.list(None);
//! while let Some(offer) = offers.next().await? {
//!     if known(&offer.external_id()) {
//!         continue; // a submission has this external id
//!     }
//!     intake.fetch_to(&offer, std::path::Path::new("incoming.part")).await?;
//!     // put the file into the blobs, and submit it with that external id
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What a watcher may rely on:
//!
//! * **An identity says which bytes.** [`Offer::external_id`] has the whole address of the object and its version (the
//!   ETag; where there is none, its size and time). It is the same in every process and after every restart, and an
//!   object that is replaced by another has another one. Given as the external id of a submission, it makes the store
//!   refuse the second submission, so that nothing has to be remembered here.
//! * **What is read is what was listed**, or an error: reading is conditional on the version.
//! * **Objects are whole.** Services show an object when its upload is complete.
//! * **Nothing is changed.** Objects are neither moved nor deleted: that is the business of whoever put them there.
//!
//! Blobs that lie below the same prefix are not offered, nor are the empty objects that some programs make for folders.
//! Copies that were published there are: keep what goes out away from what comes in.

use super::{
    ObjectError, ObjectOptions,
    connect::connect,
    error::{is_no_bucket, on_object},
    place::Place,
    spool::{self, Spool},
};
use crate::blobs::BlobError;
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream::BoxStream};
use object_store::{GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt, path::Path as Key};
use std::{
    fmt,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

/// A prefix that documents are put below. Cheap to clone.
#[derive(Clone)]
pub struct ObjectIntake {
    place: Arc<Place>,
    store: Arc<dyn ObjectStore>,
}

/// An object that was there when it was listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Its key below the prefix, such as `2026/report.pdf`.
    pub key: String,
    /// Its whole address, such as `s3://papers/staging/2026/report.pdf`.
    pub location: String,
    pub size: u64,
    pub modified: SystemTime,
    /// What the service calls this version of it.
    pub etag: Option<String>,
}

impl Offer {
    /// What stands at a place, under its key below the place's prefix.
    pub(super) fn from_object(place: &Place, object: &ObjectMeta, key: String) -> Self {
        let millis = u64::try_from(object.last_modified.timestamp_millis()).unwrap_or(0);
        Self {
            location: place.location(&object.location),
            key,
            size: object.size,
            modified: SystemTime::UNIX_EPOCH + Duration::from_millis(millis),
            etag: object.e_tag.clone(),
        }
    }

    /// The last part of its key: what people call it.
    pub fn name(&self) -> &str {
        self.key.rsplit('/').next().unwrap_or(&self.key)
    }

    /// Its identity: the address and the version, such as `s3://papers/staging/a.pdf#9dd4e461268c8034`.
    pub fn external_id(&self) -> String {
        let of_time = || {
            let since = self.modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            format!("{}-{}", self.size, since.as_millis())
        };
        let of_etag = |etag: &String| etag.trim_start_matches("W/").trim_matches('"').to_owned();
        let version = self.etag.as_ref().map_or_else(of_time, of_etag);
        format!("{}#{version}", self.location)
    }
}

impl ObjectIntake {
    /// Opens the prefix at a URL such as `s3://bucket/staging/`, with credentials and endpoint from the environment,
    /// and lists a first page to see that the bucket is there and may be read.
    pub async fn open(url: &str) -> Result<Self, BlobError> {
        Self::open_with(url, ObjectOptions::from_env()).await
    }

    /// The same with options of the caller's.
    pub async fn open_with(url: &str, options: ObjectOptions) -> Result<Self, BlobError> {
        let place = Place::parse(url, &options)?;
        let store = connect(&place, &options)?;
        let intake = Self { place: Arc::new(place), store };
        intake.list(None).next().await?;
        Ok(intake)
    }

    /// Begins to list what is there, in the order in which the service lists, which is that of keys on most. Pages are
    /// asked for as they are needed.
    ///
    /// `after` leaves out the keys up to this one. New objects may have any key, so it is of use only where those who
    /// put them there count upwards, by the date for example.
    pub fn list(&self, after: Option<&str>) -> Offers {
        let prefix = self.place.prefix();
        let objects = match after {
            Some(after) => self.store.list_with_offset(Some(prefix), &self.place.outward(&Key::from(after))),
            None => self.store.list(Some(prefix)),
        };
        Offers { intake: self.clone(), objects }
    }

    /// Opens an object as a stream. Fails with [`ObjectError::Changed`] if it is no longer what was listed.
    pub async fn read(&self, offer: &Offer) -> Result<OfferReader, BlobError> {
        let key = self.place.outward(&Key::parse(&offer.key).map_err(|_| bad_key(&offer.key))?);
        let options = GetOptions { if_match: offer.etag.clone(), ..GetOptions::default() };
        let found = self.store.get_opts(&key, options).await.map_err(|error| self.on_read(offer, &error))?;
        if found.meta.size != offer.size {
            return Err(ObjectError::Changed { location: offer.location.clone() }.into());
        }
        Ok(OfferReader { intake: self.clone(), offer: offer.clone(), pieces: found.into_stream(), size: 0 })
    }

    /// Copies an object to a file, in little memory. The file is there whole or not at all. Returns the size.
    pub async fn fetch_to(&self, offer: &Offer, target: &Path) -> Result<u64, BlobError> {
        let mut reader = self.read(offer).await?;
        let (sender, spool) = Spool::create_beside(target).await?;
        let read = async {
            while let Some(piece) = reader.next().await? {
                spool::send(&sender, piece).await?;
            }
            Ok(reader.size)
        }
        .await;
        drop(sender);
        spool.finish(read).await
    }

    fn on_read(&self, offer: &Offer, error: &object_store::Error) -> BlobError {
        use object_store::Error as Theirs;
        match error {
            Theirs::NotFound { .. } | Theirs::Precondition { .. } | Theirs::NotModified { .. }
                if !is_no_bucket(error) =>
            {
                ObjectError::Changed { location: offer.location.clone() }.into()
            }
            _ => on_object(&self.place, "read", offer.location.clone(), error),
        }
    }

    fn on_list(&self, error: &object_store::Error) -> BlobError {
        on_object(&self.place, "list", self.place.to_string(), error)
    }

    /// What is offered at an object; nothing if it is none for others to take.
    async fn offer(&self, object: ObjectMeta) -> Result<Option<Offer>, BlobError> {
        if self.place.hash(&object.location).is_some() {
            return Ok(None);
        }
        let Some(parts) = object.location.prefix_match(self.place.prefix()) else { return Ok(None) };
        let key: Key = parts.collect();
        if key.as_ref().is_empty() {
            return Ok(None);
        }
        // The library strips the slash at the end of a key, which is all that tells a folder's mark from an empty
        // document. The mark is not there under the key without it.
        if object.size == 0 {
            match self.store.head(&object.location).await {
                Ok(_) => {}
                Err(object_store::Error::NotFound { .. }) => return Ok(None),
                Err(error) => return Err(self.on_list(&error)),
            }
        }
        Ok(Some(Offer::from_object(&self.place, &object, key.to_string())))
    }
}

fn bad_key(key: &str) -> ObjectError {
    ObjectError::BadKey { key: key.to_owned(), reason: "it has empty, . or .. segments" }
}

impl fmt::Debug for ObjectIntake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The client knows the credentials.
        f.debug_struct("ObjectIntake").field("place", &self.place).finish_non_exhaustive()
    }
}

/// One pass over what is there.
pub struct Offers {
    intake: ObjectIntake,
    objects: BoxStream<'static, object_store::Result<ObjectMeta>>,
}

impl Offers {
    /// The next object; none at the end. After an error, begin another pass.
    pub async fn next(&mut self) -> Result<Option<Offer>, BlobError> {
        while let Some(object) = self.objects.try_next().await.map_err(|error| self.intake.on_list(&error))? {
            if let Some(offer) = self.intake.offer(object).await? {
                return Ok(Some(offer));
            }
        }
        Ok(None)
    }
}

impl fmt::Debug for Offers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offers").field("intake", &self.intake).finish_non_exhaustive()
    }
}

/// The bytes of an object, in pieces.
pub struct OfferReader {
    intake: ObjectIntake,
    offer: Offer,
    pieces: BoxStream<'static, object_store::Result<Bytes>>,
    size: u64,
}

impl OfferReader {
    /// The next bytes; none at the end, which is reached only if all of them came.
    pub async fn next(&mut self) -> Result<Option<Bytes>, BlobError> {
        match self.pieces.next().await {
            Some(Ok(piece)) => {
                self.size += piece.len() as u64;
                Ok(Some(piece))
            }
            Some(Err(error)) => Err(self.intake.on_read(&self.offer, &error)),
            None if self.size == self.offer.size => Ok(None),
            None => {
                let reason = format!("{} of {} bytes came", self.size, self.offer.size);
                Err(ObjectError::Other { action: "read", location: self.offer.location.clone(), reason }.into())
            }
        }
    }
}

impl fmt::Debug for OfferReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OfferReader").field("offer", &self.offer).field("size", &self.size).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_an_address_and_a_version() {
        let mut offer = Offer {
            key: "2026/a.pdf".to_owned(),
            location: "s3://papers/staging/2026/a.pdf".to_owned(),
            size: 7,
            modified: SystemTime::UNIX_EPOCH + Duration::from_millis(1_500),
            etag: Some("\"9dd4\"".to_owned()),
        };
        assert_eq!(offer.name(), "a.pdf");
        assert_eq!(offer.external_id(), "s3://papers/staging/2026/a.pdf#9dd4");
        offer.etag = Some("W/\"9dd4\"".to_owned());
        assert_eq!(offer.external_id(), "s3://papers/staging/2026/a.pdf#9dd4");
        offer.etag = None;
        assert_eq!(offer.external_id(), "s3://papers/staging/2026/a.pdf#7-1500");
    }
}
