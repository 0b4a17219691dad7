//! The models of PP-OCRv6: which files they are, where they are looked for, and how they are loaded and installed.

use super::{
    network::{Network, Pools, RtenNetwork},
    recognition::Dictionary,
};
use crate::error::{ReadError, ReadResult};
use sha2::{Digest as _, Sha256};
use std::{
    env, fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
};

/// The environment variable that names the folder of the models.
pub const FOLDER_VARIABLE: &str = "BINDERY_OCR_MODELS";
/// Where the wheel of rapidocr, which carries the models, has them: Apache-2.0, both code and weights.
const IN_WHEEL: &str = "rapidocr/models";

/// A file that the engine needs, and the SHA-256 of the only content that is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelFile {
    pub name: &'static str,
    pub sha256: &'static str,
    pub bytes: u64,
}

pub const DETECTION: ModelFile = ModelFile {
    name: "PP-OCRv6_det_small.onnx",
    sha256: "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
    bytes: 9_929_594,
};
pub const RECOGNITION: ModelFile = ModelFile {
    name: "PP-OCRv6_rec_small.onnx",
    sha256: "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
    bytes: 21_234_383,
};

/// All files that the engine needs.
pub const MODELS: [ModelFile; 2] = [DETECTION, RECOGNITION];

/// Whether a file is there as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    Present,
    Missing,
    /// It has another content, or cannot be read.
    Damaged,
}

impl ModelFile {
    /// Whether these bytes are the file.
    pub fn is(&self, bytes: &[u8]) -> bool {
        use std::fmt::Write as _;
        let hash = Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        hash == self.sha256
    }

    pub fn state(&self, folder: &Path) -> FileState {
        match fs::read(folder.join(self.name)) {
            Ok(bytes) if self.is(&bytes) => FileState::Present,
            Err(error) if error.kind() == io::ErrorKind::NotFound => FileState::Missing,
            _ => FileState::Damaged,
        }
    }

    fn load(&self, folder: &Path) -> ReadResult<Vec<u8>> {
        let path = folder.join(self.name);
        let bytes = fs::read(&path).map_err(|error| ReadError::NoOcr {
            what: format!("the OCR model {} cannot be read: {error}", path.display()),
        })?;
        if !self.is(&bytes) {
            let what = format!(
                "the OCR model {} is damaged: its SHA-256 is not the expected one (run `bindery ocr install` again)",
                path.display()
            );
            return Err(ReadError::NoOcr { what });
        }
        Ok(bytes)
    }
}

/// Where the models are looked for: the variable `BINDERY_OCR_MODELS`, or `bindery/ocr` in the user's data folder. None where
/// the user has no home.
pub fn default_folder() -> Option<PathBuf> {
    let path = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    path(FOLDER_VARIABLE).or_else(|| {
        let data = path("XDG_DATA_HOME").filter(|folder| folder.is_absolute());
        Some(data.or_else(|| Some(path("HOME")?.join(".local/share")))?.join("bindery").join("ocr"))
    })
}

/// Whether both files are in the folder, whatever is in them.
pub(super) fn are_in(folder: &Path) -> bool {
    MODELS.iter().all(|model| folder.join(model.name).is_file())
}

/// A model out of a folder or a wheel, checked.
pub fn read_from(source: &Path, model: &ModelFile) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than it has is enough to know that it is another.
    if source.is_dir() {
        fs::File::open(source.join(model.name))
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", model.name)))?
            .take(model.bytes + 1)
            .read_to_end(&mut bytes)?;
    } else {
        let wrong = |error: zip::result::ZipError| {
            let message = format!("expected the wheel of rapidocr 3.10.0 with {IN_WHEEL}/{}: {error}", model.name);
            io::Error::new(io::ErrorKind::InvalidData, message)
        };
        let mut wheel = zip::ZipArchive::new(fs::File::open(source)?).map_err(wrong)?;
        let part = wheel.by_name(&format!("{IN_WHEEL}/{}", model.name)).map_err(wrong)?;
        part.take(model.bytes + 1).read_to_end(&mut bytes)?;
    }
    if model.is(&bytes) { Ok(bytes) } else { Err(not_expected(model)) }
}

fn not_expected(model: &ModelFile) -> io::Error {
    let message = format!("{}: the SHA-256 is not the expected one; nothing was installed", model.name);
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Writes a model into a folder, which is made if it is not there. Bytes that are not the model are refused.
pub fn install(folder: &Path, model: &ModelFile, bytes: &[u8]) -> io::Result<()> {
    if !model.is(bytes) {
        return Err(not_expected(model));
    }
    fs::create_dir_all(folder)?;
    bindery_files::write(folder.join(model.name), bytes)
}

/// The loaded models.
#[derive(Debug)]
pub(super) struct Models {
    pub(super) detection: Box<dyn Network>,
    pub(super) recognition: Box<dyn Network>,
    pub(super) dictionary: Dictionary,
}

impl Models {
    pub(super) fn load(folder: &Path) -> ReadResult<Self> {
        let pools = Arc::new(Pools::default());
        let load = |model: &ModelFile| -> ReadResult<Box<dyn Network>> {
            let network = RtenNetwork::load(model.load(folder)?, &pools);
            Ok(Box::new(network.map_err(|error| unusable(model, &error))?))
        };
        let (detection, recognition) = (load(&DETECTION)?, load(&RECOGNITION)?);
        let Some(dictionary) = recognition.metadata("character").map(Dictionary::parse) else {
            return Err(unusable(&RECOGNITION, "it has no dictionary"));
        };
        Ok(Self { detection, recognition, dictionary })
    }
}

fn unusable(model: &ModelFile, error: &str) -> ReadError {
    ReadError::NoOcr { what: format!("the OCR model {} cannot be used: {error}", model.name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_model_is_one_sentence_and_is_never_installed() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(DETECTION.state(folder.path()), FileState::Missing);
        let error = install(folder.path(), &DETECTION, b"not a model").unwrap_err().to_string();
        assert!(error.contains("PP-OCRv6_det_small.onnx: the SHA-256 is not the expected one"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        fs::write(folder.path().join(DETECTION.name), b"not a model").unwrap();
        assert_eq!(DETECTION.state(folder.path()), FileState::Damaged);
        let error = Models::load(folder.path()).unwrap_err().to_string();
        assert!(error.contains("is damaged: its SHA-256") && error.contains("bindery ocr install"), "{error}");
    }
}
