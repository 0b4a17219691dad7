//! The ids that documents are known by outside, from the copy that comes in to the JSON that goes out.

use bindery_core::ContentHash;
use bindery_engine::intake::IntakeFile;
use bindery_processors::media::media_type;
use bindery_store::blobs::{BlobError, Blobs, Stored};
use std::path::Path;

/// The id of a document: the same for the same file at the same place, in the form of a UUID.
///
/// It has to be: who asks twice, because the first answer was lost, must not have the file worked on twice.
pub fn id_of(identity: &str, collection: &str) -> String {
    let hash = ContentHash::of(format!("{identity}\n{collection}").as_bytes());
    let mut bytes = *hash.as_bytes();
    // Version 8, "made in a way of one's own", and the usual variant.
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let digits = ContentHash::from_bytes(bytes).to_string();
    let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..32]];
    parts.join("-")
}

/// The document that an object is, if its key is one that [`file_processing`](super::file_processing) gives:
/// `{document_id}/{name}` below the prefix for what comes in.
pub fn of_key(key: &str) -> Option<&str> {
    let (id, name) = key.split_once('/')?;
    let is_id = id.len() == 36
        && id.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        });
    (is_id && !name.is_empty() && !name.contains('/')).then_some(id)
}

/// Takes the copy of a document in, as it is: it is one document, whatever is inside.
pub async fn take_in(blobs: &dyn Blobs, path: &Path, document: &str) -> Result<IntakeFile, BlobError> {
    let stored = blobs.put_file(path).await?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    Ok(named(stored, &name, document))
}

/// The same for a copy that is in memory.
pub async fn take_in_bytes(
    blobs: &dyn Blobs,
    bytes: Vec<u8>,
    name: &str,
    document: &str,
) -> Result<IntakeFile, BlobError> {
    Ok(named(blobs.put(bytes).await?, name, document))
}

fn named(stored: Stored, name: &str, document: &str) -> IntakeFile {
    let name: String = name.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect();
    let media_type = media_type(&name).to_owned();
    IntakeFile { name, content: stored.hash, size: stored.size, media_type, key: Some(document.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_known_again_in_the_key() {
        let id = id_of("s3://papers/a.pdf#9dd4", "letters");
        assert_eq!(id, id_of("s3://papers/a.pdf#9dd4", "letters"));
        assert_ne!(id, id_of("s3://papers/a.pdf#9dd4", "invoices"));
        assert_eq!((id.len(), &id[14..15]), (36, "8"));
        assert_eq!(of_key(&format!("{id}/a b.pdf")), Some(id.as_str()));
        for other in ["a.pdf", "2026/a.pdf", &id, &format!("{id}/"), &format!("{id}/more/a.pdf")] {
            assert_eq!(of_key(other), None, "{other}");
        }
    }
}
