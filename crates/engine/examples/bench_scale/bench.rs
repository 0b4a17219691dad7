//! What the measurements share: the server, fresh databases on it, and what the machine spent.

use bindery_engine::{Engine, Parts, Registry};
use bindery_store::{
    Store,
    blobs::LocalBlobs,
    postgres::{PostgresOptions, PostgresStore},
};
use bindery_testkit::PostgresServer;
use std::{
    error::Error,
    fmt, fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Instant,
};
use tempfile::TempDir;
use tokio::runtime::Runtime;

pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// What a server of this size is usually given. Durability is as PostgreSQL has it.
const SETTINGS: [&str; 2] = ["shared_buffers=1GB", "max_wal_size=4GB"];

/// Set, the statements of each measurement are listed with their times, rows and write-ahead log.
const LIST_STATEMENTS: &str = "BINDERY_BENCH_STATEMENTS";
const COUNT_STATEMENTS: &str = "shared_preload_libraries=pg_stat_statements";

fn wants_statements() -> bool {
    std::env::var_os(LIST_STATEMENTS).is_some()
}

/// The server and a folder for everything else. Both go with it.
pub(crate) struct Bench {
    server: PostgresServer,
    pub(crate) runtime: Runtime,
    scratch: TempDir,
    databases: AtomicU32,
}

impl Bench {
    /// None where PostgreSQL is not installed; that has been said then.
    pub(crate) fn start() -> Outcome<Option<Self>> {
        let (below, scratch) = (scratch_folder("server")?, scratch_folder("files")?);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let settings: Vec<&str> = SETTINGS.into_iter().chain(wants_statements().then_some(COUNT_STATEMENTS)).collect();
        let server = PostgresServer::start_durable(below, &settings);
        Ok(server.map(|server| Self { server, runtime, scratch, databases: AtomicU32::new(0) }))
    }

    /// The server's version and what a reader would ask for first.
    pub(crate) fn describe(&self) -> Outcome<String> {
        let settings = ["server_version", "fsync", "synchronous_commit", "shared_buffers", "max_wal_size"];
        self.runtime.block_on(async {
            let client = self.connect().await?;
            let mut said = Vec::new();
            for setting in settings {
                let row = client.query_one("SELECT current_setting($1)", &[&setting]).await?;
                said.push(format!("{setting} {}", row.try_get::<_, String>(0)?));
            }
            Ok(format!("PostgreSQL: {}", said.join(", ")))
        })
    }

    /// A connection past the store.
    async fn connect(&self) -> Outcome<tokio_postgres::Client> {
        let (client, connection) = tokio_postgres::connect(&self.server.url(), tokio_postgres::NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    }

    /// Gives all jobs that wait a dedup key, as if they had been enqueued with it.
    pub(crate) async fn give_keys(&self, url: &str) -> Outcome<()> {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
        tokio::spawn(connection);
        let give = "UPDATE bindery.job SET dedup_key = 'noop ' || id; UPDATE bindery.ready SET keyed = true";
        client.batch_execute(give).await?;
        // What that has left behind is no part of what follows.
        client.batch_execute("VACUUM (FULL, ANALYZE) bindery.job").await?;
        client.batch_execute("VACUUM ANALYZE bindery.ready").await?;
        client.batch_execute("CHECKPOINT").await?;
        Ok(())
    }

    /// Prints what the statements of a measurement of `count` things have cost, each thing's share, if it was asked for.
    pub(crate) async fn list_statements(&self, url: &str, count: usize) -> Outcome<()> {
        const LIST: &str = "SELECT calls, total_exec_time * 1000, rows, wal_bytes::float8, \
            regexp_replace(query, '\\s+', ' ', 'g') FROM pg_stat_statements ORDER BY total_exec_time DESC LIMIT 25";
        if !wants_statements() {
            return Ok(());
        }
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
        tokio::spawn(connection);
        client.batch_execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements").await?;
        for row in client.query(LIST, &[]).await? {
            let (calls, rows): (i64, i64) = (row.try_get(0)?, row.try_get(2)?);
            let (micros, bytes): (f64, f64) = (row.try_get(1)?, row.try_get(3)?);
            let (text, each): (String, f64) = (row.try_get(4)?, count as f64);
            let text: String = text.chars().take(110).collect();
            println!("{:7.2} µs {:6.0} B of log, {calls} calls, {rows} rows: {text}", micros / each, bytes / each);
        }
        client.batch_execute("SELECT pg_stat_statements_reset()").await?;
        Ok(())
    }

    pub(crate) fn folder(&self) -> &Path {
        self.scratch.path()
    }

    /// A store in a database of its own.
    pub(crate) async fn store(&self) -> Outcome<Arc<PostgresStore>> {
        self.store_in(self.database().await?).await
    }

    async fn store_in(&self, url: String) -> Outcome<Arc<PostgresStore>> {
        Ok(Arc::new(PostgresStore::open(PostgresOptions::at(url)).await?))
    }

    /// The URL of a database that nobody has used. The one before it is gone then, and what was written is on the disk,
    /// so that neither counts for what follows.
    pub(crate) async fn database(&self) -> Outcome<String> {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("bench_{number}");
        let admin = self.connect().await?;
        if let Some(before) = number.checked_sub(1) {
            // The server would go on cleaning it up while the next is measured.
            admin.batch_execute(&format!("DROP DATABASE bench_{before} WITH (FORCE)")).await?;
        }
        admin.batch_execute(&format!("CREATE DATABASE {name}")).await?;
        admin.batch_execute("CHECKPOINT").await?;
        Ok(format!("postgres://postgres@127.0.0.1:{}/{name}", self.server.port()))
    }

    pub(crate) async fn engine(&self, registry: Registry) -> Outcome<Engine> {
        self.engine_in(self.database().await?, registry).await
    }

    pub(crate) async fn engine_in(&self, url: String, registry: Registry) -> Outcome<Engine> {
        let store = self.store_in(url).await? as Arc<dyn Store>;
        let blobs = Arc::new(LocalBlobs::open(self.folder().join("blobs"))?);
        Ok(Engine::new(Parts::new(store, blobs, registry)))
    }

    pub(crate) fn stopwatch(&self) -> Outcome<Stopwatch<'_>> {
        Ok(Stopwatch { bench: self, begun: Instant::now(), own: own_seconds()?, server: self.server_seconds()? })
    }

