//! Councils are carried to another store, on whichever backend, with their work.

use crate::cities::put_cities;
use crate::{postgres, sqlite};
use bindery_civic::records::{
    AgendaItem, Alert, Ballot, ChangeFilter, ChangeKind, Civic as _, CivicChanges, CivicJob, DOMAINS, Jurisdiction,
    JurisdictionFilter, Meeting, MeetingFilter, NewMeetingChange, Notification, SyncRunFilter, VoteEvent, ZipCode,
};
use bindery_conformance::Fixture;
use bindery_store::{
    blobs::{Blobs, LocalBlobs},
    portable::{export, import},
};
use bindery_testkit::PostgresServer;
use std::collections::BTreeSet;
use tempfile::TempDir;

fn blobs() -> (TempDir, LocalBlobs) {
    let folder = tempfile::tempdir().unwrap();
    let blobs = LocalBlobs::open(folder.path()).unwrap();
    (folder, blobs)
}

async fn carried(from: &Fixture, to: &Fixture, old: &dyn Blobs, new: &dyn Blobs) {
    let mut archive = Vec::new();
    let out = export(&*from.store, old, &mut archive, |_| ()).await.unwrap();
    let into = import(&*to.store, new, &archive[..], |_| ()).await.unwrap();
    assert_eq!(out, into);
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
    let Some(server) = PostgresServer::start() else { return };
    let (first, second, third) = (sqlite(), postgres(&server, "carried").await, sqlite());
    let civic = first.store.civic();
    let palo_alto = Jurisdiction {
        city_key: "paloaltoCA".to_owned(),
        name: "Palo Alto".to_owned(),
        state: "CA".to_owned(),
        zipcodes: vec![ZipCode { zipcode: "94301".to_owned(), is_primary: true }],
        ..Jurisdiction::default()
    };
    put_cities(&civic, vec![palo_alto]).await.unwrap();
    let run = civic.start_sync_run("paloaltoCA", "a visitor").await.unwrap();
    let ballot = Ballot { person_id: "ann".to_owned(), name: "Ann".to_owned(), vote: "yes".to_owned() };
    let identity = |id: &str| (id.to_owned(), COUNCIL.to_owned());
    let ((item, of), (vote, at)) = (identity("paloaltoCA_m1_i"), identity("paloaltoCA_m1_v"));
    let changes = CivicChanges {
        meeting: Some(Meeting { id: COUNCIL.to_owned(), city_key: "paloaltoCA".to_owned(), ..Meeting::default() }),
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
        assert!(f.store.civic().start_sync_run("paloaltoCA", "a visitor").await.unwrap().id > run.id, "numbers go on");
        assert_eq!(f.claim(9).await.len(), 1, "the job can be done");
    }
}

/// Every column of the tables that the migrations make is carried, and none is named that is not there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_column_is_forgotten() {
    let declared = || -> BTreeSet<(String, String)> {
        let tables = DOMAINS.iter().flat_map(|domain| domain.schema().tables);
        let columns = |table: &&'static bindery_store::rows::Table| {
            table.columns.iter().map(|(column, _)| (table.name.to_owned(), (*column).to_owned())).collect::<Vec<_>>()
        };
        tables.flat_map(columns).collect()
    };
    let db = rusqlite::Connection::open_in_memory().unwrap();
    for schema in DOMAINS.iter().map(|domain| domain.schema()) {
        schema.sqlite.iter().for_each(|migration| db.execute_batch(migration).unwrap());
    }
    let sql = "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'";
    let mut statement = db.prepare(sql).unwrap();
    let made = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(made.map(Result::unwrap).collect::<BTreeSet<_>>(), declared());

    let Some(server) = PostgresServer::start() else { return };
    let (client, connection) = tokio_postgres::connect(&server.url(), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("CREATE SCHEMA columns; SET search_path = columns").await.unwrap();
    for migration in DOMAINS.iter().flat_map(|domain| domain.schema().postgres) {
        client.batch_execute(migration).await.unwrap();
    }
    let sql =
        "SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = 'columns'";
    let made = client.query(sql, &[]).await.unwrap();
    assert_eq!(made.iter().map(|row| (row.get(0), row.get(1))).collect::<BTreeSet<_>>(), declared());
}
