//! A whole store carried to another one, as one tar.

use crate::{app::App, error::AppResult};
use bindery_files::WholeFile;
use bindery_store::portable;
pub use bindery_store::portable::{ArchiveError, Carried};
use std::{
    io::{self, BufReader, Read, Write},
    path::{Path, PathBuf},
};

/// A file that an archive cannot be written to.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be written: {error}", file.display())]
pub struct ArchiveUnwritable {
    file: PathBuf,
    error: io::Error,
}

impl App {
    /// Writes everything as it was at one moment. `tell` hears how far it is.
    pub async fn export_to(&self, into: impl Write, tell: impl FnMut(&Carried)) -> AppResult<Carried> {
        Ok(portable::export(self.store(), &**self.engine.blobs(), into, tell).await?)
    }

    /// The same into a file: one of this name is an archive that is whole, and as private as the store itself.
    pub async fn export_to_file(&self, file: &Path, tell: impl FnMut(&Carried)) -> AppResult<Carried> {
        let unwritable = |error| ArchiveUnwritable { file: file.to_owned(), error };
        let mut archive = WholeFile::begin_private(file).map_err(unwritable)?;
        let carried = self.export_to(&mut archive, tell).await?;
        archive.finish_durably().map_err(unwritable)?;
        Ok(carried)
    }

    /// Reads everything into a store that holds no work yet.
    pub async fn import_from(&self, from: impl Read, tell: impl FnMut(&Carried)) -> AppResult<Carried> {
        Ok(portable::import(self.store(), &**self.engine.blobs(), BufReader::new(from), tell).await?)
    }
}
