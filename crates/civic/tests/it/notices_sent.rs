//! Messages leave: signed to programs, as files for mail; again after trouble, and never as another one.

use crate::{
    hall::{CITY, Hall, meeting},
    notices::{alert, council},
    server::{Reply, Server},
};
use bindery_civic::records::Civic as _;
use bindery_civic::records::{Channel, Delivery, NOTICES_QUEUE, NoticePayload, Notification};
use bindery_civic::{
    html::Html,
    notices::{
        self, Channels, Digest, DigestRequest, Mail, Sender, Sending, Webhooks, eml, html, letter::Letter, text,
    },
    vendor::model::MeetingStatus,
};
use bindery_core::job::{ClaimedJob, JobState};
use bindery_engine::stop_pair;
use bindery_http::signature;
use bindery_store::{
    blobs::LocalBlobs,
    query::{ClaimRequest, JobFilter, JobView},
};
use jiff::civil::date;
use serde_json::Value;
use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn channels(hall: &Hall) -> Channels {
    let webhooks = Webhooks::new(signature::secrets(SECRET).unwrap(), Duration::from_secs(5));
    Channels { mail: Mail::Folder(outbox(hall)), from: "bindery@city.example".to_owned(), webhooks }
}

fn outbox(hall: &Hall) -> PathBuf {
    hall.folder().join("outbox")
}

