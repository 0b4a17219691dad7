//! What a visit to a city promises, and visits to many.

use crate::{
    server::{Reply, Server},
    town::{Town, city, city_keys, place},
};
use bindery_civic::hash::canonical_url;
use bindery_civic::records::{
    Alert, ChangeFilter, Civic as _, Jurisdiction, KnownDocument, Meeting, Replacement, RequestStatus, SyncStatus,
};
use bindery_civic::{
    city_key::parse_targets,
    client::Settings,
    conductor::{SyncObserver, SyncResult, Which, get_sync_status},
};
use bindery_store::blobs::LocalBlobs;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

const HOUR: Duration = Duration::from_secs(3_600);

/// A site with two meetings, one of which has an agenda.
fn council() -> Server {
    Server::start(|seen, _| match seen.path.as_str() {
        "/listing" => {
            Reply::text("meeting 7 2026-02-17 City Council\nmeeting 8 2026-02-03 Parks Board\nfollow /agenda/7 agenda")
        }
        "/agenda/7" => Reply::text("item 7 1 Roll Call\nitem 7 2 Ordinance on the budget of 2026"),
        _ => Reply::new(404),
    })
}

fn broken() -> Server {
    Server::start(|seen, _| if seen.path == "/robots.txt" { Reply::new(404) } else { Reply::new(503) })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_16_a_visit_says_what_it_came_to_and_the_second_changes_nothing() {
    let town = Town::new();
    town.add("paloaltoCA", &council()).await;
    let conductor = town.conductor();
    let first = conductor.sync_city("paloaltoCA", &town.stop).await;
    assert_eq!((first.city_key.as_str(), first.status), ("paloaltoCA", SyncStatus::Completed));
    assert_eq!((first.meetings_found, first.meetings_processed, first.meetings_skipped), (2, 2, 0));
    assert_eq!((first.items_stored, first.meetings_changed, &first.error_message), (2, 2, &None));
    assert!(first.duration_seconds > 0.0);
    let stored = town.meetings("paloaltoCA").await;
    town.clock.advance(HOUR);
    let second = conductor.sync_city("paloaltoCA", &town.stop).await;
    assert_eq!((second.meetings_found, second.meetings_changed, second.jobs_enqueued), (2, 0, 0));
    assert_eq!(town.meetings("paloaltoCA").await, stored, "not even a time is different");
    let runs = town.runs("paloaltoCA").await;
    assert_eq!(runs.len(), 2);
    assert_eq!((runs[1].status, runs[1].meetings_found, runs[1].items_stored), (SyncStatus::Completed, 2, 2));
    assert_eq!(runs[1].details["vendors"][0]["pages"], 2);
    let health = town.city("paloaltoCA").await.health;
    assert_eq!((health.consecutive_failures, health.last_error), (0, None));
    assert_eq!(health.last_success_at, Some(town.store.clock().now()));
}

/// Whatever a visit finds has its history, which only the orchestrator writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_18_meetings_are_stored_through_the_orchestrator() {
    let town = Town::new();
    town.add("paloaltoCA", &council()).await;
    town.conductor().sync_city("paloaltoCA", &town.stop).await;
    let filter = ChangeFilter { city_key: Some("paloaltoCA".to_owned()), ..ChangeFilter::default() };
    assert_eq!(town.store.civic().meeting_changes(filter).await.unwrap().len(), 2);
    for meeting in town.meetings("paloaltoCA").await {
        assert!(meeting.content_hash.is_some() && meeting.revision == 1, "{meeting:?}");
    }
}

