//! `bindery doctypes try`: what a document is taken for, and its fields, without storing anything.

use crate::{exit::Exit, output, result_tables::show_document};
use bindery_app::Settings;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A document of any kind that `bindery read` reads
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The type to read it as: a known name, or a YAML file; without it, what the pages look like
    #[arg(long = "type", value_name = "NAME or FILE")]
    doctype: Option<String>,

    /// The languages of scans, as Tesseract names them, joined by +
    #[arg(long, value_name = "NAMES", default_value = "eng")]
    languages: String,
}

pub(super) async fn run(settings: &Settings, args: Args, as_json: bool) -> anyhow::Result<Exit> {
    let languages = args.languages.split('+').map(str::to_owned).collect();
    let found = settings.try_doctype(args.file, args.doctype.as_deref(), languages).await?;
    if as_json {
        output::json(&found)?;
        return Ok(Exit::Ok);
    }
    for (index, document) in found.iter().enumerate() {
        if index > 0 {
            output::line("")?;
        }
        show_document(document)?;
    }
    Ok(Exit::Ok)
}
