//! What people follow and are told, through the program: alerts, watches, digests, messages, search.

use crate::cities::{put_cities, sync_meeting};
use crate::support::Desk;
use bindery_civic::records::{Civic as _, Jurisdiction, MeetingFilter};
use bindery_civic::{
    sync::Orchestrator,
    vendor::{VendorItem, VendorMeeting, model::MeetingStatus, model::Start},
};
use bindery_store::{
    Store,
    sqlite::{Options, SqliteStore},
};
use jiff::{ToSpan as _, Zoned, civil::time};
use std::{fs, sync::Arc};

const CITY: &str = "paloaltoCA";
const ANN: &str = "ann@example.org";

/// A meeting in three days, whenever the test runs.
fn council(status: Option<MeetingStatus>) -> VendorMeeting {
    let item = |id: &str, title: &str, sequence| VendorItem {
        vendor_item_id: Some(id.to_owned()),
        title: title.to_owned(),
        sequence,
        ..VendorItem::default()
    };
    let day = Zoned::now().date().checked_add(3.days()).unwrap();
    VendorMeeting {
        title: Some("City Council - Regular Meeting".to_owned()),
        start: Some(Start { date: day, time: Some(time(18, 0, 0, 0)), note: None }),
        body: Some("City Council".to_owned()),
        items: vec![item("11", "Roll Call", 1), item("12", "Rezoning of the harbour", 2), item("13", "Lease", 3)],
        has_agenda: true,
        status,
        ..VendorMeeting::new("1")
    }
}

/// The city as it was last seen. Returns the id of its meeting.
fn visit(desk: &Desk, status: Option<MeetingStatus>) -> String {
    let folder = desk.path("bindery-data");
    fs::create_dir_all(&folder).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
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
        sync_meeting(&Orchestrator::new(Arc::clone(&store)), &city, council(status)).await.unwrap();
        store.civic().meetings(MeetingFilter::default()).await.unwrap().remove(0).id
    })
}

#[test]
fn alerts_become_mails_each_once() {
    let desk = Desk::new();
    visit(&desk, None);
    let add = ["civic", "alert", "add", "--owner", ANN, "--name", "harbour", "--city", CITY];
    let keyword = ["--keyword", "rezone", "--topic", "housing", "--frequency", "daily", "--json"];
    let alert = desk.bindery(&[&add[..], &keyword[..]].concat()).ok().json();
    assert_eq!(alert["alert"]["topics"][0], "housing");
    let sent = desk.bindery(&["civic", "notices", "send", "--once", "--json"]).ok().json();
    // The first meeting of the city, which is told to one address, and the digest.
    assert_eq!((&sent["sent"]["delivered"], &sent["found"]["digests"]), (&2.into(), &1.into()), "{sent}");
    let mails = || fs::read_dir(desk.path("bindery-data/outbox")).unwrap().count();
    assert_eq!(mails(), 2);
    let again = desk.bindery(&["civic", "notices", "send", "--once", "--json"]).ok().json();
    assert_eq!((&again["sent"]["delivered"], &again["found"]["messages"]), (&0.into(), &0.into()), "{again}");
    visit(&desk, Some(MeetingStatus::Cancelled));
    let waiting = desk.bindery(&["civic", "notices", "--waiting", "--json"]).ok().json();
    assert_eq!(waiting.as_array().unwrap().len(), 0);
    desk.bindery(&["civic", "notices", "send", "--once"]).ok();
    assert_eq!(mails(), 3);
    let all = desk.bindery(&["civic", "notices"]).ok();
    assert!(all.out.contains("meeting_cancelled") && all.out.contains(ANN), "{}", all.out);

    let id = alert["alert"]["id"].as_str().unwrap();
    let mail = desk.bindery(&["civic", "digest", "--alert", id, "--format", "eml"]).ok().out;
    assert!(mail.contains("To: ann@example.org\r\n"), "{mail}");
    desk.bindery(&["civic", "digest", "--alert", "alert_0"]).fails_with(2, "there is no alert");
    desk.bindery(&["civic", "notices", "retry", "nothing"]).fails_with(2, "there is no message");
    desk.bindery(&["civic", "notices", "send", "--once", "--mail-from", "x\ny@z"]).fails_with(2, "--mail-from");
    let bad = ["civic", "alert", "add", "--owner", ANN, "--name", "x", "--city", CITY, "--topic", "weather"];
    desk.bindery(&bad).fails_with(2, "topic: \"weather\" is none that is known");
}

