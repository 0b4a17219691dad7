//! What a test needs besides its own crate. One switch decides what becomes of a test that lacks it.

use std::{
    fmt::Display,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Where this is set, a program that is absent is a failure: nothing is skipped where others rely on the tests.
pub const PROGRAMS_REQUIRED: &str = "BINDERY_REQUIRE_PROGRAMS";

/// Says that a test cannot run because a program, or what belongs to one, is absent; the caller returns.
///
/// # Panics
/// Where [`PROGRAMS_REQUIRED`] is set.
pub fn missing(what: impl Display) {
    let is_required = std::env::var_os(PROGRAMS_REQUIRED).is_some_and(|value| !value.is_empty());
    assert!(!is_required, "{PROGRAMS_REQUIRED} is set: {what}");
    skip(what);
}

/// Says that a test does not run here for another reason than a program: there is nothing to install.
pub fn skip(why: impl Display) {
    println!("skipped: {why}");
}

/// Whether a program can be started. Where it cannot, the test is to be skipped, which has been said.
pub fn has(program: &str) -> bool {
    let asked = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let found = asked.is_ok_and(|status| status.success());
    if !found {
        missing(format_args!("{program} is not installed"));
    }
    found
}

/// A file or folder of the material beside the repository. None, which has been said, where it is absent.
pub fn shared(path: impl AsRef<Path>) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(path);
    if path.exists() {
        return Some(path);
    }
    skip(format_args!("{} is absent", path.display()));
    None
}

/// A file system of a few megabytes, in memory, for tests of a full disk.
#[derive(Debug)]
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts it there. None, which has been said, where this user may not.
    pub fn mount(at: &Path) -> io::Result<Option<Self>> {
        fs::create_dir_all(at)?;
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=24m", "tmpfs"]).arg(at).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Ok(Some(Self(at.to_owned())));
        }
        missing("a small file system cannot be mounted here");
        Ok(None)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: files on it may still be open when a test fails.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
