//! The shape of the SQLite file: what older files become, and how much room rows take.

use bindery_core::{
    ItemId, Payload, SubmissionId, Timestamp,
    outcome::{Outcome, OutcomeStatus},
};
use bindery_store::{
    Changes, Commit, Queue, Records,
    query::ItemCounts,
    sqlite::{Options, SqliteStore},
};
use rusqlite::Connection;

/// The tables as they were before progress was kept.
const OLDER: [&str; 9] = [
    include_str!("../src/sqlite/migrations/0001_initial.sql"),
    include_str!("../src/sqlite/migrations/0002_carried.sql"),
    include_str!("../src/sqlite/migrations/0003_worker_left.sql"),
    include_str!("../src/sqlite/migrations/0004_decisions.sql"),
    include_str!("../src/sqlite/migrations/0005_parts.sql"),
    include_str!("../src/sqlite/migrations/0006_executions.sql"),
    include_str!("../src/sqlite/migrations/0007_search.sql"),
    include_str!("../src/sqlite/migrations/0008_civic.sql"),
    include_str!("../src/sqlite/migrations/0009_reading.sql"),
];

/// A file with two pages, and three results.
const ROWS: &str = "INSERT INTO item (submission_id, id, kind, ordinal, data) VALUES
    (1, 1, 'file', 0, '{}'), (1, 2, 'page', 0, '{}'), (1, 3, 'page', 1, '{}');
    INSERT INTO outcome (submission_id, stage, item_id, processor, status, output, processor_version, attempts,
    cost_micros, finished_at) VALUES (1, 's', 1, 'p', 1, '7', 1, 1, 0, 5), (1, 's', 2, 'p', 1, '8', 1, 1, 0, 5),
    (1, 's', 3, 'p', 2, NULL, 1, 1, 0, 5);
    INSERT INTO execution_history VALUES (4, 1, 2, '[]')";

#[tokio::test]
async fn an_older_file_is_counted_once_and_keeps_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bindery.db");
    let old = Connection::open(&path).unwrap();
    for migration in OLDER {
        old.execute_batch(migration).unwrap();
    }
    old.execute_batch(ROWS).unwrap();
    old.pragma_update(None, "application_id", 0x4249_4E44).unwrap();
    old.pragma_update(None, "user_version", OLDER.len() as i64).unwrap();
    drop(old);

    let store = SqliteStore::open(Options::at(&path)).unwrap();
    let id = SubmissionId::from_raw(1);
    assert_eq!(store.item_counts(id).await.unwrap(), ItemCounts { files: 1, pages: 2, documents: 0 });
    let counts = store.stage_counts(id).await.unwrap();
    assert_eq!((counts.len(), counts[0].counts.completed, counts[0].counts.failed), (1, 2, 1));
    let outputs: Vec<Payload> =
        store.outcomes(id, None).await.unwrap().into_iter().map(|outcome| outcome.output).collect();
    assert_eq!(outputs, [Payload::Inline("7".to_owned()), Payload::Inline("8".to_owned()), Payload::null()]);
    drop(store);
    let now = Connection::open(&path).unwrap();
    let history: i64 = now.query_row("SELECT last_event FROM execution_history", [], |row| row.get(0)).unwrap();
    assert_eq!(history, 2);
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
