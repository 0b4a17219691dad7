//! Which OCR engines there are, and installing the models of PP-OCR.

pub use bindery_reader::ocr::ppocr::models::FOLDER_VARIABLE;
use bindery_reader::ocr::{
    ppocr::models::{self, FileState, MODELS, ModelFile},
    tesseract::{AUTO, Tesseract},
};
use serde::Serialize;
use std::{
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// What holds the models, as pip names it.
const WHEEL: &str = "rapidocr==3.10.0";

/// Why the models cannot be found or installed.
#[derive(Debug, thiserror::Error)]
pub enum OcrRefused {
    #[error("there is no folder for the models")]
    NoFolder,
    #[error("python3 cannot be started to download {WHEEL} by pip: {0}")]
    NoPip(io::Error),
    #[error("pip could not download {WHEEL}: {0}")]
    PipFailed(String),
    #[error("pip has downloaded no wheel of {WHEEL}")]
    NoWheel,
    #[error("{}: {message}", from.display())]
    Unusable { from: PathBuf, message: String },
    #[error("{}: cannot be written: {error}", folder.display())]
    Unwritable { folder: PathBuf, error: io::Error },
}

/// An engine, and what keeps it from being used.
#[derive(Debug, Serialize)]
pub struct EngineInfo {
    pub engine: &'static str,
    pub usable: bool,
    pub problem: Option<String>,
    /// Where its models are.
    pub models: Option<PathBuf>,
}

fn folder() -> Result<PathBuf, OcrRefused> {
    models::default_folder().ok_or(OcrRefused::NoFolder)
}

/// Looks at all engines. Models are hashed, which keeps a core busy.
pub fn engines() -> Result<[EngineInfo; 2], OcrRefused> {
    let folder = folder()?;
    let tesseract = Tesseract::default().check(&[AUTO.to_owned()]).err().map(|error| error.to_string());
    let info =
        |engine, problem: Option<String>, models| EngineInfo { engine, usable: problem.is_none(), problem, models };
    Ok([info("tesseract", tesseract, None), info("ppocr", trouble(&folder), Some(folder))])
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

/// Installs the models from a wheel or a folder; without either, pip downloads the wheel. Returns the folder they are in.
pub fn install(from: Option<&Path>, index: Option<&str>) -> Result<PathBuf, OcrRefused> {
    if let Some(from) = from {
        return install_from(from);
    }
    let scratch = bindery_files::ScratchFolder::new()
        .map_err(|error| OcrRefused::Unwritable { folder: std::env::temp_dir(), error })?;
    install_from(&download(scratch.path(), index)?)
}

/// The names of the models.
pub fn model_names() -> Vec<&'static str> {
    MODELS.iter().map(|model| model.name).collect()
}

/// The wheel, downloaded by pip into a folder. What is in it is checked before anything is installed.
fn download(folder: &Path, index: Option<&str>) -> Result<PathBuf, OcrRefused> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", WHEEL, "--no-deps", "--only-binary=:all:", "--disable-pip-version-check"]);
    pip.args(["--quiet", "--no-input", "--dest"]).arg(folder).stdin(Stdio::null());
    if let Some(index) = index {
        pip.args(["--index-url", index]);
    }
    let ran = pip.output().map_err(OcrRefused::NoPip)?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr);
        let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        return Err(OcrRefused::PipFailed(last.trim().trim_start_matches("ERROR: ").to_owned()));
    }
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "whl");
    let found = std::fs::read_dir(folder).ok().and_then(|files| files.flatten().map(|file| file.path()).find(is_wheel));
    found.ok_or(OcrRefused::NoWheel)
}

fn install_from(from: &Path) -> Result<PathBuf, OcrRefused> {
    let folder = folder()?;
    // All are read and checked before the first is written.
    let read = |model: &ModelFile| {
        models::read_from(from, model)
            .map_err(|error| OcrRefused::Unusable { from: from.to_owned(), message: error.to_string() })
    };
    let found = MODELS.iter().map(|model| Ok((model, read(model)?))).collect::<Result<Vec<_>, OcrRefused>>()?;
    for (model, bytes) in &found {
        models::install(&folder, model, bytes)
            .map_err(|error| OcrRefused::Unwritable { folder: folder.clone(), error })?;
    }
    Ok(folder)
}
