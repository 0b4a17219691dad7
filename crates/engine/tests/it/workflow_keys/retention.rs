//! How long submissions are kept, part by part.

use super::{Seen, registry, workflow};
use crate::support::Rig;
use bindery_core::{
    EventSeq, Payload, StepError,
    event::{NewEvent, kind},
    item::ItemKind,
    submission::SubmissionStatus,
};
use bindery_engine::{Child, Children, Extracted, context::StepContext, retention::apply_policies};
use bindery_store::query::{EventFilter, ItemFilter};
use serde_json::{Value, json};
use std::time::Duration;

const STAGES: &str = "{name: split, over: file, parallel: true}, {name: read, over: page, parallel: true}, \
    {name: end, aggregation: {collect_by: submission_id, expect_count_from: page_count}}";

fn split(context: &StepContext, _input: Value) -> Result<Extracted, StepError> {
    let content = Some(context.put_blob(b"a page".to_vec())?.hash);
    let page = Child { content, ..Child::default() };
    Ok(Extracted::new(json!({"pages": 1})).with_children(Children::new(ItemKind::Page, vec![page])))
}

fn text(_context: &StepContext, _input: Value) -> Result<Extracted, StepError> {
    Ok(Extracted::new(json!({"text": "what was read"})))
}

/// What is left of a submission.
#[expect(clippy::struct_excessive_bools, reason = "each part is looked at by itself")]
#[derive(Debug, PartialEq, Eq)]
struct Left {
    raw_files: bool,
    page_images: bool,
    texts: bool,
    result: bool,
    events: bool,
}

const ALL: Left = Left { raw_files: true, page_images: true, texts: true, result: true, events: true };

/// What is left so many days after a submission of a workflow with this retention has ended.
async fn left_after(retention: &str, days: u32) -> Left {
    let rig = Rig::with_manual_clock(registry(&[("split", split), ("read", text), ("end", text)]));
    let yaml = format!("{}retention: {{{retention}}}\n", workflow(STAGES));
    let seen = Seen::received(rig, &yaml, 1).await;
    seen.rig.drain().await;
    let store = seen.rig.store();
    let status = store.submission(seen.id).await.unwrap().map(|it| it.status);
    assert_eq!(status, Some(SubmissionStatus::Completed));
    seen.rig.clock.advance(Duration::from_secs(1) + Duration::from_secs(24 * 60 * 60) * days);
    // The newest event of all stays, because positions are counted from it; it is another one.
    store.append_events(vec![NewEvent::new("Later", None, "{}".to_owned())]).await.unwrap();
    let last = store.last_event().await.unwrap();
    for known in store.consumers().await.unwrap() {
        store.reset_consumer(&known.consumer, last).await.unwrap();
    }
    apply_policies(store).await.unwrap();
    let has_content = async |kind| {
        let filter = ItemFilter { kind: Some(kind), ..ItemFilter::default() };
        store.items(seen.id, filter).await.unwrap().iter().any(|item| item.content.is_some())
    };
    let outcomes = store.outcomes(seen.id, None).await.unwrap();
    let of_submission = EventFilter { submission: Some(seen.id), ..EventFilter::default() };
    let events = store.read_events(EventSeq::START, of_submission, 1_000).await.unwrap();
    let has_output = |stage: &str| outcomes.iter().any(|it| it.stage == *stage && it.output != Payload::null());
    Left {
        raw_files: has_content(ItemKind::File).await,
        page_images: has_content(ItemKind::Page).await,
        texts: has_output("read"),
        result: has_output("end"),
        events: events.iter().any(|event| event.kind == *kind::SUBMISSION_COMPLETED),
    }
}

pub(super) async fn retention_lets_things_go() {
    assert_eq!(left_after("", 36_000).await, ALL, "nothing goes unless it is said");
    let all = "raw_files_days: 1, page_images_days: 1, texts_days: 1, events_days: 1";
    let only_result = Left { raw_files: false, page_images: false, texts: false, result: true, events: false };
    assert_eq!(left_after(all, 1).await, only_result);
}

pub(super) async fn raw_files_days_keeps_files() {
    assert_eq!(left_after("raw_files_days: 30", 29).await, ALL);
    assert_eq!(left_after("raw_files_days: 30", 30).await, Left { raw_files: false, ..ALL });
    assert_eq!(left_after("raw_files_days: 0", 0).await, Left { raw_files: false, ..ALL });
}

pub(super) async fn page_images_days_keeps_contents_of_pages() {
    assert_eq!(left_after("page_images_days: 30", 29).await, ALL);
    assert_eq!(left_after("page_images_days: 30", 30).await, Left { page_images: false, ..ALL });
}

pub(super) async fn texts_days_keeps_what_was_read() {
    assert_eq!(left_after("texts_days: 30", 29).await, ALL);
    assert_eq!(left_after("texts_days: 30", 30).await, Left { texts: false, ..ALL });
}

pub(super) async fn results_days_keeps_the_submission() {
    assert_eq!(left_after("results_days: 30", 29).await, ALL);
    let nothing = Left { raw_files: false, page_images: false, texts: false, result: false, events: false };
    assert_eq!(left_after("results_days: 30", 30).await, nothing);
}

pub(super) async fn events_days_keeps_events() {
    assert_eq!(left_after("events_days: 30", 29).await, ALL);
    assert_eq!(left_after("events_days: 30", 30).await, Left { events: false, ..ALL });
}
