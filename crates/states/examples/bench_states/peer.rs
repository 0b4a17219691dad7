//! The peer: jsonata-js on Node. It is installed from npm, into `BINDERY_PEERS` where that is set; without Node or npm
//! its numbers are absent.

use crate::Outcome;
use bindery_testkit::npm::install;
use serde_json::Value;
use std::{
    env,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

const PACKAGE: &str = include_str!("../../../../bench/states/package.json");
const SCRIPT: &str = include_str!("../../../../bench/states/jsonata.mjs");

/// A process that evaluates what it is told to.
pub(crate) struct Jsonata {
    process: Child,
    told: ChildStdin,
    answers: BufReader<ChildStdout>,
    pub(crate) version: String,
}

impl Jsonata {
    /// None, with a line that says why, where it cannot be installed. The arguments are the script's.
    pub(crate) fn start(arguments: &[f64]) -> Outcome<Option<Self>> {
        let folder = env::var_os("BINDERY_PEERS").map_or_else(|| env::temp_dir().join("bindery-peers"), Into::into);
        if let Err(reason) = install(&folder, &[("package.json", PACKAGE), ("jsonata.mjs", SCRIPT)])? {
            println!("jsonata-js is not measured: {reason}");
            return Ok(None);
        }
        let mut process = Command::new("node")
            .arg("jsonata.mjs")
            .args(arguments.iter().map(ToString::to_string))
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let told = process.stdin.take().ok_or("no way in")?;
        let answers = BufReader::new(process.stdout.take().ok_or("no way out")?);
        let mut peer = Self { process, told, answers, version: String::new() };
        let said = peer.answer()?;
        said.as_str().unwrap_or_default().clone_into(&mut peer.version);
        Ok(Some(peer))
    }

    pub(crate) fn tell(&mut self, value: &Value) -> Outcome<()> {
        Ok(writeln!(self.told, "{value}")?)
    }

    pub(crate) fn answer(&mut self) -> Outcome<Value> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(serde_json::from_str(&line).map_err(|error| format!("jsonata-js said {line:?}: {error}"))?)
    }
}

impl Drop for Jsonata {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
