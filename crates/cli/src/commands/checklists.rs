//! `bindery checklists`: which checklists come with Bindery, and checking files of your own.

use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    Settings,
    checklists::{self, Checklist, shipped, shipped_text},
};
use clap::Subcommand;
use serde_json::{Value, json};
use std::path::PathBuf;

/// List, show or check checklists: which documents a submission must hold
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery checklists
  bindery checklists show loan_application > mine.yaml   a start for your own
  bindery checklists check mine.yaml                     every problem with its line
  bindery run papers --checklist loan_application        what is missing, what contradicts
  bindery run papers --checklist mine.yaml
docs/checklists.md describes every key.")]
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
    /// Print the YAML of one
    Show { name: String },
    /// Check files; all problems are shown
    Check {
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

pub(crate) fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action.unwrap_or(Action::List) {
        Action::List => list(args.json),
        Action::Show { name } => show(&name, args.json),
        Action::Check { files } => check(settings, &files, args.json),
    }
}

fn list(as_json: bool) -> anyhow::Result<Exit> {
    let known = shipped()?;
    if as_json {
        output::json(&known.iter().map(described).collect::<Vec<_>>())?;
        return Ok(Exit::Ok);
    }
    let rows = known.iter().map(|checklist| {
        let documents: Vec<&str> = checklist.documents.iter().map(|document| document.title.as_str()).collect();
        [checklist.name.to_string(), checklist.title.clone(), checklist.version.to_string(), documents.join(", ")]
    });
    output::fitted_table(&["CHECKLIST", "TITLE", "VERSION#", "DOCUMENTS"], rows)?;
    Ok(Exit::Ok)
}

fn show(name: &str, as_json: bool) -> anyhow::Result<Exit> {
    let known = shipped()?;
    let (Some(text), Some(checklist)) = (shipped_text(name), known.iter().find(|checklist| &*checklist.name == name))
    else {
        return Err(checklists::unknown(name).into());
    };
    if as_json {
        output::json(&described(checklist))?;
    } else {
        output::line(text.trim_end_matches('\n'))?;
    }
    Ok(Exit::Ok)
}

/// A checklist as data.
fn described(checklist: &Checklist) -> Value {
    let documents = checklist.documents.iter().map(|document| {
        json!({
            "name": document.name, "title": document.title, "types": document.types, "at_least": document.at_least,
            "optional": document.is_optional, "weight": document.weight, "fields": document.fields,
        })
    });
    let agree: Vec<Value> = checklist
        .agree
        .iter()
        .map(|rule| {
            let fields: Vec<String> = rule.fields.iter().map(ToString::to_string).collect();
            json!({"name": rule.name, "as": rule.comparison.as_str(), "fields": fields})
        })
        .collect();
    json!({
        "name": checklist.name, "title": checklist.title, "version": checklist.version,
        "documents": documents.collect::<Vec<_>>(), "agree": agree,
    })
}

fn check(settings: &Settings, files: &[PathBuf], as_json: bool) -> anyhow::Result<Exit> {
    let mut bad = 0;
    let mut results = Vec::new();
    for file in files {
        let checked = checklists::read(settings, file)?.map_err(|problems| problems.to_string());
        bad += u64::from(checked.is_err());
        if as_json {
            let problems: Vec<&str> =
                checked.as_ref().err().into_iter().flat_map(|problems| problems.lines()).collect();
            let name = checked.as_ref().ok().map(|(_, checklist)| checklist.name.clone());
            results.push(json!({"file": file, "name": name, "problems": problems}));
            continue;
        }
        match &checked {
            Ok((_, checklist)) => {
                let documents = output::count(checklist.documents.len() as u64, "document");
                output::line(format!("{}: {} is good, {documents}", file.display(), checklist.name))?;
            }
            Err(problems) => output::line(problems)?,
        }
    }
    if as_json {
        output::json(&results)?;
    }
    if bad == 0 {
        return Ok(Exit::Ok);
    }
    Err(Failure::usage(format!("{} cannot be used", output::count(bad, "file"))).into())
}
