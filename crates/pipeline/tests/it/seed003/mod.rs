//! Seed 003's document chain on a real engine: the `idp` workflow and the tasks beside it.

mod chain;
mod copies;
mod ingestion;
mod locations;
mod machine;
mod ocr;
mod pages;
mod service;
mod tasks;

use crate::desk::Desk;
use bindery_core::{SubmissionId, artifact::Artifact};
use serde_json::Value;
use std::{fs, path::Path};

/// One of the project's samples.
fn sample(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/files").join(name)).unwrap()
}

/// The shipped workflow under another name, with other settings: each pair is text of it and what stands in its place.
async fn changed_workflow(desk: &Desk, changes: &[(&str, &str)]) -> &'static str {
    let mut text = include_str!("../../../../../workflows/idp.yaml").replace("name: idp\n", "name: changed\n");
    for (from, to) in changes {
        assert!(text.contains(from), "the workflow has no {from:?}");
        text = text.replace(from, to);
    }
    desk.engine.register_workflow(&text, None).await.unwrap();
    "changed"
}

/// What the OCR stage says of its engine, replaced by a service at this address.
fn read_by(address: &str) -> (String, String) {
    ("      engine: tesseract\n".to_owned(), format!("      engine: http\n      url: {address}\n"))
}

async fn artifacts(desk: &Desk) -> Vec<Artifact> {
    desk.engine.store().artifacts(SubmissionId::from_raw(1), None, 1_000).await.unwrap()
}

/// The keys of what was kept, without what was received.
async fn keys(desk: &Desk) -> Vec<String> {
    let mut keys: Vec<String> = artifacts(desk).await.into_iter().map(|artifact| artifact.key).collect();
    keys.retain(|key| !key.starts_with("raw/") && !key.starts_with("output/"));
    keys.sort();
    keys
}

async fn bytes(desk: &Desk, key: &str) -> Vec<u8> {
    let found = artifacts(desk).await.into_iter().find(|artifact| artifact.key == key);
    desk.engine.blobs().get(found.unwrap_or_else(|| panic!("no {key}")).hash).await.unwrap()
}

async fn json(desk: &Desk, key: &str) -> Value {
    serde_json::from_slice(&bytes(desk, key).await).unwrap()
}
