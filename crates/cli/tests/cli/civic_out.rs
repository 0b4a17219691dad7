//! What is known of a city, shown and exported; documents of its agendas, fetched from a recording and read.

use crate::cities::{put_cities, sync_meeting};
use crate::support::Desk;
use bindery_civic::records::{Civic as _, Jurisdiction, Meeting, MeetingFilter};
use bindery_civic::{
    sync::Orchestrator,
    vendor::{Attachment, Ballot, ItemVote, VendorItem, VendorMeeting, model::MeetingStatus, model::Start},
};
use bindery_store::{
    Store,
    sqlite::{Options, SqliteStore},
};
use jiff::civil::{date, time};
use serde_json::{Value, json};
use std::{fs, path::Path, sync::Arc};

const CITY: &str = "paloaltoCA";

/// A desk with a city of which one meeting is known.
struct Office {
    desk: Desk,
    meeting: Meeting,
}

fn document(name: &str, file: &str) -> Attachment {
    Attachment { name: name.to_owned(), url: format!("https://city.example/{file}"), ..Attachment::default() }
}

fn council() -> VendorMeeting {
    let ballot = |name: &str, vote: &str| Ballot { name: name.to_owned(), vote: vote.to_owned(), person_id: None };
    let rezoning = VendorItem {
        vendor_item_id: Some("12".to_owned()),
        title: "Ordinance rezoning 400 Harbour Street to mixed use".to_owned(),
        sequence: 2,
        agenda_number: Some("2.A".to_owned()),
        section: Some("Public Hearings".to_owned()),
        matter_file: Some("ORD 2026-7".to_owned()),
        matter_type: Some("Ordinance".to_owned()),
        sponsors: vec!["Maria Ortega".to_owned()],
        attachments: vec![
            document("Staff Report", "report.pdf"),
            document("Public Comment", "letters.pdf"),
            document("Exhibit A", "gone.pdf"),
            document("Exhibit B", "locked.pdf"),
            document("Exhibit C", "members/exhibit.pdf"),
            document("Exhibit D", "huge.pdf"),
        ],
        votes: vec![ItemVote {
            motion: Some("Motion to adopt".to_owned()),
            ballots: vec![ballot("Maria Ortega", "Aye"), ballot("Sam Lee", "Nay"), ballot("Ada Roy", "Aye")],
            ..ItemVote::default()
        }],
        ..VendorItem::default()
    };
    let named = |id: &str, title: &str, sequence| VendorItem {
        vendor_item_id: Some(id.to_owned()),
        title: title.to_owned(),
        sequence,
        ..VendorItem::default()
    };
    let lease = VendorItem {
        body_text: Some("The pier is leased for ten years.".to_owned()),
        attachments: vec![document("Staff Report", "report.pdf")],
        ..named("13", "Lease of the pier", 3)
    };
    VendorMeeting {
        title: Some("City Council - Regular Meeting".to_owned()),
        start: Some(Start { date: date(2026, 3, 9), time: Some(time(18, 0, 0, 0)), note: None }),
        body: Some("City Council".to_owned()),
        location: Some("City Hall, Room 2".to_owned()),
        packet_url: Some("https://city.example/packet.pdf".to_owned()),
        agenda_url: Some("https://city.example/agenda.html".to_owned()),
        items: vec![named("11", "Roll Call", 1), rezoning, lease],
        has_agenda: true,
        ..VendorMeeting::new("1")
    }
}

