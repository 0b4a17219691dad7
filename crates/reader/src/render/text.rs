//! A page as plain text.

use super::{PageFacts, inlines_of, table::table_text, tidy_text};
use crate::{
    latex,
    model::{Block, BlockKind, Inlines, Marker, Page, Role},
};
use std::fmt::Write as _;

/// The page as plain text: headers first, then the text with its notes and comments, footers last. Blocks are
/// separated by blank lines, items of a list by line breaks; cells of a table by tabs.
pub fn text(page: &Page) -> String {
    let facts = PageFacts::gather(page);
    let mut out = String::new();
    let mut previous: Option<&Block> = None;
    let order = [Some(Role::Header), None, Some(Role::Footer)];
    let blocks = order.into_iter().flat_map(|wanted| {
        page.blocks.iter().filter(move |block| {
            let edge = matches!(block.role, Role::Header | Role::Footer).then_some(block.role);
            edge == wanted
        })
    });
    for block in blocks {
        let written = block_text(block, &facts);
        if written.is_empty() {
            continue;
        }
        let is_item = |block: &Block| matches!(block.kind, BlockKind::ListItem { .. });
        let same_list = previous.is_some_and(|previous| is_item(previous) && is_item(block));
        if !out.is_empty() {
            out.push_str(if same_list { "\n" } else { "\n\n" });
        }
        if previous.is_none_or(|previous| previous.role != block.role) {
            out.push_str(match block.role {
                Role::Note => "Notes:\n",
                Role::Comment => "Comments:\n",
                _ => "",
            });
        }
        out.push_str(&written);
        previous = Some(block);
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

fn block_text(block: &Block, facts: &PageFacts) -> String {
    match &block.kind {
        BlockKind::ListItem { depth, marker, text } => {
            let indent = "  ".repeat(usize::from(*depth).min(16));
            let text = inline_text(text, facts);
            match marker {
                Marker::Bullet => format!("{indent}- {text}"),
                Marker::Number(number) => format!("{indent}{}. {text}", number.trim_end_matches('.')),
            }
        }
        BlockKind::Table { table } => table_text(table),
        BlockKind::Code { text } => text.replace("\r\n", "\n").trim_end().to_owned(),
        BlockKind::Picture { alt, .. } => tidy_text(alt).into_owned(),
        BlockKind::Break => String::new(),
        BlockKind::Heading { .. } | BlockKind::Paragraph { .. } | BlockKind::Quote { .. } => {
            inlines_of(block).map(|text| inline_text(text, facts)).unwrap_or_default()
        }
    }
}

/// References to footnotes stand in brackets: a raised number would read as part of the word.
fn inline_text(text: &Inlines, facts: &PageFacts) -> String {
    if facts.footnotes.is_empty() && !text.0.iter().any(|span| span.style.math) {
        return tidy_text(&text.text()).into_owned();
    }
    let mut out = String::new();
    for span in &text.0 {
        if span.style.superscript && facts.footnotes.contains(span.text.trim()) {
            let _ = write!(out, "[{}]", span.text.trim());
        } else if span.style.math {
            out.push_str(&latex::plain(&span.text));
        } else {
            out.push_str(&span.text);
        }
    }
    tidy_text(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Span, Style};

    #[test]
    fn everything_on_the_page_is_in_the_text_and_in_its_place() {
        let paragraph =
            |role: Role, text: &str| Block { role, ..Block::body(BlockKind::Paragraph { text: Inlines::plain(text) }) };
        let raised =
            |text: &str| Span { text: text.into(), style: Style { superscript: true, ..Style::default() }, link: None };
        let plain = |text: &str| Span { text: text.into(), ..Span::default() };
        let body = BlockKind::Paragraph { text: Inlines(vec![plain("fact"), raised("1"), plain("  here")]) };
        let note = BlockKind::Paragraph { text: Inlines(vec![raised("1"), plain(" source")]) };
        let item = |number: &str| {
            let marker = Marker::Number(number.to_owned());
            Block::body(BlockKind::ListItem { depth: 1, marker, text: Inlines::plain("item") })
        };
        let blocks = vec![
            paragraph(Role::Footer, "bottom"),
            paragraph(Role::Header, "top"),
            Block::body(body),
            item("a"),
            item("b"),
            Block { kind: note, role: Role::Footnote, bbox: None },
            paragraph(Role::Note, "say"),
            paragraph(Role::Note, "more"),
        ];
        let page = Page { blocks, ..Page::converted(1) };
        let expected = "top\n\nfact[1] here\n\n  a. item\n  b. item\n\n[1] source\n\nNotes:\nsay\n\nmore\n\nbottom\n";
        assert_eq!(text(&page), expected);
    }
}
