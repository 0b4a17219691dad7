//! The documents of a result for other programs: a table in which each document is a row, or a line of JSON each.

use crate::{
    failure::Failure,
    result_tables::{pages_of, shown},
};
use bindery_core::cell::harmless;
use serde_json::Value;
use std::{collections::BTreeSet, io::Write};

/// What is known of every document, before its fields.
const ABOUT: [&str; 7] =
    ["document_id", "file", "pages", "doc_type", "type_confidence", "extraction_confidence", "needs_review"];

/// The documents of a result; a result of another workflow has none.
pub(super) fn documents(result: &Value) -> anyhow::Result<&[Value]> {
    result["documents"].as_array().map(Vec::as_slice).ok_or_else(|| {
        let hint = "the workflow `documents` makes them: `bindery run --workflow documents …`";
        Failure::usage("the result has no documents").hint(hint).into()
    })
}

pub(super) fn csv(documents: &[Value], into: impl Write) -> anyhow::Result<()> {
    let fields: BTreeSet<&str> = documents
        .iter()
        .filter_map(|one| one["extracted_data"].as_object())
        .flat_map(|map| map.keys())
        .map(String::as_str)
        .collect();
    let mut writer = csv::Writer::from_writer(into);
    writer.write_record(ABOUT.into_iter().chain(fields.iter().copied()))?;
    for document in documents {
        let reasons = document["needs_review"].as_array().into_iter().flatten();
        let about = [
            shown(&document["document_id"]),
            shown(&document["file"]),
            pages_of(document),
            shown(&document["doc_type"]),
            shown(&document["type_confidence"]),
            shown(&document["extraction_confidence"]),
            reasons.map(shown).collect::<Vec<_>>().join("; "),
        ];
        let values = fields.iter().map(|field| shown(&document["extracted_data"][*field]));
        writer.write_record(about.into_iter().chain(values).map(harmless))?;
    }
    writer.flush()?;
    Ok(())
}

pub(super) fn json_lines(documents: &[Value], mut into: impl Write) -> anyhow::Result<()> {
    for document in documents {
        serde_json::to_writer(&mut into, document)?;
        into.write_all(b"\n")?;
    }
    Ok(())
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
        let mut written = Vec::new();
        csv(&documents, &mut written).unwrap();
        assert_eq!(
            String::from_utf8(written).unwrap(),
            "document_id,file,pages,doc_type,type_confidence,extraction_confidence,needs_review,date,seller,total\n\
             item_1,a.pdf,1-2,invoice,,,no date; no sum,,'=cmd(),-12.50\n\
             item_2,\"b, c.pdf\",1,letter,,,,2026-01-02,,\n"
        );
        let mut lines = Vec::new();
        json_lines(&documents, &mut lines).unwrap();
        assert_eq!(String::from_utf8(lines).unwrap().lines().count(), 2);
    }
}
