//! Summaries in the documents' own words: by rules, on this machine, for nothing.
//!
//! The same texts always give the same summary. It asks nobody and never fails.

use super::{Analyst, CostEstimate, Document, ItemRequest, PacketRequest, Reading, shared};
use crate::{
    prose::{
        summary::{Citation, DocumentText, EXTRACTIVE_VERSION, PageText, Summary, TITLE, summarise},
        topics::Topics,
    },
    text::marked_pages,
};
use bindery_models::{ModelError, timer::Cancelled};
use serde_json::{Value, json};

/// The name under which the text of an item's own page is cited.
pub(super) const BODY: &str = "item description";

/// Reads by rules.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extractive;

impl Analyst for Extractive {
    fn method(&self) -> String {
        method()
    }

    fn read_item(&self, request: &ItemRequest, _: Cancelled<'_>) -> Result<Reading, ModelError> {
        Ok(read_item(request))
    }

    fn estimate(&self, _: &ItemRequest) -> Result<CostEstimate, ModelError> {
        Ok(CostEstimate::default())
    }

    fn read_packet(&self, request: &PacketRequest, _: Cancelled<'_>) -> Result<Reading, ModelError> {
        Ok(read_packet(request))
    }
}

fn method() -> String {
    format!("extractive/{EXTRACTIVE_VERSION}")
}

pub(super) fn read_item(request: &ItemRequest) -> Reading {
    let mut documents: Vec<DocumentText> = request.documents.iter().map(|document| as_pages(document)).collect();
    if let Some(body) = request.own_body() {
        // What is asked for stands in the first document, so a staff report comes before the few words of the page.
        documents.insert(documents.len().min(1), DocumentText::plain(BODY, body));
    }
    let has_own_text = documents.iter().any(has_text);
    for document in &request.shared {
        let pages = shared::passages(document, request, has_own_text);
        let pages: Vec<PageText> = pages.into_iter().map(|(number, text)| PageText { number, text }).collect();
        if !pages.is_empty() {
            documents.push(DocumentText { name: document.name.clone(), pages });
        }
    }
    let kind = request.matter_type.as_deref().unwrap_or_default();
    reading(&request.title, kind, &documents, &request.topics)
}

pub(super) fn read_packet(request: &PacketRequest) -> Reading {
    reading(&request.title, "", &[as_pages(&request.packet)], &request.topics)
}

fn as_pages(document: &Document) -> DocumentText {
    let pages = marked_pages(&document.text).into_iter();
    let pages = pages.map(|(number, text)| PageText { number, text: text.to_owned() }).collect();
    DocumentText { name: document.name.clone(), pages }
}

fn has_text(document: &DocumentText) -> bool {
    document.pages.iter().any(|page| !page.text.trim().is_empty())
}

fn reading(title: &str, kind: &str, documents: &[DocumentText], topics: &Topics) -> Reading {
    let summary = summarise(title, documents);
    let text: Vec<&str> =
        documents.iter().flat_map(|document| &document.pages).map(|page| page.text.as_str()).collect();
    let assigned = topics.assign(&format!("{title} {kind}"), &text.join("\n\n"));
    let has_text = documents.iter().any(has_text);
    let notes = if has_text { Vec::new() } else { vec!["there is no text but the title".to_owned()] };
    Reading {
        topics: assigned.into_iter().map(|assigned| assigned.topic).collect(),
        details: details(&summary),
        summary: summary.markdown,
        method: method(),
        notes,
        ..Reading::default()
    }
}

/// The facts, each with its place, and how much hangs on the item.
fn details(summary: &Summary) -> Value {
    let mut citations: Vec<&Citation> = Vec::new();
    for extract in &summary.extracts {
        if extract.citation.document != TITLE && !citations.contains(&&extract.citation) {
            citations.push(&extract.citation);
        }
    }
    json!({"key_facts": summary.key_facts, "consequence": summary.consequence, "citations": citations})
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn document(name: &str, text: &str) -> Arc<Document> {
        Arc::new(Document { name: name.to_owned(), text: text.to_owned(), page_count: 1 })
    }

    fn pumps() -> ItemRequest {
        ItemRequest {
            item_id: "i1".to_owned(),
            title: "Agreement with Brook Steel, Inc. for pump maintenance".to_owned(),
            matter_type: Some("Contract".to_owned()),
            documents: vec![document(
                "Staff report",
                "--- PAGE 1 ---\nRECOMMENDATION\n\nApprove a three-year agreement with Brook Steel, Inc. for the \
                 maintenance of sewer pumps in an amount not to exceed $450,000.\n\n--- PAGE 2 ---\nFISCAL IMPACT\n\n\
                 Funds of $150,000 a year are in the sewer budget.",
            )],
            ..ItemRequest::default()
        }
    }

    #[test]
    fn an_item_is_told_in_its_documents_words_with_pages_topics_and_facts() {
        let read = read_item(&pumps());
        assert_eq!(read.method, format!("extractive/{EXTRACTIVE_VERSION}"));
        assert!(read.summary.contains("**$450,000**") && read.summary.contains("Staff report, p. 1"), "{read:?}");
        assert!(read.topics.iter().any(|topic| topic == "contracts"), "{:?}", read.topics);
        assert_eq!(read.details["key_facts"]["amounts"][0]["value"], "450000");
        assert!(
            read.details["citations"].as_array().unwrap().contains(&json!({"document": "Staff report", "page": 1}))
        );
        assert_eq!((read.cost_micros, read.notes.len()), (0, 0));
    }

    #[test]
    fn a_shared_document_adds_what_it_says_of_the_item_and_does_not_drown_it() {
        let other = "The council may build a stadium for $90,000,000 in the harbor.\n\n".repeat(200);
        let text = format!("{other}The pump maintenance by Brook Steel, Inc. begins on July 1, 2026.\n\n{other}");
        let request = ItemRequest { shared: vec![document("Packet", &text)], ..pumps() };
        let read = read_item(&request);
        assert!(!read.summary.contains("90,000,000"), "{}", read.summary);
        assert!(read.details["key_facts"].to_string().contains("2026-07-01"), "{}", read.details);
        let alone = ItemRequest { documents: Vec::new(), body: Some(request.title.clone()), ..request };
        assert!(read_item(&alone).summary.contains("Packet"), "{}", read_item(&alone).summary);
        // Nothing but the shared document says anything, though it does not name the item.
        let unnamed = ItemRequest { title: "Harbor".to_owned(), body: Some("Harbor".to_owned()), ..alone };
        assert!(read_item(&unnamed).summary.contains("stadium"), "{}", read_item(&unnamed).summary);
    }

    #[test]
    fn an_item_without_text_says_so_and_a_packet_is_read_as_a_whole() {
        let bare = ItemRequest { documents: Vec::new(), ..pumps() };
        assert_eq!(read_item(&bare).notes, ["there is no text but the title"]);
        let packet = document("Packet", &pumps().documents[0].text);
        let read = read_packet(&PacketRequest { title: "City Council".to_owned(), packet, ..PacketRequest::default() });
        assert!(read.summary.contains("$450,000"), "{}", read.summary);
    }
}
