//! Jobs about meetings, from the change that they follow from to their end, through real workers.

use crate::cities::put_cities;
use crate::{
    stores,
    support::{Func, Rig},
};
use bindery_civic::{
    WORKFLOW,
    records::{
        Applied, CIVIC_QUEUE, CIVIC_WORKFLOW, Civic as _, CivicChanges, CivicJob, DOMAINS, Jurisdiction, Meeting,
        QueueJob, QueueStatus, standing_submission,
    },
};
use bindery_core::{Disposition, Name, StepError, SubmissionId, event::kind, job::JobState};
use bindery_engine::{
    Extracted, Registry, StopHandle, Worker, WorkerOptions, context::StepContext, error::EngineResult, stop_pair,
    workflow::Target,
};
use bindery_store::{
    Changes, Commit, JobEnd,
    query::{ClaimRequest, IdKind},
};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};
use tokio::{sync::mpsc::unbounded_channel, task::JoinHandle};

const CITY: &str = "paloaltoCA";

/// No test should ever wait this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// The id that a meeting of the city has.
fn meeting(name: &str) -> String {
    format!("{CITY}_{name}")
}

fn rig(registry: Registry) -> Rig {
    Rig::with_domains(registry, DOMAINS)
}

fn rig_with_manual_clock(registry: Registry) -> Rig {
    Rig::with_domains_and_manual_clock(registry, DOMAINS)
}

