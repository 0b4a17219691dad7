//! Messages come in: who sends them, what they look like, and what each one counts for.

use crate::{
    docproc::{
        AGGREGATOR_QUEUE, CONSOLIDATOR_QUEUE, Docproc, EXTRACTED, FIVE_PAGES, default_yaml, extracted_message,
        is_waiting, outside, work_until,
    },
    support::Rig,
};
use bindery_core::{
    Name,
    item::ItemKind,
    job::JobState,
    outcome::OutcomeStatus,
    review::{Review, ReviewStatus},
    submission::SubmissionStatus,
};
use bindery_engine::{
    EngineError, WorkerOptions,
    intake::Intake,
    message::{PipelineMessage, Published},
    report::{About, Reported},
    workflow::Target,
};
use bindery_store::{CommitResult, commit::JoinProgress, query::ReviewFilter};
use serde_json::json;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_01_doc_extracted_leads_to_q_extraction_aggregator() {
    let run = Docproc::awaiting_extraction(FIVE_PAGES).await;
    run.pause(AGGREGATOR_QUEUE).await;
    for message in run.messages().await {
        assert_eq!(run.publish(&message).await, Published::Taken);
    }
    run.rig.drain().await;
    let waiting = run.queued(AGGREGATOR_QUEUE).await;
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].stage, "extraction_aggregation");
    assert!(is_waiting(&waiting[0]));
    run.resume(AGGREGATOR_QUEUE).await;
    run.rig.drain().await;
    assert_eq!(run.rig.status(run.id).await, SubmissionStatus::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_01_what_nobody_knows_is_refused_and_changes_nothing() {
    let run = Docproc::awaiting_extraction(FIVE_PAGES).await;
    let known = run.messages().await.remove(0);
    let refused = |key: &'static str, message: PipelineMessage| {
        let engine = run.rig.engine.clone();
        async move { engine.publish(key, message).await.unwrap_err() }
    };
    let unknown_key = refused("doc.extraced", known.clone()).await;
    assert!(matches!(unknown_key, EngineError::Resolve(_)));
    assert!(unknown_key.to_string().contains("its routing keys are request.split, page.ocr"), "{unknown_key}");
    let request = PipelineMessage { request_id: "request-2".to_owned(), ..known.clone() };
    assert_eq!(refused(EXTRACTED, request).await.to_string(), "there is no submission \"request-2\"");
    let document = PipelineMessage { document_id: Some("uuid-doc-9".to_owned()), ..known };
    assert_eq!(
        refused(EXTRACTED, document).await.to_string(),
        format!("there is no document \"uuid-doc-9\" in {}", run.id)
    );
    assert_eq!(run.counts("extraction").await, (0, 3, false));
}

