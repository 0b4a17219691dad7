//! Where a file is, as a caller names it: `s3://bucket/key`, or `file:///folder/file` on this machine.
//!
//! A location is checked before anything is asked for: each rule that it breaks is one sentence.

use std::fmt;

/// The longest key that S3 has, in bytes.
const LONGEST_KEY: usize = 1024;

/// The address of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    S3 {
        bucket: String,
        key: String,
    },
    /// The folder begins with a slash.
    Local {
        folder: String,
        name: String,
    },
}

impl Location {
    /// Checks an address.
    pub fn parse(address: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("file {:?}: {why}", shorten(address));
        if address.chars().any(char::is_control) {
            return Err(wrong("it has control characters"));
        }
        let expected = "expected s3://bucket/key or file:///folder/file";
        let (scheme, rest) = address.split_once("://").ok_or_else(|| wrong(expected))?;
        match scheme {
            "s3" => {
                let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
                check_bucket(bucket).map_err(|why| wrong(&why))?;
                check_key(key).map_err(wrong)?;
                Ok(Self::S3 { bucket: bucket.to_owned(), key: key.to_owned() })
            }
            "file" => {
                let path = rest.strip_prefix('/').ok_or_else(|| wrong("expected file:/// and the whole path"))?;
                check_key(path).map_err(wrong)?;
                let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
                Ok(Self::Local { folder: format!("/{folder}"), name: name.to_owned() })
            }
            _ => Err(wrong(expected)),
        }
    }

    /// The last part: what people call the file.
    pub fn name(&self) -> &str {
        match self {
            Self::S3 { key, .. } => key.rsplit('/').next().unwrap_or(key),
            Self::Local { name, .. } => name,
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::S3 { bucket, key } => write!(f, "s3://{bucket}/{key}"),
            Self::Local { folder, name } => write!(f, "file://{}/{name}", folder.trim_end_matches('/')),
        }
    }
}

/// The names that S3 gives to buckets.
fn check_bucket(bucket: &str) -> Result<(), String> {
    let wrong = |why: &str| Err(format!("the bucket {:?} {why}", shorten(bucket)));
    if bucket.is_empty() {
        return Err("the bucket is missing: expected s3://bucket/key".to_owned());
    }
    if !(3..=63).contains(&bucket.len()) {
        return wrong("has fewer than 3 or more than 63 characters");
    }
    if !bucket.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte)) {
        return wrong("has other characters than small letters, digits, dots and dashes");
    }
    if bucket.starts_with(['.', '-']) || bucket.ends_with(['.', '-']) {
        return wrong("begins or ends with a dot or a dash");
    }
    if ["..", ".-", "-."].iter().any(|pair| bucket.contains(pair)) {
        return wrong("has a dot beside another dot or a dash");
    }
    if bucket.parse::<std::net::Ipv4Addr>().is_ok() {
        return wrong("looks like the address of a machine");
    }
    Ok(())
}

fn check_key(key: &str) -> Result<(), &'static str> {
    if key.is_empty() {
        return Err("the key is empty: expected the name of a file behind the bucket or folder");
    }
    if key.ends_with('/') {
        return Err("it ends with a slash: expected a file, not a folder");
    }
    if key.split('/').any(str::is_empty) {
        return Err("it has an empty segment (//)");
    }
    if key.split('/').any(|segment| matches!(segment, "." | "..")) {
        return Err("it has a segment . or ..");
    }
    if key.len() > LONGEST_KEY {
        return Err("its key is longer than 1024 bytes");
    }
    Ok(())
}

/// The address of a local folder.
pub fn folder_url(folder: &str) -> String {
    format!("file://{}", folder.replace('%', "%25").replace('?', "%3F"))
}

/// Checks the name of a collection: letters, digits, dots, underscores and dashes.
pub fn check_collection(name: &str) -> Result<(), String> {
    if is_plain(name) {
        return Ok(());
    }
    let shown = shorten(name);
    Err(format!("collection_name {shown:?}: expected letters, digits, dots, underscores and dashes, at least one"))
}

/// Checks the id of a document, which is a part of keys. `field` is what the caller gave it as.
pub fn check_document_id(field: &str, id: &str) -> Result<(), String> {
    if is_plain(id) {
        return Ok(());
    }
    Err(format!("{field} {:?}: expected letters, digits, dots, underscores and dashes", shorten(id)))
}

/// Whether it can be a part of a key as it is.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// Enough to recognise it in a message.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
