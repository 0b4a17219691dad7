//! A zip file whose parts are unpacked one at a time, within the limits.

use super::{decode_xml, tree::Tree};
use crate::{
    error::{ReadError, ReadResult, bytes as shown},
    options::Limits,
};
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    fmt,
    io::{Cursor, Read},
};
use zip::{ZipArchive, read::ZipReadOptions, result::ZipError};

/// An opened zip. Names are found whatever their case, with or without a leading slash, as producers disagree on both.
pub struct Package<'a> {
    source: Source<'a>,
    names: Vec<String>,
    by_lower_name: HashMap<String, usize>,
    limits: Limits,
    password: Option<String>,
    unpacked: Cell<u64>,
    warnings: Vec<String>,
}

enum Source<'a> {
    Archive(RefCell<ZipArchive<Cursor<&'a [u8]>>>),
    /// The directory at the end is missing: what stands before the damage was unpacked at once.
    Rescued(Vec<Vec<u8>>),
}

impl fmt::Debug for Package<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Package").field("parts", &self.names.len()).finish_non_exhaustive()
    }
}

impl<'a> Package<'a> {
    /// Opens a zip; `kind` names it in errors, e.g. "docx".
    pub fn open(bytes: &'a [u8], kind: &'static str, limits: &Limits, password: Option<&str>) -> ReadResult<Self> {
        limits.check_file(bytes.len() as u64)?;
        let mut package = Self {
            source: Source::Rescued(Vec::new()),
            names: Vec::new(),
            by_lower_name: HashMap::new(),
            limits: limits.clone(),
            password: password.map(str::to_owned),
            unpacked: Cell::new(0),
            warnings: Vec::new(),
        };
        match ZipArchive::new(Cursor::new(bytes)) {
            Ok(archive) => {
                if archive.len() > limits.archive_entries {
                    let (count, limit) = (archive.len(), limits.archive_entries);
                    return Err(ReadError::too_large(format!("the zip has {count} entries, and the limit is {limit}")));
                }
                let mut archive = archive;
                check_overlap(&mut archive, bytes.len() as u64, kind)?;
                package.names =
                    archive.file_names_raw().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
                package.source = Source::Archive(RefCell::new(archive));
            }
            Err(error) => package.rescue(bytes, kind, &error)?,
        }
        for (index, name) in package.names.iter().enumerate() {
            package.by_lower_name.entry(key(name)).or_insert(index);
        }
        Ok(package)
    }

    /// Parts one after the other from the beginning of the file, as far as they are whole.
    fn rescue(&mut self, bytes: &[u8], kind: &'static str, error: &ZipError) -> ReadResult<()> {
        let mut parts = Vec::new();
        let mut stream = bytes;
        while parts.len() < self.limits.archive_entries {
            let packed_from = stream.len();
            let Ok(Some(mut file)) = zip::read::read_zipfile_from_stream(&mut stream) else { break };
            let Ok(name) = file.name().map(std::borrow::Cow::into_owned) else { break };
            let mut part = Vec::new();
            let whole = self.unpack_into(&mut part, &mut file, &name, packed_from as u64, self.limits.part_bytes);
            drop(file);
            // The part within which the file ends is worth its beginning.
            if whole.is_ok() || !part.is_empty() {
                self.names.push(name);
                parts.push(part);
            }
            if whole.is_err() {
                break;
            }
        }
        if parts.is_empty() {
            return Err(ReadError::damaged(kind, format!("it is not a whole zip file ({error})")));
        }
        let count = parts.len();
        self.warnings.push(format!("the file is cut off or damaged; {count} of its parts could be read"));
        self.source = Source::Rescued(parts);
        Ok(())
    }

    /// What is wrong with the package as a whole.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The names of the parts in a folder, in natural order: `slide2` before `slide10`.
    pub fn names_below(&self, folder: &str) -> Vec<&str> {
        let folder = key(folder);
        let mut names: Vec<&str> = self.names().filter(|name| key(name).starts_with(&folder)).collect();
        names.sort_by_cached_key(|name| (name.len(), key(name)));
        names
    }

