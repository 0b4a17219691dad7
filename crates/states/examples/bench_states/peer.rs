//! The peer: jsonata-js on Node. It is installed from npm, into `BINDERY_PEERS` where that is set; without Node or npm
//! its numbers are absent.

use crate::Outcome;
use serde_json::Value;
use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    path::Path,
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
        if let Some(reason) = install(&folder)? {
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

/// Why it cannot be, if so.
fn install(folder: &Path) -> Outcome<Option<String>> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("package.json"), PACKAGE)?;
    fs::write(folder.join("jsonata.mjs"), SCRIPT)?;
    for program in ["node", "npm"] {
        let asked = Command::new(program).arg("--version").stdout(Stdio::null()).status();
        if !asked.is_ok_and(|status| status.success()) {
            return Ok(Some(format!("{program} is not installed")));
        }
    }
    if folder.join("node_modules/jsonata").is_dir() {
        return Ok(None);
    }
    let install = ["install", "--no-audit", "--no-fund", "--loglevel=error"];
    let installed = Command::new("npm").args(install).current_dir(folder).stdout(Stdio::null()).status()?;
    Ok((!installed.success()).then(|| "npm could not install it".to_owned()))
}
