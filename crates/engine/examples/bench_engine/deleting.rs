//! How long it takes to delete some of many submissions while others are worked on.

use crate::{
    bench::{Outcome, Scratch, runtime},
    fan,
};
use bindery_core::{SubmissionId, submission::SubmissionStatus};
use bindery_engine::{
    Engine,
    intake::{Intake, IntakeFile},
    retention::{self, Others},
};
use bindery_store::{query::JobFilter, retention::Reason};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// How many tasks take submissions in at the same time.
const SENDERS: usize = 64;

/// What one page each goes through.
const WORKFLOW: &str = "
name: short
version: 1
stages:
  - {name: noop, component: noop, over: file, parallel: true}
";

/// Seconds until `deleted` of `all` finished submissions are gone, with a file of each, while a worker has a hundred
/// thousand parts of another one in hand.
pub(crate) fn while_others_work(scratch: &Scratch, all: usize, deleted: usize) -> Outcome<f64> {
    runtime()?.block_on(async {
        let engine = scratch.engine(fan::registry(100_000))?;
        engine.register_workflow(WORKFLOW, None).await?;
        let ids = take_in(&engine, all).await?;
        let worker = fan::start(&engine, None);
        for id in &ids {
            while engine.store().submission(*id).await?.ok_or("a submission is gone")?.status
                != SubmissionStatus::Completed
            {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        worker.stop().await?;
        // The parts are there when the clock starts, and the worker is at them.
        fan::submission(&engine).await?;
        fan::split(&engine).await?;
        let worker = fan::start(&engine, None);
        let chosen: Vec<SubmissionId> = ids.into_iter().step_by(all / deleted).collect();
        let begun = Instant::now();
        let done = retention::delete(&**engine.store(), chosen, Reason::Asked, |_| {}).await?;
        retention::sweep_candidates(&**engine.store(), engine.blobs(), Others::MayWork, false).await?;
        let seconds = begun.elapsed().as_secs_f64();
        let left = engine.store().jobs(JobFilter { limit: Some(1), ..JobFilter::default() }).await?.len();
        worker.stop().await?;
        match (done.submissions as usize == deleted, left) {
            (true, 1) => Ok(seconds),
            (true, _) => Err("the others' work was over before the deletion".into()),
            (false, _) => Err(format!("{} of {deleted} were deleted", done.submissions).into()),
        }
    })
}

async fn take_in(engine: &Engine, count: usize) -> Outcome<Vec<SubmissionId>> {
    let mut senders = JoinSet::new();
    for sender in 0..SENDERS {
        let engine = engine.clone();
        senders.spawn(async move {
            let mut ids = Vec::new();
            for number in (sender..count).step_by(SENDERS) {
                let stored = engine.blobs().put(format!("page {number}").into_bytes()).await?;
                let file = IntakeFile {
                    name: format!("{number}.txt"),
                    content: stored.hash,
                    size: stored.size,
                    media_type: "text/plain".to_owned(),
                    key: None,
                };
                ids.push(engine.submit(Intake::new("short", vec![file])).await?.id());
            }
            Outcome::Ok(ids)
        });
    }
    let mut ids = Vec::with_capacity(count);
    while let Some(sent) = senders.join_next().await {
        ids.extend(sent??);
    }
    ids.sort_unstable();
    Ok(ids)
}
