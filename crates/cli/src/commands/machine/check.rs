//! `bindery machine check`: every fault of every definition, with its line and column.

use crate::{exit::Exit, failure::Failure, output};
use bindery_app::machines::{Checked, Severity, check_files};
use serde_json::{Value, json};
use std::path::PathBuf;

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

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let checked = check_files(&args.files)?;
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
