//! What the runs of a lineage have left behind, and what is left to do.

use super::{
    Runs, STAGE, is_retry,
    item::StoredInput,
    outcome::Written,
    plan::{Entry, Plan},
    record::RunRecord,
};
use crate::{
    engine::Engine,
    error::{EngineError, EngineResult},
    execution::{Execution, Fingerprint, FinishedInput, Payload, ProcessorInput},
};
use bindery_core::{
    ItemId, Name,
    item::Item,
    outcome::{Outcome, OutcomeStatus, Step},
};
use bindery_store::query::ItemFilter;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The error of an input that was refused because its id was given more than once.
const DUPLICATE: &str = "DuplicateInput";

/// One run with its rows.
#[derive(Debug)]
pub(super) struct StoredRun {
    pub(super) record: RunRecord,
    /// The inputs that it executes, in their order.
    pub(super) items: Vec<Item>,
    pub(super) outcomes: HashMap<ItemId, Outcome>,
}

/// A run and those before it, the oldest first.
#[derive(Debug)]
pub(super) struct Lineage {
    pub(super) runs: Vec<StoredRun>,
}

/// An input as the lineage knows it.
#[derive(Debug)]
pub(super) struct KnownInput<'a> {
    /// The newest row of it, and the run that it belongs to.
    pub(super) item: &'a Item,
    item_run: usize,
    /// With the run that each belongs to; the newest last.
    pub(super) outcomes: Vec<(usize, &'a Outcome)>,
}

impl Runs {
    pub(super) async fn rows_of(&self, record: RunRecord) -> EngineResult<StoredRun> {
        let store = self.engine.store();
        let mut items = store.items(record.submission, ItemFilter::default()).await?;
        items.sort_by_key(|item| item.ordinal);
        let outcomes = store.outcomes(record.submission, Some(&Name::from(STAGE))).await?;
        let outcomes = outcomes.into_iter().filter_map(|outcome| Some((outcome.item?, outcome))).collect();
        Ok(StoredRun { record, items, outcomes })
    }

    /// A run and those before it, the oldest first.
    pub(super) async fn records_up_to(&self, last: RunRecord) -> EngineResult<Vec<RunRecord>> {
        let mut seen = HashSet::from([last.run_id.clone()]);
        let mut records = vec![last];
        while let Some(previous) = records.last().and_then(|record| record.context().previous_run_id.clone()) {
            let after = records.last().map(|record| record.run_id.clone()).unwrap_or_default();
            let gone = || format!("run {after} goes on where run {previous} stopped, which is not stored any more");
            let record = self.record(&previous).await?.filter(|record| seen.insert(record.run_id.clone()));
            records.push(record.ok_or_else(|| EngineError::Invalid(gone()))?);
        }
        records.reverse();
        Ok(records)
    }

    pub(super) async fn lineage(&self, last: RunRecord) -> EngineResult<Lineage> {
        let mut runs = Vec::new();
        for record in self.records_up_to(last).await? {
            runs.push(self.rows_of(record).await?);
        }
        Ok(Lineage { runs })
    }
}

