//! What is found out about a meeting is stored whole, once, and with the work that follows from it.

use crate::cities::put_cities;
use bindery_civic::records::{
    AgendaItem, Appearance, Applied, Attachment, Ballot, ChangeFilter, ChangeKind, Civic as _, CivicChanges,
    CivicDomain, CivicJob, CivicPayload, CivicRecords, CivicTask, ItemRevision, Jurisdiction, Matter, Meeting,
    NewMeetingChange, Notification, Processing, QueueStatus, RequestStatus, SnapshotRequest, VoteEvent,
    standing_submission,
};
use bindery_conformance::{
    Fixture,
    fixture::{LEASE, error, event},
};
use bindery_core::{
    Timestamp,
    error::ErrorClass,
    job::{JobState, Token},
};
use bindery_store::{JobEnd, rows::Domain as _};
use serde_json::json;

pub(crate) const CITY: &str = "paloaltoCA";
const MEETING: &str = "paloaltoCA_m1";
const ITEM: &str = "paloaltoCA_m1_i1";
const MATTER: &str = "paloaltoCA_bill";

/// A store that knows a city.
pub(crate) async fn city(f: &Fixture) -> CivicRecords<'_> {
    let civic = f.store.civic();
    put_cities(&civic, vec![jurisdiction(CITY, "Palo Alto")]).await.unwrap();
    civic
}

pub(crate) fn jurisdiction(city_key: &str, name: &str) -> Jurisdiction {
    Jurisdiction {
        city_key: city_key.to_owned(),
        name: name.to_owned(),
        state: city_key[city_key.len() - 2..].to_owned(),
        vendor: "legistar".to_owned(),
        slug: name.to_lowercase(),
        ..Jurisdiction::default()
    }
}

pub(crate) fn meeting(id: &str) -> Meeting {
    Meeting {
        id: id.to_owned(),
        city_key: CITY.to_owned(),
        vendor: "legistar".to_owned(),
        vendor_id: id.to_owned(),
        title: "City Council".to_owned(),
        starts_at: Some(Timestamp::from_millis(1_000_000)),
        agenda_url: Some("https://example.com/agenda".to_owned()),
        ..Meeting::default()
    }
}

fn item(id: &str) -> AgendaItem {
    let meeting_id = id.rsplit_once('_').unwrap().0.to_owned();
    AgendaItem { id: id.to_owned(), meeting_id, title: "A bridge".to_owned(), sequence: 1, ..AgendaItem::default() }
}

fn attachment(name: &str) -> Attachment {
    Attachment { name: name.to_owned(), url: format!("https://example.com/{name}"), ..Attachment::default() }
}

fn matter(last_seen: i64) -> Matter {
    let seen = Some(Timestamp::from_millis(last_seen));
    Matter {
        id: MATTER.to_owned(),
        city_key: CITY.to_owned(),
        title: "A bridge".to_owned(),
        first_seen: seen,
        last_seen: seen,
        ..Matter::default()
    }
}

fn appearance(meeting: &str, item: &str) -> Appearance {
    let (matter_id, meeting_id) = (MATTER.to_owned(), meeting.to_owned());
    Appearance { matter_id, meeting_id, item_id: item.to_owned(), ..Appearance::default() }
}

/// A meeting with one item, read at this revision.
pub(crate) fn changes(id: &str, revision: i64) -> CivicChanges {
    CivicChanges {
        meeting: Some(meeting(id)),
        items: vec![item(&format!("{id}_i1"))],
        ..CivicChanges::of_meeting(CITY, id, revision)
    }
}

/// Changes a meeting as it is, whoever else changes it at the same time.
pub(crate) async fn change_meeting(f: &Fixture, id: &str, change: impl Fn(&mut Meeting)) {
    loop {
        let mut row = f.store.civic().meeting(id).await.unwrap().unwrap();
        let mut told = CivicChanges::of_meeting(CITY, id, row.revision);
        change(&mut row);
        told.meeting = Some(row);
        if apply(f, told).await.is_stored() {
            return;
        }
    }
}

pub(crate) async fn summarise_item(f: &Fixture, id: &str, summary: &str, topics: &[String]) {
    loop {
        let mut item = f.store.civic().agenda_item(id).await.unwrap().unwrap();
        let revision = f.store.civic().meeting(&item.meeting_id).await.unwrap().unwrap().revision;
        item.update_agenda_item(Some(summary.to_owned()), topics.to_vec());
        let mut told = CivicChanges::of_meeting(CITY, &item.meeting_id, revision);
        told.items.push(item);
        if apply(f, told).await.is_stored() {
            return;
        }
    }
}

