//! Claims that write nothing to their jobs: what a crash of the server may take away of them, and blocks of ready jobs.

mod postgres_server;

use bindery_core::{
    JobId, Name, SubmissionId,
    job::{ClaimedJob, JobState, NewJob},
};
use bindery_store::{
    Changes, Commit, CommitResult, Control, Guard, JobEnd, Queue, Records, Rejection,
    commit::Enqueued,
    postgres::PostgresStore,
    query::{ClaimRequest, JobFilter},
};
use postgres_server::Server;
use std::time::Duration;

async fn enqueue(store: &PostgresStore, count: usize) -> Vec<JobId> {
    let job = || NewJob::new("q.test", SubmissionId::from_raw(1), "stage", "processor");
    let stored = store.enqueue((0..count).map(|_| job()).collect()).await.expect("jobs are stored");
    stored.into_iter().map(|stored| if let Enqueued::New(id) = stored { id } else { panic!("{stored:?}") }).collect()
}

async fn claim(store: &PostgresStore, worker: &str, max: usize) -> Vec<ClaimedJob> {
    let request = ClaimRequest {
        worker: Name::from(worker),
        queues: None,
        submissions: None,
        max,
        lease: Duration::from_secs(30),
        counts: true,
    };
    store.claim(request).await.expect("a claim")
}

fn ids(claimed: &[ClaimedJob]) -> Vec<JobId> {
    claimed.iter().map(|claim| claim.job.id).collect()
}

async fn finish(store: &PostgresStore, claim: &ClaimedJob) -> CommitResult {
    let guard = Guard::Claim { job: claim.job.id, token: claim.token, end: JobEnd::Done };
    store.commit(vec![Commit { guard, changes: Changes::default() }]).await.expect("an answer").remove(0)
}

/// A claim waits for no disk. What a power cut leaves of it is what was there before: the job among the ready ones, no row
/// of the claim, and the sequence where it stood.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_the_server_has_forgotten_holds_no_more_and_its_token_never_comes_again() {
    let Some(server) = Server::start() else { return };
    let options = server.options();
    let admin = server.connect().await;
    admin.batch_execute(&format!("SET search_path = {}", options.schema)).await.unwrap();
    let store = PostgresStore::open(options.clone()).await.unwrap();
    enqueue(&store, 1).await;
    admin.batch_execute("CREATE TABLE ready_before AS TABLE ready").await.unwrap();
    let before: i64 = admin.query_one("SELECT last_value FROM claim_token", &[]).await.unwrap().get(0);
    let forgotten = claim(&store, "a", 1).await.remove(0);
    let forget = format!(
        "DELETE FROM claim; INSERT INTO ready SELECT * FROM ready_before; SELECT setval('claim_token', {before}, false)"
    );
    admin.batch_execute(&forget).await.unwrap();

    // A crash ends every connection.
    drop(store);
    let store = PostgresStore::open(options).await.unwrap();
    assert_eq!(
        finish(&store, &forgotten).await,
        CommitResult::Rejected(Rejection::LeaseLost),
        "no claim of it is stored"
    );
    let newer = claim(&store, "b", 1).await.remove(0);
    assert_eq!(newer.job.id, forgotten.job.id);
    assert_ne!(newer.token, forgotten.token, "the sequence gave the same number");
    assert_eq!(finish(&store, &forgotten).await, CommitResult::Rejected(Rejection::LeaseLost));
    assert!(finish(&store, &newer).await.is_applied());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_takes_of_a_block_what_it_needs_and_others_get_the_rest_in_order() {
    let Some(server) = Server::start() else { return };
    let store = PostgresStore::open(server.options()).await.unwrap();
    let jobs = enqueue(&store, 300).await;
    let first = claim(&store, "a", 3).await;
    assert_eq!(ids(&first), jobs[..3]);
    assert_eq!(ids(&claim(&store, "b", 150).await), jobs[3..153]);
    // What comes back stands where it stood.
    store.release(vec![(first[1].job.id, first[1].token)]).await.unwrap();
    let next = claim(&store, "b", 2).await;
    assert_eq!(ids(&next), [jobs[1], jobs[153]]);
    assert_eq!(finish(&store, &first[1]).await, CommitResult::Rejected(Rejection::LeaseLost), "it was given back");
    assert!(finish(&store, &next[0]).await.is_applied());
    assert!(finish(&store, &first[0]).await.is_applied());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn raising_a_priority_moves_jobs_that_wait_and_leaves_those_in_hand_alone() {
    let Some(server) = Server::start() else { return };
    let store = PostgresStore::open(server.options()).await.unwrap();
    let jobs = enqueue(&store, 100).await;
    let held = claim(&store, "a", 1).await.remove(0);
    let raised = store.raise_priorities(vec![(jobs[0], 5), (jobs[70], 5), (jobs[80], 7)]).await.unwrap();
    assert_eq!(raised, 2, "one is in hand");
    assert_eq!(ids(&claim(&store, "b", 4).await), [jobs[80], jobs[70], jobs[1], jobs[2]]);
    let rest = claim(&store, "b", 200).await;
    assert_eq!(rest.len(), 95, "each stands among the ready ones once");
    assert!(finish(&store, &held).await.is_applied());
    let running = JobFilter { states: vec![JobState::Running], ..JobFilter::default() };
    assert_eq!(store.jobs(running).await.unwrap().len(), 99);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claimers_that_meet_at_one_block_share_it() {
    let Some(server) = Server::start() else { return };
    let store = PostgresStore::open(server.options()).await.unwrap();
    let jobs = enqueue(&store, 100).await;
    let all = (0..20).map(|_| claim(&store, "a", 5));
    let mut claimed: Vec<JobId> = futures_util::future::join_all(all).await.iter().flat_map(|one| ids(one)).collect();
    claimed.extend(ids(&claim(&store, "a", 100).await));
    claimed.sort_unstable();
    assert_eq!(claimed, jobs, "each once, none left");
}
