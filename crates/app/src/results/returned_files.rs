//! The files that programs have returned, as files.

use super::ResultError;
use crate::{app::App, error::AppResult};
use bindery_core::SubmissionId;
use std::{fs, path::Path};

/// How their keys begin: `files/STAGE/ITEM/NAME`.
const PREFIX: &str = "files/";
const PAGE: usize = 500;

/// Writes each of them below the folder under stage, item and its own name, and returns how many there were.
pub async fn write_returned_files(app: &App, id: SubmissionId, folder: &Path) -> AppResult<u64> {
    let (mut after, mut written) = (PREFIX.to_owned(), 0);
    loop {
        let page = app.store().artifacts(id, Some(&after), PAGE).await?;
        let own = page.iter().filter_map(|artifact| Some((artifact, artifact.key.strip_prefix(PREFIX)?)));
        let before = written;
        for (artifact, name) in own {
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                let unwritable = |error| ResultError::Unwritable { path: parent.to_owned(), error };
                fs::create_dir_all(parent).map_err(unwritable)?;
            }
            app.engine.blobs().fetch_to(artifact.hash, &path).await?;
            written += 1;
        }
        match page.last() {
            Some(last) if page.len() == PAGE && written > before => after.clone_from(&last.key),
            _ => break,
        }
    }
    if written == 0 {
        return Err(ResultError::NoFiles { id }.into());
    }
    Ok(written)
}
