//! Progress counters, which must agree with a recount whatever happens, and lists that are read page by page.

use super::fixture::{Fixture, arrive};
use bindery_core::{
    ItemId, JoinId, SubmissionId,
    item::{Item, ItemKind},
    job::{JobState, NewJob},
    join::NewJoin,
    outcome::{Outcome, OutcomeStatus},
    review::NewReview,
    submission::SubmissionStatus,
};
use bindery_store::{
    Changes, Commit,
    pages::ReviewPages,
    query::{ItemFilter, JobFilter, JoinFilter, JoinScope, OutcomePage, ReviewFilter},
    retention::{Deleted, Reason},
};
use std::collections::BTreeSet;

const STAGES: [&str; 3] = ["split", "read", "bind"];
const KINDS: [ItemKind; 3] = [ItemKind::File, ItemKind::Page, ItemKind::Document];

/// A linear congruential generator: the same sequence each time for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len())]
    }
}

fn item(submission: SubmissionId, id: ItemId, kind: ItemKind) -> Item {
    Item {
        id,
        submission,
        parent: None,
        kind,
        ordinal: id.raw(),
        key: None,
        label: None,
        content: None,
        data: "{}".to_owned(),
    }
}

fn outcome(f: &Fixture, submission: SubmissionId, item: Option<ItemId>, stage: &str, status: OutcomeStatus) -> Outcome {
    let job = NewJob { item, stage: stage.into(), ..f.job("q", submission) };
    Outcome {
        submission,
        item,
        stage: job.stage,
        processor: job.processor,
        status,
        output: job.payload,
        confidence: None,
        error: None,
        resume: None,
        input_hash: None,
        processor_version: 1,
        attempts: 1,
        cost_micros: 0,
        finished_at: f.now(),
        reuse: None,
    }
}

pub async fn counters_agree_with_a_recount_after_random_operations(f: &Fixture) {
    for seed in 0..6 {
        let mut dice = Dice(seed);
        let submissions = [f.submission().await, f.submission().await];
        let mut items: Vec<(SubmissionId, ItemId, ItemKind)> = Vec::new();
        for step in 0..60 {
            let doing = random_step(f, &mut dice, &submissions, &mut items).await;
            for submission in submissions {
                f.assert_progress_is_true(submission, &format!("after step {step} of {seed}, {doing}")).await;
            }
        }
    }
}

/// One operation, of all that change outcomes or items; several in one commit, too.
async fn random_step(
    f: &Fixture,
    dice: &mut Dice,
    submissions: &[SubmissionId],
    items: &mut Vec<(SubmissionId, ItemId, ItemKind)>,
) -> &'static str {
    let submission = dice.pick(submissions);
    match dice.roll(10) {
        0..=4 => {
            let mut changes = Changes::default();
            for _ in 0..=dice.roll(4) {
                let new = (submission, f.ids.item().await, dice.pick(&KINDS));
                changes.items.push(item(new.0, new.1, new.2));
                items.push(new);
            }
            for _ in 0..=dice.roll(6) {
                let (submission, id, _) = dice.pick(items);
                let status = dice.pick(&OutcomeStatus::ALL);
                let id = (dice.roll(8) > 0).then_some(id);
                changes.outcomes.push(outcome(f, submission, id, dice.pick(&STAGES), status));
            }
            if dice.roll(3) == 0 {
                // An item that is there is updated, and counted no second time.
                let (submission, id, kind) = dice.pick(items);
                changes.items.push(Item { label: Some("again".to_owned()), ..item(submission, id, kind) });
            }
            f.change(changes).await;
            "items and outcomes"
        }
        5 if !items.is_empty() => {
            let (submission, id, _) = items.swap_remove(dice.roll(items.len()));
            // Its outcomes may be of the same commit.
            let status = dice.pick(&OutcomeStatus::ALL);
            let outcomes = items.last().map(|(submission, id, _)| outcome(f, *submission, Some(*id), "read", status));
            let removed_items = vec![(submission, id)];
            f.change(Changes { removed_items, outcomes: outcomes.into_iter().collect(), ..Changes::default() }).await;
            "a removed item"
        }
        6 | 7 => {
            f.enqueue(NewJob { stage: dice.pick(&STAGES).into(), ..f.job("q", submission) }).await;
            for claim in f.claim(10).await {
                f.fail(&claim).await;
            }
            if dice.roll(2) == 0 {
                let dead = JobFilter { states: vec![JobState::Dead], ..JobFilter::default() };
                f.store.retry(dead).await.unwrap();
            }
            "a dead letter"
        }
        8 => {
            let job = f.enqueue(NewJob { stage: dice.pick(&STAGES).into(), ..f.job("q", submission) }).await;
            assert!(f.store.cancel_job(job).await.unwrap());
            "a cancelled job"
        }
        _ => {
            f.store.sweep().await.unwrap();
            "a sweep"
        }
    }
}

