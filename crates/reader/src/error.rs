//! What can be wrong with a file. Each message is one sentence that a person can act on; the caller puts the file's
//! name in front of it.

use crate::options::Limits;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

pub type ReadResult<T> = Result<T, ReadError>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
pub enum ReadError {
    #[error("the file is empty")]
    Empty,
    /// Not one of the types that can be read. What it looks like instead, if that can be told.
    #[error("{}", unknown(looks_like.as_deref()))]
    UnknownType { looks_like: Option<String> },
    /// `what` says which part is broken and how.
    #[error("the {kind} file is damaged: {what}")]
    Damaged { kind: Cow<'static, str>, what: String },
    #[error("the file is encrypted and needs a password")]
    NeedsPassword,
    #[error("the password does not open the file")]
    WrongPassword,
    /// Encrypted or stored in a way that is known but not supported.
    #[error("{what} is not supported")]
    Unsupported { what: String },
    #[error("page {page} does not exist; the file has {count}")]
    NoSuchPage { page: usize, count: usize },
    /// A limit of [`Limits`] was reached; `what` names it, e.g. "the archive unpacks to more than 512 MB".
    #[error("{what}")]
    TooLarge { what: String },
    /// OCR is needed and cannot be had; the message says what to install or set.
    #[error("{what}")]
    NoOcr { what: String },
    #[error("OCR failed: {what}")]
    Ocr { what: String },
    /// Its bytes could not be had; the message is the system's.
    #[error("{what}")]
    Unreadable { what: String },
    /// The process that read it reached its memory limit.
    #[error("it needs more than {} of memory to be read", bytes(*limit))]
    OutOfMemory { limit: u64 },
    /// The process that read it was ended after this time.
    #[error("it took longer than {seconds} s to be read")]
    OutOfTime { seconds: u64 },
    /// The process that read it ended, or could not be started. Another try may succeed.
    #[error("{what}")]
    NoReader { what: String },
}

impl ReadError {
    pub fn damaged(kind: &'static str, what: impl Into<String>) -> Self {
        Self::Damaged { kind: Cow::Borrowed(kind), what: what.into() }
    }

    pub fn too_large(what: impl Into<String>) -> Self {
        Self::TooLarge { what: what.into() }
    }

    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported { what: what.into() }
    }
}

fn unknown(looks_like: Option<&str>) -> String {
    match looks_like {
        Some(what) => format!("this is {what}, which cannot be read"),
        None => "the type of the file is not known".to_owned(),
    }
}

/// A size as people say it: "512 MB", "1.2 GB". Below a megabyte it is exact.
pub fn bytes(size: u64) -> String {
    const MEGABYTE: u64 = 1 << 20;
    let tenths = |unit: u64| (size.saturating_mul(10) / unit, size.is_multiple_of(unit));
    match size {
        0..MEGABYTE => format!("{size} bytes"),
        _ if size < 1 << 30 => format!("{} MB", size / MEGABYTE),
        _ => match tenths(1 << 30) {
            (tenths, true) => format!("{} GB", tenths / 10),
            (tenths, false) => format!("{}.{} GB", tenths / 10, tenths % 10),
        },
    }
}

/// Checks a count or size against a limit, and names both if it is too large.
pub fn check_limit(what: &str, is: u64, limit: u64) -> ReadResult<()> {
    if is > limit {
        return Err(ReadError::too_large(format!("{what} is {is}, and the limit is {limit}")));
    }
    Ok(())
}

impl Limits {
    /// The file itself.
    pub fn check_file(&self, size: u64) -> ReadResult<()> {
        if size == 0 {
            return Err(ReadError::Empty);
        }
        Self::check_size("the file", size, self.file_bytes)
    }

    /// A file that is text as a whole.
    pub fn check_text(&self, size: u64) -> ReadResult<()> {
        self.check_file(size)?;
        Self::check_size("the text", size, self.text_bytes)
    }

    fn check_size(what: &str, size: u64, limit: u64) -> ReadResult<()> {
        if size > limit {
            let (size, limit) = (bytes(size), bytes(limit));
            return Err(ReadError::too_large(format!("{what} has {size}, and the limit is {limit}")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_said_as_people_say_them() {
        let said = [999, 512 << 20, 1 << 30, 1_200_000_000].map(bytes);
        assert_eq!(said, ["999 bytes", "512 MB", "1 GB", "1.1 GB"]);
        let error = Limits::default().check_file(1_200_000_000).unwrap_err();
        assert_eq!(error.to_string(), "the file has 1.1 GB, and the limit is 512 MB");
    }
}
