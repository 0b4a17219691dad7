//! Joins: a stage closes exactly once, when everything it expects has arrived.

use super::fixture::{Fixture, arrive, arrive_failed, ending, progress_of};
use bindery_core::{
    JoinId, Payload,
    job::NewJob,
    join::{
        Arrival::{Completed, Failed},
        JoinChange::{Arrive, Declare, Expect},
        JoinStep, NewJoin,
    },
};
use bindery_store::{Changes, Commit, JobEnd, JoinProgress};
use std::sync::Arc;

/// Arrived, failed and expected, and whether it is closed.
async fn numbers(f: &Fixture, id: JoinId) -> (i64, i64, i64, bool) {
    let join = f.join_now(id).await;
    (join.arrived, join.failed, join.expected, join.closed_at.is_some())
}

/// How many jobs the closing of joins has made on a queue.
async fn count_jobs(f: &Fixture, queue: &str) -> usize {
    f.jobs_on(queue).await.len()
}

pub async fn a_join_closes_once_when_all_have_arrived(f: &Fixture) {
    let submission = f.submission().await;
    let join = f.join(f.new_join(submission, 3, "combine").await).await;
    let expected = |received, closed| JoinProgress { join, received, expected: 3, closed };
    assert_eq!(f.step(join, Arrive(Completed)).await, expected(1, false));
    assert_eq!(f.step(join, Arrive(Completed)).await, expected(2, false));
    assert_eq!(count_jobs(f, "combine").await, 0, "the stage went on without its last part");
    f.advance(5);
    assert_eq!(f.step(join, Arrive(Completed)).await, expected(3, true));
    assert_eq!(numbers(f, join).await, (3, 0, 3, true));
    assert_eq!(f.join_now(join).await.closed_at, Some(f.now()));
    assert_eq!(count_jobs(f, "combine").await, 1, "closing goes on with exactly one job");
}

pub async fn the_closing_job_is_the_one_that_was_asked_for(f: &Fixture) {
    let submission = f.submission().await;
    let outer = f.join(f.new_join(submission, 1, "deliver").await).await;
    let mut new = f.new_join(submission, 1, "combine").await;
    new.on_close.payload = Payload::Inline("{\"file\":7}".to_owned());
    new.on_close.priority = 11;
    new.on_close.join = Some(outer);
    new.outer = Some(outer);
    let asked_for = new.on_close.clone();
    let join = f.join(new).await;
    f.step(join, Arrive(Completed)).await;
    let job = f.claim_one().await.job;
    assert_eq!((job.queue, job.stage, job.processor), (asked_for.queue, asked_for.stage, asked_for.processor));
    assert_eq!((job.submission, job.payload, job.priority), (submission, asked_for.payload, 11));
    assert_eq!(job.join, Some(outer));
}

pub async fn failed_arrivals_count_too(f: &Fixture) {
    let submission = f.submission().await;
    let join = f.join(f.new_join(submission, 3, "combine").await).await;
    f.step(join, Arrive(Failed)).await;
    f.step(join, Arrive(Completed)).await;
    assert_eq!(numbers(f, join).await, (2, 1, 3, false));
    let last = f.step(join, Arrive(Failed)).await;
    assert_eq!(last, JoinProgress { join, received: 3, expected: 3, closed: true }, "a failed part stalls the whole");
    assert_eq!(numbers(f, join).await, (3, 2, 3, true));
    assert_eq!(f.join_now(join).await.completed(), 1);
}

pub async fn a_chain_taken_apart_makes_the_join_wait_for_its_parts(f: &Fixture) {
    let submission = f.submission().await;
    let join = f.join(f.new_join(submission, 1, "combine").await).await;
    f.enqueue(NewJob { join: Some(join), ..f.job("split", submission) }).await;
    let split = f.claim_one().await;
    let changes = Changes {
        jobs: (0..3).map(|_| NewJob { join: Some(join), ..f.job("ocr", submission) }).collect(),
        join_steps: vec![JoinStep { join, change: Expect(2) }],
        ..Changes::default()
    };
    let progress = f.apply(ending(&split, JobEnd::Done, changes)).await;
    assert_eq!(progress_of(&progress, join), JoinProgress { join, received: 0, expected: 3, closed: false });
    let pages = f.claim(5).await;
    assert_eq!(pages.len(), 3);
    for (page, closed) in pages.iter().zip([false, false, true]) {
        assert_eq!(progress_of(&f.finish(page).await, join).closed, closed);
    }
    assert_eq!(count_jobs(f, "combine").await, 1);
}

