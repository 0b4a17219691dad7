//! The back office: what is doubtful goes to people, one of them decides, and the work goes on with what they said.

use crate::{
    docproc::{Docproc, default_yaml, object},
    support::Rig,
};
use bindery_core::{
    Name,
    item::Item,
    outcome::OutcomeStatus,
    review::{Decision, Review, ReviewStatus},
    submission::SubmissionStatus,
};
use bindery_engine::{EngineError, intake::Intake};
use bindery_store::query::ReviewFilter;
use serde_json::{Value, json};
use std::time::Duration;

/// One page that is surely an invoice, one that is blurred, one that nobody can classify.
const DOUBTFUL: &str = "invoice clear\nid_card blurred\npayslip blurred\n";

async fn reviews(run: &Docproc, skills: &[&str]) -> Vec<Review> {
    let skills = skills.iter().map(|skill| Name::from(*skill)).collect();
    let filter = ReviewFilter { statuses: ReviewStatus::OPEN.to_vec(), skills, ..ReviewFilter::default() };
    run.rig.store().reviews(filter).await.unwrap()
}

fn corrected(fields: Value) -> Decision {
    Decision::Corrected { fields: object(fields) }
}

fn total(value: &str) -> Decision {
    corrected(json!({"extracted_data": {"total": value}}))
}

/// The default workflow, in which the submission does not wait for people at the extraction.
fn going_on() -> String {
    let line = "    backoffice_queue: task.extraction\n";
    let yaml = default_yaml();
    assert!(yaml.contains(line));
    yaml.replace(line, &format!("{line}    on_review: continue\n"))
}

/// A submission that is completed although two documents of three are doubtful.
async fn completed_with_gaps() -> Docproc {
    let run = Docproc::received(&going_on(), DOUBTFUL).await;
    run.rig.drain().await;
    assert_eq!(run.rig.status(run.id).await, SubmissionStatus::Completed);
    run
}

/// Status and total of each document of the result.
async fn shown(run: &Docproc) -> Vec<(String, String)> {
    let result = run.result().await;
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let documents = result["documents"].as_array().unwrap().iter();
    documents.map(|document| (text(&document["status"]), text(&document["extracted_data"]["total"]))).collect()
}

