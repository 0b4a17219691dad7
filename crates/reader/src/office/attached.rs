//! Files that were embedded into an Office file.

use crate::{
    model::Attachment,
    package::{Package, safe_name},
};
use std::io::{Cursor, Read as _};

/// Everything embedded below `folder` (e.g. `word/embeddings/`), unwrapped where Office put an envelope around it. One
/// that cannot be unpacked is named in the warnings.
pub(super) fn embedded_files(package: &Package<'_>, folders: &[&str], warnings: &mut Vec<String>) -> Vec<Attachment> {
    let mut attachments = Vec::new();
    for folder in folders {
        for name in package.names_below(folder) {
            if name.ends_with('/') || name.contains("/_rels/") {
                continue;
            }
            match package.read(name) {
                Ok(Some(bytes)) => attachments.push(unwrapped(file_name(name), bytes)),
                Ok(None) => {}
                Err(error) => warnings.push(format!("the embedded file \"{name}\" could not be read: {error}")),
            }
        }
    }
    attachments
}

/// The pictures of a file that has nothing else, with a warning that says so.
pub(super) fn pictures(package: &Package<'_>, folder: &str, warnings: &mut Vec<String>) -> Vec<Attachment> {
    let is_picture = |name: &&str| {
        let extension = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        matches!(extension.as_str(), "png" | "jpg" | "jpeg" | "tif" | "tiff" | "bmp" | "gif" | "webp")
    };
    let names: Vec<&str> = package.names_below(folder).into_iter().filter(is_picture).collect();
    if names.is_empty() {
        return Vec::new();
    }
    warnings.push("the file holds no text, only pictures; they are given as attachments".to_owned());
    let read = |name: &str| package.read(name).ok().flatten().map(|bytes| attachment(file_name(name), bytes));
    names.into_iter().filter_map(read).collect()
}

fn file_name(part: &str) -> String {
    let last = part.rsplit('/').next().unwrap_or(part);
    safe_name(last).unwrap_or_else(|| "embedded".to_owned())
}

fn attachment(name: String, bytes: Vec<u8>) -> Attachment {
    let media_type = crate::detect::detect(&bytes, Some(&name)).ok().map(|found| found.media_type().to_owned());
    Attachment { name, media_type, bytes }
}

/// An OLE object is a compound file around the real one; without an envelope, the bytes are the file.
fn unwrapped(name: String, bytes: Vec<u8>) -> Attachment {
    let Ok(mut compound) = cfb::CompoundFile::open(Cursor::new(bytes.as_slice())) else {
        return attachment(name, bytes);
    };
    let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem).to_owned();
    let mut stream = |path: &str| {
        let mut content = Vec::new();
        let mut stream = compound.open_stream(path).ok()?;
        // A stream cannot be longer than the file, whatever its entry says.
        stream.by_ref().take(bytes.len() as u64).read_to_end(&mut content).ok()?;
        Some(content)
    };
    if let Some(native) = stream("/\u{1}Ole10Native")
        && let Some((original, content)) = native_content(&native)
    {
        let original = original.rsplit(['/', '\\']).next().and_then(safe_name);
        return attachment(original.unwrap_or(name), content);
    }
    for path in ["/Package", "/CONTENTS", "/EmbeddedOdf"] {
        if let Some(content) = stream(path)
            && let Ok(found) = crate::detect::detect(&content, None)
        {
            return attachment(format!("{stem}.{}", found.extension()), content);
        }
    }
    let extension = crate::detect::detect(&bytes, None).map_or("bin", crate::model::FileType::extension);
    attachment(format!("{stem}.{extension}"), bytes)
}

/// Size, flags, label, original path, flags, temporary path, size of the content, content.
fn native_content(native: &[u8]) -> Option<(String, Vec<u8>)> {
    let mut rest = native.get(6..)?;
    let mut text = |after: usize| -> Option<String> {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let found = encoding_rs::WINDOWS_1252.decode_without_bom_handling(rest.get(..end)?).0.into_owned();
        rest = rest.get(end + 1 + after..)?;
        Some(found)
    };
    let label = text(0)?;
    let _original_path = text(8)?;
    let _temporary_path = text(0)?;
    let size = u32::from_le_bytes(rest.get(..4)?.try_into().ok()?) as usize;
    Some((label, rest.get(4..size.checked_add(4)?)?.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn an_object_is_taken_out_of_its_envelope() {
        let mut native = vec![0, 0, 0, 0, 2, 0];
        native.extend(b"note.txt\0C:\\note.txt\0");
        native.extend([0, 0, 3, 0, 5, 0, 0, 0]);
        native.extend(b"C:\\t\0");
        native.extend([5, 0, 0, 0]);
        native.extend(b"hello");
        let mut compound = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        compound.create_stream("/\u{1}Ole10Native").unwrap().write_all(&native).unwrap();
        let attachment = unwrapped("oleObject1.bin".to_owned(), compound.into_inner().into_inner());
        assert_eq!((attachment.name.as_str(), attachment.bytes.as_slice()), ("note.txt", &b"hello"[..]));
        assert_eq!(attachment.media_type.as_deref(), Some("text/plain"));
    }
}
