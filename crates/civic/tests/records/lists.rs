//! Cities and visits to them, what people want to hear, and lists that are true.

use crate::changes::{CITY, change_meeting, changes, city, jurisdiction, meeting, summarise_item};
use crate::cities::put_cities;
use bindery_civic::records::{
    Alarm, Alert, Appearance, Channel, Civic as _, CivicChanges, CivicCounts, CivicDomain, Committee, Delivery,
    GATHERED, Jurisdiction, JurisdictionFilter, Matter, MatterFilter, Meeting, MeetingFilter, NOTICES_QUEUE,
    NoticePayload, Notification, PageShape, Person, RequestStatus, SkippedMeeting, Sponsorship, SyncRun, SyncRunFilter,
    SyncStatus, Watch, ZipCode,
};
use bindery_conformance::Fixture;
use bindery_core::{
    Timestamp,
    error::ErrorClass,
    job::{ClaimedJob, ErrorRecord, JobState, Token},
};
use bindery_store::{
    Changes, Commit, CommitResult, Guard, JobEnd,
    query::{ClaimRequest, JobFilter},
    rows::Domain as _,
};
use std::time::Duration;

fn city_keys(found: &[Jurisdiction]) -> Vec<&str> {
    found.iter().map(|jurisdiction| jurisdiction.city_key.as_str()).collect()
}

async fn find(f: &Fixture, filter: JurisdictionFilter) -> Vec<String> {
    let found = f.store.civic().jurisdictions(filter).await.unwrap();
    city_keys(&found).into_iter().map(str::to_owned).collect()
}

pub(crate) async fn jurisdictions_are_found_by_what_they_are(f: &Fixture) {
    let civic = city(f).await;
    let zipcode = |code: &str| ZipCode { zipcode: code.to_owned(), is_primary: true };
    let nashville = Jurisdiction {
        vendor: "primegov".to_owned(),
        zipcodes: vec![zipcode("37011"), zipcode("37013")],
        ..jurisdiction("nashvilleTN", "Nashville")
    };
    let oakland = Jurisdiction { status: "closed".to_owned(), ..jurisdiction("oaklandCA", "Oakland") };
    put_cities(&civic, vec![nashville.clone(), oakland]).await.unwrap();
    let all = JurisdictionFilter::default;
    assert_eq!(find(f, all()).await, ["nashvilleTN", "oaklandCA", CITY]);
    assert_eq!(find(f, JurisdictionFilter { state: Some("CA".to_owned()), ..all() }).await, ["oaklandCA", CITY]);
    assert_eq!(find(f, JurisdictionFilter { vendor: Some("primegov".to_owned()), ..all() }).await, ["nashvilleTN"]);
    assert_eq!(find(f, JurisdictionFilter { active: Some(false), ..all() }).await, ["oaklandCA"]);
    assert_eq!(find(f, JurisdictionFilter { zipcode: Some("37013".to_owned()), ..all() }).await, ["nashvilleTN"]);
    let two = vec![CITY.to_owned(), "nashvilleTN".to_owned(), "nowhereXX".to_owned()];
    assert_eq!(find(f, JurisdictionFilter { city_keys: two, limit: Some(1), ..all() }).await, ["nashvilleTN"]);
    let stored = civic.jurisdiction("nashvilleTN").await.unwrap().unwrap();
    assert_eq!(
        stored,
        Jurisdiction { created_at: stored.created_at, updated_at: stored.updated_at, ..nashville.clone() }
    );
    // A zip code that is not its any more does not find it any more.
    put_cities(&civic, vec![Jurisdiction { zipcodes: vec![zipcode("37011")], ..nashville }]).await.unwrap();
    assert_eq!(find(f, JurisdictionFilter { zipcode: Some("37013".to_owned()), ..all() }).await, [""; 0]);
    let taken =
        put_cities(&civic, vec![jurisdiction("berkeleyCA", "Berkeley"), jurisdiction("paCA", "Palo Alto")]).await;
    assert!(taken.unwrap_err().to_string().contains("paCA: Palo Alto, CA is stored as paloaltoCA already"));
    assert_eq!(civic.jurisdiction("berkeleyCA").await.unwrap(), None, "all or none");
    assert!(put_cities(&civic, vec![Jurisdiction::default()]).await.is_err());
}

