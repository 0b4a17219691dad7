//! The rows of domains on SQLite: answers from a snapshot, changes by the writer.

use super::{
    backend::{SqliteStore, check_events},
    commit, dead_letters,
    rows::to_json,
    writer::{Tx, WriteResult},
};
use crate::{
    error::StoreResult,
    rows::{
        Answers, AnyUnitOfWork, Domain, Query, QueryRow, RowStore, TableRows, Value,
        render::{self, Dialect, Statement},
    },
};
use async_trait::async_trait;
use rusqlite::{
    Connection, ToSql, params_from_iter,
    types::{ToSqlOutput, ValueRef},
};

/// Parameters are `?1`, and lists are JSON.
pub(super) struct Sqlite;

impl Dialect for Sqlite {
    fn parameter(number: usize) -> String {
        format!("?{number}")
    }

    fn any_of(column: &str, number: usize) -> String {
        format!("{column} IN (SELECT value FROM json_each(?{number}))")
    }
}

#[async_trait]
impl RowStore for SqliteStore {
    fn domains(&self) -> &'static [&'static dyn Domain] {
        self.options().domains
    }

    async fn query_rows(&self, queries: Vec<Query>) -> StoreResult<Vec<Vec<QueryRow>>> {
        self.readers().read(move |db| queries.iter().map(|query| answer(db, query)).collect()).await
    }

    async fn run_unit_of_work(&self, work: Box<dyn AnyUnitOfWork>) -> StoreResult<()> {
        self.writer().write(move |tx| run(tx, work.as_ref())).await
    }
}

/// There is one writer at a time, so that the keys of a unit of work need no lock.
fn run(tx: &mut Tx<'_>, work: &dyn AnyUnitOfWork) -> WriteResult<()> {
    let rows = work.queries().iter().map(|query| answer(tx.db, query)).collect::<rusqlite::Result<_>>()?;
    let queue = dead_letters::find(tx.db, &work.queue_query())?;
    let mut answers = Answers { now: tx.now, ids: Vec::new(), queue, rows };
    if let Some((kind, count)) = work.ids(&answers)? {
        answers.ids = tx.reserve(kind, count)?.collect();
    }
    let commits = work.commits(&answers)?;
    check_events(&commits)?;
    let results = if commits.is_empty() { Vec::new() } else { commit::apply(tx, &commits)? };
    let writes = work.writes(&answers, &results)?;
    for query in &writes.deletions {
        let Statement { sql, params } = render::delete::<Sqlite>(query);
        tx.db.prepare_cached(&sql)?.execute(params_from_iter(params))?;
    }
    dead_letters::delete(tx, &writes.dead_letters)?;
    writes.tables().try_for_each(|rows| store(tx, rows))
}

fn store(tx: &Tx<'_>, TableRows { table, on_conflict, rows }: &TableRows) -> WriteResult<()> {
    let places: Vec<String> = (1..=table.columns.len()).map(Sqlite::parameter).collect();
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT ({}) {}",
        table.name,
        table.column_list(),
        places.join(", "),
        table.order,
        render::on_conflict(table, *on_conflict)
    );
    let mut insert = tx.db.prepare_cached(&sql)?;
    for row in rows.values() {
        insert.execute(params_from_iter(row))?;
    }
    Ok(())
}

fn answer(db: &Connection, query: &Query) -> rusqlite::Result<Vec<QueryRow>> {
    let Statement { sql, params } = render::select::<Sqlite>(query);
    let mut statement = db.prepare_cached(&sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query(params_from_iter(params))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let values = (0..columns).map(|column| Ok(value(row.get_ref(column)?)));
        found.push(QueryRow(values.collect::<rusqlite::Result<_>>()?));
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
    use super::*;
    use crate::rows::{ColumnType::Text, Table, any_of, column, joined};

    static BOOK: Table =
        Table { name: "book", order: "id", columns: &[("id", Text), ("author", Text), ("data", Text)], is_work: true };
    static AUTHOR: Table =
        Table { name: "author", order: "id", columns: &[("id", Text), ("data", Text)], is_work: true };

    #[test]
    fn a_statement_is_rendered_for_sqlite() {
        let ids = ["a", "b"];
        let authors = Query::select(&AUTHOR, &["id"]).filter(column("data").equals("x"));
        let query = Query::select(&BOOK, &["data"])
            .filter(column("id").is_any_of(&ids[..]))
            .filter(any_of(column("author").is_null(), column("author").is_at_least("b")))
            .filter(column("author").is_among(authors))
            .order(column("author").descending().nulls_last())
            .ascending(&["id"])
            .limit(Some(3));
        let Statement { sql, params } = render::select::<Sqlite>(&query);
        assert_eq!(
            sql,
            "SELECT data FROM book WHERE id IN (SELECT value FROM json_each(?1)) AND (author IS NULL OR author >= ?2) \
             AND author IN (SELECT id FROM author WHERE data = ?3) ORDER BY author IS NULL, author DESC, id LIMIT 3"
        );
        assert_eq!(params.len(), 3);
        let counted =
            Query::count_by(&BOOK, &["author"]).join(&AUTHOR, "author", "id").filter(joined("id").equals("a"));
        assert_eq!(
            render::select::<Sqlite>(&counted).sql,
            "SELECT t.author, count(*) FROM book t JOIN author j ON j.id = t.author WHERE j.id = ?1 GROUP BY t.author"
        );
        assert_eq!(
            render::delete::<Sqlite>(&Query::select(&BOOK, &["data"]).filter(column("id").differs_from("a"))).sql,
            "DELETE FROM book WHERE id <> ?1"
        );
    }
}
