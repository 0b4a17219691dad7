//! Connections and transactions.
//!
//! [`transaction!`] runs a block in a transaction and, where the server gave it up because of another one or the
//! connection broke before the commit was sent, runs it again. Once a commit was sent and no answer came, nobody knows
//! whether it holds: the caller is told, and its guards say what to do.

use super::{
    clock::ServerClock,
    fail::{TxError, TxResult},
    news::News,
};
use crate::{
    STATEMENTS,
    error::{StoreError, StoreResult},
    rows::Domain,
};
use bindery_core::{
    Backoff, Timestamp,
    fault::{FaultPoint, Faults},
    time::Clock,
};
use bytes::Bytes;
use deadpool_postgres::{HookError, Object, Pool, PoolError};
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::watch;
use tokio_postgres::{Config, CopyInSink, Row, SimpleQueryMessage, types::ToSql};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How often a transaction is run again because of others.
const MOST_TRIES: u32 = 20;

pub(super) type Param<'a> = &'a (dyn ToSql + Sync);

/// What a store is made of.
pub(super) struct Setup {
    pub(super) pool: Pool,
    /// The URL as far as it may be shown.
    pub(super) place: String,
    pub(super) config: Config,
    pub(super) tls: MakeRustlsConnect,
    /// Where processes tell each other of changes.
    pub(super) channel: String,
    /// The class and the number of the advisory lock by which processes see each other.
    pub(super) use_lock: (i32, i32),
    pub(super) patience: Duration,
    pub(super) clock: Option<Arc<dyn Clock>>,
    pub(super) faults: Arc<dyn Faults>,
    pub(super) domains: &'static [&'static dyn Domain],
}

/// The database, as all parts of the store share it.
pub(super) struct Db {
    pub(super) setup: Setup,
    /// Tells our own notifications from those of other processes.
    pub(super) tag: String,
    pub(super) changes: watch::Sender<u64>,
    pub(super) time: Arc<ServerClock>,
    /// When other processes are told of our changes.
    pub(super) news: Arc<News>,
    /// The newest event that this process has stored, and the position below which all was decided at the last look.
    pub(super) newest_event: AtomicI64,
    pub(super) decided: AtomicI64,
    /// Some of the dedup keys that came last were in use.
    keys_taken: Arc<AtomicBool>,
    /// The server could not be reached at the last try, which was logged.
    is_away: AtomicBool,
}

impl fmt::Debug for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Db").field("place", &self.setup.place).finish_non_exhaustive()
    }
}

/// What a transaction is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Changes that others wait for: they are told.
    Write,
    /// Changes that no other process waits for.
    Quiet,
    /// The same without a wait for the disk, for leases: one that a crash of the server takes away was never given.
    Lease,
    /// One consistent snapshot.
    Read,
}

/// An open transaction. Dropped unfinished, it takes its connection along: the server rolls back.
pub(super) struct Tx {
    client: Option<Object>,
    pub(super) now: Timestamp,
    kind: Kind,
    /// How many events it has written.
    pub(super) events: AtomicI64,
    pub(super) newest_event: AtomicI64,
    /// The answer stands, but nothing is to be stored.
    pub(super) give_up: bool,
    /// It was run before and gave way to others, or met what it did not expect.
    pub(super) again: bool,
    keys_taken: Arc<AtomicBool>,
}

impl Drop for Tx {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            drop(Object::take(client));
        }
    }
}

impl Tx {
    fn client(&self) -> TxResult<&Object> {
        self.client.as_ref().ok_or(TxError::Store(StoreError::Closed))
    }

    /// Makes a statement known, so that what is sent later keeps its order.
    pub(super) async fn prepare(&self, sql: &str) -> TxResult<()> {
        self.client()?.prepare_cached(sql).await?;
        Ok(())
    }

