//! Where the one message goes, and what is read there.

use crate::{
    docproc::{CONSOLIDATOR_QUEUE, Docproc, FIVE_PAGES, default_yaml, registry},
    support::{Func, Rig},
};
use bindery_core::{Payload, submission::SubmissionStatus};
use bindery_engine::{
    message::Published,
    workflow::{Resolved, Target, Workflow},
};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_10_next_is_the_consolidator_by_default() {
    let workflow = Workflow::parse(&default_yaml(), None).unwrap();
    let resolved = workflow.resolve("extraction_aggregation", &Target::parse("__next__")).unwrap();
    let Resolved::Stage { index } = resolved else { panic!("{resolved:?}") };
    let next = &workflow.stages[index];
    assert_eq!(
        (&*next.name, &*next.routing_key, &*next.queue()),
        ("consolidate", "request.consolidate", "q.consolidator")
    );

    let run = Docproc::received(&default_yaml(), FIVE_PAGES).await;
    run.pause(CONSOLIDATOR_QUEUE).await;
    run.rig.drain().await;
    let waiting = run.queued(CONSOLIDATOR_QUEUE).await;
    assert_eq!(waiting.iter().map(|job| &*job.stage).collect::<Vec<_>>(), ["consolidate"]);
    assert_eq!(run.rig.status(run.id).await, SubmissionStatus::Consolidating);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_11_another_workflow_leads_elsewhere_without_other_code() {
    let archive = "  - {name: archive, component: archiver, routing_key: request.archive}\n\n  - name: consolidate\n";
    let yaml = default_yaml().replace("  - name: consolidate\n", archive);
    let with_archiver = |_| {
        let (mut registry, _) = registry();
        registry.register(Func::echo("archiver"));
        Rig::new(registry)
    };
    let run = Docproc::on(with_archiver, &yaml, FIVE_PAGES).await;
    run.pause("q.archiver").await;
    run.rig.drain().await;
    let waiting = run.queued("q.archiver").await;
    assert_eq!(waiting.iter().map(|job| &*job.stage).collect::<Vec<_>>(), ["archive"]);
    let sent = json!({"request_id": "request-1", "source_component": "extraction_aggregator"});
    assert_eq!(run.rig.engine.read_payload(&waiting[0].payload).await.unwrap(), sent);
    assert!(run.queued(CONSOLIDATOR_QUEUE).await.is_empty());
    run.resume("q.archiver").await;
    run.rig.drain().await;
    assert_eq!(run.rig.status(run.id).await, SubmissionStatus::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_11_an_aggregation_can_also_be_the_end() {
    let yaml = default_yaml();
    let last = yaml.find("  - name: consolidate\n").unwrap();
    let schemas = yaml.find("# The fields to read").unwrap();
    let run = Docproc::received(&format!("{}{}", &yaml[..last], &yaml[schemas..]), FIVE_PAGES).await;
    run.rig.drain().await;
    assert_eq!(run.rig.status(run.id).await, SubmissionStatus::Completed);
    assert_eq!(run.consolidations(), 0, "after the last stage nothing is published");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_12_the_consolidator_reads_the_documents_from_the_store() {
    let run = Docproc::awaiting_extraction(FIVE_PAGES).await;
    let long = "9".repeat(20_000);
    for (index, mut message) in run.messages().await.into_iter().enumerate() {
        if index == 1 {
            message.payload["extracted_data"] = json!({"number": long});
        }
        assert_eq!(run.publish(&message).await, Published::Taken);
    }
    run.rig.drain().await;
    let stored = run.outcomes("extract").await;
    assert!(matches!(stored[1].output, Payload::Blob(_)), "large data is kept beside the row");
    let result = run.result().await;
    let data: Vec<_> =
        result["documents"].as_array().unwrap().iter().map(|document| &document["extracted_data"]).collect();
    let from = |key: &str| json!({"total": format!("from {key}")});
    assert_eq!(data, [&from("uuid-doc-0"), &json!({"number": long}), &from("uuid-doc-2")]);
    assert!(!result["message"].to_string().contains("total"), "none of it travelled with the message");
}
