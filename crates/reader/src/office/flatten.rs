//! Blocks as one run of text, for the cells of tables, which hold nothing else.

use crate::model::{Block, BlockKind, Inlines, Marker, Span, Table};

/// Each block on a line of its own; items keep their marks, and tables within become lines with bars.
pub(super) fn flattened(blocks: &[Block]) -> Inlines {
    let mut out = Inlines::default();
    for block in blocks {
        let line = line_of(block);
        if line.is_blank() {
            continue;
        }
        if !out.0.is_empty() {
            out.push(plain("\n"));
        }
        for span in line.0 {
            out.push(span);
        }
    }
    out
}

fn plain(text: impl Into<String>) -> Span {
    Span { text: text.into(), ..Span::default() }
}

fn line_of(block: &Block) -> Inlines {
    match &block.kind {
        BlockKind::Heading { text, .. } | BlockKind::Paragraph { text } | BlockKind::Quote { text } => text.clone(),
        BlockKind::ListItem { depth, marker, text } => {
            let indent = "\u{a0}".repeat(usize::from(*depth) * 2);
            let mark = match marker {
                Marker::Bullet => format!("{indent}• "),
                Marker::Number(number) => format!("{indent}{number}. "),
            };
            let mut line = Inlines(vec![plain(mark)]);
            line.0.extend(text.0.iter().cloned());
            line
        }
        BlockKind::Table { table } => table_lines(table),
        BlockKind::Code { text } => Inlines::plain(text.clone()),
        BlockKind::Picture { alt, .. } => Inlines::plain(alt.clone()),
        BlockKind::Break => Inlines::default(),
    }
}

fn table_lines(table: &Table) -> Inlines {
    let mut out = Inlines::default();
    let mut row = None;
    for cell in table.cells.iter().filter(|cell| !cell.text.is_blank()) {
        if let Some(row) = row {
            out.push(plain(if row == cell.row { " | " } else { "\n" }));
        }
        row = Some(cell.row);
        for span in &cell.text.0 {
            out.push(span.clone());
        }
    }
    out
}
