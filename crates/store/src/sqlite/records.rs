//! The reads, each on one consistent snapshot.

use super::{
    control::job_condition,
    rows::{self, EVENT_COLUMNS, ITEM_COLUMNS, JOB_COLUMNS, JOIN_COLUMNS, OUTCOME_COLUMNS, RowResult},
};
use crate::{
    gather::{self, Counted},
    query::{
        ConsumerView, EventFilter, ItemFilter, JobFilter, JobView, JoinFilter, OutcomePage, QueueView, StoredWorkflow,
    },
};
use bindery_core::{
    EventSeq, ItemId, Name, SubmissionId, Timestamp,
    event::Event,
    item::Item,
    job::{Job, JobState, WaitReason},
    join::Join,
    outcome::Outcome,
};
use rusqlite::{Connection, OptionalExtension, Row, types::Value};
use std::collections::HashMap;

pub(super) fn events(db: &Connection, after: EventSeq, filter: &EventFilter, limit: usize) -> RowResult<Vec<Event>> {
    let mut condition = "seq > ?".to_owned();
    let mut values = vec![Value::Integer(after.raw())];
    if let Some(submission) = filter.submission {
        condition.push_str(" AND submission_id = ?");
        values.push(Value::Integer(submission.raw()));
    }
    if !filter.kinds.is_empty() {
        condition.push_str(" AND kind IN (");
        condition.push_str(&vec!["?"; filter.kinds.len()].join(", "));
        condition.push(')');
        values.extend(filter.kinds.iter().map(|kind| Value::Text(kind.to_string())));
    }
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let sql = format!("SELECT {EVENT_COLUMNS} FROM event WHERE {condition} ORDER BY seq LIMIT {limit}");
    rows::collect(db, &sql, rusqlite::params_from_iter(values), rows::event)
}

pub(super) fn joins(db: &Connection, submission: SubmissionId, filter: &JoinFilter) -> RowResult<Vec<Join>> {
    let mut conditions = vec![format!("submission_id = {}", submission.raw())];
    let mut values = Vec::new();
    if let Some(stage) = &filter.stage {
        conditions.push("stage = ?".to_owned());
        values.push(Value::Text(stage.to_string()));
    }
    conditions.extend(filter.scope.map(|scope| format!("scope_id = {}", rows::item_number(scope.item()))));
    conditions.extend(filter.outer.map(|outer| format!("outer_id = {}", outer.raw())));
    conditions.extend(filter.repaired.then(|| "generation > 1".to_owned()));
    conditions.extend(filter.after.map(|after| format!("id > {}", after.raw())));
    let (condition, limit) = (conditions.join(" AND "), filter.limit.map_or(-1, |limit| limit as i64));
    let sql = format!("SELECT {JOIN_COLUMNS} FROM joins WHERE {condition} ORDER BY id LIMIT {limit}");
    rows::collect(db, &sql, rusqlite::params_from_iter(values), rows::join)
}

pub(super) fn outcomes(db: &Connection, submission: SubmissionId, stage: Option<&Name>) -> RowResult<Vec<Outcome>> {
    let id = submission.raw();
    match stage {
        Some(stage) => rows::collect(
            db,
            &format!(
                "SELECT {OUTCOME_COLUMNS} FROM outcome WHERE submission_id = ?1 AND stage = ?2 \
                 ORDER BY item_id, processor"
            ),
            (id, stage.as_str()),
            rows::outcome,
        ),
        None => rows::collect(
            db,
            &format!(
                "SELECT {OUTCOME_COLUMNS} FROM outcome WHERE submission_id = ?1 ORDER BY item_id, stage, processor"
            ),
            [id],
            rows::outcome,
        ),
    }
}