pub(crate) async fn a_visit_and_the_health_of_its_city_are_stored_together(f: &Fixture) {
    let civic = city(f).await;
    assert!(civic.start_sync_run("nowhereXX", "a visitor").await.unwrap_err().to_string().contains("nowhereXX"));
    let due = |at| JurisdictionFilter { due_before: Some(at), ..JurisdictionFilter::default() };
    assert_eq!(find(f, due(f.now())).await, [CITY], "never visited");
    let run = civic.start_sync_run(CITY, "a visitor").await.unwrap();
    assert_eq!((run.status, run.started_at), (SyncStatus::InProgress, Some(f.now())));
    let begun = f.now();
    f.advance(10);
    let ended = SyncRun {
        status: SyncStatus::Completed,
        meetings_found: 7,
        meetings_processed: 6,
        meetings_skipped: 1,
        items_stored: 40,
        duration_seconds: 9.5,
        alarms: vec![Alarm { url: None, kind: "shape".to_owned(), message: "fewer rows".to_owned() }],
        ..run
    };
    let next = f.after(3_600);
    let health = civic.finish_sync_run(ended.clone(), Some(next)).await.unwrap().health;
    assert_eq!((health.last_attempt_at, health.last_success_at), (Some(begun), Some(f.now())));
    assert_eq!((health.consecutive_failures, health.next_sync_at), (0, Some(next)));
    assert_eq!(find(f, due(f.now())).await, [""; 0]);
    assert_eq!(find(f, due(next)).await, [CITY]);
    let runs = civic.sync_runs(SyncRunFilter::default()).await.unwrap();
    assert_eq!(runs, [SyncRun { started_at: Some(begun), finished_at: Some(f.now()), ..ended }]);
    // Storing the city anew does not make it healthy or ill.
    put_cities(&civic, vec![Jurisdiction { slug: "moved".to_owned(), ..jurisdiction(CITY, "Palo Alto") }])
        .await
        .unwrap();
    let stored = civic.jurisdiction(CITY).await.unwrap().unwrap();
    assert_eq!((stored.slug.as_str(), stored.health), ("moved", health));
    let never = SyncRun { id: 999, city_key: CITY.to_owned(), ..SyncRun::default() };
    assert!(civic.finish_sync_run(never, None).await.unwrap_err().to_string().contains("never begun"));
}

