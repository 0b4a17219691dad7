//! The rows of a domain: found by their columns, changed as they were seen, and deleted with whom they are of.

use super::{Fixture, fixture::event};
use async_trait::async_trait;
use bindery_core::{ContentHash, JobId, SubmissionId};
use bindery_store::{
    Changes, Commit, CommitResult, StoreResult,
    query::QueueQuery,
    retention::Owner,
    rows::{
        Answers, BlobColumns, Domain, Query, RowWrites, Schema, UnitOfWork, Value, any_of, column, decode, joined, run,
    },
    store::Store,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};

/// A shelf with notes, as a domain would have it.
#[derive(Debug)]
pub struct Notes;

/// The domains that stores under test are opened with.
pub static DOMAINS: &[&dyn Domain] = &[&Notes];

bindery_store::tables! {
    SHELF = "test_shelf" by "id" { id: Text, room: Text }
    NOTE = "test_note" by "shelf_id, number" { shelf_id: Text, number: Integer, owner: Text, written_at: Integer }
}

static SCHEMA: Schema = Schema {
    name: "test_notes",
    sqlite: &["CREATE TABLE test_shelf (id TEXT PRIMARY KEY, room TEXT, data TEXT NOT NULL) STRICT; \
               CREATE TABLE test_note (shelf_id TEXT NOT NULL, number INTEGER NOT NULL, owner TEXT NOT NULL, \
               written_at INTEGER, data TEXT NOT NULL, PRIMARY KEY (shelf_id, number)) STRICT"],
    postgres: &["CREATE TABLE test_shelf (id text COLLATE \"C\" PRIMARY KEY, room text COLLATE \"C\", \
                 data text COLLATE \"C\" NOT NULL); \
                 CREATE TABLE test_note (shelf_id text COLLATE \"C\" NOT NULL, number bigint NOT NULL, \
                 owner text COLLATE \"C\" NOT NULL, written_at bigint, data text COLLATE \"C\" NOT NULL, \
                 PRIMARY KEY (shelf_id, number))"],
    tables: ALL_TABLES,
    owners: &[Owner::new("test_shelf", "never"), Owner::new("test_note", "with its owner")],
    blob_columns: &[BlobColumns { table: "test_note", of_submission: false, columns: &["data"] }],
    pruned: &["test_note"],
};

#[async_trait]
impl Domain for Notes {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    async fn age_out(&self, _: &dyn Store) -> StoreResult<u64> {
        Ok(0)
    }

