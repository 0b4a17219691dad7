//! Matters processed through the real engine: one reading for all appearances.

use crate::{
    hall::{CITY, item, meeting},
    office::{Office, Scribe, lasting},
};
use bindery_civic::records::Civic as _;
use bindery_civic::records::{CivicChanges, CivicJob, QueueStatus};
use bindery_civic::vendor::{VendorItem, VendorMeeting};
use jiff::civil::date;

const PAGES: [(&str, &str); 3] =
    [("/draft.txt", "The first draft."), ("/report.txt", "The report of staff."), ("/final.txt", "The final text.")];

/// The matter on the agenda of a meeting, with these documents.
fn appears(office: &Office, id: &str, day: i8, title: &str, documents: &[(&str, &str)]) -> VendorMeeting {
    let attachments = documents.iter().map(|(name, path)| office.document(name, path)).collect();
    let item = VendorItem {
        attachments,
        matter_file: Some("ORD 2026-7".to_owned()),
        matter_type: Some("Ordinance".to_owned()),
        ..item(&format!("{id}-1"), title, 1)
    };
    VendorMeeting { items: vec![item], has_agenda: true, ..meeting(id, "City Council", date(2026, 3, day), 18) }
}

/// Only the matter's job, as if the meetings' jobs were done elsewhere.
async fn only_the_matter(office: &Office, item_ids: Vec<String>) {
    let jobs = office.hall.store.jobs(bindery_store::query::JobFilter::default()).await.unwrap();
    for view in jobs {
        office.hall.store.cancel_job(view.job.id).await.unwrap();
    }
    let (matter, meeting) = (office.matter().await, office.hall.meeting("2").await);
    let mut changes = CivicChanges::of_city(CITY);
    changes.jobs.push(CivicJob::matter(&matter.id, &meeting.id, item_ids, 10).forced());
    office.hall.store.civic().apply(vec![changes]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_59_a_matter_is_read_once_with_the_documents_of_all_its_appearances() {
    let office = Office::new(&PAGES, Scribe::willing()).await;
    let first = appears(
        &office,
        "1",
        9,
        "Ordinance on parking",
        &[("Ordinance Ver1", "/draft.txt"), ("Report", "/report.txt")],
    );
    let mut second =
        appears(&office, "2", 23, "Ordinance on parking in Mill Street", &[("Ordinance Ver2", "/final.txt")]);
    second.items[0].body_text = Some("Second reading.".to_owned());
    office.hall.visit(vec![first, second]).await;
    only_the_matter(&office, Vec::new()).await;
    office.work().await;
    assert_eq!(office.scribe.asked.lock().unwrap().len(), 1);
    let request = office.scribe.request("Ordinance");
    assert_eq!(request.title, "Ordinance on parking in Mill Street", "the newest appearance stands for all");
    let names: Vec<&str> = request.documents.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["Report", "Ordinance Ver2"], "of two versions the last, and what only the first had");
    assert_eq!(request.body.as_deref(), Some("Second reading."));
    let matter = office.matter().await;
    assert_eq!(matter.canonical_summary.as_deref(), Some("Ordinance on parking in Mill Street: 37 characters"));
    assert!(matter.summary_hash.is_some());
    assert_eq!(matter.summary_hash, matter.attachment_hash);
    assert_eq!(matter.metadata["summary_of"]["notes"][0], "it has also been called \"Ordinance on parking\"");
    for id in ["1", "2"] {
        let item = office.item(id, "Ordinance").await;
        assert_eq!(item.summary, matter.canonical_summary, "meeting {id}");
        assert_eq!(item.summary_of.as_ref().unwrap().method, "matter");
    }
    let told = office.item("1", "Ordinance").await.summary_of.unwrap().notes;
    assert!(told.last().unwrap().contains("another appearance"), "{told:?}");
    let tally = office.tally();
    assert_eq!((tally.items_processed, tally.items_new, tally.matters_summarised), (2, 2, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_59_appearances_with_a_summary_keep_it_and_the_same_documents_are_not_read_again() {
    let office = Office::new(&PAGES, Scribe::willing()).await;
    let first = appears(&office, "1", 9, "Ordinance on parking", &[("Ordinance", "/draft.txt")]);
    office.hall.visit(vec![first.clone()]).await;
    assert!(office.work().await.is_empty());
    assert_eq!(office.scribe.titles().len(), 1, "the meeting's job made it, and the matter's found it");
    let before = office.item("1", "Ordinance").await;
    let second = appears(&office, "2", 23, "Ordinance on parking, second reading", &[("Ordinance", "/final.txt")]);
    office.hall.visit(vec![first, second]).await;
    assert!(office.work().await.is_empty());
    assert_eq!(office.scribe.titles().len(), 2);
    assert_eq!(office.item("1", "Ordinance").await.summary, before.summary, "what was before the council then");
    let matter = office.matter().await;
    assert_eq!(matter.canonical_summary, office.item("2", "Ordinance").await.summary);
    assert_eq!(matter.summary_hash, matter.attachment_hash);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_59_ids_are_checked_and_a_matter_that_nobody_can_read_says_why() {
    let office = Office::new(&PAGES, Scribe::new(|_, _| Some(lasting("the model refuses it")))).await;
    let told = [appears(&office, "2", 9, "Ordinance on parking", &[("Ordinance", "/draft.txt")])];
    office.hall.visit(told.to_vec()).await;
    only_the_matter(&office, vec!["paloaltoCA_gone".to_owned()]).await;
    let mut changes = CivicChanges::of_city(CITY);
    changes.jobs.push(CivicJob::matter("paloaltoCA_0000", "paloaltoCA_1", Vec::new(), 1));
    office.hall.store.civic().apply(vec![changes]).await.unwrap();
    let mut foreign = CivicChanges::of_city(CITY);
    foreign.jobs.push(CivicJob::matter("oaklandCA_0000", "oaklandCA_1", Vec::new(), 1));
    assert!(office.hall.store.civic().apply(vec![foreign]).await.is_err(), "of another city");
    office.work().await;
    assert_eq!(office.scribe.titles(), ["Ordinance on parking"], "an id that is gone means all appearances");
    let queue = office.hall.queue().await;
    let mut failed: Vec<String> = queue
        .iter()
        .filter(|job| job.status == QueueStatus::Failed)
        .filter_map(|job| job.error_message.clone())
        .collect();
    failed.sort();
    assert!(failed.iter().any(|message| message.contains("the model refuses it")), "{failed:?}");
    assert!(failed.iter().any(|message| message.contains("paloaltoCA_0000: there is no such matter")), "{failed:?}");
    assert_eq!(office.matter().await.canonical_summary, None);
}
