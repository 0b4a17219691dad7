//! From paths to verified copies: what a person names on the command line becomes files that a submission can hold.
//!
//! Everything is looked for before anything is copied, and everything is copied before anything is stored in the
//! database. If one file cannot be taken in, nothing is; copies made so far stay in the blob store, where nobody
//! points to them and the same bytes are found again next time.

mod unpack;

use crate::media::media_type;
use bindery_engine::intake::IntakeFile;
use bindery_store::blobs::{BlobError, Blobs, Draft, Stored};
use std::{
    collections::HashSet,
    ffi::OsStr,
    fs, io,
    io::Read as _,
    path::{Path, PathBuf},
};
use unpack::{Inside, TELLING_BYTES, Unpacked, may_hold_files, unpack};

/// Standard input is kept in memory while it is read, so it has a limit that files do not have.
const MAX_STDIN_BYTES: u64 = 256 * 1024 * 1024;

/// An archive is in memory while it is unpacked; a larger one is taken in as it is.
const MAX_UNPACKED_FILE: u64 = 1024 * 1024 * 1024;

/// How many copies become durable together. Each is an open file until then.
const COPIES_AT_ONCE: usize = 64;

/// Deeper than people nest folders, and shallow enough for the stack.
const MAX_DEPTH: usize = 64;

/// What a person names on the command line for standard input.
pub const STDIN: &str = "-";

/// Why nothing was taken in. Each is one sentence that names what it is about.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    #[error("there is no file or folder {}", path.display())]
    Missing { path: PathBuf },
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the folder {} has no files to take in{}", path.display(), skipped_text(*skipped))]
    EmptyFolder { path: PathBuf, skipped: usize },
    #[error("{} is neither a file nor a folder", path.display())]
    Special { path: PathBuf },
    #[error("the folder {} is nested more than {MAX_DEPTH} levels deep", path.display())]
    TooDeep { path: PathBuf },
    #[error("standard input is empty")]
    EmptyStdin,
    #[error("standard input has more than the {MAX_STDIN_BYTES} bytes allowed; save it to a file first")]
    StdinTooLong,
    #[error("standard input cannot be read: {source}")]
    Stdin { source: io::Error },
    #[error("standard input was named twice; it can be read only once")]
    StdinTwice,
    #[error(transparent)]
    Blob(#[from] BlobError),
}

fn skipped_text(skipped: usize) -> String {
    match skipped {
        0 => String::new(),
        1 => " (1 entry was skipped)".to_owned(),
        more => format!(" ({more} entries were skipped)"),
    }
}

/// What was taken in.
#[derive(Debug, Default)]
pub struct Taken {
    /// In the order in which they were named; those of a folder by name.
    pub files: Vec<IntakeFile>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

impl Taken {
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }
}

/// A file that was found but not copied yet.
#[derive(Debug)]
enum Source {
    Stdin,
    File { path: PathBuf, name: String },
}

/// Copies what the paths name into the blob store. Durable when it returns.
pub async fn take_in(blobs: &dyn Blobs, paths: &[PathBuf]) -> Result<Taken, IntakeError> {
    let mut finder = Finder::default();
    for path in paths {
        finder.find(path)?;
    }
    let mut taken = Taken { files: Vec::with_capacity(finder.sources.len()), notes: finder.notes };
    let mut copies = Copies { blobs, waiting: Vec::new() };
    for source in finder.sources {
        let inside = look_inside(&source).await?;
        taken.notes.extend(inside.notes);
        if !inside.replaces {
            taken.files.push(copy(&mut copies, source).await?);
        }
        for Inside { name, bytes } in inside.files {
            let stored = copies.of_bytes(bytes).await?;
            taken.files.push(file(stored, shown(name.as_ref())));
        }
    }
    copies.keep().await?;
    Ok(taken)
}

/// Copies that are not durable yet: the disk is waited for once for many of them.
struct Copies<'a> {
    blobs: &'a dyn Blobs,
    waiting: Vec<Draft>,
}

impl Copies<'_> {
    async fn of_bytes(&mut self, bytes: Vec<u8>) -> Result<Stored, BlobError> {
        let draft = self.blobs.draft(bytes).await?;
        self.add(draft).await
    }

    async fn of_file(&mut self, path: &Path) -> Result<Stored, BlobError> {
        let draft = self.blobs.draft_file(path).await?;
        self.add(draft).await
    }

    async fn add(&mut self, draft: Draft) -> Result<Stored, BlobError> {
        let stored = draft.stored();
        self.waiting.push(draft);
        if self.waiting.len() >= COPIES_AT_ONCE {
            self.keep().await?;
        }
        Ok(stored)
    }

    async fn keep(&mut self) -> Result<(), BlobError> {
        self.blobs.keep(std::mem::take(&mut self.waiting)).await
    }
}

