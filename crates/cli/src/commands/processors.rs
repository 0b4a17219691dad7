//! `bindery processors`: what can be run, and checking files of your own.

use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    Settings,
    circuits::{self, OutageRecord},
    processors::{Processor, Processors, load_file},
};
use clap::Subcommand;
use serde_json::{Value, json};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

/// List, check or show processors
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery processors
  bindery processors show bank_statement > mine.yaml    a start for your own
  bindery processors check mine.yaml                    every problem with its line
  bindery --processors ./processors process mine form.json
docs/processors.md tells what a processor is and which ways there are to have one.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List them (what happens without a word, too)
    List,
    /// Check files without using them; all problems are shown
    Check {
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Print the text of one, or what is known of one that is built in
    Show { name: String },
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action.unwrap_or(Action::List) {
        Action::List => {
            let circuits = match settings.if_existing().await? {
                Some(app) => circuits::recorded(app.store()).await?,
                None => BTreeMap::new(),
            };
            list(&settings.known_processors()?, &circuits, args.json)
        }
        Action::Check { files } => check(&files, args.json),
        Action::Show { name } => show(&settings.known_processors()?, &name, args.json),
    }
}

fn described(known: &Processors, processor: &dyn Processor) -> Value {
    let about = known.describe(processor.name());
    json!({
        "name": processor.name(), "version": processor.version(), "kind": processor.kind(),
        "source": about.origin.to_string(), "description": about.description,
    })
}

fn list(known: &Processors, circuits: &BTreeMap<String, OutageRecord>, as_json: bool) -> anyhow::Result<Exit> {
    if as_json {
        let with_circuit = |one: &Arc<dyn Processor>| {
            let mut described = described(known, one.as_ref());
            described["circuit"] = json!(circuits.get(one.name()));
            described
        };
        let listed: Vec<Value> = known.registry().iter().map(with_circuit).collect();
        output::json(&listed)?;
        return Ok(Exit::Ok);
    }
    let rows = known.registry().iter().map(|processor| {
        let about = known.describe(processor.name());
        [
            processor.name().to_owned(),
            processor.version().to_string(),
            processor.kind().to_string(),
            about.origin.to_string(),
            output::short(&about.description, 100),
        ]
    });
    output::table(&["PROCESSOR", "VERSION#", "KIND", "FROM", "DESCRIPTION"], rows)?;
    let known_circuits = circuits.iter().filter(|(name, _)| known.registry().get(name).is_some());
    let rows: Vec<_> = known_circuits.map(|(name, circuit)| [name.clone(), in_words(circuit)]).collect();
    if !rows.is_empty() {
        output::line("")?;
        output::table(&["CIRCUIT", "STATE"], rows)?;
    }
    Ok(Exit::Ok)
}

/// A circuit in a few words, for a table.
fn in_words(circuit: &OutageRecord) -> String {
    let state = if circuit.open { "open" } else { "closed" };
    let since = output::ago(circuit.since);
    match &circuit.error {
        Some(error) if circuit.open => format!("{state}, {since}: {error}"),
        _ => format!("{state}, {since}"),
    }
}

fn show(known: &Processors, name: &str, as_json: bool) -> anyhow::Result<Exit> {
    let processor = known.find(name)?;
    let text = known.text_of(processor.name())?;
    match text {
        Some(text) if !as_json => output::line(text.trim_end_matches('\n'))?,
        None if !as_json => {
            output::line(format!(
                "{}: version {}, kind {}, built in",
                processor.name(),
                processor.version(),
                processor.kind()
            ))?;
            output::note("it is part of the program, so there is no file to show");
        }
        text => {
            let mut described = described(known, processor.as_ref());
            described["text"] = json!(text);
            output::json(&described)?;
        }
    }
    Ok(Exit::Ok)
}

fn check(files: &[PathBuf], as_json: bool) -> anyhow::Result<Exit> {
    let mut bad = 0;
    let mut checked = Vec::new();
    for file in files {
        let shown = file.display().to_string();
        let (line, entry) = match load_file(file) {
            Ok(loaded) => {
                let definition = loaded.definition;
                let line = format!(
                    "{shown}: {} version {}, kind {}, is good",
                    definition.name, definition.version, definition.kind
                );
                (line, json!({"file": shown, "good": true, "name": definition.name, "version": definition.version}))
            }
            Err(problems) => {
                bad += 1;
                (problems.to_string(), json!({"file": shown, "good": false, "problems": problems.to_string()}))
            }
        };
        if as_json {
            checked.push(entry);
        } else {
            output::line(line)?;
        }
    }
    if as_json {
        output::json(&checked)?;
    }
    if bad == 0 {
        return Ok(Exit::Ok);
    }
    Err(Failure::usage(format!("{} cannot be used", output::count(bad, "file"))).into())
}
