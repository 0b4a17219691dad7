//! Paragraphs, cells and rows as word processors write them, one mark after the other, into blocks.

use super::rows::{Row, RowCell, into_table};
use crate::{
    heading_words::HEADING_WORDS,
    markup::{neat, trimmed},
    model::{Block, BlockKind, Inlines, Marker, Role, Span, Style},
};

/// What a paragraph is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Paragraph {
    /// From 1.
    pub(crate) heading: Option<u8>,
    pub(crate) list: Option<(u8, Marker)>,
    pub(crate) in_table: bool,
}

/// One run of text: the body, a footnote, a header.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    role: Role,
    blocks: Vec<Block>,
    line: Inlines,
    cell: Inlines,
    cells: Vec<Inlines>,
    rows: Vec<Row>,
}

impl Flow {
    pub(crate) fn new(role: Role) -> Self {
        Self { role, ..Self::default() }
    }

    pub(crate) fn text(&mut self, text: &str, style: Style, link: Option<&str>) {
        let clean = text.replace('\u{feff}', "");
        let text = clean.as_str();
        self.line.push(Span { text: text.to_owned(), style, link: link.map(str::to_owned) });
    }

    pub(crate) fn line_is_blank(&self) -> bool {
        self.line.is_blank()
    }

    pub(crate) fn end_paragraph(&mut self, paragraph: &Paragraph) {
        let line = trimmed(neat(std::mem::take(&mut self.line)));
        if paragraph.in_table {
            self.add_to_cell(line, paragraph.list.as_ref());
            return;
        }
        self.end_table();
        if line.is_blank() {
            return;
        }
        let kind = match (paragraph.heading, &paragraph.list) {
            (Some(level), list) => {
                let mut text = Inlines::default();
                // The number of a heading is part of it.
                if let Some((_, Marker::Number(number))) = list {
                    text.push(Span { text: format!("{number} "), ..Span::default() });
                }
                // Headings are bold by their style; that they are headings says it already.
                for span in line.0 {
                    text.push(Span { style: Style { bold: false, italic: false, ..span.style }, ..span });
                }
                BlockKind::Heading { level: level.clamp(1, 6), text }
            }
            (None, Some((depth, marker))) => BlockKind::ListItem { depth: *depth, marker: marker.clone(), text: line },
            (None, None) => BlockKind::Paragraph { text: line },
        };
        self.blocks.push(Block { kind, role: self.role, bbox: None });
    }

    fn add_to_cell(&mut self, line: Inlines, list: Option<&(u8, Marker)>) {
        if line.is_blank() {
            return;
        }
        let plain = |text: String| Span { text, ..Span::default() };
        if !self.cell.0.is_empty() {
            self.cell.push(plain("\n".to_owned()));
        }
        match list {
            Some((_, Marker::Bullet)) => self.cell.push(plain("- ".to_owned())),
            Some((_, Marker::Number(number))) => self.cell.push(plain(format!("{number}. "))),
            None => {}
        }
        line.0.into_iter().for_each(|span| self.cell.push(span));
    }

    pub(crate) fn end_cell(&mut self, paragraph: &Paragraph) {
        let line = trimmed(neat(std::mem::take(&mut self.line)));
        self.add_to_cell(line, paragraph.list.as_ref());
        self.cells.push(std::mem::take(&mut self.cell));
    }

    /// `shape` holds edges and merges; its texts are those of the cells before.
    pub(crate) fn end_row(&mut self, mut shape: Row) {
        // Text behind the last cell's mark belongs to no cell, and is not lost.
        if !self.line.is_blank() || !self.cell.is_blank() {
            self.end_cell(&Paragraph::default());
        }
        let texts = std::mem::take(&mut self.cells);
        if texts.is_empty() {
            return;
        }
        let known = shape.cells.len() == texts.len();
        shape.cells.resize_with(texts.len(), RowCell::default);
        for (cell, text) in shape.cells.iter_mut().zip(texts) {
            if !known {
                cell.right = None;
            }
            cell.text = text;
        }
        self.rows.push(shape);
    }

