//! Definitions from files: the only place of this crate that reads them from a disk.

use crate::definition::Definition;
use bindery_yaml::{self as yaml, LoadError, YamlError};
use std::path::{Path, PathBuf};

/// A definition with the file it was read from.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub file: PathBuf,
    pub definition: Definition,
}

/// All `*.yaml` and `*.yml` files of a folder, by file name. Either all of them are good, or all problems are told.
pub fn load_dir(path: impl AsRef<Path>) -> Result<Vec<Loaded>, LoadError> {
    yaml::load_dir(path.as_ref(), load_file, name_conflict)
}

/// One file.
pub fn load_file(file: &Path) -> Result<Loaded, YamlError> {
    let text = yaml::read_text(file)?;
    let definition = Definition::parse(&text, &file.display().to_string())?;
    Ok(Loaded { file: file.to_owned(), definition })
}

/// Two files cannot hold processors of the same name.
fn name_conflict(new: &Loaded, other: &Loaded) -> Option<String> {
    let name = &new.definition.name;
    let same = *name == other.definition.name;
    same.then(|| format!("the processor {:?} is already in {}", &**name, other.file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "name: good\ndeclare: {}\n";

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn yaml_files_are_loaded_in_order() {
        let second = GOOD.replace("good", "second");
        let folder = folder(&[("b.yml", GOOD), ("a.yaml", &second), ("notes.txt", "no")]);
        let loaded = load_dir(folder.path()).unwrap();
        let names: Vec<&str> = loaded.iter().map(|loaded| loaded.definition.name.as_str()).collect();
        assert_eq!(names, ["second", "good"]);
    }

    #[test]
    fn all_bad_files_are_told_at_once_and_duplicates_named() {
        let folder =
            folder(&[("a.yaml", GOOD), ("b.yaml", GOOD), ("c.yaml", ""), ("d.yaml", "name: d\n---\nname: e\n")]);
        let shown = load_dir(folder.path()).unwrap_err().to_string();
        let shown = shown.replace(&format!("{}/", folder.path().display()), "");
        assert_eq!(
            shown,
            "b.yaml:1:1: the processor \"good\" is already in a.yaml\n\
             c.yaml:1:1: the file is empty\n  hint: a processor has at least `name` and `declare`, `command` or `http`\n\
             d.yaml:2:1: expected one processor in a file, found a second YAML document\n  \
             hint: give each processor a file of its own"
        );
    }

    #[test]
    fn a_missing_folder_is_named() {
        let shown = load_dir("no/such/folder").unwrap_err().to_string();
        assert!(shown.starts_with("cannot read the folder no/such/folder: "), "{shown}");
    }
}
