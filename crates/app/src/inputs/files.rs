//! From paths to bytes with a name.

use crate::error::InputsError;
use std::{
    collections::HashMap,
    ffi::OsStr,
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// What standard input is called.
const STDIN: &str = "stdin";

/// How the inputs stand in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    /// One JSON value on each line.
    Lines,
    /// Standard input has no ending that tells.
    Unknown,
}

/// Something to read inputs from.
#[derive(Debug)]
pub(super) struct Source {
    /// As messages name it.
    pub(super) shown: String,
    /// The id of its input, where the content does not name one.
    pub(super) id: String,
    pub(super) form: Form,
    /// Or why they cannot be read.
    pub(super) bytes: Result<Vec<u8>, String>,
}

/// Everything that the paths lead to, in their order. What is named is there and can be read, or nothing is returned; what
/// is in a folder may be unreadable.
pub(super) fn sources(paths: &[String]) -> Result<Vec<Source>, InputsError> {
    let mut files: Vec<Option<PathBuf>> = Vec::new();
    let mut named: Vec<PathBuf> = Vec::new();
    for path in paths {
        match path.as_str() {
            "-" if files.contains(&None) => return Err(InputsError::StdinTwice),
            "-" => files.push(None),
            path => {
                let path = Path::new(path);
                let found = files_at(path)?;
                named.extend((found.len() == 1 && found[0] == path).then(|| path.to_owned()));
                files.extend(found.into_iter().map(Some));
            }
        }
    }
    // Files of one name in several folders are told apart by their paths.
    let mut by_name: HashMap<String, &Path> = HashMap::new();
    let mut shared: Vec<String> = Vec::new();
    for file in files.iter().flatten() {
        let name = name_of(file);
        if by_name.insert(name.clone(), file).is_some_and(|other| other != file) {
            shared.push(name);
        }
    }
    let is_named = |file: &Option<PathBuf>| file.as_ref().is_none_or(|file| named.contains(file));
    files.iter().map(|file| read(file.as_deref(), is_named(file), &shared)).collect()
}

fn read(file: Option<&Path>, is_named: bool, shared: &[String]) -> Result<Source, InputsError> {
    let Some(file) = file else {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(|error| unreadable("standard input", error))?;
        return Ok(Source {
            shown: "standard input".to_owned(),
            id: STDIN.to_owned(),
            form: Form::Unknown,
            bytes: Ok(bytes),
        });
    };
    let shown = file.display().to_string();
    let bytes = match fs::read(file) {
        Err(error) if is_named => return Err(unreadable(&shown, error)),
        read => read.map_err(|error| format!("{shown} cannot be read: {error}")),
    };
    let name = name_of(file);
    let id = if shared.contains(&name) { shown.clone() } else { name };
    let form = if has_ending(file, &["jsonl", "ndjson"]) { Form::Lines } else { Form::Json };
    Ok(Source { shown, id, form, bytes })
}

fn unreadable(shown: &str, error: io::Error) -> InputsError {
    InputsError::Unreadable { shown: shown.to_owned(), error }
}

fn name_of(file: &Path) -> String {
    file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

fn has_ending(file: &Path, endings: &[&str]) -> bool {
    let ending = file.extension().and_then(OsStr::to_str);
    ending.is_some_and(|ending| endings.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// The file itself, or all that a folder holds.
fn files_at(path: &Path) -> Result<Vec<PathBuf>, InputsError> {
    if !path.exists() {
        return Err(InputsError::Missing { path: path.to_owned() });
    }
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    collect(path, &mut files).map_err(|error| unreadable(&format!("the folder {}", path.display()), error))?;
    if files.is_empty() {
        return Err(InputsError::EmptyFolder { path: path.to_owned() });
    }
    files.sort();
    Ok(files)
}

/// Everything below a folder. Links to folders are not followed: they may lead in a circle.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            // One that cannot be entered is in the result like a file that cannot be read.
            let known = files.len();
            if collect(&path, files).is_err() {
                files.truncate(known);
                files.push(path);
            }
        } else if has_ending(&path, &["json", "jsonl"]) && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}
