//! Forcing a whole file system to disk: one wait for any number of files, where one for each would take longer than the
//! work that made them.

use std::{
    fs::File,
    io,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// The file system below a folder.
#[derive(Debug)]
pub(super) struct WholeDisk {
    /// Open for as long as the store is: Linux tells each handle once of every failed write since it was opened.
    handle: File,
    /// How many times it has told of some. A failed write may be of any file, so whatever was written before must not be
    /// relied on.
    failures: AtomicU64,
    /// One at a time: a failure is told once, and must be counted before anybody else goes on.
    turn: Mutex<()>,
}

impl WholeDisk {
    /// None where it could not be relied on.
    pub(super) fn find_for(folder: &Path) -> Option<Self> {
        let handle = File::open(folder).ok()?;
        system::can_be_relied_on(&handle).then(|| Self::from_handle(handle))
    }

    fn from_handle(handle: File) -> Self {
        Self { handle, failures: AtomicU64::new(0), turn: Mutex::default() }
    }

    /// To be noted before something is written that a later [`sync`](Self::sync) should cover.
    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::SeqCst)
    }

    /// Returns when everything that was written is on disk. An error if some write has failed since `failures` was noted:
    /// it may be somebody else's, but nobody can tell.
    pub(super) fn sync(&self, failures: u64) -> io::Result<()> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let synced = system::sync(&self.handle);
        self.failures.fetch_add(u64::from(synced.is_err()), Ordering::SeqCst);
        synced?;
        if self.failures() == failures { Ok(()) } else { Err(io::Error::other("a write to this disk has failed")) }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::fs::{FsWord, fstatfs, syncfs};
    use std::{fs::File, io};

    /// File systems whose `syncfs` waits for bytes and names and tells of every write that has failed: ext2 to ext4,
    /// XFS, Btrfs. On others files are synced one by one.
    const KNOWN: [FsWord; 3] = [0xEF53, 0x5846_5342, 0x9123_683E];

    /// Since then Linux tells, too, of writes that had failed before it was asked.
    pub(super) const TELLS_SINCE: (u32, u32) = (5, 8);

    pub(super) fn can_be_relied_on(handle: &File) -> bool {
        let known = fstatfs(handle).is_ok_and(|about| KNOWN.contains(&about.f_type));
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        known && version(&release).is_some_and(|version| version >= TELLS_SINCE)
    }

    pub(super) fn sync(handle: &File) -> io::Result<()> {
        Ok(syncfs(handle)?)
    }

    /// `6.1.0-18-amd64` is (6, 1).
    pub(super) fn version(release: &str) -> Option<(u32, u32)> {
        let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::{fs::File, io};

    pub(super) fn can_be_relied_on(_handle: &File) -> bool {
        false
    }

    pub(super) fn sync(handle: &File) -> io::Result<()> {
        handle.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn releases_are_compared_as_numbers() {
        use system::{TELLS_SINCE, version};
        assert_eq!(version("6.1.0-18-amd64"), Some((6, 1)));
        assert_eq!(version("5.10"), Some((5, 10)));
        assert!(version("5.10.1").is_some_and(|version| version >= TELLS_SINCE));
        assert!(version("5.7.19").is_some_and(|version| version < TELLS_SINCE));
        assert_eq!(version("unknown"), None);
    }

    #[test]
    fn what_was_written_before_a_failure_is_not_relied_on() {
        let scratch = tempfile::tempdir().unwrap();
        let disk = WholeDisk::from_handle(File::open(scratch.path()).unwrap());
        let before = disk.failures();
        disk.sync(before).unwrap();
        // As if another caller had been told of it.
        disk.failures.fetch_add(1, Ordering::SeqCst);
        assert!(disk.sync(before).is_err(), "a failed write of one's own may have been told to another");
        disk.sync(disk.failures()).unwrap();
    }
}
