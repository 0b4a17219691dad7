//! A whole store carried to another one, half-way through its work.

use crate::{
    postgres::desk_on,
    support::{Desk, SLOW, stage},
};
use bindery_testkit::PostgresServer;
use std::{
    fs,
    process::{Command, Stdio},
};

const PAGES: u64 = 40;

/// A worker was killed while it had pages in hand.
fn half_way() -> Desk {
    let desk = Desk::new();
    desk.write("workflows/slow.yaml", SLOW.replace("delay_ms: 20", "delay_ms: 300"));
    let lines: Vec<String> = (0..PAGES).map(|line| format!("line {line}")).collect();
    desk.write("a.txt", lines.join("\n"));
    desk.bindery(&["submit", "a.txt", "--workflow", "slow", "--external-id", "moved"]).ok();
    let worker = desk.start(&["worker", "--threads", "4"]);
    let done = |status: &serde_json::Value| stage(status, "count")["completed"].as_u64().unwrap();
    let seen = desk.wait_for("moved", "some pages are counted", |status| done(status) >= 4);
    worker.kill();
    assert!(done(&seen) < PAGES, "the worker was too fast: {seen:#}");
    desk
}

fn piped(mut from: Command, mut to: Command) -> (bool, String) {
    let mut export = from.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let import = to.stdin(export.stdout.take().unwrap()).output().unwrap();
    let exported = export.wait().unwrap().success();
    (exported && import.status.success(), String::from_utf8_lossy(&import.stdout).into_owned())
}

#[test]
fn work_goes_on_where_it_was_carried_to() {
    let Some(server) = PostgresServer::start() else { return };
    let (old, new, back) = (half_way(), desk_on(&server), Desk::new());
    let (good, said) = piped(old.command(&["store", "export", "-"]), new.command(&["store", "import", "-"]));
    assert!(good && said.starts_with("imported 1 submission in "), "{said}");
    let status = new.status("moved");
    assert_eq!(stage(&status, "count")["running"], 0, "nobody holds anything here: {status:#}");
    assert_eq!(stage(&status, "count")["completed"], stage(&old.status("moved"), "count")["completed"]);
    new.bindery(&["worker", "--until-idle", "--threads", "40"]).ok();
    assert_eq!(new.status("moved")["status"], "completed");
    let result = new.bindery(&["result", "moved", "--json"]).ok().json();
    assert_eq!(result["totals"]["words"], 2 * PAGES);

    let report = new.bindery(&["store", "export", "all.tar", "--json"]).ok().json();
    let imported = back.bindery(&["store", "import", &new.path("all.tar").display().to_string(), "--json"]).ok().json();
    assert_eq!(report, imported);
    assert_eq!(back.bindery(&["result", "moved", "--json"]).ok().json(), result);
    back.write("b.txt", "one two three");
    let more = back.bindery(&["run", "--workflow", "words", "b.txt", "--json"]).ok().json();
    assert_ne!(more["submission"], "sub_1");
}

#[test]
fn what_cannot_be_imported_is_told_and_stores_nothing() {
    let desk = Desk::new();
    desk.write("a.txt", "one two three");
    desk.bindery(&["run", "--workflow", "words", "a.txt"]).ok();
    desk.bindery(&["store", "export", "all.tar"]).ok();
    assert!(!desk.path("all.tar.part").exists());
    let archive = fs::read(desk.path("all.tar")).unwrap();
    desk.write("short.tar", &archive[..archive.len() / 2]);
    let into = |file: &str| desk.bindery(&["--store", "new", "store", "import", file]);
    into("short.tar").fails_with(2, "; nothing was stored");
    into("a.txt").fails_with(2, "this is not");
    into("none.tar").fails_with(2, "none.tar cannot be read");
    assert_eq!(desk.bindery(&["--store", "new", "status", "--json"]).ok().json(), serde_json::json!([]));
    into("all.tar").ok();
    assert_eq!(desk.bindery(&["--store", "new", "result", "sub_1", "--json"]).ok().json()["totals"]["words"], 3);
    into("all.tar").fails_with(2, "the store is in use already (it has rows in submission); import into a new one");
    desk.bindery(&["--store", "nowhere", "store", "export", "x.tar"]).fails_with(20, "there is no store in nowhere");
}
