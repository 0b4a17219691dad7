//! The books of the language model, kept in the store: what every call has cost, and every answer.
//!
//! All processes of a store share them, so a day's cap holds for all of them together, and what one was answered another
//! does not pay for. Before a call its money is set aside; after it the answer is kept, and then its cost is written
//! down. Who is killed in between pays for the one call under way again, and for nothing else: an answer that is kept is
//! never paid for twice, and money whose call nobody settled counts as spent.

use super::ledger::{Granted, ModelCall, ModelLedger, MoneySetAside};
use crate::{
    cache::{AnswerCache, KeptAnswer},
    ledger::{BookError, CallRecord, Ledger, Purpose, Receipt, SetAside},
};
use bindery_core::{Clock, ContentHash, Timestamp, time::SystemClock};
use bindery_store::{Store, StoreResult};
use jiff::civil::Date;
use std::{fmt, future::Future, sync::Arc};
use tokio::runtime::Handle;

/// The store, for those who cannot wait for it in the way of the runtime: its books are asked on threads that block.
#[derive(Clone)]
struct Shelf {
    store: Arc<dyn Store>,
    runtime: Handle,
}

impl Shelf {
    /// Blocks the thread until the store has answered. Must not be called on a thread of the runtime.
    fn wait<T, F>(&self, ask: impl FnOnce(Arc<dyn Store>) -> F) -> Result<T, BookError>
    where
        T: Send + 'static,
        F: Future<Output = StoreResult<T>> + Send + 'static,
    {
        let (answered, answer) = std::sync::mpsc::sync_channel(1);
        let asked = ask(Arc::clone(&self.store));
        self.runtime.spawn(async move {
            // Who asked may be gone.
            let _ = answered.send(asked.await);
        });
        match answer.recv() {
            Ok(result) => result.map_err(|error| BookError(error.to_string())),
            Err(_) => Err(BookError("the program is ending".to_owned())),
        }
    }
}

/// A ledger in the store.
#[derive(Clone)]
pub struct StoreLedger {
    shelf: Shelf,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for StoreLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreLedger").finish_non_exhaustive()
    }
}

impl StoreLedger {
    pub fn new(store: Arc<dyn Store>, runtime: Handle) -> Self {
        Self { shelf: Shelf { store, runtime }, clock: Arc::new(SystemClock) }
    }
}

impl Ledger for StoreLedger {
    fn set_aside(&self, money: &Receipt, until: Timestamp, cap_micros: Option<i64>) -> Result<SetAside, BookError> {
        let day = money.day.to_string();
        let money = MoneySetAside { id: money.id.clone(), micros: money.micros, until: Some(until) };
        let granted = self
            .shelf
            .wait(|store| async move { ModelLedger::new(&*store).set_money_aside(&day, money, cap_micros).await })?;
        Ok(match granted {
            Granted::Yes => SetAside::Done,
            Granted::No { spent_micros, set_aside_micros } => SetAside::TooMuch { spent_micros, set_aside_micros },
        })
    }

    fn settle(&self, money: &Receipt, record: Option<&CallRecord>) -> Result<(), BookError> {
        let (day, id) = (money.day.to_string(), money.id.clone());
        let call = record.map(|record| model_call(money.day, record));
        self.shelf.wait(|store| async move { ModelLedger::new(&*store).settle_money(&day, &id, call).await })
    }

    fn spent_micros(&self, day: Date) -> Result<i64, BookError> {
        let day = day.to_string();
        let day = self.shelf.wait(|store| async move { ModelLedger::new(&*store).model_day(&day).await })?;
        Ok(day.spent_at(self.clock.now()))
    }
}

fn model_call(day: Date, record: &CallRecord) -> ModelCall {
    let purpose = match record.purpose {
        Purpose::Question => "question",
        Purpose::Repair => "repair",
    };
    ModelCall {
        id: record.id.clone(),
        day: day.to_string(),
        at: Some(record.at),
        item: record.item.clone(),
        provider: record.provider.clone(),
        model: record.model.clone(),
        prompt_version: record.prompt_version.clone(),
        purpose: purpose.to_owned(),
        input_tokens: record.usage.input,
        output_tokens: record.usage.output,
        cached_tokens: record.usage.cached,
        cost_micros: record.cost_micros,
        latency_ms: u64::try_from(record.latency.as_millis()).unwrap_or(u64::MAX),
        outcome: record.outcome.clone(),
    }
}

/// Answers in the store.
#[derive(Clone)]
pub struct StoreAnswers {
    shelf: Shelf,
}

impl fmt::Debug for StoreAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreAnswers").finish_non_exhaustive()
    }
}

impl StoreAnswers {
    pub fn new(store: Arc<dyn Store>, runtime: Handle) -> Self {
        Self { shelf: Shelf { store, runtime } }
    }
}

impl AnswerCache for StoreAnswers {
    fn get(&self, key: &ContentHash) -> Result<Option<KeptAnswer>, BookError> {
        let key = key.to_string();
        let kept = self.shelf.wait(|store| async move { ModelLedger::new(&*store).model_answer(&key).await })?;
        // One that another version kept in another shape is no answer.
        Ok(kept.and_then(|kept| serde_json::from_value(kept.answer).ok()))
    }

    fn put(&self, key: &ContentHash, answer: &KeptAnswer) -> Result<(), BookError> {
        let key = key.to_string();
        let answer = serde_json::to_value(answer).map_err(|error| BookError(error.to_string()))?;
        self.shelf.wait(|store| async move { ModelLedger::new(&*store).keep_model_answer(&key, answer).await })
    }
}
