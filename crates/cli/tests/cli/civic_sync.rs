//! Visits to councils through the binary, from recordings written by hand.

use crate::cities::put_cities;
use crate::support::{Desk, Ran};
use bindery_civic::records::{Alert, Civic as _, Jurisdiction, RequestStatus};
use bindery_store::{
    Store,
    sqlite::{Options, SqliteStore},
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::{fs, time::Instant};
use tokio::runtime::Runtime;

/// Does something with the store of a desk, which is made if it is not there.
pub(crate) fn with_store<T>(desk: &Desk, work: impl AsyncFnOnce(&dyn Store) -> T) -> T {
    fs::create_dir_all(desk.path("bindery-data")).unwrap();
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(Options {
            domains: bindery_civic::records::DOMAINS,
            ..Options::at(desk.path("bindery-data/bindery.db"))
        })
        .unwrap();
        work(&store).await
    })
}

/// Cities of Legistar, each under the name that it has in the recording.
pub(crate) fn add_cities(desk: &Desk, names: &[&str]) {
    let city = |name: &&str| Jurisdiction {
        city_key: format!("{name}CA"),
        name: (*name).to_owned(),
        state: "CA".to_owned(),
        vendor: "legistar".to_owned(),
        slug: (*name).to_owned(),
        ..Jurisdiction::default()
    };
    let cities = names.iter().map(city).collect();
    with_store(desk, async |store| put_cities(&store.civic(), cities).await.unwrap());
}

/// A city's site: so many meetings, each with an agenda of four items.
pub(crate) fn site(name: &str, meetings: u32) -> Vec<Value> {
    let api = format!("https://webapi.legistar.com/v1/{name}");
    let at = "2026-01-10T12:00:00Z";
    let mut lines = Vec::new();
    let mut events = Vec::new();
    for number in 1..=meetings {
        let (id, day) = (100 + number, 1 + number % 28);
        events.push(json!({
            "EventId": id, "EventBodyId": number % 3, "EventBodyName": format!("Commission {}", number % 3),
            "EventDate": format!("2026-01-{day:02}T00:00:00"), "EventTime": "6:00 PM",
            "EventAgendaFile": format!("https://{name}.legistar1.com/agenda-{id}.pdf"),
        }));
        let item = |place: u32, title: &str, matter: Option<u32>| {
            json!({
                "EventItemId": id * 10 + place, "EventItemEventId": id, "EventItemTitle": title,
                "EventItemAgendaSequence": place, "EventItemMatterId": matter,
                "EventItemMatterFile": matter.map(|matter| format!("ORD 26-{matter}")),
                "EventItemMatterType": matter.map(|_| "Ordinance"),
                "EventItemMatterAttachments": [{
                    "MatterAttachmentId": id * 100 + place, "MatterAttachmentName": "Staff Report",
                    "MatterAttachmentHyperlink": format!("https://{name}.legistar1.com/report-{id}-{place}.pdf"),
                }],
            })
        };
        let items = json!([
            item(1, "Roll Call", None),
            item(2, "Ordinance rezoning the harbour", Some(number / 2)),
            item(3, "Resolution on the annual budget", Some(1000 + number)),
            item(4, "Contract for the repair of streets", None),
        ]);
        lines.push(json!({"url": format!("{api}/Events/{id}/EventItems*"), "json": items, "at": at}));
    }
    lines.push(json!({"url": format!("{api}/Events?*"), "json": events, "at": at}));
    // Nobody sits anywhere, sponsors or votes.
    lines.push(json!({"url": format!("{api}/*"), "json": [], "at": at}));
    lines
}

pub(crate) fn write_recording(desk: &Desk, lines: &[Value]) {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    desk.write("recording/recording.jsonl", text.join("\n"));
}

fn desk_with(names: &[&str]) -> Desk {
    let desk = Desk::new();
    add_cities(&desk, names);
    write_recording(&desk, &names.iter().flat_map(|name| site(name, 6)).collect::<Vec<_>>());
    desk
}

fn replay(desk: &Desk, command: &[&str]) -> Ran {
    desk.bindery(&[&["civic"], command, &["--replay", "recording"]].concat())
}

