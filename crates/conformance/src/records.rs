//! What was written is what is read: every field of every noun.

use super::fixture::{Fixture, LEASE, arrive_failed, error, text};
use bindery_core::{
    ContentHash, Name, Payload, SubmissionId,
    artifact::Artifact,
    error::ErrorClass,
    item::{Item, ItemKind},
    job::{ErrorRecord, Job, JobState, Limit, NewJob},
    join::{Join, NewJoin},
    outcome::{Outcome, OutcomeStatus, ResumePoint, Reuse, Step},
    review::{Decision, NewReview, Review, ReviewStatus},
    submission::{Deadline, NewSubmission, Submission, SubmissionStatus},
};
use bindery_store::{
    Changes, Commit, Guard,
    query::{ItemFilter, ReviewFilter},
};

fn resume_point() -> ResumePoint {
    ResumePoint {
        step: Step::Processing,
        input: Payload::Blob(ContentHash::of(b"large")),
        input_hash: ContentHash::of(b"input"),
        processor_version: 4,
    }
}

async fn full_submission(f: &Fixture) -> NewSubmission {
    NewSubmission {
        id: f.ids.submission().await,
        external_id: Some("case 7/ä".to_owned()),
        owner: Some("ann".to_owned()),
        channel: "mailbox".to_owned(),
        workflow: "invoices".into(),
        workflow_version: 12,
        priority: -5,
        received_at: f.now(),
        deadline: Deadline {
            at: Some(f.after(300)),
            warn_at: Some(f.after(100)),
            escalate_at: Some(f.after(200)),
            breached_at: None,
        },
        metadata: "{\"from\":\"zoë@example.org\"}".to_owned(),
    }
}

pub async fn a_submission_comes_back_whole(f: &Fixture) {
    let new = full_submission(f).await;
    f.submit(new.clone()).await;
    let stored = Submission {
        id: new.id,
        external_id: new.external_id,
        owner: new.owner,
        channel: new.channel,
        workflow: new.workflow,
        workflow_version: new.workflow_version,
        status: SubmissionStatus::Received,
        priority: new.priority,
        received_at: new.received_at,
        deadline: new.deadline,
        completed_at: None,
        error: None,
        metadata: new.metadata,
    };
    assert_eq!(f.submission_now(new.id).await, stored);
    assert_eq!(f.store.find_submission("case 7/ä").await.unwrap(), Some(stored));
    assert_eq!(f.store.find_submission("case 7").await.unwrap(), None);
    let unknown = f.ids.submission().await;
    assert_eq!(f.store.submission(unknown).await.unwrap(), None);
}

pub async fn an_item_comes_back_whole(f: &Fixture) {
    let (submission, other) = (f.submission().await, f.submission().await);
    let (file, page) = (f.ids.item().await, f.ids.item().await);
    let whole = Item {
        id: file,
        submission,
        parent: None,
        kind: ItemKind::File,
        ordinal: 0,
        key: Some("doc-1".to_owned()),
        label: Some("../invoice ä.pdf".to_owned()),
        content: Some(ContentHash::of(b"pdf")),
        data: "{\"pages\":2}".to_owned(),
    };
    let child = Item {
        id: page,
        parent: Some(file),
        kind: ItemKind::Page,
        ordinal: 1,
        key: None,
        label: None,
        content: None,
        data: "{}".to_owned(),
        ..whole.clone()
    };
    f.change(Changes { items: vec![whole.clone(), child.clone()], ..Changes::default() }).await;
    assert_eq!(f.store.item(submission, file).await.unwrap(), Some(whole.clone()));
    assert_eq!(f.store.item(submission, page).await.unwrap(), Some(child.clone()));
    assert_eq!(f.store.item(other, file).await.unwrap(), None, "it belongs to another submission");
    assert_eq!(f.store.find_item(submission, "doc-1").await.unwrap(), Some(whole.clone()));
    assert_eq!(f.store.find_item(submission, "doc-2").await.unwrap(), None);
    assert_eq!(f.store.find_item(other, "doc-1").await.unwrap(), None);

    let changed = Item { label: Some("invoice".to_owned()), data: "{\"pages\":3}".to_owned(), ..whole };
    f.change(Changes { items: vec![changed.clone()], ..Changes::default() }).await;
    assert_eq!(
        f.store.items(submission, ItemFilter::default()).await.unwrap(),
        [changed, child],
        "updated, not doubled"
    );
}

