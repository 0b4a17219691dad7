//! Lists what was read of a submission.

use super::{PAGE_COMBINER, SPLITTER};
use crate::{
    borders::{FileEntry, FilesBound, output_of},
    consolidate::Gather,
    results::{name_of, none_read, of_each, reason, runs_any},
};
use bindery_core::{StepError, item::ItemKind, outcome::OutcomeStatus};
use bindery_engine::{context::StepContext, workflow};
use serde::Serialize;

/// One result for the submission: its files in order, where the text of each is, and what is missing and why. If none of
/// them could be read, the result is a failure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadingResult;

/// This workflow says of a file no more than all do.
#[derive(Debug, Serialize)]
pub(crate) struct NothingMore {}

/// The result of the `read` workflow, and the beginning of that of `documents`.
pub(crate) type FilesRead = FilesBound<NothingMore>;

impl Gather for ReadingResult {
    const NAME: &'static str = "reading_consolidator";
    type Result = FilesRead;

    fn reads(&self, _here: &workflow::Stage, earlier: &workflow::Stage) -> bool {
        runs_any(earlier, &[PAGE_COMBINER, SPLITTER])
    }

    fn check(&self, context: &StepContext) -> Result<(), StepError> {
        none_read(context, SPLITTER)
    }

    fn gather(&self, context: &StepContext) -> Result<FilesRead, StepError> {
        files_read(context)
    }
}

/// The files of the submission in order, where the text of each is, and what is missing and why.
pub(crate) fn files_read(context: &StepContext) -> Result<FilesRead, StepError> {
    let files = of_each(context, ItemKind::File, [PAGE_COMBINER, SPLITTER], |file, [combined, opened]| {
        let read = combined.filter(|outcome| outcome.status == OutcomeStatus::Completed);
        let read = read.map(|outcome| output_of(context, outcome)).transpose()?;
        let why = || combined.or(opened).map_or_else(|| "was not read".to_owned(), reason);
        let error = if read.is_none() { Some(why()) } else { None };
        Ok(FileEntry { name: name_of(file), own: NothingMore {}, read, error })
    })?;
    FilesBound::new(context, files)
}
