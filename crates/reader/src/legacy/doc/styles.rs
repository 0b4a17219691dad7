//! Named styles of a Word file: which of them are headings, and what else they bring along.

use super::properties::ParagraphProperties;
use crate::legacy::{
    bytes::{Bytes, u16_at, wide_text},
    flow::heading_by_name,
};

const MOST_STYLES: usize = 4096;
const NO_BASE: u16 = 0xfff;

#[derive(Debug, Default)]
struct Named {
    base: u16,
    heading: Option<u8>,
    /// What it changes in paragraphs.
    changes: Vec<u8>,
}

#[derive(Debug, Default)]
pub(super) struct Styles {
    styles: Vec<Named>,
}

impl Styles {
    pub(super) fn read(sheet: &[u8]) -> Self {
        let mut styles = Vec::new();
        let head_bytes = usize::from(u16_at(sheet, 0).unwrap_or_default());
        let count = usize::from(u16_at(sheet, 2).unwrap_or_default()).min(MOST_STYLES);
        let base_bytes = usize::from(u16_at(sheet, 4).unwrap_or_default());
        let mut rest = Bytes::at(sheet, 2 + head_bytes);
        for _ in 0..count {
            let Some(size) = rest.u16() else { break };
            let Some(style) = rest.take(size.into()) else { break };
            styles.push(named(style, base_bytes).unwrap_or_default());
            if size % 2 == 1 {
                rest.u8();
            }
        }
        Self { styles }
    }

    /// What a paragraph of this style is before it says anything itself.
    pub(super) fn paragraph(&self, style: u16) -> ParagraphProperties {
        let mut chain = Vec::new();
        let mut next = style;
        while let Some(named) = self.styles.get(usize::from(next)).filter(|_| chain.len() < 16) {
            chain.push(named);
            if named.base == NO_BASE || named.base == next {
                break;
            }
            next = named.base;
        }
        let mut properties = ParagraphProperties::default();
        for named in chain.into_iter().rev() {
            properties.apply(&named.changes);
        }
        properties.style = style;
        properties
    }

    /// From 1.
    pub(super) fn heading(&self, style: u16) -> Option<u8> {
        self.styles.get(usize::from(style))?.heading
    }
}

fn named(style: &[u8], base_bytes: usize) -> Option<Named> {
    let built_in = u16_at(style, 0)? & 0xfff;
    let second = u16_at(style, 2)?;
    let (is_paragraph, base) = (second & 0xf == 1, second >> 4);
    let mut rest = Bytes::at(style, base_bytes);
    let length = usize::from(rest.u16()?);
    let name = wide_text(rest.take(length * 2)?);
    rest.u16()?;
    let heading = match built_in {
        1..=9 => Some((built_in as u8).min(6)),
        62 => Some(1),
        _ => heading_by_name(&name),
    };
    let size = usize::from(rest.u16().unwrap_or_default());
    let changes = rest.take(size).filter(|_| is_paragraph).and_then(|upx| upx.get(2..)).unwrap_or_default().to_vec();
    Some(Named { base, heading: heading.filter(|_| is_paragraph), changes })
}