fn office() -> Office {
    let desk = Desk::new();
    let folder = desk.path("bindery-data");
    fs::create_dir_all(&folder).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let meeting = runtime.block_on(async {
        let store: Arc<dyn Store> = Arc::new(
            SqliteStore::open(Options {
                domains: bindery_civic::records::DOMAINS,
                ..Options::at(folder.join("bindery.db"))
            })
            .unwrap(),
        );
        let city = Jurisdiction {
            city_key: CITY.to_owned(),
            name: "Palo Alto".to_owned(),
            state: "CA".to_owned(),
            vendor: "legistar".to_owned(),
            slug: "paloalto".to_owned(),
            tz: Some("America/Los_Angeles".to_owned()),
            ..Jurisdiction::default()
        };
        put_cities(&store.civic(), vec![city.clone()]).await.unwrap();
        let orchestrator = Orchestrator::new(Arc::clone(&store));
        let mut before = council();
        before.items[1].votes.clear();
        let mut cancelled = VendorMeeting::new("2");
        cancelled.title = Some("Planning Commission".to_owned());
        cancelled.start = Some(Start { date: date(2026, 3, 11), time: None, note: None });
        cancelled.status = Some(MeetingStatus::Cancelled);
        for meeting in [before, cancelled, council()] {
            sync_meeting(&orchestrator, &city, meeting).await.unwrap();
        }
        let filter = MeetingFilter { city_key: Some(CITY.to_owned()), ..MeetingFilter::default() };
        store.civic().meetings(filter).await.unwrap().remove(0)
    });
    let office = Office { desk, meeting };
    office.record();
    office
}

impl Office {
    fn id(&self) -> &str {
        &self.meeting.id
    }

    fn item(&self, number: &str) -> String {
        format!("{}_{number}", self.meeting.id)
    }

    /// What the city's site answers.
    fn record(&self) {
        let sample = |name: &str| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/files").join(name);
            self.desk.write(&format!("site/{name}"), fs::read(path).unwrap());
            name.to_owned()
        };
        let url = |path: &str| format!("https://city.example/{path}");
        let login = "<html><title>Sign in</title><form><input name=u><input type=password name=p></form></html>";
        let lines = [
            json!({"url": url("report.pdf"), "body": sample("report.pdf")}),
            json!({"url": url("letters.pdf"), "body": sample("budget.pdf")}),
            json!({"url": url("gone.pdf"), "status": 404}),
            json!({"url": url("locked.pdf"), "body": sample("encrypted.pdf")}),
            json!({"url": url("members/exhibit.pdf"), "text": login, "content_type": "text/html"}),
            json!({"url": url("huge.pdf"), "failure": {"too_large": {"limit": 200_000_000, "said": 2_000_000_000}}}),
            json!({"url": url("packet.pdf"), "status": 410}),
            json!({"url": url("agenda.html"), "text": "<html><body><h1>Agenda</h1><p>1. Roll Call</p></body></html>"}),
        ];
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        self.desk.write("site/recording.jsonl", lines.join("\n"));
    }

    fn json(&self, args: &[&str]) -> Value {
        let args: Vec<&str> = [&["civic"], args, &["--json"]].concat();
        self.desk.bindery(&args).ok().json()
    }
}

fn whys(documents: &Value) -> Vec<(&str, &str, &str)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned().leak() as &str;
    let documents = documents.as_array().unwrap().iter();
    documents.map(|one| (text(&one["name"]), text(&one["status"]), text(&one["why"]))).collect()
}

