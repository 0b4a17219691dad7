//! One way in for every kind of place.

use super::{
    ObjectBlobs, ObjectOptions,
    place::{Place, Scheme},
};
use crate::blobs::{BlobError, Blobs, LocalBlobs};
use std::sync::Arc;

/// Opens the blobs at a folder or URL: `bindery-data/blobs`, `file:///srv/blobs`, `s3://bucket/prefix`,
/// `gs://bucket/prefix`, `az://container/prefix`. Credentials and endpoints come from the environment.
///
/// A folder is kept by [`LocalBlobs`], also when it is written as a URL: both find each other's blobs, but only that
/// one forces every name to disk.
pub async fn open_blobs(url_or_folder: &str) -> Result<Arc<dyn Blobs>, BlobError> {
    open_blobs_with(url_or_folder, ObjectOptions::from_env()).await
}

async fn open_blobs_with(url_or_folder: &str, options: ObjectOptions) -> Result<Arc<dyn Blobs>, BlobError> {
    // A folder may have any name; `://` in one is far likelier a mistyped URL.
    if !url_or_folder.contains("://") {
        return Ok(Arc::new(LocalBlobs::open(url_or_folder)?));
    }
    let place = Place::parse(url_or_folder, &options)?;
    if place.scheme() == Scheme::File {
        return Ok(Arc::new(LocalBlobs::open(place.folder())?));
    }
    Ok(Arc::new(ObjectBlobs::open(url_or_folder, options).await?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blobs::BlobsExt;

    #[tokio::test]
    async fn a_folder_and_its_url_are_the_same_place() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("my blobs").display().to_string();
        let by_path = open_blobs(&folder).await.unwrap();
        let url = format!("file://{}", folder.replace(' ', "%20"));
        let by_url = open_blobs_with(&url, ObjectOptions::default()).await.unwrap();
        let by_object = ObjectBlobs::open(&url, ObjectOptions::default()).await.unwrap();
        for blobs in [&by_path, &by_url] {
            assert!(format!("{blobs:?}").contains("LocalBlobs"), "unexpected: {blobs:?}");
        }
        let hash = by_path.put(b"here".to_vec()).await.unwrap().hash;
        assert_eq!(by_url.get(hash).await.unwrap(), b"here");
        assert_eq!(by_object.get(hash).await.unwrap(), b"here");
        assert_eq!(by_object.verify_all().await.unwrap().sound, 1);
    }

    #[tokio::test]
    async fn a_mistyped_url_is_not_a_folder() {
        let error = open_blobs("s4://bucket").await.unwrap_err();
        assert!(error.to_string().starts_with("s4://bucket is no place for blobs: expected s3://"), "{error}");
    }
}
