//! The warning about a store that others on the machine can read.
//!
//! What Bindery makes is for its owner alone. A store may be older than that, or its folder may have been opened since, so
//! commands that work in a store look, and say what to do. Commands that only look say nothing: they run often, and for
//! whoever may read the store.

use super::places::{BlobPlace, StorePlace};
use crate::output;
use bindery_files::private::wider_than_owner;
use std::path::Path;

/// The permissions of those who are neither the owner nor in the group.
const EVERYBODY: u32 = 0o007;

/// Says which folder is open to others, and how to close it.
pub(super) fn warn(store: &StorePlace, blobs: &BlobPlace) {
    if let StorePlace::Folder(folder) = store {
        // A folder that others can enter is no harm as long as nothing in it can be read.
        let is_open = |path: &Path| wider_than_owner(path).is_some();
        let content_is_open = is_open(&StorePlace::database(folder)) || blobs_in(folder, blobs).is_some_and(is_open);
        if let Some(mode) = wider_than_owner(folder).filter(|_| content_is_open) {
            note(folder, mode, "store", "go-rwx");
            return;
        }
        if blobs_in(folder, blobs).is_some() {
            return;
        }
    }
    // Blobs in a place of their own may be shared by a group, and are by nobody else.
    let shared = blobs.folder().and_then(|folder| Some((folder, wider_than_owner(folder)?)));
    if let Some((folder, mode)) = shared.filter(|(_, mode)| mode & EVERYBODY != 0) {
        note(folder, mode, "blobs", "o-rwx");
    }
}

/// The folder of the blobs, if it is inside of that of the store.
fn blobs_in<'a>(folder: &Path, blobs: &'a BlobPlace) -> Option<&'a Path> {
    blobs.folder().filter(|blobs| blobs.starts_with(folder))
}

fn note(folder: &Path, mode: u32, what: &str, closed: &str) {
    let folder = folder.display();
    output::note(format!(
        "warning: other users of this machine can read the {what} in {folder} (mode {mode:04o}); \
         `chmod -R {closed} {folder}` closes it to them"
    ));
}
