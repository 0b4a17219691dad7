//! Keeps `docs/vocabulary.md` true: its types, tables and wire names exist.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The nouns that the model is made of, in the page's order.
const MODEL: [&str; 10] =
    ["source", "submission", "item", "artifact", "workflow", "processor", "job", "outcome", "event", "review"];

/// The schemas of both backends, and of the domain beside them.
const SQLITE: [&str; 2] = ["store/src/sqlite/migrations", "civic/src/records/sqlite.sql"];
const POSTGRES: [&str; 2] = ["store/src/postgres/migrations", "civic/src/records/postgres.sql"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The text of a file, or of all files of a kind below a folder.
fn text_of(path: &Path, kind: &str) -> String {
    if path.is_file() {
        let is_wanted = path.extension().is_some_and(|extension| extension == kind) && !path.ends_with("tests.rs");
        let text = if is_wanted { fs::read_to_string(path).unwrap() } else { String::new() };
        // Unit tests stand last in a file.
        return text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
    }
    let mut entries: Vec<PathBuf> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries.iter().map(|entry| text_of(entry, kind)).collect()
}

/// The cells of the page's rows.
fn rows(page: &str) -> Vec<Vec<&str>> {
    let rows = page.lines().filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'));
    // The first two are the heading and the line below it.
    rows.skip(2).map(|row| row.split('|').map(str::trim).collect()).collect()
}

/// What stands between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Whether the word stands in the text, not as a part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word)
        .any(|(at, _)| !is_part(text[..at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next()))
}

#[test]
fn types_tables_and_wire_names_exist() {
    let page = fs::read_to_string(crates().join("../docs/vocabulary.md")).unwrap();
    let rows = rows(&page);
    let nouns: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(nouns[..MODEL.len()], MODEL);
    let schemas = [SQLITE, POSTGRES].map(|paths| paths.map(|path| text_of(&crates().join(path), "sql")).concat());
    let mut sources = String::new();
    for entry in fs::read_dir(crates()).unwrap() {
        let source = entry.unwrap().path().join("src");
        if source.is_dir() && !source.parent().unwrap().ends_with("testkit") {
            sources.push_str(&text_of(&source, "rs"));
        }
    }
    let mut wrong = Vec::new();
    for row in &rows {
        let [noun, _, types, tables, wire] = &row[..] else { panic!("a row has five cells: {row:?}") };
        for path in quoted(types) {
            let (home, name) = (path.split("::").next().unwrap(), path.rsplit("::").next().unwrap());
            let source = text_of(&crates().join(home).join("src"), "rs");
            let defines = |kind: &str| has_word(&source, &format!("pub {kind} {name}"));
            if !["struct", "enum", "trait"].into_iter().any(defines) {
                wrong.push(format!("{noun}: crates/{home} has no public type {name}"));
            }
        }
        for table in quoted(tables) {
            if !schemas.iter().all(|schema| has_word(schema, &format!("CREATE TABLE {table}"))) {
                wrong.push(format!("{noun}: a backend has no table {table}"));
            }
        }
        for name in quoted(wire) {
            if !has_word(&sources, name) {
                wrong.push(format!("{noun}: nobody writes or reads {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "docs/vocabulary.md:\n{}", wrong.join("\n"));
}
