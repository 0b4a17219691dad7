//! Requests and answers: a length, a head in JSON, and behind it large contents as they are.

use bindery_core::ContentHash;
use bindery_reader::{
    About, Page, ReadError, ReadOptions, Rect,
    model::{AttachmentName, FileType, PageKind, ReadBy},
    render,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{borrow::Cow, path::PathBuf};

/// Where a child finds the bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum FileRef {
    /// In the blob store.
    Blob(ContentHash),
    /// Under a path, as it was at this size and time.
    Path { path: PathBuf, size: u64, modified: Option<(u64, u32)> },
    /// Behind the head of the request, at least of the first one; the number is the parent's.
    Bytes(u64),
}

/// What is wanted of a file; pages count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum Ask {
    /// The type alone.
    Detect,
    Open,
    /// As the file has it.
    Page(usize),
    /// With OCR where it needs that.
    Read(usize),
    /// What has to be known of the file before its pages are read, and those pages of a short file that need no OCR.
    Ahead,
    Pictures(usize),
    Image(usize, f32),
    PageFile(usize),
    Attachments,
    Attachment(usize),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request<'a> {
    pub(super) file: Cow<'a, FileRef>,
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) options: Cow<'a, ReadOptions>,
    pub(super) ask: Ask,
    /// What another child has found out about the file.
    pub(super) hints: Option<Cow<'a, str>>,
    /// Whether the bytes of the file follow.
    pub(super) has_bytes: bool,
    /// Whether pages come with what people ask first.
    pub(super) facts: bool,
}

/// What people ask about a page first, with its text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PageFacts {
    pub(crate) page: usize,
    pub(crate) kind: PageKind,
    pub(crate) read_by: ReadBy,
    pub(crate) reason: String,
    pub(crate) confidence: Option<f32>,
    pub(crate) words: usize,
    pub(crate) warnings: Vec<String>,
    pub(crate) markdown: String,
}

impl PageFacts {
    pub(crate) fn of(page: &Page) -> Self {
        Self {
            page: page.number,
            kind: page.kind,
            read_by: page.read_by,
            reason: page.reason.clone(),
            confidence: page.confidence,
            words: render::text(page).split_whitespace().count(),
            warnings: page.warnings.clone(),
            markdown: render::markdown(page),
        }
    }
}

/// A page that follows as JSON, in the order of the heads.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PageHead {
    pub(super) facts: Option<PageFacts>,
    /// Of the JSON, in bytes.
    pub(super) length: usize,
}

/// The head of an answer; what follows it is said at each.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Type(FileType),
    /// The files inside, and all pages if they are read already.
    Opened {
        about: Box<About>,
        attachments: Option<Vec<AttachmentName>>,
        pages: Vec<PageHead>,
    },
    /// Pages that need nothing more, by their index.
    Ahead {
        hints: Option<String>,
        pages: Vec<(usize, PageHead)>,
    },
    /// The page follows as JSON.
    Page(Option<PageFacts>),
    Pictures(Vec<Rect>),
    /// The pixels follow.
    Image {
        width: u32,
        height: u32,
        channels: u8,
        dpi: u32,
    },
    /// The bytes follow.
    Bytes,
    Nothing,
    Attachments(Vec<AttachmentName>),
    /// The child does not have the bytes of this file (any more).
    UnknownFile,
    Failed(ReadError),
}

/// Room for the frame that the process runner puts around an answer, in bytes.
const FRAME: usize = 8;

/// A head and what follows it.
pub(super) fn encode(head: &impl Serialize, follows: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, head)?;
    let length = u32::try_from(bytes.len() - 4).unwrap_or(u32::MAX);
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    bytes.reserve(follows.len() + FRAME);
    bytes.extend_from_slice(follows);
    Ok(bytes)
}

/// None if that is not what the bytes are.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<(T, &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (head, follows) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((serde_json::from_slice(head).ok()?, follows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let options = ReadOptions::default();
        let request = Request {
            file: Cow::Owned(FileRef::Bytes(7)),
            name: Some(Cow::Borrowed("a.pdf")),
            options: Cow::Borrowed(&options),
            ask: Ask::Image(3, 150.0),
            hints: None,
            has_bytes: true,
            facts: false,
        };
        let bytes = encode(&request, b"%PDF").unwrap();
        let (read, follows) = decode::<Request<'_>>(&bytes).unwrap();
        assert_eq!((&*read.file, read.name.as_deref(), read.ask), (&FileRef::Bytes(7), Some("a.pdf"), request.ask));
        assert_eq!((&*read.options, follows), (&options, b"%PDF".as_slice()));
        let failed = Answer::Failed(ReadError::damaged("PDF", "torn"));
        let bytes = encode(&failed, b"").unwrap();
        let Some((Answer::Failed(error), b"")) = decode(&bytes) else { panic!("another answer") };
        assert_eq!(error, ReadError::damaged("PDF", "torn"));
        assert!(decode::<Answer>(&bytes[..3]).is_none() && decode::<Answer>(&bytes[..9]).is_none());
    }
}
