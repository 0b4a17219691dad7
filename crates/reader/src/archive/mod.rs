//! Archives of other files: zip, tar, gzip, and tar within gzip.
//!
//! An archive has no pages; its members are attachments, each a file of its own. Whoever reads them counts how deep
//! archives lie in archives, by [`Limits::nesting`](crate::Limits). Folders, links and devices are passed over, and no
//! name leads out of the folder that the members are put into.

mod budget;

pub use budget::UnpackBudget;

use crate::{
    converted::ConvertedFile,
    detect::detect,
    error::{ReadError, ReadResult, bytes as shown},
    model::{Attachment, FileType, Metadata},
    options::{Limits, ReadOptions},
    package::{Package, safe_name},
};
use flate2::read::MultiGzDecoder;
use std::io::Read;

/// Reads an archive of a type that was detected.
pub fn open(bytes: &[u8], file_type: FileType, options: &ReadOptions) -> ReadResult<ConvertedFile> {
    options.limits.check_file(bytes.len() as u64)?;
    let mut members = Members::new(&options.limits);
    match file_type {
        FileType::Zip => members.zip(bytes, options)?,
        FileType::Tar => members.tar(bytes)?,
        FileType::Gzip => members.gzip(bytes)?,
        other => return Err(ReadError::unsupported(format!("an archive of type {}", other.name()))),
    }
    let Members { attachments, warnings, .. } = members;
    let file = ConvertedFile::new(file_type, Metadata::default(), Vec::new());
    Ok(file.with_attachments(attachments).with_warnings(warnings))
}

/// The members found so far, and what may still be unpacked.
#[derive(Debug)]
struct Members<'l> {
    limits: &'l Limits,
    left: u64,
    attachments: Vec<Attachment>,
    warnings: Vec<String>,
}

impl<'l> Members<'l> {
    fn new(limits: &'l Limits) -> Self {
        Self { limits, left: limits.unpacked_bytes, attachments: Vec::new(), warnings: Vec::new() }
    }

    fn add(&mut self, name: &str, bytes: Vec<u8>) {
        let name = safe_name(name).unwrap_or_else(|| format!("member {}", self.attachments.len() + 1));
        let media_type = detect(&bytes, Some(&name)).ok().map(|found| found.media_type().to_owned());
        self.attachments.push(Attachment { name, media_type, bytes });
    }

    /// One member that cannot be unpacked does not spoil the others; a limit ends them all.
    fn zip(&mut self, bytes: &[u8], options: &ReadOptions) -> ReadResult<()> {
        let package = Package::open(bytes, "zip", self.limits, options.password.as_deref())?;
        self.warnings.extend_from_slice(package.warnings());
        let names: Vec<String> = package.names().map(str::to_owned).collect();
        for (index, name) in names.iter().enumerate() {
            // What the archiver of macOS adds beside each file says nothing to anybody else.
            if name.ends_with(['/', '\\']) || name.starts_with("__MACOSX/") {
                continue;
            }
            match package.read_at(index) {
                Ok(bytes) => self.add(name, bytes),
                Err(error @ (ReadError::TooLarge { .. } | ReadError::NeedsPassword | ReadError::WrongPassword)) => {
                    return Err(error);
                }
                Err(error) => self.warnings.push(format!("\"{name}\" could not be unpacked: {error}")),
            }
        }
        Ok(())
    }

