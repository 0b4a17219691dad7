//! Making a blob available under a readable key.

use super::{ObjectBlobs, OutwardKey};
use crate::blobs::{BlobError, Blobs};
use bindery_core::ContentHash;
use object_store::ObjectStoreExt;

impl ObjectBlobs {
    /// Makes the blob available under `key`, replacing what was there. Durable once this returns; idempotent.
    ///
    /// The service copies; no bytes pass through here, except to see that the blob is sound (see
    /// [`ObjectOptions::check_existing`](super::ObjectOptions)): damaged bytes are not handed to others. The copy is
    /// theirs: what they do to it does not touch the blob, and deleting the blob does not remove it. Returns the whole
    /// address.
    ///
    /// S3 copies objects of up to 5 GB in one request, and refuses larger ones.
    pub async fn publish(&self, key: &OutwardKey, hash: ContentHash) -> Result<String, BlobError> {
        if self.options.check_existing {
            self.verify(hash).await?;
        }
        let (from, to) = (self.place.blob(hash), self.place.outward(key.as_key()));
        let location = self.place.location(&to);
        match self.store.copy(&from, &to).await {
            Ok(()) => Ok(location),
            // Not there is the blob, or the bucket. A look at the blob tells which.
            Err(error @ object_store::Error::NotFound { .. }) => {
                self.size(hash).await?;
                Err(self.on_error("copy a blob to", &to, &error))
            }
            Err(error) => Err(self.on_error("copy a blob to", &to, &error)),
        }
    }
}
