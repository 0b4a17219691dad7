//! All messages at once, from several processes.

use crate::{
    docproc::{Docproc, EXTRACTED, Runs, default_yaml, outside, registry},
    support::Rig,
};
use bindery_core::{Name, submission::SubmissionStatus};
use bindery_engine::{Worker, WorkerOptions, message::Published, stop_pair};
use std::sync::{Arc, atomic::Ordering};

const DOCUMENTS: usize = 24;
const ENGINES: usize = 3;

/// As many pages of alternating types, so that each is a document of its own.
fn pages() -> String {
    (0..DOCUMENTS).map(|page| if page % 2 == 0 { "invoice\n" } else { "receipt\n" }).collect()
}

/// Engines on the same store, as other processes would have them, and the runs of their consolidators.
fn beside(run: &Docproc) -> (Vec<Arc<Rig>>, Vec<Runs>) {
    let engines = (1..ENGINES).map(|_| {
        let (registry, runs) = registry();
        (Arc::new(Rig::beside(&run.rig, registry)), runs)
    });
    engines.unzip()
}

fn options(rig: &Rig, number: usize) -> WorkerOptions {
    WorkerOptions { name: Name::from(format!("worker-{number}")), ..rig.worker_options() }
}

async fn assert_completed_once(run: &Docproc, others: &[Runs]) {
    let all = DOCUMENTS as i64;
    assert_eq!(run.counts("extraction").await, (all, all, true));
    assert_eq!(run.completions("extraction_aggregation").await, 1);
    assert_eq!(run.outcomes("consolidate").await.len(), 1);
    let consolidated = run.consolidations() + others.iter().map(|runs| runs.load(Ordering::SeqCst)).sum::<usize>();
    assert_eq!(consolidated, 1);
    assert_eq!(run.result().await["documents"].as_array().unwrap().len(), DOCUMENTS);
    assert_eq!(run.rig.status(run.id).await, SubmissionStatus::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s002_15_concurrent_arrivals_complete_exactly_once() {
    let run = Docproc::received(&outside("extractor"), &pages()).await;
    run.rig.drain().await;
    let (others, runs) = beside(&run);
    let messages = run.messages().await;
    assert_eq!(messages.len(), DOCUMENTS);
    // Workers are at work in every engine while every engine publishes every message.
    let (handle, stop) = stop_pair();
    let working = others.iter().enumerate().map(|(number, rig)| {
        let (worker, stop) = (Worker::new(rig.engine.clone(), options(rig, number)), stop.clone());
        tokio::spawn(async move { worker.run(stop).await.unwrap() })
    });
    let working: Vec<_> = working.collect();
    let mut publishing = Vec::new();
    for message in &messages {
        for engine in others.iter().map(|rig| &rig.engine).chain([&run.rig.engine]) {
            let (engine, message) = (engine.clone(), message.clone());
            publishing.push(tokio::spawn(async move { engine.publish(EXTRACTED, message).await.unwrap() }));
        }
    }
    let mut taken = 0;
    for published in publishing {
        taken += usize::from(published.await.unwrap() == Published::Taken);
    }
    assert_eq!(taken, DOCUMENTS, "each document counts once, whoever was first");
    run.rig.drain_with(options(&run.rig, ENGINES)).await;
    handle.stop();
    for worker in working {
        worker.await.unwrap();
    }
    assert_completed_once(&run, &runs).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s002_15_several_workers_extract_and_one_of_them_completes() {
    let run = Docproc::received(&default_yaml(), &pages()).await;
    let (others, runs) = beside(&run);
    let working = others.iter().enumerate().map(|(number, rig)| {
        let rig = Arc::clone(rig);
        tokio::spawn(async move { rig.drain_with(options(&rig, number)).await })
    });
    let working: Vec<_> = working.collect();
    run.rig.drain_with(options(&run.rig, ENGINES)).await;
    for worker in working {
        worker.await.unwrap();
    }
    assert_completed_once(&run, &runs).await;
}
