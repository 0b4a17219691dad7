//! A fetched file as text.

use super::{NoText, Why};
use crate::{
    client::{Arrived, address},
    html::Html,
};
use bindery_core::ContentHash;
use bindery_reader::{
    Lanes, Page, ReadError, Reader,
    model::{FileType, OutlineEntry, ReadBy},
    render,
};
use serde::Serialize;
use std::ops::ControlFlow;

/// A page with more characters has broken fonts, and is cut.
const LONGEST_PAGE: usize = 200_000;

/// A page of a site that asks for a password and says more than this has something to read beside the form.
const SHORT_PAGE: usize = 3_000;

/// The text of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DocumentText {
    /// Where it was found at last.
    pub url: String,
    /// `pdf`, `docx` …: what it is by its content.
    #[serde(rename = "type")]
    pub file_type: &'static str,
    pub bytes: u64,
    pub content_sha256: String,
    pub page_count: u32,
    pub pages_by_ocr: u32,
    /// What could not be read of it, one sentence each.
    pub warnings: Vec<String>,
    /// Some page has to be read from its picture, and what that needs is not installed.
    #[serde(skip)]
    pub lacks_ocr: bool,
    #[serde(skip)]
    pub text: String,
}

impl DocumentText {
    /// In characters.
    pub fn length(&self) -> usize {
        self.text.chars().count()
    }
}

/// What stands above each page of a file that has pages.
pub fn page_marker(number: usize) -> String {
    format!("--- PAGE {number} ---")
}

/// The page that a marker stands above.
fn marked_page(line: &str) -> Option<usize> {
    line.trim_end().strip_prefix("--- PAGE ")?.strip_suffix(" ---")?.parse().ok()
}

/// Pages as one text, each below its marker; the number 0 has none. The inverse of [`marked_pages`].
pub fn with_markers<T: AsRef<str>>(pages: impl IntoIterator<Item = (usize, T)>) -> String {
    let mut text = String::new();
    for (number, page) in pages {
        if number > 0 {
            text.extend([&page_marker(number), "\n"]);
        }
        text.extend([page.as_ref(), "\n\n"]);
    }
    text
}

/// A text taken apart at its [`page_marker`]s: each page with its number. What stands above the first marker, and a text
/// without any, has the number 0. Pages without words are left out.
pub fn marked_pages(text: &str) -> Vec<(usize, &str)> {
    let mut pages = Vec::new();
    let (mut number, mut start, mut at) = (0, 0, 0);
    let mut end = |number: usize, start: usize, end: usize| {
        let page = text.get(start..end).unwrap_or_default().trim_matches(['\n', '\r', '\u{c}']);
        if !page.trim().is_empty() {
            pages.push((number, page));
        }
    };
    for line in text.split_inclusive('\n') {
        if let Some(next) = marked_page(line) {
            end(number, start, at);
            (number, start) = (next, at + line.len());
        }
        at += line.len();
    }
    end(number, start, text.len());
    pages
}

pub(crate) fn read(reader: &Reader, asked: &str, page: Arrived) -> Result<DocumentText, NoText> {
    read_seeing(reader, asked, page, |_| ()).map(|(text, _)| text)
}

