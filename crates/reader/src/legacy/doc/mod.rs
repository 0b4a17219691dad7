//! Word files of Word 6 to Word 2003: text, headings, lists, tables, notes, headers, links and looks.

mod fib;
mod lists;
mod pieces;
mod properties;
mod story;
mod styles;

use super::{
    bytes::{Bytes, u16_at, u32_at, wide_text},
    compound::{Compound, ROOT},
    objects, summary,
};
use crate::{
    converted::ConvertedFile,
    error::{ReadError, ReadResult},
    model::{Block, FileType, Page, Role},
    options::ReadOptions,
};
use fib::{Head, Part};
use lists::Lists;
use properties::Runs;
use std::{collections::HashSet, ops::Range};
use story::Document;
use styles::Styles;

/// Blocks of headers, and of footers, that differ.
const MOST_HEADERS: usize = 500;

/// One page, whatever its length: where pages end is known only once it is printed.
pub fn open(bytes: &[u8], options: &ReadOptions) -> ReadResult<ConvertedFile> {
    options.limits.check_file(bytes.len() as u64)?;
    let file = Compound::open(bytes, "doc")?;
    let stream = file.named("WordDocument").ok_or_else(|| ReadError::damaged("doc", "it holds no Word document"))?;
    let head = Head::read(&stream)?;
    let table = file.named(if head.second_table { "1Table" } else { "0Table" }).unwrap_or_default();
    let mut warnings = Vec::new();
    let blocks = read(&head, &stream, &table, &mut warnings);
    let page = Page { blocks, ..Page::converted(1) };
    let pool = file.child(ROOT, "ObjectPool").map(|pool| file.children(pool)).unwrap_or_default();
    let attachments = objects::attachments(&file, pool, &options.limits, &mut warnings);
    Ok(ConvertedFile::new(FileType::Doc, summary::metadata(&file), vec![page])
        .with_attachments(attachments)
        .with_warnings(warnings))
}

fn read(head: &Head, stream: &[u8], table: &[u8], warnings: &mut Vec<String>) -> Vec<Block> {
    let part = |part| -> &[u8] {
        let Some((place, size)) = head.part(part).filter(|_| !head.is_old) else { return &[] };
        table.get(place..).map(|table| table.get(..size).unwrap_or(table)).unwrap_or_default()
    };
    // The levels of lists lie behind what the head counts as theirs.
    let lists = head.part(Part::Lists).filter(|_| !head.is_old).and_then(|(place, _)| table.get(place..));
    let mut lists = Lists::read(lists.unwrap_or_default(), part(Part::ListOverrides));
    let empty = || Runs::default();
    let document = Document {
        letters: pieces::letters(head, stream, table),
        paragraphs: if head.is_old { empty() } else { Runs::of_paragraphs(head, stream, table) },
        looks: if head.is_old { empty() } else { Runs::of_letters(head, stream, table) },
        styles: Styles::read(part(Part::Styles)),
        fonts: fonts(part(Part::Fonts)),
        footnotes: references(part(Part::FootnoteReferences)),
        endnotes: references(part(Part::EndnoteReferences)),
    };
    if document.looks.has_deletions() {
        warnings.push("tracked deletions are not shown".to_owned());
    }
    let lengths = head.lengths;
    let mut start = 0usize;
    let mut next = |length: usize| -> Range<usize> {
        let range = start..start.saturating_add(length);
        start = range.end;
        range
    };
    let body = if lengths.text == 0 { next(document.letters.units.len()) } else { next(lengths.text) };
    let (footnotes, headers, _macros) = (next(lengths.footnotes), next(lengths.headers), next(lengths.macros));
    let (comments, endnotes) = (next(lengths.comments), next(lengths.endnotes));
    let (boxes, header_boxes) = (next(lengths.boxes), next(lengths.header_boxes));
    let mut blocks = Vec::new();
    let (above, below) = header_blocks(&document, headers, part(Part::Headers), &mut lists);
    blocks.extend(above);
    blocks.extend(document.blocks(body, Role::Body, &mut lists));
    blocks.extend(document.blocks(boxes, Role::Body, &mut lists));
    blocks.extend(document.blocks(footnotes, Role::Footnote, &mut lists));
    blocks.extend(document.blocks(endnotes, Role::Footnote, &mut lists));
    blocks.extend(document.blocks(comments, Role::Comment, &mut lists));
    blocks.extend(document.blocks(header_boxes, Role::Header, &mut lists));
    blocks.extend(below);
    blocks
}

/// Headers and footers, each once, though sections repeat them.
fn header_blocks(
    document: &Document,
    range: Range<usize>,
    places: &[u8],
    lists: &mut Lists,
) -> (Vec<Block>, Vec<Block>) {
    let (mut above, mut below) = (Vec::new(), Vec::new());
    let stories = places.len() / 4;
    for story in 6..stories.saturating_sub(1).min(6 * 1000) {
        let (Some(from), Some(to)) = (u32_at(places, story * 4), u32_at(places, story * 4 + 4)) else { break };
        let (from, to) = (range.start.saturating_add(from as usize), range.start.saturating_add(to as usize));
        if from >= to || to > range.end {
            continue;
        }
        let (role, target) = match story % 6 {
            0 | 1 | 4 => (Role::Header, &mut above),
            _ => (Role::Footer, &mut below),
        };
        for block in document.blocks(from..to, role, lists) {
            if target.len() < MOST_HEADERS && !target.contains(&block) {
                target.push(block);
            }
        }
    }
    (above, below)
}

/// Where notes are referred to: places, then two bytes for each.
fn references(part: &[u8]) -> HashSet<usize> {
    let count = part.len().saturating_sub(4) / 6;
    (0..count).filter_map(|index| u32_at(part, index * 4)).map(|place| place as usize).collect()
}

fn fonts(part: &[u8]) -> Vec<String> {
    let count = usize::from(u16_at(part, 0).unwrap_or_default());
    let mut rest = Bytes::at(part, 4);
    let mut fonts = Vec::new();
    for _ in 0..count {
        let Some(font) = rest.u8().and_then(|size| rest.take(size.into())) else { break };
        let name = wide_text(font.get(39..).unwrap_or_default());
        fonts.push(name.split('\0').next().unwrap_or_default().to_owned());
    }
    fonts
}