/// Each condition has a statement of its own, so that each uses its index.
pub(super) fn items(db: &Connection, submission: SubmissionId, filter: ItemFilter) -> RowResult<Vec<Item>> {
    let mut condition = "submission_id = ?".to_owned();
    let mut values = vec![Value::Integer(submission.raw())];
    let mut and = |sql: &str, value: Value| {
        condition.push_str(sql);
        values.push(value);
    };
    if let Some(parent) = filter.parent {
        and(" AND parent_id = ?", Value::Integer(parent.raw()));
    }
    if let Some(kind) = filter.kind {
        and(" AND kind = ?", Value::Text(kind.as_str().to_owned()));
    }
    if let Some(ids) = filter.ids {
        let ids = rows::id_list(ids.into_iter().map(ItemId::raw));
        and(" AND id IN (SELECT value FROM json_each(?))", Value::Text(ids));
    }
    if let Some(after) = filter.after {
        and(" AND id > ?", Value::Integer(after.raw()));
    }
    and("", Value::Integer(filter.limit.map_or(-1, |limit| limit as i64)));
    let sql = format!("SELECT {ITEM_COLUMNS} FROM item WHERE {condition} ORDER BY id LIMIT ?");
    rows::collect(db, &sql, rusqlite::params_from_iter(values), rows::item)
}

pub(super) fn outcome_page(db: &Connection, submission: SubmissionId, page: &OutcomePage) -> RowResult<Vec<Outcome>> {
    // As a literal: the index of what failed is found by it.
    let status = page.status.map_or_else(String::new, |status| format!(" AND status = {}", status as i64));
    let mut condition = format!("submission_id = ? AND stage = ?{status}");
    let mut values = vec![Value::Integer(submission.raw()), Value::Text(page.stage.to_string())];
    if let Some(ids) = &page.items {
        condition.push_str(" AND item_id IN (SELECT value FROM json_each(?))");
        values.push(Value::Text(rows::id_list(ids.iter().map(|id| id.raw()))));
    }
    if let Some(after) = &page.after {
        condition.push_str(" AND (item_id, processor) > (?, ?)");
        values.push(Value::Integer(rows::item_number(after.item)));
        values.push(Value::Text(after.processor.to_string()));
    }
    values.push(Value::Integer(page.limit as i64));
    let sql = format!("SELECT {OUTCOME_COLUMNS} FROM outcome WHERE {condition} ORDER BY item_id, processor LIMIT ?");
    rows::collect(db, &sql, rusqlite::params_from_iter(values), rows::outcome)
}

/// A name, a code and how many.
fn read_counted(row: &Row<'_>) -> RowResult<Counted> {
    Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)? as u64))
}

pub(super) fn jobs(db: &Connection, filter: &JobFilter) -> RowResult<Vec<JobView>> {
    let (condition, values) = job_condition(filter);
    let limit = filter.limit.map_or(-1, |limit| limit as i64);
    // The order in which they will run, roughly: what runs, then what is ready, then the rest.
    let sql = format!(
        "SELECT {JOB_COLUMNS} FROM job WHERE {condition} \
         ORDER BY CASE state WHEN 2 THEN 0 WHEN 0 THEN 1 ELSE 2 + state END, priority DESC, id LIMIT {limit}"
    );
    let mut names: HashMap<String, Name> = HashMap::new();
    let mut statement = db.prepare_cached(&sql)?;
    let mut found = statement.query(rusqlite::params_from_iter(values))?;
    let mut jobs = Vec::new();
    while let Some(row) = found.next()? {
        let job = rows::job(row, |text| names.entry(text.to_owned()).or_insert_with(|| Name::from(text)).clone())?;
        jobs.push(job);
    }
    drop(found);
    let mut explainer = Explainer::new(db)?;
    jobs.into_iter().map(|job| Ok(JobView { reason: explainer.explain(&job)?, job })).collect()
}

/// Answers "why does it wait?", looking each fact up once.
struct Explainer<'a> {
    db: &'a Connection,
    paused: Vec<String>,
    /// The last job asked about in a queue and how many were before it: the next one is usually right behind it.
    ahead: HashMap<Name, (i32, i64, u64)>,
}

impl<'a> Explainer<'a> {
    fn new(db: &'a Connection) -> RowResult<Self> {
        let paused = rows::collect(db, "SELECT name FROM queue", [], |row| row.get(0))?;
        Ok(Self { db, paused, ahead: HashMap::new() })
    }

