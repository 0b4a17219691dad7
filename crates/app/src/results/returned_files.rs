//! The files that programs have returned, as files.

use super::ResultError;
use crate::{app::App, error::AppResult};
use bindery_core::SubmissionId;
use bindery_files::{ScratchFolder, WholeFile};
use std::{
    fs::{self, File},
    io,
    path::Path,
};

/// How their keys begin: `files/STAGE/ITEM/NAME`.
const PREFIX: &str = "files/";
const PAGE: usize = 500;

/// Writes each of them below the folder under stage, item and its own name, and returns how many there were.
pub async fn write_returned_files(app: &App, id: SubmissionId, folder: &Path) -> AppResult<u64> {
    let unwritable = |path: &Path, error| ResultError::Unwritable { path: path.to_owned(), error };
    let scratch = ScratchFolder::new()?;
    let copy = scratch.join("copy");
    let (mut after, mut written) = (PREFIX.to_owned(), 0);
    loop {
        let page = app.store().artifacts(id, Some(&after), PAGE).await?;
        let own = page.iter().filter_map(|artifact| Some((artifact, artifact.key.strip_prefix(PREFIX)?)));
        let before = written;
        for (artifact, name) in own {
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(|error| unwritable(parent, error))?;
            }
            app.engine.blobs().fetch_to(artifact.hash, &copy).await?;
            let mut file = WholeFile::begin(&path).map_err(|error| unwritable(&path, error))?;
            io::copy(&mut File::open(&copy)?, &mut file).map_err(|error| unwritable(&path, error))?;
            file.finish().map_err(|error| unwritable(&path, error))?;
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
