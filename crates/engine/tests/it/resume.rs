//! The three steps of a processor: where a failure leaves its work, and where the next try begins.

use crate::support::{Func, Rig};
use bindery_core::{
    ContentHash, Name, Payload, StepError, SubmissionId,
    error::ErrorClass,
    event::kind,
    item::ItemKind,
    job::{Job, JobState, NewJob, WaitReason},
    outcome::{Outcome, OutcomeStatus, ResumePoint, Step},
    review::ReviewStatus,
    submission::SubmissionStatus,
};
use bindery_engine::{
    Child, Children, Extracted, Processor, Registry, WorkerOptions, context::StepContext, intake::Intake,
    steps::input_hash, view,
};
use bindery_store::query::{JobFilter, ReviewFilter};
use serde_json::{Map, Value, json};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

const WORKFLOW: &str = "
name: steps
stages:
  - {name: read, over: file, parallel: true, max_attempts: 2, retry: {initial_seconds: 0}, backoffice_queue: task.read}
  - {name: use, over: file, parallel: true}
";

type Fail = dyn Fn(Step, &StepContext, &Value) -> Result<(), StepError> + Send + Sync;

/// Notes every step it takes, and fails where it is told to.
#[derive(Clone)]
struct Steps {
    version: u32,
    taken: Arc<Mutex<Vec<Step>>>,
    fail: Arc<Fail>,
    /// Added to what each step hands on.
    weight: usize,
}

impl Steps {
    fn new(fail: impl Fn(Step, &StepContext, &Value) -> Result<(), StepError> + Send + Sync + 'static) -> Self {
        Self { version: 1, taken: Arc::default(), fail: Arc::new(fail), weight: 0 }
    }

    fn registry(&self) -> Registry {
        let mut registry = Registry::with_builtin();
        registry.register(self.clone());
        registry.register(Func::echo("use"));
        registry
    }

    fn step(&self, step: Step, context: &StepContext, mut input: Value) -> Result<Value, StepError> {
        self.taken.lock().unwrap().push(step);
        (self.fail)(step, context, &input)?;
        input[step.as_str()] = json!("x".repeat(self.weight));
        Ok(input)
    }

    /// The steps taken since the last look.
    fn taken(&self) -> Vec<Step> {
        std::mem::take(&mut *self.taken.lock().unwrap())
    }
}

impl Processor for Steps {
    fn name(&self) -> &'static str {
        "read"
    }

    fn version(&self) -> u32 {
        self.version
    }

    fn validate(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        self.step(Step::Validation, context, input)
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        self.step(Step::Processing, context, input)
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        self.step(Step::Extraction, context, processed).map(Extracted::new)
    }
}

/// Fails at a step until it is repaired.
fn broken_at(step: Step, error: fn() -> StepError) -> (Steps, Arc<AtomicBool>) {
    let repaired = Arc::new(AtomicBool::new(false));
    let is_repaired = Arc::clone(&repaired);
    let steps = Steps::new(
        move |at, _, _| {
            if at == step && !is_repaired.load(Ordering::SeqCst) { Err(error()) } else { Ok(()) }
        },
    );
    (steps, repaired)
}

async fn submitted(steps: &Steps, files: usize) -> (Rig, SubmissionId) {
    let rig = Rig::new(steps.registry());
    rig.workflow(WORKFLOW).await;
    let id = rig.submit(Intake::new("steps", rig.files(files).await)).await;
    (rig, id)
}

async fn only_job(rig: &Rig) -> Job {
    let mut jobs = rig.jobs().await;
    assert_eq!(jobs.len(), 1, "{jobs:#?}");
    jobs.remove(0).job
}

async fn outcomes(rig: &Rig, id: SubmissionId, stage: &str) -> Vec<Outcome> {
    rig.store.outcomes(id, Some(&Name::from(stage))).await.unwrap()
}

async fn retry_by_hand(rig: &Rig) {
    let states = vec![JobState::Dead];
    let retried = rig.store.retry(JobFilter { states, ..JobFilter::default() }).await.unwrap();
    assert_eq!(retried.jobs, 1);
}

