//! YAML texts from files: the only place of this module that touches a disk.

use super::{
    error::{Place, Problems, YamlError},
    node::MAX_BYTES,
};
use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Why the files of a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("cannot read the folder {}: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("{}", lines(.0))]
    Invalid(Vec<YamlError>),
}

fn lines(errors: &[YamlError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Loads all `*.yaml` and `*.yml` files of a folder, by file name. `clash` says why a file cannot stand beside an
/// earlier one. Either all of them are good, or all problems are told.
pub fn load_dir<T>(
    folder: &Path,
    load: impl Fn(&Path) -> Result<T, YamlError>,
    clash: impl Fn(&T, &T) -> Option<String>,
) -> Result<Vec<T>, LoadError> {
    let files = files_in(folder).map_err(|source| LoadError::Folder { path: folder.to_owned(), source })?;
    let mut loaded: Vec<T> = Vec::with_capacity(files.len());
    let mut errors = Vec::new();
    for file in files {
        match load(&file) {
            Ok(new) => match loaded.iter().find_map(|other| clash(&new, other)) {
                Some(message) => errors.push(YamlError::of_file(&file.display().to_string(), message)),
                None => loaded.push(new),
            },
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(loaded) } else { Err(LoadError::Invalid(errors)) }
}

/// The `*.yaml` and `*.yml` files of a folder, by name; hidden ones are left alone.
fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let file = entry?.path();
        let is_yaml = file.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
        let is_hidden = file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if is_yaml && !is_hidden && file.is_file() {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

/// The text of a file, if it is UTF-8 and not too long.
pub fn read_text(file: &Path) -> Result<String, YamlError> {
    text_of(file).map_err(|(place, message)| {
        let mut problems = Problems::default();
        problems.add(place, "", message);
        problems.into_error(Some(&file.display().to_string()))
    })
}

fn text_of(file: &Path) -> Result<String, (Place, String)> {
    let mut bytes = Vec::new();
    // One byte more than allowed is enough to see that the file is too long, however long it is.
    let limit = MAX_BYTES as u64 + 1;
    File::open(file)
        .and_then(|opened| opened.take(limit).read_to_end(&mut bytes))
        .map_err(|error| (Place::START, format!("cannot be read: {error}")))?;
    if bytes.len() > MAX_BYTES {
        return Err((Place::START, format!("the file has more than the {MAX_BYTES} bytes allowed")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
        let line = good.matches('\n').count() + 1;
        let column = good.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        (Place { line, column }, "not UTF-8 text; save the file as UTF-8".to_owned())
    })
}