async fn open_reviews(run: &Docproc) -> Vec<Review> {
    let statuses = ReviewStatus::OPEN.to_vec();
    let filter = ReviewFilter { submission: Some(run.id), statuses, ..ReviewFilter::default() };
    let mut reviews = run.rig.store().reviews(filter).await.unwrap();
    reviews.sort_by_key(|review| review.item);
    reviews
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_02_the_extractor_and_the_back_office_count_alike() {
    let pages = "invoice clear\nid_card blurred\npayslip blurred\n";
    let run = Docproc::received(&default_yaml(), pages).await;
    run.rig.drain().await;
    assert_eq!(run.counts("extraction").await, (1, 3, false), "only the sure one has been extracted");
    let reviews = open_reviews(&run).await;
    assert_eq!(reviews.len(), 2);
    assert!(reviews.iter().all(|review| review.queue == "task.extraction" && review.stage == "extract"));

    // A person completes one in our back office,
    let first = &reviews[0];
    let decided = json!({"extracted_data": {"total": "7.00"}});
    run.rig.engine.complete_review(first.id, Some("ana"), decided.clone()).await.unwrap();
    assert_eq!(run.counts("extraction").await, (2, 3, false));
    let again = run.rig.engine.complete_review(first.id, Some("ana"), decided).await;
    assert!(again.unwrap_err().to_string().contains("completed already"));

    // another back office publishes the other as a message.
    let document = run.documents().await.into_iter().find(|item| Some(item.id) == reviews[1].item).unwrap();
    let message =
        PipelineMessage { source_component: Some("backoffice".to_owned()), ..extracted_message(&document, 3) };
    assert_eq!(run.publish(&message).await, Published::Taken);
    assert_eq!(run.counts("extraction").await, (3, 3, true));
    assert_eq!(run.publish(&message).await, Published::Ignored, "a second one finds nothing open");
    assert_eq!(run.counts("extraction").await, (3, 3, true));

    run.rig.drain().await;
    let result = run.result().await;
    let shown = result["documents"].as_array().unwrap().iter().map(|document| {
        (document["extraction_confidence"].as_f64().unwrap(), document["status"].as_str().unwrap().to_owned())
    });
    let completed = || "completed".to_owned();
    assert_eq!(shown.collect::<Vec<_>>(), [(0.91, completed()), (1.0, completed()), (1.0, completed())]);
    assert_eq!(result["documents"][1]["extracted_data"], json!({"total": "7.00"}));
    assert_eq!(result["documents"][2]["extracted_data"], json!({"total": "from uuid-doc-2"}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_03_a_worker_of_one_component_runs_only_that() {
    let run = Docproc::awaiting_extraction(FIVE_PAGES).await;
    for message in run.messages().await {
        run.publish(&message).await;
    }
    run.rig.submit(Intake::new("default", run.rig.files(1).await)).await;
    let only = WorkerOptions { queues: Some(vec![Name::from(AGGREGATOR_QUEUE)]), ..run.rig.worker_options() };
    work_until(&run.rig, only, async || run.queued(AGGREGATOR_QUEUE).await.is_empty()).await;
    assert_eq!(run.outcomes("extraction_aggregation").await.len(), 1);
    for queue in ["q.splitter", CONSOLIDATOR_QUEUE] {
        let waiting = run.queued(queue).await;
        assert_eq!(waiting.len(), 1, "{queue}");
        assert!(is_waiting(&waiting[0]), "{queue}: not this worker's");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_04_one_message_of_the_seeds_shape_per_document() {
    let run = Docproc::awaiting_extraction(FIVE_PAGES).await;
    let documents = run.documents().await;
    let text = json!({
        "request_id": run.id.to_string(),
        "document_id": documents[0].id.to_string(),
        "document_count": 3,
        "payload": {"doc_type": "invoice", "extracted_data": {"total": "9"}, "extraction_confidence": 0.91},
    });
    // Our own ids do as well as the sender's.
    let message: PipelineMessage = serde_json::from_value(text.clone()).unwrap();
    assert_eq!(run.publish(&message).await, Published::Taken);
    let outcome = run.outcomes("extract").await.remove(0);
    assert_eq!((outcome.item, outcome.status), (Some(documents[0].id), OutcomeStatus::Completed));
    assert_eq!(outcome.confidence, Some(0.91));
    assert_eq!(run.output(&outcome).await, text["payload"]);
    for message in run.messages().await.iter().skip(1) {
        assert_eq!(run.publish(message).await, Published::Taken);
    }
    assert_eq!(run.counts("extraction").await, (3, 3, true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_04_fields_that_nobody_knows_are_kept() {
    let run = Docproc::awaiting_extraction("invoice one\n").await;
    let mut text = serde_json::to_value(run.messages().await.remove(0)).unwrap();
    text["tenant"] = json!({"id": 7});
    // As Python writes a time without a zone.
    text["created_at"] = json!("2026-11-16T10:42:39.927123");
    let message: PipelineMessage = serde_json::from_value(text).unwrap();
    assert_eq!(run.publish(&message).await, Published::Taken);
    let output = run.output(&run.outcomes("extract").await[0]).await;
    assert_eq!(output["_envelope"], json!({"tenant": {"id": 7}}));
    assert_eq!(output["extracted_data"], message.payload["extracted_data"]);
}

/// Publishes what should be refused, and returns the reason.
async fn refused(run: &Docproc, key: &str, message: serde_json::Value) -> String {
    let message: PipelineMessage = serde_json::from_value(message).unwrap();
    run.rig.engine.publish(key, message).await.unwrap_err().to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_04_what_is_no_result_does_not_count_and_the_right_one_that_follows_does() {
    let run = Docproc::awaiting_extraction(FIVE_PAGES).await;
    let about = |payload: serde_json::Value| json!({"request_id": "request-1", "document_id": "uuid-doc-0", "payload": payload});
    for (message, reason) in [
        (json!({"request_id": "request-1", "document_id": "uuid-doc-0"}), "the payload is missing"),
        (about(json!(null)), "the payload is missing"),
        (about(json!("done")), "payload: expected an object, found \"done\""),
        (about(json!({})), "payload.extracted_data is missing"),
        (about(json!({"extracted_data": [], "extraction_confidence": 0.9})), "expected an object, found a list"),
        (about(json!({"extracted_data": {}, "extraction_confidence": "high"})), "expected a number from 0 to 1"),
        (about(json!({"extracted_data": {}, "extraction_confidence": 91})), "expected a number from 0 to 1"),
        (json!({"request_id": "request-1", "payload": {"extracted_data": {}}}), "document_id is missing"),
        (
            json!({"request_id": "request-1", "document_id": "uuid-doc-0", "current_stage": "extrakt", "payload": {}}),
            "there is no stage \"extrakt\"",
        ),
        (json!({"request_id": "request-1", "page_index": 0, "payload": {"extracted_data": {}}}), "nobody waits"),
    ] {
        let said = refused(&run, EXTRACTED, message.clone()).await;
        assert!(said.contains(reason), "{said:?} for {message}");
    }
    assert!(refused(&run, "request.split", about(json!({}))).await.contains("the first stage"));
    assert_eq!(run.counts("extraction").await, (0, 3, false), "nothing of that has counted");
    for message in run.messages().await {
        assert_eq!(run.publish(&message).await, Published::Taken);
        assert_eq!(run.publish(&message).await, Published::Ignored, "a duplicate is no trouble");
    }
    assert_eq!(run.counts("extraction").await, (3, 3, true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_18_no_confidence_where_one_is_asked_for_is_a_review() {
    let run = Docproc::awaiting_extraction(FIVE_PAGES).await;
    let mut messages = run.messages().await;
    for (message, confidence) in messages.iter_mut().zip([None, Some(json!(null)), Some(json!(0.75))]) {
        let payload = message.payload.as_object_mut().unwrap();
        payload.remove("extraction_confidence");
        // An earlier stage's confidence, handed on.
        payload.insert("classification_confidence".to_owned(), json!(0.99));
        payload.extend(confidence.map(|value| ("extraction_confidence".to_owned(), value)));
        assert_eq!(run.publish(message).await, Published::Taken);
    }
    assert_eq!(run.counts("extraction").await, (1, 3, false), "only the one that states enough has passed");
    let reviews = open_reviews(&run).await;
    let reasons: Vec<_> = reviews.iter().map(Review::reason).collect();
    assert_eq!(reasons, ["extractor states no confidence, and 0.75 is asked for"; 2]);
    // The extractor's message once more is no decision of a person; the back office's is.
    assert_eq!(run.publish(&messages[0]).await, Published::Ignored);
    let named = PipelineMessage { source_component: Some("extractor".to_owned()), ..messages[0].clone() };
    assert_eq!(run.publish(&named).await, Published::Ignored);
    assert_eq!(open_reviews(&run).await.len(), 2);
    let nothing = json!({"request_id": "request-1", "document_id": "uuid-doc-0", "source_component": "backoffice"});
    assert!(refused(&run, EXTRACTED, nothing).await.contains("expected what was decided"));
    let answer = PipelineMessage { source_component: Some("backoffice".to_owned()), ..messages[0].clone() };
    assert_eq!(run.publish(&answer).await, Published::Taken);
    let mut by_task = messages[1].clone();
    by_task.others.insert("task_id".to_owned(), json!(reviews[1].id.to_string()));
    assert_eq!(run.publish(&by_task).await, Published::Taken);
    assert_eq!(run.counts("extraction").await, (3, 3, true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_18_the_confidence_of_another_stage_does_not_pass_a_threshold() {
    let run = Docproc::received(&outside("classifier"), "invoice one\n").await;
    run.rig.drain().await;
    let page = run.items(Some(ItemKind::Page)).await.remove(0);
    let message = json!({
        "request_id": "request-1", "document_id": page.public_id(),
        "payload": {"doc_type": "invoice", "ocr_text": "invoice one", "ocr_confidence": 0.99},
    });
    let published = run.rig.engine.publish("page.classified", serde_json::from_value(message).unwrap()).await;
    assert_eq!(published.unwrap(), Published::Taken);
    assert_eq!(open_reviews(&run).await.len(), 1, "the OCR was sure, the classifier has said nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_04_a_doubtful_message_waits_for_a_person() {
    let run = Docproc::awaiting_extraction(FIVE_PAGES).await;
    let mut message = run.messages().await.remove(0);
    message.payload["extraction_confidence"] = json!(0.74);
    assert_eq!(run.publish(&message).await, Published::Taken);
    assert_eq!(run.counts("extraction").await, (0, 3, false));
    assert_eq!(open_reviews(&run).await[0].reason(), "confidence 0.74 is below 0.75");
}

/// What one message's commit says about the join.
async fn counted(run: &Docproc, message: &PipelineMessage) -> Option<JoinProgress> {
    let engine = &run.rig.engine;
    let item = engine.find_item(run.id, message.document_id.as_deref().unwrap()).await.unwrap();
    let info = engine.catalog().submission(run.id).await.unwrap();
    let about = About { submission: run.id, item: Some(item), stage: "extract".into(), processor: "extractor".into() };
    let reported = Reported::Completed { output: message.payload.clone(), confidence: Some(0.91) };
    let commits = engine.plan_report(&info, &about, reported, Target::Key(EXTRACTED.into())).await.unwrap();
    let results = run.rig.store().commit(commits).await.unwrap();
    results.into_iter().find_map(|result| match result {
        CommitResult::Applied { joins } => joins.first().copied(),
        CommitResult::Rejected(_) => None,
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_05_each_message_counts_one_and_says_how_many_are_expected() {
    let run = Docproc::on(Rig::with_manual_clock, &outside("extractor"), FIVE_PAGES).await;
    run.rig.drain().await;
    let mut before = run.state("extraction").await;
    assert_eq!((before.received_count, before.expected_count), (0, 3));
    for (index, message) in run.messages().await.iter().enumerate() {
        run.rig.clock.advance(Duration::from_secs(1));
        let progress = counted(&run, message).await.unwrap();
        assert_eq!((progress.received, progress.expected), (index as i64 + 1, 3));
        assert_eq!(progress.closed, index == 2);
        let after = run.state("extraction").await;
        assert_eq!(after.received_count, before.received_count + 1);
        assert!(after.updated_at > before.updated_at);

        run.rig.clock.advance(Duration::from_secs(1));
        assert_eq!(counted(&run, message).await, None, "a duplicate counts for nothing");
        assert_eq!(run.state("extraction").await, after, "and touches nothing");
        before = after;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_05_the_row_has_the_seeds_columns() {
    let run = Docproc::awaiting_extraction(FIVE_PAGES).await;
    let row = serde_json::to_value(run.state("extraction").await).unwrap();
    for column in ["id", "request_id", "stage", "expected_count", "received_count", "is_complete", "updated_at"] {
        assert!(row.get(column).is_some(), "{column} is missing in {row}");
    }
    assert_eq!((&row["request_id"], &row["stage"]), (&json!("request-1"), &json!("extraction")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_05_a_message_of_an_earlier_stage_counts_for_nothing() {
    // Two stages outside, one behind the other: what the first sends twice is not taken for the second's result.
    let verify = "  - {name: verify, routing_key: doc.verify, parallel: true, processors: [{name: verifier, external: true}]}\n\n";
    let yaml = outside("extractor")
        .replace("  - name: extraction_aggregation\n", &format!("{verify}  - name: extraction_aggregation\n"));
    let run = Docproc::received(&yaml, FIVE_PAGES).await;
    run.rig.drain().await;
    let message = run.messages().await.remove(0);
    let publish = async |key: &str| run.rig.engine.publish(key, message.clone()).await.unwrap();
    assert_eq!(publish("doc.verify").await, Published::Taken);
    assert_eq!(publish("doc.verify").await, Published::Ignored);
    assert_eq!(run.counts("extraction").await, (0, 3, false));
    assert_eq!(publish(EXTRACTED).await, Published::Taken);
    assert_eq!(publish(EXTRACTED).await, Published::Ignored);
    assert_eq!(run.counts("extraction").await, (1, 3, false));
    let awaiting = run.rig.jobs().await.into_iter().filter(|view| view.job.state == JobState::Awaiting).count();
    assert_eq!(awaiting, 2);
    assert_eq!(run.items(Some(ItemKind::Document)).await.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_05_with_several_extractors_a_message_says_whose_it_is() {
    let yaml = default_yaml().replace(
        "    component: extractor\n",
        "    component: extractor\n    processors: [{name: left, external: true}, {name: right, external: true}]\n",
    );
    let run = Docproc::received(&yaml, "invoice one\n").await;
    run.rig.drain().await;
    let message = run.messages().await.remove(0);
    let unnamed = run.rig.engine.publish(EXTRACTED, message.clone()).await.unwrap_err();
    assert!(unnamed.to_string().contains("source_component which of left, right"), "{unnamed}");
    for (name, expected) in [("left", Published::Taken), ("left", Published::Ignored), ("right", Published::Taken)] {
        let named = PipelineMessage { source_component: Some(name.to_owned()), ..message.clone() };
        assert_eq!(run.publish(&named).await, expected, "{name}");
    }
    run.rig.drain().await;
    assert_eq!(run.counts("extraction").await, (1, 1, true));
    assert_eq!(run.consolidations(), 1);
}
