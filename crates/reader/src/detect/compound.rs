//! Compound files (OLE2), as Office wrote them until 2003, and Outlook and encryption still do.

use crate::{
    error::{ReadError, ReadResult},
    model::FileType,
};
use std::io::Cursor;

pub(super) const SIGNATURE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

pub(super) fn detect(bytes: &[u8]) -> ReadResult<FileType> {
    let names = match stream_names(bytes) {
        Some(names) if !names.is_empty() => names,
        _ => names_in_bytes(bytes),
    };
    let has = |name: &str| names.iter().any(|found| found.eq_ignore_ascii_case(name));
    if has("EncryptedPackage") {
        return Err(ReadError::NeedsPassword);
    }
    let by_stream = [
        ("WordDocument", FileType::Doc),
        ("Workbook", FileType::Xls),
        ("Book", FileType::Xls),
        ("PowerPoint Document", FileType::Ppt),
        ("PP97_DUALSTORAGE", FileType::Ppt),
        ("__properties_version1.0", FileType::Msg),
    ];
    if let Some((_, found)) = by_stream.into_iter().find(|(stream, _)| has(stream)) {
        return Ok(found);
    }
    let others = [
        ("VisioDocument", "a Visio drawing"),
        ("Quill", "a Publisher document"),
        ("MatOST", "a Works document"),
        ("SpellingLog", "a Works document"),
        ("WksSSWorkBook", "a Works spreadsheet"),
        ("Contents", "a compound file of an unknown program"),
        ("!_StringPool", "a Windows installer"),
        ("\u{1}Ole10Native", "an embedded object of Office"),
    ];
    let looks_like = others.into_iter().find(|(stream, _)| has(stream)).map(|(_, what)| what);
    let looks_like = looks_like.unwrap_or("a compound file of an unknown program").to_owned();
    Err(ReadError::UnknownType { looks_like: Some(looks_like) })
}

/// The streams and storages at the top.
fn stream_names(bytes: &[u8]) -> Option<Vec<String>> {
    let file = cfb::CompoundFile::open(Cursor::new(bytes)).ok()?;
    Some(file.read_root_storage().take(1000).map(|entry| entry.name().to_owned()).collect())
}

/// A damaged file still holds the names of its streams somewhere, in UTF-16.
fn names_in_bytes(bytes: &[u8]) -> Vec<String> {
    let names =
        ["EncryptedPackage", "WordDocument", "Workbook", "PowerPoint Document", "__properties_version1.0", "Book"];
    let found = names.into_iter().filter(|name| {
        let wide: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        // Entries of the directory are 128 bytes each and begin with the name.
        let begins = |entry: &[u8]| entry.get(..wide.len()).is_some_and(|head| head.eq_ignore_ascii_case(&wide));
        bytes.chunks_exact(128).any(begins)
    });
    found.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compound(stream: &str) -> Vec<u8> {
        let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        file.create_stream(format!("/{stream}")).unwrap();
        file.into_inner().into_inner()
    }

    #[test]
    fn streams_tell_the_program() {
        assert_eq!(detect(&compound("WordDocument")), Ok(FileType::Doc));
        assert_eq!(detect(&compound("Workbook")), Ok(FileType::Xls));
        assert_eq!(detect(&compound("PowerPoint Document")), Ok(FileType::Ppt));
        assert_eq!(detect(&compound("__properties_version1.0")), Ok(FileType::Msg));
        let visio = detect(&compound("VisioDocument")).unwrap_err();
        assert_eq!(visio.to_string(), "this is a Visio drawing, which cannot be read");
    }

    #[test]
    fn an_encrypted_office_file_needs_a_password() {
        let error = detect(&compound("EncryptedPackage")).unwrap_err();
        assert_eq!(error.to_string(), "the file is encrypted and needs a password");
    }

    #[test]
    fn a_damaged_file_is_told_by_its_directory() {
        let mut bytes = compound("WordDocument");
        bytes[0x1e] = 0xff;
        assert_eq!(detect(&bytes), Ok(FileType::Doc));
    }
}
