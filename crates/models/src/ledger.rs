//! What calls cost, and that a day does not cost more than it may.
//!
//! Money is set aside before a call, by the most that it can cost, and exchanged for what it did cost afterwards: so a
//! hundred calls at once stay below the cap together, not each on its own.

use super::request::Usage;
use bindery_core::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// For a million tokens each.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// For input that the service had kept from before; as other input unless it is given.
    #[serde(default)]
    pub cached: Option<f64>,
}

impl Price {
    /// In millionths of the currency unit, rounded up. A price for a million tokens is the micros of one.
    pub fn micros(&self, usage: Usage) -> i64 {
        let cached = usage.cached.min(usage.input);
        let cost = (usage.input - cached) as f64 * self.input
            + cached as f64 * self.cached.unwrap_or(self.input)
            + usage.output as f64 * self.output;
        cost.ceil() as i64
    }
}

/// Why a call was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    Question,
    /// The question again, with the faults of the first answer.
    Repair,
}

/// One call, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    /// Whoever records the same call again has the same id, and changes nothing by it.
    pub id: String,
    pub at: Timestamp,
    pub item: String,
    pub provider: String,
    /// As it was asked for.
    pub model: String,
    pub prompt_version: String,
    pub purpose: Purpose,
    pub usage: Usage,
    pub cost_micros: i64,
    pub latency: Duration,
    /// `answered`, or the kind of the failure.
    pub outcome: String,
}

/// A book that could not be written or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BookError(pub String);

/// Money for a call under way, by which it is given back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub id: String,
    /// The day that it is taken from, which is also the day that pays.
    pub day: Date,
    pub micros: i64,
}

impl Receipt {
    pub fn new(day: Date, micros: i64) -> Self {
        Self { id: random_id(), day, micros }
    }
}

/// An id that nobody else draws.
pub(crate) fn random_id() -> String {
    format!("{:032x}", fastrand::u128(..))
}

/// Whether money could be set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetAside {
    Done,
    /// It would have been more than the cap, with what is spent and what is set aside for calls under way.
    TooMuch {
        spent_micros: i64,
        set_aside_micros: i64,
    },
}

/// The day that a moment belongs to, by the clock of UTC.
pub fn day_of(moment: Timestamp) -> Date {
    let moment = jiff::Timestamp::from_millisecond(moment.as_millis()).unwrap_or_default();
    moment.to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// When the day after that of the moment begins.
pub(crate) fn next_midnight(moment: Timestamp) -> Timestamp {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    Timestamp::from_millis((moment.as_millis().div_euclid(DAY).saturating_add(1)).saturating_mul(DAY))
}

/// Keeps all calls, and what each day has cost.
///
/// Who dies with a call under way leaves its money behind. A ledger that survives the process counts it as spent: nobody
/// knows what the call has cost, and the cap has to hold.
pub trait Ledger: Send + Sync + fmt::Debug {
    /// Sets money aside for a call that has ended at `until`, however it goes, if the day's total stays within the cap.
    /// Checking and setting aside are one step.
    fn set_aside(&self, money: &Receipt, until: Timestamp, cap_micros: Option<i64>) -> Result<SetAside, BookError>;

    /// Gives back what was set aside and writes down what there was instead, if the call was made; both or none.
    fn settle(&self, money: &Receipt, record: Option<&CallRecord>) -> Result<(), BookError>;

    /// What a day has cost so far, without what is set aside.
    fn spent_micros(&self, day: Date) -> Result<i64, BookError>;
}

/// A ledger that ends with the process.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    ledger: Mutex<LedgerState>,
}

#[derive(Debug, Default)]
struct LedgerState {
    days: HashMap<Date, Day>,
    calls: Vec<CallRecord>,
}

#[derive(Debug, Default)]
struct Day {
    spent: i64,
    /// By the ids of their receipts.
    set_aside: HashMap<String, i64>,
}

impl LedgerState {
    fn write_down(&mut self, day: Date, record: &CallRecord) {
        if self.calls.iter().all(|known| known.id != record.id) {
            let day = self.days.entry(day).or_default();
            day.spent = day.spent.saturating_add(record.cost_micros);
            self.calls.push(record.clone());
        }
    }
}

impl MemoryLedger {
    fn ledger(&self) -> MutexGuard<'_, LedgerState> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All calls, in the order in which they ended.
    pub fn calls(&self) -> Vec<CallRecord> {
        self.ledger().calls.clone()
    }
}

impl Ledger for MemoryLedger {
    fn set_aside(&self, money: &Receipt, _: Timestamp, cap_micros: Option<i64>) -> Result<SetAside, BookError> {
        let mut ledger = self.ledger();
        let day = ledger.days.entry(money.day).or_default();
        let set_aside = day.set_aside.values().fold(0_i64, |sum, micros| sum.saturating_add(*micros));
        let taken = day.spent.saturating_add(set_aside);
        if cap_micros.is_some_and(|cap| taken.saturating_add(money.micros) > cap) {
            return Ok(SetAside::TooMuch { spent_micros: day.spent, set_aside_micros: set_aside });
        }
        day.set_aside.insert(money.id.clone(), money.micros);
        Ok(SetAside::Done)
    }

    fn settle(&self, money: &Receipt, record: Option<&CallRecord>) -> Result<(), BookError> {
        let mut ledger = self.ledger();
        ledger.days.entry(money.day).or_default().set_aside.remove(&money.id);
        if let Some(record) = record {
            ledger.write_down(money.day, record);
        }
        Ok(())
    }

    fn spent_micros(&self, day: Date) -> Result<i64, BookError> {
        Ok(self.ledger().days.get(&day).map_or(0, |day| day.spent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_their_prices() {
        let price = Price { input: 0.10, output: 0.40, cached: Some(0.01) };
        let usage = Usage { input: 1_000_000, output: 100_000, cached: 400_000 };
        assert_eq!(price.micros(usage), 60_000 + 4_000 + 40_000);
        assert_eq!(price.micros(Usage { input: 1, output: 0, cached: 9 }), 1, "rounded up, and never below nothing");
        assert_eq!(Price { cached: None, ..price }.micros(usage), 140_000);
        assert_eq!(Price::default().micros(usage), 0);
    }

    #[test]
    fn days_end_at_midnight_of_utc() {
        let evening: Timestamp = "2026-03-03T23:59:59.999Z".parse().unwrap();
        assert_eq!(day_of(evening).to_string(), "2026-03-03");
        assert_eq!(next_midnight(evening).to_string(), "2026-03-04T00:00:00.000Z");
        assert_eq!(next_midnight(next_midnight(evening)).to_string(), "2026-03-05T00:00:00.000Z");
    }

    #[test]
    fn what_is_set_aside_counts_until_it_is_settled() {
        let (ledger, today) = (MemoryLedger::default(), day_of(Timestamp::from_millis(0)));
        let ask = |micros| {
            let money = Receipt::new(today, micros);
            let done = ledger.set_aside(&money, Timestamp::from_millis(9), Some(100)).unwrap();
            (money, done)
        };
        let (money, done) = ask(60);
        let refused = SetAside::TooMuch { spent_micros: 0, set_aside_micros: 60 };
        assert_eq!((done, ask(41).1), (SetAside::Done, refused));
        ledger.settle(&money, None).unwrap();
        ledger.settle(&money, None).unwrap();
        assert_eq!(ask(100).1, SetAside::Done);
        assert_eq!(ledger.spent_micros(today), Ok(0));
    }
}