pub async fn a_commit_that_fails_counts_nothing(f: &Fixture) {
    let submission = f.submission().await;
    let page = f.item(submission, ItemKind::Page).await;
    let outcomes = vec![outcome(f, submission, Some(page), "read", OutcomeStatus::Completed)];
    let items = vec![item(submission, f.ids.item().await, ItemKind::Page)];
    let good = Changes { items, outcomes, ..Changes::default() };
    let bad = Changes { join_steps: vec![arrive(JoinId::from_raw(404))], ..good.clone() };
    f.store.commit(vec![Commit::always(bad)]).await.unwrap_err();
    f.assert_progress_is_true(submission, "after a commit that failed").await;
    assert_eq!(f.store.item_counts(submission).await.unwrap().pages, 1);
    f.change(good).await;
    f.assert_progress_is_true(submission, "after the same commit, done right").await;
    assert_eq!(f.store.item_counts(submission).await.unwrap().pages, 2);
}

pub async fn workers_at_the_same_time_count_right(f: &Fixture) {
    let submission = f.submission().await;
    let work = async |worker: usize| {
        for number in 0..20 {
            let id = f.ids.item().await;
            let status = OutcomeStatus::ALL[number % 4];
            let changes = Changes {
                items: vec![item(submission, id, ItemKind::Page)],
                outcomes: vec![outcome(f, submission, Some(id), STAGES[worker % 3], status)],
                ..Changes::default()
            };
            f.change(changes).await;
            if number % 7 == worker {
                f.store.sweep().await.unwrap();
            }
        }
    };
    tokio::join!(work(0), work(1), work(2), work(3));
    f.assert_progress_is_true(submission, "after four workers").await;
    assert_eq!(f.store.item_counts(submission).await.unwrap().pages, 80);
}

pub async fn counters_go_with_their_submission(f: &Fixture) {
    let (gone, stays) = (f.submission().await, f.submission().await);
    for submission in [gone, stays] {
        for _ in 0..3 {
            let id = f.item(submission, ItemKind::Page).await;
            let outcomes = vec![outcome(f, submission, Some(id), "read", OutcomeStatus::Completed)];
            f.change(Changes { outcomes, ..Changes::default() }).await;
        }
    }
    f.store.sweep().await.unwrap();
    f.set_status(gone, SubmissionStatus::Completed).await;
    f.advance(10);
    let deleted = f.store.delete_submissions(vec![gone], Reason::Pruned, 10_000).await.unwrap();
    assert!(matches!(deleted[0].deleted, Deleted::Whole { .. }), "{deleted:?}");
    f.assert_progress_is_true(gone, "after it was deleted").await;
    assert!(f.store.stage_counts(gone).await.unwrap().is_empty());
    assert_eq!(f.store.item_counts(gone).await.unwrap().pages, 0);
    f.assert_progress_is_true(stays, "after another was deleted").await;
}

pub async fn items_are_read_page_by_page(f: &Fixture) {
    let submission = f.submission().await;
    let file = f.item(submission, ItemKind::File).await;
    let mut pages = Vec::new();
    for _ in 0..7 {
        let id = f.ids.item().await;
        let page = Item { parent: Some(file), ..item(submission, id, ItemKind::Page) };
        f.change(Changes { items: vec![page], ..Changes::default() }).await;
        pages.push(id);
    }
    f.item(submission, ItemKind::Page).await;
    for (kind, parent) in [(Some(ItemKind::Page), Some(file)), (None, Some(file)), (Some(ItemKind::Page), None)] {
        let mut read = Vec::new();
        let mut after = None;
        loop {
            let filter = ItemFilter { kind, parent, after, limit: Some(3), ids: None };
            let found = f.store.items(submission, filter).await.unwrap();
            assert!(found.len() <= 3);
            let Some(last) = found.last() else { break };
            after = Some(last.id);
            read.extend(found.iter().map(|item| item.id));
        }
        assert_eq!(read[..7], pages);
        assert_eq!(read.len(), if parent.is_some() { 7 } else { 8 });
    }
    let some = ItemFilter { ids: Some(pages.clone()), limit: Some(2), ..ItemFilter::default() };
    assert_eq!(f.store.items(submission, some).await.unwrap().len(), 2);
}

