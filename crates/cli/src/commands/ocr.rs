//! `bindery ocr`: which OCR engines there are, and installing the models of PP-OCR.

use crate::{exit::Exit, failure::Failure, output};
use bindery_reader::ocr::{
    ppocr::models::{self, FileState, MODELS, ModelFile},
    tesseract::{AUTO, Tesseract},
};
use clap::Subcommand;
use serde_json::json;
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// What holds the models, as pip names it.
const WHEEL: &str = "rapidocr==3.10.0";

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
        Action::Install { from: Some(from), .. } => install(&from, args.json),
        Action::Install { from: None, index_url } => {
            let folder = bindery_files::ScratchFolder::new()?;
            install(&download(folder.path(), index_url.as_deref())?, args.json)
        }
    })
    .await?
}

fn folder() -> anyhow::Result<PathBuf> {
    let missing = || Failure::usage("there is no folder for the models").hint("set BINDERY_OCR_MODELS");
    Ok(models::default_folder().ok_or_else(missing)?)
}

/// What keeps PP-OCR from being used.
fn trouble(folder: &Path) -> Option<String> {
    let state = |wanted: FileState| -> Vec<&str> {
        MODELS.iter().filter(|model| model.state(folder) == wanted).map(|model| model.name).collect()
    };
    let (damaged, missing) = (state(FileState::Damaged), state(FileState::Missing));
    if !damaged.is_empty() {
        return Some(format!("damaged: {}", damaged.join(", ")));
    }
    (!missing.is_empty()).then(|| "its models are not installed".to_owned())
}

fn list(as_json: bool) -> anyhow::Result<Exit> {
    let folder = folder()?;
    let tesseract = Tesseract::default().check(&[AUTO.to_owned()]).err().map(|error| error.to_string());
    let engines = [("tesseract", tesseract, None), ("ppocr", trouble(&folder), Some(&folder))];
    if as_json {
        let engine = |(name, trouble, models): &(&str, Option<String>, Option<&PathBuf>)| json!({"engine": name, "usable": trouble.is_none(), "problem": trouble, "models": models});
        output::json(&engines.iter().map(engine).collect::<Vec<_>>())?;
        return Ok(Exit::Ok);
    }
    for (name, trouble, models) in engines {
        let state = trouble.unwrap_or_else(|| "ready".to_owned());
        let place = models.map(|folder| format!(" ({})", folder.display())).unwrap_or_default();
        output::line(format!("{name}: {state}{place}"))?;
    }
    Ok(Exit::Ok)
}

/// The wheel, downloaded by pip into a folder. What is in it is checked before anything is installed.
fn download(folder: &Path, index: Option<&str>) -> Result<PathBuf, Failure> {
    let by_hand = "download the wheel where there is pip, and name it with --from";
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", WHEEL, "--no-deps", "--only-binary=:all:", "--disable-pip-version-check"]);
    pip.args(["--quiet", "--no-input", "--dest"]).arg(folder).stdin(Stdio::null());
    if let Some(index) = index {
        pip.args(["--index-url", index]);
    }
    let ran = pip.output().map_err(|error| {
        let message = format!("python3 cannot be started to download {WHEEL} by pip: {error}");
        Failure::usage(message).hint(by_hand)
    })?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr);
        let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        let message = format!("pip could not download {WHEEL}: {}", last.trim().trim_start_matches("ERROR: "));
        return Err(Failure::usage(message).hint(by_hand));
    }
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "whl");
    let found = std::fs::read_dir(folder).ok().and_then(|files| files.flatten().map(|file| file.path()).find(is_wheel));
    found.ok_or_else(|| Failure::usage(format!("pip has downloaded no wheel of {WHEEL}")).hint(by_hand))
}

fn install(from: &Path, as_json: bool) -> anyhow::Result<Exit> {
    let folder = folder()?;
    let wrong = |error: &dyn std::fmt::Display| Failure::usage(format!("{}: {error}", from.display()));
    // All are read and checked before the first is written.
    let read = |model: &ModelFile| models::read_from(from, model).map_err(|error| wrong(&error));
    let found = MODELS.iter().map(|model| Ok((model, read(model)?))).collect::<Result<Vec<_>, Failure>>()?;
    for (model, bytes) in &found {
        models::install(&folder, model, bytes)
            .map_err(|error| Failure::usage(format!("{}: cannot be written: {error}", folder.display())))?;
    }
    if as_json {
        let names: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
        output::json(&json!({"models": folder, "installed": names, "licence": "Apache-2.0"}))?;
        return Ok(Exit::Ok);
    }
    output::line(format!("installed the models of PP-OCRv6 in {}", folder.display()))?;
    output::line("They are PaddleOCR's, converted to ONNX by RapidOCR, under the Apache License 2.0.")?;
    Ok(Exit::Ok)
}
