//! The writer thread: one connection, group commits.
//!
//! Callers hand over closures; the thread runs as many as are waiting in one transaction, each in its own savepoint so
//! that one that fails takes nothing with it, commits, and only then answers. While a commit waits for the disk, the
//! next group gathers by itself, so no timer is needed.

use super::{
    open::{Options, explain, open_writer},
    progress,
};
use crate::{
    error::{StoreError, StoreResult},
    lease::LeasesAhead,
};
use bindery_core::{Name, Timestamp, fault::FaultPoint};
use rusqlite::Connection;
use std::{
    collections::HashMap,
    fmt,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{Receiver, Sender, channel},
    thread::JoinHandle,
    time::{Duration, Instant},
};
use tokio::sync::{oneshot, watch};

/// A group is committed when it has run this long, so that nobody waits for an endless stream of others. A sync costs a
/// fraction of it.
const LONGEST_GROUP: Duration = Duration::from_millis(5);
const LARGEST_GROUP: usize = 1_000;

/// The busy timeout of the checkpoint on closing.
const TIDY_WITHIN: Duration = Duration::from_millis(200);

/// Ids that are given out one by one inside transactions, and how many are fetched at a time.
const BLOCK: i64 = 1_000;

/// What a statement function works with: the open transaction, its time, and fresh ids.
pub(super) struct Tx<'a> {
    pub(super) db: &'a Connection,
    pub(super) now: Timestamp,
    pub(super) state: &'a mut WriterState,
}

/// What the writer remembers between transactions. All of it can be forgotten without harm.
#[derive(Default)]
pub(super) struct WriterState {
    blocks: HashMap<&'static str, Range<i64>>,
    names: HashMap<String, Name>,
    /// Where the next claim starts among the limit keys, so that all get their turn.
    pub(super) limit_cursor: String,
    pub(super) leases_ahead: LeasesAhead,
    /// Outcomes and items that the transaction under way has added.
    pub(super) added: progress::Added,
}

impl WriterState {
    /// Queue, stage and processor names repeat a million times; keep one copy of each.
    pub(super) fn name(&mut self, text: &str) -> Name {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        if self.names.len() > 10_000 {
            self.names.clear();
        }
        let name = Name::from(text);
        self.names.insert(text.to_owned(), name.clone());
        name
    }
}

impl Tx<'_> {
    /// When a wait that begins now is over.
    pub(super) fn millis_after(&self, wait: Duration) -> i64 {
        (self.now + wait).as_millis()
    }

    /// A fresh number of this kind (`job`, `token`).
    pub(super) fn fresh(&mut self, kind: &'static str) -> rusqlite::Result<i64> {
        if let Some(next) = self.state.blocks.get_mut(kind).and_then(Iterator::next) {
            return Ok(next);
        }
        let mut block = self.reserve(kind, BLOCK)?;
        let first = block.next().unwrap_or(block.start);
        self.state.blocks.insert(kind, block);
        Ok(first)
    }

    /// A block of numbers that nobody else gets.
    pub(super) fn reserve(&self, kind: &str, count: i64) -> rusqlite::Result<Range<i64>> {
        let mut statement = self.db.prepare_cached(
            "INSERT INTO id_block (kind, next) VALUES (?1, 1 + ?2) \
             ON CONFLICT (kind) DO UPDATE SET next = next + ?2 RETURNING next",
        )?;
        let end: i64 = statement.query_row((kind, count), |row| row.get(0))?;
        Ok(end - count..end)
    }
}

/// What a caller may rely on when its request has been answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Durability {
    /// Survives the end of the process, of the system and of the power.
    Durable,
    /// Survives the end of the process. A power cut may undo it, together with everything after it: for what only says
    /// who works on what, because then nobody does any more.
    Relaxed,
}

impl Durability {
    /// What `PRAGMA synchronous` calls it, in WAL mode.
    fn synchronous(self) -> &'static str {
        match self {
            Self::Durable => "FULL",
            Self::Relaxed => "NORMAL",
        }
    }
}

type Answer<T> = oneshot::Sender<StoreResult<T>>;

/// One caller's request, with its type hidden.
trait WriteRequest: Send {
    fn durability(&self) -> Durability;
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), WriteError>;
    fn answer(self: Box<Self>, failure: Option<StoreError>);
}

struct TypedRequest<F, T> {
    durability: Durability,
    work: Option<F>,
    result: Option<StoreResult<T>>,
    answer: Answer<T>,
}

