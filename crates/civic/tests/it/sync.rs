//! What a sync stores, tells and queues.

use crate::cities::sync_meeting;
use crate::hall::{CITY, Hall, document, item, meeting};
use bindery_civic::records::{ChangeKind, Civic as _, CivicChanges, Jurisdiction, MatterFilter, QueueStatus};
use bindery_civic::vendor::{Ballot, ItemVote, VendorItem, VendorMeeting, model::MeetingStatus};
use bindery_core::job::JobState;
use bindery_engine::{Engine, Parts, Registry, Worker, WorkerOptions, stop_pair};
use bindery_store::{blobs::LocalBlobs, query::JobFilter};
use jiff::civil::date;
use std::{sync::Arc, time::Duration};

/// An ordinary council meeting with an agenda.
fn council() -> VendorMeeting {
    let rezoning = VendorItem {
        matter_file: Some("ORD 2026-7".to_owned()),
        matter_id: Some("8801".to_owned()),
        matter_type: Some("Ordinance".to_owned()),
        sponsors: vec!["Council Member Maria Ortega".to_owned(), "Lee, Sam".to_owned()],
        attachments: vec![document("Staff Report"), document("Ordinance")],
        ..item("12", "Ordinance rezoning 400 Harbour Street to mixed use", 2)
    };
    let minutes = VendorItem {
        matter_file: Some("MIN 2026-3".to_owned()),
        matter_type: Some("Minutes".to_owned()),
        attachments: vec![document("Draft Minutes")],
        ..item("13", "Approval of the minutes of February 9", 3)
    };
    VendorMeeting {
        body: Some("City Council".to_owned()),
        body_id: Some("138".to_owned()),
        agenda_url: Some("https://example.com/agenda/1".to_owned()),
        items: vec![item("11", "Roll Call", 1), rezoning, minutes],
        has_agenda: true,
        ..meeting("1", "City Council - Regular Meeting", date(2026, 3, 9), 18)
    }
}

fn planning() -> VendorMeeting {
    VendorMeeting {
        body: Some("Planning Commission".to_owned()),
        ..meeting("2", "Planning Commission", date(2026, 3, 11), 19)
    }
}