/// A processor of meetings that does this, with the meeting's name.
fn reading(work: impl Fn(&StepContext, &str) -> Result<(), StepError> + Send + Sync + 'static) -> Registry {
    let mut registry = Registry::default();
    registry.register(Func::new("meeting", move |context, input: Value| {
        let id = input.get("meeting_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        work(context, id.rsplit_once('_').map_or("", |(_, name)| name))?;
        Ok(Extracted { target: Some(Target::End), ..Extracted::new(input) })
    }));
    registry
}

async fn enter(rig: &Rig, city_key: &str) {
    let (_, yaml) = WORKFLOW;
    rig.workflow(yaml).await;
    let city = Jurisdiction {
        city_key: city_key.to_owned(),
        name: city_key.to_owned(),
        state: city_key[city_key.len() - 2..].to_owned(),
        vendor: "legistar".to_owned(),
        slug: city_key.to_lowercase(),
        ..Jurisdiction::default()
    };
    put_cities(&rig.store.civic(), vec![city]).await.unwrap();
}

/// What a sync has found: a meeting that is to be read.
fn found(city_key: &str, name: &str, priority: i32) -> CivicChanges {
    let id = format!("{city_key}_{name}");
    let mut changes = CivicChanges::of_meeting(city_key, &id, 0);
    let (city_key, vendor_id) = (city_key.to_owned(), id.clone());
    changes.meeting = Some(Meeting { id: id.clone(), city_key, vendor_id, ..Meeting::default() });
    changes.jobs.push(CivicJob::meeting(id, priority));
    changes
}

/// A city with meetings that are to be read, the first one first.
async fn synced(rig: &Rig, names: &[&str]) {
    enter(rig, CITY).await;
    let priority = |place: usize| 100 - i32::try_from(place).unwrap();
    let changes = names.iter().enumerate().map(|(place, name)| found(CITY, name, priority(place)));
    let applied = rig.store.civic().apply(changes.collect()).await.unwrap();
    assert!(applied.into_iter().all(Applied::is_stored));
}

/// The job of a meeting as people see it; none: it is done.
async fn seen(rig: &Rig, name: &str) -> Option<QueueJob> {
    let jobs = rig.store.civic().queue_jobs(Some(CITY), None).await.unwrap();
    jobs.into_iter().find(|job| job.meeting_id == meeting(name))
}

/// Its status, how often it has failed, and with what.
async fn standing(rig: &Rig, name: &str) -> (QueueStatus, u32, Option<String>) {
    let job = seen(rig, name).await.unwrap();
    (job.status, job.retry_count, job.error_message)
}

fn start(rig: &Rig, name: &str) -> (StopHandle, JoinHandle<EngineResult<u64>>) {
    let (handle, stop) = stop_pair();
    let options = WorkerOptions { name: Name::from(name), ..rig.worker_options() };
    let worker = Worker::new(rig.engine.clone(), options);
    (handle, tokio::spawn(async move { worker.run(stop).await }))
}

/// Waits for what others do.
async fn eventually(rig: &Rig, what: &str, is_so: impl AsyncFn() -> bool) {
    let waited = async {
        while !is_so().await {
            rig.store.changed(rig.store.change_mark(), Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waited).await.unwrap_or_else(|_| panic!("never: {what}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_38_a_job_is_pending_then_processing_then_completed_or_given_up() {
    let (entered, mut has_entered) = unbounded_channel();
    let (open, opened) = mpsc::channel();
    let opened = Mutex::new(opened);
    let registry = reading(move |_, name| match name {
        "good" => {
            entered.send(()).unwrap();
            opened.lock().unwrap().recv_timeout(PATIENCE).map_err(|_| StepError::bug("nobody opened"))
        }
        "bad" => Err(StepError::reject("its agenda is no agenda")),
        _ => Err(StepError::retry("the site is busy")),
    });
    let rig = rig_with_manual_clock(registry);
    synced(&rig, &["good", "bad", "busy"]).await;
    for name in ["good", "bad", "busy"] {
        assert_eq!(standing(&rig, name).await, (QueueStatus::Pending, 0, None));
    }
    let watch = async {
        has_entered.recv().await.unwrap();
        assert_eq!(standing(&rig, "good").await, (QueueStatus::Processing, 0, None), "this attempt has not failed");
        assert!(rig.store.civic().queue_stats().await.unwrap().processing >= 1);
        open.send(()).unwrap();
    };
    // Two threads: the one that waits does not keep the others from their end.
    tokio::join!(rig.drain(), watch);
    assert_eq!(seen(&rig, "good").await, None, "a completed job leaves no row");
    let why = Some("its agenda is no agenda".to_owned());
    assert_eq!(standing(&rig, "bad").await, (QueueStatus::Failed, 0, why), "trying again would not help");

    // The waits between attempts are 30 and 60 s, less a random part of up to a half (▲; the seed tries again at once).
    let busy = || Some("the site is busy".to_owned());
    for (failures, longest) in [(1, 30), (2, 60)] {
        assert_eq!(standing(&rig, "busy").await, (QueueStatus::Pending, failures, busy()));
        let job = seen(&rig, "busy").await.unwrap().id;
        let run_at = rig.store.job(job).await.unwrap().unwrap().job.run_at.unwrap();
        let wait = run_at.as_millis() - rig.engine.clock().now().as_millis();
        assert!((longest * 500..=longest * 1_000).contains(&wait), "waits {wait} ms");
        rig.clock.advance(Duration::from_secs(longest.unsigned_abs()));
        rig.drain().await;
    }
    assert_eq!(standing(&rig, "busy").await, (QueueStatus::DeadLetter, 3, busy()), "the third attempt was the last");
    let stats = rig.store.civic().queue_stats().await.unwrap();
    assert_eq!((stats.pending, stats.processing, stats.failed, stats.dead_letter), (0, 0, 1, 1));
    rig.clock.advance(Duration::from_secs(86_400));
    rig.drain().await;
    assert_eq!(standing(&rig, "busy").await.0, QueueStatus::DeadLetter, "it stays so");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_40_failures_count_and_what_trying_cannot_help_fails_at_once() {
    let has_key = Arc::new(AtomicBool::new(false));
    let registry = reading({
        let has_key = Arc::clone(&has_key);
        move |context, name| match (name, context.attempt()) {
            ("twice", 1) => Err(StepError::retry("the site is busy")),
            ("twice", _) => Err(StepError::reject("the meeting is gone")),
            // ▲ The seed fails such a job; ours waits for the key, and nothing is counted.
            ("keyless", _) if !has_key.load(Ordering::SeqCst) => {
                Err(StepError::park("language model key", "OPENAI_API_KEY is not set"))
            }
            ("broken", _) => panic!("index out of range"),
            _ => Ok(()),
        }
    });
    let rig = rig_with_manual_clock(registry);
    synced(&rig, &["twice", "keyless", "broken"]).await;
    rig.drain().await;
    assert_eq!(standing(&rig, "twice").await, (QueueStatus::Pending, 1, Some("the site is busy".to_owned())));
    let (status, failures, why) = standing(&rig, "broken").await;
    assert_eq!((status, failures), (QueueStatus::Failed, 0), "our own fault is not tried again");
    assert_eq!(why.as_deref(), Some("the processor panicked: index out of range"));
    let waits = "waits for language model key: OPENAI_API_KEY is not set";
    assert_eq!(standing(&rig, "keyless").await, (QueueStatus::Pending, 0, Some(waits.to_owned())));

    rig.clock.advance(Duration::from_secs(30));
    rig.drain().await;
    let why = Some("the meeting is gone".to_owned());
    assert_eq!(standing(&rig, "twice").await, (QueueStatus::Failed, 1, why), "its count is unchanged");
    rig.clock.advance(Duration::from_secs(86_400));
    rig.drain().await;
    assert_eq!(standing(&rig, "keyless").await.0, QueueStatus::Pending, "it waits as long as it takes");
    has_key.store(true, Ordering::SeqCst);
    assert_eq!(rig.store.unpark("language model key").await.unwrap(), 1);
    rig.drain().await;
    assert_eq!(seen(&rig, "keyless").await, None);
}

/// Whoever parks work may be gone when its time comes: each try is another worker's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_40_a_service_away_for_ten_minutes_makes_no_dead_letter() {
    let back_at = Arc::new(Mutex::new(None));
    let tries = Arc::new(Mutex::new(Vec::new()));
    let registry = reading({
        let (back_at, tries) = (Arc::clone(&back_at), Arc::clone(&tries));
        move |context, _| {
            tries.lock().unwrap().push(context.attempt());
            let now = context.store()?.clock().now();
            if back_at.lock().unwrap().is_some_and(|back_at| now < back_at) {
                let at = now + Duration::from_secs(40);
                let disposition = Disposition::Park { until: "language model service".to_owned(), at: Some(at) };
                return Err(StepError { disposition, ..StepError::bug("HTTP 503").named("CircuitOpen") });
            }
            Ok(())
        }
    });
    let rig = rig_with_manual_clock(registry);
    *back_at.lock().unwrap() = Some(rig.engine.clock().now() + Duration::from_secs(600));
    synced(&rig, &["patient"]).await;
    for _ in 0..15 {
        rig.drain().await;
        let waits = Some("waits for language model service: HTTP 503".to_owned());
        assert_eq!(standing(&rig, "patient").await, (QueueStatus::Pending, 0, waits));
        let view = rig.jobs().await.remove(0);
        let at = rig.engine.clock().now() + Duration::from_secs(40);
        assert_eq!((view.job.state, view.job.run_at), (JobState::Parked, Some(at)));
        let shown = format!("parked until {at}: waits for language model service: HTTP 503");
        assert_eq!(view.reason.to_string(), shown);
        rig.clock.advance(Duration::from_secs(40));
        assert_eq!(rig.store.sweep().await.unwrap().parked_woken, 1);
    }
    rig.drain().await;
    assert_eq!(seen(&rig, "patient").await, None, "it was done at the first try after the service came back");
    assert_eq!(*tries.lock().unwrap(), [1; 16], "no wait was an attempt");
    let told = rig.events_of(kind::JOB_PARKED).await;
    assert_eq!(told.len(), 15);
    let data: Value = serde_json::from_str(&told[0].data).unwrap();
    assert_eq!(data["until"], "language model service");
    assert!(data["wakesAt"].is_string(), "{data}");
}

/// ▲ Instead of looking every 5 s: nobody waits for a clock.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_41_a_worker_without_work_is_woken_by_work_and_by_a_signal() {
    let (done, mut is_done) = unbounded_channel();
    let rig = rig(reading(move |_, name| {
        done.send(name.to_owned()).unwrap();
        Ok(())
    }));
    enter(&rig, CITY).await;
    let (handle, running) = start(&rig, "idle");
    for name in ["one", "two"] {
        rig.store.civic().apply(vec![found(CITY, name, 1)]).await.unwrap();
        let read = tokio::time::timeout(PATIENCE, is_done.recv()).await.unwrap();
        assert_eq!(read.as_deref(), Some(name));
    }
    handle.stop();
    let finished = tokio::time::timeout(PATIENCE, running).await.unwrap().unwrap().unwrap();
    assert_eq!(finished, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_41_trouble_with_the_store_is_waited_out_and_the_wait_can_be_interrupted() {
    let rig = rig(reading(|_, _| Ok(())));
    synced(&rig, &["one"]).await;
    stores::tamper(rig.dir.path(), "ALTER TABLE job RENAME TO job_away").await;
    for last in [false, true] {
        let (handle, stop) = stop_pair();
        let worker = Arc::new(Worker::new(rig.engine.clone(), rig.worker_options()));
        let metrics = Arc::clone(worker.metrics());
        let running = tokio::spawn(async move { worker.run(stop).await });
        // By the third the pause is longer than it takes to say stop.
        eventually(&rig, "the store has trouble", async || metrics.counts().store_errors >= 3).await;
        if last {
            stores::tamper(rig.dir.path(), "ALTER TABLE job_away RENAME TO job").await;
            eventually(&rig, "the job is done", async || seen(&rig, "one").await.is_none()).await;
        }
        handle.stop();
        let finished = tokio::time::timeout(PATIENCE, running).await.unwrap().unwrap().unwrap();
        assert_eq!(finished, u64::from(last));
    }
}

/// ▲ By the end of the lease, at any time, not only when a processor starts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_42_what_a_dead_worker_left_is_taken_up_by_one_that_runs() {
    let (done, mut is_done) = unbounded_channel();
    let rig = rig_with_manual_clock(reading(move |context, name| {
        done.send((name.to_owned(), context.attempt())).unwrap();
        Ok(())
    }));
    synced(&rig, &["left", "other"]).await;
    let request = ClaimRequest {
        worker: "dead".into(),
        queues: Some(vec![CIVIC_QUEUE.into()]),
        submissions: None,
        max: 1,
        lease: Duration::from_secs(30),
        counts: true,
    };
    let claimed = rig.store.claim(request).await.unwrap();
    assert_eq!(claimed[0].job.dedup_key.as_deref(), Some("meeting://paloaltoCA_left"));

    let (handle, running) = start(&rig, "alive");
    assert_eq!(is_done.recv().await, Some(("other".to_owned(), 1)));
    assert_eq!(standing(&rig, "left").await.0, QueueStatus::Processing, "its lease has not ended");
    rig.clock.advance(Duration::from_secs(31));
    let taken_up = tokio::time::timeout(PATIENCE, is_done.recv()).await.unwrap();
    assert_eq!(taken_up, Some(("left".to_owned(), 1)), "a death uses up no attempt");
    eventually(&rig, "it is stored", async || seen(&rig, "left").await.is_none()).await;
    handle.stop();
    running.await.unwrap().unwrap();
    // Who was taken for dead finds nothing to end.
    let mut late = CivicChanges::of_city(CITY);
    late.claim = Some((claimed[0].job.id, claimed[0].token, JobEnd::Hold { has_advanced: false }));
    assert_eq!(rig.store.civic().apply(vec![late]).await.unwrap(), [Applied::LeaseLost]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_stores_bit_by_bit_while_it_holds_its_job() {
    let runtime = tokio::runtime::Handle::current();
    let registry = reading(move |context, name| {
        let (job, token) = context.claim().ok_or_else(|| StepError::bug("no claim"))?;
        let civic = context.store()?.civic();
        for revision in 1..4 {
            let mut bit = CivicChanges::of_meeting(CITY, meeting(name), revision);
            let summary = Some(format!("part {revision}"));
            bit.meeting = Some(Meeting { id: meeting(name), city_key: CITY.to_owned(), summary, ..Meeting::default() });
            bit.claim = Some((job, token, JobEnd::Hold { has_advanced: false }));
            let applied =
                runtime.block_on(civic.apply(vec![bit])).map_err(|error| StepError::bug(error.to_string()))?;
            assert_eq!(applied, [Applied::Stored { revision: revision + 1 }]);
        }
        Ok(())
    });
    let rig = rig(registry);
    synced(&rig, &["long"]).await;
    rig.drain().await;
    assert_eq!(seen(&rig, "long").await, None);
    let stored = rig.store.civic().meeting(&meeting("long")).await.unwrap().unwrap();
    assert_eq!((stored.summary.as_deref(), stored.revision), (Some("part 3"), 4));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_may_be_for_one_city() {
    let rig = rig_with_manual_clock(reading(|_, _| Ok(())));
    synced(&rig, &["one", "two"]).await;
    enter(&rig, "oaklandCA").await;
    rig.store.civic().apply(vec![found("oaklandCA", "urgent", 149)]).await.unwrap();
    let standing = rig.store.find_submission(&standing_submission(CITY)).await.unwrap().unwrap();
    let (handle, stop) = stop_pair();
    let options = WorkerOptions { submissions: Some(vec![standing.id]), ..rig.worker_options() };
    let worker = Worker::new(rig.engine.clone(), options);
    let running = tokio::spawn(async move { worker.run(stop).await });
    eventually(&rig, "the city is read", async || {
        rig.store.civic().queue_jobs(Some(CITY), None).await.unwrap().is_empty()
    })
    .await;
    handle.stop();
    assert_eq!(running.await.unwrap().unwrap(), 2);
    let others = rig.store.civic().queue_jobs(None, None).await.unwrap();
    assert_eq!(others.iter().map(|job| (job.status, job.retry_count)).collect::<Vec<_>>(), [(QueueStatus::Pending, 0)]);
}

/// A city whose submission was made by an older program is pinned to the workflow of that time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_city_of_an_earlier_version_goes_on() {
    let rig = rig_with_manual_clock(reading(|_, _| Ok(())));
    enter(&rig, CITY).await;
    let yaml = "name: civic\ndescription: As it was.\nversion: 1\nstages:\n  - {name: meeting, component: civic, \
                processors: [meeting]}\n  - {name: matter, component: civic_matter, processors: [matter]}\n";
    rig.workflow(yaml).await;
    let id = SubmissionId::from_raw(rig.store.reserve_ids(IdKind::Submission, 1).await.unwrap().start);
    let old = bindery_core::submission::NewSubmission {
        id,
        external_id: Some(standing_submission(CITY)),
        owner: None,
        channel: CIVIC_WORKFLOW.to_owned(),
        workflow: CIVIC_WORKFLOW.into(),
        workflow_version: 1,
        priority: 0,
        received_at: rig.engine.clock().now(),
        deadline: bindery_core::submission::Deadline::default(),
        metadata: json!({"banana": CITY}).to_string(),
    };
    let commit = Commit::always(Changes { submissions: vec![old], ..Changes::default() });
    assert!(rig.store.commit(vec![commit]).await.unwrap()[0].is_applied());
    rig.store.civic().apply(vec![found(CITY, "one", 1)]).await.unwrap();
    assert_eq!(rig.jobs().await[0].job.submission, id);
    rig.drain().await;
    assert_eq!(seen(&rig, "one").await, None);
}
