//! Storing jobs: new ones, and those that a live job with the same dedup key takes in.

use super::{
    copy::{Target, WORTH_A_COPY, copy},
    fail::{TxError, TxResult},
    rows::{get, item_number, payload_columns, to_json},
    session::Tx,
};
use crate::{commit::Enqueued, error::StoreError};
use bindery_core::{
    JobId, JoinId, Timestamp,
    job::{JobState, NewJob},
};
use futures_util::future::try_join_all;
use std::{collections::HashMap, sync::LazyLock};
use tokio_postgres::{Row, types::Type};

/// Stores jobs; the results are in their order. New ones get their ids in that order too.
///
/// Most are new, so all are stored that can be. Those whose key is in use are merged into the live job, with its row
/// locked; where that job has ended meanwhile, they are new after all.
pub(super) async fn enqueue(tx: &Tx, jobs: &[&NewJob]) -> TxResult<Vec<Enqueued>> {
    let mut results: Vec<Option<Enqueued>> = vec![None; jobs.len()];
    let mut waiting: Vec<usize> = (0..jobs.len()).collect();
    while !waiting.is_empty() {
        let lost = insert(tx, jobs, &waiting, &mut results).await?;
        waiting.clear();
        if lost.is_empty() {
            break;
        }
        let live = live_keys(tx, jobs, &lost).await?;
        let mut merges = Vec::new();
        for place in lost {
            match jobs[place].dedup_key.as_ref().and_then(|key| live.get(key)) {
                Some((id, state)) => merges.push((place, *id, *state)),
                None => waiting.push(place),
            }
        }
        merge_all(tx, jobs, &merges, &mut results).await?;
    }
    let missing = || TxError::Store(StoreError::Database("a job was neither stored nor merged".to_owned()));
    results.into_iter().map(|result| result.ok_or_else(missing)).collect()
}

/// The live jobs that hold the keys, locked.
async fn live_keys(tx: &Tx, jobs: &[&NewJob], lost: &[usize]) -> TxResult<HashMap<String, (i64, JobState)>> {
    let keys: Vec<&str> = lost.iter().filter_map(|place| jobs[*place].dedup_key.as_deref()).collect();
    let sql = "SELECT dedup_key, id, state FROM job WHERE dedup_key = ANY($1) AND shelf < 5 ORDER BY id FOR UPDATE";
    let found = |row: &Row| {
        let state = JobState::from_code(get::<i16>(row, 2)?.into()).unwrap_or(JobState::Ready);
        Ok((get(row, 0)?, (get(row, 1)?, state)))
    };
    Ok(tx.collect(sql, &[&keys], found).await?.into_iter().collect())
}

/// A running job has begun with the older request, so it is marked to run once more.
const MARK: &str = "UPDATE job SET dirty = true, next_payload = $2, next_payload_blob = $3, \
    priority = greatest(priority, $4) WHERE id = $1";

const MERGE: &str = "UPDATE job SET payload = $2, payload_blob = $3, priority = greatest(priority, $4), \
    due_at = CASE WHEN state = 1 AND least(due_at, $5) > $6 THEN least(due_at, $5) \
                  WHEN state = 1 THEN NULL ELSE due_at END, \
    state = CASE WHEN state = 1 AND least(due_at, $5) <= $6 THEN 0 ELSE state END WHERE id = $1";

/// Live jobs with the same keys take the newer requests in, one after the other. None waits for the answer to the one
/// before it.
async fn merge_all(
    tx: &Tx,
    jobs: &[&NewJob],
    merges: &[(usize, i64, JobState)],
    results: &mut [Option<Enqueued>],
) -> TxResult<()> {
    tx.prepare(MARK).await?;
    tx.prepare(MERGE).await?;
    let merged = try_join_all(merges.iter().map(|(place, id, state)| merge(tx, *id, *state, jobs[*place]))).await?;
    for ((place, ..), result) in merges.iter().zip(merged) {
        results[*place] = Some(result);
    }
    Ok(())
}

