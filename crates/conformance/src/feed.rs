//! The event log and its consumers.

use super::fixture::{Fixture, ending, event, names};
use bindery_core::{
    EventSeq, Name,
    event::{Event, NewEvent},
};
use bindery_store::{Changes, Commit, CommitResult, JobEnd, Rejection, commit::FeedCommit, query::EventFilter};
use std::sync::Arc;

fn kinds(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.kind.as_str()).collect()
}

pub async fn events_have_one_order_and_growing_positions(f: &Fixture) {
    assert_eq!(f.store.last_event().await.unwrap(), EventSeq::START, "an empty log is at its start");
    let submission = f.submission().await;
    let appended = f.store.append_events(vec![event("A", None), event("B", Some(submission))]).await.unwrap();
    f.change(Changes { events: vec![event("C", None), event("D", None)], ..Changes::default() }).await;
    f.store.append_events(vec![event("E", None)]).await.unwrap();
    let events = f.events().await;
    assert_eq!(kinds(&events), ["A", "B", "C", "D", "E"]);
    assert!(events.windows(2).all(|pair| pair[0].seq < pair[1].seq), "positions only grow");
    assert!(events[0].seq > EventSeq::START);
    assert_eq!(appended, [Some(events[0].seq), Some(events[1].seq)]);
    assert_eq!(f.store.last_event().await.unwrap(), events[4].seq);
}

pub async fn reading_goes_on_after_a_position(f: &Fixture) {
    let all: Vec<_> = (0..25).map(|n| event(&format!("E{n}"), None)).collect();
    f.store.append_events(all).await.unwrap();
    let mut read = Vec::new();
    let mut position = EventSeq::START;
    loop {
        let page = f.store.read_events(position, EventFilter::default(), 10).await.unwrap();
        assert!(page.len() <= 10, "no more than asked for");
        let Some(last) = page.last() else { break };
        position = last.seq;
        read.extend(page);
    }
    assert_eq!(read, f.events().await, "a reader that goes on from its position misses nothing and sees nothing twice");
    assert_eq!(read.len(), 25);
}

pub async fn every_field_of_an_event_comes_back(f: &Fixture) {
    let submission = f.submission().await;
    let item = f.item(submission, bindery_core::item::ItemKind::Page).await;
    let full = NewEvent {
        kind: "DocumentProcessedEvent".into(),
        submission: Some(submission),
        item: Some(item),
        subject: Some("case 7".into()),
        id: Some("0b6e-1".to_owned()),
        at: Some(f.after(12)),
        data: "{\"pages\":[1,2],\"name\":\"Zoë\"}".to_owned(),
    };
    f.store.append_events(vec![full.clone(), event("Plain", None)]).await.unwrap();
    let events = f.events().await;
    let stored = Event {
        seq: events[0].seq,
        kind: full.kind,
        submission: full.submission,
        item: full.item,
        subject: full.subject,
        id: full.id,
        at: f.after(12),
        data: full.data,
    };
    assert_eq!(events[0], stored);
    assert_eq!(events[1].at, f.now(), "the time of the commit, if not said");
    assert_eq!((events[1].submission, events[1].item, &events[1].subject), (None, None, &None));
    assert_ne!(events[1].public_id(), events[0].public_id());
}

pub async fn an_event_id_is_appended_once(f: &Fixture) {
    let with_id = |id: &str, kind: &str| NewEvent { id: Some(id.to_owned()), ..event(kind, None) };
    let first = f.store.append_events(vec![with_id("x", "A"), with_id("x", "B"), with_id("y", "C")]).await.unwrap();
    assert_eq!(first.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true], "twice in one call");
    assert_eq!(f.store.append_events(vec![with_id("x", "D")]).await.unwrap(), [None], "and once more later");
    let changes = Changes { events: vec![with_id("y", "E"), with_id("z", "F")], ..Changes::default() };
    assert!(f.commit(Commit::always(changes)).await.is_applied(), "a known event does not spoil a commit");
    assert_eq!(kinds(&f.events().await), ["A", "C", "F"], "an outside program's second delivery was counted");
}

pub async fn data_that_is_not_json_is_refused(f: &Fixture) {
    let broken = NewEvent::new("Broken", None, "{not json".to_owned());
    let refused = f.store.append_events(vec![event("Good", None), broken.clone()]).await;
    assert!(refused.is_err(), "the log would hold what nobody can read");
    let good = Commit::always(Changes { events: vec![event("Good", None)], ..Changes::default() });
    let bad = Commit::always(Changes { events: vec![broken], ..Changes::default() });
    assert!(f.store.commit(vec![good, bad]).await.is_err());
    assert_eq!(f.events().await, [], "on an error nothing of the call is stored");
}

pub async fn events_are_found_by_kind_and_submission(f: &Fixture) {
    let (one, two) = (f.submission().await, f.submission().await);
    let events = vec![event("A", Some(one)), event("B", Some(one)), event("A", Some(two)), event("C", None)];
    f.store.append_events(events).await.unwrap();
    let read = |kinds: &[&str], submission| {
        f.store.read_events(EventSeq::START, EventFilter { kinds: names(kinds), submission }, 10)
    };
    assert_eq!(kinds(&read(&["A"], None).await.unwrap()), ["A", "A"]);
    assert_eq!(kinds(&read(&["A", "C"], None).await.unwrap()), ["A", "A", "C"]);
    assert_eq!(kinds(&read(&[], Some(one)).await.unwrap()), ["A", "B"]);
    let both = read(&["A"], Some(two)).await.unwrap();
    assert_eq!((both.len(), both[0].submission), (1, Some(two)));
    assert_eq!(read(&["Z"], None).await.unwrap(), []);
    let limited = f.store.read_events(EventSeq::START, EventFilter { kinds: names(&["C"]), submission: None }, 1).await;
    assert_eq!(kinds(&limited.unwrap()), ["C"], "the limit counts events that are meant");
}

