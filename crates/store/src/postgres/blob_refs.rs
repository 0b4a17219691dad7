//! Which blobs rows name: candidates, the mark phase, and what payloads are known to name.

use super::{fail::TxResult, rows::get, session::Tx};
use crate::{
    retention::{Candidates, Marked, Marking, PAYLOAD_COLUMNS, write_mentions},
    rows::BlobColumns,
};
use bindery_core::{ContentHash, Timestamp};
use std::collections::HashMap;
use tokio_postgres::types::Type;

/// How many rows are looked at together.
const ROWS_AT_ONCE: usize = 2_000;

pub(super) async fn candidates(tx: &Tx, before: Option<Timestamp>, limit: usize) -> TxResult<Candidates> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let before = before.map(Timestamp::as_millis);
    let sql = "SELECT hash, submission_id FROM blob_candidate WHERE hash IN (SELECT hash FROM blob_candidate \
               GROUP BY hash HAVING $2::bigint IS NULL OR max(since) < $2 ORDER BY min(since), hash LIMIT $1)";
    let mut found = Candidates::default();
    for row in tx.query(sql, &[&limit, &before]).await? {
        let Ok(hash) = <[u8; 32]>::try_from(get::<&[u8]>(&row, 0)?) else { continue };
        let ignored = found.0.entry(ContentHash::from_bytes(hash)).or_default();
        let submission: i64 = get(&row, 1)?;
        if submission != 0 {
            ignored.push(submission);
        }
    }
    Ok(found)
}

pub(super) async fn add_candidates(tx: &Tx, candidates: &Candidates) -> TxResult<()> {
    let (mut hashes, mut submissions) = (Vec::new(), Vec::new());
    for (hash, ignored) in &candidates.0 {
        for submission in ignored.iter().copied().chain(ignored.is_empty().then_some(0)) {
            hashes.push(hash.as_bytes().as_slice());
            submissions.push(submission);
        }
    }
    let add = "INSERT INTO blob_candidate (hash, submission_id, since) SELECT hash, submission_id, $3 \
               FROM unnest($1::bytea[], $2::bigint[]) AS list (hash, submission_id) ORDER BY 1, 2 ON CONFLICT DO NOTHING";
    tx.execute(add, &[&hashes, &submissions, &tx.millis()]).await.map(drop)
}

pub(super) async fn mark(tx: &Tx, named_in: &[BlobColumns], candidates: &Candidates) -> TxResult<Marked> {
    let mut marking = Marking::new(candidates);
    for BlobColumns { table, of_submission, columns } in named_in {
        let submission = if *of_submission { "submission_id" } else { "NULL::bigint" };
        let sql = format!("SELECT {submission}, {} FROM {table}", columns.join(", "));
        each_row(tx, table, &sql, |row| {
            let submission: Option<i64> = get(row, 0)?;
            for (place, column) in row.columns().iter().enumerate().skip(1) {
                if *column.type_() == Type::BYTEA {
                    if let Some(bytes) = get::<Option<&[u8]>>(row, place)? {
                        marking.see_bytes(submission, bytes);
                    }
                } else if let Some(text) = get::<Option<&str>>(row, place)? {
                    marking.see_text(submission, text.as_bytes());
                }
            }
            Ok(())
        })
        .await?;
    }
    for (table, column) in PAYLOAD_COLUMNS {
        let sql = format!(
            "SELECT t.submission_id, t.{column}, m.mentions FROM {table} t \
             LEFT JOIN blob_mention m ON m.hash = t.{column} WHERE t.{column} IS NOT NULL"
        );
        each_row(tx, column, &sql, |row| {
            marking.see_payload(Some(get(row, 0)?), get(row, 1)?, get::<Option<&[u8]>>(row, 2)?);
            Ok(())
        })
        .await?;
    }
    Ok(marking.marked)
}

/// Goes through an answer of any length in bounded memory.
async fn each_row(
    tx: &Tx,
    name: &str,
    sql: &str,
    mut see: impl FnMut(&tokio_postgres::Row) -> TxResult<()> + Send,
) -> TxResult<()> {
    tx.execute(&format!("DECLARE mark_{name} NO SCROLL CURSOR FOR {sql}"), &[]).await?;
    loop {
        let rows = tx.query(&format!("FETCH {ROWS_AT_ONCE} FROM mark_{name}"), &[]).await?;
        if rows.is_empty() {
            break;
        }
        rows.iter().try_for_each(&mut see)?;
    }
    tx.execute(&format!("CLOSE mark_{name}"), &[]).await.map(drop)
}

pub(super) async fn cache(
    tx: &Tx,
    read: &HashMap<ContentHash, Vec<ContentHash>>,
    gone: &[ContentHash],
) -> TxResult<()> {
    let payloads: Vec<&[u8]> = read.keys().map(|hash| hash.as_bytes().as_slice()).collect();
    let named: Vec<Vec<u8>> = read.values().map(|named| write_mentions(named)).collect();
    let keep = "INSERT INTO blob_mention (hash, mentions) SELECT hash, mentions \
                FROM unnest($1::bytea[], $2::bytea[]) AS list (hash, mentions) ORDER BY hash ON CONFLICT DO NOTHING";
    tx.execute(keep, &[&payloads, &named]).await?;
    let gone: Vec<&[u8]> = gone.iter().map(|hash| hash.as_bytes().as_slice()).collect();
    tx.execute("DELETE FROM blob_mention WHERE hash = ANY($1)", &[&gone]).await.map(drop)
}
