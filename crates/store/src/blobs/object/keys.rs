//! Readable keys: where people and other programs look for what Bindery made.
//!
//! Blobs are found by their hash, and only Bindery knows that. Programs around it expect `text-docs/<id>.json` or
//! `pdf-pages/<id>/page_001.pdf`. A [`KeyLayout`] says under which prefix each kind of artifact goes; the defaults are
//! the ones that such pipelines have used so far, and every one of them can be changed.
//!
//! A name never becomes a key unseen: an [`OutwardKey`] has no empty, `.` or `..` segments and no control characters,
//! and cannot lie among the blobs.

use super::ObjectError;
use object_store::path::Path as Key;
use std::{collections::BTreeMap, fmt};

/// The longest key that every service takes, in bytes.
const LONGEST: usize = 1024;

/// Where blobs are, which nobody else may write to.
const RESERVED: &str = "sha256";

/// Kinds of artifacts and their prefixes, unless somebody says otherwise.
const DEFAULTS: &[(&str, &str)] = &[
    ("classified", "classified/"),
    ("combine", "combine/"),
    ("hocr", "hocr/"),
    ("ocr", "ocr/"),
    ("office", "office/"),
    ("output", "output/"),
    ("page", "pages/"),
    ("pdf_page", "pdf-pages/"),
    ("pdf_raw", "pdf-raw/"),
    ("raw", "raw/"),
    ("scan_page", "scan-pages/"),
    ("split", "split/"),
    ("text", "text/"),
    ("text_doc", "text-docs/"),
    ("text_page", "text-pages/"),
];

/// A key that others read. Below the prefix of the store's URL.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutwardKey(Key);

impl OutwardKey {
    /// Checks a key such as `text-docs/a1.json`.
    pub fn parse(key: &str) -> Result<Self, ObjectError> {
        let bad = |reason| ObjectError::BadKey { key: shorten(key), reason };
        if key.is_empty() {
            return Err(bad("it is empty"));
        }
        if key.len() > LONGEST {
            return Err(bad("it is longer than 1024 bytes"));
        }
        if key.chars().any(char::is_control) {
            return Err(bad("it has control characters"));
        }
        if key.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
            return Err(bad("it has empty, . or .. segments"));
        }
        if key.split('/').next() == Some(RESERVED) {
            return Err(bad("what is below sha256/ belongs to the blobs"));
        }
        // As it is: others look for exactly this key.
        Key::parse(key).map(Self).map_err(|_| bad("it has characters that keys cannot have"))
    }

    pub(super) fn as_key(&self) -> &Key {
        &self.0
    }
}

impl fmt::Display for OutwardKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.as_ref())
    }
}

/// Enough of a key to recognise it in a message.
fn shorten(key: &str) -> String {
    match key.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &key[..end]),
        None => key.to_owned(),
    }
}

/// Under which prefix each kind of artifact goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyLayout {
    prefixes: BTreeMap<String, String>,
}

impl Default for KeyLayout {
    fn default() -> Self {
        let own = |(kind, prefix): &(&str, &str)| ((*kind).to_owned(), (*prefix).to_owned());
        Self { prefixes: DEFAULTS.iter().map(own).collect() }
    }
}

impl KeyLayout {
    /// Gives a kind, new or old, another prefix. A missing slash at its end is added; an empty prefix is the top.
    pub fn with(mut self, kind: &str, prefix: &str) -> Result<Self, ObjectError> {
        let prefix = prefix.trim_end_matches('/');
        if !prefix.is_empty() {
            OutwardKey::parse(prefix)?;
        }
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        self.prefixes.insert(kind.to_owned(), prefix);
        Ok(self)
    }

    /// The prefix of a kind. One that the layout does not know has its own name for a prefix.
    pub fn prefix(&self, kind: &str) -> String {
        self.prefixes.get(kind).cloned().unwrap_or_else(|| format!("{kind}/"))
    }

    /// The key of one artifact: `key("text_doc", "a1.json")` is `text-docs/a1.json`.
    pub fn key(&self, kind: &str, name: &str) -> Result<OutwardKey, ObjectError> {
        OutwardKey::parse(&format!("{}{name}", self.prefix(kind)))
    }

    /// The key of one page, counted from one: `pdf-pages/a1/page_001.pdf`.
    pub fn page(&self, kind: &str, document: &str, page: u32, extension: &str) -> Result<OutwardKey, ObjectError> {
        self.key(kind, &format!("{document}/page_{page:03}.{extension}"))
    }

    /// Every kind with its prefix.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.prefixes.iter().map(|(kind, prefix)| (kind.as_str(), prefix.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_go_where_such_pipelines_put_them() {
        let layout = KeyLayout::default();
        let key = |kind, name| layout.key(kind, name).unwrap().to_string();
        assert_eq!(key("raw", "report.pdf"), "raw/report.pdf");
        assert_eq!(key("text_doc", "a1.json"), "text-docs/a1.json");
        assert_eq!(key("output", "sub_1.json"), "output/sub_1.json");
        assert_eq!(key("letters", "a.txt"), "letters/a.txt", "a kind of one's own");
        assert_eq!(layout.page("pdf_page", "a1", 7, "pdf").unwrap().to_string(), "pdf-pages/a1/page_007.pdf");
        assert_eq!(layout.page("text_page", "a1", 1234, "md").unwrap().to_string(), "text-pages/a1/page_1234.md");
    }

    #[test]
    fn prefixes_can_be_changed() {
        let layout = KeyLayout::default().with("raw", "inbox/2026").unwrap().with("output", "").unwrap();
        assert_eq!(layout.key("raw", "a.pdf").unwrap().to_string(), "inbox/2026/a.pdf");
        assert_eq!(layout.key("output", "a.json").unwrap().to_string(), "a.json");
        assert_eq!(layout.iter().count(), DEFAULTS.len());
        assert!(KeyLayout::default().with("raw", "../elsewhere").is_err());
    }

    #[test]
    fn names_never_become_paths() {
        let layout = KeyLayout::default();
        for (name, reason) in [
            ("", "it has empty, . or .. segments"),
            ("a//b", "it has empty, . or .. segments"),
            ("../sha256/ab", "it has empty, . or .. segments"),
            ("a/./b", "it has empty, . or .. segments"),
            ("a\nb", "it has control characters"),
            (&"x".repeat(2000), "it is longer than 1024 bytes"),
        ] {
            let sentence = layout.key("raw", name).unwrap_err().to_string();
            assert!(sentence.ends_with(reason), "{name:?}: {sentence}");
            assert!(sentence.len() < 200, "{sentence}");
        }
        let error = OutwardKey::parse("sha256/ab/cd").unwrap_err();
        let expected = "the key \"sha256/ab/cd\" cannot be used: what is below sha256/ belongs to the blobs";
        assert_eq!(error.to_string(), expected);
        assert!(layout.with("raw", "sha256/").is_err());
    }

    #[test]
    fn others_find_exactly_the_key_that_was_asked_for() {
        for key in ["raw/50%.pdf", "raw/50%25.pdf", "raw/ä b.pdf", "raw/a+b (1).pdf"] {
            assert_eq!(OutwardKey::parse(key).unwrap().to_string(), key);
        }
    }
}
