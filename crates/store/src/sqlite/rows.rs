//! Between rows and nouns.

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
use rusqlite::{Row, types::Type};
use serde::de::DeserializeOwned;

pub(super) type RowResult<T> = rusqlite::Result<T>;

/// A value in the file that this program cannot have written.
pub(super) fn unexpected_value(column: usize, kind: Type, what: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, kind, what.to_owned().into())
}

pub(super) fn item_number(item: Option<ItemId>) -> i64 {
    item.map_or(0, ItemId::raw)
}

fn item_id(raw: i64) -> Option<ItemId> {
    (raw != 0).then(|| ItemId::from_raw(raw))
}

fn time(row: &Row<'_>, column: usize) -> RowResult<Timestamp> {
    row.get(column).map(Timestamp::from_millis)
}

fn optional_time(row: &Row<'_>, column: usize) -> RowResult<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp::from_millis))
}

fn hash(bytes: &[u8], column: usize) -> RowResult<ContentHash> {
    let bytes: [u8; 32] = bytes.try_into().map_err(|_| unexpected_value(column, Type::Blob, "a hash has 32 bytes"))?;
    Ok(ContentHash::from_bytes(bytes))
}

fn optional_hash(row: &Row<'_>, column: usize) -> RowResult<Option<ContentHash>> {
    row.get::<_, Option<Vec<u8>>>(column)?.map(|bytes| hash(&bytes, column)).transpose()
}

/// Two columns: the text, or the hash of a blob; both null for JSON `null`.
fn payload(row: &Row<'_>, column: usize) -> RowResult<Payload> {
    if let Some(text) = row.get(column)? {
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

fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> RowResult<Option<T>> {
    let Some(text) = row.get::<_, Option<String>>(column)? else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|error| unexpected_value(column, Type::Text, &error.to_string()))
}

/// For values of our own types, which always serialise.
pub(super) fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"unserialisable\":{:?}}}", error.to_string()))
}

fn optional_name(row: &Row<'_>, column: usize) -> RowResult<Option<Name>> {
    Ok(row.get::<_, Option<String>>(column)?.map(Name::from))
}

pub(super) const JOB_COLUMNS: &str = "id, queue, submission_id, item_id, stage, processor, join_id, priority, state, \
    attempt, due_at, token, worker, dedup_key, limit_key, limit_running, limit_per_minute, await_report_ms, \
    payload, payload_blob, resume, cursor, error, created_at, overdue, losses, suspect, carried, claimed_at, ended_at";

/// The row counts the attempts that have ended; the one under way comes on top.
/// `name` keeps one copy of each repeated text, where the caller has a place to keep it.
pub(super) fn job(row: &Row<'_>, mut name: impl FnMut(&str) -> Name) -> RowResult<Job> {
    let mut named = |column: usize| -> RowResult<Name> { Ok(name(row.get_ref(column)?.as_str()?)) };
    let (queue, stage, processor) = (named(1)?, named(4)?, named(5)?);
    let job_state =
        JobState::from_code(row.get(8)?).ok_or_else(|| unexpected_value(8, Type::Integer, "a job state"))?;
    let due_at = optional_time(row, 10)?;
    let waits_by_itself = matches!(job_state, JobState::Scheduled | JobState::Parked);
    let limit = match optional_name(row, 14)? {
        Some(key) => Some(Limit { key, running: row.get(15)?, per_minute: row.get(16)? }),
        None => None,
    };
    Ok(Job {
        id: JobId::from_raw(row.get(0)?),
        queue,
        submission: SubmissionId::from_raw(row.get(2)?),
        item: item_id(row.get(3)?),
        stage,
        processor,
        join: row.get::<_, Option<i64>>(6)?.map(JoinId::from_raw),
        priority: row.get(7)?,
        state: job_state,
        attempt: row.get::<_, u32>(9)? + u32::from(job_state == JobState::Running && !row.get::<_, bool>(27)?),
        losses: row.get(25)?,
        suspect: row.get::<_, i64>(26)? > 0,
        run_at: due_at.filter(|_| waits_by_itself),
        lease_until: due_at.filter(|_| !waits_by_itself),
        worker: optional_name(row, 12)?,
        dedup_key: row.get(13)?,
        limit,
        await_report_ms: row.get(17)?,
        payload: payload(row, 18)?,
        resume: json::<ResumePoint>(row, 20)?,
        cursor: row.get(21)?,
        error: json::<ErrorRecord>(row, 22)?,
        created_at: time(row, 23)?,
        claimed_at: optional_time(row, 28)?,
        ended_at: optional_time(row, 29)?,
    })
}

