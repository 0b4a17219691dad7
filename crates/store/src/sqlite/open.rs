//! Opening the file: is it ours, is it not newer than us, and bringing it forward.

use crate::{
    STATEMENTS,
    error::{StoreError, StoreResult},
    rows::{Domain, Schema, pending_migrations},
};
use bindery_core::{
    fault::{Faults, NoFaults},
    time::{Clock, SystemClock},
};
use bindery_files::private;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, TransactionBehavior,
    config::DbConfig,
    trace::{TraceEvent, TraceEventCodes},
};
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// "BIND": marks a file as ours.
const APPLICATION_ID: i32 = 0x4249_4E44;

/// Applied in order; the file's `user_version` says how many it has. Never edit one that was released.
const MIGRATIONS: [&str; 1] = [include_str!("migrations/0001_initial.sql")];

/// How to open a store.
#[derive(Debug, Clone)]
pub struct Options {
    pub path: PathBuf,
    pub clock: Arc<dyn Clock>,
    pub faults: Arc<dyn Faults>,
    /// Whose rows are kept besides the store's own.
    pub domains: &'static [&'static dyn Domain],
    /// How long to wait for another process that holds the lock.
    pub busy_timeout: Duration,
}

impl Options {
    /// The usual settings for a file at this path.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            clock: Arc::new(SystemClock),
            faults: Arc::new(NoFaults),
            domains: &[],
            busy_timeout: Duration::from_secs(30),
        }
    }
}

/// The one connection that writes.
pub(super) fn open_writer(options: &Options) -> StoreResult<Connection> {
    let explain = |error: rusqlite::Error| explain(&error, &options.path, options.busy_timeout);
    create_for_owner(&options.path)?;
    // One thread uses the connection, so SQLite needs no lock around it.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut db = Connection::open_with_flags(&options.path, flags).map_err(explain)?;
    log_statements(&mut db).map_err(explain)?;
    keep_plans(&db).map_err(explain)?;
    db.busy_timeout(options.busy_timeout).map_err(explain)?;
    let is_new = check_identity(&db, &options.path).map_err(|error| match error {
        Trouble::Sql(error) => explain(error),
        Trouble::Store(error) => error,
    })?;
    // Deleted content is overwritten in its page at once. Whole pages that become free are not written for that: they go when
    // space is given back, which needs a file that was made for it. On a file that has tables
    // the pragma changes nothing, and would wait for the write lock.
    if is_new {
        db.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(explain)?;
    }
    db.pragma_update(None, "secure_delete", "FAST").map_err(explain)?;
    db.pragma_update(None, "journal_mode", "WAL").map_err(explain)?;
    db.pragma_update(None, "synchronous", "FULL").map_err(explain)?;
    // Savepoints keep the pages that they may have to restore here; by default that is a file.
    db.pragma_update(None, "temp_store", "MEMORY").map_err(explain)?;
    db.pragma_update(None, "cache_size", -16_000).map_err(explain)?;
    // Checkpoints copy pages back into the main file and sync it; doing that less often is worth a larger WAL.
    db.pragma_update(None, "wal_autocheckpoint", 4_000).map_err(explain)?;
    db.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024).map_err(explain)?;
    db.set_prepared_statement_cache_capacity(128);
    migrate(&mut db, options).map_err(|error| match error {
        Trouble::Sql(error) => explain(error),
        Trouble::Store(error) => error,
    })?;
    Ok(db)
}

/// The database and what SQLite puts beside it, which takes over its permissions, are for their owner alone.
fn create_for_owner(path: &Path) -> StoreResult<()> {
    let created = private::create_file(path).and_then(|()| check_writable(path));
    // SQLite would say only that it cannot open it.
    created.map_err(|error| {
        let (path, detail) = (path.to_owned(), error.to_string());
        if error.kind() == io::ErrorKind::NotFound {
            StoreError::CannotOpen { path, detail }
        } else {
            StoreError::NotWritable { path, detail }
        }
    })
}

