//! What the archive of a store says about itself, and what can be wrong with one.

use crate::{StoreError, blobs::BlobError};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::{collections::BTreeMap, io};

pub(super) const HEAD: &str = "bindery-export.json";
pub(super) const ROWS: &str = "rows/";
pub(super) const BLOBS: &str = "blobs/";
pub(super) const END: &str = "end.json";

/// What is read and written. Rows of another version may have other columns.
pub(super) const VERSION: u64 = 1;

/// Larger blobs go through a file, so that they are never whole in memory.
pub(super) const IN_MEMORY: u64 = 4 << 20;

/// The first file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) what: String,
    pub(super) version: u64,
    pub(super) made_by: String,
}

impl Head {
    pub(super) const WHAT: &str = "a Bindery store";
}

/// The last file.
#[derive(Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub(super) struct End {
    pub(super) tables: BTreeMap<String, Sum>,
    pub(super) blobs: Sum,
}

/// How much there is of something, and a hash of all of it.
#[derive(Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) count: u64,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// A sum that grows.
#[derive(Default)]
pub(super) struct Summing {
    count: u64,
    bytes: u64,
    hash: Sha256,
}

impl Summing {
    /// `seen` is what the hash is made of.
    pub(super) fn add(&mut self, count: u64, bytes: u64, seen: &[u8]) {
        self.count += count;
        self.bytes += bytes;
        self.hash.update(seen);
    }

    pub(super) fn sum(self) -> Sum {
        Sum { count: self.count, bytes: self.bytes, sha256: super::tables::to_hex(&self.hash.finalize()) }
    }

    pub(super) fn carried(&self) -> (u64, u64) {
        (self.count, self.bytes)
    }
}

/// What was carried so far, or in all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Carried {
    pub rows: u64,
    /// By table.
    pub tables: BTreeMap<String, u64>,
    pub blobs: u64,
    pub blob_bytes: u64,
}

/// Why a store was not carried.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The archive cannot be read or written.
    #[error("the archive cannot be {action}: {source}")]
    Io { action: &'static str, source: io::Error },
    /// It is not what it should be. Nothing was stored.
    #[error("{0}; nothing was stored")]
    Bad(String),
}

impl ArchiveError {
    pub(super) fn write(source: io::Error) -> Self {
        Self::Io { action: "written", source }
    }

    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::Bad(message.into())
    }
}