#[test]
fn s001_05_a_city_is_visited_twice_and_the_second_visit_changes_nothing() {
    let desk = desk_with(&["alpha"]);
    let first = replay(&desk, &["sync-city", "alphaCA", "--json"]).ok();
    let result = &first.json()[0];
    let expected = json!({
        "city_banana": "alphaCA", "status": "completed", "meetings_found": 6, "meetings_processed": 6,
        "meetings_skipped": 0, "items_stored": 24, "meetings_changed": 6, "error_message": null, "alarms": [],
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&result[field], value, "{field}: {result:#}");
    }
    assert!(result["jobs_enqueued"].as_u64().is_some_and(|jobs| jobs > 6), "meetings and matters: {result:#}");
    assert!(result["duration_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
    assert!(first.err.contains("alphaCA  completed: 6 meetings, 6 changed"), "{}", first.err);
    let second = replay(&desk, &["sync-city", "alphaCA", "--json"]).ok().json();
    assert_eq!((&second[0]["meetings_found"], &second[0]["meetings_changed"]), (&json!(6), &json!(0)));
    assert_eq!(second[0]["jobs_enqueued"], 0);
    let shown = replay(&desk, &["sync-city", "alphaCA"]).ok().out;
    assert!(shown.starts_with("CITY") && shown.contains("completed"), "{shown}");
}

#[test]
fn s001_08_cities_are_listed_with_commas_or_in_a_file() {
    let desk = desk_with(&["alpha", "beta"]);
    desk.write("cities.txt", "# of the bay\nbetaCA\nalphaCA # the first\n");
    let listed = replay(&desk, &["sync-cities", "@cities.txt", "--json"]).ok().json();
    let names: Vec<&Value> = listed.as_array().unwrap().iter().map(|result| &result["city_banana"]).collect();
    assert_eq!(names, ["betaCA", "alphaCA"], "in the order of the list");
    assert_eq!(replay(&desk, &["sync-cities", "CA", "--json"]).ok().json().as_array().unwrap().len(), 2);
    let partly = replay(&desk, &["sync-cities", "alphaCA,nowhereCA"]).fails_with(3, "alphaCA  completed");
    assert!(partly.out.contains("no city nowhereCA is stored; `bindery civic city add nowhereCA"), "{}", partly.out);
    replay(&desk, &["sync-cities", "nowhereCA"]).fails_with(1, "");
    desk.write("bad.txt", "alphaCA\nBeta\n");
    replay(&desk, &["sync-cities", "@bad.txt"]).fails_with(2, "bad.txt, line 2: \"Beta\" is no banana");
    replay(&desk, &["sync-cities", "@none.txt"]).fails_with(2, "none.txt cannot be read");
    replay(&desk, &["sync-cities", "TN"]).fails_with(2, "\"TN\" means no city that is stored");
}

#[test]
fn what_cannot_be_visited_is_one_sentence_with_a_hint() {
    let desk = desk_with(&["alpha"]);
    replay(&desk, &["sync-city", "AlphaCA"]).fails_with(2, "is alphaCA meant?");
    let unknown = replay(&desk, &["sync-city", "betaCA"]).fails_with(2, "error: no city betaCA is stored");
    assert!(unknown.err.contains("hint: `bindery civic city add betaCA"), "{}", unknown.err);
    let civic = |args: &[&str]| desk.bindery(&[&["civic"], args].concat());
    civic(&["sync-city", "alphaCA", "--replay", "nothing"]).fails_with(2, "nothing is no recording");
    civic(&["sync-city", "alphaCA", "--from", "soon"]).fails_with(2, "expected one like 2026-03-09");
    let backwards = ["sync-city", "alphaCA", "--from", "2026-02-01", "--to", "2026-01-01"];
    civic(&backwards).fails_with(2, "--from 2026-02-01 is after --to 2026-01-01");
    civic(&["fetcher", "--replay", "recording"]).fails_with(2, "give --once with it");
    Desk::new().bindery(&["civic", "status"]).fails_with(20, "there is no store");
    // A page that was not recorded is named.
    write_recording(&desk, &[json!({"url": "https://elsewhere.example/"})]);
    let failed = replay(&desk, &["sync-city", "alphaCA", "--json"]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    let why = failed.json()[0]["error_message"].as_str().unwrap().to_owned();
    assert!(why.contains("is not in the recording recording"), "{why}");
}

#[test]
fn days_can_be_named_and_else_follow_the_recording() {
    let desk = desk_with(&["alpha"]);
    let narrow = ["sync-city", "alphaCA", "--json", "--from", "2026-01-03", "--to", "2026-01-04"];
    assert_eq!(replay(&desk, &narrow).ok().json()[0]["meetings_found"], 2);
    assert_eq!(replay(&desk, &["sync-city", "alphaCA", "--json"]).ok().json()[0]["meetings_found"], 6);
}

#[test]
fn s001_10_all_that_is_due_is_visited_and_the_status_says_how_it_stands() {
    let desk = desk_with(&["alpha", "beta"]);
    let before = desk.bindery(&["civic", "status", "--json"]).ok().json();
    assert_eq!((&before["active_cities"], &before["total_meetings"]), (&json!(2), &json!(0)));
    let all = replay(&desk, &["full-sync"]).ok();
    assert!(all.out.contains("Full sync complete: 2 cities processed (2 completed, 0 failed"), "{}", all.out);
    let none = replay(&desk, &["fetcher", "--once", "--json"]).ok().json();
    assert_eq!(none["cities_processed"], 0, "nothing is due");
    let every = replay(&desk, &["full-sync", "--all", "--json"]).ok().json();
    assert_eq!((&every["cities_processed"], &every["completed"]), (&json!(2), &json!(2)));
    let status = desk.bindery(&["civic", "status", "--json"]).ok().json();
    let expected = json!({
        "is_running": false, "active_cities": 2, "total_meetings": 12, "summarized_meetings": 0,
        "pending_meetings": 12, "failed_cities": [], "failed_count": 0, "stopped_yielding": [],
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&status[field], value, "{field}: {status:#}");
    }
    // A site that has gone away.
    add_cities(&desk, &["alpha", "beta", "gone"]);
    let mut lines: Vec<Value> = ["alpha", "beta"].iter().flat_map(|name| site(name, 6)).collect();
    lines.extend(
        ["https://webapi.legistar.com/v1/gone/*", "https://gone.legistar.com/*"]
            .map(|url| json!({"url": url, "status": 404})),
    );
    write_recording(&desk, &lines);
    replay(&desk, &["full-sync", "--all"])
        .fails_with(3, "goneCA  failed: legistar: https://gone.legistar.com/Calendar.aspx");
    let shown = desk.bindery(&["civic", "status"]).ok().out;
    assert!(shown.contains("3 active, 1 failing") && shown.contains("status 404 Not Found"), "{shown}");
}

#[test]
fn s001_10_the_watchlist_is_shown_and_visited() {
    let desk = desk_with(&["alpha", "beta"]);
    desk.bindery(&["civic", "preview-watchlist"]).ok();
    let alert = Alert {
        id: "a".to_owned(),
        owner: "clerk@example.com".to_owned(),
        cities: vec!["betaCA".to_owned(), "renoNV".to_owned()],
        ..Alert::default()
    };
    with_store(&desk, async |store| store.civic().put_alert(alert).await.unwrap());
    let list = desk.bindery(&["civic", "preview-watchlist", "--json"]).ok().json();
    assert_eq!((&list["cities"][0]["city_banana"], &list["requested"]), (&json!("betaCA"), &json!(["renoNV"])));
    let visited = replay(&desk, &["sync-watchlist", "--json"]).ok();
    assert_eq!((visited.json().as_array().unwrap().len(), &visited.json()[0]["city_banana"]), (1, &json!("betaCA")));
    assert!(visited.err.contains("renoNV is not followed yet"), "{}", visited.err);
    let requests =
        with_store(&desk, async |store| store.civic().city_requests(Some(RequestStatus::Pending)).await.unwrap());
    assert_eq!(requests.iter().map(|request| request.city_key.as_str()).collect::<Vec<_>>(), ["renoNV"]);
}

/// The fetcher runs as a service of its own; a second one stands by until the first has stopped.
#[test]
fn s001_70_a_fetcher_runs_until_it_is_told_to_stop() {
    let desk = Desk::new();
    with_store(&desk, async |_| ());
    let running = |holds: &dyn Fn(&Value) -> bool| {
        let begun = Instant::now();
        loop {
            let status = desk.bindery(&["civic", "status", "--json"]).ok().json();
            if holds(&status) {
                break;
            }
            assert!(begun.elapsed() < crate::support::PATIENCE, "{status:#}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    let first = desk.start_logging(&["civic", "fetcher"], "first.log");
    running(&|status| status["is_running"] == true);
    desk.bindery(&["civic", "full-sync"]).fails_with(1, "visits the cities of this store already");
    let second = desk.start_logging(&["civic", "fetcher"], "second.log");
    let begun = Instant::now();
    while !fs::read_to_string(desk.path("second.log")).unwrap().contains("standing by until it stops") {
        assert!(begun.elapsed() < crate::support::PATIENCE);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // Killed, it is known to be gone at once.
    first.kill();
    let begun = Instant::now();
    while !fs::read_to_string(desk.path("second.log")).unwrap().contains("visits cities when they are due") {
        assert!(begun.elapsed() < crate::support::PATIENCE);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    second.signal(Signal::TERM);
    assert_eq!(second.wait(), Some(0));
    running(&|status| status["is_running"] == false);
}
