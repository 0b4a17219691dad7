//! The last message completes the stage, and one message goes on.

use crate::docproc::{AGGREGATOR_QUEUE, CONSOLIDATOR_QUEUE, Docproc, FIVE_PAGES, default_yaml, outside};
use bindery_core::{item::ItemKind, outcome::OutcomeStatus, submission::SubmissionStatus};
use bindery_engine::message::Published;
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_06_nothing_goes_on_before_the_last_message() {
    let run = Docproc::awaiting_extraction(FIVE_PAGES).await;
    let messages = run.messages().await;
    for (index, message) in messages[..2].iter().enumerate() {
        run.publish(message).await;
        // However often it is repeated.
        run.publish(message).await;
        run.rig.drain().await;
        assert_eq!(run.counts("extraction").await, (index as i64 + 1, 3, false));
        for queue in [AGGREGATOR_QUEUE, CONSOLIDATOR_QUEUE] {
            assert!(run.queued(queue).await.is_empty(), "{queue}");
        }
        assert!(run.outcomes("extraction_aggregation").await.is_empty());
        assert_eq!(run.completions("extraction_aggregation").await, 0);
    }
    assert_eq!(run.rig.status(run.id).await, SubmissionStatus::Extracting);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_07_the_last_message_completes_the_stage() {
    let run = Docproc::awaiting_extraction(FIVE_PAGES).await;
    let mut flags = Vec::new();
    for message in run.messages().await {
        assert_eq!(run.publish(&message).await, Published::Taken);
        // In the same commit: nothing else has to run for it.
        flags.push(run.state("extraction").await.is_complete);
    }
    assert_eq!(flags, [false, false, true]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_07_a_request_without_pages_completes_too() {
    let run = Docproc::received(&default_yaml(), "").await;
    run.rig.drain().await;
    assert_eq!(run.counts("classification").await, (0, 0, true));
    assert_eq!(run.counts("extraction").await, (0, 0, true));
    assert_eq!(run.rig.status(run.id).await, SubmissionStatus::Completed);
    assert_eq!(run.result().await["documents"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_08_exactly_one_message_goes_on_however_often_they_repeat() {
    let run = Docproc::awaiting_extraction(FIVE_PAGES).await;
    run.pause(CONSOLIDATOR_QUEUE).await;
    let messages = run.messages().await;
    for message in messages.iter().chain(&messages) {
        run.publish(message).await;
    }
    run.rig.drain().await;
    assert_eq!(run.queued(CONSOLIDATOR_QUEUE).await.len(), 1);
    for message in &messages {
        assert_eq!(run.publish(message).await, Published::Ignored, "late duplicates");
    }
    run.rig.drain().await;
    assert_eq!(run.queued(CONSOLIDATOR_QUEUE).await.len(), 1);
    run.resume(CONSOLIDATOR_QUEUE).await;
    run.rig.drain().await;
    for message in &messages {
        assert_eq!(run.publish(message).await, Published::Ignored, "after the end");
    }
    run.rig.drain().await;
    assert_eq!(run.completions("extraction_aggregation").await, 1);
    assert_eq!(run.consolidations(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_09_the_output_names_the_request_and_the_component() {
    let run = Docproc::received(&default_yaml(), FIVE_PAGES).await;
    run.rig.drain().await;
    let expected = json!({"request_id": "request-1", "source_component": "extraction_aggregator"});
    let sent = run.outcomes("extraction_aggregation").await;
    assert_eq!(sent.len(), 1);
    assert_eq!(run.output(&sent[0]).await, expected);
    // It is the very message that the consolidator gets.
    assert_eq!(run.result().await["message"], expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_13_nothing_is_grouped_or_transformed_here() {
    let run = Docproc::awaiting_extraction(FIVE_PAGES).await;
    run.pause(AGGREGATOR_QUEUE).await;
    run.pause(CONSOLIDATOR_QUEUE).await;
    for message in run.messages().await {
        run.publish(&message).await;
    }
    run.rig.drain().await;
    let before = (run.items(None).await, run.outcomes("extract").await);
    run.resume(AGGREGATOR_QUEUE).await;
    run.rig.drain().await;
    assert_eq!((run.items(None).await, run.outcomes("extract").await), before);
    assert!(
        run.rig
            .store
            .artifacts(run.id, None, 1_000)
            .await
            .unwrap()
            .iter()
            .all(|artifact| artifact.key.starts_with("raw/"))
    );
    // In contrast to the classification, which makes documents.
    let parents: Vec<_> = run.items(Some(ItemKind::Document)).await.iter().map(|item| item.parent).collect();
    assert_eq!(parents, [None; 3]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_14_classification_counts_pages_in_the_same_way() {
    let run = Docproc::received(&outside("classifier"), FIVE_PAGES).await;
    run.rig.drain().await;
    assert_eq!(run.counts("classification").await, (0, 5, false));
    let types = ["invoice", "invoice", "id_card", "payslip", "payslip"];
    for (index, doc_type) in types.iter().enumerate() {
        let message = || {
            serde_json::from_value(json!({
                "request_id": "request-1", "page_index": index, "page_count": 5,
                "payload": {"page_index": index, "doc_type": doc_type, "confidence": 0.9, "ocr_confidence": 0.2},
            }))
            .unwrap()
        };
        let publish = async |key: &str| run.rig.engine.publish(key, message()).await.unwrap();
        assert_eq!(publish("page.classified").await, Published::Taken);
        assert_eq!(publish("page.classified").await, Published::Ignored);
        assert_eq!(run.counts("classification").await, (index as i64 + 1, 5, index == 4));
    }
    run.rig.drain().await;
    assert_eq!(run.completions("classification_aggregation").await, 1);
    let labels: Vec<_> = run.documents().await.into_iter().map(|item| item.label.unwrap()).collect();
    assert_eq!(labels, ["invoice", "id_card", "payslip"]);
    // And what it makes is what the extraction waits for.
    assert_eq!(run.counts("extraction").await, (3, 3, true));
    assert!(run.outcomes("classify").await.iter().all(|outcome| outcome.status == OutcomeStatus::Completed));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_20_only_consecutive_pages_are_one_document() {
    let run = Docproc::received(&default_yaml(), "invoice a\nid_card b\ninvoice c\n").await;
    run.rig.drain().await;
    let labels: Vec<_> = run.documents().await.into_iter().map(|item| item.label.unwrap()).collect();
    assert_eq!(labels, ["invoice", "id_card", "invoice"]);
}
