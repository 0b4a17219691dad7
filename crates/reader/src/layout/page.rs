//! A page's content becomes its blocks and words.

use super::{
    asides::{self, Aside},
    code,
    content::{Fill, PageContent},
    decoration::Decorations,
    formulas::{self, Formula},
    headings,
    inlines::Writer,
    lines::{Line, segments},
    margins::{self, Parted},
    order::{Column, columns},
    paragraphs::{Body, Paragraph, group},
    repeated::RepeatedOnPage,
    tables::{self, FoundTable, PlacedWord, Shade},
    turned::Turned,
    words::{Frame, frames},
};
use crate::model::{Block, BlockKind, Role, Word};
use std::collections::HashSet;

/// What a page says, in reading order.
#[derive(Debug, Default)]
pub struct Laid {
    pub blocks: Vec<Block>,
    pub words: Vec<Word>,
    /// How many displayed formulas are plain text because they are too involved.
    pub formulas_not_read: usize,
}

/// Lays out a page. `repeated` knows what the file's other pages have at their edges.
pub fn layout(content: &PageContent, repeated: Option<RepeatedOnPage<'_>>) -> Laid {
    let mut laid = Laid::default();
    let mut frames = frames(content);
    let turned = frames.first().and_then(|frame| Turned::new(frame.angle, content.size));
    let mut asides = turned.map(|turned| asides::find(content, &frames, &turned)).unwrap_or_default();
    for index in 0..frames.len() {
        if let Some(frame) = frames.get(index) {
            lay_frame(content, frame, repeated, &mut asides, &mut laid);
        }
        // Those that are left were taken by a table of the first frame, and are no text of their own any more.
        asides::remove(&mut frames, &std::mem::take(&mut asides));
    }
    laid
}

/// `asides` may be taken by tables; those that are not are removed from it.
fn lay_frame(
    content: &PageContent,
    frame: &Frame,
    repeated: Option<RepeatedOnPage<'_>>,
    asides: &mut Vec<Aside>,
    laid: &mut Laid,
) {
    let decorations = Decorations::find(content, frame);
    let mut writer = Writer {
        content,
        frame,
        decorations: &decorations,
        hyphenated: HashSet::new(),
        starred: refers_by_asterisks(frame),
    };
    writer.hyphenated = hyphenated_words(frame, &writer);

    let mut segments = segments(frame);
    for segment in &mut segments {
        segment.tidy(frame, content);
    }
    let Parted { headers, body: mut segments, footers } = margins::part(content, frame, repeated, segments, &writer);
    // Text in tables counts: on a form or an invoice most of the text may be there.
    let body = Body::measure(segments.iter(), repeated.and_then(|repeated| repeated.usual_size()))
        .with_bold(is_mostly_bold(&segments, &writer));
    let formulas = formulas::take(&mut segments, &writer);
    laid.formulas_not_read += formulas.not_read;
    let mut placed = take_tables(&mut segments, &writer, asides);
    for Formula { block, words } in formulas.found {
        let place = block.bbox.map(|bbox| Line::for_table(placed.len(), bbox));
        segments.extend(place);
        placed.push(Some(PlacedBlock { block, page_words: words }));
    }
    let right_to_left = segments.iter().filter(|line| line.is_right_to_left()).count() * 2 > segments.len();
    let mut flow = Flow { writer: &writer, body, placed, laid };
    flow.margin(headers, Role::Header);
    for column in columns(segments, right_to_left) {
        flow.column(column);
    }
    flow.margin(footers, Role::Footer);
}

/// Whether most of a page with running text is bold.
fn is_mostly_bold(segments: &[Line], writer: &Writer<'_>) -> bool {
    let bold = segments.iter().filter(|line| writer.is_bold(line)).map(Line::letters).sum::<u32>();
    let all = segments.iter().map(Line::letters).sum::<u32>();
    all >= FEWEST_LETTERS && bold * 2 > all
}

/// A page with fewer letters is a title.
const FEWEST_LETTERS: u32 = 400;

/// Whether a figure or word is followed by an asterisk.
fn refers_by_asterisks(frame: &Frame) -> bool {
    let mut ends = frame.words.iter().filter_map(|word| frame.glyphs.get(word.range()));
    ends.any(|glyphs| matches!(glyphs, [.., before, star] if star.first == '*' && before.first.is_alphanumeric()))
}