impl Lineage {
    /// Every input once, in the order of the first run; what a later run added comes after that.
    pub(super) fn inputs(&self) -> Vec<KnownInput<'_>> {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut inputs: Vec<KnownInput<'_>> = Vec::new();
        for (run, StoredRun { items, outcomes, .. }) in self.runs.iter().enumerate() {
            for item in items {
                let key = item.key.as_deref().unwrap_or_default();
                let place = *places.entry(key).or_insert_with(|| {
                    inputs.push(KnownInput { item, item_run: run, outcomes: Vec::new() });
                    inputs.len() - 1
                });
                let known = &mut inputs[place];
                (known.item, known.item_run) = (item, run);
                known.outcomes.extend(outcomes.get(&item.id).map(|outcome| (run, outcome)));
            }
        }
        inputs
    }

    /// The step that the last of the failed inputs failed at.
    pub(super) fn last_error_step(&self) -> Option<Step> {
        let last_failed = |known: &KnownInput<'_>| {
            let (_, newest) = known.outcomes.last()?;
            newest.error.as_ref().filter(|_| newest.status == OutcomeStatus::Failed)?.step
        };
        self.inputs().iter().rev().find_map(last_failed)
    }

    /// What a run that follows has to do. `given` inputs take the place of stored ones, or come behind them.
    pub(super) async fn plan(&self, engine: &Engine, execution: &Execution, given: Vec<Entry>) -> EngineResult<Plan> {
        let places: HashMap<String, usize> =
            given.iter().enumerate().map(|(place, entry)| (entry.input.input_id.clone(), place)).collect();
        let mut given: Vec<Option<Entry>> = given.into_iter().map(Some).collect();
        let mut plan = Plan::default();
        for known in self.inputs() {
            let key = known.item.key.as_deref().unwrap_or_default();
            let brought = places.get(key).and_then(|place| given[*place].take());
            let mut entry = match brought {
                Some(entry) => entry,
                None => self.stored_entry(engine, &known).await?,
            };
            if let Some(done) = self.finished(engine, execution, &known, &entry).await? {
                plan.finished.insert(entry.input.input_id.clone(), done);
            } else if entry.input.payload.is_none() {
                entry.input.payload = self.left_behind(engine, &known).await?;
                entry.resumes = entry.input.payload.is_some();
            }
            plan.entries.push(entry);
        }
        plan.entries.extend(given.into_iter().flatten());
        Ok(plan)
    }

    async fn stored_entry(&self, engine: &Engine, known: &KnownInput<'_>) -> EngineResult<Entry> {
        let stored = StoredInput::from_item(known.item)?;
        let record = &self.runs[known.item_run].record;
        // An id that was refused for being given twice is still given twice.
        let newest_error = known.outcomes.last().and_then(|(_, outcome)| outcome.error.as_ref());
        let times = if newest_error.is_some_and(|error| error.kind == DUPLICATE) { stored.times } else { 1 };
        let mut input = ProcessorInput::new(
            known.item.key.clone().unwrap_or_default(),
            &record.account_id,
            &record.details.underwriting_id,
            stored.read_data(engine).await?,
        );
        input.unreadable = stored.unreadable;
        Ok(Entry { input, times, resumes: false })
    }

    /// A result for the same data by the same version counts, whichever run it is of.
    async fn finished(
        &self,
        engine: &Engine,
        execution: &Execution,
        known: &KnownInput<'_>,
        entry: &Entry,
    ) -> EngineResult<Option<FinishedInput>> {
        let is_done = |outcome: &Outcome| outcome.status == OutcomeStatus::Completed;
        if entry.is_refused_under(execution.duplicates()) || !known.outcomes.iter().any(|(_, one)| is_done(one)) {
            return Ok(None);
        }
        let now = Fingerprint::compute(execution.processor(), &entry.input.data);
        let same = |outcome: &Outcome| {
            is_done(outcome) && outcome.input_hash == Some(now.input) && outcome.processor_version == now.version
        };
        let Some((run, outcome)) = known.outcomes.iter().rev().find(|(_, outcome)| same(outcome)) else {
            return Ok(None);
        };
        Ok(Some(FinishedInput {
            run_id: self.runs[*run].record.run_id.clone(),
            processor_version: outcome.processor_version,
            input_hash: now.input,
            factors: Written::read(engine, outcome).await?.factors.unwrap_or_default(),
        }))
    }

    /// The payload that an input resumes with: what its last failure left, or what a caller brought along for a run
    /// that never came to it.
    async fn left_behind(&self, engine: &Engine, known: &KnownInput<'_>) -> EngineResult<Option<Value>> {
        let newest = known.outcomes.last();
        // A payload counts only in a run that follows another one; in a first run it never did.
        let came_later = newest.is_none_or(|(run, _)| *run < known.item_run);
        if came_later && is_retry(self.runs[known.item_run].record.context()) {
            let stored = StoredInput::from_item(known.item)?;
            if stored.has_payload() {
                return stored.read_payload(engine).await;
            }
        }
        let Some((run, outcome)) = newest else { return Ok(None) };
        let Some(resume) = &outcome.resume else { return Ok(None) };
        let record = &self.runs[*run].record;
        let fingerprint = Fingerprint {
            processor: record.details.processor.clone(),
            version: resume.processor_version,
            input: resume.input_hash,
        };
        let (exception, message) =
            outcome.error.as_ref().map(|error| (error.kind.clone(), error.message.clone())).unwrap_or_default();
        let payload = Payload {
            step: resume.step,
            exception,
            message,
            data: engine.read_payload(&resume.input).await?,
            retry_count: Some(record.context().retry_count.saturating_add(1)),
            fingerprint: Some(fingerprint.to_string()),
        };
        serde_json::to_value(payload).map(Some).map_err(|error| EngineError::Invalid(format!("a payload: {error}")))
    }
}
