//! Sites as they are: everything that can be wrong with one is recorded against its city, with a reason that a person
//! can act on, while the other cities go on.

use crate::{
    server::{Reply, Server},
    town::{Town, city},
};
use bindery_civic::conductor::{SyncResult, Which, get_sync_status};
use bindery_civic::records::SyncStatus;
use serde_json::{Value, json};
use std::{collections::HashMap, time::Duration};

const LOGIN: &str =
    "<html><head><title>Sign in</title></head><body><form><input name=user><input type=password></form></body></html>";

/// A calendar of IQM2 with a meeting on it, as it used to be.
const CALENDAR: &str = "<html><body><div class='MonthHeader'>February</div><div class='Row MeetingRow'>\
    <a href='Detail_Meeting.aspx?ID=7' title='Board:&#09;Council&#13;Type:&#09;Regular'>Jan 20, 2026 6:30 PM</a></div></body></html>";

/// The same site after it was built anew: a calendar still, with cards in place of rows.
const NEW_CALENDAR: &str = "<html><body><div class='MonthHeader'>February</div><div class='card'>\
    <a href='Detail_Meeting.aspx?ID=7'>Jan 20, 2026 6:30 PM</a></div></body></html>";

fn line(url: &str, what: &Value) -> String {
    let mut line = json!({"url": url, "at": "2026-01-10T12:00:00Z"});
    line.as_object_mut().unwrap().extend(what.as_object().unwrap().clone());
    line.to_string()
}

/// A PrimeGov site that lists these meetings.
fn primegov(slug: &str, meetings: &Value) -> Vec<String> {
    let api = format!("https://{slug}.primegov.com/api/v2/PublicPortal");
    let archived = line(&format!("{api}/ListArchivedMeetings*"), &json!({"json": []}));
    vec![line(&format!("{api}/ListUpcomingMeetings"), &json!({"json": meetings})), archived]
}

/// A meeting as PrimeGov lists it.
fn meeting(id: u32, start: &str) -> Value {
    json!({"id": id, "title": "City Council", "dateTime": start, "meetingTypeId": 1, "documentList": []})
}

/// All of a site answers so.
fn everywhere(host: &str, what: &Value) -> Vec<String> {
    vec![line(&format!("https://{host}/robots.txt"), &json!({"status": 404})), line(&format!("https://{host}/*"), what)]
}

fn recording() -> String {
    let large =
        json!({"id": 9, "templateId": 9, "templateName": "Agenda Packet", "compileOutputType": 1, "publishStatus": 1});
    let mut with_large = meeting(5, "2026-01-20T18:00:00");
    with_large["documentList"] = json!([large]);
    let layout = "https://layout.iqm2.com/Citizens/Calendar.aspx*";
    let lines = [
        primegov("good", &json!([meeting(1, "2026-01-20T18:00:00"), meeting(2, "2026-01-27T18:00:00")])),
        everywhere("gone.primegov.com", &json!({"status": 404})),
        everywhere("html.primegov.com", &json!({"text": "<html><title>Down for maintenance</title></html>"})),
        everywhere("half.primegov.com", &json!({"text": "[{\"id\": 1, \"title\": \"City Cou"})),
        everywhere("page.iqm2.com", &json!({"text": "<html><body><table><tr><td>Jan 20"})),
        everywhere("login.iqm2.com", &json!({"text": LOGIN})),
        everywhere("broken.primegov.com", &json!({"status": 500})),
        everywhere(
            "circle.primegov.com",
            &json!({"status": 302, "headers": {"location": "https://circle.primegov.com/again"}}),
        ),
        everywhere("refused.primegov.com", &json!({"failure": {"unreachable": "connection refused"}})),
        vec![line(layout, &json!({"text": CALENDAR})), line(layout, &json!({"text": NEW_CALENDAR}))],
        primegov("dates", &json!([meeting(1, "2026-02-30T18:00:00"), meeting(2, "2026-01-27T18:00:00")])),
        primegov("twins", &json!([meeting(3, "2026-01-20T18:00:00"), meeting(3, "2026-01-22T18:00:00")])),
        // Its documents are not in the recording: whoever asked for one would fail.
        primegov("large", &json!([with_large])),
    ];
    lines.concat().join("\n")
}