pub async fn an_artifact_comes_back_whole(f: &Fixture) {
    let submission = f.submission().await;
    let item = f.item(submission, ItemKind::Page).await;
    let artifact = |key: &str, bytes: &[u8]| Artifact {
        submission,
        item: Some(item),
        key: key.to_owned(),
        hash: ContentHash::of(bytes),
        size: bytes.len() as u64,
        media_type: "application/json".to_owned(),
    };
    let result = Artifact { item: None, ..artifact("result.json", b"{}") };
    let artifacts = vec![artifact("text/1.json", b"one"), result.clone()];
    f.change(Changes { artifacts, ..Changes::default() }).await;
    let newer = artifact("text/1.json", b"newer");
    f.change(Changes { artifacts: vec![newer.clone()], ..Changes::default() }).await;
    let stored = f.snapshot(submission).await.artifacts;
    assert_eq!(stored, [result, newer.clone()], "another hash under a key replaces the pointer");
    assert_eq!(f.store.artifact(submission, "text/1.json").await.unwrap(), Some(newer));
    assert_eq!(f.store.artifact(submission, "text/2.json").await.unwrap(), None);
    let other = f.submission().await;
    assert_eq!(f.store.artifact(other, "text/1.json").await.unwrap(), None);
    assert_eq!(f.store.artifacts(other, None, 1_000).await.unwrap(), []);
}

pub async fn an_outcome_comes_back_whole(f: &Fixture) {
    let submission = f.submission().await;
    let item = f.item(submission, ItemKind::Page).await;
    let whole = Outcome {
        submission,
        item: Some(item),
        stage: "classify".into(),
        processor: "model".into(),
        status: OutcomeStatus::Failed,
        output: text("what there is"),
        confidence: Some(0.1 + 0.2),
        error: Some(ErrorRecord { step: Some(Step::Validation), ..error("Timeout", ErrorClass::Review) }),
        resume: Some(resume_point()),
        input_hash: Some(ContentHash::of(b"input")),
        processor_version: 9,
        attempts: 3,
        cost_micros: 1_234_567_890_123,
        finished_at: f.after(4),
        reuse: Some(Box::new(reuse(b"key", Some("{\"label\":\"invoice\"}")))),
    };
    let bare = Outcome {
        item: None,
        reuse: None,
        status: OutcomeStatus::Skipped,
        output: Payload::Blob(ContentHash::of(b"large")),
        confidence: None,
        error: None,
        resume: None,
        input_hash: None,
        ..whole.clone()
    };
    f.change(Changes { outcomes: vec![whole.clone(), bare.clone()], ..Changes::default() }).await;
    let stage = Name::from("classify");
    assert_eq!(f.store.item_outcomes(submission, Some(item), &stage).await.unwrap(), std::slice::from_ref(&whole));
    assert_eq!(f.store.item_outcomes(submission, None, &stage).await.unwrap(), [bare]);
    let newer = Outcome { status: OutcomeStatus::Completed, error: None, resume: None, ..whole };
    f.change(Changes { outcomes: vec![newer.clone()], ..Changes::default() }).await;
    let now = f.store.item_outcomes(submission, Some(item), &stage).await.unwrap();
    assert_eq!(now, [newer], "there is one current result");
}

fn reuse(key: &[u8], made: Option<&str>) -> Reuse {
    let hash = |name: &[u8]| ContentHash::of(&[key, name].concat());
    let (key, recipe, subject) = (hash(b""), hash(b"recipe"), Some(hash(b"subject")));
    Reuse { key, recipe, subject, made: made.map(str::to_owned) }
}

pub async fn a_result_is_found_by_its_key_while_its_submission_is_there(f: &Fixture) {
    let known = reuse(b"found by its key", None);
    assert_eq!(f.store.reusable_outcome(known.key).await.unwrap(), None);
    let mut stored = Vec::new();
    for place in 0..3 {
        let submission = f.submission().await;
        // The last one depends on something else.
        let reuse = if place == 2 { reuse(b"another", None) } else { known.clone() };
        let outcome = Outcome {
            submission,
            item: None,
            stage: "classify".into(),
            processor: "model".into(),
            status: OutcomeStatus::Completed,
            output: text("what was found"),
            confidence: None,
            error: None,
            resume: None,
            input_hash: None,
            processor_version: 1,
            attempts: 1,
            cost_micros: 0,
            finished_at: f.after(place),
            reuse: Some(Box::new(reuse)),
        };
        f.change(Changes { outcomes: vec![outcome.clone()], ..Changes::default() }).await;
        stored.push(outcome);
    }
    assert_eq!(f.store.reusable_outcome(known.key).await.unwrap().as_ref(), Some(&stored[1]), "the newest");
    // What replaces a result is found by its own key.
    let newer = Outcome { reuse: Some(Box::new(reuse(b"newer", None))), ..stored[1].clone() };
    f.change(Changes { outcomes: vec![newer.clone()], ..Changes::default() }).await;
    assert_eq!(f.store.reusable_outcome(known.key).await.unwrap().as_ref(), Some(&stored[0]));
    let bare = Outcome { reuse: None, ..stored[0].clone() };
    f.change(Changes { outcomes: vec![bare], ..Changes::default() }).await;
    assert_eq!(f.store.reusable_outcome(known.key).await.unwrap(), None);
    assert_eq!(f.store.reusable_outcome(newer.reuse.as_ref().unwrap().key).await.unwrap(), Some(newer));
}

