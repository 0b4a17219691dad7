//! Rows of another store: all or none, and only where nothing is in their way.

use super::Fixture;
use bindery_store::{
    StoreError, StoreResult,
    portable::{Chunk, Load, Row, TABLES},
};
use serde_json::json;
use tokio::sync::mpsc;

fn workflow(name: &str) -> Load {
    let row = json!({"name": name, "version": 1, "text": "text", "stored_at": 5});
    let rows: Vec<Row> = row.as_object().cloned().into_iter().collect();
    let table = TABLES.iter().find(|table| table.name == "workflow").unwrap();
    Load::Rows(Chunk { table, rows })
}

async fn load(f: &Fixture, loads: Vec<Load>) -> StoreResult<u64> {
    let (to, from) = mpsc::channel(loads.len().max(1));
    for load in loads {
        to.send(load).await.unwrap();
    }
    drop(to);
    f.store.load(from).await
}

pub async fn rows_are_stored_when_all_have_come(f: &Fixture) {
    let cut_off = load(f, vec![workflow("a")]).await;
    assert!(matches!(cut_off, Err(StoreError::Invalid(_))), "{cut_off:?}");
    assert_eq!(f.store.workflows().await.unwrap(), [], "nobody said that it was all");
    let broken = load(f, vec![workflow("a"), workflow("a"), Load::Commit]).await;
    assert!(matches!(broken, Err(StoreError::Invalid(_))), "{broken:?}");
    assert_eq!(f.store.workflows().await.unwrap(), [], "one row of two");
    assert_eq!(load(f, vec![workflow("a"), workflow("b"), Load::Commit]).await, Ok(2));
    assert_eq!(f.store.workflows().await.unwrap().len(), 2);
    assert_eq!(load(f, vec![workflow("c"), Load::Commit]).await, Ok(1), "workflows alone are not in the way");
    assert_eq!(f.store.workflows().await.unwrap().len(), 1);
}

pub async fn a_store_in_use_takes_no_rows(f: &Fixture) {
    let submission = f.submission().await;
    let refused = load(f, vec![workflow("a"), Load::Commit]).await;
    assert!(refused.unwrap_err().to_string().contains("the store is in use already"));
    assert!(f.store.submission(submission).await.unwrap().is_some());
    assert_eq!(f.store.workflows().await.unwrap(), []);
}

pub async fn a_dump_has_every_row_once(f: &Fixture) {
    let submission = f.submission().await;
    f.store.enqueue((0..1_203).map(|_| f.job("many", submission)).collect()).await.unwrap();
    let (to, mut from) = mpsc::channel(2);
    let take = async {
        let mut ids = Vec::new();
        while let Some(Chunk { table, rows }) = from.recv().await {
            if table.name == "job" {
                ids.extend(rows.iter().map(|row| row["id"].as_i64().unwrap()));
            }
        }
        ids
    };
    let (dumped, ids) = tokio::join!(f.store.dump(to), take);
    dumped.unwrap();
    assert_eq!(ids.len(), 1_203);
    assert!(ids.is_sorted_by(|one, next| one < next), "in their order, each once");
}
