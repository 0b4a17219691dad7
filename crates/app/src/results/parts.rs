//! What a collector has bound, for other programs: a table in which each part is a row, or a line of JSON each.
//!
//! What a stage says is a column for each key of its object (`longest.words`), and one column where it is none.

use super::{
    ResultError, StoredResult, cell_text,
    workbook::{Cell, Workbook},
};
use crate::error::AppResult;
use bindery_core::cell::harmless;
use serde_json::Value;
use std::{
    collections::BTreeSet,
    io::{self, Seek as _, Write},
};

/// What is known of every part, before what stages say.
const ABOUT: [&str; 5] = ["id", "kind", "label", "parent", "errors"];

/// More columns than this are data that was taken for names.
const MOST_COLUMNS: usize = 2_000;

/// Hands over the parts of a result one by one; false where it has none because no collector made it.
fn each_part(result: &StoredResult, visit: impl FnMut(Value) -> AppResult<()>) -> AppResult<bool> {
    result.each_of("parts", visit)
}

/// A column: the stage, and the key of what it says, where that is an object.
pub type Column = (String, Option<String>);

/// The columns of a table; none where the result has no parts.
pub fn columns(result: &StoredResult) -> AppResult<Option<BTreeSet<Column>>> {
    let mut columns: BTreeSet<Column> = BTreeSet::new();
    let has_parts = each_part(result, |part| {
        for (stage, said) in part["results"].as_object().into_iter().flatten() {
            match said {
                Value::Object(said) => columns.extend(said.keys().map(|key| (stage.clone(), Some(key.clone())))),
                _ => drop(columns.insert((stage.clone(), None))),
            }
        }
        if columns.len() > MOST_COLUMNS {
            return Err(ResultError::TooManyKeys(MOST_COLUMNS).into());
        }
        Ok(())
    })?;
    Ok(has_parts.then_some(columns))
}

fn heading((stage, key): &Column) -> String {
    key.as_ref().map_or_else(|| stage.clone(), |key| format!("{stage}.{key}"))
}

fn summary_cells(part: &Value) -> [String; 5] {
    let errors = part["errors"].as_array().into_iter().flatten();
    let errors = errors.map(|error| format!("{}: {}", cell_text(&error["stage"]), cell_text(&error["message"])));
    [
        cell_text(&part["id"]),
        cell_text(&part["kind"]),
        cell_text(&part["label"]),
        cell_text(&part["parent"]),
        errors.collect::<Vec<_>>().join("; "),
    ]
}

fn value_of<'p>(part: &'p Value, (stage, key): &Column) -> &'p Value {
    let said = &part["results"][stage.as_str()];
    match key {
        Some(key) => said.get(key.as_str()).unwrap_or(&Value::Null),
        None if said.is_object() => &Value::Null,
        None => said,
    }
}

pub fn write_csv(result: &StoredResult, columns: &BTreeSet<Column>, into: impl Write) -> AppResult<()> {
    let mut writer = csv::Writer::from_writer(into);
    let headings = columns.iter().map(|column| harmless(heading(column)));
    writer.write_record(ABOUT.into_iter().map(str::to_owned).chain(headings)).map_err(io::Error::from)?;
    each_part(result, |part| {
        let values = columns.iter().map(|column| cell_text(value_of(&part, column)));
        Ok(writer
            .write_record(summary_cells(&part).into_iter().chain(values).map(harmless))
            .map_err(io::Error::from)?)
    })?;
    writer.flush()?;
    Ok(())
}

pub fn write_xlsx(result: &StoredResult, columns: &BTreeSet<Column>, into: &mut dyn Write) -> AppResult<()> {
    // A package is written with places that are known only at its end.
    let mut workbook = Workbook::new(tempfile::tempfile()?);
    let headings: Vec<String> = columns.iter().map(heading).collect();
    workbook.sheet("Parts", ABOUT.into_iter().chain(headings.iter().map(String::as_str)))?;
    each_part(result, |part| {
        let values = columns.iter().map(|column| match value_of(&part, column) {
            Value::Number(number) => Cell::Number(number.to_string()),
            other => Cell::Text(cell_text(other)),
        });
        Ok(workbook.row(summary_cells(&part).map(Cell::Text).into_iter().chain(values))?)
    })?;
    let mut package = workbook.finish()?;
    package.rewind()?;
    io::copy(&mut package, into)?;
    Ok(into.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_part_is_a_row_and_what_a_stage_says_a_column_for_each_key() {
        let parts = [
            json!({"id": "item_1", "kind": "file", "label": "a.pdf", "parent": null, "errors": [],
                "results": {"longest": {"words": 7, "tags": ["x"]}, "tone": "=good"}}),
            json!({"id": "item_2", "kind": "page", "label": "page 1", "parent": "item_1", "results": {},
                "errors": [{"stage": "tone", "kind": "Busy", "message": "try later"}]}),
        ];
        let result = StoredResult::Text(json!({"parts": parts}).to_string());
        let columns = columns(&result).unwrap().unwrap();
        let mut written = Vec::new();
        write_csv(&result, &columns, &mut written).unwrap();
        assert_eq!(
            String::from_utf8(written).unwrap(),
            "id,kind,label,parent,errors,longest.tags,longest.words,tone\n\
             item_1,file,a.pdf,,,\"[\"\"x\"\"]\",7,'=good\n\
             item_2,page,page 1,item_1,tone: try later,,,\n"
        );
        let mut written = Vec::new();
        write_xlsx(&result, &columns, &mut written).unwrap();
        assert!(written.starts_with(b"PK"));
        assert!(super::columns(&StoredResult::Text("{}".to_owned())).unwrap().is_none());
    }

    #[test]
    fn too_many_keys_are_no_table() {
        let said: serde_json::Map<String, Value> = (0..=MOST_COLUMNS).map(|n| (n.to_string(), n.into())).collect();
        let result = StoredResult::Text(json!({"parts": [{"results": {"words": said}}]}).to_string());
        assert!(columns(&result).unwrap_err().to_string().contains("too many for a table"));
    }
}