async fn three_events(f: &Fixture) -> Vec<EventSeq> {
    let appended = f.store.append_events(vec![event("A", None), event("B", None), event("C", None)]).await.unwrap();
    appended.into_iter().flatten().collect()
}

fn effect(kind: &str) -> Commit {
    Commit::always(Changes { events: vec![event(kind, None)], ..Changes::default() })
}

pub async fn a_consumer_moves_with_its_effects(f: &Fixture) {
    let positions = three_events(f).await;
    let consumer = Name::from("webhooks");
    assert_eq!(f.store.consumer_position(&consumer).await.unwrap(), EventSeq::START);
    let effects = vec![effect("Delivered")];
    let moved = f.store.commit_feed(&consumer, EventSeq::START, positions[1], effects).await.unwrap();
    assert_eq!(moved, FeedCommit::Applied(vec![CommitResult::Applied { joins: vec![] }]));
    assert_eq!(f.store.consumer_position(&consumer).await.unwrap(), positions[1]);
    assert_eq!(f.count_events("Delivered").await, 1);
    let without = f.store.commit_feed(&consumer, positions[1], positions[2], vec![]).await.unwrap();
    assert_eq!(without, FeedCommit::Applied(vec![]));
    let consumers = f.store.consumers().await.unwrap();
    assert_eq!(consumers.len(), 1);
    assert_eq!((&consumers[0].consumer, consumers[0].position), (&consumer, positions[2]));
    assert_eq!(consumers[0].updated_at, f.now());
    let other = f.store.consumer_position(&"metrics".into()).await.unwrap();
    assert_eq!(other, EventSeq::START, "each consumer has its own position");
}

pub async fn of_two_instances_the_slower_stores_nothing(f: &Fixture) {
    let positions = three_events(f).await;
    let consumer = Name::from("webhooks");
    let fast = f.store.commit_feed(&consumer, EventSeq::START, positions[2], vec![effect("Fast")]).await.unwrap();
    assert!(matches!(fast, FeedCommit::Applied(_)));
    let before = f.events().await;
    let slow = f.store.commit_feed(&consumer, EventSeq::START, positions[0], vec![effect("Slow")]).await.unwrap();
    assert_eq!(slow, FeedCommit::Moved { at: positions[2] });
    assert_eq!(f.events().await, before, "an event was handled twice");
    assert_eq!(f.store.consumer_position(&consumer).await.unwrap(), positions[2], "a consumer never slips back");
}

pub async fn instances_at_the_same_time_handle_each_event_once(f: &Fixture) {
    let positions = three_events(f).await;
    let mut instances = Vec::new();
    for _ in 0..6 {
        let (store, to) = (Arc::clone(&f.store), positions[2]);
        instances.push(tokio::spawn(async move {
            store.commit_feed(&"webhooks".into(), EventSeq::START, to, vec![effect("Handled")]).await.unwrap()
        }));
    }
    let mut applied = 0;
    for instance in instances {
        match instance.await.unwrap() {
            FeedCommit::Applied(_) => applied += 1,
            FeedCommit::Moved { at } => assert_eq!(at, positions[2]),
        }
    }
    assert_eq!((applied, f.count_events("Handled").await), (1, 1));
}

pub async fn a_consumer_set_back_reads_again(f: &Fixture) {
    let positions = three_events(f).await;
    let consumer = Name::from("webhooks");
    f.store.commit_feed(&consumer, EventSeq::START, positions[2], vec![]).await.unwrap();
    f.store.reset_consumer(&consumer, positions[0]).await.unwrap();
    assert_eq!(f.store.consumer_position(&consumer).await.unwrap(), positions[0]);
    let again = f.store.read_events(positions[0], EventFilter::default(), 10).await.unwrap();
    assert_eq!(kinds(&again), ["B", "C"]);
    let stale = f.store.commit_feed(&consumer, positions[2], positions[2], vec![effect("Stale")]).await.unwrap();
    assert_eq!(stale, FeedCommit::Moved { at: positions[0] }, "an instance from before the replay is fenced");
    let replayed = f.store.commit_feed(&consumer, positions[0], positions[2], vec![effect("Replayed")]).await.unwrap();
    assert!(matches!(replayed, FeedCommit::Applied(_)));
    assert_eq!(f.count_events("Stale").await, 0);
    f.store.reset_consumer(&"new one".into(), positions[1]).await.unwrap();
    assert_eq!(f.store.consumer_position(&"new one".into()).await.unwrap(), positions[1], "may begin anywhere");
}

pub async fn each_effect_has_its_own_guard(f: &Fixture) {
    let positions = three_events(f).await;
    let submission = f.submission().await;
    f.enqueue(f.job("ocr", submission)).await;
    let claim = f.claim_one().await;
    f.done(&claim).await;
    let duplicate = Changes { events: vec![event("Duplicate", None)], ..Changes::default() };
    let effects = vec![effect("First"), ending(&claim, JobEnd::Done, duplicate), effect("Last")];
    let result = f.store.commit_feed(&"webhooks".into(), EventSeq::START, positions[2], effects).await.unwrap();
    let applied = CommitResult::Applied { joins: vec![] };
    let rejected = CommitResult::Rejected(Rejection::LeaseLost);
    assert_eq!(result, FeedCommit::Applied(vec![applied.clone(), rejected, applied]));
    assert_eq!(kinds(&f.events().await), ["A", "B", "C", "First", "Last"]);
    let position = f.store.consumer_position(&"webhooks".into()).await.unwrap();
    assert_eq!(position, positions[2], "a duplicate must not stop the consumer forever");
}
