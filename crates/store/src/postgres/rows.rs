//! Between rows and nouns.

use super::fail::TxResult;
use crate::error::StoreError;
use bindery_core::{
    ContentHash, EventSeq, ItemId, JobId, JoinId, Name, Payload, ReviewId, SubmissionId, Timestamp,
    artifact::Artifact,
    event::Event,
    item::{Item, ItemKind},
    job::{ErrorRecord, Job, JobState, Limit},
    join::Join,
    outcome::{Outcome, OutcomeStatus, ResumePoint, Reuse},
    review::{Review, ReviewStatus},
    submission::{Deadline, Submission, SubmissionStatus},
};
use serde::de::DeserializeOwned;
use std::sync::LazyLock;
use tokio_postgres::{Row, types::FromSql};

/// A value in the database that this program cannot have written.
fn unexpected_value(column: usize, what: &str) -> StoreError {
    StoreError::Database(format!("column {column} of a row: expected {what}"))
}

pub(super) fn get<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> TxResult<T> {
    Ok(row.try_get(column)?)
}

pub(super) fn item_number(item: Option<ItemId>) -> i64 {
    item.map_or(0, ItemId::raw)
}

fn item_id(raw: i64) -> Option<ItemId> {
    (raw != 0).then(|| ItemId::from_raw(raw))
}

fn time(row: &Row, column: usize) -> TxResult<Timestamp> {
    get(row, column).map(Timestamp::from_millis)
}

fn optional_time(row: &Row, column: usize) -> TxResult<Option<Timestamp>> {
    Ok(get::<Option<i64>>(row, column)?.map(Timestamp::from_millis))
}

fn hash(bytes: &[u8], column: usize) -> TxResult<ContentHash> {
    let bytes: [u8; 32] = bytes.try_into().map_err(|_| unexpected_value(column, "a hash has 32 bytes"))?;
    Ok(ContentHash::from_bytes(bytes))
}

fn optional_hash(row: &Row, column: usize) -> TxResult<Option<ContentHash>> {
    get::<Option<&[u8]>>(row, column)?.map(|bytes| hash(bytes, column)).transpose()
}

/// Two columns: the text, or the hash of a blob; both null for JSON `null`.
fn payload(row: &Row, column: usize) -> TxResult<Payload> {
    if let Some(text) = get(row, column)? {
        return Ok(Payload::Inline(text));
    }
    Ok(optional_hash(row, column + 1)?.map_or_else(Payload::null, Payload::Blob))
}

/// The inverse of [`payload`].
pub(super) fn payload_columns(payload: &Payload) -> (Option<&str>, Option<&[u8]>) {
    match payload {
        Payload::Inline(text) if text == "null" => (None, None),
        Payload::Inline(text) => (Some(text), None),
        Payload::Blob(hash) => (None, Some(hash.as_bytes())),
    }
}

fn json<T: DeserializeOwned>(row: &Row, column: usize) -> TxResult<Option<T>> {
    let Some(text) = get::<Option<&str>>(row, column)? else { return Ok(None) };
    serde_json::from_str(text).map(Some).map_err(|error| unexpected_value(column, &error.to_string()).into())
}

/// For values of our own types, which always serialise.
pub(super) fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"unserialisable\":{:?}}}", error.to_string()))
}

/// Enumerations are small numbers.
fn code(row: &Row, column: usize) -> TxResult<i64> {
    get::<i16>(row, column).map(i64::from)
}

fn optional_count(row: &Row, column: usize) -> TxResult<Option<u32>> {
    Ok(get::<Option<i64>>(row, column)?.and_then(|count| u32::try_from(count).ok()))
}

pub(super) fn name(row: &Row, column: usize) -> TxResult<Name> {
    get::<&str>(row, column).map(Name::from)
}

fn optional_name(row: &Row, column: usize) -> TxResult<Option<Name>> {
    Ok(get::<Option<&str>>(row, column)?.map(Name::from))
}

pub(super) const JOB_COLUMNS: &str = "id, queue, submission_id, item_id, stage, processor, join_id, priority, state, \
    attempt, due_at, token, worker, dedup_key, limit_key, limit_running, limit_per_minute, await_report_ms, \
    payload, payload_blob, resume, cursor, error, created_at, overdue, losses, suspect, carried, claimed_at, ended_at";

/// The same, with what the claim says that has an unmarked job, as `held`, and the end of the lease where there is one: it
/// is kept for each claim.
pub(super) static JOB_WITH_LEASE: LazyLock<String> = LazyLock::new(|| {
    let until =
        "SELECT marking.until FROM claim AS marking WHERE marking.token = job.token AND job.id = ANY(marking.jobs)";
    let column = |column: &str| match column {
        "due_at" => format!("coalesce(due_at, held.by_until, ({until})) AS due_at"),
        "state" => "CASE WHEN held.by_token IS NULL THEN state ELSE 2::smallint END AS state".to_owned(),
        "token" => "coalesce(token, held.by_token) AS token".to_owned(),
        "worker" => "coalesce(worker, held.by_worker) AS worker".to_owned(),
        "carried" => "coalesce(held.by_carried, carried) AS carried".to_owned(),
        "claimed_at" => "coalesce(held.by_claimed_at, claimed_at) AS claimed_at".to_owned(),
        other => other.to_owned(),
    };
    JOB_COLUMNS.split(", ").map(column).collect::<Vec<_>>().join(", ")
});

