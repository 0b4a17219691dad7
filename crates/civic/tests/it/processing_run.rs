//! Cities processed to their end, with the engine's own workers on a real store.

use crate::cities::{put_cities, sync_meeting};
use crate::{
    stores::{self, Time},
    town::city,
};
use bindery_civic::records::{Civic as _, DOMAINS, MeetingFilter};
use bindery_civic::{
    analyst::{Analyst, CostEstimate, Extractive, ItemRequest, PacketRequest, Reading},
    client::{Client, Settings},
    processing::{
        self, JobReport, Workshop,
        run::{CityProcessed, CityStatus, Hearing, Processing, ProcessingObserver, RunOptions, dead},
    },
    sync::Orchestrator,
    vendor::{VendorItem, VendorMeeting, model::Start},
};
use bindery_core::{Name, Timestamp, time::SystemClock};
use bindery_engine::{Engine, Parts, Registry, stop_pair};
use bindery_models::{Advice, ErrorKind, ModelError, timer::Cancelled};
use bindery_store::{
    Store,
    blobs::{Blobs, LayeredBlobs, LocalBlobs},
    query::ClaimRequest,
};
use jiff::civil::date;
use std::{
    collections::BTreeMap,
    fs,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tempfile::TempDir;

/// A store with cities, each with meetings that wait.
struct Towns {
    store: Arc<dyn Store>,
    blobs: Arc<dyn Blobs>,
    dir: TempDir,
}

/// A meeting with two items that say what they are about.
fn meeting(number: u32) -> VendorMeeting {
    let item = |place: u32, title: &str| VendorItem {
        vendor_item_id: Some(format!("{number}{place}")),
        title: format!("{title} {number}"),
        sequence: place,
        body_text: Some(format!("Approve the {} for $12,000 a year.", title.to_lowercase())),
        ..VendorItem::default()
    };
    VendorMeeting {
        title: Some(format!("City Council {number}")),
        start: Some(Start { date: date(2026, 3, 9), time: None, note: None }),
        items: vec![item(1, "Lease of the pier"), item(2, "Repair of the crane")],
        has_agenda: true,
        ..VendorMeeting::new(number.to_string())
    }
}

impl Towns {
    async fn with(city_keys: &[&str], meetings: u32) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = stores::open_with_domains(dir.path(), Time::Own(Arc::new(SystemClock)), DOMAINS);
        let files = Arc::new(LocalBlobs::open(dir.path().join("blobs")).unwrap());
        let blobs = LayeredBlobs::of_store(&store, files);
        let towns = Self { store, blobs, dir };
        for city_key in city_keys {
            put_cities(&towns.store.civic(), vec![city(city_key, "legistar", city_key)]).await.unwrap();
            towns.visit(city_key, 1..=meetings).await;
        }
        towns
    }

    async fn visit(&self, city_key: &str, numbers: impl IntoIterator<Item = u32>) {
        let city = self.store.civic().jurisdiction(city_key).await.unwrap().unwrap();
        let orchestrator = Orchestrator::new(Arc::clone(&self.store));
        for number in numbers {
            sync_meeting(&orchestrator, &city, meeting(number)).await.unwrap();
        }
    }

    /// As one process would, under a name of its own.
    async fn processing(&self, name: &str, analyst: Arc<dyn Analyst>, told: &Arc<Notes>) -> Processing {
        let folder = self.dir.path().join("recording");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("recording.jsonl"), "").unwrap();
        let client = Client::replaying(&Settings::default(), &folder).unwrap();
        let hearing = Arc::new(Hearing::telling(Arc::clone(told) as Arc<dyn ProcessingObserver>));
        let workshop = Workshop::new(Arc::clone(&self.store), Arc::clone(&self.blobs), Arc::new(client), analyst)
            .with_observer(Arc::clone(&hearing) as _);
        let mut registry = Registry::with_builtin();
        registry.register_workflow(bindery_civic::WORKFLOW);
        processing::register(&mut registry, Arc::new(workshop));
        let engine = Engine::new(Parts::new(Arc::clone(&self.store), Arc::clone(&self.blobs), registry));
        engine.register_builtin_workflows().await.unwrap();
        let options = RunOptions { name: Name::from(name), ..RunOptions::default() };
        Processing::new(engine, hearing, options)
    }

    async fn summarised(&self) -> usize {
        let meetings = self.store.civic().meetings(MeetingFilter::default()).await.unwrap();
        meetings.iter().filter(|meeting| meeting.is_summarised()).count()
    }
}