/// Under a name of its own each time.
fn sender(hall: &Hall) -> Sender {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let name = format!("sender-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let blobs = Arc::new(LocalBlobs::open(hall.folder().join("blobs")).unwrap());
    Sender::new(Arc::clone(&hall.store), blobs, channels(hall), name.into())
}

async fn send(hall: &Hall) -> Sending {
    let (_handle, stop) = stop_pair();
    sender(hall).send_due(&stop).await.unwrap()
}

/// Somebody who is about to die takes the next message.
async fn taken_by_another(hall: &Hall) -> ClaimedJob {
    let request = ClaimRequest {
        worker: "mortal".into(),
        queues: Some(vec![NOTICES_QUEUE.into()]),
        submissions: None,
        max: 1,
        lease: Duration::from_mins(5),
        counts: true,
    };
    hall.store.claim(request).await.unwrap().pop().expect("a message waits")
}

async fn jobs(hall: &Hall) -> Vec<JobView> {
    hall.store.jobs(JobFilter { queue: Some(NOTICES_QUEUE.into()), ..JobFilter::default() }).await.unwrap()
}

/// An alert on everything that is told to this server.
async fn follow(hall: &Hall, server: &Server) {
    let hook = Channel { kind: "webhook".to_owned(), address: server.url("/hook") };
    let mut all = alert("all", &[], "weekly");
    all.channels = vec![hook];
    hall.store.civic().put_alert(all).await.unwrap();
}

async fn cancelled(hall: &Hall) {
    let mut off = council();
    hall.visit(vec![off.clone()]).await;
    hall.pass().await;
    off.status = Some(MeetingStatus::Cancelled);
    hall.visit(vec![off]).await;
    hall.pass().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_is_signed_and_comes_once() {
    let hall = Hall::new().await;
    let server = Server::start(|_, _| Reply::new(204));
    follow(&hall, &server).await;
    cancelled(&hall).await;
    // Two senders at once share the work.
    let (one, other) = tokio::join!(send(&hall), send(&hall));
    assert_eq!(one.delivered + other.delivered, 3, "{one:?} {other:?}");
    assert_eq!(send(&hall).await, Sending::default());
    let seen = server.seen();
    let kinds: BTreeSet<String> = seen
        .iter()
        .map(|request| serde_json::from_str::<Value>(&request.body).unwrap()["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["city_activated", "digest", "meeting_cancelled"]);
    assert_eq!(seen.len(), 3);
    for request in seen {
        let (id, seconds) = (&request.headers["webhook-id"], request.headers["webhook-timestamp"].parse().unwrap());
        let signed = signature::sign(&signature::secrets(SECRET).unwrap(), id, seconds, request.body.as_bytes());
        assert_eq!(request.headers["webhook-signature"], signed);
        assert_eq!(serde_json::from_str::<Value>(&request.body).unwrap()["id"], *id.as_str());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_dies_while_sending_is_followed_by_another_with_the_same_id() {
    let hall = Hall::new().await;
    let server = Server::start(|_, _| Reply::new(200));
    follow(&hall, &server).await;
    hall.visit(vec![council()]).await;
    hall.pass().await;
    // One of two messages was sent and that is stored; whoever sent it died before its job was ended.
    let taken = taken_by_another(&hall).await;
    let key = taken.job.payload.read::<NoticePayload>().unwrap().unwrap().key;
    let claim = Some((taken.job.id, taken.token));
    assert!(hall.store.civic().settle_notification(&key, claim, 1, Delivery::Delivered).await.unwrap());
    hall.clock.advance(Duration::from_mins(6));
    assert_eq!((send(&hall).await.delivered, jobs(&hall).await.len()), (1, 0), "it is not sent twice");
    let before = server.seen().len();
    assert_eq!(before, 1);
    let mut off = council();
    off.status = Some(MeetingStatus::Cancelled);
    hall.visit(vec![off]).await;
    hall.pass().await;
    // Whoever has it dies; what it says when it comes back after all is not stored.
    let taken = taken_by_another(&hall).await;
    hall.clock.advance(Duration::from_mins(6));
    assert_eq!(send(&hall).await.delivered, 1);
    let key = taken.job.payload.read::<NoticePayload>().unwrap().unwrap().key;
    let late = Delivery::Later(hall.store.clock().now(), "too slow".to_owned());
    let claim = Some((taken.job.id, taken.token));
    assert!(!hall.store.civic().settle_notification(&key, claim, 1, late).await.unwrap());
    hall.clock.advance(Duration::from_hours(48));
    assert_eq!((send(&hall).await, jobs(&hall).await.len()), (Sending::default(), 0), "what was sent stays sent");
    let ids: Vec<String> =
        server.seen()[before..].iter().map(|request| request.headers["webhook-id"].clone()).collect();
    assert_eq!(ids, [format!("msg_{}", eml::id_of(&key))]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fails_is_tried_again_and_given_up_in_the_end() {
    let hall = Hall::new().await;
    let server = Server::start(|_, before| match before {
        0 => Reply::new(503).body("text/plain", b"closed for lunch"),
        _ => Reply::new(500),
    });
    follow(&hall, &server).await;
    hall.visit(vec![council()]).await;
    hall.pass().await;
    let waiting = async || {
        let mut found = hall.store.civic().notifications(true).await.unwrap();
        found.retain(|message| message.channel.is_some());
        found
    };
    let first = send(&hall).await;
    assert_eq!((first.later, first.given_up), (2, 0));
    assert!(waiting().await.iter().any(|one| one.error.as_ref().unwrap().contains("closed for lunch")));
    // Not before its time.
    assert_eq!(send(&hall).await, Sending::default());
    let mut given_up = 0;
    for _ in 0..12 {
        hall.clock.advance(Duration::from_hours(25));
        given_up += send(&hall).await.given_up;
    }
    assert_eq!((given_up, waiting().await.len()), (2, 0));
    let all = hall.messages().await;
    let dead = all.iter().find(|message| message.kind == "digest").unwrap();
    assert_eq!((dead.attempts, dead.sent_at), (10, None));
    assert!(dead.error.as_ref().unwrap().contains("status 500"), "{dead:?}");
    let letters = jobs(&hall).await;
    assert_eq!((letters.len(), letters[0].job.state, letters[0].job.attempt), (2, JobState::Dead, 10));
    assert!(letters.iter().any(|letter| letter.job.error.as_ref().unwrap().message.contains("status 500")));
    assert!(hall.store.civic().retry_notification(&dead.key).await.unwrap());
    // A person wants it: it has all its attempts before it, and is no dead letter any more.
    assert_eq!(send(&hall).await, Sending { later: 1, ..Sending::default() });
    assert_eq!(jobs(&hall).await.iter().filter(|view| view.job.state == JobState::Dead).count(), 1);
}

/// ▲ To those whose alerts name the city, each address once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_27_those_who_asked_for_a_city_hear_of_its_first_meeting_once() {
    let hall = Hall::new().await;
    let civic = hall.store.civic();
    civic.request_city(CITY).await.unwrap();
    for (id, keywords) in [("ann", vec![]), ("bob", vec!["nothing of the kind"])] {
        civic.put_alert(alert(id, &keywords, "weekly")).await.unwrap();
    }
    let mut second = alert("ann2", &["trees"], "daily");
    second.channels = alert("ann", &[], "daily").channels;
    civic.put_alert(second).await.unwrap();
    let mut elsewhere = alert("carl", &[], "daily");
    elsewhere.cities = vec!["oaklandCA".to_owned()];
    civic.put_alert(elsewhere).await.unwrap();
    hall.visit(vec![meeting("1", "City Council", date(2026, 3, 9), 18)]).await;
    // Whoever finds out who is told, again or at the same time, makes each message once.
    hall.pass().await;
    send(&hall).await;
    hall.visit(vec![meeting("1", "City Council", date(2026, 3, 9), 18)]).await;
    hall.pass().await;
    send(&hall).await;
    let mut told: Vec<String> = hall
        .messages()
        .await
        .into_iter()
        .filter(|message| message.kind == "city_activated" && message.sent_at.is_some())
        .filter_map(|message| Some(message.channel?.address))
        .collect();
    told.sort();
    assert_eq!(told, ["ann@example.org", "bob@example.org"]);
    let sent = hall.messages().await.into_iter().filter(|it| it.channel.is_some() && it.sent_at.is_some()).count();
    assert_eq!(fs::read_dir(outbox(&hall)).unwrap().count(), sent);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_is_a_file_and_the_same_one_when_it_is_written_again() {
    let hall = Hall::new().await;
    hall.store.civic().put_alert(alert("ann", &[], "weekly")).await.unwrap();
    cancelled(&hall).await;
    let message = hall.messages().await.into_iter().find(|message| message.kind == "meeting_cancelled").unwrap();
    send(&hall).await;
    let file = outbox(&hall).join(format!("{}.eml", eml::id_of(&message.key)));
    let once = fs::read(&file).unwrap();
    let letter = Letter::from_message(&message).unwrap();
    let envelope = eml::Envelope {
        from: "bindery@city.example",
        to: "ann@example.org",
        key: &message.key,
        at: message.created_at.unwrap(),
    };
    assert_eq!(once, eml::write(&letter, &envelope).unwrap());
    let text = String::from_utf8(once).unwrap();
    for line in ["To: ann@example.org\r\n", "Message-ID: <", "Content-Type: multipart/alternative"] {
        assert!(text.contains(line), "{text}");
    }
    let mut files = fs::read_dir(outbox(&hall)).unwrap().map(|entry| entry.unwrap().path());
    assert!(files.all(|file| file.extension().is_some_and(|ending| ending == "eml")));
}

const HOSTILE: &str = "Lease\r\nBcc: all@example.org\n<script>alert(1)</script> \"><img src=x onerror=alert(1)> 'pier'";

/// Whatever vendors write, a page has nothing in it that runs, and nothing that is fetched.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_titles_links_and_addresses_are_text() {
    let hall = Hall::new().await;
    let civic = hall.store.civic();
    civic.put_alert(alert("ann", &["pier"], "weekly")).await.unwrap();
    let mut bad = council();
    bad.title = Some(format!("Council {HOSTILE}"));
    bad.location = Some(HOSTILE.to_owned());
    bad.agenda_url = Some("javascript:alert(1)".to_owned());
    bad.items[2].title = HOSTILE.to_owned();
    let mut document = crate::hall::document("x");
    (document.name, document.url) = (HOSTILE.to_owned(), "JavaScript:alert(1)".to_owned());
    bad.items[2].attachments = vec![document];
    hall.visit(vec![bad.clone()]).await;
    let pier = hall.items("1").await[2].clone();
    let summary = "**Pier** [click](javascript:alert(1)) <iframe src=https://evil.example></iframe> ![x](https://evil.example/x.png)\n\n- [ok](https://example.com/a\" onclick=\"alert(1))";
    hall.summarise(&pier, summary, &[]).await;
    hall.pass().await;
    bad.status = Some(MeetingStatus::Cancelled);
    hall.visit(vec![bad]).await;
    hall.pass().await;
    let mut seen = 0;
    let letters = hall.messages().await.into_iter().filter_map(|message: Notification| Letter::from_message(&message));
    for letter in letters {
        seen += 1;
        harmless(&letter.html);
        let envelope =
            eml::Envelope { from: "a@b.example", to: "ann@example.org", key: "k", at: hall.store.clock().now() };
        let mail = String::from_utf8(eml::write(&letter, &envelope).unwrap()).unwrap();
        let head = mail.split("\r\n\r\n").next().unwrap();
        assert!(!head.to_lowercase().contains("\nbcc"), "{head}");
        assert!(letter.text.lines().all(|line| !line.starts_with("Bcc:")), "{}", letter.text);
    }
    // The city and the message to who follows it, the meeting that is new, the digest that tells it, the cancellation.
    assert_eq!(seen, 5);
    let mut evil = alert("eve", &[], "weekly");
    evil.channels =
        vec![Channel { kind: "mail".to_owned(), address: "eve@x.example\r\nBcc: all@example.org".to_owned() }];
    civic.put_alert(evil).await.unwrap();
    let mut other = council();
    other.vendor_id = "2".to_owned();
    hall.visit(vec![council(), other]).await;
    hall.pass().await;
    let sent = send(&hall).await;
    assert!(sent.given_up >= 1, "{sent:?}");
}

fn harmless(page: &str) {
    let html = Html::parse(page);
    for tag in ["script", "iframe", "img", "form", "object", "link", "style", "base"] {
        assert!(html.select(tag).is_empty(), "{tag}: {page}");
    }
    let links = html.select("a");
    assert!(links.iter().all(|link| link.attribute("href").is_some_and(|url| url.starts_with("http"))), "{page}");
    for element in html.select("a, p, div, li, span, h1, h2, h3, h4, ul, strong, em") {
        for handler in ["onclick", "onerror", "onload"] {
            assert!(element.attribute(handler).is_none(), "{page}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_digest_says_what_a_citizen_wants_to_know() {
    let hall = Hall::new().await;
    let mut before = council();
    before.items[2].attachments = vec![crate::hall::document("Lease")];
    hall.visit(vec![before.clone(), meeting("2", "Planning Commission", date(2026, 3, 11), 19)]).await;
    before.location = Some("Library".to_owned());
    before.items.remove(2);
    hall.visit(vec![before, meeting("2", "Planning Commission", date(2026, 3, 11), 19)]).await;
    let rezoning = hall.items("1").await[1].clone();
    let summary = "Allows **120 homes** at the harbour.\n\n- first reading\n- see [the map](https://example.com/map)";
    hall.summarise(&rezoning, summary, &["housing"]).await;
    let request = |alert| DigestRequest {
        cities: vec![hall.city.clone()],
        alert,
        from: date(2026, 3, 2),
        days: 14,
        since: date(2026, 3, 1),
    };
    let digest = notices::digest(&*hall.store, &request(None)).await.unwrap();
    assert_eq!(digest, notices::digest(&*hall.store, &request(None)).await.unwrap());
    let told = text::digest(&digest);
    for part in [
        "Palo Alto, CA: 2 meetings",
        "Monday, March 9, 2026, 6:00 PM PDT",
        "Library",
        "Ordinance rezoning 400 Harbour Street to mixed use",
        "Allows 120 homes at the harbour.",
        "- see the map <https://example.com/map>",
        "Housing & Development",
        "New place: City Hall → Library",
        "Item removed: Lease of the pier to a party boat",
        "1 item without business left out",
        "No agenda has been posted yet.",
        "https://example.com/agenda/1",
    ] {
        assert!(told.contains(part), "{part}\n{told}");
    }
    assert!(told.lines().all(|line| line.chars().count() <= 76 || line.contains("://")), "{told}");
    let page = html::digest(&digest);
    harmless(&page);
    let parsed = Html::parse(&page);
    assert!(parsed.first("strong").is_some() && parsed.root().text().contains("Allows 120 homes at the harbour."));
    // For an alert, what it is about; the rest of the calendar in short.
    let only = notices::digest(&*hall.store, &request(Some(alert("ann", &["homes"], "weekly")))).await.unwrap();
    assert_eq!((only.cities[0].meetings.len(), only.cities[0].also.len()), (1, 1));
    assert_eq!(only.cities[0].meetings[0].items[0].why, ["homes"]);
    let none: Digest = notices::digest(&*hall.store, &request(Some(alert("b", &["zebra"], "weekly")))).await.unwrap();
    assert!(none.cities[0].meetings.is_empty());
}
