//! Folders and files with owner-only permissions (0700 and 0600), whatever the umask is.

use std::{
    fs::{self, DirBuilder, OpenOptions, Permissions},
    io,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
};

/// The permission bits of an owner-only folder and of a file in it.
pub const FOLDER_MODE: u32 = 0o700;
pub const FILE_MODE: u32 = 0o600;

/// What others than the owner may do.
const OTHERS: u32 = 0o077;

/// Creates a folder, and those above it that are missing, for its owner alone. One that is there stays as it is.
pub fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Creates an empty file for its owner alone. One that is there stays as it is, and is not opened: that would end the
/// locks that this process holds on it.
pub fn create_file(path: &Path) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    match OpenOptions::new().append(true).create_new(true).mode(FILE_MODE).open(path) {
        // A strict umask must not keep its own owner out.
        Ok(file) => file.set_permissions(Permissions::from_mode(FILE_MODE)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// The permission bits of a folder or file if others than its owner have some, such as 0o755.
pub fn wider_than_owner(path: &Path) -> Option<u32> {
    let mode = fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & OTHERS != 0).then_some(mode)
}

/// Fails unless this process may write to a file, or create files in a folder. A file system that is mounted read-only
/// refuses everybody.
pub fn check_writable(path: &Path) -> io::Result<()> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    Ok(accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_is_made_is_for_its_owner_alone_and_what_is_there_stays() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("a/b");
        create_folder(&folder).unwrap();
        create_folder(&folder).unwrap();
        let file = folder.join("state.db");
        create_file(&file).unwrap();
        assert_eq!([mode(&scratch.path().join("a")), mode(&folder), mode(&file)], [0o700, 0o700, 0o600]);
        assert_eq!(wider_than_owner(&folder), None);

        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        create_folder(&folder).unwrap();
        create_file(&file).unwrap();
        assert_eq!([mode(&folder), mode(&file)], [0o755, 0o640]);
        assert_eq!((wider_than_owner(&folder), wider_than_owner(&file)), (Some(0o755), Some(0o640)));
        check_writable(&folder).unwrap();
        check_writable(&folder.join("nowhere")).unwrap_err();
    }
}
