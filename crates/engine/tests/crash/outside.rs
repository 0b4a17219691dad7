//! Reports of outside processors: out of order, some twice, read by two processes of which one is killed.

use crate::{
    audit,
    ledger::Ledger,
    site::{self, Site},
};
use serde_json::{Value, json};
use std::time::Duration;

const SUBMISSIONS: usize = 8;
const DOCUMENTS: usize = 25;
const PROCESSORS: [&str; 2] = ["docproc-parser-markitdown", "docproc-parser-foundry"];

/// Everything that the outside programs of one submission say, in the order in which it happened.
fn said(submission: usize) -> Vec<Value> {
    let submission_id = format!("outside-{submission}");
    let mut envelopes = vec![json!({
        "id": format!("{submission_id}/created"), "eventType": "SubmissionCreated", "submissionId": submission_id,
        "data": {"userId": "somebody", "totalDocuments": DOCUMENTS},
    })];
    for document in 0..DOCUMENTS {
        let document_id = format!("document-{document}");
        for (index, processor) in PROCESSORS.iter().enumerate() {
            let failed = (document + index) % 10 == 0;
            envelopes.push(json!({
                "id": format!("{submission_id}/{document_id}/{processor}"),
                "eventType": "DocumentProcessedEvent", "submissionId": submission_id,
                "data": {
                    "documentId": document_id, "processor": processor,
                    "status": if failed { "failed" } else { "completed" }, "documentRecordId": document_id,
                },
            }));
        }
    }
    envelopes
}

/// In another order, and one in ten twice: as the same event, or as the same words in an event of its own.
fn delivered() -> Vec<Value> {
    let mut envelopes: Vec<Value> = (0..SUBMISSIONS).flat_map(said).collect();
    for index in 0..envelopes.len() {
        if fastrand::u32(0..10) == 0 {
            let mut again = envelopes[index].clone();
            if fastrand::bool() {
                again["id"] = json!(format!("{} again", again["id"].as_str().unwrap()));
            }
            envelopes.push(again);
        }
    }
    fastrand::shuffle(&mut envelopes);
    envelopes
}

#[test]
fn reports_out_of_order_and_twice_are_counted_once() {
    let dir = tempfile::tempdir().unwrap();
    let (site, runtime) = (Site::undisturbed(dir.path()), site::runtime());
    runtime.block_on(site.engine.register_builtin_workflows()).unwrap();
    let mut workers = vec![site.start("one"), site.start("two")];
    let mut kills = 0;
    for (index, batch) in delivered().chunks(40).enumerate() {
        runtime.block_on(site.engine.append_outside(batch)).unwrap();
        if index % 3 == 2 {
            std::thread::sleep(Duration::from_millis(fastrand::u64(0..150)));
            workers[0].kill();
            kills += 1;
            workers[0] = site.start(&format!("one-{kills}"));
        }
    }
    site.wait_for_all(&runtime, SUBMISSIONS);
    // The duplicates behind the last report have been read, too.
    let caught_up = "(SELECT max(seq) FROM event WHERE kind = 'DocumentProcessedEvent' AND submission_id IS NULL) \
                     <= (SELECT position FROM consumer WHERE name = 'docproc-aggregator')";
    let ledger = Ledger::open(dir.path());
    site::wait_until("a consumer that has read all", || ledger.yes(caught_up));
    site.close();
    for worker in workers {
        worker.finish();
    }

    audit::at_rest(dir.path());
    let count = |sql: &str| usize::try_from(ledger.number(sql)).unwrap();
    let reports = SUBMISSIONS * DOCUMENTS * PROCESSORS.len();
    assert_eq!(count("SELECT count(*) FROM outcome WHERE stage = 'parse'"), reports);
    assert_eq!(count("SELECT count(*) FROM item"), SUBMISSIONS * DOCUMENTS);
    let once_each = |kind: &str, of: &str, wanted: usize| {
        let found = ["*".to_owned(), format!("DISTINCT {of}")]
            .map(|what| count(&format!("SELECT count({what}) FROM event WHERE kind = '{kind}'")));
        assert_eq!(found, [wanted, wanted], "{kind}");
    };
    once_each("DocumentFullyProcessedEvent", "item_id", SUBMISSIONS * DOCUMENTS);
    once_each("SubmissionDocumentsCompleteEvent", "submission_id", SUBMISSIONS);
    println!("outside reports: {kills} kills, {reports} reports out of order, one in ten twice, each counted once");
}
