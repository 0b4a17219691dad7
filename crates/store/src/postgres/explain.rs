//! Jobs with the honest answer to "why does it wait?", looking each fact up once.

use super::{control::matching_jobs, fail::TxResult, ready::STATE_NOW, rows::get, session::Tx};
use crate::query::{JobFilter, JobView};
use bindery_core::{
    Name,
    job::{Job, JobState, Limit, WaitReason},
};
use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

pub(super) async fn jobs(tx: &Tx, filter: &JobFilter) -> TxResult<Vec<JobView>> {
    // The order in which they will run, roughly: what runs, then what is ready, then the rest.
    let order = "CASE WHEN state = 2 OR held.by_token IS NOT NULL THEN 0 WHEN state = 0 THEN 1 ELSE 2 + state END, \
                 priority DESC, id";
    let found = matching_jobs(tx, filter, order, "").await?;
    let paused: HashSet<String> =
        tx.collect("SELECT name FROM queue", &[], |row| get(row, 0)).await?.into_iter().collect();
    let mut explainer = Explainer { tx, paused, limits: HashMap::new(), ahead: HashMap::new() };
    let mut views = Vec::with_capacity(found.len());
    for job in found {
        let reason = explainer.explain(&job).await?;
        views.push(JobView { job, reason });
    }
    Ok(views)
}

struct Explainer<'a> {
    tx: &'a Tx,
    paused: HashSet<String>,
    /// How many run under a limit key, and what its bucket held last.
    limits: HashMap<Name, (i64, Option<f64>)>,
    /// The last job asked about in a queue and how many were before it: the next one is usually right behind it.
    ahead: HashMap<Name, (i32, i64, u64)>,
}

impl Explainer<'_> {
    async fn explain(&mut self, job: &Job) -> TxResult<WaitReason> {
        let because = || job.error.as_ref().map(|error| error.message.clone());
        Ok(match job.state {
            JobState::Running => WaitReason::Running { worker: job.worker.clone() },
            JobState::Scheduled => WaitReason::Later { at: job.run_at, because: because() },
            JobState::Parked => WaitReason::Parked { because: because().unwrap_or_default(), at: job.run_at },
            JobState::Awaiting => WaitReason::Report { until: job.lease_until },
            JobState::Dead => WaitReason::Dead { because: because().unwrap_or_default() },
            JobState::Cancelled => WaitReason::Cancelled,
            JobState::Ready if self.paused.contains(job.queue.as_str()) => {
                WaitReason::QueuePaused { queue: job.queue.clone() }
            }
            JobState::Ready if job.suspect => WaitReason::Suspect { losses: job.losses },
            JobState::Ready => match self.limit_reached(job.limit.as_ref()).await? {
                Some(reason) => reason,
                None => WaitReason::NoWorkerYet { ahead: self.jobs_ahead(job).await? },
            },
        })
    }

    async fn limit_reached(&mut self, limit: Option<&Limit>) -> TxResult<Option<WaitReason>> {
        let Some(limit) = limit else { return Ok(None) };
        let known = match self.limits.get(&limit.key) {
            Some(known) => *known,
            None => self.look_up(&limit.key).await?,
        };
        self.limits.insert(limit.key.clone(), known);
        let (running, tokens) = known;
        let full = limit.running.is_some_and(|most| running >= i64::from(most));
        let too_fast = limit.per_minute.is_some() && tokens.is_some_and(|tokens| tokens < 1.0);
        let reached = WaitReason::LimitReached { key: limit.key.clone(), running: running as u64 };
        Ok((full || too_fast).then_some(reached))
    }

    async fn look_up(&self, key: &Name) -> TxResult<(i64, Option<f64>)> {
        let sql = "SELECT (SELECT count(*) FROM job WHERE limit_state = 2 AND limit_key IS NOT NULL AND limit_key = $1), \
                   (SELECT tokens FROM rate WHERE limit_key = $1)";
        let row = self.tx.first(sql, &[&key.as_str()]).await?;
        row.map_or(Ok((0, None)), |row| Ok((get(&row, 0)?, get(&row, 1)?)))
    }

    /// Counts only what stands between this job and the one asked about before it.
    async fn jobs_ahead(&mut self, job: &Job) -> TxResult<u64> {
        static BETWEEN: LazyLock<String> = LazyLock::new(|| {
            format!(
                "SELECT count(*) FROM job WHERE state = 0 AND queue = $1 \
                 AND (priority > $2 OR (priority = $2 AND id < $3)) \
                 AND (priority < $4 OR (priority = $4 AND id >= $5)) AND {} = 0",
                *STATE_NOW
            )
        });
        let (priority, id, before) = self.ahead.get(&job.queue).copied().unwrap_or((i32::MAX, -1, 0));
        let params: [super::session::Param<'_>; 5] =
            [&job.queue.as_str(), &job.priority, &job.id.raw(), &priority, &id];
        let more: i64 = match self.tx.first(&BETWEEN, &params).await? {
            Some(row) => get(&row, 0)?,
            None => 0,
        };
        let ahead = before + more as u64;
        self.ahead.insert(job.queue.clone(), (job.priority, job.id.raw(), ahead));
        Ok(ahead)
    }
}
