//! A page as Markdown.

use super::{
    PageFacts,
    escape::{Place, escape_into, escape_line_start},
    footnote_mark,
    inline::{inline_markdown, leads_somewhere, link_target, longest_backticks},
    table::table_markdown,
    tidy_text,
};
use crate::model::{Block, BlockKind, Inlines, Marker, Page, Role, Span, Style};
use std::fmt::Write as _;

/// What a caller may choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MarkdownOptions {
    /// Also what is repeated at the top and bottom of pages.
    pub headers_and_footers: bool,
}

/// The page as Markdown, without headers and footers. Ends with a line break unless nothing is on the page.
pub fn markdown(page: &Page) -> String {
    markdown_with(page, MarkdownOptions::default())
}

pub fn markdown_with(page: &Page, options: MarkdownOptions) -> String {
    let facts = PageFacts::gather(page);
    let mut out = String::new();
    let mut rest = page.blocks.as_slice();
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|block| block.role == first.role).count();
        let (group, after) = rest.split_at(count);
        rest = after;
        let written = match first.role {
            Role::Body => blocks_markdown(group, &facts),
            Role::Header | Role::Footer if !options.headers_and_footers => continue,
            Role::Header => quoted("Header", &blocks_markdown(group, &facts)),
            Role::Footer => quoted("Footer", &blocks_markdown(group, &facts)),
            Role::Footnote => footnotes_markdown(group, &facts),
            Role::Note => quoted("Notes", &blocks_markdown(group, &facts)),
            Role::Comment => quoted("Comments", &blocks_markdown(group, &facts)),
        };
        if written.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&written);
        out.push('\n');
    }
    out
}

/// A quote with a heading of its own.
fn quoted(title: &str, markdown: &str) -> String {
    if markdown.is_empty() {
        return String::new();
    }
    prefixed(&format!("**{title}**\n\n{markdown}"), "> ")
}

