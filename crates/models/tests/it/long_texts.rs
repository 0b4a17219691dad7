//! Texts that are longer than a model takes.

use crate::support::{Bench, good, openai_config, request};
use bindery_models::{ErrorKind, ask::LongRequest};
use bindery_testkit::model_server::{Reply, Seen, Server};
use serde_json::json;

/// Notes on parts are the amounts in them; the answer is good if it saw all of them.
fn reader(seen: &Seen, _: usize) -> Reply {
    let item = seen.item();
    if !item.contains(" part ") {
        return Reply::says(seen, &good(&item));
    }
    let amounts: Vec<&str> = seen.user().split_whitespace().filter(|word| word.starts_with('$')).collect();
    Reply::says(seen, &json!({"item_id": item, "notes": amounts.join(" ")}).to_string())
}

fn long(text: &str) -> LongRequest<'_> {
    let mut request = request("packet-1");
    "Title: Packet\n\n".clone_into(&mut request.user);
    LongRequest { request, text, notes_system: "Note amounts, dates and names.", notes_tokens: 300 }
}

fn packet(pages: usize) -> String {
    let words = "Words without meaning. ".repeat(40);
    let page = |page: usize| [format!("Page {page} costs ${page},000. "), words.clone(), "\u{c}".to_owned()];
    (0..pages).flat_map(page).collect()
}

#[test]
fn a_text_that_fits_is_asked_about_at_once() {
    let server = Server::start(reader);
    let text = packet(2);
    let answer = Bench::openai(&server).models.ask_long(&long(&text), &|| false).unwrap();
    assert_eq!((answer.parts, server.requests().len()), (1, 1));
    assert!(server.requests()[0].user().contains(&text));
}

#[test]
fn a_longer_one_is_taken_apart_at_its_pages_and_put_together_from_notes() {
    let server = Server::start(reader);
    let mut config = openai_config(&server);
    config.small.max_input_tokens = 2000;
    config.large.as_mut().unwrap().max_input_tokens = 2000;
    let bench = Bench::new(config);
    let text = packet(20);
    let answer = bench.models.ask_long(&long(&text), &|| false).unwrap();
    let seen = server.requests();
    assert_eq!(seen.len(), answer.parts + 1);
    assert!((3..=5).contains(&answer.parts), "{}", answer.parts);
    assert!(seen[..answer.parts].iter().all(|part| part.user().contains("\u{c}\n\nitem_id")), "whole pages");
    let last = seen[answer.parts].user();
    assert!((0..20).all(|page| last.contains(&format!("${page},000"))), "{last}");
    assert!(last.contains("Title: Packet"));
    assert_eq!(answer.answer.cost_micros, 500 * seen.len() as i64, "all calls are in it");
    let again = bench.models.ask_long(&long(&text), &|| false).unwrap();
    assert_eq!((again.answer.cost_micros, server.requests().len()), (0, seen.len()), "and nothing is paid for twice");
}

#[test]
fn notes_that_do_not_get_shorter_end_it() {
    let server = Server::start(|seen, _| {
        let notes = "as long as the text itself ".repeat(300);
        Reply::says(seen, &json!({"item_id": seen.item(), "notes": notes}).to_string())
    });
    let mut config = openai_config(&server);
    config.small.max_input_tokens = 2000;
    config.large = None;
    let text = packet(20);
    let error = Bench::new(config).models.ask_long(&long(&text), &|| false).unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooLong);
    assert!(error.message.contains("packet-1"), "{error}");
}
