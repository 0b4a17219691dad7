//! How much is stored of submissions, before anything is deleted.

use crate::{app::App, error::AppResult};
use bindery_core::{ContentHash, SubmissionId};
use bindery_store::blobs::BlobError;
use std::collections::HashSet;

/// How many submissions are looked at together.
const AT_ONCE: usize = 200;

/// What deletions would take. Files that others use, too, are counted, though they stay.
#[derive(Debug, Default)]
pub(super) struct Size {
    pub(super) rows: u64,
    pub(super) files: u64,
    pub(super) bytes: u64,
}

pub(super) async fn size_of(app: &App, submissions: &[SubmissionId]) -> AppResult<Size> {
    let mut size = Size::default();
    let mut blobs: HashSet<ContentHash> = HashSet::new();
    for portion in submissions.chunks(AT_ONCE) {
        let extent = app.store().extent(portion.to_vec()).await?;
        size.rows += extent.rows;
        blobs.extend(extent.blobs);
    }
    for hash in blobs {
        match app.engine.blobs().size(hash).await {
            Ok(bytes) => {
                size.files += 1;
                size.bytes += bytes;
            }
            // Any 64 hexadecimal digits may be the name of a blob, or not.
            Err(BlobError::Missing { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(size)
}
