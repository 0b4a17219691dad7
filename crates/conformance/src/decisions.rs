//! What people decide: who has a review, and what a decision makes run again.

use super::fixture::{Fixture, arrive, ending, text};
use bindery_core::{
    ItemId, JoinId, ReviewId, SubmissionId,
    event::kind,
    item::ItemKind,
    job::NewJob,
    join::{Arrival, JoinChange, JoinStep},
    outcome::{Outcome, OutcomeStatus},
    review::{Decision, NewReview, Review, ReviewStatus},
    submission::SubmissionStatus,
};
use bindery_store::{Again, Changes, Commit, CommitResult, Guard, JobEnd, Rejection, query::ReviewFilter};
use serde_json::json;

async fn now(f: &Fixture, id: ReviewId) -> Review {
    f.store.review(id).await.unwrap().expect("a review stays")
}

fn answer(review: ReviewId, by: Option<&str>, changes: Changes) -> Commit {
    let fields = json!({"total": "7.00"}).as_object().cloned().unwrap_or_default();
    let decision = Decision::Corrected { fields };
    Commit { guard: Guard::Review { review, by: by.map(str::to_owned), decision }, changes }
}

/// A review that can be kept for two minutes.
async fn claimable(f: &Fixture) -> Review {
    let submission = f.submission().await;
    f.ask(NewReview { claim_ms: Some(120_000), ..f.new_review(submission, "extract") }).await
}

pub async fn who_has_a_review_has_it_alone(f: &Fixture) {
    let review = claimable(f).await;
    assert!(f.store.assign_review(review.id, "ann").await.unwrap());
    assert!(!f.store.assign_review(review.id, "bob").await.unwrap());
    let held = now(f, review.id).await;
    assert_eq!((held.assigned_to.as_deref(), held.assigned_until), (Some("ann"), Some(f.after(120))));
    f.advance(60);
    assert!(f.store.assign_review(review.id, "ann").await.unwrap(), "whoever has it may take more time");
    assert_eq!(now(f, review.id).await.assigned_until, Some(f.after(120)));
    for by in [Some("bob"), None] {
        let refused = f.commit(answer(review.id, by, Changes::default())).await;
        assert_eq!(refused, CommitResult::Rejected(Rejection::ReviewClosed), "{by:?}");
    }
    assert!(f.commit(answer(review.id, Some("ann"), Changes::default())).await.is_applied());
    assert!(!f.store.assign_review(review.id, "ann").await.unwrap(), "what is decided is nobody's any more");
}

pub async fn a_claim_that_was_kept_too_long_goes_to_another(f: &Fixture) {
    let review = claimable(f).await;
    let kept = claimable(f).await;
    for id in [review.id, kept.id] {
        assert!(f.store.assign_review(id, "ann").await.unwrap());
    }
    f.advance(119);
    let pending = || ReviewFilter { statuses: vec![ReviewStatus::Pending], ..ReviewFilter::default() };
    assert_eq!(f.store.reviews(pending()).await.unwrap(), []);
    assert!(!f.store.assign_review(review.id, "bob").await.unwrap(), "there is a second left");
    f.advance(1);
    let listed = f.store.reviews(pending()).await.unwrap();
    assert_eq!(listed.len(), 2, "the others see them again");
    assert_eq!((listed[0].status, &listed[0].assigned_to), (ReviewStatus::Pending, &None));
    let assigned = ReviewFilter { statuses: vec![ReviewStatus::Assigned], ..ReviewFilter::default() };
    assert_eq!(f.store.reviews(assigned).await.unwrap(), []);
    assert!(f.store.assign_review(review.id, "bob").await.unwrap());
    let late = f.commit(answer(review.id, Some("ann"), Changes::default())).await;
    assert_eq!(late, CommitResult::Rejected(Rejection::ReviewClosed), "it is bob's now");
    assert!(f.commit(answer(kept.id, Some("ann"), Changes::default())).await.is_applied(), "nobody else took it");
}

pub async fn of_two_people_who_claim_at_once_one_has_it(f: &Fixture) {
    for _ in 0..10 {
        let review = claimable(f).await;
        let claim = |who: &'static str| f.store.assign_review(review.id, who);
        let (ann, bob) = tokio::join!(claim("ann"), claim("bob"));
        let (ann, bob) = (ann.unwrap(), bob.unwrap());
        assert!(ann != bob, "both, or neither");
        assert_eq!(now(f, review.id).await.assigned_to.as_deref(), Some(if ann { "ann" } else { "bob" }));
    }
}

