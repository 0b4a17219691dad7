//! A page as recognition sees it: pieces of text with the place where they stand, and its rows from edge to edge.

use bindery_core::fold::{Token, fold_text, tokens};
use bindery_reader::{
    Page, Rect,
    model::{Block, BlockKind, Inlines, ReadBy},
};

/// A page of a novel has 400 words and a dense table 3,000. What comes behind this many is not looked at, so that no
/// page takes long.
const MOST_WORDS: usize = 20_000;
/// Longer lines are text, not titles.
const LONGEST_TITLE: usize = 12;

/// Where on the page a piece of text stands; several may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a text may stand in several places at once")]
pub(super) struct Zones {
    /// A heading, a large line, or a short line that stands alone in the upper part.
    pub(super) title: bool,
    /// In the first third.
    pub(super) top: bool,
    /// In the last 40 per cent.
    pub(super) bottom: bool,
    /// Above the columns of a table.
    pub(super) table_header: bool,
}

impl TextSegment {
    /// Whether these words, as a title, say what the page is. In a line that is a title only because it stands alone
    /// they must be a good part of it: "Invoice 2024-17" is a title, "Thanks for paying our last invoice" is none.
    pub(super) fn is_title_of(&self, words: usize) -> bool {
        // OCR takes the middle of a line for a heading now and then; a title does not begin with a small letter.
        let first = self.text.chars().find(|letter| letter.is_alphabetic());
        let begins_well = !first.is_some_and(char::is_lowercase);
        self.zones.title && begins_well && (!self.only_alone || words * 3 >= self.tokens.len())
    }

    /// Whether it begins as a point of a list does: "3. Approval of minutes". Such a heading is not a document's title.
    pub(super) fn is_numbered(&self) -> bool {
        let start: String = self.text.trim_start().chars().take(5).collect();
        let marker = start.split([' ', '\u{a0}']).next().unwrap_or_default();
        let bare = marker.trim_end_matches(['.', ')', ':']);
        bare.len() < marker.len() && bare.len() <= 3 && !bare.is_empty() && bare.chars().all(char::is_alphanumeric)
    }
}

/// Text whose words follow each other.
#[derive(Debug)]
pub(super) struct TextSegment {
    pub(super) text: String,
    /// The text as patterns are compared with.
    pub(super) folded: String,
    pub(super) tokens: Vec<Token>,
    pub(super) zones: Zones,
    /// It is a title for no other reason than that it stands alone.
    only_alone: bool,
}

/// A page, prepared once for all types.
#[derive(Debug, Default)]
pub(super) struct View {
    pub(super) segments: Vec<TextSegment>,
    /// Lines from the left edge to the right, folded, from the top.
    pub(super) rows: Vec<String>,
    /// How many words there are.
    pub(super) words: usize,
    /// Whether much larger letters than usual stand at the very top.
    pub(super) large_title: bool,
    top_rows: usize,
    looked_at: usize,
}

impl View {
    pub(super) fn new(page: &Page) -> Self {
        let mut view = Self::default();
        let lines = lines_of(page);
        let height = page.size.map(|size| size.height).filter(|height| *height > 0.0);
        let usual = usual_height(page);
        // OCR measures ink, so that a word with a "p" is taller than one without; only much taller ones are large.
        let (large_letters, title_letters) = if page.read_by == ReadBy::Ocr { (1.5, 1.8) } else { (1.22, 1.4) };
        for (index, block) in page.blocks.iter().enumerate() {
            let part = index as f32 / page.blocks.len().max(1) as f32;
            view.add_block(block, zones_of(block.bbox, height, part));
        }
        for (index, line) in lines.iter().enumerate() {
            let header = is_above_columns(line, lines.get(index + 1));
            for chunk in &line.chunks {
                let large = chunk.letters >= usual * large_letters && usual > 0.0;
                let at_top = height.is_some_and(|height| chunk.bbox.y1 < height * 0.25);
                view.large_title |= at_top && chunk.letters >= usual * title_letters && usual > 0.0;
                let mut zones = zones_of(Some(chunk.bbox), height, 0.5);
                zones.title = large;
                zones.table_header = header;
                if large || header {
                    view.add(&chunk.text, zones, false, LONGEST_TITLE);
                }
            }
        }
        if page.words.is_empty() {
            view.rows = block_rows(page);
            view.top_rows = view.rows.len().min(12);
        } else {
            view.rows = lines.iter().map(PageRow::text).collect();
            let top = height.map_or(f32::MAX, |height| height * 0.3);
            view.top_rows = lines.iter().take_while(|line| line.y1 < top).count();
        }
        view.words = view.rows.iter().map(|row| row.split(' ').filter(|word| is_word(word)).count()).sum();
        view
    }

