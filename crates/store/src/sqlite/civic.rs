//! Civic rows on SQLite: answers from a snapshot, changes by the writer.

use super::{
    backend::{SqliteStore, check_events},
    commit,
    rows::to_json,
    writer::{Tx, WishResult},
};
use crate::{
    civic::{
        Civic, CivicRecords,
        work::{AnyWork, CivicBackend, Question, Row, Seen, TableRows, Value},
    },
    error::StoreResult,
};
use async_trait::async_trait;
use rusqlite::{
    Connection, ToSql, params_from_iter,
    types::{ToSqlOutput, ValueRef},
};

impl Civic for SqliteStore {
    fn civic(&self) -> CivicRecords<'_> {
        CivicRecords::new(self)
    }
}

#[async_trait]
impl CivicBackend for SqliteStore {
    async fn ask(&self, questions: Vec<Question>) -> StoreResult<Vec<Vec<Row>>> {
        self.readers().read(move |db| questions.iter().map(|question| answer(db, question)).collect()).await
    }

    async fn run(&self, work: Box<dyn AnyWork>) -> StoreResult<()> {
        self.writer().write(move |tx| run(tx, work.as_ref())).await
    }
}

fn run(tx: &mut Tx<'_>, work: &dyn AnyWork) -> WishResult<()> {
    let questions = work.questions();
    let answers = questions.iter().map(|question| answer(tx.db, question)).collect::<rusqlite::Result<_>>()?;
    let mut seen = Seen { now: tx.now, answers, ids: Vec::new() };
    if let Some((kind, count)) = work.ids(&seen)? {
        seen.ids = tx.reserve(kind, count)?.collect();
    }
    let commits = work.commits(&seen)?;
    check_events(&commits)?;
    let results = if commits.is_empty() { Vec::new() } else { commit::apply(tx, &commits)? };
    let writes = work.writes(&seen, &results)?;
    for statement in &writes.statements {
        tx.db.prepare_cached(&spelled(&statement.sql))?.execute(params_from_iter(&statement.params))?;
    }
    writes.tables().try_for_each(|rows| store(tx, rows))
}

fn store(tx: &Tx<'_>, TableRows { table, known, rows }: &TableRows) -> WishResult<()> {
    let places: Vec<String> = (1..=table.columns.len()).map(|place| format!("?{place}")).collect();
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT ({}) {}",
        table.name,
        table.column_list(),
        places.join(", "),
        table.order,
        known.sql(table)
    );
    let mut insert = tx.db.prepare_cached(&sql)?;
    for row in rows.values() {
        insert.execute(params_from_iter(row))?;
    }
    Ok(())
}

fn answer(db: &Connection, question: &Question) -> rusqlite::Result<Vec<Row>> {
    let mut statement = db.prepare_cached(&spelled(&question.sql))?;
    let columns = statement.column_count();
    let mut rows = statement.query(params_from_iter(&question.params))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let values = (0..columns).map(|column| Ok(value(row.get_ref(column)?)));
        found.push(Row(values.collect::<rusqlite::Result<_>>()?));
    }
    Ok(found)
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Integer(number) => Value::Number(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => Value::Null,
    }
}

/// As SQLite wants it: parameters are `?1`, and lists are JSON.
pub(super) fn spelled(sql: &str) -> String {
    const ANY: &str = "= ANY($";
    let mut spelled = String::with_capacity(sql.len() + 64);
    let mut rest = sql;
    while let Some((before, after)) = rest.split_once(ANY) {
        let (place, behind) = after.split_once(')').unwrap_or((after, ""));
        spelled.push_str(&before.replace('$', "?"));
        spelled.push_str("IN (SELECT value FROM json_each(?");
        spelled.push_str(place);
        spelled.push_str("))");
        rest = behind;
    }
    spelled.push_str(&rest.replace('$', "?"));
    spelled
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Self::Number(number) => ToSqlOutput::Borrowed(ValueRef::Integer(*number)),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Self::Texts(texts) => ToSqlOutput::from(to_json(texts)),
            Self::Numbers(numbers) => ToSqlOutput::from(to_json(numbers)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::spelled;

    #[test]
    fn lists_and_parameters_are_spelled_for_sqlite() {
        assert_eq!(
            spelled("SELECT data FROM t WHERE a = $1 AND b = ANY($2) AND c = ANY($3) AND d < $4"),
            "SELECT data FROM t WHERE a = ?1 AND b IN (SELECT value FROM json_each(?2)) \
             AND c IN (SELECT value FROM json_each(?3)) AND d < ?4"
        );
    }
}