    async fn delete_owner(&self, store: &dyn Store, owner: &str) -> StoreResult<u64> {
        let found = Query::records::<Note>().filter(column("owner").equals(owner));
        run(store, Delete(found)).await
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
struct Shelf {
    id: String,
    room: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
struct Note {
    shelf_id: String,
    number: i64,
    owner: String,
    written_at: Option<i64>,
    text: String,
}

bindery_store::records! {
    Shelf: SHELF = |row| [&row.id, row.room.as_deref()];
    Note: NOTE = |row| [&row.shelf_id, row.number, &row.owner, row.written_at];
}

fn note(shelf: &str, number: i64, owner: &str, written_at: Option<i64>) -> Note {
    Note { shelf_id: shelf.to_owned(), number, owner: owner.to_owned(), written_at, text: format!("note {number}") }
}

/// Stores rows: in place of others, or only where there are none.
struct Put {
    notes: Vec<Note>,
    keeps: bool,
}

impl UnitOfWork for Put {
    type Output = ();

    fn writes(&self, _: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, ())> {
        let mut writes = RowWrites::default();
        for note in &self.notes {
            if self.keeps {
                writes.add(note);
            } else {
                writes.put(note);
            }
            writes.add(&Shelf { id: note.shelf_id.clone(), room: Some("attic".to_owned()) });
        }
        Ok((writes, ()))
    }
}

struct Delete(Query);

impl UnitOfWork for Delete {
    type Output = u64;

    fn queries(&self) -> Vec<Query> {
        vec![self.0.clone()]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, u64)> {
        let mut writes = RowWrites::default();
        writes.delete(self.0.clone());
        Ok((writes, answers.rows(0).len() as u64))
    }
}

async fn put(f: &Fixture, notes: Vec<Note>) {
    run(&*f.store, Put { notes, keeps: false }).await.unwrap();
}

async fn numbers(f: &Fixture, query: Query) -> Vec<i64> {
    let found = f.store.query_rows(vec![query]).await.unwrap().pop().unwrap();
    decode::<Note>(&found).unwrap().into_iter().map(|note| note.number).collect()
}

pub async fn rows_are_found_by_their_columns(f: &Fixture) {
    put(f, vec![note("a", 1, "ann", Some(30)), note("a", 2, "bob", None), note("b", 3, "ann", Some(10))]).await;
    put(f, vec![note("b", 4, "cid", Some(20))]).await;
    let all = || Query::records::<Note>();
    let owners = ["ann", "cid"];
    assert_eq!(
        numbers(f, all().filter(column("owner").is_any_of(&owners[..])).ascending(&["number"])).await,
        [1, 3, 4]
    );
    let some = Value::Numbers(vec![2, 4, 9]);
    assert_eq!(numbers(f, all().filter(column("number").is_any_of(some)).ascending(&["number"])).await, [2, 4]);
    let newest = column("written_at").descending();
    assert_eq!(numbers(f, all().order(newest.nulls_last())).await, [1, 4, 3, 2]);
    assert_eq!(numbers(f, all().order(newest.nulls_first()).limit(Some(2))).await, [2, 1]);
    let early = any_of(column("written_at").is_null(), column("written_at").is_at_most(10));
    assert_eq!(numbers(f, all().filter(early).ascending(&["number"])).await, [2, 3]);
    let late = all().filter(column("written_at").is_at_least(20)).filter_some(None);
    assert_eq!(numbers(f, late.filter(column("owner").differs_from("cid"))).await, [1]);
    assert_eq!(numbers(f, all().filter(column("written_at").is_below(20))).await, [3]);
    let of_ann = Query::select(&NOTE, &["shelf_id"]).filter(column("owner").equals("cid"));
    let beside = all().filter(column("shelf_id").is_among(of_ann)).filter(column("written_at").is_not_null());
    assert_eq!(numbers(f, beside.ascending(&["number"])).await, [3, 4]);
    let joined_rows = all().join(&SHELF, "shelf_id", "id").and_column(joined("room"));
    let answers = vec![joined_rows.filter(joined("id").equals("b")).ascending(&["number"])];
    let found = f.store.query_rows(answers).await.unwrap().pop().unwrap();
    let rooms: Vec<&str> = found.iter().map(|row| row.text(1).unwrap()).collect();
    assert_eq!(rooms, ["attic", "attic"]);
    let counts = vec![Query::count_by(&NOTE, &["owner"]).ascending(&["owner"]), Query::count(&NOTE)];
    let counted = f.store.query_rows(counts).await.unwrap();
    let by_owner: BTreeMap<&str, u64> =
        counted[0].iter().map(|row| (row.text(0).unwrap(), row.count(1).unwrap())).collect();
    assert_eq!((by_owner, counted[1][0].count(0).unwrap()), ([("ann", 2), ("bob", 1), ("cid", 1)].into(), 4));
}

pub async fn a_row_replaces_or_keeps_the_one_with_its_key(f: &Fixture) {
    put(f, vec![note("a", 1, "ann", None)]).await;
    let kept = Put { notes: vec![note("a", 1, "bob", None), note("a", 2, "b\0b", None)], keeps: true };
    run(&*f.store, kept).await.unwrap();
    let all = || Query::records::<Note>().ascending(&["shelf_id", "number"]);
    assert_eq!(numbers(f, all().filter(column("owner").equals("ann"))).await, [1]);
    put(f, vec![note("a", 1, "bob", None), note("a", 1, "cid", None)]).await;
    assert_eq!(numbers(f, all().filter(column("owner").equals("cid"))).await, [1], "the later of two counts");
    assert_eq!(f.store.domains()[0].delete_owner(&*f.store, "cid").await.unwrap(), 1);
    assert_eq!(f.store.domains()[0].delete_owner(&*f.store, "cid").await.unwrap(), 0);
    assert_eq!(numbers(f, all()).await, [2], "any text can be stored");
}

/// Adds one to the largest number that it sees.
struct Next(String);

impl UnitOfWork for Next {
    type Output = i64;

    fn lock_keys(&self) -> Vec<String> {
        vec![self.0.clone()]
    }

    fn queries(&self) -> Vec<Query> {
        vec![Query::records::<Note>().filter(column("shelf_id").equals(&self.0))]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, i64)> {
        let number = 1 + decode::<Note>(answers.rows(0))?.into_iter().map(|note| note.number).max().unwrap_or(0);
        let mut writes = RowWrites::default();
        writes.add(&note(&self.0, number, "ann", Some(answers.now.as_millis())));
        Ok((writes, number))
    }
}

pub async fn who_names_the_same_key_takes_turns(f: &Fixture) {
    let mut running = Vec::new();
    for _ in 0..12 {
        let store = Arc::clone(&f.store);
        running.push(tokio::spawn(async move { run(&*store, Next("a".to_owned())).await.unwrap() }));
    }
    let mut numbers = Vec::new();
    for ran in running {
        numbers.push(ran.await.unwrap());
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=12).collect::<Vec<i64>>());
}

/// Enqueues anew what is dead, with an event, and stores a note of it.
struct Revive {
    external_id: String,
    key: &'static str,
}

impl UnitOfWork for Revive {
    type Output = (Option<SubmissionId>, Vec<JobId>);

    fn queue_query(&self) -> QueueQuery {
        QueueQuery { submissions: vec![self.external_id.clone()], dedup_keys: vec![self.key.to_owned()] }
    }

    fn ids(&self, _: &Answers) -> StoreResult<Option<(&'static str, i64)>> {
        Ok(Some(("test_note", 1)))
    }

    fn commits(&self, answers: &Answers) -> StoreResult<Vec<Commit>> {
        let submission = answers.queue.submissions.get(&self.external_id).copied();
        Ok(vec![Commit::always(Changes { events: vec![event("Revived", submission)], ..Changes::default() })])
    }

    fn writes(&self, answers: &Answers, results: &[CommitResult]) -> StoreResult<(RowWrites, Self::Output)> {
        assert!(results.iter().all(CommitResult::is_applied));
        let dead: Vec<JobId> = answers.queue.dead_letters.iter().map(|letter| letter.job).collect();
        let mut writes = RowWrites::default();
        writes.delete_dead_letters(dead.clone());
        writes.put(&note("dead", answers.ids[0], "ann", None));
        Ok((writes, (answers.queue.submissions.get(&self.external_id).copied(), dead)))
    }
}

pub async fn a_unit_of_work_sees_dead_letters_and_takes_them(f: &Fixture) {
    let mut new = f.new_submission().await;
    new.external_id = Some("standing".to_owned());
    let id = new.id;
    f.apply(Commit::always(Changes { submissions: vec![new], ..Changes::default() })).await;
    let mut dead = Vec::new();
    for key in ["k", "k", "other"] {
        let mut job = f.job("work", id);
        job.dedup_key = Some(key.to_owned());
        dead.push(f.enqueue(job).await);
        f.fail(&f.claim_one().await).await;
    }
    let mut live = f.job("work", id);
    live.dedup_key = Some("k".to_owned());
    let live = f.enqueue(live).await;
    let revive = || Revive { external_id: "standing".to_owned(), key: "k" };
    assert_eq!(run(&*f.store, revive()).await.unwrap(), (Some(id), dead[..2].to_vec()));
    assert_eq!(run(&*f.store, revive()).await.unwrap(), (Some(id), Vec::new()));
    let left: Vec<JobId> =
        f.jobs(bindery_store::query::JobFilter::default()).await.into_iter().map(|job| job.id).collect();
    assert_eq!(left, [dead[2], live]);
    assert_eq!(numbers(f, Query::records::<Note>()).await.len(), 2, "numbers are fresh");
}

pub async fn a_blob_that_a_domain_names_is_in_use(f: &Fixture) {
    let (named, other) = (ContentHash::of(b"named"), ContentHash::of(b"other"));
    let text = format!("see {named}");
    put(f, vec![Note { text, ..note("a", 1, "ann", None) }]).await;
    let candidates = Arc::new(bindery_store::retention::Candidates::from_hashes([named, other]));
    assert_eq!(f.store.mark_blobs(candidates).await.unwrap().in_use, [named].into());
}
