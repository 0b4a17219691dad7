//! How paragraphs and letters are set: lists of small changes, kept in pages of 512 bytes that are found by the place of
//! the text in the file.

use super::fib::{Head, Part};
use crate::{
    legacy::{
        bytes::{Bytes, u16_at, u32_at},
        rows::{Row, RowCell},
    },
    model::Style,
};

const PAGE_BYTES: usize = 512;
const MOST_CELLS: usize = 64;

/// One change: which, and to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change<'b> {
    code: u16,
    operand: &'b [u8],
}

impl Change<'_> {
    fn byte(&self) -> u8 {
        self.operand.first().copied().unwrap_or_default()
    }

    /// A look is switched on, whatever the style says.
    fn is_on(&self) -> bool {
        matches!(self.byte(), 1 | 0x81)
    }
}

fn changes(mut list: &[u8]) -> impl Iterator<Item = Change<'_>> {
    std::iter::from_fn(move || {
        let code = u16_at(list, 0)?;
        let rest = list.get(2..)?;
        let (skip, size) = match code >> 13 {
            0 | 1 => (0, 1),
            2 | 4 | 5 => (0, 2),
            3 => (0, 4),
            7 => (0, 3),
            // The definition of a table may be longer than a byte can say.
            _ if code == 0xd608 => (2, usize::from(u16_at(rest, 0)?).saturating_sub(1)),
            _ => (1, usize::from(*rest.first()?)),
        };
        let operand = rest.get(skip..)?;
        let operand = operand.get(..size).unwrap_or(operand);
        list = rest.get(skip + size..).unwrap_or_default();
        Some(Change { code, operand })
    })
}

/// What is known of a paragraph, from its style and then from itself.
#[derive(Debug, Clone, Default)]
pub(super) struct ParagraphProperties {
    pub(super) style: u16,
    /// From 0; 9 is body text.
    pub(super) outline: Option<u8>,
    pub(super) list: Option<u16>,
    pub(super) list_level: u8,
    pub(super) in_table: bool,
    pub(super) ends_row: bool,
    pub(super) depth: u32,
    pub(super) row: Option<Row>,
}

impl ParagraphProperties {
    pub(super) fn apply(&mut self, list: &[u8]) {
        for change in changes(list) {
            match change.code {
                0x4600 => self.style = u16_at(change.operand, 0).unwrap_or(self.style),
                0x2416 => self.in_table = change.byte() != 0,
                0x2417 => self.ends_row = change.byte() != 0,
                0x2640 => self.outline = Some(change.byte()),
                0x260a => self.list_level = change.byte().min(8),
                0x460b => self.list = u16_at(change.operand, 0),
                0x6649 => self.depth = u32_at(change.operand, 0).unwrap_or_default(),
                0xd608 => self.row = Some(row(change.operand, self.row.take().is_some_and(|row| row.header))),
                0x3404 => self.row.get_or_insert_default().header = change.byte() != 0,
                _ => {}
            }
        }
    }
}

/// The edges of a row's cells, and which are merged.
fn row(operand: &[u8], header: bool) -> Row {
    let count = usize::from(operand.first().copied().unwrap_or_default()).min(MOST_CELLS);
    let mut edges = Bytes::at(operand, 1);
    let left = edges.i16().unwrap_or_default().into();
    let mut cells = Vec::with_capacity(count);
    for index in 0..count {
        let right = edges.i16().map(i32::from);
        let flags = u16_at(operand, 1 + 2 * (count + 1) + 20 * index).unwrap_or_default();
        let (merged_left, vertical, begins) = (flags & 0x2 != 0, flags & 0x20 != 0, flags & 0x40 != 0);
        cells.push(RowCell { right, merged_left, merged_up: vertical && !begins, ..RowCell::default() });
    }
    Row { left, header, cells }
}

/// How letters look, as far as they say so themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LetterProperties {
    pub(super) style: Style,
    pub(super) hidden: bool,
    pub(super) deleted: bool,
    pub(super) special: bool,
    /// A sign of a font of signs: font and code.
    pub(super) symbol: Option<(u16, u16)>,
}

