//! A whole store carried from one backend to another and back: nothing is lost, and the work goes on there.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod postgres_server;

use bindery_conformance::{
    Fixture,
    fixture::{arrive, ending, error, event},
    rows::DOMAINS,
};
use bindery_core::{
    Clock, EventSeq, Name, SubmissionId, error::ErrorClass, item::ItemKind, job::JobState, outcome::OutcomeStatus,
    time::ManualClock,
};
use bindery_store::{
    Changes, JobEnd, Store,
    blobs::{Blobs, LocalBlobs},
    portable::{ArchiveError, TABLES, export, import},
    postgres::{PostgresOptions, PostgresStore},
    query::{EventFilter, ItemFilter, JobFilter, JoinFilter, SubmissionFilter},
    search::{IndexedDocument, Query, SearchRequest, TextChunk},
    sqlite::{Options, SqliteStore},
};
use postgres_server::Server;
use std::sync::Arc;
use tempfile::TempDir;

fn sqlite() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::default());
    let path = folder.path().join("bindery.db");
    let options = Options { clock: Arc::clone(&clock) as Arc<dyn Clock>, domains: DOMAINS, ..Options::at(path) };
    Fixture::new(Arc::new(SqliteStore::open(options).unwrap()), clock).with_guard(folder)
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
        owner: None,
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
    let joins = f.store.joins(submission, JoinFilter::default()).await.unwrap();
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
    drop(PostgresStore::open(options.clone()).await.unwrap());
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
            "domain_version",
        ];
        // How long a wait or a lease is goes with the moment at which it ends, and that is another one here; the claims of
        // the other store, which a fence is for, are none here.
        if left_behind.contains(&&*table) || [("job", "lease_ms"), ("job", "fence")].contains(&(&*table, &*column)) {
            continue;
        }
        let carried = TABLES.iter().find(|known| known.name == table);
        let carried = carried.unwrap_or_else(|| panic!("{table} is not carried"));
        assert!(carried.columns.iter().any(|(name, _)| *name == column), "{column} of {table} is not carried");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_with_rows_that_the_program_does_not_know_is_not_exported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bindery.db");
    drop(SqliteStore::open(Options { domains: DOMAINS, ..Options::at(&path) }).unwrap());
    let refusal = async |store: &dyn Store, blobs: &dyn Blobs| {
        let error = export(store, blobs, std::io::sink(), |_| ()).await.unwrap_err();
        assert!(error.to_string().contains("the store has tables of test_notes"), "{error}");
    };
    let (_folder, blobs) = blobs();
    refusal(&SqliteStore::open(Options::at(&path)).unwrap(), &blobs).await;
    let Some(server) = Server::start() else { return };
    let options = server.options();
    drop(PostgresStore::open(PostgresOptions { domains: DOMAINS, ..options.clone() }).await.unwrap());
    refusal(&PostgresStore::open(options).await.unwrap(), &blobs).await;
}