pub(super) const SUBMISSION_COLUMNS: &str = "id, external_id, owner, channel, workflow, workflow_version, status, \
    priority, received_at, deadline_at, warn_at, escalate_at, breached_at, completed_at, error, metadata";

pub(super) fn status_number(status: SubmissionStatus) -> i64 {
    SubmissionStatus::ALL.iter().position(|known| *known == status).unwrap_or(0) as i64
}

pub(super) fn submission(row: &Row<'_>) -> RowResult<Submission> {
    let status: i64 = row.get(6)?;
    let status = usize::try_from(status).ok().and_then(|index| SubmissionStatus::ALL.get(index)).copied();
    Ok(Submission {
        id: SubmissionId::from_raw(row.get(0)?),
        external_id: row.get(1)?,
        owner: row.get(2)?,
        channel: row.get(3)?,
        workflow: Name::from(row.get::<_, String>(4)?),
        workflow_version: row.get(5)?,
        status: status.ok_or_else(|| unexpected_value(6, Type::Integer, "a submission status"))?,
        priority: row.get(7)?,
        received_at: time(row, 8)?,
        deadline: Deadline {
            at: optional_time(row, 9)?,
            warn_at: optional_time(row, 10)?,
            escalate_at: optional_time(row, 11)?,
            breached_at: optional_time(row, 12)?,
        },
        completed_at: optional_time(row, 13)?,
        error: row.get(14)?,
        metadata: row.get(15)?,
    })
}

pub(super) const ITEM_COLUMNS: &str = "submission_id, id, parent_id, kind, ordinal, key, label, content, data";

pub(super) fn item(row: &Row<'_>) -> RowResult<Item> {
    let kind = ItemKind::from_name(row.get_ref(3)?.as_str()?)
        .ok_or_else(|| unexpected_value(3, Type::Text, "an item kind"))?;
    Ok(Item {
        submission: SubmissionId::from_raw(row.get(0)?),
        id: ItemId::from_raw(row.get(1)?),
        parent: row.get::<_, Option<i64>>(2)?.map(ItemId::from_raw),
        kind,
        ordinal: row.get(4)?,
        key: row.get(5)?,
        label: row.get(6)?,
        content: optional_hash(row, 7)?,
        data: row.get(8)?,
    })
}

pub(super) const OUTCOME_COLUMNS: &str = "submission_id, item_id, stage, processor, status, output, output_blob, \
    confidence, error, resume, input_hash, processor_version, attempts, cost_micros, finished_at, reuse_key, recipe, \
    subject, made";

pub(super) fn outcome(row: &Row<'_>) -> RowResult<Outcome> {
    let status =
        OutcomeStatus::from_code(row.get(4)?).ok_or_else(|| unexpected_value(4, Type::Integer, "an outcome status"))?;
    Ok(Outcome {
        submission: SubmissionId::from_raw(row.get(0)?),
        item: item_id(row.get(1)?),
        stage: Name::from(row.get::<_, String>(2)?),
        processor: Name::from(row.get::<_, String>(3)?),
        status,
        output: payload(row, 5)?,
        confidence: row.get(7)?,
        error: json(row, 8)?,
        resume: json(row, 9)?,
        input_hash: optional_hash(row, 10)?,
        processor_version: row.get(11)?,
        attempts: row.get(12)?,
        cost_micros: row.get(13)?,
        finished_at: time(row, 14)?,
        reuse: reuse(row)?,
    })
}

/// None where the columns are empty.
fn reuse(row: &Row<'_>) -> RowResult<Option<Box<Reuse>>> {
    let (Some(key), Some(recipe)) = (optional_hash(row, 15)?, optional_hash(row, 16)?) else { return Ok(None) };
    Ok(Some(Box::new(Reuse { key, recipe, subject: optional_hash(row, 17)?, made: row.get(18)? })))
}

pub(super) const JOIN_COLUMNS: &str = "id, submission_id, stage, scope_id, expected, declared, arrived, failed, \
    closed_at, updated_at, outer_id, on_close, generation";

