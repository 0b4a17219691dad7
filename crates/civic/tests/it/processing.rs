//! Meetings processed through the real engine: documents from a server, items read and stored one by one.

use crate::cities::{put_cities, sync_meeting};
use crate::{
    hall::{item, meeting},
    office::{Office, Scribe, lasting, passing},
    server::Reply,
};
use bindery_civic::records::{Civic as _, Processing, QueueStatus};
use bindery_civic::{
    analyst::Extractive,
    processing::{ReadingLimits, estimate_city, events},
    vendor::{VendorItem, VendorMeeting},
};
use bindery_core::{
    error::ErrorClass,
    job::{ErrorRecord, JobState},
};
use bindery_models::{Advice, ErrorKind, ModelError};
use bindery_store::query::ClaimRequest;
use jiff::civil::date;
use std::{sync::Arc, time::Duration};

const REPORT: &str = "Staff recommends a contract with Brook Steel, Inc. for sewer pumps at $450,000.";
const BUDGET: &str = "The budget of all departments. Sewer: $900,000. Parks: $20,000.";

fn council(items: Vec<VendorItem>) -> VendorMeeting {
    VendorMeeting { items, has_agenda: true, ..meeting("1", "City Council", date(2026, 3, 9), 18) }
}

fn with(office: &Office, item: VendorItem, documents: &[(&str, &str)]) -> VendorItem {
    let attachments = documents.iter().map(|(name, path)| office.document(name, path)).collect();
    VendorItem { attachments, ..item }
}

fn pumps(office: &Office) -> VendorItem {
    with(office, item("1", "Contract for sewer pumps", 1), &[("Staff Report", "/pumps.txt")])
}

fn benches(office: &Office) -> VendorItem {
    with(office, item("2", "Purchase of benches for the parks", 2), &[("Staff Report", "/benches.txt")])
}

fn matter(item: VendorItem) -> VendorItem {
    let (matter_file, matter_type) = (Some("ORD 2026-7".to_owned()), Some("Ordinance".to_owned()));
    VendorItem { matter_file, matter_type, ..item }
}

