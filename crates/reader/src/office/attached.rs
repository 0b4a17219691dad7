//! Files that were embedded into an Office file.

use crate::{
    legacy::objects::{self, Content},
    model::Attachment,
    package::{Package, safe_name},
};

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
                Ok(Some(bytes)) => match unwrapped(file_name(name), bytes) {
                    Some(attachment) => attachments.push(attachment),
                    None => warnings.push(format!("the embedded file \"{name}\" is damaged, and was left out")),
                },
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

/// An OLE object is a compound file around the real one; without an envelope, the bytes are the file. None if it is
/// damaged.
fn unwrapped(name: String, bytes: Vec<u8>) -> Option<Attachment> {
    if !objects::is_envelope(&bytes) {
        return Some(attachment(name, bytes));
    }
    let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
    match objects::unwrapped(stem, &bytes) {
        Content::File(found) => Some(found),
        Content::Damaged => None,
        Content::Nothing => Some(attachment(format!("{stem}.bin"), bytes)),
    }
}