pub(crate) async fn failures_silence_and_interruptions_are_seen(f: &Fixture) {
    let civic = city(f).await;
    put_cities(&civic, vec![jurisdiction("oaklandCA", "Oakland")]).await.unwrap();
    let visit = async |status, meetings_found, error: Option<&str>| {
        let run = civic.start_sync_run(CITY, "a visitor").await.unwrap();
        let error_message = error.map(str::to_owned);
        civic.finish_sync_run(SyncRun { status, meetings_found, error_message, ..run }, None).await.unwrap().health
    };
    let failing = || JurisdictionFilter { failing: true, ..JurisdictionFilter::default() };
    let silent = || JurisdictionFilter { silent: true, ..JurisdictionFilter::default() };
    visit(SyncStatus::Completed, 4, None).await;
    visit(SyncStatus::Failed, 0, Some("500")).await;
    let health = visit(SyncStatus::Failed, 0, Some("a login page")).await;
    assert_eq!((health.consecutive_failures, health.last_error.as_deref()), (2, Some("a login page")));
    assert_eq!(find(f, failing()).await, [CITY]);
    for _ in 0..3 {
        assert_eq!(find(f, silent()).await, [""; 0]);
        assert_eq!(visit(SyncStatus::Completed, 0, None).await.consecutive_failures, 0);
    }
    assert_eq!((find(f, failing()).await, find(f, silent()).await), (vec![], vec![CITY.to_owned()]));
    let never = JurisdictionFilter { never_yielded: true, ..JurisdictionFilter::default() };
    assert_eq!(find(f, never).await, ["oaklandCA"]);
    let counts = civic.counts().await.unwrap();
    assert_eq!(
        (counts.jurisdictions, counts.active, counts.failing, counts.silent, counts.never_yielded),
        (2, 2, 0, 1, 1)
    );
    visit(SyncStatus::Completed, 1, None).await;
    assert_eq!(find(f, silent()).await, [""; 0]);
    // A program that died left a visit behind.
    civic.start_sync_run(CITY, "a visitor").await.unwrap();
    let next = civic.start_sync_run(CITY, "a visitor").await.unwrap();
    let failed =
        SyncRunFilter { city_key: Some(CITY.to_owned()), status: Some(SyncStatus::Failed), ..SyncRunFilter::default() };
    let failed = civic.sync_runs(failed).await.unwrap();
    assert_eq!((failed.len(), failed[0].id), (3, next.id - 1));
    assert!(failed[0].error_message.as_ref().unwrap().contains("interrupted"));
    // Others are seen to be dead before their cities are visited again; those that live go on.
    let left = civic.start_sync_run("oaklandCA", "dead").await.unwrap();
    let lives = civic.start_sync_run(CITY, "alive").await.unwrap();
    assert_eq!((left.worker(), lives.worker()), (Some("dead"), Some("alive")));
    let closed = civic.close_abandoned_runs(vec!["alive".to_owned()]).await.unwrap();
    assert_eq!(closed.iter().map(|run| (run.id, run.status)).collect::<Vec<_>>(), [(left.id, SyncStatus::Failed)]);
    let under_way = SyncRunFilter { status: Some(SyncStatus::InProgress), ..SyncRunFilter::default() };
    assert_eq!(civic.sync_runs(under_way).await.unwrap(), [lives]);
    // The city was not to blame.
    assert_eq!(civic.jurisdiction("oaklandCA").await.unwrap().unwrap().health.consecutive_failures, 0);
    assert_eq!(civic.close_abandoned_runs(vec!["alive".to_owned()]).await.unwrap(), []);
}

pub(crate) async fn a_page_remembers_when_it_had_something(f: &Fixture) {
    let civic = city(f).await;
    let shape = |count| PageShape {
        city_key: CITY.to_owned(),
        url: "https://example.com/calendar".to_owned(),
        etag: Some(format!("\"{count}\"")),
        count,
        ..PageShape::default()
    };
    civic.replace_page_shapes(CITY, vec![shape(12)]).await.unwrap();
    let then = f.now();
    f.advance(60);
    civic
        .replace_page_shapes(
            CITY,
            vec![shape(0), PageShape { url: "https://example.com/other".to_owned(), ..shape(0) }],
        )
        .await
        .unwrap();
    let shapes = civic.page_shapes(CITY).await.unwrap();
    assert_eq!(shapes.len(), 2);
    assert_eq!((shapes[0].count, shapes[0].last_nonzero_count, shapes[0].last_nonzero_at), (0, 12, Some(then)));
    assert_eq!((shapes[0].etag.as_deref(), shapes[0].seen_at), (Some("\"0\""), Some(f.now())));
    assert_eq!(shapes[1].last_nonzero_at, None);
    // All pages of a city at once: what is not among them is forgotten.
    let details = [("vendor".to_owned(), "iqm2".into())].into_iter().collect();
    civic.replace_page_shapes(CITY, vec![PageShape { details, ..shape(0) }]).await.unwrap();
    let shapes = civic.page_shapes(CITY).await.unwrap();
    assert_eq!((shapes.len(), shapes[0].last_nonzero_count, &shapes[0].details["vendor"]), (1, 12, &"iqm2".into()));
    civic.replace_page_shapes(CITY, Vec::new()).await.unwrap();
    assert_eq!(civic.page_shapes(CITY).await.unwrap(), []);
}

