//! Scratch folders: copies that one step needs, in the system's temporary folder, for their owner alone.
//!
//! A folder goes when its [`ScratchFolder`] is dropped. One whose process was killed is removed by the next process of the
//! same user that makes one, or by [`remove_leftovers`]: each is locked for as long as its process lives, and the system
//! ends locks with their process.

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use std::{
    env, fs, io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::Once,
    time::{Duration, SystemTime},
};
use tempfile::TempDir;

const PREFIX: &str = "bindery-scratch-";

/// Between the making of a folder and its lock; whatever is younger than this may still get it.
const UNLOCKED_AT_MOST: Duration = Duration::from_secs(60);

static FIRST: Once = Once::new();

/// A temporary folder that is removed with what is in it, at the latest by another process.
#[derive(Debug)]
pub struct ScratchFolder {
    folder: TempDir,
    /// Held, never read.
    _lock: OwnedFd,
}

impl ScratchFolder {
    pub fn new() -> io::Result<Self> {
        FIRST.call_once(|| {
            remove_leftovers();
        });
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        let lock = lock(folder.path())?;
        Ok(Self { folder, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where a file of this name would be.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }
}

/// Removes the scratch folders of this user whose processes are gone. Returns how many went; what cannot be removed stays
/// for the next time.
pub fn remove_leftovers() -> usize {
    let Ok(entries) = fs::read_dir(env::temp_dir()) else { return 0 };
    let ours = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    ours.filter(|entry| is_settled(&entry.path()) && remove(&entry.path()).is_ok()).count()
}

fn is_settled(folder: &Path) -> bool {
    let age = |modified: SystemTime| modified.elapsed().unwrap_or_default();
    fs::symlink_metadata(folder)
        .and_then(|metadata| metadata.modified())
        .is_ok_and(|modified| age(modified) >= UNLOCKED_AT_MOST)
}

/// The lock first: while somebody has it, the folder is theirs.
fn remove(folder: &Path) -> io::Result<()> {
    let _lock = lock(folder)?;
    fs::remove_dir_all(folder)
}

/// Fails at once if another one has it. A link is not followed: the temporary folder is everybody's.
fn lock(folder: &Path) -> io::Result<OwnedFd> {
    let file = open(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

    /// As if it had been made an hour ago.
    fn age(folder: &Path) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        let then = Timespec { tv_sec: i64::try_from(now).unwrap() - 3_600, tv_nsec: 0 };
        let times = Timestamps { last_access: then, last_modification: then };
        utimensat(CWD, folder, &times, AtFlags::empty()).unwrap();
    }

    #[test]
    fn a_folder_goes_with_its_owner_and_one_of_a_dead_process_with_the_next_look() {
        let held = ScratchFolder::new().unwrap();
        fs::write(held.join("copy"), "in use").unwrap();
        age(held.path());
        // What a killed process leaves: a folder without a lock.
        let dead = tempfile::Builder::new().prefix(PREFIX).tempdir().unwrap().keep();
        fs::write(dead.join("copy"), "left").unwrap();
        remove_leftovers();
        assert!(dead.exists(), "its owner may be about to lock it");
        age(&dead);
        remove_leftovers();
        assert!(!dead.exists() && held.join("copy").exists());
        let path = held.path().to_owned();
        drop(held);
        assert!(!path.exists());
    }

    #[test]
    fn a_link_is_not_followed() {
        let elsewhere = tempfile::tempdir().unwrap();
        let link = env::temp_dir().join(format!("{PREFIX}link-{}", std::process::id()));
        std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();
        assert!(remove(&link).is_err() && elsewhere.path().exists());
        fs::remove_file(link).unwrap();
    }
}
