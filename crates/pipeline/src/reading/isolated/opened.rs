//! The parent's cache of an opened file: opening it again needs no request.

use super::protocol::{PageFacts, PageHead};
use bindery_reader::{About, Page, ReadError, error::ReadResult, model::AttachmentName};
use std::sync::{Mutex, OnceLock};

/// A page as a child gives it.
#[derive(Debug, Clone)]
pub(super) struct JsonPage {
    pub(super) facts: Option<PageFacts>,
    pub(super) json: Vec<u8>,
}

impl JsonPage {
    /// The page of a head, cut off from the contents of several.
    pub(super) fn cut_off(head: PageHead, rest: &mut &[u8]) -> ReadResult<Self> {
        let (own, behind) = rest.split_at_checked(head.json + head.markdown).ok_or_else(unexpected)?;
        *rest = behind;
        Self::of(head, own.to_vec())
    }

    /// The page of a head and its contents.
    pub(super) fn of(head: PageHead, contents: Vec<u8>) -> ReadResult<Self> {
        let (mut json, mut facts) = (contents, head.facts);
        if json.len() != head.json + head.markdown {
            return Err(unexpected());
        }
        if let Some(facts) = &mut facts {
            std::str::from_utf8(&json[head.json..]).map_err(|_| unexpected())?.clone_into(&mut facts.markdown);
        }
        json.truncate(head.json);
        Ok(Self { facts, json })
    }

    pub(super) fn parsed(&self) -> ReadResult<Page> {
        serde_json::from_slice(&self.json).map_err(|_| unexpected())
    }

    pub(super) fn with_facts(self) -> ReadResult<(PageFacts, Vec<u8>)> {
        let facts = match self.facts {
            Some(facts) => facts,
            None => PageFacts::of(&self.parsed()?),
        };
        Ok((facts, self.json))
    }
}

/// What is learned when the first page is asked for.
#[derive(Debug)]
pub(super) struct Ahead {
    pub(super) hints: Option<String>,
    /// Those that came with it, until they are asked for.
    pub(super) pages: Mutex<Vec<(usize, JsonPage)>>,
}

/// What is known of a file that was opened.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(super) about: About,
    /// None where they cannot be listed.
    pub(super) attachments: Option<Vec<AttachmentName>>,
    /// All of them, if opening the file has read them; else none.
    pub(super) pages: Vec<JsonPage>,
    pub(super) ahead: OnceLock<Ahead>,
}

impl Opened {
    /// About what it takes in memory.
    pub(crate) fn size(&self) -> u64 {
        let size = |page: &JsonPage| page.json.len() + page.facts.as_ref().map_or(0, |facts| facts.markdown.len());
        self.pages.iter().map(|page| size(page) as u64).sum()
    }
}

pub(super) fn unexpected() -> ReadError {
    ReadError::NoReader { what: "the process that read it gave another answer".to_owned() }
}
