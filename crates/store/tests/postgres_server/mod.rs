//! A private PostgreSQL server for tests and benchmarks: in a folder of its own, on a free port of the loopback address, and gone when
//! it is dropped, also by a panic. An instance that was running before is never touched.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use bindery_core::{Clock, time::ManualClock};
use bindery_store::{
    conformance::Fixture,
    postgres::{PostgresOptions, PostgresStore},
};
use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Tests do not cut the power, so nothing has to reach the disk.
const CARELESS: [&str; 3] = ["fsync=off", "full_page_writes=off", "autovacuum=off"];

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    port: u16,
    folder: TempDir,
    schemas: AtomicU32,
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing in it is worth a checkpoint.
        let _ = Command::new("kill").arg("-QUIT").arg(self.process.id().to_string()).status();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(10) && matches!(self.process.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    /// None, with a line that says so, where PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_in(tempfile::tempdir().expect("a folder for the server"), &CARELESS)
    }

    /// With settings of the caller's; what they do not say is as PostgreSQL has it.
    pub(crate) fn start_in(folder: TempDir, settings: &[&str]) -> Option<Self> {
        let Some(programs) = programs() else {
            println!("skipped: PostgreSQL's initdb is not installed (make setup-test installs it)");
            return None;
        };
        let data = folder.path().join("data");
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(folder.path()));
        }
        let mut init = as_user(&programs.join("initdb"));
        init.arg("-D").arg(&data).args(["-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C"]);
        run(init.stdout(Stdio::null()));
        let rights = "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
        fs::write(data.join("pg_hba.conf"), rights).expect("the rights are written");
        for _ in 0..5 {
            if let Some((process, port)) = launch(&programs, &data, settings) {
                return Some(Self { process, port, folder, schemas: AtomicU32::new(0) });
            }
        }
        panic!("the server did not start five times");
    }

    /// The process that started all others of the server.
    pub(crate) fn process_id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Makes an authority and a certificate signed by it, and turns TLS on. The authority's file; none where openssl is
    /// missing.
    pub(crate) async fn turn_tls_on(&self) -> Option<PathBuf> {
        let data = self.folder.path().join("data");
        let make = "openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=authority -days 2 && \
            openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=server && \
            printf 'subjectAltName=IP:127.0.0.1\\n' > server.ext && \
            openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile server.ext \
            -out server.crt && chmod 600 server.key";
        let made = Command::new("sh").args(["-c", make]).current_dir(&data).stderr(Stdio::null()).status();
        if !made.is_ok_and(|status| status.success()) {
            println!("skipped: openssl cannot make certificates");
            return None;
        }
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(data.join("server.key")));
        }
        let admin = self.connect().await;
        admin.batch_execute("ALTER SYSTEM SET ssl = on").await.expect("the setting is taken");
        admin.batch_execute("SELECT pg_reload_conf()").await.expect("the settings are read again");
        let begun = Instant::now();
        loop {
            // New connections have the settings that are in force.
            let row = self.connect().await.query_one("SHOW ssl", &[]).await.expect("a setting");
            if row.get::<_, &str>(0) == "on" {
                return Some(data.join("ca.crt"));
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "TLS is not turned on");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The URL of its administrator.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// A connection past the store, to look and to disturb.
    pub(crate) async fn connect(&self) -> tokio_postgres::Client {
        let (client, connection) =
            tokio_postgres::connect(&self.url(), tokio_postgres::NoTls).await.expect("a connection");
        tokio::spawn(async move {
            let _ = connection.await;
        });
        client
    }

    /// Options for a schema that nobody has used.
    pub(crate) fn options(&self) -> PostgresOptions {
        let schema = format!("test_{}", self.schemas.fetch_add(1, Ordering::Relaxed));
        PostgresOptions { schema, connections: 4, ..PostgresOptions::at(self.url()) }
    }

    /// An empty store with a clock that stands still.
    pub(crate) async fn fixture(&self) -> Fixture {
        let clock = Arc::new(ManualClock::default());
        let options = PostgresOptions { clock: Some(Arc::clone(&clock) as Arc<dyn Clock>), ..self.options() };
        let store = PostgresStore::open(options).await.expect("a new schema opens");
        Fixture::new(Arc::new(store), clock)
    }
}

/// Starts the server on a free port. None if somebody else took the port first.
fn launch(programs: &Path, data: &Path, settings: &[&str]) -> Option<(Child, u16)> {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
    let mut server = as_user(&programs.join("postgres"));
    server.arg("-D").arg(data);
    let port_setting = format!("port={port}");
    let own = [
        port_setting.as_str(),
        "listen_addresses=127.0.0.1",
        "unix_socket_directories=",
        "max_connections=200",
        "logging_collector=off",
        "lc_messages=C",
    ];
    for setting in own.iter().chain(settings) {
        server.args(["-c", setting]);
    }
    let log_path = data.with_file_name("log");
    let log = fs::File::create(&log_path).expect("a log file");
    let mut process = server.stdout(Stdio::null()).stderr(log).spawn().expect("the server starts");
    let begun = Instant::now();
    loop {
        if matches!(process.try_wait(), Ok(Some(_))) {
            return None;
        }
        let said = fs::read_to_string(&log_path).unwrap_or_default();
        if said.contains("ready to accept connections") {
            return Some((process, port));
        }
        if begun.elapsed() > Duration::from_secs(60) {
            let _ = process.kill();
            panic!("not ready after a minute: {said}");
        }
        std::thread::sleep(Duration::from_millis(30));
    }
}

/// Where PostgreSQL's programs are: in the PATH, or where Debian puts them, the newest first.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    versions.sort();
    places.extend(versions.into_iter().rev().map(|(_, place)| place));
    places.into_iter().find(|place| place.join("initdb").exists() && place.join("postgres").exists())
}

fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

/// PostgreSQL refuses to run as root. The server ends with us, whatever becomes of us.
fn as_user(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    if is_root() {
        command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]);
    }
    command.args(["--pdeathsig", "QUIT", "--"]).arg(program).current_dir("/");
    command
}

fn run(command: &mut Command) {
    let status = command.status().expect("the program runs");
    assert!(status.success(), "{command:?} failed");
}
