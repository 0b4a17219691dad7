//! What reading a city's documents leaves behind: texts by content, and what a job finds out while it is held.

use crate::changes::{CITY, city, meeting};
use bindery_civic::records::{Applied, CivicChanges, CivicJob, KnownDocument, KnownText, Meeting};
use bindery_conformance::{
    Fixture,
    fixture::{LEASE, error},
};
use bindery_core::{
    ContentHash,
    error::ErrorClass,
    job::{ClaimedJob, JobState},
};
use bindery_store::JobEnd;

const MEETING: &str = "paloaltoCA_m1";

/// A meeting with a summary, found out under a claim.
fn found_out(claim: &ClaimedJob, revision: i64, summary: &str, end: JobEnd) -> CivicChanges {
    let mut changes = CivicChanges::of_meeting(CITY, MEETING, revision);
    changes.meeting = Some(Meeting { summary: Some(summary.to_owned()), ..meeting(MEETING) });
    changes.claim = Some((claim.job.id, claim.token, end));
    changes
}

pub(crate) async fn what_a_job_finds_out_is_stored_bit_by_bit_while_it_is_held(f: &Fixture) {
    let civic = city(f).await;
    let mut changes = CivicChanges::of_meeting(CITY, MEETING, 0);
    changes.meeting = Some(meeting(MEETING));
    changes.jobs.push(CivicJob::meeting(MEETING, 7));
    civic.apply(vec![changes]).await.unwrap();
    let apply = async |changes| civic.apply(vec![changes]).await.unwrap()[0];
    let summary = async || civic.meeting(MEETING).await.unwrap().unwrap().summary;

    let slow = f.claim_one().await;
    assert_eq!(
        apply(found_out(&slow, 1, "one", JobEnd::Hold { has_advanced: false })).await,
        Applied::Stored { revision: 2 }
    );
    assert_eq!(
        apply(found_out(&slow, 2, "two", JobEnd::Hold { has_advanced: false })).await,
        Applied::Stored { revision: 3 }
    );
    let job = f.stored(slow.job.id).await;
    assert_eq!((job.state, job.attempt), (JobState::Running, 1), "the claim goes on");

    // The worker stops answering, and the next one takes the job up where it was left.
    f.advance(LEASE.as_secs() + 1);
    f.store.sweep().await.unwrap();
    let next = f.claim_suspects_as("next", 1).await.remove(0);
    assert_eq!(next.job.id, slow.job.id);
    for end in [JobEnd::Hold { has_advanced: false }, JobEnd::Done] {
        assert_eq!(apply(found_out(&slow, 3, "late", end)).await, Applied::LeaseLost);
        assert_eq!(summary().await.as_deref(), Some("two"), "nothing was stored");
    }
    assert_eq!(
        apply(found_out(&next, 3, "three", JobEnd::Hold { has_advanced: false })).await,
        Applied::Stored { revision: 4 }
    );
    assert_eq!(apply(found_out(&next, 4, "four", JobEnd::Done)).await, Applied::Stored { revision: 5 });
    assert_eq!(summary().await.as_deref(), Some("four"));
    assert_eq!(f.view(next.job.id).await, None, "it has ended");
    assert_eq!(apply(found_out(&next, 5, "five", JobEnd::Hold { has_advanced: false })).await, Applied::LeaseLost);
}

