//! From words in pixels to blocks and words of a page in points.
//!
//! The engine has seen the picture: the order in which it read the page and the paragraphs that it found stand. Headings
//! are told by the size of their letters, lists by their marks, and tables are looked for over the whole page.

use super::{
    OcrPage, OcrWord,
    measure::{Measured, Slant},
};
use crate::{
    layout::tables::{self, FoundTable, PlacedWord},
    model::{Block, BlockKind, Inlines, Marker, Rect, Role, Size, Word},
};
use std::ops::Range;

/// What OCR gives for a page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OcrText {
    pub blocks: Vec<Block>,
    pub words: Vec<Word>,
    pub size: Size,
}

/// Letters that are so much larger than most are those of a heading, or of a title.
const HEADING: f32 = 1.3;
const TITLE: f32 = 1.9;
/// So many lines above and below tell how wide a line could have been.
const AROUND: usize = 3;
/// In parts of the size of letters: lines that are further apart than this have nothing to do with each other.
const APART: f32 = 8.0;

/// A page so many times higher than wide is a slip of paper if none of its lines has more words than this.
const SLIP: f32 = 1.7;
const MOST_ON_SLIP: usize = 9;

impl OcrText {
    /// All boxes there are: of blocks, of cells and of words.
    pub(crate) fn boxes_mut(&mut self) -> impl Iterator<Item = &mut Rect> {
        self.blocks.iter_mut().flat_map(block_boxes).chain(self.words.iter_mut().map(|word| &mut word.bbox))
    }
}

fn block_boxes(block: &mut Block) -> impl Iterator<Item = &mut Rect> {
    let cells = match &mut block.kind {
        BlockKind::Table { table } => table.cells.as_mut_slice(),
        _ => &mut [],
    };
    block.bbox.iter_mut().chain(cells.iter_mut().filter_map(|cell| cell.bbox.as_mut()))
}

/// Blocks and words in reading order, in points. An engine that gives no words gives paragraphs.
pub fn to_text(page: &OcrPage) -> OcrText {
    let points = 72.0 / page.dpi.max(1) as f32;
    let size = Size { width: page.width as f32 * points, height: page.height as f32 * points };
    if page.words.is_empty() {
        let blocks = page.text.as_deref().map(from_plain_text).unwrap_or_default();
        return OcrText { blocks, words: Vec::new(), size };
    }
    let mut blocks = Layout { measured: Measured::straighten(page), points, size }.blocks();
    // From the page laid straight to the page as it is.
    let slant = Slant::new(page);
    for bbox in blocks.iter_mut().flat_map(block_boxes) {
        *bbox = scaled(slant.crooked(scaled(*bbox, 1.0 / points)), points);
    }
    let words = page.words.iter().map(|word| Word {
        text: word.text.clone(),
        bbox: scaled(word.bbox, points),
        confidence: Some(word.confidence),
    });
    OcrText { blocks, words: words.collect(), size }
}

fn scaled(bbox: Rect, by: f32) -> Rect {
    Rect::new(bbox.x0 * by, bbox.y0 * by, bbox.x1 * by, bbox.y1 * by)
}

/// Paragraphs are separated by empty lines.
fn from_plain_text(text: &str) -> Vec<Block> {
    let text = text.replace("\r\n", "\n");
    let paragraphs = text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty());
    paragraphs.map(|text| Block::body(BlockKind::Paragraph { text: Inlines::plain(text) })).collect()
}

/// A page that is being put together.
struct Layout {
    measured: Measured,
    points: f32,
    size: Size,
}

