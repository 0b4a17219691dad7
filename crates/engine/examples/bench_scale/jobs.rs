//! Jobs in large numbers: enqueued, run, and collected by a join.

use crate::{
    bench::{Bench, Measured, Outcome},
    fan,
};
use bindery_core::{EventSeq, ItemId, Name, SubmissionId, event::kind, job::NewJob};
use bindery_engine::Engine;
use bindery_store::{
    Queue as _,
    commit::Enqueued,
    postgres::PostgresStore,
    query::{EventFilter, JobFilter, JoinFilter},
};
use std::{
    collections::HashSet,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

const BATCH: usize = 1_000;
const TASKS: usize = 4;

fn job(number: usize) -> NewJob {
    let mut job = NewJob::new("q.noop", SubmissionId::from_raw(1), "noop", "noop");
    job.item = Some(ItemId::from_raw(number as i64 + 1));
    job
}

fn job_with_key(number: usize) -> NewJob {
    NewJob { dedup_key: Some(format!("noop {number}")), ..job(number) }
}

/// Each task enqueues batch after batch, until all jobs are there. Returns how many were new.
async fn enqueue_all(store: &Arc<PostgresStore>, count: usize, job: fn(usize) -> NewJob) -> Outcome<usize> {
    let next = Arc::new(AtomicUsize::new(0));
    let tasks = (0..TASKS).map(|_| {
        let (store, next) = (Arc::clone(store), Arc::clone(&next));
        tokio::spawn(async move {
            let mut new = 0;
            loop {
                let start = next.fetch_add(BATCH, Ordering::Relaxed);
                let batch: Range<usize> = start..count.min(start + BATCH);
                if batch.is_empty() {
                    return Outcome::Ok(new);
                }
                let stored = store.enqueue(batch.map(job).collect()).await?;
                new += stored.iter().filter(|result| matches!(result, Enqueued::New(_))).count();
            }
        })
    });
    let mut new = 0;
    for task in tasks.collect::<Vec<_>>() {
        new += task.await??;
    }
    Ok(new)
}

/// Jobs without dedup keys.
pub(crate) fn enqueue_plain(bench: &Bench, count: usize) -> Outcome<Measured> {
    bench.runtime.block_on(async {
        let store = bench.store().await?;
        let stopwatch = bench.stopwatch()?;
        let new = enqueue_all(&store, count, job).await?;
        let measured = stopwatch.stop(count)?;
        assert_eq!(new, count, "every job is new");
        Ok(measured)
    })
}

/// Jobs with dedup keys: once new, and once more with the same keys.
pub(crate) fn enqueue(bench: &Bench, count: usize) -> Outcome<(Measured, Measured)> {
    bench.runtime.block_on(async {
        let store = bench.store().await?;
        let stopwatch = bench.stopwatch()?;
        let new = enqueue_all(&store, count, job_with_key).await?;
        let first = stopwatch.stop(count)?;
        assert_eq!(new, count, "every key is new");
        let few = count / 10;
        let stopwatch = bench.stopwatch()?;
        let new = enqueue_all(&store, few, job_with_key).await?;
        assert_eq!(new, 0, "every key is in use");
        Ok((first, stopwatch.stop(few)?))
    })
}

/// No-op jobs through the worker: they are there before the clock starts. With or without a dedup key each.
pub(crate) fn no_ops(bench: &Bench, count: usize, with_keys: bool) -> Outcome<Measured> {
    bench.runtime.block_on(async {
        let url = bench.database().await?;
        let engine = bench.engine_in(url.clone(), fan::registry(count)).await?;
        let id = fan::submission(&engine).await?;
        fan::split(&engine).await?;
        if with_keys {
            bench.give_keys(&url).await?;
        }
        let stopwatch = bench.stopwatch()?;
        let worker = fan::work(&engine, id).await?;
        let measured = stopwatch.stop(count)?;
        worker.stop().await?;
        bench.list_statements(&url, count).await?;
        check(&engine, id, count).await?;
        Ok(measured)
    })
}

/// From the intake until every part has been collected.
pub(crate) fn out_and_in(bench: &Bench, parts: usize) -> Outcome<Measured> {
    bench.runtime.block_on(async {
        let engine = bench.engine(fan::registry(parts)).await?;
        let id = fan::submission(&engine).await?;
        let stopwatch = bench.stopwatch()?;
        let worker = fan::work(&engine, id).await?;
        let measured = stopwatch.stop(parts)?;
        worker.stop().await?;
        check(&engine, id, parts).await?;
        Ok(measured)
    })
}

/// Every part was run and counted once, and what follows them ran once.
async fn check(engine: &Engine, id: SubmissionId, parts: usize) -> Outcome<()> {
    let store = engine.store();
    let outcomes = store.outcomes(id, Some(&Name::from("noop"))).await?;
    assert_eq!(outcomes.len(), parts, "an outcome for every part");
    let of_kind = |kind: &str| EventFilter { kinds: vec![Name::from(kind)], submission: Some(id) };
    let recorded = store.read_events(EventSeq::START, of_kind(kind::OUTCOME_RECORDED), usize::MAX).await?;
    let items: HashSet<_> = outcomes.iter().map(|outcome| outcome.item).collect();
    let of_parts = recorded.iter().filter(|event| items.contains(&event.item));
    assert_eq!(of_parts.count(), parts, "an event for every part");
    let closed = store.read_events(EventSeq::START, of_kind(kind::STAGE_CLOSED), usize::MAX).await?;
    assert_eq!(closed.len(), 1, "the join closed once");
    for join in store.joins(id, JoinFilter::default()).await? {
        assert!(join.closed_at.is_some(), "join {} is open", join.id);
        assert_eq!((join.arrived, join.failed), (join.expected, 0), "join {} counted every part once", join.id);
    }
    let left = store.jobs(JobFilter { submission: Some(id), ..JobFilter::default() }).await?;
    assert!(left.is_empty(), "{} jobs are left", left.len());
    Ok(())
}
