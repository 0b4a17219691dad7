//! Results for people: those of the workflows that come with Bindery as tables, any other as JSON.

use crate::output;
use serde_json::{Map, Value};

/// How many letters of a reason fit into a line.
const LONGEST_REASON: usize = 60;

pub(crate) fn show(result: &Value) -> anyhow::Result<()> {
    let (Some(totals), Some(files)) = (result["totals"].as_object(), result["files"].as_array()) else {
        return output::json(result);
    };
    if let Some(top) = result["top_words"].as_array() {
        words(totals, files, top)
    } else if let Some(documents) = result["documents"].as_array() {
        all_documents(totals, files, documents)
    } else if totals.contains_key("by_ocr") {
        texts(totals, files)
    } else {
        output::json(result)
    }
}

fn words(totals: &Map<String, Value>, files: &[Value], top: &[Value]) -> anyhow::Result<()> {
    let row =
        |file: &Value| [shown(&file["name"]), shown(&file["pages"]), shown(&file["words"]), shown(&file["error"])];
    let total = [all_files(totals), number(totals, "pages"), number(totals, "words"), String::new()];
    output::table(&["FILE", "PAGES#", "WORDS#", ""], files.iter().map(row).chain([total]))?;
    let top: Vec<String> = top.iter().map(|entry| format!("{} {}", shown(&entry["word"]), entry["count"])).collect();
    output::line("")?;
    output::line(format!("{} distinct words; most frequent: {}", number(totals, "distinct_words"), top.join(", ")))?;
    Ok(())
}

fn texts(totals: &Map<String, Value>, files: &[Value]) -> anyhow::Result<()> {
    let row = |file: &Value| ["name", "type", "pages", "by_ocr", "words", "error"].map(|column| shown(&file[column]));
    let [pages, by_ocr, words] = ["pages", "by_ocr", "words"].map(|name| number(totals, name));
    let total = [all_files(totals), String::new(), pages, by_ocr, words, String::new()];
    output::table(&["FILE", "TYPE", "PAGES#", "BY OCR#", "WORDS#", ""], files.iter().map(row).chain([total]))?;
    Ok(())
}

fn all_documents(totals: &Map<String, Value>, files: &[Value], documents: &[Value]) -> anyhow::Result<()> {
    let rows = documents.iter().map(|document| {
        [
            shown(&document["document_id"]),
            shown(&document["file"]),
            pages_of(document),
            shown(&document["doc_type"]),
            per_cent(&document["type_confidence"]),
            document["extracted_data"].as_object().map_or_else(String::new, |fields| fields.len().to_string()),
            remark(document),
        ]
    });
    output::table(&["ID", "FILE", "PAGES", "TYPE", "SURE#", "FIELDS#", "TO LOOK AT"], rows)?;
    for file in files.iter().filter(|file| file["error"].is_string()) {
        output::line(format!("not read: {}: {}", shown(&file["name"]), shown(&file["error"])))?;
    }
    output::line("")?;
    let [pages, documents, review] = ["pages", "documents", "need_review"].map(|name| number(totals, name));
    output::line(format!("{}, {pages} pages, {documents} documents; {review} to look at", all_files(totals)))?;
    Ok(())
}

/// One document with its fields, each with where it stands and what is doubtful.
pub(crate) fn show_document(document: &Value) -> anyhow::Result<()> {
    let pages = pages_of(document);
    let (id, kind, file) = (shown(&document["document_id"]), shown(&document["doc_type"]), shown(&document["file"]));
    output::line(format!("{id}: {kind}, {} sure, pages {pages} of {file}", per_cent(&document["type_confidence"])))?;
    for reason in document["because"].as_array().into_iter().flatten() {
        output::line(format!("  because {}", shown(&reason["text"])))?;
    }
    output::line("")?;
    let fields = document["evidence"].as_object().into_iter().flatten();
    let rows = fields.map(|(name, field)| {
        let doubts = field["doubts"].as_array().into_iter().flatten();
        let doubts: Vec<String> = doubts.map(|doubt| shown(&doubt["text"])).collect();
        [
            name.clone(),
            shown(&field["normalised"]),
            shown(&field["page"]),
            shown(&field["quote"]),
            per_cent(&field["confidence"]),
            doubts.join("; "),
        ]
    });
    output::table(&["FIELD", "VALUE", "PAGE#", "AS PRINTED", "SURE#", "DOUBTS"], rows)?;
    for (name, rows) in document["rows"].as_object().into_iter().flatten() {
        show_rows(name, rows.as_array().map_or(&[], Vec::as_slice))?;
    }
    for reason in document["needs_review"].as_array().into_iter().flatten() {
        output::line(format!("to look at: {}", shown(reason)))?;
    }
    Ok(())
}

fn show_rows(name: &str, rows: &[Value]) -> anyhow::Result<()> {
    let mut columns: Vec<&str> = Vec::new();
    for cell in rows.iter().filter_map(|row| row["cells"].as_object()).flat_map(Map::keys) {
        if !columns.contains(&cell.as_str()) {
            columns.push(cell);
        }
    }
    if columns.is_empty() {
        return Ok(());
    }
    output::line("")?;
    output::line(format!("{name}:"))?;
    for row in rows {
        let cells = columns.iter().map(|column| shown(&row["cells"][*column]["normalised"]));
        output::line(format!("  {}", cells.collect::<Vec<_>>().join(" | ")))?;
    }
    Ok(())
}

/// Why a person should look, in one line.
fn remark(document: &Value) -> String {
    if let Some(error) = document["error"].as_str() {
        return error.to_owned();
    }
    let reasons: Vec<&str> =
        document["needs_review"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let Some(first) = reasons.first() else { return String::new() };
    let mut line: String = first.chars().take(LONGEST_REASON).collect();
    if line.len() < first.len() {
        line.push('…');
    }
    match reasons.len() - 1 {
        0 => line,
        more => format!("{line} (and {more} more)"),
    }
}

/// The pages of a document, as its file counts them where the result says it.
pub(crate) fn pages_of(document: &Value) -> String {
    page_range(document.get("pages").unwrap_or(&document["page_indices"]))
}

/// Pages as people say them: 1-3, 5.
fn page_range(pages: &Value) -> String {
    let pages: Vec<u64> = pages.as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for page in pages {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == page => *last = page,
            _ => runs.push((page, page)),
        }
    }
    let run = |(first, last): &(u64, u64)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

fn per_cent(share: &Value) -> String {
    share.as_f64().map_or_else(String::new, |share| format!("{:.0} %", share * 100.0))
}

fn all_files(totals: &Map<String, Value>) -> String {
    format!("{} files", number(totals, "files"))
}

fn number(totals: &Map<String, Value>, name: &str) -> String {
    totals.get(name).map(shown).unwrap_or_default()
}

/// A text as it is, nothing as nothing, and anything else as JSON.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pages_are_said_as_people_say_them() {
        assert_eq!(page_range(&json!([1, 2, 3, 5, 7, 8])), "1-3, 5, 7-8");
        assert_eq!(page_range(&json!([])), "");
    }

    #[test]
    fn what_to_look_at_fits_into_a_line() {
        let long = "a".repeat(200);
        let line = remark(&json!({"needs_review": [long, "and another"]}));
        assert_eq!(line, format!("{}… (and 1 more)", "a".repeat(60)));
        assert_eq!(remark(&json!({"needs_review": []})), "");
        assert_eq!(remark(&json!({"error": "torn"})), "torn");
    }
}
