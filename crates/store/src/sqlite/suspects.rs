//! Claiming [suspects](crate::suspects) apart from other work, and the mark that a run of them begins.

use super::{
    claim::{self, Candidate, candidate, is_wanted, paused_queues, promote_scheduled, tokens_now},
    rows::{JOB_COLUMNS, id_list},
    writer::{Tx, WriteResult},
};
use crate::query::ClaimRequest;
use bindery_core::{
    JobId, Name,
    job::{ClaimedJob, Limit, Token},
};
use std::{
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
};

/// The next group: those with the fewest losses first, large groups before small ones.
pub(super) fn claim_suspects(tx: &mut Tx<'_>, request: &ClaimRequest) -> WriteResult<Vec<ClaimedJob>> {
    static NEXT: LazyLock<String> = LazyLock::new(|| {
        format!("SELECT {JOB_COLUMNS} FROM job WHERE suspect > 0 AND state = 0 ORDER BY losses, suspect DESC, id")
    });
    promote_scheduled(tx)?;
    let paused = paused_queues(tx)?;
    let mut open = Limits::default();
    let mut group: Option<(u32, i64)> = None;
    let mut chosen: Vec<Candidate> = Vec::new();
    let mut next = tx.db.prepare_cached(&NEXT)?;
    let mut found = next.query([])?;
    while let Some(row) = found.next()? {
        let (candidate, size) = (candidate(row, tx.state)?, row.get::<_, i64>(26)?);
        let together = (candidate.job.losses, size);
        if chosen.len() >= request.max || group.is_some_and(|group| group != together || chosen.len() as i64 >= size) {
            break;
        }
        if is_wanted(request, &paused, &candidate.job) && open.let_through(tx, candidate.job.limit.as_ref())? {
            group = Some(together);
            chosen.push(candidate);
        }
    }
    drop(found);
    drop(next);
    claim::lease(tx, request, chosen)
}

/// What is left of the limits that suspects have met: how many more may run, and how many may begin now.
#[derive(Default)]
struct Limits(HashMap<Name, (i64, Option<f64>)>);

impl Limits {
    fn let_through(&mut self, tx: &Tx<'_>, limit: Option<&Limit>) -> WriteResult<bool> {
        let Some(limit) = limit else { return Ok(true) };
        let (mut running, mut tokens) = if let Some(known) = self.0.get(&limit.key) {
            *known
        } else {
            let count = "SELECT count(*) FROM job WHERE state = 2 AND limit_key IS NOT NULL AND limit_key = ?1";
            let running = tx.db.prepare_cached(count)?.query_row([limit.key.as_str()], |row| row.get::<_, i64>(0))?;
            let rate = limit.per_minute.map(|per_minute| tokens_now(tx.db, tx.now, &limit.key, per_minute));
            (running, rate.transpose()?)
        };
        let is_open =
            limit.running.is_none_or(|most| running < i64::from(most)) && tokens.is_none_or(|tokens| tokens >= 1.0);
        if is_open {
            running += 1;
            tokens = tokens.map(|tokens| tokens - 1.0);
        }
        self.0.insert(limit.key.clone(), (running, tokens));
        Ok(is_open)
    }
}

/// Marks that a run of these suspects begins, and of nothing else. Returns those that are still held.
pub(super) fn begin_suspects(tx: &Tx<'_>, leases: &[(JobId, Token)]) -> WriteResult<Vec<JobId>> {
    let mut by_token: BTreeMap<Token, Vec<i64>> = BTreeMap::new();
    for (job, token) in leases {
        by_token.entry(*token).or_default().push(job.raw());
    }
    let mut mark = tx.db.prepare_cached(
        "UPDATE job SET begun_with = ?3 WHERE token = ?2 AND state = 2 AND suspect > 0 \
         AND id IN (SELECT value FROM json_each(?1)) RETURNING id",
    )?;
    let mut held = Vec::new();
    for (token, jobs) in by_token {
        let mut marked = mark.query((id_list(jobs.into_iter()), token.0, leases.len() as i64))?;
        while let Some(row) = marked.next()? {
            held.push(JobId::from_raw(row.get(0)?));
        }
    }
    Ok(held)
}
