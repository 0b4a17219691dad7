//! The tasks beside the chain, on a folder as the place that others look at.

use super::{changed_workflow, sample};
use crate::desk::Desk;
use bindery_core::{StepError, SubmissionId, submission::SubmissionStatus};
use bindery_engine::{
    context::{CancelFlag, StepContext},
    intake::Intake,
};
use bindery_pipeline::idp::{
    IdpPlace, Places, document,
    file_processing::{FileRequest, file_processing},
    file_processing_status::{StatusRequest, file_processing_status},
    respond, retention,
};
use bindery_store::blobs::{ObjectIntake, ObjectOptions};
use serde_json::{Map, Value, json};
use std::{
    fs,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

/// A folder that stands for the bucket of the chain.
struct Bucket {
    folder: PathBuf,
    places: Arc<Places>,
}

impl Bucket {
    fn of(desk: &Desk) -> Self {
        let folder = desk.dir.path().join("idp");
        Self { folder, places: Arc::new(Places::new(ObjectOptions::default())) }
    }

    fn url(&self) -> String {
        format!("file://{}", self.folder.display())
    }

    fn settings(&self) -> Map<String, Value> {
        Map::from_iter([("place".to_owned(), json!(self.url()))])
    }

    fn place(&self) -> IdpPlace {
        IdpPlace::from_settings(&self.settings(), &self.places).unwrap()
    }

    /// What stands below, each with its key.
    fn files(&self) -> Vec<String> {
        fn walk(folder: &std::path::Path, root: &std::path::Path, found: &mut Vec<String>) {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, root, found);
                } else {
                    found.push(path.strip_prefix(root).unwrap().display().to_string());
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.folder, &self.folder, &mut found);
        found.sort();
        found
    }

    /// Runs the processor of a task by itself.
    async fn run(&self, task: &str, input: Value) -> Result<Value, StepError> {
        let mut settings = self.settings();
        settings.insert("delete_after_days".to_owned(), json!(1));
        let context = StepContext::standalone(Arc::new(settings), 1, CancelFlag::default());
        let task = Arc::clone(bindery_pipeline::registry().get(task).unwrap());
        let run = move || task.process(&context, task.validate(&context, input)?);
        tokio::task::spawn_blocking(run).await.unwrap()
    }

    /// Takes in what stands below `raw/`, as `bindery intake` does, and says how many were new.
    async fn take_in(&self, desk: &Desk, workflow: &str) -> usize {
        let intake = ObjectIntake::open(&format!("{}/raw/", self.url())).await.unwrap();
        let (mut offers, mut new) = (intake.list(None), 0);
        while let Some(offer) = offers.next().await.unwrap() {
            let id = document::of_key(&offer.key).expect("the key of a document").to_owned();
            if desk.engine.store().find_submission(&id).await.unwrap().is_some() {
                continue;
            }
            let path = desk.dir.path().join(offer.name());
            intake.fetch_to(&offer, &path).await.unwrap();
            let file = document::take_in(&**desk.engine.blobs(), &path, &id).await.unwrap();
            let intake = Intake { external_id: Some(id), ..Intake::new(workflow, vec![file]) };
            desk.engine.submit(intake).await.unwrap();
            new += 1;
        }
        new
    }
}

fn status_of(request: &Value) -> StatusRequest {
    StatusRequest::parse(request).unwrap()
}

