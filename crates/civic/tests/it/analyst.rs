//! Items read by a language model that answers well and badly, with its books in a real store.

use crate::hall::Hall;
use bindery_civic::analyst::{self, Analyst, ByModel, Document, ItemRequest, PacketRequest, Reading};
use bindery_core::{StepError, error::Disposition};
use bindery_models::{
    Advice, ErrorKind, ModelError, Models, ModelsConfig,
    error::{BUDGET, KEY, SERVICE},
    ledger::day_of,
    stored::{ModelCallFilter, ModelLedger, StoreAnswers, StoreLedger, open_models},
    timer::{LeapingTimer, Timer},
};
use bindery_testkit::model_server::{Reply, Seen, Server};
use serde_json::json;
use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::runtime::Handle;

/// A call of the test server costs 100 + 200 × 2 millionths.
const CALL: i64 = 500;

fn config(server: &Server, more: &str) -> ModelsConfig {
    let text = format!(
        "[models]\nprovider = \"openai\"\nbase_url = \"{}\"\ntimeout_seconds = 30\n{more}\n\
         [models.small]\nmodel = \"small-model\"\n[models.prices.small-model]\ninput = 1\noutput = 2\n",
        server.url("/v1")
    );
    ModelsConfig::parse(&text, "test.toml").unwrap()
}

/// One process that reads, on a clock that leaps.
#[derive(Clone)]
struct Reader {
    analyst: Arc<ByModel>,
    timer: Arc<LeapingTimer>,
}

impl Reader {
    fn new(hall: &Hall, config: ModelsConfig) -> Self {
        let timer = Arc::new(LeapingTimer::default());
        let ledger = Arc::new(StoreLedger::new(Arc::clone(&hall.store), Handle::current()));
        let answers = Arc::new(StoreAnswers::new(Arc::clone(&hall.store), Handle::current()));
        let models = Models::with_timer(config, ledger, answers, Arc::clone(&timer) as Arc<dyn Timer>).unwrap();
        Self { analyst: Arc::new(ByModel::new(Arc::new(models))), timer }
    }

    async fn read(&self, request: ItemRequest) -> Result<Reading, ModelError> {
        let analyst = Arc::clone(&self.analyst);
        tokio::task::spawn_blocking(move || analyst.read_item(&request, &|| false)).await.unwrap()
    }
}

fn document(name: &str, text: &str) -> Arc<Document> {
    Arc::new(Document { name: name.to_owned(), text: text.to_owned(), page_count: 1 })
}

fn pumps(item: &str) -> ItemRequest {
    let text = format!(
        "--- PAGE 1 ---\nRECOMMENDATION\n\nApprove an agreement with Brook Steel, Inc. for the maintenance of sewer pumps \
         in an amount not to exceed $450,000. ({item})"
    );
    ItemRequest {
        item_id: item.to_owned(),
        title: "Agreement for pump maintenance".to_owned(),
        documents: vec![document("Staff report", &text)],
        ..ItemRequest::default()
    }
}

fn good(item: &str) -> String {
    json!({"item_id": item, "summary_markdown": "**Brook Steel** would keep the sewer pumps for up to **$450,000**.",
        "topics": ["utilities", "contracts"], "citations": [{"doc": "Staff report", "page": 1}], "confidence": 0.9})
    .to_string()
}

fn answers_well(seen: &Seen, _: usize) -> Reply {
    Reply::says(seen, &good(&seen.item()))
}

