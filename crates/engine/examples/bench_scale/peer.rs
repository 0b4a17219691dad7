//! The peer: graphile-worker, batched, on the same server. It is installed from npm into a folder of the measurement;
//! without Node or npm its numbers are absent.

use crate::bench::{Bench, Outcome};
use bindery_testkit::npm::install;
use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

const PACKAGE: &str = include_str!("../../../../bench/graphile/package.json");
const SCRIPT: &str = include_str!("../../../../bench/graphile/bench.mjs");

/// An installed graphile-worker.
pub(crate) struct Graphile(PathBuf);

/// What one run of it came to.
pub(crate) struct Run {
    pub(crate) enqueued_per_s: f64,
    pub(crate) per_s: f64,
}

impl Graphile {
    /// None, with a line that says why, where it cannot be installed.
    pub(crate) fn install(bench: &Bench) -> Outcome<Option<Self>> {
        let folder = bench.folder().join("graphile");
        if let Err(why) = install(&folder, &[("package.json", PACKAGE), ("bench.mjs", SCRIPT)])? {
            println!("graphile-worker is not measured: {why}");
            return Ok(None);
        }
        Ok(Some(Self(folder)))
    }

    /// Runs no-op jobs in this many processes, in a database of its own.
    pub(crate) fn run(&self, bench: &Bench, jobs: usize, processes: usize) -> Outcome<Run> {
        let database = bench.runtime.block_on(bench.database())?;
        let output = Command::new("node")
            .arg("bench.mjs")
            .args([&database, &jobs.to_string(), &processes.to_string()])
            .current_dir(&self.0)
            .stderr(Stdio::inherit())
            .output()?;
        let said = String::from_utf8(output.stdout)?;
        let numbers: Vec<f64> = said.split_whitespace().map_while(|number| number.parse().ok()).collect();
        match numbers[..] {
            [enqueued_per_s, per_s] => Ok(Run { enqueued_per_s, per_s }),
            _ => Err(format!("graphile-worker said {said:?}").into()),
        }
    }
}
