//! The ledger of language models and their answer cache: every call with its cost, what each day may still spend, and
//! answers by what was asked.
//!
//! Whoever asks a model sets the most that it can cost aside before the call, and exchanges it afterwards for what it did
//! cost. Both are one transaction, and all take turns, so that any number of processes stay below a day's cap together.
//! Money that a dead process leaves behind is never free again: when its time is over it counts as spent.

use async_trait::async_trait;
use bindery_core::Timestamp;
use bindery_store::{
    CommitResult, Store, StoreResult,
    retention::Owner,
    rows::{Answers, Domain, Query, Record, RowWrites, Schema, UnitOfWork, column, decode, run},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{fmt, time::Duration};

/// All who change the ledger take turns.
const LEDGER: &str = "model ledger";

/// One call, as it is kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelCall {
    /// Drawn by whoever makes the call. One that is there already is not recorded again.
    pub id: String,
    /// `2026-03-04`, by UTC.
    pub day: String,
    pub at: Option<Timestamp>,
    /// What the question was about.
    pub item: String,
    pub provider: String,
    pub model: String,
    pub prompt_version: String,
    pub purpose: String,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cached_tokens: u64,
    pub cost_micros: i64,
    pub latency_ms: u64,
    /// `answered`, or the kind of the failure.
    pub outcome: String,
}

/// What a day has cost, and what is set aside for calls under way.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelDay {
    /// `2026-03-04`, by UTC.
    pub day: String,
    pub spent_micros: i64,
    pub calls: u64,
    pub set_aside: Vec<MoneySetAside>,
}

impl ModelDay {
    /// What the day has cost at a moment, with money that was left behind.
    pub fn spent_at(&self, now: Timestamp) -> i64 {
        let left_behind = sum(self.set_aside.iter().filter(|money| money.is_over(now)));
        self.spent_micros.saturating_add(left_behind)
    }

    /// What is set aside at a moment for calls that are still under way.
    pub fn under_way_at(&self, now: Timestamp) -> i64 {
        sum(self.set_aside.iter().filter(|money| !money.is_over(now)))
    }
}

fn sum<'m>(set_aside: impl Iterator<Item = &'m MoneySetAside>) -> i64 {
    set_aside.fold(0, |sum, money| sum.saturating_add(money.micros))
}

/// Money for a call under way. Who sets it aside and dies leaves it behind; it counts as spent when its time is over,
/// because nobody knows what the call has cost.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MoneySetAside {
    /// Drawn by whoever sets it aside.
    pub id: String,
    pub micros: i64,
    pub until: Option<Timestamp>,
}

impl MoneySetAside {
    fn is_over(&self, now: Timestamp) -> bool {
        self.until.is_some_and(|until| until <= now)
    }
}

/// Whether money could be set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granted {
    Yes,
    /// It would have been more than the cap, with what is spent and what is set aside for calls under way.
    No {
        spent_micros: i64,
        set_aside_micros: i64,
    },
}

/// Which calls are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelCallFilter {
    /// `2026-03-04`, with it and what is later.
    pub from_day: Option<String>,
    /// With it and what is earlier.
    pub to_day: Option<String>,
    pub limit: Option<usize>,
}

/// An answer, kept by what was asked.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelAnswer {
    pub key: String,
    pub kept_at: Option<Timestamp>,
    pub answer: Value,
}

/// The ledger and the answer cache of language models in a store. Every method that changes something is one
/// transaction, durable when it returns.
#[derive(Clone, Copy)]
pub struct ModelLedger<'s> {
    store: &'s dyn Store,
}

impl fmt::Debug for ModelLedger<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelLedger").finish_non_exhaustive()
    }
}

impl<'s> ModelLedger<'s> {
    pub fn new(store: &'s dyn Store) -> Self {
        Self { store }
    }