    pub(super) async fn query(&self, sql: &str, params: &[Param<'_>]) -> TxResult<Vec<Row>> {
        let client = self.client()?;
        tracing::trace!(target: STATEMENTS, sql);
        let statement = client.prepare_cached(sql).await?;
        Ok(client.query(&statement, params).await?)
    }

    pub(super) async fn first(&self, sql: &str, params: &[Param<'_>]) -> TxResult<Option<Row>> {
        Ok(self.query(sql, params).await?.into_iter().next())
    }

    /// Begins a `COPY` into a table.
    pub(super) async fn copy_in(&self, sql: &str) -> TxResult<CopyInSink<Bytes>> {
        let client = self.client()?;
        tracing::trace!(target: STATEMENTS, sql);
        let statement = client.prepare_cached(sql).await?;
        Ok(client.copy_in(&statement).await?)
    }

    /// How many rows were changed.
    pub(super) async fn execute(&self, sql: &str, params: &[Param<'_>]) -> TxResult<u64> {
        let client = self.client()?;
        tracing::trace!(target: STATEMENTS, sql);
        let statement = client.prepare_cached(sql).await?;
        Ok(client.execute(&statement, params).await?)
    }

    /// All rows of a query.
    pub(super) async fn collect<T>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        map: impl Fn(&Row) -> TxResult<T>,
    ) -> TxResult<Vec<T>> {
        self.query(sql, params).await?.iter().map(map).collect()
    }

    /// Whether dedup keys are to be expected in use: then it is cheaper to look before each of them is stored.
    pub(super) fn expects_taken_keys(&self) -> bool {
        self.again || self.keys_taken.load(Ordering::Relaxed)
    }

    pub(super) fn saw_keys(&self, taken: bool) {
        self.keys_taken.store(taken, Ordering::Relaxed);
    }

    pub(super) const fn millis(&self) -> i64 {
        self.now.as_millis()
    }

    /// When a wait that begins now is over.
    pub(super) fn millis_after(&self, wait: Duration) -> i64 {
        (self.now + wait).as_millis()
    }
}

/// What became of a transaction.
pub(super) enum Ended<T> {
    With(StoreResult<T>),
    /// It did nothing, and is to be run again.
    Again,
}

impl Db {
    pub(super) fn new(setup: Setup, now: Timestamp) -> Self {
        let tag = format!("{:016x}", fastrand::u64(..));
        Self {
            setup,
            tag,
            changes: watch::channel(0).0,
            time: Arc::new(ServerClock::new(now)),
            news: Arc::default(),
            newest_event: AtomicI64::new(0),
            decided: AtomicI64::new(1),
            keys_taken: Arc::default(),
            is_away: AtomicBool::new(false),
        }
    }

    /// What tells other processes of our changes.
    pub(super) fn notify(&self) -> String {
        format!("NOTIFY {}, '{}'", self.setup.channel, self.tag)
    }

    pub(super) fn announce(&self) {
        self.changes.send_modify(|mark| *mark += 1);
    }

    /// A connection. While the server cannot be reached, tries again for a while, less and less often.
    async fn client(&self) -> StoreResult<Object> {
        let begun = Instant::now();
        let mut retries = Backoff::doubling(Duration::from_millis(30), Duration::from_secs(3)).retries();
        loop {
            let error = match self.setup.pool.get().await {
                Ok(client) => {
                    if self.is_away.swap(false, Ordering::Relaxed) {
                        tracing::warn!(place = %self.setup.place, "the database can be reached again");
                    }
                    return Ok(client);
                }
                Err(PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error))) => error,
                Err(PoolError::Closed) => return Err(StoreError::Closed),
                Err(other) => return Err(StoreError::Database(format!("{}: {other}", self.setup.place))),
            };
            let error = TxError::Sql(error);
            if !error.is_disconnect() && !matches!(&error, TxError::Sql(error) if error.code().is_none())
                || begun.elapsed() > self.setup.patience
            {
                return Err(error.explain(&self.setup.place));
            }
            if !self.is_away.swap(true, Ordering::Relaxed) {
                tracing::warn!(place = %self.setup.place, "the database cannot be reached; trying again");
            }
            tokio::time::sleep(retries.next_delay()).await;
        }
    }

