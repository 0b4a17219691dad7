//! A private PostgreSQL server.

use crate::process::{as_user, end, free_port, give_to, run};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

const USER: &str = "postgres";

/// Ends at once, as after a crash: the next start recovers from the log.
const IMMEDIATE: &str = "QUIT";

/// Tests do not cut the power, so nothing has to reach the disk.
const NOT_DURABLE: [&str; 3] = ["fsync=off", "full_page_writes=off", "autovacuum=off"];

/// A running server.
#[derive(Debug)]
pub struct PostgresServer {
    process: Child,
    port: u16,
    programs: PathBuf,
    settings: Vec<String>,
    folder: TempDir,
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // Nothing in it is worth a checkpoint.
        end(&mut self.process, IMMEDIATE);
    }
}

impl PostgresServer {
    /// For tests. None, which has been said, where PostgreSQL is not installed.
    pub fn start() -> Option<Self> {
        Self::start_with(tempfile::tempdir().expect("a folder for the server"), &NOT_DURABLE)
    }

    /// As Debian ships it, but for these settings: what is committed is on the disk.
    pub fn start_durable(folder: TempDir, settings: &[&str]) -> Option<Self> {
        Self::start_with(folder, settings)
    }

    fn start_with(folder: TempDir, settings: &[&str]) -> Option<Self> {
        let Some(programs) = programs() else {
            crate::missing("PostgreSQL's initdb is not installed (make setup-test installs it)");
            return None;
        };
        give_to(USER, folder.path());
        let data = folder.path().join("data");
        let mut init = as_user(&programs.join("initdb"), USER, IMMEDIATE);
        init.arg("-D").arg(&data).args(["-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C"]);
        run(init.stdout(Stdio::null()));
        let rights = "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
        fs::write(data.join("pg_hba.conf"), rights).expect("the rights are written");
        let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
        for _ in 0..5 {
            let port = free_port();
            if let Some(process) = launch(&programs, &data, port, &settings) {
                return Some(Self { process, port, programs, settings, folder });
            }
        }
        panic!("the server did not start five times");
    }

    /// The process that started all others of the server.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL of its administrator.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// The folder of the cluster.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Stops it as a crash would, and starts it again at the same place: everybody's connections break.
    pub fn crash_and_restart(&mut self) {
        self.crash();
        self.start_again();
    }

    /// Stops it as a crash would.
    pub fn crash(&mut self) {
        end(&mut self.process, IMMEDIATE);
    }

    /// Starts it again where it was.
    pub fn start_again(&mut self) {
        let begun = Instant::now();
        loop {
            if let Some(process) = launch(&self.programs, &self.data(), self.port, &self.settings) {
                self.process = process;
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "the server does not start again");
        }
    }

    /// Starts it again as a replica: what it has can be read, and nothing be written.
    pub fn become_replica(&mut self) {
        self.crash();
        let signal = self.data().join("standby.signal");
        fs::write(&signal, "").expect("the signal is written");
        self.give_file(&signal);
        self.start_again();
    }

    /// A file of the server's, as it may read it (for a certificate's key).
    pub fn give_file(&self, path: &Path) {
        give_to(USER, path);
    }
}

/// Starts the server. None if it ended at once: somebody else may have the port.
fn launch(programs: &Path, data: &Path, port: u16, settings: &[String]) -> Option<Child> {
    let mut server = as_user(&programs.join("postgres"), USER, IMMEDIATE);
    server.arg("-D").arg(data);
    let port = format!("port={port}");
    let fixed = [&port, "listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200"];
    let fixed = fixed.into_iter().chain(["logging_collector=off", "lc_messages=C"]);
    for setting in fixed.chain(settings.iter().map(String::as_str)) {
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
        if said.contains("ready to accept connections") || said.contains("ready to accept read-only connections") {
            return Some(process);
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
