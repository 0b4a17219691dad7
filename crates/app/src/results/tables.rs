//! The documents of a result for other programs: a table in which each document is a row, or a line of JSON each.

use super::{ResultError, StoredResult, cell_text, columns, pages_of};
use crate::error::AppResult;
use bindery_core::cell::harmless;
use serde_json::Value;
use std::{
    collections::BTreeSet,
    io::{self, Write},
};

/// What is known of every document, before its fields.
pub(super) const ABOUT: [&str; 7] =
    ["document_id", "file", "pages", "doc_type", "type_confidence", "extraction_confidence", "needs_review"];

/// Hands over the documents of a result one by one; a result of another workflow has none.
pub(super) fn each_document(result: &StoredResult, visit: impl FnMut(Value) -> AppResult<()>) -> AppResult<()> {
    if result.each_of("documents", visit)? {
        return Ok(());
    }
    Err(ResultError::NoDocuments.into())
}

/// One document, by its id.
pub fn find_document(result: &StoredResult, id: &str) -> AppResult<Option<Value>> {
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
pub fn field_names(result: &StoredResult) -> AppResult<BTreeSet<String>> {
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

/// What [`ABOUT`] names.
pub(super) fn summary_cells(document: &Value) -> [String; 7] {
    let reasons = document["needs_review"].as_array().into_iter().flatten();
    [
        cell_text(&document["document_id"]),
        cell_text(&document["file"]),
        pages_of(document),
        cell_text(&document["doc_type"]),
        cell_text(&document["type_confidence"]),
        cell_text(&document["extraction_confidence"]),
        reasons.map(cell_text).collect::<Vec<_>>().join("; "),
    ]
}

pub fn write_csv(result: &StoredResult, fields: &BTreeSet<String>, into: impl Write) -> AppResult<()> {
    let mut writer = csv::Writer::from_writer(into);
    writer.write_record(ABOUT.into_iter().chain(fields.iter().map(String::as_str))).map_err(io::Error::from)?;
    each_document(result, |document| {
        let about = summary_cells(&document);
        let values = fields.iter().map(|field| cell_text(&document["extracted_data"][field]));
        Ok(writer.write_record(about.into_iter().chain(values).map(harmless)).map_err(io::Error::from)?)
    })?;
    writer.flush()?;
    Ok(())
}

/// What is known of every row, before its cells.
pub(super) const ABOUT_ROW: [&str; 6] = ["document_id", "file", "doc_type", "list", "row", "page"];

/// The lists of a document by name, with their rows.
pub(super) fn lists(document: &Value) -> impl Iterator<Item = (&String, &[Value])> {
    let lists = document["rows"].as_object().into_iter().flatten();
    lists.filter_map(|(name, rows)| Some((name, rows.as_array()?.as_slice())))
}

/// The columns of all lists, each document's in printed order; none where no document has rows.
pub fn row_columns(result: &StoredResult) -> AppResult<Vec<String>> {
    let mut all: Vec<String> = Vec::new();
    each_document(result, |document| {
        for column in lists(&document).flat_map(|(_, rows)| columns(rows)) {
            if !all.contains(&column) {
                all.push(column);
            }
        }
        Ok(())
    })?;
    Ok(all)
}

/// A row for each row of each list.
pub fn write_rows_csv(result: &StoredResult, columns: &[String], into: impl Write) -> AppResult<()> {
    let mut writer = csv::Writer::from_writer(into);
    writer.write_record(ABOUT_ROW.into_iter().chain(columns.iter().map(String::as_str))).map_err(io::Error::from)?;
    each_document(result, |document| {
        let [id, file, kind] = ["document_id", "file", "doc_type"].map(|key| cell_text(&document[key]));
        for (list, rows) in lists(&document) {
            for (number, row) in rows.iter().enumerate() {
                let place = [(number + 1).to_string(), cell_text(&row["page"])];
                let about = [id.clone(), file.clone(), kind.clone(), list.clone()].into_iter().chain(place);
                let cells = columns.iter().map(|column| cell_text(&row["cells"][column.as_str()]["normalised"]));
                writer.write_record(about.chain(cells).map(harmless)).map_err(io::Error::from)?;
            }
        }
        Ok(())
    })?;
    writer.flush()?;
    Ok(())
}

/// A line for each document, or for each part where a collector has bound them.
pub fn write_json_lines(result: &StoredResult, into: impl Write) -> AppResult<()> {
    let mut into = io::BufWriter::new(into);
    for list in ["parts", "documents"] {
        let is_there = result.each_of(list, |entry| {
            serde_json::to_writer(&mut into, &entry)?;
            AppResult::Ok(into.write_all(b"\n")?)
        })?;
        if is_there {
            return Ok(into.flush()?);
        }
    }
    Err(ResultError::NoDocuments.into())
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
        write_csv(&result, &field_names(&result).unwrap(), &mut written).unwrap();
        assert_eq!(
            String::from_utf8(written).unwrap(),
            "document_id,file,pages,doc_type,type_confidence,extraction_confidence,needs_review,date,seller,total\n\
             item_1,a.pdf,1-2,invoice,,,no date; no sum,,'=cmd(),-12.50\n\
             item_2,\"b, c.pdf\",1,letter,,,,2026-01-02,,\n"
        );
        assert_eq!(row_columns(&result).unwrap(), [] as [&str; 0]);
        let mut lines = Vec::new();
        write_json_lines(&result, &mut lines).unwrap();
        assert_eq!(String::from_utf8(lines).unwrap().lines().count(), 2);
    }

    #[test]
    fn each_row_of_a_list_is_a_row_with_its_columns_in_printed_order() {
        let cell = |text: &str, left: u32| json!({"normalised": text, "bbox": [left, 0, left + 20, 9]});
        let rows = json!([
            {"page": 1, "cells": {"amount": cell("40.00", 500), "description": cell("=Paper", 56)}},
            {"page": 2, "cells": {"amount": cell("60.00", 500), "quantity": cell("2", 300)}},
        ]);
        let document =
            json!({"document_id": "doc_1_1", "file": "a.pdf", "doc_type": "invoice", "rows": {"line_items": rows}});
        let result = StoredResult::Text(json!({"documents": [document]}).to_string());
        let columns = row_columns(&result).unwrap();
        let mut written = Vec::new();
        write_rows_csv(&result, &columns, &mut written).unwrap();
        assert_eq!(
            String::from_utf8(written).unwrap(),
            "document_id,file,doc_type,list,row,page,description,quantity,amount\n\
             doc_1_1,a.pdf,invoice,line_items,1,1,'=Paper,,40.00\n\
             doc_1_1,a.pdf,invoice,line_items,2,2,,2,60.00\n"
        );
    }
}
