//! The records that a PowerPoint file is made of: a kind, a size, and bytes or further records.

use crate::legacy::bytes::Bytes;

#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'b> {
    pub(super) kind: u16,
    pub(super) instance: u16,
    pub(super) body: &'b [u8],
    is_container: bool,
}

/// The records that follow each other in these bytes. One that is cut off ends with the bytes.
pub(super) fn records(bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    let mut rest = Bytes::new(bytes);
    std::iter::from_fn(move || {
        let version = rest.u16()?;
        let kind = rest.u16()?;
        let size = rest.u32()? as usize;
        let body = rest.take(size).or_else(|| rest.take(rest.rest().len()))?;
        Some(Record { kind, instance: version >> 4, body, is_container: version & 0xf == 0xf })
    })
}

pub(super) fn record_at(bytes: &[u8], place: usize) -> Option<Record<'_>> {
    records(bytes.get(place..)?).next()
}

impl<'b> Record<'b> {
    pub(super) fn children(&self) -> impl Iterator<Item = Record<'b>> + use<'b> {
        records(if self.is_container { self.body } else { &[] })
    }

    pub(super) fn child(&self, kind: u16) -> Option<Record<'b>> {
        self.children().find(|child| child.kind == kind)
    }
}

pub(super) mod kind {
    pub(crate) const DOCUMENT: u16 = 0x03e8;
    pub(crate) const SLIDE: u16 = 0x03ee;
    pub(crate) const SLIDE_ATOM: u16 = 0x03ef;
    pub(crate) const NOTES: u16 = 0x03f0;
    pub(crate) const SLIDE_PERSIST: u16 = 0x03f3;
    pub(crate) const DRAWING: u16 = 0x040c;
    pub(crate) const OUTLINE_REFERENCE: u16 = 0x0f9e;
    pub(crate) const TEXT_HEADER: u16 = 0x0f9f;
    pub(crate) const TEXT_WIDE: u16 = 0x0fa0;
    pub(crate) const TEXT_STYLE: u16 = 0x0fa1;
    pub(crate) const TEXT_BYTES: u16 = 0x0fa8;
    pub(crate) const STRING: u16 = 0x0fba;
    pub(crate) const SLIDE_LIST: u16 = 0x0ff0;
    pub(crate) const USER_EDIT: u16 = 0x0ff5;
    pub(crate) const PROGRAM_TAGS: u16 = 0x1388;
    pub(crate) const PERSIST_DIRECTORY: u16 = 0x1772;
    pub(crate) const COMMENT: u16 = 0x2ee0;
    pub(crate) const OBJECTS: u16 = 0x0409;
    pub(crate) const LINK: u16 = 0x0fd7;
    pub(crate) const LINK_NUMBER: u16 = 0x0fd3;
    pub(crate) const ACTION: u16 = 0x0ff2;
    pub(crate) const ACTION_ATOM: u16 = 0x0ff3;
    pub(crate) const ACTION_RANGE: u16 = 0x0fdf;
    pub(crate) const ART_DRAWING: u16 = 0xf002;
    pub(crate) const ART_GROUP: u16 = 0xf003;
    pub(crate) const ART_SHAPE: u16 = 0xf004;
    pub(crate) const ART_OPTIONS: u16 = 0xf00b;
    pub(crate) const ART_TEXT: u16 = 0xf00d;
    pub(crate) const ART_CHILD_ANCHOR: u16 = 0xf00f;
    pub(crate) const ART_MORE_OPTIONS: u16 = 0xf122;
    pub(crate) const OLE_STORAGE: u16 = 0x1011;
    /// Numbers, dates, headers and footers.
    pub(crate) const FILLED_IN: [u16; 6] = [0x0fd8, 0x0ff7, 0x0ff8, 0x0ff9, 0x0ffa, 0x1015];
}
