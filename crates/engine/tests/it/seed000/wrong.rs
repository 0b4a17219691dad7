//! Events that are wrong: refused with a sentence when they are handed in, passed over when they are met in the log.

use super::*;
use bindery_core::event::NewEvent;

/// A good report with one thing changed.
fn report_with(change: impl FnOnce(&mut Value)) -> Value {
    let mut event = completed(SUB, "doc", "foundry");
    change(&mut event);
    event
}

fn without(field: &'static str) -> impl FnOnce(&mut Value) {
    move |event| {
        event.as_object_mut().unwrap().remove(field);
    }
}

fn created_with(data: &Value) -> Value {
    json!({"eventType": "SubmissionCreated", "submissionId": SUB, "data": data})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_01_a_malformed_event_is_refused_with_one_sentence_and_nothing_is_stored() {
    let count = "SubmissionCreated: data: expected totalDocuments (a whole number from 0 on) or documentUrls (a list)";
    let document = "DocumentProcessedEvent: data.documentId: expected a text";
    let processor = "DocumentProcessedEvent: data.processor: expected a text";
    let status = "DocumentProcessedEvent: data.status: expected \"completed\" or \"failed\", found ";
    let cases: Vec<(Value, String)> = vec![
        (json!("hello"), "event: expected a JSON object".into()),
        (json!([]), "event: expected a JSON object".into()),
        (report_with(without("eventType")), "event: eventType is missing".into()),
        (report_with(|e| e["eventType"] = json!(7)), "event: eventType: expected a text, found 7".into()),
        (report_with(without("submissionId")), "DocumentProcessedEvent: submissionId is missing".into()),
        (report_with(|e| e["submissionId"] = json!("  ")), "event: submissionId: expected a text, found \"  \"".into()),
        (report_with(|e| e["id"] = json!(7)), "event: id: expected a text, found 7".into()),
        (report_with(|e| e["userId"] = json!([])), "event: userId: expected a text, found []".into()),
        (
            report_with(|e| e["timestamp"] = json!("noon")),
            "event: timestamp: expected a time like 2026-01-31T12:00:00Z, got \"noon\"".into(),
        ),
        (
            report_with(|e| e["extra"] = json!(1)),
            "event: unknown field \"extra\"; known are id, eventType, submissionId, userId, timestamp, data".into(),
        ),
        (report_with(without("data")), document.into()),
        (report_with(|e| e["data"] = json!([1])), document.into()),
        (report_with(|e| e["data"]["documentId"] = json!(12)), document.into()),
        (report_with(|e| e["data"]["documentId"] = json!(" ")), document.into()),
        (report_with(|e| e["data"]["processor"] = json!(null)), processor.into()),
        (report_with(|e| without("processor")(&mut e["data"])), processor.into()),
        (report_with(|e| without("status")(&mut e["data"])), format!("{status}null")),
        (report_with(|e| e["data"]["status"] = json!("pending")), format!("{status}\"pending\"")),
        (
            report_with(|e| e["data"]["error"] = json!({"code": 5})),
            "DocumentProcessedEvent: data.error: expected a text, found {\"code\":5}".into(),
        ),
        (created_with(&json!({})), count.into()),
        (created_with(&json!({"totalDocuments": -1, "documentUrls": []})), count.into()),
        (created_with(&json!({"totalDocuments": "3"})), count.into()),
        (created_with(&json!({"totalDocuments": 1.5})), count.into()),
        (created_with(&json!({"documentUrls": "a.pdf"})), count.into()),
        (
            created_with(&json!({"totalDocuments": 1, "workflow": 5})),
            "SubmissionCreated: data.workflow: expected a text, found 5".into(),
        ),
    ];
    let rig = outside().await;
    let good = completed(SUB, "doc", "foundry");
    for (wrong, sentence) in cases {
        let refused = rig.engine.append_outside(&[good.clone(), wrong.clone()]).await;
        assert_eq!(refused.unwrap_err().to_string(), sentence, "for {wrong}");
    }
    rig.drain().await;
    assert!(rig.events().await.is_empty(), "not even the good ones in their company");
    assert!(!is_known(&rig, SUB).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_02_events_that_cannot_count_do_not_hold_up_those_behind_them() {
    let rig = outside().await;
    tell(&rig, &[created(SUB, 1), completed(SUB, "doc", "markitdown")]).await;
    let unknown_workflow = json!({
        "eventType": "SubmissionCreated", "submissionId": "elsewhere",
        "data": {"totalDocuments": 1, "workflow": "no-such-workflow"},
    });
    // Written past the check, as an older version might have.
    let mut unchecked = NewEvent::new(kind::DOCUMENT_PROCESSED, None, "{\"documentId\": 5}".to_owned());
    unchecked.subject = Some(Name::from(SUB));
    rig.store.append_events(vec![unchecked]).await.unwrap();
    append(
        &rig,
        &[
            completed(SUB, "doc", "docproc-parser-tesseract"),
            completed("ghost", "doc", "tesseract"),
            completed(SUB, "one-too-many", "foundry"),
            completed("sub_999", "doc", "foundry"),
            unknown_workflow,
            completed(SUB, "doc", "foundry"),
        ],
    )
    .await;
    rig.drain().await;
    assert_eq!(complete_submissions(&rig).await, [SUB], "the good report behind them has counted");
    let known: Vec<_> = documents(&rig, SUB).await.iter().map(|state| state["id"].clone()).collect();
    assert_eq!(known, ["doc"], "nothing was made known by them");
    for stranger in ["ghost", "sub_999", "elsewhere"] {
        assert!(!is_known(&rig, stranger).await, "{stranger}");
    }
    let position = rig.store.consumer_position(&Name::from(aggregator::CONSUMER)).await.unwrap();
    let last = rig.events_of(kind::DOCUMENT_PROCESSED).await.pop().unwrap().seq;
    assert!(position >= last, "they are behind us");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_02_a_document_that_was_never_received_is_not_one_of_ours() {
    let rig = Rig::new(own_registry(Func::echo("foundry")));
    submit_own(&rig, 1).await;
    tell(&rig, &[completed(SUB, "doc-9", "foundry"), completed(SUB, "doc-0", "foundry")]).await;
    assert_eq!(documents(&rig, SUB).await.len(), 1);
    assert_eq!(counts(&rig, SUB).await, (1, 1, 0, true));
    assert_eq!((fully_processed(&rig).await.len(), complete_submissions(&rig).await.len()), (1, 1));
}
