//! Many questions at once, for less money and without haste.
//!
//! The keys of a batch are not trusted: an answer counts for an item only if the answer itself names that item. Answers
//! under the key of another item are refused, one by one, and can be asked for again. A batch makes no repairs.

use super::{
    Models, Spent, bookkeeping,
    exchange::{Exchanged, Spending, most_usage},
    no_answer,
};
use crate::{
    answers::{WrongAnswer, echoed_item, read},
    error::{ErrorKind, ModelError},
    key::Secret,
    ledger::{CallRecord, Purpose, Receipt},
    request::{Answer, Request, Soundness, Usage, estimated_tokens},
    timer::Cancelled,
    wire::{BatchEntry, BatchProgress, Batches, Failure, Prompt},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    time::Duration,
};

/// Services take a day, and give a batch up some time after it.
const LONGEST_BATCH: Duration = Duration::from_secs(3 * 24 * 60 * 60);

/// A batch that the service has accepted. Keep it: it is all that is needed to ask for the answers later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// By which the service knows it.
    pub name: String,
    pub model: String,
    pub items: Vec<String>,
    /// What was set aside for it.
    pub money: Receipt,
}

/// What became of the questions.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchBegun {
    /// Those that were asked before.
    pub known: Vec<(String, Answer)>,
    /// One for each model.
    pub batches: Vec<Batch>,
}

/// How far a batch is.
#[derive(Debug, Clone, PartialEq)]
pub enum BatchOutcome {
    Running,
    /// It will not be answered, for this reason. Nothing was paid.
    Ended(String),
    Done(BatchAnswers),
}

/// What a batch came to.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchAnswers {
    /// One for each item, in the order of the batch.
    pub answers: Vec<(String, Result<Answer, ModelError>)>,
    /// Answers that belong to nobody, by what they call themselves.
    pub strangers: Vec<String>,
}

impl Models {
    fn batches(&self) -> Result<&dyn Batches, ModelError> {
        self.provider.batches().ok_or_else(|| {
            let message = format!("the provider {} has no batches; ask one by one", self.provider.name());
            ModelError::lasting(ErrorKind::Refused, message)
        })
    }

    /// Hands in questions. The caller keeps the batches that come back, and the questions.
    pub fn begin_batch(&self, requests: &[Request], cancelled: Cancelled<'_>) -> Result<BatchBegun, ModelError> {
        let service = self.batches()?;
        let mut items = HashSet::new();
        if let Some(twice) = requests.iter().find(|request| !items.insert(&request.item)) {
            let message = format!("{} is in the batch twice, and its two answers could not be told apart", twice.item);
            return Err(ModelError::lasting(ErrorKind::Refused, message));
        }
        let mut known = Vec::new();
        let mut by_model: BTreeMap<&str, Vec<(String, Prompt)>> = BTreeMap::new();
        for request in requests {
            self.check_length(request)?;
            if let Some(answer) = self.kept(request)? {
                known.push((request.item.clone(), answer));
                continue;
            }
            let model = self.config.choice(request.size).model.as_str();
            by_model.entry(model).or_default().push((request.item.clone(), self.prompt_of(request)));
        }
        let mut batches = Vec::new();
        for (model, entries) in by_model {
            let price = self.config.price(model);
            let micros = entries.iter().map(|(_, prompt)| price.batch_micros(most_usage(prompt))).sum();
            let money = self.set_aside(micros, LONGEST_BATCH)?;
            let created = self.free_call(cancelled, &|key| service.create(model, &entries, key));
            match created {
                Ok(name) => {
                    let items = entries.into_iter().map(|(item, _)| item).collect();
                    batches.push(Batch { name, model: model.to_owned(), items, money });
                }
                Err(error) => {
                    self.ledger.settle(&money, None).map_err(bookkeeping)?;
                    return Err(error);
                }
            }
        }
        Ok(BatchBegun { known, batches })
    }

