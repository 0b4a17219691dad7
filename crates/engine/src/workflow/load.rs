//! Workflows from files: the only place of this module that touches a disk.

use super::model::Workflow;
use bindery_yaml::{self as yaml, LoadError, YamlError};
use std::path::{Path, PathBuf};

/// A workflow with the text it was read from, which is what a submission's version is pinned to.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedWorkflow {
    pub file: PathBuf,
    pub text: String,
    pub workflow: Workflow,
}

/// All `*.yaml` and `*.yml` files of a folder, by file name. Either all of them are good, or all problems are told.
pub fn load_dir(path: impl AsRef<Path>) -> Result<Vec<LoadedWorkflow>, LoadError> {
    yaml::load_dir(path.as_ref(), load_file, name_conflict)
}

/// One file.
pub fn load_file(file: &Path) -> Result<LoadedWorkflow, YamlError> {
    let shown = file.display().to_string();
    let text = yaml::read_text(file)?;
    let workflow = Workflow::parse(&text, Some(&shown))?;
    Ok(LoadedWorkflow { file: file.to_owned(), text, workflow })
}

/// Two files cannot hold the same version of a workflow.
fn name_conflict(new: &LoadedWorkflow, other: &LoadedWorkflow) -> Option<String> {
    let (name, version) = (&new.workflow.name, new.workflow.version);
    let same = *name == other.workflow.name && version == other.workflow.version;
    same.then(|| format!("version {version} of the workflow {:?} is already in {}", &**name, other.file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_yaml::MAX_BYTES;

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
