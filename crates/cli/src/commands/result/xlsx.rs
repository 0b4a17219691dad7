//! The documents of a result as a workbook: a sheet with their fields and one with the rows of their lists.

use super::export::{ABOUT, ABOUT_ROW, each_document, lists, row_columns, summary_cells};
use crate::{
    failure::Failure,
    result_tables::cell_text,
    workbook::{Cell, Workbook, WorkbookError},
};
use bindery_app::StoredResult;
use bindery_fields::{
    DocTypes,
    extract::{Field, FieldType},
};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    io::{self, Seek as _, Write},
};

/// Numbers and dates are cells of their kind where the type of the document is known; everything else is text.
pub(super) fn write(
    result: &StoredResult,
    fields: &BTreeSet<String>,
    types: &DocTypes,
    into: &mut dyn Write,
) -> anyhow::Result<()> {
    // A package is written with places that are known only at its end.
    let mut workbook = Workbook::new(tempfile::tempfile()?);
    let headings = ABOUT.into_iter().chain(fields.iter().map(String::as_str));
    workbook.sheet("Fields", headings).map_err(explain)?;
    each_document(result, |document| {
        let known = |name: &str| known_field(types, &document, name);
        let about = ABOUT
            .into_iter()
            .zip(summary_cells(&document))
            .map(|(name, text)| if name.ends_with("_confidence") { Cell::Number(text) } else { Cell::Text(text) });
        let values = fields
            .iter()
            .map(|name| typed(known(name).map(|field| field.kind), cell_text(&document["extracted_data"][name])));
        workbook.row(about.chain(values)).map_err(explain)
    })?;
    let columns = row_columns(result)?;
    workbook.sheet("Rows", ABOUT_ROW.into_iter().chain(columns.iter().map(String::as_str))).map_err(explain)?;
    each_document(result, |document| {
        let names = ["document_id", "file", "doc_type"].map(|key| cell_text(&document[key]));
        for (list, rows) in lists(&document) {
            let field = known_field(types, &document, list);
            for (number, row) in rows.iter().enumerate() {
                let texts = names.iter().cloned().chain([list.clone()]).map(Cell::Text);
                let place = [(number + 1).to_string(), cell_text(&row["page"])].map(Cell::Number);
                let cells = columns.iter().map(|name| {
                    let column = field.and_then(|field| field.columns.iter().find(|column| column.name == *name));
                    typed(column.map(|column| column.kind), cell_text(&row["cells"][name.as_str()]["normalised"]))
                });
                workbook.row(texts.chain(place).chain(cells)).map_err(explain)?;
            }
        }
        Ok(())
    })?;
    let mut package = workbook.finish().map_err(explain)?;
    package.rewind()?;
    io::copy(&mut package, into)?;
    Ok(into.flush()?)
}

fn known_field<'t>(types: &'t DocTypes, document: &Value, name: &str) -> Option<&'t Field> {
    types.get(document["doc_type"].as_str()?)?.fields.field(name)
}

fn typed(kind: Option<FieldType>, text: String) -> Cell {
    match kind {
        Some(FieldType::Money | FieldType::Decimal | FieldType::Integer) => Cell::Number(text),
        Some(FieldType::Date) => Cell::Date(text),
        _ => Cell::Text(text),
    }
}

pub(super) fn explain(error: WorkbookError) -> anyhow::Error {
    match error {
        WorkbookError::TooManyRows(_) | WorkbookError::TooManyColumns(..) => {
            Failure::usage(error.to_string()).hint("--csv writes tables of any size").into()
        }
        other => other.into(),
    }
}