    /// Asks how far a batch is, and takes its answers when they are there. `requests` are those that it was begun with.
    pub fn collect_batch(
        &self,
        batch: &Batch,
        requests: &[Request],
        cancelled: Cancelled<'_>,
    ) -> Result<BatchOutcome, ModelError> {
        let service = self.batches()?;
        let entries = match self.free_call(cancelled, &|key| service.poll(&batch.name, key))? {
            BatchProgress::Running => return Ok(BatchOutcome::Running),
            BatchProgress::Ended(reason) => {
                self.ledger.settle(&batch.money, None).map_err(bookkeeping)?;
                return Ok(BatchOutcome::Ended(reason));
            }
            BatchProgress::Done(entries) => entries,
        };
        let requests: HashMap<&str, &Request> =
            requests.iter().map(|request| (request.item.as_str(), request)).collect();
        let mut strangers = Vec::new();
        let mut found: HashMap<String, Result<Answer, ModelError>> = HashMap::new();
        for entry in entries {
            let echoed = entry.reply.as_ref().ok().and_then(|reply| echoed_item(&reply.text));
            // Where the service does not repeat the key, the answer's own word is all there is.
            let item = entry.key.clone().or(echoed).unwrap_or_default();
            let request = requests.get(item.as_str()).filter(|_| batch.items.contains(&item));
            match request {
                Some(request) if !found.contains_key(&item) => {
                    let answer = self.batch_answer(batch, request, entry)?;
                    found.insert(item, answer);
                }
                _ => strangers.push(if item.is_empty() { "an answer without a name".to_owned() } else { item }),
            }
        }
        self.ledger.settle(&batch.money, None).map_err(bookkeeping)?;
        let answers = batch.items.iter().map(|item| {
            let answer = found.remove(item).unwrap_or_else(|| {
                let message = format!("{} has no answer about {item}", batch.name);
                Err(ModelError::passing(ErrorKind::BadAnswer, message, None))
            });
            (item.clone(), answer)
        });
        Ok(BatchOutcome::Done(BatchAnswers { answers: answers.collect(), strangers }))
    }

    /// Gives a batch up. What it has answered by then may still have to be paid for.
    pub fn cancel_batch(&self, batch: &Batch, cancelled: Cancelled<'_>) -> Result<(), ModelError> {
        let service = self.batches()?;
        self.free_call(cancelled, &|key| service.cancel(&batch.name, key))?;
        self.ledger.settle(&batch.money, None).map_err(bookkeeping)
    }

    /// A call that costs nothing by itself.
    fn free_call<T>(
        &self,
        cancelled: Cancelled<'_>,
        call: &dyn Fn(Option<&Secret>) -> Result<T, Failure>,
    ) -> Result<T, ModelError> {
        self.with_tries(cancelled, || {
            let spending = Spending { of: &|_: &T| Usage::default(), most: Usage::default() };
            Ok(self.attempt(0, &spending, cancelled, call)?.result)
        })
    }

    /// One answer, recorded and looked at. The outer error is the ledger's.
    fn batch_answer(
        &self,
        batch: &Batch,
        request: &Request,
        entry: BatchEntry,
    ) -> Result<Result<Answer, ModelError>, ModelError> {
        let reply = match entry.reply {
            Ok(reply) => reply,
            Err(failure) => return Ok(Err(self.error_of(failure))),
        };
        let usage = reply.usage.unwrap_or_else(|| Usage {
            input: request.estimated_input(),
            output: estimated_tokens(&reply.text),
            cached: 0,
        });
        let cost_micros = self.config.price(&batch.model).batch_micros(usage);
        let record = CallRecord {
            // Whoever takes the answers a second time, because the first time broke off, pays once.
            id: format!("{} {}", batch.name, request.item),
            at: self.timer.wall_clock(),
            item: request.item.clone(),
            provider: self.provider.name().to_owned(),
            model: batch.model.clone(),
            prompt_version: request.prompt_version.clone(),
            purpose: Purpose::Batch,
            usage,
            cost_micros,
            latency: Duration::ZERO,
            outcome: "answered".to_owned(),
        };
        self.ledger.record(batch.money.day, &record).map_err(bookkeeping)?;
        let reading = match read(&reply.text, &request.schema, &request.item) {
            Ok(reading) => reading,
            Err(WrongAnswer::Faults { salvage: Some(reading), .. }) => *reading,
            Err(wrong) => return Ok(Err(no_answer(&reply.model, &request.item, wrong, "in a batch"))),
        };
        let mut exchanged = Exchanged { reply, usage, cost_micros, latency: Duration::ZERO, bill: None };
        let spent = Spent::default().with(&exchanged);
        self.keep(request, reading, Soundness::Whole, &mut exchanged, spent).map(Ok)
    }
}