fn kinds(changes: &[(String, ChangeKind)], from: usize) -> Vec<(&str, ChangeKind)> {
    changes[from..].iter().map(|(id, kind)| (id.as_str(), *kind)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_19_a_sync_says_what_it_did() {
    let hall = Hall::new().await;
    let stats = sync_meeting(&hall.orchestrator, &hall.city, council()).await.unwrap();
    let stored = hall.meetings().await.remove(0);
    assert_eq!((stats.items_stored, stats.items_skipped_procedural), (3, 2));
    assert_eq!((stats.matters_tracked, stats.matters_duplicate, stats.appearances_created), (2, 0, 2));
    assert_eq!((stats.meetings_skipped, stats.enqueue_failures, &stats.skip_reason), (0, 0, &None));
    assert_eq!(stored.starts_at_local.as_deref(), Some("2026-03-09T18:00:00"));
    // Daylight saving had begun the day before.
    assert_eq!(stored.starts_at.unwrap().to_string(), "2026-03-10T01:00:00.000Z");
    let fields = serde_json::to_value(stats).unwrap();
    for field in ["items_stored", "items_skipped_procedural", "matters_tracked", "matters_duplicate"] {
        assert!(fields.get(field).is_some(), "{field}");
    }

    let nameless = meeting("", "Council", date(2026, 3, 1), 9);
    let stats = sync_meeting(&hall.orchestrator, &hall.city, nameless).await.unwrap();
    assert_eq!((stats.meetings_skipped, hall.meetings().await.len()), (1, 1));
    assert_eq!(stats.skip_reason.as_deref(), Some("missing_vendor_id"));
    assert_eq!(stats.skipped_title.as_deref(), Some("Council"));
}

/// ▲ Every item stays on the agenda, also the second of a matter; what says the same is marked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_23_a_matter_listed_twice_keeps_both_items() {
    let hall = Hall::new().await;
    let mut twice = council();
    let mut again = twice.items[1].clone();
    again.vendor_item_id = Some("14".to_owned());
    again.sequence = 4;
    let mut hearing = again.clone();
    hearing.vendor_item_id = Some("15".to_owned());
    hearing.title = "Public hearing on the rezoning of 400 Harbour Street".to_owned();
    hearing.sequence = 5;
    twice.items.extend([again, hearing]);
    let stats = hall.visit(vec![twice]).await;
    assert_eq!((stats.items_stored, stats.matters_tracked, stats.appearances_created), (5, 2, 4));
    let items = hall.items("1").await;
    let duplicate: Vec<bool> = items.iter().map(|item| item.duplicate_of.is_some()).collect();
    assert_eq!(duplicate, [false, false, false, true, false]);
    assert_eq!(items[3].duplicate_of.as_ref(), Some(&items[1].id));
    assert_eq!(items[4].matter_id, items[1].matter_id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_syncs_of_the_same_change_nothing() {
    let hall = Hall::new().await;
    hall.visit(vec![council(), planning()]).await;
    let (meetings, items) = (hall.meetings().await, hall.items("1").await);
    let (changes, queue, events) = (hall.changes().await, hall.queue().await, hall.events().await);
    assert_eq!(kinds(&changes, 0).len(), 2, "{changes:?}");
    assert_eq!(events, 2);
    hall.clock.advance(Duration::from_secs(3600));
    let stats = hall.visit(vec![council(), planning()]).await;
    assert_eq!((stats.meetings_changed, stats.jobs_enqueued, stats.matters_tracked), (0, 0, 0));
    assert_eq!(stats.matters_duplicate, 2);
    assert_eq!(hall.meetings().await, meetings, "not even a time has changed");
    assert_eq!(hall.items("1").await, items);
    assert_eq!(hall.changes().await, changes);
    assert_eq!(hall.queue().await, queue);
    assert_eq!(hall.events().await, events);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_20_a_renamed_moved_cancelled_and_vanished_meeting_are_exactly_those_events() {
    let hall = Hall::new().await;
    let all = || {
        vec![
            council(),
            planning(),
            meeting("3", "Library Board", date(2026, 3, 12), 17),
            meeting("4", "Arts Commission", date(2026, 3, 13), 17),
        ]
    };
    hall.visit(all()).await;
    let (before, ids) = (hall.changes().await.len(), hall.meetings().await);
    let mut now = all();
    now[0].title = Some("City Council - Special Meeting".to_owned());
    now[1].start.as_mut().unwrap().date = date(2026, 3, 18);
    now[2].status = Some(MeetingStatus::Cancelled);
    now.pop();
    let stats = hall.visit(now.clone()).await;
    assert_eq!((stats.meetings_changed, stats.meetings_removed), (3, 1));
    let changes = hall.changes().await;
    let mut told = kinds(&changes, before);
    told.sort_by_key(|(id, _)| *id);
    let expected = [ChangeKind::Renamed, ChangeKind::Moved, ChangeKind::Cancelled, ChangeKind::Removed];
    assert_eq!(told, ["1", "2", "3", "4"].into_iter().zip(expected).collect::<Vec<_>>());
    let after = hall.meetings().await;
    assert_eq!(after.len(), 4, "one row each");
    for meeting in &ids {
        assert!(after.iter().any(|one| one.id == meeting.id && one.vendor_id == meeting.vendor_id));
    }
    assert_eq!(hall.visit(now).await.meetings_changed, 0, "and nothing more afterwards");

    // It comes back.
    hall.visit(all()).await;
    let changes = hall.changes().await;
    let back: Vec<_> = kinds(&changes, 0).into_iter().filter(|(id, _)| *id == "4").map(|(_, kind)| kind).collect();
    assert_eq!(back, [ChangeKind::Added, ChangeKind::Removed, ChangeKind::Returned]);
    assert_eq!(hall.meeting("3").await.status.as_deref(), Some("cancelled"), "silence does not take it back");
}

/// A listing reaches from the first to the last meeting that it shows, also those that it shows for the first time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_meeting_is_missing_only_among_the_days_that_the_listing_covers() {
    let hall = Hall::new().await;
    let on = |id: &str, title: &str, day: i8| meeting(id, title, date(2026, 2, day), 18);
    hall.visit(vec![on("1", "Budget Hearing", 17), on("2", "Library Board", 20), on("3", "Arts Commission", 27)]).await;
    let stats = hall.visit(vec![on("4", "Tree Board", 19), on("5", "Port Authority", 24)]).await;
    assert_eq!((stats.meetings_found, stats.meetings_removed), (2, 1));
    let meetings = hall.meetings().await;
    let gone: Vec<_> =
        meetings.iter().filter(|one| one.removed_at.is_some()).map(|one| one.vendor_id.as_str()).collect();
    assert_eq!(gone, ["2"], "the others lie before and behind the listing, and before today");
    // Nothing at all tells nothing.
    assert_eq!(hall.visit(Vec::new()).await.meetings_removed, 0);
}

/// ▲ An event that becomes a clip, or a site that numbers its meetings anew.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_meeting_under_another_id_of_the_vendor_is_the_same_meeting() {
    let hall = Hall::new().await;
    let library = |id: &str| meeting(id, "Library Board", date(2026, 3, 12), 17);
    hall.visit(vec![library("event:70"), planning()]).await;
    for _ in 0..2 {
        let stats = hall.visit(vec![library("clip:9"), planning()]).await;
        assert_eq!((stats.meetings_changed, stats.meetings_removed), (0, 0));
    }
    assert_eq!(hall.meetings().await.len(), 2);
    // Both at once are two meetings.
    hall.visit(vec![library("clip:9"), library("event:70"), planning()]).await;
    assert_eq!(hall.meetings().await.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_21_committees_are_found_by_the_vendors_id_first() {
    let hall = Hall::new().await;
    let mut renamed = council();
    renamed.vendor_id = "5".to_owned();
    renamed.body = Some("Council of the City".to_owned());
    let by_title = meeting("6", "Sub-Committee on Parks - Special Meeting", date(2026, 3, 20), 9);
    let generic = meeting("7", "Special Meeting", date(2026, 3, 21), 9);
    hall.visit(vec![council(), renamed, by_title, generic]).await;
    let committees = hall.store.civic().committees(CITY).await.unwrap();
    let mut names: Vec<_> = committees.iter().map(|committee| committee.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["City Council", "Sub-Committee on Parks"]);
    assert_eq!(hall.meeting("5").await.committee_id, hall.meeting("1").await.committee_id);
    assert_eq!(hall.meeting("7").await.committee_id, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_22_a_known_matter_appears_again() {
    let hall = Hall::new().await;
    hall.visit(vec![council()]).await;
    let mut second = council();
    second.vendor_id = "8".to_owned();
    second.start.as_mut().unwrap().date = date(2026, 3, 23);
    second.items.truncate(2);
    // Vendors give a new id each time; the public number decides.
    second.items[1].matter_id = Some("9999".to_owned());
    let stats = hall.visit(vec![council(), second]).await;
    assert_eq!((stats.matters_tracked, stats.appearances_created), (0, 1));
    let filter = MatterFilter { matter_file: Some("ORD 2026-7".to_owned()), ..MatterFilter::default() };
    let matter = hall.store.civic().matters(filter).await.unwrap().pop().unwrap();
    assert_eq!(matter.appearance_count, 2);
    let appearances = hall.store.civic().appearances(&matter.id).await.unwrap();
    let places: Vec<_> = appearances.iter().map(|one| (one.committee.as_deref(), one.sequence)).collect();
    assert_eq!(places, [(Some("City Council"), 2), (Some("City Council"), 2)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_24_summaries_and_processing_survive_a_resync_and_changes_become_revisions() {
    let hall = Hall::new().await;
    hall.visit(vec![council()]).await;
    let stored = hall.meeting("1").await;
    let mut read = hall.items("1").await[1].clone();
    read.summary = Some("Shops below, homes above.".to_owned());
    read.topics = vec!["zoning".to_owned()];
    let mut changes = CivicChanges::of_meeting(CITY, &stored.id, stored.revision);
    changes.items = vec![read];
    assert!(hall.store.civic().apply(vec![changes]).await.unwrap()[0].is_stored());

    hall.visit(vec![council()]).await;
    let item = hall.items("1").await[1].clone();
    assert_eq!(item.summary.as_deref(), Some("Shops below, homes above."));
    assert_eq!(item.topics, ["zoning"]);
    let before = hall.changes().await.len();

    let mut amended = council();
    amended.items[1].attachments.push(document("Amendment"));
    hall.visit(vec![amended.clone()]).await;
    hall.visit(vec![amended]).await;
    let item = hall.items("1").await[1].clone();
    assert_eq!((item.attachments.len(), item.revisions), (2, 1), "the snapshot stays, the change stands beside it");
    let revisions = hall.store.civic().item_revisions(&stored.id).await.unwrap();
    assert_eq!((revisions.len(), revisions[0].attachments.len()), (1, 3));
    assert_eq!(kinds(&hall.changes().await, before), [("1", ChangeKind::AttachmentsChanged)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_25_votes_become_a_tally_and_an_outcome_and_a_corrected_ballot_replaces() {
    let hall = Hall::new().await;
    let ballot = |name: &str, vote: &str| Ballot { name: name.to_owned(), vote: vote.to_owned(), person_id: None };
    let mut voted = council();
    let motion =
        |words: &str, ballots: Vec<Ballot>| ItemVote { motion: Some(words.to_owned()), ballots, ..ItemVote::default() };
    voted.items[1].votes = vec![
        motion(
            "Motion to amend",
            vec![ballot("Maria Ortega", "Nay"), ballot("Sam Lee", "Aye"), ballot("Ada Roy", "Nay")],
        ),
        motion(
            "Motion to adopt",
            vec![ballot("Maria Ortega", "Aye"), ballot("Sam Lee", "Nay"), ballot("Ada Roy", "Aye")],
        ),
    ];
    hall.visit(vec![council()]).await;
    let before = hall.changes().await.len();
    hall.visit(vec![voted.clone()]).await;
    let stored = hall.meeting("1").await;
    let votes = hall.store.civic().votes(&stored.id).await.unwrap();
    let results: Vec<_> = votes.iter().map(|vote| (vote.result.as_deref().unwrap(), vote.tally["yes"])).collect();
    assert_eq!(results, [("failed", 1), ("passed", 2)], "both motions are kept");
    let item = hall.items("1").await[1].clone();
    assert_eq!((item.passed, item.action.as_deref()), (Some(true), Some("Motion to adopt")));
    let appearance = hall.store.civic().appearances(item.matter_id.as_deref().unwrap()).await.unwrap().remove(0);
    assert_eq!((appearance.vote_outcome.as_deref(), appearance.vote_tally["no"]), (Some("passed"), 1));
    let matter = hall.store.civic().matter(item.matter_id.as_deref().unwrap()).await.unwrap().unwrap();
    assert_eq!((matter.status.as_deref(), matter.final_vote_at), (Some("passed"), stored.starts_at));

    // ▲ The clerk corrects one ballot.
    voted.items[1].votes[1].ballots[1].vote = "Aye".to_owned();
    hall.visit(vec![voted]).await;
    let votes = hall.store.civic().votes(&stored.id).await.unwrap();
    assert_eq!((votes.len(), votes[1].tally["yes"], votes[1].tally["no"]), (2, 3, 0));
    let told: Vec<_> = kinds(&hall.changes().await, before).into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(told, [ChangeKind::VoteRecorded, ChangeKind::VoteRecorded, ChangeKind::VoteCorrected]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_26_sponsors_and_votes_belong_to_members() {
    let hall = Hall::new().await;
    let mut voted = council();
    let ballot = |name: &str| Ballot { name: name.to_owned(), vote: "Yea".to_owned(), person_id: None };
    voted.items[1].votes =
        vec![ItemVote { ballots: vec![ballot("Ortega, Maria"), ballot("Sam Lee")], ..ItemVote::default() }];
    hall.visit(vec![voted]).await;
    let mut people = hall.store.civic().people(CITY).await.unwrap();
    people.sort_by(|one, other| one.normalized_name.cmp(&other.normalized_name));
    let counts: Vec<_> =
        people.iter().map(|one| (one.normalized_name.as_str(), one.sponsorship_count, one.vote_count)).collect();
    assert_eq!(counts, [("maria ortega", 1, 1), ("sam lee", 1, 1)], "one person, however written");
    let matter = hall.items("1").await[1].matter_id.clone().unwrap();
    let sponsors = hall.store.civic().sponsorships(&matter).await.unwrap();
    assert!(sponsors.iter().any(|one| one.is_primary && one.person_id == people[0].id));

    // ▲ A sponsor who joins later is linked, too.
    let mut joined = council();
    joined.items[1].sponsors.push("Ada Roy".to_owned());
    hall.visit(vec![joined]).await;
    assert_eq!(hall.store.civic().sponsorships(&matter).await.unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_27_the_first_meeting_of_a_city_is_announced_once() {
    let hall = Hall::new().await;
    hall.visit(vec![council(), planning()]).await;
    hall.visit(vec![council(), planning(), meeting("9", "Library Board", date(2026, 3, 30), 9)]).await;
    let due = hall.store.civic().notifications(true).await.unwrap();
    let keys: Vec<_> = due.iter().map(|one| (one.key.as_str(), one.kind.as_str())).collect();
    assert_eq!(keys, [("city_activated:paloaltoCA", "city_activated")]);
}

/// ▲ Data and jobs are one transaction: there is nothing between them to fail.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_28_jobs_are_stored_with_what_they_follow_from() {
    let hall = Hall::new().await;
    let stats = hall.visit(vec![council(), planning()]).await;
    assert_eq!((stats.jobs_enqueued, stats.enqueue_failures), (2, 0));
    let queue = hall.queue().await;
    let mut jobs: Vec<_> = queue.iter().map(|job| (job.job_type.as_str(), job.priority, job.status)).collect();
    jobs.sort_by_key(|(_, priority, _)| std::cmp::Reverse(*priority));
    // Seven days ahead; the planning commission has no agenda yet, and minutes are nothing to decide about.
    assert_eq!(jobs, [("meeting", 143, QueueStatus::Pending), ("matter", 43, QueueStatus::Pending)]);
    assert_eq!(queue[0].source_url, format!("meeting://{}", hall.meeting("1").await.id));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_33_minutes_are_kept_and_not_queued() {
    let hall = Hall::new().await;
    hall.visit(vec![council()]).await;
    let filter = MatterFilter { matter_file: Some("MIN 2026-3".to_owned()), ..MatterFilter::default() };
    let minutes = hall.store.civic().matters(filter).await.unwrap();
    assert_eq!(minutes.len(), 1);
    assert!(hall.queue().await.iter().all(|job| !job.source_url.contains(&minutes[0].id)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_46_a_trial_is_not_taken_and_that_is_kept() {
    let hall = Hall::new().await;
    let stats = hall
        .visit(vec![
            meeting("21", "TEST Meeting", date(2026, 3, 9), 9),
            meeting("22", "Police Training Commission", date(2026, 3, 10), 9),
        ])
        .await;
    assert_eq!((stats.meetings_skipped, stats.meetings_processed), (1, 1));
    assert_eq!(stats.skipped_title.as_deref(), Some("TEST Meeting"));
    let skipped = hall.store.civic().skipped_meetings(CITY).await.unwrap();
    assert_eq!(skipped.iter().map(|one| one.vendor_id.as_str()).collect::<Vec<_>>(), ["21"]);
}

/// ▲ Stored with the rule, not discarded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s001_47_what_only_runs_the_meeting_is_stored_with_its_rule() {
    let hall = Hall::new().await;
    hall.visit(vec![council()]).await;
    let items = hall.items("1").await;
    let reasons: Vec<_> = items.iter().map(|item| item.filter_reason.as_deref()).collect();
    assert_eq!(reasons, [Some("procedural"), None, Some("procedural")]);
    assert!(items.iter().all(|item| item.filter_rule.is_some()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agenda_that_changes_is_told_item_by_item() {
    let hall = Hall::new().await;
    let mut without = council();
    (without.items, without.has_agenda, without.agenda_url) = (Vec::new(), false, None);
    hall.visit(vec![without.clone()]).await;
    hall.visit(vec![council()]).await;
    let mut revised = council();
    revised.items.remove(2);
    revised.items[1].title = "Ordinance rezoning 400 Harbour Street to housing".to_owned();
    revised.items.push(item("19", "Contract for street lights, $80,000", 3));
    hall.visit(vec![revised.clone()]).await;
    // The listing alone says nothing of items, and takes nothing away.
    hall.visit(vec![without]).await;
    hall.visit(vec![council()]).await;
    let told: Vec<_> = hall.changes().await.into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(
        told,
        [
            ChangeKind::Added,
            ChangeKind::AgendaPosted,
            ChangeKind::ItemChanged,
            ChangeKind::ItemAdded,
            ChangeKind::ItemRemoved,
            ChangeKind::ItemChanged,
            ChangeKind::ItemReturned,
            ChangeKind::ItemRemoved,
        ]
    );
    assert_eq!(hall.meeting("1").await.agenda_url.as_deref(), Some("https://example.com/agenda/1"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_without_ids_are_known_by_their_titles() {
    let hall = Hall::new().await;
    let titled = |titles: &[&str]| {
        let items = titles.iter().map(|title| VendorItem { title: (*title).to_owned(), ..VendorItem::default() });
        VendorMeeting { items: items.collect(), has_agenda: true, ..council() }
    };
    hall.visit(vec![titled(&["Lease of the pier", "Sale of the old depot", "Budget transfer"])]).await;
    let before = hall.items("1").await;
    let first = hall.changes().await.len();
    hall.visit(vec![titled(&["Appeal of a tree permit", "Lease of the pier", "Budget transfer"])]).await;
    let after = hall.items("1").await;
    let id_of = |items: &[bindery_civic::records::AgendaItem], title: &str| {
        items.iter().find(|item| item.title == title).map(|item| item.id.clone())
    };
    assert_eq!(id_of(&after, "Lease of the pier"), id_of(&before, "Lease of the pier"));
    assert_eq!(id_of(&after, "Budget transfer"), id_of(&before, "Budget transfer"));
    let told: Vec<_> = kinds(&hall.changes().await, first).into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(told, [ChangeKind::ItemAdded, ChangeKind::ItemRemoved]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn syncs_side_by_side_store_everything_once() {
    let hall = Hall::new().await;
    let cities: Vec<Jurisdiction> = vec![hall.city.clone(); 6];
    let visits = cities.iter().map(|city| sync_meeting(&hall.orchestrator, city, council()));
    for done in futures_util::future::join_all(visits).await {
        assert_eq!(done.unwrap().meetings_processed, 1);
    }
    assert_eq!(hall.meetings().await.len(), 1);
    assert_eq!(kinds(&hall.changes().await, 0), [("1", ChangeKind::Added)]);
    assert_eq!((hall.queue().await.len(), hall.events().await), (2, 1));
}

/// A worker that cannot read meetings yet leaves them for one that can, with the reason.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_without_the_processors_parks_the_jobs() {
    let hall = Hall::new().await;
    hall.visit(vec![council()]).await;
    let blobs = LocalBlobs::open(hall.folder().join("blobs")).unwrap();
    let engine = Engine::new(Parts::new(Arc::clone(&hall.store), Arc::new(blobs), Registry::default()));
    let (handle, stop) = stop_pair();
    let worker = Worker::new(engine, WorkerOptions { name: "one".into(), ..WorkerOptions::default() });
    let running = tokio::spawn(async move { worker.run(stop).await });
    let parked = || async {
        let jobs = hall.store.jobs(JobFilter::default()).await.unwrap();
        jobs.iter().all(|view| view.job.state == JobState::Parked).then_some(jobs)
    };
    let jobs = loop {
        if let Some(jobs) = parked().await {
            break jobs;
        }
        hall.store.changed(hall.store.change_mark(), Duration::from_millis(5)).await;
    };
    handle.stop();
    running.await.unwrap().unwrap();
    assert_eq!(jobs.len(), 2);
    assert!(jobs[0].job.error.as_ref().unwrap().message.contains("has no processor"), "{:?}", jobs[0].job.error);
    assert!(hall.queue().await.iter().all(|job| job.status == QueueStatus::Pending && job.retry_count == 0));
}
