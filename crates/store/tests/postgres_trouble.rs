//! A server in trouble: its disk is full, or it is a replica by now. What was acknowledged is there, what was not is not,
//! and one sentence says what to do.

mod postgres_server;

use bindery_core::{Payload, SubmissionId, job::NewJob};
use bindery_store::{Queue, Records, StoreError, postgres::PostgresStore, query::JobFilter};
use bindery_testkit::SmallDisk;
use postgres_server::Server;
use std::fs;

fn job(bytes: usize) -> NewJob {
    // Noise, which the server cannot squeeze.
    let noise: String =
        (0..bytes).map(|n| char::from(b'a' + (n.wrapping_mul(2_654_435_761) >> 7) as u8 % 26)).collect();
    let payload = Payload::Inline(format!("\"{noise}\""));
    NewJob { payload, ..NewJob::new("q.test", SubmissionId::from_raw(1), "stage", "processor") }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_of_the_server_refuses_new_work_and_loses_none() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(folder.path()).unwrap() else { return };
    let Some(server) = Server::start() else { return };
    let (tables, ballast) = (disk.path().join("tables"), disk.path().join("ballast"));
    fs::create_dir(&tables).unwrap();
    server.give_file(&tables);
    server.give_file(disk.path());
    fs::write(&ballast, vec![0; 6 << 20]).unwrap();
    let admin = server.connect().await;
    admin.batch_execute(&format!("CREATE TABLESPACE small LOCATION '{}'", tables.display())).await.unwrap();
    admin.batch_execute("ALTER ROLE postgres SET default_tablespace = small").await.unwrap();

    let store = PostgresStore::open(server.options()).await.unwrap();
    let count = async || store.jobs(JobFilter::default()).await.unwrap().len();
    let mut acknowledged = 0;
    let refused = loop {
        match store.enqueue(vec![job(256 << 10)]).await {
            Ok(_) => acknowledged += 1,
            Err(error) => break error,
        }
        assert!(acknowledged < 1000, "the disk does not fill");
    };
    assert!(matches!(refused, StoreError::Full { .. }), "{refused:?}");
    assert!(refused.to_string().contains("no space left"), "{refused}");
    assert_eq!(count().await, acknowledged, "what was acknowledged is there, and nothing else");

    fs::remove_file(ballast).unwrap();
    store.enqueue(vec![job(256 << 10)]).await.expect("there is room again");
    assert_eq!(count().await, acknowledged + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_is_told_from_its_primary() {
    let Some(mut server) = Server::start() else { return };
    let options = server.options();
    let store = PostgresStore::open(options.clone()).await.unwrap();
    store.enqueue(vec![job(10)]).await.unwrap();
    server.become_replica();

    // One that was open when the server changed its mind, and one that comes now.
    let refused = store.enqueue(vec![job(10)]).await.unwrap_err();
    assert!(refused.to_string().contains("use the URL of the primary server"), "{refused}");
    let refused = PostgresStore::open(options).await.unwrap_err();
    assert!(matches!(refused, StoreError::NotWritable { .. }), "{refused:?}");
    assert!(refused.to_string().contains("use the URL of the primary server"), "{refused}");
}