pub(super) fn join(row: &Row<'_>) -> RowResult<Join> {
    Ok(Join {
        id: JoinId::from_raw(row.get(0)?),
        submission: SubmissionId::from_raw(row.get(1)?),
        stage: Name::from(row.get::<_, String>(2)?),
        scope: item_id(row.get(3)?),
        expected: row.get(4)?,
        declared: row.get(5)?,
        arrived: row.get(6)?,
        failed: row.get(7)?,
        closed_at: optional_time(row, 8)?,
        updated_at: time(row, 9)?,
        outer: row.get::<_, Option<i64>>(10)?.map(JoinId::from_raw),
        on_close: json(row, 11)?.ok_or_else(|| unexpected_value(11, Type::Text, "a job"))?,
        generation: row.get(12)?,
    })
}

pub(super) const EVENT_COLUMNS: &str = "seq, kind, submission_id, item_id, subject, id, at, data";

pub(super) fn event(row: &Row<'_>) -> RowResult<Event> {
    Ok(Event {
        seq: EventSeq::from_raw(row.get(0)?),
        kind: Name::from(row.get_ref(1)?.as_str()?),
        submission: row.get::<_, Option<i64>>(2)?.map(SubmissionId::from_raw),
        item: row.get::<_, Option<i64>>(3)?.map(ItemId::from_raw),
        subject: optional_name(row, 4)?,
        id: row.get(5)?,
        at: time(row, 6)?,
        data: row.get(7)?,
    })
}

pub(super) const REVIEW_COLUMNS: &str = "id, submission_id, item_id, stage, processor, join_id, queue, status, \
    priority, reason, input, input_blob, assigned_to, created_at, completed_at, goes_on, skills, claim_ms, \
    assigned_until, decision, subject";

pub(super) fn review(row: &Row<'_>) -> RowResult<Review> {
    let status =
        ReviewStatus::from_code(row.get(7)?).ok_or_else(|| unexpected_value(7, Type::Integer, "a review status"))?;
    Ok(Review {
        id: ReviewId::from_raw(row.get(0)?),
        submission: SubmissionId::from_raw(row.get(1)?),
        item: item_id(row.get(2)?),
        stage: Name::from(row.get::<_, String>(3)?),
        processor: Name::from(row.get::<_, String>(4)?),
        join: row.get::<_, Option<i64>>(5)?.map(JoinId::from_raw),
        goes_on: row.get::<_, Option<bool>>(15)?.unwrap_or(false),
        queue: Name::from(row.get::<_, String>(6)?),
        status,
        priority: row.get(8)?,
        reasons: row.get::<_, String>(9)?.lines().map(str::to_owned).collect(),
        skills: json(row, 16)?.unwrap_or_default(),
        claim_ms: row.get(17)?,
        input: payload(row, 10)?,
        assigned_to: row.get(12)?,
        assigned_until: optional_time(row, 18)?,
        decision: json(row, 19)?,
        subject: optional_hash(row, 20)?,
        created_at: time(row, 13)?,
        completed_at: optional_time(row, 14)?,
    })
}

pub(super) fn artifact(row: &Row<'_>) -> RowResult<Artifact> {
    let bytes: Vec<u8> = row.get(3)?;
    Ok(Artifact {
        submission: SubmissionId::from_raw(row.get(0)?),
        key: row.get(1)?,
        item: row.get::<_, Option<i64>>(2)?.map(ItemId::from_raw),
        hash: hash(&bytes, 3)?,
        size: row.get::<_, i64>(4)? as u64,
        media_type: row.get(5)?,
    })
}

/// All rows of a query.
pub(super) fn collect<T>(
    db: &rusqlite::Connection,
    sql: &str,
    params: impl rusqlite::Params,
    map: impl Fn(&Row<'_>) -> RowResult<T>,
) -> RowResult<Vec<T>> {
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(map(row)?);
    }
    Ok(found)
}

/// The first row of a query, if there is one.
pub(super) fn first<T>(
    db: &rusqlite::Connection,
    sql: &str,
    params: impl rusqlite::Params,
    map: impl Fn(&Row<'_>) -> RowResult<T>,
) -> RowResult<Option<T>> {
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    rows.next()?.map(map).transpose()
}

/// Ids as the JSON array that `json_each` takes apart again: how a list is handed to one statement.
pub(super) fn id_list(ids: impl Iterator<Item = i64>) -> String {
    let mut list = "[".to_owned();
    for id in ids {
        if list.len() > 1 {
            list.push(',');
        }
        list.push_str(&id.to_string());
    }
    list.push(']');
    list
}
