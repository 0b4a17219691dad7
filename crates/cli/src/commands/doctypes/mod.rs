//! `bindery doctypes`: which types of documents are known, checking files of your own, trying them on a document, and
//! learning templates from corrections.

mod check;
mod learn;
mod trial;

pub(crate) use learn::hint;

use crate::{exit::Exit, output};
use bindery_app::{
    Settings,
    doctypes::{Check, Field, FieldType, KnownDoctype, unknown},
};
use clap::Subcommand;
use serde_json::{Value, json};
use std::{collections::BTreeMap, path::PathBuf};

/// List, show, check or try types of documents, and learn templates
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery doctypes
  bindery doctypes show receipt > slip.yaml          a start for your own
  bindery doctypes check slip.yaml                   every problem with its line
  bindery doctypes try scan.pdf                      what it is taken for, and its fields
  bindery doctypes try scan.pdf --type slip.yaml     the fields of this type, whatever it looks like
  bindery doctypes learn 'Birch Paper'               a template from what was corrected, and what it would change
  bindery --templates ./templates doctypes learn 'Birch Paper' --write
  bindery --doctypes ./doctypes run inbox --workflow documents
docs/doctypes.md and docs/fields.md describe every key.")]
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
    /// Print the YAML of one; with --json its fields
    Show { name: String },
    /// Check files; all problems are shown, and what is probably not meant
    Check {
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Read a document and show its fields; nothing is stored
    Try(trial::Args),
    /// Suggest a template from the corrected documents of a sender; nothing is stored without --write
    Learn(learn::Args),
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action.unwrap_or(Action::List) {
        Action::List => list(&settings.listed_doctypes()?, args.json),
        Action::Show { name } => show(&settings.listed_doctypes()?, &name, args.json),
        Action::Check { files } => check::run(&files, args.json),
        Action::Try(trial) => trial::run(settings, trial, args.json).await,
        Action::Learn(learn) => learn::run(settings, learn, args.json).await,
    }
}

fn list(known: &BTreeMap<String, KnownDoctype>, as_json: bool) -> anyhow::Result<Exit> {
    let required = |known: &KnownDoctype| -> Vec<String> {
        known.doctype.fields.fields.iter().filter(|field| field.required).map(|field| field.name.clone()).collect()
    };
    if as_json {
        let listed: Vec<Value> = known
            .iter()
            .map(|(name, known)| {
                let fields: Vec<&str> = known.doctype.fields.fields.iter().map(|field| field.name.as_str()).collect();
                json!({
                    "name": name, "title": known.doctype.title, "from": known.from, "fields": fields,
                    "required": required(known),
                })
            })
            .collect();
        output::json(&listed)?;
        return Ok(Exit::Ok);
    }
    let rows = known.iter().map(|(name, known)| {
        let count = known.doctype.fields.fields.len().to_string();
        [name.clone(), known.doctype.title.clone(), known.from.clone(), count, required(known).join(", ")]
    });
    output::fitted_table(&["TYPE", "TITLE", "FROM", "FIELDS#", "REQUIRED"], rows)?;
    Ok(Exit::Ok)
}

fn show(known: &BTreeMap<String, KnownDoctype>, name: &str, as_json: bool) -> anyhow::Result<Exit> {
    let found = known.get(name).ok_or_else(|| unknown(name, known))?;
    if as_json {
        output::json(&described(found))?;
    } else {
        output::line(found.text.trim_end_matches('\n'))?;
    }
    Ok(Exit::Ok)
}

/// A type as data.
fn described(known: &KnownDoctype) -> Value {
    let schema = &known.doctype.fields;
    let checks: Vec<Vec<String>> = schema.checks.iter().map(Check::fields).collect();
    json!({
        "name": known.doctype.name, "title": known.doctype.title, "from": known.from,
        "fields": schema.fields.iter().map(described_field).collect::<Vec<_>>(), "checks_over": checks,
    })
}

fn described_field(field: &Field) -> Value {
    let labels: Vec<&str> = field.labels.iter().map(|label| label.text.as_str()).collect();
    let mut entry = json!({
        "name": field.name, "type": field.kind.as_str(), "required": field.required, "labels": labels,
        "pattern": field.pattern_text(), "one_of": field.one_of,
    });
    if field.kind == FieldType::Rows {
        let columns = field.columns.iter().map(|column| json!({"name": column.name, "type": column.kind.as_str()}));
        entry["columns"] = columns.collect();
    }
    entry
}
