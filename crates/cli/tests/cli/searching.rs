//! `bindery search`: what was read is found by its words, page by page.

use crate::support::Desk;
use serde_json::json;

/// Two letters and a table of prices, read and indexed.
fn library() -> Desk {
    let desk = Desk::new();
    desk.write("letters/reminder.html", "<h1>Reminder</h1><p>The <b>late payment</b> of invoice 12 to Élodie.</p>");
    desk.write("letters/answer.html", "<p>The payment came late, as a first draft says.</p>");
    desk.write("prices.csv", "item,price\npaper,3\n");
    desk.bindery(&["run", "--workflow", "read", "letters"]).ok();
    desk.bindery(&["run", "--workflow", "read", "prices.csv", "--external-id", "prices"]).ok();
    let added = desk.bindery(&["search", "--add", "sub_1", "--collection", "letters"]).ok();
    assert!(added.err.contains("sub_1: 2 pages of 2 files can be found in collection letters"), "{added:?}");
    desk.bindery(&["search", "--add", "prices"]).ok();
    desk
}

#[test]
fn pages_are_found_by_their_words() {
    let desk = library();
    let found = desk.bindery(&["search", "late", "PAYMENT"]).ok().out;
    assert!(found.starts_with("FILE") && found.lines().count() == 3, "{found}");
    let found = desk.bindery(&["search", "\"late payment\""]).ok().out;
    let line = found.lines().nth(1).unwrap();
    assert!(line.starts_with("reminder.html     1  "), "{found}");
    assert!(line.contains("«late payment»"), "{found}");
    let found = desk.bindery(&["search", "payment -draft", "--json"]).ok().json();
    assert_eq!(found.as_array().unwrap().len(), 1, "{found:#}");
    let hit = &found[0];
    assert_eq!((&hit["collection"], &hit["page"]), (&json!("letters"), &json!(1)));
    assert!(hit["file_name"].as_str().unwrap().ends_with("reminder.html"), "{hit}");
    let (start, end) = (hit["matches"][0]["start"].as_u64().unwrap(), hit["matches"][0]["end"].as_u64().unwrap());
    let snippet: Vec<char> = hit["snippet"].as_str().unwrap().chars().collect();
    let marked: String = snippet[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()].iter().collect();
    assert_eq!(marked, "payment");
    let found = desk.bindery(&["search", "elodie OR pap*", "--json"]).ok().json();
    assert_eq!(found.as_array().unwrap().len(), 2, "{found:#}");
}

#[test]
fn collections_are_listed_and_searched_one_by_one() {
    let desk = library();
    // What is added again is there once.
    desk.bindery(&["search", "--add", "sub_1", "--collection", "letters", "--json"]).ok();
    let listed = desk.bindery(&["search", "--collections", "--json"]).ok().json();
    let view = |collection: &str, number: u64| json!({"collection": collection, "documents": number, "pages": number, "chunks": number});
    assert_eq!(listed, json!([view("letters", 2), view("read", 1)]));
    let table = desk.bindery(&["search", "--collections"]).ok().out;
    assert!(table.starts_with("COLLECTION") && table.lines().count() == 3, "{table}");
    let inside = desk.bindery(&["search", "late OR paper", "--collection", "read", "--json"]).ok().json();
    assert_eq!(inside.as_array().unwrap().len(), 1, "{inside:#}");
    let first = desk.bindery(&["search", "late", "--limit", "1"]).ok();
    assert!(first.err.contains("--offset 1 shows what comes next"), "{first:?}");
    let wrong = desk.bindery(&["search", "late", "--collection", "leters"]);
    wrong.fails_with(2, "there is no collection \"leters\"").fails_with(2, "known are letters, read");
}

#[test]
fn what_is_not_there_is_told() {
    let desk = library();
    let none = desk.bindery(&["search", "elephant"]).ok();
    assert_eq!(none.out, "");
    assert!(none.err.contains("nothing was found on 3 indexed pages"), "{none:?}");
    assert_eq!(desk.bindery(&["search", "elephant", "--json"]).ok().json(), json!([]));
    desk.bindery(&["search", "***"]).fails_with(2, "there is nothing to look for in the query");
    desk.bindery(&["search", "--", "-draft"]).fails_with(2, "only says what pages must not have");
    desk.bindery(&["search"]).fails_with(2, "required");
    desk.bindery(&["search", "--add", "sub_77"]).fails_with(2, "sub_77");
    desk.bindery(&["search", "--add", "sub_1", "--collection", "a b"])
        .fails_with(2, "collection_name \"a b\": expected");
}

#[test]
fn a_store_without_an_index_says_how_to_make_one() {
    let desk = Desk::new();
    desk.bindery(&["search", "late"]).fails_with(20, "store");
    desk.write("a.txt", "one two three");
    desk.bindery(&["run", "--workflow", "words", "a.txt"]).ok();
    let none = desk.bindery(&["search", "two"]).ok();
    assert!(none.err.contains("nothing is indexed yet; `bindery search --add SUBMISSION`"), "{none:?}");
    desk.bindery(&["search", "--add", "sub_1"]).fails_with(2, "sub_1 has no texts that could be searched");
}
