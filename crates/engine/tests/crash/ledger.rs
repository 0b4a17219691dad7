//! A look into the database past the store, by SQL that both databases understand.

use crate::stores;
use rusqlite::{Connection, OpenFlags};
use std::{fmt::Write as _, path::Path, time::Duration};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls, types::FromSqlOwned};

pub(crate) enum Ledger {
    Sqlite(Connection),
    Postgres(Runtime, Client),
}

impl Ledger {
    pub(crate) fn open(root: &Path) -> Self {
        let Some(url) = stores::postgres() else {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            return Self::Sqlite(Connection::open_with_flags(root.join("bindery.db"), flags).unwrap());
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(&format!("SET search_path = {}", stores::schema(root))).await.unwrap();
            client
        });
        Self::Postgres(runtime, client)
    }

    /// One number; a comparison is 0 or 1.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        match self {
            Self::Sqlite(db) => {
                db.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{error}: {sql}"))
            }
            Self::Postgres(..) => self.value(&format!("SELECT ({})::text::bigint", for_postgres(sql))),
        }
    }

    pub(crate) fn yes(&self, sql: &str) -> bool {
        self.number(&format!("SELECT CASE WHEN ({sql}) THEN 1 ELSE 0 END")) == 1
    }

    /// A name and three numbers in each row.
    pub(crate) fn table(&self, sql: &str) -> Vec<(String, (i64, i64, i64))> {
        match self {
            Self::Sqlite(db) => {
                let mut select = db.prepare(sql).unwrap();
                let rows = select.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?))));
                rows.unwrap().map(Result::unwrap).collect()
            }
            Self::Postgres(runtime, client) => {
                let rows = runtime.block_on(client.query(&for_postgres(sql), &[])).unwrap();
                rows.iter().map(|row| (row.get(0), (row.get(1), row.get(2), row.get(3)))).collect()
            }
        }
    }

    /// Whether the file itself is whole. A server has its own ways to tell.
    pub(crate) fn is_whole(&self) -> bool {
        match self {
            Self::Sqlite(db) => {
                db.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap() == "ok"
            }
            Self::Postgres(..) => true,
        }
    }

    /// Whether no transaction that writes is under way.
    pub(crate) fn nobody_writes(root: &Path) -> bool {
        if stores::postgres().is_some() {
            let held =
                format!("SELECT count(*) FROM pg_locks WHERE relation = to_regclass('{}.job')", stores::schema(root));
            return Self::open(root).number(&held) == 0;
        }
        let db = Connection::open(root.join("bindery.db")).unwrap();
        db.busy_timeout(Duration::from_millis(100)).unwrap();
        db.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_ok()
    }

    fn value<T: FromSqlOwned>(&self, sql: &str) -> T {
        let Self::Postgres(runtime, client) = self else { panic!("only PostgreSQL is asked this way") };
        let row = runtime.block_on(client.query_one(sql, &[])).unwrap_or_else(|error| panic!("{error:?}: {sql}"));
        row.get(0)
    }
}

/// `json_extract(column, '$.field')` in PostgreSQL's words.
fn for_postgres(sql: &str) -> String {
    let mut pieces = sql.split("json_extract(");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (column, rest) = piece.split_once(", '$.").unwrap();
        let (field, rest) = rest.split_once("')").unwrap();
        let _ = write!(text, "({column}::json ->> '{field}'){rest}");
    }
    text
}
