//! What can be wrong with a file. Each message is one sentence that a person can act on; the caller puts the file's
//! name in front of it.

use crate::options::Limits;

pub type ReadResult<T> = Result<T, ReadError>;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReadError {
    #[error("the file is empty")]
    Empty,
    /// Not one of the types that can be read. What it looks like instead, if that can be told.
    #[error("{}", unknown(looks_like.as_deref()))]
    UnknownType { looks_like: Option<String> },
    /// `what` says which part is broken and how.
    #[error("the {kind} file is damaged: {what}")]
    Damaged { kind: &'static str, what: String },
    #[error("the file is encrypted and needs a password")]
    NeedsPassword,
    #[error("the password does not open the file")]
    WrongPassword,
    /// Encrypted or stored in a way that is known but not supported.
    #[error("{what} is not supported")]
    Unsupported { what: String },
    #[error("page {page} does not exist; the file has {count}")]
    NoSuchPage { page: usize, count: usize },
    /// A limit of [`Limits`] was reached; `what` names it, e.g. "the archive unpacks to more than 1 GiB".
    #[error("{what}")]
    TooLarge { what: String },
    /// OCR is needed and cannot be had; the message says what to install or set.
    #[error("{what}")]
    NoOcr { what: String },
    #[error("OCR failed: {what}")]
    Ocr { what: String },
}

impl ReadError {
    pub fn damaged(kind: &'static str, what: impl Into<String>) -> Self {
        Self::Damaged { kind, what: what.into() }
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

/// Checks a count or size against a limit, and names both if it is too large.
pub fn within(what: &str, is: u64, limit: u64) -> ReadResult<()> {
    if is > limit {
        return Err(ReadError::too_large(format!("{what} is {is}, and the limit is {limit}")));
    }
    Ok(())
}

impl Limits {
    /// The file itself.
    pub fn check_file(&self, bytes: u64) -> ReadResult<()> {
        if bytes == 0 {
            return Err(ReadError::Empty);
        }
        within("the size of the file in bytes", bytes, self.file_bytes)
    }
}
