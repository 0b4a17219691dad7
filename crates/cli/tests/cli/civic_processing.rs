//! What waits of councils is read through the binary: by lists of cities, by the processor and by the daemon.

use crate::cities::sync_meeting;
use crate::{
    civic_sync::{add_cities, site, with_store, write_recording},
    support::{Desk, PATIENCE, Ran, Started},
};
use bindery_civic::records::{Alert, Civic as _, Meeting, MeetingFilter, SyncRunFilter, SyncStatus};
use bindery_civic::{
    sync::Orchestrator,
    vendor::{Attachment, VendorItem, VendorMeeting, model::Start},
};
use bindery_core::{EventSeq, Name};
use bindery_store::{
    Store,
    query::{ClaimRequest, EventFilter},
    sqlite::{Options, SqliteStore},
};
use jiff::civil::{date, time};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::runtime::Runtime;

/// Items of a meeting that are worth reading, and one that is not.
const ITEMS: u64 = 3;

/// A meeting whose items say what they are about. With documents, two are also written about elsewhere.
fn meeting(number: u32, with_documents: bool) -> VendorMeeting {
    let item = |place: u32, title: &str, body: &str| VendorItem {
        vendor_item_id: Some(format!("{number}{place}")),
        title: title.to_owned(),
        sequence: place,
        body_text: Some(body.to_owned()).filter(|body| !body.is_empty()),
        ..VendorItem::default()
    };
    let report = |name: &str| Attachment {
        name: "Staff Report".to_owned(),
        url: format!("https://city.example/{name}-{number}.html"),
        ..Attachment::default()
    };
    let mut items = vec![
        item(1, "Roll Call", ""),
        item(2, "Lease of the pier", "Approve the lease of the pier for ten years at $12,000 a year."),
        item(3, "Repair of the harbour crane", "Authorize the repair of the harbour crane for $48,500."),
        item(4, "Ordinance on the keeping of bees", "Adopt an ordinance that allows four hives on every lot."),
    ];
    if with_documents {
        items[1].attachments.push(report("lease"));
        items[2].attachments.push(report("crane"));
    }
    VendorMeeting {
        title: Some(format!("City Council {number}")),
        start: Some(Start { date: date(2026, 3, 9), time: Some(time(18, 0, 0, 0)), note: None }),
        items,
        has_agenda: true,
        ..VendorMeeting::new(number.to_string())
    }
}

/// Stores meetings of a city, as a visit would.
fn stored(desk: &Desk, city: &str, meetings: impl IntoIterator<Item = VendorMeeting>) {
    Runtime::new().unwrap().block_on(async {
        let store = SqliteStore::open(Options {
            domains: bindery_civic::records::DOMAINS,
            ..Options::at(desk.path("bindery-data/bindery.db"))
        })
        .unwrap();
        let store: Arc<dyn Store> = Arc::new(store);
        let city = store.civic().jurisdiction(city).await.unwrap().unwrap();
        let orchestrator = Orchestrator::new(store);
        for meeting in meetings {
            sync_meeting(&orchestrator, &city, meeting).await.unwrap();
        }
    });
}

/// Cities with two meetings each that wait to be read, and what the sites of their documents answer.
pub(crate) fn desk_with(names: &[&str]) -> Desk {
    let desk = Desk::new();
    add_cities(&desk, names);
    for name in names {
        stored(&desk, &format!("{name}CA"), [meeting(1, true), meeting(2, true)]);
    }
    let text = "<html><body><h1>Staff Report</h1><p>Staff recommends that the Council approve the agreement in an \
                amount not to exceed $75,000.</p></body></html>";
    let line = json!({"url": "https://city.example/*", "text": text, "content_type": "text/html"});
    write_recording(&desk, &[line]);
    desk
}

pub(crate) fn civic(desk: &Desk, args: &[&str]) -> Ran {
    desk.bindery(&[&["civic"], args].concat())
}

/// With documents from the recording.
pub(crate) fn replay(desk: &Desk, args: &[&str]) -> Ran {
    civic(desk, &[args, &["--replay", "recording"]].concat())
}

