//! One way in for every kind of place.

use super::{BlobError, Blobs, LocalBlobs};
use std::sync::Arc;

/// Opens the blobs at a folder or URL: `bindery-data/blobs`, `file:///srv/blobs`, `s3://bucket/prefix`,
/// `gs://bucket/prefix`, `az://container/prefix`. Credentials and endpoints come from the environment.
///
/// A folder is kept by [`LocalBlobs`], also when it is written as a URL: it forces every name to disk. Without the
/// feature `object-storage` the other kinds are refused.
pub async fn open_blobs(url_or_folder: &str) -> Result<Arc<dyn Blobs>, BlobError> {
    match folder_of(url_or_folder)? {
        Some(folder) => Ok(Arc::new(LocalBlobs::open(folder)?)),
        None => open_bucket(url_or_folder).await,
    }
}

/// The same to read only: in a folder nothing is made or tidied.
pub async fn open_blobs_to_read(url_or_folder: &str) -> Result<Arc<dyn Blobs>, BlobError> {
    match folder_of(url_or_folder)? {
        Some(folder) => Ok(Arc::new(LocalBlobs::open_to_read(folder))),
        None => open_bucket(url_or_folder).await,
    }
}

/// The folder, if it is one.
fn folder_of(url_or_folder: &str) -> Result<Option<String>, BlobError> {
    // A folder may have any name; `://` in one is far likelier a mistyped URL.
    let Some((scheme, rest)) = url_or_folder.split_once("://") else { return Ok(Some(url_or_folder.to_owned())) };
    if !scheme.eq_ignore_ascii_case("file") {
        return Ok(None);
    }
    let folder = file_folder(rest).ok_or_else(|| BlobError::BadFolderUrl { url: url_or_folder.to_owned() })?;
    Ok(Some(folder))
}

#[cfg(feature = "object-storage")]
async fn open_bucket(url: &str) -> Result<Arc<dyn Blobs>, BlobError> {
    use super::{ObjectBlobs, ObjectOptions};
    Ok(Arc::new(ObjectBlobs::open(url, ObjectOptions::from_env()).await?))
}

#[cfg(not(feature = "object-storage"))]
#[expect(clippy::unused_async, reason = "with object storage it waits")]
async fn open_bucket(url: &str) -> Result<Arc<dyn Blobs>, BlobError> {
    // Without what follows the question mark, where somebody may have put a secret.
    Err(BlobError::NoObjectStorage { url: url.split('?').next().unwrap_or(url).to_owned() })
}

/// The folder of a URL, from what follows `file://`. Absolute, because a server and its workers may be started in
/// different folders.
pub(super) fn file_folder(rest: &str) -> Option<String> {
    percent_decoded(rest).filter(|folder| folder.starts_with('/'))
}

pub(super) fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_folder_and_its_url_are_the_same_place() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("my blobs").display().to_string();
        let by_path = open_blobs(&folder).await.unwrap();
        let by_url = open_blobs(&format!("file://{}", folder.replace(' ', "%20"))).await.unwrap();
        for blobs in [&by_path, &by_url] {
            assert!(format!("{blobs:?}").contains("LocalBlobs"), "unexpected: {blobs:?}");
        }
        let hash = by_path.put(b"here".to_vec()).await.unwrap().hash;
        assert_eq!(by_url.get(hash).await.unwrap(), b"here");
    }

    #[tokio::test]
    async fn a_relative_folder_in_a_url_is_refused() {
        let error = open_blobs("file://papers").await.unwrap_err();
        assert_eq!(error.to_string(), "file://papers is no place for blobs: expected file:/// and the whole path");
    }

    #[cfg(feature = "object-storage")]
    #[tokio::test]
    async fn a_mistyped_url_is_not_a_folder() {
        let error = open_blobs("s4://bucket").await.unwrap_err();
        assert!(error.to_string().starts_with("s4://bucket is no place for blobs: expected s3://"), "{error}");
    }

    #[cfg(not(feature = "object-storage"))]
    #[tokio::test]
    async fn a_program_without_object_storage_says_so() {
        let error = open_blobs("s3://papers/in?x=y").await.unwrap_err();
        assert!(error.to_string().starts_with("s3://papers/in cannot be opened"), "{error}");
    }
}
