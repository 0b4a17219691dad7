//! The text of a Word file, put together from its pieces. Saving quickly leaves pieces all over the file; each is of one
//! byte or two bytes a letter.

use super::fib::{Head, Part};
use crate::legacy::{
    bytes::{Bytes, u16_at, u32_at},
    code_page::CodePage,
};

/// No document is longer; each letter costs eight bytes.
const MOST_LETTERS: usize = 32 << 20;

/// The letters of all runs of text, one after the other, each with its place in the file.
#[derive(Debug, Default)]
pub(super) struct Letters {
    pub(super) units: Vec<u16>,
    pub(super) places: Vec<u32>,
}

pub(super) fn letters(head: &Head, stream: &[u8], table: &[u8]) -> Letters {
    let pieces = head.part(Part::Pieces).and_then(|(place, size)| {
        // Old files keep their tables in the stream of the text.
        let table = if head.is_old { stream } else { table };
        piece_table(table.get(place..)?.get(..size)?)
    });
    let mut letters = Letters::default();
    let page = if head.is_old { page_of_language(head.language) } else { CodePage::WESTERN };
    match pieces {
        Some(pieces) if !pieces.is_empty() => {
            for piece in pieces {
                letters.add(stream, &piece, page);
            }
        }
        _ => {
            if let Some((from, to)) = head.old_text() {
                let wide = !head.is_old && u16_at(stream, 10).is_some_and(|flags| flags & 0x1000 != 0);
                let count = if wide { (to - from) / 2 } else { to - from };
                letters.add(stream, &Piece { count, place: from, wide }, page);
            }
        }
    }
    letters
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    count: usize,
    place: usize,
    wide: bool,
}

fn piece_table(mut table: &[u8]) -> Option<Vec<Piece>> {
    // Formatting of pieces comes first, and is skipped.
    while let Some((1, rest)) = table.split_first() {
        let size = usize::from(u16_at(rest, 0)?);
        table = rest.get(2 + size..)?;
    }
    let (2, rest) = table.split_first()? else { return None };
    let size = u32_at(rest, 0)? as usize;
    let table = rest.get(4..)?;
    let table = table.get(..size).unwrap_or(table);
    let count = table.len().checked_sub(4)? / 12;
    let mut pieces = Vec::with_capacity(count);
    for index in 0..count {
        let (from, to) = (u32_at(table, index * 4)?, u32_at(table, index * 4 + 4)?);
        let mut rest = Bytes::at(table, (count + 1) * 4 + index * 8);
        rest.u16()?;
        let place = rest.u32()?;
        let narrow = place & 0x4000_0000 != 0;
        let place = (place & 0x3fff_ffff) as usize;
        let place = if narrow { place / 2 } else { place };
        pieces.push(Piece { count: to.checked_sub(from)? as usize, place, wide: !narrow });
    }
    Some(pieces)
}

impl Letters {
    /// A piece that leads out of the file is filled with blanks, so that those behind it stay where they belong.
    fn add(&mut self, stream: &[u8], piece: &Piece, page: CodePage) {
        let count = piece.count.min(MOST_LETTERS.saturating_sub(self.units.len()));
        let width = if piece.wide { 2 } else { 1 };
        let start = piece.place.min(stream.len());
        let end = piece.place.saturating_add(count.saturating_mul(width)).min(stream.len());
        let bytes = stream.get(start..end).unwrap_or_default();
        let there = bytes.len() / width;
        if piece.wide {
            self.units.extend(bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])));
        } else if page == CodePage::WESTERN || bytes.is_ascii() {
            self.units.extend(bytes.iter().map(|byte| western(*byte)));
        } else {
            self.add_other(bytes, page);
        }
        self.places.extend((0..there).map(|index| (piece.place + index * width) as u32));
        // Pieces beyond the end of the file are believed only as far as the file is long.
        let missing = (count - there).min(stream.len());
        self.units.extend(std::iter::repeat_n(u16::from(b' '), missing));
        self.places.extend(std::iter::repeat_n(u32::MAX, missing));
    }

    /// Letters may take two bytes; the place of the second then holds nothing.
    fn add_other(&mut self, bytes: &[u8], page: CodePage) {
        let mut index = 0;
        while let Some(byte) = bytes.get(index) {
            let single = page.decode(&[*byte]);
            let double = bytes.get(index..index + 2).filter(|_| single.contains('\u{fffd}'));
            let (text, width) = match double.map(|pair| page.decode(pair)) {
                Some(text) if !text.contains('\u{fffd}') => (text, 2),
                _ => (single, 1),
            };
            self.units.push(text.encode_utf16().next().unwrap_or_default());
            self.units.extend(std::iter::repeat_n(0, width - 1));
            index += width;
        }
    }
}

/// Windows-1252, in which the text of one byte a letter is.
fn western(byte: u8) -> u16 {
    const UPPER: [u16; 32] = [
        0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d, 0x17d,
        0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0x9d,
        0x17e, 0x178,
    ];
    match byte {
        0x80..=0x9f => UPPER.get(usize::from(byte - 0x80)).copied().unwrap_or(0xfffd),
        byte => byte.into(),
    }
}

/// Old files say only which language they are in.
fn page_of_language(language: u16) -> CodePage {
    let number = match language & 0x3ff {
        0x01 | 0x20 | 0x29 => 1256,
        0x02 | 0x19 | 0x22 | 0x23 | 0x2f => 1251,
        0x05 | 0x0e | 0x15 | 0x18 | 0x1a | 0x1b | 0x24 => 1250,
        0x08 => 1253,
        0x0d => 1255,
        0x11 => 932,
        0x12 => 949,
        0x1e => 874,
        0x1f => 1254,
        0x25..=0x27 => 1257,
        0x2a => 1258,
        0x04 if matches!(language, 0x0404 | 0x0c04) => 950,
        0x04 => 936,
        _ => 1252,
    };
    CodePage::by_number(number).unwrap_or(CodePage::WESTERN)
}
