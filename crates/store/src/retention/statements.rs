//! Statements that take rows of one submission: the first parameter is the submission, the second how many rows may go.
//!
//! Each backend renders them in its own dialect. Each pair is run in one transaction: first what the rows name is read,
//! then the same rows are changed.

use super::{Expiry, types::PARTS};
use crate::rows::render::Dialect;

/// Rows to be taken, and what they named.
#[derive(Debug, Clone)]
pub(crate) struct Taking {
    /// Reads the columns that may name blobs; none where they name none.
    pub(crate) names: Option<String>,
    pub(crate) change: String,
}

/// The parameters: the submission, and how many rows may go.
fn parameters<D: Dialect>() -> (String, String) {
    (D::parameter(1), D::parameter(2))
}

/// Everything of a submission but its events and its own row.
pub(crate) fn whole<D: Dialect>() -> Vec<Taking> {
    let (of, room) = parameters::<D>();
    let mut all: Vec<Taking> = PARTS
        .iter()
        .map(|(table, key, columns)| {
            let rows = format!("FROM {table} WHERE submission_id = {of} ORDER BY {key} LIMIT {room}");
            Taking {
                names: Some(format!("SELECT {columns} {rows}")),
                change: format!("DELETE FROM {table} WHERE submission_id = {of} AND ({key}) IN (SELECT {key} {rows})"),
            }
        })
        .collect();
    let chunks = format!(
        "DELETE FROM indexed_chunk WHERE id IN (SELECT c.id FROM indexed_document d \
                  JOIN indexed_chunk c ON c.collection = d.collection AND c.document_id = d.document_id \
                  WHERE d.submission_id = {of} LIMIT {room})"
    );
    let documents = format!(
        "DELETE FROM indexed_document WHERE submission_id = {of} AND (collection, document_id) IN \
                     (SELECT collection, document_id FROM indexed_document WHERE submission_id = {of} LIMIT {room})"
    );
    all.extend([chunks, documents].map(|change| Taking { names: None, change }));
    all
}

/// Its events up to a position.
pub(crate) fn events<D: Dialect>(up_to: i64) -> Taking {
    let (of, room) = parameters::<D>();
    let change = format!(
        "DELETE FROM event WHERE submission_id = {of} AND seq IN \
         (SELECT seq FROM event WHERE submission_id = {of} AND seq <= {up_to} LIMIT {room})"
    );
    Taking { names: None, change }
}

/// Executions whose owner has nothing on hold.
pub(crate) const NOT_ON_HOLD: &str = "NOT EXISTS (SELECT 1 FROM retention r JOIN submission s ON s.id = r.submission_id \
                                      WHERE r.hold_reason IS NOT NULL AND s.owner = execution.owner)";

/// What executions name, and their rows in the order in which they go; the last are the executions themselves.
pub(crate) const EXECUTION_NAMES: [&str; 2] = [
    "SELECT input, state, output FROM execution WHERE id IN {ids}",
    "SELECT text FROM execution_letter WHERE execution_id IN {ids}",
];
pub(crate) const EXECUTION_ROWS: [&str; 4] = [
    "DELETE FROM execution_history WHERE execution_id IN {ids}",
    "DELETE FROM execution_letter WHERE execution_id IN {ids}",
    "DELETE FROM execution_token WHERE execution_id IN {ids}",
    "DELETE FROM execution WHERE id IN {ids}",
];

const RAW: &str = "(a.key LIKE 'raw/%' OR EXISTS (SELECT 1 FROM item f WHERE f.submission_id = a.submission_id \
                   AND f.kind = 'file' AND f.content = a.hash))";
const PICTURE: &str = "(a.media_type LIKE 'image/%' OR a.media_type = 'application/pdf')";

/// The parts that have expired. `read_by_all` is the position up to which every consumer has read.
pub(crate) fn expired<D: Dialect>(expiry: &Expiry, read_by_all: i64) -> Vec<Taking> {
    let (of, _) = parameters::<D>();
    let mut all = Vec::new();
    if expiry.raw_files {
        all.extend([artifacts::<D>(RAW), contents::<D>("'file'")]);
    }
    if expiry.page_images {
        all.extend([artifacts::<D>(&format!("NOT {RAW} AND {PICTURE}")), contents::<D>("'page', 'document'")]);
    }
    if expiry.texts {
        let kinds: Vec<String> = expiry.text_kinds().iter().map(|kind| format!("'{kind}'")).collect();
        let items =
            format!("(SELECT i.id FROM item i WHERE i.submission_id = {of} AND i.kind IN ({}))", kinds.join(", "));
        all.push(artifacts::<D>(&format!("NOT {RAW} AND NOT {PICTURE} AND a.item_id IN {items}")));
        // The name of a stage has no quotes, which is checked where workflows are read; it is made sure of here.
        let last = expiry.last_stage.as_deref().unwrap_or_default().replace('\'', "''");
        all.push(emptied::<D>(
            "outcome",
            "stage, item_id, processor",
            &["output", "output_blob", "resume", "reuse_key", "made"],
            &format!("stage <> '{last}' AND item_id IN {items}"),
        ));
        all.push(emptied::<D>("review", "id", &["input", "input_blob"], &format!("item_id IN {items}")));
    }
    if expiry.events {
        all.push(events::<D>(read_by_all));
    }
    all
}

fn artifacts<D: Dialect>(which: &str) -> Taking {
    let (of, room) = parameters::<D>();
    let rows = format!("FROM artifact a WHERE a.submission_id = {of} AND {which} ORDER BY a.key LIMIT {room}");
    Taking {
        names: Some(format!("SELECT a.hash {rows}")),
        change: format!("DELETE FROM artifact WHERE submission_id = {of} AND key IN (SELECT a.key {rows})"),
    }
}

fn contents<D: Dialect>(kinds: &str) -> Taking {
    emptied::<D>("item", "id", &["content"], &format!("kind IN ({kinds})"))
}

/// Takes the values of columns, and leaves the row.
fn emptied<D: Dialect>(table: &str, key: &str, columns: &[&str], which: &str) -> Taking {
    let (of, room) = parameters::<D>();
    let any: Vec<String> = columns.iter().map(|column| format!("{column} IS NOT NULL")).collect();
    let none: Vec<String> = columns.iter().map(|column| format!("{column} = NULL")).collect();
    let rows = format!(
        "FROM {table} WHERE submission_id = {of} AND {which} AND ({}) ORDER BY {key} LIMIT {room}",
        any.join(" OR ")
    );
    Taking {
        names: Some(format!("SELECT {} {rows}", columns.join(", "))),
        change: format!(
            "UPDATE {table} SET {} WHERE submission_id = {of} AND ({key}) IN (SELECT {key} {rows})",
            none.join(", ")
        ),
    }
}
