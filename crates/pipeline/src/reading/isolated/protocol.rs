//! Frames of requests and answers: binary contents first, then a JSON trailer and its length, so that the contents are not
//! copied to make room for a header.

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
    /// The same; and a short PDF file is read ahead.
    OpenAhead,
    /// As the file has it.
    Page(usize),
    /// With OCR where it needs that.
    Read(usize),
    /// What has to be known of the file before its pages are read, and those pages that are read with it and
    /// need no OCR.
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
    /// Whether the contents are the bytes of the file.
    pub(super) has_bytes: bool,
    pub(super) give: Give,
}

/// How pages are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Give {
    /// As JSON.
    Page,
    /// As JSON and as Markdown, with what people ask first.
    Facts,
    /// In the forms of the options, for those who only write them.
    Forms,
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
    /// Travels behind the page: as a part of the head it would be escaped, and read sign by sign.
    #[serde(skip)]
    pub(crate) markdown: String,
}

impl PageFacts {
    pub(crate) fn from_page(page: &Page) -> Self {
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

/// A page whose texts are among the contents, in the order of the heads.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PageHead {
    pub(super) give: Give,
    pub(super) facts: Option<PageFacts>,
    /// How many bytes each text has.
    pub(super) texts: Vec<usize>,
}

/// What is read of a file ahead.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AheadHead {
    /// How many bytes they have, behind the pages: in the head they would be escaped.
    pub(super) hints: Option<usize>,
    /// Pages that need nothing more, by their index.
    pub(super) pages: Vec<(usize, PageHead)>,
}

/// The head of an answer; what its contents are is said at each.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Type(FileType),
    /// The files inside, and all pages if they are read already.
    Opened {
        about: Box<About>,
        attachments: Option<Vec<AttachmentName>>,
        pages: Vec<PageHead>,
        ahead: Option<AheadHead>,
    },
    Ahead(AheadHead),
    Page(PageHead),
    Pictures(Vec<Rect>),
    /// The pixels.
    Image {
        width: u32,
        height: u32,
        channels: u8,
        dpi: u32,
    },
    /// All of the contents.
    Bytes,
    Nothing,
    Attachments(Vec<AttachmentName>),
    /// The child does not have the bytes of this file (any more).
    UnknownFile,
    Failed(ReadError),
}

/// Contents with their head.
pub(super) fn encode(head: &impl Serialize, contents: Vec<u8>) -> Result<Vec<u8>, serde_json::Error> {
    let begin = contents.len();
    let mut bytes = contents;
    serde_json::to_writer(&mut bytes, head)?;
    let length = u32::try_from(bytes.len() - begin).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// The head, and how many bytes of contents lie before it; none if that is not what the bytes are.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<(T, usize)> {
    let (rest, length) = bytes.split_last_chunk()?;
    let contents = rest.len().checked_sub(u32::from_le_bytes(*length) as usize)?;
    Some((serde_json::from_slice(&rest[contents..]).ok()?, contents))
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
            give: Give::Page,
        };
        let bytes = encode(&request, b"%PDF".to_vec()).unwrap();
        let (read, contents) = decode::<Request<'_>>(&bytes).unwrap();
        assert_eq!((&*read.file, read.name.as_deref(), read.ask), (&FileRef::Bytes(7), Some("a.pdf"), request.ask));
        assert_eq!((&*read.options, &bytes[..contents]), (&options, b"%PDF".as_slice()));
        let failed = Answer::Failed(ReadError::damaged("PDF", "torn"));
        let bytes = encode(&failed, Vec::new()).unwrap();
        let Some((Answer::Failed(error), 0)) = decode(&bytes) else { panic!("another answer") };
        assert_eq!(error, ReadError::damaged("PDF", "torn"));
        assert!(decode::<Answer>(&bytes[..3]).is_none() && decode::<Answer>(&bytes[1..]).is_none());
    }
}