pub(crate) async fn complete(f: &Fixture, id: &str, method: &str, seconds: f64) {
    change_meeting(f, id, |row| {
        row.mark_processing_complete(method.to_owned(), row.content_hash.clone());
        row.processing_seconds = Some(seconds);
    })
    .await;
}

async fn apply(f: &Fixture, changes: CivicChanges) -> Applied {
    let applied = f.store.civic().apply(vec![changes]).await.unwrap();
    assert_eq!(applied.len(), 1);
    applied[0]
}

fn stored(revision: i64) -> Applied {
    Applied::Stored { revision }
}

pub(crate) async fn s001_24_a_resync_keeps_summaries_and_processing_state(f: &Fixture) {
    let civic = city(f).await;
    let mut first = changes(MEETING, 0);
    first.items[0].attachments = vec![Attachment { content_sha256: Some("ab".to_owned()), ..attachment("a.pdf") }];
    first.items[0].body_text = Some("About a bridge.".to_owned());
    assert_eq!(apply(f, first).await, stored(1));
    let topics = vec!["roads".to_owned()];
    change_meeting(f, MEETING, |row| row.update_meeting_summary(Some("They met.".to_owned()), topics.clone())).await;
    summarise_item(f, ITEM, "A bridge is built.", &topics).await;
    complete(f, MEETING, "item_level_1_items", 2.5).await;
    // The listing has lost a link and knows nothing of summaries.
    let mut again = changes(MEETING, 4);
    again.meeting = again.meeting.map(|meeting| Meeting { agenda_url: None, title: "Renamed".to_owned(), ..meeting });
    again.items[0].attachments = vec![attachment("a.pdf"), attachment("b.pdf")];
    assert_eq!(apply(f, again).await, stored(5));
    let kept = civic.meeting(MEETING).await.unwrap().unwrap();
    assert_eq!((kept.title.as_str(), kept.summary.as_deref()), ("Renamed", Some("They met.")));
    assert_eq!((kept.topics.as_slice(), kept.agenda_url.is_some()), (topics.as_slice(), true));
    assert_eq!(kept.processing_status, Some(Processing::Completed));
    assert_eq!((kept.processing_method.as_deref(), kept.processing_seconds), (Some("item_level_1_items"), Some(2.5)));
    let kept = civic.agenda_item(ITEM).await.unwrap().unwrap();
    assert_eq!(
        (kept.summary.as_deref(), kept.body_text.as_deref()),
        (Some("A bridge is built."), Some("About a bridge."))
    );
    let hashes: Vec<Option<&str>> = kept.attachments.iter().map(|known| known.content_sha256.as_deref()).collect();
    assert_eq!(hashes, [Some("ab"), None], "what was learned of a document is kept");
    let mut without = changes(MEETING, 5);
    without.items[0].sequence = 7;
    assert_eq!(apply(f, without).await, stored(6));
    assert_eq!(civic.agenda_item(ITEM).await.unwrap().unwrap().attachments.len(), 2);
}

pub(crate) async fn the_same_again_changes_nothing(f: &Fixture) {
    let civic = city(f).await;
    let whole = |revision| CivicChanges {
        matters: vec![matter(5)],
        appearances: vec![appearance(MEETING, ITEM)],
        votes: vec![vote("v1", 0, "yes")],
        ..changes(MEETING, revision)
    };
    assert_eq!(apply(f, whole(0)).await, stored(1));
    let before = (civic.meeting(MEETING).await.unwrap(), civic.agenda(MEETING).await.unwrap());
    let matter = civic.matter(MATTER).await.unwrap();
    f.advance(60);
    assert_eq!(apply(f, whole(1)).await, stored(1));
    assert_eq!((civic.meeting(MEETING).await.unwrap(), civic.agenda(MEETING).await.unwrap()), before);
    assert_eq!(civic.matter(MATTER).await.unwrap(), matter);
    let meeting = before.0.unwrap();
    assert_eq!((meeting.revision, meeting.created_at, meeting.updated_at), (1, meeting.updated_at, meeting.created_at));
}

