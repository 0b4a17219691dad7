//! The reads that count and gather, each on one consistent snapshot.

use super::{
    fail::TxResult,
    rows::{get, name},
    session::Tx,
};
use crate::query::{ConsumerView, ItemCounts, QueueView, StageRow, StoredWorkflow};
use bindery_core::{
    EventSeq, SubmissionId, Timestamp,
    item::ItemKind,
    job::{ENGINE_QUEUE, JobState},
    outcome::OutcomeStatus,
    progress::StageCounts,
};
use std::collections::BTreeMap;
use tokio_postgres::Row;

pub(super) async fn item_counts(tx: &Tx, submission: SubmissionId) -> TxResult<ItemCounts> {
    let mut counts = ItemCounts::default();
    let sql = "SELECT kind, count(*) FROM item WHERE submission_id = $1 GROUP BY kind";
    for row in tx.query(sql, &[&submission.raw()]).await? {
        let count = get::<i64>(&row, 1)? as u64;
        match ItemKind::from_name(get(&row, 0)?) {
            Some(ItemKind::File) => counts.files = count,
            Some(ItemKind::Page) => counts.pages = count,
            Some(ItemKind::Document) => counts.documents = count,
            None => {}
        }
    }
    Ok(counts)
}

/// A name, a code and how many.
fn counted(row: &Row) -> TxResult<(String, i64, u64)> {
    Ok((get(row, 0)?, get::<i16>(row, 1)?.into(), get::<i64>(row, 2)? as u64))
}

pub(super) async fn stage_counts(tx: &Tx, submission: SubmissionId) -> TxResult<Vec<StageRow>> {
    let mut stages: BTreeMap<String, StageCounts> = BTreeMap::new();
    let ended = "SELECT stage, status, count(*) FROM outcome WHERE submission_id = $1 GROUP BY stage, status";
    for (stage, status, count) in tx.collect(ended, &[&submission.raw()], counted).await? {
        let counts = stages.entry(stage).or_default();
        match OutcomeStatus::from_code(status) {
            Some(OutcomeStatus::Completed) => counts.completed = count,
            Some(OutcomeStatus::Failed) => counts.failed = count,
            Some(OutcomeStatus::Skipped) => counts.skipped = count,
            Some(OutcomeStatus::Review) => counts.review = count,
            None => {}
        }
    }
    let live = "SELECT stage, state, count(*) FROM job WHERE submission_id = $1 AND queue <> $2 GROUP BY stage, state";
    for (stage, state, count) in tx.collect(live, &[&submission.raw(), &ENGINE_QUEUE], counted).await? {
        let counts = stages.entry(stage).or_default();
        match JobState::from_code(state) {
            Some(JobState::Ready) => counts.waiting = count,
            Some(JobState::Scheduled) => counts.scheduled = count,
            Some(JobState::Running) => counts.running = count,
            Some(JobState::Parked) => counts.parked = count,
            Some(JobState::Awaiting) => counts.awaiting = count,
            Some(JobState::Cancelled) => counts.cancelled = count,
            Some(JobState::Dead) | None => {} // its outcome is counted
        }
    }
    Ok(stages.into_iter().map(|(stage, counts)| StageRow { stage: stage.into(), counts }).collect())
}

pub(super) async fn queues(tx: &Tx) -> TxResult<Vec<QueueView>> {
    let mut queues: BTreeMap<String, QueueView> = BTreeMap::new();
    let empty = |queue: &str| QueueView {
        queue: queue.into(),
        paused: false,
        paused_because: None,
        ready: 0,
        scheduled: 0,
        running: 0,
        parked: 0,
        awaiting: 0,
        dead: 0,
        oldest_ready_at: None,
    };
    let counts = "SELECT queue, state, count(*), min(created_at) FROM job GROUP BY queue, state";
    for row in tx.query(counts, &[]).await? {
        let ((queue, state, count), oldest) = (counted(&row)?, Timestamp::from_millis(get(&row, 3)?));
        let view = queues.entry(queue.clone()).or_insert_with(|| empty(&queue));
        match JobState::from_code(state) {
            Some(JobState::Ready) => (view.ready, view.oldest_ready_at) = (count, Some(oldest)),
            Some(JobState::Scheduled) => view.scheduled = count,
            Some(JobState::Running) => view.running = count,
            Some(JobState::Parked) => view.parked = count,
            Some(JobState::Awaiting) => view.awaiting = count,
            Some(JobState::Dead) => view.dead = count,
            Some(JobState::Cancelled) | None => {}
        }
    }
    for row in tx.query("SELECT name, paused_because FROM queue", &[]).await? {
        let (queue, because): (String, String) = (get(&row, 0)?, get(&row, 1)?);
        let view = queues.entry(queue.clone()).or_insert_with(|| empty(&queue));
        view.paused = true;
        view.paused_because = Some(because).filter(|because| !because.is_empty());
    }
    Ok(queues.into_values().collect())
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
