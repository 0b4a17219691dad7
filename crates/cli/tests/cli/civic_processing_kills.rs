//! Processing killed with -9 at any moment and started again: what is stored in the end is what a run stores that nobody
//! disturbed, and no answer of a language model that was stored is asked for again.

use crate::{civic_sync::with_store, support::Desk};
use bindery_civic::records::{Civic as _, MatterFilter, MeetingFilter};
use bindery_models::stored::{ModelCallFilter, ModelLedger};
use bindery_testkit::model_server::{Reply, Seen, Server};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    thread,
    time::{Duration, Instant},
};

/// How often it is killed. `make torture` says more.
const USUAL_KILLS: u64 = 8;
/// As often in the life of one store. A job whose workers die three times before it gets anywhere is given up: it may be
/// the job that kills them.
const KILLS_OF_A_STORE: u64 = 2;

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/civic");
const CITY: &str = "quillhavenWA";

/// Answers from the title alone, which it quotes. Takes its time, so that there is a moment to be killed in.
fn answer(seen: &Seen, _: usize) -> Reply {
    thread::sleep(Duration::from_millis(15));
    let item = seen.item();
    let title = seen.user().lines().find_map(|line| line.strip_prefix("title: ")).unwrap_or("the item").to_owned();
    let said =
        json!({"item_id": item, "summary_markdown": format!("The council decides on {title}."), "topics": ["budget"]});
    Reply::says(seen, &said.to_string())
}

fn desk(server: &Server) -> Desk {
    let desk = Desk::new();
    let config = format!(
        "[models]\nprovider = \"openai\"\nbase_url = \"{}\"\nsmall = {{ model = \"test\" }}\n",
        server.url("/v1")
    );
    desk.write("bindery.toml", config);
    desk.bindery(&["civic", "city", "import", &format!("{SAMPLE}/cities.csv")]).ok();
    desk
}

const PROCESS: [&str; 5] = ["civic", "sync-and-process-city", CITY, "--replay", SAMPLE];

/// How often each item was asked about.
fn asked(server: &Server) -> BTreeMap<String, usize> {
    let mut asked = BTreeMap::new();
    for seen in server.requests() {
        *asked.entry(seen.item()).or_default() += 1;
    }
    asked
}

/// Items whose answer is in the books.
fn paid(desk: &Desk) -> BTreeSet<String> {
    let calls =
        with_store(desk, async |store| ModelLedger::new(store).model_calls(&ModelCallFilter::default()).await.unwrap());
    calls.into_iter().filter(|call| call.outcome == "answered").map(|call| call.item).collect()
}

/// What was found out, without times and without what depends on who came first: a meeting's item or its matter.
fn everything(desk: &Desk) -> Value {
    with_store(desk, async |store| {
        let civic = store.civic();
        let meetings = civic.meetings(MeetingFilter::default()).await.unwrap();
        let mut items = Vec::new();
        for meeting in &meetings {
            for item in civic.agenda(&meeting.id).await.unwrap() {
                items.push(json!({
                    "id": item.id, "summary": item.summary, "topics": item.topics, "why": item.filter_reason,
                    "revisions": item.revisions,
                }));
            }
        }
        let meetings: Vec<Value> = meetings
            .iter()
            .map(|meeting| {
                json!({
                    "id": meeting.id, "topics": meeting.topics, "participation": meeting.participation,
                    "status": meeting.processing_status, "read": meeting.processed_hash,
                })
            })
            .collect();
        let matters = civic.matters(MatterFilter::default()).await.unwrap();
        let matters: Vec<Value> = matters
            .iter()
            .map(|matter| json!({"id": matter.id, "summary": matter.canonical_summary, "of": matter.summary_hash}))
            .collect();
        json!({"meetings": meetings, "items": items, "matters": matters})
    })
}

#[test]
fn s001_55_killed_at_any_moment_nothing_is_lost_and_no_stored_answer_is_asked_for_again() {
    let kills = std::env::var("BINDERY_KILLS").ok().map_or(USUAL_KILLS, |number| number.parse().unwrap());
    let server = Server::start(answer);
    let undisturbed = desk(&server);
    let begun = Instant::now();
    let ran = undisturbed.bindery(&PROCESS);
    let whole = begun.elapsed();
    let expected = everything(&undisturbed);
    let questions = asked(&server);
    assert!(questions.len() > 10 && questions.values().all(|times| *times == 1), "{questions:?}; {ran:?}");
    let mut moments = fastrand::Rng::with_seed(0x5ea1);
    let (mut killed, mut under_way) = (0, 0);
    while killed < kills {
        let server = Server::start(answer);
        let desk = desk(&server);
        let (mut told, mut settled) = (Vec::new(), BTreeMap::new());
        for _ in 0..KILLS_OF_A_STORE {
            let started = desk.start(&PROCESS);
            // Any moment will do; the time that it took before only says which ones there are.
            let moment = Duration::from_secs_f64(whole.as_secs_f64() * moments.f64());
            thread::sleep(moment);
            started.kill();
            killed += 1;
            told.push(moment);
            check_settled(&settled, &server, &told);
            let (paid, asked) = (paid(&desk), asked(&server));
            under_way += u64::from(!paid.is_empty() && paid.len() < questions.len());
            settled.extend(paid.into_iter().map(|item| (item.clone(), asked.get(&item).copied().unwrap_or_default())));
        }
        let ran = desk.bindery(&PROCESS);
        check_settled(&settled, &server, &told);
        let found = everything(&desk);
        for part in ["meetings", "items", "matters"] {
            assert_eq!(found[part], expected[part], "killed after {told:?}: {part} differ; {ran:?}");
        }
    }
    println!("killed {killed} times, {under_way} of them with some items paid for and others not");
}

/// Nobody was asked again about an item whose answer was stored.
fn check_settled(settled: &BTreeMap<String, usize>, server: &Server, told: &[Duration]) {
    let asked = asked(server);
    for (item, times) in settled {
        assert_eq!(asked.get(item), Some(times), "{item} was paid for again; killed after {told:?}");
    }
}