pub async fn urgent_reviews_come_first_then_old_ones(f: &Fixture) {
    let submission = f.submission().await;
    let mut ids = Vec::new();
    for priority in [0, 5, 0, 5] {
        ids.push(f.ask(NewReview { priority, ..f.new_review(submission, "extract") }).await.id);
        f.advance(1);
    }
    let listed = f.store.reviews(ReviewFilter::default()).await.unwrap();
    let order: Vec<_> = listed.iter().map(|review| review.id).collect();
    assert_eq!(order, [ids[1], ids[3], ids[0], ids[2]]);
}

pub async fn reviews_are_found_by_queue_and_skills(f: &Fixture) {
    let submission = f.submission().await;
    let ask = async |queue: &str, skills: &[&str]| {
        let skills = skills.iter().map(|skill| (*skill).into()).collect();
        let new = NewReview { queue: queue.into(), skills, ..f.new_review(submission, "extract") };
        f.ask(new).await.id
    };
    let invoice = ask("task.extraction", &["extraction", "invoice"]).await;
    let letter = ask("task.extraction", &["extraction", "letter"]).await;
    let page = ask("task.classification", &["classification"]).await;
    let plain = f.review(submission, "extract").await.id;
    let found = async |queue: Option<&str>, skills: &[&str]| -> Vec<ReviewId> {
        let skills = skills.iter().map(|skill| (*skill).into()).collect();
        let filter = ReviewFilter { queue: queue.map(Into::into), skills, ..ReviewFilter::default() };
        f.store.reviews(filter).await.unwrap().into_iter().map(|review| review.id).collect()
    };
    assert_eq!(found(None, &[]).await, [invoice, letter, page, plain]);
    assert_eq!(found(Some("task.extraction"), &[]).await, [invoice, letter]);
    assert_eq!(found(None, &["extraction"]).await, [invoice, letter]);
    assert_eq!(found(None, &["extraction", "invoice"]).await, [invoice]);
    assert_eq!(found(Some("task.classification"), &["invoice"]).await, []);
    assert_eq!(found(None, &["invoic"]).await, [], "a skill is a whole name");
}

pub async fn what_was_decided_is_kept(f: &Fixture) {
    let review = claimable(f).await;
    f.advance(7);
    f.apply(answer(review.id, Some("ann"), Changes::default())).await;
    let decided = now(f, review.id).await;
    let Some(Decision::Corrected { fields }) = &decided.decision else { panic!("{decided:?}") };
    assert_eq!(fields["total"], "7.00");
    assert_eq!((decided.assigned_to.as_deref(), decided.completed_at), (Some("ann"), Some(f.now())));
    assert_eq!(decided.assigned_until, None);
}

pub async fn a_review_can_be_stored_as_decided(f: &Fixture) {
    let submission = f.submission().await;
    let decision = Decision::Rejected { reason: "a blank page".to_owned() };
    let decided = Some((decision.clone(), Some("ann".to_owned())));
    let review = f.ask(NewReview { decided, ..f.new_review(submission, "extract") }).await;
    assert_eq!((review.status, review.completed_at), (ReviewStatus::Completed, Some(f.now())));
    assert_eq!((review.decision, review.assigned_to.as_deref()), (Some(decision), Some("ann")));
    assert!(!f.store.assign_review(review.id, "bob").await.unwrap());
}

pub async fn an_unchanged_result_is_replaced_once(f: &Fixture) {
    let part = Part::finished(f).await;
    let found = part.outcome(f).await;
    let replace = |output: &str| {
        let outcomes = vec![Outcome { output: text(output), finished_at: f.after(5), ..found.clone() }];
        let guard = Guard::Unchanged(Box::new(found.clone()));
        Commit { guard, changes: Changes { outcomes, ..Changes::default() } }
    };
    assert!(f.commit(replace("first")).await.is_applied());
    assert_eq!(f.commit(replace("second")).await, CommitResult::Rejected(Rejection::Changed));
    assert_eq!(part.outcome(f).await.output, text("first"));
}

/// A document whose chain ends in `bind`, which ends in `deliver`.
struct Part {
    submission: SubmissionId,
    item: ItemId,
    bind: JoinId,
}

impl Part {
    /// Nothing is done yet; the join waits for this part and for `others`.
    async fn new(f: &Fixture, others: i64) -> Self {
        let submission = f.submission().await;
        let deliver = f.join(f.new_join(submission, 1, "deliver").await).await;
        let mut new = f.new_join(submission, 1 + others, "bind").await;
        (new.outer, new.on_close.join) = (Some(deliver), Some(deliver));
        let bind = f.join(new).await;
        let item = f.item(submission, ItemKind::Document).await;
        f.enqueue(NewJob { item: Some(item), join: Some(bind), ..f.job("extract", submission) }).await;
        Self { submission, item, bind }
    }

    /// Everything is done, and the submission is final.
    async fn finished(f: &Fixture) -> Self {
        let part = Self::new(f, 0).await;
        run(f, &["extract", "bind", "deliver"]).await;
        f.set_status(part.submission, SubmissionStatus::Completed).await;
        part
    }

