//! Running work again that had been given up: what was counted is uncounted, what had closed runs once more.

use super::fixture::{Fixture, arrive, ending, error, ids, text};
use bindery_core::{
    ContentHash, JobId, JoinId, SubmissionId,
    error::ErrorClass,
    event::kind,
    item::ItemKind,
    job::{JobState, NewJob},
    join::{Join, JoinChange},
    outcome::{OutcomeStatus, ResumePoint, Step},
    submission::SubmissionStatus,
};
use bindery_store::{
    Changes, CommitResult, JobEnd, Rejection,
    commit::Enqueued,
    query::{JobFilter, JoinFilter, Retried},
};
use std::time::Duration;

fn filter_for(id: JobId) -> JobFilter {
    JobFilter { ids: vec![id], ..JobFilter::default() }
}

async fn generations(f: &Fixture, submission: SubmissionId, stage: &str) -> Vec<Join> {
    let mut joins = f.store.joins(submission, JoinFilter::default()).await.unwrap();
    joins.retain(|join| join.stage == stage);
    joins.sort_by_key(|join| join.generation);
    joins
}

pub async fn a_dead_letter_is_run_again_under_its_id(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(NewJob { payload: text("input"), ..f.job("ocr", submission) }).await;
    let resume = ResumePoint {
        step: Step::Processing,
        input: text("half way"),
        input_hash: ContentHash::of(b"input"),
        processor_version: 2,
    };
    let claim = f.claim_one().await;
    let why = error("Broken", ErrorClass::Bug);
    let outcomes = vec![f.outcome(&claim.job, OutcomeStatus::Failed)];
    let end = JobEnd::Dead { error: why, resume: Some(resume.clone()) };
    f.apply(ending(&claim, end, Changes { outcomes, ..Changes::default() })).await;

    assert_eq!(f.store.retry(filter_for(id)).await.unwrap(), Retried { jobs: 1, reopened: 0 });
    assert_eq!(f.store.retry(filter_for(id)).await.unwrap().jobs, 0, "a second click does nothing");
    assert_eq!(f.count_events(kind::JOB_RETRIED).await, 1);
    assert_eq!(f.store.outcomes(submission, None).await.unwrap(), [], "its failure does not stand any more");
    let again = f.claim_one().await;
    assert_eq!((again.job.id, again.job.attempt), (id, 1), "it has all its attempts again");
    assert_eq!((again.job.resume, again.job.payload), (Some(resume), text("input")), "and begins where it failed");
}

pub async fn parked_and_scheduled_jobs_are_run_now(f: &Fixture) {
    let submission = f.submission().await;
    let parked = f.enqueue(f.job("ocr", submission)).await;
    let end =
        JobEnd::Park { until: "key".to_owned(), after: None, error: error("NoKey", ErrorClass::Park), resume: None };
    f.end(&f.claim_one().await, end).await;
    let retried = f.enqueue(f.job("ocr", submission)).await;
    let end =
        JobEnd::Retry { after: Duration::from_secs(600), error: error("Timeout", ErrorClass::Retry), resume: None };
    f.end(&f.claim_one().await, end).await;
    let later = f.enqueue(NewJob { not_before: Some(f.after(600)), ..f.job("ocr", submission) }).await;
    let running = f.enqueue(f.job("ocr", submission)).await;
    let held = f.claim_one().await;
    assert_eq!(held.job.id, running);

    let filter = JobFilter { submission: Some(submission), ..JobFilter::default() };
    assert_eq!(f.store.retry(filter).await.unwrap(), Retried { jobs: 3, reopened: 0 });
    let claims = f.claim(10).await;
    assert_eq!(ids(&claims), [parked, retried, later]);
    assert!(claims.iter().all(|claim| claim.job.attempt == 1), "attempts start anew");
    f.done(&held).await;
}

