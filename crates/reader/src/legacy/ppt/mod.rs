//! PowerPoint files of PowerPoint 97 to 2003: one page a slide, in the order in which they are shown, with its notes and
//! comments.

mod records;
mod slide;
mod text;

use super::{
    bytes::{Bytes, u32_at, wide_text},
    compound::Compound,
    objects::{Content, damaged, is_envelope, unwrapped},
    summary,
};
use crate::{
    converted::ConvertedFile,
    error::{ReadError, ReadResult},
    model::{Attachment, FileType, Page, Role},
    options::{Limits, ReadOptions},
};
use records::{Record, kind, record_at};
use slide::{Links, Slide};
use std::{collections::HashMap, io::Read};
use text::{Text, all_texts, texts};

/// Saving adds to the end of the file; this many times at most.
const MOST_EDITS: usize = 10_000;
const MOST_SLIDES: usize = 100_000;

pub fn open(bytes: &[u8], options: &ReadOptions) -> ReadResult<ConvertedFile> {
    options.limits.check_file(bytes.len() as u64)?;
    let file = Compound::open(bytes, "ppt")?;
    let Some(stream) = file.named("PowerPoint Document") else {
        return Err(if file.named("PP40").is_some() {
            ReadError::unsupported("a PowerPoint file from before PowerPoint 97")
        } else {
            ReadError::damaged("ppt", "it holds no presentation")
        });
    };
    let user = file.named("Current User").unwrap_or_default();
    let is_encrypted = u32_at(&user, 12) == Some(0xf3d1_c4df) || file.named("EncryptedSummary").is_some();
    if is_encrypted {
        return Err(ReadError::unsupported("an encrypted PowerPoint 97-2003 file"));
    }
    let metadata = summary::metadata(&file);
    let mut warnings = Vec::new();
    let mut pages = pages(&stream, &user).unwrap_or_default();
    if pages.is_empty() {
        let blocks = all_text(&stream);
        if !blocks.is_empty() {
            warnings.push("the order of the slides is lost; their text is shown as it lies in the file".to_owned());
            pages.push(Page { blocks, ..Page::converted(1) });
        }
    }
    let attachments = objects(&stream, &user, &options.limits, &mut warnings);
    Ok(ConvertedFile::new(FileType::Ppt, metadata, pages)
        .with_attachments(attachments)
        .with_warnings(warnings)
        .limit_pages(&options.limits))
}

/// Where the things that slides and notes refer to by number lie; the last time it was saved counts.
fn directory(stream: &[u8], user: &[u8]) -> Option<(HashMap<u32, usize>, u32)> {
    let mut edit = u32_at(user, 16)? as usize;
    let mut places = HashMap::new();
    let mut document = None;
    for _ in 0..MOST_EDITS {
        let Some(record) = record_at(stream, edit).filter(|record| record.kind == kind::USER_EDIT) else { break };
        let (earlier, list) = (u32_at(record.body, 8)? as usize, u32_at(record.body, 12)? as usize);
        document = document.or(u32_at(record.body, 16));
        if let Some(record) = record_at(stream, list).filter(|record| record.kind == kind::PERSIST_DIRECTORY) {
            let mut rest = Bytes::new(record.body);
            while let Some(head) = rest.u32() {
                let (first, count) = (head & 0xf_ffff, head >> 20);
                for number in first..first + count {
                    let Some(place) = rest.u32() else { break };
                    places.entry(number).or_insert(place as usize);
                }
            }
        }
        if earlier == 0 || earlier >= edit {
            break;
        }
        edit = earlier;
    }
    Some((places, document?))
}

/// One slide as the document lists it.
struct Listed {
    persist: u32,
    id: u32,
    texts: Vec<Text>,
}

fn listed_slides(document: &Record, instance: u16) -> Vec<Listed> {
    let mut all: Vec<(Listed, Vec<Record>)> = Vec::new();
    let lists = document.children().filter(|record| record.kind == kind::SLIDE_LIST && record.instance == instance);
    for record in lists.flat_map(|list| list.children()) {
        if record.kind == kind::SLIDE_PERSIST {
            let persist = u32_at(record.body, 0).unwrap_or_default();
            let id = u32_at(record.body, 12).unwrap_or_default();
            all.push((Listed { persist, id, texts: Vec::new() }, Vec::new()));
        } else if let Some((_, records)) = all.last_mut() {
            records.push(record);
        }
    }
    all.truncate(MOST_SLIDES);
    all.into_iter().map(|(listed, records)| Listed { texts: texts(records.into_iter()), ..listed }).collect()
}

