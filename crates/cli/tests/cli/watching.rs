//! `bindery watch`: what is put into a folder is taken in once, whenever the watch is started.

use crate::support::{Desk, PATIENCE};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::{fs, time::Instant};

const ONCE: [&str; 6] = ["watch", "in", "--once", "--settle", "0", "--json"];

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_file_is_taken_in_once_by_its_path_and_content() {
    let desk = Desk::new();
    desk.write("in/a.txt", "Dear Sir or Madam, this is a letter.");
    desk.write("in/more/b.txt", "Another one.");
    desk.write("in/half.pdf.part", "%PDF-1.7");
    desk.write("in/.hidden.txt", "nobody's");
    let first = lines(&desk.bindery(&ONCE).ok().out);
    let mut files: Vec<_> = first.iter().map(|line| line["file"].as_str().unwrap()).collect();
    files.sort_unstable();
    assert_eq!(files, ["a.txt", "more/b.txt"], "{first:?}");
    assert!(first.iter().all(|line| line["status"] == "completed"), "{first:?}");
    assert_eq!(desk.bindery(&ONCE).ok().out, "", "nothing is taken in again");
    desk.write("in/a.txt", "Dear Sir or Madam, this is a longer letter.");
    desk.write("in/copy.txt", "Another one.");
    let again = lines(&desk.bindery(&ONCE).ok().out);
    assert_eq!(again.len(), 2, "a changed file, and one at another place: {again:?}");
    let known = desk.bindery(&["status", "--json"]).ok().json();
    let channels: Vec<_> = known.as_array().unwrap().iter().map(|one| one["channel"].clone()).collect();
    assert_eq!(channels, vec![json!("watched folder"); 4]);
}

#[test]
fn what_was_taken_in_is_moved_where_it_is_said() {
    let desk = Desk::new();
    desk.write("in/a.txt", "one");
    desk.write("in/done/a.txt", "an older one");
    let ran = desk.bindery(&["watch", "in", "--once", "--settle", "0", "--done", "in/done", "--no-work"]).ok();
    assert_eq!(ran.out, "sub_1  a.txt  taken in\n", "what is done is not looked at");
    assert!(!desk.path("in/a.txt").exists());
    assert_eq!(fs::read_to_string(desk.path("in/done/a (2).txt")).unwrap(), "one");
    assert_ne!(desk.status("sub_1")["status"], "completed", "the work is left to workers");
    desk.bindery(&["worker", "--until-idle"]).ok();
    assert_eq!(desk.status("sub_1")["status"], "completed");
}

#[test]
fn a_watch_goes_on_until_it_is_told_to_stop() {
    let desk = Desk::new();
    fs::create_dir(desk.path("in")).unwrap();
    let watch = ["watch", "in", "--settle", "0", "--every", "1"];
    let started = desk.start(&watch);
    desk.write("in/a.txt", "one");
    wait_until(&desk, |desk| desk.bindery(&["status", "sub_1", "--json"]).out.contains("\"completed\""));
    desk.write("in/torn.pdf", "%PDF-1.7\n1 0 obj\n<<");
    wait_until(&desk, |desk| desk.bindery(&["status", "sub_2", "--json"]).out.contains("\"failed\""));
    started.signal(Signal::INT);
    assert_eq!(started.wait(), Some(0));
    let log = fs::read_to_string(desk.path("worker.log")).unwrap();
    assert!(log.contains("watches in every 1 s") && log.contains("took in torn.pdf as sub_2"), "{log}");
    // Killed between taking in and working: the next one tells how it ended.
    desk.write("in/late.txt", "late");
    desk.bindery(&["watch", "in", "--once", "--settle", "0", "--no-work"]).ok();
    let next = desk.bindery(&ONCE).ok();
    let told = lines(&next.out);
    assert_eq!((told.len(), &told[0]["file"]), (1, &json!("late.txt")), "{next:?}");
}

#[test]
fn a_folder_that_cannot_be_watched_is_refused_in_a_sentence() {
    let desk = Desk::new();
    desk.write("a.txt", "one");
    desk.bindery(&["watch", "nowhere"]).fails_with(2, "the folder nowhere cannot be used");
    desk.bindery(&["watch", "a.txt"]).fails_with(2, "a.txt is no folder");
    desk.bindery(&["watch", "."]).fails_with(2, ". is the folder of the store or around it");
    desk.bindery(&["watch", "in", "--workflow", "nosuch"]).fails_with(2, "nosuch");
}

fn wait_until(desk: &Desk, holds: impl Fn(&Desk) -> bool) {
    let begun = Instant::now();
    while !holds(desk) {
        assert!(
            begun.elapsed() < PATIENCE,
            "waited too long: {}",
            fs::read_to_string(desk.path("worker.log")).unwrap()
        );
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