    async fn outcome(&self, f: &Fixture) -> Outcome {
        f.store.item_outcomes(self.submission, Some(self.item), &"extract".into()).await.unwrap().remove(0)
    }

    /// A person decides: another result, and the chain ends once more.
    async fn decision(&self, f: &Fixture, output: &str) -> Commit {
        let found = self.outcome(f).await;
        let again = Again { submission: self.submission, item: Some(self.item), join: self.bind };
        let changes = Changes {
            outcomes: vec![Outcome { output: text(output), ..found.clone() }],
            again: Some(again),
            join_steps: vec![arrive(self.bind)],
            ..Changes::default()
        };
        Commit { guard: Guard::Unchanged(Box::new(found)), changes }
    }

    /// The same, with another stage before the join.
    async fn decision_before(&self, f: &Fixture, stage: &str) -> Commit {
        let mut commit = self.decision(f, "decided").await;
        commit.changes.join_steps.clear();
        let job = NewJob { item: Some(self.item), join: Some(self.bind), ..f.job(stage, self.submission) };
        commit.changes.jobs = vec![job];
        commit
    }
}

/// Claims and finishes one job after the other; they must be these.
async fn run(f: &Fixture, stages: &[&str]) {
    for stage in stages {
        let claim = f.claim_one().await;
        assert_eq!(claim.job.queue, *stage);
        f.finish(&claim).await;
    }
}

pub async fn a_chain_begun_again_before_the_join_has_closed_is_waited_for(f: &Fixture) {
    let part = Part::new(f, 1).await;
    run(f, &["extract"]).await;
    f.apply(part.decision_before(f, "extract").await).await;
    f.step(part.bind, JoinChange::Arrive(Arrival::Completed)).await;
    assert_eq!(f.join_now(part.bind).await.closed_at, None, "the stage would run without what was decided");
    run(f, &["extract", "bind", "deliver"]).await;
    f.assert_nothing_to_claim("everything is done").await;
}

pub async fn a_chain_on_its_way_is_taken_back(f: &Fixture) {
    let part = Part::new(f, 0).await;
    let claim = f.claim_one().await;
    // It goes on to a second stage, where a worker has it in hand.
    let next = NewJob { item: Some(part.item), join: Some(part.bind), ..f.job("enrich", part.submission) };
    let outcomes = vec![f.outcome(&claim.job, OutcomeStatus::Review)];
    f.apply(ending(&claim, JobEnd::Done, Changes { outcomes, jobs: vec![next], ..Changes::default() })).await;
    let stale = f.claim_one().await;
    f.apply(part.decision_before(f, "enrich").await).await;
    let late = f.commit(ending(&stale, JobEnd::Done, Changes::default())).await;
    assert_eq!(late, CommitResult::Rejected(Rejection::LeaseLost), "what was found before the decision came after it");
    assert_eq!(f.join_now(part.bind).await.expected, 1, "one chain took the place of the other");
    run(f, &["enrich", "bind", "deliver"]).await;
    f.assert_nothing_to_claim("everything is done, once").await;
}

pub async fn a_chain_that_waits_for_a_person_is_taken_back(f: &Fixture) {
    let part = Part::new(f, 0).await;
    let claim = f.claim_one().await;
    let question =
        NewReview { item: Some(part.item), join: Some(part.bind), ..f.new_review(part.submission, "approve") };
    let outcomes = vec![f.outcome(&claim.job, OutcomeStatus::Completed)];
    f.apply(ending(&claim, JobEnd::Done, Changes { outcomes, reviews: vec![question], ..Changes::default() })).await;
    f.apply(part.decision(f, "decided").await).await;
    let review = f.snapshot(part.submission).await.reviews.remove(0);
    assert_eq!((review.status, &review.decision), (ReviewStatus::Cancelled, &Some(Decision::Superseded)));
    let late = f.commit(answer(review.id, None, Changes::default())).await;
    assert_eq!(late, CommitResult::Rejected(Rejection::ReviewClosed));
    run(f, &["bind", "deliver"]).await;
    f.assert_nothing_to_claim("everything is done, once").await;
    f.store.cancel_submission(part.submission).await.unwrap();
    let filter = bindery_store::query::JobFilter { submission: Some(part.submission), ..Default::default() };
    f.store.retry(filter).await.unwrap();
    assert_eq!(now(f, review.id).await.status, ReviewStatus::Cancelled, "a question that fell away comes not back");
}

