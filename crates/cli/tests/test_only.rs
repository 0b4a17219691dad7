//! Public functions are for users: one that only tests call proves nothing, and goes.
//!
//! Functions are known by their names alone, so that one whose name is used elsewhere in production code passes. What
//! fails is certain: the name is nowhere in production code but at its definition.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

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

/// The code of a file without comments and without its unit tests, which stand at the end.
fn production_code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().take_while(|line| *line != "#[cfg(test)]");
    lines.map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The name of the function that a line defines for other crates.
fn public_function(line: &str) -> Option<&str> {
    let mut rest = line.trim_start().strip_prefix("pub ")?;
    while let Some(shorter) = ["const ", "async ", "unsafe "].iter().find_map(|word| rest.strip_prefix(word)) {
        rest = shorter;
    }
    rest.strip_prefix("fn ")?.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

#[test]
fn no_public_function_is_called_by_tests_alone() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let source = entry.unwrap().path().join("src");
        if source.is_dir() && !source.parent().unwrap().ends_with("testkit") {
            rust_files(&source, &mut files);
        }
    }
    files
        .retain(|path| !path.components().any(|part| part.as_os_str() == "conformance") && !path.ends_with("tests.rs"));
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    let mut defined: BTreeSet<String> = BTreeSet::new();
    for path in &files {
        let code = production_code(path);
        for word in code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()) {
            *uses.entry(word.to_owned()).or_default() += 1;
        }
        defined.extend(code.lines().filter_map(public_function).map(str::to_owned));
    }
    assert!(defined.len() > 1_000, "only {} functions were found", defined.len());
    let alone: BTreeSet<&str> = defined.iter().map(String::as_str).filter(|name| uses[*name] == 1).collect();
    assert!(alone.is_empty(), "nobody calls these but tests; delete them, or give them a caller: {alone:?}");
}
