//! How rows are asked for and changed, whatever database they are in.
//!
//! What is asked, and what follows from the answers, is decided here and in the modules beside this one, the same for
//! every backend. A backend ([`CivicBackend`]) answers [`Question`]s and stores [`Writes`].

use super::tables::Kept;
use crate::{
    commit::{Commit, CommitResult},
    error::{StoreError, StoreResult},
    portable::tables::Table,
    store::Records,
};
use async_trait::async_trait;
use bindery_core::Timestamp;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// A value of a column, or a parameter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    Null,
    Number(i64),
    Text(String),
    /// Only as parameters, for `= ANY(?)`.
    Texts(Vec<String>),
    Numbers(Vec<i64>),
}

/// Not every database takes a zero character in a text.
fn without_zero(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(without_zero(text))
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Number(truth.into())
    }
}

impl From<Timestamp> for Value {
    fn from(at: Timestamp) -> Self {
        Self::Number(at.as_millis())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: AsRef<str>> From<&[T]> for Value {
    fn from(texts: &[T]) -> Self {
        Self::Texts(texts.iter().map(|text| without_zero(text.as_ref())).collect())
    }
}

impl<T: AsRef<str>> From<&Vec<T>> for Value {
    fn from(texts: &Vec<T>) -> Self {
        Self::from(texts.as_slice())
    }
}

/// A row of an answer.
#[derive(Debug, Clone)]
pub struct Row(pub(crate) Vec<Value>);

impl Row {
    pub(crate) fn text(&self, column: usize) -> StoreResult<&str> {
        match self.0.get(column) {
            Some(Value::Text(text)) => Ok(text),
            other => Err(StoreError::Database(format!("column {column} of a row: expected a text, found {other:?}"))),
        }
    }

    /// A number; 0 where there is none.
    pub(crate) fn number(&self, column: usize) -> StoreResult<i64> {
        match self.0.get(column) {
            Some(Value::Number(number)) => Ok(*number),
            Some(Value::Null) => Ok(0),
            other => Err(StoreError::Database(format!("column {column} of a row: expected a number, found {other:?}"))),
        }
    }

    pub(crate) fn time(&self, column: usize) -> StoreResult<Option<Timestamp>> {
        match self.0.get(column) {
            Some(Value::Null) => Ok(None),
            _ => self.number(column).map(Timestamp::from_millis).map(Some),
        }
    }

    /// The noun whose `data` is in the first column.
    pub(crate) fn noun<R: Kept>(&self) -> StoreResult<R> {
        let wrong = |error| StoreError::Database(format!("a row of {}: {error}", R::TABLE.name));
        serde_json::from_str(self.text(0)?).map_err(wrong)
    }
}

/// The nouns of an answer.
pub(crate) fn nouns<R: Kept>(rows: &[Row]) -> StoreResult<Vec<R>> {
    rows.iter().map(Row::noun).collect()
}

/// A statement with its parameters, as every backend understands it: `$1` … are parameters, and `= ANY($1)` compares with
/// those of a list.
#[derive(Debug, Clone)]
pub struct Question {
    pub(crate) sql: String,
    pub(crate) params: Vec<Value>,
    has_condition: bool,
}

impl Question {
    pub(crate) fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), params: Vec::new(), has_condition: false }
    }

    /// All nouns of a kind.
    pub(crate) fn of<R: Kept>() -> Self {
        Self::new(format!("SELECT data FROM {}", R::TABLE.name))
    }

    /// One more condition; `?` in it is the value.
    #[must_use]
    pub(crate) fn whose(mut self, condition: &str, value: impl Into<Value>) -> Self {
        self.params.push(value.into());
        let place = format!("${}", self.params.len());
        self.that(&condition.replace('?', &place))
    }

    /// One more condition where there is a value.
    #[must_use]
    pub(crate) fn given(self, condition: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.whose(condition, value),
            None => self,
        }
    }

    /// One more condition.
    #[must_use]
    pub(crate) fn that(mut self, condition: &str) -> Self {
        self.sql.push_str(if self.has_condition { " AND " } else { " WHERE " });
        self.sql.push_str(condition);
        self.has_condition = true;
        self
    }

    /// The order, and no more than the limit.
    #[must_use]
    pub(crate) fn by(mut self, order: &str, limit: Option<usize>) -> Self {
        self.sql.push_str(" ORDER BY ");
        self.sql.push_str(order);
        if let Some(limit) = limit {
            self.sql.push_str(" LIMIT ");
            self.sql.push_str(&limit.to_string());
        }
        self
    }
}

/// What happens to a row whose key is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Known {
    Replaced,
    Kept,
}

impl Known {
    /// What follows `ON CONFLICT (key)`.
    pub(crate) fn sql(self, table: &Table) -> String {
        if self == Self::Kept {
            return "DO NOTHING".to_owned();
        }
        let keys = table.order.split(',').count();
        let set = table.columns.iter().skip(keys).map(|(name, _)| format!("{name} = excluded.{name}"));
        format!("DO UPDATE SET {}", set.collect::<Vec<_>>().join(", "))
    }
}

