//! The rows of domains on PostgreSQL: all queries in one snapshot, all rows of a table with one statement.

use super::{
    backend::{PostgresStore, check_events},
    commit, dead_letters,
    fail::TxResult,
    repair,
    rows::get,
    session::{Param, Tx, transaction},
};
use crate::{
    commit::Commit,
    error::{StoreError, StoreResult},
    rows::{
        Answers, AnyUnitOfWork, ColumnType, Domain, Query, QueryRow, RowStore, TableRows, Value,
        render::{self, Dialect, Statement},
    },
};
use async_trait::async_trait;
use tokio_postgres::types::{ToSql, Type};

/// Parameters are `$1`, and lists are arrays.
pub(super) struct Postgres;

impl Dialect for Postgres {
    fn parameter(number: usize) -> String {
        format!("${number}")
    }

    fn any_of(column: &str, number: usize) -> String {
        format!("{column} = ANY(${number})")
    }
}

#[async_trait]
impl RowStore for PostgresStore {
    fn domains(&self) -> &'static [&'static dyn Domain] {
        self.db.setup.domains
    }

    async fn query_rows(&self, queries: Vec<Query>) -> StoreResult<Vec<Vec<QueryRow>>> {
        if let [query] = &queries[..] {
            let Statement { sql, params: values } = render::select::<Postgres>(query);
            let params = params(&values);
            return Ok(vec![self.db.ask(&sql, &as_params(&params), row).await?]);
        }
        transaction!(self.db, Read, tx => answers(&tx, &queries).await)
    }

    async fn run_unit_of_work(&self, work: Box<dyn AnyUnitOfWork>) -> StoreResult<()> {
        transaction!(self.db, Write, tx => run(&tx, work.as_ref()).await)
    }
}

/// Whoever names the same key waits until we have committed: what is decided here is still true then.
async fn run(tx: &Tx, work: &dyn AnyUnitOfWork) -> TxResult<()> {
    let mut keys = work.lock_keys();
    keys.sort_unstable();
    keys.dedup();
    for key in &keys {
        tx.execute("SELECT pg_advisory_xact_lock(hashtext('bindery.rows'), hashtext($1))", &[key]).await?;
    }
    let rows = answers(tx, &work.queries()).await?;
    let queue = dead_letters::find(tx, &work.queue_query()).await?;
    let mut answers = Answers { now: tx.now, ids: Vec::new(), queue, rows };
    if let Some((kind, count)) = work.ids(&answers)? {
        let end = tx.first(repair::RESERVE, &[&kind, &count]).await?;
        let end: i64 = end.map(|row| get(&row, 0)).transpose()?.unwrap_or(count);
        answers.ids = (end - count..end).collect();
    }
    let commits = work.commits(&answers)?;
    check_events(&commits)?;
    let results = commit::apply(tx, &commits.iter().collect::<Vec<&Commit>>()).await?;
    let writes = work.writes(&answers, &results)?;
    for query in &writes.deletions {
        let Statement { sql, params: values } = render::delete::<Postgres>(query);
        tx.execute(&sql, &as_params(&params(&values))).await?;
    }
    dead_letters::delete(tx, &writes.dead_letters).await?;
    for rows in writes.tables() {
        store(tx, rows).await?;
    }
    Ok(())
}

async fn answers(tx: &Tx, queries: &[Query]) -> TxResult<Vec<Vec<QueryRow>>> {
    let mut answers = Vec::with_capacity(queries.len());
    for query in queries {
        let Statement { sql, params: values } = render::select::<Postgres>(query);
        answers.push(tx.collect(&sql, &as_params(&params(&values)), row).await?);
    }
    Ok(answers)
}

/// So many rows go in one statement, so that no message becomes too large.
const ROWS_AT_ONCE: usize = 2_000;

async fn store(tx: &Tx, TableRows { table, on_conflict, rows }: &TableRows) -> TxResult<()> {
    let column = |(place, (_, kind)): (usize, &(&str, ColumnType))| match kind {
        ColumnType::Integer => format!("${}::bigint[]", place + 1),
        _ => format!("${}::text[]", place + 1),
    };
    let columns: Vec<String> = table.columns.iter().enumerate().map(column).collect();
    let sql = format!(
        "INSERT INTO {} ({}) SELECT * FROM unnest({}) ON CONFLICT ({}) {}",
        table.name,
        table.column_list(),
        columns.join(", "),
        table.order,
        render::on_conflict(table, *on_conflict)
    );
    let rows: Vec<&Vec<Value>> = rows.values().collect();
    for rows in rows.chunks(ROWS_AT_ONCE) {
        let of = |place: usize| rows.iter().map(move |row| row.get(place));
        let values = table.columns.iter().enumerate().map(|(place, (_, kind))| -> Box<dyn ToSql + Send + Sync> {
            if *kind == ColumnType::Integer {
                let number =
                    |value: Option<&Value>| if let Some(Value::Number(number)) = value { Some(*number) } else { None };
                Box::new(of(place).map(number).collect::<Vec<Option<i64>>>())
            } else {
                let text =
                    |value: Option<&Value>| if let Some(Value::Text(text)) = value { Some(text.clone()) } else { None };
                Box::new(of(place).map(text).collect::<Vec<Option<String>>>())
            }
        });
        let values: Vec<Box<dyn ToSql + Send + Sync>> = values.collect();
        tx.execute(&sql, &as_params(&values)).await?;
    }
    Ok(())
}

fn params(values: &[&Value]) -> Vec<Box<dyn ToSql + Send + Sync>> {
    let param = |value: &&Value| -> Box<dyn ToSql + Send + Sync> {
        match value {
            Value::Null => Box::new(None::<String>),
            Value::Number(number) => Box::new(*number),
            Value::Text(text) => Box::new(text.clone()),
            Value::Texts(texts) => Box::new(texts.clone()),
            Value::Numbers(numbers) => Box::new(numbers.clone()),
        }
    };
    values.iter().map(param).collect()
}

fn as_params(params: &[Box<dyn ToSql + Send + Sync>]) -> Vec<Param<'_>> {
    params.iter().map(|param| param.as_ref() as Param<'_>).collect()
}

fn row(row: &tokio_postgres::Row) -> TxResult<QueryRow> {
    let value = |(place, column): (usize, &tokio_postgres::Column)| match *column.type_() {
        Type::INT8 => Ok(get::<Option<i64>>(row, place)?.map_or(Value::Null, Value::Number)),
        Type::TEXT => Ok(get::<Option<String>>(row, place)?.map_or(Value::Null, Value::Text)),
        ref other => Err(StoreError::Database(format!("column {}: {other} is not read", column.name())).into()),
    };
    Ok(QueryRow(row.columns().iter().enumerate().map(value).collect::<TxResult<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{ColumnType::Text, Table, column};

    static BOOK: Table = Table { name: "book", order: "id", columns: &[("id", Text), ("data", Text)], is_work: true };

    #[test]
    fn a_statement_is_rendered_for_postgresql() {
        let ids = ["a", "b"];
        let query = Query::select(&BOOK, &["data"])
            .filter(column("data").differs_from("x"))
            .filter(column("id").is_any_of(&ids[..]))
            .order(column("id").ascending().nulls_first());
        assert_eq!(
            render::select::<Postgres>(&query).sql,
            "SELECT data FROM book WHERE data <> $1 AND id = ANY($2) ORDER BY id IS NOT NULL, id"
        );
    }
}
