//! The reads that count and gather, each on one consistent snapshot.

use super::{
    fail::TxResult,
    rows::{get, name},
    session::Tx,
};
use crate::{
    gather::{self, Counted},
    query::{ConsumerView, ItemCounts, QueueView, StageRow, StoredWorkflow},
};
use bindery_core::{EventSeq, SubmissionId, Timestamp, job::ENGINE_QUEUE};
use tokio_postgres::Row;

pub(super) async fn item_counts(tx: &Tx, submission: SubmissionId) -> TxResult<ItemCounts> {
    let sql = "SELECT kind, count(*) FROM item WHERE submission_id = $1 GROUP BY kind";
    let kind = |row: &Row| Ok((get(row, 0)?, get::<i64>(row, 1)? as u64));
    Ok(gather::item_counts(tx.collect(sql, &[&submission.raw()], kind).await?))
}

/// A name, a code and how many.
fn counted(row: &Row) -> TxResult<Counted> {
    Ok((get(row, 0)?, get::<i16>(row, 1)?.into(), get::<i64>(row, 2)? as u64))
}

pub(super) async fn stage_counts(tx: &Tx, submission: SubmissionId) -> TxResult<Vec<StageRow>> {
    let ended = "SELECT stage, status, count(*) FROM outcome WHERE submission_id = $1 GROUP BY stage, status";
    let live = "SELECT stage, state, count(*) FROM job WHERE submission_id = $1 AND queue <> $2 GROUP BY stage, state";
    let outcomes = tx.collect(ended, &[&submission.raw()], counted).await?;
    let jobs = tx.collect(live, &[&submission.raw(), &ENGINE_QUEUE], counted).await?;
    Ok(gather::stage_rows(outcomes, jobs))
}

pub(super) async fn queues(tx: &Tx) -> TxResult<Vec<QueueView>> {
    let counts = "SELECT queue, state, count(*), min(created_at) FROM job GROUP BY queue, state";
    let jobs = tx.collect(counts, &[], |row| Ok((counted(row)?, Timestamp::from_millis(get(row, 3)?)))).await?;
    let paused = "SELECT name, paused_because FROM queue";
    let paused = tx.collect(paused, &[], |row| Ok((get(row, 0)?, get(row, 1)?))).await?;
    Ok(gather::queue_views(jobs, paused))
}

pub(super) fn consumer(row: &Row) -> TxResult<ConsumerView> {
    Ok(ConsumerView {
        consumer: name(row, 0)?,
        position: EventSeq::from_raw(get(row, 1)?),
        updated_at: Timestamp::from_millis(get(row, 2)?),
    })
}

pub(super) fn workflow(row: &Row) -> TxResult<StoredWorkflow> {
    Ok(StoredWorkflow {
        name: name(row, 0)?,
        version: get(row, 1)?,
        text: get(row, 2)?,
        stored_at: Timestamp::from_millis(get(row, 3)?),
    })
}