fn pages(stream: &[u8], user: &[u8]) -> Option<Vec<Page>> {
    let (places, document) = directory(stream, user)?;
    let at = |persist: u32| places.get(&persist).and_then(|place| record_at(stream, *place));
    let document = at(document).filter(|record| record.kind == kind::DOCUMENT)?;
    let notes: HashMap<u32, u32> =
        listed_slides(&document, 2).into_iter().map(|notes| (notes.id, notes.persist)).collect();
    let links = links(&document);
    let mut pages = Vec::new();
    for listed in listed_slides(&document, 0) {
        let mut page = Page::converted(pages.len() + 1);
        let Some(container) = at(listed.persist).filter(|record| record.kind == kind::SLIDE) else {
            page.warnings.push("the slide's drawing is missing; only its outline is shown".to_owned());
            let empty = record_at(&[0x0f, 0, 0xee, 0x03, 0, 0, 0, 0], 0)?;
            page.blocks = Slide::read(&empty, &listed.texts, Role::Body, &links).blocks;
            pages.push(page);
            continue;
        };
        let slide = Slide::read(&container, &listed.texts, Role::Body, &links);
        page.label = slide.title;
        page.blocks = slide.blocks;
        let notes_id = container.child(kind::SLIDE_ATOM).and_then(|atom| u32_at(atom.body, 16)).unwrap_or_default();
        if let Some(container) =
            notes.get(&notes_id).and_then(|persist| at(*persist)).filter(|record| record.kind == kind::NOTES)
        {
            page.blocks.extend(Slide::read(&container, &[], Role::Note, &links).blocks);
        }
        pages.push(page);
    }
    Some(pages)
}

/// Where the document's links lead to.
fn links(document: &Record) -> Links {
    let Some(objects) = document.child(kind::OBJECTS) else { return Links::new() };
    let mut links = Links::new();
    for link in objects.children().filter(|record| record.kind == kind::LINK) {
        let number = link.child(kind::LINK_NUMBER).and_then(|atom| u32_at(atom.body, 0));
        let target = link.children().find(|record| record.kind == kind::STRING && record.instance == 1);
        if let (Some(number), Some(target)) = (number, target) {
            links.insert(number, wide_text(target.body).trim_end_matches('\0').to_owned());
        }
    }
    links
}

/// Files of other programs, which lie compressed beside the slides.
fn objects(stream: &[u8], user: &[u8], limits: &Limits, warnings: &mut Vec<String>) -> Vec<Attachment> {
    let Some((places, _)) = directory(stream, user) else { return Vec::new() };
    let mut places: Vec<usize> = places.into_values().collect();
    places.sort_unstable();
    places.dedup();
    let mut attachments = Vec::new();
    let mut number = 0;
    let mut left = limits.unpacked_bytes;
    for place in places {
        let Some(record) = record_at(stream, place).filter(|record| record.kind == kind::OLE_STORAGE) else { continue };
        let unpacked = if record.instance == 1 {
            let mut unpacked = Vec::new();
            let packed = record.body.get(4..).unwrap_or_default();
            let most = left.min(limits.part_bytes);
            _ = flate2::read::ZlibDecoder::new(packed).take(most).read_to_end(&mut unpacked);
            // How long it is comes first; what is behind it, and its checksum, does not matter.
            if (unpacked.len() as u64) < u32_at(record.body, 0).unwrap_or_default().into() {
                warnings
                    .push(format!("the embedded file number {} is damaged, and read as far as it goes", number + 1));
            }
            unpacked
        } else {
            record.body.to_vec()
        };
        left = left.saturating_sub(unpacked.len() as u64);
        number += 1;
        match unwrapped(&format!("object{number}"), &unpacked) {
            Content::File(attachment) if is_envelope(&unpacked) => attachments.push(attachment),
            Content::File(_) | Content::Damaged => warnings.push(damaged(number)),
            Content::Nothing => {}
        }
        if attachments.len() >= limits.archive_entries || left == 0 {
            break;
        }
    }
    attachments
}

fn all_text(stream: &[u8]) -> Vec<crate::model::Block> {
    let empty = [0x0f, 0, 0xee, 0x03, 0, 0, 0, 0];
    let texts: Vec<Text> = all_texts(stream, 16).into_iter().filter(|text| !text.is_blank()).collect();
    record_at(&empty, 0)
        .map(|record| Slide::read(&record, &texts, Role::Body, &Links::new()).blocks)
        .unwrap_or_default()
}
