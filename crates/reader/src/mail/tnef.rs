//! winmail.dat: the envelope (TNEF) that Outlook puts the text and the attachments of a mail into.

use super::{compressed_rtf, head::attachment_name};
use crate::{
    legacy::{
        bytes::{Bytes, wide_text},
        code_page::CodePage,
        rtf,
    },
    markup::html,
    model::{Attachment, Block},
    options::Limits,
};

const SIGNATURE: [u8; 4] = [0x78, 0x9f, 0x3e, 0x22];

pub(super) fn is_one(bytes: &[u8]) -> bool {
    bytes.starts_with(&SIGNATURE)
}

#[derive(Debug, Default)]
pub(super) struct Envelope {
    pub(super) blocks: Vec<Block>,
    pub(super) attachments: Vec<Attachment>,
}

#[derive(Debug, Default)]
struct Pending {
    name: Option<String>,
    bytes: Option<Vec<u8>>,
}

pub(super) fn read(bytes: &[u8], limits: &Limits) -> Envelope {
    let mut envelope = Envelope::default();
    let mut rest = Bytes::at(bytes, 6);
    let mut page = CodePage::WESTERN;
    let mut pending: Option<Pending> = None;
    while let Some((id, data)) = attribute(&mut rest) {
        match id {
            0x9007 => page = Bytes::new(data).u32().and_then(CodePage::by_number).unwrap_or(page),
            0x9003 => message(data, limits, &mut envelope),
            0x800c if envelope.blocks.is_empty() => {
                envelope.blocks = super::body::plain_blocks(page.decode(data).trim_end_matches('\0'));
            }
            // Something new is attached.
            0x9002 => {
                envelope.add(pending.replace(Pending::default()));
                if envelope.attachments.len() >= limits.archive_entries {
                    break;
                }
            }
            0x8010 => {
                if let Some(pending) = &mut pending {
                    pending.name.get_or_insert_with(|| page.decode(data).trim_end_matches('\0').to_owned());
                }
            }
            0x800f => {
                if let Some(pending) = &mut pending {
                    pending.bytes = Some(data.to_vec());
                }
            }
            0x9005 => {
                if let Some(pending) = &mut pending {
                    attached(data, pending);
                }
            }
            _ => {}
        }
    }
    envelope.add(pending);
    envelope
}

impl Envelope {
    fn add(&mut self, pending: Option<Pending>) {
        let Some(Pending { name, bytes: Some(bytes) }) = pending else { return };
        let name = attachment_name(name.as_deref(), None, self.attachments.len() + 1);
        self.attachments.push(Attachment { name, media_type: None, bytes });
    }
}

fn attribute<'b>(rest: &mut Bytes<'b>) -> Option<(u32, &'b [u8])> {
    rest.u8()?;
    let id = rest.u32()? & 0xffff;
    let size = rest.u32()? as usize;
    let data = rest.take(size)?;
    rest.u16();
    Some((id, data))
}

fn message(data: &[u8], limits: &Limits, envelope: &mut Envelope) {
    for (id, kind, value) in properties(data) {
        match (id, kind) {
            (0x1013, _) => {
                let declared = html::declared_encoding(value);
                let html = crate::plain::encoding::decode(value, declared).text;
                envelope.blocks = html::convert(html.trim_end_matches('\0'), limits).blocks;
                return;
            }
            (0x1009, _) => {
                let most = usize::try_from(limits.part_bytes).unwrap_or(usize::MAX);
                let Some(text) = compressed_rtf::unpacked(value, most) else { continue };
                let read = rtf::convert(&text);
                envelope.blocks = match read.html {
                    Some(html) => html::convert(&html, limits).blocks,
                    None => read.blocks,
                };
            }
            _ => {}
        }
    }
}

fn attached(data: &[u8], pending: &mut Pending) {
    for (id, kind, value) in properties(data) {
        match (id, kind) {
            (0x3707, 0x1f) => pending.name = Some(wide_text(value).trim_end_matches('\0').to_owned()),
            (0x3707, _) => pending.name = Some(CodePage::WESTERN.decode(value).trim_end_matches('\0').to_owned()),
            (0x3701, 0x102) if pending.bytes.is_none() => pending.bytes = Some(value.to_vec()),
            _ => {}
        }
    }
}

/// The properties, each with the first of its values.
fn properties(data: &[u8]) -> Vec<(u16, u16, &[u8])> {
    let mut rest = Bytes::new(data);
    let count = rest.u32().unwrap_or_default();
    let mut all = Vec::new();
    for _ in 0..count.min(10_000) {
        let Some(property) = property(&mut rest) else { break };
        all.push(property);
    }
    all
}

fn property<'b>(rest: &mut Bytes<'b>) -> Option<(u16, u16, &'b [u8])> {
    let (kind, id) = (rest.u16()?, rest.u16()?);
    if id >= 0x8000 {
        rest.take(16)?;
        if rest.u32()? == 0 {
            rest.u32()?;
        } else {
            let size = rest.u32()? as usize;
            rest.take(size.checked_next_multiple_of(4)?)?;
        }
    }
    let several = kind & 0x1000 != 0;
    let fixed = match kind & 0xfff {
        0x02 | 0x03 | 0x04 | 0x0a | 0x0b => Some(4),
        0x05 | 0x06 | 0x07 | 0x14 | 0x40 => Some(8),
        0x48 => Some(16),
        _ => None,
    };
    let count = if several || fixed.is_none() { rest.u32()? } else { 1 };
    let mut first = None;
    for _ in 0..count.min(100_000) {
        let size = match fixed {
            Some(size) => size,
            None => rest.u32()? as usize,
        };
        let value = rest.take(size)?;
        let padding = size.checked_next_multiple_of(4)? - size;
        rest.take(padding);
        first.get_or_insert(value);
    }
    Some((id, kind & 0xfff, first.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute_bytes(id: u32, data: &[u8]) -> Vec<u8> {
        let mut bytes = vec![2];
        bytes.extend(id.to_le_bytes());
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend(data);
        bytes.extend([0, 0]);
        bytes
    }

    #[test]
    fn attachments_come_out_with_their_names() {
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend([1, 0]);
        bytes.extend(attribute_bytes(0x0002_800c, b"Hello\0"));
        bytes.extend(attribute_bytes(0x0006_9002, b""));
        bytes.extend(attribute_bytes(0x0001_8010, b"a.txt\0"));
        bytes.extend(attribute_bytes(0x0006_800f, b"content"));
        bytes.extend(attribute_bytes(0x0006_9002, b""));
        bytes.extend(attribute_bytes(0x0006_800f, b"more"));
        assert!(is_one(&bytes));
        let envelope = read(&bytes, &Limits::default());
        assert_eq!(envelope.blocks.len(), 1);
        let names: Vec<_> = envelope.attachments.iter().map(|one| (one.name.as_str(), one.bytes.as_slice())).collect();
        assert_eq!(names, [("a.txt", &b"content"[..]), ("attachment-2.bin", b"more")]);
    }
}
