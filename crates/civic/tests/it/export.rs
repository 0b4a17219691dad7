//! What comes out of a store: valid, complete, and the same bytes every time.

use crate::cities::put_cities;
use crate::{
    hall::{CITY, Hall, document, item, meeting, today},
    ics,
};
use bindery_civic::records::Civic as _;
use bindery_civic::{
    export::{ExportRequest, Exported, Format, export},
    vendor::{Ballot, ItemVote, VendorItem, VendorMeeting, model::MeetingStatus},
};
use jiff::civil::date;
use quick_xml::{Reader, events::Event};
use serde_json::Value;
use std::{collections::HashSet, time::Duration};

/// What a clerk might type, or somebody who means harm.
const HARSH: &str = "Parks, Trees; \"Roots\" \\ & <b>]]> 🏛\nsecond line";

async fn exported(hall: &Hall, format: Format) -> (Vec<u8>, Exported) {
    with(hall, ExportRequest::new(hall.city.clone(), format, today())).await
}

async fn with(hall: &Hall, request: ExportRequest) -> (Vec<u8>, Exported) {
    let mut out = Vec::new();
    let done = export(&*hall.store, &request, &mut out).await.unwrap();
    (out, done)
}

fn council() -> VendorMeeting {
    let ballot = |name: &str, vote: &str| Ballot { name: name.to_owned(), vote: vote.to_owned(), person_id: None };
    let motion = ItemVote {
        motion: Some("Motion to adopt".to_owned()),
        ballots: vec![ballot("Maria Ortega", "Aye"), ballot("Sam Lee", "Nay"), ballot("Ada Roy", "Aye")],
        ..ItemVote::default()
    };
    let rezoning = VendorItem {
        agenda_number: Some("2.A".to_owned()),
        section: Some("Public Hearings".to_owned()),
        matter_file: Some("ORD 2026-7".to_owned()),
        matter_type: Some("Ordinance".to_owned()),
        sponsors: vec!["Maria Ortega".to_owned()],
        attachments: vec![document("Staff Report"), document("Public Comment")],
        votes: vec![motion],
        ..item("12", "Ordinance rezoning 400 Harbour Street to mixed use", 2)
    };
    VendorMeeting {
        body: Some("City Council".to_owned()),
        location: Some("City Hall, 250 Hamilton Avenue; Room 2".to_owned()),
        agenda_url: Some("https://example.com/agenda/1?a=1,2;b".to_owned()),
        video_url: Some("https://example.com/video/1".to_owned()),
        items: vec![item("11", "Roll Call", 1), rezoning, item("13", "=HYPERLINK(\"http://x\")", 3)],
        has_agenda: true,
        ..meeting("1", "Regular Meeting", date(2026, 3, 9), 18)
    }
}

