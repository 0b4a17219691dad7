//! A language model that `bindery.toml` names reads for the commands, and what it costs is shown.

use crate::{
    civic_processing::{civic, desk_with, lines, meetings, replay, summarised},
    civic_sync::with_store,
    support::Desk,
};
use bindery_civic::records::{Civic as _, JurisdictionFilter};
use bindery_testkit::model_server::{Reply, Seen, Server};
use serde_json::json;

fn models(server: &Server, more: &str) -> String {
    format!(
        "[models]\nprovider = \"openai\"\nbase_url = \"{}\"\nkey_file = \"model.key\"\ntries = 1\n{more}\n\
         small = {{ model = \"small-model\" }}\n[models.prices.small-model]\ninput = 1\noutput = 2\n",
        server.url("/v1")
    )
}

/// Says what the title says, about the item that was asked about.
fn answers(seen: &Seen, _: usize) -> Reply {
    let title = seen.user().split_once("Agenda item: ").map_or("", |(_, rest)| rest);
    let title = title.lines().next().unwrap_or_default();
    let answer =
        json!({"item_id": seen.item(), "summary_markdown": format!("A model on: {title}."), "topics": ["parks"]});
    Reply::says(seen, &answer.to_string())
}

#[test]
fn a_model_in_the_file_reads_and_its_costs_are_shown() {
    let desk = desk_with(&["alpha"]);
    let server = Server::start(answers);
    desk.write("bindery.toml", models(&server, "daily_cost_cap = 1.0"));
    desk.write("model.key", "s3cret-key");
    let result = lines(&replay(&desk, &["process-cities", "alphaCA", "--json"]).ok()).remove(0);
    assert_eq!((&result["status"], &result["items_failed"]), (&json!("completed"), &json!(0)), "{result:#}");
    let asked = server.requests();
    assert!(!asked.is_empty() && asked.iter().all(|seen| seen.header("authorization") == Some("Bearer s3cret-key")));
    assert_eq!(result["cost_micros"], 500 * asked.len(), "{result:#}");
    let shown = civic(&desk, &["show", &meetings(&desk)[0].id]).ok().out;
    assert!(shown.contains("A model on:") && shown.contains("test-model-1 item/1"), "{shown}");
    let costs = civic(&desk, &["costs", "--json"]).ok().json();
    assert_eq!(costs["cost_micros"], 500 * asked.len(), "{costs:#}");
    let day = &costs["days"][0];
    assert_eq!((&day["model"], &day["calls"], &day["failed"]), (&json!("small-model"), &json!(asked.len()), &json!(0)));
    assert_eq!(costs["today"]["left_micros"], 1_000_000 - 500 * asked.len(), "{costs:#}");
    let shown = civic(&desk, &["costs"]).ok().out;
    assert!(shown.contains("small-model") && shown.contains("left of the cap of 1.0000"), "{shown}");
    assert_eq!(civic(&desk, &["costs", "--day", "2020-01-01", "--json"]).ok().json()["days"], json!([]));
    civic(&desk, &["costs", "--from", "2026-02-02", "--to", "2026-01-01"]).fails_with(2, "is after --to");
    civic(&desk, &["costs", "--day", "soon"]).fails_with(2, "expected one like 2026-03-09");
}

#[test]
fn s001_65_without_its_key_what_is_to_be_read_waits_for_it() {
    // ▲ The seed has the jobs fail; here they wait, and no attempt is used up.
    let desk = desk_with(&["alpha"]);
    let server = Server::start(answers);
    desk.write("bindery.toml", models(&server, ""));
    let ran = replay(&desk, &["process-cities", "alphaCA", "--json"]);
    let told = format!("{}{}", ran.out, ran.err);
    assert!(told.contains("language model key"), "{told}");
    assert_eq!((summarised(&desk), server.requests().len()), (0, 0));
    let queue = civic(&desk, &["preview-queue", "--json"]).ok().json();
    assert_eq!((&queue["failed"], &queue["dead_letter"]), (&json!(0), &json!(0)), "{queue:#}");
    // A variable that other programs use switches nothing on.
    desk.write("bindery.toml", "log = \"error\"\n");
    let mut command = desk.command(&["civic", "costs"]);
    let costs = command.env("GEMINI_API_KEY", "x").output().unwrap();
    assert!(String::from_utf8_lossy(&costs.stdout).contains("summaries are made by rules"), "{costs:?}");
}

#[test]
fn a_mistake_in_the_table_is_told_with_its_line() {
    let desk = Desk::new();
    desk.write("bindery.toml", "log = \"info\"\n[models]\nprovider = \"gemmini\"\nsmall = { model = \"x\" }\n");
    let ran = desk.bindery(&["status"]).fails_with(2, "bindery.toml:3: models: unknown variant `gemmini`");
    assert!(ran.err.contains("docs/models.md"), "{ran:?}");
}

#[test]
fn topics_are_listed_with_those_of_a_city_and_with_what_is_unknown() {
    let desk = desk_with(&["alpha"]);
    assert_eq!(civic(&desk, &["topics", "--json"]).ok().json().as_array().map(Vec::len), Some(16));
    let set = |topics: &str| civic(&desk, &["city", "set", "alphaCA", "--setting", &format!("topics={topics}")]);
    set(r#"[{"key": "harbor", "synonyms": ["pier"]}]"#).ok();
    set(r#"[{"key": "Harbor Bay"}]"#).fails_with(2, "topics, number 1: key: expected small letters");
    assert!(civic(&desk, &["topics", "alphaCA"]).ok().out.contains("harbor"));
    assert!(civic(&desk, &["topics", "--unknown"]).ok().out.contains("every word for a topic was known"));
    with_store(&desk, async |store| {
        assert_eq!(store.civic().jurisdictions(JurisdictionFilter::default()).await.unwrap().len(), 1);
        store.civic().count_unknown_topics("alphaCA", &["bees".to_owned(), "bees".to_owned()]).await.unwrap();
    });
    let unknown = civic(&desk, &["topics", "alphaCA", "--unknown", "--json"]).ok().json();
    assert_eq!((&unknown[0]["topic"], &unknown[0]["banana"]), (&json!("bees"), &json!("alphaCA")), "{unknown:#}");
}
