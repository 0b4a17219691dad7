//! Tables of a domain are added to a schema that is there, without losing anything.

mod postgres_server;

use bindery_conformance::rows::DOMAINS;
use bindery_core::{SubmissionId, job::NewJob};
use bindery_store::{
    Queue, Records, RowStore, StoreError,
    postgres::{PostgresOptions, PostgresStore},
    query::JobFilter,
    rows::Query,
};
use postgres_server::Server;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_domain_adds_its_tables_to_a_store_that_is_there() {
    let Some(server) = Server::start() else { return };
    let options = server.options();
    let store = PostgresStore::open(options.clone()).await.unwrap();
    store.enqueue(vec![NewJob::new("q.test", SubmissionId::from_raw(1), "stage", "processor")]).await.unwrap();
    drop(store);
    let with_domain = PostgresOptions { domains: DOMAINS, ..options.clone() };
    let older = PostgresStore::open_existing(with_domain.clone()).await.unwrap_err();
    assert!(matches!(older, StoreError::Older { found: 0, known: 1, .. }), "{older}");
    for _ in 0..2 {
        let store = PostgresStore::open(with_domain.clone()).await.unwrap();
        assert_eq!(store.jobs(JobFilter::default()).await.unwrap().len(), 1, "rows stay");
        let found = store.query_rows(vec![Query::count(DOMAINS[0].schema().tables[0])]).await.unwrap();
        assert_eq!(found[0][0].count(0).unwrap(), 0);
    }
    assert!(PostgresStore::open_existing(with_domain.clone()).await.unwrap().is_some());
    let newer = format!("UPDATE {}.domain_version SET version = 99", options.schema);
    server.connect().await.execute(&newer, &[]).await.unwrap();
    for refused in
        [PostgresStore::open(with_domain.clone()).await.map(Some), PostgresStore::open_existing(with_domain).await]
    {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, StoreError::Newer { found: 99, known: 1, .. }), "{refused}");
    }
}
