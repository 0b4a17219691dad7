//! All rows out of one snapshot, and all rows in by one transaction.

use super::{
    backend::SqliteStore,
    open::applied,
    progress,
    writer::{Tx, WriteError, WriteResult},
};
use crate::{
    error::{StoreError, StoreResult},
    portable::{
        CHUNK_BYTES, CHUNK_ROWS, Chunk, Load, Portable, Row, ended_early, not_empty,
        tables::{COUNTER, from_hex, to_hex},
        unknown_domain,
    },
    rows::{self, ColumnType, Table},
};
use async_trait::async_trait;
use rusqlite::{
    Connection,
    types::{Value as Stored, ValueRef},
};
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender};

/// What is handed out next: the blocks of ids, and the number of the next review.
const COUNTERS: &str = "SELECT kind, next FROM id_block UNION ALL \
                        SELECT 'review', seq + 1 FROM sqlite_sequence WHERE name = 'review' ORDER BY 1";

#[async_trait]
impl Portable for SqliteStore {
    fn tables(&self) -> Vec<&'static Table> {
        rows::tables(self.options().domains)
    }

    async fn dump(&self, to: Sender<Chunk>) -> StoreResult<()> {
        let domains: Vec<&str> = self.options().domains.iter().map(|domain| domain.schema().name).collect();
        let tables = self.tables();
        let unknown = move |db: &Connection| -> rusqlite::Result<Option<String>> {
            for domain in applied(db)?.into_keys() {
                if !domains.contains(&domain.as_str()) {
                    return Ok(Some(domain));
                }
            }
            tables.iter().try_for_each(|table| dump(db, table, &to)).map(|()| None)
        };
        match self.readers().read(unknown).await? {
            Some(domain) => Err(unknown_domain(&domain)),
            None => Ok(()),
        }
    }

    async fn load(&self, mut from: Receiver<Load>) -> StoreResult<u64> {
        let tables = self.tables();
        self.writer().write(move |tx| load(tx, &tables, &mut from)).await
    }
}

fn dump(db: &Connection, table: &'static Table, to: &Sender<Chunk>) -> rusqlite::Result<()> {
    let sql = match table.name {
        COUNTER => COUNTERS.to_owned(),
        name => format!("SELECT {} FROM {name} ORDER BY {}", table.column_list(), table.order),
    };
    let mut statement = db.prepare(&sql)?;
    let mut found = statement.query([])?;
    let (mut rows, mut bytes) = (Vec::new(), 0);
    while let Some(stored) = found.next()? {
        let mut row = Row::new();
        for (place, (name, kind)) in table.columns.iter().enumerate() {
            let value = stored.get_ref(place)?;
            bytes += value.as_bytes_or_null().ok().flatten().map_or(8, <[u8]>::len);
            row.insert((*name).to_owned(), neutral(value, *kind));
        }
        rows.push(row);
        if rows.len() >= CHUNK_ROWS || bytes >= CHUNK_BYTES {
            bytes = 0;
            if to.blocking_send(Chunk { table, rows: std::mem::take(&mut rows) }).is_err() {
                return Ok(());
            }
        }
    }
    if !rows.is_empty() {
        // Whoever has gone needs no more.
        let _ = to.blocking_send(Chunk { table, rows });
    }
    Ok(())
}

fn neutral(value: ValueRef<'_>, kind: ColumnType) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) if kind == ColumnType::Truth => (number != 0).into(),
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
        ValueRef::Blob(bytes) => to_hex(bytes).into(),
    }
}

