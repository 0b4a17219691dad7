//! What the sheets of an old workbook (`xls`) hold besides their cells: links, notes, text boxes, headers and footers.
//!
//! Only workbooks since 1997 are understood; others have nothing of it here.

use super::{
    sheet::Merge,
    sheet_extras::{comment_block, reference},
    xls_records::{Record, Records, long_text, text},
};
use crate::{
    legacy::{
        bytes::{Bytes, u16_at, wide_text},
        code_page::CodePage,
    },
    model::{Block, BlockKind, Inlines},
};
use std::{collections::HashMap, rc::Rc};

/// The objects that hold the texts of notes.
const NOTE_OBJECT: u16 = 0x19;
/// No sheet has more links, notes or text boxes that anybody would read.
const MOST: usize = 100_000;

/// Of one sheet.
#[derive(Debug, Default)]
pub(super) struct SheetExtras {
    pub(super) headers: Vec<String>,
    pub(super) footers: Vec<String>,
    pub(super) links: Vec<(Merge, String)>,
    /// Row, column, the number of the object with the text, author.
    notes: Vec<(u16, u16, u16, String)>,
    note_texts: HashMap<u16, String>,
    boxes: Vec<String>,
}

impl SheetExtras {
    /// What stands in text boxes and shapes.
    pub(super) fn box_blocks(&self) -> impl Iterator<Item = Block> {
        let texts = self.boxes.iter().filter(|text| !text.trim().is_empty());
        texts.map(|text| Block::body(BlockKind::Paragraph { text: Inlines::plain(text.trim()) }))
    }

    /// What was noted at cells, in their order.
    pub(super) fn note_blocks(&self) -> Vec<Block> {
        let mut notes: Vec<_> = self.notes.iter().collect();
        notes.sort_by_key(|(row, column, ..)| (*row, *column));
        let block = |(row, column, object, author): &(u16, u16, u16, String)| {
            let text = self.note_texts.get(object).filter(|text| !text.trim().is_empty())?;
            // Excel writes the author into the text as well.
            let text = text.strip_prefix(&format!("{author}:")).unwrap_or(text);
            Some(comment_block(&reference(u32::from(*row), u32::from(*column)), author, text))
        };
        notes.into_iter().filter_map(block).collect()
    }
}

/// By the names of sheets.
pub(super) fn read(stream: &[u8]) -> HashMap<Rc<str>, SheetExtras> {
    let mut sheets: HashMap<Rc<str>, SheetExtras> = HashMap::new();
    // Kind and number of the object that the next text belongs to.
    let mut object = None;
    let mut records = Records::new(stream);
    while let Some(Record { kind, data, sheet }) = records.next() {
        let Some(sheet) = sheet else { continue };
        if !matches!(kind, 0x0014 | 0x0015 | 0x001c | 0x005d | 0x01b6 | 0x01b8) {
            continue;
        }
        let extras = sheets.entry(sheet).or_default();
        match kind {
            0x0014 => extras.headers.extend(long_text(data)),
            0x0015 => extras.footers.extend(long_text(data)),
            0x005d => object = u16_at(data, 4).zip(u16_at(data, 6)),
            0x01b6 => {
                let Some(text) = object_text(data, &mut records) else { continue };
                match object.take() {
                    Some((NOTE_OBJECT, number)) if extras.note_texts.len() < MOST => {
                        extras.note_texts.insert(number, text);
                    }
                    Some((NOTE_OBJECT, _)) => {}
                    _ if extras.boxes.len() < MOST => extras.boxes.push(text),
                    _ => {}
                }
            }
            0x001c if extras.notes.len() < MOST => extras.notes.extend(note(data)),
            0x01b8 if extras.links.len() < MOST => extras.links.extend(link(data)),
            _ => {}
        }
    }
    sheets
}

/// The text of an object; it lies in the records behind it.
fn object_text(data: &[u8], records: &mut Records<'_>) -> Option<String> {
    let mut left = usize::from(u16_at(data, 10)?);
    let mut out = String::new();
    while left > 0 {
        let part = records.next().filter(|record| record.kind == 0x003c)?.data;
        let width = if part.first()? & 1 == 0 { 1 } else { 2 };
        let count = left.min((part.len() - 1) / width);
        out.push_str(&text(count, part)?);
        if count == 0 {
            return None;
        }
        left -= count;
    }
    Some(out)
}

fn note(data: &[u8]) -> Option<(u16, u16, u16, String)> {
    let mut rest = Bytes::new(data);
    let (row, column, _flags, object) = (rest.u16()?, rest.u16()?, rest.u16()?, rest.u16()?);
    Some((row, column, object, long_text(rest.rest()).unwrap_or_default()))
}

/// The area of a link, and where it leads to.
fn link(data: &[u8]) -> Option<(Merge, String)> {
    let mut rest = Bytes::new(data);
    let (first_row, last_row) = (u32::from(rest.u16()?), u32::from(rest.u16()?));
    let (first_column, last_column) = (u32::from(rest.u16()?), u32::from(rest.u16()?));
    let area = Merge { first_row, first_column, last_row, last_column };
    // The class of links, and a version.
    rest.take(20)?;
    let flags = rest.u32()?;
    let has = |flag: u32| flags & flag != 0;
    if has(0x10) {
        counted_text(&mut rest)?;
    }
    if has(0x80) {
        counted_text(&mut rest)?;
    }
    let mut target = match (has(0x01), has(0x100)) {
        (true, true) => counted_text(&mut rest)?,
        (true, false) => named_target(&mut rest)?,
        _ => String::new(),
    };
    if has(0x08)
        && let Some(place) = counted_text(&mut rest)
    {
        target = format!("{target}#{place}");
    }
    (!target.is_empty()).then_some((area, target))
}