pub async fn a_retry_touches_only_what_is_meant(f: &Fixture) {
    let (one, two) = (f.submission().await, f.submission().await);
    let mut dead = Vec::new();
    for (queue, submission) in [("ocr", one), ("mail", one), ("ocr", two), ("ocr", one)] {
        dead.push(f.enqueue(f.job(queue, submission)).await);
        f.fail(&f.claim_one().await).await;
    }
    let filter = JobFilter { submission: Some(one), queue: Some("ocr".into()), ..JobFilter::default() };
    assert_eq!(f.store.retry(filter.clone()).await.unwrap().jobs, 2);
    assert_eq!(ids(&f.claim(10).await), [dead[0], dead[3]]);
    assert_eq!(f.store.retry(filter).await.unwrap().jobs, 0, "running jobs are left alone");
    assert_eq!(f.stored(dead[1]).await.state, JobState::Dead);
    assert_eq!(f.stored(dead[2]).await.state, JobState::Dead);
}

pub async fn retry_never_makes_two_live_jobs_of_one_key(f: &Fixture) {
    let submission = f.submission().await;
    let keyed =
        |payload| NewJob { dedup_key: Some("page 1".to_owned()), payload: text(payload), ..f.job("ocr", submission) };
    let dead = f.enqueue(keyed("old")).await;
    f.fail(&f.claim_one().await).await;
    assert!(matches!(f.offer(keyed("new")).await, Enqueued::New(id) if id != dead));
    f.store.retry(filter_for(dead)).await.expect("a key that is in use again is no reason to fail");
    let live: Vec<_> = f.jobs_on("ocr").await.into_iter().filter(|job| job.state.is_live()).collect();
    assert_eq!(live.len(), 1, "two jobs would do the same work at once: {live:#?}");
    assert_eq!(f.claim_one().await.job.payload, text("new"), "the newer work must not give way to the older");
}

pub async fn a_retry_uncounts_the_failure_while_the_join_is_open(f: &Fixture) {
    let submission = f.submission().await;
    let join = f.join(f.new_join(submission, 2, "combine").await).await;
    let id = f.enqueue(NewJob { join: Some(join), ..f.job("ocr", submission) }).await;
    f.fail(&f.claim_one().await).await;
    let before = f.join_now(join).await;
    assert_eq!((before.arrived, before.failed), (1, 1));
    f.store.retry(filter_for(id)).await.unwrap();
    f.store.retry(filter_for(id)).await.unwrap();
    let now = f.join_now(join).await;
    assert_eq!((now.arrived, now.failed, now.expected), (0, 0, 2), "uncounted once");

    f.step(join, JoinChange::Arrive(bindery_core::join::Arrival::Completed)).await;
    assert_eq!(f.join_now(join).await.closed_at, None, "the stage must wait for the repaired part");
    let claim = f.claim_one().await;
    assert_eq!(claim.job.join, Some(join), "it arrives where it always did");
    assert!(f.finish(&claim).await[0].closed);
    let closed = f.join_now(join).await;
    assert_eq!((closed.arrived, closed.failed, closed.generation), (2, 0, 1));
    assert_eq!(f.jobs_on("combine").await.len(), 1);
}

struct Finished {
    submission: SubmissionId,
    dead: Vec<JobId>,
    inner: JoinId,
    outer: JoinId,
}

/// A submission that ran to its end although parts of it are dead: `ocr` parts join in `combine`, that in `deliver`.
async fn finished_with_dead_parts(f: &Fixture, parts: usize, dead_parts: usize) -> Finished {
    let submission = f.submission().await;
    let outer = f.join(f.new_join(submission, 1, "deliver").await).await;
    let mut new = f.new_join(submission, parts as i64, "combine").await;
    new.outer = Some(outer);
    new.on_close.join = Some(outer);
    let inner = f.join(new).await;
    for n in 0..parts {
        let item = f.item(submission, ItemKind::Page).await;
        let part = NewJob {
            join: Some(inner),
            item: Some(item),
            payload: text(&format!("part {n}")),
            ..f.job("ocr", submission)
        };
        f.enqueue(part).await;
    }
    let mut dead = Vec::new();
    for n in 0..parts {
        let claim = f.claim_one().await;
        if n < dead_parts {
            f.fail(&claim).await;
            dead.push(claim.job.id);
        } else {
            f.finish(&claim).await;
        }
    }
    for queue in ["combine", "deliver"] {
        let claim = f.claim_one().await;
        assert_eq!(claim.job.queue, queue);
        f.finish(&claim).await;
    }
    f.set_status(submission, SubmissionStatus::Completed).await;
    f.assert_nothing_to_claim("everything is done").await;
    Finished { submission, dead, inner, outer }
}

