//! All rows out of one snapshot, and all rows in by one transaction. The server itself makes JSON of rows and rows of
//! JSON.

use super::{
    backend::PostgresStore,
    fail::{TxError, TxResult},
    migrate::KEEP_POSITIONS_GROWING,
    rows::get,
    session::{Ended, Kind as Purpose, Tx, transaction},
};
use crate::{
    error::{StoreError, StoreResult},
    portable::{CHUNK_ROWS, Chunk, Load, Portable, Row, ended_early, not_empty, tables::COUNTER, unknown_domain},
    rows::{self, ColumnType, Table},
};
use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender};

/// The numbers that a sequence hands out, with the sequence of each.
const SEQUENCES: [(&str, &str); 5] = [
    ("job", "job_number"),
    ("token", "claim_token"),
    ("review", "review_id_seq"),
    ("execution", "execution_number"),
    ("letter", "letter_number"),
];

/// How the server writes bytes.
const BYTES: &str = "\\x";

#[async_trait]
impl Portable for PostgresStore {
    fn tables(&self) -> Vec<&'static Table> {
        rows::tables(self.db.setup.domains)
    }

    async fn dump(&self, to: Sender<Chunk>) -> StoreResult<()> {
        let (sent, tables) = (&mut false, self.tables());
        let domains: Vec<&str> = self.db.setup.domains.iter().map(|domain| domain.schema().name).collect();
        transaction!(self.db, Read, tx => {
            if std::mem::replace(sent, true) {
                // Half of it is with the caller already.
                Err(StoreError::Database("the connection was lost during the export; begin anew".to_owned()).into())
            } else {
                dump(&tx, &domains, &tables, &to).await
            }
        })
    }

    async fn load(&self, mut from: Receiver<Load>) -> StoreResult<u64> {
        let tx = self.db.begin(Purpose::Write).await?;
        let loaded = load(&tx, &self.tables(), &mut from).await;
        // What was taken from the caller cannot be taken again, so this is not run again.
        let mut tries = u32::MAX / 2;
        match self.db.end(tx, loaded, &mut tries).await {
            Ended::With(result) => result,
            Ended::Again => Err(StoreError::Database("the import was disturbed by others; begin anew".to_owned())),
        }
    }
}

/// Between two rows, blobs may be copied for hours: the server shall not take that for a process that hangs.
const TAKES_TIME: &str = "SET LOCAL idle_in_transaction_session_timeout = 0";

