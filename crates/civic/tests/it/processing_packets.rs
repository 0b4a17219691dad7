//! Which path a meeting takes, and packets: taken apart to items, or read as a whole.

use crate::{
    hall::{item, meeting},
    office::{Office, Scribe, passing, pdf},
    server::Reply,
};
use bindery_civic::records::{AgendaItem, Processing, QueueStatus};
use bindery_civic::vendor::{VendorItem, VendorMeeting};
use bindery_core::job::JobState;
use jiff::civil::date;
use std::{sync::Arc, time::Duration};

/// An agenda of titles, with something behind it that it does not point to.
fn titles() -> Vec<u8> {
    let agenda: &[&str] = &[
        "CITY COUNCIL AGENDA",
        "",
        "NEW BUSINESS",
        "",
        "1. Contract with Brook Steel, Inc. for sewer pumps",
        "",
        "2. Purchase of twelve benches for the parks",
        "",
        "3. Parking in Mill Street",
        "",
        "ADJOURNMENT",
    ];
    pdf(&[agenda, &["STAFF REPORT", "The pumps of the sewer are old."]])
}

/// An agenda that says what each item is about.
fn packet() -> Vec<u8> {
    pdf(&[
        &[
            "CITY OF BROOKFIELD - CITY COUNCIL AGENDA",
            "Join at https://zoom.us/j/5551234567",
            "",
            "CALL TO ORDER",
            "",
            "NEW BUSINESS",
            "",
            "1. Contract with Brook Steel, Inc. for sewer pumps",
            "",
            "Authorize the manager to sign a contract for $450,000.",
            "",
            "2. Purchase of twelve benches for the parks",
            "",
            "Approve the purchase of benches at $900 each.",
            "",
            "3. Ordinance 2026-14 on parking in Mill Street",
            "",
            "Introduce the ordinance on first reading.",
            "",
            "ADJOURNMENT",
        ],
        &["STAFF REPORT", "The pumps of the sewer are old."],
    ])
}

fn published(office: &Office, path: &str) -> VendorMeeting {
    let packet_url = Some(office.server.url(path));
    VendorMeeting { packet_url, ..meeting("1", "City Council", date(2026, 3, 9), 18) }
}

async fn office(scribe: Arc<Scribe>) -> Office {
    let (file, titles) = (packet(), titles());
    Office::answering(scribe, move |seen, _| match seen.path.as_str() {
        "/packet.pdf" | "/packet-2.pdf" => Reply::new(200).body("application/pdf", &file),
        "/titles.pdf" => Reply::new(200).body("application/pdf", &titles),
        "/letter.txt" => Reply::text("A letter of one paragraph that nobody could take apart to items of an agenda."),
        "/pumps.txt" => Reply::text("Pumps for $450,000."),
        "/locked.pdf" => {
            Reply::new(200).body("application/pdf", include_bytes!("../../../../samples/files/encrypted.pdf"))
        }
        _ => Reply::new(404),
    })
    .await
}

