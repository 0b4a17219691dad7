//! Which blobs rows name: candidates, the mark phase, and what payloads are known to name.

use super::writer::{Tx, WriteResult};
use crate::{
    retention::{Candidates, Marked, Marking, PAYLOAD_COLUMNS, write_mentions},
    rows::BlobColumns,
};
use bindery_core::{ContentHash, Timestamp};
use rusqlite::{Connection, types::ValueRef};
use std::collections::HashMap;

pub(super) fn candidates(db: &Connection, before: Option<Timestamp>, limit: usize) -> rusqlite::Result<Candidates> {
    let sql = "SELECT hash, submission_id FROM blob_candidate WHERE hash IN (SELECT hash FROM blob_candidate \
               GROUP BY hash HAVING ?2 IS NULL OR max(since) < ?2 ORDER BY min(since), hash LIMIT ?1)";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query((limit as i64, before.map(Timestamp::as_millis)))?;
    let mut found = Candidates::default();
    while let Some(row) = rows.next()? {
        let hash: [u8; 32] = row.get(0)?;
        let ignored = found.0.entry(ContentHash::from_bytes(hash)).or_default();
        let submission: i64 = row.get(1)?;
        if submission != 0 {
            ignored.push(submission);
        }
    }
    Ok(found)
}

pub(super) fn add_candidates(tx: &Tx<'_>, candidates: &Candidates) -> WriteResult<()> {
    let mut add = tx.db.prepare_cached(
        "INSERT INTO blob_candidate (hash, submission_id, since) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?;
    for (hash, ignored) in &candidates.0 {
        for submission in ignored.iter().copied().chain(ignored.is_empty().then_some(0)) {
            add.execute((hash.as_bytes(), submission, tx.now.as_millis()))?;
        }
    }
    Ok(())
}

pub(super) fn mark(db: &Connection, named_in: &[BlobColumns], candidates: &Candidates) -> rusqlite::Result<Marked> {
    let mut marking = Marking::new(candidates);
    for BlobColumns { table, of_submission, columns } in named_in {
        let submission = if *of_submission { "submission_id" } else { "NULL" };
        let mut statement = db.prepare(&format!("SELECT {submission}, {} FROM {table}", columns.join(", ")))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let submission: Option<i64> = row.get(0)?;
            for column in 1..=columns.len() {
                match row.get_ref(column)? {
                    ValueRef::Blob(bytes) => marking.see_bytes(submission, bytes),
                    ValueRef::Text(text) => marking.see_text(submission, text),
                    ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => {}
                }
            }
        }
    }
    for (table, column) in PAYLOAD_COLUMNS {
        let sql = format!(
            "SELECT t.submission_id, t.{column}, m.mentions FROM {table} t \
             LEFT JOIN blob_mention m ON m.hash = t.{column} WHERE t.{column} IS NOT NULL"
        );
        let mut statement = db.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let known = row.get_ref(2)?.as_blob_or_null().ok().flatten();
            marking.see_payload(row.get(0)?, row.get_ref(1)?.as_blob().unwrap_or_default(), known);
        }
    }
    Ok(marking.marked)
}

pub(super) fn cache(
    tx: &Tx<'_>,
    read: &HashMap<ContentHash, Vec<ContentHash>>,
    gone: &[ContentHash],
) -> WriteResult<()> {
    let mut keep = tx
        .db
        .prepare_cached("INSERT INTO blob_mention (hash, mentions) VALUES (?1, ?2) ON CONFLICT (hash) DO NOTHING")?;
    for (payload, named) in read {
        keep.execute((payload.as_bytes(), write_mentions(named)))?;
    }
    let mut forget = tx.db.prepare_cached("DELETE FROM blob_mention WHERE hash = ?1")?;
    for hash in gone {
        forget.execute([hash.as_bytes()])?;
    }
    Ok(())
}
