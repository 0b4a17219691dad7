//! Holds, deletions, what expires, and which blobs are in use.

use super::fixture::{Fixture, event};
use bindery_core::{
    ContentHash, EventSeq, ItemId, Name, Payload, SubmissionId,
    artifact::Artifact,
    event::{NewEvent, kind},
    item::{Item, ItemKind},
    outcome::OutcomeStatus,
    submission::{NewSubmission, SubmissionStatus},
};
use bindery_store::{
    Changes, StoreError,
    query::{ItemFilter, JobFilter, JoinFilter, ReviewFilter},
    retention::{Candidates, Deleted, EventAge, Expiry, Reason, Refusal, RetentionFilter},
    search::{IndexedDocument, Query, SearchRequest, TextChunk},
};
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

const ENOUGH: usize = 10_000;

fn hash(text: &str) -> ContentHash {
    ContentHash::of(text.as_bytes())
}

/// A submission that has ended, with rows in every table, whose blobs are named after it.
async fn ended(f: &Fixture, name: &str) -> SubmissionId {
    let new = f.new_submission().await;
    let external_id = Some(format!("secret {name}"));
    let id = f.submit(NewSubmission { external_id, owner: Some(name.to_owned()), ..new }).await;
    fill(f, id, name).await;
    f.set_status(id, SubmissionStatus::Completed).await;
    id
}

async fn fill(f: &Fixture, id: SubmissionId, name: &str) {
    let file = item(f, id, ItemKind::File, &format!("{name} raw")).await;
    let page = item(f, id, ItemKind::Page, &format!("{name} page")).await;
    let artifact = |item, key: &str, media_type: &str| Artifact {
        submission: id,
        item,
        key: key.to_owned(),
        hash: hash(&format!("{name} {key}")),
        size: 7,
        media_type: media_type.to_owned(),
    };
    let artifacts = vec![
        Artifact { hash: hash(&format!("{name} raw")), ..artifact(Some(file), "raw/item_1", "application/pdf") },
        artifact(Some(page), "page.png", "image/png"),
        artifact(Some(page), "page.md", "text/markdown"),
        artifact(None, "result.json", "application/json"),
    ];
    f.change(Changes { artifacts, ..Changes::default() }).await;
    f.join(f.new_join(id, 5, "combine").await).await;
    for (queue, item, output) in [
        ("ocr", Some(page), Payload::Inline(format!("{{\"content\":\"{}\"}}", hash(&format!("{name} words"))))),
        ("long", Some(page), Payload::Blob(hash(&format!("{name} payload")))),
        ("result", None, Payload::Inline(format!("\"result of {name}\""))),
    ] {
        let mut job = f.job(queue, id);
        job.item = item;
        f.enqueue(job).await;
        let claim = f.claim_one().await;
        let mut outcome = f.outcome(&claim.job, OutcomeStatus::Completed);
        outcome.output = output;
        let changes = Changes { outcomes: vec![outcome], ..Changes::default() };
        f.apply(super::fixture::ending(&claim, bindery_store::JobEnd::Done, changes)).await;
    }
    f.enqueue(f.job("broken", id)).await;
    f.fail(&f.claim_one().await).await;
    f.review(id, "classify").await;
    f.store.append_events(vec![event("Happened", Some(id)), event("Happened", Some(id))]).await.unwrap();
    let chunks = vec![TextChunk { page: 1, ordinal: 0, text: format!("whisper {name}") }];
    let document = IndexedDocument {
        collection: "letters".to_owned(),
        document_id: format!("of {name}"),
        file_guid: "g".to_owned(),
        file_name: "f".to_owned(),
        metadata: "{}".to_owned(),
        chunks,
        submission: Some(id),
        owner: None,
    };
    f.store.index_document(document).await.unwrap();
}

async fn item(f: &Fixture, submission: SubmissionId, kind: ItemKind, content: &str) -> ItemId {
    let id = f.ids.item().await;
    let content = Some(hash(content));
    let data = "{}".to_owned();
    let item = Item { id, submission, parent: None, kind, ordinal: id.raw(), key: None, label: None, content, data };
    f.change(Changes { items: vec![item], ..Changes::default() }).await;
    id
}