async fn dump(tx: &Tx, domains: &[&str], tables: &[&'static Table], to: &Sender<Chunk>) -> TxResult<()> {
    tx.execute(TAKES_TIME, &[]).await?;
    let unknown = "SELECT domain FROM domain_version WHERE domain <> ALL($1) ORDER BY domain";
    if let Some(row) = tx.first(unknown, &[&domains]).await? {
        return Err(unknown_domain(&get::<String>(&row, 0)?).into());
    }
    for table in tables {
        if table.name == COUNTER {
            let _ = to.send(Chunk { table, rows: counters(tx).await? }).await;
            continue;
        }
        let (name, columns) = (table.name, table.column_list());
        let declare = format!(
            "DECLARE dump_{name} NO SCROLL CURSOR FOR SELECT row_to_json(r)::text \
             FROM (SELECT {columns} FROM {name} ORDER BY {}) AS r",
            table.order
        );
        tx.execute(&declare, &[]).await?;
        loop {
            let fetched = tx.query(&format!("FETCH {CHUNK_ROWS} FROM dump_{name}"), &[]).await?;
            if fetched.is_empty() {
                break;
            }
            let rows =
                fetched.iter().map(|row| neutral(table, &get::<String>(row, 0)?)).collect::<TxResult<Vec<Row>>>();
            if to.send(Chunk { table, rows: rows? }).await.is_err() {
                return Ok(());
            }
        }
        tx.execute(&format!("CLOSE dump_{name}"), &[]).await?;
    }
    Ok(())
}

/// What is handed out next. Sequences are outside of the snapshot, which does no harm: they only grow.
async fn counters(tx: &Tx) -> TxResult<Vec<Row>> {
    let mut found: Vec<(String, i64)> =
        tx.collect("SELECT kind, next FROM id_block", &[], |row| Ok((get(row, 0)?, get(row, 1)?))).await?;
    for (kind, sequence) in SEQUENCES {
        let sql = format!("SELECT last_value + CASE WHEN is_called THEN 1 ELSE 0 END FROM {sequence}");
        if let Some(row) = tx.first(&sql, &[]).await? {
            found.push((kind.to_owned(), get(&row, 0)?));
        }
    }
    found.sort();
    let row = |(kind, next): (String, i64)| {
        Row::from_iter([("kind".to_owned(), kind.into()), ("next".to_owned(), next.into())])
    };
    Ok(found.into_iter().map(row).collect())
}

fn neutral(table: &Table, text: &str) -> TxResult<Row> {
    let mut row: Row = serde_json::from_str(text).map_err(|error| no_row(&error))?;
    for (name, _) in table.columns.iter().filter(|(_, kind)| *kind == ColumnType::Bytes) {
        if let Some(Value::String(bytes)) = row.get_mut(*name) {
            *bytes = bytes.trim_start_matches(BYTES).to_owned();
        }
    }
    Ok(row)
}

fn no_row(error: &dyn std::fmt::Display) -> TxError {
    TxError::Store(StoreError::Database(format!("a row is not what it should be: {error}")))
}

async fn load(tx: &Tx, tables: &[&'static Table], from: &mut Receiver<Load>) -> TxResult<u64> {
    tx.execute(TAKES_TIME, &[]).await?;
    // Nobody begins to use the store in between.
    tx.execute("LOCK TABLE submission, event IN SHARE ROW EXCLUSIVE MODE", &[]).await?;
    for table in tables.iter().filter(|table| table.name != COUNTER) {
        if !table.is_work {
            tx.execute(&format!("DELETE FROM {}", table.name), &[]).await?;
        } else if tx.first(&format!("SELECT 1 FROM {} LIMIT 1", table.name), &[]).await?.is_some() {
            return Err(not_empty(table.name).into());
        }
    }
    let mut number = 0;
    loop {
        match from.recv().await {
            Some(Load::Rows(chunk)) => {
                number += chunk.rows.len() as u64;
                insert(tx, chunk).await?;
            }
            Some(Load::Commit) => break,
            None => return Err(ended_early().into()),
        }
    }
    // Positions are counted by transactions of this server: they go on behind the last imported event.
    tx.execute(KEEP_POSITIONS_GROWING, &[]).await?;
    Ok(number)
}

async fn insert(tx: &Tx, mut chunk: Chunk) -> TxResult<()> {
    let table = chunk.table;
    if table.name == COUNTER {
        for row in &chunk.rows {
            count_on(tx, row).await?;
        }
        return Ok(());
    }
    for row in &mut chunk.rows {
        for (name, _) in table.columns.iter().filter(|(_, kind)| *kind == ColumnType::Bytes) {
            if let Some(Value::String(bytes)) = row.get_mut(*name) {
                bytes.insert_str(0, BYTES);
            }
        }
    }
    let (name, columns) = (table.name, table.column_list());
    let sql = format!(
        "INSERT INTO {name} ({columns}) OVERRIDING SYSTEM VALUE \
         SELECT {columns} FROM json_populate_recordset(NULL::{name}, $1::text::json)"
    );
    let rows = serde_json::to_string(&chunk.rows).map_err(|error| no_row(&error))?;
    tx.execute(&sql, &[&rows]).await.map(drop)
}

/// Numbers go on above those of the other store, and above our own.
async fn count_on(tx: &Tx, row: &Row) -> TxResult<()> {
    let (Some(kind), Some(next)) = (row["kind"].as_str(), row["next"].as_i64()) else { return Err(no_row(&"counter")) };
    if let Some((_, sequence)) = SEQUENCES.iter().find(|(known, _)| *known == kind) {
        let sql = format!(
            "SELECT setval('{sequence}', greatest($1::bigint, \
             (SELECT last_value + CASE WHEN is_called THEN 1 ELSE 0 END FROM {sequence})), false)"
        );
        return tx.query(&sql, &[&next]).await.map(drop);
    }
    let sql = "INSERT INTO id_block (kind, next) VALUES ($1, $2) \
               ON CONFLICT (kind) DO UPDATE SET next = greatest(id_block.next, excluded.next)";
    tx.execute(sql, &[&kind, &next]).await.map(drop)
}
