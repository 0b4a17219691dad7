//! A folder of its own for each test, and the binary in it.

use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// No test should ever wait this long; one that does has found something.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The words workflow, with pages that take their time.
pub(crate) const SLOW: &str = "
name: slow
version: 1
stages:
  - {name: split, component: text_splitter, over: file, parallel: true, settings: {lines_per_page: 1}}
  - {name: count, component: word_counter, over: page, parallel: true, settings: {delay_ms: 20}}
  - name: consolidate
    component: word_consolidator
    aggregation: {collect_by: submission_id, expect_count_from: page_count}
";

/// A folder with a store, to run the binary in.
pub(crate) struct Desk {
    dir: TempDir,
    env: Vec<(&'static str, String)>,
}

/// What a run of the binary came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The JSON on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn fails_with(self, code: i32, sentence: &str) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.err.contains(sentence), "{sentence:?} is not in {self:?}");
        self
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), env: Vec::new() }
    }

    /// With this in the environment of every command.
    pub(crate) fn with_env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.env.push((name, value.into()));
        self
    }

    /// With the slow workflow at hand.
    pub(crate) fn slow() -> Self {
        let desk = Self::new();
        desk.write("workflows/slow.yaml", SLOW);
        desk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bindery"));
        command.args(args).current_dir(self.dir.path());
        for name in [
            "BINDERY_STORE",
            "BINDERY_BLOBS",
            "BINDERY_CONFIG",
            "BINDERY_LOG",
            "BINDERY_WORKFLOWS",
            "BINDERY_PROCESSORS",
            "BINDERY_LISTEN",
            "BINDERY_FILES_URL",
            "BINDERY_AMQP",
            "DOCPROC_COMPONENT_NAME",
            "PGPASSWORD",
        ] {
            command.env_remove(name);
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        if self.path("workflows").is_dir() {
            command.env("BINDERY_WORKFLOWS", "workflows");
        }
        if self.path("processors").is_dir() {
            command.env("BINDERY_PROCESSORS", "processors");
        }
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn bindery(&self, args: &[&str]) -> Ran {
        self.command(args).stdin(Stdio::null()).output().unwrap().into()
    }

    /// Runs the binary with this on its standard input.
    pub(crate) fn bindery_with_input(&self, args: &[&str], input: &str) -> Ran {
        let file = self.write("stdin", input);
        self.command(args).stdin(fs::File::open(file).unwrap()).output().unwrap().into()
    }

    /// Starts the binary and leaves it running.
    pub(crate) fn start(&self, args: &[&str]) -> Started {
        self.start_logging(args, "worker.log")
    }

    /// The same, with a log of its own.
    pub(crate) fn start_logging(&self, args: &[&str], log: &str) -> Started {
        let log = fs::File::create(self.path(log)).unwrap();
        let child = self.command(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        Started(child)
    }

    pub(crate) fn status(&self, id: &str) -> Value {
        self.bindery(&["status", id, "--json"]).ok().json()
    }

    /// Waits until the submission's status satisfies something.
    pub(crate) fn wait_for(&self, id: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let status = self.status(id);
            if holds(&status) {
                return status;
            }
            assert!(begun.elapsed() < PATIENCE, "waited too long until {what}: {status:#}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A running process; it does not outlive its test.
pub(crate) struct Started(pub(crate) Child);

impl Started {
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.0.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> Option<i32> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            assert!(begun.elapsed() < PATIENCE, "the process does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // Ended already, most of the time.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn stage<'a>(status: &'a Value, name: &str) -> &'a Value {
    let stages = status["stages"].as_array().unwrap();
    stages.iter().find(|stage| stage["stage"] == name).unwrap()
}

pub(crate) fn is_final(status: &Value) -> bool {
    ["completed", "failed", "cancelled"].iter().any(|known| status["status"] == *known)
}

/// Inputs of the processors that ship.
pub(crate) fn sample_inputs(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../processors/samples").join(path).display().to_string()
}

/// The pile of papers that `make run` works on.
pub(crate) fn inbox() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/inbox").display().to_string()
}

pub(crate) fn samples() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/text").display().to_string()
}

/// Every file in a folder and in those below it.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            all.extend(files_below(&entry.path()));
        } else {
            all.push(entry.path());
        }
    }
    all
}
