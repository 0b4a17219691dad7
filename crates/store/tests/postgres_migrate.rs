//! A schema that an older program has made, with work in it, is brought forward without losing any.

mod postgres_server;

use bindery_core::{Name, SubmissionId};
use bindery_store::{
    Queue, Records,
    postgres::PostgresStore,
    query::{ClaimRequest, ItemCounts},
};
use postgres_server::Server;
use std::time::Duration;

/// The schema as it was before ready jobs had a table of their own.
const OLDER: [&str; 3] = [
    include_str!("../src/postgres/migrations/0001_initial.sql"),
    include_str!("../src/postgres/migrations/0002_carried.sql"),
    include_str!("../src/postgres/migrations/0003_worker_left.sql"),
];

/// Ready, running under a lease that has ended, running under one that has not, limited, scheduled.
const JOBS: &str = "INSERT INTO job (id, queue, submission_id, item_id, stage, processor, priority, state, attempt, \
    due_at, token, worker, limit_key, limit_running, payload, created_at) VALUES \
    (1, 'q', 1, 1, 's', 'p', 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 'null', 0), \
    (2, 'q', 1, 2, 's', 'p', 0, 2, 1, 1000, 7, 'gone', NULL, NULL, 'null', 0), \
    (3, 'q', 1, 3, 's', 'p', 0, 2, 1, 99999999999999, 8, 'there', NULL, NULL, 'null', 0), \
    (4, 'q', 1, 4, 's', 'p', 5, 0, 0, NULL, NULL, NULL, 'few', 1, 'null', 0), \
    (5, 'q', 1, 5, 's', 'p', 0, 1, 1, 1000, NULL, NULL, NULL, NULL, 'null', 0)";

/// A file with two pages, and three results.
const RESULTS: &str = "INSERT INTO item (submission_id, id, kind, ordinal, data) VALUES \
    (1, 1, 'file', 0, '{}'), (1, 2, 'page', 0, '{}'), (1, 3, 'page', 1, '{}'); \
    INSERT INTO outcome (submission_id, stage, item_id, processor, status, processor_version, attempts, cost_micros, \
    finished_at) VALUES (1, 's', 1, 'p', 1, 1, 1, 0, 5), (1, 's', 2, 'p', 1, 1, 1, 0, 5), (1, 's', 3, 'p', 2, 1, 1, 0, 5)";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_in_an_older_schema_goes_on() {
    let Some(server) = Server::start() else { return };
    let options = server.options();
    let client = server.connect().await;
    let prepare = format!(
        "CREATE SCHEMA {0}; SET search_path = {0}; CREATE TABLE bindery_version (version bigint NOT NULL); \
         INSERT INTO bindery_version VALUES (3)",
        options.schema
    );
    client.batch_execute(&prepare).await.unwrap();
    for migration in OLDER {
        client.batch_execute(migration).await.unwrap();
    }
    client.batch_execute(JOBS).await.unwrap();
    client.batch_execute(RESULTS).await.unwrap();
    client.batch_execute("SELECT setval('claim_token', 8), setval('job_number', 5)").await.unwrap();

    let store = PostgresStore::open(options).await.unwrap();
    let request = || ClaimRequest {
        worker: Name::from("new"),
        queues: None,
        submissions: None,
        max: 10,
        lease: Duration::from_secs(60),
        counts: true,
    };
    let claimed = async || -> Vec<i64> {
        let mut claimed = store.claim(request()).await.unwrap();
        claimed.extend(store.claim_suspects(request()).await.unwrap());
        assert!(claimed.iter().all(|claim| claim.token.0 > 8), "tokens are new");
        claimed.iter().map(|claim| claim.job.id.raw()).collect()
    };
    assert_eq!(claimed().await, [4, 1, 5], "limited, ready and scheduled jobs, by priority");
    assert_eq!(store.sweep().await.unwrap().leases_expired, 1, "the worker that is gone loses its job");
    assert_eq!(claimed().await, [2]);
    assert_eq!(store.sweep().await.unwrap().leases_expired, 0, "the one that is there keeps its own");
    assert!(claimed().await.is_empty());

    let submission = SubmissionId::from_raw(1);
    assert_eq!(store.item_counts(submission).await.unwrap(), ItemCounts { files: 1, pages: 2, documents: 0 });
    let counts = store.stage_counts(submission).await.unwrap();
    let counts = counts.iter().find(|row| row.stage == "s").map(|row| (row.counts.completed, row.counts.failed));
    assert_eq!(counts, Some((2, 1)), "what was there is counted once");
}
