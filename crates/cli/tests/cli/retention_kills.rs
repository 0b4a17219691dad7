//! `bindery delete` and `prune`, killed with -9 at any moment and called again: what was to go is gone without a trace and
//! reported once, and what others have is untouched, also where they share its files.

use crate::{
    postgres,
    support::{Desk, PATIENCE, files_below},
};
use bindery_testkit::PostgresServer;
use serde_json::Value;
use std::{fs, path::Path, time::Instant};

/// How often it is killed on each store. `make torture` says more.
const USUAL_KILLS: u64 = 6;

/// In every page of hers, and nowhere else.
const MARKER: &str = "qvwxmarker";
const OWNER: &str = "annqvwxowner";

/// The ways to delete what is hers. What is his is on hold, so that the last one leaves it.
const COMMANDS: [&[&str]; 2] =
    [&["delete", "--owner", OWNER, "--yes", "--json"], &["prune", "--older-than", "0d", "--json"]];

#[test]
fn deleting_is_killed_at_any_moment_and_the_same_command_ends_it() {
    kill_deletions(&Desk::new(), "bindery-data");
}

#[test]
fn deleting_on_postgresql_is_killed_at_any_moment_and_the_same_command_ends_it() {
    let Some(server) = PostgresServer::start() else { return };
    kill_deletions(&postgres::desk_on(&server), "shared/blobs");
}

fn kill_deletions(desk: &Desk, store: &str) {
    let kills = std::env::var("BINDERY_KILLS").ok().map_or(USUAL_KILLS, |number| number.parse().unwrap());
    let same = format!("{}\n", "shared by both ".repeat(40));
    desk.write("in/same.txt", &same);
    desk.write("in/his.txt", "only his");
    desk.bindery(&["run", "--workflow", "words", "--owner", "bob", "in/same.txt", "in/his.txt"]).ok();
    desk.bindery(&["hold", "sub_1", "--reason", "his"]).ok();
    let his = result(desk, "sub_1");

    let whole = COMMANDS.map(|command| {
        let hers = make_hers(desk, 0);
        let begun = Instant::now();
        desk.bindery(command).ok();
        let took = begun.elapsed();
        check(desk, store, &his, &hers, command);
        took
    });
    let mut moments = fastrand::Rng::with_seed(0xde1);
    for kill in 1..=kills {
        let which = usize::try_from(kill).unwrap() % COMMANDS.len();
        let hers = make_hers(desk, kill);
        let started = desk.start(COMMANDS[which]);
        // Any moment will do; the time that it took before only says which ones there are.
        let moment = whole[which].mul_f64(moments.f64());
        std::thread::sleep(moment);
        started.kill();
        let at = format!("kill {kill} after {moment:?}");
        assert_eq!(result(desk, "sub_1"), his, "{at}");
        delete_whole(desk, COMMANDS[which]);
        check(desk, store, &his, &hers, COMMANDS[which]);
    }
}

/// Two submissions of hers: one of many pages, whose deletion takes several transactions, and one in the search index, with a
/// file that he has, too.
fn make_hers(desk: &Desk, round: u64) -> Vec<String> {
    let pages: Vec<String> = (0..700).map(|page| format!("{MARKER} round {round} page {page}")).collect();
    desk.write("in/long.txt", pages.join("\u{c}"));
    desk.write("in/short.txt", format!("{MARKER} in the index, round {round}"));
    desk.write("in/same.txt", format!("{}\n", "shared by both ".repeat(40)));
    let submissions = [("words", &["in/long.txt"][..]), ("read", &["in/same.txt", "in/short.txt"])];
    let ids = submissions.map(|(workflow, files)| {
        let command = ["run", "--workflow", workflow, "--owner", OWNER, "--json"];
        let ran = desk.bindery(&[&command[..], files].concat()).ok().json();
        ran["submission"].as_str().unwrap_or_else(|| panic!("{ran:#}")).to_owned()
    });
    desk.bindery(&["search", "--add", &ids[1]]).ok();
    fs::remove_dir_all(desk.path("in")).unwrap();
    ids.to_vec()
}

/// A server may take a killed client for a user of the store until it has noticed its end; files wait as long as that.
fn delete_whole(desk: &Desk, command: &[&str]) {
    let begun = Instant::now();
    while desk.bindery(command).ok().json()["files_waiting"] != 0 {
        assert!(begun.elapsed() < PATIENCE, "files wait for a process that is gone");
    }
}

fn result(desk: &Desk, id: &str) -> Value {
    desk.bindery(&["result", id, "--json"]).ok().json()
}

/// Nothing of hers is left, each deletion was reported once, and every file that a row names is there.
fn check(desk: &Desk, store: &str, his: &Value, hers: &[String], command: &[&str]) {
    let has_trace = |path: &Path| {
        let bytes = fs::read(path).unwrap_or_default();
        [MARKER, OWNER].iter().any(|word| bytes.windows(word.len()).any(|found| found == word.as_bytes()))
    };
    let traces: Vec<_> = files_below(&desk.path(store)).into_iter().filter(|path| has_trace(path)).collect();
    assert!(traces.is_empty(), "{traces:?}");
    assert_eq!(&result(desk, "sub_1"), his);
    let listed = desk.bindery(&["status", "--json"]).ok().json();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed:#}");
    let events = desk.bindery(&["events", "--kind", "SubmissionDeleted", "--json"]).ok().out;
    let times = |id: &String| events.lines().filter(|event| event.contains(&format!("\"{id}\""))).count();
    // Pruning again removes the reports of what was pruned before, because they are as old.
    let is_kept = command[0] == "delete";
    let reported = |id| if is_kept { times(id) == 1 } else { times(id) <= 1 };
    assert!(hers.iter().all(reported), "{hers:?}: {events}");
    // An export reads all rows and all files that they name, and verifies them.
    let archive = desk.path("all.tar");
    desk.bindery(&["store", "export", "all.tar"]).ok();
    assert!(!has_trace(&archive), "a row of hers is left");
    fs::remove_file(archive).unwrap();
}