/// What indexes see of a state: claims do not change it.
pub(super) const fn shelf(state: JobState) -> i16 {
    match state {
        JobState::Running => JobState::Ready as i16,
        other => other as i16,
    }
}

/// The row counts the attempts that have ended; the one under way comes on top.
pub(super) fn job(row: &Row) -> TxResult<Job> {
    let job_state = JobState::from_code(code(row, 8)?).ok_or_else(|| unexpected_value(8, "a job state"))?;
    let due_at = optional_time(row, 10)?;
    let waits_by_itself = matches!(job_state, JobState::Scheduled | JobState::Parked);
    let limit = match optional_name(row, 14)? {
        Some(key) => Some(Limit { key, running: optional_count(row, 15)?, per_minute: optional_count(row, 16)? }),
        None => None,
    };
    Ok(Job {
        id: JobId::from_raw(get(row, 0)?),
        queue: name(row, 1)?,
        submission: SubmissionId::from_raw(get(row, 2)?),
        item: item_id(get(row, 3)?),
        stage: name(row, 4)?,
        processor: name(row, 5)?,
        join: get::<Option<i64>>(row, 6)?.map(JoinId::from_raw),
        priority: get(row, 7)?,
        state: job_state,
        attempt: get::<i32>(row, 9)? as u32 + u32::from(job_state == JobState::Running && !get::<bool>(row, 27)?),
        losses: get::<i32>(row, 25)? as u32,
        suspect: get::<i32>(row, 26)? > 0,
        run_at: due_at.filter(|_| waits_by_itself),
        lease_until: due_at.filter(|_| !waits_by_itself),
        worker: optional_name(row, 12)?,
        dedup_key: get(row, 13)?,
        limit,
        await_report_ms: get(row, 17)?,
        payload: payload(row, 18)?,
        resume: json::<ResumePoint>(row, 20)?,
        cursor: get(row, 21)?,
        error: json::<ErrorRecord>(row, 22)?,
        created_at: time(row, 23)?,
        claimed_at: optional_time(row, 28)?,
        ended_at: optional_time(row, 29)?,
    })
}

pub(super) const SUBMISSION_COLUMNS: &str = "id, external_id, owner, channel, workflow, workflow_version, status, \
    priority, received_at, deadline_at, warn_at, escalate_at, breached_at, completed_at, error, metadata";

pub(super) fn status_number(status: SubmissionStatus) -> i16 {
    SubmissionStatus::ALL.iter().position(|known| *known == status).unwrap_or(0) as i16
}

pub(super) fn submission(row: &Row) -> TxResult<Submission> {
    let status = code(row, 6)?;
    let status = usize::try_from(status).ok().and_then(|index| SubmissionStatus::ALL.get(index)).copied();
    Ok(Submission {
        id: SubmissionId::from_raw(get(row, 0)?),
        external_id: get(row, 1)?,
        owner: get(row, 2)?,
        channel: get(row, 3)?,
        workflow: name(row, 4)?,
        workflow_version: get(row, 5)?,
        status: status.ok_or_else(|| unexpected_value(6, "a submission status"))?,
        priority: get(row, 7)?,
        received_at: time(row, 8)?,
        deadline: Deadline {
            at: optional_time(row, 9)?,
            warn_at: optional_time(row, 10)?,
            escalate_at: optional_time(row, 11)?,
            breached_at: optional_time(row, 12)?,
        },
        completed_at: optional_time(row, 13)?,
        error: get(row, 14)?,
        metadata: get(row, 15)?,
    })
}

pub(super) const ARTIFACT_COLUMNS: &str = "submission_id, key, item_id, hash, size, media_type";

pub(super) const ITEM_COLUMNS: &str = "submission_id, id, parent_id, kind, ordinal, key, label, content, data";

pub(super) fn item(row: &Row) -> TxResult<Item> {
    let kind = ItemKind::from_name(get(row, 3)?).ok_or_else(|| unexpected_value(3, "an item kind"))?;
    Ok(Item {
        submission: SubmissionId::from_raw(get(row, 0)?),
        id: ItemId::from_raw(get(row, 1)?),
        parent: get::<Option<i64>>(row, 2)?.map(ItemId::from_raw),
        kind,
        ordinal: get(row, 4)?,
        key: get(row, 5)?,
        label: get(row, 6)?,
        content: optional_hash(row, 7)?,
        data: get(row, 8)?,
    })
}

