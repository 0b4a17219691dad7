//! How the cells of an old workbook (`xls`) show their numbers, and how large its sheets are.
//!
//! Values are read elsewhere; this goes through the records once more for what is left out there: which number format
//! each cell has. Only workbooks since 1997 are understood; others have no formats here.

use super::xlsx::built_in_format;
use std::collections::HashMap;

/// Of one sheet, by row and column: the number of the cell's format.
type SheetFormats = HashMap<(u16, u16), u16>;

#[derive(Debug, Default)]
pub(super) struct XlsFormats {
    /// By format number.
    codes: HashMap<u16, String>,
    /// By the number that cells refer to: the format number.
    cell_styles: Vec<u16>,
    by_sheet: HashMap<String, SheetFormats>,
    /// How many places the sheets have, blank ones included.
    pub(super) places: u64,
}

impl XlsFormats {
    /// Goes through the stream of a workbook; ends early once there are more than `most_places`.
    pub(super) fn read(stream: &[u8], most_places: u64) -> Self {
        let mut formats = Self::default();
        let mut names: HashMap<usize, String> = HashMap::new();
        let mut sheet = Extent::default();
        let mut name: Option<String> = None;
        let mut cells = SheetFormats::new();
        let mut at = 0;
        while let Some(header) = stream.get(at..at + 4) {
            let kind = word(header, 0).unwrap_or_default();
            let length = usize::from(word(header, 2).unwrap_or_default());
            let Some(data) = stream.get(at + 4..at + 4 + length) else { break };
            match kind {
                // The beginning of the workbook or of a sheet, in any version.
                0x0009 | 0x0209 | 0x0409 | 0x0809 => {
                    formats.places += sheet.places();
                    formats.end_sheet(name.take(), &mut cells);
                    sheet = Extent::default();
                    name = names.get(&at).cloned();
                }
                0x041e => {
                    if let (Some(number), Some(code)) = (word(data, 0), data.get(2..).and_then(long_text)) {
                        formats.codes.insert(number, code);
                    }
                }
                0x00e0 => formats.cell_styles.extend(word(data, 2)),
                0x0085 => {
                    let place = data.get(..4).and_then(|four| four.try_into().ok()).map(u32::from_le_bytes);
                    if let (Some(place), Some(name)) = (place, data.get(6..).and_then(short_text)) {
                        names.insert(place as usize, name);
                    }
                }
                // Cells: blank, number, text, truth value, formula, and rows of them.
                0x0001..=0x0006 | 0x007e | 0x00bd | 0x00be | 0x00d6 | 0x00fd | 0x0201..=0x0207 | 0x027e | 0x0406 => {
                    if let (Some(row), Some(column)) = (word(data, 0), word(data, 2)) {
                        sheet.add(row, column);
                        cell_formats(kind, data, row, column, &mut cells);
                    }
                }
                _ => {}
            }
            if formats.places + sheet.places() > most_places {
                formats.places += sheet.places();
                return formats;
            }
            at += 4 + length;
        }
        formats.places += sheet.places();
        formats.end_sheet(name, &mut cells);
        formats
    }

    fn end_sheet(&mut self, name: Option<String>, cells: &mut SheetFormats) {
        let cells = std::mem::take(cells);
        if let Some(name) = name {
            self.by_sheet.insert(name, cells);
        }
    }

    /// The code of a cell's number format; None for numbers that are shown as they are.
    pub(super) fn code(&self, sheet: &str, row: u32, column: u32) -> Option<&str> {
        let place = (u16::try_from(row).ok()?, u16::try_from(column).ok()?);
        let style = self.by_sheet.get(sheet)?.get(&place)?;
        let number = self.cell_styles.get(usize::from(*style))?;
        let code = self.codes.get(number).map(String::as_str).or_else(|| built_in_format(u32::from(*number)))?;
        (!code.eq_ignore_ascii_case("general")).then_some(code)
    }
}

/// Numbers and formulas name a format each; a row of numbers names one before each number.
fn cell_formats(kind: u16, data: &[u8], row: u16, column: u16, cells: &mut SheetFormats) {
    match kind {
        0x0203 | 0x027e | 0x0006 => {
            if let Some(style) = word(data, 4) {
                cells.insert((row, column), style);
            }
        }
        0x00bd => {
            let numbers = data.get(4..data.len().saturating_sub(2)).unwrap_or_default();
            for (offset, number) in numbers.chunks_exact(6).enumerate() {
                let at = u16::try_from(offset).ok().and_then(|offset| column.checked_add(offset));
                if let (Some(at), Some(style)) = (at, word(number, 0)) {
                    cells.insert((row, at), style);
                }
            }
        }
        _ => {}
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).and_then(|two| two.try_into().ok()).map(u16::from_le_bytes)
}

/// A length of two bytes, flags, characters.
fn long_text(bytes: &[u8]) -> Option<String> {
    text(usize::from(word(bytes, 0)?), bytes.get(2..)?)
}

/// A length of one byte, flags, characters.
fn short_text(bytes: &[u8]) -> Option<String> {
    text(usize::from(*bytes.first()?), bytes.get(1..)?)
}

fn text(count: usize, bytes: &[u8]) -> Option<String> {
    let (flags, characters) = bytes.split_first()?;
    if flags & 1 == 0 {
        return Some(characters.get(..count)?.iter().map(|byte| char::from(*byte)).collect());
    }
    let wide = characters.get(..count * 2)?.chunks_exact(2).map(|pair| word(pair, 0).unwrap_or_default());
    Some(char::decode_utf16(wide).map(|found| found.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

#[derive(Debug, Default)]
struct Extent(Option<(u16, u16, u16, u16)>);

impl Extent {
    fn add(&mut self, row: u16, column: u16) {
        let (top, left, bottom, right) = self.0.unwrap_or((row, column, row, column));
        self.0 = Some((top.min(row), left.min(column), bottom.max(row), right.max(column)));
    }

    fn places(&self) -> u64 {
        self.0.map_or(0, |(top, left, bottom, right)| (u64::from(bottom - top) + 1) * (u64::from(right - left) + 1))
    }
}