impl Layout {
    fn blocks(&self) -> Vec<Block> {
        let (found, table_of) = self.tables();
        let in_table = |index: &usize| table_of.get(*index).copied().flatten();
        let words: Vec<usize> = (0..table_of.len()).filter(|index| in_table(index).is_none()).collect();
        let first_word = |table: usize| table_of.iter().position(|of_word| *of_word == Some(table));
        let mut tables: Vec<(usize, FoundTable)> =
            found.into_iter().enumerate().filter_map(|(index, table)| Some((first_word(index)?, table))).collect();
        tables.sort_by_key(|(first, _)| std::cmp::Reverse(*first));
        let lines = self.lines(&words);
        let paragraph = |line: &Line| self.word(line.from).map(|word| word.paragraph);
        let mut blocks = Vec::new();
        let mut from = 0;
        for of_paragraph in lines.chunk_by(|one, next| paragraph(one) == paragraph(next)) {
            // A table stands where its first word does.
            while let Some((_, table)) =
                of_paragraph.first().and_then(|line| tables.pop_if(|(first, _)| *first < line.from))
            {
                blocks.push(table_block(table));
            }
            let range = from..from + of_paragraph.len();
            from = range.end;
            blocks.extend(self.paragraph(&lines, range, &words));
        }
        blocks.extend(tables.into_iter().rev().map(|(_, table)| table_block(table)));
        blocks
    }

    /// The tables of the page, and for each word the one that it stands in.
    fn tables(&self) -> (Vec<FoundTable>, Vec<Option<usize>>) {
        let words = &self.measured.words;
        let placed: Vec<PlacedWord<'_>> =
            words.iter().map(|word| PlacedWord { text: &word.text, bbox: scaled(word.bbox, self.points) }).collect();
        let found = tables::find(&tables::Input { words: &placed, rules: &[], fills: &[], size: self.size });
        let mut table_of = vec![None; words.len()];
        for (index, table) in found.iter().enumerate() {
            for word in &table.words {
                if let Some(table_of) = table_of.get_mut(*word) {
                    *table_of = Some(index);
                }
            }
        }
        (found, table_of)
    }

    fn word(&self, index: usize) -> Option<&OcrWord> {
        self.measured.words.get(index)
    }

    fn lines(&self, words: &[usize]) -> Vec<Line> {
        let number = |index: &usize| self.word(*index).map(|word| word.line);
        let mut at = 0;
        let mut lines = Vec::new();
        for of_line in words.chunk_by(|one, next| number(one) == number(next)) {
            let boxes = of_line.iter().filter_map(|index| self.word(*index)).map(|word| word.bbox);
            let first = of_line.first().and_then(|index| self.word(*index));
            lines.push(Line {
                from: of_line.first().copied().unwrap_or_default(),
                words: at..at + of_line.len(),
                bbox: boxes.reduce(|one, other| one.union(&other)).unwrap_or_default(),
                first_word: first.map_or(0.0, |word| word.bbox.width()),
            });
            at += of_line.len();
        }
        lines
    }

    /// Whether the page is a slip of paper, such as the receipt of a till: nothing on it is running text.
    fn is_slip(&self, lines: &[Line]) -> bool {
        self.size.height >= SLIP * self.size.width && lines.iter().all(|line| line.words.len() <= MOST_ON_SLIP)
    }

    /// A heading, a list item or a paragraph, by how its lines look.
    fn paragraph(&self, all: &[Line], range: Range<usize>, words: &[usize]) -> Option<Block> {
        let lines = all.get(range.clone())?;
        let bbox = lines.iter().map(|line| line.bbox).reduce(|one, other| one.union(&other))?;
        let indexes = words.get(lines.first()?.words.start..lines.last()?.words.end)?;
        let size = self.measured.size(indexes);
        let text = |line: &Line| {
            let words = words.get(line.words.clone()).unwrap_or_default().iter().filter_map(|index| self.word(*index));
            words.map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
        };
        let texts: Vec<String> = lines.iter().map(text).collect();
        let apart = self.is_slip(all) || are_centred(lines, size) || are_lines_of_their_own(all, range, size);
        let text = joined(&texts, if apart { '\n' } else { ' ' });
        let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
        let ratio = size / self.measured.usual.max(1.0);
        let kind = if lines.len() <= 2 && letters >= 3 && ratio >= HEADING {
            BlockKind::Heading {
                level: if ratio >= TITLE { 1 } else { 2 },
                text: Inlines::plain(text.replace('\n', " ")),
            }
        } else if let Some((marker, text)) = list_item(&text) {
            BlockKind::ListItem { depth: 0, marker, text: Inlines::plain(text) }
        } else {
            BlockKind::Paragraph { text: Inlines::plain(text) }
        };
        Some(Block { kind, role: Role::Body, bbox: Some(scaled(bbox, self.points)) })
    }
}