pub(crate) async fn wishes_for_cities_are_counted_and_decided(f: &Fixture) {
    let civic = f.store.civic();
    for city_key in ["renoNV", "bendOR", "bendOR"] {
        civic.request_city(city_key).await.unwrap();
    }
    let first = f.now();
    f.advance(60);
    let again = civic.request_city("bendOR").await.unwrap();
    assert_eq!(
        (again.request_count, again.first_requested_at, again.last_requested_at),
        (3, Some(first), Some(f.now()))
    );
    let pending = civic.city_requests(Some(RequestStatus::Pending)).await.unwrap();
    assert_eq!(
        pending.iter().map(|request| request.request_count).collect::<Vec<_>>(),
        [3, 1],
        "the most wanted first"
    );
    civic.decide_city_request("bendOR", RequestStatus::Rejected, Some("no site".to_owned())).await.unwrap();
    let rejected = civic.city_requests(Some(RequestStatus::Rejected)).await.unwrap();
    assert_eq!((rejected.len(), rejected[0].notes.as_deref(), rejected[0].request_count), (1, Some("no site"), 3));
    assert_eq!(civic.city_requests(None).await.unwrap().len(), 2);
}

pub(crate) async fn the_watchlist_is_what_active_alerts_want(f: &Fixture) {
    let civic = f.store.civic();
    let alert = |id: &str, cities: &[&str], active| Alert {
        id: id.to_owned(),
        owner: "a@example.com".to_owned(),
        cities: cities.iter().map(|city| (*city).to_owned()).collect(),
        keywords: vec!["zoning".to_owned()],
        active,
        ..Alert::default()
    };
    assert_eq!(civic.watchlist().await.unwrap(), [""; 0]);
    civic.put_alert(alert("1", &["renoNV", CITY], true)).await.unwrap();
    civic.put_alert(alert("2", &["bendOR", "renoNV"], true)).await.unwrap();
    civic.put_alert(alert("3", &["elkoNV"], false)).await.unwrap();
    assert_eq!(civic.watchlist().await.unwrap(), ["bendOR", CITY, "renoNV"]);
    assert_eq!(civic.alerts(Some("a@example.com"), false).await.unwrap().len(), 3);
    civic.put_alert(alert("2", &["bendOR"], false)).await.unwrap();
    assert!(civic.remove_alert("1").await.unwrap());
    assert!(!civic.remove_alert("1").await.unwrap());
    assert_eq!(civic.watchlist().await.unwrap(), [""; 0]);
    assert!(civic.put_alert(Alert::default()).await.is_err());

    let watch = Watch {
        owner: "a@example.com".to_owned(),
        entity_type: "matter".to_owned(),
        entity_id: "paloaltoCA_bill".to_owned(),
        created_at: None,
    };
    civic.watch(watch.clone()).await.unwrap();
    let since = Watch { created_at: Some(f.now()), ..watch.clone() };
    f.advance(1);
    civic.watch(watch.clone()).await.unwrap();
    assert_eq!(civic.watches("a@example.com").await.unwrap(), std::slice::from_ref(&since));
    assert_eq!(civic.all_watches().await.unwrap(), [since]);
    assert!(civic.unwatch(&watch).await.unwrap());
    assert!(!civic.unwatch(&watch).await.unwrap());
}

fn message(key: &str) -> Notification {
    let channel = Some(Channel { kind: "mail".to_owned(), address: "a@example.com".to_owned() });
    Notification { key: key.to_owned(), kind: "meeting_cancelled".to_owned(), channel, ..Notification::default() }
}

async fn take_job(f: &Fixture, worker: &str) -> ClaimedJob {
    let request = ClaimRequest {
        worker: worker.into(),
        queues: Some(vec![NOTICES_QUEUE.into()]),
        submissions: None,
        max: 1,
        lease: Duration::from_secs(60),
        counts: true,
    };
    f.store.claim(request).await.unwrap().pop().expect("a message waits")
}

async fn give_up(f: &Fixture, claimed: &ClaimedJob) {
    let error = ErrorRecord { class: ErrorClass::Retry, kind: "X".to_owned(), message: "550".to_owned(), step: None };
    let end = JobEnd::Dead { error, resume: None };
    let guard = Guard::Claim { job: claimed.job.id, token: claimed.token, end };
    let ended = f.store.commit(vec![Commit { guard, changes: Changes::default() }]).await.unwrap();
    assert!(ended.iter().all(CommitResult::is_applied));
}

