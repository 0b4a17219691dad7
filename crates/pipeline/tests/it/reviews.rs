//! What people decide about documents: the result has it, with who said it.

use crate::desk::Desk;
use bindery_core::{
    SubmissionId,
    item::ItemKind,
    review::{Decision, Review, ReviewStatus},
    submission::SubmissionStatus,
};
use bindery_engine::{
    view,
    workflow::{OnReview, Workflow},
};
use bindery_store::query::{ItemFilter, ReviewFilter};
use serde_json::{Value, json};

/// Its sums do not agree: 100.00 and 19.00 are not 191.00.
fn invoice(number: &str) -> String {
    format!(
        "<html><body><p>Nordwind Papier GmbH</p><h1>Invoice</h1><p>Invoice number: {number}</p>\
         <p>Invoice date: 14 March 2026</p><p>Net total: 100.00 EUR</p><p>VAT 19 %: 19.00 EUR</p>\
         <p>Grand total: 191.00 EUR</p><p>Please pay within 30 days.</p></body></html>"
    )
}

/// A completed submission of such invoices.
async fn completed(desk: &Desk, invoices: usize) -> SubmissionId {
    for index in 0..invoices {
        desk.write(&format!("{index}.html"), invoice(&format!("2026-{index}")).as_bytes());
    }
    let id = desk.submit("documents").await;
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed, "it does not wait for people");
    id
}

async fn open(desk: &Desk) -> Vec<Review> {
    let filter = ReviewFilter { statuses: ReviewStatus::OPEN.to_vec(), ..ReviewFilter::default() };
    desk.engine.store().reviews(filter).await.unwrap()
}

async fn documents(desk: &Desk, id: SubmissionId) -> Vec<Value> {
    let result = view::result(&desk.engine, id).await.unwrap().unwrap();
    result["documents"].as_array().unwrap().clone()
}

fn corrected(fields: &Value) -> Decision {
    Decision::Corrected { fields: fields.as_object().unwrap().clone() }
}

