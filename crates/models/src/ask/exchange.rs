//! One exchange that costs money: its key, its turn, the circuit, further tries, and the entry in the ledger.

use super::{Models, bookkeeping};
use crate::{
    error::{BUDGET, CONFIGURATION, ErrorKind, KEY, ModelError, SERVICE},
    key::Secret,
    ledger::{CallRecord, Purpose, Receipt, SetAside, day_of, next_midnight, random_id},
    limits::{Leave, NoTurn, Open, Verdict},
    request::{Usage, estimated_tokens},
    timer::Cancelled,
    wire::{Failure, Prompt, Reply},
};
use bindery_core::{Backoff, Timestamp};
use std::{
    sync::PoisonError,
    time::{Duration, Instant},
};

/// A key that was refused is tried again after this: services are wrong about keys at times.
const KEY_PAUSE: Duration = Duration::from_secs(10 * 60);
/// An account without credit may have some again after this.
const QUOTA_PAUSE: Duration = Duration::from_secs(60 * 60);
/// Money that is set aside for calls under way may be free again after this.
const MONEY_PAUSE: Duration = Duration::from_secs(60);
/// Before the first further try; doubled before each after it.
const PAUSE: Duration = Duration::from_secs(1);
/// The same where the service has had enough and does not say for how long.
const PAUSE_WHEN_BUSY: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// By how much the estimate of tokens may be too low, in languages other than English and in tables of figures.
const MARGIN: u64 = 2;

/// A call: what is asked, and what the ledger wants to know about it.
pub(super) struct Call<'a> {
    pub(super) item: &'a str,
    pub(super) prompt_version: &'a str,
    pub(super) purpose: Purpose,
    pub(super) model: &'a str,
    pub(super) prompt: &'a Prompt,
}

/// A reply, and what it took.
#[derive(Debug)]
pub(super) struct Exchanged {
    pub(super) reply: Reply,
    pub(super) usage: Usage,
    pub(super) cost_micros: i64,
    pub(super) latency: Duration,
    /// What is not in the ledger yet. Until it is, the money stays set aside, which counts as spent in the end.
    pub(super) bill: Option<Bill>,
}

/// A call that was made, for the ledger.
#[derive(Debug)]
pub(super) struct Bill {
    money: Receipt,
    record: CallRecord,
}

/// How many tokens a prompt has, about.
fn prompt_tokens(prompt: &Prompt) -> u64 {
    let turns = prompt.messages.iter().map(|message| estimated_tokens(message.text())).sum::<u64>();
    estimated_tokens(&prompt.system) + turns + estimated_tokens(&prompt.schema.as_json().to_string())
}

/// The most that a prompt and its answer can come to, for the money that is set aside.
fn most_usage(prompt: &Prompt) -> Usage {
    let input = prompt_tokens(prompt).saturating_mul(MARGIN);
    Usage { input, output: u64::from(prompt.max_output_tokens), cached: 0 }
}

impl Models {
    /// Tries until it works, or trying makes no sense.
    pub(super) fn exchange(&self, call: &Call<'_>, cancelled: Cancelled<'_>) -> Result<Exchanged, ModelError> {
        let mut tries = 1;
        loop {
            let failure = match self.exchange_once(call, cancelled)? {
                Ok(exchanged) => return Ok(exchanged),
                Err(failure) => failure,
            };
            let wait = wait_before_next(&failure, tries);
            let longest = Duration::from_secs(self.config.longest_wait_seconds);
            match wait.filter(|wait| tries < self.config.tries && *wait <= longest) {
                Some(wait) => {
                    if !self.timer.wait_until(self.timer.now() + wait, cancelled) {
                        return Err(ModelError::cancelled());
                    }
                    tries += 1;
                }
                None => return Err(self.error_of(failure)),
            }
        }
    }

    /// One try, with money set aside before and an entry in the ledger after it. The outer error is final for now.
    fn exchange_once(
        &self,
        call: &Call<'_>,
        cancelled: Cancelled<'_>,
    ) -> Result<Result<Exchanged, Failure>, ModelError> {
        let price = self.config.price(call.model);
        let input = prompt_tokens(call.prompt);
        let expected = Usage { input, output: u64::from(call.prompt.max_output_tokens), cached: 0 };
        let most = most_usage(call.prompt);
        let money = self.set_aside(price.micros(most), self.longest_call())?;
        let (result, latency) = match self.attempt(call, expected, cancelled) {
            Ok(ended) => ended,
            Err(error) => {
                self.ledger.settle(&money, None).map_err(bookkeeping)?;
                return Err(error);
            }
        };
        let (usage, outcome) = match &result {
            Ok(reply) => (usage_of(reply, input), "answered"),
            // Nobody says what these cost. The cap has to hold, so it is the most that they can have cost.
            Err(failure) if is_perhaps_billed(failure.kind) => (most, failure.kind.as_str()),
            Err(failure) => (Usage::default(), failure.kind.as_str()),
        };
        let record = CallRecord {
            id: random_id(),
            at: self.timer.wall_clock(),
            item: call.item.to_owned(),
            provider: self.provider.name().to_owned(),
            model: call.model.to_owned(),
            prompt_version: call.prompt_version.to_owned(),
            purpose: call.purpose,
            usage,
            cost_micros: price.micros(usage),
            latency,
            outcome: outcome.to_owned(),
        };
        match result {
            // Whoever keeps the reply settles it afterwards: a call that is in the ledger is not paid for again.
            Ok(reply) => {
                let cost_micros = record.cost_micros;
                Ok(Ok(Exchanged { reply, usage, cost_micros, latency, bill: Some(Bill { money, record }) }))
            }
            Err(failure) => {
                self.ledger.settle(&money, Some(&record)).map_err(bookkeeping)?;
                Ok(Err(failure))
            }
        }
    }