impl LetterProperties {
    fn read(list: &[u8]) -> Self {
        let mut letters = Self::default();
        for change in changes(list) {
            let style = &mut letters.style;
            match change.code {
                0x0835 => style.bold = change.is_on(),
                0x0836 => style.italic = change.is_on(),
                0x0837 | 0x2a53 => style.struck = change.is_on(),
                0x2a3e => style.underlined = change.byte() != 0,
                0x2a48 => (style.superscript, style.subscript) = (change.byte() == 1, change.byte() == 2),
                // Deleted while changes were tracked.
                0x0800 => letters.deleted = change.is_on(),
                0x083c => letters.hidden = change.is_on(),
                0x0855 => letters.special = change.byte() != 0,
                0x6a09 => letters.symbol = u16_at(change.operand, 0).zip(u16_at(change.operand, 2)),
                _ => {}
            }
        }
        letters
    }
}

/// Runs of the file, each with its list of changes, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Runs<'b> {
    runs: Vec<Run<'b>>,
}

#[derive(Debug, Clone, Copy)]
struct Run<'b> {
    from: u32,
    to: u32,
    /// For paragraphs the style comes first.
    list: &'b [u8],
}

impl<'b> Runs<'b> {
    /// Whether any letters were deleted while changes were tracked.
    pub(super) fn has_deletions(&self) -> bool {
        self.runs.iter().any(|run| LetterProperties::read(run.list).deleted)
    }

    pub(super) fn of_paragraphs(head: &Head, stream: &'b [u8], table: &[u8]) -> Self {
        Self::read(head, Part::ParagraphPages, stream, table, |page, index, count| {
            let offset = usize::from(*page.get((count + 1) * 4 + index * 13)?) * 2;
            let size = *page.get(offset).filter(|_| offset > 0)?;
            let (start, size) = match size {
                0 => (offset + 2, usize::from(*page.get(offset + 1)?) * 2),
                size => (offset + 1, usize::from(size) * 2 - 1),
            };
            page.get(start..)?.get(..size)
        })
    }

    pub(super) fn of_letters(head: &Head, stream: &'b [u8], table: &[u8]) -> Self {
        Self::read(head, Part::CharacterPages, stream, table, |page, index, count| {
            let offset = usize::from(*page.get((count + 1) * 4 + index)?) * 2;
            let size = usize::from(*page.get(offset).filter(|_| offset > 0)?);
            page.get(offset + 1..)?.get(..size)
        })
    }

    fn read(
        head: &Head,
        part: Part,
        stream: &'b [u8],
        table: &[u8],
        list: impl Fn(&'b [u8], usize, usize) -> Option<&'b [u8]>,
    ) -> Self {
        let mut runs = Vec::new();
        let Some((place, size)) = head.part(part) else { return Self::default() };
        let Some(pages) = table.get(place..).map(|table| table.get(..size).unwrap_or(table)) else {
            return Self::default();
        };
        let count = pages.len().saturating_sub(4) / 8;
        for number in 0..count {
            let Some(page) = u32_at(pages, (count + 1) * 4 + number * 4) else { break };
            let start = (page & 0x3f_ffff) as usize * PAGE_BYTES;
            let Some(page) = stream.get(start..start + PAGE_BYTES) else { continue };
            let in_page = usize::from(page.last().copied().unwrap_or_default());
            for index in 0..in_page {
                let (Some(from), Some(to)) = (u32_at(page, index * 4), u32_at(page, index * 4 + 4)) else { break };
                if from < to {
                    runs.push(Run { from, to, list: list(page, index, in_page).unwrap_or_default() });
                }
            }
        }
        runs.sort_by_key(|run| run.from);
        Self { runs }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    fn at(&self, place: u32) -> Option<&Run<'b>> {
        let index = self.runs.partition_point(|run| run.from <= place).checked_sub(1)?;
        self.runs.get(index).filter(|run| place < run.to)
    }

    /// The style of the paragraph at this place, and what it changes.
    pub(super) fn paragraph(&self, place: u32) -> Option<(u16, &'b [u8])> {
        let run = self.at(place)?;
        Some((u16_at(run.list, 0)?, run.list.get(2..)?))
    }

    /// How letters at this place look, and up to where.
    pub(super) fn letters(&self, place: u32) -> Option<(LetterProperties, u32)> {
        let run = self.at(place)?;
        Some((LetterProperties::read(run.list), run.to))
    }
}
