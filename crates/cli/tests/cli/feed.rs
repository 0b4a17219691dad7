//! Seed 000's events from end to end: what a submission writes into the log, and consumers that follow it. Each test runs
//! on both stores.

use crate::{
    postgres::desk_on,
    support::{Desk, PATIENCE, is_final},
};
use bindery_testkit::PostgresServer;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const AGGREGATOR: &str = "docproc-aggregator";

/// Runs a test on SQLite, and on PostgreSQL where it is installed.
fn on_both_stores(test: impl Fn(&Desk)) {
    test(&Desk::new());
    if let Some(server) = PostgresServer::start() {
        test(&desk_on(&server));
    }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The log from its beginning.
fn log(desk: &Desk) -> Vec<Value> {
    lines(&desk.bindery(&["events", "--json", "--limit", "0"]).ok().out)
}

fn of_type<'a>(log: &'a [Value], kind: &str) -> Vec<&'a Value> {
    log.iter().filter(|event| event["eventType"] == kind).collect()
}

fn names(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn append(desk: &Desk, events: &[Value]) {
    desk.bindery_with_input(&["events", "append"], &Value::from(events.to_vec()).to_string()).ok();
}

fn created(submission: &str, total: u64) -> Value {
    json!({"eventType": "SubmissionCreated", "submissionId": submission, "data": {"totalDocuments": total}})
}

fn processed(submission: &str, document: &str, processor: &str) -> Value {
    json!({
        "eventType": "DocumentProcessedEvent", "submissionId": submission,
        "data": {"documentId": document, "processor": processor, "status": "completed"},
    })
}

/// Where the aggregator goes on, and how far that is behind the log.
fn position(desk: &Desk) -> (i64, i64) {
    let consumers = lines(&desk.bindery(&["events", "consumers", "--json"]).ok().out);
    let found = consumers.iter().find(|consumer| consumer["consumer"] == AGGREGATOR).expect("it has a position");
    (found["position"].as_i64().unwrap(), found["behind"].as_i64().unwrap())
}

fn two_files(desk: &Desk) {
    desk.write("in/a.txt", "The first letter.\n");
    desk.write("in/b.html", "<p>The second letter.</p>");
}

#[test]
fn s000_29_events_have_the_envelope_and_the_data_of_the_seed() {
    on_both_stores(|desk| {
        two_files(desk);
        desk.bindery(&["run", "--workflow", "parsers", "--external-id", "s-29", "in"]).ok();
        let log = log(desk);
        for event in &log {
            assert_eq!(names(event), ["id", "position", "eventType", "submissionId", "timestamp", "data"], "{event}");
            assert_eq!(event["submissionId"], "s-29");
            assert!(event["timestamp"].as_str().unwrap().ends_with('Z'), "{event}");
        }
        // Of SubmissionCreated, messageLength and containerName have nothing here that they could say.
        for (kind, count, data) in [
            ("SubmissionCreated", 1, &["userId", "documentUrls"][..]),
            ("DocumentUploadedEvent", 2, &["documentId", "documentUrl", "fileName", "mimeType"]),
            ("DocumentProcessedEvent", 2, &["documentId", "processor", "status", "documentRecordId", "error"]),
            ("DocumentFullyProcessedEvent", 2, &["documentId", "processorResults", "allProcessorsComplete"]),
            ("SubmissionDocumentsCompleteEvent", 1, &["totalDocuments", "processedDocuments", "allDocumentsProcessed"]),
        ] {
            let events = of_type(&log, kind);
            assert_eq!(events.len(), count, "{kind}");
            for name in data {
                assert!(events[0]["data"].get(name).is_some(), "{kind} has no {name}: {}", events[0]);
            }
        }
        let done = &of_type(&log, "DocumentFullyProcessedEvent")[0]["data"];
        assert_eq!((&done["processorResults"], &done["allProcessorsComplete"]), (&json!(["markitdown"]), &json!(true)));
        let all = &of_type(&log, "SubmissionDocumentsCompleteEvent")[0]["data"];
        assert_eq!(all, &json!({"totalDocuments": 2, "processedDocuments": 2, "allDocumentsProcessed": true}));
    });
}

#[test]
fn s000_30_intake_writes_the_submission_and_then_each_document() {
    on_both_stores(|desk| {
        two_files(desk);
        desk.bindery(&["submit", "--workflow", "parsers", "--external-id", "s-30", "in"]).ok();
        desk.bindery(&["submit", "--workflow", "parsers", "--external-id", "s-30", "in"]).ok();
        let log = log(desk);
        let kinds: Vec<&str> = log.iter().map(|event| event["eventType"].as_str().unwrap()).collect();
        let uploaded = "DocumentUploadedEvent";
        assert_eq!(kinds, ["SubmissionCreated", uploaded, uploaded], "before any work, and once");
        assert_eq!(log[0]["data"]["totalDocuments"], 2);
        let documents: Vec<&Value> = log[1..].iter().map(|event| &event["data"]["documentId"]).collect();
        assert_eq!(log[0]["data"]["documentUrls"], json!(documents), "the ones that were announced");
        assert_eq!((&log[1]["data"]["fileName"], &log[2]["data"]["fileName"]), (&json!("a.txt"), &json!("b.html")));
        // From outside: the number is the one of SubmissionCreated, however many documents were heard of.
        append(desk, &[created("by-event", 3), processed("by-event", "doc-1", "foundry")]);
        desk.bindery(&["worker", "--until-idle"]).ok();
        let shown = desk.bindery(&["status", "by-event", "--documents"]).ok().json();
        assert_eq!(shown["documents"].as_array().unwrap().len(), 1, "{shown}");
        assert_eq!(shown["submission"]["totalDocuments"], 3, "{shown}");
    });
}

#[test]
fn s000_32_a_consumer_goes_on_from_its_stored_position_after_a_restart() {
    on_both_stores(|desk| {
        append(desk, &[created("first", 1), processed("first", "doc", "foundry")]);
        desk.bindery(&["worker", "--until-idle"]).ok();
        let (first, _) = position(desk);
        assert!(first >= 2, "both were read: {first}");
        // Nobody runs: the log grows, the position stays.
        append(desk, &[processed("first", "doc", "markitdown"), created("second", 0)]);
        let (stored, behind) = position(desk);
        assert_eq!(stored, first);
        assert!(behind >= 2, "{behind}");
        desk.bindery(&["worker", "--until-idle"]).ok();
        let (second, _) = position(desk);
        assert!(second >= first + 2, "{first}, {second}");
        for submission in ["first", "second"] {
            assert_eq!(desk.status(submission)["status"], "completed");
        }
        let log = log(desk);
        assert_eq!(of_type(&log, "DocumentFullyProcessedEvent").len(), 1);
        assert_eq!(of_type(&log, "SubmissionDocumentsCompleteEvent").len(), 2);
        desk.bindery(&["worker", "--until-idle"]).ok();
        assert_eq!(self::log(desk).len(), log.len(), "a restart repeats nothing");
    });
}

/// How many submissions the replicas share, of two documents each.
const SHARED: usize = 12;

/// Our remedy for ranges that are owned: the position itself is what replicas compete for, so that nothing has to be
/// assigned, and nobody's death has to be noticed first.
#[test]
fn s000_33_replicas_divide_the_feed_and_one_that_joins_or_dies_disturbs_nobody() {
    on_both_stores(|desk| {
        let begun = Instant::now();
        append(desk, &[created("warm-up", 0)]);
        let mut replicas = vec![desk.start_logging(&["worker"], "a.log"), desk.start_logging(&["worker"], "b.log")];
        for number in 0..SHARED {
            let name = format!("shared-{number}");
            let reports = ["doc-1", "doc-2"].map(|doc| ["foundry", "markitdown"].map(|by| processed(&name, doc, by)));
            append(desk, &[&[created(&name, 2)][..], reports.as_flattened()].concat());
            match number {
                4 => replicas.push(desk.start_logging(&["worker"], "c.log")),
                7 => replicas.remove(0).kill(),
                _ => {}
            }
        }
        for number in 0..SHARED {
            desk.wait_for(&format!("shared-{number}"), "it is complete", is_final);
        }
        assert!(begun.elapsed() < PATIENCE + Duration::from_secs(30));
        let log = log(desk);
        let mut told: Vec<String> = of_type(&log, "DocumentFullyProcessedEvent")
            .iter()
            .map(|event| format!("{} {}", event["submissionId"], event["data"]["documentId"]))
            .collect();
        told.sort();
        let all = told.len();
        told.dedup();
        assert_eq!((all, told.len()), (2 * SHARED, 2 * SHARED), "each document was announced once");
        assert_eq!(of_type(&log, "SubmissionDocumentsCompleteEvent").len(), SHARED + 1);
    });
}

#[test]
fn s000_36_no_documents_are_complete_at_once() {
    on_both_stores(|desk| {
        append(desk, &[created("empty", 0)]);
        desk.bindery(&["worker", "--until-idle"]).ok();
        assert_eq!(desk.status("empty")["status"], "completed");
        let log = log(desk);
        let complete = of_type(&log, "SubmissionDocumentsCompleteEvent");
        assert_eq!(complete.len(), 1);
        let none = json!({"totalDocuments": 0, "processedDocuments": 0, "allDocumentsProcessed": true});
        assert_eq!(complete[0]["data"], none);
        assert!(of_type(&log, "DocumentFullyProcessedEvent").is_empty());
    });
}
