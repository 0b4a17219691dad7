//! Blocking file work: hashed copies, temporary files, and directories that are on disk when we say so.

use super::BlobError;
use bindery_core::{ContentHash, hash::Hasher};
use bindery_files::private;
use std::{
    fs::{self, DirBuilder, File, Metadata, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt as _, FileTypeExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

/// Large enough to keep a disk busy, small enough for hundreds of copies at once, and for small files not to cost more
/// memory than bytes.
const CHUNK: usize = 64 * 1024;

/// How temporary files end, so that nothing else is ever cleaned up.
const TEMPORARY: &str = ".part";

/// Fails unless the handle is of a regular file: reading a pipe or a device may never end.
fn require_file(path: &Path, metadata: &Metadata) -> Result<(), BlobError> {
    let file_type = metadata.file_type();
    let kind = match () {
        () if file_type.is_file() => return Ok(()),
        () if file_type.is_dir() => "a directory",
        () if file_type.is_fifo() => "a pipe",
        () if file_type.is_socket() => "a socket",
        () => "a device",
    };
    Err(BlobError::NotAFile { path: path.to_owned(), kind })
}

/// A file that is being copied into the store.
pub(super) struct Source {
    path: PathBuf,
    file: File,
    before: Metadata,
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self, BlobError> {
        // Asked by name first because a socket cannot even be opened, and again on the handle because the name may
        // have been given to something else in between. Without NONBLOCK, opening a pipe waits for its writer.
        require_file(path, &fs::metadata(path).map_err(|error| BlobError::source(path, error))?)?;
        let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(nonblocking)
            .open(path)
            .map_err(|error| BlobError::source(path, error))?;
        let before = file.metadata().map_err(|error| BlobError::source(path, error))?;
        require_file(path, &before)?;
        Ok(Self { path: path.to_owned(), file, before })
    }

    /// Copies the file and makes sure that it is still what it was. `after_chunk` lets tests interfere.
    pub(super) fn copy_to(
        &self,
        temporary: &mut Temporary,
        mut after_chunk: impl FnMut(),
    ) -> Result<(ContentHash, u64), BlobError> {
        // One byte more than expected is enough to know; a file that grows for ever must not fill the disk.
        let bounded = (&self.file).take(self.before.len().saturating_add(1));
        let on_read_error = |error| BlobError::source(&self.path, error);
        let (hash, size) = hash_through(bounded, on_read_error, |chunk| {
            temporary.write(chunk)?;
            after_chunk();
            Ok(())
        })?;
        self.require_unchanged(size)?;
        Ok((hash, size))
    }

    /// Fails unless the file, of which `copied` bytes were read, is still what it was when it was opened.
    pub(super) fn require_unchanged(&self, copied: u64) -> Result<(), BlobError> {
        let changed = |what: String| Err(BlobError::SourceChanged { path: self.path.clone(), what });
        let expected = self.before.len();
        if copied != expected {
            return changed(if copied > expected {
                format!("it grew beyond {expected} bytes")
            } else {
                format!("it shrank from {expected} to {copied} bytes")
            });
        }
        // By name, not by handle: a file that was replaced is another file, whatever our handle still holds.
        let after = match fs::metadata(&self.path) {
            Ok(after) => after,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return changed("it was removed".to_owned()),
            Err(error) => return Err(BlobError::source(&self.path, error)),
        };
        if (after.dev(), after.ino()) != (self.before.dev(), self.before.ino()) {
            return changed("it was replaced".to_owned());
        }
        let modified = |metadata: &Metadata| {
            (metadata.len(), metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec())
        };
        if modified(&after) != modified(&self.before) {
            return changed("it was modified".to_owned());
        }
        Ok(())
    }
}

/// For bytes that become a row.
impl Source {
    /// All bytes of the file; none where there are more than this.
    pub(super) fn read_up_to(&self, most: usize) -> Result<Option<Vec<u8>>, BlobError> {
        if self.before.len() > most as u64 {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(most.min(self.before.len() as usize + 1));
        let bounded = (&self.file).take(self.before.len().saturating_add(1)).read_to_end(&mut bytes);
        bounded.map_err(|error| BlobError::source(&self.path, error))?;
        self.require_unchanged(bytes.len() as u64)?;
        Ok(Some(bytes))
    }
}

/// For uploads, which read a file twice and in parts.
#[cfg(feature = "object-storage")]
impl Source {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The size when it was opened.
    pub(super) fn size(&self) -> u64 {
        self.before.len()
    }

    pub(super) fn on_error(&self, error: io::Error) -> BlobError {
        BlobError::source(&self.path, error)
    }

    /// Begins again.
    pub(super) fn rewind(&self) -> Result<(), BlobError> {
        io::Seek::rewind(&mut &self.file).map_err(|error| self.on_error(error))
    }

    /// The file from its beginning, and one byte more than expected: enough to know that it grew.
    pub(super) fn bounded(&self) -> Result<impl Read, BlobError> {
        self.rewind()?;
        Ok((&self.file).take(self.before.len().saturating_add(1)))
    }

    /// The next bytes, as many as asked for unless the file ends. None at its end.
    pub(super) fn part(&self, size: usize) -> Result<Vec<u8>, BlobError> {
        let mut part = Vec::with_capacity(size);
        (&self.file).take(size as u64).read_to_end(&mut part).map_err(|error| self.on_error(error))?;
        Ok(part)
    }
}

/// A file under construction.
#[derive(Debug)]
pub(super) struct Temporary {
    file: File,
    part: Part,
}

impl Temporary {
    /// For its owner alone.
    pub(super) fn create(directory: &Path) -> Result<Self, BlobError> {
        Self::create_with(directory, private::FILE_MODE)
    }

    pub(super) fn create_with(directory: &Path, mode: u32) -> Result<Self, BlobError> {
        loop {
            // Other processes and other machines write here too, so a counter would not do.
            let path = directory.join(format!("{:016x}{TEMPORARY}", fastrand::u64(..)));
            match OpenOptions::new().write(true).create_new(true).mode(mode).open(&path) {
                Ok(file) => return Ok(Self { file, part: Part { path, named: false } }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(BlobError::io("create a file in", directory, error)),
            }
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), BlobError> {
        self.file.write_all(bytes).map_err(|error| BlobError::io("write", &self.part.path, error))
    }

    /// Everything is written. The file is closed: there may be thousands that wait for their names.
    pub(super) fn finish(self) -> Part {
        self.part
    }
}

/// Writes a working copy: it appears complete or not at all, and need not survive a crash of the machine.
pub(super) fn write_copy(
    target: &Path,
    fill: impl FnOnce(&mut Temporary) -> Result<u64, BlobError>,
) -> Result<u64, BlobError> {
    // Beside the target, because only within one file system can it be renamed.
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut temporary = Temporary::create(directory)?;
    let size = fill(&mut temporary)?;
    temporary.finish().rename(target)?;
    Ok(size)
}

/// A file that is written and waits for its name; removed when dropped, unless it was given one.
#[derive(Debug)]
pub(super) struct Part {
    path: PathBuf,
    named: bool,
}

impl Part {
    /// Returns when the bytes are on disk. What nobody was told of yet, of a write that failed earlier, is told here.
    pub(super) fn sync(&self) -> Result<(), BlobError> {
        let synced = File::open(&self.path).and_then(|file| file.sync_all());
        synced.map_err(|error| BlobError::io("write", &self.path, error))
    }

    /// Reads back what was written.
    pub(super) fn hash(&self) -> Result<ContentHash, BlobError> {
        let on_read_error = |error| BlobError::io("read", &self.path, error);
        let written = File::open(&self.path).map_err(on_read_error)?;
        hash_through(written, on_read_error, |_| Ok(())).map(|(hash, _)| hash)
    }

    /// Gives the file its final name, replacing what was there, in one step.
    pub(super) fn rename(mut self, target: &Path) -> Result<(), BlobError> {
        fs::rename(&self.path, target).map_err(|error| BlobError::io("write", target, error))?;
        self.named = true;
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if self.named {
            return;
        }
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "could not remove a temporary file");
        }
    }
}

/// Removes temporary files that nobody has written to for `age`: their writers were killed.
///
/// Never fails, because a leftover is no reason not to start.
pub(super) fn remove_leftovers(directory: &Path, age: Duration) {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => {
            tracing::warn!(path = %directory.display(), %error, "could not look for leftovers");
            return;
        }
    };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_string_lossy().ends_with(TEMPORARY);
        // The time is the file system's, and not that of the engine's clock. A time in the future is young.
        let is_old = entry
            .metadata()
            .is_ok_and(|it| it.is_file() && it.modified().is_ok_and(|at| at.elapsed().is_ok_and(|is| is > age)));
        if !is_ours || !is_old {
            continue;
        }
        match fs::remove_file(entry.path()) {
            Ok(()) => tracing::info!(path = %entry.path().display(), "removed a leftover of an interrupted write"),
            // Another process, starting at the same time, was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => tracing::warn!(path = %entry.path().display(), %error, "could not remove a leftover"),
        }
    }
}

/// Creates a directory and those above it, durably, for its owner alone.
pub(super) fn create_directory(path: &Path) -> Result<(), BlobError> {
    if path.is_dir() {
        return Ok(());
    }
    // The parent of "blobs" is "", which means here.
    let parent = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("/"),
    };
    if parent != path {
        create_directory(parent)?;
    }
    match DirBuilder::new().mode(private::FOLDER_MODE).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists || !path.is_dir() => {
            Err(BlobError::io("create the directory", path, error))
        }
        _ => sync_directory(parent),
    }
}

