//! Every table of both backends has somebody who deletes its rows.

mod postgres_server;

use bindery_conformance::rows::DOMAINS;
use bindery_store::{
    retention::OWNERS,
    sqlite::{Options, SqliteStore},
};
use postgres_server::Server;
use std::collections::BTreeSet;

fn owned() -> BTreeSet<String> {
    let of_domains = DOMAINS.iter().flat_map(|domain| domain.schema().owners);
    OWNERS.iter().chain(of_domains).map(|owner| owner.table.to_owned()).collect()
}

#[test]
fn every_table_of_both_schemas_has_an_owner() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bindery.db");
    drop(SqliteStore::open(Options { domains: DOMAINS, ..Options::at(&path) }).unwrap());
    let db = rusqlite::Connection::open(&path).unwrap();
    let mut statement = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let names = statement.query_map([], |row| row.get(0)).unwrap();
    let mut tables: BTreeSet<String> = names.map(Result::unwrap).collect();
    let ownerless: Vec<_> = tables.difference(&owned()).cloned().collect();
    assert!(ownerless.is_empty(), "nobody deletes the rows of {ownerless:?}: say who does in retention/owners.rs");

    let Some(server) = Server::start() else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let in_postgres = runtime.block_on(async {
        let _store = server.fixture().await;
        let sql = "SELECT tablename::text FROM pg_tables WHERE schemaname LIKE 'test%'";
        let rows = server.connect().await.query(sql, &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect::<BTreeSet<String>>()
    });
    let ownerless: Vec<_> = in_postgres.difference(&owned()).cloned().collect();
    assert!(ownerless.is_empty(), "nobody deletes the rows of {ownerless:?}: say who does in retention/owners.rs");
    tables.extend(in_postgres);
    let gone: Vec<_> = owned().difference(&tables).cloned().collect();
    assert!(gone.is_empty(), "retention/owners.rs names tables that neither backend has: {gone:?}");
}
