//! `docs/contracts.md` prints the schemas as they are.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use bindery_engine::workflow::Over;
use bindery_processors::StageContract;
use serde_json::Value;
use std::{fmt::Write as _, fs, path::Path};

const HEAD: &str = "\
# What a program gets and may answer

JSON Schemas (draft 2020-12) of requests and answers, for each kind of stage. `bindery workflows schema NAME [STAGE]` prints them for a stage of
yours, without `--json` as lists. [own-steps.md](own-steps.md) has examples. Drawn by a test:
`BINDERY_WRITE_DOCS=1 cargo test -p bindery-processors --test contracts`.
";

fn kinds() -> Vec<(&'static str, StageContract)> {
    let plain = |over| StageContract { over, waits_for: None, makes: None, gets_document: false };
    let behind = |over, counted| StageContract { waits_for: Some(counted), ..plain(over) };
    vec![
        ("Over files", plain(Over::File)),
        (
            "Over files, with a stage over pages behind it",
            StageContract { makes: Some(Over::Page), ..plain(Over::File) },
        ),
        ("Over pages", plain(Over::Page)),
        ("Over documents", StageContract { gets_document: true, ..plain(Over::Document) }),
        ("Behind a join, over files", behind(Over::File, Over::Page)),
        ("Behind a join, over the submission", behind(Over::Submission, Over::File)),
    ]
}

/// What fits into a line stands in one.
fn format_compact(value: &Value, indent: usize) -> String {
    const WIDTH: usize = 140;
    let plain = value.to_string();
    let entries: Vec<String> = match value {
        _ if plain.len() + indent <= WIDTH => return plain,
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| format!("{}: {}", Value::from(name.as_str()), format_compact(value, indent + 2)))
            .collect(),
        Value::Array(list) => list.iter().map(|value| format_compact(value, indent + 2)).collect(),
        _ => return plain,
    };
    let (open, close) = if value.is_object() { ('{', '}') } else { ('[', ']') };
    let (inner, outer) = (" ".repeat(indent + 2), " ".repeat(indent));
    format!("{open}\n{inner}{}\n{outer}{close}", entries.join(&format!(",\n{inner}")))
}

#[test]
fn the_page_prints_the_schemas_as_they_are() {
    let mut page = HEAD.to_owned();
    for (title, contract) in kinds() {
        write!(page, "\n## {title}\n\nSuch a stage {}.\n", contract.title()).unwrap();
        for (what, schema) in [("The request", contract.request_schema()), ("The answer", contract.answer_schema())] {
            write!(page, "\n{what}:\n\n```json\n{}\n```\n", format_compact(&schema, 0)).unwrap();
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/contracts.md");
    if std::env::var_os("BINDERY_WRITE_DOCS").is_some() {
        fs::write(path, page).unwrap();
        return;
    }
    assert!(fs::read_to_string(path).unwrap_or_default() == page, "docs/contracts.md is not drawn from the schemas");
}
