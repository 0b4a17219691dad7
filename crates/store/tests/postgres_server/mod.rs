//! A private PostgreSQL server, and stores on it.

#![allow(dead_code, reason = "each test file uses a part of it")]

use bindery_conformance::{Fixture, rows::DOMAINS};
use bindery_core::{Clock, time::ManualClock};
use bindery_store::postgres::{PostgresOptions, PostgresStore};
use bindery_testkit::PostgresServer;
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    server: PostgresServer,
    schemas: AtomicU32,
}

impl Server {
    /// None, with a line that says so, where PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        Some(Self { server: PostgresServer::start()?, schemas: AtomicU32::new(0) })
    }

    pub(crate) fn port(&self) -> u16 {
        self.server.port()
    }

    pub(crate) fn url(&self) -> String {
        self.server.url()
    }

    pub(crate) fn become_replica(&mut self) {
        self.server.become_replica();
    }

    /// The server may use it as its own.
    pub(crate) fn give_file(&self, path: &Path) {
        self.server.give_file(path);
    }

    /// Makes an authority and a certificate signed by it, and turns TLS on. The authority's file; none where openssl is
    /// missing.
    pub(crate) async fn turn_tls_on(&self) -> Option<PathBuf> {
        let data = self.server.data();
        let make = "openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=authority -days 2 && \
            openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=server && \
            printf 'subjectAltName=IP:127.0.0.1\\n' > server.ext && \
            openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile server.ext \
            -out server.crt && chmod 600 server.key";
        let made = Command::new("sh").args(["-c", make]).current_dir(&data).stderr(Stdio::null()).status();
        if !made.is_ok_and(|status| status.success()) {
            bindery_testkit::missing("openssl cannot make certificates");
            return None;
        }
        self.server.give_file(&data.join("server.key"));
        let admin = self.connect().await;
        admin.batch_execute("ALTER SYSTEM SET ssl = on").await.expect("the setting is taken");
        admin.batch_execute("SELECT pg_reload_conf()").await.expect("the settings are read again");
        let begun = Instant::now();
        loop {
            // New connections have the settings that are in force.
            let row = self.connect().await.query_one("SHOW ssl", &[]).await.expect("a setting");
            if row.get::<_, &str>(0) == "on" {
                return Some(data.join("ca.crt"));
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "TLS is not turned on");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// A connection past the store, to look and to disturb.
    pub(crate) async fn connect(&self) -> tokio_postgres::Client {
        let (client, connection) =
            tokio_postgres::connect(&self.url(), tokio_postgres::NoTls).await.expect("a connection");
        tokio::spawn(async move {
            let _ = connection.await;
        });
        client
    }

    /// Options for a schema that nobody has used.
    pub(crate) fn options(&self) -> PostgresOptions {
        let schema = format!("test_{}", self.schemas.fetch_add(1, Ordering::Relaxed));
        PostgresOptions { schema, connections: 4, ..PostgresOptions::at(self.url()) }
    }

    /// An empty store with a clock that stands still.
    pub(crate) async fn fixture(&self) -> Fixture {
        let clock = Arc::new(ManualClock::default());
        let clock_of_store = Some(Arc::clone(&clock) as Arc<dyn Clock>);
        let options = PostgresOptions { clock: clock_of_store, domains: DOMAINS, ..self.options() };
        let store = PostgresStore::open(options).await.expect("a new schema opens");
        Fixture::new(Arc::new(store), clock)
    }
}
