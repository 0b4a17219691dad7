//! Files inside files: what is in an archive is taken in instead of it, what is attached to a mail beside it.
//!
//! Nothing is trusted: nesting, number and size are limited, and a name never becomes a path. An archive that cannot be
//! unpacked is taken in as it is, so that whoever reads it says what is wrong with it.

use bindery_reader::{
    Reader, Source,
    archive::UnpackBudget,
    error::ReadResult,
    model::{AttachmentName, FileType},
};
use std::sync::Arc;

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

/// Whether it is worth looking inside: archives, mails, and what is built like them.
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
pub(super) fn unpack(reader: &Reader, name: &str, source: Source) -> Unpacked {
    let budget = UnpackBudget::new(&reader.options().limits);
    let mut unpacking = Unpacking { reader, budget, found: Unpacked::default() };
    unpacking.found.replaces = unpacking.look(name, source, 0);
    unpacking.found
}

struct Unpacking<'r> {
    reader: &'r Reader,
    budget: UnpackBudget,
    found: Unpacked,
}

impl Unpacking<'_> {
    /// True if what was found stands for the file.
    fn look(&mut self, name: &str, source: Source, depth: usize) -> bool {
        let Ok(kind) = self.reader.detect(source.clone(), Some(name)) else { return false };
        let is_archive = matches!(kind, FileType::Zip | FileType::Tar | FileType::Gzip);
        if !is_archive && !matches!(kind, FileType::Eml | FileType::Msg) {
            return false;
        }
        let opened = self.reader.open_source(source, Some(name));
        let (file, inside) = match opened.and_then(|file| file.attachment_names().map(|inside| (file, inside))) {
            Ok(opened) => opened,
            Err(error) => {
                self.budget.note_failure(&error);
                self.found.notes.push(format!("{name} was not unpacked: {error}"));
                return false;
            }
        };
        self.found.notes.extend(file.info().warnings.iter().map(|warning| format!("{name}: {warning}")));
        if inside.is_empty() {
            return false;
        }
        let most = self.reader.options().limits.nesting;
        if depth >= most {
            self.found.notes.push(format!("{name} was not unpacked: files are nested more than {most} deep"));
            return false;
        }
        for (index, AttachmentName { name: inner, .. }) in inside.into_iter().enumerate() {
            let inner = format!("{name}/{inner}");
            let bytes = file.attachment(index).map(Option::unwrap_or_default);
            if let Err(error) = bytes.and_then(|bytes| self.take(&inner, bytes, depth)) {
                self.found.notes.push(format!("skipped {inner}: {error}"));
            }
        }
        is_archive
    }

    fn take(&mut self, name: &str, bytes: Vec<u8>, depth: usize) -> ReadResult<()> {
        self.budget.take(bytes.len() as u64)?;
        let bytes = Arc::new(bytes);
        let beginning = &bytes[..bytes.len().min(TELLING_BYTES)];
        let is_replaced =
            may_hold_files(beginning, name) && self.look(name, Source::Bytes(Arc::clone(&bytes)), depth + 1);
        if !is_replaced {
            self.found.files.push(Inside { name: name.to_owned(), bytes: Arc::unwrap_or_clone(bytes) });
        }
        Ok(())
    }
}