pub async fn the_same_question_is_found_by_what_it_is_about(f: &Fixture) {
    let subject = Some(ContentHash::of(b"these pages of these bytes"));
    let (one, two) = (f.submission().await, f.submission().await);
    let asked = |submission, subject| NewReview { subject, ..f.new_review(submission, "extract") };
    let first = f.ask(asked(one, subject)).await;
    let second = f.ask(asked(two, subject)).await;
    f.ask(asked(two, None)).await;
    let about = ReviewFilter { subject, ..ReviewFilter::default() };
    let found = f.store.reviews(about.clone()).await.unwrap();
    assert_eq!(found.iter().map(|review| review.id).collect::<Vec<_>>(), [first.id, second.id]);
    assert!(found.iter().all(|review| review.subject == subject));
    let guard = Guard::Review { review: first.id, by: None, decision: Decision::Accepted };
    let commit = Commit { guard, changes: Changes::default() };
    assert!(f.store.commit(vec![commit]).await.unwrap()[0].is_applied());
    let open = ReviewFilter { statuses: ReviewStatus::OPEN.to_vec(), ..about };
    let found = f.store.reviews(open).await.unwrap();
    assert_eq!(found.iter().map(|review| review.id).collect::<Vec<_>>(), [second.id]);
}

fn full_job(f: &Fixture, submission: SubmissionId) -> NewJob {
    NewJob {
        queue: "read".into(),
        submission,
        item: None,
        stage: "extract".into(),
        processor: "model".into(),
        join: None,
        priority: -7,
        not_before: Some(f.after(90)),
        dedup_key: Some("page 1".to_owned()),
        limit: Some(Limit { key: "api".into(), running: Some(4), per_minute: Some(60) }),
        await_report_ms: None,
        payload: Payload::Blob(ContentHash::of(b"large")),
        resume: Some(resume_point()),
    }
}

pub async fn a_job_comes_back_whole(f: &Fixture) {
    let submission = f.submission().await;
    let item = f.item(submission, ItemKind::Page).await;
    let join = f.join(f.new_join(submission, 1, "combine").await).await;
    let new = NewJob { item: Some(item), join: Some(join), ..full_job(f, submission) };
    let id = f.enqueue(new.clone()).await;
    let stored = Job {
        id,
        queue: new.queue,
        submission,
        item: new.item,
        stage: new.stage,
        processor: new.processor,
        join: new.join,
        priority: new.priority,
        state: JobState::Scheduled,
        attempt: 0,
        losses: 0,
        suspect: false,
        run_at: new.not_before,
        lease_until: None,
        worker: None,
        dedup_key: new.dedup_key,
        limit: new.limit,
        await_report_ms: None,
        payload: new.payload,
        resume: new.resume,
        cursor: 0,
        error: None,
        created_at: f.now(),
        claimed_at: None,
        ended_at: None,
    };
    assert_eq!(f.stored(id).await, stored);
    f.advance(91);
    let claimed = f.claim_one().await.job;
    let running = Job {
        state: JobState::Running,
        attempt: 1,
        run_at: claimed.run_at,
        lease_until: Some(f.now() + LEASE),
        worker: Some("worker".into()),
        claimed_at: Some(f.now()),
        ..stored
    };
    assert_eq!(claimed, running);
    let awaited = f.enqueue(NewJob { await_report_ms: Some(5_000), ..f.job("outside", submission) }).await;
    assert_eq!(f.stored(awaited).await.await_report_ms, Some(5_000));
}