/// What was told, as it happened.
#[derive(Debug, Default)]
struct Notes {
    ended: Mutex<Vec<CityProcessed>>,
    jobs: Mutex<Vec<JobReport>>,
    bell: Condvar,
}

impl Notes {
    /// Waits until a city has ended.
    fn wait_for(&self, city_key: &str) {
        let ended = self.ended.lock().unwrap();
        let is_missing = |ended: &mut Vec<CityProcessed>| !ended.iter().any(|one| one.city_key == city_key);
        let (_ended, waited) = self.bell.wait_timeout_while(ended, Duration::from_secs(15), is_missing).unwrap();
        assert!(!waited.timed_out(), "{city_key} is not told of while another city is at work");
    }
}

impl ProcessingObserver for Notes {
    fn job_ended(&self, report: &JobReport) {
        self.jobs.lock().unwrap().push(report.clone());
    }

    fn city_ended(&self, result: &CityProcessed) {
        self.ended.lock().unwrap().push(result.clone());
        self.bell.notify_all();
    }
}

type Read = Box<dyn Fn(&ItemRequest) -> Result<(), ModelError> + Send + Sync>;

/// Reads by rules, unless something is said against it.
struct Particular(Read);

impl std::fmt::Debug for Particular {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Particular")
    }
}

impl Analyst for Particular {
    fn method(&self) -> String {
        Extractive.method()
    }

    fn read_item(&self, request: &ItemRequest, cancelled: Cancelled<'_>) -> Result<Reading, ModelError> {
        (self.0)(request)?;
        Extractive.read_item(request, cancelled)
    }

    fn estimate(&self, request: &ItemRequest) -> Result<CostEstimate, ModelError> {
        Extractive.estimate(request)
    }

    fn read_packet(&self, request: &PacketRequest, cancelled: Cancelled<'_>) -> Result<Reading, ModelError> {
        Extractive.read_packet(request, cancelled)
    }
}

