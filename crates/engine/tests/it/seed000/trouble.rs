//! Duplicates, replays, crashes, and two instances at once: nothing is lost and nothing is said twice.

use super::*;
use bindery_engine::feed::Consumed;
use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

/// One submission of each kind: good, partly failed, wholly failed, still open.
fn story() -> Vec<Value> {
    let mut events = vec![created("good", 2), created("bad", 2), created("open", 3)];
    for doc in ["a", "b"] {
        events.extend(BOTH.map(|processor| completed("good", doc, processor)));
    }
    events.push(failed("bad", "a", "foundry", "broken"));
    events.push(completed("bad", "a", "markitdown"));
    events.extend(BOTH.map(|processor| failed("bad", "b", processor, "broken")));
    events.push(completed("open", "a", "foundry"));
    events.push(failed("open", "b", "foundry", "broken"));
    events.push(completed("open", "b", "foundry"));
    events
}

const STORY: [&str; 3] = ["good", "bad", "open"];

async fn assert_story(rig: &Rig) {
    assert_eq!(counts(rig, "good").await, (2, 2, 0, true));
    assert_eq!(counts(rig, "bad").await, (2, 1, 1, true));
    assert_eq!(counts(rig, "open").await, (3, 0, 0, false));
    assert_eq!(statuses(rig, "open", "b").await, ["pending", "completed"]);
    let mut announced = fully_processed(rig).await;
    announced.sort();
    assert_eq!(announced, ["a", "a", "b", "b"]);
    let mut complete = complete_submissions(rig).await;
    complete.sort();
    assert_eq!(complete, ["bad", "good"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_19_an_event_with_a_known_id_is_not_even_stored() {
    let rig = outside().await;
    let event = with_id(completed(SUB, "doc", "foundry"), "event-1");
    let twice = append(&rig, &[event.clone(), event.clone()]).await;
    assert!(twice[0].is_some() && twice[1].is_none(), "{twice:?}");
    rig.drain().await;
    let before = picture(&rig, &[SUB]).await;
    assert_eq!(append(&rig, &[event]).await, [None]);
    rig.drain().await;
    assert_eq!(picture(&rig, &[SUB]).await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_19_the_same_report_under_new_ids_changes_no_state() {
    let rig = outside_with_manual_clock().await;
    // Each of them twice in a row, in one batch.
    let doubled: Vec<_> = story().into_iter().flat_map(|event| [event.clone(), event]).collect();
    append(&rig, &doubled).await;
    rig.drain().await;
    assert_story(&rig).await;
    let before = picture(&rig, &STORY).await["states"].take();
    rig.clock.advance(Duration::from_secs(5));
    for (number, event) in story().into_iter().enumerate() {
        tell(&rig, &[with_id(event, &format!("again-{number}"))]).await;
    }
    assert_story(&rig).await;
    assert_eq!(picture(&rig, &STORY).await["states"], before, "not even a time has changed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_20_a_replay_from_the_beginning_changes_nothing() {
    let rig = outside_with_manual_clock().await;
    tell(&rig, &story()).await;
    assert_story(&rig).await;
    let before = picture(&rig, &STORY).await;
    rig.clock.advance(Duration::from_secs(5));
    replay(&rig).await;
    replay(&rig).await;
    assert_eq!(picture(&rig, &STORY).await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_20_the_log_on_an_empty_store_gives_the_same_documents() {
    let (rig, empty) = (outside().await, outside().await);
    tell(&rig, &story()).await;
    let log: Vec<_> = rig.events().await.into_iter().filter(|event| event.submission.is_none()).collect();
    let copies: Vec<_> = log.iter().map(|event| serde_json::to_value(event.envelope()).unwrap()).collect();
    for mut copy in copies {
        copy.as_object_mut().unwrap().remove("position");
        append(&empty, &[copy]).await;
    }
    empty.drain().await;
    assert_story(&empty).await;
    for id in STORY {
        assert_eq!(documents(&empty, id).await, documents(&rig, id).await, "{id}, with the times of the events");
    }
}

/// Runs a future until it has had to wait this many times, then drops it on the spot, as a crash would.
async fn crash_after<T>(waits: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut left = waits;
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_21_a_crash_at_any_moment_of_a_batch_loses_and_repeats_nothing() {
    let mut rig = outside().await;
    append(&rig, &story()).await;
    let mut waits = 0;
    // Each engine lives one step longer than the one before it; what it knew is gone with it.
    while crash_after(waits, aggregator::step(&rig.engine)).await.is_none() {
        let next = Rig::beside(&rig, Registry::with_builtin());
        rig = next;
        waits += 1;
    }
    assert!(waits > 10, "a batch waits for the store more often than {waits} times");
    let next = Rig::beside(&rig, Registry::with_builtin());
    drop(rig);
    next.drain().await;
    assert_story(&next).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_21_a_restart_between_any_two_events_gives_the_same_result() {
    let mut rig = outside().await;
    for event in story() {
        append(&rig, &[event]).await;
        aggregator::step(&rig.engine).await.unwrap();
        let next = Rig::beside(&rig, Registry::with_builtin());
        rig = next;
    }
    rig.drain().await;
    assert_story(&rig).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s000_22_two_instances_side_by_side_say_everything_once() {
    const SUBMISSIONS: usize = 6;
    const DOCUMENTS: usize = 50;
    let one = outside().await;
    let two = Rig::beside(&one, Registry::with_builtin());
    let ids: Vec<String> = (0..SUBMISSIONS).map(|number| format!("sub-{number}")).collect();
    let mut events = Vec::new();
    for doc in 0..DOCUMENTS {
        for id in &ids {
            let doc = format!("{id}/doc-{doc}");
            // Every report comes twice, and the second processor fails on some documents.
            for _ in 0..2 {
                events.push(completed(id, &doc, "markitdown"));
                events.push(if doc.ends_with('3') {
                    failed(id, &doc, "foundry", "broken")
                } else {
                    completed(id, &doc, "foundry")
                });
            }
        }
    }
    events.extend(ids.iter().map(|id| created(id, DOCUMENTS as i64)));
    append(&one, &events).await;
    // The same batch at the same time: at most one of the two may count.
    loop {
        let (first, second) = tokio::join!(aggregator::step(&one.engine), aggregator::step(&two.engine));
        let handled = |step: &Consumed| matches!(step, Consumed::Handled { .. });
        match (first.unwrap(), second.unwrap()) {
            (Consumed::Nothing, Consumed::Nothing) => break,
            (first, second) => assert!(handled(&first) || handled(&second), "{first:?} {second:?}"),
        }
    }
    Box::pin(drain_side_by_side(&one, &two)).await;
    let mut announced = fully_processed(&one).await;
    assert_eq!(announced.len(), SUBMISSIONS * DOCUMENTS);
    announced.sort();
    announced.dedup();
    assert_eq!(announced.len(), SUBMISSIONS * DOCUMENTS);
    let mut complete = complete_submissions(&one).await;
    complete.sort();
    assert_eq!(complete, ids);
    for id in &ids {
        assert_eq!(counts(&two, id).await, (DOCUMENTS as i64, DOCUMENTS as i64, 0, true), "{id}");
    }
}
