//! What a file is, by its content.
//!
//! Signatures decide first, then what lies inside a zip or a compound file, then how text looks. The name of a file is
//! asked only where content cannot tell: text is text, and whether it is meant as Markdown, CSV or a note is known from
//! the name alone. What cannot be read is an error that says what the file is instead.

mod compound;
mod magic;
mod text;
mod zipped;

use crate::{
    error::{ReadError, ReadResult},
    model::FileType,
};

/// The type of a file. `name` is the name it came under, if it had one.
pub fn detect(bytes: &[u8], name: Option<&str>) -> ReadResult<FileType> {
    if bytes.is_empty() {
        return Err(ReadError::Empty);
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return zipped::detect(bytes);
    }
    if bytes.starts_with(compound::SIGNATURE) {
        return compound::detect(bytes);
    }
    if let Some(found) = magic::readable(bytes) {
        return Ok(found);
    }
    if let Some(looks_like) = magic::other(bytes) {
        return Err(ReadError::UnknownType { looks_like: Some(looks_like.to_owned()) });
    }
    text::detect(bytes, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(bytes: &[u8]) -> String {
        detect(bytes, None).unwrap_err().to_string()
    }

    #[test]
    fn content_wins_over_the_name() {
        assert_eq!(detect(b"%PDF-1.7\n", Some("a.docx")).unwrap(), FileType::Pdf);
        assert_eq!(detect(b"\x89PNG\r\n\x1a\nrest", Some("a.txt")).unwrap(), FileType::Png);
        assert_eq!(detect(b"{\\rtf1 text}", Some("a.doc")).unwrap(), FileType::Rtf);
        assert_eq!(detect(b"<!DOCTYPE html><p>x", Some("a.doc")).unwrap(), FileType::Html);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        assert_eq!(wrong(b"\x7fELF\x02\x01"), "this is an ELF program, which cannot be read");
        assert_eq!(wrong(b"\0\0\0\x20ftypisom"), "this is a video (MP4), which cannot be read");
        assert_eq!(wrong(b"Rar!\x1a\x07\x00"), "this is a RAR archive, which cannot be read");
        assert_eq!(wrong(b"\x00\x01\x02\xff\xfe\x00\x03"), "the type of the file is not known");
        assert_eq!(wrong(b""), "the file is empty");
    }
}
