//! The store that these tests run on: SQLite in a folder; or, where `BINDERY_TEST_POSTGRES` has the URL of a server
//! (`make test` starts one), a schema of its own for the folder. The same tests, on both.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use bindery_core::{
    Clock,
    fault::{Faults, NoFaults},
};
use bindery_store::{
    Store,
    postgres::{PostgresOptions, PostgresStore},
    rows::Domain,
    sqlite::{Options, SqliteStore},
};
use bindery_testkit::POSTGRES_FOR_TESTS;
use std::{
    cell::RefCell,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::Path,
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};
use tokio::runtime::{Handle, Runtime};

/// Whose tables are in the store besides its own.
pub(crate) type Domains = &'static [&'static dyn Domain];

/// Whose clock the store goes by.
pub(crate) enum Time {
    /// The process's, on SQLite; the server's, on PostgreSQL.
    Own(Arc<dyn Clock>),
    /// One that the test moves, on both.
    Moved(Arc<dyn Clock>),
}

thread_local! {
    /// A server of this test alone, which is a thread.
    static SERVER: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From now on this test is on a server of its own. Its workers are told by their environment.
pub(crate) fn use_server(url: String) {
    SERVER.set(Some(url));
}

/// The server, if the tests are to run on one.
pub(crate) fn postgres() -> Option<String> {
    let own = SERVER.with_borrow(Clone::clone);
    own.or_else(|| std::env::var(POSTGRES_FOR_TESTS).ok().filter(|url| !url.is_empty()))
}

/// The schema of a folder.
pub(crate) fn schema(root: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    root.hash(&mut hasher);
    format!("test_{:016x}", hasher.finish())
}

pub(crate) fn open(root: &Path, time: Time) -> Arc<dyn Store> {
    open_with_domains(root, time, &[])
}

/// With the tables of domains.
pub(crate) fn open_with_domains(root: &Path, time: Time, domains: Domains) -> Arc<dyn Store> {
    open_with(root, time, Arc::new(NoFaults), domains)
}

pub(crate) fn open_with_faults(root: &Path, time: Time, faults: Arc<dyn Faults>) -> Arc<dyn Store> {
    open_with(root, time, faults, &[])
}

fn open_with(root: &Path, time: Time, faults: Arc<dyn Faults>, domains: Domains) -> Arc<dyn Store> {
    let Some(url) = postgres() else {
        let (Time::Own(clock) | Time::Moved(clock)) = time;
        let options = Options { clock, faults, domains, ..Options::at(root.join("bindery.db")) };
        return Arc::new(SqliteStore::open(options).unwrap());
    };
    let clock = match time {
        Time::Own(_) => None,
        Time::Moved(clock) => Some(clock),
    };
    let schema = schema(root);
    let options = PostgresOptions { schema, clock, faults, domains, connections: 4, ..PostgresOptions::at(url) };
    Arc::new(match Handle::try_current() {
        Ok(current) => tokio::task::block_in_place(|| current.block_on(open_patiently(options))),
        Err(_) => BESIDE.block_on(open_patiently(options)),
    })
}

/// The server may just be starting again.
async fn open_patiently(options: PostgresOptions) -> PostgresStore {
    let begun = Instant::now();
    loop {
        match PostgresStore::open(options.clone()).await {
            Ok(store) => return store,
            Err(error) => assert!(begun.elapsed() < Duration::from_secs(30), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Changes the database past the store.
pub(crate) async fn tamper(root: &Path, sql: &str) {
    let Some(url) = postgres() else {
        return rusqlite::Connection::open(root.join("bindery.db")).unwrap().execute_batch(sql).unwrap();
    };
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(&format!("SET search_path = {}; {sql}", schema(root))).await.unwrap();
}

/// The newest event in the database. Readers see it when no older transaction on the server is under way, and other
/// tests have theirs.
pub(crate) async fn newest_event(root: &Path) -> Option<i64> {
    let (client, connection) = tokio_postgres::connect(&postgres()?, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let sql = format!("SELECT coalesce(max(seq), 0) FROM {}.event", schema(root));
    Some(client.query_one(&sql, &[]).await.unwrap().get(0))
}

/// Where a store lives that is opened outside of any runtime.
static BESIDE: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());