pub(crate) async fn a_message_is_delivered_by_its_job(f: &Fixture) {
    let civic = city(f).await;
    let told = vec![message("a"), message("b"), Notification { due_at: Some(GATHERED), ..message("later") }];
    assert_eq!(civic.add_notifications(told.clone()).await.unwrap(), 3);
    assert_eq!(civic.add_notifications(told).await.unwrap(), 0, "the same told again is not sent again");
    f.assert_nothing_to_claim("only those who can deliver messages are given them").await;
    let (one, other) = (take_job(f, "one").await, take_job(f, "other").await);
    let key = |claimed: &ClaimedJob| claimed.job.payload.read::<NoticePayload>().unwrap().unwrap().key;
    assert_eq!([key(&one), key(&other)], ["a", "b"], "each is one sender's, and a message for a digest nobody's");
    let settle = async |key: &str, claimed: &ClaimedJob, token: Token, delivery: Delivery| {
        civic.settle_notification(key, Some((claimed.job.id, token)), claimed.job.attempt, delivery).await.unwrap()
    };
    assert!(settle("a", &one, one.token, Delivery::Later(f.after(30), "451".to_owned())).await);
    assert!(
        !settle("a", &one, Token(one.token.0 + 100), Delivery::Delivered).await,
        "who lost the job changes nothing"
    );
    assert!(settle("b", &other, other.token, Delivery::Delivered).await);
    let known = civic.known_notifications(&["a".to_owned(), "b".to_owned()]).await.unwrap();
    assert_eq!((known[0].attempts, known[0].error.as_deref(), known[0].sent_at), (1, Some("451"), None));
    assert_eq!((known[1].due_at, known[1].sent_at), (None, Some(f.now())));
    give_up(f, &one).await;
    assert!(civic.retry_notification("a").await.unwrap(), "a dead letter is delivered when a person says so");
    assert!(!civic.retry_notification("b").await.unwrap() && !civic.retry_notification("later").await.unwrap());
    let again = take_job(f, "one").await;
    assert_eq!((key(&again).as_str(), again.job.attempt), ("a", 1));
    let dead = JobFilter { states: vec![JobState::Dead], ..JobFilter::default() };
    assert_eq!(f.store.jobs(dead).await.unwrap().len(), 0, "the new job takes its place");
}

pub(crate) async fn old_visits_and_messages_are_forgotten(f: &Fixture) {
    let civic = city(f).await;
    for key in ["sent", "lost", "waiting"] {
        civic.add_notifications(vec![message(key)]).await.unwrap();
    }
    let sent = take_job(f, "one").await;
    let claim = Some((sent.job.id, sent.token));
    assert!(civic.settle_notification("sent", claim, 1, Delivery::Delivered).await.unwrap());
    // Its job was given up without a word.
    give_up(f, &take_job(f, "one").await).await;
    for _ in 0..2 {
        civic.start_sync_run(CITY, "a visitor").await.unwrap();
    }
    assert_eq!(civic.forget_visits_and_messages(f.now()).await.unwrap(), 0);
    assert_eq!(civic.forget_visits_and_messages(f.after(1)).await.unwrap(), 3);
    let runs = civic.sync_runs(SyncRunFilter::default()).await.unwrap();
    assert_eq!((runs.len(), runs[0].status), (1, SyncStatus::InProgress), "one is under way");
    let left = civic.notifications(false).await.unwrap();
    assert_eq!((left.len(), left[0].key.as_str()), (1, "waiting"));
}

