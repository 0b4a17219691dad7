//! What the tests share: programs written on the spot, contexts, and a processor around [`Outside`].

use bindery_core::StepError;
use bindery_engine::context::{CancelFlag, StepContext};
use bindery_processors::outside::{CommandConfig, Outside};
use serde_json::Value;
use std::{path::Path, sync::Arc, time::Duration};
use tempfile::TempDir;

/// Far more than anything needs here; a test that runs into it fails by its message.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A call of which only the output counts.
pub(crate) trait OutputOf {
    fn output_of(&self, context: &StepContext, input: Value) -> Result<Value, StepError>;
}

impl OutputOf for Outside {
    fn output_of(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        self.call(context, input).map(|produced| produced.output)
    }
}

pub(crate) fn context() -> StepContext {
    StepContext::standalone(Arc::default(), 1, CancelFlag::default())
}

/// A shell script in a folder of its own, run for each input.
pub(crate) fn shell(script: &str) -> (TempDir, CommandConfig) {
    written("/bin/sh", "script.sh", script)
}

pub(crate) fn python(script: &str) -> Option<(TempDir, CommandConfig)> {
    has_python().then(|| written("python3", "script.py", script))
}

fn written(program: &str, file: &str, script: &str) -> (TempDir, CommandConfig) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(file), script).unwrap();
    let mut config = CommandConfig::new(program, vec![file.to_owned()], folder.path());
    config.timeout = LONG;
    (folder, config)
}

pub(crate) fn has_python() -> bool {
    bindery_testkit::has("python3")
}

pub(crate) fn call(config: &CommandConfig, input: Value) -> Result<Value, StepError> {
    Outside::command("tested", 1, config.clone()).output_of(&context(), input)
}

pub(crate) fn run(script: &str) -> Result<Value, StepError> {
    let (_folder, config) = shell(script);
    call(&config, Value::Null)
}

/// Runs? A zombie does not: it waits for whoever inherited it.
pub(crate) fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// A process of ours that ended and was not reaped would still be listed.
pub(crate) fn exists(pid: &str) -> bool {
    Path::new("/proc").join(pid).exists()
}

/// Waits for something that must come to pass.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LONG, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn read_pid(folder: &TempDir, file: &str) -> String {
    let mut pid = String::new();
    eventually("the pid file", || {
        pid = std::fs::read_to_string(folder.path().join(file)).unwrap_or_default();
        pid.ends_with('\n')
    });
    pid.trim().to_owned()
}
