//! The text of a document as the chain leaves it, ready to be cut.

use bindery_core::ContentHash;
use bindery_reader::combine::{CombinedDocument, page_markdown};
use serde::Deserialize;
use std::collections::HashSet;

/// A document's text, page by page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentText {
    /// What the file was: "pdf", "docx".
    pub kind: String,
    pub page_count: usize,
    /// Of the JSON: the same text has the same one.
    pub hash: ContentHash,
    pages: Vec<(u32, String)>,
}

/// What stands beside the pages where some could not be read.
#[derive(Debug, Default, Deserialize)]
struct Gaps {
    #[serde(default)]
    missing: Vec<Gap>,
}

#[derive(Debug, Deserialize)]
struct Gap {
    page: u32,
}

impl DocumentText {
    /// Understands `{documentId, type, pageCount, pages[]}`, or says in one sentence what is wrong with it.
    pub fn parse(json: &[u8]) -> Result<Self, String> {
        let expected = |error: serde_json::Error| {
            format!("expected a document such as {{\"documentId\", \"type\", \"pageCount\", \"pages\": []}}: {error}")
        };
        let document: CombinedDocument = serde_json::from_slice(json).map_err(expected)?;
        let gaps: Gaps = serde_json::from_slice(json).map_err(expected)?;
        if document.page_count != document.pages.len() {
            let (said, found) = (document.page_count, document.pages.len());
            return Err(format!("pageCount says {said} pages, and there are {found}"));
        }
        // What stands in place of a page that could not be read was never on paper.
        let missing: HashSet<u32> = gaps.missing.into_iter().map(|gap| gap.page).collect();
        let pages = (1..).zip(document.pages).filter(|(number, _)| !missing.contains(number));
        let pages = pages.map(|(number, text)| (number, without_title(number, text))).collect();
        let hash = ContentHash::of(json);
        Ok(Self { kind: document.kind, page_count: document.page_count, hash, pages })
    }

    /// The pages with their numbers, from 1.
    pub fn pages(&self) -> impl Iterator<Item = (u32, &str)> {
        self.pages.iter().map(|(number, text)| (*number, text.as_str()))
    }
}

/// A page is handed on under its number, which nobody wants to find.
fn without_title(number: u32, text: String) -> String {
    let title = page_markdown(number as usize, "");
    match text.strip_prefix(title.trim_end()) {
        Some(rest) if rest.starts_with(['\n', '\r']) => rest.trim_start().to_owned(),
        Some("") => String::new(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(json: &serde_json::Value) -> Result<DocumentText, String> {
        DocumentText::parse(json.to_string().as_bytes())
    }

    #[test]
    fn pages_come_without_their_titles_and_gaps() {
        let document = json!({
            "documentId": "d", "type": "pdf", "pageCount": 4,
            "pages": ["## Page 1\n\nFirst.\n", "## Page 2\n\n*could not be read*\n", "## Page 31 is mine", "## Page 4\n\n\n"],
            "missing": [{"page": 2, "reason": "broken"}],
        });
        let text = parse(&document).unwrap();
        assert_eq!(text.pages().collect::<Vec<_>>(), [(1, "First.\n"), (3, "## Page 31 is mine"), (4, "")]);
        assert_eq!((&*text.kind, text.page_count), ("pdf", 4));
    }

    #[test]
    fn what_is_no_document_is_told() {
        assert!(parse(&json!([])).unwrap_err().contains("expected a document such as"));
        let short = json!({"documentId": "d", "type": "pdf", "pageCount": 2, "pages": ["a"]});
        assert_eq!(parse(&short).unwrap_err(), "pageCount says 2 pages, and there are 1");
    }
}