pub(crate) async fn meetings_are_found_by_time_and_counted(f: &Fixture) {
    let civic = city(f).await;
    let at = |id: &str, millis: Option<i64>| {
        let mut part = changes(id, 0);
        part.meeting = Some(Meeting { starts_at: millis.map(Timestamp::from_millis), ..meeting(id) });
        part
    };
    let mut cancelled = at("paloaltoCA_c", Some(30));
    cancelled.meeting.as_mut().unwrap().status = Some("cancelled".to_owned());
    let mut removed = at("paloaltoCA_r", Some(25));
    removed.meeting.as_mut().unwrap().removed_at = Some(f.now());
    let parts =
        vec![at("paloaltoCA_n", None), cancelled, at("paloaltoCA_b", Some(20)), at("paloaltoCA_a", Some(10)), removed];
    civic.apply(parts).await.unwrap();
    let ids = async |filter: MeetingFilter| -> Vec<String> {
        let found = civic.meetings(filter).await.unwrap();
        found.into_iter().map(|meeting| meeting.id.trim_start_matches("paloaltoCA_").to_owned()).collect()
    };
    let time = |millis| Some(Timestamp::from_millis(millis));
    let all = || MeetingFilter { city_key: Some(CITY.to_owned()), ..MeetingFilter::default() };
    assert_eq!(ids(all()).await, ["a", "b", "c", "n"]);
    assert_eq!(ids(MeetingFilter { with_removed: true, newest_first: true, ..all() }).await, ["c", "r", "b", "a", "n"]);
    assert_eq!(ids(MeetingFilter { from: time(20), until: time(30), ..all() }).await, ["b"]);
    assert_eq!(ids(MeetingFilter { status: Some("cancelled".to_owned()), ..all() }).await, ["c"]);
    assert_eq!(ids(MeetingFilter { ids: vec!["paloaltoCA_b".to_owned()], ..all() }).await, ["b"]);
    assert_eq!(ids(MeetingFilter { limit: Some(2), ..all() }).await, ["a", "b"]);
    let per_city = civic.meetings_per_city(Timestamp::from_millis(10), Timestamp::from_millis(31)).await.unwrap();
    assert_eq!(per_city.into_iter().collect::<Vec<_>>(), [(CITY.to_owned(), 3)]);
    change_meeting(f, "paloaltoCA_a", |row| row.update_meeting_summary(Some("They met.".to_owned()), Vec::new())).await;
    summarise_item(f, "paloaltoCA_a_i1", "A bridge.", &[]).await;
    change_meeting(f, "paloaltoCA_b", |row| row.mark_processing_failed("trouble")).await;
    let counts = civic.counts().await.unwrap();
    let expected = CivicCounts {
        jurisdictions: 1,
        active: 1,
        never_yielded: 1,
        meetings: 5,
        summarised: 1,
        pending: 3,
        failed: 1,
        items: 5,
        summarised_items: 1,
        ..CivicCounts::default()
    };
    assert_eq!(counts, expected);
}

pub(crate) async fn people_and_bodies_are_listed_with_what_they_did(f: &Fixture) {
    let civic = city(f).await;
    let person = |id: &str, name: &str, alias: &str, seen: i64| Person {
        id: id.to_owned(),
        city_key: CITY.to_owned(),
        name: name.to_owned(),
        normalized_name: name.to_lowercase(),
        aliases: vec![alias.to_owned()],
        first_seen: Some(Timestamp::from_millis(seen)),
        last_seen: Some(Timestamp::from_millis(seen)),
        ..Person::default()
    };
    let council = |vendor_body_id: Option<&str>| Committee {
        id: "c".to_owned(),
        city_key: CITY.to_owned(),
        name: "Council".to_owned(),
        normalized_name: "council".to_owned(),
        vendor_body_id: vendor_body_id.map(str::to_owned),
        ..Committee::default()
    };
    let mut roster = CivicChanges::of_city(CITY);
    roster.people = vec![person("p2", "Zoe", "Z.", 20), person("p1", "Ann", "A.", 20)];
    roster.committees = vec![council(Some("77"))];
    let matter = Matter {
        id: "paloaltoCA_x".to_owned(),
        city_key: CITY.to_owned(),
        matter_file: Some("BL-1".to_owned()),
        ..Matter::default()
    };
    let sponsor = |person: &str, order| Sponsorship {
        matter_id: matter.id.clone(),
        person_id: person.to_owned(),
        is_primary: order == 0,
        sponsor_order: order,
    };
    roster.sponsorships = vec![sponsor("p1", 1), sponsor("p2", 0)];
    roster.matters = vec![matter.clone()];
    civic.apply(vec![roster]).await.unwrap();
    let mut again = CivicChanges::of_city(CITY);
    again.people = vec![person("p1", "Ann", "Ann B.", 10)];
    again.committees = vec![council(None)];
    civic.apply(vec![again]).await.unwrap();
    let people = civic.people(CITY).await.unwrap();
    assert_eq!(people.iter().map(|person| person.id.as_str()).collect::<Vec<_>>(), ["p1", "p2"]);
    assert_eq!((people[0].aliases.join(" "), people[0].sponsorship_count), ("A. Ann B.".to_owned(), 1));
    let millis = |at: Option<Timestamp>| at.map(Timestamp::as_millis);
    assert_eq!((millis(people[0].first_seen), millis(people[0].last_seen)), (Some(10), Some(20)));
    assert_eq!(civic.committees(CITY).await.unwrap(), [council(Some("77"))], "an id is not forgotten");
    let order: Vec<String> =
        civic.sponsorships(&matter.id).await.unwrap().into_iter().map(|one| one.person_id).collect();
    assert_eq!(order, ["p2", "p1"]);
    let filter = MatterFilter { matter_file: Some("BL-1".to_owned()), ..MatterFilter::default() };
    assert_eq!(civic.matters(filter).await.unwrap().len(), 1);
    let later = MatterFilter { seen_since: Some(Timestamp::from_millis(1)), ..MatterFilter::default() };
    assert_eq!(civic.matters(later).await.unwrap(), []);
}