    fn explain(&mut self, job: &Job) -> RowResult<WaitReason> {
        let because = || job.error.as_ref().map(|error| error.message.clone());
        Ok(match job.state {
            JobState::Running => WaitReason::Running { worker: job.worker.clone() },
            JobState::Scheduled => WaitReason::Later { at: job.run_at, because: because() },
            JobState::Parked => WaitReason::Parked { because: because().unwrap_or_default(), at: job.run_at },
            JobState::Awaiting => WaitReason::Report { until: job.lease_until },
            JobState::Dead => WaitReason::Dead { because: because().unwrap_or_default() },
            JobState::Cancelled => WaitReason::Cancelled,
            JobState::Ready if self.paused.iter().any(|queue| *queue == *job.queue) => {
                WaitReason::QueuePaused { queue: job.queue.clone() }
            }
            JobState::Ready if job.suspect => WaitReason::Suspect { losses: job.losses },
            JobState::Ready => self.explain_ready(job)?,
        })
    }

    fn explain_ready(&mut self, job: &Job) -> RowResult<WaitReason> {
        if let Some(limit) = &job.limit {
            let mut count = self.db.prepare_cached(
                "SELECT count(*) FROM job WHERE state = 2 AND limit_key IS NOT NULL AND limit_key = ?1",
            )?;
            let running: i64 = count.query_row([limit.key.as_str()], |row| row.get(0))?;
            let tokens: Option<f64> = self
                .db
                .prepare_cached("SELECT tokens FROM rate WHERE limit_key = ?1")?
                .query_row([limit.key.as_str()], |row| row.get(0))
                .optional()?;
            let full = limit.running.is_some_and(|most| running >= i64::from(most));
            let too_fast = limit.per_minute.is_some() && tokens.is_some_and(|tokens| tokens < 1.0);
            if full || too_fast {
                return Ok(WaitReason::LimitReached { key: limit.key.clone(), running: running as u64 });
            }
        }
        // Count only what stands between this job and the one asked about before it.
        let (priority, id, before) = self.ahead.get(&job.queue).copied().unwrap_or((i32::MAX, i64::MAX, 0));
        let mut between = self.db.prepare_cached(
            "SELECT count(*) FROM job WHERE state = 0 AND queue = ?1 \
             AND (priority, -id) > (?2, -?3) AND (priority, -id) <= (?4, -?5)",
        )?;
        let more: i64 =
            between.query_row((job.queue.as_str(), job.priority, job.id.raw(), priority, id), |row| row.get(0))?;
        let ahead = before + more as u64;
        self.ahead.insert(job.queue.clone(), (job.priority, job.id.raw(), ahead));
        Ok(WaitReason::NoWorkerYet { ahead })
    }
}

pub(super) fn queues(db: &Connection) -> RowResult<Vec<QueueView>> {
    let counts = "SELECT queue, state, count(*), min(created_at) FROM job GROUP BY queue, state";
    let oldest = |row: &Row<'_>| Ok((read_counted(row)?, Timestamp::from_millis(row.get(3)?)));
    let jobs = rows::collect(db, counts, [], oldest)?;
    let paused = "SELECT name, paused_because FROM queue";
    let paused = rows::collect(db, paused, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(gather::queue_views(jobs, paused))
}

pub(super) fn consumers(db: &Connection) -> RowResult<Vec<ConsumerView>> {
    rows::collect(db, "SELECT name, position, updated_at FROM consumer ORDER BY name", [], |row| {
        Ok(ConsumerView {
            consumer: row.get::<_, String>(0)?.into(),
            position: EventSeq::from_raw(row.get(1)?),
            updated_at: Timestamp::from_millis(row.get(2)?),
        })
    })
}

fn stored_workflow(row: &Row<'_>) -> RowResult<StoredWorkflow> {
    Ok(StoredWorkflow {
        name: row.get::<_, String>(0)?.into(),
        version: row.get(1)?,
        text: row.get(2)?,
        stored_at: Timestamp::from_millis(row.get(3)?),
    })
}

pub(super) fn workflow(db: &Connection, name: &Name, version: Option<i64>) -> RowResult<Option<StoredWorkflow>> {
    let sql = "SELECT name, version, text, stored_at FROM workflow WHERE name = ?1 AND version = ifnull(?2, version) \
               ORDER BY version DESC LIMIT 1";
    rows::first(db, sql, (name.as_str(), version), stored_workflow)
}

pub(super) fn workflows(db: &Connection) -> RowResult<Vec<StoredWorkflow>> {
    let sql = "SELECT name, max(version), text, stored_at FROM workflow GROUP BY name ORDER BY name";
    rows::collect(db, sql, [], stored_workflow)
}
