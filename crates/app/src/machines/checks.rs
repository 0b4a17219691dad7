//! Every fault of every definition in files and folders.

use super::{DefinitionError, DefinitionFile};
use bindery_states::asl::definition::Diagnostic;
use std::path::{Path, PathBuf};

/// What was found in one file.
#[derive(Debug)]
pub struct Checked {
    pub name: String,
    /// How many states there are; none where the definition cannot be used.
    pub states: Option<usize>,
    /// With the name of the file before it, and as it is.
    pub found: Vec<(String, Diagnostic)>,
    /// Why it could not even be read.
    pub unreadable: Option<String>,
}

const ENDINGS: [&str; 3] = [".asl.json", ".asl.yaml", ".asl.yml"];

/// Checks files, and the definitions in folders.
pub fn check_files(files: &[PathBuf]) -> Result<Vec<Checked>, DefinitionError> {
    let mut checked = Vec::new();
    for file in files {
        if file.is_dir() {
            checked.extend(files_in(file)?.iter().map(|file| check(file)));
        } else {
            checked.push(check(file));
        }
    }
    Ok(checked)
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>, DefinitionError> {
    let shown = || folder.display().to_string();
    let unreadable = |error| DefinitionError::FolderUnreadable { folder: shown(), error };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if ENDINGS.iter().any(|ending| name.ends_with(ending)) && !name.starts_with('.') && file.is_file() {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() { Err(DefinitionError::FolderEmpty { folder: shown() }) } else { Ok(files) }
}

fn check(file: &Path) -> Checked {
    let source = match DefinitionFile::read(file) {
        Ok(source) => source,
        Err(error) => {
            let name = file.display().to_string();
            return Checked { name, states: None, found: Vec::new(), unreadable: Some(error.to_string()) };
        }
    };
    let (states, found) = match source.definition() {
        Ok(definition) => {
            let states = definition.machines().iter().map(|machine| machine.states.len()).sum();
            (Some(states), definition.warnings().to_vec())
        }
        Err(faults) => (None, faults.0),
    };
    let found = found.into_iter().map(|diagnostic| (source.line(&diagnostic), diagnostic)).collect();
    Checked { name: source.name, states, found, unreadable: None }
}
