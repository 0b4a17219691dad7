//! The last stage: what was found is posted to a program outside. The stage is the one of the documentation, behind
//! workflows that ship.

mod guard;
mod trouble;

use crate::{
    desk::Desk,
    service::{Asked, Reply, Service},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use bindery_core::{SubmissionId, submission::SubmissionStatus};
use bindery_engine::view;
use bindery_pipeline::{http::Environment, output::output, registry};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const GUIDE: &str = include_str!("../../../../../docs/output.md");
const PARSERS: &str = include_str!("../../../../../workflows/parsers.yaml");
const READ: &str = include_str!("../../../../../workflows/read.yaml");
const IDP: &str = include_str!("../../../../../workflows/idp.yaml");

const KEY_BYTES: &[u8] = b"a secret of twenty-four b";
const API_KEY: &str = "the-api-key";

fn secret() -> String {
    format!("whsec_{}", BASE64_STANDARD.encode(KEY_BYTES))
}

/// The stage as the documentation has it, to this address, without waits, with `changes` made to it.
fn stage(url: &str, changes: &[(&str, &str)]) -> String {
    let begin = GUIDE.find("```yaml\n").unwrap() + "```yaml\n".len();
    let end = begin + GUIDE[begin..].find("```").unwrap();
    let mut stage = GUIDE[begin..end].replace("https://example.com/results", url);
    stage = stage.replace("initial_seconds: 10", "initial_seconds: 0");
    stage.push_str("      allow_private: true\n");
    for (from, to) in changes {
        assert!(stage.contains(from), "{from}");
        stage = stage.replace(from, to);
    }
    stage
}

/// A desk with the workflow `delivered`: the parser of this machine, and then the output.
async fn desk_to(url: &str, changes: &[(&str, &str)]) -> Desk {
    desk_of(&format!("{}\n{}", PARSERS.replace("name: parsers", "name: delivered"), stage(url, changes))).await
}

async fn desk_of(workflow: &str) -> Desk {
    let mut registry = registry();
    registry.register(output(Environment::new(|name| match name {
        "BINDERY_OUTPUT_SECRET" => Some(secret()),
        "BINDERY_OUTPUT_API_KEY" => Some(API_KEY.to_owned()),
        "PLAIN_SECRET" => Some("hunter2-in-the-clear".to_owned()),
        _ => None,
    })));
    let desk = Desk::with(registry).await;
    desk.engine.register_workflow(workflow, None).await.unwrap();
    desk.write("letter.html", b"<html><body><h1>Letter</h1><p>The motion was carried.</p></body></html>");
    desk
}

/// The signature as the specification has it, without a line of what is tested: HMAC by its definition.
fn expected_signature(asked: &Asked) -> String {
    let mut block = [0_u8; 64];
    block[..KEY_BYTES.len()].copy_from_slice(KEY_BYTES);
    let mut inner = Sha256::new();
    inner.update(block.map(|byte| byte ^ 0x36));
    let head = format!("{}.{}.", asked.header("webhook-id"), asked.header("webhook-timestamp"));
    inner.update(head.as_bytes());
    inner.update(&asked.body);
    let mut outer = Sha256::new();
    outer.update(block.map(|byte| byte ^ 0x5c));
    outer.update(inner.finalize());
    format!("v1,{}", BASE64_STANDARD.encode(outer.finalize()))
}

async fn result_of(desk: &Desk, id: SubmissionId) -> Value {
    view::result(&desk.engine, id).await.unwrap().expect("there is a result")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_21_the_result_is_posted_with_its_signature_and_the_reply_is_kept() {
    let service = Service::start(|_, _| {
        Reply::json(201, &json!({"accepted": true}))
            .with("Content-Type", "application/json")
            .with("X-Request-Id", "r-7")
    });
    let desk = desk_to(&format!("{}/in?token=1", service.url()), &[]).await;
    let id = desk.submit("delivered").await;
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    let asked = service.asked();
    assert_eq!(asked.len(), 1);
    let asked = &asked[0];
    assert_eq!((&*asked.method, &*asked.path), ("POST", "/in?token=1"));
    let result = result_of(&desk, id).await;
    assert_eq!(serde_json::from_slice::<Value>(&asked.body).unwrap(), result, "what people see is what was sent");
    assert_eq!(result["files"][0]["name"], "letter.html");
    assert_eq!((asked.header("content-type"), asked.header("x-api-key")), ("application/json", API_KEY));
    assert!(asked.header("webhook-id").starts_with("msg_"));
    assert_eq!(asked.header("webhook-signature"), expected_signature(asked));
    let reply: Value = serde_json::from_str(&desk.artifact(&json!(format!("output/{id}.reply.json"))).await).unwrap();
    assert_eq!((&reply["reply"]["status"], &reply["reply"]["body"]), (&json!(201), &json!({"accepted": true})));
    assert_eq!(reply["reply"]["headers"]["x-request-id"], "r-7");
    assert_eq!(reply["webhook_id"], asked.header("webhook-id"));
    assert_eq!(reply["url"], format!("{}/in", service.url()), "without the query, which may hold a key");
    assert_eq!(desk.artifact(&json!(format!("output/{id}.json"))).await, result.to_string(), "beside the result");
}

/// The workflow with the output as a stage on each file, behind the one that puts its pages together.
fn delivering_each_file(workflow: &str, service: &Service) -> String {
    let settings = [
        ("    component: output\n", "    component: output\n    over: file\n    parallel: true\n"),
        ("      allow_private: true\n", "      allow_private: true\n      send: text-docs/{item}.json\n"),
    ];
    let deliver = format!("{}\n  - name: consolidate\n", stage(&service.url(), &settings));
    assert!(workflow.contains("  - name: consolidate\n"));
    workflow.replace("  - name: consolidate\n", &deliver)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_22_office_files_and_pdfs_end_in_the_same_join_and_are_delivered() {
    let service = Service::start(|_, _| Reply::json(200, &json!({"indexed": true})));
    let desk = desk_of(&delivering_each_file(&IDP.replace("name: idp\n", "name: delivered\n"), &service)).await;
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/files");
    for name in ["invitation.docx", "report.pdf", "stock.xlsx"] {
        desk.write(name, &std::fs::read(samples.join(name)).unwrap());
    }
    let id = desk.submit("delivered").await;
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    let combined = desk.engine.store().outcomes(id, Some(&"combine".into())).await.unwrap();
    assert_eq!(combined.len(), 4, "each was put together, once");
    let mut types = Vec::new();
    for asked in service.asked() {
        let document: Value = serde_json::from_slice(&asked.body).unwrap();
        let item = document["documentId"].as_str().unwrap();
        let stored: Value =
            serde_json::from_str(&desk.artifact(&json!(format!("text-docs/{item}.json"))).await).unwrap();
        assert_eq!(document, stored, "what the join made is what was sent");
        let reply: Value =
            serde_json::from_str(&desk.artifact(&json!(format!("output/{item}.reply.json"))).await).unwrap();
        assert_eq!(reply["reply"]["body"], json!({"indexed": true}), "and the answer is kept");
        types.push(document["type"].as_str().unwrap().to_owned());
    }
    types.sort();
    assert_eq!(types, ["docx", "html", "pdf", "xlsx"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_21_every_combined_document_is_posted_where_the_stage_works_on_each_file() {
    let service = Service::start(|_, _| Reply::new(204, ""));
    let desk = desk_of(&delivering_each_file(&READ.replace("name: read\nd", "name: delivered\nd"), &service)).await;
    desk.write("table.csv", b"item,price\npaper,3\n");
    let id = desk.submit("delivered").await;
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    let mut types: Vec<String> = Vec::new();
    for asked in service.asked() {
        let document: Value = serde_json::from_slice(&asked.body).unwrap();
        assert_eq!(document["pageCount"], 1, "{document}");
        assert_eq!(asked.header("webhook-signature"), expected_signature(&asked));
        types.push(document["type"].as_str().unwrap().to_owned());
    }
    types.sort();
    assert_eq!(types, ["csv", "html"]);
    assert_eq!(result_of(&desk, id).await["totals"]["files"], 2, "the result is that of the last stage");
}
