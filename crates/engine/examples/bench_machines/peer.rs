//! The peer: aws-local-stepfunctions on Node, which runs machines in memory. It is installed from npm, into
//! `BINDERY_PEERS` where that is set; without Node or npm its numbers are absent.

use super::bench::Outcome;
use bindery_testkit::npm::install;
use serde_json::{Value, json};
use std::{env, path::PathBuf, process::Command};

const PACKAGE: &str = include_str!("../../../../bench/states/package.json");
const SCRIPT: &str = include_str!("../../../../bench/states/loop.mjs");

/// None, with a line that says why, where it cannot be measured.
pub(crate) fn transitions_per_second(machine: &Value, transitions: usize, rounds: usize) -> Outcome<Option<f64>> {
    let folder: PathBuf =
        env::var_os("BINDERY_PEERS").map_or_else(|| env::temp_dir().join("bindery-peers"), Into::into);
    if let Err(why) = install(&folder, &[("package.json", PACKAGE), ("loop.mjs", SCRIPT)])? {
        println!("aws-local-stepfunctions is not measured: {why}");
        return Ok(None);
    }
    let told = json!({"machine": machine, "input": {"n": 0}, "rounds": rounds}).to_string();
    let said = Command::new("node").arg("loop.mjs").arg(told).current_dir(&folder).output()?;
    let text = String::from_utf8_lossy(&said.stdout);
    let seconds: f64 = text
        .trim()
        .parse()
        .map_err(|_| format!("aws-local-stepfunctions said {text:?} {:?}", String::from_utf8_lossy(&said.stderr)))?;
    Ok(Some(transitions as f64 / seconds))
}