async fn delete(f: &Fixture, id: SubmissionId) -> Deleted {
    f.store.delete_submissions(vec![id], Reason::Asked, ENOUGH).await.unwrap().remove(0).deleted
}

async fn count_found(f: &Fixture, words: &str) -> usize {
    let query = Query::parse(words).unwrap();
    f.store.search(SearchRequest { query, collection: None, limit: 10, offset: 0 }).await.unwrap().len()
}

async fn assert_gone(f: &Fixture, id: SubmissionId) {
    assert_eq!(f.store.submission(id).await.unwrap(), None);
    assert_eq!(f.store.items(id, ItemFilter::default()).await.unwrap(), []);
    assert_eq!(f.store.outcomes(id, None).await.unwrap(), []);
    assert_eq!(f.store.artifacts(id, None, 1_000).await.unwrap(), []);
    assert_eq!(f.store.joins(id, JoinFilter::default()).await.unwrap(), []);
    assert_eq!(f.store.jobs(JobFilter { submission: Some(id), ..JobFilter::default() }).await.unwrap(), []);
    assert_eq!(f.store.reviews(ReviewFilter { submission: Some(id), ..ReviewFilter::default() }).await.unwrap(), []);
    let told: Vec<_> = f.events().await.into_iter().filter(|event| event.submission == Some(id)).collect();
    let kinds: Vec<&str> = told.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, [kind::SUBMISSION_DELETED], "its events are gone, and the news of it is there");
    assert_eq!((told[0].subject.as_ref(), told[0].data.contains("secret")), (None, false), "{:?}", told[0]);
}

pub async fn a_deleted_submission_leaves_nothing_but_the_news_of_it(f: &Fixture) {
    let (ann, bob) = (ended(f, "ann").await, ended(f, "bob").await);
    f.store.reset_consumer(&"behind".into(), EventSeq::START).await.unwrap();
    let before = f.snapshot(bob).await;
    let extent = f.store.extent(vec![ann]).await.unwrap();
    let last = f.store.last_event().await.unwrap();
    let Deleted::Whole { rows } = delete(f, ann).await else { panic!("a small submission goes at once") };
    assert_eq!(rows, extent.rows, "a look beforehand tells how many rows go");
    assert_gone(f, ann).await;
    assert_eq!((count_found(f, "whisper ann").await, count_found(f, "whisper bob").await), (0, 1));
    assert_eq!(delete(f, ann).await, Deleted::Refused(Refusal::NotFound), "a second time there is nothing");
    assert!(f.store.last_event().await.unwrap() > last, "positions go on growing");

    let mut now = f.snapshot(bob).await;
    let of_bob = |event: &&bindery_core::event::Event| event.submission == Some(bob);
    assert_eq!(now.events.iter().filter(of_bob).count(), before.events.iter().filter(of_bob).count());
    now.events.clone_from(&before.events);
    assert_eq!(now, before, "somebody else's submission was changed");

    let candidates: BTreeSet<ContentHash> =
        f.store.blob_candidates(None, ENOUGH).await.unwrap().0.into_keys().collect();
    let named = ["raw", "page", "page.png", "page.md", "result.json", "words", "payload"];
    let expected: BTreeSet<ContentHash> = named.iter().map(|name| hash(&format!("ann {name}"))).collect();
    assert_eq!(candidates, expected);
    assert_eq!(extent.blobs.into_iter().collect::<BTreeSet<_>>(), expected);
}

pub async fn a_large_deletion_goes_on_where_it_stopped(f: &Fixture) {
    let id = ended(f, "ann").await;
    let other = ended(f, "bob").await;
    let mut steps = 0;
    loop {
        let deletions = f.store.delete_submissions(vec![id, other], Reason::Pruned, 3).await.unwrap();
        steps += 1;
        match &deletions[0].deleted {
            Deleted::Whole { .. } => break,
            Deleted::Partly { rows } => {
                assert!((1..=3).contains(rows), "{rows}");
                assert_eq!(deletions[1].deleted, Deleted::Partly { rows: 0 }, "there is no room for the next one");
            }
            Deleted::Refused(why) => panic!("{why}"),
        }
        let deleting = RetentionFilter { deleting: true, limit: 10, ..RetentionFilter::default() };
        let deleting: Vec<_> = f.store.list_retained(deleting).await.unwrap().into_iter().map(|it| it.id).collect();
        assert_eq!(deleting, [id], "whoever comes next sees that it is not finished");
        let refused = f.store.hold(vec![id], "too late").await;
        assert!(matches!(refused, Err(StoreError::Invalid(_))), "half a submission is not worth holding: {refused:?}");
        assert!(steps < 100, "it never ends");
    }
    assert!(steps > 3);
    assert_gone(f, id).await;
    assert!(f.store.submission(other).await.unwrap().is_some());
}

