//! Work is done once: what was found before is taken over, and what people have decided follows the document.

use crate::desk::Desk;
use bindery_core::{
    ContentHash, SubmissionId,
    event::kind,
    review::{Decision, Review, ReviewStatus},
    submission::SubmissionStatus,
};
use bindery_engine::{Engine, Parts, intake::Intake, reuse::state_anew, view};
use bindery_fields::{DocTypes, extract::Templates};
use bindery_pipeline::{documents::Knowledge, intake, registry_with};
use bindery_store::{
    blobs::Blobs,
    query::{EventFilter, ReviewFilter},
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, sync::Arc};

/// Its sums do not agree: 100.00 and 19.00 are not 191.00.
fn invoice(number: &str) -> String {
    format!(
        "<html><body><p>Nordwind Papier GmbH</p><h1>Invoice</h1><p>Invoice number: {number}</p>\
         <p>Invoice date: 14 March 2026</p><p>Net total: 100.00 EUR</p><p>VAT 19 %: 19.00 EUR</p>\
         <p>Grand total: 191.00 EUR</p><p>Please pay within 30 days.</p></body></html>"
    )
}

const LETTER: &str = "Birch Paper Ltd\n\nDear Sir or Madam,\n\nthank you for your letter of last week. We shall come back \
    to you as soon as we can.\n\nYours sincerely,\nAnna Birch\n";

/// How many results of each stage were worked out for a submission, and how many were taken over.
async fn work_of(engine: &Engine, id: SubmissionId) -> BTreeMap<String, (u64, u64)> {
    // What a person is asked about is told by the question.
    let kinds = vec![kind::OUTCOME_RECORDED.into(), kind::REVIEW_REQUESTED.into()];
    let filter = EventFilter { kinds, submission: Some(id) };
    let events = engine.store().read_events(bindery_core::EventSeq::START, filter, 10_000).await.unwrap();
    let mut work: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for event in events {
        let data: Value = serde_json::from_str(&event.data).unwrap();
        let (done, taken) = work.entry(data["stage"].as_str().unwrap().to_owned()).or_default();
        if data["takenOverFrom"].is_null() { *done += 1 } else { *taken += 1 }
    }
    work
}

fn work<const N: usize>(stages: [(&str, (u64, u64)); N]) -> BTreeMap<String, (u64, u64)> {
    stages.into_iter().map(|(stage, counts)| (stage.to_owned(), counts)).collect()
}

/// All stages of `documents`, each with these counts but the last, which is always done.
fn all_stages(counts: (u64, u64)) -> BTreeMap<String, (u64, u64)> {
    let mut all = work(["split", "read", "classify", "combine", "group", "extract"].map(|stage| (stage, counts)));
    all.insert("consolidate".to_owned(), (1, 0));
    all
}

async fn reviews(engine: &Engine, statuses: &[ReviewStatus]) -> Vec<Review> {
    let filter = ReviewFilter { statuses: statuses.to_vec(), ..ReviewFilter::default() };
    engine.store().reviews(filter).await.unwrap()
}

async fn documents(engine: &Engine, id: SubmissionId) -> Vec<Value> {
    let result = view::result(engine, id).await.unwrap().unwrap();
    result["documents"].as_array().unwrap().clone()
}

fn corrected(fields: &Value) -> Decision {
    Decision::Corrected { fields: fields.as_object().unwrap().clone() }
}

