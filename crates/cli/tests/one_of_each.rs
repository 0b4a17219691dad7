//! One of each thing: what has a home is not made a second time elsewhere. And tests that lack something say so in one way.
//!
//! Sources are looked at line by line, without comments and unit tests.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Types with these in their names belong to `crates/http`.
const OF_HTTP: [&str; 6] = ["Breaker", "Circuit", "Limiter", "RateLimit", "TokenBucket", "Timer"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The Rust files below a folder of each crate, with their paths from `crates`.
fn files(folder: &str) -> Vec<(String, PathBuf)> {
    fn look(path: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                look(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(crates()).unwrap() {
        let below = entry.unwrap().path().join(folder);
        if below.is_dir() {
            look(&below, &mut found);
        }
    }
    found.sort();
    let name = |path: &Path| path.strip_prefix(crates()).unwrap().display().to_string();
    found.into_iter().map(|path| (name(&path), path)).collect()
}

/// The lines of production code, without comments.
fn code(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default().to_owned()).collect()
}

fn production() -> impl Iterator<Item = (String, PathBuf)> {
    let is_test =
        |name: &str| name.starts_with("testkit/") || name.starts_with("conformance/") || name.ends_with("tests.rs");
    files("src").into_iter().filter(move |(name, _)| !is_test(name))
}

/// The name of the type that a line defines.
fn defined_type(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("pub(crate) ").or_else(|| line.strip_prefix("pub(super) ")).unwrap_or(line);
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let rest = ["struct ", "enum ", "trait "].iter().find_map(|kind| line.strip_prefix(kind))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// Whether a line makes a wait longer by hand.
fn doubles_a_wait(line: &str) -> bool {
    let grows = ["* 2).min(", "*= 2;", "saturating_mul(2)", "1 << failures", "1 << attempt", "2_u32.pow("];
    let waits = ["wait", "pause", "delay", "tick", "backoff", "back_off", "interval", "after"];
    grows.iter().any(|pattern| line.contains(pattern)) && waits.iter().any(|word| line.contains(word))
}

#[test]
fn breakers_limiters_and_timers_are_those_of_the_http_crate() {
    assert_eq!(defined_type("pub(crate) struct HostLimiter<'a> {"), Some("HostLimiter"));
    let mut found = BTreeSet::new();
    for (name, path) in production().filter(|(name, _)| !name.starts_with("http/") && !name.starts_with("core/")) {
        let types = code(&path);
        let types = types.iter().filter_map(|line| defined_type(line));
        let elsewhere = types.filter(|one| OF_HTTP.iter().any(|word| one.contains(word)));
        found.extend(elsewhere.map(|one| format!("{name}: {one}")));
    }
    assert!(found.is_empty(), "use what crates/http has, in place of {found:?}");
}

#[test]
fn waits_grow_by_the_backoff_of_the_core() {
    assert!(doubles_a_wait("pause = (pause * 2).min(LONGEST);") && !doubles_a_wait("let width = (width * 2).min(9);"));
    let mut found = BTreeSet::new();
    for (name, path) in production().filter(|(name, _)| name != "core/src/backoff.rs") {
        if code(&path).iter().any(|line| doubles_a_wait(line)) {
            found.insert(name);
        }
    }
    assert!(found.is_empty(), "use core::Backoff in place of what {found:?} have");
}

/// Whether a line takes something out of a JSON value by a key that is written there.
fn looks_at_key(line: &str) -> bool {
    let is_key = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    line.split("[\"").skip(1).any(|rest| rest.split_once("\"]").is_some_and(|(key, _)| is_key(key)))
}

/// Between the stages of the pipeline there are types; values are for adapters, which read what a seed or a schema calls
/// something.
#[test]
fn the_pipeline_looks_at_values_by_key_in_adapters_alone() {
    assert!(looks_at_key("let a = value[\"some_key\"].as_str();") && !looks_at_key("let b = [\"text\", \"other\"];"));
    let adapters = ["pipeline/src/docproc/schema.rs"];
    let mut found = BTreeSet::new();
    for (name, path) in production().filter(|(name, _)| name.starts_with("pipeline/")) {
        if code(&path).iter().any(|line| looks_at_key(line)) {
            found.insert(name);
        }
    }
    assert_eq!(found, adapters.map(str::to_owned).into(), "give it a type at the border, or make it an adapter");
}

#[test]
fn what_tests_lack_is_said_by_the_testkit_alone() {
    // Put together here, so that this file does not contain it.
    let word = format!("\"{}: ", "skipped");
    let mut wrong = Vec::new();
    for (name, path) in files("tests") {
        for (number, line) in fs::read_to_string(path).unwrap().lines().enumerate() {
            if line.contains(&word) || line.contains("BINDERY_REQUIRE") {
                wrong.push(format!("{name}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    wrong.retain(|line| !line.starts_with("cli/tests/one_of_each.rs"));
    assert!(wrong.is_empty(), "use bindery_testkit::{{missing, has, shared, skip}}:\n{}", wrong.join("\n"));
}