pub async fn a_chain_without_children_closes_its_join(f: &Fixture) {
    let submission = f.submission().await;
    let join = f.join(f.new_join(submission, 1, "combine").await).await;
    let progress = f.step(join, Expect(-1)).await;
    assert_eq!(progress, JoinProgress { join, received: 0, expected: 0, closed: true }, "an empty file hangs forever");
    assert_eq!(numbers(f, join).await, (0, 0, 0, true));
    assert_eq!(count_jobs(f, "combine").await, 1);
}

pub async fn a_childless_chain_may_be_the_last_one(f: &Fixture) {
    let submission = f.submission().await;
    let join = f.join(f.new_join(submission, 2, "combine").await).await;
    assert!(!f.step(join, Arrive(Completed)).await.closed);
    assert!(f.step(join, Expect(-1)).await.closed);
    assert_eq!(numbers(f, join).await, (1, 0, 1, true));
    assert_eq!(count_jobs(f, "combine").await, 1);
}

pub async fn a_join_of_nothing_closes_where_it_is_made(f: &Fixture) {
    let submission = f.submission().await;
    let join = f.join(f.new_join(submission, 0, "combine").await).await;
    assert_eq!(numbers(f, join).await, (0, 0, 0, true), "nothing will ever arrive to close it later");
    assert_eq!(count_jobs(f, "combine").await, 1);
}

async fn open_undeclared_join(f: &Fixture) -> JoinId {
    let submission = f.submission().await;
    let new = NewJoin { declared: false, ..f.new_join(submission, 0, "combine").await };
    f.join(new).await
}

pub async fn an_undeclared_join_stays_open(f: &Fixture) {
    let join = open_undeclared_join(f).await;
    assert_eq!(numbers(f, join).await, (0, 0, 0, false));
    assert!(!f.join_now(join).await.declared);
    f.step(join, Arrive(Completed)).await;
    f.step(join, Arrive(Failed)).await;
    let join = f.join_now(join).await;
    assert_eq!((join.arrived, join.failed, join.closed_at), (2, 1, None), "nobody has said how many there are");
}

pub async fn a_declaration_may_come_after_the_arrivals(f: &Fixture) {
    let join = open_undeclared_join(f).await;
    f.step(join, Arrive(Completed)).await;
    f.step(join, Arrive(Failed)).await;
    let progress = f.step(join, Declare(2)).await;
    assert_eq!(progress, JoinProgress { join, received: 2, expected: 2, closed: true });
    assert_eq!(numbers(f, join).await, (2, 1, 2, true), "what arrived before the declaration was lost");
    assert!(f.join_now(join).await.declared);
    assert_eq!(count_jobs(f, "combine").await, 1);
}

pub async fn a_declaration_may_come_between_the_arrivals(f: &Fixture) {
    let join = open_undeclared_join(f).await;
    f.step(join, Arrive(Completed)).await;
    let progress = f.step(join, Declare(2)).await;
    assert_eq!(progress, JoinProgress { join, received: 1, expected: 2, closed: false });
    assert!(f.step(join, Arrive(Completed)).await.closed);
    assert_eq!(count_jobs(f, "combine").await, 1);
}

pub async fn a_declaration_of_zero_closes(f: &Fixture) {
    let join = open_undeclared_join(f).await;
    let progress = f.step(join, Declare(0)).await;
    assert_eq!(progress, JoinProgress { join, received: 0, expected: 0, closed: true });
    assert_eq!(count_jobs(f, "combine").await, 1);
}

pub async fn a_declaration_counts_once(f: &Fixture) {
    let join = open_undeclared_join(f).await;
    f.step(join, Declare(3)).await;
    for again in [3, 1, 9] {
        let progress = f.step(join, Declare(again)).await;
        assert_eq!(progress, JoinProgress { join, received: 0, expected: 3, closed: false });
    }
    assert_eq!(numbers(f, join).await, (0, 0, 3, false), "a second delivery changed the count");
    let submission = f.submission().await;
    let known = f.join(f.new_join(submission, 2, "known").await).await;
    f.step(known, Declare(1)).await;
    assert_eq!(numbers(f, known).await, (0, 0, 2, false), "its count was certain from the start");
}

pub async fn a_declaration_adds_to_what_was_taken_apart_before(f: &Fixture) {
    let join = open_undeclared_join(f).await;
    f.step(join, Expect(2)).await;
    f.step(join, Arrive(Completed)).await;
    let progress = f.step(join, Declare(1)).await;
    let open = JoinProgress { join, received: 1, expected: 3, closed: false };
    assert_eq!(progress, open, "one declared chain had become three: closing now would lose two of them");
    f.step(join, Arrive(Completed)).await;
    assert!(f.step(join, Arrive(Completed)).await.closed);
}

