//! The pages of a file, put together in their order.

use bindery_core::StepError;
use bindery_reader::combine::{CombinedDocument, ContinuedTables, page_markdown};
use serde::{Deserialize, Serialize};

/// A page that could not be read, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Gap {
    /// From 1.
    pub(crate) page: usize,
    pub(crate) reason: String,
}

/// Pages as Markdown. One that could not be read is a stated gap.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct BoundPages {
    pub(crate) pages: Vec<String>,
    pub(crate) missing: Vec<Gap>,
    pub(crate) by_ocr: u64,
    pub(crate) words: u64,
    #[serde(skip)]
    tables: ContinuedTables,
}

impl BoundPages {
    /// Adds a page that was read.
    pub(crate) fn page(&mut self, number: usize, text: &str) {
        self.pages.push(page_markdown(number, &self.tables.page(number, text)));
    }

    /// Adds a page that was not.
    pub(crate) fn gap(&mut self, number: usize, reason: String) {
        self.page(number, &format!("*This page could not be read: {reason}*"));
        self.missing.push(Gap { page: number, reason });
    }

    /// For people.
    pub(crate) fn markdown(&self) -> String {
        self.pages.join("\n")
    }

    /// For programs: the document, and what is missing in it.
    pub(crate) fn document_json(self, id: &str, file_type: &str) -> Result<Vec<u8>, StepError> {
        let document = CombinedDocument::new(id, file_type, self.pages);
        serde_json::to_vec(&WithGaps { document, missing: self.missing })
            .map_err(|error| StepError::bug(format!("the document cannot be written: {error}")))
    }
}

#[derive(Serialize)]
struct WithGaps {
    #[serde(flatten)]
    document: CombinedDocument,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<Gap>,
}

/// What the stage that puts pages together says of a file, with the keys under which it is kept: as much of it as results
/// list.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Combined {
    #[serde(rename = "type")]
    file_type: Option<String>,
    pub(crate) pages: u64,
    pub(crate) words: u64,
    pub(crate) by_ocr: u64,
    #[serde(rename(serialize = "markdown"))]
    md: Option<String>,
    pub(crate) json: Option<String>,
    #[serde(skip_serializing)]
    pub(crate) missing: Vec<Gap>,
    #[serde(skip_serializing)]
    pub(crate) hocr: Option<String>,
}