fn rows(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(status, total)| ((*status).to_owned(), (*total).to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_18_the_thresholds_of_the_yaml_are_applied_and_equal_passes() {
    // The test's classifier is 0.95 sure, its extractor 0.91.
    for (stage, shipped, written, asked) in [
        ("classify", "0.80", "0.80", 0),
        ("classify", "0.80", "0.95", 0),
        ("classify", "0.80", "0.951", 3),
        ("extract", "0.75", "0.91", 0),
        ("extract", "0.75", "0.92", 3),
    ] {
        let line = format!("confidence_threshold: {shipped}");
        let yaml = default_yaml();
        assert_eq!(yaml.matches(&line).count(), 1, "{line}");
        let yaml = yaml.replace(&line, &format!("confidence_threshold: {written}"));
        let run = Docproc::received(&yaml, "invoice one\nid_card two\npayslip three\n").await;
        run.rig.drain().await;
        let open = reviews(&run, &[]).await;
        assert_eq!(open.len(), asked, "{stage} {written}");
        assert!(open.iter().all(|review| review.stage == *stage));
        assert_eq!(run.rig.status(run.id).await == SubmissionStatus::Completed, asked == 0, "{stage} {written}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_18_the_shipped_thresholds_are_those_of_the_seed() {
    let run = Docproc::received(&default_yaml(), "invoice? one\nid_card blurred\n").await;
    run.rig.drain().await;
    let open = reviews(&run, &[]).await;
    assert_eq!(open[0].reasons, ["confidence 0.40 is below 0.80"]);
    run.rig.engine.decide(open[0].id, None, &Decision::Accepted).await.unwrap();
    run.rig.drain().await;
    assert_eq!(reviews(&run, &[]).await[0].reasons, ["confidence 0.50 is below 0.75"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_19_an_operators_type_re_enters_after_the_classification() {
    let run = Docproc::received(&default_yaml(), "invoice? one\nid_card two\n").await;
    run.rig.drain().await;
    let open = reviews(&run, &["classification"]).await;
    assert_eq!(open.len(), 1);
    assert_eq!((&*open[0].queue, &*open[0].stage), ("task.classification", "classify"));
    assert_eq!(run.outcomes("classify").await[0].status, OutcomeStatus::Review);
    assert!(!run.rig.status(run.id).await.is_final(), "it waits");

    run.rig.engine.decide(open[0].id, Some("ana"), &corrected(json!({"doc_type": "receipt"}))).await.unwrap();
    let outcome = run.outcomes("classify").await.remove(0);
    assert_eq!((outcome.status, outcome.confidence), (OutcomeStatus::Completed, Some(1.0)));
    let output = run.output(&outcome).await;
    assert_eq!((&output["doc_type"], &output["ocr_text"]), (&json!("receipt"), &json!("invoice? one")));
    assert_eq!((&output["decided"]["by"], &output["decided"]["verdict"]), (&json!("ana"), &json!("corrected")));
    run.rig.drain().await;
    let result = run.result().await;
    assert_eq!(result["documents"][0]["doc_type"], "receipt");
    assert_eq!(run.rig.status(run.id).await, SubmissionStatus::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_19_what_is_rejected_has_failed_for_that_reason() {
    let run = Docproc::received(&default_yaml(), "invoice one\nid_card blurred\n").await;
    run.rig.drain().await;
    let open = reviews(&run, &[]).await;
    let blank = Decision::Rejected { reason: "a blank page".to_owned() };
    run.rig.engine.decide(open[0].id, Some("ana"), &blank).await.unwrap();
    run.rig.drain().await;
    let outcome = run.outcomes("extract").await.remove(1);
    assert_eq!(outcome.status, OutcomeStatus::Failed);
    assert_eq!(outcome.error.unwrap().message, "a blank page");
    assert_eq!(run.counts("extraction").await, (2, 2, true), "it arrived, as failed");
    assert_eq!(run.rig.status(run.id).await, SubmissionStatus::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_19_a_submission_that_goes_on_completes_with_the_gap_and_says_so() {
    let run = completed_with_gaps().await;
    assert_eq!(shown(&run).await, rows(&[("completed", "12.50"), ("review", "12.50"), ("review", "12.50")]));
    assert_eq!((run.consolidations(), reviews(&run, &[]).await.len()), (1, 2));

    let open = reviews(&run, &["id_card"]).await;
    run.rig.engine.decide(open[0].id, Some("ana"), &total("7.00")).await.unwrap();
    assert!(!run.rig.status(run.id).await.is_final(), "it is at work again");
    run.rig.drain().await;
    assert_eq!(shown(&run).await, rows(&[("completed", "12.50"), ("completed", "7.00"), ("review", "12.50")]));
    assert_eq!(run.consolidations(), 2, "the result was replaced once");
    assert_eq!(run.rig.status(run.id).await, SubmissionStatus::Completed);
    let confidence = run.outcomes("extract").await[1].confidence;
    assert_eq!(confidence, Some(1.0));
    let again = run.rig.engine.decide(open[0].id, Some("ana"), &total("8.00")).await.unwrap_err();
    assert!(matches!(&again, EngineError::Taken(why) if why.contains("corrected by ana")), "{again}");
    run.rig.drain().await;
    assert_eq!(run.consolidations(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_19_a_decision_before_the_end_is_in_the_first_result() {
    let run = Docproc::received(&going_on(), DOUBTFUL).await;
    run.pause("q.extraction_aggregator").await;
    run.rig.drain().await;
    let open = reviews(&run, &[]).await;
    assert_eq!(open.len(), 2);
    for review in &open {
        run.rig.engine.decide(review.id, None, &Decision::Accepted).await.unwrap();
    }
    run.resume("q.extraction_aggregator").await;
    run.rig.drain().await;
    assert_eq!(run.consolidations(), 1);
    assert_eq!(shown(&run).await, rows(&[("completed", "12.50"); 3]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_19_decisions_at_the_same_moment_are_both_in_the_result() {
    let run = completed_with_gaps().await;
    let mut open = reviews(&run, &[]).await;
    // Documents are extracted side by side, so the questions come in any order.
    open.sort_by_key(|review| review.item);
    let (one, two) = (total("1.00"), total("2.00"));
    let engine = &run.rig.engine;
    let (left, right) = tokio::join!(engine.decide(open[0].id, None, &one), engine.decide(open[1].id, None, &two));
    left.unwrap();
    right.unwrap();
    run.rig.drain().await;
    assert_eq!(shown(&run).await, rows(&[("completed", "12.50"), ("completed", "1.00"), ("completed", "2.00")]));
    assert_eq!(run.rig.status(run.id).await, SubmissionStatus::Completed);
}

/// While workers are at it: whatever a decision meets, it reaches the result.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_19_corrections_meet_running_work_and_each_other() {
    let run = completed_with_gaps().await;
    let documents: Vec<Item> = run.documents().await;
    let correct = async |document: &Item, value: String| {
        let decision = total(&value);
        run.rig.engine.decide_item(run.id, document.id, Some("ana"), &decision).await.unwrap();
    };
    let deciding = async {
        for round in 0..15 {
            tokio::join!(
                correct(&documents[0], format!("{round}.00")),
                correct(&documents[1], format!("{round}.01")),
                correct(&documents[2], format!("{round}.02")),
            );
            tokio::time::sleep(Duration::from_millis(fastrand::u64(0..10))).await;
        }
    };
    let working = async {
        for _ in 0..5 {
            run.rig.drain().await;
        }
    };
    tokio::join!(deciding, working);
    run.rig.drain().await;
    assert_eq!(shown(&run).await, rows(&[("completed", "14.00"), ("completed", "14.01"), ("completed", "14.02")]));
    assert_eq!(run.rig.status(run.id).await, SubmissionStatus::Completed);
    assert!(run.rig.jobs().await.is_empty());
    assert!(reviews(&run, &[]).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_19_two_fields_of_one_document_at_the_same_moment_are_both_kept() {
    let run = completed_with_gaps().await;
    let document = run.documents().await.remove(0).id;
    let engine = &run.rig.engine;
    let (number, date) = (corrected(json!({"number": "7"})), corrected(json!({"date": "2026-01-02"})));
    let (one, two) = tokio::join!(
        engine.decide_item(run.id, document, Some("ana"), &number),
        engine.decide_item(run.id, document, Some("bo"), &date),
    );
    one.unwrap();
    two.unwrap();
    let output = run.output(&run.outcomes("extract").await[0]).await;
    assert_eq!((&output["number"], &output["date"]), (&json!("7"), &json!("2026-01-02")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_19_a_document_that_nobody_asked_about_is_corrected_and_corrected_again() {
    let run = Docproc::received(&default_yaml(), "invoice one\nid_card two\n").await;
    run.rig.drain().await;
    assert_eq!(run.rig.status(run.id).await, SubmissionStatus::Completed);
    let document = run.documents().await.remove(1).id;
    for (round, value) in ["7.00", "8.00"].into_iter().enumerate() {
        run.rig.engine.decide_item(run.id, document, Some("ana"), &total(value)).await.unwrap();
        run.rig.drain().await;
        assert_eq!(shown(&run).await, rows(&[("completed", "12.50"), ("completed", value)]));
        assert_eq!(run.consolidations(), 2 + round);
    }
    let blank = Decision::Rejected { reason: "not ours".to_owned() };
    run.rig.engine.decide_item(run.id, document, Some("ana"), &blank).await.unwrap();
    run.rig.drain().await;
    assert_eq!(shown(&run).await[1].0, "failed");
    run.rig.engine.decide_item(run.id, document, Some("ana"), &Decision::Accepted).await.unwrap();
    run.rig.drain().await;
    assert_eq!(shown(&run).await[1], ("completed".to_owned(), "8.00".to_owned()), "what it was before it was rejected");
    let all = run.rig.store().reviews(ReviewFilter::default()).await.unwrap();
    assert_eq!(all.len(), 4, "each decision is kept");
    assert!(all.iter().all(|review| review.assigned_to.as_deref() == Some("ana") && review.decision.is_some()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_19_what_cannot_be_decided_is_refused_and_stores_nothing() {
    let run = completed_with_gaps().await;
    let before = run.rig.events().await.len();
    let page = run.items(Some(bindery_core::item::ItemKind::Page)).await.remove(0).id;
    let open = reviews(&run, &[]).await.remove(0).id;
    let refused = |error: EngineError| error.to_string();
    let file = run.items(Some(bindery_core::item::ItemKind::File)).await.remove(0).id;
    let no_result = run.rig.engine.decide_item(run.id, file, None, &Decision::Accepted).await.unwrap_err();
    assert!(refused(no_result).contains("has no result yet"));
    let not_fields = run.rig.engine.complete_review(open, None, json!("yes")).await.unwrap_err();
    assert!(refused(not_fields).contains("as an object, found \"yes\""));
    let unknown =
        run.rig.engine.decide_item(run.id, bindery_core::ItemId::from_raw(999), None, &Decision::Accepted).await;
    assert!(refused(unknown.unwrap_err()).contains("there is no item_999"));
    assert_eq!(run.rig.events().await.len(), before);
    // A page is corrected like a document: everything after it runs again.
    run.rig.engine.decide_item(run.id, page, None, &corrected(json!({"doc_type": "letter"}))).await.unwrap();
    run.rig.drain().await;
    assert_eq!(run.result().await["documents"][0]["doc_type"], "letter");
    assert_eq!(reviews(&run, &[]).await.len(), 2, "what was asked about documents that were read again is asked once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_22_a_task_is_claimed_by_one_operator_and_comes_back_after_120_seconds() {
    let run = Docproc::on(Rig::with_manual_clock, &default_yaml(), "id_card blurred\n").await;
    run.rig.drain().await;
    let id = reviews(&run, &[]).await.remove(0).id;
    let engine = &run.rig.engine;
    let claimed = engine.claim_review(id, "ana").await.unwrap();
    assert_eq!((claimed.status, claimed.assigned_to.as_deref()), (ReviewStatus::Assigned, Some("ana")));
    let refused = engine.claim_review(id, "bo").await.unwrap_err();
    assert!(matches!(&refused, EngineError::Taken(why) if *why == format!("{id} is assigned to ana")), "{refused}");
    let refused = engine.decide(id, Some("bo"), &Decision::Accepted).await.unwrap_err();
    assert_eq!(refused.to_string(), format!("{id} is assigned to ana"));
    run.rig.clock.advance(Duration::from_secs(119));
    assert!(engine.claim_review(id, "bo").await.is_err());
    run.rig.clock.advance(Duration::from_secs(1));
    assert_eq!(reviews(&run, &[]).await[0].status, ReviewStatus::Pending);
    engine.claim_review(id, "bo").await.unwrap();
    assert!(engine.decide(id, Some("ana"), &Decision::Accepted).await.is_err(), "ana was too slow");
    engine.decide(id, Some("bo"), &Decision::Accepted).await.unwrap();
    run.rig.drain().await;
    assert_eq!(run.rig.status(run.id).await, SubmissionStatus::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_22_tasks_are_found_by_skill_the_urgent_first_then_the_old() {
    let run = Docproc::received(&default_yaml(), "invoice? one\n").await;
    let file = run.rig.file("more.txt", "id_card blurred\n").await;
    let second = run.rig.submit(Intake::new("default", vec![file.clone()])).await;
    let urgent = run.rig.submit(Intake { priority: 9, ..Intake::new("default", vec![file]) }).await;
    run.rig.drain().await;
    let of = |found: Vec<Review>| found.into_iter().map(|review| review.submission).collect::<Vec<_>>();
    assert_eq!(of(reviews(&run, &["classification"]).await), [run.id]);
    assert_eq!(of(reviews(&run, &["extraction", "id_card"]).await), [urgent, second]);
    assert_eq!(of(reviews(&run, &["extraction", "invoice"]).await), []);
    assert_eq!(of(reviews(&run, &[]).await)[0], urgent);
}
