//! Piles of pages: documents of several sets put together as one scan, in an order that their names decide, to see whether
//! their borders and types are found.

use bindery_core::ContentHash;
use bindery_fields::{
    DocTypes,
    classify::{Classifier, PageClass, documents},
};
use bindery_reader::Page;
use serde_json::{Value, json};

/// How many documents a pile holds.
const DOCUMENTS: usize = 6;

/// A document whose type is known.
pub(super) struct PileDocument {
    pub file: String,
    pub doctype: String,
    pub pages: Vec<Page>,
}

impl PileDocument {
    pub(super) fn new(file: String, doctype: &str, pages: Vec<Page>) -> Self {
        Self { file, doctype: doctype.to_owned(), pages }
    }

    fn hash(&self) -> [u8; 32] {
        *ContentHash::of(self.file.as_bytes()).as_bytes()
    }

    fn is_held_out(&self) -> bool {
        is_held_out(&self.file)
    }
}

/// As `bench.py` has it: a file whose name has a SHA-256 that ends in an even digit is for testing only.
pub(super) fn is_held_out(file: &str) -> bool {
    ContentHash::of(file.as_bytes()).as_bytes()[31].is_multiple_of(2)
}

/// What was found in piles of these documents; no pile holds some that may be tuned on and others that may not.
pub(super) fn read_piles(mut all: Vec<PileDocument>, types: &DocTypes) -> Vec<Value> {
    all.sort_by_key(PileDocument::hash);
    let (held_out, tuned): (Vec<_>, Vec<_>) = all.into_iter().partition(PileDocument::is_held_out);
    let classifier = Classifier::new(types);
    let piles = tuned.chunks(DOCUMENTS).chain(held_out.chunks(DOCUMENTS));
    piles.map(|pile| read_pile(pile, &classifier, types)).collect()
}

fn read_pile(pile: &[PileDocument], classifier: &Classifier, types: &DocTypes) -> Value {
    let mut pages: Vec<(Page, PageClass)> = Vec::new();
    let mut truth = Vec::new();
    for document in pile {
        let first = pages.len() + 1;
        for page in &document.pages {
            let page = Page { number: pages.len() + 1, ..page.clone() };
            let class = classifier.classify(&page);
            pages.push((page, class));
        }
        truth.push(json!({
            "file": document.file, "doc_type": document.doctype, "held_out": document.is_held_out(),
            "pages": (first..=pages.len()).collect::<Vec<_>>(),
        }));
    }
    let pages: Vec<(&Page, &PageClass)> = pages.iter().map(|(page, class)| (page, class)).collect();
    let found: Vec<Value> = documents(&pages, &[], types)
        .into_iter()
        .map(|found| {
            let because: Vec<&str> = found.because.iter().map(|reason| reason.text.as_str()).take(4).collect();
            json!({"doc_type": &*found.doctype, "pages": found.pages, "confidence": found.confidence, "because": because})
        })
        .collect();
    json!({"truth": truth, "found": found})
}