/// Fails unless the database can be changed: itself, and its folder, where SQLite puts its write-ahead log.
pub(super) fn check_writable(path: &Path) -> io::Result<()> {
    private::check_writable(path)?;
    private::check_writable(folder_of(path))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A connection to a database that cannot be changed, because of its permissions or its disk. It must be ours, and as new
/// as this program: it cannot be brought forward.
pub(super) fn open_frozen(options: &Options) -> StoreResult<Connection> {
    let path = &options.path;
    // Without a write-ahead log everything is in the file, and SQLite is told to look for nothing else: it would want to
    // create the index of a log. With one, the index has to be there.
    let beside = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        fs::metadata(PathBuf::from(name)).map_or(0, |about| about.len())
    };
    let has_log = beside("-wal") > 0;
    if has_log && beside("-shm") == 0 {
        let detail = "it was not closed properly, and cannot be repaired where it cannot be written; copy its folder to \
                      a place where it can";
        return Err(StoreError::CannotOpen { path: path.clone(), detail: detail.to_owned() });
    }
    let uri = format!("file:{}?mode=ro{}", percent_encoded(path), if has_log { "" } else { "&immutable=1" });
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let explain = |error: rusqlite::Error| explain(&error, path, options.busy_timeout);
    let mut db = Connection::open_with_flags(uri, flags).map_err(explain)?;
    log_statements(&mut db).map_err(explain)?;
    keep_plans(&db).map_err(explain)?;
    db.busy_timeout(options.busy_timeout).map_err(explain)?;
    db.pragma_update(None, "cache_size", -4_000).map_err(explain)?;
    let as_store_error = |trouble| match trouble {
        Trouble::Sql(error) => explain(error),
        Trouble::Store(error) => error,
    };
    check_identity(&db, path).map_err(as_store_error)?;
    let (found, known) = (user_version(&db).map_err(explain)?, MIGRATIONS.len() as i64);
    if found < known {
        return Err(StoreError::Older { path: path.clone(), found, known });
    }
    let domains = applied(&db).map_err(explain)?;
    for schema in options.domains.iter().map(|domain| domain.schema()) {
        let (found, known) = (domains.get(schema.name).copied().unwrap_or(0), schema.sqlite.len() as i64);
        if !pending_migrations(found, schema.sqlite, path)?.is_empty() {
            return Err(StoreError::Older { path: path.clone(), found, known });
        }
    }
    Ok(db)
}

