//! Changes that are decided in the transaction that stores them.
//!
//! What is asked, and what follows from the answers, is decided by the domain, the same for every backend. A backend
//! ([`RowStore`]) answers queries and stores rows.

use super::{
    domain::Domain,
    query::Query,
    table::{Record, Table},
    value::{QueryRow, Value},
};
use crate::{
    commit::{Commit, CommitResult},
    error::{StoreError, StoreResult},
    query::{QueueQuery, QueueRows},
};
use async_trait::async_trait;
use bindery_core::{JobId, Timestamp};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// What happens to a row whose key is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OnConflict {
    Replace,
    Keep,
}

/// Rows of one table to be stored, by their keys: of two with the same key, the later counts.
#[derive(Debug)]
pub struct TableRows {
    pub(crate) table: &'static Table,
    pub(crate) on_conflict: OnConflict,
    pub(crate) rows: BTreeMap<Vec<Value>, Vec<Value>>,
}

/// Everything that a unit of work stores and deletes.
#[derive(Debug, Default)]
pub struct RowWrites {
    /// Carried out before any row is stored.
    pub(crate) deletions: Vec<Query>,
    pub(crate) dead_letters: Vec<JobId>,
    tables: BTreeMap<(&'static str, OnConflict), TableRows>,
}

impl RowWrites {
    /// Stores a row, in place of the one with the same key.
    pub fn put<R: Record>(&mut self, record: &R) {
        self.store(record, OnConflict::Replace);
    }

    /// Stores a row unless one with the same key is there.
    pub fn add<R: Record>(&mut self, record: &R) {
        self.store(record, OnConflict::Keep);
    }

    /// Deletes the rows that a query of one table finds.
    pub fn delete(&mut self, query: Query) {
        self.deletions.push(query);
    }

    /// Deletes jobs that are dead letters; others stay.
    pub fn delete_dead_letters(&mut self, jobs: impl IntoIterator<Item = JobId>) {
        self.dead_letters.extend(jobs);
    }

    fn store<R: Record>(&mut self, record: &R, on_conflict: OnConflict) {
        let empty = || TableRows { table: R::TABLE, on_conflict, rows: BTreeMap::new() };
        let row = record.row();
        let key = row.iter().take(R::TABLE.key_length()).cloned().collect();
        self.tables.entry((R::TABLE.name, on_conflict)).or_insert_with(empty).rows.insert(key, row);
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = &TableRows> {
        self.tables.values()
    }
}

/// What is known when a unit of work is decided.
#[derive(Debug)]
pub struct Answers {
    /// The time of the transaction.
    pub now: Timestamp,
    /// As many fresh numbers as were asked for.
    pub ids: Vec<i64>,
    /// What was asked of the queue.
    pub queue: QueueRows,
    /// One for each query.
    pub(crate) rows: Vec<Vec<QueryRow>>,
}

impl Answers {
    /// The answer to the query at this place.
    pub fn rows(&self, query: usize) -> &[QueryRow] {
        self.rows.get(query).map_or(&[], Vec::as_slice)
    }

    /// The number that a query at this place has counted.
    pub fn count(&self, query: usize) -> StoreResult<u64> {
        self.rows(query).first().map_or(Ok(0), |row| row.count(0))
    }
}

/// A change, decided in the transaction that stores it. It may be decided more than once, when others were in the way;
/// the last time counts.
pub trait UnitOfWork: Send + Sync + 'static {
    type Output: Send + 'static;

    /// Those that name the same key take turns.
    fn lock_keys(&self) -> Vec<String> {
        Vec::new()
    }

    fn queries(&self) -> Vec<Query> {
        Vec::new()
    }

    /// What it has to know of the queue.
    fn queue_query(&self) -> QueueQuery {
        QueueQuery::default()
    }

    /// Fresh numbers that are needed: their kind, and how many.
    fn ids(&self, _answers: &Answers) -> StoreResult<Option<(&'static str, i64)>> {
        Ok(None)
    }

    /// Jobs and events that belong to the change, with their guards.
    fn commits(&self, _answers: &Answers) -> StoreResult<Vec<Commit>> {
        Ok(Vec::new())
    }

    /// What is stored, after the commits have come to these results.
    fn writes(&self, answers: &Answers, results: &[CommitResult]) -> StoreResult<(RowWrites, Self::Output)>;
}

/// A [`UnitOfWork`] without its type.
pub trait AnyUnitOfWork: Send + Sync {
    fn lock_keys(&self) -> Vec<String>;
    fn queries(&self) -> Vec<Query>;
    fn queue_query(&self) -> QueueQuery;
    fn ids(&self, answers: &Answers) -> StoreResult<Option<(&'static str, i64)>>;
    fn commits(&self, answers: &Answers) -> StoreResult<Vec<Commit>>;
    fn writes(&self, answers: &Answers, results: &[CommitResult]) -> StoreResult<RowWrites>;
}

/// What a database does for the rows of domains.
#[async_trait]
pub trait RowStore: Send + Sync {
    /// The domains that the store was opened with.
    fn domains(&self) -> &'static [&'static dyn Domain];

    /// The answers to all queries, as of one moment.
    async fn query_rows(&self, queries: Vec<Query>) -> StoreResult<Vec<Vec<QueryRow>>>;

    /// Answers the queries of a unit of work, and stores what follows, in one transaction. Durable when it returns.
    async fn run_unit_of_work(&self, work: Box<dyn AnyUnitOfWork>) -> StoreResult<()>;
}

/// A unit of work that leaves its output behind.
struct WithOutput<W: UnitOfWork> {
    work: W,
    output: Arc<Mutex<Option<W::Output>>>,
}

impl<W: UnitOfWork> AnyUnitOfWork for WithOutput<W> {
    fn lock_keys(&self) -> Vec<String> {
        self.work.lock_keys()
    }

    fn queries(&self) -> Vec<Query> {
        self.work.queries()
    }

    fn queue_query(&self) -> QueueQuery {
        self.work.queue_query()
    }

    fn ids(&self, answers: &Answers) -> StoreResult<Option<(&'static str, i64)>> {
        self.work.ids(answers)
    }

    fn commits(&self, answers: &Answers) -> StoreResult<Vec<Commit>> {
        self.work.commits(answers)
    }

    fn writes(&self, answers: &Answers, results: &[CommitResult]) -> StoreResult<RowWrites> {
        let (writes, output) = self.work.writes(answers, results)?;
        *self.output.lock().unwrap_or_else(PoisonError::into_inner) = Some(output);
        Ok(writes)
    }
}

/// Runs a unit of work and returns what came of it. Durable when it returns.
pub async fn run<W: UnitOfWork>(store: &dyn RowStore, work: W) -> StoreResult<W::Output> {
    let output = Arc::new(Mutex::new(None));
    store.run_unit_of_work(Box::new(WithOutput { work, output: Arc::clone(&output) })).await?;
    let output = output.lock().unwrap_or_else(PoisonError::into_inner).take();
    output.ok_or(StoreError::Closed)
}
