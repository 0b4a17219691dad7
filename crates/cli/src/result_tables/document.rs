//! One document.

use super::per_cent;
use crate::output;
use bindery_app::results::{cell_text, columns, pages_of};
use serde_json::Value;

/// One document with its fields, each with where it stands and what is doubtful.
pub(crate) fn show_document(document: &Value) -> anyhow::Result<()> {
    let pages = pages_of(document);
    let (id, kind, file) =
        (cell_text(&document["document_id"]), cell_text(&document["doc_type"]), cell_text(&document["file"]));
    output::line(format!("{id}: {kind}, {} sure, pages {pages} of {file}", per_cent(&document["type_confidence"])))?;
    for reason in document["because"].as_array().into_iter().flatten() {
        output::line(format!("  because {}", cell_text(&reason["text"])))?;
    }
    if let Some(error) = document["error"].as_str() {
        return Ok(output::line(format!("failed: {error}"))?);
    }
    output::line("")?;
    let fields = document["evidence"].as_object().into_iter().flatten();
    let rows = fields.map(|(name, field)| {
        let doubts = field["doubts"].as_array().into_iter().flatten();
        let doubts: Vec<String> = doubts.map(|doubt| cell_text(&doubt["text"])).collect();
        [
            name.clone(),
            cell_text(&field["normalised"]),
            cell_text(&field["page"]),
            cell_text(&field["quote"]),
            per_cent(&field["confidence"]),
            doubts.join("; "),
        ]
    });
    output::table(&["FIELD", "VALUE", "PAGE#", "AS PRINTED", "SURE#", "DOUBTS"], rows)?;
    for (name, rows) in document["rows"].as_object().into_iter().flatten() {
        show_rows(name, rows.as_array().map_or(&[], Vec::as_slice))?;
    }
    for reason in document["needs_review"].as_array().into_iter().flatten() {
        output::line(format!("to look at: {}", cell_text(reason)))?;
    }
    if let Some(decided) = document["decided"].as_object() {
        let [verdict, by, at] = ["verdict", "by", "at"].map(|key| decided.get(key).map(cell_text).unwrap_or_default());
        let by = if by.is_empty() { String::new() } else { format!(" by {by}") };
        output::line(format!("{verdict}{by} at {at}"))?;
    }
    Ok(())
}

fn show_rows(name: &str, rows: &[Value]) -> anyhow::Result<()> {
    let columns = columns(rows);
    if columns.is_empty() {
        return Ok(());
    }
    output::line("")?;
    output::line(format!("{name}:"))?;
    let doubts = |row: &Value| -> String {
        let doubts = row["doubts"].as_array().into_iter().flatten();
        doubts.map(|doubt| cell_text(&doubt["text"])).collect::<Vec<_>>().join("; ")
    };
    let are_doubted = rows.iter().any(|row| !doubts(row).is_empty());
    let mut headings = vec!["ROW#".to_owned()];
    headings.extend(columns.iter().map(|column| column.to_uppercase()));
    headings.extend(are_doubted.then(|| "DOUBTS".to_owned()));
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let cells = |(number, row): (usize, &Value)| -> Vec<String> {
        let cells = columns.iter().map(|column| cell_text(&row["cells"][column.as_str()]["normalised"]));
        let doubts = are_doubted.then(|| doubts(row));
        std::iter::once((number + 1).to_string()).chain(cells).chain(doubts).collect()
    };
    output::table(&headings, rows.iter().enumerate().map(cells))?;
    Ok(())
}
