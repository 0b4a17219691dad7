//! The reads that count and gather, each on one consistent snapshot.

use super::{
    fail::TxResult,
    ready::STATE_NOW,
    rows::{get, name},
    session::Tx,
};
use crate::{
    gather::{self, Counted},
    query::{ConsumerView, QueueView, StoredWorkflow},
};
use bindery_core::{EventSeq, Timestamp};
use tokio_postgres::Row;

/// A name, a code and how many.
fn read_counted(row: &Row) -> TxResult<Counted> {
    Ok((get(row, 0)?, get::<i16>(row, 1)?.into(), get::<i64>(row, 2)? as u64))
}

pub(super) async fn queues(tx: &Tx) -> TxResult<Vec<QueueView>> {
    let state = &*STATE_NOW;
    let counts = format!("SELECT queue, {state}, count(*), min(created_at) FROM job GROUP BY 1, 2");
    let jobs = tx.collect(&counts, &[], |row| Ok((read_counted(row)?, Timestamp::from_millis(get(row, 3)?)))).await?;
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
