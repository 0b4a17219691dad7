//! This binary as a child, and the runner that starts it.

use crate::deeds;
use bindery_core::StepError;
use bindery_engine::{
    Extracted, Registry,
    runner::{ChildCommand, Processes, Ran, Task, Unit, processes, processes::Options},
};
use serde_json::Value;
use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

const MARK: &str = "BINDERY_TEST_CHILD";

/// The name that libtest knows [`crate::child_main`] by.
const TEST_NAME: &str = "child_main";

/// No wait should ever be this long; one that is has found something.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn is_child() -> bool {
    std::env::var_os(MARK).is_some()
}

pub(crate) fn serve() {
    processes::serve(&registry(), &processes::local_blobs).unwrap();
}

fn registry() -> Registry {
    let mut registry = Registry::default();
    registry.register(deeds::Deeds);
    registry.register(deeds::Sum);
    registry.register_service(Arc::new(crate::services::Servant::default()));
    registry
}

pub(crate) fn command() -> ChildCommand {
    let own = ChildCommand::own([TEST_NAME, "--exact", "--nocapture", "--test-threads=1"]).unwrap();
    ChildCommand { env: vec![(MARK.into(), "1".into())], ..own }
}

pub(crate) fn processes(workers: usize) -> Processes {
    Processes::new(command(), workers)
}

/// Children in so many of which an input is tried.
pub(crate) fn tried(workers: usize, tries: u32) -> Processes {
    processes(workers).with_options(Options { tries, ..Options::default() })
}

/// To do what the inputs say.
pub(crate) fn deeds() -> Task {
    Task::new(Arc::new(deeds::Deeds))
}

pub(crate) fn units(values: impl IntoIterator<Item = Value>) -> Vec<Unit> {
    values.into_iter().map(Unit::new).collect()
}

/// What went well, or the test ends.
pub(crate) fn output(ran: Ran) -> Value {
    match ran.result {
        Ok(Extracted { output, .. }) => output,
        Err(stopped) => panic!("failed: {} {}", stopped.error.kind, stopped.error),
    }
}

pub(crate) fn error(ran: Ran) -> StepError {
    ran.result.map(|extracted| panic!("went well: {}", extracted.output)).unwrap_err().error
}

/// Waits for something that must come.
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether there is such a process that has not ended: while one of its threads is there, it has not.
pub(crate) fn is_alive(pid: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    threads.flatten().any(|thread| {
        let status = std::fs::read_to_string(thread.path().join("status"));
        status.is_ok_and(|text| !text.lines().any(|line| line.starts_with("State:\tZ")))
    })
}

pub(crate) fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    // It may have ended meanwhile.
    let _ = rustix::process::kill_process(pid, signal);
}

/// The number that a step has left in a file.
pub(crate) fn number_in(file: &Path) -> u32 {
    wait_until("a file with a number", || std::fs::read_to_string(file).is_ok_and(|text| text.ends_with('\n')));
    std::fs::read_to_string(file).unwrap().trim().parse().unwrap()
}
