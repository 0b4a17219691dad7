//! Pages as lines of words, with everything that is looked up more than once.
//!
//! A page that has boxes gives its own geometry. A page without any (a mail, a text, a spreadsheet) is laid out on an
//! imagined sheet, cell beside cell and line below line, so that one set of rules serves all; its words say that they
//! have no box, and no such box is ever given out.

use super::{
    habits,
    label::plain_parts,
    lines::{OVERPRINT, into_lines},
    value::{Habits, currency},
};
use crate::{learn::calibrate::OcrCertainty, pattern::pattern};
use bindery_reader::{
    Page, Rect,
    model::{BlockKind, Cell},
};
use std::ops::Range;

/// A printed word.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub text: String,
    pub rect: Rect,
    /// Whether `rect` is the page's or imagined.
    pub has_box: bool,
    pub confidence: Option<f32>,
}

/// A comparable part of a word in a line.
#[derive(Debug, Clone)]
pub(crate) struct LinePart {
    pub text: String,
    pub token: usize,
}

/// Words side by side without a wide gap.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    pub tokens: Range<usize>,
    /// The words, one space between those that stand close and two where the gap is wider.
    pub text: String,
    /// Where in `text` each word begins.
    starts: Vec<usize>,
}

/// Words on one height of a page.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// Index into [`Sheet::pages`].
    pub page: usize,
    pub tokens: Range<usize>,
    pub rect: Rect,
    pub segments: Vec<Segment>,
    pub parts: Vec<LinePart>,
}

#[derive(Debug, Clone)]
pub(crate) struct SheetPage {
    /// As the page numbers itself, from 1.
    pub number: usize,
    pub width: f32,
    pub height: f32,
    pub lines: Range<usize>,
    /// The usual height of a word.
    pub text_height: f32,
    /// How sure OCR was of its words on average; None where none was read by OCR.
    pub certainty: Option<f32>,
}

/// All pages of a document.
#[derive(Debug, Clone)]
pub(crate) struct Sheet {
    pub tokens: Vec<Token>,
    pub lines: Vec<Line>,
    pub pages: Vec<SheetPage>,
    pub habits: Habits,
}

impl Sheet {
    pub(crate) fn new(pages: &[Page]) -> Self {
        let mut sheet = Self { tokens: Vec::new(), lines: Vec::new(), pages: Vec::new(), habits: Habits::default() };
        for page in pages {
            sheet.add_page(page);
        }
        sheet.habits = habits::detect(&sheet);
        sheet
    }

    fn add_page(&mut self, page: &Page) {
        let mut words = if page.words.is_empty() { converted_words(page) } else { printed_words(page) };
        // Damaged files may place words nowhere; they cannot be compared with anything.
        words.retain(|word| [word.rect.x0, word.rect.y0, word.rect.x1, word.rect.y1].iter().all(|at| at.is_finite()));
        let width = words.iter().map(|word| word.rect.x1).fold(page.size.map_or(1.0, |size| size.width), f32::max);
        let height = words.iter().map(|word| word.rect.y1).fold(page.size.map_or(1.0, |size| size.height), f32::max);
        let mut heights: Vec<f32> = words.iter().map(|word| word.rect.height()).collect();
        heights.sort_by(f32::total_cmp);
        let text_height = heights.get(heights.len() / 2).copied().unwrap_or(10.0).max(1.0);
        let read: Vec<f32> = words.iter().filter_map(|word| word.confidence).collect();
        let certainty = (!read.is_empty()).then(|| read.iter().sum::<f32>() / read.len() as f32);
        let first_line = self.lines.len();
        let index = self.pages.len();
        for line in into_lines(words) {
            self.add_line(index, line);
        }
        let lines = first_line..self.lines.len();
        self.pages.push(SheetPage { number: page.number, width, height, lines, text_height, certainty });
    }

    fn add_line(&mut self, page: usize, words: Vec<Token>) {
        let start = self.tokens.len();
        let words: Vec<Token> = words.into_iter().flat_map(split_label).flat_map(split_amount).collect();
        let Some(rect) = words.iter().map(|word| word.rect).reduce(|all, next| all.union(&next)) else { return };
        self.tokens.extend(words);
        let tokens = start..self.tokens.len();
        let segments = segments(&self.tokens, tokens.clone());
        let parts = parts(&self.tokens, tokens.clone());
        self.lines.push(Line { page, tokens, rect, segments, parts });
    }

    pub(crate) fn rect_of(&self, tokens: &Range<usize>) -> Rect {
        let rects = self.tokens[tokens.clone()].iter().map(|token| token.rect);
        rects.reduce(|all, next| all.union(&next)).unwrap_or_default()
    }

    /// The box to give out: none where it was imagined.
    pub(crate) fn box_of(&self, tokens: &Range<usize>) -> Option<Rect> {
        let is_printed = self.tokens[tokens.clone()].iter().all(|token| token.has_box);
        (is_printed && !tokens.is_empty()).then(|| self.rect_of(tokens))
    }

