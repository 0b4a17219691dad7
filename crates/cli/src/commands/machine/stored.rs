//! Machines in the store: how one is named, stored and started.

use super::definition_file::Source;
use crate::failure::Failure;
use bindery_app::App;
use bindery_core::ExecutionId;
use bindery_engine::machines::{Machines, StartRequest, Tasks};
use serde_json::Value;
use std::{fs, io::Read as _, path::Path};

/// What an execution begins with.
#[derive(Debug, clap::Args)]
pub(super) struct Start {
    /// The name of a stored machine, or a file with a definition, which is stored first
    #[arg(value_name = "MACHINE")]
    machine: String,

    /// The input: JSON, @file, or - for standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    input: String,

    /// A name for the execution; starting it again under the same name finds it instead
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Whose it is: `bindery delete --owner` deletes it, and what its tasks take in
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    owner: Option<String>,
}

impl Start {
    /// True: it is new.
    pub(super) async fn start(self, app: &App, tasks: &dyn Tasks) -> anyhow::Result<(ExecutionId, bool)> {
        let input = read_json("--input", &self.input)?;
        let machines = app.machines();
        let machine = match Path::new(&self.machine) {
            file if file.is_file() => put(&machines, file, None, tasks).await?.0,
            _ => self.machine,
        };
        Ok(machines.start(StartRequest { machine, name: self.name, input, owner: self.owner }).await?)
    }
}

/// Stores a definition under the name of its file, or another one. Returns the name and the version.
pub(super) async fn put(
    machines: &Machines,
    file: &Path,
    name: Option<String>,
    tasks: &dyn Tasks,
) -> anyhow::Result<(String, i64)> {
    let source = Source::read(file)?;
    let node = source.node().map_err(|faults| source.refusal(&faults))?;
    source.definition().map_err(|faults| source.refusal(&faults))?;
    let name = name.unwrap_or_else(|| name_of(file));
    let text = serde_json::to_string_pretty(&node.to_value())?;
    let version = machines.put(&name, &text, Some(tasks)).await.map_err(|error| {
        Failure::usage(format!("{}: {error}", source.name)).hint("docs/machines.md tells what a task can call")
    })?;
    Ok((name, version))
}

/// `file_ingestion.asl.json` is `file_ingestion`.
fn name_of(file: &Path) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    name.split('.').next().unwrap_or(&name).to_owned()
}

/// JSON as it is, from a file, or from standard input.
pub(super) fn read_json(flag: &str, said: &str) -> anyhow::Result<Value> {
    let (name, text) = if said == "-" {
        let mut text = String::new();
        std::io::stdin().lock().read_to_string(&mut text)?;
        ("standard input".to_owned(), text)
    } else if let Some(file) = said.strip_prefix('@') {
        let text = fs::read_to_string(file);
        (file.to_owned(), text.map_err(|error| Failure::usage(format!("{file} cannot be read: {error}")))?)
    } else {
        (flag.to_owned(), said.to_owned())
    };
    serde_json::from_str(&text).map_err(|error| {
        let failure = Failure::usage(format!("{name} is not JSON: {error}"));
        failure.hint("texts need quotes, for example --input '{\"file\": \"a.pdf\"}'").into()
    })
}
