//! The store by itself: claims, enqueues, events.

use crate::bench::{Measured, Outcome, Scratch, Stopwatch, runtime};
use bindery_core::{
    ItemId, Name, Payload, SubmissionId, Timestamp,
    event::{NewEvent, kind},
    job::{ClaimedJob, NewJob},
    outcome::{Outcome as JobOutcome, OutcomeStatus},
};
use bindery_store::{Changes, Commit, Feed as _, Guard, JobEnd, Queue as _, query::ClaimRequest, sqlite::SqliteStore};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

const BATCH: usize = 500;
const TASKS: usize = 32;

fn job(number: usize) -> NewJob {
    let mut job = NewJob::new("q.noop", SubmissionId::from_raw(1), "noop", "noop");
    job.item = Some(ItemId::from_raw(number as i64 + 1));
    job
}

/// A no-op's commit: outcome and event.
fn completed(claimed: &ClaimedJob) -> Commit {
    let job = &claimed.job;
    let outcome = JobOutcome {
        submission: job.submission,
        item: job.item,
        stage: job.stage.clone(),
        processor: job.processor.clone(),
        ..noop_outcome()
    };
    let data = r#"{"stage":"noop","processor":"noop","status":"completed"}"#.to_owned();
    let mut event = NewEvent::new(kind::OUTCOME_RECORDED, Some(job.submission), data);
    event.item = job.item;
    let guard = Guard::Claim { job: job.id, token: claimed.token, end: JobEnd::Done };
    Commit { guard, changes: Changes { outcomes: vec![outcome], events: vec![event], ..Changes::default() } }
}

async fn claim_until_empty(store: Arc<SqliteStore>, worker: Name) -> Outcome<()> {
    loop {
        let request = ClaimRequest {
            worker: worker.clone(),
            queues: None,
            submissions: None,
            max: BATCH,
            lease: Duration::from_secs(30),
            counts: true,
        };
        let claimed = store.claim(request).await?;
        if claimed.is_empty() {
            return Ok(());
        }
        store.commit(claimed.iter().map(completed).collect()).await?;
    }
}

/// Jobs claimed and completed, without an engine: two claimers, so that one plans while the other waits.
pub(crate) fn claim_and_commit(scratch: &Scratch, jobs: usize) -> Outcome<Measured> {
    runtime()?.block_on(async {
        let store = scratch.store()?;
        let all: Vec<NewJob> = (0..jobs).map(job).collect();
        for batch in all.chunks(BATCH) {
            store.enqueue(batch.to_vec()).await?;
        }
        let stopwatch = Stopwatch::start()?;
        let claimers = ["one", "two"].map(|name| tokio::spawn(claim_until_empty(Arc::clone(&store), Name::from(name))));
        for claimer in claimers {
            claimer.await??;
        }
        stopwatch.stop(jobs)
    })
}

/// Enqueues, each by itself and acknowledged before its task makes the next.
pub(crate) fn acked_enqueues(scratch: &Scratch) -> Outcome<Measured> {
    runtime()?.block_on(async {
        let store = scratch.store()?;
        let next = Arc::new(AtomicUsize::new(0));
        let stopwatch = Stopwatch::start()?;
        let until = Instant::now() + Duration::from_secs(3);
        let tasks: Vec<_> = (0..TASKS)
            .map(|_| {
                let (store, next) = (Arc::clone(&store), Arc::clone(&next));
                tokio::spawn(async move {
                    while Instant::now() < until {
                        store.enqueue(vec![job(next.fetch_add(1, Ordering::Relaxed))]).await?;
                    }
                    Outcome::Ok(())
                })
            })
            .collect();
        for task in tasks {
            task.await??;
        }
        stopwatch.stop(next.load(Ordering::Relaxed))
    })
}

/// How much the file grows for each outcome with an output of 1,000 bytes.
pub(crate) fn outcome_bytes(scratch: &Scratch) -> Outcome<u64> {
    const OUTCOMES: usize = 20_000;
    let file = scratch.path().join("bindery.db");
    drop(scratch.store()?);
    let empty = std::fs::metadata(&file)?.len();
    runtime()?.block_on(async {
        let store = scratch.store()?;
        for first in (0..OUTCOMES).step_by(BATCH) {
            let outcomes = (first..first + BATCH).map(|number| {
                let item = Some(ItemId::from_raw(number as i64 + 1));
                JobOutcome { item, output: Payload::Inline(format!("\"{}\"", "x".repeat(998))), ..noop_outcome() }
            });
            let changes = Changes { outcomes: outcomes.collect(), ..Changes::default() };
            store.commit(vec![Commit::always(changes)]).await?;
        }
        // Closing it moves everything into the one file.
        drop(store);
        Outcome::Ok(())
    })?;
    Ok((std::fs::metadata(&file)?.len() - empty) / OUTCOMES as u64)
}

fn noop_outcome() -> JobOutcome {
    JobOutcome {
        submission: SubmissionId::from_raw(1),
        item: None,
        stage: Name::from("noop"),
        processor: Name::from("noop"),
        status: OutcomeStatus::Completed,
        output: Payload::null(),
        confidence: None,
        error: None,
        resume: None,
        input_hash: None,
        processor_version: 1,
        attempts: 1,
        cost_micros: 0,
        finished_at: Timestamp::from_millis(0),
        reuse: None,
    }
}

/// Events appended.
pub(crate) fn event_appends(scratch: &Scratch) -> Outcome<Measured> {
    const EVENTS: usize = 300_000;
    const EVENTS_PER_BATCH: usize = 1_000;
    runtime()?.block_on(async {
        let store = scratch.store()?;
        let data = format!("{{\"text\":\"{}\"}}", "x".repeat(189));
        let event = NewEvent::new("Measured", None, data);
        let stopwatch = Stopwatch::start()?;
        for _ in 0..EVENTS / EVENTS_PER_BATCH {
            store.append_events(vec![event.clone(); EVENTS_PER_BATCH]).await?;
        }
        stopwatch.stop(EVENTS)
    })
}