fn pages() -> [(&'static str, &'static str); 3] {
    [("/pumps.txt", REPORT), ("/benches.txt", "Twelve benches at $900 each."), ("/budget.txt", BUDGET)]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_51_each_address_is_fetched_and_read_once_ever() {
    let office = Office::new(&pages(), Scribe::willing()).await;
    let named = |id: &str, title: &str, sequence| {
        let item = item(id, title, sequence);
        with(&office, item, &[("Budget", "/budget.txt"), ("Staff Report", "/pumps.txt")])
    };
    let many = (1..=5).map(|at| named(&at.to_string(), &format!("Contract number {at}"), at)).collect();
    let other = VendorMeeting {
        items: vec![matter(named("9", "Ordinance about pumps", 1))],
        has_agenda: true,
        ..meeting("2", "Utilities Board", date(2026, 3, 12), 9)
    };
    office.hall.visit(vec![council(many), other]).await;
    assert!(office.work().await.is_empty(), "two meetings and a matter are done");
    assert_eq!((office.server.times("/budget.txt"), office.server.times("/pumps.txt")), (1, 1));
    assert_eq!((office.tally().documents_fetched, office.tally().documents_read), (2, 2));
    assert_eq!(office.scribe.asked.lock().unwrap().len(), 6, "the matter has the summary of its item");
    let stored = office.item("1", "Contract number 1").await;
    let report = stored.attachments.iter().find(|one| one.name == "Staff Report").unwrap();
    assert_eq!((report.page_count, report.bytes), (Some(1), Some(REPORT.len() as u64)));
    assert!(report.content_sha256.is_some() && report.fetched_at.is_some());
}

/// The seed hands the shared documents over once for all; here each request that names one has it (F1).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_52_shared_documents_reach_every_request_and_own_ones_their_item() {
    let office = Office::new(&pages(), Scribe::willing()).await;
    let shared = |item: VendorItem| {
        let mut item = item;
        item.attachments.push(office.document("Budget", "/budget.txt"));
        item.body_text = Some("As discussed in February.".to_owned());
        item
    };
    office.hall.visit(vec![council(vec![shared(pumps(&office)), shared(benches(&office))])]).await;
    office.work().await;
    for (title, own) in [("Contract", REPORT), ("Purchase", "Twelve benches at $900 each.")] {
        let request = office.scribe.request(title);
        assert_eq!(request.item_id, office.item("1", title).await.id);
        assert_eq!(request.documents.len(), 1);
        assert_eq!((request.documents[0].text.trim(), request.documents[0].page_count), (own, 1));
        assert_eq!(request.shared.len(), 1, "{title}");
        assert_eq!((request.shared[0].name.as_str(), request.shared[0].text.trim()), ("Budget", BUDGET));
        // ▲ Added to the documents, not only in their place.
        assert_eq!(request.body.as_deref(), Some("As discussed in February."));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_53_an_item_with_shared_documents_alone_has_its_title_or_text_as_its_own() {
    let office = Office::new(&pages(), Scribe::willing()).await;
    let only = |id: &str, title: &str, sequence| with(&office, item(id, title, sequence), &[("Budget", "/budget.txt")]);
    let described = VendorItem {
        body_text: Some("Moves $5,000 between funds.".to_owned()),
        ..only("2", "Budget transfer for parks", 2)
    };
    office.hall.visit(vec![council(vec![only("1", "Adoption of the budget", 1), described])]).await;
    office.work().await;
    let (adoption, transfer) = (office.scribe.request("Adoption"), office.scribe.request("Budget transfer"));
    assert_eq!((adoption.documents.len(), adoption.shared.len()), (0, 1));
    assert_eq!(adoption.body.as_deref(), Some("Adoption of the budget"));
    assert_eq!(transfer.body.as_deref(), Some("Moves $5,000 between funds."));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_54_a_compilation_of_letters_is_not_read_and_says_so() {
    let letters = format!("{}\nSincerely, a resident\n", "We write about the park. ".repeat(20)).repeat(21);
    let office = Office::new(&[("/letters.txt", &letters), ("/pumps.txt", REPORT)], Scribe::willing()).await;
    let mut both = pumps(&office);
    both.attachments.push(office.document("Attachment B", "/letters.txt"));
    let alone = with(&office, item("2", "Ordinance on the park's hours", 2), &[("Attachment", "/letters.txt")]);
    office.hall.visit(vec![council(vec![both, alone])]).await;
    assert!(office.work().await.is_empty(), "nothing that another try would change");
    assert_eq!(office.scribe.titles(), ["Contract for sewer pumps"]);
    assert_eq!(office.scribe.request("Contract").documents.len(), 1);
    let read = office.item("1", "Contract").await;
    assert_eq!(read.attachments[1].filter_reason.as_deref(), Some("compilation.closings"));
    assert!(read.summary_of.unwrap().notes[0].contains("compilation of letters"));
    let unread = office.item("1", "Ordinance").await;
    assert!(unread.summary.is_none());
    assert!(unread.reading_error.unwrap().contains("compilation of letters"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_55_items_are_stored_as_they_are_done_and_a_retry_does_only_the_others() {
    // Three are answered; then the service fails, until it is well again.
    let scribe = Scribe::new(|_, before| (3..6).contains(&before).then(|| passing("the model took too long")));
    let office = Office::new(&pages(), scribe).await;
    let all = (1..=6)
        .map(|at| with(&office, item(&at.to_string(), &format!("Contract {at}"), at), &[("Report", "/pumps.txt")]));
    office.hall.visit(vec![council(all.collect())]).await;
    let left = office.work().await;
    assert_eq!((left.len(), left[0].job.state), (1, JobState::Scheduled));
    let ErrorRecord { class, kind, message, .. } = left[0].job.error.clone().unwrap();
    assert_eq!((class, kind.as_str()), (ErrorClass::Retry, "Partial"));
    assert!(message.starts_with("3 of 6 items were not read and are tried again: \"Contract"), "{message}");
    assert!(message.contains("the model took too long"), "{message}");
    let summarised =
        |items: &[bindery_civic::records::AgendaItem]| items.iter().filter(|one| one.summary.is_some()).count();
    assert_eq!(summarised(&office.hall.items("1").await), 3);
    let meeting = office.hall.meeting("1").await;
    assert_eq!(meeting.processing_status, Some(Processing::Failed));
    assert!(meeting.processing_error.unwrap().contains("Contract"));

    office.hall.clock.advance(Duration::from_secs(600));
    assert!(office.work().await.is_empty());
    assert_eq!(office.scribe.asked.lock().unwrap().len(), 9, "only three were asked again");
    assert_eq!(summarised(&office.hall.items("1").await), 6);
    assert_eq!(office.server.times("/pumps.txt"), 1);
    let meeting = office.hall.meeting("1").await;
    assert_eq!((meeting.processing_status, meeting.processing_error), (Some(Processing::Completed), None));
    assert_eq!(meeting.processing_method.as_deref(), Some("item_level_6_items"));
    assert_eq!(meeting.processed_hash, meeting.content_hash);
    assert_eq!(office.tally().cost_micros, 600, "what was answered is paid once");
}

/// ▲ A few lines about the items are the meeting's summary, which the seed leaves empty.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_56_topics_participation_and_a_few_lines_are_the_meetings() {
    let office = Office::new(&pages(), Scribe::willing()).await;
    let first = VendorItem {
        body_text: Some("Join at https://zoom.us/j/5551234567 or write to clerk@brookfield.gov.".to_owned()),
        ..item("0", "Public participation and how to join", 0)
    };
    let parks = |id: &str, title: &str, at| with(&office, item(id, title, at), &[("Report", "/benches.txt")]);
    let mut told = council(vec![first, pumps(&office), parks("3", "Playground in Riverside Park", 3)]);
    told.items.push(parks("4", "New trees for Riverside Park", 4));
    office.hall.visit(vec![told]).await;
    assert!(office.work().await.is_empty());
    let meeting = office.hall.meeting("1").await;
    assert_eq!(meeting.topics.first().map(String::as_str), Some("parks"), "{:?}", meeting.topics);
    let participation = meeting.participation.unwrap();
    assert_eq!(participation["virtual_url"], "https://zoom.us/j/5551234567");
    assert_eq!(participation["email"], "clerk@brookfield.gov");
    let lines = meeting.summary.unwrap();
    assert!(lines.contains("- Contract for sewer pumps") && lines.lines().count() <= 6, "{lines}");
    let processed = office.events(events::MEETING_PROCESSED).await;
    assert_eq!((processed.len(), &processed[0]["meetingId"]), (1, &meeting.id.into()));
}

/// A jurisdiction with settings of its own keeps only what belongs to this meeting; what was known is not erased.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_56_a_city_with_its_own_ways_takes_only_what_is_of_the_meeting() {
    let office = Office::new(&pages(), Scribe::willing()).await;
    let mut city = office.hall.city.clone();
    city.participation = Some(serde_json::json!({"email": "council@example.gov"}));
    put_cities(&office.hall.store.civic(), vec![city]).await.unwrap();
    let first = VendorItem {
        body_text: Some("Join at https://zoom.us/j/5551234567 or write to clerk@brookfield.gov.".to_owned()),
        ..item("0", "Public participation and how to join", 0)
    };
    office.hall.visit(vec![council(vec![first, pumps(&office)])]).await;
    office.work().await;
    let participation = office.hall.meeting("1").await.participation.unwrap();
    assert_eq!(participation["virtual_url"], "https://zoom.us/j/5551234567");
    assert_eq!(participation.get("email"), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_57_a_matter_has_the_summary_with_the_hash_that_it_was_made_from() {
    let office = Office::new(&pages(), Scribe::willing()).await;
    office.hall.visit(vec![council(vec![matter(pumps(&office))])]).await;
    let before = office.matter().await;
    assert_eq!((before.canonical_summary, before.summary_hash), (None, None), "the sync does not say it (F4)");
    assert!(office.work().await.is_empty());
    let (matter, item) = (office.matter().await, office.item("1", "Contract").await);
    assert_eq!((&matter.canonical_summary, &matter.canonical_topics), (&item.summary, &item.topics));
    assert!(matter.summary_hash.is_some());
    assert_eq!((&matter.summary_hash, &matter.attachment_hash), (&item.attachment_hash, &item.attachment_hash));
    assert_eq!(matter.metadata["summary_of"]["method"], "scribe/1");
    assert_eq!(office.scribe.asked.lock().unwrap().len(), 1, "the matter's own job found it done");
    assert_eq!(office.events(events::MATTER_SUMMARISED).await.len(), 1);
    assert_eq!(office.events(events::ITEM_SUMMARISED).await[0]["itemId"], item.id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_45_what_is_done_is_skipped_and_a_matters_summary_is_reused() {
    let office = Office::new(&pages(), Scribe::willing()).await;
    let first = council(vec![matter(pumps(&office)), benches(&office)]);
    office.hall.visit(vec![first.clone()]).await;
    office.work().await;
    assert_eq!(office.scribe.asked.lock().unwrap().len(), 2);
    // A third item joins; the others are done.
    let mut grown = first.clone();
    grown.items.push(with(&office, item("3", "Adoption of the budget", 3), &[("Budget", "/budget.txt")]));
    office.hall.visit(vec![grown.clone()]).await;
    office.work().await;
    assert_eq!(office.scribe.titles().len(), 3);
    // The matter comes back in another meeting, with the same documents and one more item beside it.
    let second = VendorMeeting {
        items: vec![matter(VendorItem { vendor_item_id: Some("91".to_owned()), ..pumps(&office) })],
        has_agenda: true,
        ..meeting("2", "City Council", date(2026, 3, 23), 18)
    };
    office.hall.visit(vec![grown, second]).await;
    office.work().await;
    assert_eq!(office.scribe.titles().len(), 3, "nobody was asked");
    let again = office.item("2", "Contract").await;
    assert_eq!(again.summary, office.item("1", "Contract").await.summary);
    assert_eq!(again.summary_of.unwrap().method, "matter");
}

/// The seed saves appointments without a summary; ▲ they have one line, which costs nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_48_honours_and_routine_are_stored_and_nobody_is_asked() {
    let office = Office::new(&pages(), Scribe::willing()).await;
    let body =
        |id: &str, title: &str, at| VendorItem { body_text: Some("Some words.".to_owned()), ..item(id, title, at) };
    let items = vec![
        body("1", "Proclamation: Arbor Day", 1),
        body("2", "Commendation of the library's volunteers", 2),
        body("3", "Appointment of two members to the Library Board", 3),
        body("4", "Roll Call", 4),
        pumps(&office),
    ];
    let mut told = council(items);
    told.items[4].vendor_item_id = Some("5".to_owned());
    office.hall.visit(vec![told]).await;
    assert!(office.work().await.is_empty());
    assert_eq!(office.scribe.titles(), ["Contract for sewer pumps"]);
    let honour = office.item("1", "Proclamation").await;
    assert_eq!((honour.summary, honour.filter_reason.as_deref()), (None, Some("ceremonial")));
    let appointment = office.item("1", "Appointment").await;
    assert_eq!(appointment.summary.as_deref(), Some("Appointment of two members to the Library Board"));
    assert_eq!(appointment.summary_of.unwrap().method, "title/1");
    assert_eq!(office.hall.meeting("1").await.processing_status, Some(Processing::Completed));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_58_no_text_stays_in_memory_behind_a_meeting() {
    let office = Office::new(&pages(), Scribe::willing()).await;
    office.hall.visit(vec![council(vec![pumps(&office), benches(&office)])]).await;
    office.work().await;
    let held = office.scribe.held.lock().unwrap().clone();
    assert!(held.iter().all(|texts| (1..=2).contains(texts)), "those of the items in hand: {held:?}");
    office.scribe.asked.lock().unwrap().clear();
    assert_eq!(office.workshop.texts_in_memory(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_waits_for_the_model_until_its_time_and_keeps_what_is_done() {
    let parked = |retry_at| ModelError {
        kind: ErrorKind::QuotaSpent,
        message: "the quota of the day is used up".to_owned(),
        advice: Advice::Park { until: "language model service", retry_at },
    };
    let at = crate::hall::today() + Duration::from_secs(3 * 3600);
    let scribe = Scribe::new(move |_, before| (before == 1).then(|| parked(Some(at))));
    let office = Office::new(&pages(), scribe).await;
    office.hall.visit(vec![council(vec![pumps(&office), benches(&office)])]).await;
    let limits = ReadingLimits { items_at_once: Some(1), ..ReadingLimits::default() };
    let workshop = office.workshop_with(Arc::clone(&office.scribe) as _, limits);
    let left = office.work_in(&workshop).await;
    assert_eq!((left.len(), left[0].job.state), (1, JobState::Parked));
    assert!(left[0].job.error.as_ref().unwrap().message.contains("quota"));
    assert_eq!(office.hall.meeting("1").await.processing_status, Some(Processing::Pending));
    assert!(office.item("1", "Contract").await.summary.is_some());
    assert!(office.item("1", "Purchase").await.summary.is_none());
    // It wakes by itself.
    office.hall.clock.advance(Duration::from_secs(4 * 3600));
    assert!(office.work_in(&workshop).await.is_empty());
    assert_eq!(office.scribe.titles().len(), 3, "one of them was asked twice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_gone_for_good_is_said_and_what_may_come_is_tried_again() {
    let office = Office::answering(Scribe::willing(), |seen, before| match seen.path.as_str() {
        "/pumps.txt" => Reply::text(REPORT),
        "/busy.txt" if before == 0 => Reply::new(503),
        "/busy.txt" => Reply::text("Here it is."),
        _ => Reply::new(404),
    })
    .await;
    let documents = |id: &str, title: &str, at, path| with(&office, item(id, title, at), &[("Report", path)]);
    let mut body = documents("3", "Contract with a text of its own", 3, "/gone.txt");
    body.body_text = Some("For $3,000.".to_owned());
    let items = vec![
        documents("1", "Contract that is gone", 1, "/gone.txt"),
        documents("2", "Contract that is busy", 2, "/busy.txt"),
        body,
        pumps_and_more(&office),
    ];
    office.hall.visit(vec![council(items)]).await;
    let left = office.work().await;
    let message = left[0].job.error.as_ref().unwrap().message.clone();
    assert!(message.starts_with("1 of 4 items") && message.contains("503"), "{message}");
    let gone = office.item("1", "Contract that is gone").await;
    assert!(gone.summary.is_none());
    assert!(gone.reading_error.unwrap().contains("answered with status 404"), "one sentence that says why");
    let own = office.item("1", "Contract with a text").await;
    assert!(own.summary.is_some());
    assert!(own.summary_of.unwrap().notes[0].contains("not read: Report"));
    assert!(office.item("1", "Contract with more").await.summary_of.unwrap().notes[0].contains("Exhibit"));

    office.hall.clock.advance(Duration::from_secs(600));
    assert!(office.work().await.is_empty());
    assert!(office.item("1", "Contract that is busy").await.summary.is_some());
    assert_eq!(office.server.times("/gone.txt"), 1, "nobody asks again for nothing");
    assert_eq!(office.hall.meeting("1").await.processing_status, Some(Processing::Completed));
}

fn pumps_and_more(office: &Office) -> VendorItem {
    let item = item("4", "Contract with more than one document", 4);
    with(office, item, &[("Staff Report", "/pumps.txt"), ("Exhibit", "/missing.txt")])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_model_refuses_is_said_and_does_not_hold_up_the_others() {
    let scribe = Scribe::new(|request, _| request.title.contains("benches").then(|| lasting("the model refuses it")));
    let office = Office::new(&pages(), scribe).await;
    office.hall.visit(vec![council(vec![pumps(&office), benches(&office)])]).await;
    assert!(office.work().await.is_empty());
    assert_eq!(office.item("1", "Purchase").await.reading_error.as_deref(), Some("the model refuses it"));
    assert!(office.item("1", "Contract").await.summary.is_some());
    assert_eq!(office.tally().items_failed, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_item_became_has_a_summary_of_its_own_beside_the_first() {
    let office = Office::new(&[("/pumps.txt", REPORT), ("/pumps-2.txt", "Now at $500,000.")], Scribe::willing()).await;
    office.hall.visit(vec![council(vec![matter(pumps(&office))])]).await;
    office.work().await;
    let first = office.item("1", "Contract").await;
    let changed = || {
        let item = with(&office, item("1", "Contract for more sewer pumps", 1), &[("Staff Report", "/pumps-2.txt")]);
        council(vec![matter(item)])
    };
    office.hall.visit(vec![changed()]).await;
    assert!(office.work().await.is_empty());
    let item = office.item("1", "Contract for sewer pumps").await;
    assert_eq!((&item.summary, item.revisions), (&first.summary, 1), "the snapshot stays");
    let revisions = office.hall.store.civic().item_revisions(&item.meeting_id).await.unwrap();
    assert_eq!(revisions[0].summary.as_deref(), Some("Contract for more sewer pumps: 17 characters"));
    // By the meeting's job, or by the matter's, whichever came first.
    let method = &revisions[0].summary_of.as_ref().unwrap().method;
    assert!(["scribe/1", "matter"].contains(&method.as_str()), "{method}");
    assert_eq!(office.scribe.titles().len(), 2);
    let matter = office.matter().await;
    assert_eq!(matter.canonical_summary, revisions[0].summary, "the matter shows the latest");
    assert_eq!(
        (&matter.summary_hash, &matter.attachment_hash),
        (&revisions[0].attachment_hash, &revisions[0].attachment_hash)
    );
    // Nothing more comes of it.
    assert_eq!(office.hall.visit(vec![changed()]).await.jobs_enqueued, 0);
    assert!(office.hall.queue().await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_day_a_site_is_asked_whether_anything_has_changed() {
    let office = Office::answering(Scribe::willing(), |seen, _| match seen.headers.get("if-none-match") {
        Some(tag) if tag == "\"1\"" => Reply::new(304),
        _ => Reply::text(REPORT).header("ETag", "\"1\""),
    })
    .await;
    office.hall.visit(vec![council(vec![pumps(&office)])]).await;
    office.work().await;
    let again = |id: &str| {
        let mut told = council(vec![VendorItem { title: format!("Contract {id} for pumps"), ..pumps(&office) }]);
        told.vendor_id = id.to_owned();
        told.title = Some(format!("Board {id}"));
        told.start.as_mut().unwrap().date = date(2026, 3, 10 + id.parse::<i8>().unwrap());
        told
    };
    office.hall.visit(vec![again("2")]).await;
    office.work().await;
    assert_eq!(office.server.times("/pumps.txt"), 1);
    office.hall.clock.advance(Duration::from_secs(25 * 3600));
    office.hall.visit(vec![again("3")]).await;
    office.work().await;
    let seen = office.server.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[1].headers["if-none-match"], "\"1\"");
    assert!(office.item("3", "Contract 3").await.summary.is_some());
    assert_eq!(office.tally().documents_read, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_read_is_not_news_for_the_next_sync() {
    let office = Office::new(&pages(), Scribe::willing()).await;
    office.hall.visit(vec![council(vec![matter(pumps(&office)), benches(&office)])]).await;
    office.work().await;
    let (meetings, items) = (office.hall.meetings().await, office.hall.items("1").await);
    office.hall.visit(vec![council(vec![matter(pumps(&office)), benches(&office)])]).await;
    assert_eq!((office.hall.meetings().await, office.hall.items("1").await), (meetings, items));
    assert!(office.hall.queue().await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_changes_while_it_is_read_is_read_again() {
    let office = Office::new(&[("/pumps.txt", REPORT), ("/pumps-2.txt", "Now at $500,000.")], Scribe::willing()).await;
    office.hall.visit(vec![council(vec![pumps(&office)])]).await;
    let changed = with(&office, item("1", "Contract for sewer pumps", 1), &[("Staff Report", "/pumps-2.txt")]);
    let (orchestrator, city) = (office.hall.orchestrator.clone(), office.hall.city.clone());
    *office.scribe.meanwhile.lock().unwrap() = Some(Box::new(move || {
        let told = council(vec![changed]);
        let synced = sync_meeting(&orchestrator, &city, told);
        tokio::runtime::Handle::current().block_on(synced).unwrap();
    }));
    assert!(office.work().await.is_empty());
    let item = office.item("1", "Contract").await;
    assert_eq!(item.summary.as_deref(), Some("Contract for sewer pumps: 17 characters"), "of what it has become");
    assert!(item.attachments[0].url.ends_with("/pumps-2.txt"));
    assert_eq!((office.scribe.titles().len(), item.revisions), (2, 0));
}

/// A worker that was taken for dead comes back and finds that its job is somebody else's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_lost_the_job_stores_nothing() {
    let office = Office::new(&pages(), Scribe::willing()).await;
    office.hall.visit(vec![council(vec![pumps(&office)])]).await;
    let (store, clock) = (Arc::clone(&office.hall.store), Arc::clone(&office.hall.clock));
    *office.scribe.meanwhile.lock().unwrap() = Some(Box::new(move || {
        clock.advance(Duration::from_secs(3600));
        let thief = ClaimRequest {
            worker: "thief".into(),
            queues: None,
            submissions: None,
            max: 1,
            lease: Duration::from_secs(7200),
            counts: true,
        };
        tokio::runtime::Handle::current().block_on(async {
            store.sweep().await.unwrap();
            assert_eq!(store.claim_suspects(thief).await.unwrap().len(), 1, "the lease is over");
        });
    }));
    let workshop = Arc::clone(&office.workshop);
    let worked = tokio::time::timeout(Duration::from_secs(10), office.work_in(&workshop));
    let reported = async {
        while office.reports.0.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        _ = worked => {}
        () = reported => {}
    }
    let error = office.reports.0.lock().unwrap()[0].error.clone().unwrap();
    assert!(matches!(error.0.as_str(), "LeaseLost" | "Stopped"), "{error:?}");
    let item = office.item("1", "Contract").await;
    assert_eq!((item.summary, item.reading_error), (None, None));
    assert!(office.events(events::ITEM_SUMMARISED).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_about_nothing_is_failed_at_once() {
    use bindery_civic::records::{CivicChanges, CivicJob};
    let office = Office::new(&pages(), Scribe::willing()).await;
    office.hall.visit(vec![council(Vec::new())]).await;
    let mut changes = CivicChanges::of_city(crate::hall::CITY);
    changes.jobs.push(CivicJob::meeting("paloaltoCA_nowhere", 1));
    office.hall.store.civic().apply(vec![changes]).await.unwrap();
    office.work().await;
    let queue = office.hall.queue().await;
    assert_eq!(queue[0].status, QueueStatus::Failed);
    assert_eq!(queue[0].error_message.as_deref(), Some("paloaltoCA_nowhere: there is no such meeting"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_is_estimated_without_asking_anybody() {
    let office = Office::new(&pages(), Scribe::willing()).await;
    office.hall.visit(vec![council(vec![pumps(&office)])]).await;
    office.work().await;
    let asked = office.server.seen().len();
    let mut more = council(vec![pumps(&office), benches(&office)]);
    more.items[0].title = "Contract for other pumps".to_owned();
    more.vendor_id = "2".to_owned();
    office.hall.visit(vec![more]).await;
    let estimate = estimate_city(&office.workshop, crate::hall::CITY).await.unwrap();
    assert_eq!((estimate.meetings, estimate.matters, estimate.items), (1, 0, 2));
    assert_eq!((estimate.items_estimated, estimate.documents_unread), (1, 1));
    assert_eq!((estimate.most_micros, estimate.input_tokens), (100, REPORT.len() as u64 + 1));
    assert_eq!(office.server.seen().len(), asked);
    assert_eq!(office.scribe.titles().len(), 1);
}

/// With the real rules in place of the tests' analyst.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_read_a_meeting_to_its_end() {
    let office = Office::new(&pages(), Scribe::willing()).await;
    office.hall.visit(vec![council(vec![pumps(&office), benches(&office)])]).await;
    let workshop = office.workshop_with(Arc::new(Extractive), ReadingLimits::default());
    assert!(office.work_in(&workshop).await.is_empty());
    let item = office.item("1", "Contract").await;
    assert!(item.summary.as_deref().unwrap().contains("$450,000"), "{:?}", item.summary);
    assert!(item.summary_of.unwrap().method.starts_with("extractive"));
    let meeting = office.hall.meeting("1").await;
    assert!(meeting.summary.as_deref().unwrap().contains("$450,000"), "{:?}", meeting.summary);
}
