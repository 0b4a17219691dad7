//! A place that blocks flow into: the page, or a cell. Here text becomes a heading, an item, a quote or a paragraph.

use super::{flow::Line, numbering::written};
use crate::model::{Block, BlockKind, Inlines, Marker, Span};

#[derive(Debug)]
pub(super) struct List {
    /// The next number, for numbered lists.
    pub(super) next: Option<i64>,
    /// As the `type` attribute has it: '1', 'a', 'A', 'i', 'I'.
    pub(super) numbering: char,
    /// The marker of the item that was begun and has no text yet.
    pub(super) waiting: Option<Marker>,
}

/// A place that blocks flow into: the page, or a cell.
#[derive(Debug, Default)]
pub(super) struct Place {
    pub(super) blocks: Vec<Block>,
    pub(super) line: Line,
    /// Pictures that stand before any text of the line: the words that stand for them, and their addresses.
    pub(super) pictures: Vec<(String, Option<String>)>,
    pub(super) lists: Vec<List>,
    pub(super) quotes: usize,
    pub(super) heading: Option<u8>,
    pub(super) preformatted: Option<String>,
    /// Where in `blocks` the list item is that further lines belong to.
    pub(super) open_item: Option<usize>,
}

impl Place {
    pub(super) fn begin_item(&mut self, value: Option<i64>) {
        self.open_item = None;
        if self.lists.is_empty() {
            self.lists.push(List { next: None, numbering: '1', waiting: None });
        }
        let Some(list) = self.lists.last_mut() else { return };
        list.waiting = Some(match &mut list.next {
            None => Marker::Bullet,
            Some(next) => {
                let number = value.unwrap_or(*next);
                *next = number.saturating_add(1);
                Marker::Number(written(number, list.numbering))
            }
        });
    }

    /// Ends the block that text was gathered for.
    pub(super) fn flush(&mut self) {
        let text = self.line.take();
        for (alt, source) in std::mem::take(&mut self.pictures) {
            // One that repeats the words beside it says nothing more.
            if alt != text.text() {
                self.blocks.push(Block::body(BlockKind::Picture { alt, source }));
            }
        }
        if text.is_blank() {
            return;
        }
        let kind = self.kind(text);
        if let Some(kind) = kind {
            self.blocks.push(Block::body(kind));
        }
    }

    /// What the text is; None if it went to the list item before it.
    fn kind(&mut self, text: Inlines) -> Option<BlockKind> {
        if let Some(level) = self.heading {
            self.open_item = None;
            return Some(BlockKind::Heading { level, text });
        }
        let depth = u8::try_from(self.lists.len().saturating_sub(1)).unwrap_or(u8::MAX);
        if let Some(marker) = self.lists.last_mut().and_then(|list| list.waiting.take()) {
            self.open_item = Some(self.blocks.len());
            return Some(BlockKind::ListItem { depth, marker, text });
        }
        if let Some(index) = self.open_item
            && index + 1 == self.blocks.len()
            && let Some(Block { kind: BlockKind::ListItem { text: item, .. }, .. }) = self.blocks.last_mut()
        {
            item.push(Span { text: "\n".to_owned(), ..Default::default() });
            text.0.into_iter().for_each(|span| item.push(span));
            return None;
        }
        Some(if self.quotes > 0 { BlockKind::Quote { text } } else { BlockKind::Paragraph { text } })
    }
}
