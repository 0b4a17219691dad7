//! Who else has the file open: a shared lock that every process holds for as long as it does.

use rustix::fs::{FlockOperation, flock};
use std::{
    fs::{File, OpenOptions},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// A shared lock on a file beside the database. SQLite locks the database itself in its own way, and says nobody who has it
/// open without using it at the moment.
#[derive(Debug)]
pub(super) struct UseLock {
    /// None where the folder cannot be written to: who cannot write cannot need anything to stay.
    file: Option<File>,
}

impl UseLock {
    pub(super) fn take(database: &Path) -> Self {
        let mut name = database.file_name().unwrap_or_default().to_owned();
        name.push("-users");
        let path: PathBuf = database.with_file_name(name);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
        let file = file.ok().filter(|file| flock(file, FlockOperation::LockShared).is_ok());
        Self { file }
    }

    /// Whether nobody else holds it at this moment. Ours is a shared one again afterwards.
    pub(super) fn is_alone(&self) -> bool {
        let Some(file) = &self.file else { return false };
        let alone = flock(file, FlockOperation::NonBlockingLockExclusive).is_ok();
        // Turning a lock into another one can lose it: it is taken anew, whatever came of that.
        let shared = flock(file, FlockOperation::LockShared).is_ok();
        alone && shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_who_have_it_open_see_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("bindery.db");
        let one = UseLock::take(&database);
        assert!(one.is_alone());
        let other = UseLock::take(&database);
        assert!(!one.is_alone());
        assert!(!other.is_alone());
        drop(other);
        assert!(one.is_alone());
    }
}
