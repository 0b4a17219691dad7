//! Lists what was read of a submission.

use super::{PAGE_COMBINER, SPLITTER};
use crate::{
    borders::{Combined, Failed, FilesBound, Totals, output_of},
    consolidate::Gather,
    results::{name_of, none_read, of_each, reason},
};
use bindery_core::{StepError, item::ItemKind, outcome::OutcomeStatus};
use bindery_engine::context::StepContext;
use serde::Serialize;

/// One result for the submission: its files in order, where the text of each is, and what is missing and why. If none of
/// them could be read, the result is a failure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadingResult;

/// The result of the `read` workflow, and the beginning of that of `documents`.
#[derive(Debug, Serialize)]
pub(crate) struct FilesRead {
    submission: String,
    pub(crate) totals: Totals,
    files: Vec<FileRead>,
    failed: Vec<Failed>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum FileRead {
    Read {
        name: String,
        #[serde(rename = "type")]
        file_type: Option<String>,
        pages: u64,
        words: u64,
        by_ocr: u64,
        markdown: Option<String>,
        json: Option<String>,
    },
    Failed {
        name: String,
        error: String,
    },
}

impl Gather for ReadingResult {
    const NAME: &'static str = "reading_consolidator";
    type Result = FilesRead;

    fn check(&self, context: &StepContext) -> Result<(), StepError> {
        none_read(context, SPLITTER)
    }

    fn gather(&self, context: &StepContext) -> Result<FilesRead, StepError> {
        files_read(context)
    }
}

/// The files of the submission in order, where the text of each is, and what is missing and why.
pub(crate) fn files_read(context: &StepContext) -> Result<FilesRead, StepError> {
    let found = of_each(context, ItemKind::File, [PAGE_COMBINER, SPLITTER], |file, [combined, opened]| {
        let name = name_of(file);
        let Some(outcome) = combined.filter(|outcome| outcome.status == OutcomeStatus::Completed) else {
            let error = combined.or(opened).map_or_else(|| "was not read".to_owned(), reason);
            return Ok((name.clone(), FileRead::Failed { name, error: error.clone() }, Err(error)));
        };
        let read: Combined = output_of(context, outcome)?;
        let listed = FileRead::Read {
            name: name.clone(),
            file_type: read.file_type.clone(),
            pages: read.pages,
            words: read.words,
            by_ocr: read.by_ocr,
            markdown: read.md.clone(),
            json: read.json.clone(),
        };
        Ok((name, listed, Ok(read)))
    })?;
    let FilesBound { files, failed, totals } = FilesBound::new(found);
    Ok(FilesRead { submission: context.submission()?.public_id(), totals, files, failed })
}
