//! Which files of a watched folder are complete, and where they go when they were taken in.

use crate::error::{AppResult, WatchError};
use bindery_files::WholeFile;
use bindery_pipeline::intake::{Found, files_below};
use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

/// How the names of files end that somebody is still writing.
const UNFINISHED: [&str; 7] = [".part", ".partial", ".tmp", ".temp", ".crdownload", ".download", "~"];

#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Where files go; what is in there is not looked at.
    done: Option<PathBuf>,
    settle: Duration,
    seen: HashMap<PathBuf, Seen>,
}

/// A file as it was when it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    size: u64,
    modified: Option<SystemTime>,
}

#[derive(Debug)]
struct Seen {
    state: State,
    since: Instant,
    settled: bool,
}

impl Folder {
    pub(super) fn new(folder: &Path, done: Option<&Path>, settle: Duration) -> Result<Self, WatchError> {
        let cannot = |path: &Path, error| WatchError::Unusable { path: path.to_owned(), error };
        let whole = fs::canonicalize(folder).map_err(|error| cannot(folder, error))?;
        if !whole.is_dir() {
            return Err(WatchError::NoFolder { path: folder.to_owned() });
        }
        let done = match done {
            Some(done) => {
                fs::create_dir_all(done).map_err(|error| cannot(done, error))?;
                Some(fs::canonicalize(done).map_err(|error| cannot(done, error))?)
            }
            None => None,
        };
        if done.as_deref() == Some(&whole) {
            return Err(WatchError::DoneIsWatched);
        }
        Ok(Self { path: whole, done, settle, seen: HashMap::new() })
    }

    /// Whether the store is in it.
    pub(super) fn holds(&self, path: &Path) -> bool {
        fs::canonicalize(path).is_ok_and(|path| path.starts_with(&self.path))
    }

    /// Files that have not changed for long enough, and that were not settled.
    pub(super) fn complete(&mut self) -> AppResult<Vec<Found>> {
        let mut complete = Vec::new();
        let mut seen = HashMap::new();
        for found in files_below(&self.path)? {
            let in_done = self.done.as_ref().is_some_and(|done| found.path.starts_with(done));
            // One that has gone meanwhile is nobody's matter.
            let Ok(about) = fs::metadata(&found.path) else { continue };
            if in_done || UNFINISHED.iter().any(|ending| found.name.to_ascii_lowercase().ends_with(ending)) {
                continue;
            }
            let state = State { size: about.len(), modified: about.modified().ok() };
            let known = self.seen.remove(&found.path).filter(|known| known.state == state);
            let known = known.unwrap_or_else(|| Seen { state, since: Instant::now(), settled: false });
            if !known.settled && known.since.elapsed() >= self.settle {
                complete.push(found.clone());
            }
            seen.insert(found.path, known);
        }
        self.seen = seen;
        Ok(complete)
    }

    /// It needs no more looking at until it changes.
    pub(super) fn settled(&mut self, found: &Found) {
        if let Some(seen) = self.seen.get_mut(&found.path) {
            seen.settled = true;
        }
    }

    /// It is looked at as if it had come now.
    pub(super) fn forget(&mut self, found: &Found) {
        self.seen.remove(&found.path);
    }

    pub(super) fn nothing_to_come(&self) -> bool {
        self.seen.values().all(|seen| seen.settled)
    }

    /// Moves a file to where files go, if there is such a place: never over another one. One that cannot be moved stays;
    /// then where it should be, and why it is not.
    pub(super) fn move_away(&self, found: &Found) -> Result<(), (PathBuf, io::Error)> {
        let Some(done) = &self.done else { return Ok(()) };
        let inner = found.path.strip_prefix(&self.path).unwrap_or(Path::new(&found.name));
        let to = free_place(&done.join(inner));
        move_file(&found.path, &to).map_err(|error| (to, error))
    }
}

/// `a.pdf`, or `a (2).pdf` where there is one already.
fn free_place(wanted: &Path) -> PathBuf {
    let stem = wanted.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let ending = wanted.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
    let mut place = wanted.to_owned();
    let mut number = 2;
    while fs::symlink_metadata(&place).is_ok() {
        place = wanted.with_file_name(format!("{stem} ({number}){ending}"));
        number += 1;
    }
    place
}

fn move_file(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    match fs::rename(from, to) {
        // Another file system: copied, on disk before the original goes.
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            let mut copy = WholeFile::begin(to)?;
            io::copy(&mut fs::File::open(from)?, &mut copy)?;
            copy.finish_durably()?;
            fs::remove_file(from)
        }
        moved => moved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_still_written_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str| fs::write(dir.path().join(name), name).unwrap();
        ["a.pdf", "b.pdf.part", ".hidden.pdf", "c.docx~", "d.CRDOWNLOAD"].into_iter().for_each(write);
        let names =
            |folder: &mut Folder| folder.complete().unwrap().into_iter().map(|found| found.name).collect::<Vec<_>>();
        let mut at_once = Folder::new(dir.path(), None, Duration::ZERO).unwrap();
        assert_eq!(names(&mut at_once), ["a.pdf"]);
        let mut patient = Folder::new(dir.path(), None, Duration::from_secs(600)).unwrap();
        assert_eq!(names(&mut patient), [] as [&str; 0]);
        assert!(!patient.nothing_to_come());
    }

    #[test]
    fn a_file_is_offered_until_it_is_settled_and_again_when_it_changes() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.pdf"), "one").unwrap();
        let mut folder = Folder::new(dir.path(), None, Duration::ZERO).unwrap();
        let found = folder.complete().unwrap().remove(0);
        folder.settled(&found);
        assert!(folder.complete().unwrap().is_empty() && folder.nothing_to_come());
        fs::write(dir.path().join("a.pdf"), "and more").unwrap();
        assert_eq!(folder.complete().unwrap(), [found]);
    }

    #[test]
    fn what_is_moved_away_never_takes_the_place_of_another() {
        let dir = tempfile::tempdir().unwrap();
        let done = dir.path().join("done");
        for round in ["one", "two"] {
            fs::write(dir.path().join("a.pdf"), round).unwrap();
            let mut folder = Folder::new(dir.path(), Some(&done), Duration::ZERO).unwrap();
            let found = folder.complete().unwrap();
            assert_eq!(found.len(), 1, "what is done is not looked at: {found:?}");
            folder.move_away(&found[0]).unwrap();
        }
        assert_eq!(fs::read_to_string(done.join("a.pdf")).unwrap(), "one");
        assert_eq!(fs::read_to_string(done.join("a (2).pdf")).unwrap(), "two");
        assert!(Folder::new(dir.path(), Some(dir.path()), Duration::ZERO).is_err());
    }
}