pub async fn what_is_at_work_or_on_hold_is_not_deleted(f: &Fixture) {
    let live = f.submission().await;
    f.enqueue(f.job("ocr", live)).await;
    let held = ended(f, "ann").await;
    f.store.hold(vec![held], "case 12").await.unwrap();
    let before = (f.snapshot(live).await, f.snapshot(held).await);
    let status = SubmissionStatus::Received;
    assert_eq!(delete(f, live).await, Deleted::Refused(Refusal::UnderWay { status }));
    let reason = "case 12".to_owned();
    assert_eq!(delete(f, held).await, Deleted::Refused(Refusal::OnHold { reason: reason.clone() }));
    let everything = Expiry { raw_files: true, page_images: true, texts: true, events: true, ..Expiry::default() };
    let expired = f.store.expire(vec![live, held], everything, ENOUGH).await.unwrap();
    assert_eq!(expired[0].deleted, Deleted::Refused(Refusal::UnderWay { status }));
    assert_eq!(expired[1].deleted, Deleted::Refused(Refusal::OnHold { reason }));
    assert_eq!((f.snapshot(live).await, f.snapshot(held).await), before);
    f.store.release_hold(vec![held]).await.unwrap();
    assert!(matches!(delete(f, held).await, Deleted::Whole { .. }));
}

pub async fn a_hold_is_placed_once_and_released_once(f: &Fixture) {
    let (one, two) = (ended(f, "ann").await, f.submission().await);
    assert_eq!(f.store.hold(vec![one, two], "case 12").await.unwrap(), [one, two]);
    f.advance(5);
    assert_eq!(f.store.hold(vec![one], "case 13").await.unwrap(), [], "it was on hold already");
    let holds = f.store.holds().await.unwrap();
    let shown: Vec<_> = holds.iter().map(|hold| (hold.submission, hold.reason.as_str())).collect();
    assert_eq!(shown, [(one, "case 13"), (two, "case 12")]);
    assert_eq!(holds[0].held_at, holds[1].held_at, "it has been on hold since the first time");
    assert_eq!(f.count_events(kind::SUBMISSION_HELD).await, 2);
    assert_eq!(f.store.release_hold(vec![one]).await.unwrap(), [one]);
    assert_eq!(f.store.release_hold(vec![one]).await.unwrap(), []);
    assert_eq!(f.count_events(kind::SUBMISSION_RELEASED).await, 1);
    assert_eq!(f.store.holds().await.unwrap().len(), 1);
    let unknown = f.store.hold(vec![SubmissionId::from_raw(999_999)], "x").await;
    assert!(matches!(unknown, Err(StoreError::NotFound { .. })), "{unknown:?}");
}

pub async fn submissions_are_found_by_owner_workflow_and_age(f: &Fixture) {
    let ann = ended(f, "ann").await;
    f.advance(100);
    let bob = ended(f, "bob").await;
    let live = f.submission().await;
    f.store.hold(vec![bob], "case").await.unwrap();
    let ask = async |filter: RetentionFilter| {
        let found = f.store.list_retained(RetentionFilter { limit: 10, ..filter }).await.unwrap();
        found.into_iter().map(|found| found.id).collect::<Vec<_>>()
    };
    assert_eq!(ask(RetentionFilter::default()).await, [ann, bob, live]);
    assert_eq!(ask(RetentionFilter { owner: Some("bob".to_owned()), ..RetentionFilter::default() }).await, [bob]);
    assert_eq!(ask(RetentionFilter { after: Some(ann), ..RetentionFilter::default() }).await, [bob, live]);
    let before = Some(f.after(0));
    assert_eq!(ask(RetentionFilter { ended_before: before, ..RetentionFilter::default() }).await, [ann]);
    assert_eq!(ask(RetentionFilter { workflow: Some("other".into()), ..RetentionFilter::default() }).await, []);
    let texts = Expiry { texts: true, ..Expiry::default() };
    f.store.expire(vec![ann], texts.clone(), ENOUGH).await.unwrap();
    assert_eq!(ask(RetentionFilter { has: Some(texts), ..RetentionFilter::default() }).await, [bob, live]);
    let all = f.store.list_retained(RetentionFilter { limit: 10, ..RetentionFilter::default() }).await.unwrap();
    let holds: Vec<Option<&str>> = all.iter().map(|found| found.hold.as_deref()).collect();
    assert_eq!(holds, [None, Some("case"), None]);
    assert_eq!(all[0].status, SubmissionStatus::Completed);
}

