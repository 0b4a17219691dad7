//! `docs/contracts.md` prints the schemas as they are.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use bindery_engine::workflow::Over;
use bindery_processors::StageContract;
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
        ("Over files, with a stage over pages behind it", StageContract { makes: Some(Over::Page), ..plain(Over::File) }),
        ("Over pages", plain(Over::Page)),
        ("Over documents", StageContract { gets_document: true, ..plain(Over::Document) }),
        ("Behind a join, over files", behind(Over::File, Over::Page)),
        ("Behind a join, over the submission", behind(Over::Submission, Over::File)),
    ]
}

#[test]
fn the_page_prints_the_schemas_as_they_are() {
    let mut page = HEAD.to_owned();
    for (title, contract) in kinds() {
        write!(page, "\n## {title}\n\nSuch a stage {}.\n", contract.title()).unwrap();
        for (what, schema) in [("The request", contract.request_schema()), ("The answer", contract.answer_schema())] {
            write!(page, "\n{what}:\n\n```json\n{}\n```\n", serde_json::to_string_pretty(&schema).unwrap()).unwrap();
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/contracts.md");
    if std::env::var_os("BINDERY_WRITE_DOCS").is_some() {
        fs::write(path, page).unwrap();
        return;
    }
    assert!(fs::read_to_string(path).unwrap_or_default() == page, "docs/contracts.md is not drawn from the schemas");
}
