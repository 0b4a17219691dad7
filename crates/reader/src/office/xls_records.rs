//! The records that an old workbook (`xls`) consists of, one after the other, each with the sheet that it belongs to.

use crate::legacy::bytes::{Bytes, u16_at, wide_text};
use std::{collections::HashMap, rc::Rc};

/// What begins the workbook, a sheet or a chart, in any version.
pub(super) const BEGIN: [u16; 4] = [0x0009, 0x0209, 0x0409, 0x0809];
const END: u16 = 0x000a;
const SHEET: u16 = 0x0085;
/// Charts lie within sheets; nothing lies deeper than that.
const DEEPEST: usize = 16;

#[derive(Debug, Clone)]
pub(super) struct Record<'s> {
    pub(super) kind: u16,
    pub(super) data: &'s [u8],
    /// None for what belongs to the workbook, or to a chart on a sheet.
    pub(super) sheet: Option<Rc<str>>,
}

/// Goes through a workbook once. What is cut off ends it.
#[derive(Debug)]
pub(super) struct Records<'s> {
    stream: &'s [u8],
    at: usize,
    /// By the place at which a sheet begins.
    names: HashMap<usize, Rc<str>>,
    open: Vec<Option<Rc<str>>>,
}

impl<'s> Records<'s> {
    pub(super) fn new(stream: &'s [u8]) -> Self {
        Self { stream, at: 0, names: HashMap::new(), open: Vec::new() }
    }
}

impl<'s> Iterator for Records<'s> {
    type Item = Record<'s>;

    fn next(&mut self) -> Option<Record<'s>> {
        let mut rest = Bytes::at(self.stream, self.at);
        let (kind, length) = (rest.u16()?, rest.u16()?);
        let data = rest.take(length.into())?;
        if BEGIN.contains(&kind) {
            let name = self.names.get(&self.at).cloned();
            // A sheet never lies within another, whatever was not ended before it.
            if name.is_some() || self.open.len() >= DEEPEST {
                self.open.clear();
            }
            self.open.push(name);
        }
        if kind == SHEET {
            let place = Bytes::new(data).u32();
            if let (Some(place), Some(name)) = (place, data.get(6..).and_then(short_text)) {
                self.names.insert(place as usize, name.into());
            }
        }
        let sheet = self.open.last().cloned().flatten();
        if kind == END {
            self.open.pop();
        }
        self.at += 4 + usize::from(length);
        Some(Record { kind, data, sheet })
    }
}

/// A length of two bytes, flags, characters.
pub(super) fn long_text(bytes: &[u8]) -> Option<String> {
    text(usize::from(u16_at(bytes, 0)?), bytes.get(2..)?)
}

/// A length of one byte, flags, characters.
fn short_text(bytes: &[u8]) -> Option<String> {
    text(usize::from(*bytes.first()?), bytes.get(1..)?)
}

/// Flags, then so many characters of one byte each, or of two.
pub(super) fn text(count: usize, bytes: &[u8]) -> Option<String> {
    let (flags, characters) = bytes.split_first()?;
    if flags & 1 == 0 {
        return Some(characters.get(..count)?.iter().map(|byte| char::from(*byte)).collect());
    }
    Some(wide_text(characters.get(..count.checked_mul(2)?)?))
}
