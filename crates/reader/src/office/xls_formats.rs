//! How the cells of an old workbook (`xls`) show their numbers, and how large its sheets are.
//!
//! Values are read elsewhere; this goes through the records once more for what is left out there: which number format
//! each cell has. Only workbooks since 1997 are understood; others have no formats here.

use super::{
    xls_records::{BEGIN, Record, Records, long_text},
    xlsx::built_in_format,
};
use crate::legacy::bytes::u16_at;
use std::{collections::HashMap, rc::Rc};

/// Of one sheet, by row and column: the number of the cell's format.
type SheetFormats = HashMap<(u16, u16), u16>;

#[derive(Debug, Default)]
pub(super) struct XlsFormats {
    /// By format number.
    codes: HashMap<u16, String>,
    /// By the number that cells refer to: the format number.
    cell_styles: Vec<u16>,
    by_sheet: HashMap<Rc<str>, SheetFormats>,
    /// How many places the sheets have, blank ones included.
    pub(super) places: u64,
}

impl XlsFormats {
    /// Goes through the stream of a workbook; ends early once there are more than `most_places`.
    pub(super) fn read(stream: &[u8], most_places: u64) -> Self {
        let mut formats = Self::default();
        let mut extent = Extent::default();
        for Record { kind, data, sheet } in Records::new(stream) {
            match kind {
                kind if BEGIN.contains(&kind) => formats.places += std::mem::take(&mut extent).places(),
                0x041e => {
                    if let (Some(number), Some(code)) = (u16_at(data, 0), data.get(2..).and_then(long_text)) {
                        formats.codes.insert(number, code);
                    }
                }
                0x00e0 => formats.cell_styles.extend(u16_at(data, 2)),
                // Cells: blank, number, text, truth value, formula, and rows of them.
                0x0001..=0x0006 | 0x007e | 0x00bd | 0x00be | 0x00d6 | 0x00fd | 0x0201..=0x0207 | 0x027e | 0x0406 => {
                    let (Some(row), Some(column)) = (u16_at(data, 0), u16_at(data, 2)) else { continue };
                    extent.add(row, column);
                    if let Some(sheet) = sheet {
                        let cells = formats.by_sheet.entry(sheet).or_default();
                        cell_formats(kind, data, row, column, cells);
                    }
                }
                _ => {}
            }
            if formats.places + extent.places() > most_places {
                break;
            }
        }
        formats.places += extent.places();
        formats
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
            if let Some(style) = u16_at(data, 4) {
                cells.insert((row, column), style);
            }
        }
        0x00bd => {
            let numbers = data.get(4..data.len().saturating_sub(2)).unwrap_or_default();
            for (offset, number) in numbers.chunks_exact(6).enumerate() {
                let at = u16::try_from(offset).ok().and_then(|offset| column.checked_add(offset));
                if let (Some(at), Some(style)) = (at, u16_at(number, 0)) {
                    cells.insert((row, at), style);
                }
            }
        }
        _ => {}
    }
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
