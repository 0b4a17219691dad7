//! Tasks of state machines that somebody else does: people who decide, programs behind queues.

use crate::desk::Desk;
use bindery_core::{
    ExecutionId, Name, ReviewId,
    job::JobState,
    review::{Decision, ReviewStatus},
    submission::SubmissionStatus,
};
use bindery_engine::{
    Worker, WorkerOptions,
    machines::{Answer, Executor, ExecutorOptions, Machines, StartRequest},
    message::{PipelineMessage, Published},
    stop_pair, view,
};
use bindery_pipeline::functions::Functions;
use bindery_store::{
    executions::{ExecutionEnd, ExecutionStatus, Step, StoredExecution},
    query::{JobFilter, JobView, ReviewFilter},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::task::JoinHandle;

const PATIENCE: Duration = Duration::from_secs(60);

/// Machines on an engine, with those who run them while a test wants them to.
struct Office {
    desk: Desk,
    machines: Machines,
}

/// Ends with the test, or is killed before: nothing is given back.
struct Running(JoinHandle<()>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Office {
    async fn new() -> Self {
        let desk = Desk::new().await;
        let machines = Machines::new(Arc::clone(desk.engine.store()));
        Self { desk, machines }
    }

    fn functions(&self) -> Functions {
        let queues =
            [("resize", "q.resize"), ("ocr", "q.ocr")].map(|(name, queue)| (name.to_owned(), queue.to_owned()));
        Functions::new(self.desk.engine.clone()).with_queues(BTreeMap::from(queues))
    }

    fn executor(&self, name: &str) -> Running {
        let (name, lease) = (Name::from(name), Duration::from_millis(300));
        let options = ExecutorOptions { name, lease, ..ExecutorOptions::default() };
        let executor = Executor::new(self.desk.engine.clone(), Arc::new(self.functions()), options);
        Running(tokio::spawn(async move {
            let (_handle, stop) = stop_pair();
            executor.run(stop).await;
        }))
    }

    fn worker(&self) -> Running {
        let worker = Worker::new(self.desk.engine.clone(), WorkerOptions { threads: 2, ..WorkerOptions::default() });
        Running(tokio::spawn(async move {
            let (_handle, stop) = stop_pair();
            worker.run(stop).await.unwrap();
        }))
    }

    async fn start(&self, machine: &Value) -> ExecutionId {
        self.machines.put("machine", &machine.to_string(), Some(&self.functions())).await.unwrap();
        let input = json!({"order": 7, "total": "119.00"});
        self.machines
            .start(StartRequest { machine: "machine".to_owned(), name: None, input, owner: None })
            .await
            .unwrap()
            .0
    }

    async fn ended(&self, id: ExecutionId) -> StoredExecution {
        self.machines.wait(id, PATIENCE).await.unwrap().expect("it ends")
    }

    async fn until<T>(&self, mut is_there: impl AsyncFnMut() -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let mark = self.desk.engine.store().change_mark();
            if let Some(found) = is_there().await {
                return found;
            }
            assert!(Instant::now() < deadline, "nothing came in {PATIENCE:?}");
            self.desk.engine.store().changed(mark, Duration::from_millis(20)).await;
        }
    }

    async fn open_reviews(&self) -> Vec<ReviewId> {
        let filter = ReviewFilter { statuses: ReviewStatus::OPEN.to_vec(), ..ReviewFilter::default() };
        self.desk.engine.store().reviews(filter).await.unwrap().into_iter().map(|review| review.id).collect()
    }

    async fn question(&self) -> ReviewId {
        self.until(async || self.open_reviews().await.first().copied()).await
    }

    /// What waits on the queue of the program outside.
    async fn handed_out(&self) -> Option<JobView> {
        let (queue, states) = (Some(Name::from("q.resize")), vec![JobState::Awaiting]);
        let filter = JobFilter { queue, states, ..JobFilter::default() };
        self.desk.engine.store().jobs(filter).await.unwrap().into_iter().next()
    }

    async fn status_of(&self, key: &str) -> SubmissionStatus {
        self.desk.engine.find_submission(key).await.unwrap().status
    }
}

fn output(execution: &StoredExecution) -> Value {
    assert_eq!(execution.status, ExecutionStatus::Succeeded, "{execution:?}");
    serde_json::from_str(execution.output.as_deref().unwrap()).unwrap()
}

/// Asks a person, and catches a no.
fn asks() -> Value {
    json!({"StartAt": "Approve", "QueryLanguage": "JSONata", "States": {
        "Approve": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
                    "Arguments": {"FunctionName": "review",
                                  "Payload": {"question": "May this order be paid?", "value": "{% $states.input %}"}},
                    "Catch": [{"ErrorEquals": ["Review.Rejected"], "Next": "Refused",
                               "Output": "{% $states.errorOutput %}"}],
                    "End": true},
        "Refused": {"Type": "Succeed"}}})
}

