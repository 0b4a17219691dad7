//! A language model as the last tier of fields: off unless a workflow says so, asked about doubts alone, and believed only
//! where the page prints what it says.

use crate::support::Desk;
use bindery_testkit::model_server::{Reply, Seen, Server};
use serde_json::{Value, json};

const SLIP: &str = "name: slip\nrecognise:\n  says: [slip]\nfields:\n  \
    number: {type: string, required: true, labels: Slip number}\n  \
    total: {type: money, required: true, labels: Total due}\n  day: {type: date, required: true, labels: Day}\n";
/// Its number and its sum stand beside words that the type does not know.
const PAPER: &str = "Slip\n\nFernhill Joinery\n\nOur sign: FJ-0412\n\nDay: 3 March 2026\n\nWe ask you for 61.50 EUR\n\n\
    Old balance: 900.00 EUR\n";

/// A desk whose workflow `asked` lets the model be asked.
fn desk(server: &Server, more: &str) -> Desk {
    let desk = Desk::new();
    let shipped = include_str!("../../../../workflows/documents.yaml");
    let threshold = "confidence_threshold: 0.75\n";
    let asked = shipped
        .replace("name: documents\n", "name: asked\n")
        .replace(threshold, &format!("{threshold}    settings: {{model_tier: true}}\n"));
    desk.write("workflows/asked.yaml", asked);
    desk.write("types/slip.yaml", SLIP);
    desk.write("slip.txt", PAPER);
    desk.write("model.key", "s3cret-key");
    desk.write(
        "bindery.toml",
        format!(
            "doctypes = \"types\"\n[models]\nprovider = \"openai\"\nbase_url = \"{}\"\nkey_file = \"model.key\"\n\
             tries = 1\n{more}\nsmall = {{ model = \"small-model\" }}\n[models.prices.small-model]\ninput = 1\noutput = 2\n",
            server.url("/v1")
        ),
    );
    desk
}

fn run(desk: &Desk, workflow: &str) -> Value {
    let args = ["run", "slip.txt", "--workflow", workflow, "--doctype", "slip", "--json"];
    desk.bindery(&args).ok().json()["result"]["documents"][0].clone()
}

/// A server that says these values of whatever it is asked about.
fn says(values: Value) -> Server {
    Server::start(move |seen: &Seen, _| {
        let mut answer = values.clone();
        answer["item_id"] = seen.item().into();
        Reply::says(seen, &answer.to_string())
    })
}

#[test]
fn doubtful_fields_are_asked_about_and_what_the_page_prints_is_taken() {
    let server = says(json!({"number": "FJ-0412", "total": "61.50 EUR", "day": "1 May 2031"}));
    let desk = desk(&server, "");
    let without = run(&desk, "documents");
    assert_eq!(
        (without["status"].as_str(), server.requests().len()),
        (Some("review"), 0),
        "off by default: {without:#}"
    );
    let read = run(&desk, "asked");
    let data = &read["extracted_data"];
    assert_eq!((&data["number"], &data["total"]), (&"FJ-0412".into(), &"61.50".into()), "{read:#}");
    assert_eq!(data["day"], "2026-03-03", "nobody asked about what is sure: {read:#}");
    let number = &read["evidence"]["number"];
    assert_eq!((&number["tier"], &number["quote"]), (&"model".into(), &"FJ-0412".into()), "{number:#}");
    assert_eq!((&number["source"], &read["status"]), (&"test-model-1".into(), &"completed".into()), "{read:#}");
    let asked = server.requests();
    assert_eq!(asked.len(), 1, "one question for a document");
    let question = asked[0].user();
    assert!(question.contains("- number (string, printed beside words such as Slip number)"), "{question}");
    assert!(question.contains("We ask you for 61.50 EUR") && !question.contains("- day"), "{question}");
    run(&desk, "asked");
    assert_eq!(server.requests().len(), 1, "the same question is not paid for again");
    let costs = desk.bindery(&["civic", "costs", "--json"]).ok().json();
    assert_eq!(costs["cost_micros"], 500, "{costs:#}");
}

#[test]
fn what_the_page_does_not_print_stays_a_doubt_however_sure_it_sounds() {
    // The first is nowhere, the second only a part of another number.
    let server = says(json!({"number": "FJ-9999", "total": "1.50"}));
    let desk = desk(&server, "");
    let read = run(&desk, "asked");
    assert_eq!((&read["extracted_data"]["number"], &read["extracted_data"]["total"]), (&Value::Null, &Value::Null));
    assert_eq!(read["status"], "review", "{read:#}");
    let shown = desk.bindery(&["review", "show", "sub_1", "doc_1_1", "--json"]).ok().json();
    let doubts = shown["result"]["extraction"]["doubts"].to_string();
    assert!(doubts.contains("FJ-9999") && doubts.contains("which stands on no page"), "{doubts}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_model_that_cannot_answer_fails_nothing() {
    let good = || says(json!({"number": "FJ-0412", "total": "61.50"}));
    let reason = |desk: &Desk| {
        let read = run(desk, "asked");
        assert_eq!(read["status"], "review", "{read:#}");
        let shown = desk.bindery(&["review", "show", "sub_1", "doc_1_1", "--json"]).ok().json();
        shown["result"]["extraction"]["doubts"].to_string()
    };
    let without_key = desk(&good(), "");
    std::fs::remove_file(without_key.path("model.key")).unwrap();
    let why = reason(&without_key);
    assert!(why.contains("the language model was of no help: ") && why.contains("model.key"), "{why}");

    let server = good();
    let poor = desk(&server, "daily_cost_cap = 0.000001");
    let why = reason(&poor);
    assert!(why.contains("of no help") && server.requests().is_empty(), "{why}");

    let broken = Server::start(|_: &Seen, _| Reply::new(500, "down"));
    let why = reason(&desk(&broken, ""));
    assert!(why.contains("of no help"), "{why}");

    let none = desk(&server, "");
    none.write("bindery.toml", "doctypes = \"types\"\n");
    let why = reason(&none);
    assert!(why.contains("none is configured (`[models]` in bindery.toml)"), "{why}");
}
