//! Following without end, stopping at any moment, and what a killed program leaves behind.

use crate::{
    server::{Reply, Server},
    town::{Town, city},
    vendor::LINES,
};
use bindery_civic::records::Civic as _;
use bindery_civic::records::{SyncRunFilter, SyncStatus};
use bindery_civic::{
    client::{
        Client, Network, Settings, SystemTimer,
        vendors::{Budget, UNKNOWN},
    },
    conductor::{Conductor, SyncObserver, SyncResult, WindowRule, get_sync_status, heartbeat::FETCHER},
    vendor::Adapter,
};
use bindery_core::Name;
use jiff::civil::date;
use std::{
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};
use tokio::sync::Notify;

static ONLY_LINES: [&dyn Adapter; 1] = [&LINES];
const LOOK_AROUND: Duration = Duration::from_millis(20);

/// Tells of each city as it ends.
#[derive(Debug)]
struct Ended(tokio::sync::mpsc::UnboundedSender<SyncResult>);

impl SyncObserver for Ended {
    fn city_ended(&self, _: &str, result: &SyncResult) {
        let _ = self.0.send(result.clone());
    }
}

/// By the clock on the wall: what follows without end has to wait in earnest.
fn patient(town: &Town) -> (Conductor, tokio::sync::mpsc::UnboundedReceiver<SyncResult>) {
    // The servers are ours: no politeness is sat through.
    let budget = Budget { slots: 10, gap: Duration::ZERO, jitter: Duration::ZERO };
    let budgets = [(UNKNOWN.to_owned(), budget)].into();
    let settings = Settings { allow_private: true, budgets, ..Settings::default() };
    let client = Client::new(&settings, Arc::new(Network::new(&settings)), Arc::new(SystemTimer::default()));
    let window = WindowRule { from: Some(date(2026, 2, 1)), to: Some(date(2026, 2, 28)), ..WindowRule::default() };
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    let conductor = Conductor::new(Arc::clone(&town.store), Arc::new(client), &ONLY_LINES)
        .with_window(window)
        .with_observer(Arc::new(Ended(sender)))
        .named(Name::from(format!("here-1-0{FETCHER}")));
    (conductor, receiver)
}

fn council() -> Server {
    Server::start(|seen, _| match seen.path.as_str() {
        "/listing" => Reply::text("meeting 7 2026-02-17 City Council"),
        _ => Reply::new(404),
    })
}

/// The fetcher is a service of its own: nothing but the store stands between it and whoever reads what it finds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_70_cities_are_visited_when_they_are_due_and_new_ones_at_once() {
    let town = Town::new();
    town.add("paloaltoCA", &council()).await;
    let (conductor, mut ended) = patient(&town);
    let (following, stop) = (conductor.clone(), town.stop.clone());
    let task = tokio::spawn(async move { following.run(LOOK_AROUND, &stop).await });
    let first = ended.recv().await.unwrap();
    assert_eq!((first.city_key.as_str(), first.status), ("paloaltoCA", SyncStatus::Completed));
    // Nobody had to be told.
    town.add("nashvilleTN", &council()).await;
    assert_eq!(ended.recv().await.unwrap().city_key, "nashvilleTN");
    // A week later both are due again, and not before.
    assert!(ended.try_recv().is_err());
    town.clock.advance(Duration::from_secs(8 * 24 * 3_600));
    let mut again = [ended.recv().await.unwrap().city_key, ended.recv().await.unwrap().city_key];
    again.sort();
    assert_eq!(again, ["nashvilleTN", "paloaltoCA"]);
    assert_eq!(town.store.civic().queue_jobs(None, None).await.unwrap().len(), 0, "no agenda, nothing to read");
    town.handle.stop();
    task.await.unwrap();
}