fn prefixed(text: &str, prefix: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("{prefix}{line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

/// Each footnote under its mark; what belongs to one without a mark of its own is set in under it.
fn footnotes_markdown(blocks: &[Block], facts: &PageFacts) -> String {
    let mut out = String::new();
    for block in blocks {
        let mark = super::inlines_of(block).and_then(|text| footnote_mark(text).map(|mark| (mark, text)));
        if !out.is_empty() {
            out.push('\n');
        }
        if let Some((mark, text)) = mark {
            let note = Inlines(text.0.iter().skip(1).cloned().collect());
            let note = paragraph(&note, facts);
            let note = prefixed(&note, "    ");
            let _ = write!(out, "[^{mark}]: {}", note.trim_start());
        } else {
            let note = blocks_markdown(std::slice::from_ref(block), facts);
            let under_another = out.starts_with("[^");
            out.push_str(if under_another { "\n" } else { "" });
            out.push_str(&prefixed(&note, if under_another { "    " } else { "" }));
        }
    }
    out
}

/// Blocks with a blank line between them; items of a list follow each other without.
fn blocks_markdown(blocks: &[Block], facts: &PageFacts) -> String {
    let mut out = String::new();
    let mut list = ListIndents::default();
    for block in blocks {
        let is_item = matches!(block.kind, BlockKind::ListItem { .. });
        let joined = is_item && list.is_open();
        if !is_item {
            list.close();
        }
        let written = block_markdown(&block.kind, facts, &mut list);
        if written.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push_str(if joined { "\n" } else { "\n\n" });
        }
        out.push_str(&written);
    }
    out
}

fn block_markdown(kind: &BlockKind, facts: &PageFacts, list: &mut ListIndents) -> String {
    match kind {
        BlockKind::Heading { level, text } => {
            let text = inline_markdown(&without_bold(text), facts, Place::Line).replace('\n', " ");
            if text.is_empty() {
                return text;
            }
            format!("{} {text}", "#".repeat(usize::from((*level).clamp(1, 6))))
        }
        BlockKind::Paragraph { text } => paragraph(text, facts),
        BlockKind::ListItem { depth, marker, text } => list_item(*depth, marker, text, facts, list),
        BlockKind::Table { table } => table_markdown(table, facts),
        BlockKind::Code { text } => {
            let fence = "`".repeat(longest_backticks(text).max(2) + 1);
            format!("{fence}\n{}\n{fence}", text.replace("\r\n", "\n").trim_end())
        }
        BlockKind::Quote { text } => prefixed(&paragraph(text, facts), "> "),
        BlockKind::Picture { alt, source } => {
            let alt = tidy_text(alt).replace('\n', " ");
            if alt.is_empty() {
                return alt;
            }
            let mut out = String::from("![");
            escape_into(&mut out, &alt.replace(['[', ']'], ""), Place::Line);
            let target =
                source.as_deref().filter(|source| leads_somewhere(source)).map(link_target).unwrap_or_default();
            let _ = write!(out, "]({target})");
            out
        }
        BlockKind::Break => "---".to_owned(),
    }
}

/// A heading is bold by itself; marks in it would only be in the way of a search for it.
fn without_bold(text: &Inlines) -> Inlines {
    let mut plain = Inlines::default();
    for span in &text.0 {
        let style = Style { bold: false, ..span.style };
        plain.push(Span { style, ..span.clone() });
    }
    plain
}

/// Lines that count end with two spaces, which is how Markdown keeps them.
fn paragraph(text: &Inlines, facts: &PageFacts) -> String {
    // A formula that stands alone is displayed.
    let said: Vec<&Span> = text.0.iter().filter(|span| !span.text.trim().is_empty()).collect();
    if !said.is_empty() && said.iter().all(|span| span.style.math) {
        return said.iter().map(|span| format!("$${}$$", span.text.trim())).collect::<Vec<_>>().join("\n\n");
    }
    let markdown = inline_markdown(text, facts, Place::Line);
    let lines: Vec<String> =
        markdown.lines().map(|line| escape_line_start(line).unwrap_or_else(|| line.to_owned())).collect();
    lines.join("  \n")
}

fn list_item(depth: u8, marker: &Marker, text: &Inlines, facts: &PageFacts, list: &mut ListIndents) -> String {
    let mark = match marker {
        Marker::Bullet => "- ".to_owned(),
        Marker::Number(number) => {
            let number = tidy_text(number);
            let number = number.trim_end_matches('.');
            let counts = !number.is_empty() && number.len() <= 9 && number.bytes().all(|byte| byte.is_ascii_digit());
            match number {
                "" => "- ".to_owned(),
                _ if counts => format!("{number}. "),
                _ if number.contains('.') => format!("- {number} "),
                _ => format!("- {number}. "),
            }
        }
    };
    let content_offset = if mark.starts_with('-') { 2 } else { mark.len() };
    let indent = list.indent(depth, content_offset);
    let text = inline_markdown(text, facts, Place::Line);
    let mut out = format!("{}{mark}", " ".repeat(indent));
    for (number, line) in text.lines().enumerate() {
        if number > 0 {
            let _ = write!(out, "  \n{}", " ".repeat(indent + content_offset));
        }
        out.push_str(line);
    }
    out.truncate(out.trim_end().len());
    out
}

/// How far the text of the last item of each depth is set in: deeper items begin there.
#[derive(Debug, Default)]
struct ListIndents(Vec<usize>);

impl ListIndents {
    fn is_open(&self) -> bool {
        !self.0.is_empty()
    }

    fn close(&mut self) {
        self.0.clear();
    }

    /// A depth without an item above it is set in no further than the deepest item there is.
    fn indent(&mut self, depth: u8, content_offset: usize) -> usize {
        self.0.truncate(usize::from(depth));
        let indent = self.0.last().copied().unwrap_or(0);
        self.0.resize(usize::from(depth), indent);
        self.0.push(indent + content_offset);
        indent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Table;

    fn page(blocks: Vec<Block>) -> Page {
        Page { blocks, ..Page::converted(1) }
    }

    fn paragraph_block(text: &str) -> Block {
        Block::body(BlockKind::Paragraph { text: Inlines::plain(text) })
    }

    fn item(depth: u8, number: Option<&str>, text: &str) -> Block {
        let marker = number.map_or(Marker::Bullet, |number| Marker::Number(number.to_owned()));
        Block::body(BlockKind::ListItem { depth, marker, text: Inlines::plain(text) })
    }

    #[test]
    fn blocks_are_separated_by_blank_lines() {
        let blocks = vec![
            Block::body(BlockKind::Heading { level: 2, text: Inlines::plain("A\ntitle") }),
            paragraph_block("one\ntwo"),
            paragraph_block("   "),
            Block::body(BlockKind::Code { text: "a  b\n".into() }),
            Block::body(BlockKind::Quote { text: Inlines::plain("said") }),
            Block::body(BlockKind::Picture { alt: "a [small] dog".into(), source: None }),
            Block::body(BlockKind::Picture { alt: "a cat".into(), source: Some("img/cat (1).png".into()) }),
            Block::body(BlockKind::Picture { alt: "a dot".into(), source: Some("data:image/png;base64,AA".into()) }),
            Block::body(BlockKind::Break),
            Block::body(BlockKind::Table { table: Table::from_rows(vec![vec![Inlines::plain("x")]], 1) }),
        ];
        let expected = "## A title\n\none  \ntwo\n\n```\na  b\n```\n\n> said\n\n![a small dog]()\n\n![a cat](img/cat%20%281%29.png)\n\n![a dot]()\n\n---\n\n| x |\n| --- |\n";
        assert_eq!(markdown(&page(blocks)), expected);
        assert_eq!(markdown(&page(Vec::new())), "");
    }

    #[test]
    fn headings_have_no_marks_of_bold_type() {
        let bold = Style { bold: true, ..Style::default() };
        let span = |text: &str, style: Style| Span { text: text.into(), style, link: None };
        let both = Style { italic: true, ..bold };
        let text = Inlines(vec![span("3 ", bold), span("Results of ", Style::default()), span("E. coli", both)]);
        let heading = BlockKind::Heading { level: 2, text };
        assert_eq!(markdown(&page(vec![Block::body(heading)])), "## 3 Results of *E. coli*\n");
    }

    #[test]
    fn lists_keep_their_depth_and_numbers() {
        let blocks = vec![
            item(0, Some("9"), "nine"),
            item(1, None, "under\nnine"),
            item(2, Some("iv"), "deep"),
            item(0, Some("10"), "ten"),
            item(1, Some("10.1"), "under ten"),
            paragraph_block("between"),
            item(3, None, "alone"),
        ];
        let expected =
            "9. nine\n   - under  \n     nine\n     - iv. deep\n10. ten\n    - 10.1 under ten\n\nbetween\n\n- alone\n";
        assert_eq!(markdown(&page(blocks)), expected);
    }

    #[test]
    fn headers_and_footers_are_left_out_unless_wanted() {
        let header = Block { role: Role::Header, ..paragraph_block("top") };
        let page = page(vec![header, paragraph_block("text")]);
        assert_eq!(markdown(&page), "text\n");
        let all = MarkdownOptions { headers_and_footers: true };
        assert_eq!(markdown_with(&page, all), "> **Header**\n>\n> top\n\ntext\n");
    }

    #[test]
    fn notes_comments_and_footnotes_are_told_apart() {
        let raised = Style { superscript: true, ..Style::default() };
        let mark = |text: &str| Span { text: text.into(), style: raised, link: None };
        let plain = |text: &str| Span { text: text.into(), ..Span::default() };
        let footnote = BlockKind::Paragraph { text: Inlines(vec![mark("1"), plain(" the source")]) };
        let blocks = vec![
            Block::body(BlockKind::Paragraph { text: Inlines(vec![plain("fact"), mark("1")]) }),
            Block { kind: footnote, role: Role::Footnote, bbox: None },
            Block { role: Role::Footnote, ..paragraph_block("and more") },
            Block { role: Role::Note, ..paragraph_block("say this") },
            Block { role: Role::Comment, ..paragraph_block("Ann: why?") },
        ];
        let expected = "fact[^1]\n\n[^1]: the source\n\n    and more\n\n> **Notes**\n>\n> say this\n\n> **Comments**\n>\n> Ann: why?\n";
        assert_eq!(markdown(&page(blocks)), expected);
    }

    #[test]
    fn text_that_looks_like_markdown_stays_text() {
        assert_eq!(markdown(&page(vec![paragraph_block("# 1\n1. x")])), "\\# 1  \n1\\. x\n");
    }
}
