//! Workflows from files: the only place of this module that touches a disk.

use super::model::Workflow;
use crate::yaml::{self, YamlError};
use std::{
    io,
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
    Invalid(Vec<YamlError>),
}

fn lines(errors: &[YamlError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// All `*.yaml` and `*.yml` files of a folder, by file name. Either all of them are good, or all problems are told.
pub fn load_dir(path: impl AsRef<Path>) -> Result<Vec<LoadedWorkflow>, LoadError> {
    let path = path.as_ref();
    let folder_error = |source| LoadError::Folder { path: path.to_owned(), source };
    let files = yaml::files_in(path).map_err(folder_error)?;
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
pub fn load_file(file: impl AsRef<Path>) -> Result<LoadedWorkflow, YamlError> {
    let file = file.as_ref();
    let shown = file.display().to_string();
    let text = yaml::read_text(file)?;
    let workflow = Workflow::parse(&text, Some(&shown))?;
    Ok(LoadedWorkflow { file: file.to_owned(), text, workflow })
}

fn same_version(one: &Workflow, other: &Workflow) -> bool {
    one.name == other.name && one.version == other.version
}

fn taken(new: &LoadedWorkflow, other: &LoadedWorkflow) -> YamlError {
    let message = format!(
        "version {} of the workflow {:?} is already in {}",
        new.workflow.version,
        &*new.workflow.name,
        other.file.display()
    );
    YamlError::of_file(&new.file.display().to_string(), message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::MAX_BYTES;

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