fn hands_out() -> Value {
    json!({"StartAt": "Resize", "States": {
        "Resize": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
                   "Parameters": {"FunctionName": "resize", "Payload.$": "$"}, "End": true}}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_is_the_answer_of_the_task_that_asked() {
    let office = Office::new().await;
    let (_executor, _worker) = (office.executor("one"), office.worker());
    let engine = &office.desk.engine;

    let accepted = office.start(&asks()).await;
    let review = office.question().await;
    let asked = engine.store().review(review).await.unwrap().unwrap();
    assert_eq!(
        (asked.queue.as_str(), asked.reasons.as_slice()),
        ("task.question", ["May this order be paid?".to_owned()].as_slice())
    );
    let shown = engine.read_payload(&asked.input).await.unwrap();
    assert_eq!(shown["value"], json!({"order": 7, "total": "119.00"}));
    assert_eq!((&shown["execution"], &shown["state"]), (&json!(accepted), &json!("Approve")));
    engine.decide(review, Some("clerk"), &Decision::Accepted).await.unwrap();
    let told = output(&office.ended(accepted).await);
    assert_eq!((&told["verdict"], &told["by"]), (&json!("accepted"), &json!("clerk")));
    assert_eq!(told["value"], json!({"order": 7, "total": "119.00"}));
    assert!(told["at"].is_string());
    let finished = office.desk.finish(asked.submission).await;
    assert_eq!(finished, SubmissionStatus::Completed);
    assert_eq!(view::result(engine, asked.submission).await.unwrap().unwrap(), told, "the result says the same");

    let corrected = office.start(&asks()).await;
    let fields = json!({"total": "191.00"}).as_object().unwrap().clone();
    engine.decide(office.question().await, None, &Decision::Corrected { fields }).await.unwrap();
    let told = output(&office.ended(corrected).await);
    assert_eq!((&told["verdict"], &told["value"]), (&json!("corrected"), &json!({"order": 7, "total": "191.00"})));

    let rejected = office.start(&asks()).await;
    let reason = "paid last week".to_owned();
    engine.decide(office.question().await, None, &Decision::Rejected { reason }).await.unwrap();
    let told = output(&office.ended(rejected).await);
    assert_eq!(told, json!({"Error": "Review.Rejected", "Cause": "paid last week"}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_outlives_everybody_who_could_have_reported_it() {
    let office = Office::new().await;
    let id = office.start(&asks()).await;
    let (executor, worker) = (office.executor("dies"), office.worker());
    let review = office.question().await;
    drop((executor, worker));
    // Nobody is there. The decision is stored all the same, and whoever comes next reports it.
    office.desk.engine.decide(review, Some("clerk"), &Decision::Accepted).await.unwrap();
    assert_eq!(office.machines.find(&id.to_string()).await.unwrap().status, ExecutionStatus::Running);
    let (_executor, _worker) = (office.executor("heir"), office.worker());
    assert_eq!(output(&office.ended(id).await)["verdict"], "accepted");
    assert_eq!(office.desk.engine.store().reviews(ReviewFilter::default()).await.unwrap().len(), 1, "asked once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_answers_first_is_heard() {
    let office = Office::new().await;
    let (first, second) = (office.start(&asks()).await, office.start(&asks()).await);
    let (executor, worker) = (office.executor("dies"), office.worker());
    office.until(async || (office.open_reviews().await.len() == 2).then_some(())).await;
    let reviews = office.desk.engine.store().reviews(ReviewFilter::default()).await.unwrap();
    drop((executor, worker));
    // Both are answered by hand while no executor is there that could withdraw the questions.
    let mut questions = BTreeMap::new();
    for review in reviews {
        let submission = office.desk.engine.store().submission(review.submission).await.unwrap().unwrap();
        let metadata: Value = serde_json::from_str(&submission.metadata).unwrap();
        let token = metadata["errand"]["token"].as_str().unwrap();
        office.machines.report(token, Answer::Succeeded(json!("by hand"))).await.unwrap();
        questions.insert(metadata["errand"]["execution"].as_str().unwrap().to_owned(), (review.id, submission.id));
    }
    // One of them is decided all the same, which is kept, and changes nothing.
    let (review, submission) = questions[&first.to_string()];
    office.desk.engine.decide(review, None, &Decision::Accepted).await.unwrap();
    let (_executor, _worker) = (office.executor("heir"), office.worker());
    for id in [first, second] {
        assert_eq!(output(&office.ended(id).await), json!("by hand"));
    }
    assert_eq!(office.desk.finish(submission).await, SubmissionStatus::Completed);
    // The other one falls away.
    let (_, submission) = questions[&second.to_string()];
    assert_eq!(office.desk.finish(submission).await, SubmissionStatus::Cancelled);
    assert!(office.open_reviews().await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_of_an_executor_that_died_too_soon_falls_away_when_another_begins() {
    let office = Office::new().await;
    let id = office.start(&asks()).await;
    let (executor, _worker) = (office.executor("dies"), office.worker());
    let review = office.question().await;
    drop(executor);
    // Its last step is stored, and nobody was told.
    let store = office.desk.engine.store();
    office.machines.stop(id, None, None).await.unwrap();
    let held = office.until(async || {
        let lease = Duration::from_secs(60);
        store.hold_executions(&Name::from("last"), 1, lease).await.unwrap().pop()
    });
    let held = held.await;
    let (status, cause) = (ExecutionStatus::Aborted, None);
    let end = ExecutionEnd { status, output: None, error: None, cause };
    let step = Step { end: Some(end), ..Step::new(id, held.token) };
    assert_eq!(store.store_steps(vec![step]).await.unwrap(), [true]);
    assert_eq!(office.open_reviews().await, [review]);
    let _heir = office.executor("heir");
    office.until(async || office.open_reviews().await.is_empty().then_some(())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_that_nobody_waits_for_falls_away() {
    let office = Office::new().await;
    let (_executor, _worker) = (office.executor("one"), office.worker());
    let stopped = office.start(&asks()).await;
    let review = office.question().await;
    assert!(office.machines.stop(stopped, None, None).await.unwrap());
    office.ended(stopped).await;
    office.until(async || office.open_reviews().await.is_empty().then_some(())).await;
    let late = office.desk.engine.decide(review, None, &Decision::Accepted).await.unwrap_err().to_string();
    assert!(late.contains("is cancelled"), "{late}");

    // Without a token nobody waits for it from the start, and the machine goes on.
    let plain = json!({"StartAt": "Ask", "States": {"Ask": {"Type": "Task", "Resource": "review", "End": true}}});
    office.machines.put("plain", &plain.to_string(), Some(&office.functions())).await.unwrap();
    let input = json!({"question": "Was the harbour closed?", "priority": 3});
    let request = StartRequest { machine: "plain".to_owned(), name: None, input, owner: None };
    let id = office.machines.start(request).await.unwrap().0;
    let submission = output(&office.ended(id).await)["submission_id"].as_str().unwrap().parse().unwrap();
    let review = office.question().await;
    let fields = json!({"closed": true}).as_object().unwrap().clone();
    office.desk.engine.decide(review, None, &Decision::Corrected { fields }).await.unwrap();
    office.desk.finish(submission).await;
    let result = view::result(&office.desk.engine, submission).await.unwrap().unwrap();
    assert_eq!((&result["verdict"], &result["value"]), (&json!("corrected"), &json!({"closed": true})));

    // A question without a question is the machine's mistake.
    let request = StartRequest { machine: "plain".to_owned(), name: None, input: json!({"value": 1}), owner: None };
    let ended = office.ended(office.machines.start(request).await.unwrap().0).await;
    assert_eq!(ended.error.as_deref(), Some("BadRequest"));
    assert!(ended.cause.unwrap().starts_with("question: expected a text"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_handed_out_on_a_queue_and_answered_by_a_message_or_by_its_token() {
    let office = Office::new().await;
    let (_executor, _worker) = (office.executor("one"), office.worker());
    let engine = &office.desk.engine;

    // By a message under the next stage's routing key, as a component behind a broker sends it.
    let by_message = office.start(&hands_out()).await;
    let job = office.until(async || office.handed_out().await).await.job;
    let message = engine.read_payload(&job.payload).await.unwrap();
    assert_eq!((&message["input"]["order"], &message["execution"]), (&json!(7), &json!(by_message)));
    assert!(message["task_token"].is_string());
    let result: PipelineMessage = serde_json::from_value(json!({
        "request_id": job.submission, "document_id": job.item, "payload": {"width": 640},
    }))
    .unwrap();
    assert_eq!(engine.publish("task.answered", result.clone()).await.unwrap(), Published::Taken);
    assert_eq!(output(&office.ended(by_message).await), json!({"width": 640}));
    assert_eq!(engine.publish("task.answered", result).await.unwrap(), Published::Ignored, "it counts once");
    assert_eq!(office.desk.finish(job.submission).await, SubmissionStatus::Completed);

    // By its token: what is left on the queue falls away.
    let by_token = office.start(&hands_out()).await;
    let job = office.until(async || office.handed_out().await).await.job;
    let token = engine.read_payload(&job.payload).await.unwrap()["task_token"].as_str().unwrap().to_owned();
    office.machines.report(&token, Answer::Succeeded(json!({"width": 320}))).await.unwrap();
    assert_eq!(output(&office.ended(by_token).await), json!({"width": 320}));
    office.until(async || office.handed_out().await.is_none().then_some(())).await;
    assert_eq!(office.status_of(&job.submission.to_string()).await, SubmissionStatus::Cancelled);

    // By an event, which can say that it failed.
    let by_event = office.start(&hands_out()).await;
    let job = office.until(async || office.handed_out().await).await.job;
    let data = json!({"documentId": job.item, "processor": "resize", "status": "failed", "error": "no such picture"});
    let event = json!({"eventType": "DocumentProcessedEvent", "submissionId": job.submission, "data": data});
    engine.append_outside(&[event]).await.unwrap();
    let ended = office.ended(by_event).await;
    assert_eq!(ended.error.as_deref(), Some("States.TaskFailed"));
    assert_eq!(ended.cause.as_deref(), Some("no such picture"));

    // A queue that our own workers work on is not one of a program outside.
    let wrong = json!({"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "ocr", "End": true}}});
    let ended = office.ended(office.start(&wrong).await).await;
    assert_eq!(ended.error.as_deref(), Some("BadRequest"));
    let cause = ended.cause.unwrap();
    assert!(cause.contains("the queue q.ocr is worked on here, by the stage ocr"), "{cause}");
}