/// Why a request failed: SQLite said no, or we did.
pub(super) enum WriteError {
    Sql(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for WriteError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for WriteError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

pub(super) type WriteResult<T> = Result<T, WriteError>;

impl<F, T> WriteRequest for TypedRequest<F, T>
where
    F: FnOnce(&mut Tx<'_>) -> WriteResult<T> + Send,
    T: Send,
{
    fn durability(&self) -> Durability {
        self.durability
    }

    fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), WriteError> {
        let Some(work) = self.work.take() else { return Ok(()) };
        self.result = Some(Ok(work(tx)?));
        Ok(())
    }

    fn answer(self: Box<Self>, failure: Option<StoreError>) {
        let result = match failure {
            Some(error) => Err(error),
            None => self.result.unwrap_or(Err(StoreError::Closed)),
        };
        // The caller may have gone; the effect stands all the same.
        let _ = self.answer.send(result);
    }
}

/// The handle that callers share.
pub(super) struct Writer {
    requests: Option<Sender<Box<dyn WriteRequest>>>,
    thread: Option<JoinHandle<()>>,
    pub(super) changes: watch::Sender<u64>,
    /// Why nothing is written.
    refusal: Option<StoreError>,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

impl Writer {
    pub(super) fn start(options: Options) -> StoreResult<Self> {
        let db = open_writer(&options)?;
        let (requests, inbox) = channel();
        let (changes, _) = watch::channel(0);
        let announce = changes.clone();
        let thread = std::thread::Builder::new()
            .name("bindery-writer".to_owned())
            .spawn(move || Group::new(options, db, announce).serve(&inbox))
            .map_err(|error| StoreError::Database(format!("the writer thread did not start: {error}")))?;
        Ok(Self { requests: Some(requests), thread: Some(thread), changes, refusal: None })
    }

    /// For a store that cannot be written: every change is refused with this.
    pub(super) fn always_refusing(refusal: StoreError) -> Self {
        Self { requests: None, thread: None, changes: watch::channel(0).0, refusal: Some(refusal) }
    }

    pub(super) fn is_refusing(&self) -> bool {
        self.refusal.is_some()
    }

    /// Runs `work` in the next transaction and returns once that is durable.
    pub(super) async fn write<T, F>(&self, work: F) -> StoreResult<T>
    where
        F: FnOnce(&mut Tx<'_>) -> WriteResult<T> + Send + 'static,
        T: Send + 'static,
    {
        self.request(Durability::Durable, work).await
    }

    /// The same for claims, leases and heartbeats: everybody sees it at once, but a power cut may undo it.
    pub(super) async fn write_relaxed<T, F>(&self, work: F) -> StoreResult<T>
    where
        F: FnOnce(&mut Tx<'_>) -> WriteResult<T> + Send + 'static,
        T: Send + 'static,
    {
        self.request(Durability::Relaxed, work).await
    }

    async fn request<T, F>(&self, durability: Durability, work: F) -> StoreResult<T>
    where
        F: FnOnce(&mut Tx<'_>) -> WriteResult<T> + Send + 'static,
        T: Send + 'static,
    {
        let (answer, result) = oneshot::channel();
        let request = Box::new(TypedRequest { durability, work: Some(work), result: None, answer });
        let closed = || self.refusal.clone().unwrap_or(StoreError::Closed);
        let requests = self.requests.as_ref().ok_or_else(closed)?;
        requests.send(request).map_err(|_| StoreError::Closed)?;
        result.await.map_err(|_| StoreError::Closed)?
    }
}

impl Drop for Writer {
    /// Waits for what was handed over, so that closing a store loses nothing.
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Group {
    options: Options,
    db: Connection,
    /// What the connection promises at the moment.
    durability: Durability,
    state: WriterState,
    changes: watch::Sender<u64>,
}

impl Group {
    fn new(options: Options, db: Connection, changes: watch::Sender<u64>) -> Self {
        Self { options, db, durability: Durability::Durable, state: WriterState::default(), changes }
    }

    fn serve(mut self, inbox: &Receiver<Box<dyn WriteRequest>>) {
        let mut left_over = None;
        while let Some(first) = left_over.take().or_else(|| inbox.recv().ok()) {
            left_over = self.commit_group(first, inbox);
        }
        self.require(Durability::Durable);
        // Leave a tidy single file behind, unless another process holds the write lock: it does so when it closes.
        let _ = self.db.busy_timeout(TIDY_WITHIN);
        let _ = self.db.execute_batch("PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE)");
    }

    /// Between transactions only. Where it cannot be changed, it stays what it is.
    fn require(&mut self, durability: Durability) {
        if self.durability != durability && self.db.pragma_update(None, "synchronous", durability.synchronous()).is_ok()
        {
            self.durability = durability;
        }
    }

    /// Returns a request that has to be durable, if one came while a relaxed group was gathered: the next group is its.
    fn commit_group(
        &mut self,
        first: Box<dyn WriteRequest>,
        inbox: &Receiver<Box<dyn WriteRequest>>,
    ) -> Option<Box<dyn WriteRequest>> {
        self.require(first.durability());
        if let Err(error) = self.db.execute_batch("BEGIN IMMEDIATE") {
            let error = self.explain(&error);
            tracing::debug!(error = %error, "a transaction could not begin");
            first.answer(Some(error));
            return None;
        }
        let begun = Instant::now();
        let changes_before = self.db.total_changes();
        let mut done: Vec<(Box<dyn WriteRequest>, Option<StoreError>)> = Vec::new();
        let (mut next, mut left_over) = (Some(first), None);
        while let Some(mut request) = next.take() {
            let failure = self.run_one(request.as_mut());
            done.push((request, failure));
            if self.db.is_autocommit() {
                break; // SQLite rolled the whole transaction back: a full disk does that
            }
            if done.len() < LARGEST_GROUP && begun.elapsed() < LONGEST_GROUP {
                next = inbox.try_recv().ok();
                let takes_all = self.durability == Durability::Durable;
                left_over = next.take_if(|request| !takes_all && request.durability() == Durability::Durable);
            }
        }
        let verdict = self.end_group(&done);
        if verdict.is_none() {
            self.options.faults.hit(FaultPoint::AfterCommitBeforeAck);
            // A claim that found nothing is no news: announcing it would wake the very worker that waits for some.
            if self.db.total_changes() != changes_before {
                self.changes.send_modify(|mark| *mark += 1);
            }
        }
        if matches!(verdict, Some(StoreError::Full { .. })) {
            // Moving what is in the WAL to its place makes room in it; on a full disk nothing else would.
            let _ = self.db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
        }
        for (request, failure) in done {
            request.answer(failure.or_else(|| verdict.clone()));
        }
        left_over
    }

    /// Commits; the error of the group if that was not possible.
    fn end_group(&mut self, done: &[(Box<dyn WriteRequest>, Option<StoreError>)]) -> Option<StoreError> {
        if self.db.is_autocommit() {
            self.state.blocks.clear();
            let cause = done.iter().find_map(|(_, failure)| failure.clone());
            return Some(cause.unwrap_or(StoreError::Database("the transaction was rolled back".to_owned())));
        }
        self.options.faults.hit(FaultPoint::BeforeCommit);
        let Err(error) = self.db.execute_batch("COMMIT") else { return None };
        let error = self.explain(&error);
        // Whoever asked for it is told, and says so.
        tracing::debug!(error = %error, "a commit failed; nothing of it was stored");
        self.state.blocks.clear();
        if !self.db.is_autocommit() {
            let _ = self.db.execute_batch("ROLLBACK");
        }
        Some(error)
    }

    /// Runs one request in a savepoint. A request that fails leaves nothing behind.
    fn run_one(&mut self, request: &mut dyn WriteRequest) -> Option<StoreError> {
        if let Err(error) = run_cached(&self.db, "SAVEPOINT request") {
            return Some(self.explain(&error));
        }
        let now = self.options.clock.now();
        let mut tx = Tx { db: &self.db, now, state: &mut self.state };
        let result = catch_unwind(AssertUnwindSafe(|| request.run(&mut tx).and_then(|()| progress::store(&mut tx))));
        let failure = match result {
            Ok(Ok(())) => match run_cached(&self.db, "RELEASE request") {
                Ok(()) => return None,
                Err(error) => self.explain(&error),
            },
            Ok(Err(WriteError::Store(error))) => error,
            Ok(Err(WriteError::Sql(error))) => self.explain(&error),
            Err(_) => StoreError::Database("a statement panicked; nothing of it was stored".to_owned()),
        };
        self.state.blocks.clear();
        self.state.added.clear();
        if !self.db.is_autocommit() {
            let _ = run_cached(&self.db, "ROLLBACK TO request").and_then(|()| run_cached(&self.db, "RELEASE request"));
        }
        Some(failure)
    }

    fn explain(&self, error: &rusqlite::Error) -> StoreError {
        explain(error, &self.options.path, self.options.busy_timeout)
    }
}

fn run_cached(db: &Connection, sql: &str) -> rusqlite::Result<()> {
    db.prepare_cached(sql)?.execute([]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What SQLite promises the transaction under way: 1 is NORMAL, 2 is FULL.
    fn synchronous(tx: &mut Tx<'_>) -> WriteResult<i64> {
        Ok(tx.db.pragma_query_value(None, "synchronous", |row| row.get(0))?)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_has_to_be_durable_waits_for_the_disk_whatever_is_committed_beside_it() {
        let scratch = tempfile::tempdir().unwrap();
        let writer = Writer::start(Options::at(scratch.path().join("test.db"))).unwrap();
        assert_eq!(writer.write_relaxed(synchronous).await.unwrap(), 1);
        assert_eq!(writer.write(synchronous).await.unwrap(), 2);
        // Whichever way they meet in one group.
        for _ in 0..100 {
            let (relaxed, durable, again) = tokio::join!(
                writer.write_relaxed(synchronous),
                writer.write(synchronous),
                writer.write_relaxed(synchronous)
            );
            assert!(relaxed.is_ok() && again.is_ok());
            assert_eq!(durable.unwrap(), 2);
        }
    }
}
