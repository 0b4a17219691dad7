//! Names in the field's words: no function is called by a bare participle or preposition, and the metaphors that were
//! replaced do not come back. Crates that are not done yet are listed with how many such functions they
//! still have.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Names that say nothing of what a function does or returns.
const BARE_NAMES: &str = "of told said known shown taken kept held found asked given seen heard answered refused wanted \
    opened stated standing retained listed called caught filled needed lent borrowed left made over on below behind \
    beside along about before within without by until both either alone once only why theirs ours took ran died begun \
    landed boarded untold unawaited undeclared understood having keeping reaching refusing asking following passing \
    lasting thinking differing leasing awaited remembered shortened escaped counted guarded unexpected ahead";

/// The most that is left, by crate; the numbers only become smaller. A crate that is not listed has none.
const NOT_DONE: [(&str, usize); 1] = [("core", 1)];

/// Types that have a better name: the old one, the new one, and the crates that it is about.
const REPLACED: [(&str, &str, &[&str]); 19] = [
    ("Desk", "ExecutionScheduler", &["engine"]),
    ("Kept", "ExecutionState or Row", &["engine"]),
    ("Note", "SchedulerEvent", &["engine"]),
    ("Mail", "MailboxEntry", &["engine"]),
    ("Letter", "ExecutionSignal", &["engine", "store"]),
    ("Held", "LoadedExecution or LossRecord", &["engine", "store"]),
    ("Flight", "InFlight", &["engine"]),
    ("Aboard", "Entry", &["engine"]),
    ("Manifest", "Jobs", &["engine"]),
    ("Pulse", "Heartbeat", &["engine", "store"]),
    ("Presence", "Heartbeat", &["engine", "store"]),
    ("Wish", "WriteRequest", &["store"]),
    ("Question", "Query", &["store"]),
    ("Writes", "RowWrites", &["store"]),
    ("ReadingRoom", "SharedReaders", &["pipeline", "app", "cli"]),
    ("Errands", "ExternalTasks", &["pipeline", "app", "cli"]),
    ("Books", "ModelLedger", &["models"]),
    ("UNSTORED", "MAX_UNCOMMITTED", &["engine"]),
    ("GATHER", "GROUP_COMMIT_WINDOW", &["engine", "store"]),
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The sources of a crate, each with its path.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

/// The name of the function that a line declares.
fn declared_function(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_declaration = before.split_whitespace().all(|word| {
        matches!(word, "pub" | "const" | "async" | "unsafe" | "extern")
            || word.starts_with("pub(")
            || word.ends_with(')')
    });
    let end = after.find(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
    is_declaration.then_some(&after[..end])
}

#[test]
fn functions_are_not_called_by_a_bare_participle_or_preposition() {
    let bare: Vec<&str> = BARE_NAMES.split_whitespace().collect();
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in fs::read_dir(crates()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let name = entry.file_name().unwrap().to_string_lossy().into_owned();
        for (path, text) in sources(&entry.join("src")) {
            for (number, line) in text.lines().enumerate() {
                if let Some(function) = declared_function(line).filter(|function| bare.contains(function)) {
                    let place = format!("{}:{}: fn {function}", path.display(), number + 1);
                    all.entry(name.clone()).or_default().push(place);
                }
            }
        }
    }
    for (name, places) in &all {
        let allowed = NOT_DONE.iter().find(|(listed, _)| listed == name).map_or(0, |(_, count)| *count);
        let list = places.join("\n");
        assert!(places.len() <= allowed, "{name}: at most {allowed}; give them a verb or a noun:\n{list}");
    }
    for (name, _) in NOT_DONE {
        assert!(all.contains_key(name), "{name} is done: remove it from NOT_DONE");
    }
}

#[test]
fn metaphors_that_were_replaced_do_not_come_back() {
    for (old, better, names) in REPLACED {
        for name in names {
            for (path, text) in sources(&crates().join(name).join("src")) {
                for (number, line) in text.lines().enumerate() {
                    let mut words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
                    let is_declared = ["struct", "enum", "type", "trait", "const", "static"]
                        .iter()
                        .any(|keyword| line.contains(&format!("{keyword} {old}")));
                    let place = format!("{}:{}", path.display(), number + 1);
                    assert!(!(is_declared && words.any(|word| word == old)), "{place}: {old} is called {better}");
                }
            }
        }
    }
}

#[test]
fn a_declaration_is_told_from_a_mention() {
    assert_eq!(declared_function("    pub(super) const fn of(self) -> u8 {"), Some("of"));
    assert_eq!(declared_function("pub async fn told<T>() {"), Some("told"));
    assert_eq!(declared_function("/// Calls fn of(self)"), None);
    assert_eq!(declared_function("    let x: fn of(u8) = y;"), None);
}
