//! Values of JSON are looked into where they become types, and nowhere else: no `value["key"]` in the crate's sources.

use std::{fs, path::Path};

/// Whether a line looks into a value by a key. `["a", "b"]` is a list, and has no value before it.
fn looks_into_a_value(line: &str) -> bool {
    line.match_indices("[\"").any(|(at, _)| {
        line[..at].ends_with(|before: char| before.is_alphanumeric() || ['_', ')', ']', '?'].contains(&before))
    })
}

fn look_below(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            look_below(&path, found);
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        // Tests look at what is on the wire, and stand last in a file.
        let code = source.split("\n#[cfg(test)]\n").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate().filter(|(_, line)| looks_into_a_value(line)) {
            found.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
        }
    }
}

#[test]
fn no_stage_looks_into_a_value_by_a_key() {
    assert!(looks_into_a_value("let page = input[\"page\"].as_u64();"));
    assert!(looks_into_a_value("read(&outcome)?[\"pages\"]") && !looks_into_a_value("for name in [\"a\", \"b\"] {"));
    let mut found = Vec::new();
    look_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert_eq!(found, [] as [String; 0], "give it a type: crates/pipeline/src/stage says how");
}