fn by_city(results: Vec<SyncResult>) -> HashMap<String, SyncResult> {
    results.into_iter().map(|result| (result.city_key.clone(), result)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_17_whatever_is_wrong_with_a_site_is_told_of_its_city_alone() {
    let town = Town::new();
    let cities = [
        ("goodCA", "primegov", "good"),
        ("goneCA", "primegov", "gone"),
        ("htmlCA", "primegov", "html"),
        ("halfCA", "primegov", "half"),
        ("pageCA", "iqm2", "page"),
        ("loginCA", "iqm2", "login"),
        ("brokenCA", "primegov", "broken"),
        ("circleCA", "primegov", "circle"),
        ("refusedCA", "primegov", "refused"),
        ("layoutCA", "iqm2", "layout"),
        ("datesCA", "primegov", "dates"),
        ("twinsCA", "primegov", "twins"),
        ("largeCA", "primegov", "large"),
        ("vendorlessCA", "nonesuch", "x"),
        ("slugCA", "legistar", "two words"),
    ];
    for (city_key, vendor, slug) in cities {
        town.put(city(city_key, vendor, slug)).await;
    }
    let conductor = town.replaying(&recording());
    let results = by_city(conductor.full_sync(Which::All, &town.stop).await.unwrap());
    assert_eq!(results.len(), cities.len());
    for (city_key, reason) in [
        ("goneCA", "status 404 Not Found"),
        ("htmlCA", "Down for maintenance"),
        ("halfCA", "the page stops half-way"),
        ("pageCA", "the page stops half-way"),
        ("loginCA", "the site asks for a login"),
        ("brokenCA", "status 500 Internal Server Error"),
        ("circleCA", "goes round in circles"),
        ("refusedCA", "could not be reached: connection refused"),
    ] {
        let result = &results[city_key];
        let why = result.error_message.as_deref().unwrap_or_default();
        assert_eq!(result.status, SyncStatus::Failed, "{city_key}: {why}");
        assert!(why.contains(reason) && why.contains("https://"), "{city_key}: {why}");
        let health = town.city(city_key).await.health;
        assert_eq!((health.last_error.as_deref(), health.consecutive_failures), (Some(why), 1), "{city_key}");
        assert_eq!(town.runs(city_key).await[0].error_message.as_deref(), Some(why), "{city_key}");
    }
    for (city_key, reason) in [
        ("vendorlessCA", "there is no vendor \"nonesuch\"; known are boardbook, "),
        (
            "slugCA",
            "the slug \"two words\" is no name of a site: expected a name as in https://NAME.legistar.com, or a host",
        ),
    ] {
        let why = results[city_key].error_message.as_deref().unwrap();
        assert_eq!(results[city_key].status, SyncStatus::Skipped, "{why}");
        assert!(why.contains(reason), "{why}");
    }
    for (city_key, found) in [("goodCA", 2), ("layoutCA", 1), ("datesCA", 2), ("twinsCA", 1), ("largeCA", 1)] {
        let result = &results[city_key];
        assert_eq!((result.status, result.meetings_found), (SyncStatus::Completed, found), "{city_key}: {result:?}");
    }
    let undated = town.meetings("datesCA").await;
    assert!(undated.iter().any(|meeting| meeting.vendor_id == "1" && meeting.starts_at.is_none()));
    assert!(results["datesCA"].warnings[0].contains("meeting 1 has no possible date"), "{:?}", results["datesCA"]);
    assert!(results["twinsCA"].warnings[0].contains("listed twice"), "{:?}", results["twinsCA"]);
    let packet = town.meetings("largeCA").await.remove(0).packet_url.unwrap();
    assert!(packet.contains("CompiledDocument"), "{packet}");
    assert!(results["largeCA"].warnings.is_empty(), "documents are named, not fetched: {:?}", results["largeCA"]);

    // The site is built anew: nothing is read from it any more, which is an alarm and no news of its meetings.
    let again = conductor.sync_city("layoutCA", &town.stop).await;
    assert_eq!((again.status, again.meetings_found, again.meetings_changed), (SyncStatus::Completed, 0, 0));
    assert!(again.alarms[0].contains("gave 1 meetings on an earlier visit and gives none now"), "{:?}", again.alarms);
    assert!(town.meetings("layoutCA").await[0].removed_at.is_none());
    let run = town.runs("layoutCA").await.remove(0);
    assert_eq!((run.alarms.len(), run.alarms[0].kind.as_str()), (1, "dried_up"));
    let standing = get_sync_status(&*town.store, |_| false).await.unwrap();
    assert_eq!((standing.failed_count, standing.skipped.len(), standing.active_cities), (8, 2, 15));
}

/// ▲ Nothing said so before: 302 of 959 jurisdictions never had a meeting.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_city_that_stops_yielding_is_named_with_the_day_of_its_last_meetings() {
    let town = Town::new();
    let fades = Server::start(|seen, before| match (seen.path.as_str(), before) {
        ("/listing", 0) => Reply::text("meeting 7 2026-02-17 City Council"),
        ("/listing", _) => Reply::text(""),
        _ => Reply::new(404),
    });
    let empty = Server::start(|seen, _| if seen.path == "/listing" { Reply::text("") } else { Reply::new(404) });
    town.add("fadedCA", &fades).await;
    town.add("emptyCA", &empty).await;
    let conductor = town.conductor();
    let mut found_at = None;
    for visit in 0..4 {
        let standing = get_sync_status(&*town.store, |_| false).await.unwrap();
        assert!(standing.stopped_yielding.is_empty(), "after {visit} visits");
        conductor.full_sync(Which::All, &town.stop).await.unwrap();
        found_at = found_at.or(Some(town.store.clock().now()));
        town.clock.advance(Duration::from_secs(3_600));
    }
    let standing = get_sync_status(&*town.store, |_| false).await.unwrap();
    let silent: Vec<_> =
        standing.stopped_yielding.iter().map(|one| (one.city_key.as_str(), one.since, one.empty_runs)).collect();
    assert_eq!(silent, [("fadedCA", found_at, 3)]);
    assert_eq!((standing.never_yielded, standing.failed_count), (vec!["emptyCA".to_owned()], 0));
    let fields = serde_json::to_value(get_sync_status(&*town.store, |_| false).await.unwrap()).unwrap();
    for field in [
        "is_running",
        "active_cities",
        "total_meetings",
        "summarized_meetings",
        "pending_meetings",
        "failed_cities",
        "failed_count",
    ] {
        assert!(fields.get(field).is_some(), "{field}");
    }
}
