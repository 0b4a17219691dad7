//! The books of language models: every call with its cost, what each day may still spend, and answers by what was asked.
//!
//! Whoever asks a model sets the most that it can cost aside before the call, and exchanges it afterwards for what it did
//! cost. Both are one transaction, and all take turns, so that any number of processes stay below a day's cap together.
//! Money that a dead process leaves behind is never free again: when its time is over it counts as spent.

use super::{
    CivicRecords,
    work::{Question, Seen, Work, Writes, nouns, run},
};
use crate::{commit::CommitResult, error::StoreResult};
use bindery_core::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is of no city takes turns by itself.
const BOOKS: &str = "model books";

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

impl CivicRecords<'_> {
    /// Sets money of a day aside, if what is spent and set aside stays within the cap with it.
    pub async fn set_money_aside(&self, day: &str, money: MoneySetAside, cap: Option<i64>) -> StoreResult<Granted> {
        run(self.backend, SetAside { day: day.to_owned(), money, cap }).await
    }

    /// Gives money back, and writes the call down that it was for, if it was made. Money that was given back before, and
    /// a call that was written down before, stay as they are.
    pub async fn settle_money(&self, day: &str, id: &str, call: Option<ModelCall>) -> StoreResult<()> {
        run(self.backend, Settle { day: day.to_owned(), id: Some(id.to_owned()), call }).await
    }

    /// Writes a call down for which nothing was set aside by itself. One that was written down before stays as it is.
    pub async fn record_model_call(&self, call: ModelCall) -> StoreResult<()> {
        run(self.backend, Settle { day: call.day.clone(), id: None, call: Some(call) }).await
    }

    /// What a day has cost; nothing where no model was asked.
    pub async fn model_day(&self, day: &str) -> StoreResult<ModelDay> {
        let found: Vec<ModelDay> = self.list(Question::of::<ModelDay>().whose("day = ?", day)).await?;
        Ok(found.into_iter().next().unwrap_or_else(|| ModelDay { day: day.to_owned(), ..ModelDay::default() }))
    }

    /// Calls by their days.
    pub async fn model_calls(&self, filter: &ModelCallFilter) -> StoreResult<Vec<ModelCall>> {
        let question = Question::of::<ModelCall>()
            .given("day >= ?", filter.from_day.as_ref())
            .given("day <= ?", filter.to_day.as_ref());
        self.list(question.by("day, id", filter.limit)).await
    }

    pub async fn model_answer(&self, key: &str) -> StoreResult<Option<ModelAnswer>> {
        let found: Vec<ModelAnswer> = self.list(Question::of::<ModelAnswer>().whose("key = ?", key)).await?;
        Ok(found.into_iter().next())
    }

    /// Keeps an answer. One that is kept already is not changed.
    pub async fn keep_model_answer(&self, key: &str, answer: Value) -> StoreResult<()> {
        run(self.backend, Keep { key: key.to_owned(), answer }).await
    }
}

fn day_question(day: &str) -> Question {
    Question::of::<ModelDay>().whose("day = ?", day)
}

fn day_of(seen: &Seen, day: &str) -> StoreResult<ModelDay> {
    let found: Vec<ModelDay> = nouns(seen.answer(0))?;
    Ok(found.into_iter().next().unwrap_or_else(|| ModelDay { day: day.to_owned(), ..ModelDay::default() }))
}

struct SetAside {
    day: String,
    money: MoneySetAside,
    cap: Option<i64>,
}

impl Work for SetAside {
    type Done = Granted;

    fn cities(&self) -> Vec<String> {
        vec![BOOKS.to_owned()]
    }

    fn questions(&self) -> Vec<Question> {
        vec![day_question(&self.day)]
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, Granted)> {
        let mut day = day_of(seen, &self.day)?;
        let mut writes = Writes::default();
        let (spent_micros, set_aside_micros) = (day.spent_at(seen.now), day.under_way_at(seen.now));
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
    id: Option<String>,
    call: Option<ModelCall>,
}

impl Work for Settle {
    type Done = ();

    fn cities(&self) -> Vec<String> {
        vec![BOOKS.to_owned()]
    }

    fn questions(&self) -> Vec<Question> {
        let known = self.call.as_ref().map(|call| Question::of::<ModelCall>().whose("id = ?", &call.id));
        std::iter::once(day_question(&self.day)).chain(known).collect()
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, ())> {
        let mut day = day_of(seen, &self.day)?;
        let mut writes = Writes::default();
        day.set_aside.retain(|money| Some(&money.id) != self.id.as_ref());
        if let Some(call) = self.call.as_ref().filter(|_| seen.answer(1).is_empty()) {
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

impl Work for Keep {
    type Done = ();

    /// Of two at the same time, the first is kept, and neither has to wait for the other's city.
    fn cities(&self) -> Vec<String> {
        Vec::new()
    }

    fn questions(&self) -> Vec<Question> {
        Vec::new()
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, ())> {
        let mut writes = Writes::default();
        writes.add(&ModelAnswer { key: self.key.clone(), kept_at: Some(seen.now), answer: self.answer.clone() });
        Ok((writes, ()))
    }
}
