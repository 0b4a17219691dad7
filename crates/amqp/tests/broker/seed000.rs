//! Seed 000 over a broker: two instances share a submission, and what holds for one holds for both together.

use crate::{
    node::{self, Client, Node, eventually, options, prefix},
    support::{Func, Rig},
};
use bindery_core::{StepError, event::kind, submission::SubmissionStatus};
use bindery_engine::{Extracted, Registry, intake::Intake};
use serde_json::json;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

const FILES: usize = 60;
const SUBMISSION: &str = "submission-guid";

const BOTH: &str = "
name: both
version: 1
stages:
  - name: parse
    over: file
    parallel: true
    processors: [{name: markitdown}, {name: foundry}]
    max_attempts: 2
  - name: documents_complete
    component: docproc-aggregator
    aggregation: {type: fan_in, collect_by: submission_id, expect_count_from: file_count, on_failed: continue}
";

/// The two processors, one of which fails for every tenth document, and how often they ran.
fn processors() -> (Registry, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let mut registry = Registry::with_builtin();
    for name in ["markitdown", "foundry"] {
        let runs = Arc::clone(&runs);
        registry.register(Func::new(name, move |context, _| {
            runs.fetch_add(1, Ordering::SeqCst);
            if name == "foundry" && context.item()?.public_id().ends_with('7') {
                return Err(StepError::reject("encrypted"));
            }
            Ok(Extracted::new(json!({"text": "read"})))
        }));
    }
    (registry, runs)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s000_22_two_instances_share_a_submission_over_a_broker() {
    let Some(broker) = node::broker() else { return };
    let prefix = prefix();
    let (registry, runs_of_one) = processors();
    let one = Rig::new(registry);
    let (registry, runs_of_two) = processors();
    let two = Rig::beside(&one, registry);
    one.workflow(BOTH).await;
    let mut files = one.files(FILES).await;
    for (index, file) in files.iter_mut().enumerate() {
        file.key = Some(format!("doc-{index}"));
    }
    let mut intake = Intake::new("both", files);
    intake.external_id = Some(SUBMISSION.to_owned());
    // Few messages for each at a time, so that both get some.
    let few = || bindery_amqp::AmqpOptions { prefetch: 4, ..options(&broker, &prefix) };
    let nodes = [
        Node::start(&one.engine, "instance-1", few()).await.unwrap(),
        Node::start(&two.engine, "instance-2", few()).await.unwrap(),
    ];
    let id = one.submit(intake).await;
    eventually("the submission is completed", async || one.status(id).await == SubmissionStatus::Completed).await;
    for node in nodes {
        node.stop().await;
    }
    // 000-04: one event for each document, however many instances and processors there are.
    let events = two.events_of(kind::DOCUMENT_FULLY_PROCESSED).await;
    let document =
        |event: &bindery_core::event::Event| event.envelope().data["documentId"].as_str().unwrap().to_owned();
    let mut announced: Vec<String> = events.iter().map(document).collect();
    announced.sort();
    announced.dedup();
    assert_eq!((announced.len(), events.len()), (FILES, FILES));
    // 000-13: one event for the submission.
    assert_eq!(two.events_of(kind::SUBMISSION_DOCUMENTS_COMPLETE).await.len(), 1);
    // 000-19: nothing was counted twice, whoever ran it.
    assert_eq!(two.events_of(kind::DOCUMENT_PROCESSED).await.len(), 2 * FILES);
    let runs = [runs_of_one.load(Ordering::SeqCst), runs_of_two.load(Ordering::SeqCst)];
    assert_eq!(runs.iter().sum::<usize>(), 2 * FILES, "{runs:?}");
    assert!(runs.iter().all(|runs| *runs > 0), "both took part: {runs:?}");
    assert_eq!(Client::connect(&broker, &prefix).await.depth("q.dead_letters").await, 0);
}