    /// Writes a call into the ledger, once.
    pub(super) fn settle(&self, exchanged: &mut Exchanged) -> Result<(), ModelError> {
        match exchanged.bill.take() {
            Some(Bill { money, record }) => self.ledger.settle(&money, Some(&record)).map_err(bookkeeping),
            None => Ok(()),
        }
    }

    /// After this a call has ended, however it goes.
    fn longest_call(&self) -> Duration {
        let config = &self.config;
        let seconds = [config.longest_wait_seconds, config.connect_timeout_seconds, config.timeout_seconds, 60];
        Duration::from_secs(seconds.into_iter().fold(0, u64::saturating_add))
    }

    /// Sets money aside for a call that takes so long at most, or says that the day's is spent.
    fn set_aside(&self, micros: i64, longest: Duration) -> Result<Receipt, ModelError> {
        let now = self.timer.wall_clock();
        let money = Receipt::new(day_of(now), micros);
        let cap = self.config.daily_cost_cap.map(|cap| (cap * 1e6) as i64);
        match (self.ledger.set_aside(&money, now + longest, cap).map_err(bookkeeping)?, cap) {
            (SetAside::TooMuch { spent_micros, set_aside_micros }, Some(cap)) => {
                let shown = |micros: i64| micros as f64 / 1e6;
                let message = format!(
                    "a call of up to {:.4} would exceed the daily cost cap of {:.4}, of which {:.4} is spent and {:.4} set aside for calls under way; it is lifted at midnight UTC, or by `daily_cost_cap`",
                    shown(micros),
                    shown(cap),
                    shown(spent_micros),
                    shown(set_aside_micros)
                );
                // Calls under way mostly cost less than was set aside for them.
                let is_spent = spent_micros.saturating_add(micros) > cap;
                let retry_at = if is_spent { next_midnight(now) } else { now + MONEY_PAUSE };
                Err(ModelError::parked(ErrorKind::CostCap, message, BUDGET, Some(retry_at)))
            }
            _ => Ok(money),
        }
    }

    /// One try without regard to money: the key, the turn, the circuit, the call. Also says how long the service took.
    fn attempt(
        &self,
        call: &Call<'_>,
        expected: Usage,
        cancelled: Cancelled<'_>,
    ) -> Result<(Result<Reply, Failure>, Duration), ModelError> {
        let key = self.key()?;
        // Nobody waits for a turn that would end at an open circuit.
        self.circuit_now().check(self.timer.now()).map_err(|open| self.left_alone(&open))?;
        let longest = Duration::from_secs(self.config.longest_wait_seconds);
        let turn = self.turns.wait(expected.total(), longest, cancelled).map_err(|no_turn| self.no_turn(no_turn))?;
        let mut trying = self.enter()?;
        let started = Instant::now();
        let result = self.provider.ask(call.model, call.prompt, key.as_ref());
        let latency = started.elapsed();
        let (verdict, used) = match &result {
            Ok(reply) => {
                trying.report(Health::Works, "");
                (Verdict::Good, usage_of(reply, expected.input).total())
            }
            Err(failure) => {
                trying.report(health(failure), &failure.message);
                let used = if is_perhaps_billed(failure.kind) { expected.total() } else { 0 };
                match failure.kind {
                    ErrorKind::RateLimited => (Verdict::TooFast { wait: failure.wait }, used),
                    _ => (Verdict::None, used),
                }
            }
        };
        turn.ended(verdict, used);
        if let (Err(Failure { kind: ErrorKind::KeyRefused, .. }), Some(key)) = (&result, &key) {
            let refused = Some((key.fingerprint(), self.timer.now()));
            *self.refused_key.lock().unwrap_or_else(PoisonError::into_inner) = refused;
        }
        Ok((result, latency))
    }

