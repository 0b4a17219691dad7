//! Files that are embedded in compound files.

use super::{
    compound::{Compound, ROOT, SIGNATURE},
    rtf,
};
use crate::{model::Attachment, options::Limits};

/// The files in the storages below `pool`.
pub(crate) fn attachments(file: &Compound, pool: &str, limits: &Limits) -> Vec<Attachment> {
    let Some(pool) = file.child(ROOT, pool) else { return Vec::new() };
    let mut attachments: Vec<Attachment> = Vec::new();
    let mut total = 0u64;
    for (index, storage) in file.children(pool).iter().enumerate().take(limits.archive_entries) {
        let bytes: u64 = file.children(*storage).iter().map(|child| file.size(*child)).sum();
        total = total.saturating_add(bytes);
        if total > limits.unpacked_bytes {
            break;
        }
        attachments.extend(attachment(file, *storage, index + 1));
    }
    attachments
}

/// A file whose whole is one object.
pub(crate) fn from_compound(bytes: &[u8], number: usize) -> Option<Attachment> {
    let file = Compound::open(bytes, "ole").ok()?;
    match attachment(&file, ROOT, number) {
        // What was copied out whole is the file itself.
        Some(copied) if copied.bytes.starts_with(&SIGNATURE) => Some(Attachment { bytes: bytes.to_vec(), ..copied }),
        other => other,
    }
}

fn attachment(file: &Compound, storage: usize, number: usize) -> Option<Attachment> {
    if let Some(native) = file.child(storage, "\u{1}Ole10Native") {
        // Its size, then what RTF keeps the same way.
        return rtf::package(file.stream(native).get(4..)?);
    }
    if let Some(package) = file.child(storage, "Package") {
        return Some(Attachment { name: format!("object{number}"), media_type: None, bytes: file.stream(package) });
    }
    let has = |name| file.child(storage, name).is_some();
    let extension = if has("WordDocument") {
        "doc"
    } else if has("Workbook") || has("Book") {
        "xls"
    } else if has("PowerPoint Document") {
        "ppt"
    } else if has("CONTENTS") {
        let bytes = file.stream(file.child(storage, "CONTENTS")?);
        let pdf = bytes.starts_with(b"%PDF");
        return pdf.then(|| Attachment {
            name: format!("object{number}.pdf"),
            media_type: Some("application/pdf".to_owned()),
            bytes,
        });
    } else {
        return None;
    };
    let bytes = file.copied_out(storage, |_, _, bytes| bytes)?;
    Some(Attachment { name: format!("object{number}.{extension}"), media_type: None, bytes })
}
