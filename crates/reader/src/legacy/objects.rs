//! Files that were embedded as objects: a compound file, or a storage in one, is the envelope around the real file.
//!
//! Equations, drawings and other objects that are no files are passed over. A file that is there and cannot be taken
//! out is named in the warnings.

use super::{
    bytes::{Bytes, wide_text},
    code_page::CodePage,
    compound::{Compound, ROOT, SIGNATURE},
};
use crate::{detect::detect, model::Attachment, options::Limits, package::safe_name};

/// What the streams are called that hold a whole file.
const WHOLE_FILES: [&str; 3] = ["Package", "CONTENTS", "EmbeddedOdf"];
/// By the stream that it has: what a program saves.
const DOCUMENTS: [&str; 6] =
    ["WordDocument", "Workbook", "Book", "PowerPoint Document", "__properties_version1.0", "EncryptedPackage"];

/// What an envelope holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content {
    File(Attachment),
    Damaged,
    /// No file that anybody could open.
    Nothing,
}

/// The files in storages of a compound file.
pub(crate) fn attachments(
    file: &Compound,
    storages: &[usize],
    limits: &Limits,
    warnings: &mut Vec<String>,
) -> Vec<Attachment> {
    let mut attachments: Vec<Attachment> = Vec::new();
    let mut total = 0u64;
    for (storage, number) in storages.iter().zip(1..).take(limits.archive_entries) {
        let bytes: u64 = file.children(*storage).iter().map(|child| file.size(*child)).sum();
        total = total.saturating_add(bytes);
        if total > limits.unpacked_bytes {
            warnings.push(format!("the embedded files are too large; those from number {number} on were left out"));
            break;
        }
        let whole = || file.copied_out(*storage, |_, _, bytes| bytes);
        match content(file, *storage, &format!("object{number}"), whole) {
            Content::File(attachment) => attachments.push(attachment),
            Content::Damaged => warnings.push(damaged(number)),
            Content::Nothing => {}
        }
    }
    attachments
}

/// What is in an envelope that is a file of its own. Bytes without an envelope are the file. `stem` names what has no
/// name.
pub(crate) fn unwrapped(stem: &str, bytes: &[u8]) -> Content {
    if !is_envelope(bytes) {
        return Content::File(named_by_content(stem, bytes.to_vec()));
    }
    match Compound::open(bytes, "ole") {
        Ok(file) => content(&file, ROOT, stem, || Some(bytes.to_vec())),
        Err(_) => Content::Damaged,
    }
}

/// Whether there is an envelope around a file at all.
pub(crate) fn is_envelope(bytes: &[u8]) -> bool {
    bytes.starts_with(&SIGNATURE)
}

pub(crate) fn damaged(number: usize) -> String {
    format!("the embedded file number {number} is damaged, and was left out")
}

fn content(file: &Compound, storage: usize, stem: &str, whole: impl FnOnce() -> Option<Vec<u8>>) -> Content {
    let or_damaged = |found: Option<Attachment>| found.map_or(Content::Damaged, Content::File);
    if let Some(native) = file.child(storage, "\u{1}Ole10Native") {
        // Its size, then the file.
        return or_damaged(file.stream(native).get(4..).and_then(native_file));
    }
    if DOCUMENTS.iter().any(|stream| file.child(storage, stream).is_some()) {
        return or_damaged(whole().map(|bytes| named_by_content(stem, bytes)));
    }
    let mut known = WHOLE_FILES.iter().filter_map(|stream| file.child(storage, stream));
    // Other programs call their streams so too: what nobody can tell the type of is theirs.
    let found = known.find_map(|stream| {
        let bytes = file.stream(stream);
        detect(&bytes, None).is_ok().then(|| named_by_content(stem, bytes))
    });
    found.map_or(Content::Nothing, Content::File)
}

/// A file without a name is called by what it is.
fn named_by_content(stem: &str, bytes: Vec<u8>) -> Attachment {
    let found = detect(&bytes, None).ok();
    let extension = found.map_or("bin", |found| found.extension());
    let media_type = found.map(|found| found.media_type().to_owned());
    Attachment { name: format!("{stem}.{extension}"), media_type, bytes }
}

/// A file of any type as it was dragged into a document: flags, label, path, flags, path, the file, names in Unicode.
pub(crate) fn native_file(native: &[u8]) -> Option<Attachment> {
    let mut bytes = Bytes::new(native);
    bytes.u16()?;
    let label = bytes.until_zero()?;
    let _path = bytes.until_zero()?;
    bytes.take(4)?;
    let length = bytes.u32()? as usize;
    bytes.take(length)?;
    let size = bytes.u32()? as usize;
    let content = bytes.take(size)?.to_vec();
    // Newer writers add the names once more, in Unicode: the path, then the label.
    let mut wide = || {
        let length = bytes.u32()? as usize;
        Some(wide_text(bytes.take(length.checked_mul(2)?)?))
    };
    let wide_label = wide().and_then(|_path| wide()).filter(|label| !label.is_empty());
    let label = wide_label.unwrap_or_else(|| CodePage::WESTERN.decode(label));
    let name = label.rsplit(['/', '\\']).next().and_then(safe_name).unwrap_or_else(|| "package".to_owned());
    let media_type = detect(&content, Some(&name)).ok().map(|found| found.media_type().to_owned());
    Some(Attachment { name, media_type, bytes: content })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write as _};

    fn envelope(stream: &str, content: &[u8]) -> Vec<u8> {
        let mut compound = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        compound.create_stream(format!("/{stream}")).unwrap().write_all(content).unwrap();
        compound.into_inner().into_inner()
    }

    fn native() -> Vec<u8> {
        let mut native = vec![0, 0, 0, 0, 2, 0];
        native.extend(b"note.txt\0C:\\note.txt\0");
        native.extend([0, 0, 3, 0, 5, 0, 0, 0]);
        native.extend(b"C:\\t\0");
        native.extend([5, 0, 0, 0]);
        native.extend(b"hello");
        native
    }

    #[test]
    fn an_object_is_taken_out_of_its_envelope() {
        let Content::File(file) = unwrapped("oleObject1", &envelope("\u{1}Ole10Native", &native())) else {
            panic!("a file is expected");
        };
        assert_eq!((file.name.as_str(), file.bytes.as_slice()), ("note.txt", &b"hello"[..]));
        assert_eq!(file.media_type.as_deref(), Some("text/plain"));
        let Content::File(file) = unwrapped("oleObject1", &envelope("CONTENTS", b"%PDF-1.4\n%%EOF")) else {
            panic!("a file is expected");
        };
        assert_eq!(file.name, "oleObject1.pdf");
    }

    #[test]
    fn what_is_damaged_is_told_from_what_is_no_file() {
        let cut_off = &native()[..30];
        assert_eq!(unwrapped("o", &envelope("\u{1}Ole10Native", cut_off)), Content::Damaged);
        assert_eq!(unwrapped("o", &SIGNATURE), Content::Damaged);
        assert_eq!(unwrapped("o", &envelope("Equation Native", b"x")), Content::Nothing);
    }
}
