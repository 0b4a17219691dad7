//! A store that cannot be used says why, and is left as it was.

use crate::support::Desk;
use std::{fs, os::unix::fs::PermissionsExt as _};

const DATABASE: &str = "bindery-data/bindery.db";

fn desk_with_store() -> Desk {
    let desk = Desk::new();
    desk.write("a.txt", "one");
    desk.bindery(&["run", "a.txt"]).ok();
    desk
}

#[test]
fn looking_does_not_make_a_store() {
    let desk = Desk::new();
    for command in ["status", "jobs", "queues", "events", "dead-letters", "reviews"] {
        desk.bindery(&[command]).fails_with(20, "there is no store in bindery-data");
    }
    desk.bindery(&["workflows"]).ok();
    assert!(!desk.path("bindery-data").exists());
}

#[test]
fn what_cannot_be_a_store_is_told() {
    let desk = Desk::new();
    let said = "mysql:// cannot be used as a store; a folder or postgres:// can";
    desk.bindery(&["--store", "mysql://localhost/b", "status"]).fails_with(20, said);
    desk.bindery(&["--store", "", "status"]).fails_with(2, "BINDERY_STORE or --store is empty");
    desk.write("file", "x");
    desk.bindery(&["--store", "file", "status"]).fails_with(20, "file is a file, expected a folder");
}

#[test]
fn a_newer_database_is_refused() {
    let desk = desk_with_store();
    let path = desk.path(DATABASE);
    // By SQLite, which also looks at a write-ahead log that a program has left behind.
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 999).unwrap();
    let bytes = fs::read(&path).unwrap();
    desk.bindery(&["status"]).fails_with(20, "the database has version 999, this program knows versions up to");
    assert_eq!(fs::read(&path).unwrap(), bytes, "it was changed");
}

#[test]
fn what_is_no_database_is_left_alone() {
    let desk = Desk::new();
    let path = desk.write(DATABASE, "Dear diary, today nothing happened.".repeat(50));
    let before = fs::read(&path).unwrap();
    desk.bindery(&["status"]).fails_with(20, "not a Bindery database (it is not an SQLite file)");
    desk.write("a.txt", "one");
    desk.bindery(&["run", "a.txt"]).fails_with(20, "hint: name another folder");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_damaged_database_is_not_taken_for_an_empty_one() {
    let desk = desk_with_store();
    let path = desk.path(DATABASE);
    let mut bytes = fs::read(&path).unwrap();
    let page = bytes.len().min(4096);
    for byte in &mut bytes[100..page] {
        *byte = 0xa5;
    }
    fs::write(&path, bytes).unwrap();
    // Pages that a slow machine has left in the WAL would stand in for the damaged ones.
    let _ = fs::remove_file(desk.path(&format!("{DATABASE}-wal")));
    desk.bindery(&["status"]).fails_with(20, "the database is damaged");
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let desk = Desk::new();
    let locked = desk.path("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(locked.join("probe"), "").is_ok() {
        bindery_testkit::skip("this user may write anywhere");
        return;
    }
    desk.write("a.txt", "one");
    desk.bindery(&["--store", "locked/store", "run", "a.txt"]).fails_with(20, "the folder locked/store cannot be made");
    desk.bindery(&["--store", "locked", "run", "a.txt"]).fails_with(20, "cannot be written");
}

#[test]
fn blobs_may_be_in_another_place_and_are_missed_when_they_are_gone() {
    let desk = Desk::new();
    desk.write("a.txt", "one two");
    let ran = desk.bindery(&["--blobs", "elsewhere", "run", "a.txt", "--json"]).ok().json();
    let path = ran["stored"]["path"].as_str().unwrap().to_owned();
    assert!(path.starts_with("elsewhere/sha256/") && desk.path(&path).is_file(), "{path}");
    assert!(!desk.path("bindery-data/blobs").exists());
    let url = format!("file://{}", desk.path("elsewhere").display());
    desk.bindery(&["--blobs", &url, "result", "sub_1"]).ok();
    let said = "there are no blobs in nowhere, and the store is in use already";
    desk.bindery(&["--blobs", "nowhere", "result", "sub_1"]).fails_with(20, said);
    desk.bindery(&["--blobs", "nowhere", "run", "a.txt"]).fails_with(20, "is the share mounted on this machine?");
    assert!(!desk.path("nowhere").exists());
    desk.bindery(&["--blobs", "gopher://b", "run", "a.txt"])
        .fails_with(20, "gopher://b is no place for blobs: expected s3://bucket/prefix");
}