/// Words with a hyphen inside, for hyphens at line ends.
fn hyphenated_words(frame: &Frame, writer: &Writer<'_>) -> HashSet<String> {
    let inside = |word: &&super::words::Word| {
        let glyphs = frame.glyphs.get(word.range()).unwrap_or_default();
        glyphs.len() > 2 && glyphs.get(1..glyphs.len() - 1).unwrap_or_default().iter().any(|placed| placed.first == '-')
    };
    let edge = |character: char| !character.is_alphanumeric();
    frame
        .words
        .iter()
        .filter(inside)
        .map(|word| writer.plain(word).to_lowercase().trim_matches(edge).to_owned())
        .collect()
}

/// Takes the words of tables out of the flow and leaves a place for each table. Of the asides, those are left that a table
/// has taken.
fn take_tables(segments: &mut Vec<Line>, writer: &Writer<'_>, asides: &mut Vec<Aside>) -> Vec<Option<PlacedBlock>> {
    let Some(turned) = Turned::new(writer.frame.angle, writer.content.size) else { return Vec::new() };
    let mut texts = Vec::new();
    // Which word of the segments each text is, or is a part of. Asides come behind them.
    let mut owners = Vec::new();
    let listings = code::listings(segments, writer);
    let lines = segments.iter().zip(&listings);
    let candidates = lines.flat_map(|(line, listing)| line.words.iter().map(move |word| (word, listing)));
    for (index, (word, _)) in candidates.enumerate().filter(|(_, (_, listing))| !**listing) {
        for part in writer.without_mark(word) {
            texts.push((writer.plain(&part), writer.bbox(&part)));
            owners.push(index);
        }
    }
    let own = texts.len();
    texts.extend(asides.iter().map(|aside| (aside.text.clone(), aside.bbox)));
    let places = texts[..own].iter().map(|(_, bbox)| turned.rect(*bbox)).chain(asides.iter().map(|aside| aside.place));
    let words = texts.iter().zip(places).map(|((text, _), bbox)| PlacedWord { text, bbox }).collect::<Vec<_>>();
    let rules = writer.content.rules.iter().map(|rule| turned.rect(rule.bbox())).collect::<Vec<_>>();
    let shade = |fill: &Fill| Shade { bbox: turned.rect(fill.bbox), colour: fill.colour };
    let fills = writer.content.fills.iter().map(shade).collect::<Vec<_>>();
    let input = tables::Input { words: &words, rules: &rules, fills: &fills, size: turned.size };
    let drawings = writer.content.drawings.iter().map(|shape| turned.rect(*shape)).collect::<Vec<_>>();
    let found = tables::find_beside(&input, &drawings);
    if found.is_empty() {
        asides.clear();
        return Vec::new();
    }
    let mut index = own;
    asides.retain(|_| {
        index += 1;
        found.iter().any(|table| table.words.binary_search(&(index - 1)).is_ok())
    });
    let taken = found
        .iter()
        .flat_map(|table| table.words.iter())
        .filter_map(|word| owners.get(*word).copied())
        .collect::<HashSet<_>>();
    let mut index = 0;
    for line in &mut *segments {
        line.words.retain(|_| {
            index += 1;
            !taken.contains(&(index - 1))
        });
        line.fit();
    }
    segments.retain(|line| !line.words.is_empty());
    let place = |(index, table): (usize, &FoundTable)| Line::for_table(index, turned.in_frame(table.bbox));
    segments.extend(found.iter().enumerate().map(place));
    let mut placed = Vec::with_capacity(found.len());
    for mut found in found {
        found.bbox = turned.back(found.bbox);
        for cell in &mut found.table.cells {
            cell.bbox = cell.bbox.map(|bbox| turned.back(bbox));
        }
        let words = found.words.iter().filter_map(|word| texts.get(*word));
        let page_words = words.map(|(text, bbox)| Word { text: text.clone(), bbox: *bbox, confidence: None }).collect();
        let (bbox, table) = (Some(found.bbox), found.table);
        let block = Block { kind: BlockKind::Table { table }, role: Role::Body, bbox };
        placed.push(Some(PlacedBlock { block, page_words }));
    }
    placed
}