pub(crate) async fn any_text_can_be_stored(f: &Fixture) {
    let civic = city(f).await;
    let odd = "a\0b 'quoted' \"twice\" \u{1F5F3} $1 ?1 %s \\ \u{202E}";
    let mut part = CivicChanges::of_meeting(CITY, "paloaltoCA_odd", 0);
    part.meeting = Some(Meeting {
        vendor_id: odd.to_owned(),
        title: odd.to_owned(),
        status: Some(odd.to_owned()),
        ..meeting("paloaltoCA_odd")
    });
    part.appearances = vec![Appearance {
        matter_id: odd.to_owned(),
        meeting_id: "paloaltoCA_odd".to_owned(),
        ..Appearance::default()
    }];
    let skipped = SkippedMeeting {
        city_key: CITY.to_owned(),
        vendor: "legistar".to_owned(),
        vendor_id: odd.to_owned(),
        reason: "missing_vendor_id".to_owned(),
        ..SkippedMeeting::default()
    };
    part.skipped = vec![skipped.clone()];
    assert!(civic.apply(vec![part]).await.unwrap()[0].is_stored());
    assert_eq!(civic.meeting("paloaltoCA_odd").await.unwrap().unwrap().title, odd);
    assert_eq!(civic.appearances(odd).await.unwrap().len(), 1);
    let found = civic.skipped_meetings(CITY).await.unwrap();
    assert_eq!(found, [SkippedMeeting { seen_at: Some(f.now()), ..skipped }]);
    let filter = MeetingFilter { status: Some(odd.to_owned()), ..MeetingFilter::default() };
    assert_eq!(civic.meetings(filter).await.unwrap().len(), 1);
}

pub(crate) async fn an_owner_follows_nothing_any_more(f: &Fixture) {
    let civic = f.store.civic();
    for owner in ["ann@example.org", "bob@example.org"] {
        let channels = vec![Channel { kind: "mail".to_owned(), address: owner.to_owned() }];
        let (id, owner) = (format!("alert of {owner}"), owner.to_owned());
        civic.put_alert(Alert { id, owner: owner.clone(), channels, ..Alert::default() }).await.unwrap();
        let (entity_type, entity_id) = ("city".to_owned(), "renoNV".to_owned());
        civic.watch(Watch { owner, entity_type, entity_id, created_at: None }).await.unwrap();
    }
    assert_eq!(CivicDomain.delete_owner(&*f.store, "ann@example.org").await.unwrap(), 2);
    assert_eq!(CivicDomain.delete_owner(&*f.store, "ann@example.org").await.unwrap(), 0);
    let left: Vec<_> = civic.alerts(None, false).await.unwrap().into_iter().map(|alert| alert.owner).collect();
    assert_eq!(left, ["bob@example.org"]);
    assert_eq!(civic.all_watches().await.unwrap().len(), 1);
}