    /// The time that the server's processes have run so far, those that have ended included.
    pub(crate) fn server_seconds(&self) -> Outcome<f64> {
        let server = self.server.process_id();
        let mut seconds = process_seconds(server)? + children_that_ended(server)?;
        for entry in fs::read_dir("/proc")?.flatten() {
            let Some(process) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            if stat(process).is_ok_and(|stat| stat.first() == Some(&i64::from(server))) {
                // It may end while we look.
                seconds += process_seconds(process).unwrap_or(0.0);
            }
        }
        Ok(seconds)
    }
}

fn scratch_folder(name: &str) -> Outcome<TempDir> {
    let below = match std::env::var_os("BINDERY_BENCH_DIR") {
        Some(folder) => PathBuf::from(folder),
        // Beside this program: on the disk that it was built on, not in memory.
        None => std::env::current_exe()?.parent().ok_or("this program is nowhere")?.to_owned(),
    };
    fs::create_dir_all(&below)?;
    Ok(tempfile::Builder::new().prefix(&format!("bench-{name}-")).tempdir_in(below)?)
}

/// The numbers of a process's `stat` file from its parent on.
fn stat(process: u32) -> Outcome<Vec<i64>> {
    let text = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name before them may contain anything, but nothing after its closing bracket does.
    let rest = text.rsplit_once(')').ok_or("a process without a name")?.1;
    Ok(rest.split_whitespace().skip(1).map_while(|number| number.parse().ok()).collect())
}

/// In hundredths of a second, which is as fine as the kernel keeps them.
fn children_that_ended(process: u32) -> Outcome<f64> {
    let stat = stat(process)?;
    let (user, system) = (stat.get(12).unwrap_or(&0), stat.get(13).unwrap_or(&0));
    Ok((user + system) as f64 / 100.0)
}

/// The time that the threads of a process have run so far.
pub(crate) fn process_seconds(process: u32) -> Outcome<f64> {
    let mut seconds = 0.0;
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        // A thread may end while we look.
        let Ok(times) = fs::read_to_string(thread?.path().join("schedstat")) else { continue };
        seconds += times.split(' ').next().unwrap_or_default().parse::<f64>()? / 1e9;
    }
    Ok(seconds)
}

fn own_seconds() -> Outcome<f64> {
    process_seconds(std::process::id())
}

/// Started before what is measured.
pub(crate) struct Stopwatch<'b> {
    bench: &'b Bench,
    begun: Instant,
    own: f64,
    server: f64,
}

impl Stopwatch<'_> {
    pub(crate) fn stop(&self, count: usize) -> Outcome<Measured> {
        let seconds = self.begun.elapsed().as_secs_f64();
        let (own, server) = (own_seconds()? - self.own, self.bench.server_seconds()? - self.server);
        Ok(Measured { count, seconds, own, server })
    }
}

/// How long something took, and how much of the machine's time: on a busy machine the second says more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    count: usize,
    pub(crate) seconds: f64,
    own: f64,
    server: f64,
}

impl Measured {
    pub(crate) fn per_second(&self) -> f64 {
        self.count as f64 / self.seconds
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros_each = |seconds: f64| seconds * 1e6 / self.count as f64;
        let (own, server) = (micros_each(self.own), micros_each(self.server));
        write!(f, "{} a second (CPU each: {own:.1} µs ours, {server:.1} µs the server's)", thousands(self.per_second()))
    }
}

pub(crate) fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