pub async fn outcomes_are_read_page_by_page(f: &Fixture) {
    let submission = f.submission().await;
    let mut outcomes = vec![outcome(f, submission, None, "read", OutcomeStatus::Completed)];
    let mut pages = Vec::new();
    for number in 0..5 {
        let id = f.item(submission, ItemKind::Page).await;
        pages.push(id);
        let status = if number % 2 == 0 { OutcomeStatus::Completed } else { OutcomeStatus::Failed };
        for processor in ["p", "q"] {
            let outcome = outcome(f, submission, Some(id), "read", status);
            outcomes.push(Outcome { processor: processor.into(), ..outcome });
        }
    }
    let other = outcome(f, submission, Some(pages[0]), "bind", OutcomeStatus::Failed);
    f.change(Changes { outcomes: outcomes.iter().cloned().chain([other]).collect(), ..Changes::default() }).await;
    let read = async |status, items: Option<Vec<ItemId>>, limit| {
        let mut page = OutcomePage { status, items, ..OutcomePage::first("read".into(), limit) };
        let mut read: Vec<Outcome> = Vec::new();
        loop {
            let found = f.store.outcome_page(submission, page.clone()).await.unwrap();
            assert!(found.len() <= limit);
            let Some(last) = found.last() else { return read };
            page.after = Some(last.into());
            read.extend(found);
        }
    };
    for limit in [1, 3, 100] {
        assert_eq!(read(None, None, limit).await, outcomes, "pages of {limit}");
    }
    let failed = read(Some(OutcomeStatus::Failed), None, 3).await;
    let items: BTreeSet<_> = failed.iter().filter_map(|outcome| outcome.item).collect();
    assert_eq!((failed.len(), items), (4, BTreeSet::from([pages[1], pages[3]])));
    let of_two = read(None, Some(vec![pages[4], pages[0]]), 3).await;
    assert_eq!(of_two, [&outcomes[1..3], &outcomes[9..11]].concat());
    assert_eq!(read(Some(OutcomeStatus::Review), None, 3).await, []);
}

pub async fn joins_are_found_by_what_they_collect_and_read_page_by_page(f: &Fixture) {
    let (submission, other) = (f.submission().await, f.submission().await);
    let outer = f.join(f.new_join(submission, 3, "bind").await).await;
    f.join(f.new_join(other, 3, "bind").await).await;
    let mut inner = Vec::new();
    for _ in 0..5 {
        let page = f.item(submission, ItemKind::Page).await;
        let new = NewJoin { scope: Some(page), outer: Some(outer), ..f.new_join(submission, 2, "read").await };
        inner.push((page, f.join(new).await));
    }
    let found = async |filter: JoinFilter| -> Vec<JoinId> {
        f.store.joins(submission, filter).await.unwrap().iter().map(|join| join.id).collect()
    };
    let of_pages: Vec<JoinId> = inner.iter().map(|(_, join)| *join).collect();
    let all: Vec<JoinId> = [outer].into_iter().chain(of_pages.clone()).collect();
    assert_eq!(found(JoinFilter::default()).await, all);
    assert_eq!(found(JoinFilter { stage: Some("read".into()), ..JoinFilter::default() }).await, of_pages);
    assert_eq!(found(JoinFilter { outer: Some(outer), ..JoinFilter::default() }).await, of_pages);
    assert_eq!(found(JoinFilter { scope: Some(JoinScope::Submission), ..JoinFilter::default() }).await, [outer]);
    let scope = Some(JoinScope::from(Some(inner[2].0)));
    assert_eq!(found(JoinFilter { scope, ..JoinFilter::default() }).await, [inner[2].1]);
    assert_eq!(found(JoinFilter { repaired: true, ..JoinFilter::default() }).await, []);
    assert_eq!(found(JoinFilter { stage: Some("none".into()), ..JoinFilter::default() }).await, []);
    let (mut read, mut filter) = (Vec::new(), JoinFilter { limit: Some(4), ..JoinFilter::default() });
    loop {
        let page = found(filter.clone()).await;
        assert!(page.len() <= 4, "{page:?}");
        let Some(last) = page.last() else { break };
        filter.after = Some(*last);
        read.extend(page);
    }
    assert_eq!(read, all);
}

pub async fn reviews_are_found_by_item_and_read_page_by_page(f: &Fixture) {
    let submission = f.submission().await;
    let mut asked = Vec::new();
    for number in 0..5 {
        let item = Some(f.item(submission, ItemKind::Document).await);
        asked.push(f.ask(NewReview { item, priority: number, ..f.new_review(submission, "extract") }).await);
    }
    let of_submission = ReviewFilter { submission: Some(submission), ..ReviewFilter::default() };
    let of_item = ReviewFilter { item: asked[3].item, ..of_submission.clone() };
    assert_eq!(f.store.reviews(of_item).await.unwrap(), [asked[3].clone()]);
    // By priority, unless it is said where to go on.
    let urgent = ReviewFilter { limit: Some(1), ..of_submission.clone() };
    assert_eq!(f.store.reviews(urgent).await.unwrap(), [asked[4].clone()]);
    let mut pages = ReviewPages::new(&*f.store, of_submission);
    assert_eq!(pages.next().await.unwrap(), asked);
    assert_eq!(pages.next().await.unwrap(), []);
    let behind = ReviewFilter { after: Some(asked[1].id), limit: Some(2), ..ReviewFilter::default() };
    assert_eq!(f.store.reviews(behind).await.unwrap(), asked[2..4]);
}
