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

/// The `*.yaml` and `*.yml` files of a folder, by name; hidden ones are left alone.
pub fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
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
