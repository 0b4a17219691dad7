//! A whole store carried from one backend to another and back: nothing is lost, and the work goes on there.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod postgres_server;

use bindery_core::{
    Clock, EventSeq, Name, SubmissionId, error::ErrorClass, item::ItemKind, job::JobState, outcome::OutcomeStatus,
    time::ManualClock,
};
use bindery_store::{
    Changes, JobEnd,
    blobs::{Blobs, LocalBlobs},
    civic::{
        AgendaItem, Alert, Ballot, ChangeFilter, ChangeKind, CivicChanges, CivicJob, Jurisdiction, JurisdictionFilter,
        Meeting, MeetingFilter, NewMeetingChange, Notification, SyncRunFilter, VoteEvent, ZipCode,
    },
    conformance::{
        Fixture,
        fixture::{arrive, ending, error, event},
    },
    portable::{ArchiveError, export, import},
    query::{EventFilter, ItemFilter, JobFilter, SubmissionFilter},
    search::{IndexedDocument, Query, SearchRequest, TextChunk},
    sqlite::{Options, SqliteStore},
};
use postgres_server::Server;
use std::sync::Arc;
use tempfile::TempDir;

fn sqlite() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::default());
    let options =
        Options { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Options::at(folder.path().join("bindery.db")) };
    Fixture::new(Arc::new(SqliteStore::open(options).unwrap()), clock).keeping(folder)
}

fn blobs() -> (TempDir, LocalBlobs) {
    let folder = tempfile::tempdir().unwrap();
    let blobs = LocalBlobs::open(folder.path()).unwrap();
    (folder, blobs)
}

const HALF: &str = "half-reader";

fn letter(id: &str) -> IndexedDocument {
    IndexedDocument {
        collection: "letters".to_owned(),
        document_id: id.to_owned(),
        file_guid: "guid".to_owned(),
        file_name: "letter.pdf".to_owned(),
        metadata: "{}".to_owned(),
        chunks: vec![TextChunk { page: 3, ordinal: 0, text: "Élodie wrote a «letter».".to_owned() }],
        submission: None,
    }
}

async fn found(f: &Fixture) -> Vec<(String, u32, String)> {
    let request =
        SearchRequest { query: Query::parse("elodie letter").unwrap(), collection: None, limit: 9, offset: 0 };
    let hits = f.store.search(request).await.unwrap();
    hits.into_iter().map(|hit| (hit.document_id, hit.page, hit.snippet.marked("[", "]"))).collect()
}

/// Work in every state, open and closed joins, a review, events that were read half, a paused queue, a rate.
async fn busy(f: &Fixture) -> SubmissionId {
    let submission = f.submission().await;
    for kind in [ItemKind::File, ItemKind::Page] {
        f.item(submission, kind).await;
    }
    let join = f.join(f.new_join(submission, 5, "bound").await).await;
    let mut new = f.job("work", submission);
    new.join = Some(join);
    for _ in 0..6 {
        f.enqueue(new.clone()).await;
    }
    let claims = f.claim(5).await;
    let trouble = || error("Trouble", ErrorClass::Retry);
    let changes = Changes {
        outcomes: vec![f.outcome(&claims[0].job, OutcomeStatus::Completed)],
        join_steps: vec![arrive(join)],
        events: vec![event("First", Some(submission)), event("Second", Some(submission))],
        ..Changes::default()
    };
    f.apply(ending(&claims[0], JobEnd::Done, changes)).await;
    f.end(&claims[1], JobEnd::Park { until: "a key is there".to_owned(), after: None, error: trouble(), resume: None })
        .await;
    f.fail(&claims[2]).await;
    f.end(&claims[3], JobEnd::Await { within: std::time::Duration::from_secs(600), error: None }).await;
    // The fifth stays with its worker, the sixth is ready.
    f.review(submission, "doubt").await;
    let first = f.store.read_events(EventSeq::START, EventFilter::default(), 1).await.unwrap()[0].seq;
    f.store.commit_feed(&HALF.into(), EventSeq::START, first, vec![]).await.unwrap();
    f.store.pause(&"other".into(), Some("lunch".to_owned())).await.unwrap();
    f.store.put_workflow(&"flow".into(), 3, "name: flow").await.unwrap();
    f.store.index_document(letter("d1")).await.unwrap();
    submission
}

