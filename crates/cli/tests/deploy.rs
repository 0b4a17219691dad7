//! What is shipped for running Bindery elsewhere is what systemd, containers and people can use.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The units with the program where it was built, as systemd checks that it is there.
#[test]
fn s001_70_systemd_accepts_the_units() {
    if !bindery_testkit::has("systemd-analyze") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for (file, as_started) in [
        ("bindery-worker@.service", "bindery-worker@1.service"),
        ("bindery-fetcher.service", "bindery-fetcher.service"),
        ("bindery-processor.service", "bindery-processor.service"),
        ("bindery-civic.service", "bindery-civic.service"),
    ] {
        let unit = fs::read_to_string(root().join("deploy/systemd").join(file)).unwrap();
        let built = unit.replace("/usr/local/bin/bindery", env!("CARGO_BIN_EXE_bindery"));
        assert_ne!(built, unit, "{file} starts the program from where it is installed");
        let path = dir.path().join(as_started);
        fs::write(&path, built).unwrap();
        let checked = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&path).output().unwrap();
        let said = String::from_utf8_lossy(&checked.stderr);
        let ours: Vec<&str> = said.lines().filter(|line| line.contains("bindery")).collect();
        assert!(checked.status.success() && ours.is_empty(), "{file}: {said}");
    }
}

/// What a unit starts is a command, and each flag is one of its own.
#[test]
fn s001_70_services_start_commands_that_exist() {
    for file in fs::read_dir(root().join("deploy/systemd")).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_none_or(|ending| ending != "service") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let start = text.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/bindery ")).unwrap();
        let words = start.split(' ').take_while(|word| !word.starts_with("--"));
        let help = Command::new(env!("CARGO_BIN_EXE_bindery")).args(words).arg("--help").output().unwrap();
        assert!(help.status.success(), "{}: there is no `bindery {start}`", file.display());
        let help = String::from_utf8_lossy(&help.stdout).into_owned();
        for flag in start.split(' ').filter(|word| word.starts_with("--")) {
            assert!(help.contains(flag), "{}: there is no flag {flag}", file.display());
        }
    }
}

/// Every flag and variable that these files use is one of the program's.
#[test]
fn what_is_shipped_uses_flags_and_variables_that_exist() {
    let help = Command::new(env!("CARGO_BIN_EXE_bindery")).args(["worker", "--help"]).output().unwrap();
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let documented = fs::read_to_string(root().join("docs/cli.md")).unwrap();
    for file in [
        "deploy/systemd/bindery-worker@.service",
        "deploy/systemd/bindery.env",
        "deploy/compose.yaml",
        "deploy/Dockerfile",
    ] {
        let text = fs::read_to_string(root().join(file)).unwrap();
        for line in text.lines().filter(|line| line.contains("ExecStart") || line.contains("CMD [\"worker")) {
            for flag in line.split([' ', '"', ',']).filter(|word| word.starts_with("--")) {
                assert!(help.contains(flag), "{file}: there is no flag {flag}");
            }
        }
        for variable in
            text.split(|c: char| !(c.is_ascii_uppercase() || c == '_')).filter(|word| word.starts_with("BINDERY_"))
        {
            assert!(documented.contains(variable), "{file}: docs/cli.md does not know {variable}");
        }
    }
}