/// Returns when the names in the directory are on disk.
pub(super) fn sync_directory(path: &Path) -> Result<(), BlobError> {
    match File::open(path).and_then(|directory| directory.sync_all()) {
        // Some network file systems know no such thing: there, names are as durable as they get.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        Err(error) => Err(BlobError::io("write the directory", path, error)),
        Ok(()) => Ok(()),
    }
}

/// Hashes what is left to read, passing it on as it goes by.
pub(super) fn hash_through(
    mut reader: impl Read,
    on_read_error: impl Fn(io::Error) -> BlobError,
    mut pass_on: impl FnMut(&[u8]) -> Result<(), BlobError>,
) -> Result<(ContentHash, u64), BlobError> {
    let mut hasher = Hasher::default();
    let mut size = 0;
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = match reader.read(&mut chunk) {
            Ok(0) => return Ok((hasher.finish(), size)),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(on_read_error(error)),
        };
        hasher.update(&chunk[..count]);
        pass_on(&chunk[..count])?;
        size += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_named_and_leaves_no_file() {
        let scratch = tempfile::tempdir().unwrap();
        let mut temporary = Temporary::create(scratch.path()).unwrap();
        // The one place on every Linux machine that is always full.
        temporary.file = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let error = temporary.write(b"bytes").unwrap_err();
        assert!(matches!(error, BlobError::NoSpace { .. }), "unexpected: {error}");
        drop(temporary);
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    #[test]
    fn directories_are_created_all_the_way_and_again() {
        let scratch = tempfile::tempdir().unwrap();
        let deep = scratch.path().join("one/two/three");
        for _ in ["first", "again"] {
            create_directory(&deep).unwrap();
            assert!(deep.is_dir());
        }
        fs::write(deep.join("file"), b"").unwrap();
        let error = create_directory(&deep.join("file")).unwrap_err();
        assert!(matches!(error, BlobError::Io { .. }), "unexpected: {error}");
    }
}