fn shown(items: &[AgendaItem]) -> Vec<(&str, &str, bool)> {
    items.iter().map(|one| (one.id.as_str(), one.title.as_str(), one.removed_at.is_some())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_44_items_come_first_then_the_packet_and_a_matter_is_a_matter() {
    let office = office(Scribe::willing()).await;
    let documents = vec![office.document("Staff Report", "/pumps.txt")];
    let listed = VendorItem {
        attachments: documents,
        matter_file: Some("ORD 2026-7".to_owned()),
        ..item("1", "Contract for pumps", 1)
    };
    let with_items = VendorMeeting { items: vec![listed], has_agenda: true, ..published(&office, "/packet.pdf") };
    let with_packet = VendorMeeting { vendor_id: "2".to_owned(), ..published(&office, "/packet-2.pdf") };
    let whole = VendorMeeting { vendor_id: "3".to_owned(), ..published(&office, "/letter.txt") };
    office.hall.visit(vec![with_items, with_packet, whole]).await;
    assert_eq!(office.hall.queue().await.len(), 4, "three meetings and a matter");
    assert!(office.work().await.is_empty());
    let method = async |id: &str| office.hall.meeting(id).await.processing_method.unwrap();
    assert_eq!(method("1").await, "item_level_1_items");
    assert_eq!(office.server.times("/packet.pdf"), 0, "nobody needs it");
    assert_eq!(method("2").await, "packet_3_items");
    assert_eq!(method("3").await, "packet_1_pages");
    {
        let packets = office.scribe.packets.lock().unwrap();
        assert_eq!(packets.len(), 1);
        assert!(packets[0].packet.text.contains("nobody could take apart"));
    }
    let read_whole = office.hall.meeting("3").await;
    assert_eq!(read_whole.summary.as_deref(), Some("The packet of City Council"));
    assert_eq!(read_whole.topics, ["budget"]);
    let kinds: Vec<String> = office.reports.0.lock().unwrap().iter().map(|one| one.source_url.clone()).collect();
    assert_eq!(kinds.iter().filter(|url| url.starts_with("matter://")).count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_packet_becomes_items_that_stay_whatever_is_run_again() {
    let office = office(Scribe::willing()).await;
    office.hall.visit(vec![published(&office, "/packet.pdf")]).await;
    assert!(office.work().await.is_empty());
    let items = office.hall.items("1").await;
    let titles: Vec<&str> = items.iter().map(|one| one.title.as_str()).collect();
    assert_eq!(titles.len(), 3, "{titles:?}");
    assert!(titles[0].starts_with("Contract with Brook Steel"), "{titles:?}");
    assert!(items.iter().all(|one| one.summary.is_some()), "{items:?}");
    assert!(office.scribe.request("Contract").body.unwrap().contains("$450,000"));
    let meeting = office.hall.meeting("1").await;
    assert_eq!(meeting.participation.unwrap()["virtual_url"], "https://zoom.us/j/5551234567");
    assert!(meeting.summary.unwrap().contains("Contract with Brook Steel"));

    // Another sync of the same: nothing changes, and nothing is queued.
    office.hall.visit(vec![published(&office, "/packet.pdf")]).await;
    assert!(office.hall.queue().await.is_empty());
    assert_eq!(shown(&office.hall.items("1").await), shown(&items));
    // An agenda that the vendor has and that lists nothing does not take them away.
    let empty = VendorMeeting { has_agenda: true, ..published(&office, "/packet.pdf") };
    office.hall.visit(vec![empty]).await;
    assert_eq!(shown(&office.hall.items("1").await), shown(&items));

    // The same file at another address: the same items, nothing to pay.
    office.hall.visit(vec![published(&office, "/packet-2.pdf")]).await;
    assert_eq!(office.hall.queue().await.len(), 1);
    assert!(office.work().await.is_empty());
    assert_eq!(shown(&office.hall.items("1").await), shown(&items));
    assert_eq!((office.scribe.titles().len(), office.tally().documents_read), (3, 1));

    // Once the vendor lists items itself, those of the packet are history.
    let listed = VendorItem { body_text: Some("A text.".to_owned()), ..item("7", "Contract for pumps", 1) };
    let told = VendorMeeting { items: vec![listed], has_agenda: true, ..published(&office, "/packet-2.pdf") };
    office.hall.visit(vec![told]).await;
    office.work().await;
    let all = office.hall.items("1").await;
    let live: Vec<&str> = all.iter().filter(|one| one.removed_at.is_none()).map(|one| one.title.as_str()).collect();
    assert_eq!((all.len(), live), (4, vec!["Contract for pumps"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_packet_of_which_some_items_failed_is_not_read_again() {
    let scribe = Scribe::new(|_, before| (before == 1).then(|| passing("busy")));
    let office = office(scribe).await;
    office.hall.visit(vec![published(&office, "/packet.pdf")]).await;
    let left = office.work().await;
    assert_eq!((left.len(), left[0].job.state), (1, JobState::Scheduled));
    office.hall.clock.advance(Duration::from_secs(600));
    assert!(office.work().await.is_empty());
    assert_eq!(office.scribe.titles().len(), 4);
    assert_eq!((office.server.times("/packet.pdf"), office.tally().documents_read), (1, 1));
    assert_eq!(office.hall.meeting("1").await.processing_status, Some(Processing::Completed));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_packet_that_cannot_be_read_says_why() {
    let office = office(Scribe::willing()).await;
    office.hall.visit(vec![published(&office, "/locked.pdf")]).await;
    office.work().await;
    let queue = office.hall.queue().await;
    assert_eq!(queue[0].status, QueueStatus::Failed, "another try would not help");
    let message = queue[0].error_message.clone().unwrap();
    assert!(message.contains("the file is encrypted and needs a password"), "{message}");
    let meeting = office.hall.meeting("1").await;
    assert_eq!((meeting.processing_status, meeting.processing_error), (Some(Processing::Failed), Some(message)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agenda_of_titles_is_listed_and_the_packet_read_as_a_whole() {
    let office = office(Scribe::willing()).await;
    office.hall.visit(vec![published(&office, "/titles.pdf")]).await;
    assert!(office.work().await.is_empty());
    let items = office.hall.items("1").await;
    assert_eq!((items.len(), items[2].title.as_str()), (3, "Parking in Mill Street"));
    assert!(office.scribe.packets.lock().unwrap()[0].packet.text.contains("The pumps of the sewer are old."));
    assert_eq!(office.hall.meeting("1").await.summary.as_deref(), Some("The packet of City Council"));
    office.hall.visit(vec![published(&office, "/titles.pdf")]).await;
    assert!(office.hall.queue().await.is_empty());
}