    /// Sets money of a day aside, if what is spent and set aside stays within the cap with it.
    pub async fn set_money_aside(&self, day: &str, money: MoneySetAside, cap: Option<i64>) -> StoreResult<Granted> {
        run(self.store, SetAside { day: day.to_owned(), money, cap }).await
    }

    /// Gives money back, and writes the call down that it was for, if it was made. Money that was given back before, and
    /// a call that was written down before, stay as they are.
    pub async fn settle_money(&self, day: &str, id: &str, call: Option<ModelCall>) -> StoreResult<()> {
        run(self.store, Settle { day: day.to_owned(), id: id.to_owned(), call }).await
    }

    /// What a day has cost; nothing where no model was asked.
    pub async fn model_day(&self, day: &str) -> StoreResult<ModelDay> {
        let found: Vec<ModelDay> = self.list(Query::records::<ModelDay>().filter(column("day").equals(day))).await?;
        Ok(found.into_iter().next().unwrap_or_else(|| ModelDay { day: day.to_owned(), ..ModelDay::default() }))
    }

    /// Calls by their days.
    pub async fn model_calls(&self, filter: &ModelCallFilter) -> StoreResult<Vec<ModelCall>> {
        let query = Query::records::<ModelCall>()
            .filter_some(filter.from_day.as_ref().map(|it| column("day").is_at_least(it)))
            .filter_some(filter.to_day.as_ref().map(|it| column("day").is_at_most(it)));
        self.list(query.ascending(&["day", "id"]).limit(filter.limit)).await
    }

    pub async fn model_answer(&self, key: &str) -> StoreResult<Option<ModelAnswer>> {
        let found: Vec<ModelAnswer> =
            self.list(Query::records::<ModelAnswer>().filter(column("key").equals(key))).await?;
        Ok(found.into_iter().next())
    }

    /// Keeps an answer. One that is kept already is not changed.
    pub async fn keep_model_answer(&self, key: &str, answer: Value) -> StoreResult<()> {
        run(self.store, Keep { key: key.to_owned(), answer }).await
    }

    /// Deletes cached answers of language models that were given before, and calls before another time. What each day has
    /// cost stays. Returns how many rows went.
    pub async fn delete_old(&self, answers_before: Timestamp, calls_before: Timestamp) -> StoreResult<u64> {
        // Days are written as the first ten characters of a time.
        let day = calls_before.to_string().chars().take(10).collect();
        run(self.store, DeleteOld { answers_before, day }).await
    }

    async fn list<R: Record>(&self, query: Query) -> StoreResult<Vec<R>> {
        decode(&self.store.query_rows(vec![query]).await?.pop().unwrap_or_default())
    }
}

fn day_query(day: &str) -> Query {
    Query::records::<ModelDay>().filter(column("day").equals(day))
}

fn day_of(answers: &Answers, day: &str) -> StoreResult<ModelDay> {
    let found: Vec<ModelDay> = decode(answers.rows(0))?;
    Ok(found.into_iter().next().unwrap_or_else(|| ModelDay { day: day.to_owned(), ..ModelDay::default() }))
}

struct SetAside {
    day: String,
    money: MoneySetAside,
    cap: Option<i64>,
}

impl UnitOfWork for SetAside {
    type Output = Granted;

    fn lock_keys(&self) -> Vec<String> {
        vec![LEDGER.to_owned()]
    }

    fn queries(&self) -> Vec<Query> {
        vec![day_query(&self.day)]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, Granted)> {
        let mut day = day_of(answers, &self.day)?;
        let mut writes = RowWrites::default();
        let (spent_micros, set_aside_micros) = (day.spent_at(answers.now), day.under_way_at(answers.now));
        let taken = spent_micros.saturating_add(set_aside_micros);
        if self.cap.is_some_and(|cap| taken.saturating_add(self.money.micros) > cap) {
            return Ok((writes, Granted::No { spent_micros, set_aside_micros }));
        }
        day.set_aside.retain(|money| money.id != self.money.id);
        day.set_aside.push(self.money.clone());
        writes.put(&day);
        Ok((writes, Granted::Yes))
    }
}