fn names(city_keys: &[&str]) -> Vec<String> {
    city_keys.iter().map(|city_key| (*city_key).to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn s001_06_each_city_has_its_result_as_soon_as_it_is_done() {
    let towns = Towns::with(&["alphaCA", "betaCA"], 2).await;
    let told = Arc::new(Notes::default());
    let heard = Arc::clone(&told);
    // Beta is not read before alpha was told of.
    let patient = Particular(Box::new(move |request| {
        if request.item_id.starts_with("betaCA") {
            heard.wait_for("alphaCA");
        }
        Ok(())
    }));
    let processing = towns.processing("one", Arc::new(patient), &told).await;
    let (_handle, stop) = stop_pair();
    let results = processing.process_cities(&names(&["betaCA", "alphaCA", "nowhereCA"]), &stop).await;
    let order: Vec<&str> = results.iter().map(|result| result.city_key.as_str()).collect();
    assert_eq!(order, ["betaCA", "alphaCA", "nowhereCA"], "the results are in the order of the list");
    assert_eq!(results[2].status, CityStatus::Skipped);
    for result in &results[..2] {
        assert_eq!((result.status, result.meetings_processed), (CityStatus::Completed, 2), "{result:?}");
        assert_eq!((result.items_processed, result.items_new, result.items_failed), (4, 4, 0), "{result:?}");
    }
    assert_eq!(towns.summarised().await, 4);
    assert_eq!(told.jobs.lock().unwrap().len(), 4, "each meeting was told of as it ended");
    // There is nothing left to do, and that is no failure.
    let again = processing.process_cities(&names(&["alphaCA"]), &stop).await;
    assert_eq!((again[0].status, again[0].processed_count), (CityStatus::Completed, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn s001_43_what_fails_and_what_waits_is_counted_and_told() {
    let towns = Towns::with(&["alphaCA", "betaCA"], 1).await;
    let told = Arc::new(Notes::default());
    let particular = Particular(Box::new(|request| match request.item_id.as_str() {
        // One item of alpha cannot be read now, and no item of beta.
        id if id.starts_with("betaCA") || request.title.starts_with("Repair") => {
            let advice = Advice::Retry { after: None };
            Err(ModelError { kind: ErrorKind::Unreachable, message: "nobody answers".to_owned(), advice })
        }
        _ => Ok(()),
    }));
    let processing = towns.processing("one", Arc::new(particular), &told).await;
    let (_handle, stop) = stop_pair();
    let results = processing.process_cities(&names(&["alphaCA", "betaCA"]), &stop).await;
    let alpha = &results[0];
    assert_eq!((alpha.processed_count, alpha.items_new), (0, 1), "what is done stays: {alpha:?}");
    assert_eq!((alpha.status, alpha.partial_count, alpha.failed_count), (CityStatus::Partial, 1, 0), "{alpha:?}");
    assert_eq!(alpha.waiting.len(), 1, "{alpha:?}");
    assert!(alpha.waiting[0].source_url.starts_with("meeting://alphaCA_"), "{alpha:?}");
    assert!(alpha.waiting[0].because.contains("nobody answers"), "{alpha:?}");
    assert!(alpha.waiting[0].until.is_some(), "it goes on by itself: {alpha:?}");
    let beta = &results[1];
    assert_eq!((beta.status, beta.partial_count, beta.failed_count), (CityStatus::Waiting, 0, 0), "{beta:?}");
    assert_eq!((beta.items_new, beta.items_failed, beta.waiting.len()), (0, 2, 1), "{beta:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_city_whose_queue_is_paused_is_waiting() {
    let towns = Towns::with(&["alphaCA"], 1).await;
    towns.store.pause(&Name::from("q.civic"), Some("the clerk asked".to_owned())).await.unwrap();
    let processing = towns.processing("one", Arc::new(Extractive), &Arc::default()).await;
    let (_handle, stop) = stop_pair();
    let result = processing.process_cities(&names(&["alphaCA"]), &stop).await.remove(0);
    assert_eq!((result.status, result.waiting.len()), (CityStatus::Waiting, 1), "{result:?}");
    assert!(result.waiting[0].because.contains("is paused"), "{result:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn s001_03_a_city_that_was_not_begun_is_pending() {
    let towns = Towns::with(&["alphaCA"], 1).await;
    let processing = towns.processing("one", Arc::new(Extractive), &Arc::default()).await;
    let (handle, stop) = stop_pair();
    handle.stop();
    let result = processing.process_cities(&names(&["alphaCA"]), &stop).await.remove(0);
    assert_eq!((result.status, towns.summarised().await), (CityStatus::Pending, 0), "{result:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn s001_02_what_a_dead_process_holds_is_taken_up_at_once() {
    let towns = Towns::with(&["alphaCA"], 3).await;
    let request = |worker: &str, max| ClaimRequest {
        worker: Name::from(worker),
        queues: None,
        submissions: None,
        max,
        lease: Duration::from_secs(24 * 60 * 60),
        counts: true,
    };
    towns.store.claim(request("dead", 2)).await.unwrap();
    let is_dead = |name: &str| name == "dead";
    assert_eq!(dead::recover(&*towns.store, is_dead).await.unwrap(), 2);
    assert_eq!(dead::recover(&*towns.store, is_dead).await.unwrap(), 0, "once");
    towns.store.claim(request("alive", 1)).await.unwrap();
    assert_eq!(dead::recover(&*towns.store, is_dead).await.unwrap(), 0, "of another nothing is known");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_on_one_city_do_no_job_twice() {
    let towns = Towns::with(&["alphaCA"], 12).await;
    let read: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
    let begun = Arc::new(AtomicUsize::new(0));
    let analyst = || {
        let (read, begun) = (Arc::clone(&read), Arc::clone(&begun));
        Particular(Box::new(move |request| {
            begun.fetch_add(1, Ordering::Relaxed);
            *read.lock().unwrap().entry(request.item_id.clone()).or_default() += 1;
            Ok(())
        }))
    };
    let (one, two) = (Arc::default(), Arc::default());
    let first = towns.processing("one", Arc::new(analyst()), &one).await;
    let second = towns.processing("two", Arc::new(analyst()), &two).await;
    let (_handle, stop) = stop_pair();
    let list = names(&["alphaCA"]);
    let (first, second) = tokio::join!(first.process_cities(&list, &stop), second.process_cities(&list, &stop));
    let all: u64 = first.iter().chain(&second).map(|result| result.meetings_processed).sum();
    assert_eq!((all, towns.summarised().await), (12, 12), "{first:?} {second:?}");
    assert!(read.lock().unwrap().values().all(|times| *times == 1), "an item was read twice: {read:?}");
    assert_eq!(begun.load(Ordering::Relaxed), 24);
    let moment: Timestamp = towns.store.clock().now();
    assert!(towns.store.workers().await.unwrap().iter().all(|view| view.left_at.is_some_and(|at| at <= moment)));
}