/// The seed looks at a flag every second; here every wait ends with the signal, and a request is not waited for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_03_stopping_ends_visits_at_their_next_page_and_nothing_is_half_stored() {
    let town = Town::new();
    let asked = Arc::new(Notify::new());
    let server = Server::start({
        let asked = Arc::clone(&asked);
        move |seen, _| match seen.path.as_str() {
            "/listing" => Reply::text("meeting 7 2026-02-17 City Council\nfollow /agenda/7 agenda"),
            "/agenda/7" => {
                asked.notify_one();
                Reply::text("item 7 1 Budget").silent()
            }
            _ => Reply::new(404),
        }
    });
    let waiting = council();
    town.add("slowCA", &server).await;
    town.add("tardyCA", &server).await;
    town.add("waitingCA", &waiting).await;
    let (conductor, mut ended) = patient(&town);
    let (following, stop) = (conductor.clone(), town.stop.clone());
    let task = tokio::spawn(async move { following.run(LOOK_AROUND, &stop).await });
    asked.notified().await;
    town.handle.stop();
    task.await.unwrap();
    ended.close();
    let mut told = Vec::new();
    while let Some(result) = ended.recv().await {
        told.push(result);
    }
    for result in told.iter().filter(|result| result.city_key != "waitingCA") {
        assert_eq!(result.status, SyncStatus::Pending, "{result:?}");
        assert!(result.error_message.as_ref().unwrap().contains("the program is stopping"), "{result:?}");
    }
    for city_key in ["slowCA", "tardyCA"] {
        assert!(town.meetings(city_key).await.is_empty());
        let health = town.city(city_key).await.health;
        assert_eq!((health.consecutive_failures, health.next_sync_at), (0, None), "it is due as before");
    }
    let left = SyncRunFilter { status: Some(SyncStatus::InProgress), ..SyncRunFilter::default() };
    assert!(town.store.civic().sync_runs(left).await.unwrap().is_empty(), "every run has an end");
    // A list that is stopped has a result for each of its cities.
    let listed = ["slowCA".to_owned(), "waitingCA".to_owned()];
    let results = conductor.sync_cities(&listed, &town.stop).await;
    assert!(results.iter().all(|result| result.status == SyncStatus::Pending), "{results:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_14_at_most_two_cities_of_a_vendor_are_visited_at_once() {
    let town = Town::new();
    let most = Arc::new(Mutex::new((0_usize, 0_usize)));
    // Each request waits until two are there, or until nobody else comes.
    let (arrive, arrived) = mpsc::channel::<()>();
    let arrived = Arc::new(Mutex::new(arrived));
    let server_of = || {
        let (most, arrive, arrived) = (Arc::clone(&most), arrive.clone(), Arc::clone(&arrived));
        Server::start(move |seen, _| {
            if seen.path == "/robots.txt" {
                return Reply::new(404);
            }
            {
                let mut most = most.lock().unwrap();
                most.0 += 1;
                most.1 = most.1.max(most.0);
            }
            let _ = arrive.send(());
            let _ = arrived.lock().unwrap().recv_timeout(Duration::from_millis(50));
            most.lock().unwrap().0 -= 1;
            Reply::text("meeting 7 2026-02-17 City Council")
        })
    };
    let mut listed = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        let city_key = format!("{name}CA");
        town.add(&city_key, &server_of()).await;
        listed.push(city_key);
    }
    let results = town.conductor().sync_cities(&listed, &town.stop).await;
    assert!(results.iter().all(|result| result.status == SyncStatus::Completed), "{results:?}");
    assert!(most.lock().unwrap().1 <= 2, "{most:?}");
}

/// A program that was killed left a visit behind: the next one ends it, and the status does not show it as running.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_visit_that_nobody_is_behind_is_ended_at_the_next_start() {
    let town = Town::new();
    town.add("paloaltoCA", &council()).await;
    town.add("nashvilleTN", &council()).await;
    let civic = town.store.civic();
    let (dead, alive) = (Name::from(format!("there-7-0{FETCHER}")), Name::from("there-8-0-sync"));
    for name in [&dead, &alive] {
        town.store.arrive(name).await.unwrap();
    }
    civic.start_sync_run("paloaltoCA", &dead).await.unwrap();
    civic.start_sync_run("nashvilleTN", &alive).await.unwrap();
    let conductor = town.conductor().named(Name::from(format!("here-1-0{FETCHER}")));
    let standing = get_sync_status(&*town.store, |_| false).await.unwrap();
    assert_eq!((standing.is_running, standing.running.len()), (true, 2));
    assert_eq!(conductor.other_fetcher(|_| false).await.unwrap().as_deref(), Some(&*dead));
    // It says nothing any more, or is known to have died.
    let is_dead: fn(&str) -> bool = |name| name.starts_with("there-7-");
    let standing = get_sync_status(&*town.store, is_dead).await.unwrap();
    assert_eq!(standing.running.iter().map(|run| run.city_key.as_str()).collect::<Vec<_>>(), ["nashvilleTN"]);
    assert_eq!(conductor.other_fetcher(is_dead).await.unwrap(), None);
    town.clock.advance(Duration::from_secs(1));
    let presence = conductor.enter(is_dead).await.unwrap();
    assert_eq!(presence.closed.iter().map(|run| run.city_key.as_str()).collect::<Vec<_>>(), ["paloaltoCA"]);
    assert_eq!(town.runs("paloaltoCA").await[0].status, SyncStatus::Failed);
    // It is due as it was.
    assert_eq!(town.city("paloaltoCA").await.health.next_sync_at, None);
    // Of two at work, the first has the right to visit everything.
    assert_eq!(conductor.other_fetcher(|_| false).await.unwrap().as_deref(), Some(&*dead));
    let first = town.conductor().named(dead.clone());
    assert_eq!(first.other_fetcher(|_| false).await.unwrap(), None);
    presence.leave(0).await.unwrap();
    town.clock.advance(Duration::from_secs(60));
    let standing = get_sync_status(&*town.store, |_| false).await.unwrap();
    assert_eq!((standing.is_running, standing.running.len()), (false, 0), "a minute of silence says the same");
}

/// Vendors wait for each other nowhere: one that never answers does not keep another's cities.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_15_a_vendor_that_is_slow_keeps_nobody_elses_cities_waiting() {
    let town = Town::new();
    let slow = Server::start(|_, _| Reply::new(200).silent());
    town.add("slowCA", &slow).await;
    town.put(city("quickCA", "other", "x")).await;
    let conductor = town.conductor();
    let (stop, handle) = (town.stop.clone(), town.handle.clone());
    let all = ["slowCA".to_owned(), "quickCA".to_owned()];
    let results = tokio::spawn(async move { conductor.sync_cities(&all, &stop).await });
    // The other vendor's city has ended while the first is still waiting.
    loop {
        let runs = town.runs("quickCA").await;
        if runs.first().is_some_and(|run| run.status == SyncStatus::Skipped) {
            break;
        }
        tokio::task::yield_now().await;
    }
    handle.stop();
    let results = results.await.unwrap();
    assert_eq!([results[0].status, results[1].status], [SyncStatus::Pending, SyncStatus::Skipped]);
}