const ALL: [Step; 3] = [Step::Validation, Step::Processing, Step::Extraction];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failing_step_leaves_its_input_and_its_place() {
    for (place, step) in ALL.into_iter().enumerate() {
        let (steps, _) = broken_at(step, || StepError::reject("no such page"));
        let (rig, id) = submitted(&steps, 1).await;
        rig.drain().await;
        assert_eq!(steps.taken(), ALL[..=place]);
        let job = only_job(&rig).await;
        let resume = job.resume.unwrap();
        assert_eq!((resume.step, resume.processor_version), (step, 1));
        assert_eq!(resume.input_hash, input_hash(&job.payload));
        // What the step was given: what the steps before it had made of the job's own input.
        let given = rig.engine.read_payload(&resume.input).await.unwrap();
        let made = ALL.map(|step| given.get(step.as_str()).is_some());
        assert_eq!(made, ALL.map(|before| before < step));
        let failed = &outcomes(&rig, id, "read").await[0];
        assert_eq!(failed.status, OutcomeStatus::Failed);
        assert_eq!(failed.resume.as_ref(), Some(&resume), "people see it with the outcome, too");
        assert_eq!(failed.error.as_ref().unwrap().step, Some(step));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_skips_the_steps_before_it() {
    let steps = Steps::new(|step, context, _| match step {
        Step::Extraction if context.attempt() == 1 => Err(StepError::retry("the line was busy")),
        _ => Ok(()),
    });
    let (rig, id) = submitted(&steps, 1).await;
    rig.drain().await;
    assert_eq!(steps.taken(), [ALL[0], ALL[1], ALL[2], ALL[2]]);
    assert_eq!(rig.status(id).await, SubmissionStatus::Completed);
    let done = &outcomes(&rig, id, "read").await[0];
    assert_eq!(done.attempts, 2);
    let output = rig.engine.read_payload(&done.output).await.unwrap();
    assert!(ALL.iter().all(|step| output.get(step.as_str()).is_some()), "nothing of the skipped steps is missing");
    assert_eq!(rig.events_of(kind::JOB_RETRIED).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_version_of_the_processor_starts_at_validation() {
    let (steps, repaired) = broken_at(Step::Extraction, || StepError::reject("not yet"));
    let (rig, id) = submitted(&steps, 1).await;
    rig.drain().await;
    steps.taken();
    repaired.store(true, Ordering::SeqCst);
    retry_by_hand(&rig).await;
    let newer = Steps { version: 2, ..steps.clone() };
    let upgraded = Rig::beside(&rig, newer.registry());
    upgraded.drain().await;
    assert_eq!(newer.taken(), ALL);
    assert_eq!(outcomes(&rig, id, "read").await[0].processor_version, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_input_starts_at_validation() {
    let steps = Steps::new(|_, _, _| Ok(()));
    let (rig, id) = submitted(&steps, 1).await;
    rig.drain().await;
    steps.taken();
    let item = outcomes(&rig, id, "read").await[0].item;
    let payload = Payload::Inline(json!({"page": 1}).to_string());
    for (hash, expected) in [(input_hash(&payload), &ALL[2..]), (ContentHash::of(b"what it was before"), &ALL[..])] {
        let input = Payload::Inline(json!({"page": 1, "validation": "", "processing": ""}).to_string());
        let resume = ResumePoint { step: Step::Extraction, input, input_hash: hash, processor_version: 1 };
        let again = NewJob {
            item,
            payload: payload.clone(),
            resume: Some(resume),
            ..NewJob::new("q.read", id, "read", "read")
        };
        rig.store.enqueue(vec![again]).await.unwrap();
        rig.drain().await;
        assert_eq!(steps.taken(), expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_harms_one_item_only() {
    let steps = Steps::new(|step, _, input| {
        assert!(!(step == Step::Processing && input["name"] == "file-0.txt"), "index out of range");
        Ok(())
    });
    let (rig, id) = submitted(&steps, 3).await;
    // One thread: it has to survive.
    rig.drain_with(WorkerOptions { threads: 1, ..rig.worker_options() }).await;
    let dead = only_job(&rig).await;
    let error = dead.error.unwrap();
    assert_eq!((error.class, error.kind.as_str(), error.step), (ErrorClass::Bug, "Panic", Some(Step::Processing)));
    assert_eq!(error.message, "the processor panicked: index out of range");
    assert_eq!(dead.attempt, 1, "our own fault is not tried again");
    assert_eq!(outcomes(&rig, id, "use").await.len(), 2);
    assert_eq!(rig.status(id).await, SubmissionStatus::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parked_work_waits_for_its_dependency_and_goes_on_where_it_was() {
    let (steps, repaired) = broken_at(Step::Processing, || StepError::park("language model key", "no key is set"));
    let (rig, id) = submitted(&steps, 1).await;
    rig.drain().await;
    steps.taken();
    let parked = rig.jobs().await.remove(0);
    assert_eq!((parked.job.state, parked.job.attempt), (JobState::Parked, 0), "waiting burns no attempt");
    assert!(matches!(&parked.reason, WaitReason::Parked { .. }));
    assert_eq!(parked.reason.to_string(), "parked: waits for language model key: no key is set");
    assert_eq!(view::progress(&rig.engine, id).await.unwrap().stages[0].counts.parked, 1);

    assert_eq!(rig.store.unpark("something else").await.unwrap(), 0);
    repaired.store(true, Ordering::SeqCst);
    assert_eq!(rig.store.unpark("language model key").await.unwrap(), 1);
    rig.drain().await;
    assert_eq!(steps.taken(), ALL[1..]);
    assert_eq!(rig.status(id).await, SubmissionStatus::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rejected_work_is_kept_with_its_reason_and_resumes_by_hand() {
    let (steps, repaired) = broken_at(Step::Extraction, || StepError::reject("page 3 has no text").named("NoText"));
    let (rig, id) = submitted(&steps, 1).await;
    rig.drain().await;
    let dead = rig.jobs().await.remove(0);
    assert_eq!((dead.job.state, dead.job.attempt), (JobState::Dead, 1), "it would fail the next time, too");
    assert_eq!(dead.reason.to_string(), "given up: page 3 has no text");
    assert_eq!(rig.status(id).await, SubmissionStatus::Failed);
    assert_eq!(rig.events_of(kind::JOB_DEAD_LETTERED).await.len(), 1);
    steps.taken();

    repaired.store(true, Ordering::SeqCst);
    retry_by_hand(&rig).await;
    rig.drain().await;
    assert_eq!(steps.taken(), ALL[2..]);
    assert_eq!(rig.status(id).await, SubmissionStatus::Completed);
    assert_eq!(outcomes(&rig, id, "use").await.len(), 1);
    assert!(rig.jobs().await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_must_decide_waits_for_one() {
    let (steps, _) = broken_at(Step::Extraction, || StepError::review("two totals"));
    let (rig, id) = submitted(&steps, 1).await;
    rig.drain().await;
    let reviews = rig.store.reviews(ReviewFilter { submission: Some(id), ..ReviewFilter::default() }).await.unwrap();
    assert_eq!(reviews.len(), 1);
    assert_eq!((&*reviews[0].queue, reviews[0].reason()), ("task.read", "two totals".to_owned()));
    assert_eq!(reviews[0].status, ReviewStatus::Pending);
    let waiting = &outcomes(&rig, id, "read").await[0];
    assert_eq!(waiting.status, OutcomeStatus::Review);
    assert_eq!(waiting.resume.as_ref().unwrap().step, Step::Extraction);
    assert!(!rig.status(id).await.is_final());

    rig.engine.complete_review(reviews[0].id, Some("ana"), json!({"total": "5"})).await.unwrap();
    rig.drain().await;
    assert_eq!(rig.status(id).await, SubmissionStatus::Completed);
    let used = rig.engine.read_payload(&outcomes(&rig, id, "use").await[0].output).await.unwrap();
    assert_eq!(used["total"], "5");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_people_such_work_is_a_dead_letter() {
    let (steps, _) = broken_at(Step::Validation, || StepError::review("two totals"));
    let rig = Rig::new(steps.registry());
    rig.workflow(&WORKFLOW.replace(", backoffice_queue: task.read", "")).await;
    rig.submit(Intake::new("steps", rig.files(1).await)).await;
    rig.drain().await;
    let dead = only_job(&rig).await;
    assert_eq!((dead.state, dead.error.unwrap().class), (JobState::Dead, ErrorClass::Review));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_values_go_to_blobs_and_come_back() {
    let (steps, repaired) = broken_at(Step::Extraction, || StepError::reject("not yet"));
    let steps = Steps { weight: 9_000, ..steps };
    let (rig, id) = submitted(&steps, 1).await;
    rig.drain().await;
    let resume = only_job(&rig).await.resume.unwrap();
    assert!(matches!(resume.input, Payload::Blob(_)), "the row stays small");
    repaired.store(true, Ordering::SeqCst);
    retry_by_hand(&rig).await;
    rig.drain().await;
    let done = &outcomes(&rig, id, "read").await[0];
    assert!(matches!(done.output, Payload::Blob(_)));
    // The next stage was given all of it.
    let used = rig.engine.read_payload(&outcomes(&rig, id, "use").await[0].output).await.unwrap();
    for step in ALL {
        assert_eq!(used[step.as_str()].as_str().map(str::len), Some(9_000), "{step}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_parts_leave_the_queue_rows_small() {
    let mut registry = Registry::with_builtin();
    registry.register(Func::new("split", |_, input| {
        let part =
            |text: String| Child { data: Map::from_iter([("text".to_owned(), text.into())]), ..Child::default() };
        let parts = vec![part("short".to_owned()), part("x".repeat(9_000))];
        Ok(Extracted::new(input).with_children(Children::new(ItemKind::Page, parts)))
    }));
    registry.register(Func::echo("use"));
    let rig = Rig::new(registry);
    rig.workflow("name: w\nstages: [{name: split}, {name: use, over: page, parallel: true}]\n").await;
    rig.store.pause(&Name::from("q.use"), None).await.unwrap();
    let id = rig.submit(Intake::new("w", rig.files(1).await)).await;
    rig.drain().await;
    let in_blobs: Vec<bool> =
        rig.jobs().await.iter().map(|view| matches!(view.job.payload, Payload::Blob(_))).collect();
    assert_eq!(in_blobs, [false, true]);
    rig.store.resume(&Name::from("q.use")).await.unwrap();
    rig.drain().await;
    let used = rig.engine.read_payload(&outcomes(&rig, id, "use").await[1].output).await.unwrap();
    assert_eq!(used["text"].as_str().map(str::len), Some(9_000));
}
