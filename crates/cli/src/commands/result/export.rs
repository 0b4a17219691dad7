//! The documents of a result for other programs: a table in which each document is a row, or a line of JSON each.

use crate::{
    failure::Failure,
    result_tables::{pages_of, shown},
    stored_result::StoredResult,
};
use bindery_core::cell::harmless;
use serde_json::Value;
use std::{collections::BTreeSet, io::Write};

/// What is known of every document, before its fields.
const ABOUT: [&str; 7] =
    ["document_id", "file", "pages", "doc_type", "type_confidence", "extraction_confidence", "needs_review"];

/// Hands over the documents of a result one by one; a result of another workflow has none.
fn each_document(result: &StoredResult, visit: impl FnMut(Value) -> anyhow::Result<()>) -> anyhow::Result<()> {
    if result.each_of("documents", visit)? {
        return Ok(());
    }
    let hint = "the workflow `documents` makes them: `bindery run --workflow documents …`";
    Err(Failure::usage("the result has no documents").hint(hint).into())
}

/// One document, by its id.
pub(super) fn document(result: &StoredResult, id: &str) -> anyhow::Result<Option<Value>> {
    let mut found = None;
    let visit = |document: Value| {
        if document["document_id"] == id {
            found.get_or_insert(document);
        }
        Ok(())
    };
    each_document(result, visit)?;
    Ok(found)
}

/// The names of all fields, by the alphabet: the columns of a table.
pub(super) fn fields(result: &StoredResult) -> anyhow::Result<BTreeSet<String>> {
    let mut fields = BTreeSet::new();
    let visit = |document: Value| {
        for name in document["extracted_data"].as_object().into_iter().flat_map(|map| map.keys()) {
            if !fields.contains(name) {
                fields.insert(name.clone());
            }
        }
        Ok(())
    };
    each_document(result, visit)?;
    Ok(fields)
}

pub(super) fn csv(result: &StoredResult, fields: &BTreeSet<String>, into: impl Write) -> anyhow::Result<()> {
    let mut writer = csv::Writer::from_writer(into);
    writer.write_record(ABOUT.into_iter().chain(fields.iter().map(String::as_str)))?;
    each_document(result, |document| {
        let reasons = document["needs_review"].as_array().into_iter().flatten();
        let about = [
            shown(&document["document_id"]),
            shown(&document["file"]),
            pages_of(&document),
            shown(&document["doc_type"]),
            shown(&document["type_confidence"]),
            shown(&document["extraction_confidence"]),
            reasons.map(shown).collect::<Vec<_>>().join("; "),
        ];
        let values = fields.iter().map(|field| shown(&document["extracted_data"][field]));
        Ok(writer.write_record(about.into_iter().chain(values).map(harmless))?)
    })?;
    writer.flush()?;
    Ok(())
}

pub(super) fn json_lines(result: &StoredResult, into: impl Write) -> anyhow::Result<()> {
    let mut into = std::io::BufWriter::new(into);
    each_document(result, |document| {
        serde_json::to_writer(&mut into, &document)?;
        Ok(into.write_all(b"\n")?)
    })?;
    Ok(into.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_document_is_a_row_and_each_field_a_column() {
        let documents = [
            json!({"document_id": "item_1", "file": "a.pdf", "page_indices": [1, 2], "doc_type": "invoice",
                "needs_review": ["no date", "no sum"], "extracted_data": {"total": "-12.50", "seller": "=cmd()"}}),
            json!({"document_id": "item_2", "file": "b, c.pdf", "page_indices": [1], "doc_type": "letter",
                "needs_review": [], "extracted_data": {"date": "2026-01-02"}}),
        ];
        let result = StoredResult::Text(json!({"documents": documents}).to_string());
        let mut written = Vec::new();
        csv(&result, &fields(&result).unwrap(), &mut written).unwrap();
        assert_eq!(
            String::from_utf8(written).unwrap(),
            "document_id,file,pages,doc_type,type_confidence,extraction_confidence,needs_review,date,seller,total\n\
             item_1,a.pdf,1-2,invoice,,,no date; no sum,,'=cmd(),-12.50\n\
             item_2,\"b, c.pdf\",1,letter,,,,2026-01-02,,\n"
        );
        let mut lines = Vec::new();
        json_lines(&result, &mut lines).unwrap();
        assert_eq!(String::from_utf8(lines).unwrap().lines().count(), 2);
    }
}