/// A table or a formula, which has a place among the lines.
struct PlacedBlock {
    block: Block,
    page_words: Vec<Word>,
}

struct Flow<'f, 'c> {
    writer: &'f Writer<'c>,
    body: Body,
    placed: Vec<Option<PlacedBlock>>,
    laid: &'f mut Laid,
}

impl Flow<'_, '_> {
    fn margin(&mut self, segments: Vec<Line>, role: Role) {
        for mut line in super::lines::rows(segments) {
            line.tidy(self.writer.frame, self.writer.content);
            self.writer.page_words(&line, &mut self.laid.words);
            let paragraph =
                Paragraph { lines: vec![(line, super::inlines::Joint::Flow)], point: None, bold: false, code: false };
            let block = paragraph.block(self.writer, &Body::without_headings(), None);
            self.laid.blocks.extend(block.map(|block| Block { role, ..block }));
        }
    }

    /// Lines between tables and formulas, and these.
    fn column(&mut self, Column { lines, sides }: Column) {
        let mut text = Vec::new();
        for line in lines {
            match line.table.and_then(|table| self.placed.get_mut(table)).and_then(Option::take) {
                Some(found) => {
                    self.text(std::mem::take(&mut text), sides);
                    self.laid.words.extend(found.page_words);
                    self.laid.blocks.push(found.block);
                }
                None => text.push(line),
            }
        }
        self.text(text, sides);
    }

    fn text(&mut self, mut lines: Vec<Line>, sides: (f32, f32)) {
        for line in &mut lines {
            line.tidy(self.writer.frame, self.writer.content);
            line.settle_size();
            self.writer.page_words(line, &mut self.laid.words);
        }
        let mut paragraphs = group(lines, sides, self.writer);
        set_depths(&mut paragraphs);
        for (index, paragraph) in paragraphs.iter().enumerate() {
            let Some(mut block) = paragraph.block(self.writer, &self.body, paragraphs.get(index + 1)) else { continue };
            if is_footnote(paragraph, &self.body, self.writer)
                && matches!(block.kind, BlockKind::Paragraph { .. } | BlockKind::ListItem { .. })
            {
                block.role = Role::Footnote;
            }
            if let BlockKind::Paragraph { text } = &mut block.kind
                && block.role == Role::Body
                && let Some(text) = headings::take_run_in(text)
            {
                let bbox = paragraph.lines.first().map(|(line, _)| self.writer.line_bbox(line));
                self.laid.blocks.push(Block { bbox, ..Block::body(BlockKind::Heading { level: RUN_IN, text }) });
            }
            self.laid.blocks.push(block);
        }
    }
}

/// The level of a heading that its paragraph goes on behind: below all that stand alone.
const RUN_IN: u8 = 5;

/// Deeper points start further in.
fn set_depths(paragraphs: &mut [Paragraph]) {
    let mut starts: Vec<f32> = Vec::new();
    for paragraph in paragraphs {
        let Some(((line, _), point)) = paragraph.lines.first().zip(paragraph.point.as_mut()) else {
            starts.clear();
            continue;
        };
        while starts.last().is_some_and(|last| *last > line.x0 + 0.5 * line.size) {
            starts.pop();
        }
        if starts.last().is_none_or(|last| line.x0 > *last + 0.5 * line.size) {
            starts.push(line.x0);
        }
        point.depth = u8::try_from(starts.len().saturating_sub(1)).unwrap_or(8).min(8);
    }
}

/// Small text at the foot of the page that begins with a small raised sign.
fn is_footnote(paragraph: &Paragraph, body: &Body, writer: &Writer<'_>) -> bool {
    let Some((line, _)) = paragraph.lines.first() else { return false };
    if writer.frame.angle != 0 || line.base < 0.6 * writer.content.size.height || line.size > 0.93 * body.size {
        return false;
    }
    let first = line.words.first().and_then(|word| writer.frame.glyphs.get(word.start as usize));
    first.is_some_and(|placed| {
        let sign = placed.first.is_ascii_digit() || matches!(placed.first, '*' | '†' | '‡' | '§' | '¹' | '²' | '³');
        sign && (placed.size < 0.85 * line.size || !placed.first.is_ascii_digit())
    })
}