/// Rows of one table to be stored, by their keys: of two with the same key, the later counts.
#[derive(Debug)]
pub struct TableRows {
    pub(crate) table: &'static Table,
    pub(crate) known: Known,
    pub(crate) rows: BTreeMap<Vec<Value>, Vec<Value>>,
}

/// Everything that a change stores.
#[derive(Debug, Default)]
pub struct Writes {
    /// Run before any row is stored.
    pub(crate) statements: Vec<Question>,
    tables: BTreeMap<(&'static str, Known), TableRows>,
}

impl Writes {
    /// Stores a row, in place of the one with the same key.
    pub(crate) fn put<R: Kept>(&mut self, noun: &R) {
        self.store(noun, Known::Replaced);
    }

    /// Stores a row unless one with the same key is there.
    pub(crate) fn add<R: Kept>(&mut self, noun: &R) {
        self.store(noun, Known::Kept);
    }

    fn store<R: Kept>(&mut self, noun: &R, known: Known) {
        let empty = || TableRows { table: R::TABLE, known, rows: BTreeMap::new() };
        let row = noun.row();
        let key = row.iter().take(R::TABLE.order.split(',').count()).cloned().collect();
        self.tables.entry((R::TABLE.name, known)).or_insert_with(empty).rows.insert(key, row);
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = &TableRows> {
        self.tables.values()
    }
}

/// What is known when a change is decided.
#[derive(Debug)]
pub struct Seen {
    pub(crate) now: Timestamp,
    /// One for each question.
    pub(crate) answers: Vec<Vec<Row>>,
    /// As many as were asked for.
    pub(crate) ids: Vec<i64>,
}

impl Seen {
    pub(crate) fn answer(&self, question: usize) -> &[Row] {
        self.answers.get(question).map_or(&[], Vec::as_slice)
    }
}

/// A change, decided in the transaction that stores it. It may be decided more than once, when others were in the way;
/// the last time counts.
pub(crate) trait Work: Send + Sync + 'static {
    type Done: Send + 'static;

    /// Whoever changes the same city takes turns.
    fn cities(&self) -> Vec<String>;

    fn questions(&self) -> Vec<Question>;

    /// Fresh numbers that are needed: their kind, and how many.
    fn ids(&self, _seen: &Seen) -> StoreResult<Option<(&'static str, i64)>> {
        Ok(None)
    }

    /// Jobs and events that belong to the change, with their guards.
    fn commits(&self, _seen: &Seen) -> StoreResult<Vec<Commit>> {
        Ok(Vec::new())
    }

    /// What is stored, after the commits have come to these results.
    fn writes(&self, seen: &Seen, results: &[CommitResult]) -> StoreResult<(Writes, Self::Done)>;
}

/// A [`Work`] without its type.
pub trait AnyWork: Send + Sync {
    fn cities(&self) -> Vec<String>;
    fn questions(&self) -> Vec<Question>;
    fn ids(&self, seen: &Seen) -> StoreResult<Option<(&'static str, i64)>>;
    fn commits(&self, seen: &Seen) -> StoreResult<Vec<Commit>>;
    fn writes(&self, seen: &Seen, results: &[CommitResult]) -> StoreResult<Writes>;
}

/// What a database does for all that is civic.
#[async_trait]
pub trait CivicBackend: Records {
    /// The answers to all questions, as of one moment.
    async fn ask(&self, questions: Vec<Question>) -> StoreResult<Vec<Vec<Row>>>;

    /// Answers the questions of a work, and stores what follows, in one transaction. Durable when it returns.
    async fn run(&self, work: Box<dyn AnyWork>) -> StoreResult<()>;
}

struct Keeping<W: Work> {
    work: W,
    done: Arc<Mutex<Option<W::Done>>>,
}

impl<W: Work> AnyWork for Keeping<W> {
    fn cities(&self) -> Vec<String> {
        self.work.cities()
    }

    fn questions(&self) -> Vec<Question> {
        self.work.questions()
    }

    fn ids(&self, seen: &Seen) -> StoreResult<Option<(&'static str, i64)>> {
        self.work.ids(seen)
    }

    fn commits(&self, seen: &Seen) -> StoreResult<Vec<Commit>> {
        self.work.commits(seen)
    }

    fn writes(&self, seen: &Seen, results: &[CommitResult]) -> StoreResult<Writes> {
        let (writes, done) = self.work.writes(seen, results)?;
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        Ok(writes)
    }
}

/// Runs a work and returns what came of it.
pub(crate) async fn run<W: Work>(backend: &dyn CivicBackend, work: W) -> StoreResult<W::Done> {
    let done = Arc::new(Mutex::new(None));
    backend.run(Box::new(Keeping { work, done: Arc::clone(&done) })).await?;
    let done = done.lock().unwrap_or_else(PoisonError::into_inner).take();
    done.ok_or(StoreError::Closed)
}
