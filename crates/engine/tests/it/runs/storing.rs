//! What a run leaves in the store.

use super::clerk::{ACCOUNT, Clerk, STEP_COST, factors, input, inputs, output, quiet, rig, runners};
use bindery_core::{
    ContentHash, Name, Payload,
    error::ErrorClass,
    item::ItemKind,
    outcome::{Outcome, OutcomeStatus, Step},
    submission::{Submission, SubmissionStatus},
};
use bindery_engine::{
    Extracted, Registry,
    execution::{Execution, Fingerprint, ProcessorInput},
    runs::{HEARTBEAT_INTERVAL, Runs},
    view,
};
use bindery_store::{
    blobs::BlobsExt as _,
    query::{ItemFilter, SubmissionFilter},
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

use crate::support::{Func, Rig};

async fn submission(rig: &Rig, run_id: &str) -> Submission {
    rig.store().find_submission(run_id).await.unwrap().expect("a run is a submission")
}

async fn outcomes(rig: &Rig, run_id: &str) -> Vec<Outcome> {
    let id = submission(rig, run_id).await.id;
    rig.store().outcomes(id, Some(&Name::from("run"))).await.unwrap()
}

fn written(outcome: &Outcome) -> Value {
    outcome.output.read().unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_a_submission_with_items_outcomes_a_result_and_events() {
    for runner in runners() {
        let (rig, runs) = rig();
        let clerk = Clerk::new();
        let settings = json!({"language": "de"}).as_object().unwrap().clone();
        let execution = clerk.execution().with_runner(Arc::clone(&runner)).with_settings(settings);
        let result = runs.start(execution, inputs(3), None, quiet).await.unwrap();
        assert!(result.success);
        assert_eq!(output(&result), factors(3));

        let stored = submission(&rig, &result.run_id).await;
        assert_eq!((stored.owner.as_deref(), stored.channel.as_str()), (Some(ACCOUNT), "process"));
        assert_eq!((&*stored.workflow, stored.workflow_version), ("process", 1));
        assert_eq!((stored.status, stored.error), (SubmissionStatus::Completed, None));
        let details: Value = serde_json::from_str(&stored.metadata).unwrap();
        assert_eq!(details["processor"], "clerk");
        assert_eq!(details["processor_name"], "p_clerk");
        assert_eq!(details["processor_version"], 1);
        assert_eq!(details["underwriting_id"], "uw_456");
        assert_eq!(details["runner"], runner.kind().as_str());
        assert_eq!(details["settings"], json!({"language": "de"}));
        assert_eq!(details["inputs"], 3);
        assert_eq!(details["began"], json!(stored.received_at));
        assert_eq!(details["context"]["retry_count"], 0);

        let items = rig.store().items(stored.id, ItemFilter::default()).await.unwrap();
        let rows: Vec<_> = items.iter().map(|item| (item.key.as_deref().unwrap(), item.ordinal, item.kind)).collect();
        assert_eq!(rows, [("doc0", 0, ItemKind::File), ("doc1", 1, ItemKind::File), ("doc2", 2, ItemKind::File)]);
        assert_eq!(
            serde_json::from_str::<Value>(&items[1].data).unwrap(),
            json!({"data": {"id": "doc1", "n": 1}}),
            "small data is in the row"
        );

        let artifacts = rig.store().artifacts(stored.id, None, 1_000).await.unwrap();
        assert_eq!(artifacts.len(), 1);
        assert_eq!(artifacts[0].key, format!("runs/{}/result.json", result.run_id));
        let answer = rig.engine.blobs().get_json(artifacts[0].hash).await.unwrap();
        assert_eq!(answer, serde_json::to_value(&result).unwrap());
        assert_eq!(runs.result(&result.run_id).await.unwrap(), Some(answer));

        let events = rig.events().await;
        let told: Vec<_> = events.iter().map(|event| (&*event.kind, event.subject.as_deref().unwrap())).collect();
        assert_eq!(told, [("RunStarted", result.run_id.as_str()), ("RunCompleted", &result.run_id)]);
        let progress = view::progress(&rig.engine, stored.id).await.unwrap();
        assert_eq!((progress.stages[0].expected, progress.stages[0].counts.completed), (Some(3), 3));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_input_has_an_outcome_with_times_costs_error_and_resume_point() {
    let (rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.fail("doc0", Step::Validation);
    clerk.fail("doc1", Step::Extraction);
    let result = runs.start(clerk.execution(), inputs(3), None, quiet).await.unwrap();
    assert!(!result.success);
    let stored = submission(&rig, &result.run_id).await;
    assert_eq!(stored.status, SubmissionStatus::Failed);
    assert_eq!(stored.error.as_deref(), Some("InputsFailed: 2 of 3 inputs did not succeed"));
    let outcomes = outcomes(&rig, &result.run_id).await;
    let rows: Vec<_> = outcomes.iter().map(|one| (one.status, one.attempts, one.cost_micros)).collect();
    let (failed, completed) = (OutcomeStatus::Failed, OutcomeStatus::Completed);
    assert_eq!(
        rows,
        [(failed, 1, STEP_COST), (failed, 1, 3 * STEP_COST), (completed, 1, 3 * STEP_COST)],
        "what a failed input has cost is stored as well"
    );
    assert!(outcomes.iter().all(|one| one.processor == "clerk" && one.stage == "run" && one.processor_version == 1));
    let hash = Fingerprint::compute(&Clerk::new(), &json!({"id": "doc1", "n": 1})).input;
    let at_extraction = &outcomes[1];
    assert_eq!(at_extraction.input_hash, Some(hash));
    let error = at_extraction.error.as_ref().unwrap();
    assert_eq!((error.class, error.kind.as_str(), error.step), (ErrorClass::Retry, "Blurred", Some(Step::Extraction)));
    assert_eq!(error.message, "doc1 is not legible");
    let resume = at_extraction.resume.as_ref().unwrap();
    assert_eq!((resume.step, resume.input_hash, resume.processor_version), (Step::Extraction, hash, 1));
    assert_eq!(resume.input, Payload::Inline(json!({"id": "doc1", "n": 1, "processed": true}).to_string()));
    assert_eq!(outcomes[0].resume, None, "a failed validation begins with the input itself");
    let done = written(&outcomes[2]);
    assert_eq!(done["factors"], json!({"doc2": 2}));
    assert_eq!(done["from"], "validation");
    assert_eq!(done["costs"].as_array().unwrap().len(), 3);
    let timed: Vec<_> = done["steps"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(timed, ["validation_us", "processing_us", "extraction_us"]);
    assert_eq!(written(&outcomes[0])["steps"].as_object().unwrap().len(), 1, "later steps did not run");
    assert_eq!(rig.events_of("RunFailed").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_data_outputs_and_resume_points_are_in_the_blob_store() {
    let (rig, runs) = rig();
    let healthy = Arc::new(Mutex::new(false));
    let is_healthy = Arc::clone(&healthy);
    let large = Func::new("large", move |_, input| {
        if *is_healthy.lock().unwrap() {
            return Ok(Extracted::new(json!({"text": input["text"]})));
        }
        Err(bindery_core::StepError::retry("not now"))
    });
    let large = Arc::new(large);
    let execution = || Execution::new(Arc::clone(&large) as _, ACCOUNT, "uw_456").unwrap();
    let data = json!({"text": "x".repeat(20_000)});
    let given = ProcessorInput::new("big", ACCOUNT, "uw_456", data.clone()).with_payload(json!("y".repeat(20_000)));
    let result = runs.start(execution(), vec![given], None, quiet).await.unwrap();
    let id = submission(&rig, &result.run_id).await.id;
    let item = rig.store().find_item(id, "big").await.unwrap().unwrap();
    let hash = ContentHash::of(data.to_string().as_bytes());
    let stored: Value = serde_json::from_str(&item.data).unwrap();
    assert_eq!(stored["blob"], json!(hash));
    assert!(stored["payload_blob"].is_string(), "what the caller gave is kept too");
    assert_eq!(item.content, Some(hash));
    assert_eq!(rig.engine.blobs().get_json(hash).await.unwrap(), data);
    let failed = outcomes(&rig, &result.run_id).await.pop().unwrap();
    assert!(matches!(failed.resume.unwrap().input, Payload::Blob(_)));

    *healthy.lock().unwrap() = true;
    let result = runs.retry(&result.run_id, |_| Ok(execution()), quiet).await.unwrap();
    assert_eq!(output(&result), data);
    let done = outcomes(&rig, &result.run_id).await.pop().unwrap();
    assert!(matches!(done.output, Payload::Blob(_)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_input_is_stored_before_the_first_step() {
    let (rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.hold_from(0);
    let running = tokio::spawn({
        let (runs, execution) = (runs.clone(), clerk.execution());
        async move { runs.start(execution, inputs(4_100), None, quiet).await }
    });
    clerk.is_reached().await;
    let filter = SubmissionFilter { channel: Some("process".to_owned()), ..SubmissionFilter::default() };
    let run = rig.store().submissions(filter).await.unwrap().pop().unwrap();
    assert_eq!(run.status, SubmissionStatus::Processing);
    let items = rig.store().items(run.id, ItemFilter::default()).await.unwrap();
    assert_eq!(items.len(), 4_100, "more than fit into one commit");
    assert!(rig.store().outcomes(run.id, None).await.unwrap().is_empty());
    clerk.open();
    let result = running.await.unwrap().unwrap();
    assert_eq!(output(&result), factors(4_100));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_are_stored_while_the_run_goes_on() {
    let (rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.hold_from(5);
    let (told, mut progress) = tokio::sync::mpsc::unbounded_channel();
    let running = tokio::spawn({
        let (runs, execution) = (runs.clone(), clerk.execution());
        async move { runs.start(execution, inputs(8), None, move |now| told.send(now).unwrap()).await }
    });
    let mut now = progress.recv().await.unwrap();
    assert_eq!((now.inputs, now.done()), (8, 0), "told as soon as the run is stored");
    while now.succeeded < 5 {
        now = progress.recv().await.unwrap();
    }
    clerk.is_reached().await;
    assert_eq!(outcomes(&rig, &now.run_id).await.len(), 5);
    clerk.open();
    assert!(running.await.unwrap().unwrap().success);
    while let Some(next) = progress.recv().await {
        now = next;
    }
    assert_eq!(now.succeeded, 8);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_json_is_data_and_comes_back_as_it_was() {
    let (_rig, runs) = rig();
    let failing = Arc::new(Mutex::new(true));
    let fails = Arc::clone(&failing);
    let echo = Arc::new(Func::new("echo", move |_, input| {
        if *fails.lock().unwrap() {
            return Err(bindery_core::StepError::retry("not now"));
        }
        Ok(Extracted::new(json!({"found": input})))
    }));
    for data in [json!(null), json!(7), json!(0.1), json!("text"), json!([1, null]), json!(true), json!({"data": 1})] {
        let execution = || Execution::new(Arc::clone(&echo) as _, ACCOUNT, "uw_456").unwrap();
        *failing.lock().unwrap() = true;
        let given = vec![ProcessorInput::new("one", ACCOUNT, "uw_456", data.clone())];
        let failed = runs.start(execution(), given, None, quiet).await.unwrap();
        *failing.lock().unwrap() = false;
        let result = runs.retry(&failed.run_id, |_| Ok(execution()), quiet).await.unwrap();
        assert_eq!(output(&result), json!({"found": data}));
        assert_eq!(result.warnings, [] as [&str; 0], "it is recognised as the same input");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_processor_can_read_blobs_in_a_run() {
    let rig = Rig::new(Registry::with_builtin());
    let hash = rig.engine.blobs().put(b"from the blob store".to_vec()).await.unwrap().hash;
    let reader = Func::new("reader", move |context, _| {
        let text = String::from_utf8(context.blob(hash)?).unwrap();
        Ok(Extracted::new(json!({"text": text})))
    });
    let runs = Runs::new(rig.engine.clone(), HEARTBEAT_INTERVAL);
    let reader = Arc::new(reader);
    for runner in runners() {
        let execution = Execution::new(Arc::clone(&reader) as _, ACCOUNT, "uw_456").unwrap().with_runner(runner);
        let result = runs.start(execution, vec![input("one", 1)], None, quiet).await.unwrap();
        assert_eq!(output(&result), json!({"text": "from the blob store"}));
    }
}
