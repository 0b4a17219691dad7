//! A second opinion on the type of a document: fields that fit speak for the type that has them.
//!
//! Words that nobody listed leave a page with no type, but an invoice in such words still has sums that add up. For a
//! document that fits no type, or hardly, the fields of those that come into question are read; one whose required fields
//! are all there and whose sums hold is its type.

use super::{
    Document, PageClass, Reason,
    group::{group, one_document},
};
use crate::{
    DocType, DocTypes,
    doctype::OTHER,
    extract::{self, Check, CheckResult, Extraction, Sources, Templates, einvoice},
};
use bindery_core::Name;
use bindery_reader::{Attachment, Page};

/// Below this, another type or none is likelier than the one that was chosen.
pub const LEAST_TYPE_CONFIDENCE: f64 = 0.5;
/// How likely a type is that only its fields speak for.
const BY_FIELDS: f64 = 0.6;
/// The required values must be this sure.
const SURE: f32 = 0.5;
/// Longer documents that fit no type are reports and books; their first pages are looked at.
const MOST_PAGES: usize = 6;

/// The documents of a file from its classified pages and the files inside it. One with an e-invoice is one document of
/// the type that the e-invoice states; others are grouped, and those that fit no type get the one whose fields fit. What
/// a person said of a page counts more than either.
pub fn documents(pages: &[(&Page, &PageClass)], attachments: &[Attachment], types: &DocTypes) -> Vec<Document> {
    let is_decided = pages.iter().any(|(_, class)| class.confidence >= 1.0);
    if is_decided || pages.is_empty() {
        // An e-invoice is one document, also where its type was stated by somebody.
        let decided = pages.first().map(|(_, class)| &class.doctype);
        let is_one_type = pages.iter().all(|(_, class)| class.confidence >= 1.0 && Some(&class.doctype) == decided);
        return match decided.filter(|_| is_one_type && einvoice::only_invoice(attachments).is_some()) {
            Some(doctype) => vec![one_document(pages, doctype, "the type was stated".to_owned())],
            None => group(pages),
        };
    }
    if let Some(stated) = einvoice::only_invoice(attachments).filter(|stated| types.get(stated.doctype).is_some()) {
        let number = stated.values.get("number").map_or("", |number| number.text.as_str());
        let because = format!("the file holds the e-invoice {number}, which says so");
        return vec![one_document(pages, stated.doctype, because)];
    }
    let mut documents = group(pages);
    for document in &mut documents {
        let own: Vec<&Page> =
            pages.iter().map(|(page, _)| *page).filter(|page| document.pages.contains(&page.number)).collect();
        resolve(document, &own, types);
    }
    documents
}

/// Gives a document that fits no type the one whose fields fit it, if there is one. Nothing changes where the type is
/// sure.
fn resolve(document: &mut Document, pages: &[&Page], types: &DocTypes) {
    let is_unsure = document.doctype == *OTHER || document.confidence < LEAST_TYPE_CONFIDENCE;
    if !is_unsure {
        return;
    }
    let pages: Vec<Page> = pages.iter().take(MOST_PAGES).map(|page| (*page).clone()).collect();
    if pages.iter().all(|page| page.words.is_empty() && page.blocks.is_empty()) {
        return;
    }
    let templates = Templates::default();
    let sources = Sources { attachments: &[], templates: &templates };
    let likelihood = |name: &Name| document.likelihood(name);
    let candidates = types.iter().filter(|doctype| doctype.name != *OTHER && has_sums(doctype));
    let fitting = candidates.filter_map(|doctype| {
        let found = extract::extract(doctype, &pages, &sources);
        let sum = holding_sum(doctype, &found)?.message.clone();
        Some((doctype.name.clone(), found.confidence, sum))
    });
    // The likeliest by its words, then by its fields; by name where all else is equal.
    let best = fitting.max_by(|a, b| {
        likelihood(&a.0).total_cmp(&likelihood(&b.0)).then(a.1.total_cmp(&b.1)).then_with(|| b.0.cmp(&a.0))
    });
    if let Some((name, _, sum)) = best {
        document.because.insert(0, Reason::new(format!("its fields are those of the type {name}: {sum}"), 1.0));
        document.confidence = BY_FIELDS.max(document.likelihood(&name));
        document.doctype = name;
    }
}

fn has_sums(doctype: &DocType) -> bool {
    doctype.fields.checks.iter().any(|check| matches!(check, Check::Sum { .. }))
}

/// A sum of several amounts that holds, where all required fields are there and nothing contradicts them.
fn holding_sum<'e>(doctype: &DocType, found: &'e Extraction) -> Option<&'e CheckResult> {
    let required = doctype.fields.fields.iter().filter(|field| field.required).count();
    if required < 2 || found.confidence < SURE || found.checks.iter().any(|check| !check.passed) {
        return None;
    }
    // What is due equals the total on nearly every paper; two amounts that make a third say something.
    let has_several = |check: &&CheckResult| {
        let rows = check.fields.first().and_then(|field| found.rows.get(field)).map_or(0, Vec::len);
        check.check.contains(" = ") && (check.fields.len() >= 3 || rows >= 2)
    };
    found.checks.iter().find(has_several)
}
