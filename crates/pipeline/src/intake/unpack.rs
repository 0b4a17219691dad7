//! Files inside files: what is in an archive is taken in instead of it, what is attached to a mail beside it.
//!
//! Nothing is trusted: nesting, number and size are limited, and a name never becomes a path. An archive that cannot be
//! unpacked is taken in as it is, so that whoever reads it says what is wrong with it.

use bindery_reader::{Attachment, Limits, ReadOptions, Reader, detect, model::FileType};

/// A file that was found inside of one that was named.
#[derive(Debug)]
pub(super) struct Inside {
    /// With the names of what it was in before it: `papers.zip/2024/invoice.pdf`.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Unpacked {
    /// The file itself is nothing but a wrapper, and all that is in it was found.
    pub(super) replaces: bool,
    pub(super) files: Vec<Inside>,
    /// What was left out, and why.
    pub(super) notes: Vec<String>,
}

/// How many bytes, from its beginning, tell whether a file may have others inside.
pub(super) const TELLING_BYTES: usize = 1024;

/// Whether it is worth reading the whole file to look inside: archives, mails, and what is built like them.
pub(super) fn may_hold_files(beginning: &[u8], name: &str) -> bool {
    let magic: [&[u8]; 3] = [b"PK\x03\x04", b"\x1f\x8b", b"\xd0\xcf\x11\xe0"];
    let is_tar = beginning.get(257..262) == Some(b"ustar");
    let is_mail = name.to_ascii_lowercase().ends_with(".eml")
        || beginning.split(|byte| *byte == b'\n').take(3).any(|line| {
            let line = line.to_ascii_lowercase();
            [&b"received:"[..], b"return-path:", b"delivered-to:", b"mime-version:"]
                .iter()
                .any(|header| line.starts_with(header))
        });
    magic.iter().any(|magic| beginning.starts_with(magic)) || is_tar || is_mail
}

/// Looks inside a file, and inside what is found.
pub(super) fn unpack(name: &str, bytes: &[u8]) -> Unpacked {
    let mut unpacking = Unpacking { limits: Limits::default(), taken: 0, found: Unpacked::default() };
    unpacking.found.replaces = unpacking.look(name, bytes, 0);
    unpacking.found
}

struct Unpacking {
    limits: Limits,
    taken: u64,
    found: Unpacked,
}

impl Unpacking {
    /// True if what was found stands for the file.
    fn look(&mut self, name: &str, bytes: &[u8], depth: usize) -> bool {
        let Ok(kind) = detect(bytes, Some(name)) else { return false };
        let is_archive = matches!(kind, FileType::Zip | FileType::Tar | FileType::Gzip);
        if !is_archive && !matches!(kind, FileType::Eml | FileType::Msg) {
            return false;
        }
        let reader = Reader::new(ReadOptions::default(), None);
        let opened = reader.open(bytes.to_vec(), Some(name));
        let inside = match opened.and_then(|file| Ok((file.about().warnings.clone(), file.attachments()?))) {
            Ok((warnings, inside)) => {
                self.found.notes.extend(warnings.into_iter().map(|warning| format!("{name}: {warning}")));
                inside
            }
            Err(error) => {
                self.found.notes.push(format!("{name} was not unpacked: {error}"));
                return false;
            }
        };
        if inside.is_empty() {
            return false;
        }
        if depth >= self.limits.nesting {
            let most = self.limits.nesting;
            self.found.notes.push(format!("{name} was not unpacked: files are nested more than {most} deep"));
            return false;
        }
        for Attachment { name: inner, bytes, .. } in inside {
            self.take(format!("{name}/{inner}"), bytes, depth);
        }
        is_archive
    }

    fn take(&mut self, name: String, bytes: Vec<u8>, depth: usize) {
        self.taken += bytes.len() as u64;
        if self.taken > self.limits.unpacked_bytes || self.found.files.len() >= self.limits.archive_entries {
            self.found.notes.push(format!("skipped {name}: what the file holds is more than may be unpacked"));
            return;
        }
        if !self.look(&name, &bytes, depth + 1) {
            self.found.files.push(Inside { name, bytes });
        }
    }
}
