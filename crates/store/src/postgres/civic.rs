//! Civic rows on PostgreSQL: all questions in one snapshot, all rows of a table with one statement.

use super::{
    backend::{PostgresStore, check_events},
    commit,
    fail::TxResult,
    repair,
    rows::get,
    session::{Param, Tx, transaction},
};
use crate::{
    civic::{
        Civic, CivicRecords,
        work::{AnyWork, CivicBackend, Question, Row, Seen, TableRows, Value},
    },
    commit::Commit,
    error::{StoreError, StoreResult},
    portable::tables::Kind,
};
use async_trait::async_trait;
use tokio_postgres::types::{ToSql, Type};

impl Civic for PostgresStore {
    fn civic(&self) -> CivicRecords<'_> {
        CivicRecords::new(self)
    }
}

#[async_trait]
impl CivicBackend for PostgresStore {
    async fn ask(&self, questions: Vec<Question>) -> StoreResult<Vec<Vec<Row>>> {
        if let [question] = &questions[..] {
            let params = params(&question.params);
            return Ok(vec![self.db.ask(&question.sql, &borrowed(&params), row).await?]);
        }
        transaction!(self.db, Read, tx => answers(&tx, &questions).await)
    }

    async fn run(&self, work: Box<dyn AnyWork>) -> StoreResult<()> {
        transaction!(self.db, Write, tx => run(&tx, work.as_ref()).await)
    }
}

/// Whoever changes the same city waits until we have committed: what is decided here is still true then.
async fn run(tx: &Tx, work: &dyn AnyWork) -> TxResult<()> {
    let mut cities = work.cities();
    cities.sort_unstable();
    cities.dedup();
    for city in &cities {
        tx.execute("SELECT pg_advisory_xact_lock(hashtext('bindery.civic'), hashtext($1))", &[city]).await?;
    }
    let mut seen = Seen { now: tx.now, answers: answers(tx, &work.questions()).await?, ids: Vec::new() };
    if let Some((kind, count)) = work.ids(&seen)? {
        let end = tx.first(repair::RESERVE, &[&kind, &count]).await?;
        let end: i64 = end.map(|row| get(&row, 0)).transpose()?.unwrap_or(count);
        seen.ids = (end - count..end).collect();
    }
    let commits = work.commits(&seen)?;
    check_events(&commits)?;
    let results = commit::apply(tx, &commits.iter().collect::<Vec<&Commit>>()).await?;
    let writes = work.writes(&seen, &results)?;
    for statement in &writes.statements {
        tx.execute(&statement.sql, &borrowed(&params(&statement.params))).await?;
    }
    for rows in writes.tables() {
        store(tx, rows).await?;
    }
    Ok(())
}

async fn answers(tx: &Tx, questions: &[Question]) -> TxResult<Vec<Vec<Row>>> {
    let mut answers = Vec::with_capacity(questions.len());
    for question in questions {
        answers.push(tx.collect(&question.sql, &borrowed(&params(&question.params)), row).await?);
    }
    Ok(answers)
}

/// So many rows go in one statement, so that no message becomes too large.
const ROWS_AT_ONCE: usize = 2_000;

async fn store(tx: &Tx, TableRows { table, known, rows }: &TableRows) -> TxResult<()> {
    let column = |(place, (_, kind)): (usize, &(&str, Kind))| match kind {
        Kind::Integer => format!("${}::bigint[]", place + 1),
        _ => format!("${}::text[]", place + 1),
    };
    let columns: Vec<String> = table.columns.iter().enumerate().map(column).collect();
    let sql = format!(
        "INSERT INTO {} ({}) SELECT * FROM unnest({}) ON CONFLICT ({}) {}",
        table.name,
        table.column_list(),
        columns.join(", "),
        table.order,
        known.sql(table)
    );
    let rows: Vec<&Vec<Value>> = rows.values().collect();
    for rows in rows.chunks(ROWS_AT_ONCE) {
        let of = |place: usize| rows.iter().map(move |row| row.get(place));
        let values = table.columns.iter().enumerate().map(|(place, (_, kind))| -> Box<dyn ToSql + Send + Sync> {
            if *kind == Kind::Integer {
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
        tx.execute(&sql, &borrowed(&values)).await?;
    }
    Ok(())
}

fn params(values: &[Value]) -> Vec<Box<dyn ToSql + Send + Sync>> {
    let param = |value: &Value| -> Box<dyn ToSql + Send + Sync> {
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

fn borrowed(params: &[Box<dyn ToSql + Send + Sync>]) -> Vec<Param<'_>> {
    params.iter().map(|param| param.as_ref() as Param<'_>).collect()
}

fn row(row: &tokio_postgres::Row) -> TxResult<Row> {
    let value = |(place, column): (usize, &tokio_postgres::Column)| match *column.type_() {
        Type::INT8 => Ok(get::<Option<i64>>(row, place)?.map_or(Value::Null, Value::Number)),
        Type::TEXT => Ok(get::<Option<String>>(row, place)?.map_or(Value::Null, Value::Text)),
        ref other => Err(StoreError::Database(format!("column {}: {other} is not read", column.name())).into()),
    };
    Ok(Row(row.columns().iter().enumerate().map(value).collect::<TxResult<_>>()?))
}