async fn merge(tx: &Tx, id: i64, state: JobState, job: &NewJob) -> TxResult<Enqueued> {
    let (payload, blob) = payload_columns(&job.payload);
    if state == JobState::Running {
        tx.execute(MARK, &[&id, &payload, &blob, &job.priority]).await?;
        return Ok(Enqueued::MarkedDirty(JobId::from_raw(id)));
    }
    let run_at = job.not_before.unwrap_or(tx.now).as_millis();
    tx.execute(MERGE, &[&id, &payload, &blob, &job.priority, &run_at, &tx.millis()]).await?;
    Ok(Enqueued::Merged(JobId::from_raw(id)))
}

/// Stores new jobs with one statement. Returns those whose key is taken.
async fn insert(tx: &Tx, jobs: &[&NewJob], fresh: &[usize], results: &mut [Option<Enqueued>]) -> TxResult<Vec<usize>> {
    const INSERT_ALL: &str = "INSERT INTO job (id, queue, submission_id, item_id, stage, processor, join_id, priority, \
         state, due_at, dedup_key, limit_key, limit_running, limit_per_minute, await_report_ms, payload, payload_blob, \
         resume, created_at) \
         SELECT nextval('job_number'), n.queue, n.submission_id, n.item_id, n.stage, n.processor, n.join_id, \
         n.priority, n.state, n.due_at, n.dedup_key, n.limit_key, n.limit_running, n.limit_per_minute, \
         n.await_report_ms, n.payload, n.payload_blob, n.resume, $18::bigint \
         FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::int[], \
         $8::smallint[], $9::bigint[], $10::text[], $11::text[], $12::bigint[], $13::bigint[], $14::bigint[], \
         $15::text[], $16::bytea[], $17::text[]) WITH ORDINALITY \
         AS n(queue, submission_id, item_id, stage, processor, join_id, priority, state, due_at, dedup_key, limit_key, \
         limit_running, limit_per_minute, await_report_ms, payload, payload_blob, resume, place) ORDER BY n.place";
    static INSERT: LazyLock<String> = LazyLock::new(|| format!("{INSERT_ALL} RETURNING id, dedup_key"));
    static INSERT_NEW: LazyLock<String> = LazyLock::new(|| {
        let new = "ON CONFLICT (dedup_key) WHERE dedup_key IS NOT NULL AND shelf < 5 DO NOTHING";
        format!("{INSERT_ALL} {new} RETURNING id, dedup_key")
    });
    let new = || fresh.iter().map(|place| jobs[*place]);
    // Looking whether a key is taken costs; most of what the engine enqueues has none, and most keys are new. Where one is
    // not after all, the transaction is run again.
    let look = new().any(|job| job.dedup_key.is_some()) && tx.expects_taken_keys();
    if fresh.len() >= WORTH_A_COPY && !look {
        let new: Vec<&NewJob> = new().collect();
        for (place, id) in fresh.iter().zip(copy_jobs(tx, &new).await?) {
            results[*place] = Some(Enqueued::New(JobId::from_raw(id)));
        }
        return Ok(Vec::new());
    }
    let (states, dues): (Vec<i16>, Vec<Option<i64>>) = new().map(|job| beginning(tx, job)).unzip();
    let (payloads, blobs): (Vec<_>, Vec<_>) = new().map(|job| payload_columns(&job.payload)).unzip();
    let limit = |job: &NewJob| job.limit.as_ref().and_then(|limit| limit.running).map(i64::from);
    let rate = |job: &NewJob| job.limit.as_ref().and_then(|limit| limit.per_minute).map(i64::from);
    let rows = tx
        .query(
            if look { &INSERT_NEW } else { &INSERT },
            &[
                &new().map(|job| job.queue.as_str()).collect::<Vec<_>>(),
                &new().map(|job| job.submission.raw()).collect::<Vec<_>>(),
                &new().map(|job| item_number(job.item)).collect::<Vec<_>>(),
                &new().map(|job| job.stage.as_str()).collect::<Vec<_>>(),
                &new().map(|job| job.processor.as_str()).collect::<Vec<_>>(),
                &new().map(|job| job.join.map(JoinId::raw)).collect::<Vec<_>>(),
                &new().map(|job| job.priority).collect::<Vec<_>>(),
                &states,
                &dues,
                &new().map(|job| job.dedup_key.as_deref()).collect::<Vec<_>>(),
                &new().map(|job| job.limit.as_ref().map(|limit| limit.key.as_str())).collect::<Vec<_>>(),
                &new().map(limit).collect::<Vec<_>>(),
                &new().map(rate).collect::<Vec<_>>(),
                &new().map(|job| job.await_report_ms).collect::<Vec<_>>(),
                &payloads,
                &blobs,
                &new().map(|job| job.resume.as_ref().map(to_json)).collect::<Vec<_>>(),
                &tx.millis(),
            ],
        )
        .await?;
    // Rows come back in the order in which they went in; only those whose key was taken are missing.
    let mut stored = rows.iter().peekable();
    let mut lost = Vec::new();
    for place in fresh {
        let key = jobs[*place].dedup_key.as_deref();
        let mine = match stored.peek() {
            Some(row) => get::<Option<&str>>(row, 1)? == key,
            None => false,
        };
        match stored.next_if(|_| mine) {
            Some(row) => results[*place] = Some(Enqueued::New(JobId::from_raw(get(row, 0)?))),
            None => lost.push(*place),
        }
    }
    if look {
        tx.saw_keys(!lost.is_empty());
    }
    Ok(lost)
}