pub async fn a_part_repaired_after_the_join_closed_runs_the_stages_once_more(f: &Fixture) {
    let done = finished_with_dead_parts(f, 2, 1).await;
    let (inner, outer) = (f.join_now(done.inner).await, f.join_now(done.outer).await);
    f.advance(10);
    assert_eq!(f.store.retry(filter_for(done.dead[0])).await.unwrap(), Retried { jobs: 1, reopened: 1 });
    let reopened = f.submission_now(done.submission).await;
    assert_eq!((reopened.status, reopened.completed_at), (SubmissionStatus::Processing, None));
    assert_eq!(f.count_events(kind::SUBMISSION_REOPENED).await, 1);

    let part = f.claim_one().await;
    assert_eq!(part.job.id, done.dead[0]);
    f.assert_nothing_to_claim("the stage waits for the repaired part").await;
    f.finish(&part).await;
    for queue in ["combine", "deliver"] {
        let claim = f.claim_one().await;
        assert_eq!(claim.job.queue, queue, "the repaired part must reach the result");
        f.assert_nothing_to_claim("each stage runs once more, not more often").await;
        f.finish(&claim).await;
    }
    f.assert_nothing_to_claim("everything is done again").await;
    assert_eq!(f.join_now(done.inner).await, inner, "a closed join is history and stays as it is");
    assert_eq!(f.join_now(done.outer).await, outer);
    for stage in ["combine", "deliver"] {
        let joins = generations(f, done.submission, stage).await;
        assert_eq!(joins.iter().map(|join| join.generation).collect::<Vec<_>>(), [1, 2], "{stage}");
        let again = &joins[1];
        assert_eq!((again.expected, again.arrived, again.failed), (1, 1, 0), "{stage}: only the repaired part");
        assert!(again.closed_at.is_some());
    }
}

pub async fn parts_repaired_together_run_the_stage_once_more_together(f: &Fixture) {
    let done = finished_with_dead_parts(f, 4, 3).await;
    let all = JobFilter { submission: Some(done.submission), states: vec![JobState::Dead], ..JobFilter::default() };
    assert_eq!(f.store.retry(all).await.unwrap(), Retried { jobs: 3, reopened: 1 });
    let parts = f.claim(10).await;
    assert_eq!(ids(&parts), done.dead);
    for (part, last) in parts.iter().zip([false, false, true]) {
        assert_eq!(f.jobs_on("combine").await, [], "the stage waits for all that are repaired");
        assert_eq!(f.finish(part).await[0].closed, last);
    }
    assert_eq!(f.jobs_on("combine").await.len(), 1, "three repaired pages are one more run, not three");
    assert_eq!(generations(f, done.submission, "combine").await.len(), 2);
    assert_eq!(f.count_events(kind::JOB_RETRIED).await, 3);
    assert_eq!(f.count_events(kind::SUBMISSION_REOPENED).await, 1);
}