pub(crate) async fn s001_28_a_meeting_and_its_jobs_are_stored_together_or_not_at_all(f: &Fixture) {
    let civic = city(f).await;
    let with_job = |revision, job: CivicJob| CivicChanges {
        jobs: vec![job],
        events: vec![event("MeetingAdded", None)],
        ..changes(MEETING, revision)
    };
    // A job that cannot be: nothing of the meeting either.
    let wrong = civic.apply(vec![with_job(0, CivicJob::meeting("oaklandCA_m1", 1))]).await;
    assert!(wrong.unwrap_err().to_string().contains("paloaltoCA_…"));
    assert_eq!(civic.meeting(MEETING).await.unwrap(), None);
    assert_eq!(f.store.find_submission(&standing_submission(CITY)).await.unwrap(), None);
    // Somebody was faster: no job, no event.
    assert_eq!(apply(f, with_job(3, CivicJob::meeting(MEETING, 1))).await, Applied::Stale { revision: 0 });
    assert_eq!((civic.meeting(MEETING).await.unwrap(), f.events().await.len()), (None, 0));
    f.assert_nothing_to_claim("the changes were stale").await;

    assert_eq!(apply(f, with_job(0, CivicJob::meeting(MEETING, 1))).await, stored(1));
    let standing = f.store.find_submission("civic:paloaltoCA").await.unwrap().unwrap();
    assert_eq!((&*standing.workflow, standing.status.is_final()), ("civic", false));
    let claim = f.claim_one().await;
    assert_eq!((claim.job.submission, &*claim.job.queue, &*claim.job.stage), (standing.id, "q.civic", "meeting"));
    let payload = CivicPayload::read(&claim.job.payload).unwrap();
    assert_eq!(payload.task, CivicTask::Meeting { meeting_id: MEETING.to_owned() });
    let events = f.events().await;
    assert_eq!((events.len(), events[0].submission), (1, Some(standing.id)));
    assert_eq!(events[0].envelope().submission_id.as_deref(), Some("civic:paloaltoCA"));
    // The submission is made once.
    assert_eq!(apply(f, with_job(1, CivicJob::matter(MATTER, MEETING, vec![], 1))).await, stored(1));
    assert_eq!(f.jobs_on("q.civic").await.iter().filter(|job| job.submission == standing.id).count(), 2);
}

pub(crate) async fn a_stale_change_does_not_disturb_its_neighbours(f: &Fixture) {
    let civic = city(f).await;
    assert_eq!(apply(f, changes(MEETING, 0)).await, stored(1));
    let other = || changes("paloaltoCA_m2", 0);
    let mut late = changes(MEETING, 0);
    late.meeting = late.meeting.map(|meeting| Meeting { title: "Late".to_owned(), ..meeting });
    let applied = civic.apply(vec![late, other(), other()]).await.unwrap();
    assert_eq!(applied, [Applied::Stale { revision: 1 }, stored(1), Applied::Stale { revision: 0 }]);
    assert_eq!(civic.meeting(MEETING).await.unwrap().unwrap().title, "City Council");
    assert_eq!(civic.apply(vec![]).await.unwrap(), []);
}

pub(crate) async fn of_two_changes_at_once_one_is_stored(f: &Fixture) {
    let civic = city(f).await;
    for revision in 0..5 {
        let titled = |title: &str| {
            let mut changes = changes(MEETING, revision);
            changes.meeting =
                changes.meeting.map(|meeting| Meeting { title: format!("{title} {revision}"), ..meeting });
            changes.jobs = vec![CivicJob::meeting(MEETING, 1)];
            vec![changes]
        };
        let (one, other) = tokio::join!(civic.apply(titled("one")), civic.apply(titled("other")));
        let mut applied = [one.unwrap()[0], other.unwrap()[0]];
        applied.sort_by_key(|applied| !applied.is_stored());
        assert_eq!(applied, [stored(revision + 1), Applied::Stale { revision: revision + 1 }]);
    }
    assert_eq!(f.jobs_on("q.civic").await.len(), 1);
}

