//! What is stored outside of the database: every file has a line in the list of who deletes it, and nothing is left where
//! copies are made.

use crate::support::{Desk, PATIENCE, files_below, inbox};
use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

/// The places that `docs/retention.md` lists in a store's folder.
fn listed_places() -> Vec<String> {
    let documentation = include_str!("../../../../docs/retention.md");
    let (_, table) = documentation.split_once("Outside of the database:").unwrap();
    let places = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").nth(1));
    let quoted = places.flat_map(|place| place.split('`').skip(1).step_by(2));
    let found: Vec<String> = quoted.filter(|place| !place.starts_with('-')).map(str::to_owned).collect();
    assert!(found.contains(&"blobs/sha256".to_owned()), "{found:?}");
    found
}

fn assert_all_listed(store: &Path, when: &str) {
    let listed = listed_places();
    for file in files_below(store) {
        let name = file.strip_prefix(store).unwrap();
        let is_listed = listed.iter().any(|place| name.starts_with(place));
        assert!(is_listed, "{when}: docs/retention.md does not say who deletes {}", name.display());
    }
}

/// A desk whose temporary files are its own.
fn desk_with_scratch() -> (Desk, PathBuf) {
    let desk = Desk::new();
    let scratch = desk.path("scratch");
    fs::create_dir(&scratch).unwrap();
    let name = scratch.to_str().unwrap().to_owned();
    (desk.with_env("TMPDIR", name), scratch)
}

#[test]
fn the_list_of_who_deletes_what_has_every_file_of_a_store() {
    let (desk, scratch) = desk_with_scratch();
    let store = desk.path("bindery-data");
    let inbox = inbox();
    let run = desk.start(&["run", &inbox]);
    let begun = Instant::now();
    while !store.join("blobs").exists() || files_below(&store.join("blobs")).is_empty() {
        assert!(begun.elapsed() < PATIENCE, "nothing is stored");
    }
    assert_all_listed(&store, "while it runs");
    run.kill();
    assert_all_listed(&store, "when it was killed");
    desk.bindery(&["run", &inbox, "--lease-seconds", "2"]).ok();
    assert_all_listed(&store, "when it has ended");
    desk.bindery(&["result", "sub_1", "--xlsx", "result.xlsx"]).ok();
    assert_eq!(files_below(&scratch), Vec::<PathBuf>::new(), "copies are left");
}

/// Keeps the copy of the file that it was given, and does not end.
const KEEPER: &str = "name: keeper\nversion: 1\ncommand:\n  run: [python3, -S, -E, keeper.py]\n  timeout_seconds: 60\n";
const KEEPER_PROGRAM: &str = r#"
import json, os, sys, time
work = json.load(sys.stdin)["work"]
os.replace("started.part", "started") if open("started.part", "w").write(work["file"]["path"]) else None
time.sleep(50)
"#;
const KEPT: &str = "name: kept
version: 1
stages:
  - {name: keep, component: keeper, over: file, parallel: true}
  - name: result
    component: collector
    aggregation: {collect_by: submission_id, expect_count_from: file_count}
";

#[test]
fn copies_that_a_killed_worker_has_left_go_with_the_deletion() {
    let (desk, scratch) = desk_with_scratch();
    desk.write("workflows/kept.yaml", KEPT);
    desk.write("processors/keeper.yaml", KEEPER);
    desk.write("processors/keeper.py", KEEPER_PROGRAM);
    desk.write("a.txt", "something secret");
    desk.bindery(&["submit", "--workflow", "kept", "a.txt"]).ok();
    let worker = desk.start(&["worker", "--lease-seconds", "1"]);
    let begun = Instant::now();
    while !desk.path("processors/started").exists() {
        assert!(begun.elapsed() < PATIENCE, "the program was not started");
    }
    worker.kill();
    let copy = PathBuf::from(fs::read_to_string(desk.path("processors/started")).unwrap());
    assert_eq!(fs::read_to_string(&copy).unwrap(), "something secret");
    assert!(copy.starts_with(&scratch), "{}", copy.display());
    // A folder without a lock may be one that is just being made, for a minute.
    let folder = copy.ancestors().find(|folder| folder.parent() == Some(&scratch)).unwrap();
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(120);
    fs::File::open(folder).unwrap().set_modified(long_ago).unwrap();
    desk.bindery(&["delete", "sub_1", "--force", "--yes"]).ok();
    assert!(!folder.exists(), "{}", folder.display());
}