async fn carried(from: &Fixture, to: &Fixture, old: &dyn Blobs, new: &dyn Blobs) -> Vec<u8> {
    let mut archive = Vec::new();
    let out = export(&*from.store, old, &mut archive, |_| ()).await.unwrap();
    let into = import(&*to.store, new, &archive[..], |_| ()).await.unwrap();
    assert_eq!(out, into);
    archive
}

/// As it was, except that nobody holds anything.
async fn assert_same(from: &Fixture, to: &Fixture, submission: SubmissionId) {
    let (mut old, new) = (from.snapshot(submission).await, to.snapshot(submission).await);
    for view in &mut old.jobs {
        if view.job.state == JobState::Running {
            *view = to.view(view.job.id).await.unwrap();
            assert_eq!((view.job.state, view.job.attempt, &view.job.worker), (JobState::Ready, 0, &None));
        }
    }
    // How many are ahead of a ready job depends on the others.
    for (old, new) in old.jobs.iter_mut().zip(&new.jobs) {
        old.reason = new.reason.clone();
    }
    assert_eq!(old, new);
    to.assert_progress_is_true(submission, "after it was carried").await;
    assert_eq!(found(to).await, found(from).await);
    assert_eq!(found(to).await, [("d1".to_owned(), 3, "[Élodie] wrote a «[letter]».".to_owned())]);
    let position = async |f: &Fixture| f.store.consumer_position(&HALF.into()).await.unwrap();
    assert_eq!(position(from).await, position(to).await);
    let paused = async |f: &Fixture| f.store.queues().await.unwrap().into_iter().filter(|view| view.paused).count();
    assert_eq!((paused(from).await, paused(to).await), (1, 1));
    assert_eq!(from.store.workflows().await.unwrap(), to.store.workflows().await.unwrap());
}

