//! `bindery civic fetcher` killed with -9 at any moment and started again: what is stored in the end is what a fetcher
//! stores that nobody disturbed. Nothing is lost, told twice or queued twice.

use crate::{
    civic_sync::{add_cities, site, with_store, write_recording},
    support::Desk,
};
use bindery_civic::records::{ChangeFilter, Civic as _, MatterFilter, MeetingFilter, SyncRunFilter, SyncStatus};
use bindery_core::EventSeq;
use bindery_store::query::EventFilter;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

/// How often it is killed. `make torture` says more.
const USUAL_KILLS: u64 = 24;
/// As often in the life of one store.
const KILLS_OF_A_STORE: u64 = 4;

const CITIES: [&str; 4] = ["alpha", "beta", "gamma", "delta"];

/// More than are stored by one transaction.
const MEETINGS: u32 = 60;

const FETCHER: [&str; 5] = ["civic", "fetcher", "--once", "--replay", "recording"];

fn desk() -> Desk {
    let desk = Desk::new();
    add_cities(&desk, &CITIES);
    let sites: Vec<Value> = CITIES.iter().flat_map(|name| site(name, MEETINGS)).collect();
    write_recording(&desk, &sites);
    desk
}

#[test]
fn s001_28_killed_at_any_moment_a_fetcher_loses_and_repeats_nothing() {
    let kills = std::env::var("BINDERY_KILLS").ok().map_or(USUAL_KILLS, |number| number.parse().unwrap());
    let undisturbed = desk();
    let begun = Instant::now();
    undisturbed.bindery(&FETCHER).ok();
    let whole = begun.elapsed();
    let expected = everything(&undisturbed);
    assert_eq!(expected["meetings"].as_array().unwrap().len(), MEETINGS as usize * CITIES.len());
    assert_eq!(expected["events"].as_array().unwrap().len(), MEETINGS as usize * CITIES.len());
    assert_eq!(expected["notifications"].as_array().unwrap().len(), CITIES.len(), "one for the first meeting of each");
    assert!(expected["jobs"].as_array().unwrap().len() > MEETINGS as usize * CITIES.len(), "meetings and matters");
    let mut moments = fastrand::Rng::with_seed(0xc17);
    let (mut killed, mut cut_short) = (0, 0);
    while killed < kills {
        let desk = desk();
        let mut told = Vec::new();
        for _ in 0..KILLS_OF_A_STORE {
            let started = desk.start(&FETCHER);
            // Any moment will do; the time that it took before only says which ones there are.
            let moment = Duration::from_secs_f64(whole.as_secs_f64() * moments.f64());
            std::thread::sleep(moment);
            started.kill();
            killed += 1;
            told.push(moment);
        }
        cut_short += u64::from(left_behind(&desk));
        let ran = desk.bindery(&FETCHER).ok();
        let found = everything(&desk);
        for part in ["meetings", "items", "matters", "changes", "jobs", "notifications", "events"] {
            assert_eq!(found[part], expected[part], "killed after {told:?}: {part} differ; {}", ran.err);
        }
        let status = desk.bindery(&["civic", "status", "--json"]).ok().json();
        assert_eq!((&status["is_running"], &status["running"]), (&json!(false), &json!([])), "{status:#}");
        assert!(!left_behind(&desk), "every visit has an end");
    }
    println!("killed {killed} times; {cut_short} stores were left with a visit under way");
}

/// Whether a visit is under way that nobody is behind.
fn left_behind(desk: &Desk) -> bool {
    let filter = SyncRunFilter { status: Some(SyncStatus::InProgress), ..SyncRunFilter::default() };
    with_store(desk, async |store| !store.civic().sync_runs(filter).await.unwrap().is_empty())
}

/// All that is stored, without the numbers and times that it has in this store.
fn everything(desk: &Desk) -> Value {
    let mut all = with_store(desk, async |store| {
        let civic = store.civic();
        let meetings = civic.meetings(MeetingFilter { with_removed: true, ..MeetingFilter::default() }).await.unwrap();
        let mut items = Vec::new();
        for meeting in &meetings {
            items.extend(civic.agenda(&meeting.id).await.unwrap());
        }
        let mut changes = civic.meeting_changes(ChangeFilter::default()).await.unwrap();
        changes.sort_by(|one, other| {
            (&one.meeting_id, one.revision, one.ordinal).cmp(&(&other.meeting_id, other.revision, other.ordinal))
        });
        let jobs = civic.queue_jobs(None, None).await.unwrap();
        let jobs: BTreeSet<String> = jobs
            .iter()
            .map(|job| json!({"of": job.source_url, "priority": job.priority, "payload": job.payload}).to_string())
            .collect();
        let events = store.read_events(EventSeq::START, EventFilter::default(), 100_000).await.unwrap();
        let events: Vec<Value> = events
            .iter()
            .filter(|event| &*event.kind == "CivicMeetingChangedEvent")
            .map(|event| json!(event.data))
            .collect();
        json!({
            "meetings": meetings, "items": items, "changes": changes, "jobs": jobs,
            "matters": civic.matters(MatterFilter::default()).await.unwrap(),
            "notifications": civic.notifications(false).await.unwrap(), "events": events,
        })
    });
    forget_times(&mut all);
    for part in ["meetings", "items", "matters", "events", "notifications"] {
        let list = all[part].as_array_mut().unwrap();
        list.sort_by_key(Value::to_string);
    }
    all
}

/// Times at which something was stored.
fn forget_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| {
                !matches!(
                    name.as_str(),
                    "at" | "created_at" | "updated_at" | "first_seen" | "last_seen" | "due_at" | "seen_at"
                )
            });
            fields.values_mut().for_each(forget_times);
        }
        Value::Array(values) => values.iter_mut().for_each(forget_times),
        _ => {}
    }
}