    pub(super) fn top_rows(&self) -> &[String] {
        &self.rows[..self.top_rows.min(self.rows.len())]
    }

    fn is_full(&self) -> bool {
        self.looked_at >= MOST_WORDS
    }

    fn add_block(&mut self, block: &Block, mut zones: Zones) {
        match &block.kind {
            BlockKind::Heading { text, .. } => {
                zones.title = true;
                self.add(&text.text(), zones, false, MOST_WORDS);
            }
            BlockKind::Paragraph { text } | BlockKind::Quote { text } | BlockKind::ListItem { text, .. } => {
                let plain = text.text();
                let bold = is_bold_line(text);
                zones.title = bold || stands_alone(&plain, zones);
                self.add(&plain, zones, !bold, MOST_WORDS);
            }
            BlockKind::Code { text } => {
                zones.title = stands_alone(text, zones);
                self.add(text, zones, true, MOST_WORDS);
            }
            BlockKind::Table { table } => {
                let header_rows = table.header_rows.max(1);
                for cell in table.cells.iter().take(MOST_WORDS) {
                    zones.table_header = cell.row < header_rows;
                    self.add(&cell.text.text(), zones, false, MOST_WORDS);
                }
            }
            BlockKind::Picture { alt, .. } => self.add(alt, zones, false, MOST_WORDS),
            BlockKind::Break => {}
        }
    }

    fn add(&mut self, text: &str, zones: Zones, only_alone: bool, most: usize) {
        let tokens = tokens(text);
        if !tokens.is_empty() && tokens.len() <= most && !self.is_full() {
            self.looked_at += tokens.len();
            let folded = fold_text(text);
            self.segments.push(TextSegment { text: text.to_owned(), folded, tokens, zones, only_alone });
        }
    }
}

fn is_word(word: &str) -> bool {
    word.chars().any(char::is_alphanumeric)
}

/// One short line, in the upper part of the page.
fn stands_alone(text: &str, zones: Zones) -> bool {
    zones.top && !text.trim().contains('\n') && text.split_whitespace().count() <= 7
}

fn is_bold_line(text: &Inlines) -> bool {
    let bold = text.0.iter().all(|span| span.style.bold || span.text.trim().is_empty());
    bold && !text.is_blank() && text.text().split_whitespace().count() <= LONGEST_TITLE
}

/// `part` is how far down the page it is, where nothing says it better.
fn zones_of(bbox: Option<Rect>, height: Option<f32>, part: f32) -> Zones {
    let (from, to) = match (bbox, height) {
        (Some(bbox), Some(height)) => (bbox.y0 / height, bbox.y1 / height),
        _ => (part, part),
    };
    Zones { top: from < 0.33, bottom: to > 0.6, ..Zones::default() }
}

/// How tall most words are.
fn usual_height(page: &Page) -> f32 {
    let mut heights: Vec<f32> =
        page.words.iter().map(|word| word.bbox.height()).filter(|height| height.is_finite()).collect();
    if heights.is_empty() {
        return 0.0;
    }
    let middle = heights.len() / 2;
    *heights.select_nth_unstable_by(middle, f32::total_cmp).1
}

/// Words beside each other.
#[derive(Debug)]
struct Chunk {
    text: String,
    bbox: Rect,
    /// How tall its tallest letters are.
    letters: f32,
}

