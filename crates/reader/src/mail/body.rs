//! The text of a mail as blocks.

use crate::{
    model::{Block, BlockKind, Inlines},
    plain::text,
};

/// Plain text: lines that begin with `>` are quotes.
pub(super) fn plain_blocks(body: &str) -> Vec<Block> {
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    let mut blocks = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    let mut quoted = false;
    for line in body.lines() {
        let is_quote = line.starts_with('>');
        if is_quote != quoted {
            flush(&mut blocks, &mut lines, quoted);
            quoted = is_quote;
        }
        lines.push(if is_quote { line.trim_start_matches(['>', ' ']) } else { line });
    }
    flush(&mut blocks, &mut lines, quoted);
    blocks
}

fn flush(blocks: &mut Vec<Block>, lines: &mut Vec<&str>, quoted: bool) {
    let part = text::blocks(&std::mem::take(lines).join("\n"));
    blocks.extend(part.into_iter().map(|block| match block.kind {
        BlockKind::Paragraph { text } if quoted => Block::body(BlockKind::Quote { text }),
        BlockKind::Code { text } if quoted => Block::body(BlockKind::Quote { text: Inlines::plain(text) }),
        kind => Block::body(kind),
    }));
}

/// Puts lines together that were only broken for sending (format=flowed).
pub(super) fn unflowed(body: &str, delete_spaces: bool) -> String {
    let mut text = String::with_capacity(body.len());
    // The quote depth of a line that goes on.
    let mut open: Option<usize> = None;
    for line in body.lines() {
        let depth = line.len() - line.trim_start_matches('>').len();
        let content = line.get(depth..).unwrap_or_default();
        let content = content.strip_prefix(' ').unwrap_or(content);
        match open {
            Some(before) if before == depth => {}
            _ => {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&">".repeat(depth));
                if depth > 0 {
                    text.push(' ');
                }
            }
        }
        // The line above a signature never goes on.
        let goes_on = content.ends_with(' ') && content != "-- ";
        text.push_str(if goes_on && delete_spaces {
            content.get(..content.len() - 1).unwrap_or_default()
        } else {
            content
        });
        open = goes_on.then_some(depth);
    }
    text
}

/// Whether the HTML of a mail tells more than its plain text: structure that plain text cannot have, or words that it lacks.
pub(super) fn html_is_richer(html: &[Block], plain: &[Block]) -> bool {
    let (html_words, plain_words) = (words(html), words(plain));
    if plain_words == 0 || html_words > plain_words * 2 {
        return true;
    }
    // HTML whose text is missing, behind pictures or scripts, is no gain.
    if html_words * 2 < plain_words {
        return false;
    }
    html.iter().any(|block| match &block.kind {
        BlockKind::Table { .. } | BlockKind::Heading { .. } | BlockKind::ListItem { .. } => true,
        BlockKind::Paragraph { text } | BlockKind::Quote { text } => {
            text.0.iter().any(|span| span.link.is_some() || span.style.struck)
        }
        _ => false,
    })
}

fn words(blocks: &[Block]) -> usize {
    let count = |text: &Inlines| text.0.iter().map(|span| span.text.split_whitespace().count()).sum::<usize>();
    blocks
        .iter()
        .map(|block| match &block.kind {
            BlockKind::Heading { text, .. }
            | BlockKind::Paragraph { text }
            | BlockKind::ListItem { text, .. }
            | BlockKind::Quote { text } => count(text),
            BlockKind::Table { table } => table.cells.iter().map(|cell| count(&cell.text)).sum(),
            BlockKind::Code { text } => text.split_whitespace().count(),
            BlockKind::Picture { .. } | BlockKind::Break => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flowed_lines_are_put_together() {
        let body = "This goes \non.\n>> quoted \n>> more\n> less\nend\n-- \nme";
        assert_eq!(unflowed(body, false), "This goes on.\n>> quoted more\n> less\nend\n-- \nme");
        assert_eq!(unflowed("日本 \n語", true), "日本語");
    }

    #[test]
    fn quotes_are_told_apart() {
        let blocks = plain_blocks("Yes.\r\n> Is it?\r\n> Really?\r\nBye");
        let kinds: Vec<_> = blocks.into_iter().map(|block| block.kind).collect();
        let paragraph = |text: &str| BlockKind::Paragraph { text: Inlines::plain(text) };
        assert_eq!(
            kinds,
            [paragraph("Yes."), BlockKind::Quote { text: Inlines::plain("Is it?\nReally?") }, paragraph("Bye")]
        );
    }
}
