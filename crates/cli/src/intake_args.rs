//! Flags of every command that takes files in, and what is said about what was taken in.

use crate::{exit::Exit, output};
use bindery_app::intake::{About, Delivery, Receipt, Received, Unreadable};
use std::path::PathBuf;

/// What is said about files, wherever they come from.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct AboutArgs {
    /// What happens to them (default: what the rules in bindery.toml say, or `documents`); `bindery workflows` lists what there is
    #[arg(long, short, value_name = "NAME")]
    workflow: Option<String>,

    /// Their document type: the workflow `documents` reads its fields and classifies nothing; `bindery doctypes` lists the types
    #[arg(long, value_name = "NAME")]
    doctype: Option<String>,

    /// The checklist they are compared with as a whole: its name, or a file; `bindery checklists` lists those there are
    #[arg(long, value_name = "NAME")]
    checklist: Option<String>,

    /// Whose they are
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,

    /// Greater is sooner; negative is later
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_name = "NUMBER")]
    priority: i32,

    /// Anything to keep with them, as key=value; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    meta: Vec<(String, String)>,
}

impl From<AboutArgs> for About {
    fn from(args: AboutArgs) -> Self {
        let AboutArgs { workflow, doctype, checklist, owner, priority, meta: metadata } = args;
        Self { workflow, doctype, checklist, owner, priority, metadata }
    }
}

pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.to_owned())),
        _ => Err("expected key=value".to_owned()),
    }
}

/// What is taken in by `run` and `submit`.
#[derive(Debug, clap::Args)]
pub(crate) struct IntakeArgs {
    /// Files, folders (everything below them, by name), or - for standard input
    #[arg(required = true, value_name = "PATHS")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    about: AboutArgs,

    /// Your own id for it. The same id again is the same submission
    #[arg(long, value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    external_id: Option<String>,

    /// Take the files in also if the same ones were taken in before
    #[arg(long, conflicts_with = "external_id")]
    anew: bool,
}

impl From<IntakeArgs> for Delivery {
    fn from(args: IntakeArgs) -> Self {
        let IntakeArgs { paths, about, external_id, anew } = args;
        Self { paths, about: about.into(), channel: "command line", external_id, anew }
    }
}

/// Says as what it was taken in, now or before.
pub(crate) fn note_receipt(receipt: &Receipt) {
    output::note(match receipt.received {
        Received::Already(known) if receipt.is_known_id => {
            format!("taken in before as {known}; nothing is taken in again")
        }
        Received::Already(id) => format!("the same files were taken in before as {id}; --anew works on them once more"),
        Received::New(id) => {
            let files = output::count(receipt.files as u64, "file");
            format!("took in {files} ({}) as {id}", output::bytes(receipt.bytes))
        }
    });
}

/// The exit code of a command that did all it was asked to, but for files that it could not read.
pub(crate) fn exit_of(receipt: &Receipt) -> Exit {
    if receipt.unreadable.is_empty() { Exit::Ok } else { Exit::Partial }
}

pub(crate) fn note_unreadable(unreadable: &[Unreadable]) {
    for Unreadable { name, reason } in unreadable {
        output::note(not_taken_in(name, reason));
    }
}

pub(crate) fn not_taken_in(name: &str, reason: &str) -> String {
    format!("not taken in: {name}: {reason}")
}