/// All that stands at one height of the page, in pieces where there are wide gaps.
#[derive(Debug)]
struct PageRow {
    chunks: Vec<Chunk>,
    y1: f32,
}

impl PageRow {
    fn text(&self) -> String {
        let texts: Vec<&str> = self.chunks.iter().map(|chunk| chunk.text.as_str()).collect();
        fold_text(&texts.join(" "))
    }
}

/// The page's words as lines. Empty where words have no places.
fn lines_of(page: &Page) -> Vec<PageRow> {
    let mut words: Vec<_> = page.words.iter().take(MOST_WORDS).filter(|word| word.bbox.y0.is_finite()).collect();
    let middle = |bbox: &Rect| bbox.center().1;
    words.sort_by(|a, b| middle(&a.bbox).total_cmp(&middle(&b.bbox)));
    let mut lines = Vec::new();
    let mut rest = words.as_mut_slice();
    while let Some(first) = rest.first() {
        // A word belongs to the line while its middle is not below the middle of the line's first by half a letter.
        let limit = middle(&first.bbox) + (first.bbox.height() * 0.5).max(1.0);
        let count = rest.iter().take_while(|word| middle(&word.bbox) <= limit).count().max(1);
        let (line, below) = std::mem::take(&mut rest).split_at_mut(count);
        rest = below;
        line.sort_by(|a, b| a.bbox.x0.total_cmp(&b.bbox.x0));
        let mut chunks: Vec<Chunk> = Vec::new();
        for word in line.iter() {
            let bbox = word.bbox;
            match chunks.last_mut() {
                // Letters of another size are another piece: a title beside the sender's name.
                Some(last)
                    if bbox.x0 - last.bbox.x1 < bbox.height() * 1.5
                        && (bbox.height() - last.letters).abs() < last.letters * 0.25 =>
                {
                    last.text.push(' ');
                    last.text.push_str(&word.text);
                    last.bbox = last.bbox.union(&bbox);
                    last.letters = last.letters.max(bbox.height());
                }
                _ => chunks.push(Chunk { text: word.text.clone(), bbox, letters: bbox.height() }),
            }
        }
        let y1 = chunks.iter().map(|chunk| chunk.bbox.y1).fold(0.0, f32::max);
        lines.push(PageRow { chunks, y1 });
    }
    lines
}

/// A line of several words without figures, with figures right below: the titles of columns, also where nothing
/// was recognised as a table.
fn is_above_columns(line: &PageRow, below: Option<&PageRow>) -> bool {
    let has_digit = |line: &PageRow| line.chunks.iter().any(|chunk| chunk.text.contains(|c: char| c.is_ascii_digit()));
    line.chunks.len() >= 3 && !has_digit(line) && below.is_some_and(|below| below.chunks.len() >= 3 && has_digit(below))
}

/// Rows of a page whose words have no places.
fn block_rows(page: &Page) -> Vec<String> {
    let mut rows = Vec::new();
    for block in &page.blocks {
        match &block.kind {
            BlockKind::Table { table } => {
                let mut row = (0, String::new());
                for cell in table.cells.iter().take(MOST_WORDS) {
                    if cell.row != row.0 {
                        rows.push(std::mem::replace(&mut row, (cell.row, String::new())).1);
                    }
                    if !row.1.is_empty() {
                        row.1.push(' ');
                    }
                    row.1.push_str(&fold_text(&cell.text.text()));
                }
                rows.push(row.1);
            }
            BlockKind::Heading { text, .. }
            | BlockKind::Paragraph { text }
            | BlockKind::Quote { text }
            | BlockKind::ListItem { text, .. } => rows.extend(text.text().lines().map(fold_text)),
            BlockKind::Code { text } => rows.extend(text.lines().map(fold_text)),
            BlockKind::Picture { .. } | BlockKind::Break => {}
        }
        if rows.len() > MOST_WORDS {
            break;
        }
    }
    rows.retain(|row| !row.trim().is_empty());
    rows
}