pub async fn expired_parts_go_and_results_stay(f: &Fixture) {
    let id = ended(f, "ann").await;
    let keys = async || {
        let artifacts = f.store.artifacts(id, None, 1_000).await.unwrap();
        artifacts.into_iter().map(|artifact| artifact.key).collect::<BTreeSet<_>>()
    };
    let contents = async |kind| {
        let items = f.store.items(id, ItemFilter { kind: Some(kind), ..ItemFilter::default() }).await.unwrap();
        items.iter().filter(|item| item.content.is_some()).count()
    };
    let expire = async |expiry: Expiry| {
        let expired = f.store.expire(vec![id], expiry, ENOUGH).await.unwrap().remove(0);
        assert!(matches!(expired.deleted, Deleted::Whole { rows } if rows > 0), "{expired:?}");
    };
    expire(Expiry { raw_files: true, ..Expiry::default() }).await;
    assert_eq!((contents(ItemKind::File).await, contents(ItemKind::Page).await), (0, 1));
    assert_eq!(keys().await, ["page.md", "page.png", "result.json"].map(str::to_owned).into());
    expire(Expiry { page_images: true, ..Expiry::default() }).await;
    assert_eq!(contents(ItemKind::Page).await, 0);
    assert_eq!(keys().await, ["page.md", "result.json"].map(str::to_owned).into());
    let last_stage = Some(Name::from("long"));
    expire(Expiry { texts: true, last_stage, ..Expiry::default() }).await;
    assert_eq!(keys().await, ["result.json".to_owned()].into());
    let outputs: HashMap<String, bool> = f
        .store
        .outcomes(id, None)
        .await
        .unwrap()
        .into_iter()
        .map(|outcome| (outcome.stage.to_string(), outcome.output != Payload::null()))
        .collect();
    assert_eq!((outputs["ocr"], outputs["long"], outputs["result"]), (false, true, true));
    expire(Expiry { events: true, ..Expiry::default() }).await;
    let left = f.events().await;
    let left: Vec<&str> = left.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(left.last(), Some(&kind::SUBMISSION_EXPIRED));
    assert!(!left.contains(&"Happened"), "{left:?}");
    let candidates = f.store.blob_candidates(None, ENOUGH).await.unwrap();
    let named = ["raw", "page", "page.png", "page.md", "words"].map(|name| hash(&format!("ann {name}")));
    assert_eq!(candidates.0.keys().copied().collect::<HashSet<_>>(), named.into());
    assert!(candidates.0.values().all(|ignored| *ignored == [id.raw()]), "its own word does not keep them");
    assert_eq!(f.submission_now(id).await.status, SubmissionStatus::Completed);
}

pub async fn a_consumer_that_is_behind_keeps_events_from_expiring(f: &Fixture) {
    let id = ended(f, "ann").await;
    f.store.reset_consumer(&"slow".into(), EventSeq::START).await.unwrap();
    let events = Expiry { events: true, ..Expiry::default() };
    f.store.expire(vec![id], events, ENOUGH).await.unwrap();
    assert!(f.count_events("Happened").await > 0, "a consumer would never hear of it");
}

