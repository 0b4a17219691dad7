//! A processor whose failures the test decides, and which remembers what it did.

use crate::support::Rig;
use bindery_core::{StepError, outcome::Step};
use bindery_engine::{
    EngineError, EngineResult, Extracted, Processor, Registry,
    context::StepContext,
    execution::{Execution, ExecutionContext, ProcessingResult, ProcessorInput},
    runner::{Runner, Sequential, Threads},
    runs::{HEARTBEAT_INTERVAL, RunProgress, RunRecord, Runs},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

pub(super) const ACCOUNT: &str = "acc_123";
pub(super) const UNDERWRITING: &str = "uw_456";

/// What each step of an input costs.
pub(super) const STEP_COST: i64 = 10;

/// Copies are one processor.
#[derive(Clone)]
pub(super) struct Clerk(Arc<Desk>);

struct Desk {
    name: String,
    version: AtomicU32,
    failing: Mutex<HashMap<String, Step>>,
    /// How often each step ran for each input.
    ran: Mutex<BTreeMap<(String, Step), u32>>,
    /// From this number on, inputs wait in processing until the gate opens.
    held_from: Mutex<Option<i64>>,
    opened: Condvar,
    /// Told when an input waits.
    reached: tokio::sync::Semaphore,
}

impl Clerk {
    pub(super) fn new() -> Self {
        Self::named("clerk")
    }

    pub(super) fn named(name: &str) -> Self {
        Self(Arc::new(Desk {
            name: name.to_owned(),
            version: AtomicU32::new(1),
            failing: Mutex::default(),
            ran: Mutex::default(),
            held_from: Mutex::default(),
            opened: Condvar::new(),
            reached: tokio::sync::Semaphore::new(0),
        }))
    }

    /// From now on the input fails at this step.
    pub(super) fn fail(&self, id: &str, step: Step) {
        self.0.failing.lock().unwrap().insert(id.to_owned(), step);
    }

    pub(super) fn heal(&self) {
        self.0.failing.lock().unwrap().clear();
    }

    pub(super) fn set_version(&self, version: u32) {
        self.0.version.store(version, Ordering::SeqCst);
    }

    /// The processing of inputs with this number and greater ones waits until [`open`](Self::open).
    pub(super) fn hold_from(&self, n: i64) {
        *self.0.held_from.lock().unwrap() = Some(n);
    }

    pub(super) fn open(&self) {
        *self.0.held_from.lock().unwrap() = None;
        self.0.opened.notify_all();
    }

    /// Until an input waits.
    pub(super) async fn is_reached(&self) {
        self.0.reached.acquire().await.unwrap().forget();
    }

    /// How often the steps of an input ran: validation, processing, extraction.
    pub(super) fn steps_of(&self, id: &str) -> [u32; 3] {
        let ran = self.0.ran.lock().unwrap();
        Step::ALL.map(|step| ran.get(&(id.to_owned(), step)).copied().unwrap_or(0))
    }

    /// How often each step ran, for all inputs together.
    pub(super) fn steps(&self) -> [u32; 3] {
        let ran = self.0.ran.lock().unwrap();
        Step::ALL.map(|step| ran.iter().filter(|((_, ran), _)| *ran == step).map(|(_, times)| times).sum())
    }

    pub(super) fn forget(&self) {
        self.0.ran.lock().unwrap().clear();
    }

    fn step(&self, context: &StepContext, step: Step, input: &Value) -> Result<(), StepError> {
        let id = input["id"].as_str().unwrap_or("?").to_owned();
        context.charge("clerk.example.com", step.as_str(), STEP_COST);
        *self.0.ran.lock().unwrap().entry((id.clone(), step)).or_default() += 1;
        if step == Step::Processing {
            let waits = |from: &Option<i64>| from.is_some_and(|from| input["n"].as_i64() >= Some(from));
            let mut from = self.0.held_from.lock().unwrap();
            if waits(&from) {
                self.0.reached.add_permits(1);
            }
            while waits(&from) && !context.is_cancelled() {
                from = self.0.opened.wait_timeout(from, std::time::Duration::from_millis(5)).unwrap().0;
            }
        }
        match self.0.failing.lock().unwrap().get(&id) {
            Some(failing) if *failing == step => Err(StepError::retry(format!("{id} is not legible")).named("Blurred")),
            _ => Ok(()),
        }
    }

    /// Sequential.
    pub(super) fn execution(&self) -> Execution {
        Execution::new(Arc::new(self.clone()), ACCOUNT, UNDERWRITING).unwrap()
    }

    /// As a retry makes it: for whatever the run says.
    pub(super) fn again(&self, record: &RunRecord) -> EngineResult<Execution> {
        let details = &record.details;
        let made = Execution::new(Arc::new(self.clone()), &record.account_id, &details.underwriting_id)
            .map_err(|error| EngineError::Invalid(error.to_string()))?;
        Ok(made.with_settings(details.settings.clone()).with_merge(details.merge.clone()))
    }
}

impl Processor for Clerk {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn version(&self) -> u32 {
        self.0.version.load(Ordering::SeqCst)
    }

    fn validate(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        self.step(context, Step::Validation, &input)?;
        Ok(json!({"id": input["id"], "n": input["n"], "validated": true}))
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        self.step(context, Step::Processing, &input)?;
        assert_eq!(input["validated"], true, "processing is given what validation returned");
        Ok(json!({"id": input["id"], "n": input["n"], "processed": true}))
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        self.step(context, Step::Extraction, &processed)?;
        assert_eq!(processed["processed"], true, "extraction is given what processing returned");
        let id = processed["id"].as_str().unwrap_or("?").to_owned();
        Ok(Extracted::new(json!({id: processed["n"]})))
    }
}

pub(super) fn input(id: &str, n: i64) -> ProcessorInput {
    ProcessorInput::new(id, ACCOUNT, UNDERWRITING, json!({"id": id, "n": n}))
}

/// doc0, doc1, …
pub(super) fn inputs(count: usize) -> Vec<ProcessorInput> {
    (0..count).map(|n| input(&format!("doc{n}"), n as i64)).collect()
}

/// The factors of [`inputs`], merged.
pub(super) fn factors(count: usize) -> Value {
    (0..count).map(|n| (format!("doc{n}"), json!(n))).collect::<serde_json::Map<_, _>>().into()
}

pub(super) fn output(result: &ProcessingResult) -> Value {
    serde_json::to_value(&result.output).unwrap()
}

pub(super) fn after(run_id: &str) -> ExecutionContext {
    ExecutionContext { previous_run_id: Some(run_id.to_owned()), ..ExecutionContext::default() }
}

/// One by one, and on threads.
pub(super) fn runners() -> [Arc<dyn Runner>; 2] {
    [Arc::new(Sequential), Arc::new(Threads::new(3))]
}

pub(super) fn rig() -> (Rig, Runs) {
    let rig = Rig::with_manual_clock(Registry::with_builtin());
    let runs = Runs::new(rig.engine.clone(), HEARTBEAT_INTERVAL);
    (rig, runs)
}

pub(super) fn quiet(_: RunProgress) {}

/// The sentence that something was refused with.
pub(super) fn refusal<T: std::fmt::Debug>(result: EngineResult<T>) -> String {
    result.unwrap_err().to_string()
}
