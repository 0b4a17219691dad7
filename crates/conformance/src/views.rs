//! Lists, counts and where things stand.

use super::fixture::{Fixture, LEASE, ending, error};
use bindery_core::{
    ItemId, SubmissionId,
    error::ErrorClass,
    item::{Item, ItemKind},
    job::{JobState, NewJob},
    outcome::{Outcome, OutcomeStatus},
    progress::StageCounts,
    submission::{NewSubmission, SubmissionStatus},
};
use bindery_store::{
    Changes, JobEnd,
    query::{ItemCounts, ItemFilter, JobFilter, StageRow, SubmissionFilter},
};

pub async fn submissions_are_listed_newest_first(f: &Fixture) {
    let mut all = Vec::new();
    for _ in 0..4 {
        all.push(f.submission().await);
        f.advance(1);
    }
    f.set_status(all[1], SubmissionStatus::Failed).await;
    let list = async |statuses: &[SubmissionStatus], limit| -> Vec<SubmissionId> {
        let filter = SubmissionFilter { statuses: statuses.to_vec(), limit, ..SubmissionFilter::default() };
        f.store.submissions(filter).await.unwrap().into_iter().map(|submission| submission.id).collect()
    };
    assert_eq!(list(&[], None).await, [all[3], all[2], all[1], all[0]]);
    assert_eq!(list(&[], Some(2)).await, [all[3], all[2]]);
    assert_eq!(list(&[SubmissionStatus::Failed], None).await, [all[1]]);
    let both = [SubmissionStatus::Received, SubmissionStatus::Failed];
    assert_eq!(list(&both, Some(3)).await, [all[3], all[2], all[1]]);
}

pub async fn submissions_are_listed_by_the_way_they_came_in(f: &Fixture) {
    let mut runs = Vec::new();
    for index in 0..3 {
        f.submission().await;
        let external_id = Some(format!("run {index}"));
        let run = NewSubmission { external_id, channel: "process".to_owned(), ..f.new_submission().await };
        runs.push(f.submit(run).await);
    }
    f.set_status(runs[1], SubmissionStatus::Failed).await;
    let list = async |channel: &str, statuses: &[SubmissionStatus], limit| -> Vec<SubmissionId> {
        let filter = SubmissionFilter { statuses: statuses.to_vec(), channel: Some(channel.to_owned()), limit };
        f.store.submissions(filter).await.unwrap().into_iter().map(|submission| submission.id).collect()
    };
    assert_eq!(list("process", &[], None).await, [runs[2], runs[1], runs[0]]);
    assert_eq!(list("process", &[], Some(2)).await, [runs[2], runs[1]], "others do not use the limit up");
    assert_eq!(list("process", &[SubmissionStatus::Failed], None).await, [runs[1]]);
    assert_eq!(list("proc", &[], None).await, [], "a part of the name is another name");
    assert_eq!(f.store.submissions(SubmissionFilter::default()).await.unwrap().len(), 6);
}

pub async fn a_submission_only_moves_forward(f: &Fixture) {
    let id = f.submission().await;
    for (change, then) in [
        (SubmissionStatus::Splitting, SubmissionStatus::Splitting),
        (SubmissionStatus::Received, SubmissionStatus::Splitting),
        (SubmissionStatus::Extracting, SubmissionStatus::Extracting),
        (SubmissionStatus::Processing, SubmissionStatus::Extracting),
    ] {
        f.set_status(id, change).await;
        let now = f.submission_now(id).await;
        assert_eq!((now.status, now.completed_at), (then, None), "told {change}: a late worker must not turn it back");
    }
    f.advance(8);
    f.set_status(id, SubmissionStatus::Completed).await;
    let completed = f.submission_now(id).await;
    assert_eq!((completed.status, completed.completed_at), (SubmissionStatus::Completed, Some(f.now())));
    f.advance(8);
    for change in SubmissionStatus::ALL {
        f.set_status(id, change).await;
        let now = f.submission_now(id).await;
        assert_eq!((now.status, now.completed_at), (completed.status, completed.completed_at), "final stays: {change}");
    }
    let failed = f.submission().await;
    f.set_status(failed, SubmissionStatus::Failed).await;
    f.set_status(failed, SubmissionStatus::Completed).await;
    let failed = f.submission_now(failed).await;
    assert_eq!((failed.status, failed.error.as_deref()), (SubmissionStatus::Failed, Some("no page could be read")));
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
    let found = async |filter| -> Vec<_> {
        f.store.items(submission, filter).await.unwrap().into_iter().map(|item| item.id).collect()
    };
    let list = async |kind, parent| found(ItemFilter { kind, parent, ..ItemFilter::default() }).await;
    assert_eq!(list(None, None).await, [file, pages[0], pages[1], pages[2], document]);
    assert_eq!(list(Some(ItemKind::Page), None).await, pages);
    assert_eq!(list(None, Some(file)).await, pages);
    assert_eq!(list(Some(ItemKind::Document), Some(file)).await, []);
    let named = |ids: &[ItemId]| ItemFilter { ids: Some(ids.to_vec()), ..ItemFilter::default() };
    assert_eq!(found(named(&[document, pages[1], ItemId::from_raw(i64::MAX)])).await, [pages[1], document]);
    assert_eq!(found(ItemFilter { parent: Some(file), ..named(&[file, pages[2]]) }).await, [pages[2]]);
    assert_eq!(found(named(&[])).await, []);
    let counts = f.store.item_counts(submission).await.unwrap();
    assert_eq!(counts, ItemCounts { files: 1, pages: 3, documents: 1 });
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
    let end =
        JobEnd::Park { until: "key".to_owned(), after: None, error: error("NoKey", ErrorClass::Park), resume: None };
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

pub async fn a_worker_that_leaves_is_not_taken_for_dead(f: &Fixture) {
    let name = "left".into();
    f.store.arrive(&name).await.unwrap();
    f.advance(5);
    f.store.heartbeat(&name, vec![], LEASE, 3).await.unwrap();
    let view = async || f.store.workers().await.unwrap().into_iter().find(|view| view.worker == name).unwrap();
    assert_eq!((view().await.left_at, f.store.clock().now()), (None, f.now()));
    f.advance(5);
    f.store.leave(&name, 4).await.unwrap();
    let left = view().await;
    assert_eq!((left.left_at, left.seen_at, left.running, left.finished), (Some(f.now()), f.now(), 0, 4));
    f.advance(5);
    f.store.heartbeat(&name, vec![], LEASE, 4).await.unwrap();
    assert_eq!(view().await.left_at, None, "whoever gives a sign of life is there");
    f.advance(5);
    f.store.arrive(&name).await.unwrap();
    let again = view().await;
    assert_eq!((again.started_at, again.finished, again.left_at), (f.now(), 0, None), "the figures start anew");
    f.advance(5);
    f.store.delete_workers(f.now()).await.unwrap();
    assert_eq!(f.store.workers().await.unwrap(), []);
}

pub async fn a_hint_comes_at_the_latest_after_the_wait(f: &Fixture) {
    let wait = std::time::Duration::from_millis(20);
    let waited =
        tokio::time::timeout(std::time::Duration::from_secs(30), f.store.changed(f.store.change_mark(), wait)).await;
    assert!(waited.is_ok(), "a worker would sleep for good");
}