/// ▲ The seed visits one after another and makes one attempt; here three are made for what may pass.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_17_a_city_that_fails_is_recorded_while_others_go_on() {
    let town = Town::new();
    let (bad, good) = (broken(), council());
    town.add("badCA", &bad).await;
    town.add("goodCA", &good).await;
    let conductor = town.conductor();
    let results = conductor.sync_cities(&["badCA".to_owned(), "goodCA".to_owned()], &town.stop).await;
    assert_eq!(city_keys(&results), ["badCA", "goodCA"]);
    assert_eq!([results[0].status, results[1].status], [SyncStatus::Failed, SyncStatus::Completed]);
    let why = results[0].error_message.as_deref().unwrap();
    assert!(why.starts_with("lines: http://127.0.0.1") && why.ends_with("503 Service Unavailable"), "{why}");
    assert_eq!(bad.times("/listing"), 3);
    let health = town.city("badCA").await.health;
    assert_eq!((health.consecutive_failures, health.last_error.as_deref()), (1, Some(why)));
    // The next attempt comes later with each failure.
    let first_wait = health.next_sync_at.unwrap().since(town.store.clock().now());
    assert_eq!(first_wait, 24 * HOUR);
    // The circuit breaker would keep this client from asking.
    town.conductor().sync_city("badCA", &town.stop).await;
    let health = town.city("badCA").await.health;
    assert_eq!(health.consecutive_failures, 2);
    assert_eq!(health.next_sync_at.unwrap().since(town.store.clock().now()), 48 * HOUR);
    let standing = get_sync_status(&*town.store, |_| false).await.unwrap();
    assert_eq!((standing.failed_cities, standing.failed_count), (vec!["badCA".to_owned()], 1));
    assert_eq!((standing.active_cities, standing.total_meetings, standing.pending_meetings), (2, 2, 2));
    assert!(!standing.is_running && standing.running.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_05_a_city_is_visited_whether_or_not_it_is_due() {
    let town = Town::new();
    let server = council();
    town.add("paloaltoCA", &server).await;
    let conductor = town.conductor();
    assert_eq!(conductor.full_sync(Which::Due, &town.stop).await.unwrap().len(), 1);
    assert_eq!(conductor.full_sync(Which::Due, &town.stop).await.unwrap().len(), 0, "it is not due any more");
    conductor.sync_city("paloaltoCA", &town.stop).await;
    assert_eq!(conductor.full_sync(Which::All, &town.stop).await.unwrap().len(), 1);
    assert_eq!(server.times("/listing"), 3);
    // One meeting in the last 30 days: a week later, unless an agenda is missing before that.
    let next = town.city("paloaltoCA").await.health.next_sync_at.unwrap();
    assert!(next.since(town.store.clock().now()) <= 7 * 24 * HOUR);
    let unknown = conductor.sync_city("nowhereCA", &town.stop).await;
    assert_eq!(unknown.status, SyncStatus::Skipped);
    assert!(unknown.error_message.unwrap().contains("bindery civic city add nowhereCA"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_12_only_active_cities_that_are_due_are_visited_the_busiest_first() {
    let town = Town::new();
    let lines: Vec<String> = (1..=9).map(|day| format!("meeting {day} 2026-02-0{day} Council {day}")).collect();
    let busy = Server::start(move |seen, _| match seen.path.as_str() {
        "/listing" => Reply::text(&lines.join("\n")),
        _ => Reply::new(404),
    });
    let quiet = council();
    town.add("quietCA", &quiet).await;
    town.add("busyCA", &busy).await;
    let paused = Jurisdiction { status: "paused".to_owned(), ..city("pausedCA", "lines", &quiet.address) };
    town.put(paused).await;
    // One at a time, so that the order shows.
    let began = Arc::new(Began::default());
    let one = Settings { cities_at_once: 1, ..Settings::default() };
    let conductor = town.conductor_with(&one).with_observer(Arc::clone(&began) as Arc<dyn SyncObserver>);
    conductor.full_sync(Which::Due, &town.stop).await.unwrap();
    assert_eq!(began.take(), ["busyCA", "quietCA"], "never visited: by name");
    town.clock.advance(13 * HOUR);
    conductor.full_sync(Which::Due, &town.stop).await.unwrap();
    assert_eq!(began.take(), ["busyCA"], "nine meetings a month: every 12 hours");
    town.add("newCA", &quiet).await;
    town.clock.advance(8 * 24 * HOUR);
    conductor.full_sync(Which::Due, &town.stop).await.unwrap();
    assert_eq!(began.take(), ["newCA", "busyCA", "quietCA"]);
    let skipped = conductor.sync_city("pausedCA", &town.stop).await;
    assert!(skipped.error_message.unwrap().contains("only active ones"));
}

#[derive(Debug, Default)]
struct Began(Mutex<Vec<String>>);

impl Began {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl SyncObserver for Began {
    fn city_began(&self, city_key: &str, _: &str) {
        self.0.lock().unwrap().push(city_key.to_owned());
    }
}

/// Counts as metrics would.
#[derive(Debug, Default)]
struct Counted {
    ended: Mutex<Vec<(String, SyncResult)>>,
}

impl SyncObserver for Counted {
    fn city_ended(&self, vendor: &str, result: &SyncResult) {
        self.ended.lock().unwrap().push((vendor.to_owned(), result.clone()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_11_metrics_are_told_of_every_city_and_nobody_has_to_listen() {
    let town = Town::new();
    town.add("paloaltoCA", &council()).await;
    town.add("badCA", &broken()).await;
    let metrics = Arc::new(Counted::default());
    let observed = town.conductor().with_observer(Arc::clone(&metrics) as Arc<dyn SyncObserver>);
    let results = observed.full_sync(Which::All, &town.stop).await.unwrap();
    let mut told = metrics.ended.lock().unwrap().clone();
    told.sort_by(|one, other| one.1.city_key.cmp(&other.1.city_key));
    assert_eq!(told.iter().map(|(vendor, _)| vendor.as_str()).collect::<Vec<_>>(), ["lines", "lines"]);
    let found = |result: &SyncResult| (result.city_key.clone(), result.status, result.meetings_found);
    let mut expected: Vec<_> = results.iter().map(found).collect();
    expected.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(told.iter().map(|(_, result)| found(result)).collect::<Vec<_>>(), expected);
    let silent = town.conductor().full_sync(Which::All, &town.stop).await.unwrap();
    assert_eq!(silent.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_68_the_sites_of_further_vendors_add_to_a_city() {
    let town = Town::new();
    let (council, gone) = (council(), Server::start(|_, _| Reply::new(404)));
    let parks = Server::start(|seen, _| match seen.path.as_str() {
        "/listing" => Reply::text("meeting p1 2026-02-19 Trees Commission"),
        _ => Reply::new(404),
    });
    let with = |extra: Vec<(&str, &str)>| Jurisdiction {
        extra_vendors: extra.into_iter().map(|(vendor, slug)| place(vendor, slug)).collect(),
        ..city("paloaltoCA", "lines", &council.address)
    };
    town.put(with(vec![("lines", parks.address.as_str())])).await;
    let conductor = town.conductor();
    let both = conductor.sync_city("paloaltoCA", &town.stop).await;
    assert_eq!((both.status, both.meetings_found, both.items_stored), (SyncStatus::Completed, 3, 2));
    conductor.sync_city("paloaltoCA", &town.stop).await;
    let is_listed = |meeting: &Meeting| meeting.removed_at.is_none();
    assert!(town.meetings("paloaltoCA").await.iter().all(is_listed), "one site does not speak for the other");
    // A vendor that nobody knows does not hide what the others say, nor that it is not known.
    town.put(with(vec![("nonesuch", "x")])).await;
    let skipped = conductor.sync_city("paloaltoCA", &town.stop).await;
    assert_eq!((skipped.status, skipped.meetings_found), (SyncStatus::Completed, 2));
    assert_eq!(skipped.error_message.as_deref(), Some("there is no vendor \"nonesuch\"; known are lines"));
    town.put(with(vec![("lines", gone.address.as_str())])).await;
    let failed = conductor.sync_city("paloaltoCA", &town.stop).await;
    assert_eq!((failed.status, failed.meetings_found), (SyncStatus::Failed, 2), "the worst counts");
    assert!(failed.error_message.unwrap().ends_with("404 Not Found"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_that_have_not_changed_are_not_sent_again() {
    let town = Town::new();
    let server = Server::start(|seen, _| match seen.path.as_str() {
        "/listing" if seen.headers.contains_key("if-none-match") => Reply::new(304),
        "/listing" => Reply::text("meeting 7 2026-02-17 City Council").header("ETag", "\"1\""),
        _ => Reply::new(404),
    });
    town.add("paloaltoCA", &server).await;
    let dir = tempfile::tempdir().unwrap();
    let pages = Arc::new(LocalBlobs::open(dir.path()).unwrap());
    for unchanged in [0, 1, 1] {
        let conductor = town.conductor().with_pages(Arc::clone(&pages) as _);
        let result = conductor.sync_city("paloaltoCA", &town.stop).await;
        assert_eq!((result.status, result.meetings_found), (SyncStatus::Completed, 1));
        assert_eq!(town.runs("paloaltoCA").await[0].details["vendors"][0]["unchanged"], unchanged);
    }
    // Without a place for pages, the whole page is asked for.
    town.conductor().sync_city("paloaltoCA", &town.stop).await;
    assert_eq!(town.runs("paloaltoCA").await[0].details["vendors"][0]["unchanged"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_10_the_watchlist_is_what_alerts_name_and_unknown_cities_become_requests() {
    let town = Town::new();
    town.add("paloaltoCA", &council()).await;
    let conductor = town.conductor();
    let alert = Alert {
        id: "a1".to_owned(),
        owner: "clerk@example.com".to_owned(),
        cities: ["paloaltoCA", "renoNV", "Reno"].map(str::to_owned).to_vec(),
        ..Alert::default()
    };
    town.store.civic().put_alert(alert).await.unwrap();
    for _ in 0..2 {
        let list = conductor.watchlist().await.unwrap();
        assert_eq!(
            (list.city_keys(), &list.requested, &list.invalid),
            (vec!["paloaltoCA".to_owned()], &vec!["renoNV".to_owned()], &vec!["Reno".to_owned()])
        );
    }
    let requests = town.store.civic().city_requests(Some(RequestStatus::Pending)).await.unwrap();
    let requests: Vec<_> = requests.iter().map(|request| (request.city_key.as_str(), request.request_count)).collect();
    assert_eq!(requests, [("renoNV", 1)], "looking twice is one wish");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_08_a_list_may_name_states_and_counties_and_keeps_its_order() {
    let town = Town::new();
    let server = council();
    for city_key in ["fresnoCA", "nashvilleTN"] {
        town.add(city_key, &server).await;
    }
    let county = Some("fresnocountyCA".to_owned());
    town.put(Jurisdiction { county, ..city("clovisCA", "lines", &server.address) }).await;
    town.put(city("fresnocountyCA", "lines", &server.address)).await;
    let conductor = town.conductor();
    let expand = async |list: &str| conductor.expand(&parse_targets(list, "the list").unwrap()).await.unwrap();
    assert_eq!(expand("nashvilleTN,fresnocountyCA").await, ["nashvilleTN", "fresnocountyCA", "clovisCA"]);
    let listed = expand("TN,nowhereCA,CA").await;
    assert_eq!(listed, ["nashvilleTN", "nowhereCA", "clovisCA", "fresnoCA", "fresnocountyCA"]);
    let results = conductor.sync_cities(&listed, &town.stop).await;
    assert_eq!(city_keys(&results), listed);
    assert_eq!(results[1].status, SyncStatus::Skipped);
    assert!(results.iter().filter(|result| result.status == SyncStatus::Completed).count() == 4);
}

/// The seed asks and compares hashes by hand; ▲ here a visit finds out which files were replaced under their addresses,
/// and what was read of them is read again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_61_a_document_that_was_replaced_under_its_address_is_read_again() {
    let length = Arc::new(AtomicU64::new(7));
    let server = Server::start({
        let length = Arc::clone(&length);
        move |seen, _| match (seen.method.as_str(), seen.path.as_str()) {
            (_, "/listing") => Reply::text("meeting 7 2026-02-17 City Council\nfollow /agenda/7 agenda"),
            (_, "/agenda/7") => Reply::text("item 7 1 Contract for sewer pumps\ndocument 7 1 /report.pdf"),
            ("HEAD", "/report.pdf") => {
                Reply::new(200).header("Content-Length", &length.load(Ordering::SeqCst).to_string())
            }
            _ => Reply::new(404),
        }
    });
    let town = Town::new();
    town.add("paloaltoCA", &server).await;
    let conductor = town.conductor();
    let visit = async || {
        town.clock.advance(HOUR);
        let result = conductor.sync_city("paloaltoCA", &town.stop).await;
        assert_eq!((result.status, &result.error_message), (SyncStatus::Completed, &None));
        (result.meetings_changed, result.jobs_enqueued)
    };
    assert_eq!(visit().await, (1, 1));
    assert_eq!(server.times("/report.pdf"), 0, "nobody has read it, so that nothing can be out of date");
    let url = canonical_url(&server.url("/report.pdf"));
    let read = KnownDocument { url, content_sha256: Some("aa".to_owned()), bytes: Some(7), ..KnownDocument::default() };
    town.store.civic().put_document(read).await.unwrap();
    assert_eq!(visit().await, (0, 0), "it is as long as it was");
    assert_eq!(server.times("/report.pdf"), 1);
    length.store(9, Ordering::SeqCst);
    assert_eq!(visit().await, (1, 1));
    assert_eq!(visit().await, (0, 0), "once");
    let meeting = town.meetings("paloaltoCA").await.remove(0);
    let agenda = town.store.civic().agenda(&meeting.id).await.unwrap();
    let replaced = Replacement { content_length: Some(9), last_modified: None };
    assert_eq!(agenda[0].attachments[0].replaced, Some(replaced));
}
