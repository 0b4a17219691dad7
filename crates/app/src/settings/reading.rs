//! The table `[reading]` of `bindery.toml`: what reading a file may use.

use super::file::Wrong;
use bindery_engine::runner::Limits;
use toml::{Table, Value};

/// What reading a file may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadingSettings {
    /// In bytes, for each process that reads.
    pub memory: u64,
}

impl Default for ReadingSettings {
    fn default() -> Self {
        Self { memory: Limits::DEFAULT_MEMORY }
    }
}

const KEY: &str = "memory_mb";
const LEAST_MB: i64 = 64;
const MOST_MB: i64 = 1 << 20;

/// Reads the table out of the text of the whole file.
pub(super) fn read(text: &str, value: Value) -> Result<ReadingSettings, Wrong> {
    let line = |key: &str| text.lines().position(|line| line.trim_start().starts_with(key)).map(|index| index + 1);
    let Value::Table(table) = value else {
        let message = format!("reading: expected a table, not {}", value.type_str());
        return Err(Wrong { line: line("reading"), message, hint: Some("[reading]\nmemory_mb = 1024".to_owned()) });
    };
    let mut settings = ReadingSettings::default();
    for (key, value) in Table::into_iter(table) {
        let wrong = |message: String, hint| Wrong { line: line(&key), message, hint };
        if key != KEY {
            let hint = bindery_yaml::suggest(&key, &[KEY]);
            return Err(wrong(format!("reading: unknown key {key:?}"), Some(hint)));
        }
        let megabytes = value.as_integer().filter(|number| (LEAST_MB..=MOST_MB).contains(number));
        let megabytes = megabytes.and_then(|number| u64::try_from(number).ok()).ok_or_else(|| {
            wrong(format!("reading.{KEY}: expected a whole number from {LEAST_MB} to {MOST_MB}"), None)
        })?;
        settings.memory = megabytes << 20;
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<ReadingSettings, (Option<usize>, String)> {
        let mut table: Table = text.parse().unwrap();
        read(text, table.remove("reading").unwrap()).map_err(|wrong| (wrong.line, wrong.message))
    }

    #[test]
    fn the_memory_of_reading_is_set_in_megabytes() {
        assert_eq!(parsed("[reading]\nmemory_mb = 512\n"), Ok(ReadingSettings { memory: 512 << 20 }));
        assert_eq!(parsed("[reading]\n"), Ok(ReadingSettings { memory: 1 << 30 }));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let small = "log = \"info\"\n[reading]\nmemory_mb = 8\n";
        let message = "reading.memory_mb: expected a whole number from 64 to 1048576".to_owned();
        assert_eq!(parsed(small), Err((Some(3), message)));
        assert_eq!(parsed("[reading]\nmemory = 512\n"), Err((Some(2), "reading: unknown key \"memory\"".to_owned())));
        assert_eq!(parsed("reading = 5\n"), Err((Some(1), "reading: expected a table, not integer".to_owned())));
    }
}
