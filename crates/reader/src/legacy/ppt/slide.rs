//! One slide, or its notes: shapes in their order, each with its text; groups that are tables become tables.

use super::{
    records::{Record, kind},
    text::{Paragraph, Purpose, Text, texts},
};
use crate::{
    legacy::bytes::{Bytes, u16_at, u32_at, wide_text},
    markup::{neat, trimmed},
    model::{Block, BlockKind, Cell, Inlines, Marker, Role, Span, Style, Table},
};
use std::collections::HashMap;

const DEEPEST: usize = 32;
const MOST_SHAPES: usize = 50_000;
/// In one text.
const MOST_LINKS: usize = 200;

/// What is on a slide.
#[derive(Debug, Default)]
pub(super) struct Slide {
    pub(super) title: Option<String>,
    pub(super) blocks: Vec<Block>,
}

impl Slide {
    /// `outline` are the texts that the document keeps for the slide; shapes refer to them by number.
    pub(super) fn read(container: &Record, outline: &[Text], role: Role, links: &Links) -> Self {
        let used = vec![false; outline.len()];
        let mut reader = Reader { outline, used, links, slide: Self::default(), role, shapes: 0 };
        let top = container.child(kind::DRAWING).and_then(|drawing| drawing.child(kind::ART_DRAWING));
        if let Some(top) = &top {
            top.children().for_each(|record| reader.visit(&record, 0));
        }
        // What no shape refers to is shown too, before the rest.
        let unused: Vec<Text> =
            outline.iter().zip(&reader.used).filter(|(_, used)| !**used).map(|(text, _)| text.clone()).collect();
        let drawn = std::mem::take(&mut reader.slide.blocks);
        for text in &unused {
            reader.add(text);
        }
        reader.slide.blocks.extend(drawn);
        for comment in comments(container) {
            reader.slide.blocks.push(Block {
                kind: BlockKind::Paragraph { text: Inlines::plain(comment) },
                role: Role::Comment,
                bbox: None,
            });
        }
        // A title that stands lower than other text is still read first.
        if top.is_some() {
            reader.slide.blocks.sort_by_key(|block| !matches!(block.kind, BlockKind::Heading { .. }));
        }
        reader.slide
    }
}

/// Where links lead to, by their numbers.
pub(super) type Links = HashMap<u32, String>;

struct Reader<'o> {
    outline: &'o [Text],
    links: &'o Links,
    used: Vec<bool>,
    slide: Slide,
    role: Role,
    shapes: usize,
}

impl Reader<'_> {
    fn visit(&mut self, record: &Record, depth: usize) {
        match record.kind {
            kind::ART_GROUP if depth < DEEPEST => {
                if is_table(record)
                    && let Some(table) = self.table(record)
                {
                    self.push(BlockKind::Table { table });
                    return;
                }
                record.children().for_each(|child| self.visit(&child, depth + 1));
            }
            kind::ART_SHAPE => {
                self.shapes += 1;
                if self.shapes > MOST_SHAPES {
                    return;
                }
                let shape = self.shape_texts(record);
                for text in &shape {
                    self.add(text);
                }
                if shape.iter().all(Text::is_blank)
                    && let Some(alt) = description(record)
                {
                    self.push(BlockKind::Picture { alt, source: None });
                }
            }
            _ => {}
        }
    }

    /// Its own text, or the one it refers to.
    fn shape_texts(&mut self, shape: &Record) -> Vec<Text> {
        let Some(holder) = shape.child(kind::ART_TEXT) else { return Vec::new() };
        let mut all = texts(holder.children());
        for reference in holder.children().filter(|record| record.kind == kind::OUTLINE_REFERENCE) {
            let Some(number) = u32_at(reference.body, 0).map(|number| number as usize) else { continue };
            if let (Some(text), Some(used)) = (self.outline.get(number), self.used.get_mut(number))
                && !std::mem::replace(used, true)
            {
                all.push(text.clone());
            }
        }
        // A date, a number or a footer is filled in when it is shown; until then a star stands for it.
        let is_filled_in = holder.children().any(|record| kind::FILLED_IN.contains(&record.kind));
        all.retain(|text| !(text.is_blank() || is_filled_in && text.is_star()));
        // On a page of notes, headers, footers and dates are no notes.
        if self.role == Role::Note {
            all.retain(|text| text.purpose == Purpose::Notes);
        }
        all
    }

    fn push(&mut self, kind: BlockKind) {
        self.slide.blocks.push(Block { kind, role: self.role, bbox: None });
    }

    fn add(&mut self, text: &Text) {
        if text.purpose == Purpose::Title && self.role == Role::Body {
            let lines: Vec<&str> = text.paragraphs.iter().map(|paragraph| paragraph.text.trim()).collect();
            let title = lines.join("\n").trim().to_owned();
            if title.is_empty() {
                return;
            }
            let level = if self.slide.title.is_none() { 1 } else { 2 };
            self.slide.title.get_or_insert_with(|| title.split_whitespace().collect::<Vec<_>>().join(" "));
            self.push(BlockKind::Heading { level, text: Inlines::plain(title) });
            return;
        }
        for paragraph in &text.paragraphs {
            if paragraph.text.trim().is_empty() {
                continue;
            }
            let is_item = paragraph.bullet.unwrap_or(text.purpose == Purpose::Body && text.paragraphs.len() > 1);
            let text = self.linked(text, paragraph);
            if is_item && self.role == Role::Body {
                self.push(BlockKind::ListItem { depth: paragraph.level, marker: Marker::Bullet, text });
            } else {
                self.push(BlockKind::Paragraph { text });
            }
        }
    }

    /// The paragraph, with the links on its letters.
    fn linked(&self, text: &Text, paragraph: &Paragraph) -> Inlines {
        if text.links.is_empty() {
            return Inlines::plain(paragraph.text.trim());
        }
        let mut inlines = Inlines::default();
        let mut place = paragraph.start;
        for letter in paragraph.text.chars() {
            let link = text
                .links
                .iter()
                .take(MOST_LINKS)
                .find(|(range, _)| range.contains(&place))
                .and_then(|(_, link)| self.links.get(link));
            inlines.push(Span { text: letter.to_string(), style: Style::default(), link: link.cloned() });
            place += letter.len_utf16();
        }
        trimmed(neat(inlines))
    }

    /// Cells are shapes; their edges tell rows and columns.
    fn table(&mut self, group: &Record) -> Option<Table> {
        let mut cells = Vec::new();
        for shape in group.children().filter(|record| record.kind == kind::ART_SHAPE).take(10_000) {
            let Some(anchor) = shape.child(kind::ART_CHILD_ANCHOR) else { continue };
            let mut edges = Bytes::new(anchor.body);
            let mut edge = || edges.u32().map(u32::cast_signed);
            let (left, top, right, bottom) = (edge()?, edge()?, edge()?, edge()?);
            // Lines of the table are shapes too, without height or width.
            if right <= left || bottom <= top || shape.child(kind::ART_TEXT).is_none() {
                continue;
            }
            let lines: Vec<String> =
                self.shape_texts(&shape).iter().flat_map(|text| text.paragraphs.iter().map(line)).collect();
            cells.push(((left, top, right, bottom), lines.join("\n").trim().to_owned()));
        }
        let columns = starts(cells.iter().map(|((left, ..), _)| *left));
        let rows = starts(cells.iter().map(|((_, top, ..), _)| *top));
        if (columns.len() < 2 && rows.len() < 2) || cells.iter().all(|(_, text)| text.is_empty()) {
            return None;
        }
        let place =
            |edges: &[i32], at: i32| edges.partition_point(|edge| *edge <= at.saturating_add(NEAR)).saturating_sub(1);
        let before = |edges: &[i32], at: i32| edges.partition_point(|edge| *edge < at.saturating_sub(NEAR));
        let mut table = Table { rows: rows.len(), columns: columns.len(), cells: Vec::new(), header_rows: 1 };
        for ((left, top, right, bottom), text) in cells {
            let (row, column) = (place(&rows, top), place(&columns, left));
            let text = if text.is_empty() { Inlines::default() } else { Inlines::plain(text) };
            let mut cell = Cell::at(row, column, text);
            cell.row_span = before(&rows, bottom).saturating_sub(row).max(1);
            cell.column_span = before(&columns, right).saturating_sub(column).max(1);
            table.cells.push(cell);
        }
        table.cells.sort_by_key(|cell| (cell.row, cell.column));
        table.cells.dedup_by_key(|cell| (cell.row, cell.column));
        Some(table)
    }
}

