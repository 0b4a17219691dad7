//! Results of submissions: read as a stream, and written for other programs.
//!
//! | file | what it does |
//! |---|---|
//! | `stored` | a result as it is stored, however long |
//! | `tables` | its documents as CSV and as lines of JSON |
//! | `xlsx`, `workbook` | the same for a spreadsheet |
//! | `parts` | what a collector has bound, as CSV, a spreadsheet or lines of JSON |
//! | `texts` | the texts of its files, as files |
//! | `returned_files` | the files that programs have returned, as files |
//! | `rows` | the columns of lists, such as line items, in printed order |

pub mod parts;
mod returned_files;
mod rows;
mod stored;
mod tables;
mod texts;
mod workbook;
mod xlsx;

pub use returned_files::write_returned_files;
pub use rows::columns;
pub use stored::StoredResult;
pub use tables::{field_names, find_document, row_columns, write_csv, write_json_lines, write_rows_csv};
pub use texts::write_texts;
pub use workbook::WorkbookError;
pub use xlsx::write_xlsx;

use bindery_core::SubmissionId;
use serde_json::Value;
use std::{io, path::PathBuf};

/// Why something of a result cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    #[error("the result has no documents")]
    NoDocuments,
    #[error("what the stages say has more than {0} different keys, too many for a table")]
    TooManyKeys(usize),
    #[error("no program has returned files for {id}")]
    NoFiles { id: SubmissionId },
    #[error("the result of {id} has no texts")]
    NoTexts { id: SubmissionId },
    #[error("{key} is named in the result of {id}, and is not in the store")]
    TextMissing { id: SubmissionId, key: String },
    #[error("{} cannot be written: {error}", path.display())]
    Unwritable { path: PathBuf, error: io::Error },
}

/// The pages of a document, as its file counts them where the result says it.
pub fn pages_of(document: &Value) -> String {
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

/// A text as it is, nothing as nothing, and anything else as JSON.
pub fn cell_text(value: &Value) -> String {
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
