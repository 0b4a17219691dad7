//! Why there is no answer, or only a part of one.

use crate::public_address::PrivateAddress;
use std::time::Duration;
use thiserror::Error;

/// A failed exchange; the end of a sentence that begins with who was asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HttpError {
    #[error("took longer than {} s", .0.as_secs_f64())]
    Timeout(Duration),
    #[error("could not be reached: {0}")]
    Unreachable(String),
    #[error("broke off: {0}")]
    CutShort(String),
    #[error("is larger than the {} that are taken{}", megabytes(*.limit), .announced.map(|size| format!(": it has {}", megabytes(size))).unwrap_or_default())]
    TooLarge {
        limit: u64,
        /// By the answer's header.
        announced: Option<u64>,
    },
    #[error("cannot be asked: {0}")]
    Invalid(String),
    /// The address guard refused it.
    #[error("cannot be asked: {0}")]
    PrivateAddress(PrivateAddress),
}

impl HttpError {
    /// Whether the same request may well succeed a little later.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Timeout(_) | Self::Unreachable(_) | Self::CutShort(_))
    }
}

fn megabytes(bytes: u64) -> String {
    if bytes < 1_000_000 { format!("{bytes} bytes") } else { format!("{:.1} MB", bytes as f64 / 1e6) }
}