pub(crate) fn lines(ran: &Ran) -> Vec<Value> {
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn meetings(desk: &Desk) -> Vec<Meeting> {
    with_store(desk, async |store| store.civic().meetings(MeetingFilter::default()).await.unwrap())
}

pub(crate) fn summarised(desk: &Desk) -> usize {
    meetings(desk).iter().filter(|meeting| meeting.is_summarised()).count()
}

/// Waits until so many meetings are read.
fn wait_until_read(desk: &Desk, count: usize) {
    let begun = Instant::now();
    while summarised(desk) < count {
        assert!(begun.elapsed() < PATIENCE, "waited too long: {} of {count} are read", summarised(desk));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until the log of a process says something.
fn wait_for_log(desk: &Desk, log: &str, said: &str) {
    let begun = Instant::now();
    loop {
        let text = std::fs::read_to_string(desk.path(log)).unwrap_or_default();
        if text.contains(said) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "waited too long for {said:?}: {text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Nobody is left at work: all have said goodbye, and hold nothing.
fn assert_all_left(desk: &Desk) {
    let workers = with_store(desk, async |store| store.workers().await.unwrap());
    assert!(!workers.is_empty(), "somebody was there");
    for worker in workers {
        assert!(worker.left_at.is_some() && worker.running == 0, "{worker:?}");
    }
    let queue = civic(desk, &["preview-queue", "--json"]).ok().json();
    assert_eq!(queue["processing"], 0, "{queue:#}");
}

#[test]
fn s001_07_every_command_has_help_with_examples() {
    let desk = Desk::new();
    let commands = [
        "daemon",
        "fetcher",
        "processor",
        "sync-city",
        "sync-and-process-city",
        "preview-queue",
        "status",
        "sync-cities",
        "process-cities",
        "sync-and-process-cities",
        "preview-watchlist",
        "sync-watchlist",
        "process-watchlist",
        "full-sync",
        "city-requests",
        "extract-text",
        "preview-items",
    ];
    for command in commands {
        let help = civic(&desk, &[command, "--help"]).ok().out;
        assert!(help.contains("Examples:") && help.contains("--json"), "{command}: {help}");
        assert!(help.contains(&format!("bindery civic {command}")), "{command}: {help}");
    }
}

#[test]
fn s001_06_s001_43_cities_are_processed_and_each_has_its_result() {
    let desk = desk_with(&["alpha", "beta"]);
    let ran = replay(&desk, &["process-cities", "alphaCA,betaCA", "--json"]).ok();
    let results = lines(&ran);
    let mut names: Vec<&str> = results.iter().map(|result| result["city_banana"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["alphaCA", "betaCA"], "a line for each city: {}", ran.out);
    for result in &results {
        let expected = json!({
            "status": "completed", "failed_count": 0, "partial_count": 0, "meetings_processed": 2,
            "items_processed": 2 * ITEMS, "items_new": 2 * ITEMS, "items_failed": 0, "cost_micros": 0,
            "error_message": null, "waiting": [],
        });
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(&result[field], value, "{field}: {result:#}");
        }
        assert_eq!(result["processed_count"], 2, "{result:#}");
        assert!(result["duration_seconds"].as_f64().unwrap() > 0.0 && result["items_skipped"].is_u64());
    }
    assert!(ran.err.contains("meeting alphaCA_"), "each meeting is told of as it ends: {}", ran.err);
    assert_eq!(summarised(&desk), 4);
    // What was read is shown, and by what.
    let id = meetings(&desk)[0].id.clone();
    let shown = civic(&desk, &["show", &id]).ok().out;
    assert!(shown.contains("read by") && shown.contains("extractive/"), "{shown}");
    assert!(shown.contains("money") && shown.contains("$75,000"), "{shown}");
    let items = civic(&desk, &["show", &id, "--json"]).ok().json();
    let item = items["items"].as_array().unwrap().iter().find(|item| item["summary"].is_string()).unwrap();
    let item = item["id"].as_str().unwrap();
    let one = civic(&desk, &["show", item, "--json"]).ok().json();
    assert_eq!((&one["item"]["id"], &one["meeting"]["id"]), (&json!(item), &json!(id)));
    assert!(civic(&desk, &["show", item]).ok().out.contains("read by"), "an item by itself");
    // A second time there is nothing to do, and the words are those of the specification.
    let again = replay(&desk, &["process-cities", "CA"]).ok();
    assert!(again.out.ends_with("Complete: 0 meetings, 0 new items\n"), "{}", again.out);
    let status = civic(&desk, &["status", "--json"]).ok().json();
    assert_eq!((&status["summarized_meetings"], &status["pending_meetings"]), (&json!(4), &json!(0)), "{status:#}");
    assert_eq!((&status["processors"], &status["queue"]["pending"]), (&json!([]), &json!(0)));
    assert_all_left(&desk);
}

#[test]
fn a_dry_run_reads_and_stores_nothing() {
    let desk = desk_with(&["alpha"]);
    let before = civic(&desk, &["preview-queue", "--json"]).ok().json();
    // There is no recording to answer from: nobody is asked.
    let ran = civic(&desk, &["process-cities", "alphaCA", "--dry-run"]).ok();
    assert!(ran.out.contains("alphaCA"), "{}", ran.out);
    let told = lines(&civic(&desk, &["process-cities", "alphaCA", "--dry-run", "--json"]).ok());
    assert_eq!(told[0]["city_banana"], "alphaCA", "{told:?}");
    assert_eq!(civic(&desk, &["preview-queue", "--json"]).ok().json(), before);
    assert_eq!(summarised(&desk), 0);
}

#[test]
fn what_cannot_be_processed_is_one_sentence() {
    let desk = desk_with(&["alpha"]);
    civic(&desk, &["process-cities", "TN"]).fails_with(2, "\"TN\" means no city that is stored");
    civic(&desk, &["process-cities", "Alpha"]).fails_with(2, "is no banana");
    civic(&desk, &["sync-and-process-city", "betaCA"]).fails_with(2, "no city betaCA is stored");
    civic(&desk, &["process-cities", "alphaCA", "--replay", "nothing"]).fails_with(2, "nothing is no recording");
    civic(&desk, &["processor", "--threads", "0"]).fails_with(2, "--threads");
    civic(&desk, &["daemon", "--replay", "recording"]).fails_with(2, "give --once with it");
    Desk::new().bindery(&["civic", "process-cities", "alphaCA"]).fails_with(20, "there is no store");
    let partly = replay(&desk, &["process-cities", "alphaCA,nowhereCA", "--json"]).fails_with(3, "");
    let skipped = lines(&partly).into_iter().find(|result| result["city_banana"] == "nowhereCA").unwrap();
    assert_eq!(skipped["status"], "skipped");
    assert!(skipped["error_message"].as_str().unwrap().contains("no city nowhereCA is stored"), "{skipped}");
}

#[test]
fn s001_05_a_city_is_visited_and_processed_by_one_command() {
    let desk = Desk::new();
    add_cities(&desk, &["alpha"]);
    let mut recorded = site("alpha", 4);
    let text = "<html><body><p>Staff recommends that the Council adopt the ordinance.</p></body></html>";
    recorded.push(json!({"url": "https://alpha.legistar1.com/*", "text": text, "content_type": "text/html"}));
    write_recording(&desk, &recorded);
    let ran = replay(&desk, &["sync-and-process-city", "alphaCA"]).ok();
    assert!(ran.out.contains("Complete: 4 found, 4 processed, "), "{}", ran.out);
    assert!(ran.err.contains("alphaCA  completed: 4 meetings"), "{}", ran.err);
    let again = lines(&replay(&desk, &["sync-and-process-cities", "CA", "--json"]).ok());
    assert_eq!(again.len(), 1);
    assert_eq!((&again[0]["sync"]["meetings_found"], &again[0]["processed_count"]), (&json!(4), &json!(0)));
    assert_all_left(&desk);
}

#[test]
fn s001_10_the_watchlist_is_processed() {
    let desk = desk_with(&["alpha", "beta"]);
    replay(&desk, &["process-watchlist"]).fails_with(0, "no active alert names a city that is followed");
    let alert = Alert {
        id: "a".to_owned(),
        owner: "clerk@example.com".to_owned(),
        cities: vec!["betaCA".to_owned(), "renoNV".to_owned()],
        active: true,
        ..Alert::default()
    };
    with_store(&desk, async |store| store.civic().put_alert(alert.clone()).await.unwrap());
    let ran = replay(&desk, &["process-watchlist"]).fails_with(0, "renoNV is not followed yet and is now requested");
    assert!(ran.out.contains("betaCA") && ran.out.ends_with("Complete: 2 meetings, 6 new items\n"), "{}", ran.out);
    assert_eq!(summarised(&desk), 2, "those of beta");
}

/// The name of a process of this machine that is not there any more.
fn of_the_dead() -> Name {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || "-._".contains(letter) { letter } else { '_' };
    let host: String = host.chars().map(plain).take(40).collect();
    Name::from(format!("{host}-{}-zz-processor", child.id()))
}

/// Takes all jobs for a process that has died since, with a lease that no test would wait for.
fn claimed_by_the_dead(desk: &Desk) -> usize {
    with_store(desk, async |store| {
        let request = ClaimRequest {
            worker: of_the_dead(),
            queues: None,
            submissions: None,
            max: 100,
            lease: Duration::from_secs(24 * 60 * 60),
            counts: true,
        };
        store.claim(request).await.unwrap().len()
    })
}

#[test]
fn s001_02_a_processor_takes_up_at_once_what_a_dead_one_has_left() {
    let desk = desk_with(&["alpha"]);
    let claimed = claimed_by_the_dead(&desk);
    assert!(claimed >= 2, "{claimed}");
    let ran = replay(&desk, &["processor", "--until-idle"]).ok();
    let said = format!("took up {claimed} jobs that a program has left behind");
    assert!(ran.err.contains(&said), "{}", ran.err);
    assert_eq!(summarised(&desk), 2);
    // It processes, and visits nobody: a city that is due would not be in the recording.
    assert!(!ran.err.contains("failed"), "{}", ran.err);
    // So does a list of cities.
    stored(&desk, "alphaCA", [meeting(3, false)]);
    assert!(claimed_by_the_dead(&desk) > 0);
    let ran = replay(&desk, &["process-cities", "alphaCA"]).fails_with(0, "that a program has left behind");
    assert!(ran.out.ends_with("Complete: 1 meeting, 3 new items\n"), "{}", ran.out);
}

/// A daemon on a store in which no city is due, so that nobody is asked.
fn daemon(desk: &Desk) -> Started {
    replay(desk, &["daemon", "--once"]).ok();
    let daemon = desk.start_logging(&["civic", "daemon"], "daemon.log");
    wait_for_log(desk, "daemon.log", "visits cities when they are due and reads what it finds");
    daemon
}

fn desk_with_sites() -> Desk {
    let desk = Desk::new();
    add_cities(&desk, &["alpha"]);
    let mut recorded = site("alpha", 3);
    let text = "<html><body><p>Staff recommends that the Council adopt the ordinance.</p></body></html>";
    recorded.push(json!({"url": "https://alpha.legistar1.com/*", "text": text, "content_type": "text/html"}));
    write_recording(&desk, &recorded);
    desk
}

#[test]
fn s001_01_a_daemon_visits_and_reads_until_a_signal_and_closes_everything() {
    let desk = desk_with_sites();
    let daemon = daemon(&desk);
    assert_eq!(summarised(&desk), 3, "what was visited is read");
    let status = civic(&desk, &["status", "--json"]).ok().json();
    assert_eq!(status["is_running"], true, "it visits: {status:#}");
    assert_eq!(status["processors"].as_array().unwrap().len(), 1, "and it reads: {status:#}");
    let shown = civic(&desk, &["status"]).ok().out;
    assert!(
        shown.contains("fetcher    waits until a city is due") && shown.contains("-processor: 0 in hand"),
        "{shown}"
    );
    // What comes while it runs is read.
    stored(&desk, "alphaCA", [meeting(7, false), meeting(8, false)]);
    wait_until_read(&desk, 5);
    daemon.signal(Signal::TERM);
    assert_eq!(daemon.wait(), Some(0));
    assert_all_left(&desk);
    let status = civic(&desk, &["status", "--json"]).ok().json();
    assert_eq!((&status["is_running"], &status["processors"]), (&json!(false), &json!([])));
}

/// Whoever asks sites or a model does so from within a job or a visit: when none is held, nobody is spoken to any more.
#[test]
fn s001_64_a_daemon_that_has_stopped_holds_nothing() {
    let desk = desk_with_sites();
    let daemon = daemon(&desk);
    stored(&desk, "alphaCA", (1..=20).map(|number| meeting(number, false)));
    daemon.signal(Signal::TERM);
    assert_eq!(daemon.wait(), Some(0));
    assert_all_left(&desk);
    let jobs = civic(&desk, &["queue", "list", "--json"]).ok().json();
    assert!(jobs.as_array().unwrap().iter().all(|job| job["status"] != "processing"), "{jobs:#}");
    let filter = SyncRunFilter { status: Some(SyncStatus::InProgress), ..SyncRunFilter::default() };
    assert!(with_store(&desk, async |store| store.civic().sync_runs(filter).await.unwrap()).is_empty());
    // What it did not get to is there for the next one.
    replay(&desk, &["processor", "--until-idle"]).ok();
    assert_eq!(summarised(&desk), 23);
}

#[test]
fn s001_04_everything_is_closed_also_after_an_error() {
    let desk = desk_with_sites();
    // Somebody visits the cities of this store: this one may not.
    with_store(&desk, async |store| store.arrive(&Name::from("elsewhere-1-zz-fetcher")).await.unwrap());
    let failed =
        replay(&desk, &["daemon", "--once"]).fails_with(1, "elsewhere-1-zz-fetcher visits the cities of this store");
    assert!(!failed.err.contains("panicked"), "{}", failed.err);
    let workers = with_store(&desk, async |store| store.workers().await.unwrap());
    let own: Vec<_> = workers.iter().filter(|view| !view.worker.starts_with("elsewhere")).collect();
    assert!(!own.is_empty() && own.iter().all(|view| view.left_at.is_some()), "{own:?}");
}

#[test]
fn s001_70_a_processor_runs_as_a_service_until_it_is_told_to_stop() {
    let desk = desk_with(&["alpha"]);
    let processor = desk.start_logging(&["civic", "processor", "--replay", "recording"], "processor.log");
    wait_until_read(&desk, 2);
    let status = civic(&desk, &["status", "--json"]).ok().json();
    assert_eq!(status["is_running"], false, "it visits nobody: {status:#}");
    assert!(status["processors"][0]["worker"].as_str().unwrap().ends_with("-processor"), "{status:#}");
    stored(&desk, "alphaCA", [meeting(3, false)]);
    wait_until_read(&desk, 3);
    processor.signal(Signal::INT);
    assert_eq!(processor.wait(), Some(0));
    assert_all_left(&desk);
}

#[test]
fn two_processors_on_one_city_do_no_job_twice() {
    let desk = Desk::new();
    add_cities(&desk, &["alpha"]);
    stored(&desk, "alphaCA", (1..=20).map(|number| meeting(number, false)));
    write_recording(&desk, &[json!({"url": "https://city.example/*", "status": 404})]);
    let command = ["civic", "processor", "--until-idle", "--replay", "recording"];
    let both = ["one.log", "two.log"].map(|log| desk.start_logging(&command, log));
    for processor in both {
        assert_eq!(processor.wait(), Some(0));
    }
    assert_eq!(summarised(&desk), 20);
    let events = with_store(&desk, async |store| {
        store.read_events(EventSeq::START, EventFilter::default(), 100_000).await.unwrap()
    });
    let mut read: Vec<String> = events
        .iter()
        .filter(|event| &*event.kind == "CivicMeetingProcessedEvent")
        .map(|event| serde_json::from_str::<Value>(&event.data).unwrap()["meetingId"].as_str().unwrap().to_owned())
        .collect();
    let all = read.len();
    read.sort_unstable();
    read.dedup();
    assert_eq!((all, read.len()), (20, 20), "each meeting is read once");
}