/// The chain with everything written to the bucket, too.
async fn published_workflow(desk: &Desk, bucket: &Bucket) -> &'static str {
    let settings = "    # settings:\n    #   publish: s3://idp\n";
    changed_workflow(desk, &[(settings, &format!("    settings:\n      publish: {}\n", bucket.url()))]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_12_a_copy_starts_the_chain_by_being_there() {
    let desk = Desk::new().await;
    let bucket = Bucket::of(&desk);
    let workflow = published_workflow(&desk, &bucket).await;
    let source = desk.write("my report.pdf", &sample("report.pdf"));
    let request = json!({
        "file": format!("file://{}", source.display()), "collection_name": "kb_reports",
        "ingest_params": {"size": 1000}, "extra": [1],
    });
    let started = bucket.run("file_processing", request.clone()).await.unwrap();
    let body = &started["body"];
    let id = body["document_id"].as_str().unwrap();
    assert_eq!((&started["statusCode"], &body["file_name"]), (&json!(200), &json!("my report.pdf")));
    assert_eq!(body["s3_location"], format!("{}/raw/{id}/my report.pdf", bucket.url()));
    assert_eq!((&body["collection_name"], &body["ingest_params"]), (&json!("kb_reports"), &json!({"size": 1000})));
    assert_eq!((&body["extra"], &body["file_guid"]), (&json!([1]), &json!(id)));
    assert!(body.get("file").is_none());
    let again = bucket.run("file_processing", request).await.unwrap();
    assert_eq!(again, started, "asked twice, it is the same document");

    // Nobody asks for the status, and the chain runs all the same.
    assert_eq!(bucket.take_in(&desk, workflow).await, 1);
    assert_eq!(bucket.take_in(&desk, workflow).await, 0, "taken in once");
    let status =
        async |request: &Value| bucket.run("file_processing_status", request.clone()).await.unwrap()["body"].clone();
    let waiting = status(&started).await;
    assert_eq!((&waiting["fileupload_status"], &waiting["status"]), (&json!("PENDING"), &json!("UPLOADED")));
    assert_eq!(desk.finish(SubmissionId::from_raw(1)).await, SubmissionStatus::Completed);
    let done = status(&started).await;
    assert_eq!((&done["fileupload_status"], &done["status"]), (&json!("COMPLETE"), &json!("COMBINED")));
    assert_eq!(done["text_doc_key"], format!("text-docs/{id}.json"));
    assert_eq!(
        (&done["page_count"], &done["ingest_params"]),
        (&json!(2), &json!({"size": 1000})),
        "and what was passed"
    );
    assert_eq!(status(&json!({"document_id": id})).await["fileupload_status"], "COMPLETE");
    let files = bucket.files();
    for key in
        ["pdf-pages/ID/manifest.json", "pdf-pages/ID/page_001.pdf", "text-pages/ID/page_002.md", "text-docs/ID.json"]
    {
        let key = key.replace("ID", id);
        assert!(files.contains(&key), "no {key} in {files:?}");
    }
    let document = fs::read(bucket.folder.join(format!("text-docs/{id}.json"))).unwrap();
    let document: Value = serde_json::from_slice(&document).unwrap();
    assert_eq!((&document["documentId"], &document["pageCount"]), (&json!(id), &json!(2)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_24_and_27_the_engine_knows_of_documents_that_will_never_come() {
    let desk = Desk::new().await;
    let bucket = Bucket::of(&desk);
    let workflow = published_workflow(&desk, &bucket).await;
    let source = desk.write("torn.pdf", b"%PDF-1.7\n1 0 obj\n<<");
    let request = json!({"file": format!("file://{}", source.display()), "collection_name": "a", "file_guid": "mine"});
    let answer = file_processing(&bucket.place(), FileRequest::parse(&request).unwrap()).await.unwrap();
    assert_eq!(answer.file_guid, "mine", "the caller's own");
    let started = respond(Ok(answer.into_body()));
    bucket.take_in(&desk, workflow).await;
    let place = bucket.place();
    let ask = async || {
        let answer = file_processing_status(&place, Some(&desk.engine), status_of(&started)).await.unwrap();
        Value::Object(answer.into_body())
    };
    assert_eq!(ask().await["status"], "UPLOADED");
    desk.finish(SubmissionId::from_raw(1)).await;
    let body = ask().await;
    assert_eq!((&body["fileupload_status"], &body["status"]), (&json!("FAILED"), &json!("FAILED")));
    assert!(body["error"].as_str().unwrap().contains("damaged"), "{body}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_24_what_is_not_there_is_said_and_nothing_is_left() {
    let desk = Desk::new().await;
    let bucket = Bucket::of(&desk);
    let missing = desk.dir.path().join("nowhere/a.pdf");
    let request = json!({"file": format!("file://{}", missing.display()), "collection_name": "a"});
    let error = file_processing(&bucket.place(), FileRequest::parse(&request).unwrap()).await.unwrap_err();
    let body = respond(Err(error));
    assert_eq!(body["statusCode"], 404);
    assert_eq!(body["body"]["message"], format!("there is no file file://{}", missing.display()));
    assert!(!missing.parent().unwrap().exists() && bucket.files().is_empty());
    let error =
        file_processing_status(&bucket.place(), None, status_of(&json!({"document_id": "x"}))).await.unwrap_err();
    assert_eq!((error.status(), error.to_string().contains("there is no document \"x\"")), (404, true), "{error}");
    for bad in [json!({}), json!({"document_id": "../x"}), json!({"body": {"document_id": 7}})] {
        let error = StatusRequest::parse(&bad).unwrap_err();
        assert!(error.status() == 400 && error.to_string().starts_with("document_id"), "{error}");
    }
    let error = IdpPlace::from_settings(&Map::new(), &bucket.places).unwrap_err().to_string();
    assert!(error.starts_with("settings.place is missing: expected the bucket or folder"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_27_what_was_needed_on_the_way_goes_after_some_days_and_results_stay() {
    let desk = Desk::new().await;
    let bucket = Bucket::of(&desk);
    let workflow = published_workflow(&desk, &bucket).await;
    let mut ids = Vec::new();
    for (name, bytes) in [("done.pdf", sample("report.pdf")), ("torn.pdf", b"%PDF-1.7\n1 0 obj\n<<".to_vec())] {
        let file = desk.write(name, &bytes);
        let request = json!({"file": format!("file://{}", file.display()), "collection_name": "a"});
        let answer = file_processing(&bucket.place(), FileRequest::parse(&request).unwrap()).await.unwrap();
        ids.push(answer.document_id);
    }
    assert_eq!(bucket.take_in(&desk, workflow).await, 2);
    for id in [1, 2] {
        desk.finish(SubmissionId::from_raw(id)).await;
    }
    let before = bucket.files();
    let none = bucket.run("idp_cleanup", json!({})).await.unwrap();
    assert_eq!(none, json!({"deleted": 0, "failures": []}), "too early");
    let day = Duration::from_secs(24 * 60 * 60);
    let tomorrow = SystemTime::now() + day;
    let swept = retention::sweep(&bucket.place(), day, tomorrow).await.unwrap();
    assert_eq!(swept.failures, []);
    let mut kept = bucket.files();
    assert_eq!(swept.deleted as usize, before.len() - kept.len());
    kept.retain(|key| !key.starts_with("output/"));
    let expected = ["raw/TORN/torn.pdf", "text-docs/DONE.json", "text-docs/DONE.md"];
    let expected = expected.map(|key| key.replace("TORN", &ids[1]).replace("DONE", &ids[0]));
    assert_eq!(kept, expected, "the results, and what is not done");
    let again = retention::sweep(&bucket.place(), day, tomorrow).await.unwrap();
    assert_eq!(json!(again), json!({"deleted": 0, "failures": []}));
}
