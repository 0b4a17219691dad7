//! Pages that were read one by one, put together to one document.
//!
//! A document is complete when its manifest is there and every page that the manifest counts. Until then there is no
//! result, only what it waits for: a page that is missing is always named, never left out.

mod continued;

pub use continued::ContinuedTables;

use crate::split::{Manifest, page_name};
use serde::{Deserialize, Serialize};
use std::{fs, io, path::Path};

/// The name of the document that pages were put together to, beside them.
pub const COMBINED: &str = "combined.json";

/// The name of the words of all pages, beside it.
pub const COMBINED_WORDS: &str = "words.json";

/// The document that everybody downstream reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CombinedDocument {
    pub document_id: String,
    /// What the file was: "pdf", "docx".
    #[serde(rename = "type")]
    pub kind: String,
    pub page_count: usize,
    /// The Markdown of each page, in order.
    pub pages: Vec<String>,
}

/// A page as a consumer of single pages gets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageRecord {
    pub document_id: String,
    /// From 1.
    pub page_number: usize,
    pub content: String,
}

/// The words of a page with their boxes in pixels: the content of `page_NNN.json`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PageWords {
    pub words: Vec<BoxedWord>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoxedWord {
    /// Left, top, right, bottom.
    pub bbox: [i64; 4],
    pub text: String,
}

/// The words of all pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CombinedWords {
    pub document_id: String,
    pub page_count: usize,
    pub pages: Vec<PageWords>,
}

/// What came of putting pages together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Combined<T> {
    Complete(T),
    Waiting(Waiting),
}

/// What a document waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waiting {
    /// How many pages there are is not known yet.
    Manifest,
    /// The numbers of the pages, from 1.
    Pages(Vec<usize>),
}

/// A page's Markdown as it is handed from one step to the next.
pub fn page_markdown(number: usize, text: &str) -> String {
    format!("## Page {number}\n\n{}\n", text.trim_end())
}

/// A page's Markdown within that of its whole file. The mark of the page is a comment: the headings of the file are its own.
pub fn page_of_file(number: usize, text: &str) -> String {
    format!("<!-- Page {number} -->\n\n{}\n", text.trim_end())
}

/// Puts pages together, whatever their order; `page(n)` gives page n, from 1, once it is there.
pub fn combine<T>(
    manifest: &Manifest,
    mut page: impl FnMut(usize) -> io::Result<Option<T>>,
) -> io::Result<Result<Vec<T>, Waiting>> {
    let (mut pages, mut missing) = (Vec::new(), Vec::new());
    for number in 1..=manifest.pages {
        match page(number)? {
            // Behind a gap nothing is kept: the pages are only counted on.
            Some(page) if missing.is_empty() => pages.push(page),
            Some(_) => {}
            None => missing.push(number),
        }
    }
    Ok(if missing.is_empty() { Ok(pages) } else { Err(Waiting::Pages(missing)) })
}

/// Puts the pages `page_NNN.md` of a folder together, by the manifest in another (or the same).
pub fn combine_folder(manifest: &Path, pages: &Path, kind: &str) -> io::Result<Combined<CombinedDocument>> {
    let Some(manifest) = Manifest::read_from(manifest)? else { return Ok(Combined::Waiting(Waiting::Manifest)) };
    let found = combine(&manifest, |number| read(&pages.join(format!("{}.md", page_name(number)))))?;
    Ok(match found {
        Ok(pages) => Combined::Complete(CombinedDocument::new(&manifest.document_id, kind, pages)),
        Err(waiting) => Combined::Waiting(waiting),
    })
}

/// Puts the words `page_NNN.json` of a folder together.
pub fn combine_words(manifest: &Path, pages: &Path) -> io::Result<Combined<CombinedWords>> {
    let Some(manifest) = Manifest::read_from(manifest)? else { return Ok(Combined::Waiting(Waiting::Manifest)) };
    let found = combine(&manifest, |number| {
        let text = read(&pages.join(format!("{}.json", page_name(number))))?;
        text.map(|text| serde_json::from_str(&text).map_err(io::Error::other)).transpose()
    })?;
    Ok(match found {
        Ok(pages) => {
            let (document_id, page_count) = (manifest.document_id, pages.len());
            Combined::Complete(CombinedWords { document_id, page_count, pages })
        }
        Err(waiting) => Combined::Waiting(waiting),
    })
}

fn read(file: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl CombinedDocument {
    pub fn new(document_id: &str, kind: &str, pages: Vec<String>) -> Self {
        Self { document_id: document_id.to_owned(), kind: kind.to_owned(), page_count: pages.len(), pages }
    }

    /// The pages one by one.
    pub fn records(&self) -> impl Iterator<Item = PageRecord> + '_ {
        self.pages.iter().enumerate().map(|(index, content)| PageRecord {
            document_id: self.document_id.clone(),
            page_number: index + 1,
            content: content.clone(),
        })
    }
}

impl std::fmt::Display for Waiting {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Manifest => formatter.write_str("waiting for the manifest"),
            Self::Pages(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                write!(formatter, "waiting for page {}", numbers.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_written_under_its_number() {
        assert_eq!(page_markdown(3, "Text\n\n"), "## Page 3\n\nText\n");
        assert_eq!(page_markdown(1, ""), "## Page 1\n\n\n");
        assert_eq!(page_of_file(3, "Text\n\n"), "<!-- Page 3 -->\n\nText\n");
    }

    #[test]
    fn the_outward_form_has_its_fixed_names() {
        let document = CombinedDocument::new("d1", "pdf", vec!["a".into(), "b".into()]);
        let json = serde_json::to_string(&document).unwrap();
        assert_eq!(json, r#"{"documentId":"d1","type":"pdf","pageCount":2,"pages":["a","b"]}"#);
        let record = serde_json::to_string(&document.records().nth(1).unwrap()).unwrap();
        assert_eq!(record, r#"{"documentId":"d1","pageNumber":2,"content":"b"}"#);
        let words = PageWords { words: vec![BoxedWord { bbox: [1, 2, 3, 4], text: "x".into() }] };
        assert_eq!(serde_json::to_string(&words).unwrap(), r#"{"words":[{"bbox":[1,2,3,4],"text":"x"}]}"#);
    }

    #[test]
    fn every_missing_page_is_named() {
        let manifest = Manifest { document_id: "d".into(), pages: 4 };
        let found = combine(&manifest, |number| Ok((number % 2 == 1).then_some(number))).unwrap();
        assert_eq!(found, Err(Waiting::Pages(vec![2, 4])));
        assert_eq!(found.unwrap_err().to_string(), "waiting for page 2, 4");
    }
}