pub async fn a_part_that_dies_again_can_be_repaired_again(f: &Fixture) {
    let done = finished_with_dead_parts(f, 2, 1).await;
    f.store.retry(filter_for(done.dead[0])).await.unwrap();
    f.fail(&f.claim_one().await).await;
    for queue in ["combine", "deliver"] {
        let claim = f.claim_one().await;
        assert_eq!(claim.job.queue, queue, "a second failure must not stall the submission");
        f.finish(&claim).await;
    }
    f.store.retry(filter_for(done.dead[0])).await.unwrap();
    for queue in ["ocr", "combine", "deliver"] {
        let claim = f.claim_one().await;
        assert_eq!(claim.job.queue, queue);
        f.finish(&claim).await;
    }
    f.assert_nothing_to_claim("everything is done").await;
    let joins = generations(f, done.submission, "combine").await;
    assert_eq!(joins.iter().map(|join| join.generation).collect::<Vec<_>>(), [1, 2, 3]);
}

pub async fn an_open_outer_join_waits_for_the_repaired_part(f: &Fixture) {
    let submission = f.submission().await;
    let outer = f.join(f.new_join(submission, 2, "deliver").await).await;
    let mut new = f.new_join(submission, 1, "combine").await;
    new.outer = Some(outer);
    new.on_close.join = Some(outer);
    let inner = f.join(new).await;
    let part = f.enqueue(NewJob { join: Some(inner), ..f.job("ocr", submission) }).await;
    f.fail(&f.claim_one().await).await;
    f.finish(&f.claim_one().await).await; // combine, without its part
    f.store.retry(filter_for(part)).await.unwrap();
    f.change(Changes { join_steps: vec![arrive(outer)], ..Changes::default() }).await; // the other file
    assert_eq!(f.join_now(outer).await.closed_at, None, "delivered without the part that is being repaired");
    f.finish(&f.claim_one().await).await;
    let combine = f.claim_one().await;
    assert_eq!((combine.job.queue.as_str(), combine.job.join), ("combine", Some(outer)));
    f.finish(&combine).await;
    assert!(f.join_now(outer).await.closed_at.is_some(), "nothing else is missing");
    assert_eq!(f.jobs_on("deliver").await.len(), 1);
}

pub async fn a_cancelled_submission_can_be_taken_up_again(f: &Fixture) {
    let submission = f.submission().await;
    let join = f.join(f.new_join(submission, 1, "combine").await).await;
    let id = f.enqueue(NewJob { join: Some(join), ..f.job("ocr", submission) }).await;
    let stale = f.claim_one().await;
    f.store.cancel_submission(submission).await.unwrap();
    let filter = JobFilter { submission: Some(submission), ..JobFilter::default() };
    assert_eq!(f.store.retry(filter).await.unwrap(), Retried { jobs: 1, reopened: 1 });
    assert_eq!(f.submission_now(submission).await.status, SubmissionStatus::Processing);
    assert_eq!(f.count_events(kind::SUBMISSION_REOPENED).await, 1);
    let join_now = f.join_now(join).await;
    assert_eq!((join_now.arrived, join_now.failed), (0, 0), "a cancelled job had not arrived");
    let claim = f.claim_one().await;
    assert_eq!((claim.job.id, claim.job.attempt, claim.job.join), (id, 1, Some(join)));
    let fenced = f.commit(ending(&stale, JobEnd::Done, Changes::default())).await;
    assert_eq!(fenced, CommitResult::Rejected(Rejection::LeaseLost), "the claim from before the cancellation is void");
    assert!(f.finish(&claim).await[0].closed);
}

pub async fn a_cancelled_job_can_be_retried(f: &Fixture) {
    let submission = f.submission().await;
    let join = f.join(f.new_join(submission, 2, "combine").await).await;
    let id = f.enqueue(NewJob { join: Some(join), ..f.job("ocr", submission) }).await;
    f.store.cancel_job(id).await.unwrap();
    assert_eq!(f.store.retry(filter_for(id)).await.unwrap().jobs, 1);
    assert_eq!(f.store.outcomes(submission, None).await.unwrap(), []);
    let open = f.join_now(join).await;
    assert_eq!((open.arrived, open.failed), (0, 0));
    assert_eq!(f.claim_one().await.job.id, id);
}
