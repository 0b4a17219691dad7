//! Questions to the configured service, with everything that has to be seen to around them.
//!
//! ```text
//!  ask ─► cache? ─► money ─► turn ─► circuit ─► the exchange ─► read: echo, schema ─► cache ─► answer
//!                     ▲                             │ 429, 5xx, time      │ faults
//!                     └────────── try again ────────┘                     └─► one repair, the same way
//! ```

mod chunks;
mod exchange;
mod in_flight;
mod long;

pub use chunks::split;
pub use long::{LongAnswer, LongRequest};

use super::{
    answers::{Reading, WrongAnswer, read, with_echo},
    cache::{AnswerCache, KeptAnswer, cache_key},
    config::{ConfigError, ModelsConfig},
    error::{ErrorKind, ModelError},
    ledger::{BookError, Ledger, Purpose},
    limits::{BREAKER, Circuit, Limiter, Turns},
    request::{Answer, Request, Soundness, Usage},
    timer::{Cancelled, SystemTimer, Timer},
    wire::{Message, Prompt, Provider},
};
use bindery_core::{ContentHash, Timestamp};
use exchange::{Call, Exchanged};
use in_flight::InFlight;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Characters of a wrong answer that are shown to the model again.
const MOST_SHOWN: usize = 20_000;

/// The one client of a service. Share it: the limiter, the circuit and the money are those of all who use it.
#[derive(Debug)]
pub struct Models {
    config: ModelsConfig,
    provider: Arc<dyn Provider>,
    turns: Turns,
    circuit: Mutex<Circuit>,
    in_flight: InFlight,
    /// A key that the service did not take, and when that was.
    refused_key: Mutex<Option<(ContentHash, Timestamp)>>,
    ledger: Arc<dyn Ledger>,
    cache: Arc<dyn AnswerCache>,
    timer: Arc<dyn Timer>,
}

/// What a question would cost, before it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    pub model: String,
    pub input_tokens: u64,
    /// With an answer as long as it may be.
    pub most_micros: i64,
    /// It was asked before, and costs nothing.
    pub is_kept: bool,
}

/// What the calls of one question took together.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    usage: Usage,
    cost_micros: i64,
    latency: Duration,
}

impl Spent {
    fn add(self, exchanged: &Exchanged) -> Self {
        Self {
            usage: self.usage.plus(exchanged.usage),
            cost_micros: self.cost_micros.saturating_add(exchanged.cost_micros),
            latency: self.latency + exchanged.latency,
        }
    }
}

impl Models {
    pub fn new(
        config: ModelsConfig,
        ledger: Arc<dyn Ledger>,
        cache: Arc<dyn AnswerCache>,
    ) -> Result<Self, ConfigError> {
        Self::with_timer(config, ledger, cache, Arc::new(SystemTimer::default()))
    }

    /// With a clock of the caller's own.
    pub fn with_timer(
        config: ModelsConfig,
        ledger: Arc<dyn Ledger>,
        cache: Arc<dyn AnswerCache>,
        timer: Arc<dyn Timer>,
    ) -> Result<Self, ConfigError> {
        config.check()?;
        let provider = config.provider();
        let limiter = Limiter::new(config.requests_per_minute, config.tokens_per_minute);
        let turns = Turns::new(limiter, Arc::clone(&timer));
        let circuit = Mutex::new(Circuit::new(BREAKER));
        let (in_flight, refused_key) = (InFlight::default(), Mutex::default());
        Ok(Self { config, provider, turns, circuit, in_flight, refused_key, ledger, cache, timer })
    }

    pub fn config(&self) -> &ModelsConfig {
        &self.config
    }

    fn circuit_now(&self) -> MutexGuard<'_, Circuit> {
        self.circuit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A moment of our own clock by the one that others see.
    fn wall_time(&self, moment: Timestamp) -> Timestamp {
        self.timer.wall_clock() + moment.since(self.timer.now())
    }

    fn key_of(&self, request: &Request) -> ContentHash {
        cache_key(self.provider.name(), &self.config.choice(request.size).identity(), request)
    }

    /// A request as it is sent.
    fn prompt_of(&self, request: &Request) -> Prompt {
        Prompt { thinking: self.config.choice(request.size).thinking_mode(), ..with_echo(request) }
    }

    /// What a question would cost. Asks nobody.
    pub fn estimate(&self, request: &Request) -> Result<Estimate, ModelError> {
        let model = self.config.choice(request.size).model.clone();
        let input_tokens = request.estimated_input();
        let usage = Usage { input: input_tokens, output: u64::from(request.max_output_tokens), cached: 0 };
        let is_kept = self.cache.get(&self.key_of(request)).map_err(bookkeeping)?.is_some();
        let most_micros = if is_kept { 0 } else { self.config.price(&model).micros(usage) };
        Ok(Estimate { model, input_tokens, most_micros, is_kept })
    }

