//! Servers that are not what they should be: one clear sentence each. And several processes on one that is.

mod postgres_server;

use bindery_core::{
    EventSeq, JoinId, Name, SubmissionId, Timestamp,
    event::NewEvent,
    job::NewJob,
    join::{JoinChange, JoinStep},
};
use bindery_store::{
    Changes, Commit, Feed, Queue, Records, StoreError,
    postgres::{PostgresOptions, PostgresStore},
    query::{ClaimRequest, EventFilter, JobFilter},
};
use postgres_server::Server;
use std::{net::TcpListener, time::Duration};

fn job() -> NewJob {
    NewJob::new("q.test", SubmissionId::from_raw(1), "stage", "processor")
}

async fn refusal(options: PostgresOptions) -> StoreError {
    let error = PostgresStore::open(options).await.expect_err("it should have been refused");
    assert!(!error.to_string().contains("s3cret"), "the password is shown: {error}");
    error
}

#[tokio::test]
async fn every_way_to_be_refused_has_its_sentence() {
    let Some(server) = Server::start() else { return };
    let admin = server.connect().await;
    let roles = "CREATE ROLE ann LOGIN PASSWORD 's3cret'; CREATE ROLE readonly LOGIN PASSWORD 's3cret'; \
                 ALTER ROLE readonly SET default_transaction_read_only = on; \
                 GRANT CREATE ON DATABASE postgres TO readonly";
    admin.batch_execute(roles).await.unwrap();
    let place = format!("127.0.0.1:{}", server.port());
    let at = |user: &str, database: &str| PostgresOptions::at(format!("postgres://{user}@{place}/{database}"));

    let error = refusal(at("ann:s3cret-not", "postgres")).await;
    assert!(matches!(error, StoreError::CannotOpen { .. }), "{error:?}");
    assert!(error.to_string().contains("the server refused the password of user ann"), "{error}");
    let error = refusal(at("ann", "postgres")).await;
    assert!(error.to_string().contains("put it into the URL or into PGPASSWORD"), "{error}");
    let error = refusal(at("postgres", "nowhere")).await;
    assert!(error.to_string().contains("there is no database nowhere; make it with `createdb nowhere`"), "{error}");
    let error = refusal(at("ann:s3cret", "postgres")).await;
    assert!(matches!(error, StoreError::NotWritable { .. }), "{error:?}");
    assert!(error.to_string().contains("permission denied"), "{error}");
    let error = refusal(at("readonly:s3cret", "postgres")).await;
    assert!(error.to_string().contains("use the URL of the primary server"), "{error}");

    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = refusal(PostgresOptions::at(format!("postgres://ann:s3cret@{closed}/postgres"))).await;
    assert!(error.to_string().contains("nobody answers there"), "{error}");
    let error = refusal(PostgresOptions::at("postgres://ann:s3cret@host:port/x")).await;
    assert!(error.to_string().contains("expected postgres://user:password@host:port/database"), "{error}");
    let error = refusal(PostgresOptions { schema: "No; DROP".to_owned(), ..server.options() }).await;
    assert!(matches!(error, StoreError::Invalid(_)), "{error:?}");

    let options = server.options();
    drop(PostgresStore::open(options.clone()).await.unwrap());
    let newer = format!("UPDATE {}.bindery_version SET version = 99", options.schema);
    admin.execute(&newer, &[]).await.unwrap();
    let error = refusal(options).await;
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error:?}");
    let theirs = server.options();
    let make = format!("CREATE SCHEMA {0}; CREATE TABLE {0}.theirs (a int)", theirs.schema);
    admin.batch_execute(&make).await.unwrap();
    assert!(matches!(refusal(theirs).await, StoreError::NotOurs { .. }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stores_on_one_schema_share_it() {
    let Some(server) = Server::start() else { return };
    let options = server.options();
    let (one, two) = tokio::join!(PostgresStore::open(options.clone()), PostgresStore::open(options.clone()));
    let (one, two) = (one.expect("both may make the schema"), two.expect("both may make the schema"));
    let work = async |store: &PostgresStore| {
        for _ in 0..50 {
            store.enqueue(vec![job()]).await.unwrap();
        }
    };
    tokio::join!(work(&one), work(&two));
    let mut ids: Vec<_> = one.jobs(JobFilter::default()).await.unwrap().into_iter().map(|view| view.job.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 100, "ids of two processes must not collide");

    let limit = Duration::from_secs(30);
    let noticed = async {
        loop {
            let mark = two.change_mark();
            one.enqueue(vec![job()]).await.unwrap();
            two.changed(mark, limit).await;
            if two.change_mark() != mark {
                return;
            }
        }
    };
    tokio::time::timeout(limit, noticed).await.expect("the other process's work is noticed without being told");

    // All at once, and every job once.
    let claim = async |store: &PostgresStore| {
        let request = ClaimRequest {
            worker: "w".into(),
            queues: None,
            submissions: None,
            max: 7,
            lease: Duration::from_secs(60),
            counts: true,
        };
        let mut taken = Vec::new();
        loop {
            let claims = store.claim(request.clone()).await.unwrap();
            if claims.is_empty() {
                return taken;
            }
            taken.extend(claims.into_iter().map(|claim| claim.job.id));
        }
    };
    let (mut left, right) = tokio::join!(claim(&one), claim(&two));
    left.extend(right);
    let all = left.len();
    left.sort_unstable();
    left.dedup();
    assert_eq!((left.len(), all >= 101), (all, true), "a job was given out twice, or not at all");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_connection_is_made_again_and_time_is_the_servers() {
    let Some(server) = Server::start() else { return };
    let store = PostgresStore::open(server.options()).await.unwrap();
    store.enqueue(vec![job()]).await.unwrap();
    let admin = server.connect().await;
    for _ in 0..5 {
        let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                    WHERE pid <> pg_backend_pid() AND application_name = 'bindery'";
        admin.execute(kill, &[]).await.unwrap();
        store.enqueue(vec![job()]).await.expect("an idle connection that broke is replaced");
    }
    let jobs = store.jobs(JobFilter::default()).await.unwrap();
    assert_eq!(jobs.len(), 6, "none is lost, none is stored twice");
    let sql = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    let now = Timestamp::from_millis(admin.query_one(sql, &[]).await.unwrap().get(0));
    assert!(jobs.iter().all(|view| view.job.created_at <= now && now.since(view.job.created_at).as_secs() < 600));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wish_that_fails_takes_nothing_with_it() {
    let Some(server) = Server::start() else { return };
    let store = PostgresStore::open(server.options()).await.unwrap();
    let good = |kind: &str| {
        let events = vec![NewEvent::new(kind, None, "{}".to_owned())];
        Commit::always(Changes { events, ..Changes::default() })
    };
    // A step of a join that does not exist.
    let mut bad = good("Half");
    bad.changes.join_steps.push(JoinStep { join: JoinId::from_raw(404), change: JoinChange::Expect(1) });
    for _ in 0..10 {
        let (first, failed, last) = tokio::join!(
            store.commit(vec![good("Good")]),
            store.commit(vec![bad.clone()]),
            store.commit(vec![good("Good")])
        );
        assert!(first.unwrap()[0].is_applied() && last.unwrap()[0].is_applied());
        assert_eq!(failed.unwrap_err().to_string(), "there is no join_404");
    }
    let read = store.read_events(EventSeq::START, EventFilter::default(), 100).await.unwrap();
    let kinds: Vec<Name> = read.into_iter().map(|event| event.kind).collect();
    assert_eq!(kinds, vec![Name::from("Good"); 20]);
}

#[tokio::test]
async fn connections_are_encrypted_and_servers_prove_who_they_are() {
    let Some(server) = Server::start() else { return };
    let Some(authority) = server.turn_tls_on().await else { return };
    let url = |mode: &str| format!("{}?sslmode={mode}", server.url());
    let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                     WHERE application_name = 'bindery'";
    let admin = server.connect().await;
    for (mode, authorities, expected) in
        [("prefer", None, true), ("require", Some(authority), true), ("disable", None, false)]
    {
        let options = PostgresOptions { url: url(mode), authorities, ..server.options() };
        let store = PostgresStore::open(options).await.unwrap_or_else(|error| panic!("{mode}: {error}"));
        store.enqueue(vec![job()]).await.unwrap();
        let found: bool = admin.query_one(encrypted, &[]).await.unwrap().get(0);
        assert_eq!(found, expected, "{mode}");
        drop(store);
        // Its connections end by themselves, a moment later.
        let gone = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'bindery'";
        admin.execute(gone, &[]).await.unwrap();
    }
    let error = refusal(PostgresOptions { url: url("require"), ..server.options() }).await;
    assert!(error.to_string().contains("no TLS connection"), "nobody has signed its certificate: {error}");
}
