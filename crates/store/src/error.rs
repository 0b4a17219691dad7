//! What can go wrong with a store, in sentences that say what to do.

use std::path::PathBuf;

pub type StoreResult<T> = Result<T, StoreError>;

/// Cloneable, because every caller of a failed group commit gets the same error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("{path}: another process has kept the database locked for more than {seconds} s")]
    Locked { path: PathBuf, seconds: u64 },
    #[error(
        "{path}: the database has version {found}, this program knows versions up to {known}; \
         use the newer bindery that made it"
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("{path}: not a Bindery database ({detail})")]
    NotOurs { path: PathBuf, detail: String },
    #[error("{path}: the database is damaged ({detail}); restore it from a backup")]
    Corrupt { path: PathBuf, detail: String },
    #[error("{path}: no space left on the disk; nothing of the last change was stored")]
    Full { path: PathBuf },
    #[error("{path}: cannot be written ({detail})")]
    NotWritable { path: PathBuf, detail: String },
    #[error("{path}: cannot be opened ({detail})")]
    CannotOpen { path: PathBuf, detail: String },
    #[error("{path}: cannot be reached ({detail})")]
    Unreachable { path: PathBuf, detail: String },
    #[error("{path}: the store has version {found}, this program needs version {known}")]
    Older { path: PathBuf, found: i64, known: i64 },
    #[error("{0}")]
    Invalid(String),
    #[error("there is no {what}")]
    NotFound { what: String },
    #[error("the store is closed")]
    Closed,
    #[error("the database answered: {0}")]
    Database(String),
}

impl StoreError {
    /// Trying the same call again later may work. A store that is closed says nothing about the work: this process ends,
    /// and another one may do it.
    pub const fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Locked { .. } | Self::Full { .. } | Self::Unreachable { .. } | Self::Database(_) | Self::Closed
        )
    }

    pub fn not_found(what: impl std::fmt::Display) -> Self {
        Self::NotFound { what: what.to_string() }
    }
}