/// Takes the folder in as `change` says, and works until it is done.
async fn run(desk: &Desk, change: impl FnOnce(&mut Intake)) -> SubmissionId {
    let taken = intake::take_in(&desk.engine, &[desk.folder()]).await.unwrap();
    let mut intake = Intake::new("documents", taken.files);
    change(&mut intake);
    let id = desk.engine.submit(intake).await.unwrap().id();
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s004_39_a_folder_with_one_more_file_costs_that_file_and_decisions_stay() {
    let desk = Desk::new().await;
    for place in 0..3 {
        desk.write(&format!("{place}.html"), invoice(&format!("2026-{place}")).as_bytes());
    }
    let first = run(&desk, |_| ()).await;
    assert_eq!(work_of(&desk.engine, first).await, all_stages((3, 0)));
    let mut asked = Vec::new();
    for review in reviews(&desk.engine, &ReviewStatus::OPEN).await {
        let about = desk.engine.read_payload(&review.input).await.unwrap();
        asked.push((about["file"].as_str().unwrap().to_owned(), review));
    }
    asked.sort_by(|one, other| one.0.cmp(&other.0));
    let asked: Vec<Review> = asked.into_iter().map(|(_, review)| review).collect();
    assert_eq!(asked.len(), 3);
    let total = corrected(&json!({"grand_total": "119.00 EUR"}));
    desk.engine.decide(asked[0].id, Some("marta"), &total).await.unwrap();
    desk.engine
        .decide(asked[1].id, Some("marta"), &Decision::Rejected { reason: "not ours".to_owned() })
        .await
        .unwrap();
    desk.finish(first).await;
    let keys = json!(documents(&desk.engine, first).await);

    // One is called something else now, and one is new.
    fs::rename(desk.folder().join("0.html"), desk.folder().join("renamed.html")).unwrap();
    desk.write("new.txt", LETTER.as_bytes());
    let second = run(&desk, |_| ()).await;
    assert_eq!(work_of(&desk.engine, second).await, all_stages((1, 3)), "only the new file was worked on");
    let found = documents(&desk.engine, second).await;
    let of = |file: &str| found.iter().find(|one| one["file"] == file).unwrap_or_else(|| panic!("{file}: {found:#?}"));
    let kept = of("renamed.html");
    assert_eq!((&kept["extracted_data"]["grand_total"], &kept["status"]), (&json!("119.00"), &json!("completed")));
    assert_eq!((&kept["evidence"]["grand_total"]["tier"], &kept["decided"]["by"]), (&json!("person"), &json!("marta")));
    assert_eq!((&of("1.html")["status"], &of("1.html")["error"]), (&json!("failed"), &json!("not ours")));
    assert_eq!(of("2.html")["status"], "review");
    assert_eq!(kept["document_id"], "doc_4_1", "it has the place of its file here: {found:#?}");
    assert_eq!(keys[0]["document_id"], "doc_1_1");
    let text = view::result(&desk.engine, second).await.unwrap().unwrap();
    let file = text["files"].as_array().unwrap().iter().find(|file| file["name"] == "renamed.html").unwrap().clone();
    let artifact = desk.engine.store().artifact(second, file["json"].as_str().unwrap()).await.unwrap().unwrap();
    let document: Value = serde_json::from_slice(&desk.engine.blobs().get(artifact.hash).await.unwrap()).unwrap();
    assert_eq!(artifact.key, format!("text-docs/{}.json", document["documentId"].as_str().unwrap()));

    // What nobody has decided is one question, wherever it was asked.
    let open = reviews(&desk.engine, &ReviewStatus::OPEN).await;
    let about: Vec<_> = open.iter().filter(|review| review.subject == asked[2].subject).collect();
    assert_eq!(about.iter().map(|review| review.submission).collect::<Vec<_>>(), [first, second]);
    desk.engine.decide(about[1].id, Some("noor"), &total).await.unwrap();
    for id in [first, second] {
        assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
        let found = documents(&desk.engine, id).await;
        let document = found.iter().find(|one| one["file"] == "2.html").unwrap();
        assert_eq!(
            (&document["extracted_data"]["grand_total"], &document["decided"]["by"]),
            (&json!("119.00"), &json!("noor"))
        );
    }
    let third = run(&desk, |_| ()).await;
    // The letter, if it is doubted, is the question that is open already.
    let open = reviews(&desk.engine, &ReviewStatus::OPEN).await;
    let of = |id: SubmissionId| open.iter().filter(move |review| review.submission == id).map(|review| review.subject);
    assert!(of(third).all(|subject| subject.is_some() && of(second).any(|other| other == subject)), "{open:#?}");
    assert_eq!(work_of(&desk.engine, third).await["read"], (0, 4));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_passes_from_one_owner_to_another_and_anew_is_anew() {
    let desk = Desk::new().await;
    desk.write("a.html", invoice("2026-1").as_bytes());
    let ann = run(&desk, |intake| intake.owner = Some("ann".to_owned())).await;
    let asked = reviews(&desk.engine, &ReviewStatus::OPEN).await.remove(0);
    desk.engine.decide(asked.id, None, &corrected(&json!({"grand_total": "119.00"}))).await.unwrap();
    desk.finish(ann).await;
    for owner in [Some("ben"), None] {
        let id = run(&desk, |intake| intake.owner = owner.map(str::to_owned)).await;
        assert_eq!(work_of(&desk.engine, id).await, all_stages((1, 0)), "{owner:?}");
        assert_eq!(documents(&desk.engine, id).await[0]["extracted_data"]["grand_total"], "191.00");
    }
    let ann_again = |intake: &mut Intake| intake.owner = Some("ann".to_owned());
    assert_eq!(work_of(&desk.engine, run(&desk, ann_again).await).await, all_stages((0, 1)));
    let only_reader = run(&desk, |intake| {
        ann_again(intake);
        state_anew(&mut intake.metadata, Some(&["page_reader".to_owned()]));
    })
    .await;
    let mut expected = all_stages((0, 1));
    expected.insert("read".to_owned(), (1, 0));
    assert_eq!(work_of(&desk.engine, only_reader).await, expected, "what it found is what was found before");
    let anew = run(&desk, |intake| {
        ann_again(intake);
        state_anew(&mut intake.metadata, None);
    })
    .await;
    assert_eq!(work_of(&desk.engine, anew).await, all_stages((1, 0)));
    let document = documents(&desk.engine, anew).await.remove(0);
    assert_eq!(document["extracted_data"]["grand_total"], "119.00", "a correction outlives the work: {document:#}");
    assert_eq!(document["status"], "completed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_whose_bytes_are_gone_is_done_again() {
    let desk = Desk::new().await;
    desk.write("a.html", invoice("2026-1").as_bytes());
    let first = run(&desk, |_| ()).await;
    let read = desk.engine.store().outcomes(first, Some(&"read".into())).await.unwrap().remove(0);
    let read = desk.engine.read_payload(&read.output).await.unwrap();
    let page: ContentHash = read["content"].as_str().unwrap().parse().unwrap();
    assert!(desk.engine.blobs().delete(page).await.unwrap());
    let second = run(&desk, |_| ()).await;
    let work = work_of(&desk.engine, second).await;
    assert_eq!((work["split"], work["read"]), ((0, 1), (1, 0)), "{work:?}");
    assert!(desk.engine.blobs().contains(page).await.unwrap());
    assert_eq!(documents(&desk.engine, second).await.len(), 1);
}

/// The same store with other types of documents.
fn engine_with_types(desk: &Desk, types: &[(&str, String)]) -> Engine {
    let folder = desk.dir.path().join("types");
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in types {
        fs::write(folder.join(name), text).unwrap();
    }
    let doctypes = DocTypes::shipped().unwrap().with_folder(&folder).unwrap();
    let registry = registry_with(Knowledge::new(doctypes, Templates::default()));
    let (store, blobs) = (Arc::clone(desk.engine.store()), Arc::clone(desk.engine.blobs()));
    Engine::new(Parts::new(store, blobs as Arc<dyn Blobs>, registry))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_type_runs_exactly_what_depends_on_it() {
    let mut desk = Desk::new().await;
    desk.write("a.html", invoice("2026-1").as_bytes());
    desk.write("b.txt", LETTER.as_bytes());
    let first = run(&desk, |_| ()).await;
    let asked = reviews(&desk.engine, &ReviewStatus::OPEN).await;
    let asked = asked.into_iter().find(|review| review.skills.iter().any(|skill| &**skill == "invoice")).unwrap();
    desk.engine.decide(asked.id, Some("marta"), &corrected(&json!({"grand_total": "119.00"}))).await.unwrap();
    desk.finish(first).await;
    assert_eq!(desk.engine.changed_results(first).await.unwrap().changed(), 0);

    let more = "  purchase_order: {type: string, labels: [Purchase order]}\n";
    let text = DocTypes::shipped_text("invoice").unwrap().replacen("fields:\n", &format!("fields:\n{more}"), 1);
    assert!(text.contains("purchase_order: {type: string, labels"), "{text}");
    desk.engine = engine_with_types(&desk, &[("invoice.yaml", text)]);
    let changed = desk.engine.changed_results(first).await.unwrap();
    let counts: Vec<(&str, u64, u64)> =
        changed.stages.iter().map(|one| (&*one.stage, one.changed, one.results)).collect();
    let expected =
        [("split", 0, 2), ("read", 0, 2), ("classify", 0, 2), ("combine", 0, 2), ("group", 2, 2), ("extract", 1, 2)];
    assert_eq!(counts, expected, "pages are recognised as before");

    let again = desk.engine.intake_again(first).await.unwrap();
    let second = desk.engine.submit(again).await.unwrap().id();
    assert_eq!(desk.finish(second).await, SubmissionStatus::Completed);
    let work = work_of(&desk.engine, second).await;
    assert_eq!((work["read"], work["classify"]), ((0, 2), (0, 2)), "{work:?}");
    assert_eq!((work["group"], work["extract"]), ((2, 0), (1, 1)), "{work:?}");
    let found = documents(&desk.engine, second).await;
    let document = found.iter().find(|one| one["file"] == "a.html").unwrap();
    assert_eq!(document["extracted_data"]["grand_total"], "119.00", "the correction stands: {document:#}");
    assert_eq!(document["decided"]["by"], "marta");
    assert_eq!(desk.engine.changed_results(second).await.unwrap().changed(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_added_to_a_submission_that_has_ended_or_is_at_work() {
    let desk = Desk::new().await;
    desk.write("a.html", invoice("2026-1").as_bytes());
    let id = run(&desk, |_| ()).await;
    desk.write("b.txt", LETTER.as_bytes());
    desk.write("c.html", invoice("2026-2").as_bytes());
    let taken = intake::take_in(&desk.engine, &[desk.folder()]).await.unwrap();
    let added = desk.engine.add_files(id, taken.files.clone()).await.unwrap();
    assert_eq!((added.added, added.known), (vec!["b.txt".to_owned(), "c.html".to_owned()], vec!["a.html".to_owned()]));
    assert!(!desk.engine.store().submission(id).await.unwrap().unwrap().status.is_final());
    // While they wait, one more comes.
    desk.write("d.html", invoice("2026-3").as_bytes());
    let more = intake::take_in(&desk.engine, &[desk.folder().join("d.html")]).await.unwrap();
    assert_eq!(desk.engine.add_files(id, more.files).await.unwrap().added, ["d.html"]);
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    let names: Vec<String> =
        documents(&desk.engine, id).await.iter().map(|one| one["file"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["a.html", "b.txt", "c.html", "d.html"]);
    assert_eq!(work_of(&desk.engine, id).await["read"], (4, 0), "what was there is not worked on again");
    let again = desk.engine.add_files(id, taken.files).await.unwrap();
    assert_eq!((again.added.len(), again.known.len()), (0, 3));
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed, "nothing was taken up again");
    desk.engine.store().cancel_submission(id).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_content_twice_at_once_is_right_twice() {
    let desk = Desk::new().await;
    for place in 0..5 {
        desk.write(&format!("{place}.html"), invoice(&format!("2026-{place}")).as_bytes());
    }
    let (one, two) = (desk.submit("documents").await, desk.submit("documents").await);
    for id in [one, two] {
        assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    }
    let strip = |mut all: Vec<Value>| {
        for one in &mut all {
            one.as_object_mut().unwrap().shift_remove("document_id");
        }
        all
    };
    assert_eq!(strip(documents(&desk.engine, one).await), strip(documents(&desk.engine, two).await));
    let third = run(&desk, |_| ()).await;
    assert_eq!(work_of(&desk.engine, third).await, all_stages((0, 5)));
}
