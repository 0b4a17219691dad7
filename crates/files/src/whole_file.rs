//! The atomic file writer: a temporary file beside its target, renamed when it is complete.
//!
//! A link is followed, so that it goes on leading to the file, also where that file is not there yet. What is no file, such
//! as `/dev/null`, a named pipe or `/dev/stdout`, is written to as it is: renaming a file over a device would replace the
//! device, for every program of the machine.

use crate::private;
use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, BufWriter, Write},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;

/// Files that a user asks for can be read by whom the umask lets.
const USUAL_MODE: u32 = 0o666;

/// A file under construction that appears whole or not at all; dropped unfinished, it leaves nothing behind.
#[derive(Debug)]
pub struct WholeFile {
    content: Content,
    /// As it was asked for.
    path: PathBuf,
}

#[derive(Debug)]
enum Content {
    Beside { temporary: BufWriter<NamedTempFile>, target: PathBuf },
    Straight(BufWriter<File>),
}

/// Writes a file, all of it at once. Its folder has to be there.
pub fn write(path: impl Into<PathBuf>, content: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = WholeFile::begin(path)?;
    file.write_all(content.as_ref())?;
    file.finish().map(drop)
}

impl WholeFile {
    /// Begins a file with the permissions of the one that it replaces, or the usual ones. Its folder has to be there.
    pub fn begin(path: impl Into<PathBuf>) -> io::Result<Self> {
        Self::begin_with(path.into(), USUAL_MODE)
    }

    /// The same for a file that only its owner may read, also where it replaces another.
    pub fn begin_private(path: impl Into<PathBuf>) -> io::Result<Self> {
        Self::begin_with(path.into(), private::FILE_MODE)
    }

    fn begin_with(path: PathBuf, mode: u32) -> io::Result<Self> {
        let content = match fs::metadata(&path) {
            // A directory cannot be opened for writing, and the error says so.
            Ok(about) if !about.is_file() => straight(OpenOptions::new().write(true), &path)?,
            // Another program may have written to the same open file, and may go on.
            Ok(_) if is_open_file(&path) => straight(OpenOptions::new().append(true), &path)?,
            found => {
                let old = found.ok().map(|about| about.permissions());
                let target = behind_links(&path)?;
                if old.is_some() {
                    // A file that may not be written is not replaced either.
                    OpenOptions::new().write(true).open(&target)?;
                }
                let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
                let temporary = tempfile::Builder::new()
                    .prefix(".bindery-")
                    // The umask is taken off, as for every new file.
                    .permissions(Permissions::from_mode(mode))
                    .tempfile_in(folder.unwrap_or(Path::new(".")))?;
                if let Some(old) = old.filter(|_| mode == USUAL_MODE) {
                    temporary.as_file().set_permissions(Permissions::from_mode(old.mode() & 0o777))?;
                }
                Content::Beside { temporary: BufWriter::new(temporary), target }
            }
        };
        Ok(Self { content, path })
    }

    /// Everything is written: the file appears. Returns the path that was asked for.
    pub fn finish(self) -> io::Result<PathBuf> {
        self.put_in_place(false)
    }

    /// The same, and it is on disk when this returns.
    pub fn finish_durably(self) -> io::Result<PathBuf> {
        self.put_in_place(true)
    }

    fn put_in_place(self, durably: bool) -> io::Result<PathBuf> {
        match self.content {
            Content::Beside { temporary, target } => {
                let temporary = temporary.into_inner().map_err(io::IntoInnerError::into_error)?;
                if durably {
                    temporary.as_file().sync_all()?;
                }
                temporary.persist(&target)?;
                if durably {
                    sync_folder_of(&target)?;
                }
            }
            Content::Straight(mut straight) => {
                straight.flush()?;
                if durably {
                    unless_unsupported(straight.get_ref().sync_all())?;
                }
            }
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

fn straight(how: &OpenOptions, path: &Path) -> io::Result<Content> {
    Ok(Content::Straight(BufWriter::new(how.open(path)?)))
}

/// Whether the path names a file that this process has open, such as `/dev/stdout`.
fn is_open_file(path: &Path) -> bool {
    let is_descriptor = |path: &Path| {
        let mut parts = path.components().rev();
        let (number, folder) = (parts.next(), parts.next());
        number.is_some_and(|it| it.as_os_str().as_encoded_bytes().iter().all(u8::is_ascii_digit))
            && folder.is_some_and(|it| it.as_os_str() == "fd")
    };
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if is_descriptor(&path) && (path.starts_with("/proc") || path.starts_with("/dev")) {
            return true;
        }
        let Some(next) = next_link(&path) else { return false };
        path = next;
    }
    false
}

/// Where a link leads; none for what is no link.
fn next_link(path: &Path) -> Option<PathBuf> {
    let leads_to = fs::read_link(path).ok()?;
    Some(path.parent().unwrap_or(Path::new("")).join(leads_to))
}

/// The file that a link leads to, whether it is there or not.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match next_link(&target) {
            Some(next) => target = next,
            None => return Ok(target),
        }
    }
    Err(io::Error::other("too many links lead to it"))
}

fn sync_folder_of(file: &Path) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    unless_unsupported(File::open(folder)?.sync_all())
}

/// Some file systems and most devices know no such thing: there, bytes are as durable as they get.
fn unless_unsupported(synced: io::Result<()>) -> io::Result<()> {
    match synced {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        os::{
            fd::AsRawFd as _,
            unix::fs::{FileTypeExt as _, symlink},
        },
        process::Command,
        thread,
    };

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_appears_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.txt");
        let mut file = WholeFile::begin(&path).unwrap();
        file.write_all(b"half").unwrap();
        assert!(!path.exists());
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left of what was not finished");
        write(&path, "whole").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        let mut durable = WholeFile::begin(&path).unwrap();
        durable.write_all(b"again").unwrap();
        assert_eq!(durable.finish_durably().unwrap(), path);
        assert_eq!(fs::read_to_string(path).unwrap(), "again");
    }

    #[test]
    fn a_link_goes_on_leading_to_its_file_also_where_that_is_new() {
        let folder = tempfile::tempdir().unwrap();
        for (name, old) in [("march.ics", Some("old")), ("april.ics", None)] {
            let (file, link) = (folder.path().join(name), folder.path().join(format!("latest-{name}")));
            if let Some(old) = old {
                fs::write(&file, old).unwrap();
            }
            // As people make them: relative.
            symlink(name, &link).unwrap();
            write(&link, "new").unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), "new");
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        }
        let circle = folder.path().join("circle");
        symlink("circle", &circle).unwrap();
        write(&circle, "x").unwrap_err();
        assert!(fs::symlink_metadata(&circle).unwrap().is_symlink());
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
        write(&pipe, "for whoever reads").unwrap();
        assert_eq!(read.join().unwrap(), "for whoever reads");
        assert!(fs::metadata(pipe).unwrap().file_type().is_fifo());
    }

    #[test]
    fn a_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(write(folder.path(), "x").unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn an_open_file_is_written_behind_what_others_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut open = File::create(&path).unwrap();
        open.write_all(b"before ").unwrap();
        write(format!("/proc/self/fd/{}", open.as_raw_fd()), "after").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "before after");
    }

    #[test]
    fn permissions_are_kept_and_private_files_are_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        WholeFile::begin_private(&path).unwrap().finish().unwrap();
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        write(&path, "b").unwrap();
        assert_eq!(mode(&path), 0o640, "a file that is replaced keeps its permissions");
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        WholeFile::begin_private(&path).unwrap().finish().unwrap();
        assert_eq!(mode(&path), 0o600);
    }
}
