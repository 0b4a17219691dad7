//! `bindery run` of a pile of papers, killed with -9 at any moment and started again by the same command: the result is that
//! of a run which nobody disturbed, byte for byte but for times and ids.

use crate::support::{Desk, inbox};
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    time::{Duration, Instant},
};

/// How often it is killed. `make torture` says more.
const USUAL_KILLS: u64 = 5;

#[test]
fn killed_at_any_moment_the_same_command_ends_with_the_same_result() {
    let kills = std::env::var("BINDERY_KILLS").ok().map_or(USUAL_KILLS, |number| number.parse().unwrap());
    let inbox = inbox();
    // What the killed process had in hand comes back when its lease ends.
    let command = ["run", &inbox, "--json", "--lease-seconds", "2"];
    let undisturbed = Desk::new();
    let begun = Instant::now();
    undisturbed.bindery(&command).ok();
    let whole = begun.elapsed();
    let expected = everything(&undisturbed);
    assert!(expected.len() > 10, "the pile has more files than that: {:?}", expected.keys());
    let mut moments = fastrand::Rng::with_seed(0xb1d);
    for kill in 1..=kills {
        let desk = Desk::new();
        let started = desk.start(&command);
        // Any moment will do; the time that it took before only says which ones there are.
        let moment = Duration::from_secs_f64(whole.as_secs_f64() * moments.f64());
        std::thread::sleep(moment);
        started.kill();
        let ran = desk.bindery(&command).ok();
        let found = everything(&desk);
        for (name, text) in &expected {
            let other = found.get(name).map(String::as_str).unwrap_or_default();
            assert_eq!(other, text, "kill {kill} after {moment:?}: {name} differs; {}", ran.err);
        }
        assert_eq!(found.len(), expected.len(), "kill {kill} after {moment:?}: {:?}", found.keys());
        let known = desk.bindery(&["status", "--json"]).ok().json();
        assert_eq!(known.as_array().unwrap().len(), 1, "kill {kill} after {moment:?}: taken in twice");
        println!("kill {kill} of {kills} after {moment:?}: the same result");
    }
}

/// What the only submission has come to: its result, its table and its texts, without what numbers it has in this store.
fn everything(desk: &Desk) -> BTreeMap<String, String> {
    let id = desk.bindery(&["status", "--json"]).ok().json()[0]["id"].as_str().unwrap().to_owned();
    let mut all = BTreeMap::new();
    all.insert("result".to_owned(), unnumbered(&desk.bindery(&["result", &id, "--json"]).ok().out));
    all.insert("table".to_owned(), unnumbered(&desk.bindery(&["result", &id, "--csv", "-"]).ok().out));
    desk.bindery(&["result", &id, "--texts", "texts"]).ok();
    add_files(&desk.path("texts"), &mut all);
    all
}

fn add_files(folder: &Path, all: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_files(&path, all);
        } else {
            let name = path.display().to_string();
            let name = name.split_once("/texts/").unwrap().1.to_owned();
            all.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}

/// Ids are drawn before they are stored, so a killed process leaves gaps between them.
fn unnumbered(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, word)) = ["sub_", "item_"].iter().filter_map(|word| Some((rest.find(word)?, word))).min() {
        let end = at + word.len();
        plain.push_str(&rest[..end]);
        rest = rest[end..].trim_start_matches(|letter: char| letter.is_ascii_digit());
    }
    plain + rest
}