struct Settle {
    day: String,
    id: String,
    call: Option<ModelCall>,
}

impl UnitOfWork for Settle {
    type Output = ();

    fn lock_keys(&self) -> Vec<String> {
        vec![LEDGER.to_owned()]
    }

    fn queries(&self) -> Vec<Query> {
        let known = self.call.as_ref().map(|call| Query::records::<ModelCall>().filter(column("id").equals(&call.id)));
        std::iter::once(day_query(&self.day)).chain(known).collect()
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, ())> {
        let mut day = day_of(answers, &self.day)?;
        let mut writes = RowWrites::default();
        day.set_aside.retain(|money| money.id != self.id);
        if let Some(call) = self.call.as_ref().filter(|_| answers.rows(1).is_empty()) {
            day.spent_micros = day.spent_micros.saturating_add(call.cost_micros);
            day.calls += 1;
            writes.add(&ModelCall { day: self.day.clone(), ..call.clone() });
        }
        writes.put(&day);
        Ok((writes, ()))
    }
}

struct Keep {
    key: String,
    answer: Value,
}

impl UnitOfWork for Keep {
    type Output = ();

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, ())> {
        let mut writes = RowWrites::default();
        writes.add(&ModelAnswer { key: self.key.clone(), kept_at: Some(answers.now), answer: self.answer.clone() });
        Ok((writes, ()))
    }
}

struct DeleteOld {
    answers_before: Timestamp,
    day: String,
}

impl DeleteOld {
    fn answers(&self, query: Query) -> Query {
        query.filter(column("kept_at").is_below(self.answers_before))
    }

    fn calls(&self, query: Query) -> Query {
        query.filter(column("day").is_below(&self.day))
    }
}

impl UnitOfWork for DeleteOld {
    type Output = u64;

    fn queries(&self) -> Vec<Query> {
        vec![self.answers(Query::count(&MODEL_ANSWER)), self.calls(Query::count(&MODEL_CALL))]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, u64)> {
        let mut writes = RowWrites::default();
        writes.delete(self.answers(Query::records::<ModelAnswer>()));
        writes.delete(self.calls(Query::records::<ModelCall>()));
        Ok((writes, answers.count(0)? + answers.count(1)?))
    }
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How long cached answers and the records of calls are kept. What each day has cost stays.
const KEEP_ANSWERS: Duration = DAY.saturating_mul(90);
const KEEP_CALLS: Duration = DAY.saturating_mul(400);

/// The ledger and the answer cache as a domain of the store.
#[derive(Debug)]
pub struct ModelLedgerDomain;

#[async_trait]
impl Domain for ModelLedgerDomain {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    async fn age_out(&self, store: &dyn Store) -> StoreResult<u64> {
        let now = store.clock().now();
        ModelLedger::new(store).delete_old(now - KEEP_ANSWERS, now - KEEP_CALLS).await
    }
}

static SCHEMA: Schema = Schema {
    name: "model_ledger",
    sqlite: &[include_str!("sqlite.sql")],
    postgres: &[include_str!("postgres.sql")],
    tables: ALL_TABLES,
    owners: &[
        Owner::new("model_call", "400 days after the call"),
        Owner::new("model_day", "kept: one row for each of few names"),
        Owner::new("model_answer", "90 days after the answer"),
    ],
    blob_columns: &[],
    pruned: &["model_answer"],
};

bindery_store::tables! {
    MODEL_CALL = "model_call" by "id" { id: Text, day: Text }
    MODEL_DAY = "model_day" by "day" { day: Text }
    MODEL_ANSWER = "model_answer" by "key" { key: Text, kept_at: Integer }
}

bindery_store::records! {
    ModelCall: MODEL_CALL = |row| [&row.id, &row.day];
    ModelDay: MODEL_DAY = |row| [&row.day];
    ModelAnswer: MODEL_ANSWER = |row| [&row.key, row.kept_at];
}
