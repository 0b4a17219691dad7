//! What was written is what is read: every field of every noun.

use super::fixture::{Fixture, LEASE, arrive_failed, ending, error, text};
use crate::{
    Changes, JobEnd, SubmissionChange,
    query::{ItemCounts, ItemFilter, JobFilter, ReviewFilter, StageRow, SubmissionFilter},
};
use bindery_core::{
    ContentHash, Name, Payload, SubmissionId,
    artifact::Artifact,
    error::ErrorClass,
    item::{Item, ItemKind},
    job::{ErrorRecord, Job, JobState, Limit, NewJob},
    join::{Join, NewJoin},
    outcome::{Outcome, OutcomeStatus, ResumePoint, Step},
    progress::StageCounts,
    review::{NewReview, Review, ReviewStatus},
    submission::{Deadline, NewSubmission, Submission, SubmissionStatus},
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

pub async fn submissions_are_listed_newest_first(f: &Fixture) {
    let mut all = Vec::new();
    for _ in 0..4 {
        all.push(f.submission().await);
        f.advance(1);
    }
    set_status(f, all[1], SubmissionStatus::Failed).await;
    let list = async |statuses: &[SubmissionStatus], limit| -> Vec<SubmissionId> {
        let filter = SubmissionFilter { statuses: statuses.to_vec(), limit };
        f.store.submissions(filter).await.unwrap().into_iter().map(|submission| submission.id).collect()
    };
    assert_eq!(list(&[], None).await, [all[3], all[2], all[1], all[0]]);
    assert_eq!(list(&[], Some(2)).await, [all[3], all[2]]);
    assert_eq!(list(&[SubmissionStatus::Failed], None).await, [all[1]]);
    let both = [SubmissionStatus::Received, SubmissionStatus::Failed];
    assert_eq!(list(&both, Some(3)).await, [all[3], all[2], all[1]]);
}

async fn set_status(f: &Fixture, id: SubmissionId, status: SubmissionStatus) {
    let error = (status == SubmissionStatus::Failed).then(|| "no page could be read".to_owned());
    let submission_changes = vec![SubmissionChange { id, status, error }];
    f.change(Changes { submission_changes, ..Changes::default() }).await;
}

pub async fn a_submission_only_moves_forward(f: &Fixture) {
    let id = f.submission().await;
    for (change, then) in [
        (SubmissionStatus::Splitting, SubmissionStatus::Splitting),
        (SubmissionStatus::Received, SubmissionStatus::Splitting),
        (SubmissionStatus::Extracting, SubmissionStatus::Extracting),
        (SubmissionStatus::Processing, SubmissionStatus::Extracting),
    ] {
        set_status(f, id, change).await;
        let now = f.submission_now(id).await;
        assert_eq!((now.status, now.completed_at), (then, None), "told {change}: a late worker must not turn it back");
    }
    f.advance(8);
    set_status(f, id, SubmissionStatus::Completed).await;
    let completed = f.submission_now(id).await;
    assert_eq!((completed.status, completed.completed_at), (SubmissionStatus::Completed, Some(f.now())));
    f.advance(8);
    for change in SubmissionStatus::ALL {
        set_status(f, id, change).await;
        let now = f.submission_now(id).await;
        assert_eq!((now.status, now.completed_at), (completed.status, completed.completed_at), "final stays: {change}");
    }
    let failed = f.submission().await;
    set_status(f, failed, SubmissionStatus::Failed).await;
    set_status(f, failed, SubmissionStatus::Completed).await;
    let failed = f.submission_now(failed).await;
    assert_eq!((failed.status, failed.error.as_deref()), (SubmissionStatus::Failed, Some("no page could be read")));
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

pub async fn items_are_found_by_kind_and_parent(f: &Fixture) {
    let submission = f.submission().await;
    let file = f.item(submission, ItemKind::File).await;
    let mut pages = Vec::new();
    for ordinal in 0..3 {
        let id = f.ids.item().await;
        pages.push(id);
        let page = Item {
            id,
            submission,
            parent: Some(file),
            kind: ItemKind::Page,
            ordinal,
            key: None,
            label: None,
            content: None,
            data: "{}".to_owned(),
        };
        f.change(Changes { items: vec![page], ..Changes::default() }).await;
    }
    let document = f.item(submission, ItemKind::Document).await;
    let list = async |kind, parent| -> Vec<_> {
        let items = f.store.items(submission, ItemFilter { kind, parent }).await.unwrap();
        items.into_iter().map(|item| item.id).collect()
    };
    assert_eq!(list(None, None).await, [file, pages[0], pages[1], pages[2], document]);
    assert_eq!(list(Some(ItemKind::Page), None).await, pages);
    assert_eq!(list(None, Some(file)).await, pages);
    assert_eq!(list(Some(ItemKind::Document), Some(file)).await, []);
    let counts = f.store.item_counts(submission).await.unwrap();
    assert_eq!(counts, ItemCounts { files: 1, pages: 3, documents: 1 });
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
    assert_eq!(stored, [result, newer], "another hash under a key replaces the pointer");
    let other = f.submission().await;
    assert_eq!(f.store.artifacts(other).await.unwrap(), []);
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
    };
    let bare = Outcome {
        item: None,
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

pub async fn outcomes_are_listed_by_stage_in_the_order_of_items(f: &Fixture) {
    let submission = f.submission().await;
    let pages = [f.item(submission, ItemKind::Page).await, f.item(submission, ItemKind::Page).await];
    f.enqueue(f.job("classify", submission)).await;
    let job = f.claim_one().await.job;
    let plain = f.outcome(&job, OutcomeStatus::Completed);
    let outcome = |item: usize, stage: &str, processor: &str| Outcome {
        item: Some(pages[item]),
        stage: stage.into(),
        processor: processor.into(),
        ..plain.clone()
    };
    for outcomes in [
        vec![outcome(1, "classify", "p"), outcome(0, "extract", "p")],
        vec![outcome(0, "classify", "p"), outcome(0, "classify", "q")],
    ] {
        f.change(Changes { outcomes, ..Changes::default() }).await;
    }
    let classified = f.store.outcomes(submission, Some(&"classify".into())).await.unwrap();
    let items: Vec<_> = classified.iter().map(|outcome| outcome.item).collect();
    assert_eq!(items, [Some(pages[0]), Some(pages[0]), Some(pages[1])]);
    assert_eq!(f.store.outcomes(submission, None).await.unwrap().len(), 4);
    let both = f.store.item_outcomes(submission, Some(pages[0]), &"classify".into()).await.unwrap();
    assert_eq!(both.len(), 2, "two processors, two results");
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
        ..stored
    };
    assert_eq!(claimed, running);
    let awaited = f.enqueue(NewJob { await_report_ms: Some(5_000), ..f.job("outside", submission) }).await;
    assert_eq!(f.stored(awaited).await.await_report_ms, Some(5_000));
}

pub async fn jobs_are_found_by_everything_they_are(f: &Fixture) {
    let (one, two) = (f.submission().await, f.submission().await);
    let mut jobs = Vec::new();
    for (queue, stage, submission) in [("a", "s", one), ("a", "t", two), ("b", "s", one), ("b", "t", one)] {
        jobs.push(f.enqueue(NewJob { stage: stage.into(), ..f.job(queue, submission) }).await);
    }
    assert_eq!(f.claim_one().await.job.id, jobs[0]);
    let find = async |filter: JobFilter| -> Vec<_> { f.jobs(filter).await.into_iter().map(|job| job.id).collect() };
    let all = JobFilter::default;
    assert_eq!(find(all()).await, jobs);
    assert_eq!(find(JobFilter { ids: vec![jobs[3], jobs[1]], ..all() }).await, [jobs[1], jobs[3]]);
    assert_eq!(find(JobFilter { submission: Some(two), ..all() }).await, [jobs[1]]);
    assert_eq!(find(JobFilter { queue: Some("b".into()), ..all() }).await, [jobs[2], jobs[3]]);
    assert_eq!(find(JobFilter { stage: Some("s".into()), ..all() }).await, [jobs[0], jobs[2]]);
    assert_eq!(find(JobFilter { states: vec![JobState::Running], ..all() }).await, [jobs[0]]);
    assert_eq!(find(JobFilter { states: vec![JobState::Running, JobState::Ready], ..all() }).await.len(), 4);
    let narrow = JobFilter { queue: Some("a".into()), stage: Some("t".into()), submission: Some(one), ..all() };
    assert_eq!(find(narrow).await, [], "every field narrows");
    assert_eq!(find(JobFilter { limit: Some(2), ..all() }).await.len(), 2);
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
        queue: "desk".into(),
        priority: 8,
        reason: "two types fit".to_owned(),
        input: text("what was found"),
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
        queue: new.queue,
        status: ReviewStatus::Pending,
        priority: new.priority,
        reason: new.reason,
        input: new.input,
        assigned_to: None,
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

pub async fn the_counts_of_a_stage_are_counted(f: &Fixture) {
    let submission = f.submission().await;
    let other = f.submission().await;
    f.enqueue(NewJob { await_report_ms: Some(1_000), ..f.job("ocr", other) }).await;
    let item_job = async || {
        let item = f.item(submission, ItemKind::Page).await;
        NewJob { item: Some(item), ..f.job("ocr", submission) }
    };
    for (status, count) in [(OutcomeStatus::Completed, 3), (OutcomeStatus::Skipped, 2), (OutcomeStatus::Review, 1)] {
        for _ in 0..count {
            f.enqueue(item_job().await).await;
            let claim = f.claim_one().await;
            let outcomes = vec![f.outcome(&claim.job, status)];
            f.apply(ending(&claim, JobEnd::Done, Changes { outcomes, ..Changes::default() })).await;
        }
    }
    f.enqueue(item_job().await).await;
    f.fail(&f.claim_one().await).await;
    f.enqueue(item_job().await).await;
    let end = JobEnd::Park { until: "key".to_owned(), error: error("NoKey", ErrorClass::Park), resume: None };
    f.end(&f.claim_one().await, end).await;
    f.enqueue(item_job().await).await;
    f.claim_one().await;
    f.enqueue(NewJob { await_report_ms: Some(60_000), ..item_job().await }).await;
    for _ in 0..2 {
        f.enqueue(NewJob { not_before: Some(f.after(60)), ..item_job().await }).await;
    }
    for _ in 0..4 {
        f.enqueue(item_job().await).await;
    }
    f.enqueue(f.job("combine", submission)).await;
    let rows = f.store.stage_counts(submission).await.unwrap();
    let row = |stage: &str| rows.iter().find(|row| row.stage == stage).cloned();
    let counts = StageCounts {
        completed: 3,
        failed: 1,
        skipped: 2,
        review: 1,
        running: 1,
        waiting: 4,
        scheduled: 2,
        parked: 1,
        awaiting: 1,
        cancelled: 0,
    };
    assert_eq!(row("ocr"), Some(StageRow { stage: "ocr".into(), counts }));
    let waiting = StageCounts { waiting: 1, ..StageCounts::default() };
    assert_eq!(row("combine"), Some(StageRow { stage: "combine".into(), counts: waiting }));
    assert_eq!(rows.len(), 2);

    let queues = f.store.queues().await.unwrap();
    let queue = queues.iter().find(|view| view.queue == "ocr").expect("a queue with jobs is listed");
    let seen = (queue.ready, queue.scheduled, queue.running, queue.parked, queue.awaiting, queue.dead);
    assert_eq!(seen, (4, 2, 1, 1, 2, 1), "over all submissions");
    assert!(!queue.paused);
    assert_eq!(queue.paused_because, None);

    f.store.cancel_submission(submission).await.unwrap();
    let rows = f.store.stage_counts(submission).await.unwrap();
    let stopped = rows.iter().find(|row| row.stage == "combine").expect("a cancelled stage is shown").counts.clone();
    assert_eq!(stopped, StageCounts { cancelled: 1, ..StageCounts::default() });
}

pub async fn workers_are_seen_while_they_live(f: &Fixture) {
    let submission = f.submission().await;
    f.store.enqueue((0..3).map(|_| f.job("ocr", submission)).collect()).await.unwrap();
    let claims = f.claim_as("left", 2).await;
    let leases: Vec<_> = claims.iter().map(|claim| (claim.job.id, claim.token)).collect();
    let started = f.now();
    f.store.heartbeat(&"left".into(), leases.clone(), LEASE, 7).await.unwrap();
    f.store.heartbeat(&"idle".into(), vec![], LEASE, 0).await.unwrap();
    f.advance(20);
    f.done(&claims[0]).await;
    f.store.heartbeat(&"left".into(), leases[1..].to_vec(), LEASE, 8).await.unwrap();
    let workers = f.store.workers().await.unwrap();
    let worker = |name: &str| workers.iter().find(|view| view.worker == name).expect("it has given a sign of life");
    let left = worker("left");
    assert_eq!((left.running, left.finished), (1, 8));
    assert_eq!((left.started_at, left.seen_at), (started, f.now()));
    let idle = worker("idle");
    assert_eq!((idle.running, idle.finished, idle.seen_at), (0, 0, started), "an idle worker is a worker");
}

pub async fn a_hint_comes_at_the_latest_after_the_wait(f: &Fixture) {
    let wait = std::time::Duration::from_millis(20);
    let waited = tokio::time::timeout(std::time::Duration::from_secs(30), f.store.changed(wait)).await;
    assert!(waited.is_ok(), "a worker would sleep for good");
}
