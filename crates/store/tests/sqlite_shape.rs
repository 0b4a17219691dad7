//! The shape of the SQLite file: tables that are added to it, and how much room rows take.

use bindery_conformance::rows::DOMAINS;
use bindery_core::{
    ItemId, Payload, SubmissionId, Timestamp,
    outcome::{Outcome, OutcomeStatus},
};
use bindery_store::{
    Changes, Commit, Queue, Records, RowStore, StoreError,
    rows::Query,
    sqlite::{Options, SqliteStore},
};
use rusqlite::Connection;

#[tokio::test]
async fn a_domain_adds_its_tables_to_a_store_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bindery.db");
    let store = SqliteStore::open(Options::at(&path)).unwrap();
    let outcomes = vec![outcome(1, 100)];
    store.commit(vec![Commit::always(Changes { outcomes, ..Changes::default() })]).await.unwrap();
    drop(store);
    let with_domain = || SqliteStore::open(Options { domains: DOMAINS, ..Options::at(&path) });
    for _ in 0..2 {
        let store = with_domain().unwrap();
        assert_eq!(store.outcomes(SubmissionId::from_raw(1), None).await.unwrap().len(), 1, "rows stay");
        let found = store.query_rows(vec![Query::count(DOMAINS[0].schema().tables[0])]).await.unwrap();
        assert_eq!(found[0][0].count(0).unwrap(), 0);
    }
    let db = Connection::open(&path).unwrap();
    db.execute_batch("UPDATE domain_version SET version = 99").unwrap();
    assert!(matches!(with_domain().unwrap_err(), StoreError::Newer { found: 99, known: 1, .. }));
}

fn outcome(number: i64, bytes: usize) -> Outcome {
    Outcome {
        submission: SubmissionId::from_raw(1),
        item: Some(ItemId::from_raw(number)),
        stage: "extract".into(),
        processor: "field_extractor".into(),
        status: OutcomeStatus::Completed,
        output: Payload::Inline(format!("\"{}\"", "x".repeat(bytes - 2))),
        confidence: Some(0.9),
        error: None,
        resume: None,
        input_hash: None,
        processor_version: 1,
        attempts: 1,
        cost_micros: 0,
        finished_at: Timestamp::from_millis(1_800_000_000_000),
        reuse: None,
    }
}

#[tokio::test]
async fn a_result_of_a_kilobyte_takes_one_and_a_half_at_most() {
    const ROWS: i64 = 4_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bindery.db");
    let empty = {
        drop(SqliteStore::open(Options::at(&path)).unwrap());
        std::fs::metadata(&path).unwrap().len()
    };
    let store = SqliteStore::open(Options::at(&path)).unwrap();
    for first in (0..ROWS).step_by(500) {
        let outcomes = (first..first + 500).map(|number| outcome(number, 1_000)).collect();
        store.commit(vec![Commit::always(Changes { outcomes, ..Changes::default() })]).await.unwrap();
    }
    drop(store);
    let each = (std::fs::metadata(&path).unwrap().len() - empty) / ROWS as u64;
    assert!(each <= 1_500, "{each} bytes for a result of 1,000");
}