pub(crate) async fn changes_of_an_unknown_city_or_meeting_are_refused(f: &Fixture) {
    let civic = f.store.civic();
    let refused = async |changes: CivicChanges| civic.apply(vec![changes]).await.unwrap_err().to_string();
    assert!(refused(changes(MEETING, 0)).await.contains("paloaltoCA: no such jurisdiction is stored"));
    city(f).await;
    let parts_only = CivicChanges { meeting: None, ..changes(MEETING, 0) };
    assert!(refused(parts_only).await.contains("paloaltoCA_m1: no such meeting is stored"));
    let mut foreign = changes(MEETING, 0);
    foreign.items.push(item("paloaltoCA_m2_i1"));
    assert!(refused(foreign).await.contains(r#"item of meeting "paloaltoCA_m2""#));
    let mut elsewhere = changes(MEETING, 0);
    elsewhere.meeting = elsewhere.meeting.map(|meeting| Meeting { city_key: "oaklandCA".to_owned(), ..meeting });
    assert!(refused(elsewhere).await.contains("oaklandCA"));
    assert_eq!(civic.meeting(MEETING).await.unwrap(), None);
}

pub(crate) async fn s001_37_a_meeting_or_matter_has_one_live_job(f: &Fixture) {
    city(f).await;
    let wish =
        async |revision, job: CivicJob| apply(f, CivicChanges { jobs: vec![job], ..changes(MEETING, revision) }).await;
    wish(0, CivicJob::meeting(MEETING, 5).reading("old")).await;
    wish(1, CivicJob::meeting(MEETING, 3).reading("new")).await;
    wish(1, CivicJob::matter(MATTER, MEETING, vec![], 1)).await;
    let jobs = f.jobs_on("q.civic").await;
    let keys: Vec<Option<&str>> = jobs.iter().map(|job| job.dedup_key.as_deref()).collect();
    assert_eq!(keys, [Some("meeting://paloaltoCA_m1"), Some("matter://paloaltoCA_bill")]);
    assert_eq!(jobs[0].priority, 5, "it is never made less urgent");
    // One that runs has begun with what was known then.
    let running = f.claim_one().await;
    assert_eq!(CivicPayload::read(&running.job.payload).unwrap().content_hash.as_deref(), Some("new"));
    wish(1, CivicJob::meeting(MEETING, 9).reading("newest")).await;
    assert_eq!(f.jobs_on("q.civic").await.len(), 2);
    f.done(&running).await;
    let again = f.claim_one().await;
    assert_eq!((again.job.id, again.job.priority), (running.job.id, 9));
    assert_eq!(CivicPayload::read(&again.job.payload).unwrap().content_hash.as_deref(), Some("newest"));
    f.done(&again).await;
    assert_eq!(f.jobs_on("q.civic").await.len(), 1);
}

pub(crate) async fn s001_39_the_urgent_come_first_and_meetings_before_matters(f: &Fixture) {
    city(f).await;
    let mut all = changes(MEETING, 0);
    all.jobs = vec![
        CivicJob::matter(MATTER, MEETING, vec![], 50),
        CivicJob::meeting("paloaltoCA_m9", 120),
        CivicJob::meeting(MEETING, 150),
        CivicJob::matter("paloaltoCA_act", MEETING, vec![], -100),
    ];
    apply(f, all).await;
    let mut order = Vec::new();
    for _ in 0..4 {
        order.push(f.claim_one().await.job.dedup_key.unwrap());
    }
    let keys =
        ["meeting://paloaltoCA_m1", "meeting://paloaltoCA_m9", "matter://paloaltoCA_bill", "matter://paloaltoCA_act"];
    assert_eq!(order, keys);
}

pub(crate) async fn s001_35_jobs_are_seen_as_people_know_them(f: &Fixture) {
    let civic = city(f).await;
    assert_eq!(civic.queue_jobs(Some(CITY), None).await.unwrap(), []);
    let mut all = changes(MEETING, 0);
    let items = vec![ITEM.to_owned()];
    let names = ["m1", "m2", "m3", "m4"];
    all.jobs = names.map(|name| CivicJob::meeting(format!("{CITY}_{name}"), 10)).into();
    all.jobs.push(CivicJob::matter(MATTER, MEETING, items.clone(), 1));
    apply(f, all).await;
    let queued_at = f.now();
    f.advance(60);
    let claims = f.claim(4).await;
    let claimed_at = f.now();
    f.advance(30);
    let dead = |class| JobEnd::Dead { error: error("Trouble", class), resume: None };
    f.end(&claims[1], dead(ErrorClass::Retry)).await;
    f.end(&claims[2], dead(ErrorClass::Reject)).await;
    f.done(&claims[3]).await;
    let jobs = civic.queue_jobs(Some(CITY), None).await.unwrap();
    let statuses: Vec<QueueStatus> = jobs.iter().map(|job| job.status).collect();
    // Finished ones leave no row.
    assert_eq!(statuses, [QueueStatus::Processing, QueueStatus::Pending, QueueStatus::DeadLetter, QueueStatus::Failed]);
    let waiting = &jobs[1];
    let (matter_id, meeting_id) = (MATTER.to_owned(), MEETING.to_owned());
    assert_eq!(waiting.payload, CivicTask::Matter { matter_id, meeting_id, item_ids: items });
    assert_eq!((waiting.job_type.as_str(), waiting.city_key.as_str(), waiting.priority), ("matter", CITY, 1));
    assert_eq!((waiting.retry_count, waiting.source_url.as_str()), (0, "matter://paloaltoCA_bill"));
    assert_eq!((waiting.created_at, &waiting.error_message), (queued_at, &None));
    assert_eq!((waiting.meeting_id.as_str(), waiting.started_at, waiting.completed_at), (MEETING, None, None));
    assert_eq!((jobs[0].started_at, jobs[0].failed_at), (Some(claimed_at), None));
    assert!(jobs[2..].iter().all(|job| (job.started_at, job.failed_at) == (Some(claimed_at), Some(f.now()))));
    assert_eq!((jobs[0].retry_count, jobs[2].retry_count), (0, 1));
    assert_eq!(jobs[2].error_message.as_deref(), Some("the work met Trouble"));
    assert_eq!(civic.queue_jobs(None, Some(2)).await.unwrap(), jobs[..2]);
    assert_eq!(civic.queue_jobs(Some("oaklandCA"), None).await.unwrap(), []);
}

pub(crate) async fn s001_36_a_row_of_the_queue_has_its_columns(f: &Fixture) {
    let civic = city(f).await;
    apply(f, CivicChanges { jobs: vec![CivicJob::meeting(MEETING, 0)], ..changes(MEETING, 0) }).await;
    let row = serde_json::to_value(&civic.queue_jobs(None, None).await.unwrap()[0]).unwrap();
    let mut columns: Vec<&String> = row.as_object().unwrap().keys().collect();
    columns.sort();
    let expected = [
        "banana",
        "completed_at",
        "created_at",
        "error_message",
        "failed_at",
        "id",
        "job_type",
        "meeting_id",
        "payload",
        "priority",
        "retry_count",
        "source_url",
        "started_at",
        "status",
    ];
    assert_eq!(columns, expected);
    assert_eq!(row["source_url"], "meeting://paloaltoCA_m1");
    assert_eq!(row["payload"], serde_json::json!({"job_type": "meeting", "meeting_id": MEETING}));
    assert_eq!((&row["status"], &row["priority"], &row["retry_count"]), (&"pending".into(), &0.into(), &0.into()));
}

/// ▲ Nothing starves: what waits rises by one each day, and a meeting that comes nearer rises with it.
pub(crate) async fn s001_30_what_waits_rises_by_one_each_day(f: &Fixture) {
    let civic = city(f).await;
    let mut undated = changes(MEETING, 0);
    undated.meeting.as_mut().unwrap().starts_at = None;
    undated.jobs = vec![CivicJob::meeting(MEETING, 0), CivicJob::matter(MATTER, MEETING, vec![ITEM.to_owned()], -100)];
    apply(f, undated).await;
    let priorities =
        async || -> Vec<i32> { civic.queue_jobs(None, None).await.unwrap().iter().map(|job| job.priority).collect() };
    assert_eq!((civic.age_waiting_jobs().await.unwrap(), priorities().await), (0, vec![0, -100]));
    f.advance(3 * 24 * 60 * 60);
    // As whatever ages out by itself does, in every worker.
    assert_eq!(CivicDomain.age_out(&*f.store).await.unwrap(), 0);
    assert_eq!((civic.age_waiting_jobs().await.unwrap(), priorities().await), (0, vec![3, -97]));
}

pub(crate) async fn what_was_given_up_stays_so_until_there_is_something_new(f: &Fixture) {
    let civic = city(f).await;
    let wish = async |job: CivicJob| {
        let mut changes = CivicChanges::of_city(CITY);
        changes.jobs = vec![job];
        assert_eq!(apply(f, changes).await, stored(0));
    };
    let job = || CivicJob::meeting(MEETING, 1).reading("one");
    let give_up = async || {
        let claim = f.claim_one().await;
        f.end(&claim, JobEnd::Dead { error: error("Trouble", ErrorClass::Retry), resume: None }).await;
    };
    wish(job()).await;
    give_up().await;
    wish(job()).await;
    f.assert_nothing_to_claim("it was given up, and is the same").await;
    wish(job().reading("two")).await;
    let jobs = civic.queue_jobs(None, None).await.unwrap();
    assert_eq!(jobs.iter().map(|job| job.status).collect::<Vec<_>>(), [QueueStatus::Pending], "one row");
    give_up().await;
    wish(job().reading("two").forced()).await;
    let claim = f.claim_one().await;
    f.done(&claim).await;
    assert_eq!(civic.queue_jobs(None, None).await.unwrap(), []);
    wish(job().reading("two")).await;
    assert_eq!(f.jobs_on("q.civic").await[0].state, JobState::Ready, "a finished one is no obstacle");
}

pub(crate) async fn an_effect_under_a_lost_lease_stores_nothing(f: &Fixture) {
    let civic = city(f).await;
    apply(f, CivicChanges { jobs: vec![CivicJob::meeting(MEETING, 1)], ..changes(MEETING, 0) }).await;
    let claim = f.claim_one().await;
    let effect = |token: Token, revision| {
        let mut effect = CivicChanges::of_meeting(CITY, MEETING, revision);
        effect.claim = Some((claim.job.id, token, JobEnd::Done));
        effect.meeting = Some(Meeting { summary: Some("They met.".to_owned()), ..meeting(MEETING) });
        effect.jobs = vec![CivicJob::matter(MATTER, MEETING, vec![], 1)];
        effect
    };
    let thief = Token(claim.token.0 + 1);
    assert_eq!(apply(f, effect(thief, 1)).await, Applied::LeaseLost);
    assert_eq!(apply(f, effect(claim.token, 0)).await, Applied::Stale { revision: 1 });
    assert_eq!(civic.meeting(MEETING).await.unwrap().unwrap().summary, None);
    assert_eq!(f.stored(claim.job.id).await.state, JobState::Running, "who is stale still has its job");
    assert_eq!(f.jobs_on("q.civic").await.len(), 1);
    assert_eq!(apply(f, effect(claim.token, 1)).await, stored(2));
    assert_eq!(f.view(claim.job.id).await, None);
    assert_eq!(civic.meeting(MEETING).await.unwrap().unwrap().summary.as_deref(), Some("They met."));
    assert_eq!(apply(f, effect(claim.token, 2)).await, Applied::LeaseLost, "an effect counts once");
    f.clock.advance(LEASE);
}

pub(crate) async fn a_matter_is_one_over_all_its_meetings(f: &Fixture) {
    let civic = city(f).await;
    let with = |meeting: &str, seen, name: &str| {
        let mut part = changes(meeting, 0);
        let hash = Some(name.to_owned());
        let title = format!("A bridge ({name})");
        let matter = Matter { title, attachments: vec![attachment(name)], attachment_hash: hash, ..matter(seen) };
        part.items[0].matter_id = Some(MATTER.to_owned());
        part.appearances = vec![appearance(meeting, &part.items[0].id)];
        part.matters = vec![matter];
        part
    };
    // Two meetings of one batch do not know of each other.
    let batch = vec![with(MEETING, 20, "new.pdf"), with("paloaltoCA_m2", 10, "old.pdf")];
    assert_eq!(civic.apply(batch).await.unwrap(), [stored(1), stored(1)]);
    let both = civic.matter(MATTER).await.unwrap().unwrap();
    let time = |millis| Some(Timestamp::from_millis(millis));
    assert_eq!((both.first_seen, both.last_seen, both.appearance_count), (time(10), time(20), 2));
    assert_eq!(both.attachment_hash.as_deref(), Some("new.pdf"), "an older meeting takes nothing back");
    let summarised =
        Matter { canonical_summary: Some("A bridge.".to_owned()), summary_hash: both.attachment_hash, ..matter(20) };
    apply(f, CivicChanges { matters: vec![summarised], ..CivicChanges::of_city(CITY) }).await;
    assert_eq!(civic.apply(vec![with("paloaltoCA_m3", 30, "newer.pdf")]).await.unwrap(), [stored(1)]);
    let third = civic.matter(MATTER).await.unwrap().unwrap();
    assert_eq!((third.appearance_count, third.canonical_summary.as_deref()), (3, Some("A bridge.")));
    assert_eq!((third.attachment_hash.as_deref(), third.summary_hash.as_deref()), (Some("newer.pdf"), Some("new.pdf")));
    assert_eq!(civic.appearances(MATTER).await.unwrap().len(), 3);
    assert_eq!(civic.items_of_matter(MATTER).await.unwrap().len(), 3);
    // What came of it is told later, and told of nothing else.
    let mut outcome = CivicChanges::of_meeting(CITY, MEETING, 1);
    outcome.appearances = vec![Appearance { vote_outcome: Some("passed".to_owned()), ..appearance(MEETING, ITEM) }];
    assert_eq!(apply(f, outcome).await, stored(2));
    assert_eq!(apply(f, at(2, with(MEETING, 20, "new.pdf"))).await, stored(2));
    let found = civic.appearances(MATTER).await.unwrap();
    let passed = found.iter().find(|appearance| appearance.meeting_id == MEETING).unwrap();
    assert_eq!(passed.vote_outcome.as_deref(), Some("passed"));
    // All of it again, the meetings in another order: nothing is new.
    let before = civic.matter(MATTER).await.unwrap();
    f.advance(60);
    let third = at(1, with("paloaltoCA_m3", 30, "newer.pdf"));
    let all = vec![third, at(1, with("paloaltoCA_m2", 10, "old.pdf")), at(2, with(MEETING, 20, "new.pdf"))];
    civic.apply(all).await.unwrap();
    assert_eq!(civic.matter(MATTER).await.unwrap(), before);
}

/// The same, read at another revision.
fn at(revision: i64, mut changes: CivicChanges) -> CivicChanges {
    changes.about = changes.about.map(|(id, _)| (id, revision));
    changes
}

fn vote(id: &str, ordinal: i64, vote: &str) -> VoteEvent {
    VoteEvent {
        id: format!("{ITEM}_{id}"),
        city_key: CITY.to_owned(),
        meeting_id: MEETING.to_owned(),
        item_id: Some(ITEM.to_owned()),
        matter_id: Some(MATTER.to_owned()),
        motion: Some(format!("Motion {id}")),
        ordinal,
        ballots: ["ann", "bob"]
            .map(|name| Ballot { person_id: format!("{CITY}_cm_{name}"), name: name.to_owned(), vote: vote.to_owned() })
            .into(),
        ..VoteEvent::default()
    }
}

pub(crate) async fn two_votes_on_one_item_survive_and_a_corrected_ballot_replaces(f: &Fixture) {
    let civic = city(f).await;
    let voted = CivicChanges { votes: vec![vote("b", 1, "yes"), vote("a", 0, "no")], ..changes(MEETING, 0) };
    apply(f, voted).await;
    let motions: Vec<String> = civic.votes(MEETING).await.unwrap().into_iter().filter_map(|vote| vote.motion).collect();
    assert_eq!(motions, ["Motion a", "Motion b"]);
    let of_several = civic.votes_of(&[MEETING.to_owned(), "another".to_owned()]).await.unwrap();
    assert_eq!(of_several, civic.votes(MEETING).await.unwrap());
    let ballots = async |person: &str| {
        let mut votes: Vec<String> = civic
            .ballots(&format!("{CITY}_cm_{person}"))
            .await
            .unwrap()
            .into_iter()
            .map(|ballot| ballot.vote)
            .collect();
        votes.sort();
        votes
    };
    assert_eq!(ballots("bob").await, ["no", "yes"]);
    let mut corrected = vote("b", 1, "abstain");
    corrected.ballots.pop();
    let mut changes = CivicChanges::of_meeting(CITY, MEETING, 1);
    changes.votes = vec![corrected];
    assert_eq!(apply(f, changes).await, stored(2));
    assert_eq!(
        (ballots("ann").await, ballots("bob").await),
        (vec!["abstain".to_owned(), "no".to_owned()], vec!["no".to_owned()])
    );
    assert_eq!(civic.votes_on(MATTER).await.unwrap().len(), 2);
}

pub(crate) async fn what_happens_to_a_meeting_is_its_history(f: &Fixture) {
    let civic = city(f).await;
    apply(f, changes(MEETING, 0)).await;
    f.advance(60);
    let mut moved = changes(MEETING, 1);
    moved.meeting = Some(Meeting {
        title: "Special Session".to_owned(),
        starts_at: Some(Timestamp::from_millis(9_000_000)),
        status: Some("cancelled".to_owned()),
        ..meeting(MEETING)
    });
    moved.items[0].removed_at = Some(f.now());
    moved.history = vec![
        NewMeetingChange::new(ChangeKind::Renamed, "City Council", "Special Session"),
        NewMeetingChange::new(ChangeKind::Cancelled, json!(null), "cancelled"),
        NewMeetingChange {
            item_id: Some(ITEM.to_owned()),
            ..NewMeetingChange::new(ChangeKind::ItemRemoved, "A bridge", json!(null))
        },
    ];
    moved.item_revisions = vec![ItemRevision {
        item_id: ITEM.to_owned(),
        meeting_id: MEETING.to_owned(),
        revision: 1,
        title: "A longer bridge".to_owned(),
        ..ItemRevision::default()
    }];
    assert_eq!(apply(f, moved).await, stored(2));
    assert_eq!(
        civic.meetings(bindery_civic::records::MeetingFilter::default()).await.unwrap().len(),
        1,
        "it is the same meeting"
    );
    let history =
        civic.meeting_changes(ChangeFilter { meeting_id: Some(MEETING.to_owned()), ..ChangeFilter::default() });
    let history = history.await.unwrap();
    let kinds: Vec<ChangeKind> = history.iter().map(|change| change.kind).collect();
    assert_eq!(kinds, [ChangeKind::Renamed, ChangeKind::Cancelled, ChangeKind::ItemRemoved]);
    assert_eq!((&history[0].before, &history[0].after), (&json!("City Council"), &json!("Special Session")));
    assert_eq!((history[0].revision, history[0].at, history[2].item_id.as_deref()), (2, f.now(), Some(ITEM)));
    let recent = ChangeFilter { city_key: Some(CITY.to_owned()), since: Some(f.after(1)), ..ChangeFilter::default() };
    assert_eq!(civic.meeting_changes(recent).await.unwrap(), []);
    let revisions = civic.item_revisions(MEETING).await.unwrap();
    assert_eq!(
        (revisions.len(), revisions[0].title.as_str(), revisions[0].seen_at),
        (1, "A longer bridge", Some(f.now()))
    );
    assert!(civic.agenda(MEETING).await.unwrap()[0].removed_at.is_some());
    let of_several = civic.agendas(&[MEETING.to_owned(), "another".to_owned()]).await.unwrap();
    assert_eq!(of_several, civic.agenda(MEETING).await.unwrap());
}

pub(crate) async fn the_first_meeting_of_a_city_is_told_once(f: &Fixture) {
    let civic = city(f).await;
    civic.request_city(CITY).await.unwrap();
    let snapshot = async || {
        civic.snapshot(SnapshotRequest { city_key: CITY.to_owned(), ..SnapshotRequest::default() }).await.unwrap()
    };
    assert!(!snapshot().await.has_meetings);
    let notice =
        Notification { key: format!("activated:{CITY}"), kind: "city_activated".to_owned(), ..Notification::default() };
    let with_notice = |id: &str| CivicChanges { notifications: vec![notice.clone()], ..changes(id, 0) };
    // Both were looked at before either was stored.
    civic.apply(vec![with_notice(MEETING), with_notice("paloaltoCA_m2")]).await.unwrap();
    assert!(snapshot().await.has_meetings);
    let waiting = civic.notifications(true).await.unwrap();
    assert_eq!((waiting.len(), waiting[0].due_at), (1, Some(f.now())));
    assert_eq!(civic.city_requests(Some(RequestStatus::Added)).await.unwrap().len(), 1);
}

pub(crate) async fn a_snapshot_has_all_that_a_sync_decides_by(f: &Fixture) {
    let civic = city(f).await;
    let mut first = changes(MEETING, 0);
    first.items[0].matter_id = Some(MATTER.to_owned());
    first.items[0].summary = Some("A bridge is built.".to_owned());
    first.matters = vec![matter(5)];
    first.appearances = vec![appearance(MEETING, ITEM)];
    first.votes = vec![vote("a", 0, "yes")];
    let mut other_vendor = changes("paloaltoCA_m2", 0);
    let twin = Meeting { vendor: "onbase".to_owned(), vendor_id: MEETING.to_owned(), ..meeting("paloaltoCA_m2") };
    other_vendor.meeting = Some(twin);
    civic.apply(vec![first, other_vendor]).await.unwrap();
    let request = SnapshotRequest {
        city_key: CITY.to_owned(),
        meetings: vec![("legistar".to_owned(), MEETING.to_owned()), ("legistar".to_owned(), "new".to_owned())],
        matters: vec![MATTER.to_owned(), "paloaltoCA_new".to_owned()],
        ..SnapshotRequest::default()
    };
    let snapshot = civic.snapshot(request).await.unwrap();
    assert_eq!(snapshot.jurisdiction.as_ref().map(|city| city.name.as_str()), Some("Palo Alto"));
    assert_eq!(snapshot.meetings.len(), 1, "the other vendor's meeting was not asked for");
    let found = snapshot.meeting("legistar", MEETING).unwrap();
    assert_eq!((found.meeting.revision, found.items.len(), found.appearances.len(), found.votes.len()), (1, 1, 1, 1));
    assert_eq!(snapshot.matters.len(), 1);
    let items = &snapshot.matter_items[MATTER];
    assert_eq!((items.len(), items[0].item.summary.is_some(), items[0].starts_at), (1, true, found.meeting.starts_at));
}

pub(crate) async fn s001_71_what_processing_finds_out_is_stored(f: &Fixture) {
    let civic = city(f).await;
    apply(f, changes(MEETING, 0)).await;
    change_meeting(f, MEETING, |row| row.mark_processing_failed("the packet is a picture")).await;
    let failed = civic.meeting(MEETING).await.unwrap().unwrap();
    assert_eq!(failed.processing_status, Some(Processing::Failed));
    assert_eq!(failed.processing_error.as_deref(), Some("the packet is a picture"));
    complete(f, MEETING, "packet", 1.0).await;
    let done = civic.meeting(MEETING).await.unwrap().unwrap();
    assert_eq!((done.processing_status, done.processing_error), (Some(Processing::Completed), None));
    apply(f, CivicChanges { matters: vec![matter(5)], ..CivicChanges::of_city(CITY) }).await;
    let stored = civic.matter(MATTER).await.unwrap().unwrap();
    assert_eq!((stored.appearance_count, stored.created_at), (1, Some(f.now())));
    // All that write at once come to their right.
    let topics: Vec<String> = vec!["roads".to_owned()];
    tokio::join!(
        change_meeting(f, MEETING, |row| row.update_meeting_summary(Some("They met.".to_owned()), topics.clone())),
        summarise_item(f, ITEM, "A bridge.", &topics),
        complete(f, MEETING, "items", 2.0),
    );
    let meeting = civic.meeting(MEETING).await.unwrap().unwrap();
    assert_eq!((meeting.summary.as_deref(), meeting.processing_method.as_deref()), (Some("They met."), Some("items")));
    assert_eq!(civic.agenda_item(ITEM).await.unwrap().unwrap().summary.as_deref(), Some("A bridge."));
    assert_eq!(meeting.revision, 6);
}