#[test]
fn things_are_watched_by_their_ids() {
    let desk = Desk::new();
    let meeting = visit(&desk, None);
    desk.bindery(&["civic", "watch", "add", ANN, "meeting", &meeting]).ok();
    desk.bindery(&["civic", "watch", "add", ANN, "topic", "Housing & Development"]).ok();
    let all = desk.bindery(&["civic", "watch", "list", ANN, "--json"]).ok().json();
    assert_eq!(all.as_array().unwrap().len(), 2);
    assert_eq!(all[1]["entity_id"], "housing");
    desk.bindery(&["civic", "watch", "remove", ANN, "topic", "housing"]).ok();
    desk.bindery(&["civic", "watch", "remove", ANN, "topic", "housing"]).fails_with(2, "does not watch topic housing");
    desk.bindery(&["civic", "watch", "add", ANN, "meeting", "1"]).fails_with(2, "meeting: expected an id");
    desk.bindery(&["civic", "watch", "add", "ann", "city", CITY]).fails_with(2, "owner: expected a mail address");
    desk.bindery(&["civic", "watch", "add", ANN, "city", "nowhereCA"]).fails_with(2, "no city nowhereCA is stored");
    let committee = "paloaltoCA_comm_0000000000000000";
    desk.bindery(&["civic", "watch", "add", ANN, "committee", committee]).fails_with(2, "there is no body");
}

#[test]
fn a_digest_is_written_in_every_form() {
    let desk = Desk::new();
    visit(&desk, None);
    let text = desk.bindery(&["civic", "digest", CITY]).ok().out;
    assert!(text.contains("Palo Alto, CA: 1 meeting") && text.contains("Rezoning of the harbour"), "{text}");
    desk.bindery(&["civic", "digest", CITY, "--format", "html", "-o", "week.html"]).ok();
    let page = fs::read_to_string(desk.path("week.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Rezoning of the harbour"), "{page}");
    let data = desk.bindery(&["civic", "digest", CITY, "--json"]).ok().json();
    assert_eq!(data["cities"][0]["meetings"][0]["skipped_items"], 1);
    let far = desk.bindery(&["civic", "digest", CITY, "--today", "2020-01-01", "--since", "2099-01-01"]).ok().out;
    assert!(far.contains("There is nothing new."), "{far}");
    desk.bindery(&["civic", "digest", CITY, "--format", "eml"]).fails_with(2, "expected --to");
    desk.bindery(&["civic", "digest"]).fails_with(2, "BANANAS");
}

#[test]
fn items_are_searched_once_they_are_indexed() {
    let desk = Desk::new();
    let meeting = visit(&desk, None);
    let before = desk.bindery(&["civic", "search", "harbour"]).ok();
    assert!(before.err.contains("nothing is indexed yet"), "{}", before.err);
    desk.bindery(&["civic", "search", "--reindex"]).ok();
    let found = desk.bindery(&["civic", "search", "harbour", "--city", CITY, "--json"]).ok().json();
    assert_eq!(found[0]["id"], format!("{meeting}_12"));
    assert_eq!((&found[0]["kind"], &found[0]["city"]), (&"item".into(), &"Palo Alto, CA".into()));
    let shown = desk.bindery(&["civic", "search", "harbour"]).ok().out;
    assert!(shown.contains("«harbour»") && shown.contains(&format!("{meeting}_12")), "{shown}");
    let none = desk.bindery(&["civic", "search", "zebra"]).ok();
    assert!(none.err.contains("nothing was found in"), "{}", none.err);
    desk.bindery(&["civic", "search", "-x"]).fails_with(2, "");
    desk.bindery(&["civic", "search", "x", "--from", "2026-02-01", "--to", "2026-01-01"]).fails_with(2, "is after");
}
