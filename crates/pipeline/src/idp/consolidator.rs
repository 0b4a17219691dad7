//! One result for the submission.

use super::{
    CLASSIFIER, COMBINER, CONSOLIDATOR, OFFICE, SPLITTER,
    audit::{self, AuditStatus},
    outward::{Bytes, Outward},
    places::Places,
};
use crate::{
    borders::{Combined, FileEntry, FilesBound, output_of},
    consolidate::Gather,
    results::{name_of, of_each, runs_any},
};
use bindery_core::{StepError, item::ItemKind};
use bindery_engine::{Extracted, context::StepContext, workflow};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// Lists the documents with where their JSON is, and what is missing and why. If none came through, that is a failure.
#[derive(Debug, Clone)]
pub(crate) struct IdpResult {
    places: Arc<Places>,
}

impl IdpResult {
    pub(crate) fn new(places: Arc<Places>) -> Self {
        Self { places }
    }
}

/// What the `idp` workflow says of a file beside what all do.
#[derive(Debug, Serialize)]
pub(crate) struct KnownAs {
    document_id: String,
    status: AuditStatus,
    #[serde(flatten)]
    words: Option<Words>,
}

/// Where the words of a document with their boxes are, where they were asked for.
#[derive(Debug, Serialize)]
struct Words {
    hocr: Option<String>,
}

impl Gather for IdpResult {
    const NAME: &'static str = CONSOLIDATOR;
    type Result = FilesBound<KnownAs>;

    fn reads(&self, _here: &workflow::Stage, earlier: &workflow::Stage) -> bool {
        runs_any(earlier, &[COMBINER, OFFICE, SPLITTER, CLASSIFIER])
    }

    fn gather(&self, context: &StepContext) -> Result<FilesBound<KnownAs>, StepError> {
        let stages = [COMBINER, OFFICE, SPLITTER, CLASSIFIER];
        let files = of_each(context, ItemKind::File, stages, |file, [combined, before @ ..]| {
            let (status, why) = audit::status(combined, &before);
            let read = combined.filter(|_| status == AuditStatus::Combined);
            let read: Option<Combined> = read.map(|outcome| output_of(context, outcome)).transpose()?;
            let words = read.as_ref().map(|read| Words { hocr: read.hocr.clone() });
            let own = KnownAs { document_id: file.public_id(), status, words };
            let error = why.or_else(|| read.is_none().then(|| "was not read".to_owned()));
            Ok(FileEntry { name: name_of(file), own, read, error })
        })?;
        let bound = FilesBound::new(context, files)?;
        if let (Some(first), true) = (bound.failed.first(), bound.files.iter().all(|file| file.error.is_some())) {
            let file = first.file.as_deref().unwrap_or_default();
            let message = format!("none of the files came through; {file}: {}", first.reason);
            return Err(StepError::reject(message).named("NothingRead"));
        }
        Ok(bound)
    }

    /// Also where others look for it.
    fn store(&self, context: &StepContext, result: Value) -> Result<Extracted, StepError> {
        let outward = Outward::from_context(context, &self.places)?;
        let key = outward.key("output", &format!("{}.json", context.submission()?.id))?;
        let bytes = result.to_string().into_bytes();
        let artifact = outward.keep(context, &key, Bytes::New(&bytes), "application/json")?;
        Ok(Extracted { artifacts: vec![artifact], ..Extracted::new(result) })
    }
}