/// Letters, a zero among them, behind their number.
fn counted_text(rest: &mut Bytes<'_>) -> Option<String> {
    let count = rest.u32()? as usize;
    Some(until_zero(&wide_text(rest.take(count.checked_mul(2)?)?)))
}

fn until_zero(text: &str) -> String {
    text.split('\0').next().unwrap_or_default().to_owned()
}

/// An address or the path of a file; a class before it says which.
fn named_target(rest: &mut Bytes<'_>) -> Option<String> {
    const ADDRESS: [u8; 4] = [0xe0, 0xc9, 0xea, 0x79];
    const FILE: [u8; 4] = [0x03, 0x03, 0x00, 0x00];
    let class = rest.take(16)?;
    if class.starts_with(&ADDRESS) {
        let length = rest.u32()? as usize;
        return Some(until_zero(&wide_text(rest.take(length)?)));
    }
    if !class.starts_with(&FILE) {
        return None;
    }
    let folders_up = usize::from(rest.u16()?).min(16);
    let length = rest.u32()? as usize;
    let short = until_zero(&CodePage::WESTERN.decode(rest.take(length)?));
    // Versions and what is reserved; then the path once more, in Unicode, if the short one cannot say it.
    rest.take(24)?;
    let wide = rest.u32().filter(|length| *length > 6).and_then(|_| {
        let length = rest.u32()? as usize;
        rest.take(2)?;
        Some(wide_text(rest.take(length)?))
    });
    Some("../".repeat(folders_up) + &wide.unwrap_or(short).replace('\\', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u16, parts: &[&[u8]]) -> Vec<u8> {
        let data = parts.concat();
        [&kind.to_le_bytes()[..], &u16::try_from(data.len()).unwrap().to_le_bytes(), &data].concat()
    }

    fn wide(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    fn long(text: &str) -> Vec<u8> {
        [&u16::try_from(text.len()).unwrap().to_le_bytes()[..], &[0], text.as_bytes()].concat()
    }

    /// A workbook with one sheet, which consists of these records.
    fn workbook(records: &[Vec<u8>]) -> Vec<u8> {
        let begin = record(0x0809, &[&[0, 6, 5, 0]]);
        let end = record(0x000a, &[]);
        let name = |place: u32| record(0x0085, &[&place.to_le_bytes(), &[0, 0], &[5, 0], b"Sheet"]);
        let place = begin.len() + name(0).len() + end.len();
        let sheet = record(0x0809, &[&[0, 6, 16, 0]]);
        [begin, name(u32::try_from(place).unwrap()), end.clone(), sheet, records.concat(), end].concat()
    }

    /// An object with a text, of which each part lies in a record of its own.
    fn object(kind: u16, number: u16, parts: &[&str]) -> Vec<u8> {
        let count = u16::try_from(parts.iter().map(|part| part.len()).sum::<usize>()).unwrap();
        let head = record(0x005d, &[&[0x15, 0, 0x12, 0], &kind.to_le_bytes(), &number.to_le_bytes(), &[0; 14]]);
        let text = record(0x01b6, &[&[0; 10], &count.to_le_bytes(), &[0; 6]]);
        let parts = parts.iter().map(|part| record(0x003c, &[&[0], part.as_bytes()])).collect::<Vec<_>>().concat();
        [head, text, parts].concat()
    }

    #[test]
    fn notes_have_their_cell_and_author_and_boxes_their_text() {
        let note = |row: u16, column: u16, object: u16| {
            record(0x001c, &[&row.to_le_bytes(), &column.to_le_bytes(), &[0, 0], &object.to_le_bytes(), &long("Ann")])
        };
        // A chart lies between the objects and the notes.
        let chart = [record(0x0809, &[&[0, 6, 32, 0]]), record(0x000a, &[])].concat();
        let stream = workbook(&[
            object(NOTE_OBJECT, 1, &["Ann:", " why?"]),
            object(6, 2, &["In a box"]),
            chart,
            note(11, 27, 1),
        ]);
        let sheets = read(&stream);
        let extras = &sheets["Sheet"];
        let texts = |blocks: Vec<Block>| -> Vec<String> {
            let text = |block: Block| match block.kind {
                BlockKind::Paragraph { text } => text.text(),
                _ => String::new(),
            };
            blocks.into_iter().map(text).collect()
        };
        assert_eq!(texts(extras.note_blocks()), ["AB12, Ann: why?"]);
        assert_eq!(texts(extras.box_blocks().collect()), ["In a box"]);
    }

    #[test]
    fn links_lead_to_addresses_files_and_places() {
        let area = [2u8, 0, 2, 0, 1, 0, 1, 0];
        let address = wide("http://x.org/\0");
        let length = u32::try_from(address.len()).unwrap().to_le_bytes();
        let class = [0xe0, 0xc9, 0xea, 0x79, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let outside = record(0x01b8, &[&area, &[0; 20], &3u32.to_le_bytes(), &class, &length, &address]);
        let place = wide("Sheet2!A1\0");
        let count = u32::try_from(place.len() / 2).unwrap().to_le_bytes();
        let inside = record(0x01b8, &[&area, &[0; 20], &8u32.to_le_bytes(), &count, &place]);
        let cut_off = record(0x01b8, &[&area, &[0; 20], &3u32.to_le_bytes(), &class, &[0xff; 4]]);
        let sheets = read(&workbook(&[outside, inside, cut_off]));
        let targets: Vec<&str> = sheets["Sheet"].links.iter().map(|(_, target)| target.as_str()).collect();
        assert_eq!(targets, ["http://x.org/", "#Sheet2!A1"]);
    }
}