    pub(crate) fn end_table(&mut self) {
        if !self.cells.is_empty() || !self.cell.is_blank() {
            self.end_row(Row::default());
        }
        let rows = std::mem::take(&mut self.rows);
        if rows.iter().all(|row| row.cells.iter().all(|cell| cell.text.is_blank())) {
            return;
        }
        let table = into_table(rows);
        // A frame around text is no table.
        if table.cells.len() == 1 {
            for cell in table.cells {
                self.blocks.push(Block { kind: BlockKind::Paragraph { text: cell.text }, role: self.role, bbox: None });
            }
            return;
        }
        self.blocks.push(Block { kind: BlockKind::Table { table }, role: self.role, bbox: None });
    }

    pub(crate) fn push(&mut self, kind: BlockKind) {
        self.blocks.push(Block { kind, role: self.role, bbox: None });
    }

    pub(crate) fn finish(mut self) -> Vec<Block> {
        let in_table = !self.cells.is_empty() || !self.cell.is_blank();
        self.end_paragraph(&Paragraph { in_table, ..Paragraph::default() });
        self.end_table();
        self.blocks
    }
}

/// Heading styles are named alike in every language: a word and the level.
pub(crate) fn heading_by_name(name: &str) -> Option<u8> {
    let name = name.split([',', ';']).next().unwrap_or_default().trim().to_lowercase();
    if name == "title" {
        return Some(1);
    }
    let word = HEADING_WORDS.iter().find_map(|word| name.strip_prefix(word))?;
    word.trim().parse().ok().filter(|level| (1..=9).contains(level)).map(|level: u8| level.min(6))
}

/// What is printed before an item's text, as a marker.
pub(crate) fn marker_of(printed: &str) -> Marker {
    let printed = printed.trim();
    let number = printed.trim_matches(|letter: char| matches!(letter, '.' | ')' | '(' | ':' | '-' | '\u{b7}')).trim();
    let is_number = number.chars().count() <= 12
        && number.chars().any(char::is_alphanumeric)
        && number.chars().all(|letter| letter.is_alphanumeric() || letter == '.')
        // A lone "o" is a hollow bullet.
        && printed != "o";
    if is_number { Marker::Number(number.to_owned()) } else { Marker::Bullet }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_numbers_or_bullets() {
        for (printed, number) in [("1.", "1"), ("(iv)", "iv"), ("2.1.3.", "2.1.3"), ("b)", "b")] {
            assert_eq!(marker_of(printed), Marker::Number(number.to_owned()));
        }
        for printed in ["\u{b7}", "•", "o", "-", "", "\u{f0a7}"] {
            assert_eq!(marker_of(printed), Marker::Bullet, "{printed}");
        }
    }

    #[test]
    fn headings_are_known_by_their_names() {
        assert_eq!(heading_by_name("heading 2"), Some(2));
        assert_eq!(heading_by_name("Überschrift 1"), Some(1));
        assert_eq!(heading_by_name("Title"), Some(1));
        assert_eq!(heading_by_name("Heading 9,Other"), Some(6));
        assert_eq!(heading_by_name("heading"), None);
        assert_eq!(heading_by_name("Body Text"), None);
    }

    #[test]
    fn cells_and_rows_make_a_table_and_text_ends_it() {
        let mut flow = Flow::new(Role::Body);
        let inside = Paragraph { in_table: true, ..Paragraph::default() };
        for row in [["a", "b"], ["c", "d"]] {
            for cell in row {
                flow.text(cell, Style::default(), None);
                flow.end_cell(&inside);
            }
            flow.end_row(Row::default());
        }
        flow.text("after", Style::default(), None);
        let blocks = flow.finish();
        assert_eq!(blocks.len(), 2);
        assert!(matches!(&blocks[0].kind, BlockKind::Table { table } if table.rows == 2 && table.columns == 2));
    }
}
