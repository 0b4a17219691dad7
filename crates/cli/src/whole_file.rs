//! A file that appears whole or not at all: written beside its place, and moved there when it is complete.
//!
//! A link is followed, so that it goes on leading to the file. What is no file, such as `/dev/null` or a named pipe, is
//! written to as it is: moving a file there would put an end to it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

#[derive(Debug)]
pub(crate) struct WholeFile {
    content: Content,
    /// As it was asked for.
    path: PathBuf,
}

#[derive(Debug)]
enum Content {
    Beside { temporary: BufWriter<NamedTempFile>, place: PathBuf },
    Straight(BufWriter<File>),
}

impl WholeFile {
    /// Its folder has to be there.
    pub(crate) fn begin(path: PathBuf) -> io::Result<Self> {
        let place = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        let content = if fs::metadata(&place).is_ok_and(|about| !about.is_file()) {
            Content::Straight(BufWriter::new(OpenOptions::new().write(true).open(&place)?))
        } else {
            let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let temporary = BufWriter::new(tempfile::Builder::new().prefix(".bindery-").tempfile_in(folder)?);
            Content::Beside { temporary, place }
        };
        Ok(Self { content, path })
    }

    /// All of it at once.
    pub(crate) fn write(path: PathBuf, content: &str) -> io::Result<()> {
        let mut file = Self::begin(path)?;
        file.write_all(content.as_bytes())?;
        file.finish().map(|_| ())
    }

    /// It is there now.
    pub(crate) fn finish(self) -> io::Result<PathBuf> {
        match self.content {
            Content::Beside { temporary, place } => {
                let temporary = temporary.into_inner().map_err(io::IntoInnerError::into_error)?;
                make_readable(temporary.as_file())?;
                temporary.persist(&place)?;
            }
            Content::Straight(mut straight) => straight.flush()?,
        }
        Ok(self.path)
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.content {
            Content::Beside { temporary, .. } => temporary.write(bytes),
            Content::Straight(straight) => straight.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.content {
            Content::Beside { temporary, .. } => temporary.flush(),
            Content::Straight(straight) => straight.flush(),
        }
    }
}

/// Temporary files are for their owner alone; what a user asked for has the usual rights.
fn make_readable(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    let _ = file;
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::{
        os::unix::fs::{FileTypeExt as _, symlink},
        process::Command,
        thread,
    };

    #[test]
    fn a_file_appears_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.txt");
        let mut file = WholeFile::begin(path.clone()).unwrap();
        file.write_all(b"half").unwrap();
        assert!(!path.exists());
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left of what was not finished");
        WholeFile::write(path.clone(), "whole").unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "whole");
    }

    #[test]
    fn a_link_goes_on_leading_to_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("march.ics"), folder.path().join("latest.ics"));
        fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        WholeFile::write(link.clone(), "new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn a_pipe_is_written_to_and_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let read = thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe).unwrap()
        });
        WholeFile::write(pipe.clone(), "for whoever reads").unwrap();
        assert_eq!(read.join().unwrap(), "for whoever reads");
        assert!(fs::metadata(pipe).unwrap().file_type().is_fifo());
    }
}
