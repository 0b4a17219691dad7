//! A job while it runs: the processors of the engine's queue.

use super::{
    JobReport, Tally, Workshop,
    documents::{Errand, stopped, store_trouble},
};
use crate::client::Session;
use crate::records::{CivicPayload, CivicTask, QueueJob};
use bindery_core::{JobId, Payload, StepError, job::Token};
use bindery_engine::{
    Extracted, Kind, Processor, Registry, StopHandle, StopSignal, context::StepContext, stop_pair, workflow::Target,
};
use serde_json::Value;
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// How often a job looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(100);
/// How long work that is not wanted any more may take to end.
const ENDING: Duration = Duration::from_secs(10);

/// Adds the processors `meeting` and `matter`.
pub fn register(registry: &mut Registry, workshop: Arc<Workshop>) {
    registry.register(CivicProcessor { name: "meeting", workshop: Arc::clone(&workshop) });
    registry.register(CivicProcessor { name: "matter", workshop });
}

#[derive(Debug)]
struct CivicProcessor {
    name: &'static str,
    workshop: Arc<Workshop>,
}

impl Processor for CivicProcessor {
    fn name(&self) -> &str {
        self.name
    }

    fn kind(&self) -> Kind {
        Kind::Io
    }

    fn validate(&self, _: &StepContext, input: Value) -> Result<Value, StepError> {
        let task = task(&input)?;
        if task.job_type() == self.name {
            return Ok(input);
        }
        let message = format!("a job about a {} came to the processor {}", task.job_type(), self.name);
        Err(StepError::reject(message).named("InvalidPayload"))
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        run(&self.workshop, context, &task(&input)?)
    }

    fn extract(&self, _: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        // The stages of the workflow are kinds of jobs, and none follows from another.
        Ok(Extracted { target: Some(Target::End), ..Extracted::new(processed) })
    }
}

fn task(input: &Value) -> Result<CivicTask, StepError> {
    let refused = |message: String| StepError::reject(message).named("InvalidPayload");
    let payload = Payload::json(input).map_err(|error| refused(format!("payload of a civic job: {error}")))?;
    CivicPayload::read(&payload).map(|payload| payload.task).map_err(|error| refused(error.to_string()))
}

/// Says that a job is not wanted any more.
#[derive(Debug, Clone, Default)]
pub(super) struct Flag(Arc<AtomicBool>);

impl Flag {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A job in hand.
#[derive(Debug)]
pub(super) struct Running<'a> {
    pub(super) workshop: &'a Workshop,
    pub(super) city_key: &'a str,
    /// What is stored is stored only while it is held.
    pub(super) claim: Option<(JobId, Token)>,
    pub(super) stop: StopSignal,
    pub(super) cancelled: Flag,
    /// There is none behind this one.
    pub(super) is_last_try: bool,
    pub(super) began: Instant,
    pub(super) tally: Mutex<Tally>,
    /// Each change of a meeting is of the one before it, so they wait for each other.
    pub(super) saving: tokio::sync::Mutex<()>,
}

impl Running<'_> {
    pub(super) fn count(&self, change: impl FnOnce(&mut Tally)) {
        change(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) fn tally(&self) -> Tally {
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn errand(&self, vendor: &str) -> Errand<'_> {
        Errand { session: Session::new(vendor, self.city_key), stop: &self.stop, tally: &self.tally }
    }

    /// An error where nobody wants the job any more.
    pub(super) fn check(&self) -> Result<(), StepError> {
        if self.cancelled.is_set() { Err(stopped()) } else { Ok(()) }
    }

    pub(super) fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// The job as people see it; none where this is no job of the queue.
    pub(super) async fn queue_job(&self) -> Result<Option<QueueJob>, StepError> {
        let Some((id, _)) = self.claim else { return Ok(None) };
        let view = self.workshop.store.job(id).await.map_err(store_trouble)?;
        view.map(|view| QueueJob::from_job(&view.job).map_err(store_trouble)).transpose()
    }
}

fn run(workshop: &Workshop, context: &StepContext, task: &CivicTask) -> Result<Value, StepError> {
    let city_key = task.city_key().unwrap_or_default();
    let source_url = task.dedup_key();
    let (handle, stop) = stop_pair();
    let most = context.stage().map_or(1, |stage| stage.max_attempts);
    let running = Running {
        workshop,
        city_key,
        claim: context.claim(),
        stop,
        cancelled: Flag::default(),
        is_last_try: context.attempt() >= most,
        began: Instant::now(),
        tally: Mutex::default(),
        saving: tokio::sync::Mutex::default(),
    };
    if let Some(observer) = &workshop.observer {
        observer.job_began(city_key, &source_url);
    }
    let work = async {
        match task {
            CivicTask::Meeting { meeting_id } => running.meeting(meeting_id).await,
            CivicTask::Matter { matter_id, item_ids, .. } => running.matter(matter_id, item_ids).await,
        }
    };
    let ended = context.block_on(async {
        tokio::select! {
            ended = work => ended,
            () = watch(context, &running.cancelled, &handle) => Err(stopped()),
        }
    })?;
    let tally = running.tally();
    if tally.cost_micros > 0 {
        context.charge(workshop.analyst.method(), task.job_type(), tally.cost_micros);
    }
    if let Some(observer) = &workshop.observer {
        let error = ended.as_ref().err().map(|error| (error.kind.clone(), error.message.clone()));
        observer.job_ended(&JobReport { city_key: city_key.to_owned(), source_url, tally, error });
    }
    ended?;
    serde_json::to_value(tally).map_err(|error| StepError::bug(format!("a tally is not JSON: {error}")))
}

/// Tells everything to stop once the job is lost, cancelled or out of time, and does not wait for it for ever.
async fn watch(context: &StepContext, cancelled: &Flag, stop: &StopHandle) {
    while !context.is_cancelled() {
        tokio::time::sleep(LOOK).await;
    }
    cancelled.set();
    stop.stop();
    tokio::time::sleep(ENDING).await;
}