    pub fn has(&self, name: &str) -> bool {
        self.by_lower_name.contains_key(&key(name))
    }

    /// The bytes of a part; None if there is no such part.
    pub fn read(&self, name: &str) -> ReadResult<Option<Vec<u8>>> {
        let Some(&index) = self.by_lower_name.get(&key(name)) else { return Ok(None) };
        self.read_at(index).map(Some)
    }

    /// The bytes of the part that is the `index`th of [`names`](Self::names).
    pub fn read_at(&self, index: usize) -> ReadResult<Vec<u8>> {
        self.read_within(index, self.limits.part_bytes)
    }

    /// The same, for a part that may not have more than `most` bytes.
    fn read_within(&self, index: usize, most: u64) -> ReadResult<Vec<u8>> {
        let most = most.min(self.limits.part_bytes);
        let name = self.names.get(index).map_or("", String::as_str);
        let archive = match &self.source {
            Source::Rescued(parts) => return Ok(parts.get(index).cloned().unwrap_or_default()),
            Source::Archive(archive) => archive,
        };
        let mut archive = archive.borrow_mut();
        let password = self.password.as_deref().map(str::as_bytes);
        // A wrong checksum is no reason to throw readable text away: XML that is broken says so itself.
        let options = ZipReadOptions::new().password(password).ignore_crc32(password.is_none());
        let mut file = match archive.by_index_with_options(index, options) {
            Ok(file) => file,
            Err(ZipError::InvalidPassword) => return Err(ReadError::WrongPassword),
            Err(ZipError::UnsupportedArchive(what)) if what == ZipError::PASSWORD_REQUIRED => {
                return Err(ReadError::NeedsPassword);
            }
            Err(ZipError::UnsupportedArchive(what)) => {
                return Err(ReadError::unsupported(format!("the way \"{name}\" is stored in the zip ({what})")));
            }
            Err(error) => return Err(ReadError::damaged("zip", format!("\"{name}\" cannot be read ({error})"))),
        };
        let packed = file.compressed_size();
        let mut bytes = Vec::new();
        self.unpack_into(&mut bytes, &mut file, name, packed, most)?;
        Ok(bytes)
    }

    /// Reads to the end, counting what really comes out.
    fn unpack_into(
        &self,
        bytes: &mut Vec<u8>,
        from: &mut impl Read,
        name: &str,
        packed: u64,
        most: u64,
    ) -> ReadResult<()> {
        let mut chunk = vec![0_u8; 64 << 10];
        loop {
            let count = match from.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) => {
                    return Err(ReadError::damaged("zip", format!("\"{name}\" cannot be unpacked ({error})")));
                }
            };
            bytes.extend_from_slice(chunk.get(..count).unwrap_or_default());
            let size = bytes.len() as u64;
            if size > most {
                return Err(ReadError::too_large(format!("\"{name}\" unpacks to more than {}", shown(most))));
            }
            if size > self.limits.most_unpacked(packed) {
                let ratio = self.limits.unpack_ratio;
                return Err(ReadError::too_large(format!("\"{name}\" unpacks to more than {ratio} times its size")));
            }
            let total = self.unpacked.get().saturating_add(count as u64);
            self.unpacked.set(total);
            if total > self.limits.unpacked_bytes {
                let limit = shown(self.limits.unpacked_bytes);
                return Err(ReadError::too_large(format!("the parts of the file unpack to more than {limit}")));
            }
        }
        Ok(())
    }

    /// A part as a tree of elements; None if there is no such part.
    pub fn tree(&self, name: &str) -> ReadResult<Option<Tree>> {
        let Some(&index) = self.by_lower_name.get(&key(name)) else { return Ok(None) };
        let bytes = self.read_within(index, self.limits.xml_bytes)?;
        Tree::parse(&decode_xml(&bytes), &self.limits).map(Some).map_err(|error| match error {
            ReadError::TooLarge { what } => ReadError::too_large(format!("\"{name}\" is too large: {what}")),
            other => other,
        })
    }

    /// A part that the file can do without: if it cannot be read, one sentence is added to the warnings.
    pub fn tree_or_warn(&self, name: &str, warnings: &mut Vec<String>) -> Option<Tree> {
        match self.tree(name) {
            Ok(tree) => {
                if let Some(damage) = tree.as_ref().and_then(Tree::damage) {
                    warnings.push(format!("\"{name}\" was read only in part: {damage}"));
                }
                tree
            }
            Err(error) => {
                warnings.push(format!("\"{name}\" could not be read: {error}"));
                None
            }
        }
    }
}

