//! From paths to verified copies: what a person names on the command line becomes files that a submission can hold.
//!
//! Everything is looked for before anything is copied, and everything is copied before anything is stored in the
//! database. If one file that was named cannot be taken in, nothing is; copies made so far stay in the blob store, where
//! nobody points to them and the same bytes are found again next time. A file of a folder that cannot be read is listed as
//! such, and the others are taken in.
//!
//! | module | what it owns |
//! |---|---|
//! | `copies` | copies that become durable together |
//! | `find` | which files a path or a folder stands for |
//! | `unpack` | files inside files: archives, mails |
//! | `taken` | what was taken in: duplicates, the id of a content, what a submission begins with |
//! | [`rules`] | which workflow it is for |

mod copies;
mod find;
pub mod rules;
mod taken;
mod unpack;

use crate::reading::IsolatedReader;
use bindery_engine::{Engine, intake::IntakeFile};
use bindery_processors::media::media_type;
use bindery_reader::{ReadOptions, Reader, Source as FileSource};
use bindery_store::blobs::{BlobError, Stored};
use copies::Copies;
use find::{Finder, Source, display_name, unreadable};
use std::{
    fs, io,
    io::Read as _,
    path::{Path, PathBuf},
    sync::Arc,
};
use unpack::{Inside, TELLING_BYTES, Unpacked, may_hold_files, unpack};

pub use find::{Found, files_below};
pub use taken::{Duplicate, OWN_KEY, Taken, Unreadable, duplicates, state_doctype, stated_doctype};
pub(crate) use taken::{own_metadata, own_text};

/// Standard input is kept in memory while it is read, so it has a limit that files do not have.
const MAX_STDIN_BYTES: u64 = 256 * 1024 * 1024;

/// Deeper than people nest folders, and shallow enough for the stack.
const MAX_DEPTH: usize = 64;

/// What a person names on the command line for standard input.
pub const STDIN: &str = "-";

/// What the file is called that came through it.
const STDIN_NAME: &str = "stdin";

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
    #[error("none of the files can be read; the first: {first}")]
    NoneReadable { first: String },
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

/// Copies what the paths name into the blob store. Durable when it returns.
///
/// Archives and mails are opened in child processes where the engine has them.
pub async fn take_in(engine: &Engine, paths: &[PathBuf]) -> Result<Taken, IntakeError> {
    take_in_as(engine, paths, Copies::new(&**engine.blobs())).await
}

/// Says what the paths name, and copies nothing.
pub async fn look_at(engine: &Engine, paths: &[PathBuf]) -> Result<Taken, IntakeError> {
    take_in_as(engine, paths, Copies::only_hashes(&**engine.blobs())).await
}

async fn take_in_as(engine: &Engine, paths: &[PathBuf], mut copies: Copies<'_>) -> Result<Taken, IntakeError> {
    let mut finder = Finder::default();
    for path in paths {
        finder.find(path)?;
    }
    let mut taken = Taken { notes: finder.notes, unreadable: finder.unreadable, ..Taken::default() };
    let reader = Reader::new(ReadOptions::default(), None);
    let reader = match engine.isolation() {
        Some(processes) => reader.with_opener(Arc::new(IsolatedReader::new(processes.clone()))),
        None => reader,
    };
    for source in finder.sources {
        let inside = match source {
            Source::Stdin => {
                let bytes = read_stdin()?;
                let inside = inside_of(&reader, STDIN_NAME, &bytes).await;
                if !inside.replaces {
                    taken.add(copy_stdin(&mut copies, bytes).await?);
                }
                inside
            }
            Source::File { path, name, is_named } => match copy_file(&reader, &mut copies, &path, &name).await {
                Ok((copy, inside)) => {
                    if let Some(copy) = copy {
                        taken.add(copy);
                    }
                    inside
                }
                Err(error) if !is_named && error.is_about_the_file() => {
                    taken.unreadable.push(Unreadable::new(&name, &error));
                    continue;
                }
                Err(error) => return Err(error),
            },
        };
        taken.notes.extend(inside.notes);
        for Inside { name, bytes } in inside.files {
            let stored = copies.of_bytes(bytes).await?;
            taken.add(file(stored, display_name(name.as_ref())));
        }
    }
    copies.keep().await?;
    match taken.unreadable.first() {
        Some(first) if taken.files.is_empty() => Err(IntakeError::NoneReadable { first: first.reason.clone() }),
        _ => Ok(taken),
    }
}

/// The copy of a file, unless what is inside of it takes its place, and what is inside of it.
async fn copy_file(
    reader: &Reader,
    copies: &mut Copies<'_>,
    path: &Path,
    name: &str,
) -> Result<(Option<IntakeFile>, Unpacked), IntakeError> {
    let inside = look_inside(reader, path, name).await?;
    if inside.replaces {
        return Ok((None, inside));
    }
    Ok((Some(file(copies.of_file(path).await?, name.to_owned())), inside))
}

impl IntakeError {
    /// Another file may be taken in all the same.
    fn is_about_the_file(&self) -> bool {
        match self {
            Self::Missing { .. } | Self::Unreadable { .. } => true,
            Self::Blob(error) => matches!(
                error,
                BlobError::SourceMissing { .. }
                    | BlobError::SourceDenied { .. }
                    | BlobError::SourceChanged { .. }
                    | BlobError::NotAFile { .. }
            ),
            _ => false,
        }
    }
}

/// What is inside a file that holds others. Of most files only the beginning is read.
async fn look_inside(reader: &Reader, path: &Path, name: &str) -> Result<Unpacked, IntakeError> {
    let (own_path, name, reader) = (path.to_owned(), name.to_owned(), reader.clone());
    let looking = tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::with_capacity(TELLING_BYTES);
        fs::File::open(&own_path)?.take(TELLING_BYTES as u64).read_to_end(&mut bytes)?;
        if !may_hold_files(&bytes, &name) {
            return Ok(Unpacked::default());
        }
        Ok(unpack(&reader, &name, FileSource::Path(own_path)))
    });
    let looked = looking.await.unwrap_or_else(|_| Ok(Unpacked::default()));
    looked.map_err(|error| unreadable(path, error))
}

/// The same for bytes that are here already.
async fn inside_of(reader: &Reader, name: &'static str, bytes: &[u8]) -> Unpacked {
    let beginning = &bytes[..bytes.len().min(TELLING_BYTES)];
    if !may_hold_files(beginning, name) {
        return Unpacked::default();
    }
    let (reader, bytes) = (reader.clone(), Arc::new(bytes.to_vec()));
    let looking = tokio::task::spawn_blocking(move || unpack(&reader, name, FileSource::Bytes(bytes)));
    looking.await.unwrap_or_default()
}

fn file(stored: Stored, name: String) -> IntakeFile {
    let media_type = media_type(&name).to_owned();
    IntakeFile { name, content: stored.hash, size: stored.size, media_type, key: None }
}

async fn copy_stdin(copies: &mut Copies<'_>, bytes: Vec<u8>) -> Result<IntakeFile, IntakeError> {
    let media_type = if std::str::from_utf8(&bytes).is_ok() { "text/plain" } else { media_type("") };
    let stored = copies.of_bytes(bytes).await?;
    let (name, media_type) = (STDIN_NAME.to_owned(), media_type.to_owned());
    Ok(IntakeFile { name, content: stored.hash, size: stored.size, media_type, key: None })
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
