//! Keeps `docs/acceptance.md` true: it lists every id of the source systems with the tests that cover it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The ids of each source system go from 1 to this.
const SEEDS: [(&str, usize); 5] = [("000", 36), ("001", 71), ("002", 24), ("003", 28), ("004", 39)];

/// What is promised to be covered by now. An item that loses its last test fails this.
fn promised() -> impl Iterator<Item = String> {
    let of = |seed: &'static str, items: Vec<usize>| items.into_iter().map(move |item| format!("{seed}-{item:02}"));
    of("000", (1..=25).chain([27, 29, 30]).chain(32..=36).collect())
        .chain(of("001", (1..=71).collect()))
        .chain(of("002", (1..=24).collect()))
        .chain(of("003", (1..=28).collect()))
        .chain(of("004", (1..=38).collect()))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// `s000_04_both_completed` covers 000-04.
fn covered_id(name: &str) -> Option<String> {
    let rest = name.strip_prefix('s')?;
    let (seed, rest) = rest.split_at_checked(3)?;
    let item = rest.strip_prefix('_')?.get(..2)?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(seed) && digits(item) && rest.get(3..4) == Some("_")).then(|| format!("{seed}-{item}"))
}

/// The tests in the sources, by the id that they cover.
fn tests_in_sources() -> BTreeMap<String, BTreeSet<String>> {
    let mut files = Vec::new();
    rust_files(&root().join("crates"), &mut files);
    let mut tests: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files {
        for line in fs::read_to_string(&file).unwrap().lines() {
            // Functions of the conformance suite, which every backend runs, are public.
            let line = line
                .trim_start()
                .trim_start_matches("pub(crate) ")
                .trim_start_matches("pub ")
                .trim_start_matches("async ");
            let Some(name) = line.strip_prefix("fn ").and_then(|rest| rest.split('(').next()) else { continue };
            if let Some(id) = covered_id(name) {
                tests.entry(id).or_default().insert(name.to_owned());
            }
        }
    }
    tests
}

/// A row of the page: `| 000-01 | what | tests |`.
fn row(line: &str) -> Option<(String, &str)> {
    let mut cells = line.strip_prefix("| ")?.splitn(3, " | ");
    let (id, what) = (cells.next()?, cells.next()?);
    let is_id = id.len() == 6 && id.as_bytes()[3] == b'-' && id.bytes().filter(u8::is_ascii_digit).count() == 5;
    is_id.then(|| (id.to_owned(), what))
}

#[test]
fn every_id_is_listed_with_the_tests_that_cover_it() {
    let path = root().join("docs/acceptance.md");
    let page = fs::read_to_string(&path).unwrap();
    let tests = tests_in_sources();
    let mut listed = Vec::new();
    let mut fresh = String::new();
    for line in page.lines() {
        if let Some((id, what)) = row(line) {
            let names: Vec<String> = tests.get(&id).into_iter().flatten().map(|name| format!("`{name}`")).collect();
            fresh.extend(["| ", &id, " | ", what, " | ", &names.join(", "), " |\n"]);
            listed.push(id);
        } else {
            fresh.push_str(line);
            fresh.push('\n');
        }
    }
    let known: Vec<String> =
        SEEDS.iter().flat_map(|(seed, count)| (1..=*count).map(move |item| format!("{seed}-{item:02}"))).collect();
    assert_eq!(listed, known, "docs/acceptance.md must list every id once, in order");
    for id in tests.keys() {
        assert!(known.contains(id), "a test covers {id}, which no source system has");
    }
    for id in promised() {
        assert!(tests.contains_key(&id), "no test covers {id} any more");
    }
    if std::env::var_os("BINDERY_UPDATE_DOCS").is_some() {
        fs::write(&path, fresh).unwrap();
    } else {
        assert_eq!(page, fresh, "docs/acceptance.md is out of date: run this test with BINDERY_UPDATE_DOCS=1");
    }
}