/// Entries that lie over each other unpack the same bytes again and again.
fn check_overlap(archive: &mut ZipArchive<Cursor<&[u8]>>, size: u64, kind: &'static str) -> ReadResult<()> {
    let mut packed: u64 = 0;
    for index in 0..archive.len() {
        // One that cannot be found says so when it is read.
        packed = packed.saturating_add(archive.by_index_raw(index).map_or(0, |entry| entry.compressed_size()));
        if packed > size {
            return Err(ReadError::damaged(kind, "its entries lie over each other"));
        }
    }
    Ok(())
}

fn key(name: &str) -> String {
    name.trim_start_matches('/').replace('\\', "/").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use zip::{ZipWriter, write::SimpleFileOptions};

    fn zipped(parts: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in parts {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn open<'a>(bytes: &'a [u8], limits: &Limits) -> ReadResult<Package<'a>> {
        Package::open(bytes, "docx", limits, None)
    }

    #[test]
    fn parts_are_found_whatever_their_case() {
        let bytes = zipped(&[("Word/Document.xml", b"<a/>")]);
        let package = open(&bytes, &Limits::default()).unwrap();
        assert_eq!(package.read("/word/document.XML").unwrap().unwrap(), b"<a/>");
        assert_eq!(package.read("word/other.xml").unwrap(), None);
    }

    #[test]
    fn what_unpacks_counts_and_not_what_is_declared() {
        let bytes = zipped(&[("a", &[0; 5000]), ("b", &[0; 5000])]);
        let small_parts = Limits { part_bytes: 4999, ..Limits::default() };
        let error = open(&bytes, &small_parts).unwrap().read("a").unwrap_err();
        assert_eq!(error.to_string(), "\"a\" unpacks to more than 4999 bytes");

        let small_sum = Limits { unpacked_bytes: 9000, ..Limits::default() };
        let package = open(&bytes, &small_sum).unwrap();
        assert!(package.read("a").is_ok());
        let error = package.read("b").unwrap_err();
        assert_eq!(error.to_string(), "the parts of the file unpack to more than 9000 bytes");

        let few = Limits { archive_entries: 1, ..Limits::default() };
        assert_eq!(open(&bytes, &few).unwrap_err().to_string(), "the zip has 2 entries, and the limit is 1");
    }

    #[test]
    fn a_bomb_is_told_by_its_ratio() {
        let bytes = zipped(&[("bomb", &vec![0; 70 << 20])]);
        let error = open(&bytes, &Limits::default()).unwrap().read("bomb").unwrap_err();
        assert_eq!(error.to_string(), "\"bomb\" unpacks to more than 200 times its size");
    }

    #[test]
    fn a_file_that_is_cut_off_gives_what_is_whole() {
        let bytes = zipped(&[("a.xml", b"<a/>"), ("b.xml", b"<b/>")]);
        let package = open(&bytes[..bytes.len() - 60], &Limits::default()).unwrap();
        assert_eq!(package.read("a.xml").unwrap().unwrap(), b"<a/>");
        assert!(package.warnings()[0].contains("cut off"));

        let error = open(b"PK\x03\x04 nothing", &Limits::default()).unwrap_err();
        assert!(error.to_string().starts_with("the docx file is damaged: it is not a whole zip file"), "{error}");
    }
}