/// New things get numbers and positions that nobody has had, and the work that is left can be done.
async fn assert_goes_on(f: &Fixture, submission: SubmissionId) {
    let rest = f.store.read_events(f.store.consumer_position(&HALF.into()).await.unwrap(), EventFilter::default(), 100);
    let rest = rest.await.unwrap();
    assert!(rest.iter().any(|event| event.kind == "Second") && rest.iter().all(|event| event.kind != "First"));
    let last = f.store.last_event().await.unwrap();
    let appended = f.store.append_events(vec![event("After", Some(submission))]).await.unwrap()[0].unwrap();
    assert!(appended > last, "{appended:?} is not after {last:?}");
    let known: Vec<_> = f.jobs(JobFilter::default()).await.into_iter().map(|job| job.id).collect();
    let fresh = f.enqueue(f.job("work", submission)).await;
    assert!(known.iter().all(|id| *id < fresh), "{fresh} was used before");
    let items = f.store.items(submission, ItemFilter::default()).await.unwrap();
    let item = f.item(submission, ItemKind::Page).await;
    assert!(items.iter().all(|known| known.id < item), "{item} was used before");
    let reviews = f.snapshot(submission).await.reviews;
    assert!(f.review(submission, "more").await.id > reviews[0].id);
    assert_eq!(f.store.unpark("a key is there").await.unwrap(), 1);
    f.store.retry(JobFilter { states: vec![JobState::Dead], ..JobFilter::default() }).await.unwrap();
    let claims = f.claim_as("new", 100).await;
    assert_eq!(claims.len(), 5, "the parked, the dead, the one that ran, the ready one, and the fresh one");
    for claim in &claims {
        f.finish(claim).await;
    }
    f.store.index_document(letter("d2")).await.unwrap();
    f.store.index_document(letter("d1")).await.unwrap();
    assert_eq!(found(f).await.len(), 2);
    let joins = f.store.joins(submission).await.unwrap();
    assert!(joins.iter().any(|join| join.closed_at.is_some()), "the join has its five arrivals: {joins:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn to_another_backend_and_back() {
    let Some(server) = Server::start() else { return };
    let (first, second, third) = (sqlite(), server.fixture().await, sqlite());
    let submission = busy(&first).await;
    let ((_a, one), (_b, two), (_c, three)) = (blobs(), blobs(), blobs());
    let small = one.put(b"some bytes".to_vec()).await.unwrap();
    // Larger than what is held in memory.
    let large = one.put((0..9_000_000_u32).map(|number| (number % 251) as u8).collect()).await.unwrap();
    carried(&first, &second, &one, &two).await;
    assert_same(&first, &second, submission).await;
    carried(&second, &third, &two, &three).await;
    assert_same(&second, &third, submission).await;
    for stored in [small, large] {
        assert_eq!(three.verify(stored.hash).await.unwrap(), stored.size);
    }
    assert_goes_on(&second, submission).await;
    assert_goes_on(&third, submission).await;
}

/// What a store shows of a city.
async fn city(f: &Fixture) -> impl std::fmt::Debug {
    let civic = f.store.civic();
    let zipcode = JurisdictionFilter { zipcode: Some("94301".to_owned()), ..JurisdictionFilter::default() };
    (
        civic.jurisdictions(zipcode).await.unwrap(),
        civic.meetings(MeetingFilter::default()).await.unwrap(),
        civic.agenda(COUNCIL).await.unwrap(),
        civic.meeting_changes(ChangeFilter::default()).await.unwrap(),
        civic.votes(COUNCIL).await.unwrap(),
        civic.ballots("ann").await.unwrap(),
        civic.sync_runs(SyncRunFilter::default()).await.unwrap(),
        civic.queue_jobs(None, None).await.unwrap(),
        civic.notifications(true).await.unwrap(),
        civic.watchlist().await.unwrap(),
        civic.counts().await.unwrap(),
    )
}

const COUNCIL: &str = "paloaltoCA_m1";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn councils_are_carried_with_their_work() {
    let Some(server) = Server::start() else { return };
    let (first, second, third) = (sqlite(), server.fixture().await, sqlite());
    let civic = first.store.civic();
    let palo_alto = Jurisdiction {
        banana: "paloaltoCA".to_owned(),
        name: "Palo Alto".to_owned(),
        state: "CA".to_owned(),
        zipcodes: vec![ZipCode { zipcode: "94301".to_owned(), is_primary: true }],
        ..Jurisdiction::default()
    };
    civic.put_jurisdictions(vec![palo_alto]).await.unwrap();
    let run = civic.start_sync_run("paloaltoCA").await.unwrap();
    let ballot = Ballot { person_id: "ann".to_owned(), name: "Ann".to_owned(), vote: "yes".to_owned() };
    let identity = |id: &str| (id.to_owned(), COUNCIL.to_owned());
    let ((item, of), (vote, at)) = (identity("paloaltoCA_m1_i"), identity("paloaltoCA_m1_v"));
    let changes = CivicChanges {
        meeting: Some(Meeting { id: COUNCIL.to_owned(), banana: "paloaltoCA".to_owned(), ..Meeting::default() }),
        items: vec![AgendaItem { id: item, meeting_id: of, ..AgendaItem::default() }],
        votes: vec![VoteEvent { id: vote, meeting_id: at, ballots: vec![ballot], ..VoteEvent::default() }],
        history: vec![NewMeetingChange::new(ChangeKind::Added, serde_json::Value::Null, "Council")],
        notifications: vec![Notification { key: "first".to_owned(), ..Notification::default() }],
        jobs: vec![CivicJob::meeting(COUNCIL, 9)],
        ..CivicChanges::of_meeting("paloaltoCA", COUNCIL, 0)
    };
    assert!(civic.apply(vec![changes]).await.unwrap()[0].is_stored());
    let alert = Alert { id: "1".to_owned(), cities: vec!["paloaltoCA".to_owned()], ..Alert::default() };
    civic.put_alert(alert).await.unwrap();
    let ((_a, one), (_b, two), (_c, three)) = (blobs(), blobs(), blobs());
    carried(&first, &second, &one, &two).await;
    carried(&second, &third, &two, &three).await;
    let before = city(&first).await;
    for f in [&second, &third] {
        assert_eq!(format!("{:?}", city(f).await), format!("{before:?}"));
        assert!(f.store.civic().start_sync_run("paloaltoCA").await.unwrap().id > run.id, "numbers go on");
        assert_eq!(f.claim(9).await.len(), 1, "the job can be done");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_archive_that_is_not_whole_stores_nothing() {
    let first = sqlite();
    busy(&first).await;
    let ((_a, one), (_b, two)) = (blobs(), blobs());
    for number in 0..3 {
        one.put(format!("blob {number}").into_bytes()).await.unwrap();
    }
    let mut archive = Vec::new();
    export(&*first.store, &one, &mut archive, |_| ()).await.unwrap();
    let to = sqlite();
    let nothing = async |archive: &[u8]| {
        let error = import(&*to.store, &two, archive, |_| ()).await.unwrap_err();
        assert!(matches!(error, ArchiveError::Bad(_)), "{error:?}");
        assert!(error.to_string().ends_with("; nothing was stored"), "{error}");
        assert_eq!(to.store.submissions(SubmissionFilter::default()).await.unwrap(), []);
        assert_eq!(two.list(None, 10).await.unwrap(), []);
    };
    // In the middle of a header, of a file, between files, and before the end.
    for length in [0, 100, 512, 1_000, archive.len() / 2, archive.len() * 3 / 4, archive.len() - 2_048] {
        nothing(&archive[..length]).await;
    }
    nothing(b"Dear diary, today nothing happened.").await;
    // One byte anywhere that is content: of a row, and of a blob.
    for needle in ["\"paused_because\":\"lunch\"", "blob 1"] {
        let mut altered = archive.clone();
        let place = altered.windows(needle.len()).position(|part| part == needle.as_bytes()).unwrap();
        altered[place + needle.len() - 2] ^= 1;
        nothing(&altered).await;
    }
    import(&*to.store, &two, &archive[..], |_| ()).await.unwrap();
    let error = import(&*to.store, &two, &archive[..], |_| ()).await.unwrap_err();
    assert!(error.to_string().contains("the store is in use already"), "{error}");
    let name = Name::from(HALF);
    assert_eq!(to.store.consumer_position(&name).await.unwrap(), first.store.consumer_position(&name).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgresql_forgets_no_column() {
    let Some(server) = Server::start() else { return };
    let options = server.options();
    drop(bindery_store::postgres::PostgresStore::open(options.clone()).await.unwrap());
    // What the server computes from the rest is computed there again.
    let sql = "SELECT table_name::text, column_name::text FROM information_schema.columns \
               WHERE table_schema = $1 AND is_generated = 'NEVER'";
    for row in server.connect().await.query(sql, &[&options.schema]).await.unwrap() {
        let (table, column): (String, String) = (row.get(0), row.get(1));
        let left_behind = [
            "worker",
            "feed",
            "id_block",
            "bindery_version",
            "ready",
            "claim",
            "progress",
            "progress_delta",
            "blob_candidate",
            "blob_mention",
            "retention_sweep",
        ];
        if left_behind.contains(&&*table) {
            continue;
        }
        let carried = bindery_store::portable::Table::named(&table).unwrap_or_else(|| panic!("{table} is not carried"));
        assert!(carried.columns.iter().any(|(name, _)| *name == column), "{column} of {table} is not carried");
    }
}
