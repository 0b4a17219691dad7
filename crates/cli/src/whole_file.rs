//! A file that appears whole or not at all: written beside its place, and moved there when it is complete.

use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

#[derive(Debug)]
pub(crate) struct WholeFile {
    temporary: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl WholeFile {
    /// Its folder has to be there.
    pub(crate) fn begin(path: PathBuf) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let temporary = BufWriter::new(tempfile::Builder::new().prefix(".bindery-").tempfile_in(folder)?);
        Ok(Self { temporary, path })
    }

    /// All of it at once.
    pub(crate) fn write(path: PathBuf, content: &str) -> io::Result<()> {
        let mut file = Self::begin(path)?;
        file.write_all(content.as_bytes())?;
        file.finish().map(|_| ())
    }

    /// It is there now.
    pub(crate) fn finish(self) -> io::Result<PathBuf> {
        let temporary = self.temporary.into_inner().map_err(io::IntoInnerError::into_error)?;
        make_readable(temporary.as_file())?;
        temporary.persist(&self.path)?;
        Ok(self.path)
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.temporary.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.temporary.flush()
    }
}

/// Temporary files are for their owner alone; what a user asked for has the usual rights.
fn make_readable(file: &std::fs::File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    let _ = file;
    Ok(())
}
