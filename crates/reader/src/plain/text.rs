//! Text files. Form feeds end pages; blank lines end paragraphs; lines whose columns are held by spaces stay as they are.

use super::{encoding, markdown};
use crate::{
    converted::ConvertedFile,
    error::ReadResult,
    markup::html::declared_encoding,
    model::{Block, BlockKind, FileType, Inlines, Metadata, Page},
    options::ReadOptions,
};

/// Opens text, Markdown, JSON or XML; the last two are shown as they are written.
pub fn open(bytes: &[u8], file_type: FileType, options: &ReadOptions) -> ReadResult<ConvertedFile> {
    options.limits.check_text(bytes.len() as u64)?;
    let declared = if file_type == FileType::Xml { declared_encoding(bytes) } else { None };
    let decoded = encoding::decode(bytes, declared);
    let text = unified(&decoded.text);
    let mut metadata = Metadata::default();
    let mut pages = match file_type {
        FileType::Markdown => {
            let read = markdown::convert(&text);
            metadata = read.metadata;
            vec![Page { blocks: read.blocks, ..Page::converted(1) }]
        }
        FileType::Json | FileType::Xml => {
            let blocks = vec![Block::body(BlockKind::Code { text: text.trim_end().to_owned() })];
            vec![Page { blocks, ..Page::converted(1) }]
        }
        _ => {
            // A form feed at the end of the last page begins no new one.
            let text = text.trim_end_matches(['\u{c}', '\n', ' ']);
            text.split('\u{c}').map(|text| Page { blocks: blocks(text), ..Page::converted(1) }).collect()
        }
    };
    if let Some(page) = pages.first_mut() {
        page.warnings.extend(decoded.warning());
    }
    Ok(ConvertedFile::new(file_type, metadata, pages).limit_pages(&options.limits))
}

/// One kind of line break, and no control signs that nobody sees.
fn unified(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' => {
                letters.next_if_eq(&'\n');
                clean.push('\n');
            }
            '\n' | '\t' | '\u{c}' => clean.push(letter),
            '\u{2028}' | '\u{2029}' | '\u{85}' => clean.push('\n'),
            letter if letter.is_control() => {}
            letter => clean.push(letter),
        }
    }
    clean
}

/// Paragraphs of running text. Line breaks are kept: nobody can tell which of them count.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().chain([""]) {
        if !line.trim().is_empty() {
            lines.push(line.trim_end());
            continue;
        }
        if lines.is_empty() {
            continue;
        }
        blocks.push(Block::body(if is_laid_out(&lines) {
            BlockKind::Code { text: lines.join("\n") }
        } else {
            let text = lines.iter().map(|line| line.trim_start()).collect::<Vec<_>>().join("\n");
            BlockKind::Paragraph { text: Inlines::plain(text) }
        }));
        lines.clear();
    }
    blocks
}

/// Columns made with spaces or tabs, in more than one line and in most of them.
fn is_laid_out(lines: &[&str]) -> bool {
    let has_gap = |line: &&&str| {
        let line = line.trim();
        line.contains("   ") || line.contains('\t') || line.contains(['│', '┃', '║'])
    };
    let count = lines.iter().filter(has_gap).count();
    count >= 2 && count * 2 >= lines.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::OpenFile;

    fn open_text(bytes: &[u8]) -> ConvertedFile {
        open(bytes, FileType::Text, &ReadOptions::default()).unwrap()
    }

    #[test]
    fn form_feeds_end_pages_and_blank_lines_paragraphs() {
        let file = open_text(b"one\r\ntwo\r\n\r\nthree\x0cfour\n\x0c\n");
        assert_eq!(file.info().page_count, 2);
        let texts: Vec<_> = file.pages[0].blocks.iter().map(|block| block.kind.clone()).collect();
        let paragraph = |text: &str| BlockKind::Paragraph { text: Inlines::plain(text) };
        assert_eq!(texts, [paragraph("one\ntwo"), paragraph("three")]);
        assert_eq!(file.pages[1].blocks[0].kind, paragraph("four"));
    }

    #[test]
    fn columns_held_by_spaces_stay() {
        let file = open_text(b"Name     Sum\nAnna      12\nBob        3\n");
        assert!(matches!(&file.pages[0].blocks[0].kind, BlockKind::Code { text } if text.contains("Anna      12")));
    }

    #[test]
    fn json_and_xml_are_shown_as_they_are() {
        let file = open(b"{\n  \"a\": 1\n}\n", FileType::Json, &ReadOptions::default()).unwrap();
        assert_eq!(file.pages[0].blocks[0].kind, BlockKind::Code { text: "{\n  \"a\": 1\n}".to_owned() });
        let xml = b"<?xml version=\"1.0\" encoding=\"iso-8859-5\"?><a>\xbf</a>";
        let file = open(xml, FileType::Xml, &ReadOptions::default()).unwrap();
        assert!(matches!(&file.pages[0].blocks[0].kind, BlockKind::Code { text } if text.contains('П')));
    }

    #[test]
    fn more_pages_than_the_limit_are_counted() {
        let mut options = ReadOptions::default();
        options.limits.pages = 3;
        let file = open(b"a\x0cb\x0cc\x0cd\x0ce", FileType::Text, &options).unwrap();
        assert_eq!(file.info().page_count, 3);
        assert_eq!(file.info().warnings, ["only the first 3 of 5 pages were read"]);
    }
}
