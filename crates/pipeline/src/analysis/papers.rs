//! From the documents of a result to what an analysis needs of them.

use bindery_fields::checklist::{Paper, PaperStatus, PaperValue};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A document as the results of the shipped consolidators list it.
#[derive(Debug, Deserialize)]
struct Listed {
    document_id: Option<String>,
    file: Option<String>,
    doc_type: Option<String>,
    type_confidence: Option<f64>,
    extraction_confidence: Option<f64>,
    #[serde(default)]
    extracted_data: Option<BTreeMap<String, Value>>,
    #[serde(default)]
    evidence: Option<BTreeMap<String, Evidence>>,
    status: Option<String>,
    #[serde(default)]
    needs_review: Option<Vec<Value>>,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Evidence {
    confidence: Option<f64>,
}

/// A result, as far as it lists documents.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Listing {
    pub(super) documents: Option<Vec<Value>>,
}

impl Listing {
    /// The documents. One that is listed in another way says nothing.
    pub(super) fn papers(&self) -> Vec<Paper> {
        let listed = self.documents.iter().flatten().enumerate();
        listed.filter_map(|(index, document)| Some(paper(Listed::deserialize(document).ok()?, index))).collect()
    }
}

fn paper(listed: Listed, index: usize) -> Paper {
    let usual = listed.extraction_confidence.unwrap_or(1.0);
    let evidence = listed.evidence.unwrap_or_default();
    let values = listed.extracted_data.unwrap_or_default().into_iter().filter_map(|(field, value)| {
        let text = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            Value::Bool(truth) => truth.to_string(),
            _ => return None,
        };
        let confidence = evidence.get(&field).and_then(|evidence| evidence.confidence).unwrap_or(usual);
        (!text.trim().is_empty()).then_some((field, PaperValue { text, confidence }))
    });
    let values = values.collect();
    let status = match listed.status.as_deref() {
        Some("failed") => PaperStatus::Failed,
        Some("review") => PaperStatus::Review,
        _ => PaperStatus::Completed,
    };
    let reasons = listed.needs_review.unwrap_or_default();
    let reasons = reasons.iter().filter_map(Value::as_str).map(str::to_owned);
    let id = listed.document_id.unwrap_or_else(|| format!("document {}", index + 1));
    Paper {
        file: listed.file.unwrap_or_else(|| id.clone()),
        id,
        doc_type: listed.doc_type.unwrap_or_default(),
        type_confidence: listed.type_confidence.unwrap_or(1.0),
        values,
        status,
        doubts: listed.error.into_iter().chain(reasons).collect(),
    }
}
