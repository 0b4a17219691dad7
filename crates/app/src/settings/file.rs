//! `bindery.toml`: the settings of every command in a file.
//!
//! A key that is not known is an error that names the nearest one, because a setting that is silently ignored is found
//! out too late. Relative paths are meant from the folder of the file. No message quotes a value: the store's URL may
//! contain a password.

use super::{
    machines::{self, MachineSettings},
    models,
    reading::{self, ReadingSettings},
    rules,
};
use crate::error::SettingsError;
use bindery_models::ModelsConfig;
use bindery_pipeline::intake::rules::Rule;
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use toml::{Table, Value};

/// Looked for where the program is started.
const USUAL: &str = "bindery.toml";

const KEYS: [&str; 12] = [
    "store",
    "blobs",
    "workflows",
    "processors",
    "doctypes",
    "templates",
    "ca_file",
    "log",
    "rules",
    "machines",
    "models",
    "reading",
];

/// What a file says.
#[derive(Default, PartialEq)]
#[cfg_attr(test, derive(Debug))]
#[expect(clippy::struct_field_names, reason = "fields are called as the keys are")]
pub(super) struct File {
    pub(super) store: Option<String>,
    pub(super) blobs: Option<String>,
    pub(super) workflows: Option<PathBuf>,
    pub(super) processors: Option<PathBuf>,
    pub(super) doctypes: Option<PathBuf>,
    pub(super) templates: Option<PathBuf>,
    pub(super) ca_file: Option<PathBuf>,
    pub(super) log: Option<String>,
    /// Which workflow is for what.
    pub(super) rules: Vec<Rule>,
    pub(super) machines: MachineSettings,
    pub(super) models: Option<ModelsConfig>,
    pub(super) reading: ReadingSettings,
}

impl File {
    /// The file that was named, which has to be there; or the usual one, if it is there.
    pub(super) fn find(named: Option<&Path>) -> Result<Self, SettingsError> {
        let path = named.unwrap_or(Path::new(USUAL));
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if named.is_none() && error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => {
                let is_named = named.is_some();
                return Err(SettingsError::FileUnreadable { path: path.to_owned(), error, is_named });
            }
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse(&text, folder).map_err(|Wrong { line, message, hint }| {
            let place = line.map_or_else(|| path.display().to_string(), |line| format!("{}:{line}", path.display()));
            SettingsError::File { place, message, hint }
        })
    }

    fn parse(text: &str, folder: &Path) -> Result<Self, Wrong> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| Wrong::syntax(text, &error))?;
        let mut file = Self::default();
        for (key, value) in table {
            let line = line_of(text, &key);
            if !KEYS.contains(&&*key) {
                let hint = bindery_yaml::suggest(&key, &KEYS);
                return Err(Wrong { line, message: format!("unknown key {key:?}"), hint: Some(hint) });
            }
            if key == "rules" {
                file.rules = rules::read(text, value)?;
                continue;
            }
            if key == "machines" {
                file.machines = machines::read(text, value, folder)?;
                continue;
            }
            if key == "reading" {
                file.reading = reading::read(text, value)?;
                continue;
            }
            if key == "models" {
                file.models = Some(models::read(text, folder)?);
                continue;
            }
            let Value::String(value) = value else {
                let message = format!("{key}: expected a text in quotes, not {}", value.type_str());
                return Err(Wrong { line, message, hint: None });
            };
            match &*key {
                "store" => file.store = Some(place(value, folder)),
                "blobs" => file.blobs = Some(place(value, folder)),
                "workflows" => file.workflows = Some(folder.join(value)),
                "processors" => file.processors = Some(folder.join(value)),
                "doctypes" => file.doctypes = Some(folder.join(value)),
                "templates" => file.templates = Some(folder.join(value)),
                "ca_file" => file.ca_file = Some(folder.join(value)),
                _ => file.log = Some(value),
            }
        }
        Ok(file)
    }
}

/// A URL, or a path from the folder of the file.
pub(super) fn place(value: String, folder: &Path) -> String {
    if value.is_empty() || value.contains("://") {
        return value;
    }
    folder.join(value).display().to_string()
}

#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) line: Option<usize>,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Wrong {
    fn syntax(text: &str, error: &toml::de::Error) -> Self {
        let line = error.span().map(|span| line_at(text, span.start));
        // Its message names what was expected, and quotes at most a key.
        let message = format!("not TOML: {}", error.message().lines().next().unwrap_or_default());
        Self { line, message, hint: Some("a setting is a line such as: store = \"bindery-data\"".to_owned()) }
    }
}

fn line_at(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

/// The line that begins with the key, as a plain one or as a table.
fn line_of(text: &str, key: &str) -> Option<usize> {
    let begins = |line: &str| line.trim_start_matches(['[', ' ', '\t', '"']).starts_with(key);
    text.lines().position(begins).map(|index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> (Option<usize>, String, Option<String>) {
        let Wrong { line, message, hint } = File::parse(text, Path::new("")).unwrap_err();
        (line, message, hint)
    }

    #[test]
    fn paths_are_meant_from_the_folder_of_the_file() {
        let text = "store = \"data\"\nblobs = \"s3://bucket/b\"\nworkflows = \"flows\"\nprocessors = \"/etc/p\"\nlog = \"info\"";
        let file = File::parse(text, Path::new("etc")).unwrap();
        assert_eq!((file.store.as_deref(), file.blobs.as_deref()), (Some("etc/data"), Some("s3://bucket/b")));
        assert_eq!((file.workflows, file.processors), (Some("etc/flows".into()), Some("/etc/p".into())));
        assert_eq!(file.log.as_deref(), Some("info"));
        assert_eq!(File::parse("# nothing\n", Path::new("")).unwrap(), File::default());
    }

    #[test]
    fn an_unknown_key_names_the_nearest() {
        let (line, message, hint) = wrong("log = \"info\"\nstroe = \"postgres://ann:s3cret@db/b\"\n");
        assert_eq!((line, &*message), (Some(2), "unknown key \"stroe\""));
        assert_eq!(hint.as_deref(), Some("did you mean `store`?"));
        assert!(wrong("[elephants]\na = 1\n").2.unwrap().contains("known here: store, blobs"));
    }

    #[test]
    fn no_value_is_quoted() {
        let (line, message, _) = wrong("log = \"info\"\nstore = postgres://ann:s3cret@db/b\n");
        assert_eq!(line, Some(2));
        assert!(message.starts_with("not TOML: ") && !message.contains("s3cret"), "{message}");
        assert_eq!(wrong("store = 5").1, "store: expected a text in quotes, not integer");
        assert!(!wrong("store = \"postgres://ann:s3cret@db\nlog = \"x\"").1.contains("s3cret"));
    }
}
