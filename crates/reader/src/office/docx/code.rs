//! Which paragraphs in a typewriter's letters are code.

use crate::model::{Block, BlockKind, Inlines};

/// Several paragraphs after each other that are set in such letters throughout are one piece of code. In a text that is
/// set in them for the most part, they mean nothing: it was written on a typewriter, or for one.
pub(super) fn settled(mut blocks: Vec<Block>) -> Vec<Block> {
    let (mut all, mut code) = (0, 0);
    each_text(&mut blocks, &mut |text| {
        for span in &text.0 {
            all += span.text.len();
            code += if span.style.code { span.text.len() } else { 0 };
        }
    });
    if code == 0 {
        return blocks;
    }
    if code * 2 > all {
        each_text(&mut blocks, &mut |text| {
            for span in &mut text.0 {
                span.style.code = false;
            }
        });
        return blocks;
    }
    let mut out: Vec<Block> = Vec::with_capacity(blocks.len());
    let mut run: Vec<Block> = Vec::new();
    for block in blocks {
        if is_code(&block) {
            run.push(block);
            continue;
        }
        end_run(&mut run, &mut out);
        out.push(block);
    }
    end_run(&mut run, &mut out);
    out
}

fn each_text(blocks: &mut [Block], found: &mut impl FnMut(&mut Inlines)) {
    for block in blocks {
        match &mut block.kind {
            BlockKind::Heading { text, .. }
            | BlockKind::Paragraph { text }
            | BlockKind::ListItem { text, .. }
            | BlockKind::Quote { text } => found(text),
            BlockKind::Table { table } => table.cells.iter_mut().for_each(|cell| found(&mut cell.text)),
            BlockKind::Code { .. } | BlockKind::Picture { .. } | BlockKind::Break => {}
        }
    }
}

fn is_code(block: &Block) -> bool {
    let BlockKind::Paragraph { text } = &block.kind else { return false };
    text.0.iter().all(|span| span.style.code || span.text.trim().is_empty())
}

fn end_run(run: &mut Vec<Block>, out: &mut Vec<Block>) {
    if run.len() < 2 {
        out.append(run);
        return;
    }
    let lines = run.drain(..).filter_map(|block| match block.kind {
        BlockKind::Paragraph { text } => Some(text.text()),
        _ => None,
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    out.push(Block::body(BlockKind::Code { text }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Span, Style};

    fn paragraph(text: &str, code: bool) -> Block {
        let style = Style { code, ..Style::default() };
        let text = Inlines(vec![Span { text: text.to_owned(), style, link: None }]);
        Block::body(BlockKind::Paragraph { text })
    }

    #[test]
    fn lines_of_code_are_one_piece() {
        let prose = "prose that is longer than the code below it";
        let blocks = settled(vec![paragraph(prose, false), paragraph("a = 1", true), paragraph("b = 2", true)]);
        assert_eq!(blocks[1].kind, BlockKind::Code { text: "a = 1\nb = 2".to_owned() });
    }

    #[test]
    fn a_text_from_a_typewriter_is_no_code() {
        let blocks = settled(vec![paragraph("a long text in Courier", true), paragraph("more of it", true)]);
        assert_eq!(blocks[1], paragraph("more of it", false));
    }
}
