//! What can be read of a document and of a submission.

use super::*;
use bindery_core::Timestamp;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_03_one_report_is_kept_under_its_key_and_the_other_stays_pending() {
    let rig = outside().await;
    tell(&rig, &[completed(SUB, "a", "markitdown"), completed(SUB, "b", "foundry")]).await;
    assert_eq!(statuses(&rig, SUB, "a").await, ["completed", "pending"]);
    assert_eq!(statuses(&rig, SUB, "b").await, ["pending", "completed"]);
    let mut short = completed(SUB, "c", "foundry");
    short["data"]["processor"] = json!("foundry");
    tell(&rig, &[short]).await;
    assert_eq!(statuses(&rig, SUB, "c").await, ["pending", "completed"], "the short name is the same processor");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_08_the_document_state_has_exactly_this_shape() {
    let rig = outside().await;
    tell(&rig, &[completed(SUB, "document-guid", "markitdown")]).await;
    let done = json!({"status": "completed", "timestamp": "2025-07-07T10:00:00.000Z", "error": null});
    let half = json!({
        "id": "document-guid", "submissionId": SUB,
        "processors": {"markitdown": done, "foundry": {"status": "pending", "timestamp": null, "error": null}},
        "allProcessorsComplete": false,
    });
    assert_eq!(documents(&rig, SUB).await, [half]);
    tell(&rig, &[failed(SUB, "document-guid", "foundry", "no text layer")]).await;
    let whole = json!({
        "id": "document-guid", "submissionId": SUB,
        "processors": {
            "markitdown": done,
            "foundry": {"status": "failed", "timestamp": "2025-07-07T10:00:00.000Z", "error": "no text layer"},
        },
        "allProcessorsComplete": true,
    });
    assert_eq!(document(&rig, SUB, "document-guid").await, whole);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_09_statuses_times_and_errors_are_of_the_agreed_form() {
    let rig = outside().await;
    let mut in_berlin = completed(SUB, "doc", "markitdown");
    in_berlin["timestamp"] = json!("2025-07-07T12:00:00+02:00");
    let mut silent = failed(SUB, "doc", "foundry", "");
    silent.as_object_mut().unwrap().remove("timestamp");
    tell(&rig, &[in_berlin, silent, completed(SUB, "other", "foundry")]).await;
    let mut seen = Vec::new();
    for state in [document(&rig, SUB, "doc").await, document(&rig, SUB, "other").await] {
        for processor in BOTH {
            let state = &state["processors"][processor];
            let status = state["status"].as_str().unwrap().to_owned();
            let time = state["timestamp"].as_str();
            assert_eq!(time.is_none(), status == "pending", "{state}");
            if let Some(time) = time {
                assert!(time.ends_with('Z') && time.parse::<Timestamp>().is_ok(), "{time}");
            }
            assert_eq!(state["error"].is_string(), status == "failed", "{state}");
            seen.push(status);
        }
    }
    assert_eq!(seen, ["completed", "failed", "pending", "completed"]);
    let state = document(&rig, SUB, "doc").await;
    assert_eq!(state["processors"]["markitdown"]["timestamp"], json!("2025-07-07T10:00:00.000Z"));
    assert_eq!(state["processors"]["foundry"]["error"], json!("failed, without a message"));
    assert!(submission(&rig, SUB).await["lastUpdated"].as_str().unwrap().ends_with('Z'));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_09_a_time_from_the_future_is_not_believed() {
    let rig = outside_with_manual_clock().await;
    let mut early = completed(SUB, "doc", "markitdown");
    early["timestamp"] = json!("2099-01-01T00:00:00.000Z");
    tell(&rig, &[early]).await;
    let state = document(&rig, SUB, "doc").await;
    assert_eq!(state["processors"]["markitdown"]["timestamp"], json!("2026-01-01T00:00:00.000Z"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_10_all_processors_complete_means_that_both_have_ended() {
    let rig = outside().await;
    let report = |doc: &str, processor: &str, how: &str| match how {
        "completed" => Some(completed(SUB, doc, processor)),
        "failed" => Some(failed(SUB, doc, processor, "broken")),
        _ => None,
    };
    let mut ended = Vec::new();
    let mut events = Vec::new();
    for markitdown in ["pending", "completed", "failed"] {
        for foundry in ["pending", "completed", "failed"] {
            let doc = format!("{markitdown}-{foundry}");
            let uploaded =
                json!({"eventType": "DocumentUploadedEvent", "submissionId": SUB, "data": {"documentId": doc}});
            events.push(uploaded);
            events.extend(report(&doc, "markitdown", markitdown));
            events.extend(report(&doc, "foundry", foundry));
            if markitdown != "pending" && foundry != "pending" {
                ended.push(doc);
            }
        }
    }
    append(&rig, &events).await;
    rig.drain().await;
    let states = documents(&rig, SUB).await;
    assert_eq!(states.len(), 9);
    let complete: Vec<_> = states.iter().filter(|state| state["allProcessorsComplete"] == json!(true)).collect();
    let complete: Vec<_> = complete.iter().map(|state| state["id"].as_str().unwrap()).collect();
    assert_eq!(complete, ended);
    let mut announced = fully_processed(&rig).await;
    announced.sort();
    ended.sort();
    assert_eq!(announced, ended, "the event and the flag say the same");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_11_the_total_is_what_the_sender_says() {
    let rig = outside().await;
    let listed = json!({
        "eventType": "SubmissionCreated", "submissionId": "listed",
        "data": {"documentUrls": ["https://example.org/a.pdf", "https://example.org/b.pdf"]},
    });
    tell(&rig, &[created("counted", 3), listed, completed("unsaid", "doc", "foundry")]).await;
    assert_eq!(counts(&rig, "counted").await, (3, 0, 0, false));
    assert_eq!(counts(&rig, "listed").await, (2, 0, 0, false));
    assert_eq!(counts(&rig, "unsaid").await, (1, 0, 0, false), "those that are known, until it is said");
    tell(&rig, &[created("counted", 5)]).await;
    assert_eq!(counts(&rig, "counted").await, (3, 0, 0, false), "the first word counts");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_12_each_document_advances_one_counter_once() {
    let rig = outside().await;
    tell(&rig, &[created(SUB, 3)]).await;
    let both_failed = BOTH.map(|processor| failed(SUB, "bad", processor, "broken"));
    let steps = [
        (completed(SUB, "good", "foundry"), (3, 0, 0, false)),
        (completed(SUB, "good", "markitdown"), (3, 1, 0, false)),
        (completed(SUB, "good", "markitdown"), (3, 1, 0, false)),
        (both_failed[0].clone(), (3, 1, 0, false)),
        (both_failed[1].clone(), (3, 1, 1, false)),
        // One of two is enough.
        (failed(SUB, "partly", "foundry", "broken"), (3, 1, 1, false)),
        (completed(SUB, "partly", "markitdown"), (3, 2, 1, true)),
    ];
    for (event, expected) in steps {
        tell(&rig, std::slice::from_ref(&event)).await;
        assert_eq!(counts(&rig, SUB).await, expected, "after {event}");
    }
    assert_eq!(complete_submissions(&rig).await, [SUB]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_15_the_submission_state_has_exactly_this_shape() {
    let rig = outside_with_manual_clock().await;
    tell(&rig, &[created(SUB, 3)]).await;
    for doc in ["a", "b"] {
        tell(&rig, &BOTH.map(|processor| completed(SUB, doc, processor))).await;
    }
    let expected = json!({
        "id": SUB, "submissionId": SUB, "totalDocuments": 3, "completedDocuments": 2, "failedDocuments": 0,
        "allDocumentsProcessed": false, "lastUpdated": "2026-01-01T00:00:00.000Z",
    });
    assert_eq!(submission(&rig, SUB).await, expected);
    rig.clock.advance(Duration::from_millis(60_500));
    tell(&rig, &[failed(SUB, "c", "foundry", "broken")]).await;
    assert_eq!(submission(&rig, SUB).await["lastUpdated"], json!("2026-01-01T00:01:00.500Z"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_16_one_submission_is_read_apart_from_others() {
    let rig = outside().await;
    tell(&rig, &[completed("mine", "doc", "foundry"), completed("yours", "doc", "markitdown")]).await;
    assert_eq!(statuses(&rig, "mine", "doc").await, ["pending", "completed"]);
    assert_eq!(statuses(&rig, "yours", "doc").await, ["completed", "pending"], "the same document id, another one");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_17_the_first_event_about_a_document_makes_it_known() {
    let rig = outside().await;
    let mut event = failed(SUB, "doc", "foundry", "broken");
    event["userId"] = json!("user-1");
    tell(&rig, &[event]).await;
    assert_eq!(statuses(&rig, SUB, "doc").await, ["pending", "failed"]);
    let stored = rig.engine.find_submission(SUB).await.unwrap();
    assert_eq!((stored.owner.as_deref(), stored.channel.as_str()), (Some("user-1"), "events"));
    assert_eq!(stored.received_at.to_string(), "2025-07-07T10:00:00.000Z");
    tell(&rig, &[completed(SUB, "doc", "markitdown")]).await;
    assert_eq!(documents(&rig, SUB).await.len(), 1, "the second one updates it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_17_ids_that_look_like_ours_are_the_senders_own() {
    let rig = outside().await;
    // Among the first ids that we give out ourselves, in an order that would exchange them.
    let keys = ["item_2", "item_1", "item_3"];
    let events: Vec<_> = keys.iter().map(|key| completed(SUB, key, "foundry")).collect();
    tell(&rig, &events).await;
    let known: Vec<_> = documents(&rig, SUB).await.iter().map(|state| state["id"].clone()).collect();
    assert_eq!(known, ["item_1", "item_2", "item_3"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_27_progress_is_visible_per_document_and_per_submission() {
    let rig = outside().await;
    tell(&rig, &[completed(SUB, "a", "foundry")]).await;
    let unsaid = view::progress(&rig.engine, id_of(&rig, SUB).await).await.unwrap();
    assert_eq!((unsaid.stages[0].expected, unsaid.stages[0].percent()), (None, None), "no invented numbers");
    tell(&rig, &[created(SUB, 3), completed(SUB, "a", "markitdown"), failed(SUB, "b", "foundry", "broken")]).await;
    assert_eq!(statuses(&rig, SUB, "a").await, ["completed", "completed"]);
    assert_eq!(statuses(&rig, SUB, "b").await, ["pending", "failed"]);
    assert_eq!(counts(&rig, SUB).await, (3, 1, 0, false));
    let progress = view::progress(&rig.engine, id_of(&rig, SUB).await).await.unwrap();
    let parse = &progress.stages[0];
    assert_eq!(parse.expected, Some(6), "two processors for each of three documents, also the one not heard of yet");
    assert_eq!((parse.counts.completed, parse.counts.failed, parse.counts.awaiting), (2, 1, 1));
    assert_eq!(parse.percent(), Some(50));
    assert_eq!((progress.external_id.as_deref(), progress.files), (Some(SUB), 2));
}