fn table_block(table: FoundTable) -> Block {
    Block { kind: BlockKind::Table { table: table.table }, role: Role::Body, bbox: Some(table.bbox) }
}

/// A line of the page.
#[derive(Debug)]
struct Line {
    /// The index of its first word on the page.
    from: usize,
    /// Among the words outside of tables.
    words: Range<usize>,
    bbox: Rect,
    first_word: f32,
}

/// Whether the lines of a paragraph end where they do on purpose, as those of an address or a receipt: most leave room
/// in which the next word would have fitted. How wide a line could have been is told by the lines around it, because
/// text may run around a picture.
fn are_lines_of_their_own(all: &[Line], paragraph: Range<usize>, size: f32) -> bool {
    let count = paragraph.len().saturating_sub(1);
    let leaves_room = |at: &usize| {
        let (Some(line), Some(next)) = (all.get(*at), all.get(at + 1)) else { return false };
        let near = all.get(at.saturating_sub(AROUND)..(at + AROUND + 1).min(all.len())).unwrap_or_default();
        let same_column = |other: &&Line| {
            let shared = line.bbox.x1.min(other.bbox.x1) - line.bbox.x0.max(other.bbox.x0);
            let apart = (line.bbox.y0 - other.bbox.y0).abs();
            shared > 0.5 * line.bbox.width().min(other.bbox.width()) && apart < APART * size
        };
        let widths = near.iter().filter(same_column).map(|other| other.bbox.width());
        widths.fold(0.0, f32::max) - line.bbox.width() > next.first_word + size
    };
    count > 0 && (paragraph.start..paragraph.start + count).filter(leaves_room).count() * 5 >= count * 3
}

/// Whether the lines stand around one middle and begin and end at different places, as those of a letterhead do.
fn are_centred(lines: &[Line], size: f32) -> bool {
    let near = |value: fn(&Line) -> f32, slack: f32| {
        let (least, most) = lines
            .iter()
            .map(value)
            .fold((f32::MAX, f32::MIN), |(least, most), value| (least.min(value), most.max(value)));
        most - least <= slack
    };
    lines.len() >= 3 && near(|line| line.bbox.center().0, size) && !near(|line| line.bbox.x0, 3.0 * size)
}

/// The marker of a list item and what follows it, if a text begins with one.
fn list_item(text: &str) -> Option<(Marker, &str)> {
    let (first, rest) = text.split_once(' ')?;
    if matches!(first, "•" | "‣" | "▪" | "●" | "◦" | "*" | "-" | "–" | "»") {
        return Some((Marker::Bullet, rest));
    }
    let number = first.strip_suffix(['.', ')'])?.trim_start_matches('(');
    let counts = (1..=2).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit());
    let lettered = number.len() == 1 && number.bytes().all(|letter| letter.is_ascii_lowercase());
    (counts || lettered).then(|| (Marker::Number(number.to_owned()), rest))
}