pub async fn a_closed_join_never_closes_again(f: &Fixture) {
    let submission = f.submission().await;
    let join = f.join(f.new_join(submission, 1, "combine").await).await;
    assert!(f.step(join, Arrive(Completed)).await.closed);
    let closed = f.join_now(join).await;
    f.advance(9);
    for change in [Arrive(Completed), Arrive(Failed), Expect(1), Expect(-1), Declare(1), Declare(0), Arrive(Completed)]
    {
        assert!(!f.step(join, change).await.closed, "{change:?} closed it a second time");
    }
    let now = f.join_now(join).await;
    assert_eq!((now.arrived, now.failed, now.expected), (closed.arrived, closed.failed, closed.expected));
    assert_eq!(now.closed_at, closed.closed_at, "a late delivery changes nothing");
    assert_eq!(count_jobs(f, "combine").await, 1, "the stage would run twice");
}

pub async fn nested_joins_close_from_the_inside(f: &Fixture) {
    let submission = f.submission().await;
    let outer = f.join(f.new_join(submission, 2, "deliver").await).await;
    let mut inner = Vec::new();
    for _ in 0..2 {
        let mut new = f.new_join(submission, 2, "combine").await;
        new.outer = Some(outer);
        new.on_close.join = Some(outer);
        inner.push(f.join(new).await);
    }
    for join in [inner[0], inner[1], inner[1], inner[0]] {
        f.step(join, Arrive(Completed)).await;
    }
    assert_eq!(numbers(f, outer).await, (0, 0, 2, false), "a file arrives when its combined text does, not before");
    let combines = f.claim(5).await;
    assert_eq!(combines.len(), 2);
    assert!(!progress_of(&f.finish(&combines[0]).await, outer).closed);
    assert!(progress_of(&f.finish(&combines[1]).await, outer).closed);
    let deliver = f.claim(5).await;
    assert_eq!(deliver.len(), 1);
    assert_eq!(deliver[0].job.queue, "deliver");
}

pub async fn one_commit_may_step_many_joins(f: &Fixture) {
    let submission = f.submission().await;
    let mut joins = Vec::new();
    for expected in [1, 2, 1] {
        joins.push(f.join(f.new_join(submission, expected, "combine").await).await);
    }
    let new = f.new_join(submission, 1, "combine").await;
    let fresh = new.id;
    let steps = vec![arrive(joins[2]), arrive_failed(joins[0]), arrive(fresh), arrive(joins[1])];
    let progress = f.change(Changes { joins: vec![new], join_steps: steps, ..Changes::default() }).await;
    for (join, received, expected, closed) in
        [(joins[0], 1, 1, true), (joins[1], 1, 2, false), (joins[2], 1, 1, true), (fresh, 1, 1, true)]
    {
        assert_eq!(progress_of(&progress, join), JoinProgress { join, received, expected, closed });
    }
    assert_eq!(count_jobs(f, "combine").await, 3);
    assert_eq!(numbers(f, joins[0]).await, (1, 1, 1, true));
}

pub async fn one_batch_may_fill_a_join(f: &Fixture) {
    let submission = f.submission().await;
    let join = f.join(f.new_join(submission, 50, "combine").await).await;
    let commit = || Commit::always(Changes { join_steps: vec![arrive(join)], ..Changes::default() });
    let results = f.store.commit((0..50).map(|_| commit()).collect()).await.unwrap();
    assert!(results.iter().all(bindery_store::CommitResult::is_applied));
    assert_eq!(numbers(f, join).await, (50, 0, 50, true));
    assert_eq!(count_jobs(f, "combine").await, 1);
}

pub async fn arrivals_at_the_same_time_close_once(f: &Fixture) {
    let submission = f.submission().await;
    let join = f.join(f.new_join(submission, 64, "combine").await).await;
    let mut arrivals = Vec::new();
    for _ in 0..64 {
        let store = Arc::clone(&f.store);
        arrivals.push(tokio::spawn(async move {
            let changes = Changes { join_steps: vec![arrive(join)], ..Changes::default() };
            match store.commit(vec![Commit::always(changes)]).await.unwrap().remove(0) {
                bindery_store::CommitResult::Applied { joins } => progress_of(&joins, join),
                bindery_store::CommitResult::Rejected(why) => panic!("nothing was to be checked: {why}"),
            }
        }));
    }
    let mut closed = 0;
    for arrival in arrivals {
        closed += usize::from(arrival.await.unwrap().closed);
    }
    assert_eq!(closed, 1, "exactly one of the commits closes the join");
    assert_eq!(numbers(f, join).await, (64, 0, 64, true), "an arrival was lost or counted twice");
    assert_eq!(count_jobs(f, "combine").await, 1);
}