fn percent_encoded(path: &Path) -> String {
    let mut encoded = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-~".contains(byte) {
            encoded.push(char::from(*byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// A connection that keeps the file in order, beside the one that writes rows.
pub(super) fn open_for_upkeep(options: &Options) -> StoreResult<Connection> {
    let explain = |error: rusqlite::Error| explain(&error, &options.path, options.busy_timeout);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(&options.path, flags).map_err(explain)?;
    db.busy_timeout(options.busy_timeout).map_err(explain)?;
    db.pragma_update(None, "secure_delete", "FAST").map_err(explain)?;
    db.pragma_update(None, "synchronous", "FULL").map_err(explain)?;
    Ok(db)
}

/// A connection that cannot write.
pub(super) fn open_reader(options: &Options) -> StoreResult<Connection> {
    let explain = |error: rusqlite::Error| explain(&error, &options.path, options.busy_timeout);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut db = Connection::open_with_flags(&options.path, flags).map_err(explain)?;
    log_statements(&mut db).map_err(explain)?;
    keep_plans(&db).map_err(explain)?;
    db.busy_timeout(options.busy_timeout).map_err(explain)?;
    db.pragma_update(None, "cache_size", -4_000).map_err(explain)?;
    db.set_prepared_statement_cache_capacity(64);
    Ok(db)
}

/// A statement keeps its plan whatever values it is given: else SQLite would parse some of them again at each use.
fn keep_plans(db: &Connection) -> rusqlite::Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

/// Every statement goes to the log, as it is written and without its values, where the log asks for that.
fn log_statements(db: &mut Connection) -> rusqlite::Result<()> {
    if !tracing::enabled!(target: STATEMENTS, tracing::Level::TRACE) {
        return Ok(());
    }
    let log = |event: TraceEvent<'_>| {
        if let TraceEvent::Stmt(_, sql) = event {
            tracing::trace!(target: STATEMENTS, sql);
        }
    };
    db.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(log))
}

enum Trouble {
    Sql(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

fn user_version(db: &Connection) -> rusqlite::Result<i64> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Looks before anything is changed: somebody else's database must stay as it is. In one snapshot, because another
/// process may be making the database at this moment. True where there is nothing in it yet.
fn check_identity(db: &Connection, path: &Path) -> Result<bool, Trouble> {
    let snapshot = db.unchecked_transaction()?;
    let application_id: i32 = snapshot.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 = snapshot.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    drop(snapshot);
    if application_id != APPLICATION_ID && tables > 0 {
        let detail = "it is a database of another program".to_owned();
        return Err(Trouble::Store(StoreError::NotOurs { path: path.to_owned(), detail }));
    }
    refuse_newer(db, path)?;
    Ok(tables == 0)
}

fn refuse_newer(db: &Connection, path: &Path) -> Result<(), Trouble> {
    let (found, known) = (user_version(db)?, MIGRATIONS.len() as i64);
    if found > known {
        return Err(Trouble::Store(StoreError::Newer { path: path.to_owned(), found, known }));
    }
    Ok(())
}

/// How many migrations each domain has applied.
pub(super) fn applied(db: &Connection) -> rusqlite::Result<BTreeMap<String, i64>> {
    let mut statement = db.prepare("SELECT domain, version FROM domain_version")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// The migrations that domains lack: domain by domain, with its version behind them.
fn pending(db: &Connection, options: &Options) -> Result<Vec<(&'static Schema, &'static [&'static str])>, Trouble> {
    let applied = applied(db)?;
    let mut pending = Vec::new();
    for schema in options.domains.iter().map(|domain| domain.schema()) {
        let found = applied.get(schema.name).copied().unwrap_or(0);
        let missing = pending_migrations(found, schema.sqlite, &options.path).map_err(Trouble::Store)?;
        if !missing.is_empty() {
            pending.push((schema, missing));
        }
    }
    Ok(pending)
}

/// All missing migrations in one transaction. Two processes that start together do it one after the other.
fn migrate(db: &mut Connection, options: &Options) -> Result<(), Trouble> {
    if user_version(db)? == MIGRATIONS.len() as i64 && pending(db, options)?.is_empty() {
        return Ok(());
    }
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    refuse_newer(&transaction, &options.path)?;
    let applied = usize::try_from(user_version(&transaction)?).unwrap_or(0);
    for migration in MIGRATIONS.iter().skip(applied) {
        transaction.execute_batch(migration)?;
    }
    for (schema, missing) in pending(&transaction, options)? {
        for migration in missing {
            transaction.execute_batch(migration)?;
        }
        let sql = "INSERT INTO domain_version (domain, version) VALUES (?1, ?2) \
                   ON CONFLICT (domain) DO UPDATE SET version = excluded.version";
        transaction.execute(sql, (schema.name, schema.sqlite.len() as i64))?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    transaction.commit()?;
    Ok(())
}

/// SQLite's error in our words.
pub(super) fn explain(error: &rusqlite::Error, path: &Path, waited: Duration) -> StoreError {
    let path = path.to_owned();
    let detail = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Locked { path, seconds: waited.as_secs() }
        }
        Some(ErrorCode::DiskFull) => StoreError::Full { path },
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Corrupt { path, detail },
        Some(ErrorCode::NotADatabase) => StoreError::NotOurs { path, detail: "it is not an SQLite file".to_owned() },
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StoreError::NotWritable { path, detail },
        // What the caller wants cannot be stored, now or later.
        Some(ErrorCode::ConstraintViolation) => StoreError::Invalid(format!("the database refused it: {detail}")),
        Some(ErrorCode::CannotOpen) => StoreError::CannotOpen { path, detail },
        // A full disk can also show as a short write to the WAL or its index.
        Some(ErrorCode::SystemIoFailure) if disk_is_full(&path) => StoreError::Full { path },
        _ => StoreError::Database(detail),
    }
}

fn disk_is_full(path: &Path) -> bool {
    rustix::fs::statvfs(folder_of(path)).is_ok_and(|stat| stat.f_bavail * stat.f_frsize < 1024 * 1024)
}
