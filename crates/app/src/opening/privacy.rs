//! The warning about a store that others on the machine can read.
//!
//! What Bindery makes is for its owner alone. A store may be older than that, or its folder may have been opened since, so
//! commands that work in a store look, and say what to do. Commands that only look say nothing: they run often, and for
//! whoever may read the store.

use super::places::{BlobPlace, StorePlace};
use crate::notice::{Kept, Notice};
use bindery_files::private::wider_than_owner;
use std::path::Path;

/// The permissions of those who are neither the owner nor in the group.
const EVERYBODY: u32 = 0o007;

/// Which folder is open to others, if one is.
pub(super) fn check(store: &StorePlace, blobs: &BlobPlace) -> Option<Notice> {
    if let StorePlace::Folder(folder) = store {
        // A folder that others can enter is no harm as long as nothing in it can be read.
        let is_open = |path: &Path| wider_than_owner(path).is_some();
        let content_is_open = is_open(&StorePlace::database(folder)) || blobs_in(folder, blobs).is_some_and(is_open);
        if let Some(mode) = wider_than_owner(folder).filter(|_| content_is_open) {
            return Some(Notice::ReadableByOthers { what: Kept::Store, folder: folder.clone(), mode });
        }
        if blobs_in(folder, blobs).is_some() {
            return None;
        }
    }
    // Blobs in a place of their own may be shared by a group, and are by nobody else.
    let shared = blobs.folder().and_then(|folder| Some((folder, wider_than_owner(folder)?)));
    let (folder, mode) = shared.filter(|(_, mode)| mode & EVERYBODY != 0)?;
    Some(Notice::ReadableByOthers { what: Kept::Blobs, folder: folder.to_owned(), mode })
}

/// The folder of the blobs, if it is inside of that of the store.
fn blobs_in<'a>(folder: &Path, blobs: &'a BlobPlace) -> Option<&'a Path> {
    blobs.folder().filter(|blobs| blobs.starts_with(folder))
}
