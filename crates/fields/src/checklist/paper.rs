//! A document of a submission, as far as its analysis needs it.

use std::collections::BTreeMap;

/// A document with the values that were read from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Paper {
    pub id: String,
    pub file: String,
    pub doc_type: String,
    pub type_confidence: f64,
    pub values: BTreeMap<String, PaperValue>,
    pub status: PaperStatus,
    /// Why a person should look at it, or why it failed.
    pub doubts: Vec<String>,
}

/// A normalised value and how sure it is.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperValue {
    pub text: String,
    pub confidence: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaperStatus {
    Completed,
    /// A person is asked about it.
    Review,
    /// Its fields could not be read.
    Failed,
}

impl Paper {
    pub(super) fn value(&self, field: &str) -> Option<&PaperValue> {
        self.values.get(field)
    }

    /// The values of several fields one after the other; none where none of them was read.
    pub(super) fn joined_value(&self, fields: &[String]) -> Option<PaperValue> {
        let values: Vec<&PaperValue> = fields.iter().filter_map(|field| self.value(field)).collect();
        let text = values.iter().map(|value| value.text.as_str()).collect::<Vec<_>>().join(" ");
        let confidence = values.iter().map(|value| value.confidence).fold(1.0, f64::min);
        (!values.is_empty()).then_some(PaperValue { text, confidence })
    }

    /// As sentences name it.
    pub(super) fn display_name(&self) -> String {
        format!("{} ({})", self.file, self.id)
    }
}
