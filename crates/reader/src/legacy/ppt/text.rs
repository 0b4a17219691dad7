//! Text of a PowerPoint file: what it is for, its paragraphs, and how far each is moved in.

use super::records::{Record, kind, records};
use crate::legacy::bytes::{Bytes, u32_at, wide_text};
use std::ops::Range;

/// What a text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Purpose {
    Title,
    Body,
    Notes,
    #[default]
    Other,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) purpose: Purpose,
    pub(super) paragraphs: Vec<Paragraph>,
    /// Letters that lead somewhere, and the number of the link.
    pub(super) links: Vec<(Range<usize>, u32)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Paragraph {
    pub(super) text: String,
    /// The place of its first letter in the whole text.
    pub(super) start: usize,
    pub(super) level: u8,
    /// None where only the master slide knows.
    pub(super) bullet: Option<bool>,
}

impl Text {
    pub(super) fn is_star(&self) -> bool {
        self.paragraphs.iter().all(|paragraph| matches!(paragraph.text.trim(), "" | "*"))
    }

    pub(super) fn is_blank(&self) -> bool {
        self.paragraphs.iter().all(|paragraph| paragraph.text.trim().is_empty())
    }
}

/// The texts among these records, in their order.
pub(super) fn texts<'b>(all: impl Iterator<Item = Record<'b>>) -> Vec<Text> {
    let mut texts: Vec<Text> = Vec::new();
    let mut purpose = Purpose::default();
    let mut link = None;
    for record in all {
        match record.kind {
            kind::TEXT_HEADER => {
                purpose = match u32_at(record.body, 0) {
                    Some(0 | 6) => Purpose::Title,
                    Some(1 | 5 | 7 | 8) => Purpose::Body,
                    Some(2) => Purpose::Notes,
                    _ => Purpose::Other,
                };
                // A heading without text still counts: slides refer to texts by their number.
                texts.push(Text { purpose, ..Text::default() });
            }
            kind::TEXT_WIDE | kind::TEXT_BYTES => {
                let text = if record.kind == kind::TEXT_WIDE {
                    wide_text(record.body)
                } else {
                    record.body.iter().map(|byte| char::from(*byte)).collect()
                };
                match texts.last_mut().filter(|last| last.paragraphs.is_empty()) {
                    Some(last) => last.paragraphs = paragraphs(&text),
                    None => texts.push(Text { purpose, paragraphs: paragraphs(&text), links: Vec::new() }),
                }
            }
            kind::ACTION => {
                link =
                    record.child(kind::ACTION_ATOM).and_then(|atom| u32_at(atom.body, 4)).filter(|number| *number > 0);
            }
            kind::ACTION_RANGE => {
                let range = u32_at(record.body, 0).zip(u32_at(record.body, 4));
                if let (Some(text), Some((from, to)), Some(link)) = (texts.last_mut(), range, link.take()) {
                    text.links.push((from as usize..to as usize, link));
                }
            }
            kind::TEXT_STYLE => {
                if let Some(text) = texts.last_mut() {
                    set_levels(text, record.body);
                }
            }
            _ => {}
        }
    }
    texts
}

fn paragraphs(text: &str) -> Vec<Paragraph> {
    let clean = |letter: char| match letter {
        '\u{b}' => Some('\n'),
        '\u{a0}' => Some(' '),
        '\t' | '\n' => Some(letter),
        // A bullet of the Symbol font.
        '\u{f0b7}' => Some('•'),
        letter if letter.is_control() => None,
        letter => Some(letter),
    };
    let mut start = 0;
    let mut paragraphs = Vec::new();
    for line in text.split('\r') {
        paragraphs.push(Paragraph { text: line.chars().filter_map(clean).collect(), start, level: 0, bullet: None });
        start += line.encode_utf16().count() + 1;
    }
    paragraphs
}

/// Runs of paragraphs come first in the list of styles; each says how many letters it is for.
fn set_levels(text: &mut Text, style: &[u8]) -> Option<()> {
    let mut rest = Bytes::new(style);
    let mut paragraphs = text.paragraphs.iter_mut();
    let mut ahead = 0usize;
    while let Some(paragraph) = paragraphs.next() {
        let length = paragraph.text.encode_utf16().count() + 1;
        let mut count = rest.u32()? as usize;
        let (level, bullet) = paragraph_style(&mut rest)?;
        (paragraph.level, paragraph.bullet) = (level, bullet);
        ahead += length;
        // One run may set several paragraphs.
        while count > ahead
            && let Some(next) = paragraphs.next()
        {
            (next.level, next.bullet) = (level, bullet);
            ahead += next.text.encode_utf16().count() + 1;
        }
        count = count.min(ahead);
        ahead -= count;
    }
    Some(())
}

fn paragraph_style(rest: &mut Bytes) -> Option<(u8, Option<bool>)> {
    let level = rest.u16()?.min(8) as u8;
    let mask = rest.u32()?;
    let mut bullet = None;
    if mask & 0xf != 0 {
        let flags = rest.u16()?;
        bullet = (mask & 1 != 0).then_some(flags & 1 != 0);
    }
    // What follows is only measured: each bit of the mask stands for a field of this size.
    let sizes = [
        (0x80, 2),
        (0x10, 2),
        (0x40, 2),
        (0x20, 4),
        (0x800, 2),
        (0x1000, 2),
        (0x2000, 2),
        (0x4000, 2),
        (0x100, 2),
        (0x400, 2),
        (0x8000, 2),
    ];
    for (bit, size) in sizes {
        if mask & bit != 0 {
            rest.take(size)?;
        }
    }
    if mask & 0x10_0000 != 0 {
        let stops = usize::from(rest.u16()?);
        rest.take(stops * 4)?;
    }
    for bits in [0x1_0000, 0xe_0000, 0x20_0000] {
        if mask & bits != 0 {
            rest.take(2)?;
        }
    }
    Some((level, bullet))
}

/// All texts below a record, whatever is around them; for files whose order is lost.
pub(super) fn all_texts(bytes: &[u8], deepest: usize) -> Vec<Text> {
    let mut found = Vec::new();
    let mut open = vec![(records(bytes).collect::<Vec<_>>(), 0usize)];
    while let Some((list, depth)) = open.pop() {
        found.extend(texts(list.iter().copied()));
        if depth < deepest {
            for record in list.iter().rev() {
                let children: Vec<_> = record.children().collect();
                if !children.is_empty() {
                    open.push((children, depth + 1));
                }
            }
        }
    }
    found
}
