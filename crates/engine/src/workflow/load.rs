//! Workflows from files: the only place of this module that touches a disk.

use super::{
    error::{Place, Problems, WorkflowError},
    model::Workflow,
    yaml::MAX_BYTES,
};
use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// A workflow with the text it was read from, which is what a submission's version is pinned to.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedWorkflow {
    pub file: PathBuf,
    pub text: String,
    pub workflow: Workflow,
}

/// Why the workflows of a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("cannot read the folder {}: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("{}", lines(.0))]
    Invalid(Vec<WorkflowError>),
}

fn lines(errors: &[WorkflowError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// All `*.yaml` and `*.yml` files of a folder, by file name. Either all of them are good, or all problems are told.
pub fn load_dir(path: impl AsRef<Path>) -> Result<Vec<LoadedWorkflow>, LoadError> {
    let path = path.as_ref();
    let folder_error = |source| LoadError::Folder { path: path.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(folder_error)? {
        let file = entry.map_err(folder_error)?.path();
        let is_yaml = file.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
        let is_hidden = file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if is_yaml && !is_hidden && file.is_file() {
            files.push(file);
        }
    }
    files.sort();
    let mut loaded: Vec<LoadedWorkflow> = Vec::with_capacity(files.len());
    let mut errors = Vec::new();
    for file in files {
        match load_file(&file) {
            Ok(new) => match loaded.iter().find(|other| same_version(&other.workflow, &new.workflow)) {
                Some(other) => errors.push(taken(&new, other)),
                None => loaded.push(new),
            },
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(loaded) } else { Err(LoadError::Invalid(errors)) }
}

/// One file.
pub fn load_file(file: impl AsRef<Path>) -> Result<LoadedWorkflow, WorkflowError> {
    let file = file.as_ref();
    let shown = file.display().to_string();
    let text = read_text(file).map_err(|(place, message)| whole_file_error(&shown, place, message))?;
    let workflow = Workflow::parse(&text, Some(&shown))?;
    Ok(LoadedWorkflow { file: file.to_owned(), text, workflow })
}

fn read_text(file: &Path) -> Result<String, (Place, String)> {
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

fn same_version(one: &Workflow, other: &Workflow) -> bool {
    one.name == other.name && one.version == other.version
}

fn taken(new: &LoadedWorkflow, other: &LoadedWorkflow) -> WorkflowError {
    let message = format!(
        "version {} of the workflow {:?} is already in {}",
        new.workflow.version,
        &*new.workflow.name,
        other.file.display()
    );
    whole_file_error(&new.file.display().to_string(), Place::START, message)
}

fn whole_file_error(file: &str, place: Place, message: String) -> WorkflowError {
    let mut problems = Problems::default();
    problems.add(place, "", message);
    problems.into_error(Some(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "name: good\nstages:\n- name: one\n";

    fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        folder
    }

    #[test]
    fn yaml_files_are_loaded_in_order_and_others_left_alone() {
        let second = GOOD.replace("good", "second");
        let folder = folder(&[
            ("b.yml", GOOD.as_bytes()),
            ("a.yaml", second.as_bytes()),
            ("notes.txt", b"no"),
            (".draft.yaml", b"no"),
        ]);
        let loaded = load_dir(folder.path()).unwrap();
        let names: Vec<&str> = loaded.iter().map(|loaded| loaded.workflow.name.as_str()).collect();
        assert_eq!(names, ["second", "good"]);
        assert_eq!(loaded[1].text, GOOD);
    }

    #[test]
    fn all_bad_files_are_told_at_once() {
        let too_long = vec![b'#'; MAX_BYTES + 1];
        let folder = folder(&[
            ("a.yaml", GOOD.as_bytes()),
            ("b.yaml", b"name: \xe9t\xe9\n"),
            ("c.yaml", GOOD.as_bytes()),
            ("d.yaml", &too_long),
            ("e.yaml", b""),
        ]);
        let shown = load_dir(folder.path()).unwrap_err().to_string();
        let shown = shown.replace(&format!("{}/", folder.path().display()), "");
        assert_eq!(
            shown,
            "b.yaml:1:7: not UTF-8 text; save the file as UTF-8\n\
             c.yaml:1:1: version 1 of the workflow \"good\" is already in a.yaml\n\
             d.yaml:1:1: the file has more than the 1048576 bytes allowed\n\
             e.yaml:1:1: the file is empty\n  hint: a workflow has at least `name` and `stages`"
        );
    }

    #[test]
    fn a_missing_folder_is_named() {
        let shown = load_dir("no/such/folder").unwrap_err().to_string();
        assert!(shown.starts_with("cannot read the folder no/such/folder: "), "{shown}");
    }
}