    /// The words as printed.
    pub(crate) fn quote(&self, tokens: &Range<usize>) -> String {
        self.tokens[tokens.clone()].iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// How sure the words are, letter by letter; None where all are exact. A speck that was read as a stroke says
    /// little about the words beside it.
    pub(crate) fn ocr_confidence(&self, tokens: &Range<usize>) -> Option<f32> {
        let read = self.tokens[tokens.clone()].iter().filter_map(|token| Some((token.confidence?, token.text.len())));
        let (sum, letters) =
            read.fold((0.0, 0), |(sum, letters), (sure, more)| (sum + sure * more as f32, letters + more));
        (letters > 0).then(|| sum / letters as f32)
    }

    /// How sure the least sure of several runs of words is; None where all are exact.
    pub(crate) fn least_ocr_confidence(&self, spans: &[Range<usize>]) -> Option<f32> {
        spans.iter().filter_map(|span| self.ocr_confidence(span)).reduce(f32::min)
    }

    /// What a calibration wants to know of runs of words: how sure OCR was of the least sure of them, and of their page. A
    /// single sign beside a word is no part of what it says.
    pub(crate) fn ocr_certainty(&self, spans: &[Range<usize>]) -> Option<OcrCertainty> {
        let tokens = || spans.iter().flat_map(|span| &self.tokens[span.clone()]);
        let read = tokens().filter(|token| token.text.chars().filter(|c| c.is_alphanumeric()).count() >= 2);
        let least = read.filter_map(|token| token.confidence).reduce(f32::min);
        let words = least.or_else(|| self.least_ocr_confidence(spans))?;
        let first = spans.first()?.start;
        let line = self.lines.partition_point(|line| line.tokens.end <= first);
        let page = self.lines.get(line).and_then(|line| self.pages[line.page].certainty).unwrap_or(words);
        Some(OcrCertainty { words, page })
    }

    pub(crate) fn page_of(&self, line: usize) -> &SheetPage {
        &self.pages[self.lines[line].page]
    }

    /// The segment of a line that holds a word.
    pub(crate) fn segment_of(&self, line: usize, token: usize) -> Option<&Segment> {
        self.lines[line].segments.iter().find(|segment| segment.tokens.contains(&token))
    }
}

impl Segment {
    /// The words that a range of `text` touches.
    pub(crate) fn tokens_at(&self, range: &Range<usize>) -> Range<usize> {
        let first = self.starts.partition_point(|start| *start <= range.start).saturating_sub(1);
        let behind = self.starts.partition_point(|start| *start < range.end).max(first + 1);
        self.tokens.start + first..(self.tokens.start + behind).min(self.tokens.end)
    }
}

/// Whether a text has at least two letters.
pub(crate) fn is_word(text: &str) -> bool {
    text.chars().filter(|c| c.is_alphabetic()).take(2).count() == 2
}

fn printed_words(page: &Page) -> Vec<Token> {
    let words = page.words.iter().filter(|word| !word.text.trim().is_empty());
    words
        .map(|word| Token {
            text: word.text.trim().to_owned(),
            rect: word.bbox,
            has_box: true,
            confidence: word.confidence,
        })
        .collect()
}

/// Points on the imagined sheet.
const LETTER_WIDTH: f32 = 5.0;
const LINE_HEIGHT: f32 = 10.0;
const LINE_PITCH: f32 = 14.0;
const CELL_GAP: f32 = 20.0;

fn converted_words(page: &Page) -> Vec<Token> {
    let mut words = Vec::new();
    let mut y = 0.0;
    for block in &page.blocks {
        // What stands above a heading or a table is not read on into it; a heading may be the label of what follows.
        if matches!(block.kind, BlockKind::Heading { .. } | BlockKind::Table { .. }) {
            y += LINE_PITCH;
        }
        match &block.kind {
            BlockKind::Table { table } => {
                let mut widths = vec![0usize; table.columns];
                for cell in table.cells.iter().filter(|cell| cell.column < table.columns) {
                    let longest = cell.text.text().lines().map(|line| line.chars().count()).max().unwrap_or(0);
                    widths[cell.column] = widths[cell.column].max(longest);
                }
                let mut lefts = Vec::with_capacity(widths.len());
                let mut x = 0.0;
                for width in widths {
                    lefts.push(x);
                    x += width as f32 * LETTER_WIDTH + CELL_GAP;
                }
                let mut row = 0;
                let mut height = 0;
                for cell in &table.cells {
                    if cell.row != row {
                        y += height as f32 * LINE_PITCH;
                        (row, height) = (cell.row, 0);
                    }
                    height = height.max(add_cell(cell, &lefts, y, &mut words));
                }
                y += (height + 1) as f32 * LINE_PITCH;
            }
            BlockKind::Heading { text, .. }
            | BlockKind::Paragraph { text }
            | BlockKind::ListItem { text, .. }
            | BlockKind::Quote { text } => {
                y = add_text(&text.text(), 0.0, y, &mut words);
            }
            BlockKind::Code { text } => y = add_text(text, 0.0, y, &mut words),
            BlockKind::Picture { alt, .. } => y = add_text(alt, 0.0, y, &mut words),
            BlockKind::Break => {}
        }
    }
    words
}

/// Gives back how many lines the cell has.
fn add_cell(cell: &Cell, lefts: &[f32], y: f32, words: &mut Vec<Token>) -> usize {
    let text = cell.text.text();
    let left = lefts.get(cell.column).copied().unwrap_or(0.0);
    add_text(&text, left, y, words);
    text.lines().count()
}

/// Gives back where the next line begins. Tabs and runs of spaces keep their width, as plain texts align with them.
fn add_text(text: &str, left: f32, mut y: f32, words: &mut Vec<Token>) -> f32 {
    for line in text.lines() {
        let mut column = 0usize;
        let mut word = String::new();
        let mut begin = 0usize;
        for c in line.chars().chain(std::iter::once(' ')) {
            if c.is_whitespace() {
                if !word.is_empty() {
                    let x0 = left + begin as f32 * LETTER_WIDTH;
                    let rect = Rect::new(x0, y, left + column as f32 * LETTER_WIDTH, y + LINE_HEIGHT);
                    words.push(Token { text: std::mem::take(&mut word), rect, has_box: false, confidence: None });
                }
                column += if c == '\t' { 8 } else { 1 };
                begin = column;
            } else {
                word.push(c);
                column += 1;
            }
        }
        y += LINE_PITCH;
    }
    y
}

/// `Number:82` is a label and a value, though nothing parts them in print.
fn split_label(word: Token) -> Vec<Token> {
    let split = word.text.char_indices().find(|(at, c)| {
        let behind = &word.text[at + c.len_utf8()..];
        let before = &word.text[..*at];
        *c == ':'
            && before.ends_with(|c: char| c.is_alphabetic() || c == '.')
            && !behind.is_empty()
            && !behind.starts_with('/')
    });
    let Some((at, _)) = split else { return vec![word] };
    split_at(&word, at + 1)
}

// Words, or a bracket or a rate behind them, and an amount with its decimals.
pattern!(GLUED_AMOUNT, r"^(?:.*[\p{L})%.])(\p{Sc}?\d[\d.,']*[.,]\d{2}\p{Sc}?)$");

/// `Subtotal£400.00` is a label and a value where markup alone parted them; `RM62.50` is an amount with its currency.
fn split_amount(word: Token) -> Vec<Token> {
    if word.has_box {
        return vec![word];
    }
    let found = GLUED_AMOUNT.captures(&word.text).and_then(|found| found.get(1));
    let label = found.map(|amount| &word.text[..amount.start()]);
    let is_label = |label: &str| {
        let letters = label.chars().filter(|c| c.is_alphabetic()).count();
        (letters >= 3 || label.ends_with([')', '%'])) && currency::parse(label).is_none()
    };
    match label.filter(|label| is_label(label)).map(str::len) {
        Some(at) => split_at(&word, at),
        None => vec![word],
    }
}

/// A word as two, each with its share of the width.
fn split_at(word: &Token, at: usize) -> Vec<Token> {
    let (label, value) = word.text.split_at(at);
    let share = label.chars().count() as f32 / word.text.chars().count().max(1) as f32;
    let middle = word.rect.x0 + word.rect.width() * share;
    let left = Token { text: label.to_owned(), rect: Rect { x1: middle, ..word.rect }, ..word.clone() };
    let right = Token { text: value.to_owned(), rect: Rect { x0: middle, ..word.rect }, ..word.clone() };
    vec![left, right]
}

fn segments(all: &[Token], tokens: Range<usize>) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for index in tokens.clone() {
        let token = &all[index];
        let gap = if index == tokens.start { f32::MAX } else { token.rect.x0 - all[index - 1].rect.x1 };
        let height = token.rect.height().max(1.0);
        // A word that begins before the last one ends belongs to another print.
        match segments.last_mut().filter(|_| (-OVERPRINT * height..=1.1 * height).contains(&gap)) {
            Some(segment) => {
                segment.text.push_str(if gap > 0.6 * height { "  " } else { " " });
                segment.starts.push(segment.text.len());
                segment.text.push_str(&token.text);
                segment.tokens.end = index + 1;
            }
            None => segments.push(Segment { tokens: index..index + 1, text: token.text.clone(), starts: vec![0] }),
        }
    }
    segments
}

fn parts(all: &[Token], tokens: Range<usize>) -> Vec<LinePart> {
    let mut parts = Vec::new();
    for index in tokens {
        let text = &all[index].text;
        let is_aside = text.starts_with('(') && text.ends_with(')') && {
            let inner = &text[1..text.len() - 1];
            inner.bytes().all(|byte| byte.is_ascii_digit()) || currency::parse(inner).is_some()
        };
        if !is_aside {
            parts.extend(plain_parts(text).into_iter().map(|text| LinePart { text, token: index }));
        }
    }
    parts
}