    /// The answer to one question, which is a snapshot by itself: one round trip. Asked again where a connection breaks.
    pub(super) async fn ask<T>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        map: impl Fn(&Row) -> TxResult<T>,
    ) -> StoreResult<Vec<T>> {
        let rows = self.ask_for_rows(sql, params).await?;
        rows.iter().map(map).collect::<TxResult<_>>().map_err(|error| error.explain(&self.setup.place))
    }

    async fn ask_for_rows(&self, sql: &str, params: &[Param<'_>]) -> StoreResult<Vec<Row>> {
        tracing::trace!(target: STATEMENTS, sql);
        let mut tries = 0;
        loop {
            let client = self.client().await?;
            let answer = match client.prepare_cached(sql).await {
                Ok(statement) => client.query(&statement, params).await,
                Err(error) => Err(error),
            };
            let error = match answer {
                Ok(rows) => return Ok(rows),
                Err(error) => TxError::from(error),
            };
            if error.is_disconnect() {
                drop(Object::take(client));
            }
            tries += 1;
            if tries >= MOST_TRIES || !(error.is_disconnect() || error.is_conflict()) {
                return Err(error.explain(&self.setup.place));
            }
        }
    }

    /// Runs statements of upkeep outside of any transaction, one after the other.
    pub(super) async fn upkeep(&self, statements: &[String]) -> StoreResult<()> {
        let client = self.client().await?;
        for statement in statements {
            let done = client.batch_execute(statement).await;
            done.map_err(|error| TxError::from(error).explain(&self.setup.place))?;
        }
        Ok(())
    }

    /// The test's time; none: statements take the server's.
    pub(super) fn given_time(&self) -> Option<i64> {
        self.setup.clock.as_ref().map(|clock| clock.now().as_millis())
    }

    /// Begins a transaction and takes its time, in one round trip.
    pub(super) async fn begin(&self, kind: Kind) -> StoreResult<Tx> {
        const TIME: &str = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        let begin = match kind {
            // What counts and gathers may read whole tables.
            Kind::Read => {
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL enable_seqscan = on; \
                 SET LOCAL enable_bitmapscan = on"
            }
            Kind::Write | Kind::Quiet => "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
            Kind::Lease => "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL synchronous_commit = off",
        };
        for attempt in 0.. {
            let client = self.client().await?;
            let mut tx = Tx {
                client: Some(client),
                now: Timestamp::from_millis(0),
                kind,
                events: AtomicI64::new(0),
                newest_event: AtomicI64::new(0),
                give_up: false,
                again: false,
                keys_taken: Arc::clone(&self.keys_taken),
            };
            let begun = match (&self.setup.clock, tx.client()) {
                (_, Err(error)) => Err(error),
                (Some(clock), Ok(client)) => {
                    client.batch_execute(begin).await.map(|()| clock.now()).map_err(TxError::from)
                }
                (None, Ok(client)) => client
                    .simple_query(&format!("{begin}; {TIME}"))
                    .await
                    .map(|answer| Timestamp::from_millis(first_number(&answer)))
                    .map_err(TxError::from),
            };
            match begun {
                Ok(now) => {
                    self.time.saw(now);
                    tx.now = now;
                    return Ok(tx);
                }
                // A connection that broke while it was idle: the next one is fresh.
                Err(error) if error.is_disconnect() && attempt < MOST_TRIES => {}
                Err(error) => return Err(error.explain(&self.setup.place)),
            }
        }
        Err(StoreError::Closed)
    }

    /// Commits what worked and rolls back what did not.
    pub(super) async fn end<T>(&self, mut tx: Tx, result: TxResult<T>, tries: &mut u32) -> Ended<T> {
        let verdict = match result {
            Ok(value) => self.commit(&mut tx).await.map(|()| value),
            Err(error) => Err((error, true)),
        };
        let (error, certain) = match verdict {
            Ok(value) => {
                // Only a transaction that has ended leaves its connection to the next one.
                drop(tx.client.take());
                return Ended::With(Ok(value));
            }
            Err(failure) => failure,
        };
        if !error.is_disconnect()
            && let Some(client) = tx.client.take()
            && client.batch_execute("ROLLBACK").await.is_err()
        {
            drop(Object::take(client));
        }
        *tries += 1;
        if *tries < MOST_TRIES && (error.is_conflict() || (certain && error.is_disconnect())) {
            tracing::debug!(tries, "a transaction is run again");
            // Those who met once shall not meet again in the same way.
            tokio::time::sleep(Duration::from_micros(fastrand::u64(0..2_000 * u64::from(*tries)))).await;
            return Ended::Again;
        }
        Ended::With(Err(error.explain(&self.setup.place)))
    }

    /// An error comes with whether it is certain that nothing was stored.
    async fn commit(&self, tx: &mut Tx) -> Result<(), (TxError, bool)> {
        let client = tx.client().map_err(|error| (error, true))?;
        if tx.give_up || tx.kind == Kind::Read {
            return client.batch_execute("ROLLBACK").await.map_err(|error| (error.into(), true));
        }
        self.setup.faults.hit(FaultPoint::BeforeCommit);
        let news = tx.kind == Kind::Write;
        let tell_now = news && self.news.may_tell_now();
        let committed = if tell_now {
            client.batch_execute(&format!("{}; COMMIT", self.notify())).await
        } else {
            client.batch_execute("COMMIT").await
        };
        committed.map_err(|error| (TxError::from(error), false))?;
        self.newest_event.fetch_max(tx.newest_event.load(Ordering::Relaxed), Ordering::SeqCst);
        self.setup.faults.hit(FaultPoint::AfterCommitBeforeAck);
        if news {
            self.announce();
            if !tell_now {
                self.news.tell_soon();
            }
        }
        Ok(())
    }
}

fn first_number(messages: &[SimpleQueryMessage]) -> i64 {
    let number = |message: &SimpleQueryMessage| match message {
        SimpleQueryMessage::Row(row) => row.get(0).and_then(|text| text.parse().ok()),
        _ => None,
    };
    messages.iter().find_map(number).unwrap_or(0)
}

/// Runs a block in a transaction, again if need be. `transaction!(db, Write, tx => work(&mut tx).await)`
macro_rules! transaction {
    ($db:expr, $kind:ident, $tx:ident => $work:expr) => {{
        let mut tries = 0;
        loop {
            #[allow(unused_mut, reason = "reads change nothing")]
            let mut $tx = $db.begin($crate::postgres::session::Kind::$kind).await?;
            $tx.again = tries > 0;
            let result = $work;
            match $db.end($tx, result, &mut tries).await {
                $crate::postgres::session::Ended::With(result) => break result,
                $crate::postgres::session::Ended::Again => {}
            }
        }
    }};
}
pub(super) use transaction;