/// What is inside a file that holds others.
async fn look_inside(source: &Source) -> Result<Unpacked, IntakeError> {
    let Source::File { path, name } = source else { return Ok(Unpacked::default()) };
    let (own_path, name) = (path.clone(), name.clone());
    let looking = tokio::task::spawn_blocking(move || {
        let mut beginning = Vec::with_capacity(TELLING_BYTES);
        let mut file = fs::File::open(&own_path)?;
        file.by_ref().take(TELLING_BYTES as u64).read_to_end(&mut beginning)?;
        if !may_hold_files(&beginning, &name) {
            return Ok(Unpacked::default());
        }
        let mut bytes = beginning;
        file.take(MAX_UNPACKED_FILE).read_to_end(&mut bytes)?;
        Ok(if bytes.len() as u64 > MAX_UNPACKED_FILE { Unpacked::default() } else { unpack(&name, &bytes) })
    });
    let looked = looking.await.unwrap_or_else(|_| Ok(Unpacked::default()));
    looked.map_err(|error| unreadable(path, error))
}

fn file(stored: Stored, name: String) -> IntakeFile {
    let media_type = media_type(&name).to_owned();
    IntakeFile { name, content: stored.hash, size: stored.size, media_type, key: None }
}

async fn copy(copies: &mut Copies<'_>, source: Source) -> Result<IntakeFile, IntakeError> {
    let (stored, name, media_type) = match source {
        Source::Stdin => {
            let bytes = read_stdin()?;
            let media_type = if std::str::from_utf8(&bytes).is_ok() { "text/plain" } else { media_type("") };
            (copies.of_bytes(bytes).await?, "stdin".to_owned(), media_type)
        }
        Source::File { path, name } => return Ok(file(copies.of_file(&path).await?, name)),
    };
    Ok(IntakeFile { name, content: stored.hash, size: stored.size, media_type: media_type.to_owned(), key: None })
}

fn read_stdin() -> Result<Vec<u8>, IntakeError> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(MAX_STDIN_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|source| IntakeError::Stdin { source })?;
    match bytes.len() as u64 {
        0 => Err(IntakeError::EmptyStdin),
        length if length > MAX_STDIN_BYTES => Err(IntakeError::StdinTooLong),
        _ => Ok(bytes),
    }
}

/// Collects files without opening them.
#[derive(Debug, Default)]
struct Finder {
    sources: Vec<Source>,
    notes: Vec<String>,
    seen: HashSet<PathBuf>,
    stdin_seen: bool,
}

impl Finder {
    fn find(&mut self, path: &Path) -> Result<(), IntakeError> {
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
            self.add(path, real, shown(path.file_name().unwrap_or(path.as_os_str())));
            return Ok(());
        }
        if !metadata.is_dir() {
            return Err(IntakeError::Special { path: path.to_owned() });
        }
        let (sources, notes) = (self.sources.len(), self.notes.len());
        self.walk(path, &real, "", 0)?;
        if self.sources.len() == sources {
            let skipped = self.notes.len() - notes;
            return Err(IntakeError::EmptyFolder { path: path.to_owned(), skipped });
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, real: PathBuf, name: String) {
        if self.seen.insert(real) {
            self.sources.push(Source::File { path: path.to_owned(), name });
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
        let mut entries = entries.map_err(|error| unreadable(folder, error))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let name = format!("{prefix}{}", shown(&entry.file_name()));
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                self.skip(&path, "hidden");
                continue;
            }
            let kind = entry.file_type().map_err(|error| unreadable(&path, error))?;
            if kind.is_dir() {
                self.walk(&path, root, &format!("{name}/"), depth + 1)?;
            } else if kind.is_file() {
                let real = fs::canonicalize(&path).map_err(|error| unreadable(&path, error))?;
                self.add(&path, real, name);
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
            Ok(real) => self.add(path, real, name),
        }
    }

    fn skip(&mut self, path: &Path, why: &str) {
        self.notes.push(format!("skipped {}: {why}", path.display()));
    }
}

fn unreadable(path: &Path, source: io::Error) -> IntakeError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => IntakeError::Missing { path },
        _ => IntakeError::Unreadable { path, source },
    }
}

/// A name for people. What would move a terminal's cursor is replaced.
fn shown(name: &OsStr) -> String {
    name.to_string_lossy().chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}
