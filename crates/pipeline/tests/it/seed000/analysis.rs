//! The analysis of a whole submission behind the completion of its documents.

use super::*;
use bindery_core::{review::Decision, submission::SubmissionStatus};
use bindery_pipeline::{analysis, intake};
use bindery_store::query::ItemFilter;
use serde_json::json;

/// Bills and receipts of one buyer.
const CHECKLIST: &str = "\
name: refund
title: Refund
documents:
  - {name: bill, title: Invoice, type: invoice, fields: [grand_total]}
  - {name: slip, title: Receipt of the payment, type: receipt}
agree:
  - {name: total, title: Amount, as: amount, fields: [bill.grand_total, slip.grand_total]}
";

fn invoice(total: &str) -> String {
    format!(
        "<html><body><p>Nordwind Papier GmbH</p><h1>Invoice</h1><p>Invoice number: 2026-0117</p>\
         <p>Invoice date: 14 March 2026</p><p>Bill to: Jana Holm</p><p>Grand total: {total} EUR</p>\
         <p>Please pay within 30 days.</p></body></html>"
    )
}

fn receipt(total: &str) -> String {
    format!(
        "<html><body><h1>Receipt</h1><p>Nordwind Papier GmbH</p><p>Receipt number: 771</p><p>Date: 15 March 2026</p>\
         <p>Total: {total} EUR</p><p>Paid in cash</p><p>Thank you for your purchase</p></body></html>"
    )
}

async fn submit(desk: &Desk) -> SubmissionId {
    let taken = intake::take_in(&desk.engine, &[desk.folder()]).await.unwrap();
    let mut intake = taken.into_intake("checklist");
    analysis::state_checklist(&mut intake, CHECKLIST);
    desk.engine.submit(intake).await.unwrap().id()
}

async fn result(desk: &Desk, id: SubmissionId) -> Value {
    view::result(&desk.engine, id).await.unwrap().unwrap()
}

async fn analysed(desk: &Desk) -> Vec<Value> {
    let all = events(desk).await;
    let own = all.iter().filter(|event| event.kind == kind::SUBMISSION_ANALYSIS_COMPLETE);
    own.map(|event| event.envelope().data).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_25_completion_triggers_the_analysis_of_the_submission() {
    let desk = Desk::new().await;
    desk.write("bill.html", invoice("119.00").as_bytes());
    let id = submit(&desk).await;
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    let found = result(&desk, id).await["analysis"].clone();
    assert_eq!((&found["verdict"], &found["completeness_score"]), (&json!("incomplete"), &json!(0.5)), "{found:#}");
    assert_eq!(found["missing_information"], json!(["Receipt of the payment is missing (receipt)"]));
    assert_eq!(found["checklist"]["title"], "Refund");
    // The event has the shape that consumers know, and follows the one which it was triggered by.
    let data = analysed(&desk).await;
    let [data] = data.as_slice() else { panic!("{data:?}") };
    let keys: Vec<&String> = data["analysisResults"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["missingInformation", "recommendations", "confidence"]);
    assert_eq!(data["analysisResults"]["missingInformation"], found["missing_information"]);
    assert_eq!((&data["status"], data.as_object().unwrap().len()), (&json!("completed"), 2));
    let log = events(&desk).await;
    let place = |kind: &str| log.iter().position(|event| event.kind == kind).unwrap();
    let complete = place(kind::SUBMISSION_DOCUMENTS_COMPLETE);
    assert!(complete < place(kind::SUBMISSION_ANALYSIS_COMPLETE));
    let counted = json!({"totalDocuments": 1, "processedDocuments": 1, "allDocumentsProcessed": true});
    assert_eq!(log[complete].envelope().data, counted);
    // The result is also what is stored under its readable key.
    let stored = desk.artifact(&json!(format!("output/{id}.json"))).await;
    assert!(stored.contains("\"verdict\":\"incomplete\""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_25_a_correction_makes_the_analysis_anew() {
    let desk = Desk::new().await;
    desk.write("a.html", invoice("119.00").as_bytes());
    desk.write("b.html", receipt("191.00").as_bytes());
    let id = submit(&desk).await;
    desk.finish(id).await;
    let found = result(&desk, id).await["analysis"].clone();
    assert_eq!(found["verdict"], "contradictory", "{found:#}");
    let message = found["contradictions"][0]["message"].as_str().unwrap();
    assert_eq!(message, "Amount: 119.00 in a.html (doc_1_1), but 191.00 in b.html (doc_2_1)");
    assert_eq!(found["completeness_score"], 1.0);
    let items = desk.engine.store().items(id, ItemFilter::default()).await.unwrap();
    let slip = items.iter().find(|item| item.public_id() == "doc_2_1").unwrap();
    let fields = json!({"grand_total": "119.00"}).as_object().unwrap().clone();
    desk.engine.decide_item(id, slip.id, Some("marta"), &Decision::Corrected { fields }).await.unwrap();
    desk.finish(id).await;
    let found = result(&desk, id).await["analysis"].clone();
    assert_eq!(found["contradictions"], json!([]), "{found:#}");
    assert_eq!(found["extracted_data"]["total"], "119.00");
    // Each analysis is announced; that the documents are complete is said once.
    assert_eq!(analysed(&desk).await.len(), 2);
    let complete = |event: &&Event| event.kind == kind::SUBMISSION_DOCUMENTS_COMPLETE;
    assert_eq!(events(&desk).await.iter().filter(complete).count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workflow_of_ones_own_has_its_checklist_in_its_settings() {
    let desk = Desk::new().await;
    let own =
        include_str!("../../../../../workflows/checklist.yaml").replace("name: checklist", "name: refunds").replace(
            "    component: submission_analyzer",
            "    component: submission_analyzer\n    settings:\n      checklist:\n        \
                 name: own\n        documents:\n          - {name: slip, type: receipt, at_least: 2}",
        );
    desk.engine.register_workflow(&own, Some("refunds.yaml")).await.unwrap();
    desk.write("b.html", receipt("19.00").as_bytes());
    let (_, result) = desk.run("refunds").await;
    let found = &result.unwrap()["analysis"];
    assert_eq!(found["missing_information"], json!(["slip: 1 of 2 found (receipt)"]));
    // Without any checklist doubts and duplicates are still told.
    let (_, result) = desk.run("checklist").await;
    let found = &result.unwrap()["analysis"];
    assert_eq!((&found["checklist"], &found["completeness_score"]), (&json!(null), &json!(null)));
    // A bad one fails in one sentence that names the place.
    let bad = own.replace("name: refunds", "name: worse").replace("type: receipt", "typ: receipt");
    desk.engine.register_workflow(&bad, Some("worse.yaml")).await.unwrap();
    let id = desk.submit("worse").await;
    assert_eq!(desk.finish(id).await, SubmissionStatus::Failed);
    let failed = events(&desk).await.into_iter().find(|event| event.kind == kind::JOB_DEAD_LETTERED).unwrap();
    let error = failed.envelope().data["error"].to_string();
    assert!(error.contains("settings.checklist:1:") && error.contains("did you mean `type`?"), "{error}");
}