#[test]
fn s002_18_documents_are_for_a_person_below_0_75_and_go_on() {
    let workflow = Workflow::parse(include_str!("../../../../workflows/documents.yaml"), None).unwrap();
    let extract = workflow.stage("extract").unwrap();
    assert_eq!(extract.confidence_threshold, Some(0.75));
    assert_eq!(extract.backoffice_queue.as_deref(), Some("task.extraction"));
    assert_eq!(extract.on_review, OnReview::Continue);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_19_a_doubtful_invoice_completes_is_corrected_and_the_result_has_it() {
    let desk = Desk::new().await;
    let id = completed(&desk, 1).await;
    let asked = open(&desk).await.remove(0);
    let document = documents(&desk, id).await.remove(0);
    assert_eq!((&document["status"], &document["needs_review"]), (&json!("review"), &json!(asked.reasons)));
    assert!(asked.reasons.iter().any(|reason| reason.contains("is below 0.75")), "{asked:?}");
    assert!(asked.reasons.iter().any(|reason| reason.contains("191.00")), "the sum that is wrong: {asked:?}");
    assert_eq!(asked.skills.iter().map(|skill| &**skill).collect::<Vec<_>>(), ["extraction", "invoice"]);

    desk.engine.decide(asked.id, Some("marta"), &corrected(&json!({"grand_total": "119.00 EUR"}))).await.unwrap();
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    let document = documents(&desk, id).await.remove(0);
    assert_eq!((&document["status"], &document["needs_review"]), (&json!("completed"), &json!([])));
    assert_eq!(document["extracted_data"]["grand_total"], "119.00");
    let required = ["number", "issue_date", "seller", "grand_total"];
    let surenesses = required.iter().filter_map(|name| document["evidence"][name]["confidence"].as_f64());
    let least = surenesses.reduce(f64::min).map(|least| (least * 1000.0).round() / 1000.0);
    assert!(least.is_some_and(|least| least < 1.0), "only the total was confirmed: {document}");
    assert_eq!(document["extraction_confidence"].as_f64(), least, "{document}");
    let evidence = &document["evidence"]["grand_total"];
    assert_eq!((&evidence["confidence"], &evidence["tier"]), (&json!(1.0), &json!("person")));
    assert_eq!((&evidence["source"], &document["decided"]["by"]), (&json!("marta"), &json!("marta")));
    assert!(document["checks"].as_array().unwrap().iter().all(|check| check["passed"] == true), "{document}");
    assert!(open(&desk).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_19_what_makes_no_sense_is_refused_and_nothing_is_stored() {
    let desk = Desk::new().await;
    let id = completed(&desk, 1).await;
    let asked = open(&desk).await.remove(0);
    let before = documents(&desk, id).await;
    for (fields, why) in [
        (json!({"grand_total": "soon"}), "\"soon\" is not a value of type money for the field \"grand_total\""),
        (
            json!({"number": "1", "totl": "1"}),
            "the document type \"invoice\" has no field \"totl\"; its fields are number",
        ),
    ] {
        let refused = desk.engine.decide(asked.id, None, &corrected(&fields)).await.unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
    assert_eq!(open(&desk).await, std::slice::from_ref(&asked));
    assert_eq!(documents(&desk, id).await, before);

    // Who accepts it has seen what is doubtful.
    desk.engine.decide(asked.id, None, &Decision::Accepted).await.unwrap();
    desk.finish(id).await;
    let document = documents(&desk, id).await.remove(0);
    assert_eq!((&document["status"], &document["extraction_confidence"]), (&json!("completed"), &json!(1.0)));
    assert_eq!(document["extracted_data"]["grand_total"], "191.00");

    // And who thinks better of it corrects the document, again and again.
    let item = desk.engine.find_item(id, "doc_1_1").await.unwrap();
    for value in ["118.00", "119.00"] {
        desk.engine.decide_item(id, item, Some("noor"), &corrected(&json!({"grand_total": value}))).await.unwrap();
        desk.finish(id).await;
        assert_eq!(documents(&desk, id).await[0]["extracted_data"]["grand_total"], value);
    }
    let reject = Decision::Rejected { reason: "not for us".to_owned() };
    desk.engine.decide_item(id, item, Some("noor"), &reject).await.unwrap();
    desk.finish(id).await;
    let document = documents(&desk, id).await.remove(0);
    assert_eq!((&document["status"], &document["error"]), (&json!("failed"), &json!("not for us")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_19_two_documents_of_a_final_submission_are_corrected_at_once() {
    let desk = Desk::new().await;
    let id = completed(&desk, 2).await;
    let one = desk.engine.find_item(id, "doc_1_1").await.unwrap();
    let two = desk.engine.find_item(id, "doc_2_1").await.unwrap();
    let (first, second) = (corrected(&json!({"number": "A-1"})), corrected(&json!({"grand_total": "119.00"})));
    let (left, right) = tokio::join!(
        desk.engine.decide_item(id, one, Some("marta"), &first),
        desk.engine.decide_item(id, two, Some("noor"), &second),
    );
    left.unwrap();
    right.unwrap();
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    let documents = documents(&desk, id).await;
    assert_eq!(documents[0]["extracted_data"]["number"], "A-1");
    assert_eq!(documents[1]["extracted_data"]["grand_total"], "119.00");
    assert!(documents.iter().all(|document| document["status"] == "completed"), "{documents:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_19_the_type_of_a_page_is_corrected_and_its_document_read_again() {
    let desk = Desk::new().await;
    let id = completed(&desk, 1).await;
    let pages = ItemFilter { kind: Some(ItemKind::Page), ..ItemFilter::default() };
    let page = desk.engine.store().items(id, pages).await.unwrap().remove(0).id;
    let decide = async |fields: Value| desk.engine.decide_item(id, page, Some("marta"), &corrected(&fields)).await;
    let refused = decide(json!({"doc_type": "invoyce"})).await.unwrap_err().to_string();
    assert!(refused.starts_with("\"invoyce\" is no type of document; there are "), "{refused}");
    let refused = decide(json!({"total": 5})).await.unwrap_err().to_string();
    assert_eq!(refused, "of a page, doc_type can be corrected, and not \"total\"");
    decide(json!({"doc_type": "letter"})).await.unwrap();
    desk.finish(id).await;
    let documents = documents(&desk, id).await;
    assert_eq!((documents.len(), &documents[0]["doc_type"]), (1, &json!("letter")), "{documents:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rows_of_an_invoice_are_corrected_cell_by_cell() {
    let desk = Desk::new().await;
    let items = "<table><tr><th>Description</th><th>Qty</th><th>Unit price</th><th>Amount</th></tr>\
        <tr><td>Paper</td><td>2</td><td>20.00</td><td>40.00</td></tr>\
        <tr><td>Ink</td><td>1</td><td>60.00</td><td>66.00</td></tr></table><p>Net total";
    desk.write("a.html", invoice("2026-1").replace("<p>Net total", items).replace("191.00", "119.00").as_bytes());
    let id = desk.submit("documents").await;
    desk.finish(id).await;
    let item = desk.engine.find_item(id, "doc_1_1").await.unwrap();
    let before = documents(&desk, id).await.remove(0);
    assert_eq!(before["rows"]["line_items"].as_array().map(Vec::len), Some(2), "{before}");
    let decide = async |fields: Value| desk.engine.decide_item(id, item, Some("marta"), &corrected(&fields)).await;
    let refused = decide(json!({"line_items.2.amount": "sixty"})).await.unwrap_err().to_string();
    assert_eq!(refused, "row 2 of line_items: \"sixty\" is not a value of type money for the column \"amount\"");
    assert_eq!(documents(&desk, id).await[0], before, "nothing is stored");
    decide(json!({"line_items.2.amount": 55, "line_items.+.amount": "5.00", "line_items.+.description": "Postage"}))
        .await
        .unwrap();
    desk.finish(id).await;
    let document = documents(&desk, id).await.remove(0);
    let rows = document["rows"]["line_items"].as_array().unwrap();
    let amounts: Vec<&Value> = rows.iter().map(|row| &row["cells"]["amount"]["normalised"]).collect();
    assert_eq!(amounts, ["40.00", "55", "5.00"], "{rows:?}");
    assert_eq!(rows[1]["cells"]["amount"]["entered_by"], "marta");
    assert_eq!(rows[0]["cells"]["amount"]["entered_by"], json!(null));
    decide(json!({"line_items.2.amount": "60.00", "line_items.3": null})).await.unwrap();
    desk.finish(id).await;
    let document = documents(&desk, id).await.remove(0);
    assert_eq!(document["rows"]["line_items"].as_array().map(Vec::len), Some(2));
    assert!(document["checks"].as_array().unwrap().iter().all(|check| check["passed"] == true), "{document}");
    // The store keeps what was said, by whom.
    let reviews = desk.engine.store().reviews(ReviewFilter { submission: Some(id), ..ReviewFilter::default() }).await;
    let said = |review: &Review| matches!(&review.decision, Some(Decision::Corrected { fields }) if fields.contains_key("line_items.3"));
    assert!(reviews.unwrap().iter().any(|review| said(review) && review.assigned_to.as_deref() == Some("marta")));
}

/// An invoice about which nothing but its copies is doubtful.
fn sound_invoice(remark: &str) -> String {
    invoice("2026-0117").replace("191.00", "119.00").replace("30 days.", &format!("30 days. {remark}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_copy_of_an_invoice_is_for_a_person_who_accepts_or_rejects_it() {
    let desk = Desk::new().await;
    for (name, remark) in [("a.html", "Thank you."), ("b.html", "A copy."), ("c.html", "Another copy.")] {
        desk.write(name, sound_invoice(remark).as_bytes());
    }
    let id = desk.submit("documents").await;
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed, "it does not wait for people");
    let statuses = async || -> Vec<Value> {
        documents(&desk, id).await.iter().map(|document| document["status"].clone()).collect()
    };
    assert_eq!(statuses().await, ["completed", "review", "review"]);
    let asked = open(&desk).await;
    assert_eq!(asked.len(), 2, "{asked:?}");
    let reason = "seller, number and total are the same as those of doc_1_1 in a.html";
    assert!(asked.iter().all(|review| review.reasons == [reason] && &*review.queue == "task.extraction"), "{asked:?}");

    // Accepted: it is another invoice after all. The other one is still asked about, once.
    desk.engine.decide(asked[0].id, Some("marta"), &Decision::Accepted).await.unwrap();
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    assert_eq!(statuses().await, ["completed", "completed", "review"]);
    let left = open(&desk).await;
    assert_eq!(left.iter().map(|review| review.id).collect::<Vec<_>>(), [asked[1].id]);
    assert_eq!(documents(&desk, id).await[2]["needs_review"], json!([reason]));

    // Rejected: it counts no more.
    let reject = Decision::Rejected { reason: "a copy".to_owned() };
    desk.engine.decide(asked[1].id, Some("marta"), &reject).await.unwrap();
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    assert_eq!(statuses().await, ["completed", "completed", "failed"]);
    assert!(open(&desk).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_decides_about_other_doubts_is_asked_about_the_copy_as_well() {
    let desk = Desk::new().await;
    // Both have a wrong sum, so both are asked about before anybody compares them.
    desk.write("a.html", invoice("2026-0117").as_bytes());
    desk.write("b.html", invoice("2026-0117").replace("30 days", "20 days").as_bytes());
    let id = desk.submit("documents").await;
    desk.finish(id).await;
    let asked = open(&desk).await;
    assert_eq!(asked.len(), 2, "one review for each: {asked:?}");
    for review in &asked {
        desk.engine.decide(review.id, None, &Decision::Accepted).await.unwrap();
        desk.finish(id).await;
    }
    let copy = open(&desk).await;
    assert_eq!(copy.len(), 1, "{copy:?}");
    assert!(copy[0].reasons[0].contains("the same as those of doc_1_1"), "{copy:?}");
    desk.engine.decide(copy[0].id, None, &Decision::Accepted).await.unwrap();
    desk.finish(id).await;
    assert!(open(&desk).await.is_empty());
    assert!(documents(&desk, id).await.iter().all(|document| document["status"] == "completed"));
}