    /// The key, unless it is not there or was refused a short while ago.
    fn key(&self) -> Result<Option<Secret>, ModelError> {
        let key =
            self.config.key().read().map_err(|sentence| ModelError::parked(ErrorKind::NoKey, sentence, KEY, None))?;
        let refused = *self.refused_key.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(key), Some((fingerprint, at))) = (&key, refused)
            && key.fingerprint() == fingerprint
            && self.timer.now() < at + KEY_PAUSE
        {
            let message = "the service did not take the key of the language model; give it another one";
            let retry_at = Some(self.wall_time(at + KEY_PAUSE));
            return Err(ModelError::parked(ErrorKind::KeyRefused, message, KEY, retry_at));
        }
        Ok(key)
    }

    fn enter(&self) -> Result<Trying<'_>, ModelError> {
        let leave = self.circuit_now().enter(self.timer.now());
        let leave = leave.map_err(|open| self.left_alone(&open))?;
        Ok(Trying { models: self, leave, health: Health::Unknown, error: String::new() })
    }

    fn left_alone(&self, open: &Open) -> ModelError {
        let until = self.wall_time(open.until);
        let message = format!(
            "the language model service failed {} times in a row and is left alone until {until}: {}",
            open.failures, open.last_error
        );
        ModelError::parked(ErrorKind::CircuitOpen, message, SERVICE, Some(until))
    }

    fn no_turn(&self, no_turn: NoTurn) -> ModelError {
        match no_turn {
            NoTurn::Cancelled => ModelError::cancelled(),
            NoTurn::TooLong(wait) => {
                let message = format!(
                    "the next free turn of the language model is in {} s, longer than `longest_wait_seconds`",
                    wait.as_secs()
                );
                let retry_at = Some(self.timer.wall_clock() + wait);
                ModelError::parked(ErrorKind::RateLimited, message, SERVICE, retry_at)
            }
        }
    }

    /// A failure that is not tried again here, as whoever asked should see it.
    fn error_of(&self, failure: Failure) -> ModelError {
        let Failure { kind, message, wait } = failure;
        let later = |pause: Duration| Some(self.timer.wall_clock() + pause);
        match kind {
            ErrorKind::KeyRefused => ModelError::parked(kind, message, KEY, later(KEY_PAUSE)),
            // As for a key: nothing that is asked would be answered.
            ErrorKind::Misconfigured => ModelError::parked(kind, message, CONFIGURATION, None),
            ErrorKind::QuotaSpent => ModelError::parked(kind, message, SERVICE, later(wait.unwrap_or(QUOTA_PAUSE))),
            ErrorKind::RateLimited => ModelError::parked(kind, message, SERVICE, later(wait.unwrap_or(LONGEST_PAUSE))),
            ErrorKind::ServerFault | ErrorKind::Timeout | ErrorKind::Unreachable => {
                match self.circuit_now().check(self.timer.now()) {
                    // It is the service and not this question.
                    Err(open) => ModelError::parked(kind, message, SERVICE, Some(self.wall_time(open.until))),
                    Ok(()) => ModelError::transient(kind, message, wait),
                }
            }
            _ => ModelError::permanent(kind, message),
        }
    }
}

/// What a call says about the service.
#[derive(Clone, Copy)]
enum Health {
    Works,
    Fails,
    Unknown,
}

/// A call under way, as far as the circuit is concerned.
struct Trying<'m> {
    models: &'m Models,
    leave: Leave,
    health: Health,
    error: String,
}

impl Trying<'_> {
    fn report(&mut self, health: Health, error: &str) {
        self.health = health;
        error.clone_into(&mut self.error);
    }
}

impl Drop for Trying<'_> {
    fn drop(&mut self) {
        let now: Timestamp = self.models.timer.now();
        let mut circuit = self.models.circuit_now();
        match self.health {
            Health::Works => circuit.succeeded(self.leave),
            Health::Fails => circuit.failed(self.leave, &self.error, now),
            Health::Unknown => circuit.released(self.leave),
        }
    }
}

fn health(failure: &Failure) -> Health {
    match failure.kind {
        ErrorKind::ServerFault | ErrorKind::Timeout | ErrorKind::Unreachable => Health::Fails,
        ErrorKind::Refused | ErrorKind::TooMuchOutput => Health::Works,
        _ => Health::Unknown,
    }
}

/// Whether the service may have worked for it.
fn is_perhaps_billed(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Timeout | ErrorKind::TooMuchOutput)
}

/// The tokens of a reply, estimated where the service does not count.
fn usage_of(reply: &Reply, input: u64) -> Usage {
    reply.usage.unwrap_or_else(|| Usage { input, output: estimated_tokens(&reply.text), cached: 0 })
}

/// How long to wait before the next try; none for a failure that would only happen again.
fn wait_before_next(failure: &Failure, tries: u32) -> Option<Duration> {
    let first = match failure.kind {
        // The limiter holds everybody back for as long as the service asked.
        ErrorKind::RateLimited if failure.wait.is_some() => return failure.wait,
        ErrorKind::RateLimited => PAUSE_WHEN_BUSY,
        ErrorKind::ServerFault | ErrorKind::Timeout | ErrorKind::Unreachable => PAUSE,
        _ => return None,
    };
    // Spread, so that those who failed together do not come back together.
    let spread = Backoff::doubling(first, LONGEST_PAUSE).random_delay(tries);
    Some(spread.max(failure.wait.unwrap_or_default()))
}