/// The lines as one text; a word that was divided at the end of a line is put together again.
fn joined(lines: &[String], between: char) -> String {
    let mut text = String::new();
    for line in lines {
        let divided = text.strip_suffix('-').is_some_and(|before| before.ends_with(char::is_alphabetic))
            && line.starts_with(char::is_lowercase);
        if divided {
            text.pop();
        } else if !text.is_empty() {
            text.push(between);
        }
        text.push_str(line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ocr::OcrWord;

    /// A word on a line of the page; lines are 50 pixels apart.
    fn word(text: &str, left: f32, line: usize, height: f32) -> OcrWord {
        let bottom = 100.0 + line as f32 * 50.0;
        let bbox = Rect::new(left, bottom - height, left + text.chars().count() as f32 * height * 0.7, bottom);
        OcrWord { text: text.to_owned(), bbox, confidence: 0.9, line, paragraph: line, block: 1 }
    }

    fn page(words: Vec<OcrWord>) -> OcrPage {
        OcrPage { words, width: 1200, height: 1600, dpi: 300, ..OcrPage::default() }
    }

    /// A line of words from the left edge; its length in letters is that of its text.
    fn line(text: &str, number: usize, paragraph: usize, height: f32) -> Vec<OcrWord> {
        let mut left = 50.0;
        let words = text.split(' ').map(|text| {
            let word = OcrWord { paragraph, ..word(text, left, number, height) };
            left = word.bbox.x1 + 10.0;
            word
        });
        words.collect()
    }

    fn texts(blocks: &[Block]) -> Vec<String> {
        let said = |block: &Block| match &block.kind {
            BlockKind::Heading { level, text } => format!("h{level} {}", text.text()),
            BlockKind::Paragraph { text } => text.text(),
            other => format!("{other:?}"),
        };
        blocks.iter().map(said).collect()
    }

    #[test]
    fn paragraphs_are_joined_without_line_breaks_and_large_lines_are_headings() {
        let words = [
            line("Title", 1, 1, 60.0),
            line("Dear reader of these two docu-", 3, 2, 28.0),
            line("ments and of more letters", 4, 2, 28.0),
            line("and this is how it ends", 5, 2, 28.0),
        ];
        let text = to_text(&page(words.concat()));
        let paragraph = "Dear reader of these two documents and of more letters and this is how it ends";
        assert_eq!(texts(&text.blocks), ["h1 Title", paragraph]);
        assert_eq!(text.size, Size { width: 288.0, height: 384.0 });
        assert!(text.words.iter().all(|word| word.confidence == Some(0.9)));
        let title = text.words[0].bbox;
        assert!((title.x0 - 12.0).abs() < 0.01 && (title.y1 - 36.0).abs() < 0.01, "{title:?}");
    }

    #[test]
    fn lines_that_end_early_on_purpose_stay_lines() {
        let words = [
            line("Store number five in the old town of San Francisco", 1, 1, 28.0),
            line("Cashier: Ann", 3, 2, 28.0),
            line("Total 5.00", 4, 2, 28.0),
            line("Thanks", 5, 2, 28.0),
        ];
        let text = to_text(&page(words.concat()));
        assert_eq!(texts(&text.blocks)[1..], ["Cashier: Ann\nTotal 5.00\nThanks"]);
    }

    #[test]
    fn items_of_lists_have_their_markers() {
        assert_eq!(list_item("• one"), Some((Marker::Bullet, "one")));
        assert_eq!(list_item("12. two"), Some((Marker::Number("12".into()), "two")));
        assert_eq!(list_item("(b) three"), Some((Marker::Number("b".into()), "three")));
        assert_eq!(list_item("2024. Four"), None);
        assert_eq!(list_item("Five six"), None);
    }

    #[test]
    fn an_engine_without_words_gives_paragraphs() {
        let page = OcrPage { text: Some("One\r\ntwo\r\n\r\n\r\nThree".to_owned()), dpi: 300, ..OcrPage::default() };
        let text: Vec<_> = to_text(&page).blocks;
        assert_eq!(text.len(), 2);
    }

    #[test]
    fn lines_of_a_slip_and_of_a_letterhead_stay_lines() {
        let paragraph = |words: Vec<OcrWord>, width: u32| {
            let words = words.into_iter().map(|word| OcrWord { paragraph: 1, ..word }).collect();
            let blocks = to_text(&OcrPage { width, ..page(words) }).blocks;
            let BlockKind::Paragraph { text } = &blocks[0].kind else { panic!("{blocks:?}") };
            text.text()
        };
        // Two of the three lines are as long as each other.
        let total = ["Total with taxes", "Rounding of sums", "Paid by card"];
        let slip = total.iter().enumerate().map(|(line, text)| word(text, 50.0, line, 20.0)).collect();
        assert_eq!(paragraph(slip, 600), total.join("\n"));
        let head = ["Harbour Street Library Trust", "4 Quay Street at the old town hall", "Kiel"];
        let centred = head
            .iter()
            .enumerate()
            .map(|(line, text)| word(text, 600.0 - text.chars().count() as f32 * 7.0, line, 20.0));
        assert_eq!(paragraph(centred.collect(), 1200), head.join("\n"));
    }
}