/// Stores jobs that are all new, in their order. Returns their ids.
async fn copy_jobs(tx: &Tx, jobs: &[&NewJob]) -> TxResult<Vec<i64>> {
    const JOBS: Target = Target {
        table: "job",
        columns: &[
            ("id", Type::INT8),
            ("queue", Type::TEXT),
            ("submission_id", Type::INT8),
            ("item_id", Type::INT8),
            ("stage", Type::TEXT),
            ("processor", Type::TEXT),
            ("join_id", Type::INT8),
            ("priority", Type::INT4),
            ("state", Type::INT2),
            ("due_at", Type::INT8),
            ("dedup_key", Type::TEXT),
            ("limit_key", Type::TEXT),
            ("limit_running", Type::INT8),
            ("limit_per_minute", Type::INT8),
            ("await_report_ms", Type::INT8),
            ("payload", Type::TEXT),
            ("payload_blob", Type::BYTEA),
            ("resume", Type::TEXT),
            ("created_at", Type::INT8),
        ],
    };
    let draw = "SELECT nextval('job_number') FROM generate_series(1, $1::bigint)";
    let mut ids: Vec<i64> = tx.collect(draw, &[&(jobs.len() as i64)], |row| get(row, 0)).await?;
    ids.sort_unstable();
    copy(tx, &JOBS, async |rows| {
        for (id, job) in ids.iter().zip(jobs) {
            let (state, due_at) = beginning(tx, job);
            let (payload, payload_blob) = payload_columns(&job.payload);
            let limit = job.limit.as_ref();
            rows.as_mut()
                .write(&[
                    id,
                    &job.queue.as_str(),
                    &job.submission.raw(),
                    &item_number(job.item),
                    &job.stage.as_str(),
                    &job.processor.as_str(),
                    &job.join.map(JoinId::raw),
                    &job.priority,
                    &state,
                    &due_at,
                    &job.dedup_key,
                    &limit.map(|limit| limit.key.as_str()),
                    &limit.and_then(|limit| limit.running).map(i64::from),
                    &limit.and_then(|limit| limit.per_minute).map(i64::from),
                    &job.await_report_ms,
                    &payload,
                    &payload_blob,
                    &job.resume.as_ref().map(to_json),
                    &tx.millis(),
                ])
                .await?;
        }
        Ok(())
    })
    .await?;
    Ok(ids)
}

/// The state that a new job begins in, and until when.
fn beginning(tx: &Tx, job: &NewJob) -> (i16, Option<i64>) {
    let not_before = job.not_before.filter(|at| *at > tx.now);
    match (job.await_report_ms, not_before) {
        (Some(wait), _) => (JobState::Awaiting as i16, Some(tx.millis().saturating_add(wait))),
        (None, Some(at)) => (JobState::Scheduled as i16, Some(Timestamp::as_millis(at))),
        (None, None) => (JobState::Ready as i16, None),
    }
}
