//! The head of a Word file: which version it is, and where in its streams everything lies.

use crate::{
    error::{ReadError, ReadResult},
    legacy::bytes::{u16_at, u32_at},
};

/// Parts of a Word 97 file that are looked up by their number in the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Styles = 1,
    FootnoteReferences = 2,
    Headers = 11,
    CharacterPages = 12,
    ParagraphPages = 13,
    Fonts = 15,
    Pieces = 33,
    EndnoteReferences = 46,
    Lists = 73,
    ListOverrides = 74,
}

/// How many letters each run of text has, in the order in which they lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Lengths {
    pub(super) text: usize,
    pub(super) footnotes: usize,
    pub(super) headers: usize,
    pub(super) macros: usize,
    pub(super) comments: usize,
    pub(super) endnotes: usize,
    pub(super) boxes: usize,
    pub(super) header_boxes: usize,
}

#[derive(Debug)]
pub(super) struct Head<'b> {
    stream: &'b [u8],
    pub(super) language: u16,
    /// Word 6 and Word 95: letters are bytes, and the tables are of another form.
    pub(super) is_old: bool,
    pub(super) second_table: bool,
    pub(super) lengths: Lengths,
}

impl<'b> Head<'b> {
    pub(super) fn read(stream: &'b [u8]) -> ReadResult<Self> {
        let damaged = || ReadError::damaged("doc", "its head is not whole");
        let signature = u16_at(stream, 0).ok_or_else(damaged)?;
        let version = u16_at(stream, 2).ok_or_else(damaged)?;
        let flags = u16_at(stream, 10).ok_or_else(damaged)?;
        if !matches!(signature, 0xa5ec | 0xa5dc) {
            return Err(if matches!(signature, 0xa59b | 0xa59c | 0xa598 | 0xa699 | 0xa697) {
                ReadError::unsupported("a Word file from before Word 6")
            } else {
                ReadError::damaged("doc", "its head is not that of a Word file")
            });
        }
        if flags & 0x0100 != 0 {
            return Err(ReadError::unsupported("an encrypted Word 97-2003 file"));
        }
        let is_old = version < 106;
        let length =
            |place: usize| u32_at(stream, place).filter(|length| *length < 1 << 28).unwrap_or_default() as usize;
        let base = if is_old { 0x34 } else { 0x4c };
        let lengths = Lengths {
            text: length(base),
            footnotes: length(base + 4),
            headers: length(base + 8),
            macros: length(base + 12),
            comments: length(base + 16),
            endnotes: length(base + 20),
            boxes: length(base + 24),
            header_boxes: length(base + 28),
        };
        let language = u16_at(stream, 6).unwrap_or_default();
        Ok(Self { stream, language, is_old, second_table: flags & 0x0200 != 0, lengths })
    }

    /// Where a part lies in the table stream: its place and its size.
    pub(super) fn part(&self, part: Part) -> Option<(usize, usize)> {
        let entry = if self.is_old {
            // Only the pieces are looked up in files this old; their other tables are of another form.
            (part == Part::Pieces).then_some(0x160)?
        } else {
            0x9a + 8 * part as usize
        };
        let (place, size) = (u32_at(self.stream, entry)?, u32_at(self.stream, entry + 4)?);
        (size > 0).then_some((place as usize, size as usize))
    }

    /// Where the text of an old file without pieces lies.
    pub(super) fn old_text(&self) -> Option<(usize, usize)> {
        let (from, to) = (u32_at(self.stream, 0x18)? as usize, u32_at(self.stream, 0x1c)? as usize);
        (from < to).then_some((from, to))
    }
}