fn load(tx: &mut Tx<'_>, tables: &[&'static Table], from: &mut Receiver<Load>) -> WriteResult<u64> {
    for table in tables.iter().filter(|table| table.name != COUNTER) {
        if table.is_work {
            let any: bool =
                tx.db.query_row(&format!("SELECT EXISTS (SELECT 1 FROM {})", table.name), [], |row| row.get(0))?;
            if any {
                return Err(not_empty(table.name).into());
            }
        } else {
            tx.db.execute(&format!("DELETE FROM {}", table.name), [])?;
        }
    }
    let mut number = 0;
    loop {
        match from.blocking_recv() {
            Some(Load::Rows(chunk)) => {
                insert(tx, &chunk)?;
                number += chunk.rows.len() as u64;
            }
            Some(Load::Commit) => {
                progress::recount(tx)?;
                return Ok(number);
            }
            None => return Err(ended_early().into()),
        }
    }
}

fn insert(tx: &Tx<'_>, chunk: &Chunk) -> WriteResult<()> {
    let table = chunk.table;
    if table.name == COUNTER {
        return chunk.rows.iter().try_for_each(|row| count_on(tx, row));
    }
    let places: Vec<String> = (1..=table.columns.len()).map(|place| format!("?{place}")).collect();
    let sql = format!("INSERT INTO {} ({}) VALUES ({})", table.name, table.column_list(), places.join(", "));
    let mut insert = tx.db.prepare_cached(&sql)?;
    for row in &chunk.rows {
        let values = table.columns.iter().map(|(name, kind)| stored(row.get(*name), *kind));
        insert.execute(rusqlite::params_from_iter(values.collect::<Result<Vec<_>, _>>()?))?;
    }
    Ok(())
}

/// Numbers go on above those of the other store, and above our own.
fn count_on(tx: &Tx<'_>, row: &Row) -> WriteResult<()> {
    let (Some(kind), Some(next)) = (row["kind"].as_str(), row["next"].as_i64()) else { return Err(no_row()) };
    if kind == "review" {
        tx.db.execute("DELETE FROM sqlite_sequence WHERE name = 'review' AND seq < ?1", [next - 1])?;
        let sql = "INSERT INTO sqlite_sequence (name, seq) SELECT 'review', ?1 \
                   WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'review')";
        tx.db.execute(sql, [next - 1])?;
        return Ok(());
    }
    let sql = "INSERT INTO id_block (kind, next) VALUES (?1, ?2) \
               ON CONFLICT (kind) DO UPDATE SET next = max(next, excluded.next)";
    tx.db.execute(sql, (kind, next))?;
    Ok(())
}

fn stored(value: Option<&Value>, kind: ColumnType) -> WriteResult<Stored> {
    Ok(match value {
        None | Some(Value::Null) => Stored::Null,
        Some(Value::Bool(truth)) => Stored::Integer((*truth).into()),
        Some(Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Stored::Integer(number),
            (None, Some(number)) => Stored::Real(number),
            (None, None) => return Err(no_row()),
        },
        Some(Value::String(text)) if kind == ColumnType::Bytes => Stored::Blob(from_hex(text).ok_or_else(no_row)?),
        Some(Value::String(text)) => Stored::Text(text.clone()),
        Some(_) => return Err(no_row()),
    })
}

fn no_row() -> WriteError {
    WriteError::Store(StoreError::Invalid("a row is not what it should be".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        portable::{
            TABLES,
            tables::{COLUMNS_LEFT_BEHIND, LEFT_BEHIND},
        },
        sqlite::Options,
    };

    #[tokio::test]
    async fn no_column_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(Options::at(folder.path().join("db"))).unwrap();
        let sql = "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'";
        let read = |db: &Connection| {
            let mut statement = db.prepare(sql)?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<Vec<(String, String)>>>()
        };
        for (table, column) in store.readers().read(read).await.unwrap() {
            if LEFT_BEHIND.contains(&&*table) || COLUMNS_LEFT_BEHIND.contains(&(&*table, &*column)) {
                continue;
            }
            let carried = TABLES.iter().find(|known| known.name == table);
            let carried = carried.unwrap_or_else(|| panic!("{table} is not carried"));
            assert!(carried.columns.iter().any(|(name, _)| *name == column), "{column} of {table} is not carried");
        }
    }
}
