//! From words in pixels to blocks and words of a page in points.

use super::{OcrPage, OcrWord};
use crate::{
    layout::tables::{self, FoundTable, PlacedWord},
    model::{Block, BlockKind, Inlines, Marker, Rect, Role, Size, Word},
};

/// What OCR gives for a page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OcrText {
    pub blocks: Vec<Block>,
    pub words: Vec<Word>,
    pub size: Size,
}

/// A line that is so much higher than the usual one is a heading.
const HEADING: f32 = 1.4;
const TITLE: f32 = 1.9;

/// Blocks by the paragraphs that the engine found and the tables that its words stand in; words in points.
pub fn to_text(page: &OcrPage) -> OcrText {
    let points = 72.0 / page.dpi.max(1) as f32;
    let place = |bbox: Rect| Rect::new(bbox.x0 * points, bbox.y0 * points, bbox.x1 * points, bbox.y1 * points);
    let words = page.words.iter().map(|word| Word {
        text: word.text.clone(),
        bbox: place(word.bbox),
        confidence: Some(word.confidence),
    });
    let size = Size { width: page.width as f32 * points, height: page.height as f32 * points };
    let blocks = match &page.text {
        Some(text) if page.words.is_empty() => from_plain_text(text),
        _ => paragraphs(page, size, &place),
    };
    OcrText { blocks, words: words.collect(), size }
}

/// Paragraphs are separated by empty lines.
fn from_plain_text(text: &str) -> Vec<Block> {
    let text = text.replace("\r\n", "\n");
    let paragraphs = text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty());
    paragraphs.map(|text| Block::body(BlockKind::Paragraph { text: Inlines::plain(text) })).collect()
}

fn paragraphs(page: &OcrPage, size: Size, place: &impl Fn(Rect) -> Rect) -> Vec<Block> {
    let placed: Vec<PlacedWord<'_>> =
        page.words.iter().map(|word| PlacedWord { text: &word.text, bbox: place(word.bbox) }).collect();
    let mut found: Vec<Option<FoundTable>> =
        tables::find(&tables::Input { words: &placed, rules: &[], fills: &[], size }).into_iter().map(Some).collect();
    let mut table_of = vec![None; page.words.len()];
    for (index, table) in found.iter().enumerate() {
        for word in table.iter().flat_map(|table| &table.words) {
            if let Some(table_of) = table_of.get_mut(*word) {
                *table_of = Some(index);
            }
        }
    }
    let lines: Vec<&[OcrWord]> = page.words.chunk_by(|one, next| one.line == next.line).collect();
    let usual = usual_height(&lines);
    let mut blocks = Vec::new();
    let mut start = 0;
    for words in page.words.chunk_by(|one, next| one.paragraph == next.paragraph) {
        let in_tables = &table_of[start..start + words.len()];
        start += words.len();
        let mut rest = Vec::with_capacity(words.len());
        for (word, table) in words.iter().zip(in_tables) {
            match table {
                None => rest.push(word.clone()),
                // A table stands where its first word does.
                Some(table) => blocks.extend(found.get_mut(*table).and_then(Option::take).map(|table| Block {
                    kind: BlockKind::Table { table: table.table },
                    role: Role::Body,
                    bbox: Some(table.bbox),
                })),
            }
        }
        blocks.extend(paragraph(&rest, usual, place));
    }
    blocks
}

/// A heading, a list item or a paragraph, by how its lines look.
fn paragraph(words: &[OcrWord], usual: f32, place: &impl Fn(Rect) -> Rect) -> Option<Block> {
    let bbox = place(surrounding(words)?);
    let lines: Vec<&[OcrWord]> = words.chunk_by(|one, next| one.line == next.line).collect();
    let text = joined(&lines);
    let height = usual_height(&lines);
    let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
    let kind = if lines.len() <= 2 && letters >= 3 && height >= usual * HEADING {
        BlockKind::Heading { level: if height >= usual * TITLE { 1 } else { 2 }, text: Inlines::plain(text) }
    } else if let Some((marker, text)) = list_item(&text) {
        BlockKind::ListItem { depth: 0, marker, text: Inlines::plain(text) }
    } else {
        BlockKind::Paragraph { text: Inlines::plain(text) }
    };
    Some(Block { kind, role: Role::Body, bbox: Some(bbox) })
}

/// The marker of a list item and what follows it, if a text begins with one.
fn list_item(text: &str) -> Option<(Marker, &str)> {
    let (first, rest) = text.split_once(' ')?;
    if matches!(first, "•" | "‣" | "▪" | "●" | "◦" | "*" | "-" | "–" | "»") {
        return Some((Marker::Bullet, rest));
    }
    let number = first.strip_suffix(['.', ')'])?.trim_start_matches('(');
    let counts = (1..=3).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit());
    let lettered = number.len() == 1 && number.bytes().all(|letter| letter.is_ascii_lowercase());
    (counts || lettered).then(|| (Marker::Number(number.to_owned()), rest))
}

/// The lines as one text; a word that was divided at the end of a line is put together again.
fn joined(lines: &[&[OcrWord]]) -> String {
    let mut text = String::new();
    for words in lines {
        let line = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        let divided = text.strip_suffix('-').is_some_and(|before| before.ends_with(char::is_alphabetic))
            && line.starts_with(char::is_lowercase);
        if divided {
            text.pop();
        } else if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&line);
    }
    text
}

fn surrounding(words: &[OcrWord]) -> Option<Rect> {
    words.iter().map(|word| word.bbox).reduce(|one, other| one.union(&other))
}

/// The median height of the lines.
fn usual_height(lines: &[&[OcrWord]]) -> f32 {
    let mut heights: Vec<f32> = lines.iter().filter_map(|words| surrounding(words)).map(|bbox| bbox.height()).collect();
    heights.sort_by(f32::total_cmp);
    heights.get(heights.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str, line: usize, paragraph: usize, height: f32) -> OcrWord {
        let top = line as f32 * 100.0;
        let bbox = Rect::new(0.0, top, 300.0, top + height);
        OcrWord { text: text.to_owned(), bbox, confidence: 0.9, line, paragraph, block: 1 }
    }

    #[test]
    fn paragraphs_are_joined_without_line_breaks_and_large_lines_are_headings() {
        let words = vec![
            word("Title", 1, 1, 80.0),
            word("docu-", 2, 2, 40.0),
            word("ments", 3, 2, 40.0),
            word("well-", 4, 3, 40.0),
            word("Known", 5, 3, 40.0),
        ];
        let page = OcrPage { words, width: 600, height: 900, dpi: 300, ..OcrPage::default() };
        let text = to_text(&page);
        assert!(matches!(&text.blocks[0].kind, BlockKind::Heading { level: 1, text } if text.text() == "Title"));
        assert!(matches!(&text.blocks[1].kind, BlockKind::Paragraph { text } if text.text() == "documents"));
        assert!(matches!(&text.blocks[2].kind, BlockKind::Paragraph { text } if text.text() == "well- Known"));
        assert_eq!(text.size, Size { width: 144.0, height: 216.0 });
        assert_eq!(text.words[1].bbox, Rect::new(0.0, 48.0, 72.0, 57.6));
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
}
