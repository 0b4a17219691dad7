//! `bindery.toml`: flag over environment over file over default.

use crate::support::Desk;

#[test]
fn the_file_says_where_things_are_unless_somebody_says_otherwise() {
    let desk = Desk::new();
    desk.write("a.txt", "one");
    desk.write("bindery.toml", "store = \"from-file\"\nblobs = \"file-blobs\"\nlog = \"error\"\n");
    desk.bindery(&["run", "a.txt"]).ok();
    assert!(desk.path("from-file/bindery.db").is_file() && desk.path("file-blobs/sha256").is_dir());
    let mut command = desk.command(&["run", "a.txt"]);
    assert!(command.env("BINDERY_STORE", "from-env").status().unwrap().success());
    assert!(desk.path("from-env/bindery.db").is_file());
    let mut command = desk.command(&["--store", "from-flag", "run", "a.txt"]);
    assert!(command.env("BINDERY_STORE", "from-env").status().unwrap().success());
    assert!(desk.path("from-flag/bindery.db").is_file());
}

#[test]
fn a_file_that_is_named_has_its_own_folder_and_must_be_there() {
    let desk = Desk::new();
    desk.write("a.txt", "one");
    desk.write("etc/site.toml", "store = \"data\"\n");
    desk.bindery(&["--config", "etc/site.toml", "run", "a.txt"]).ok();
    assert!(desk.path("etc/data/bindery.db").is_file());
    let mut command = desk.command(&["status"]);
    assert!(command.env("BINDERY_CONFIG", "etc/site.toml").status().unwrap().success());
    desk.bindery(&["--config", "none.toml", "status"]).fails_with(2, "none.toml cannot be read");
}

#[test]
fn a_file_that_is_wrong_is_told_with_its_line() {
    let desk = Desk::new();
    desk.write("bindery.toml", "log = \"info\"\nstoer = \"x\"\n");
    let ran = desk.bindery(&["status"]).fails_with(2, "bindery.toml:2: unknown key \"stoer\"");
    assert!(ran.err.contains("hint: did you mean `store`?"), "{ran:?}");
    desk.write("bindery.toml", "store = [\"x\"]\n");
    desk.bindery(&["status"]).fails_with(2, "bindery.toml:1: store: expected a text in quotes, not array");
    desk.write("bindery.toml", "store = postgres://ann:s3cret@db/b\n");
    let ran = desk.bindery(&["status"]).fails_with(2, "bindery.toml:1: not TOML");
    assert!(!ran.err.contains("s3cret"), "{ran:?}");
}
