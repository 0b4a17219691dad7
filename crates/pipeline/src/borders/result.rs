//! What became of the files of a submission: the common part of all results.

use super::{Combined, Gap};
use bindery_core::{Name, StepError};
use bindery_engine::context::StepContext;
use serde::Serialize;

/// Something that could not be read, and why.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Failed {
    pub(crate) file: Option<String>,
    /// In its file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) page: Option<u64>,
    /// In the submission, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) page_index: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parser: Option<Name>,
    pub(crate) reason: String,
}

impl Failed {
    pub(crate) fn file(name: &str, reason: impl Into<String>) -> Self {
        Self { file: Some(name.to_owned()), reason: reason.into(), ..Self::default() }
    }

    /// A page of a file that is there otherwise.
    pub(crate) fn gap(name: &str, gap: &Gap) -> Self {
        Self { page: Some(gap.page as u64), ..Self::file(name, gap.reason.clone()) }
    }
}

/// How much there is of everything. What a workflow does not count, its results do not have.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Totals {
    pub(crate) files: usize,
    pub(crate) pages: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) words: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by_ocr: Option<u64>,
    pub(crate) failed: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) documents: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) need_review: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) doubtful: Option<usize>,
}

/// A file in a result: what was read of it, or why nothing was. `X` is what its workflow says beside that.
#[derive(Debug, Serialize)]
pub(crate) struct FileEntry<X> {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) own: X,
    #[serde(flatten)]
    pub(crate) read: Option<Combined>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

/// The files of a submission in their order, where the text of each is, and what is missing and why.
#[derive(Debug, Serialize)]
pub(crate) struct FilesBound<X> {
    submission: String,
    pub(crate) totals: Totals,
    pub(crate) files: Vec<FileEntry<X>>,
    pub(crate) failed: Vec<Failed>,
}

impl<X> FilesBound<X> {
    pub(crate) fn new(context: &StepContext, files: Vec<FileEntry<X>>) -> Result<Self, StepError> {
        let mut failed = Vec::new();
        for FileEntry { name, read, error, .. } in &files {
            failed.extend(read.iter().flat_map(|read| &read.missing).map(|gap| Failed::gap(name, gap)));
            failed.extend(error.iter().map(|why| Failed::file(name, why)));
        }
        let sum = |count: fn(&Combined) -> u64| files.iter().filter_map(|file| file.read.as_ref()).map(count).sum();
        let totals = Totals {
            files: files.len(),
            pages: sum(|read| read.pages),
            words: Some(sum(|read| read.words)),
            by_ocr: Some(sum(|read| read.by_ocr)),
            failed: failed.len(),
            ..Totals::default()
        };
        Ok(Self { submission: context.submission()?.public_id(), totals, files, failed })
    }
}