pub async fn events_of_what_never_ends_age_out(f: &Fixture) {
    let standing = f.submission().await;
    let other = ended(f, "ann").await;
    let ownerless = NewEvent { at: None, ..event("Alone", None) };
    f.store.append_events(vec![event("Old", Some(standing)), ownerless]).await.unwrap();
    f.advance(100);
    let before = f.now();
    f.advance(100);
    f.store.append_events(vec![event("Young", Some(standing))]).await.unwrap();
    let behind = Name::from("behind");
    f.store.reset_consumer(&behind, EventSeq::START).await.unwrap();
    let under_way = EventAge::UnderWay { workflow: "flow".into(), before };
    assert_eq!(f.store.delete_events(under_way.clone(), ENOUGH).await.unwrap(), 0, "nobody has read them");
    f.store.reset_consumer(&behind, f.store.last_event().await.unwrap()).await.unwrap();
    assert_eq!(f.store.delete_events(under_way.clone(), ENOUGH).await.unwrap(), 1);
    assert_eq!(f.store.delete_events(under_way, ENOUGH).await.unwrap(), 0);
    assert_eq!((f.count_events("Old").await, f.count_events("Young").await), (0, 1));
    assert!(f.count_events("Happened").await > 0, "{other} has ended, and its events go with it");
    assert_eq!(f.store.delete_events(EventAge::Ownerless { before }, ENOUGH).await.unwrap(), 1);
    assert_eq!(f.count_events("Alone").await, 0);
    let last = f.store.last_event().await.unwrap();
    f.advance(100);
    let newest = EventAge::UnderWay { workflow: "flow".into(), before: f.now() };
    assert_eq!(f.store.delete_events(newest, ENOUGH).await.unwrap(), 0, "the newest event stays");
    assert_eq!(f.store.last_event().await.unwrap(), last);
}

async fn in_use(f: &Fixture, hashes: &[ContentHash]) -> HashSet<ContentHash> {
    f.store.mark_blobs(Arc::new(Candidates::from_hashes(hashes.iter().copied()))).await.unwrap().in_use
}

pub async fn a_blob_is_in_use_while_any_row_names_it(f: &Fixture) {
    let (ann, bob) = (ended(f, "ann").await, ended(f, "bob").await);
    let shared = item(f, ann, ItemKind::Page, "shared").await;
    item(f, bob, ItemKind::Page, "shared").await;
    let of =
        |name: &str| ["raw", "page", "page.png", "page.md", "words", "payload"].map(|it| hash(&format!("{name} {it}")));
    let mut all: Vec<ContentHash> = of("ann").into_iter().chain(of("bob")).collect();
    all.extend([hash("shared"), hash("nobody's")]);
    let mut expected: HashSet<ContentHash> = all.iter().copied().collect();
    expected.remove(&hash("nobody's"));
    assert_eq!(in_use(f, &all).await, expected, "{shared}");
    delete(f, ann).await;
    let expected: HashSet<ContentHash> = of("bob").into_iter().chain([hash("shared")]).collect();
    assert_eq!(in_use(f, &all).await, expected);
    let candidates = f.store.blob_candidates(None, ENOUGH).await.unwrap();
    assert!(candidates.0.contains_key(&hash("shared")) && !candidates.0.contains_key(&hash("bob raw")));
    f.store.settle_candidates(candidates.0.into_keys().collect()).await.unwrap();
    assert_eq!(f.store.blob_candidates(None, ENOUGH).await.unwrap(), Candidates::default());
}

pub async fn what_a_payload_names_is_in_use(f: &Fixture) {
    let id = ended(f, "ann").await;
    let (payload, inside) = (hash("ann payload"), hash("inside"));
    let ask = Arc::new(Candidates::from_hashes([inside]));
    let marked = f.store.mark_blobs(Arc::clone(&ask)).await.unwrap();
    assert_eq!(
        (marked.in_use.len(), marked.unread),
        (0, [(Some(id.raw()), payload)].into()),
        "it has to be read first"
    );
    f.store.cache_mentions([(payload, vec![inside])].into(), vec![]).await.unwrap();
    f.store.cache_mentions([(payload, vec![inside])].into(), vec![]).await.unwrap();
    let marked = f.store.mark_blobs(Arc::clone(&ask)).await.unwrap();
    assert_eq!((marked.in_use, marked.unread), ([inside].into(), HashSet::new()));
    f.store.cache_mentions(HashMap::new(), vec![payload]).await.unwrap();
    assert_eq!(f.store.mark_blobs(ask).await.unwrap().unread.len(), 1, "what is gone is forgotten");
}