/// Reads a file and shows each page as it is read; with what the file says of its parts.
pub(crate) fn read_seeing(
    reader: &Reader,
    asked: &str,
    page: Arrived,
    mut see: impl FnMut(Page),
) -> Result<(DocumentText, Vec<OutlineEntry>), NoText> {
    let shown = address::redact(asked);
    let (bytes, content_sha256) = (page.bytes.len() as u64, ContentHash::of(&page.bytes).to_string());
    if asks_for_a_password(&page) {
        let message = format!("{shown} shows a login page in place of the document");
        return Err(NoText::new(Why::Login, message));
    }
    let file = reader.open(page.bytes, Some(file_name(&page.url))).map_err(|error| NoText::unread(&shown, &error))?;
    let about = file.info();
    if matches!(about.file_type, FileType::Zip | FileType::Tar | FileType::Gzip) {
        let message = format!("{shown} is an archive, and files inside of archives are not read");
        return Err(NoText::new(Why::Unreadable, message));
    }
    let has_pages = about.page_count > 1 || about.file_type == FileType::Pdf;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (mut text, mut pages_by_ocr, mut warnings) = (String::new(), 0, about.warnings.clone());
    let (mut fault, mut lacks_ocr) = (None, false);
    reader.read_pages(&*file, 0..about.page_count, &Lanes::new(cores.min(4)), |read| {
        if let Some(error) = read.error {
            lacks_ocr |= matches!(error, ReadError::NoOcr { .. });
            warnings.push(format!("page {}: {error}", read.page.number));
            fault.get_or_insert(error);
        }
        pages_by_ocr += u32::from(read.page.read_by == ReadBy::Ocr);
        let said = render::text(&read.page);
        let said = said.trim_end();
        if has_pages {
            text.push_str(&page_marker(read.page.number));
            text.push('\n');
        }
        match said.char_indices().nth(LONGEST_PAGE) {
            Some((end, _)) => {
                text.push_str(&said[..end]);
                warnings.push(format!("page {}: only the first {LONGEST_PAGE} characters are kept", read.page.number));
            }
            None => text.push_str(said),
        }
        text.push_str("\n\n");
        see(read.page);
        ControlFlow::Continue(())
    });
    let page_count = u32::try_from(about.page_count).unwrap_or(u32::MAX);
    let has_words = text.lines().any(|line| !line.trim().is_empty() && marked_page(line).is_none());
    match fault {
        _ if has_words => {}
        Some(error) => return Err(NoText::unread(&shown, &error)),
        None => {
            let pages = if page_count == 1 { "1 page".to_owned() } else { format!("{page_count} pages") };
            let message = format!("{shown} has {pages} and no text on them");
            return Err(NoText::new(Why::Empty, message));
        }
    }
    let text = format!("{}\n", text.trim_end());
    let file_type = about.file_type.name();
    let url = address::redact(&page.url);
    let text =
        DocumentText { url, file_type, bytes, content_sha256, page_count, pages_by_ocr, warnings, lacks_ocr, text };
    Ok((text, about.outline.clone()))
}

/// The last part of an address, without what stands behind a question mark.
fn file_name(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default()
}

fn asks_for_a_password(page: &Arrived) -> bool {
    let begins = page.bytes.trim_ascii_start();
    if !begins.starts_with(b"<") {
        return false;
    }
    let text = String::from_utf8_lossy(&page.bytes);
    let html = Html::parse(&text);
    html.first("input[type=password]").is_some() && html.root().text().chars().count() < SHORT_PAGE
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_reader::ReadOptions;

    fn page(bytes: &[u8]) -> Arrived {
        Arrived { url: "https://example.com/a/b.pdf?x=1".to_owned(), bytes: bytes.to_vec(), ..Arrived::default() }
    }

    fn read_it(bytes: &[u8]) -> Result<DocumentText, NoText> {
        let reader = Reader::new(ReadOptions::default(), None);
        read(&reader, "https://example.com/a/b.pdf?x=1", page(bytes))
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let why = |bytes: &[u8]| read_it(bytes).unwrap_err().why;
        assert_eq!(why(b""), Why::Empty);
        assert_eq!(why(b"<html><body><form><input type=password></form>"), Why::Login);
        assert_eq!(why(b"%PDF-1.7 nothing else"), Why::Unreadable);
        assert_eq!(why(include_bytes!("../../../../samples/files/encrypted.pdf")), Why::Encrypted);
        let fault = read_it(include_bytes!("../../../../samples/files/encrypted.pdf")).unwrap_err();
        assert_eq!(fault.message, "https://example.com/a/b.pdf?x=1: the file is encrypted and needs a password");
    }

    #[test]
    fn marked_pages_are_found_again() {
        let text =
            format!("Cover\n\n{}\nOne\n\nmore\n\n{}\n\n{}\r\nThree\n", page_marker(1), page_marker(2), page_marker(3));
        assert_eq!(marked_pages(&text), [(0, "Cover"), (1, "One\n\nmore"), (3, "Three")]);
        assert_eq!(marked_pages(&with_markers(marked_pages(&text))), marked_pages(&text));
        assert_eq!(marked_pages("No pages.\n--- PAGE two ---\n"), [(0, "No pages.\n--- PAGE two ---")]);
        assert_eq!(marked_pages(" \n"), []);
    }

    #[test]
    fn pages_are_marked() {
        let read = read_it(include_bytes!("../../../../samples/files/report.pdf")).unwrap();
        assert!(read.text.starts_with("--- PAGE 1 ---\n"), "{}", read.text);
        assert_eq!(read.file_type, "pdf");
        let html = read_it(b"<html><body><h1>Agenda</h1><p>1. Trees</p></body></html>").unwrap();
        assert_eq!(html.text, "Agenda\n\n1. Trees\n");
    }
}
