//! The parent's cache of an opened file: opening it again needs no request.

use super::protocol::{AheadHead, Give, PageFacts, PageHead};
use bindery_reader::{About, Page, ReadError, error::ReadResult, model::AttachmentName, render::RenderedPage};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A page as a child gives it.
#[derive(Debug, Clone)]
pub(super) struct SentPage {
    pub(super) give: Give,
    facts: Option<PageFacts>,
    /// The JSON; or the forms that were asked for.
    texts: Vec<String>,
}

impl SentPage {
    /// The page of a head, cut off from the contents of several.
    pub(super) fn cut_off(head: PageHead, rest: &mut &[u8]) -> ReadResult<Self> {
        let PageHead { give, mut facts, texts } = head;
        let cut = |length: usize| {
            let (own, behind) = rest.split_at_checked(length).ok_or_else(protocol_error)?;
            *rest = behind;
            String::from_utf8(own.to_vec()).map_err(|_| protocol_error())
        };
        let mut texts = texts.into_iter().map(cut).collect::<ReadResult<Vec<String>>>()?;
        if let Some(facts) = &mut facts {
            facts.markdown = texts.pop().ok_or_else(protocol_error)?;
        }
        Ok(Self { give, facts, texts })
    }

    /// The page of a head and its contents.
    pub(super) fn from_head(head: PageHead, contents: &[u8]) -> ReadResult<Self> {
        let mut rest = contents;
        let page = Self::cut_off(head, &mut rest)?;
        if rest.is_empty() { Ok(page) } else { Err(protocol_error()) }
    }

    fn json(self) -> ReadResult<String> {
        let mut texts = self.texts;
        if self.give == Give::Forms { Err(protocol_error()) } else { texts.pop().ok_or_else(protocol_error) }
    }

    pub(super) fn parsed(self) -> ReadResult<Page> {
        serde_json::from_str(&self.json()?).map_err(|_| protocol_error())
    }

    pub(super) fn with_facts(mut self) -> ReadResult<(PageFacts, Vec<u8>)> {
        if let Some(facts) = self.facts.take() {
            return Ok((facts, self.json()?.into_bytes()));
        }
        let json = self.json()?;
        let page = serde_json::from_str(&json).map_err(|_| protocol_error())?;
        Ok((PageFacts::from_page(&page), json.into_bytes()))
    }

    pub(super) fn rendered(self, number: usize) -> RenderedPage {
        RenderedPage { number, texts: self.texts }
    }

    fn size(&self) -> usize {
        let markdown = self.facts.as_ref().map_or(0, |facts| facts.markdown.len());
        self.texts.iter().map(String::len).sum::<usize>() + markdown
    }
}

/// What is learned when the first page is asked for.
#[derive(Debug)]
pub(super) struct Ahead {
    pub(super) hints: Option<String>,
    /// Those that came with it, until they are asked for.
    pub(super) pages: Mutex<Vec<(usize, SentPage)>>,
}

impl Ahead {
    /// From a head and its contents.
    pub(super) fn from_head(head: AheadHead, contents: &[u8]) -> ReadResult<Self> {
        let mut rest = contents;
        let pages = head.pages.into_iter().map(|(index, head)| Ok((index, SentPage::cut_off(head, &mut rest)?)));
        let pages = Mutex::new(pages.collect::<ReadResult<_>>()?);
        if head.hints.unwrap_or_default() != rest.len() {
            return Err(protocol_error());
        }
        let hints = head.hints.map(|_| String::from_utf8(rest.to_vec()).map_err(|_| protocol_error())).transpose()?;
        Ok(Self { hints, pages })
    }

    fn size(&self) -> usize {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.iter().map(|(_, page)| page.size()).sum::<usize>() + self.hints.as_ref().map_or(0, String::len)
    }
}

/// What is known of a file that was opened.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(super) about: About,
    /// None where they cannot be listed.
    pub(super) attachments: Option<Vec<AttachmentName>>,
    /// All of them, if opening the file has read them; else none.
    pub(super) pages: Vec<SentPage>,
    pub(super) ahead: OnceLock<Ahead>,
}

impl Opened {
    /// About what it takes in memory.
    pub(crate) fn size(&self) -> u64 {
        let pages: usize = self.pages.iter().map(SentPage::size).sum();
        (pages + self.ahead.get().map_or(0, Ahead::size)) as u64
    }
}

pub(super) fn protocol_error() -> ReadError {
    ReadError::NoReader { what: "the process that read it gave another answer".to_owned() }
}
