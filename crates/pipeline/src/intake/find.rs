//! Which files a path stands for. Nothing is opened: everything is looked for before anything is copied.

use super::{IntakeError, MAX_DEPTH, STDIN, Unreadable};
use std::{
    collections::HashSet,
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
};

/// A file that was found but not copied yet.
#[derive(Debug)]
pub(super) enum Source {
    Stdin,
    File {
        path: PathBuf,
        name: String,
        /// Somebody named it, and does not only mean the folder that it is in.
        is_named: bool,
    },
}

/// A file below a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub path: PathBuf,
    /// The way to it from the folder, for people.
    pub name: String,
}

/// The files below a folder as [`take_in`](super::take_in) would find them, by name: no hidden ones, no links out of the
/// folder. That there are none is no error, nor that a folder below it cannot be read: it is left out.
pub fn files_below(folder: &Path) -> Result<Vec<Found>, IntakeError> {
    let mut finder = Finder::default();
    let real = fs::canonicalize(folder).map_err(|error| unreadable(folder, error))?;
    finder.walk(folder, &real, "", 0)?;
    let found = finder.sources.into_iter().filter_map(|source| match source {
        Source::File { path, name, .. } => Some(Found { path, name }),
        Source::Stdin => None,
    });
    Ok(found.collect())
}

/// Collects files without opening them.
#[derive(Debug, Default)]
pub(super) struct Finder {
    pub(super) sources: Vec<Source>,
    pub(super) notes: Vec<String>,
    /// What is in a folder and cannot be read.
    pub(super) unreadable: Vec<Unreadable>,
    seen: HashSet<PathBuf>,
    stdin_seen: bool,
}

impl Finder {
    pub(super) fn find(&mut self, path: &Path) -> Result<(), IntakeError> {
        if path.as_os_str() == STDIN {
            if std::mem::replace(&mut self.stdin_seen, true) {
                return Err(IntakeError::StdinTwice);
            }
            self.sources.push(Source::Stdin);
            return Ok(());
        }
        // A path that was named is followed, also when it is a link or hidden: somebody means it.
        let metadata = fs::metadata(path).map_err(|error| unreadable(path, error))?;
        let real = fs::canonicalize(path).map_err(|error| unreadable(path, error))?;
        if metadata.is_file() {
            self.add(path, real, display_name(path.file_name().unwrap_or(path.as_os_str())), true);
            return Ok(());
        }
        if !metadata.is_dir() {
            return Err(IntakeError::Special { path: path.to_owned() });
        }
        let (sources, notes, unreadable) = (self.sources.len(), self.notes.len(), self.unreadable.len());
        self.walk(path, &real, "", 0)?;
        if self.sources.len() == sources && self.unreadable.len() == unreadable {
            let skipped = self.notes.len() - notes;
            return Err(IntakeError::EmptyFolder { path: path.to_owned(), skipped });
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, real: PathBuf, name: String, is_named: bool) {
        if self.seen.insert(real) {
            self.sources.push(Source::File { path: path.to_owned(), name, is_named });
        } else {
            self.notes.push(format!("{} was named more than once and is taken in once", path.display()));
        }
    }

    /// The files below a folder, by name. `prefix` is the way from the named folder to here, for people.
    fn walk(&mut self, folder: &Path, root: &Path, prefix: &str, depth: usize) -> Result<(), IntakeError> {
        if depth > MAX_DEPTH {
            return Err(IntakeError::TooDeep { path: folder.to_owned() });
        }
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) if depth == 0 => return Err(unreadable(folder, error)),
            Err(error) => {
                self.unreadable.push(Unreadable::new(prefix.trim_end_matches('/'), &unreadable(folder, error)));
                return Ok(());
            }
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let name = format!("{prefix}{}", display_name(&entry.file_name()));
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                self.skip(&path, "hidden");
                continue;
            }
            // One entry that cannot be looked at keeps nobody from the others.
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                Err(error) => {
                    self.unreadable.push(Unreadable::new(&name, &unreadable(&path, error)));
                    continue;
                }
            };
            if kind.is_dir() {
                self.walk(&path, root, &format!("{name}/"), depth + 1)?;
            } else if kind.is_file() {
                match fs::canonicalize(&path) {
                    Ok(real) => self.add(&path, real, name, false),
                    Err(error) => self.unreadable.push(Unreadable::new(&name, &unreadable(&path, error))),
                }
            } else if kind.is_symlink() {
                self.link(&path, root, name);
            } else {
                self.skip(&path, "neither a file nor a folder");
            }
        }
        Ok(())
    }

    /// A link in a folder may be somebody else's idea, so it must not lead out of it; a folder behind a link could
    /// lead round in a circle.
    fn link(&mut self, path: &Path, root: &Path, name: String) {
        match fs::canonicalize(path) {
            Err(_) => self.skip(path, "a link that leads nowhere"),
            Ok(real) if !real.starts_with(root) => self.skip(path, "a link out of the folder"),
            Ok(real) if !real.is_file() => self.skip(path, "a link to a folder"),
            Ok(real) => self.add(path, real, name, false),
        }
    }

    fn skip(&mut self, path: &Path, why: &str) {
        self.notes.push(format!("skipped {}: {why}", path.display()));
    }
}

pub(super) fn unreadable(path: &Path, source: io::Error) -> IntakeError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => IntakeError::Missing { path },
        _ => IntakeError::Unreadable { path, source },
    }
}

/// A name for people. What would move a terminal's cursor is replaced.
pub(super) fn display_name(name: &OsStr) -> String {
    name.to_string_lossy().chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}