pub async fn a_join_comes_back_whole(f: &Fixture) {
    let submission = f.submission().await;
    let scope = f.item(submission, ItemKind::File).await;
    let outer = f.join(f.new_join(submission, 1, "deliver").await).await;
    let on_close = NewJob { item: Some(scope), join: Some(outer), ..full_job(f, submission) };
    let new = NewJoin {
        id: f.ids.join().await,
        submission,
        stage: "combine".into(),
        scope: Some(scope),
        expected: 3,
        declared: false,
        outer: Some(outer),
        on_close,
    };
    f.join(new.clone()).await;
    f.advance(6);
    f.change(Changes { join_steps: vec![arrive_failed(new.id)], ..Changes::default() }).await;
    let stored = Join {
        id: new.id,
        submission,
        stage: new.stage,
        scope: new.scope,
        expected: 3,
        declared: false,
        arrived: 1,
        failed: 1,
        closed_at: None,
        updated_at: f.now(),
        outer: Some(outer),
        on_close: new.on_close,
        generation: 1,
    };
    assert_eq!(f.join_now(new.id).await, stored);
    let joins = f.snapshot(submission).await.joins;
    assert_eq!(joins.len(), 2);
    assert!(joins.contains(&stored));
    let unknown = f.ids.join().await;
    assert_eq!(f.store.join(unknown).await.unwrap(), None);
}

pub async fn a_review_comes_back_whole(f: &Fixture) {
    let submission = f.submission().await;
    let item = f.item(submission, ItemKind::Page).await;
    let join = f.join(f.new_join(submission, 1, "combine").await).await;
    let new = NewReview {
        submission,
        item: Some(item),
        stage: "classify".into(),
        processor: "model".into(),
        join: Some(join),
        goes_on: true,
        queue: "desk".into(),
        priority: 8,
        reasons: vec!["two types fit".to_owned(), "no date".to_owned()],
        skills: vec!["classification".into(), "invoice".into()],
        claim_ms: Some(120_000),
        input: text("what was found"),
        subject: Some(ContentHash::of(b"what is asked about")),
        decided: None,
    };
    f.change(Changes { reviews: vec![new.clone()], ..Changes::default() }).await;
    let review = f.snapshot(submission).await.reviews.pop().expect("it is listed");
    let stored = Review {
        id: review.id,
        submission,
        item: new.item,
        stage: new.stage,
        processor: new.processor,
        join: new.join,
        goes_on: true,
        queue: new.queue,
        status: ReviewStatus::Pending,
        priority: new.priority,
        reasons: new.reasons,
        skills: new.skills,
        claim_ms: new.claim_ms,
        input: new.input,
        subject: new.subject,
        assigned_to: None,
        assigned_until: None,
        decision: None,
        created_at: f.now(),
        completed_at: None,
    };
    assert_eq!(review, stored);
    assert_eq!(f.store.review(review.id).await.unwrap(), Some(stored));

    let other = f.submission().await;
    let second = f.review(other, "classify").await;
    assert!(f.store.assign_review(second.id, "ann").await.unwrap());
    let list = async |filter: ReviewFilter| f.store.reviews(filter).await.unwrap().len();
    assert_eq!(list(ReviewFilter::default()).await, 2);
    assert_eq!(list(ReviewFilter { submission: Some(other), ..ReviewFilter::default() }).await, 1);
    assert_eq!(list(ReviewFilter { statuses: vec![ReviewStatus::Pending], ..ReviewFilter::default() }).await, 1);
    assert_eq!(list(ReviewFilter { limit: Some(1), ..ReviewFilter::default() }).await, 1);
}

pub async fn a_removed_item_takes_along_what_hangs_on_it(f: &Fixture) {
    let submission = f.submission().await;
    let (gone, stays) = (f.item(submission, ItemKind::Document).await, f.item(submission, ItemKind::Document).await);
    for item in [gone, stays] {
        f.enqueue(NewJob { item: Some(item), ..f.job("extract", submission) }).await;
        let claim = f.claim_one().await;
        let outcomes = vec![f.outcome(&claim.job, OutcomeStatus::Completed)];
        f.change(Changes { outcomes, ..Changes::default() }).await;
        f.done(&claim).await;
    }
    for item in [gone, stays] {
        f.enqueue(NewJob { item: Some(item), ..f.job("index", submission) }).await;
    }
    f.change(Changes { removed_items: vec![(submission, gone)], ..Changes::default() }).await;
    assert_eq!(f.store.item(submission, gone).await.unwrap(), None);
    let outcomes = f.store.outcomes(submission, None).await.unwrap();
    assert!(!outcomes.is_empty() && outcomes.iter().all(|outcome| outcome.item == Some(stays)), "{outcomes:#?}");
    let left: Vec<_> = f.jobs_on("index").await.into_iter().map(|job| job.item).collect();
    assert_eq!(left, [Some(stays)], "work on a part that is no longer there would go on");
}
