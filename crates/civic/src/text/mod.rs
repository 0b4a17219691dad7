//! The text of a document that an agenda names: fetched by the one client, read by the reader.
//!
//! What has no text has a reason that a person can act on, of a kind that a program can ([`Why`]): one bad document never
//! keeps another from being read.

mod document;

pub use document::{DocumentText, marked_pages, page_marker, with_markers};
pub(crate) use document::{read as read_file, read_seeing};

use crate::client::{Client, Failure, FetchError, Fetched, Session, Trouble};
use bindery_engine::StopSignal;
use bindery_reader::{EngineChoice, OcrMode, Opener, ReadError, ReadOptions, Reader, ocr::local::LocalEngines};
use serde::Serialize;
use std::sync::Arc;
use thiserror::Error;

/// Why a document has no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The server does not have it any more.
    DeadLink,
    /// The site wants somebody to log in.
    Login,
    /// More bytes, pages or time than is allowed.
    TooLarge,
    /// A password is needed.
    Encrypted,
    /// The site's robots.txt, or the site itself, does not want it to be fetched.
    Forbidden,
    /// There was no answer, or not to its end. Another time it may be well.
    Unreachable,
    /// The recording does not have it.
    NotRecorded,
    /// A type that cannot be read, or a damaged file.
    Unreadable,
    /// It has to be read from pictures, and what that needs is not installed.
    NoOcr,
    /// It was read, and nothing is written on it.
    Empty,
    /// The program was told to stop.
    Stopped,
}

impl Why {
    /// As in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DeadLink => "dead_link",
            Self::Login => "login",
            Self::TooLarge => "too_large",
            Self::Encrypted => "encrypted",
            Self::Forbidden => "forbidden",
            Self::Unreachable => "unreachable",
            Self::NotRecorded => "not_recorded",
            Self::Unreadable => "unreadable",
            Self::NoOcr => "no_ocr",
            Self::Empty => "empty",
            Self::Stopped => "stopped",
        }
    }

    /// Another try, a little later, may well succeed.
    pub const fn may_pass(self) -> bool {
        matches!(self, Self::Unreachable | Self::Stopped)
    }
}

/// There is no text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct NoText {
    pub why: Why,
    /// A sentence that names the document.
    pub message: String,
}

impl NoText {
    pub(crate) fn new(why: Why, message: impl Into<String>) -> Self {
        Self { why, message: message.into() }
    }

    fn unread(url: &str, error: &ReadError) -> Self {
        let why = match error {
            ReadError::NeedsPassword | ReadError::WrongPassword => Why::Encrypted,
            ReadError::TooLarge { .. } | ReadError::OutOfMemory { .. } | ReadError::OutOfTime { .. } => Why::TooLarge,
            ReadError::Empty => Why::Empty,
            ReadError::NoOcr { .. } => Why::NoOcr,
            _ => Why::Unreadable,
        };
        Self::new(why, format!("{url}: {error}"))
    }
}

impl From<FetchError> for NoText {
    fn from(error: FetchError) -> Self {
        let why = match &error.trouble {
            Trouble::Status(404 | 410) | Trouble::BadAddress(_) | Trouble::BadRedirect { .. } => Why::DeadLink,
            Trouble::Status(401) => Why::Login,
            trouble if trouble.is_transient() => Why::Unreachable,
            Trouble::Status(402..500) | Trouble::Robots(_) => Why::Forbidden,
            Trouble::Exchange(Failure::TooLarge { .. }) => Why::TooLarge,
            Trouble::Exchange(Failure::NotRecorded { .. }) => Why::NotRecorded,
            Trouble::Stopped => Why::Stopped,
            _ => Why::Unreachable,
        };
        Self::new(why, error.to_string())
    }
}

/// The reader that reads councils' documents: scans by the engines that are installed.
pub(crate) fn usual_reader(ocr: OcrMode) -> Arc<Reader> {
    let options = ReadOptions { ocr, ..ReadOptions::default() };
    Arc::new(Reader::new(options, Some(LocalEngines::default().choose(EngineChoice::Auto))))
}

/// Reads documents for as many as ask.
#[derive(Debug, Clone)]
pub struct Texts {
    client: Arc<Client>,
    reader: Arc<Reader>,
}

impl Texts {
    pub fn new(client: Arc<Client>, reader: Arc<Reader>) -> Self {
        Self { client, reader }
    }

    pub fn usual(client: Arc<Client>, ocr: OcrMode) -> Self {
        Self::new(client, usual_reader(ocr))
    }

    /// Documents are opened and read elsewhere, such as in child processes.
    #[must_use]
    pub fn with_opener(mut self, opener: Arc<dyn Opener>) -> Self {
        self.reader = Arc::new(Reader::clone(&self.reader).with_opener(opener));
        self
    }

    /// Fetches a document and reads it.
    pub async fn fetch(&self, session: &Session, url: &str, stop: &StopSignal) -> Result<DocumentText, NoText> {
        let page = match self.client.document(session, url, None, stop).await? {
            Fetched::Page(page) => page,
            // Nothing was said of an earlier answer, so there is none to be like.
            Fetched::Unchanged => return Err(NoText::new(Why::Unreachable, format!("{url} did not come"))),
        };
        let reader = Arc::clone(&self.reader);
        let asked = url.to_owned();
        // Reading keeps a core busy, and threads of the runtime must not be kept.
        let read = tokio::task::spawn_blocking(move || document::read(&reader, &asked, page)).await;
        read.unwrap_or_else(|_| Err(NoText::new(Why::Unreadable, format!("{url} cannot be taken apart"))))
    }
}