    fn tar(&mut self, reader: impl Read) -> ReadResult<()> {
        let mut archive = tar::Archive::new(reader);
        let entries = archive.entries().map_err(|error| ReadError::damaged("tar", error.to_string()))?;
        for (count, entry) in entries.enumerate() {
            if count >= self.limits.archive_entries {
                let limit = self.limits.archive_entries;
                return Err(ReadError::too_large(format!("the tar has more than {limit} entries")));
            }
            let mut entry = match entry {
                Ok(entry) => entry,
                // What follows a broken header cannot be found.
                Err(error) if count > 0 => {
                    self.warnings.push(format!("the archive was read only in part: {error}"));
                    return Ok(());
                }
                Err(error) => return Err(ReadError::damaged("tar", error.to_string())),
            };
            if !entry.header().entry_type().is_file() {
                continue;
            }
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            match self.read(&mut entry, &name, "tar") {
                Ok(bytes) => self.add(&name, bytes),
                Err(error @ ReadError::TooLarge { .. }) => return Err(error),
                Err(error) => {
                    self.warnings.push(format!("\"{name}\" could not be unpacked: {error}"));
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// A tar within a gzip is read as it unpacks; anything else is the one member.
    fn gzip(&mut self, bytes: &[u8]) -> ReadResult<()> {
        let mut head = Vec::new();
        let begin = MultiGzDecoder::new(bytes).take(1024).read_to_end(&mut head);
        if head.is_empty()
            && let Err(error) = begin
        {
            return Err(ReadError::damaged("gzip", error.to_string()));
        }
        if detect(&head, None) == Ok(FileType::Tar) {
            // The tar is bounded as a whole: its padding unpacks as well as its members do.
            let most = self.limits.unpacked_bytes.min(self.limits.most_unpacked(bytes.len() as u64));
            let bounded = MultiGzDecoder::new(bytes).take(most.saturating_mul(2));
            return self.tar(bounded);
        }
        let mut decoder = MultiGzDecoder::new(bytes);
        let stored = decoder.header().and_then(|header| header.filename()).map(String::from_utf8_lossy);
        let stored = stored.map(std::borrow::Cow::into_owned);
        let most = self.limits.most_unpacked(bytes.len() as u64);
        let name = stored.as_deref().unwrap_or("the content");
        if most < self.left.min(self.limits.part_bytes) && Self::is_longer(MultiGzDecoder::new(bytes), most) {
            let ratio = self.limits.unpack_ratio;
            return Err(ReadError::too_large(format!("\"{name}\" unpacks to more than {ratio} times its size")));
        }
        let content = self.read(&mut decoder, name, "gzip")?;
        let extension = detect(&content, stored.as_deref()).map_or("bin", FileType::extension);
        self.add(&stored.unwrap_or_else(|| format!("content.{extension}")), content);
        Ok(())
    }

    /// Whether more than this comes out; nothing of it is kept.
    fn is_longer(from: impl Read, most: u64) -> bool {
        let counted = std::io::copy(&mut from.take(most.saturating_add(1)), &mut std::io::sink());
        // What is damaged says so when it is read.
        counted.is_ok_and(|count| count > most)
    }

    /// Reads to the end, as far as both limits allow.
    fn read(&mut self, from: &mut impl Read, name: &str, kind: &'static str) -> ReadResult<Vec<u8>> {
        let most = self.left.min(self.limits.part_bytes);
        let mut bytes = Vec::new();
        from.take(most.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| ReadError::damaged(kind, format!("\"{name}\" cannot be unpacked ({error})")))?;
        if bytes.len() as u64 > most {
            return Err(ReadError::too_large(if most < self.limits.part_bytes {
                format!("the archive unpacks to more than {}", shown(self.limits.unpacked_bytes))
            } else {
                format!("\"{name}\" unpacks to more than {}", shown(most))
            }));
        }
        self.left -= bytes.len() as u64;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write as _;

    fn tarred(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, bytes) in members {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            // The name is set by hand: the builder itself refuses names that lead out.
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            builder.append(&header, *bytes).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn zipped(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn members_become_files_whose_names_lead_nowhere() {
        let bytes = tarred(&[("a/b.txt", b"text"), ("../../etc/passwd", b"x")]);
        for (bytes, file_type) in [(zipped(&bytes), FileType::Gzip), (bytes, FileType::Tar)] {
            let file = open(&bytes, file_type, &ReadOptions::default()).unwrap();
            let names: Vec<&str> = file.attachments.iter().map(|member| member.name.as_str()).collect();
            assert_eq!(names, ["a/b.txt", "etc/passwd"]);
            assert_eq!(file.attachments[0].media_type.as_deref(), Some("text/plain"));
            assert_eq!(file.about.page_count, 0);
        }
    }

    #[test]
    fn a_single_file_in_gzip_is_the_one_member() {
        let file = open(&zipped(b"%PDF-1.7\n"), FileType::Gzip, &ReadOptions::default()).unwrap();
        assert_eq!(file.attachments[0].name, "content.pdf");
    }

    #[test]
    fn what_unpacks_is_bounded() {
        let limits = Limits { unpacked_bytes: 1000, ..Limits::default() };
        let options = ReadOptions { limits, ..ReadOptions::default() };
        let error = open(&zipped(&[b'a'; 5000]), FileType::Gzip, &options).unwrap_err();
        assert_eq!(error.to_string(), "the archive unpacks to more than 1000 bytes");
        let error = open(&tarred(&[("a", &[0; 800]), ("b", &[0; 800])]), FileType::Tar, &options).unwrap_err();
        assert_eq!(error.to_string(), "the archive unpacks to more than 1000 bytes");
    }

    #[test]
    fn a_broken_archive_is_one_sentence() {
        let error = open(b"\x1f\x8b\x08broken", FileType::Gzip, &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().starts_with("the gzip file is damaged: "), "{error}");
    }
}