pub(super) const OUTCOME_COLUMNS: &str = "submission_id, item_id, stage, processor, status, output, output_blob, \
    confidence, error, resume, input_hash, processor_version, attempts, cost_micros, finished_at, reuse_key, recipe, \
    subject, made";

pub(super) fn outcome(row: &Row) -> TxResult<Outcome> {
    let status = OutcomeStatus::from_code(code(row, 4)?).ok_or_else(|| unexpected_value(4, "an outcome status"))?;
    Ok(Outcome {
        submission: SubmissionId::from_raw(get(row, 0)?),
        item: item_id(get(row, 1)?),
        stage: name(row, 2)?,
        processor: name(row, 3)?,
        status,
        output: payload(row, 5)?,
        confidence: get(row, 7)?,
        error: json(row, 8)?,
        resume: json(row, 9)?,
        input_hash: optional_hash(row, 10)?,
        processor_version: get::<i64>(row, 11)? as u32,
        attempts: get::<i64>(row, 12)? as u32,
        cost_micros: get(row, 13)?,
        finished_at: time(row, 14)?,
        reuse: reuse(row)?,
    })
}

/// None where the columns are empty.
fn reuse(row: &Row) -> TxResult<Option<Box<Reuse>>> {
    let (Some(key), Some(recipe)) = (optional_hash(row, 15)?, optional_hash(row, 16)?) else { return Ok(None) };
    Ok(Some(Box::new(Reuse { key, recipe, subject: optional_hash(row, 17)?, made: get(row, 18)? })))
}

pub(super) const JOIN_COLUMNS: &str = "id, submission_id, stage, scope_id, expected, declared, arrived, failed, \
    closed_at, updated_at, outer_id, on_close, generation";

pub(super) fn join(row: &Row) -> TxResult<Join> {
    Ok(Join {
        id: JoinId::from_raw(get(row, 0)?),
        submission: SubmissionId::from_raw(get(row, 1)?),
        stage: name(row, 2)?,
        scope: item_id(get(row, 3)?),
        expected: get(row, 4)?,
        declared: get(row, 5)?,
        arrived: get(row, 6)?,
        failed: get(row, 7)?,
        closed_at: optional_time(row, 8)?,
        updated_at: time(row, 9)?,
        outer: get::<Option<i64>>(row, 10)?.map(JoinId::from_raw),
        on_close: json(row, 11)?.ok_or_else(|| unexpected_value(11, "a job"))?,
        generation: get(row, 12)?,
    })
}

pub(super) const EVENT_COLUMNS: &str = "seq, kind, submission_id, item_id, subject, id, at, data";

pub(super) fn event(row: &Row) -> TxResult<Event> {
    Ok(Event {
        seq: EventSeq::from_raw(get(row, 0)?),
        kind: name(row, 1)?,
        submission: get::<Option<i64>>(row, 2)?.map(SubmissionId::from_raw),
        item: get::<Option<i64>>(row, 3)?.map(ItemId::from_raw),
        subject: optional_name(row, 4)?,
        id: get(row, 5)?,
        at: time(row, 6)?,
        data: get(row, 7)?,
    })
}

pub(super) const REVIEW_COLUMNS: &str = "id, submission_id, item_id, stage, processor, join_id, queue, status, \
    priority, reason, input, input_blob, assigned_to, created_at, completed_at, goes_on, skills, claim_ms, \
    assigned_until, decision, subject";

pub(super) fn review(row: &Row) -> TxResult<Review> {
    let status = ReviewStatus::from_code(code(row, 7)?).ok_or_else(|| unexpected_value(7, "a review status"))?;
    Ok(Review {
        id: ReviewId::from_raw(get(row, 0)?),
        submission: SubmissionId::from_raw(get(row, 1)?),
        item: item_id(get(row, 2)?),
        stage: name(row, 3)?,
        processor: name(row, 4)?,
        join: get::<Option<i64>>(row, 5)?.map(JoinId::from_raw),
        goes_on: get::<Option<bool>>(row, 15)?.unwrap_or(false),
        queue: name(row, 6)?,
        status,
        priority: get(row, 8)?,
        reasons: get::<&str>(row, 9)?.lines().map(str::to_owned).collect(),
        skills: json(row, 16)?.unwrap_or_default(),
        claim_ms: get(row, 17)?,
        input: payload(row, 10)?,
        assigned_to: get(row, 12)?,
        assigned_until: optional_time(row, 18)?,
        decision: json(row, 19)?,
        subject: optional_hash(row, 20)?,
        created_at: time(row, 13)?,
        completed_at: optional_time(row, 14)?,
    })
}

pub(super) fn artifact(row: &Row) -> TxResult<Artifact> {
    Ok(Artifact {
        submission: SubmissionId::from_raw(get(row, 0)?),
        key: get(row, 1)?,
        item: get::<Option<i64>>(row, 2)?.map(ItemId::from_raw),
        hash: hash(get(row, 3)?, 3)?,
        size: get::<i64>(row, 4)? as u64,
        media_type: get(row, 5)?,
    })
}
