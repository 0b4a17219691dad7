//! Exchanges kept in a folder, to be answered from it again.
//!
//! `recording.jsonl` has one line for each exchange, and names the file that holds the body. Both can be written by
//! hand: `docs/civic-recordings.md` says how. No secrets are kept: tokens in addresses are replaced, on the way in as on
//! the way out, and neither cookies nor what was sent as a header are there at all.

mod line;
mod replay;
mod write;

pub use replay::Replaying;
pub use write::Recording;

use std::path::PathBuf;
use thiserror::Error;
use ureq::http::{Method, Request};

/// The list of exchanges.
pub const INDEX: &str = "recording.jsonl";

/// Why a folder cannot be recorded into, or replayed.
#[derive(Debug, Error)]
pub enum RecordingError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: std::io::Error },
    #[error("{} already holds a recording; name an empty folder", .0.display())]
    Occupied(PathBuf),
    #[error("{} is no recording: it has no file {INDEX}", .0.display())]
    NoRecording(PathBuf),
    #[error("{}, line {line}: {what}", path.display())]
    Line { path: PathBuf, line: usize, what: String },
}

/// What a request sends; none where it only asks.
fn sent_text(request: &Request<Vec<u8>>) -> Option<String> {
    let only_asks = request.body().is_empty() && [Method::GET, Method::HEAD].contains(request.method());
    (!only_asks).then(|| String::from_utf8_lossy(request.body()).into_owned())
}
