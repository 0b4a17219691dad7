//! `bindery ocr`: which OCR engines there are, and installing the models of PP-OCR.

use crate::{exit::Exit, output};
use bindery_app::{
    AppError,
    ocr::{OcrRefused, engines, install, model_names},
};
use clap::Subcommand;
use serde_json::json;
use std::path::PathBuf;

/// List the OCR engines, or install the models of PP-OCR
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery ocr                                         the engines, and whether they can be used
  bindery ocr install                                 by pip, from the package index that pip is set to
  bindery ocr install --index-url URL                 from another index
  bindery ocr install --from rapidocr-3.10.0-py3-none-any.whl
  bindery ocr install --from models                   from a folder with the two files
  bindery read receipt.jpg --ocr-engine ppocr
The models are Apache-2.0. docs/reading.md says when they are used.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the engines (what happens without a word, too)
    List,
    /// Install the models of PP-OCR into BINDERY_OCR_MODELS, or bindery/ocr in your data folder
    Install {
        /// The wheel of rapidocr 3.10.0, or a folder with the models; without it, pip downloads the wheel
        #[arg(long, value_name = "PATH")]
        from: Option<PathBuf>,

        /// The package index that pip asks (default: as pip is set, for instance by PIP_INDEX_URL)
        #[arg(long, value_name = "URL", conflicts_with = "from")]
        index_url: Option<String>,
    },
}

pub(crate) async fn run(args: Args) -> anyhow::Result<Exit> {
    // Models are hashed, which keeps a core busy.
    tokio::task::spawn_blocking(move || match args.action.unwrap_or(Action::List) {
        Action::List => list(args.json),
        Action::Install { from, index_url } => {
            let folder = install(from.as_deref(), index_url.as_deref()).map_err(AppError::from)?;
            if args.json {
                output::json(&json!({"models": folder, "installed": model_names(), "licence": "Apache-2.0"}))?;
                return Ok(Exit::Ok);
            }
            output::line(format!("installed the models of PP-OCRv6 in {}", folder.display()))?;
            output::line("They are PaddleOCR's, converted to ONNX by RapidOCR, under the Apache License 2.0.")?;
            Ok(Exit::Ok)
        }
    })
    .await?
}

fn list(as_json: bool) -> anyhow::Result<Exit> {
    let engines = engines().map_err(AppError::from)?;
    if as_json {
        output::json(&engines)?;
        return Ok(Exit::Ok);
    }
    for info in engines {
        let state = info.problem.unwrap_or_else(|| "ready".to_owned());
        let place = info.models.map(|folder| format!(" ({})", folder.display())).unwrap_or_default();
        output::line(format!("{}: {state}{place}", info.engine))?;
    }
    Ok(Exit::Ok)
}

/// What can be done instead.
pub(crate) fn hint(refused: &OcrRefused) -> Option<&'static str> {
    match refused {
        OcrRefused::NoFolder => Some("set BINDERY_OCR_MODELS"),
        OcrRefused::NoPip(_) | OcrRefused::PipFailed(_) | OcrRefused::NoWheel => {
            Some("download the wheel where there is pip, and name it with --from")
        }
        OcrRefused::Unusable { .. } | OcrRefused::Unwritable { .. } => None,
    }
}
