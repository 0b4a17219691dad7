//! Finding runs by what people type.

use super::{CHANNEL, Runs, conduct::answer_key, record::RunRecord};
use crate::error::{EngineError, EngineResult};
use bindery_core::artifact::Artifact;
use bindery_store::{blobs::BlobsExt, query::SubmissionFilter};
use serde_json::Value;

/// A shorter beginning of an id is a guess.
const SHORTEST_PREFIX: usize = 6;

/// How many runs a message about an ambiguous id lists.
const LISTED: usize = 5;

/// The newest run.
const LATEST: &str = "latest";

impl Runs {
    /// The run with this id, by the beginning of it (6 characters or more), or the newest one: `latest`.
    pub async fn find(&self, text: &str) -> EngineResult<RunRecord> {
        if text == LATEST {
            let newest = self.records(Some(1)).await?.into_iter().next();
            return newest.ok_or_else(|| EngineError::NotFound("run yet".to_owned()));
        }
        if let Some(record) = self.record(text).await? {
            return Ok(record);
        }
        let unknown = || EngineError::NotFound(format!("run {text}"));
        if text.chars().count() < SHORTEST_PREFIX {
            let message = format!("run {text}: give at least {SHORTEST_PREFIX} characters of its id, or {LATEST:?}");
            return Err(EngineError::Invalid(message));
        }
        let mut fitting = self.records(None).await?;
        fitting.retain(|record| record.run_id.starts_with(text));
        if fitting.len() > 1 {
            let mut ids: Vec<&str> = fitting.iter().take(LISTED).map(|record| record.run_id.as_str()).collect();
            if fitting.len() > LISTED {
                ids.push("…");
            }
            return Err(EngineError::Invalid(format!("run {text} may be any of {}", ids.join(", "))));
        }
        fitting.pop().ok_or_else(unknown)
    }

    /// The answer of a run, as it was returned; none while it has not ended.
    pub async fn result(&self, run_id: &str) -> EngineResult<Option<Value>> {
        let record = self.find(run_id).await?;
        match self.answer_of(&record).await? {
            Some(answer) => Ok(Some(self.engine.blobs().get_json(answer.hash).await?)),
            None => Ok(None),
        }
    }

    pub(super) async fn answer_of(&self, record: &RunRecord) -> EngineResult<Option<Artifact>> {
        Ok(self.engine.store().artifact(record.submission, &answer_key(&record.run_id)).await?)
    }

    /// By its whole id.
    pub(super) async fn record(&self, run_id: &str) -> EngineResult<Option<RunRecord>> {
        match self.engine.store().find_submission(run_id).await? {
            Some(submission) => RunRecord::from_submission(submission),
            None => Ok(None),
        }
    }

    /// The newest first.
    pub(super) async fn records(&self, limit: Option<usize>) -> EngineResult<Vec<RunRecord>> {
        let filter = SubmissionFilter { channel: Some(CHANNEL.to_owned()), limit, ..SubmissionFilter::default() };
        let submissions = self.engine.store().submissions(filter).await?;
        submissions.into_iter().filter_map(|submission| RunRecord::from_submission(submission).transpose()).collect()
    }
}