pub async fn an_expired_part_does_not_keep_its_blob(f: &Fixture) {
    let (ann, bob) = (ended(f, "ann").await, ended(f, "bob").await);
    let words = hash("ann words");
    let candidates = Arc::new(Candidates([(words, vec![ann.raw()])].into()));
    assert_eq!(f.store.mark_blobs(Arc::clone(&candidates)).await.unwrap().in_use, HashSet::new());
    item(f, bob, ItemKind::Page, "ann words").await;
    assert_eq!(f.store.mark_blobs(candidates).await.unwrap().in_use, [words].into(), "another one needs it");
}

pub async fn of_many_sweepers_one_is_told(f: &Fixture) {
    let (name, every) = (Name::from("policies"), Duration::from_secs(60));
    let asked = tokio::join!(
        f.store.claim_sweep(&name, every),
        f.store.claim_sweep(&name, every),
        f.store.claim_sweep(&name, every)
    );
    let told = [asked.0, asked.1, asked.2].into_iter().filter(|told| *told.as_ref().unwrap()).count();
    assert_eq!(told, 1);
    assert!(f.store.claim_sweep(&"another".into(), every).await.unwrap());
    f.advance(59);
    assert!(!f.store.claim_sweep(&name, every).await.unwrap());
    f.advance(1);
    assert!(f.store.claim_sweep(&name, every).await.unwrap());
}

pub async fn workers_that_were_not_seen_for_long_go(f: &Fixture) {
    f.store.arrive(&"old".into()).await.unwrap();
    f.advance(100);
    let before = f.now();
    f.store.arrive(&"young".into()).await.unwrap();
    assert_eq!(f.store.delete_workers(before).await.unwrap(), 1);
    let left: Vec<_> = f.store.workers().await.unwrap().into_iter().map(|worker| worker.worker).collect();
    assert_eq!(left, ["young"]);
    assert!(!f.store.is_used_alone().await.unwrap(), "a worker may be alive");
    f.store.leave(&"young".into(), 0).await.unwrap();
    assert!(f.store.is_used_alone().await.unwrap());
    let id = f.submission().await;
    f.enqueue(f.job("ocr", id)).await;
    let claim = f.claim_one().await;
    assert!(!f.store.is_used_alone().await.unwrap(), "a job is running");
    f.done(&claim).await;
    f.store.leave(&"worker".into(), 1).await.unwrap();
    assert!(f.store.is_used_alone().await.unwrap());
}

pub async fn dead_letters_of_a_queue_age_out(f: &Fixture) {
    let id = f.submission().await;
    let dead = async |queue: &str| {
        let job = f.enqueue(f.job(queue, id)).await;
        f.fail(&f.claim_one().await).await;
        job
    };
    let (_, theirs) = (dead("ours").await, dead("theirs").await);
    f.advance(100);
    let before = f.now();
    let young = dead("ours").await;
    let waiting = f.enqueue(f.job("ours", id)).await;
    assert_eq!(f.store.delete_dead_letters(&"ours".into(), before).await.unwrap(), 1);
    assert_eq!(f.store.delete_dead_letters(&"ours".into(), before).await.unwrap(), 0);
    let left: BTreeSet<_> = f.jobs(JobFilter::default()).await.into_iter().map(|job| job.id).collect();
    assert_eq!(left, [theirs, young, waiting].into());
}

pub async fn space_is_given_back(f: &Fixture) {
    let mut all = Vec::new();
    for _ in 0..20 {
        let id = f.submission().await;
        // A text that no database makes shorter.
        let text =
            |event: u32| (0..64).map(|line| hash(&format!("{id} {event} {line}")).to_string()).collect::<String>();
        let events = (0..20).map(|event| NewEvent::new("Long", Some(id), format!("\"{}\"", text(event))));
        f.store.append_events(events.collect()).await.unwrap();
        f.set_status(id, SubmissionStatus::Completed).await;
        all.push(id);
    }
    let deleted = f.store.delete_submissions(all, Reason::Pruned, ENOUGH).await.unwrap();
    assert!(deleted.iter().all(|it| matches!(it.deleted, Deleted::Whole { .. })), "{deleted:?}");
    let reclaimed = f.store.reclaim(false).await.unwrap();
    let again = f.store.reclaim(true).await.unwrap();
    assert!(reclaimed.bytes + again.bytes > 1_000_000, "{reclaimed:?} {again:?}");
    assert!(again.complete);
    f.submission().await;
}
