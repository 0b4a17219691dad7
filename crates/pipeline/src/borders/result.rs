//! What became of the files of a submission: the common part of all results.

use super::{Combined, Gap};
use bindery_core::Name;
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

/// The files of a submission in their order, as a workflow lists them, and what is missing of them.
#[derive(Debug)]
pub(crate) struct FilesBound<F> {
    pub(crate) files: Vec<F>,
    pub(crate) failed: Vec<Failed>,
    pub(crate) totals: Totals,
}

impl<F> FilesBound<F> {
    /// Of what each file came to: how it is listed, and what was read of it or why nothing was.
    pub(crate) fn new(found: Vec<(String, F, Result<Combined, String>)>) -> Self {
        let mut bound = Self { files: Vec::with_capacity(found.len()), failed: Vec::new(), totals: Totals::default() };
        let (mut words, mut by_ocr) = (0, 0);
        for (name, listed, read) in found {
            bound.files.push(listed);
            match read {
                Ok(read) => {
                    bound.totals.pages += read.pages;
                    words += read.words;
                    by_ocr += read.by_ocr;
                    bound.failed.extend(read.missing.iter().map(|gap| Failed::gap(&name, gap)));
                }
                Err(why) => bound.failed.push(Failed::file(&name, why)),
            }
        }
        let (files, failed) = (bound.files.len(), bound.failed.len());
        bound.totals = Totals { files, words: Some(words), by_ocr: Some(by_ocr), failed, ..bound.totals };
        bound
    }
}
