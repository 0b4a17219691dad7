//! RTF: text with its looks, headings, lists, tables, notes and links; embedded files become attachments.

mod lexer;
mod object;
mod reader;

use crate::{
    converted::ConvertedFile,
    error::{ReadError, ReadResult},
    model::{FileType, Page},
    options::ReadOptions,
};

pub(crate) use reader::RtfText;

/// One page, whatever its length: where pages end is known only once it is printed.
pub fn open(bytes: &[u8], options: &ReadOptions) -> ReadResult<ConvertedFile> {
    options.limits.check_file(bytes.len() as u64)?;
    let start = bytes.iter().position(|byte| *byte == b'{').unwrap_or_default();
    let bytes = bytes.get(start..).unwrap_or_default();
    if !bytes.starts_with(b"{\\rt") {
        return Err(ReadError::damaged("rtf", "it does not begin as RTF does"));
    }
    let read = convert(bytes);
    let mut page = Page { blocks: read.blocks, ..Page::converted(1) };
    // A mail's text that carries its HTML is shown as that.
    if let Some(html) = &read.html {
        page.blocks = crate::markup::html::convert(html, &options.limits).blocks;
    }
    Ok(ConvertedFile::new(FileType::Rtf, read.metadata, vec![page])
        .with_attachments(read.attachments)
        .with_warnings(read.warnings))
}

/// Reads RTF, wherever it comes from.
pub(crate) fn convert(bytes: &[u8]) -> RtfText {
    reader::Reader::new().run(bytes)
}