#[test]
fn s001_66_extract_text_writes_the_text_and_says_what_became_of_each_document() {
    let office = office();
    let item = office.item("12");
    let ran = office.desk.bindery(&["civic", "extract-text", &item, "--replay", "site", "-o", "item.txt"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let answer = ran.json();
    assert_eq!(
        whys(&answer["documents"]),
        [
            ("Staff Report", "read", ""),
            ("Public Comment", "skipped", ""),
            ("Exhibit A", "failed", "dead_link"),
            ("Exhibit B", "failed", "encrypted"),
            ("Exhibit C", "failed", "login"),
            ("Exhibit D", "failed", "too_large"),
        ]
    );
    assert_eq!(answer["documents"][1]["rule"], "attachment.public-comment");
    let reason = answer["documents"][5]["reason"].as_str().unwrap();
    assert!(reason.contains("larger than the 200.0 MB") && reason.contains("2000.0 MB"), "{reason}");
    let text = fs::read_to_string(office.desk.path("item.txt")).unwrap();
    assert!(text.starts_with("=== Staff Report ===\n\n--- PAGE 1 ---"), "{text}");
    assert_eq!(answer["text_length"], text.chars().count());
    assert!(text.starts_with(answer["preview"].as_str().unwrap()));
    assert_eq!((&answer["output"], answer["page_count"].as_u64() > Some(0)), (&"item.txt".into(), true));

    // Of a meeting, the packet; where it is gone, the agenda.
    let ran = office.desk.bindery(&["civic", "extract-text", office.id(), "--replay", "site"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let answer = ran.json();
    assert_eq!(whys(&answer["documents"]), [("Packet", "failed", "dead_link"), ("Agenda", "read", "")]);
    assert_eq!(answer["preview"], "Agenda\n\n1. Roll Call\n");

    // An address needs no store.
    let alone = Desk::new();
    let site = office.desk.path("site").display().to_string();
    let run = |url: &str| alone.bindery(&["civic", "extract-text", url, "--replay", &site]);
    let answer = run("https://city.example/report.pdf").ok().json();
    assert_eq!(answer["documents"][0]["type"], "pdf");
    run("https://city.example/gone.pdf")
        .fails_with(1, "the site: https://city.example/gone.pdf answered with status 404");
    run("https://city.example/unknown.pdf").fails_with(1, "is not in the recording");
    run("ftp://city.example/x").fails_with(2, "ftp://city.example/x");
    run("paloalto").fails_with(20, "there is no store");
}

#[test]
fn s001_66_preview_items_lists_items_and_writes_their_texts() {
    let office = office();
    let listed = office.json(&["preview-items", office.id()]);
    assert_eq!(listed["item_count"], 3);
    let treatments: Vec<&Value> = listed["items"].as_array().unwrap().iter().map(|item| &item["treatment"]).collect();
    assert_eq!(treatments, ["skip", "full", "full"]);
    assert_eq!(listed["items"][0]["filter_reason"], "procedural");
    assert_eq!(listed["items"][1]["documents"][1]["rule"], "attachment.public-comment");

    let args = ["civic", "preview-items", office.id(), "--extract-text", "-o", "texts", "--replay", "site", "--json"];
    let ran = office.desk.bindery(&args);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let items = ran.json()["items"].clone();
    assert_eq!((&items[1]["output"], &items[2]["output"]), (&"texts/002-12.txt".into(), &"texts/003-13.txt".into()));
    assert!(items[0].get("output").is_none());
    let lease = fs::read_to_string(office.desk.path("texts/003-13.txt")).unwrap();
    assert!(
        lease.starts_with("Lease of the pier\n\nThe pier is leased for ten years.\n\n=== Staff Report ===\n"),
        "{lease}"
    );

    let shown = office.desk.bindery(&["civic", "preview-items", office.id()]).ok();
    assert!(shown.out.contains("attachment.public-comment: it is correspondence of the public"), "{}", shown.out);
    let rest = office.desk.bindery(&["civic", "preview-items", &office.item("13")]);
    rest.fails_with(2, "is the id of an item").fails_with(2, &format!("its meeting is {}", office.id()));
}

#[test]
fn rules_are_explained_for_items_and_for_titles() {
    let office = office();
    let told = office.json(&["explain", &office.item("11")]);
    assert_eq!((&told["decision"]["rule"], &told["agrees"]), (&told["stored"]["filter_rule"], &true.into()));
    assert_eq!((&told["decision"]["tier"], &told["filter_version"]), (&"procedural".into(), &1.into()));
    let shown = office.desk.bindery(&["civic", "explain", &office.item("11")]).ok();
    assert!(shown.out.contains("the rules of today say the same"), "{}", shown.out);

    let title = |args: &[&str]| {
        let args: Vec<&str> = [&["civic", "filters", "explain"], args, &["--json"]].concat();
        Desk::new().bindery(&args).ok().json()
    };
    let plain = title(&["Proclamation"]);
    assert_eq!(
        (&plain["decision"]["filter_reason"], &plain["decision"]["is_guarded"]),
        (&"ceremonial".into(), &false.into())
    );
    let guarded = title(&["Proclamation", "--attachment", "Staff Report"]);
    assert_eq!(
        (&guarded["decision"]["rule"], &guarded["decision"]["is_guarded"]),
        (&"guard.document".into(), &true.into())
    );
    let versions = title(&["Trees", "--attachment", "Plan Ver1", "--attachment", "Plan Ver2"]);
    assert_eq!(versions["documents"][0]["rule"], "attachment.superseded");
}

#[test]
fn what_is_known_is_shown() {
    let office = office();
    let meetings = office.json(&["meetings", CITY]);
    assert_eq!((meetings.as_array().unwrap().len(), &meetings[0]["item_count"]), (2, &3.into()));
    assert_eq!(office.json(&["meetings", CITY, "--from", "2026-03-11"])[0]["status"], "cancelled");
    let table = office.desk.bindery(&["civic", "meetings", CITY]).ok().out;
    assert!(table.contains("2026-03-09  18:00") && table.contains("cancelled"), "{table}");

    let shown = office.desk.bindery(&["civic", "show", office.id()]).ok().out;
    for piece in
        ["PUBLIC HEARINGS", "2.A", "ORD 2026-7", "PASSED 2–1", "Motion to adopt", "Vote recorded", "City Hall, Room 2"]
    {
        assert!(shown.contains(piece), "{piece} is not in {shown}");
    }
    let whole = office.json(&["show", office.id()]);
    assert_eq!(whole["items"].as_array().unwrap().len(), 3);
    assert_eq!(office.json(&["votes", office.id()])[0]["item_title"], whole["items"][1]["title"]);

    let matter = office.json(&["matter", "ORD 2026-7", "--city", CITY]);
    assert_eq!(
        (&matter["sponsors"][0]["name"], &matter["appearances"][0]["vote_outcome"]),
        (&"Maria Ortega".into(), &"passed".into())
    );
    let id = matter["matter"]["id"].as_str().unwrap();
    assert!(office.desk.bindery(&["civic", "matter", id]).ok().out.contains("City Council"));
    let changes = office.json(&["changes", CITY]);
    assert!(changes.as_array().unwrap().iter().any(|change| change["headline"] == "Vote recorded"), "{changes}");

    let desk = &office.desk;
    desk.bindery(&["civic", "meetings", "PaloAltoCA"]).fails_with(2, "is paloaltoCA meant?");
    desk.bindery(&["civic", "meetings", "fresnoCA"]).fails_with(2, "stored in CA are paloaltoCA");
    desk.bindery(&["civic", "show", "paloaltoCA_000000000000"])
        .fails_with(2, "there is no meeting paloaltoCA_000000000000");
    desk.bindery(&["civic", "show", "7"]).fails_with(2, "expected one like paloaltoCA_3c961ffe17f6");
    desk.bindery(&["civic", "meetings", CITY, "--from", "2026-03-10", "--to", "2026-03-09"])
        .fails_with(2, "is after --to");
    desk.bindery(&["civic", "meetings", CITY, "--from", "tomorrow"]).fails_with(2, "expected one like 2026-03-09");
}

#[test]
fn exports_are_printed_or_written_whole() {
    let office = office();
    for format in ["json", "csv", "ics", "atom", "ocd"] {
        let printed = office.desk.bindery(&["civic", "export", CITY, "--format", format]).ok();
        let ran = office.desk.bindery(&["civic", "export", CITY, "--format", format, "-o", "out"]).ok();
        assert_eq!(fs::read_to_string(office.desk.path("out")).unwrap(), printed.out, "{format}");
        assert!(ran.out.is_empty() && ran.err.starts_with("wrote "), "{ran:?}");
    }
    let ran = office.desk.bindery(&["civic", "export", CITY, "-o", "no/such/folder.json"]);
    ran.fails_with(1, "no/such/folder.json cannot be written");
    office.desk.bindery(&["civic", "export", CITY, "--from", "2040-01-01"]).ok();
    office.desk.bindery(&["civic", "export", CITY, "--format", "xls"]).fails_with(2, "possible values");
}