    /// Asks one question. Blocks until there is an answer or an error that says what to do next; while it waits for its
    /// turn it can be cancelled, and a call that is under way ends at its time limit.
    pub fn ask(&self, request: &Request, cancelled: Cancelled<'_>) -> Result<Answer, ModelError> {
        self.check_length(request)?;
        if let Some(answer) = self.cached_answer(request)? {
            return Ok(answer);
        }
        let under_way = self.in_flight.begin(self.key_of(request), cancelled);
        let _under_way = under_way.ok_or_else(ModelError::cancelled)?;
        // Somebody may have asked the same meanwhile.
        if let Some(answer) = self.cached_answer(request)? {
            return Ok(answer);
        }
        let prompt = self.prompt_of(request);
        let mut first = self.exchange(&self.call(request, Purpose::Question, &prompt), cancelled)?;
        let spent = Spent::default().add(&first);
        let wrong = match read(&first.reply.text, &request.schema, &request.item) {
            Ok(reading) => return self.keep(request, reading, Soundness::Whole, &mut first, spent),
            Err(wrong) => wrong,
        };
        self.settle(&mut first)?;
        let prompt = repair(prompt, &first.reply.text, &wrong);
        let mut second = match (self.exchange(&self.call(request, Purpose::Repair, &prompt), cancelled), &wrong) {
            (Ok(second), _) => second,
            // Something is better than a second bill.
            (Err(_), WrongAnswer::Faults { salvage: Some(reading), .. }) => {
                return self.keep(request, *reading.clone(), Soundness::Whole, &mut first, spent);
            }
            (Err(error), _) => return Err(error),
        };
        let spent = spent.add(&second);
        match (read(&second.reply.text, &request.schema, &request.item), wrong) {
            (Ok(reading), _) => self.keep(request, reading, Soundness::Repaired, &mut second, spent),
            (Err(WrongAnswer::Faults { salvage: Some(reading), .. }), _)
            | (Err(_), WrongAnswer::Faults { salvage: Some(reading), .. }) => {
                self.keep(request, *reading, Soundness::Whole, &mut second, spent)
            }
            (Err(wrong), _) => {
                self.settle(&mut second)?;
                Err(no_answer(&second.reply.model, &request.item, wrong, "also after one repair"))
            }
        }
    }

    fn call<'a>(&'a self, request: &'a Request, purpose: Purpose, prompt: &'a Prompt) -> Call<'a> {
        let model = &self.config.choice(request.size).model;
        Call { item: &request.item, prompt_version: &request.prompt_version, purpose, model, prompt }
    }

    fn check_length(&self, request: &Request) -> Result<(), ModelError> {
        let choice = self.config.choice(request.size);
        let tokens = request.estimated_input();
        if tokens <= choice.max_input_tokens {
            return Ok(());
        }
        let message = format!(
            "the question about {} has about {tokens} tokens, and {} takes {} (`max_input_tokens`)",
            request.item, choice.model, choice.max_input_tokens
        );
        Err(ModelError::permanent(ErrorKind::TooLong, message))
    }

    /// The answer to a question that was asked before.
    fn cached_answer(&self, request: &Request) -> Result<Option<Answer>, ModelError> {
        let kept = self.cache.get(&self.key_of(request)).map_err(bookkeeping)?;
        Ok(kept.map(|kept| Answer {
            value: kept.value,
            model: kept.model,
            usage: Usage::default(),
            cost_micros: 0,
            latency: Duration::ZERO,
            from_cache: true,
            soundness: kept.soundness,
            dropped: kept.dropped,
        }))
    }

    /// Puts an answer into the cache, and its call into the ledger. `soundness` is for one that did not break off.
    fn keep(
        &self,
        request: &Request,
        reading: Reading,
        soundness: Soundness,
        last: &mut Exchanged,
        spent: Spent,
    ) -> Result<Answer, ModelError> {
        let soundness = if reading.is_broken { Soundness::Salvaged { missing: reading.missing } } else { soundness };
        let (value, dropped) = (reading.value, reading.dropped);
        let kept = KeptAnswer { value, model: last.reply.model.clone(), soundness, dropped };
        // Before anything else can fail: an answer that is kept is never paid for again. Only then comes the ledger;
        // whoever asks again because it could not be written finds the answer here.
        self.cache.put(&self.key_of(request), &kept).map_err(bookkeeping)?;
        self.settle(last)?;
        let KeptAnswer { value, model, soundness, dropped } = kept;
        let Spent { usage, cost_micros, latency } = spent;
        Ok(Answer { value, model, usage, cost_micros, latency, from_cache: false, soundness, dropped })
    }
}

/// The question again. An answer about another item is not shown to the model: it would only be given the right name.
fn repair(mut prompt: Prompt, said: &str, wrong: &WrongAnswer) -> Prompt {
    if let WrongAnswer::Faults { faults, .. } = wrong {
        let shown: String = said.chars().take(MOST_SHOWN).collect();
        prompt.messages.push(Message::Model(if shown.trim().is_empty() { "(nothing)".to_owned() } else { shown }));
        let list = format!("- {}", faults.join("\n- "));
        prompt.messages.push(Message::User(format!(
            "Your answer cannot be used:\n{list}\nGive the whole answer again, as one JSON object that fits the schema, and nothing else."
        )));
    }
    prompt
}

fn no_answer(model: &str, item: &str, wrong: WrongAnswer, when: &str) -> ModelError {
    match wrong {
        WrongAnswer::Faults { faults, .. } => {
            let message = format!("{model} gave no usable answer about {item}, {when}: {}", faults.join("; "));
            ModelError::permanent(ErrorKind::BadAnswer, message)
        }
        WrongAnswer::OtherItem(other) => {
            let message = format!("{model} was asked about {item} and answered about {other:?}, {when}");
            ModelError::permanent(ErrorKind::WrongItem, message)
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn bookkeeping(error: BookError) -> ModelError {
    let message = format!("the books of the language model cannot be kept: {error}");
    ModelError::transient(ErrorKind::Bookkeeping, message, None)
}
