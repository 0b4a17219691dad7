//! Statements that take rows of one submission: `$1` is the submission, `$2` how many rows may go.
//!
//! They are the same for both backends, which spell parameters differently. Each pair is run in one transaction: first what
//! the rows name is read, then the same rows are changed.

use super::{Expiry, types::PARTS};

/// Rows to be taken, and what they named.
#[derive(Debug, Clone)]
pub(crate) struct Taking {
    /// Reads the columns that may name blobs; none where they name none.
    pub(crate) names: Option<String>,
    pub(crate) change: String,
}

/// Everything of a submission but its events and its own row.
pub(crate) fn whole() -> Vec<Taking> {
    let mut all: Vec<Taking> = PARTS
        .iter()
        .map(|(table, key, columns)| {
            let rows = format!("FROM {table} WHERE submission_id = $1 ORDER BY {key} LIMIT $2");
            Taking {
                names: Some(format!("SELECT {columns} {rows}")),
                change: format!("DELETE FROM {table} WHERE submission_id = $1 AND ({key}) IN (SELECT {key} {rows})"),
            }
        })
        .collect();
    let chunks = "DELETE FROM indexed_chunk WHERE id IN (SELECT c.id FROM indexed_document d \
                  JOIN indexed_chunk c ON c.collection = d.collection AND c.document_id = d.document_id \
                  WHERE d.submission_id = $1 LIMIT $2)";
    let documents = "DELETE FROM indexed_document WHERE submission_id = $1 AND (collection, document_id) IN \
                     (SELECT collection, document_id FROM indexed_document WHERE submission_id = $1 LIMIT $2)";
    all.extend([chunks, documents].map(|change| Taking { names: None, change: change.to_owned() }));
    all
}

/// Its events up to a position.
pub(crate) fn events(up_to: i64) -> Taking {
    let change = format!(
        "DELETE FROM event WHERE submission_id = $1 AND seq IN \
         (SELECT seq FROM event WHERE submission_id = $1 AND seq <= {up_to} LIMIT $2)"
    );
    Taking { names: None, change }
}

const RAW: &str = "(a.key LIKE 'raw/%' OR EXISTS (SELECT 1 FROM item f WHERE f.submission_id = a.submission_id \
                   AND f.kind = 'file' AND f.content = a.hash))";
const PICTURE: &str = "(a.media_type LIKE 'image/%' OR a.media_type = 'application/pdf')";

/// The parts that have expired. `read_by_all` is the position up to which every consumer has read.
pub(crate) fn expired(expiry: &Expiry, read_by_all: i64) -> Vec<Taking> {
    let mut all = Vec::new();
    if expiry.raw_files {
        all.extend([artifacts(RAW), contents("'file'")]);
    }
    if expiry.page_images {
        all.extend([artifacts(&format!("NOT {RAW} AND {PICTURE}")), contents("'page', 'document'")]);
    }
    if expiry.texts {
        let kinds: Vec<String> = expiry.text_kinds().iter().map(|kind| format!("'{kind}'")).collect();
        let items =
            format!("(SELECT i.id FROM item i WHERE i.submission_id = $1 AND i.kind IN ({}))", kinds.join(", "));
        all.push(artifacts(&format!("NOT {RAW} AND NOT {PICTURE} AND a.item_id IN {items}")));
        // The name of a stage has no quotes, which is checked where workflows are read; it is made sure of here.
        let last = expiry.last_stage.as_deref().unwrap_or_default().replace('\'', "''");
        all.push(emptied(
            "outcome",
            "stage, item_id, processor",
            &["output", "output_blob", "resume"],
            &format!("stage <> '{last}' AND item_id IN {items}"),
        ));
        all.push(emptied("review", "id", &["input", "input_blob"], &format!("item_id IN {items}")));
    }
    if expiry.events {
        all.push(events(read_by_all));
    }
    all
}

fn artifacts(which: &str) -> Taking {
    let rows = format!("FROM artifact a WHERE a.submission_id = $1 AND {which} ORDER BY a.key LIMIT $2");
    Taking {
        names: Some(format!("SELECT a.hash {rows}")),
        change: format!("DELETE FROM artifact WHERE submission_id = $1 AND key IN (SELECT a.key {rows})"),
    }
}

fn contents(kinds: &str) -> Taking {
    emptied("item", "id", &["content"], &format!("kind IN ({kinds})"))
}

/// Takes the values of columns, and leaves the row.
fn emptied(table: &str, key: &str, columns: &[&str], which: &str) -> Taking {
    let any: Vec<String> = columns.iter().map(|column| format!("{column} IS NOT NULL")).collect();
    let none: Vec<String> = columns.iter().map(|column| format!("{column} = NULL")).collect();
    let rows =
        format!("FROM {table} WHERE submission_id = $1 AND {which} AND ({}) ORDER BY {key} LIMIT $2", any.join(" OR "));
    Taking {
        names: Some(format!("SELECT {} {rows}", columns.join(", "))),
        change: format!(
            "UPDATE {table} SET {} WHERE submission_id = $1 AND ({key}) IN (SELECT {key} {rows})",
            none.join(", ")
        ),
    }
}
