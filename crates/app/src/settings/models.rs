//! The table `[models]` of `bindery.toml`: the language model that writes summaries. Without the table there is none.

use super::Settings;
use super::file::Wrong;
use bindery_models::ModelsConfig;
use bindery_models::config::ConfigError;
use std::path::Path;

/// Reads the table out of the text of the whole file. A relative `key_file` is meant from the folder of the file.
pub(super) fn read(text: &str, folder: &Path) -> Result<ModelsConfig, Wrong> {
    let mut config = ModelsConfig::parse(text, "bindery.toml").map_err(|error| wrong(text, error))?;
    config.key_file = config.key_file.map(|file| folder.join(file));
    Ok(config)
}

fn wrong(text: &str, error: ConfigError) -> Wrong {
    let hint = Some("docs/models.md has examples, and tells all keys".to_owned());
    match error {
        ConfigError::Malformed { line, what, .. } => {
            Wrong { line: Some(line), message: format!("models: {what}"), hint }
        }
        ConfigError::Wrong { field, what } => {
            Wrong { line: line_of(text, field), message: format!("models.{field} {what}"), hint }
        }
    }
}

/// The line of a key of the table, or that of the table.
fn line_of(text: &str, field: &str) -> Option<usize> {
    let table = text.lines().position(|line| line.trim_start().starts_with("[models") || line.starts_with("models"))?;
    let is_field = |line: &str| {
        let line = line.trim_start().trim_start_matches("[models.");
        line.strip_prefix(field).is_some_and(|rest| rest.trim_start().starts_with(['=', ']', '.']))
    };
    let below = text.lines().skip(table).position(is_field).map_or(table, |at| table + at);
    Some(below + 1)
}

impl Settings {
    /// The language model that is configured.
    pub fn models(&self) -> Option<&ModelsConfig> {
        self.models.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL: &str = "log = \"info\"\n\n[models]\nprovider = \"openai\"\nbase_url = \"http://localhost:11434/v1\"\n\
        key_file = \"model.key\"\nsmall = { model = \"llama3.1:8b\" }\n";

    fn place_and_message(text: &str) -> (Option<usize>, String) {
        let Wrong { line, message, .. } = read(text, Path::new("etc")).unwrap_err();
        (line, message)
    }

    #[test]
    fn the_key_is_in_a_file_beside_the_file() {
        let config = read(LOCAL, Path::new("etc")).unwrap();
        assert_eq!(config.key_file.as_deref(), Some(Path::new("etc/model.key")));
        let elsewhere = read(&LOCAL.replace("model.key", "/run/secrets/key"), Path::new("etc")).unwrap();
        assert_eq!(elsewhere.key_file.as_deref(), Some(Path::new("/run/secrets/key")));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let (line, message) = place_and_message(&LOCAL.replace("base_url", "base_ulr"));
        assert!(line == Some(5) && message.starts_with("models: unknown field `base_ulr`"), "{line:?} {message}");
        let (line, message) = place_and_message(&LOCAL.replace("http://localhost", "localhost"));
        assert_eq!((line, message.as_str()), (Some(5), "models.base_url has to begin with http:// or https://"));
        let (line, message) = place_and_message(&LOCAL.replace("small", "tries = 0\nsmall"));
        assert_eq!((line, message.as_str()), (Some(7), "models.tries has to be at least 1"));
        let (line, message) = place_and_message("models = 5\n");
        assert!(line == Some(1) && message.starts_with("models: invalid type"), "{line:?} {message}");
        let (line, message) =
            place_and_message(&LOCAL.replace("key_file = \"model.key\"", "key_env = \"sk-0123456789\""));
        assert!(line == Some(6) && message.contains("name of a variable"), "{line:?} {message}");
        assert!(!message.contains("sk-"), "{message}");
    }
}
