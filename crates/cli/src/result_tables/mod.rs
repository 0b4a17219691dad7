//! Results for people: those of the workflows that come with Bindery as tables, any other as JSON.
//!
//! | module | shows |
//! |---|---|
//! | `analysis` | the submission as a whole: what its checklist asks for, what is missing, what contradicts |
//! | `documents` | all documents of a submission: what each is and says, what to look at and why, what is missing |
//! | `rows` | the columns of lists, such as line items, in printed order |
//! | `document` | one document: every field with where it stands and what is doubtful |

mod analysis;
mod document;
mod documents;
mod rows;

pub(crate) use document::show_document;
pub(crate) use documents::in_short;
pub(crate) use rows::columns;

use crate::{
    output,
    pretty_json::write_pretty,
    terminal::{DataForm, stdout},
};
use bindery_app::StoredResult;
use serde_json::{Map, Value};

/// `result` is what `stored` says, without its index.
pub(crate) fn show(stored: &StoredResult, result: &Value) -> anyhow::Result<()> {
    let (Some(totals), Some(files)) = (result["totals"].as_object(), result["files"].as_array()) else {
        return Ok(write_pretty(stored, stdout(DataForm::Json))?);
    };
    if let Some(top) = result["top_words"].as_array() {
        words(totals, files, top)
    } else if let Some(documents) = result["documents"].as_array() {
        documents::show(result, totals, documents)?;
        match &result["analysis"] {
            Value::Null => Ok(()),
            analysis => analysis::show(analysis),
        }
    } else if totals.contains_key("by_ocr") {
        texts(totals, files)
    } else {
        Ok(write_pretty(stored, stdout(DataForm::Json))?)
    }
}

fn words(totals: &Map<String, Value>, files: &[Value], top: &[Value]) -> anyhow::Result<()> {
    let row = |file: &Value| {
        [cell_text(&file["name"]), cell_text(&file["pages"]), cell_text(&file["words"]), cell_text(&file["error"])]
    };
    let total = [all_files(totals), number(totals, "pages"), number(totals, "words"), String::new()];
    output::table(&["FILE", "PAGES#", "WORDS#", ""], files.iter().map(row).chain([total]))?;
    let top: Vec<String> =
        top.iter().map(|entry| format!("{} {}", cell_text(&entry["word"]), entry["count"])).collect();
    output::line("")?;
    output::line(format!("{} distinct words; most frequent: {}", number(totals, "distinct_words"), top.join(", ")))?;
    Ok(())
}

fn texts(totals: &Map<String, Value>, files: &[Value]) -> anyhow::Result<()> {
    let row =
        |file: &Value| ["name", "type", "pages", "by_ocr", "words", "error"].map(|column| cell_text(&file[column]));
    let [pages, by_ocr, words] = ["pages", "by_ocr", "words"].map(|name| number(totals, name));
    let total = [all_files(totals), String::new(), pages, by_ocr, words, String::new()];
    output::table(&["FILE", "TYPE", "PAGES#", "BY OCR#", "WORDS#", ""], files.iter().map(row).chain([total]))?;
    Ok(())
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
    output::count(totals.get("files").and_then(Value::as_u64).unwrap_or(0), "file")
}

fn number(totals: &Map<String, Value>, name: &str) -> String {
    totals.get(name).map(cell_text).unwrap_or_default()
}

/// A text as it is, nothing as nothing, and anything else as JSON.
pub(crate) fn cell_text(value: &Value) -> String {
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
}
