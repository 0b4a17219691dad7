//! Results for people: those of the workflows that come with Bindery as tables, any other as JSON.
//!
//! | module | shows |
//! |---|---|
//! | `analysis` | the submission as a whole: what its checklist asks for, what is missing, what contradicts |
//! | `documents` | all documents of a submission: what each is and says, what to look at and why, what is missing |
//! | `document` | one document: every field with where it stands and what is doubtful |

mod analysis;
mod document;
mod documents;

pub(crate) use document::show_document;
pub(crate) use documents::in_short;

use crate::{
    output,
    pretty_json::write_pretty,
    terminal::{DataForm, stdout},
};
use bindery_app::results::{StoredResult, cell_text};
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

fn per_cent(share: &Value) -> String {
    share.as_f64().map_or_else(String::new, |share| format!("{:.0} %", share * 100.0))
}

fn all_files(totals: &Map<String, Value>) -> String {
    output::count(totals.get("files").and_then(Value::as_u64).unwrap_or(0), "file")
}

fn number(totals: &Map<String, Value>, name: &str) -> String {
    totals.get(name).map(cell_text).unwrap_or_default()
}
