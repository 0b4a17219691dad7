//! Removal of unused blobs in a local folder, by modification time and file lock.
//!
//! Who names a blob that is there already *touches* it under a shared lock on its file; who removes one looks at its time
//! and removes its name under an exclusive lock. So a blob that was touched stays, one that is removed is not taken for
//! touched, and until then it can be read under its name at every moment. A lock ends with the process that held it.

use super::{error::BlobError, files::sync_directory, traits::Removal};
use std::{
    fs::{self, File, TryLockError},
    io,
    path::Path,
    time::SystemTime,
};

/// Keeps a blob from being removed until the file is dropped; None if there is none.
pub(super) fn hold(path: &Path) -> Result<Option<File>, BlobError> {
    let Some(file) = open(path)? else { return Ok(None) };
    match file.lock_shared() {
        Ok(()) => Ok(Some(file)),
        // A file system without locks: `remove` leaves everything there.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(Some(file)),
        Err(error) => Err(BlobError::io("lock", path, error)),
    }
}

/// Sets the modification time of a blob; false if it is gone, and its bytes have to be written again.
pub(super) fn touch(path: &Path) -> Result<bool, BlobError> {
    let Some(file) = hold(path)? else { return Ok(false) };
    // It may have been removed while the lock was waited for.
    if metadata(path)?.is_none() {
        return Ok(false);
    }
    file.set_modified(SystemTime::now()).map_err(|error| BlobError::io("write", path, error))?;
    Ok(true)
}

/// Removes a blob that was not touched since.
pub(super) fn remove(path: &Path, unused_since: SystemTime) -> Result<Removal, BlobError> {
    let Some(file) = open(path)? else { return Ok(Removal::Missing) };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Removal::InUse),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => return Ok(Removal::InUse),
        Err(TryLockError::Error(error)) => return Err(BlobError::io("lock", path, error)),
    }
    // By its name: another file may have taken it before there was the lock.
    let Some(found) = metadata(path)? else { return Ok(Removal::Missing) };
    if found.modified().map_err(|error| BlobError::io("read", path, error))? > unused_since {
        return Ok(Removal::InUse);
    }
    fs::remove_file(path).map_err(|error| BlobError::io("remove", path, error))?;
    if let Some(shard) = path.parent() {
        sync_directory(shard)?;
    }
    Ok(Removal::Removed(found.len()))
}

fn open(path: &Path) -> Result<Option<File>, BlobError> {
    if_there(File::open(path), path)
}

fn metadata(path: &Path) -> Result<Option<fs::Metadata>, BlobError> {
    if_there(fs::metadata(path), path)
}

fn if_there<T>(found: io::Result<T>, path: &Path) -> Result<Option<T>, BlobError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(BlobError::io("read", path, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_is_held_or_was_touched_stays_and_the_rest_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("blob");
        let now = SystemTime::now();
        let (old, since) = (now - Duration::from_secs(7200), now - Duration::from_secs(3600));
        assert_eq!(remove(&path, since).unwrap(), Removal::Missing);
        assert!(!touch(&path).unwrap());
        fs::write(&path, "bytes").unwrap();
        File::open(&path).unwrap().set_modified(old).unwrap();
        let held = hold(&path).unwrap();
        assert_eq!(remove(&path, since).unwrap(), Removal::InUse);
        drop(held);
        assert!(touch(&path).unwrap());
        assert_eq!(remove(&path, since).unwrap(), Removal::InUse);
        File::open(&path).unwrap().set_modified(old).unwrap();
        assert_eq!(remove(&path, since).unwrap(), Removal::Removed(5));
        assert!(!path.exists());
    }

    /// A reader beside a sweep that finds the blob in use finds it at every moment.
    #[test]
    fn a_blob_that_stays_is_there_all_the_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("blob");
        fs::write(&path, "bytes").unwrap();
        let old = SystemTime::now() - Duration::from_secs(7200);
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..20_000 {
                    let held = hold(&path).unwrap();
                    File::open(&path).unwrap().set_modified(old).unwrap();
                    assert!(touch(&path).unwrap());
                    drop(held);
                }
                done.store(true, std::sync::atomic::Ordering::Relaxed);
            });
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    assert_eq!(remove(&path, old + Duration::from_secs(60)).unwrap(), Removal::InUse);
                }
            });
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                assert_eq!(fs::read(&path).unwrap(), b"bytes");
            }
        });
    }
}
