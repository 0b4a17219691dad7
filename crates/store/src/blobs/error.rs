//! Everything that can go wrong with a blob, and what to do next.

use crate::error::StoreError;
use bindery_core::{ContentHash, Disposition};
use std::{
    io,
    path::{Path, PathBuf},
};

/// Why a blob could not be stored, read or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlobError {
    #[error("no blob {hash} at {location}")]
    Missing { hash: ContentHash, location: String },
    #[error("blob {hash} at {location} is damaged: its {size} bytes have the hash {found}")]
    Corrupt { hash: ContentHash, location: String, found: ContentHash, size: u64 },
    #[error("blob {hash} is not JSON: {source}")]
    NotJson { hash: ContentHash, source: serde_json::Error },

    #[error("there is no file {}", path.display())]
    SourceMissing { path: PathBuf },
    #[error("no permission to read {}", path.display())]
    SourceDenied { path: PathBuf },
    #[error("{} is {kind}, expected a file", path.display())]
    NotAFile { path: PathBuf, kind: &'static str },
    #[error("{} changed while it was copied: {what}", path.display())]
    SourceChanged { path: PathBuf, what: String },
    #[error("the copy of {} differs from it: read {read}, wrote {wrote}", path.display())]
    CopyDiffers { path: PathBuf, read: ContentHash, wrote: ContentHash },

    #[error("no space left to write {}: free some space or raise the quota there", path.display())]
    NoSpace { path: PathBuf, source: io::Error },
    #[error("no permission to {action} {}: check who owns it and its mode", path.display())]
    Denied { action: &'static str, path: PathBuf, source: io::Error },
    #[error("could not {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    /// Of the database whose rows are blobs.
    #[error(transparent)]
    Rows(StoreError),
    #[error("the program is shutting down")]
    ShuttingDown,
    #[error("{url} is no place for blobs: expected file:/// and the whole path")]
    BadFolderUrl { url: String },
    #[cfg(not(feature = "object-storage"))]
    #[error("{url} cannot be opened: this program was built without object storage (feature object-storage)")]
    NoObjectStorage { url: String },
    #[cfg(feature = "object-storage")]
    #[error(transparent)]
    Object(#[from] super::ObjectError),
}

impl BlobError {
    /// What should happen to the work that met this error.
    pub fn disposition(&self) -> Disposition {
        let park = |until: String| Disposition::Park { until, at: None };
        match self {
            // The bytes are gone or wrong: only a person can bring them back.
            Self::Missing { .. } | Self::Corrupt { .. } => Disposition::Review,
            Self::NotJson { .. } => Disposition::Bug,
            Self::SourceMissing { .. } | Self::SourceDenied { .. } | Self::NotAFile { .. } => Disposition::Reject,
            // More tries change nothing until somebody changes the machine, so none is used up.
            Self::NoSpace { path, .. } => park(format!("there is space for {}", path.display())),
            Self::Denied { action, path, .. } => park(format!("there is permission to {action} {}", path.display())),
            Self::SourceChanged { .. } | Self::CopyDiffers { .. } | Self::Io { .. } | Self::ShuttingDown => {
                Disposition::Retry { after: None }
            }
            Self::Rows(error) if error.is_transient() => Disposition::Retry { after: None },
            Self::Rows(StoreError::Corrupt { .. }) => Disposition::Review,
            Self::Rows(_) => Disposition::Bug,
            Self::BadFolderUrl { .. } => Disposition::Reject,
            #[cfg(not(feature = "object-storage"))]
            Self::NoObjectStorage { .. } => Disposition::Reject,
            #[cfg(feature = "object-storage")]
            Self::Object(error) => error.disposition(),
        }
    }

    /// An error of the store's own files.
    pub(super) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace { path, source },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::Denied { action, path, source }
            }
            _ => Self::Io { action, path, source },
        }
    }

    /// An error of a file that is to be stored.
    pub(super) fn source(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            // `a.pdf/b`, where `a.pdf` is a file, is as missing as `a/b.pdf`.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::SourceMissing { path },
            io::ErrorKind::PermissionDenied => Self::SourceDenied { path },
            _ => Self::Io { action: "read", path, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_kind(kind: io::ErrorKind) -> BlobError {
        BlobError::io("write", Path::new("blobs/tmp/x"), kind.into())
    }

    #[test]
    fn a_full_disk_waits_for_space_and_says_so() {
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            let error = of_kind(kind);
            assert_eq!(
                error.to_string(),
                "no space left to write blobs/tmp/x: free some space or raise the quota there"
            );
            assert!(matches!(error.disposition(), Disposition::Park { .. }));
        }
    }

    #[test]
    fn a_refused_write_names_the_path_and_the_remedy() {
        let error = of_kind(io::ErrorKind::PermissionDenied);
        assert_eq!(error.to_string(), "no permission to write blobs/tmp/x: check who owns it and its mode");
        assert!(matches!(error.disposition(), Disposition::Park { .. }));
    }

    #[test]
    fn other_faults_are_tried_again() {
        assert_eq!(of_kind(io::ErrorKind::TimedOut).disposition(), Disposition::Retry { after: None });
    }
}
