//! Blocks as short lines, so that a test can say what it expects on one page.
#![allow(dead_code, unreachable_pub, reason = "each test takes what it needs")]

use bindery_reader::model::{Block, BlockKind, Inlines, Marker, Role, Table};
use std::fmt::Write as _;

pub fn lines(blocks: &[Block]) -> Vec<String> {
    blocks.iter().map(line).collect()
}

fn line(block: &Block) -> String {
    let role = match block.role {
        Role::Body => String::new(),
        role => format!("{role:?} "),
    };
    role + &match &block.kind {
        BlockKind::Heading { level, text } => format!("h{level} {}", inlines(text)),
        BlockKind::Paragraph { text } => format!("p {}", inlines(text)),
        BlockKind::ListItem { depth, marker: Marker::Bullet, text } => format!("li{depth} * {}", inlines(text)),
        BlockKind::ListItem { depth, marker: Marker::Number(number), text } => {
            format!("li{depth} {number} {}", inlines(text))
        }
        BlockKind::Table { table: cells } => table(cells),
        BlockKind::Code { text } => format!("code {text}"),
        BlockKind::Quote { text } => format!("quote {}", inlines(text)),
        BlockKind::Picture { alt, .. } => format!("picture {alt}"),
        BlockKind::Break => "---".to_owned(),
    }
}

/// Bold is `*`, italic `/`, struck `~`, underlined `_`, code a backtick, links `[text](target)`.
pub fn inlines(text: &Inlines) -> String {
    text.0.iter().fold(String::new(), |mut all, span| {
        let style = span.style;
        let signs = [
            (style.bold, '*'),
            (style.italic, '/'),
            (style.struck, '~'),
            (style.underlined, '_'),
            (style.code, '`'),
            (style.superscript, '^'),
            (style.subscript, ','),
        ];
        let signs: String = signs.iter().filter(|(on, _)| *on).map(|(_, sign)| *sign).collect();
        let back: String = signs.chars().rev().collect();
        match &span.link {
            Some(link) => _ = write!(all, "[{signs}{}{back}]({link})", span.text),
            None => _ = write!(all, "{signs}{}{back}", span.text),
        }
        all
    })
}

/// Cells with `|` between, rows with ` / ` between; spans as `{rows x columns}`; heading rows counted.
pub fn table(table: &Table) -> String {
    let mut rows = vec![String::new(); table.rows];
    for cell in &table.cells {
        let row = &mut rows[cell.row];
        if !row.is_empty() {
            row.push('|');
        }
        if cell.row_span > 1 || cell.column_span > 1 {
            _ = write!(row, "{{{}x{}}}", cell.row_span, cell.column_span);
        }
        row.push_str(&inlines(&cell.text));
    }
    format!("table {}x{} h{}: {}", table.rows, table.columns, table.header_rows, rows.join(" / "))
}
