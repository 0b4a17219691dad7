//! Commits: which of them hold, and everything that follows.
//!
//! Neighbours that cannot disturb each other (the ends of different claims) are a *run*: their guards are checked
//! together, and their changes are written together, table by table. Any other commit is a run by itself. So hundreds of
//! finished jobs cost a handful of statements, and the result is that of one after the other.

use super::{
    changes, events,
    fail::{TxResult, join_results},
    guards, jobs, joins,
    joins::Tally,
    repair,
    session::Tx,
};
use crate::commit::{Changes, Commit, CommitResult, Guard};
use bindery_core::{JoinId, job::NewJob};
use std::collections::{BTreeSet, HashSet};

/// Applies commits in their order.
pub(super) async fn apply(tx: &Tx, commits: &[&Commit]) -> TxResult<Vec<CommitResult>> {
    let mut results = Vec::with_capacity(commits.len());
    let mut rest = commits;
    while !rest.is_empty() {
        let (run, others) = rest.split_at(run_length(rest));
        apply_run(tx, run, &mut results).await?;
        rest = others;
    }
    Ok(results)
}

/// How many commits from the first on can be written together.
fn run_length(commits: &[&Commit]) -> usize {
    let mut jobs = HashSet::new();
    let together = commits.iter().take_while(|commit| {
        let changes = &commit.changes;
        let independent = match &commit.guard {
            // The first end of a claim counts, so that their order counts.
            Guard::Claim { job, .. } => jobs.insert(*job),
            Guard::Always => true,
            _ => false,
        };
        independent && changes.submissions.is_empty() && !does_again(changes)
    });
    together.count().max(1)
}

/// Whether changes take something back that is or was under way.
const fn does_again(changes: &Changes) -> bool {
    changes.again.is_some() || !changes.removed_items.is_empty() || !changes.restarted_items.is_empty()
}

async fn apply_run(tx: &Tx, run: &[&Commit], results: &mut Vec<CommitResult>) -> TxResult<()> {
    let rejections = guards::check(tx, run).await?;
    let holding = run.iter().zip(&rejections).filter(|(_, rejection)| rejection.is_none());
    let mut accepted: Vec<&Changes> = holding.map(|(commit, _)| &commit.changes).collect();
    let adjusted;
    if let [only] = accepted[..]
        && does_again(only)
    {
        adjusted = repair::adjusted(tx, only).await?;
        accepted = vec![&adjusted];
    }
    let new_joins: Vec<_> = accepted.iter().flat_map(|changes| &changes.joins).collect();
    // Each commit's jobs come before those of the joins that it closes, and those before the jobs of the next commit:
    // ids follow that order. So what can be stored before any join is looked at ends with the first that steps one.
    let joins_from = accepted.iter().position(|changes| !changes.joins.is_empty() || !changes.join_steps.is_empty());
    let early = joins_from.map_or(accepted.len(), |first| first + 1);
    let early_jobs: Vec<&NewJob> = accepted[..early].iter().flat_map(|changes| &changes.jobs).collect();
    let news: Vec<_> = accepted.iter().flat_map(|changes| &changes.events).collect();
    let rows = async {
        changes::write_nouns(tx, &accepted).await?;
        joins::insert(tx, &new_joins).await?;
        jobs::enqueue(tx, &early_jobs).await?;
        changes::advance_submissions(tx, &accepted).await
    };
    // Events wait for nothing that is stored before them, so they are on their way at the same time.
    let (rows, appended) = tokio::join!(rows, events::append(tx, &news));
    join_results(rows, appended)?;

    // Joins come last: whoever steps the same one waits from here until we have committed.
    let made: HashSet<JoinId> = new_joins.iter().map(|join| join.id).collect();
    let steps = accepted.iter().flat_map(|changes| &changes.join_steps);
    let stepped: BTreeSet<JoinId> = steps.map(|step| step.join).filter(|join| !made.contains(join)).collect();
    let mut tally = Tally::lock(tx, &stepped).await?;
    let mut follow: Vec<NewJob> = Vec::new();
    let mut order: Vec<Next<'_>> = Vec::new();
    let mut each = accepted.iter().enumerate();
    for rejection in rejections {
        let applied = match rejection {
            Some(rejection) => Err(rejection),
            None => Ok(each.next()),
        };
        results.push(match applied {
            Err(rejection) => CommitResult::Rejected(rejection),
            Ok(None) => CommitResult::Applied { joins: Vec::new() },
            Ok(Some((place, changes))) => {
                let own = changes.jobs.iter().filter(|_| place >= early);
                order.extend(own.map(Next::Job));
                let before = follow.len();
                let joins = tally.apply(&changes.joins, &changes.join_steps, &mut follow)?;
                order.extend((before..follow.len()).map(Next::Follow));
                CommitResult::Applied { joins }
            }
        });
    }
    joins::make_urgent(tx, &mut follow).await?;
    let late_jobs = order.iter().map(|next| match next {
        Next::Job(job) => job,
        Next::Follow(place) => &follow[*place],
    });
    jobs::enqueue(tx, &late_jobs.collect::<Vec<_>>()).await?;
    tally.store(tx).await
}

/// A job that is stored after joins were looked at: one of a commit's own, or one that follows a closed join.
enum Next<'c> {
    Job(&'c NewJob),
    Follow(usize),
}