/// Edges of cells that differ by less are one.
const NEAR: i32 = 4;

fn line(paragraph: &Paragraph) -> String {
    paragraph.text.trim().to_owned()
}

fn starts(edges: impl Iterator<Item = i32>) -> Vec<i32> {
    let mut edges: Vec<i32> = edges.collect();
    edges.sort_unstable();
    edges.dedup_by(|one, before| one.saturating_sub(*before) <= NEAR);
    edges
}

/// The number of a property and its value, of the shape's lists of properties.
fn options<'b>(shape: &Record<'b>) -> Vec<(u16, u32, &'b [u8])> {
    let mut all = Vec::new();
    for list in shape.children().filter(|record| matches!(record.kind, kind::ART_OPTIONS | kind::ART_MORE_OPTIONS)) {
        let count = usize::from(list.instance);
        let mut long = Bytes::at(list.body, count * 6);
        for index in 0..count {
            let (Some(code), Some(value)) = (u16_at(list.body, index * 6), u32_at(list.body, index * 6 + 2)) else {
                break;
            };
            // Values that do not fit lie behind the list, in its order.
            let content = if code & 0x8000 != 0 { long.take(value as usize).unwrap_or_default() } else { &[] };
            all.push((code & 0x3fff, value, content));
        }
    }
    all
}

fn is_table(group: &Record) -> bool {
    let Some(first) = group.children().find(|record| record.kind == kind::ART_SHAPE) else { return false };
    options(&first).iter().any(|(code, value, _)| *code == 0x039f && value & 1 != 0)
}

/// The words that stand for a picture.
fn description(shape: &Record) -> Option<String> {
    let (_, _, content) = options(shape).into_iter().find(|(code, _, _)| *code == 0x0381)?;
    let text = wide_text(content);
    let text = text.trim_end_matches('\0').trim();
    // Most are names of picture files, which say nothing.
    (!text.is_empty() && text.contains(' ')).then(|| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// What reviewers wrote, with their names.
fn comments(container: &Record) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<(Record, usize)> =
        container.children().filter(|record| record.kind == kind::PROGRAM_TAGS).map(|record| (record, 0)).collect();
    while let Some((record, depth)) = open.pop() {
        if record.kind == kind::COMMENT {
            let part = |instance| {
                let string = record.children().find(|child| child.kind == kind::STRING && child.instance == instance);
                string.map(|string| wide_text(string.body).trim().to_owned()).filter(|text| !text.is_empty())
            };
            if let Some(text) = part(1) {
                found.push(part(0).map_or_else(|| text.clone(), |author| format!("{author}: {text}")));
            }
        } else if depth < 8 {
            // Tags that are named keep their content in a blob of records.
            let children: Vec<_> = if record.kind == 0x138b {
                super::records::records(record.body).collect()
            } else {
                record.children().collect()
            };
            open.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
        }
    }
    found
}