#[tokio::test(flavor = "multi_thread")]
async fn s001_65_no_setting_is_required_and_without_a_key_jobs_wait_for_it() {
    // ▲ The seed asks for a model's key and a database; here nothing is required, and without a key jobs wait for it
    // instead of failing.
    let hall = Hall::new().await;
    let by_rules = analyst::reading_with(None);
    assert!(by_rules.method().starts_with("extractive/"));
    let read = by_rules.read_item(&pumps("item-1"), &|| false).unwrap();
    assert!(read.summary.contains("$450,000") && read.cost_micros == 0, "{read:?}");
    let server = Server::start(answers_well);
    let without = config(&server, "key_file = \"no-such-file/key\"");
    let by_model = analyst::reading_with(Some(open_models(&without, Arc::clone(&hall.store)).unwrap()));
    assert_eq!(by_model.method(), "small-model item/1");
    let met = crate::hall::meeting("m1", "City Council", jiff::civil::date(2026, 3, 9), 18);
    assert_eq!(hall.visit(vec![met]).await.meetings_found, 1, "following cities goes on");
    let error = tokio::task::spawn_blocking(move || by_model.read_item(&pumps("item-1"), &|| false)).await.unwrap();
    let error = error.unwrap_err();
    assert!(error.message.contains("no-such-file/key"), "{error}");
    assert_eq!(
        StepError::from(error).disposition,
        Disposition::Park { until: KEY.to_owned(), at: None },
        "parked under the key's name, and no attempt is used up"
    );
    assert!(server.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_read_once_and_paid_for_once_by_all_processes() {
    let hall = Hall::new().await;
    let server = Server::start(answers_well);
    let first = Reader::new(&hall, config(&server, ""));
    let read = first.read(pumps("item-1")).await.unwrap();
    assert_eq!((read.cost_micros, read.from_cache, read.notes.as_slice()), (CALL, false, [].as_slice()));
    assert_eq!(
        (read.topics.join(" "), read.method.as_str()),
        ("contracts utilities".to_owned(), "test-model-1 item/1")
    );
    assert_eq!(read.details["citations"], json!([{"document": "Staff report", "page": 1}]));
    let another = Reader::new(&hall, config(&server, ""));
    let again = another.read(pumps("item-1")).await.unwrap();
    assert_eq!((again.cost_micros, again.from_cache, &again.summary), (0, true, &read.summary));
    assert_eq!(server.requests().len(), 1);
    let calls = ModelLedger::new(&*hall.store).model_calls(&ModelCallFilter::default()).await.unwrap();
    assert_eq!(calls.len(), 1);
    let call = &calls[0];
    assert_eq!((call.item.as_str(), call.prompt_version.as_str()), ("item-1", "item/1"));
    assert_eq!((call.input_tokens, call.output_tokens, call.cached_tokens, call.cost_micros), (100, 200, 10, CALL));
    let estimate = {
        let analyst = Arc::clone(&another.analyst);
        tokio::task::spawn_blocking(move || (analyst.estimate(&pumps("item-1")), analyst.estimate(&pumps("item-2"))))
    };
    let (kept, new) = estimate.await.unwrap();
    assert!(kept.unwrap().is_kept && new.unwrap().most_micros > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_share_the_cap_of_a_day_and_wait_for_the_next() {
    let hall = Hall::new().await;
    let server = Server::start(answers_well);
    let readers = [(); 2].map(|()| Reader::new(&hall, config(&server, "daily_cost_cap = 0.05")));
    let mut reading = tokio::task::JoinSet::new();
    for n in 0..60 {
        let reader = readers[n % 2].clone();
        reading.spawn(async move { reader.read(pumps(&format!("item-{n}"))).await });
    }
    let results = reading.join_all().await;
    let refused: Vec<&ModelError> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(!refused.is_empty());
    for error in refused {
        assert!(matches!(error.advice, Advice::Park { until: BUDGET, retry_at: Some(_) }), "{error:?}");
    }
    let today = day_of(readers[0].timer.wall_clock()).to_string();
    let day = ModelLedger::new(&*hall.store).model_day(&today).await.unwrap();
    assert!(day.spent_micros <= 50_000 && day.set_aside.is_empty(), "{day:?}");
    assert_eq!(day.spent_micros, CALL * server.requests().len() as i64);
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_answers_never_keep_an_item_from_being_read() {
    let hall = Hall::new().await;
    let server = Server::start(|seen, _| {
        let item = seen.item();
        match item.as_str() {
            "prose" => Reply::says(seen, "The council will look after its pumps."),
            "wrong-id" => Reply::says(seen, &good("somebody-else")),
            "half" => Reply::is_cut_off(seen, &good("half")[..90]),
            "nothing" => Reply::says(seen, ""),
            "huge" => Reply::new(200, vec![b'x'; 10 * 1024 * 1024]),
            "invented" => Reply::says(seen, &good("invented").replace("$450,000", "$7,777,777")),
            "mixed-up" => Reply::says(
                seen,
                &json!({"item_id": "mixed-up", "summary_markdown": "Librarians open the reading room on Sundays.",
                    "topics": ["education"]})
                .to_string(),
            ),
            "injected" => Reply::json(400, &json!({"error": {"message": "this request is not allowed"}})),
            _ => Reply::says(seen, &good(&item)),
        }
    });
    let reader = Reader::new(&hall, config(&server, ""));
    for (item, why) in [
        ("prose", "holds no JSON object"),
        ("wrong-id", "answered about"),
        ("nothing", "the answer is empty"),
        ("huge", "bytes"),
        ("mixed-up", "speaks of something else"),
        ("injected", "not allowed"),
    ] {
        let read = reader.read(pumps(item)).await.unwrap_or_else(|error| panic!("{item}: {error:?}"));
        assert!(read.method.starts_with("extractive/") && read.summary.contains("$450,000"), "{item}: {read:?}");
        assert!(
            read.notes[0].starts_with("extracted by rules, because the language model"),
            "{item}: {:?}",
            read.notes
        );
        assert!(read.notes[0].contains(why), "{item}: {:?}", read.notes);
    }
    let half = reader.read(pumps("half")).await.unwrap();
    assert!(half.summary.contains("broke off here") && half.notes[0].contains("broke off"), "{half:?}");
    let invented = reader.read(pumps("invented")).await.unwrap();
    assert_eq!(invented.notes, ["numbers of the summary that stand in no document: $7,777,777"]);
    assert_eq!(reader.read(pumps("well")).await.unwrap().notes, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_revoked_parks_the_rest_and_a_new_one_goes_on() {
    let hall = Hall::new().await;
    let server = Server::start(|seen, before| {
        let is_old = seen.header("authorization") == Some("Bearer old");
        if is_old && before >= 2 {
            return Reply::json(401, &json!({"error": {"message": "the key was revoked"}}));
        }
        Reply::says(seen, &good(&seen.item()))
    });
    let key = hall.folder().join("key");
    fs::write(&key, "old").unwrap();
    let reader = Reader::new(&hall, config(&server, &format!("key_file = {:?}", key.display().to_string())));
    let mut results = Vec::new();
    for n in 0..4 {
        results.push(reader.read(pumps(&format!("item-{n}"))).await);
    }
    assert!(results[0].is_ok() && results[1].is_ok());
    for error in results.drain(2..).map(Result::unwrap_err) {
        assert_eq!(error.kind, ErrorKind::KeyRefused);
        assert!(matches!(error.advice, Advice::Park { until: KEY, .. }), "{error:?}");
        assert!(!error.message.contains("old"), "{error}");
    }
    assert_eq!(server.requests().len(), 3, "a refused key is not tried with every item");
    fs::write(&key, "new").unwrap();
    assert!(reader.read(pumps("item-2")).await.is_ok());
    assert!(reader.read(pumps("item-0")).await.unwrap().from_cache, "what was answered is not asked again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_is_busy_for_ten_minutes_parks_until_then() {
    let hall = Hall::new().await;
    let is_busy = Arc::new(AtomicBool::new(true));
    let server = Server::start({
        let is_busy = Arc::clone(&is_busy);
        move |seen, _| {
            if is_busy.load(Ordering::SeqCst) {
                return Reply::json(429, &json!({"error": {"message": "quota exceeded"}})).header("Retry-After", "600");
            }
            Reply::says(seen, &good(&seen.item()))
        }
    });
    let reader = Reader::new(&hall, config(&server, ""));
    let before = reader.timer.wall_clock();
    for n in 0..3 {
        let error = reader.read(pumps(&format!("item-{n}"))).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::RateLimited);
        let step = StepError::from(error);
        let Disposition::Park { until, at: Some(at) } = step.disposition else { panic!("{step:?}") };
        assert_eq!(until, SERVICE);
        assert!((595..=700).contains(&at.since(before).as_secs()), "{at}");
    }
    assert_eq!(server.requests().len(), 1, "nobody asks while the service wants to be left alone");
    is_busy.store(false, Ordering::SeqCst);
    reader.timer.advance(Duration::from_secs(700));
    assert!(reader.read(pumps("item-0")).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn shared_documents_reach_the_model_before_the_item_and_a_title_alone_is_not_asked_about() {
    let hall = Hall::new().await;
    let server = Server::start(answers_well);
    let reader = Reader::new(&hall, config(&server, ""));
    let shared = vec![document("Rate study", "Sewer rates rise."), document("Audit", "Pumps are old.")];
    reader.read(ItemRequest { shared, ..pumps("item-1") }).await.unwrap();
    let seen = server.requests();
    let user = seen[0].user();
    assert!(user.starts_with("=== Audit ===\nPumps are old.\n\n=== Rate study ===\nSewer rates rise.\n\n"), "{user}");
    assert!(user.find("Agenda item: Agreement for pump maintenance").unwrap() < user.find("=== Staff report").unwrap());
    let bare = ItemRequest { documents: Vec::new(), ..pumps("item-2") };
    let read = reader.read(bare).await.unwrap();
    assert_eq!((read.notes, server.requests().len()), (vec!["there is no text but the title".to_owned()], 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_is_too_long_is_noted_part_by_part() {
    let hall = Hall::new().await;
    let server = Server::start(|seen, _| {
        let item = seen.item();
        if item.contains(" part ") {
            let notes = json!({"item_id": item, "notes": "Brook Steel keeps pumps for $450,000."});
            return Reply::says(seen, &notes.to_string());
        }
        Reply::says(seen, &good(&item))
    });
    let mut config = config(&server, "");
    config.small.max_input_tokens = 6_000;
    let reader = Reader::new(&hall, config);
    let page = |n: usize| format!("--- PAGE {n} ---\n{} for $450,000.\n\n", "The pumps are kept. ".repeat(150));
    let text: String = (1..=15).map(page).collect();
    let packet = Arc::new(Document { name: "Packet".to_owned(), text, page_count: 15 });
    let request = ItemRequest { documents: vec![Arc::clone(&packet)], ..pumps("item-1") };
    let read = reader.read(request.clone()).await.unwrap();
    assert!(read.notes[0].starts_with("the texts were read in "), "{:?}", read.notes);
    assert_eq!(read.cost_micros, CALL * server.requests().len() as i64, "all calls are in it");
    let asked = server.requests().len();
    assert!(reader.read(request).await.unwrap().from_cache);
    assert_eq!(server.requests().len(), asked);
    let long: String = (1..=120).map(page).collect();
    let packet = Arc::new(Document { name: "Packet".to_owned(), text: long, page_count: 120 });
    let analyst = Arc::clone(&reader.analyst);
    let request = PacketRequest {
        meeting_id: "m1".to_owned(),
        title: "Pumps and sewers".to_owned(),
        packet,
        ..PacketRequest::default()
    };
    let read = tokio::task::spawn_blocking(move || analyst.read_packet(&request, &|| false)).await.unwrap().unwrap();
    assert!(read.notes[0].starts_with("of the 120 pages of Packet, "), "{:?}", read.notes);
}
