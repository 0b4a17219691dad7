//! The document chain on a real S3 server, by its commands: a copy is made, it starts the chain, and others find the
//! document under its key.

use crate::{
    buckets::{at, bucket},
    support::Desk,
};
use bindery_store::blobs::{ObjectOptions, OutwardKey, Shelf};
use bindery_testkit::{
    ObjectServer as Server,
    object::{ACCESS_KEY, SECRET_KEY},
};
use serde_json::{Value, json};
use std::fs;

fn shelf(server: &Server, url: &str) -> Shelf {
    let options = ObjectOptions::default()
        .with("AWS_ENDPOINT_URL", server.endpoint())
        .with("AWS_ACCESS_KEY_ID", ACCESS_KEY)
        .with("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
        .with("AWS_REGION", "us-east-1");
    Shelf::connect(url, &options).unwrap()
}

fn key(key: &str) -> OutwardKey {
    OutwardKey::parse(key).unwrap()
}

#[test]
fn s003_12_and_24_an_object_that_is_copied_starts_the_chain_on_s3() {
    let Some(server) = Server::get() else { return };
    let desk = at(server, Desk::new());
    let (staging, idp) = (bucket(server), bucket(server));
    let report = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/files/report.pdf")).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (from, to) = (shelf(server, &staging), shelf(server, &idp));
    runtime.block_on(from.put(&key("in/my report+1.pdf"), report.clone())).unwrap();
    let shipped = desk.bindery(&["workflows", "show", "idp"]).ok().out;
    let settings = "    # settings:\n    #   publish: s3://idp\n";
    assert!(shipped.contains(settings), "{shipped}");
    let own = shipped
        .replace("name: idp\n", "name: idp-in-a-bucket\n")
        .replace(settings, &format!("    settings:\n      publish: {idp}\n"));
    fs::create_dir(desk.path("workflows")).unwrap();
    fs::write(desk.path("workflows/own.yaml"), own).unwrap();
    let desk = desk.with_env("BINDERY_WORKFLOWS", "workflows");

    let place = format!("place={idp}");
    let run = |task: &str, request: &Value| -> Value {
        fs::write(desk.path("request.json"), request.to_string()).unwrap();
        desk.bindery(&["process", task, "request.json", "--set", &place]).ok().json()
    };
    let request = json!({"file": format!("{staging}/in/my report+1.pdf"), "collection_name": "kb_reports", "llm_params": {"a": 1}});
    let started = run("file_processing", &request);
    let body = &started["body"];
    let id = body["document_id"].as_str().unwrap();
    assert_eq!(started["statusCode"], 200);
    assert_eq!(body["s3_location"], format!("{idp}/raw/{id}/my report+1.pdf"));
    assert_eq!((&body["file_name"], &body["llm_params"]), (&json!("my report+1.pdf"), &json!({"a": 1})));
    let copy = runtime.block_on(to.read(&key(&format!("raw/{id}/my report+1.pdf")))).unwrap().unwrap();
    assert_eq!(copy, report);
    assert_eq!(run("file_processing_status", &started)["body"]["fileupload_status"], "PENDING");

    let prefix = format!("{idp}/raw/");
    let look = || desk.bindery(&["intake", &prefix, "--once", "--workflow", "idp-in-a-bucket"]).ok().out;
    assert_eq!(look().lines().count(), 1);
    assert_eq!(look(), "", "once");
    desk.bindery(&["worker", "--until-idle"]).ok();
    let document = runtime.block_on(to.read(&key(&format!("text-docs/{id}.json")))).unwrap().expect("it is there");
    let document: Value = serde_json::from_slice(&document).unwrap();
    assert_eq!((&document["documentId"], &document["pageCount"]), (&json!(id), &json!(2)));
    let done = run("file_processing_status", &started);
    assert_eq!(done["body"]["fileupload_status"], "COMPLETE");
    assert_eq!(
        (&done["body"]["text_doc_key"], &done["body"]["page_count"]),
        (&json!(format!("text-docs/{id}.json")), &json!(2))
    );

    // Larger objects go over in parts, and their tags differ.
    let large: Vec<u8> = (0..9_000_000_u32).map(|number| (number % 251) as u8).collect();
    runtime.block_on(from.put(&key("in/large.bin"), large.clone())).unwrap();
    let request = json!({"file": format!("{staging}/in/large.bin"), "collection_name": "kb_reports"});
    let copied = run("file_processing", &request)["body"]["document_id"].as_str().unwrap().to_owned();
    assert!(runtime.block_on(to.read(&key(&format!("raw/{copied}/large.bin")))).unwrap().unwrap() == large);

    let refused = json!({"file": "s3://Papers/a.pdf", "collection_name": "a"});
    fs::write(desk.path("request.json"), refused.to_string()).unwrap();
    let refused = desk.bindery(&["process", "file_processing", "request.json", "--set", &place]);
    assert!(
        refused.out.contains("other characters than small letters")
            || refused.err.contains("other characters than small letters")
    );
}
