//! Where the key of a service comes from: a variable of the environment or a file, never the configuration itself.

use bindery_core::ContentHash;
use std::{fmt, fs, path::PathBuf};

/// A key is never this long; a file that is larger is another file.
const MOST_BYTES: u64 = 16 * 1024;

/// A key. It shows itself to nobody.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    /// By which a refused key is known again.
    pub(super) fn fingerprint(&self) -> ContentHash {
        ContentHash::of(self.0.as_bytes())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Where a key is kept. It is looked up for every call, so a new key in the file is used without a restart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeySource {
    /// The service wants none.
    None,
    Variable(String),
    File(PathBuf),
}

impl KeySource {
    /// `Err` with a sentence that says what is missing.
    pub(crate) fn read(&self) -> Result<Option<Secret>, String> {
        match self {
            Self::None => Ok(None),
            Self::Variable(name) => match std::env::var(name) {
                Ok(value) if !value.trim().is_empty() => Ok(Some(Secret::new(value.trim()))),
                _ => Err(format!(
                    "the environment variable {name}, which holds the key of the language model (`key_env`), is not set"
                )),
            },
            Self::File(path) => {
                let sentence = |what: String| {
                    format!("{}, which holds the key of the language model (`key_file`), {what}", path.display())
                };
                let length = fs::metadata(path).map_err(|error| sentence(format!("cannot be read: {error}")))?.len();
                if length > MOST_BYTES {
                    return Err(sentence(format!("has {length} bytes, which is no key")));
                }
                let text = fs::read_to_string(path).map_err(|error| sentence(format!("cannot be read: {error}")))?;
                match text.trim() {
                    "" => Err(sentence("is empty".to_owned())),
                    key => Ok(Some(Secret::new(key))),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_from_its_file_and_is_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let source = KeySource::File(path.clone());
        assert!(source.read().unwrap_err().contains("cannot be read"));
        fs::write(&path, " \n").unwrap();
        assert!(source.read().unwrap_err().ends_with("is empty"));
        fs::write(&path, "s3cret\n").unwrap();
        let key = source.read().unwrap().unwrap();
        assert_eq!((key.expose(), format!("{key:?}").as_str()), ("s3cret", "***"));
        fs::write(&path, vec![b'x'; 20_000]).unwrap();
        assert!(source.read().unwrap_err().contains("no key"));
        assert_eq!(KeySource::None.read(), Ok(None));
        let missing = KeySource::Variable("BINDERY_TEST_NO_SUCH_KEY".to_owned()).read().unwrap_err();
        assert!(missing.contains("BINDERY_TEST_NO_SUCH_KEY"), "{missing}");
    }
}
