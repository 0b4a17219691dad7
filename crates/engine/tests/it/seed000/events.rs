//! Which events are emitted, when, how often and in which order.

use super::*;
use bindery_core::event::{Event, NewEvent};
use bindery_engine::feed::{self, Consumed};
use bindery_store::{Changes, Commit};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_01_an_appended_report_reaches_the_aggregator_through_the_feed() {
    let rig = outside().await;
    append(&rig, &[completed(SUB, "doc", "markitdown")]).await;
    assert!(!is_known(&rig, SUB).await, "appending alone should only append");
    let step = aggregator::step(&rig.engine).await.unwrap();
    assert!(matches!(step, Consumed::Handled { events: 1, .. }), "{step:?}");
    assert_eq!(statuses(&rig, SUB, "doc").await, ["completed", "pending"]);
    assert_eq!(aggregator::step(&rig.engine).await.unwrap(), Consumed::Nothing, "and makes no more of its kind");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_02_a_submission_that_comes_by_events_is_created_once() {
    let rig = outside().await;
    // Whether it is told of first or last.
    tell(&rig, &[created("first", 1), completed("first", "doc", "markitdown")]).await;
    tell(&rig, &[completed("last", "doc", "markitdown"), created("last", 1)]).await;
    let told = rig.events_of(kind::SUBMISSION_CREATED).await;
    let mut of: Vec<_> = told.iter().filter_map(|event| event.envelope().submission_id).collect();
    of.sort();
    assert_eq!(of, ["first", "last"]);
    // One that we take in ourselves is told of by us, and comes by without an effect.
    let rig = Rig::new(own_registry(Func::echo("foundry")));
    let own = submit_own(&rig, 1).await;
    let told = rig.events_of(kind::SUBMISSION_CREATED).await;
    assert_eq!(told.iter().filter(|event| event.submission == Some(own)).count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_01_a_running_worker_notices_reports_by_itself() {
    let rig = outside().await;
    while_working(&rig, async || {
        append(&rig, &[created(SUB, 1)]).await;
        append(&rig, &BOTH.map(|processor| completed(SUB, "doc", processor))).await;
        eventually("complete", async || !complete_submissions(&rig).await.is_empty()).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_02_other_kinds_are_ignored() {
    let rig = outside().await;
    let strangers = ["DocumentFullyProcessedEvent", "SubmissionDocumentsCompleteEvent", "CoffeeIsReady"].map(|kind| {
        json!({"eventType": kind, "submissionId": SUB, "data": {"documentId": "doc", "processor": "markitdown",
               "status": "completed"}})
    });
    tell(&rig, &strangers).await;
    assert!(!is_known(&rig, SUB).await);
    assert_eq!(rig.events().await.len(), strangers.len(), "nothing was emitted in answer");
    tell(&rig, &[completed(SUB, "doc", "foundry")]).await;
    assert_eq!(statuses(&rig, SUB, "doc").await, ["pending", "completed"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_04_both_completed_emits_exactly_one_fully_processed_event() {
    let rig = outside().await;
    tell(&rig, &[created(SUB, 2), completed(SUB, "doc", "markitdown")]).await;
    assert!(fully_processed(&rig).await.is_empty());
    tell(&rig, &[completed(SUB, "doc", "foundry")]).await;
    let events = rig.events_of(kind::DOCUMENT_FULLY_PROCESSED).await;
    let [event] = events.as_slice() else { panic!("{events:?}") };
    let envelope = event.envelope();
    assert_eq!(envelope.submission_id.as_deref(), Some(SUB));
    let mut data = envelope.data;
    data["processorResults"].as_array_mut().unwrap().sort_by_key(ToString::to_string);
    let expected = json!({
        "documentId": "doc", "processorResults": ["foundry", "markitdown"], "allProcessorsComplete": true,
    });
    assert_eq!(data, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_13_all_documents_emit_exactly_one_submission_event() {
    let rig = outside().await;
    let mut events = vec![created(SUB, 3)];
    for doc in ["a", "b", "c"] {
        events.extend(BOTH.map(|processor| completed(SUB, doc, processor)));
    }
    tell(&rig, &events).await;
    let found = rig.events_of(kind::SUBMISSION_DOCUMENTS_COMPLETE).await;
    let [event] = found.as_slice() else { panic!("{found:?}") };
    let data = json!({"totalDocuments": 3, "processedDocuments": 3, "allDocumentsProcessed": true});
    assert_eq!((event.envelope().submission_id.as_deref(), event.envelope().data), (Some(SUB), data));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_13_no_documents_are_complete_at_once() {
    let rig = outside().await;
    let listed = json!({"eventType": "SubmissionCreated", "submissionId": "listed", "data": {"documentUrls": []}});
    tell(&rig, &[created("counted", 0), listed]).await;
    let mut complete = complete_submissions(&rig).await;
    complete.sort();
    assert_eq!(complete, ["counted", "listed"]);
    assert_eq!(counts(&rig, "counted").await, (0, 0, 0, true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_13_a_count_that_is_said_last_completes_the_submission() {
    let rig = outside().await;
    for doc in ["a", "b"] {
        tell(&rig, &BOTH.map(|processor| completed(SUB, doc, processor))).await;
    }
    assert_eq!(fully_processed(&rig).await, ["a", "b"]);
    assert_eq!(counts(&rig, SUB).await, (2, 2, 0, false), "nobody has said yet that these two are all");
    assert!(complete_submissions(&rig).await.is_empty());
    tell(&rig, &[created(SUB, 2)]).await;
    assert_eq!(complete_submissions(&rig).await, [SUB]);
    assert_eq!(counts(&rig, SUB).await, (2, 2, 0, true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_13_a_known_document_is_waited_for_whatever_count_is_said() {
    let rig = outside().await;
    tell(&rig, &BOTH.map(|processor| completed(SUB, "a", processor))).await;
    tell(&rig, &[completed(SUB, "b", "foundry"), created(SUB, 1)]).await;
    assert!(complete_submissions(&rig).await.is_empty(), "b is known and not done");
    tell(&rig, &[completed(SUB, "b", "markitdown")]).await;
    assert_eq!(complete_submissions(&rig).await, [SUB]);
    assert_eq!(counts(&rig, SUB).await, (2, 2, 0, true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_13_events_may_come_in_any_order() {
    let rig = outside().await;
    let mut all = Vec::new();
    for order in 0..120 {
        let submission = format!("order-{order}");
        let mut events = vec![created(&submission, 2)];
        for doc in ["a", "b"] {
            events.extend(BOTH.map(|processor| completed(&submission, doc, processor)));
        }
        let mut left = order;
        for remaining in (1..=5).rev() {
            all.push(events.remove(left % remaining));
            left /= remaining;
        }
    }
    append(&rig, &all).await;
    rig.drain().await;
    assert_eq!(complete_submissions(&rig).await.len(), 120);
    assert_eq!(fully_processed(&rig).await.len(), 240);
    for order in 0..120 {
        assert_eq!(counts(&rig, &format!("order-{order}")).await, (2, 2, 0, true), "order {order}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_14_fewer_than_all_documents_emit_nothing() {
    let rig = outside().await;
    tell(&rig, &[created(SUB, 3)]).await;
    for doc in ["a", "b"] {
        tell(&rig, &BOTH.map(|processor| completed(SUB, doc, processor))).await;
    }
    assert!(complete_submissions(&rig).await.is_empty());
    assert_eq!(counts(&rig, SUB).await, (3, 2, 0, false));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_18_state_then_document_event_then_submission_event() {
    let rig = outside().await;
    tell(&rig, &[created(SUB, 1), completed(SUB, "doc", "markitdown")]).await;
    append(&rig, &[completed(SUB, "doc", "foundry")]).await;
    aggregator::step(&rig.engine).await.unwrap();
    // The state comes first: it is complete before anything is announced, and the progress check follows the event.
    assert_eq!(document(&rig, SUB, "doc").await["allProcessorsComplete"], json!(true));
    assert!(fully_processed(&rig).await.is_empty());
    assert_eq!(submission(&rig, SUB).await["allDocumentsProcessed"], json!(false));
    rig.drain().await;
    let milestones = [kind::DOCUMENT_PROCESSED, kind::DOCUMENT_FULLY_PROCESSED, kind::SUBMISSION_DOCUMENTS_COMPLETE];
    let events = rig.events().await;
    let order: Vec<_> = events.iter().map(|e| e.kind.as_str()).filter(|kind| milestones.contains(kind)).collect();
    assert_eq!(order, [milestones[0], milestones[0], milestones[1], milestones[2]]);
    assert_eq!(submission(&rig, SUB).await["allDocumentsProcessed"], json!(true));
}

/// What an analysis service would do: note, once per complete submission, that its analysis has begun.
async fn analyse(rig: &Rig) -> Consumed {
    let begin = |event: &Event| {
        let started = NewEvent::new("AnalysisStarted", event.submission, event.data.clone());
        Commit::always(Changes { events: vec![started], ..Changes::default() })
    };
    let kinds = [Name::from(kind::SUBMISSION_DOCUMENTS_COMPLETE)];
    feed::step(&rig.engine, &Name::from("submission-analyzer"), &kinds, |events| async move {
        Ok(events.iter().map(begin).collect())
    })
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_25_completion_triggers_the_analysis_once() {
    let rig = outside().await;
    let other = Rig::beside(&rig, Registry::with_builtin());
    let subs: Vec<String> = (0..20).map(|number| format!("s-{number}")).collect();
    for sub in &subs {
        append(&rig, &[created(sub, 1), completed(sub, "doc", "foundry"), completed(sub, "doc", "markitdown")]).await;
    }
    rig.drain().await;
    loop {
        let steps = tokio::join!(analyse(&rig), analyse(&other));
        if steps == (Consumed::Nothing, Consumed::Nothing) {
            break;
        }
    }
    // Duplicates and a replay of the aggregator give the analysis nothing new to do.
    tell(&rig, &[completed(&subs[0], "doc", "foundry")]).await;
    replay(&rig).await;
    let more = analyse(&rig).await;
    assert!(matches!(more, Consumed::Nothing | Consumed::Handled { events: 0, .. }), "{more:?}");
    let mut started: Vec<_> = rig.events_of("AnalysisStarted").await.iter().map(|event| event.submission).collect();
    started.sort();
    started.dedup();
    assert_eq!((started.len(), rig.events_of("AnalysisStarted").await.len()), (subs.len(), subs.len()));
}