pub(crate) async fn files_are_known_by_address_and_by_content(f: &Fixture) {
    let civic = city(f).await;
    let url = |name: &str| format!("https://example.com/{name}.pdf");
    let document = |name: &str, hash: Option<&str>| KnownDocument {
        url: url(name),
        content_sha256: hash.map(str::to_owned),
        bytes: hash.map(|_| 7),
        etag: Some("\"1\"".to_owned()),
        checked_at: Some(f.now()),
        ..KnownDocument::default()
    };
    let dead = KnownDocument {
        why: Some("dead_link".to_owned()),
        message: Some("404".to_owned()),
        failures: 3,
        ..document("gone", None)
    };
    for known in [document("report", Some("aa")), document("copy", Some("aa")), dead.clone()] {
        civic.put_document(known).await.unwrap();
    }
    let asked = [url("report"), url("gone"), url("unknown")];
    let known = civic.known_documents(&asked).await.unwrap();
    assert_eq!(known, [dead.clone(), document("report", Some("aa"))]);
    // The site has another file there now.
    civic.put_document(document("report", Some("bb"))).await.unwrap();
    assert_eq!(civic.known_documents(&asked[..1]).await.unwrap()[0].content_sha256.as_deref(), Some("bb"));
    let nameless = civic.put_document(KnownDocument::default()).await.unwrap_err();
    assert_eq!(nameless.to_string(), "url of a document: expected one, found an empty text");

    let text = |hash: &str, reader: &str, pages| KnownText {
        content_sha256: hash.to_owned(),
        reader: reader.to_owned(),
        text: Some(ContentHash::of(hash.as_bytes())),
        length: 12,
        file_type: "pdf".to_owned(),
        page_count: pages,
        warnings: vec!["page 2: no text".to_owned()],
        read_at: Some(f.now()),
        ..KnownText::default()
    };
    for read in [text("aa", "1", 2), text("aa", "2", 3), text("bb", "1", 4), text("aa", "1", 2)] {
        civic.put_text(read).await.unwrap();
    }
    let hashes = ["aa".to_owned(), "bb".to_owned(), "cc".to_owned()];
    assert_eq!(civic.known_texts(&hashes, "1").await.unwrap(), [text("aa", "1", 2), text("bb", "1", 4)]);
    assert_eq!(civic.known_texts(&hashes, "2").await.unwrap(), [text("aa", "2", 3)]);
    assert_eq!(civic.known_texts(&hashes, "3").await.unwrap(), [], "other rules have not read it");
    let encrypted = KnownText { text: None, length: 0, why: Some("encrypted".to_owned()), ..text("dd", "1", 0) };
    civic.put_text(KnownText { read_at: None, ..encrypted.clone() }).await.unwrap();
    assert_eq!(civic.known_texts(&["dd".to_owned()], "1").await.unwrap(), [encrypted], "read now");
    assert!(civic.put_text(KnownText { reader: String::new(), ..text("dd", "", 0) }).await.is_err());
}

pub(crate) async fn words_that_mean_no_topic_are_counted(f: &Fixture) {
    let civic = city(f).await;
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    civic.count_unknown_topics(CITY, &words(&["bees", "bees", "kites"])).await.unwrap();
    f.advance(60);
    civic.count_unknown_topics(CITY, &words(&["bees"])).await.unwrap();
    civic.count_unknown_topics("oaklandCA", &words(&["bees"])).await.unwrap();
    civic.count_unknown_topics("oaklandCA", &[]).await.unwrap();
    let seen = |found: Vec<bindery_civic::records::UnknownTopic>| {
        found.into_iter().map(|topic| (topic.city_key, topic.topic, topic.count)).collect::<Vec<_>>()
    };
    let row = |city_key: &str, topic: &str, count| (city_key.to_owned(), topic.to_owned(), count);
    let of_city = civic.unknown_topics(Some(CITY)).await.unwrap();
    assert_eq!(of_city[0].last_seen, Some(f.now()));
    assert_eq!(seen(of_city), [row(CITY, "bees", 3), row(CITY, "kites", 1)]);
    let all = seen(civic.unknown_topics(None).await.unwrap());
    assert_eq!(all, [row(CITY, "bees", 3), row("oaklandCA", "bees", 1), row(CITY, "kites", 1)]);
}

pub(crate) async fn what_was_given_up_long_ago_is_forgotten(f: &Fixture) {
    let civic = city(f).await;
    let asked = async |name: &str| {
        let mut changes = CivicChanges::of_city(CITY);
        changes.jobs.push(CivicJob::meeting(format!("{CITY}_{name}"), 1));
        civic.apply(vec![changes]).await.unwrap();
    };
    let left = async || {
        let jobs = civic.queue_jobs(None, None).await.unwrap();
        jobs.into_iter().map(|job| job.meeting_id).collect::<Vec<_>>()
    };
    let dead = || JobEnd::Dead { error: error("Trouble", ErrorClass::Retry), resume: None };
    asked("old").await;
    f.end(&f.claim_one().await, dead()).await;
    asked("waiting").await;
    f.advance(100);
    let now = f.now();
    asked("new").await;
    f.end(&f.claim_as("worker", 2).await[1], dead()).await;
    assert_eq!(civic.forget_given_up(now).await.unwrap(), 1);
    assert_eq!(left().await, ["paloaltoCA_waiting", "paloaltoCA_new"], "neither what waits nor what is young");
    assert_eq!(civic.forget_given_up(now).await.unwrap(), 0);
    asked("old").await;
    assert_eq!(left().await.len(), 3, "it is asked for anew");
}
