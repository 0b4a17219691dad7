//! Azure AI Document Intelligence, by its protocol.

use super::*;
use bindery_core::{job::JobState, submission::SubmissionStatus};
use bindery_store::query::JobFilter;
use serde_json::json;

/// What the only job that waits says it waits for.
async fn parked(desk: &Desk) -> String {
    let parked = JobFilter { states: vec![JobState::Parked], ..JobFilter::default() };
    let jobs = desk.work_until(async || {
        let jobs = desk.engine.store().jobs(parked.clone()).await.unwrap();
        (!jobs.is_empty()).then_some(jobs)
    });
    jobs.await[0].job.error.clone().unwrap().message
}

/// Runs one letter, and gives what foundry failed with.
async fn failure(azure: &Azure) -> String {
    let desk = desk_with(azure, &[]).await;
    write_letters(&desk, 1);
    let (status, result) = desk.run(NAME).await;
    assert_eq!(status, SubmissionStatus::Completed, "the other parser has read it");
    result.unwrap()["failed"][0]["reason"].as_str().unwrap().replace(&azure.url(), "SERVICE")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_endpoint_and_key_the_work_waits_and_names_them() {
    let nothing = Environment::new(|_| None);
    let mut registry = registry();
    registry.register(foundry(nothing));
    let desk = Desk::with(registry).await;
    write_letters(&desk, 1);
    let id = desk.submit(NAME).await;
    let message = parked(&desk).await;
    assert!(message.contains("BINDERY_FOUNDRY_ENDPOINT") && message.contains("is not set"), "{message}");
    // Where they are set, it goes on.
    let azure = Azure::willing();
    let configured = Desk { engine: beside(&desk, registry_at(&azure.url(), KEY)), dir: desk.dir };
    configured.engine.store().retry(JobFilter { submission: Some(id), ..JobFilter::default() }).await.unwrap();
    assert_eq!(configured.finish(id).await, SubmissionStatus::Completed);
    assert_eq!(azure.posts(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_refused_is_named_and_not_shown() {
    let azure = Azure::willing();
    let desk = Desk::with(registry_at(&azure.url(), "wrong-key")).await;
    write_letters(&desk, 1);
    desk.submit(NAME).await;
    let message = parked(&desk).await;
    assert!(message.contains("status 401") && message.contains("Access denied"), "{message}");
    assert!(message.contains("BINDERY_FOUNDRY_ENDPOINT and BINDERY_FOUNDRY_KEY"), "{message}");
    assert!(!message.contains("wrong-key"), "{message}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_34_a_busy_service_is_asked_again_when_it_says() {
    let azure = Azure::start(|_, before| match before {
        0..=1 => Plan::Busy { retry_after: 0 },
        _ => Plan::Succeed { after_looks: 1 },
    });
    let desk = desk_with(&azure, &[]).await;
    write_letters(&desk, 1);
    let (_, result) = desk.run(NAME).await;
    assert_eq!(result.unwrap()["totals"]["failed"], 0);
    assert_eq!(azure.posts(), 3);
    assert_eq!(events_of(&desk, kind::JOB_RETRIED).await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_a_file_or_an_answer_is_one_sentence() {
    let failed = Azure::start(|_, _| Plan::FailAnalysis);
    assert_eq!(
        failure(&failed).await,
        "SERVICE could not analyse the file: InvalidContent: The file has no pages that can be read."
    );
    assert_eq!(failed.posts(), 1, "trying again would not help");
    let refused = Azure::start(|_, _| Plan::Refuse { status: 400, code: "InvalidContent" });
    assert_eq!(
        failure(&refused).await,
        "SERVICE answered with status 400 Bad Request: InvalidRequest: Invalid request. \
         (InvalidContent: The file is corrupted or in no format that is supported.)"
    );
    let garbage = Azure::start(|_, _| Plan::Garbage);
    assert_eq!(failure(&garbage).await, "SERVICE answered with no analysis: <html>Welcome to nginx</html>");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_key_goes_to_no_other_service() {
    let thief = crate::service::Service::start(|_, _| crate::service::Reply::new(200, "{}"));
    let elsewhere = format!("{}/results/1", thief.url());
    let service = crate::service::Service::start(move |_, _| {
        crate::service::Reply::new(202, "").with("Operation-Location", &elsewhere)
    });
    let desk = Desk::with(registry_at(&service.url(), KEY)).await;
    write_letters(&desk, 1);
    let (_, result) = desk.run(NAME).await;
    let reason = result.unwrap()["failed"][0]["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("another service"), "{reason}");
    assert!(thief.asked().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_35_what_the_service_does_not_take_is_decoded_as_text() {
    let azure = Azure::willing();
    let desk = desk_with(&azure, &[]).await;
    let texts: [(&str, &[u8], &str, &str); 4] = [
        ("a.txt", "naïve".as_bytes(), "naïve", "utf-8"),
        ("b.txt", b"\xef\xbb\xbfna\xc3\xafve two", "naïve two", "utf-8"),
        ("c.txt", b"na\xefve three", "naïve three", "windows-1252"),
        ("d.csv", b"price,\x80 5\nna\xefve,1\n", "price,€ 5\nnaïve,1\n", "windows-1252"),
    ];
    for (name, bytes, ..) in texts {
        desk.write(name, bytes);
    }
    let (_, result) = desk.run(NAME).await;
    let result = result.unwrap();
    for (index, (name, _, text, encoding)) in texts.into_iter().enumerate() {
        let foundry = &result["files"][index]["parsers"]["foundry"];
        assert_eq!((&foundry["read_as"], &foundry["encoding"]), (&json!("text"), &json!(encoding)), "{name}");
        assert_eq!(desk.artifact(&foundry["markdown"]).await, text, "{name}");
    }
    assert_eq!(azure.asked().len(), 0, "nothing has left the machine");
}
