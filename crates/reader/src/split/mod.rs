//! A PDF taken apart into files of one page each, with a manifest that says how many there are.
//!
//! | module | what it owns |
//! |---|---|
//! | `copy` | everything that a page needs, and nothing else of the file |
//! | `write` | the objects of a PDF as bytes |
//!
//! Each file shows its page as the whole file did: what the page inherits is written down in it, streams are copied as
//! they are, and encryption is gone. The manifest is written last, so whoever sees it finds every page.

mod copy;
mod write;

use crate::{
    error::{ReadError, ReadResult},
    options::ReadOptions,
};
use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use serde::{Deserialize, Serialize};
use std::{
    fmt, fs, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

/// How many pages a file was split into: `manifest.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    pub document_id: String,
    pub pages: usize,
}

/// The name of the manifest beside the page files.
pub const MANIFEST: &str = "manifest.json";

/// The name of a page's file without its ending; `number` counts from 1.
pub fn page_name(number: usize) -> String {
    format!("page_{number:03}")
}

/// A PDF that can be taken apart.
pub struct SplitPdf {
    pdf: Pdf,
    pages: usize,
}

impl fmt::Debug for SplitPdf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SplitPdf").field("pages", &self.pages).finish_non_exhaustive()
    }
}

/// Why the pages were not written.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("the pages cannot be written: {0}")]
    Write(#[from] io::Error),
}

impl SplitPdf {
    pub fn open(bytes: Vec<u8>, options: &ReadOptions) -> ReadResult<Self> {
        options.limits.check_file(bytes.len() as u64)?;
        let password = options.password.as_deref();
        let opened = catch_panics(|| Ok(Pdf::new_with_password(bytes, password.unwrap_or_default())))?;
        let pdf = opened.map_err(|error| match (error, password) {
            (LoadPdfError::Decryption(DecryptionError::PasswordProtected), None) => ReadError::NeedsPassword,
            (LoadPdfError::Decryption(DecryptionError::PasswordProtected), Some(_)) => ReadError::WrongPassword,
            (LoadPdfError::Decryption(_), _) => ReadError::unsupported("the encryption of the PDF"),
            (LoadPdfError::Invalid, _) => ReadError::damaged("PDF", "its objects cannot be found"),
        })?;
        let pages = catch_panics(|| Ok(pdf.pages().len()))?;
        if pages == 0 {
            return Err(ReadError::damaged("PDF", "it has no pages"));
        }
        if pages > options.limits.pages {
            return Err(ReadError::too_large(format!("the PDF has more than {} pages", options.limits.pages)));
        }
        Ok(Self { pdf, pages })
    }

    pub fn page_count(&self) -> usize {
        self.pages
    }

    /// A page as a PDF of its own; `index` counts from 0.
    pub fn page(&self, index: usize) -> ReadResult<Vec<u8>> {
        page_of(&self.pdf, index)
    }

    /// Writes `page_001.pdf` and so on into the folder, and then the manifest. Nothing is written twice: what is there is
    /// replaced whole.
    pub fn write_to(&self, folder: &Path, document_id: &str) -> Result<Manifest, SplitError> {
        fs::create_dir_all(folder)?;
        for index in 0..self.pages {
            bindery_files::write(folder.join(format!("{}.pdf", page_name(index + 1))), self.page(index)?)?;
        }
        let manifest = Manifest { document_id: document_id.to_owned(), pages: self.pages };
        manifest.write_to(folder)?;
        Ok(manifest)
    }
}

/// A page of an open PDF as a PDF of its own; `index` counts from 0.
pub(crate) fn page_of(pdf: &Pdf, index: usize) -> ReadResult<Vec<u8>> {
    catch_panics(|| {
        let pages = pdf.pages();
        let missing = ReadError::NoSuchPage { page: index + 1, count: pages.len() };
        copy::page(pdf, pages.get(index).ok_or(missing)?)
    })
}

impl Manifest {
    /// The last thing to be written: whoever sees it may count on the pages.
    pub fn write_to(&self, folder: &Path) -> io::Result<()> {
        bindery_files::write(folder.join(MANIFEST), serde_json::to_vec(self)?)
    }

    /// None if it is not there yet.
    pub fn read_from(folder: &Path) -> io::Result<Option<Self>> {
        match fs::read(folder.join(MANIFEST)) {
            Ok(json) => Ok(Some(serde_json::from_slice(&json)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The parser may give up where it meets what it did not expect; that is the file's fault.
fn catch_panics<T>(work: impl FnOnce() -> ReadResult<T>) -> ReadResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(ReadError::damaged("PDF", "it cannot be taken apart")))
}
