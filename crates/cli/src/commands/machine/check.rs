//! `bindery machine check`: every fault of every definition, with its line and column.

use super::definition_file::Source;
use crate::{exit::Exit, failure::Failure, output};
use bindery_states::asl::definition::{Diagnostic, Severity};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Check definitions; every fault is shown with its line, its column and what to do
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery machine check machine.asl.json other.asl.yaml
  bindery machine check machines            all *.asl.json and *.asl.yaml files in a folder
  bindery machine check --json machines     for programs
The exit code is 2 if a definition cannot be used. Warnings are shown, and change nothing.")]
pub(crate) struct Args {
    /// Files in JSON or YAML, folders, or `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is to be said of one file.
struct Checked {
    name: String,
    states: Option<usize>,
    /// With the name of the file before it, and as it is.
    found: Vec<(String, Diagnostic)>,
    /// Why it could not even be read.
    unreadable: Option<String>,
}

const ENDINGS: [&str; 3] = [".asl.json", ".asl.yaml", ".asl.yml"];

pub(super) fn run(args: Args) -> anyhow::Result<Exit> {
    let mut checked = Vec::new();
    for file in args.files {
        if file.is_dir() {
            let found = files_in(&file)?;
            checked.extend(found.iter().map(|file| check(file)));
        } else {
            checked.push(check(&file));
        }
    }
    let bad = checked.iter().filter(|checked| checked.states.is_none()).count();
    if args.json {
        output::json(&checked.iter().map(as_json).collect::<Vec<_>>())?;
    } else {
        checked.iter().try_for_each(show)?;
    }
    if bad == 0 {
        return Ok(Exit::Ok);
    }
    Err(Failure::usage(format!("{} cannot be used", output::count(bad as u64, "definition"))).into())
}

fn files_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let unreadable = |error| Failure::usage(format!("the folder {} cannot be read: {error}", folder.display()));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if ENDINGS.iter().any(|ending| name.ends_with(ending)) && !name.starts_with('.') && file.is_file() {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        let message = format!("the folder {} has no definitions", folder.display());
        return Err(Failure::usage(message).hint("their names end in .asl.json or .asl.yaml").into());
    }
    Ok(files)
}

fn check(file: &Path) -> Checked {
    let source = match Source::read(file) {
        Ok(source) => source,
        Err(error) => {
            let name = file.display().to_string();
            return Checked { name, states: None, found: Vec::new(), unreadable: Some(format!("{error:#}")) };
        }
    };
    let (states, found) = match source.definition() {
        Ok(definition) => {
            let states = definition.machines().iter().map(|machine| machine.states.len()).sum();
            (Some(states), definition.warnings().to_vec())
        }
        Err(faults) => (None, faults.0),
    };
    let found = found.into_iter().map(|diagnostic| (source.line(&diagnostic), diagnostic)).collect();
    Checked { name: source.name, states, found, unreadable: None }
}

/// Faults first, then what was probably meant otherwise.
fn show(checked: &Checked) -> std::io::Result<()> {
    if let Some(why) = &checked.unreadable {
        output::line(why)?;
    }
    for severity in [Severity::Fault, Severity::Warning] {
        for (line, _) in checked.found.iter().filter(|(_, diagnostic)| diagnostic.severity == severity) {
            output::line(line)?;
        }
    }
    match checked.states {
        Some(states) => output::line(format!("{}: good, {}", checked.name, output::count(states as u64, "state"))),
        None => Ok(()),
    }
}

fn as_json(checked: &Checked) -> Value {
    let of = |severity: Severity| -> Vec<Value> {
        let found = checked.found.iter().map(|(_, diagnostic)| diagnostic);
        found
            .filter(|diagnostic| diagnostic.severity == severity)
            .map(|diagnostic| {
                json!({
                    "line": diagnostic.place.line, "column": diagnostic.place.column, "path": diagnostic.path,
                    "message": diagnostic.message, "hint": diagnostic.hint,
                })
            })
            .collect()
    };
    json!({
        "file": checked.name, "ok": checked.states.is_some(), "states": checked.states,
        "faults": of(Severity::Fault), "warnings": of(Severity::Warning), "error": checked.unreadable,
    })
}