/// Four meetings: an ordinary one, one with a harsh title, a cancelled one in winter, and one without an hour.
fn spring() -> Vec<VendorMeeting> {
    let mut cancelled = meeting("3", "Planning Commission", date(2026, 2, 24), 19);
    cancelled.status = Some(MeetingStatus::Cancelled);
    let mut someday = meeting("4", "Library Board", date(2026, 3, 30), 9);
    someday.start.as_mut().unwrap().time = None;
    someday.start.as_mut().unwrap().note = Some("following the Council meeting".to_owned());
    let mut late = meeting("2", HARSH, date(2026, 3, 10), 23);
    late.location = Some(HARSH.to_owned());
    vec![council(), late, cancelled, someday]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_calendar_is_valid_and_says_when_and_where() {
    let hall = Hall::new().await;
    hall.visit(spring()).await;
    let (bytes, done) = exported(&hall, Format::Ics).await;
    assert_eq!((done.meetings, done.items), (4, 3));
    let calendar = ics::read(&bytes);
    assert_eq!(calendar.text("X-WR-CALNAME").as_deref(), Some("Palo Alto, CA: council meetings"));
    let events = calendar.events();
    let summaries: Vec<String> = events.iter().map(|event| event.text("SUMMARY").unwrap()).collect();
    assert_eq!(summaries, ["Planning Commission", "City Council: Regular Meeting", HARSH, "Library Board"]);
    let statuses: Vec<&str> = events.iter().map(|event| event.get("STATUS").unwrap()).collect();
    assert_eq!(statuses, ["CANCELLED", "CONFIRMED", "CONFIRMED", "CONFIRMED"]);

    // Both sides of the change to summer time, by the rules in the file.
    for (event, vendor_id) in events.iter().zip(["3", "1", "2"]) {
        let stored = hall.meeting(vendor_id).await;
        assert_eq!(event.get("UID"), Some(format!("{}@civic.bindery", stored.id).as_str()));
        assert_eq!(ics::instant(&calendar, event).as_millisecond(), stored.starts_at.unwrap().as_millis());
    }
    let someday = events[3].all("DTSTART")[0];
    assert_eq!((someday.params["VALUE"].as_str(), someday.value.as_str()), ("DATE", "20260330"));
    assert!(events[3].text("DESCRIPTION").unwrap().contains("following the Council meeting"));

    let council = events[1];
    assert_eq!(council.text("LOCATION").as_deref(), Some("City Hall, 250 Hamilton Avenue; Room 2"));
    assert_eq!(council.get("URL"), Some("https://example.com/agenda/1?a=1,2;b"));
    let described = council.text("DESCRIPTION").unwrap();
    assert!(described.contains("2.A Ordinance rezoning") && !described.contains("Roll Call"), "{described}");
    assert_eq!(events[2].text("LOCATION").as_deref(), Some(HARSH));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_meeting_keeps_its_uid_and_raises_its_sequence() {
    let hall = Hall::new().await;
    hall.visit(spring()).await;
    let before = exported(&hall, Format::Ics).await.0;
    let mut changed = spring();
    changed[0].title = Some("Special Meeting".to_owned());
    changed[0].start.as_mut().unwrap().time = Some(jiff::civil::time(17, 30, 0, 0));
    changed.remove(3);
    hall.visit(changed).await;
    let after = exported(&hall, Format::Ics).await.0;
    let (before, after) = (ics::read(&before), ics::read(&after));
    let facts = |calendar: &ics::Component, place: usize| {
        let event = calendar.events()[place].clone();
        let number = event.get("SEQUENCE").unwrap().parse::<u64>().unwrap();
        (event.get("UID").unwrap().to_owned(), number, event.get("DTSTAMP").unwrap().to_owned())
    };
    let ((uid, first, stamp), (same, second, later)) = (facts(&before, 1), facts(&after, 1));
    assert_eq!(uid, same);
    assert!(first < second && stamp < later, "{first} {second} {stamp} {later}");
    assert_eq!(facts(&before, 2), facts(&after, 2), "the others are as they were");
    assert_eq!(after.events()[1].all("DTSTART")[0].value, "20260309T173000");
    // What a vendor has stopped listing does not stay in people's calendars as if it took place.
    assert_eq!(after.events()[3].get("STATUS"), Some("CANCELLED"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn zones_are_told_by_their_own_rules() {
    for (zone, summer) in [
        ("America/Phoenix", "2026-07-07T01:00:00Z"),
        ("America/New_York", "2026-07-06T22:00:00Z"),
        ("America/St_Johns", "2026-07-06T20:30:00Z"),
        ("Pacific/Honolulu", "2026-07-07T04:00:00Z"),
    ] {
        let mut hall = Hall::new().await;
        hall.city.tz = Some(zone.to_owned());
        put_cities(&hall.store.civic(), vec![hall.city.clone()]).await.unwrap();
        let days = [(2005, 7, 6), (2006, 11, 1), (2008, 3, 20), (2026, 1, 6), (2026, 7, 6)];
        let meetings = (1..)
            .zip(days)
            .map(|(number, (year, month, day))| meeting(&format!("{number}"), "Council", date(year, month, day), 18));
        hall.visit(meetings.collect()).await;
        let calendar = ics::read(&exported(&hall, Format::Ics).await.0);
        for (event, vendor_id) in calendar.events().iter().zip(["1", "2", "3", "4", "5"]) {
            let stored = hall.meeting(vendor_id).await.starts_at.unwrap();
            assert_eq!(ics::instant(&calendar, event).as_millisecond(), stored.as_millis(), "{zone} {vendor_id}");
        }
        assert_eq!(ics::instant(&calendar, calendar.events()[4]).to_string(), summer, "{zone}");
    }
    // Without a zone, the time is that of whoever reads it.
    let mut hall = Hall::new().await;
    hall.city.tz = None;
    hall.visit(vec![council()]).await;
    let calendar = ics::read(&exported(&hall, Format::Ics).await.0);
    let start = calendar.events()[0].all("DTSTART")[0];
    assert_eq!((start.params.len(), start.value.as_str()), (0, "20260309T180000"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_store_makes_the_same_bytes() {
    let hall = Hall::new().await;
    hall.visit(spring()).await;
    for format in [Format::Json, Format::Csv, Format::Ics, Format::Atom, Format::Ocd] {
        let before = exported(&hall, format).await.0;
        hall.clock.advance(Duration::from_secs(3600));
        hall.visit(spring()).await;
        assert_eq!(exported(&hall, format).await.0, before, "{format:?}");
    }
}

/// The texts of elements with their names, and the attributes of empty ones, in their order.
fn elements(xml: &[u8]) -> Vec<(String, String)> {
    let mut reader = Reader::from_reader(xml);
    let (mut found, mut open) = (Vec::new(), Vec::<(String, String)>::new());
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => {
                open.push((String::from_utf8_lossy(start.name().as_ref()).into_owned(), String::new()));
            }
            Event::Text(text) => open.last_mut().map_or((), |(_, said)| said.push_str(&text.decode().unwrap())),
            Event::GeneralRef(name) => {
                let letter = match &*name.decode().unwrap() {
                    "lt" => "<",
                    "gt" => ">",
                    "amp" => "&",
                    "quot" => "\"",
                    "apos" => "'",
                    other => panic!("&{other};"),
                };
                open.last_mut().unwrap().1.push_str(letter);
            }
            Event::End(_) => found.push(open.pop().unwrap()),
            Event::Empty(empty) => {
                let attributes = empty.attributes().map(|one| {
                    let one = one.unwrap();
                    format!("{}={}", String::from_utf8_lossy(one.key.as_ref()), String::from_utf8_lossy(&one.value))
                });
                let name = String::from_utf8_lossy(empty.name().as_ref()).into_owned();
                found.push((name, attributes.collect::<Vec<_>>().join(" ")));
            }
            Event::Eof => return found,
            _ => {}
        }
    }
}

fn named<'a>(elements: &'a [(String, String)], name: &str) -> Vec<&'a str> {
    elements.iter().filter(|(known, _)| known == name).map(|(_, text)| text.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_feed_tells_what_was_posted_changed_and_cancelled() {
    let hall = Hall::new().await;
    hall.visit(spring()).await;
    let first = elements(&exported(&hall, Format::Atom).await.0);
    let mut changed = spring();
    changed[0].status = Some(MeetingStatus::Cancelled);
    changed[0].items[1].title = "Ordinance rezoning 400 Harbour Street to housing".to_owned();
    hall.visit(changed).await;
    let (bytes, done) = exported(&hall, Format::Atom).await;
    let feed = elements(&bytes);
    assert_eq!((done.entries, done.meetings), (5, 4));
    let (titles, ids) = (named(&feed, "title"), named(&feed, "id"));
    assert_eq!(titles[0], "Palo Alto, CA: council meetings");
    // One look at a meeting is one entry, named by what weighs most.
    assert_eq!(titles[1], "Cancelled: City Council: Regular Meeting, 2026-03-09 18:00");
    assert!(named(&feed, "content")[0].contains("<li>Item changed: "), "{feed:?}");
    assert!(titles.iter().any(|title| title.contains(HARSH)), "{titles:?}");
    assert!(titles.contains(&"New meeting (cancelled): Planning Commission, 2026-02-24 19:00"), "{titles:?}");
    let content = named(&feed, "content").join("\n");
    assert!(
        content.contains("&lt;b&gt;]]&gt;") && !content.contains("<b>"),
        "what comes from outside is text: {content}"
    );
    assert_eq!(ids[0], "tag:civic.bindery,2026:paloaltoCA");
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
    assert!(named(&first, "id").iter().all(|id| ids.contains(id)), "entries keep their ids");
    let mut updated: Vec<&str> = named(&feed, "updated");
    assert_eq!(updated.remove(0), updated[0], "the feed is as new as its newest entry");
    assert!(updated.is_sorted_by(|one, other| one >= other), "the newest first");
    assert!(named(&feed, "link").contains(&"rel=alternate href=https://example.com/agenda/1?a=1,2;b"));
    assert!(named(&feed, "category").iter().any(|category| category.starts_with("term=cancelled")));

    let two = ExportRequest { most_entries: 2, ..ExportRequest::new(hall.city.clone(), Format::Atom, today()) };
    assert_eq!(with(&hall, two).await.1.entries, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_open_civic_data_have_their_agenda() {
    let hall = Hall::new().await;
    hall.visit(spring()).await;
    let events: Vec<Value> = serde_json::from_slice(&exported(&hall, Format::Ocd).await.0).unwrap();
    let statuses: Vec<&str> = events.iter().map(|event| event["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["cancelled", "confirmed", "confirmed", "confirmed"]);
    for event in &events {
        assert_eq!(event["_type"], "event");
        assert!(event["_id"].as_str().unwrap().strip_prefix("ocd-event/").is_some_and(|uuid| uuid.len() == 36));
        for list in ["agenda", "participants", "documents", "media", "links", "sources"] {
            assert!(event[list].is_array(), "{list}");
        }
        assert!(event["location"]["name"].is_string() && event["extras"]["meeting_id"].is_string());
    }
    let council = &events[1];
    assert_eq!(council["start_date"], "2026-03-09T18:00:00-07:00");
    assert_eq!(
        (&events[0]["start_date"], &events[3]["start_date"]),
        (&"2026-02-24T19:00:00-08:00".into(), &"2026-03-30".into())
    );
    assert_eq!((&council["timezone"], &events[3]["all_day"]), (&"America/Los_Angeles".into(), &true.into()));
    assert_eq!(council["participants"][0]["name"], "City Council");
    let agenda = council["agenda"].as_array().unwrap();
    assert_eq!(agenda.iter().map(|item| item["order"].as_str().unwrap()).collect::<Vec<_>>(), ["0", "1", "2"]);
    let entities = agenda[1]["related_entities"].as_array().unwrap();
    let kinds: Vec<_> =
        entities.iter().map(|one| (one["entity_type"].as_str().unwrap(), one["name"].as_str().unwrap())).collect();
    assert_eq!(kinds, [("bill", "ORD 2026-7"), ("vote_event", "Motion to adopt"), ("person", "Maria Ortega")]);
    assert_eq!(agenda[1]["media"].as_array().unwrap().len(), 2);

    // Afterwards, what took place has passed.
    let mut later = ExportRequest::new(hall.city.clone(), Format::Ocd, today());
    later.now = "2026-03-11T00:00:00Z".parse().unwrap();
    let events: Vec<Value> = serde_json::from_slice(&with(&hall, later).await.0).unwrap();
    assert_eq!((&events[0]["status"], &events[1]["status"]), (&"cancelled".into(), &"passed".into()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_survives_quotes_lines_and_formulas() {
    let hall = Hall::new().await;
    hall.visit(spring()).await;
    let bytes = exported(&hall, Format::Csv).await.0;
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let header = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let cell = |row: usize, name: &str| {
        let column = header.iter().position(|known| known == name).unwrap();
        rows[row].get(column).unwrap().to_owned()
    };
    // Three items of the council; the others have no agenda, and are rows of their own.
    assert_eq!(rows.len(), 6);
    assert_eq!(cell(4, "meeting_title"), HARSH);
    assert_eq!(
        (cell(2, "date"), cell(2, "time"), cell(5, "time")),
        ("2026-03-09".into(), "18:00".into(), String::new())
    );
    assert_eq!((cell(2, "result"), cell(2, "yes"), cell(2, "no")), ("passed".into(), "2".into(), "1".into()));
    assert_eq!((cell(1, "filter_reason"), cell(0, "status")), ("procedural".into(), "cancelled".into()));
    assert_eq!(cell(3, "item_title"), "'=HYPERLINK(\"http://x\")", "no spreadsheet runs what a stranger wrote");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_has_everything_and_days_are_those_of_the_city() {
    let hall = Hall::new().await;
    hall.visit(spring()).await;
    let all: Value = serde_json::from_slice(&exported(&hall, Format::Json).await.0).unwrap();
    assert_eq!((&all["export_version"], &all["city"]["banana"]), (&1.into(), &CITY.into()));
    let meetings = all["meetings"].as_array().unwrap();
    assert_eq!(meetings.len(), 4);
    let council = &meetings[1];
    assert_eq!(
        (council["items"].as_array().unwrap().len(), council["votes"][0]["tally"]["yes"].as_i64()),
        (3, Some(2))
    );
    assert_eq!(council["history"][0]["kind"], "added");
    assert_eq!(all["matters"][0]["matter_file"], "ORD 2026-7");

    // At 23:00 in Palo Alto the day after has begun in Greenwich.
    let mut tenth = ExportRequest::new(hall.city.clone(), Format::Json, today());
    (tenth.from, tenth.to) = (Some(date(2026, 3, 10)), Some(date(2026, 3, 10)));
    let some: Value = serde_json::from_slice(&with(&hall, tenth.clone()).await.0).unwrap();
    let titles: Vec<_> = some["meetings"].as_array().unwrap().iter().map(|meeting| &meeting["title"]).collect();
    assert_eq!((titles, &some["from"]), (vec![&Value::from(HARSH)], &"2026-03-10".into()));

    (tenth.from, tenth.to) = (Some(date(2030, 1, 1)), None);
    for format in [Format::Json, Format::Csv, Format::Ics, Format::Atom, Format::Ocd] {
        let (bytes, done) = with(&hall, ExportRequest { format, ..tenth.clone() }).await;
        assert_eq!(done, Exported::default());
        assert!(!bytes.is_empty(), "nothing is still a valid file");
    }
}