pub async fn a_chain_begun_again_after_the_end_runs_the_stages_once_more(f: &Fixture) {
    let part = Part::finished(f).await;
    let commit = part.decision(f, "decided").await;
    f.advance(1);
    f.apply(commit.clone()).await;
    assert_eq!(f.commit(commit).await, CommitResult::Rejected(Rejection::Changed));
    assert_eq!(f.submission_now(part.submission).await.status, SubmissionStatus::Processing);
    assert_eq!(f.count_events(kind::SUBMISSION_REOPENED).await, 1);
    for stage in ["bind", "deliver"] {
        let claim = f.claim_one().await;
        assert_eq!(claim.job.queue, stage);
        f.assert_nothing_to_claim("each stage runs once more, not more often").await;
        f.finish(&claim).await;
    }
    f.assert_nothing_to_claim("everything is done again").await;
}

pub async fn a_stage_under_way_without_the_decision_is_taken_back(f: &Fixture) {
    let part = Part::finished(f).await;
    // Twice: what runs again because of the first decision must not end after what the second one makes run.
    for output in ["first", "second", "third"] {
        f.apply(part.decision(f, output).await).await;
        let stale = f.claim_one().await;
        assert_eq!(stale.job.queue, "bind");
        f.apply(part.decision(f, &format!("{output} again")).await).await;
        let late = f.commit(ending(&stale, JobEnd::Done, Changes::default())).await;
        assert_eq!(late, CommitResult::Rejected(Rejection::LeaseLost));
    }
    run(f, &["bind", "deliver"]).await;
    f.assert_nothing_to_claim("everything is done, once").await;
}

pub async fn decisions_at_once_reach_the_stage_together(f: &Fixture) {
    for _ in 0..10 {
        let part = Part::new(f, 1).await;
        let other = f.item(part.submission, ItemKind::Document).await;
        f.enqueue(NewJob { item: Some(other), join: Some(part.bind), ..f.job("extract", part.submission) }).await;
        run(f, &["extract", "extract", "bind", "deliver"]).await;
        f.set_status(part.submission, SubmissionStatus::Completed).await;
        let other = Part { item: other, ..part };
        let (one, two) = (part.decision(f, "one").await, other.decision(f, "two").await);
        tokio::join!(f.apply(one), f.apply(two));
        run(f, &["bind", "deliver"]).await;
        f.assert_nothing_to_claim("both decisions were there when the stage ran, which it did once").await;
        assert_eq!((part.outcome(f).await.output, other.outcome(f).await.output), (text("one"), text("two")));
    }
}

pub async fn questions_about_a_replaced_result_fall_away(f: &Fixture) {
    let part = Part::finished(f).await;
    let about =
        |goes_on, stage: &str| NewReview { item: Some(part.item), goes_on, ..f.new_review(part.submission, stage) };
    let gone = f.ask(about(true, "extract")).await.id;
    let (waited_for, elsewhere) = (f.ask(about(false, "extract")).await.id, f.ask(about(true, "classify")).await.id);
    let mut commit = part.decision(f, "decided").await;
    commit.changes.supersedes_reviews = true;
    commit.changes.again = None;
    f.apply(commit).await;
    assert_eq!(now(f, gone).await.decision, Some(Decision::Superseded));
    assert!(now(f, waited_for).await.is_open() && now(f, elsewhere).await.is_open());
}

pub async fn work_on_parts_that_are_made_again_is_not_waited_for(f: &Fixture) {
    let submission = f.submission().await;
    let join = f.join(f.new_join(submission, 4, "bind").await).await;
    let mut items = Vec::new();
    for _ in 0..3 {
        let item = f.item(submission, ItemKind::Document).await;
        f.enqueue(NewJob { item: Some(item), join: Some(join), ..f.job("extract", submission) }).await;
        items.push(item);
    }
    let stale = f.claim_one().await;
    let asked = NewReview { item: Some(items[2]), join: Some(join), ..f.new_review(submission, "extract") };
    let waiting = f.claim(2).await.pop().expect("the third");
    f.apply(ending(&waiting, JobEnd::Done, Changes { reviews: vec![asked], ..Changes::default() })).await;
    // The stage before runs again: it makes the first and the third once more, and not the second.
    let job = |item| NewJob { item: Some(item), join: Some(join), ..f.job("extract", submission) };
    f.change(Changes {
        removed_items: vec![(submission, items[1])],
        restarted_items: vec![(submission, items[0]), (submission, items[2])],
        jobs: vec![job(items[0]), job(items[2])],
        join_steps: vec![JoinStep { join, change: JoinChange::Expect(1) }],
        ..Changes::default()
    })
    .await;
    assert_eq!(f.join_now(join).await.expected, 2, "two chains, instead of three and the one that made them");
    let late = f.commit(ending(&stale, JobEnd::Done, Changes::default())).await;
    assert_eq!(late, CommitResult::Rejected(Rejection::LeaseLost), "an older result would come after the newer one");
    run(f, &["extract", "extract", "bind"]).await;
    f.assert_nothing_to_claim("everything is done").await;
}
