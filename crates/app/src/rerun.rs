//! Submissions whose work is done again, because what it depends on has changed or because a person wants all of it anew.

use crate::{app::App, error::AppResult};
use bindery_core::{
    ContentHash, SubmissionId,
    submission::{BY_CONTENT, SubmissionStatus},
};
pub use bindery_engine::reuse::changed::{ChangedStage, ChangedSubmission};
use bindery_engine::{
    reuse::{rerun_of, state_anew},
    runs::CHANNEL,
};
use bindery_store::query::SubmissionFilter;
use serde_json::json;
use std::collections::HashSet;

/// What cannot be run again; nothing was begun.
#[derive(Debug, thiserror::Error)]
pub enum RerunRefused {
    #[error("there is no processor {0:?}")]
    NoProcessor(String),
    #[error("{0} is still at work; it can be run again when it has ended")]
    AtWork(SubmissionId),
}

/// What of a submission is done again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rerun {
    /// What depends on something that has changed.
    Changed,
    /// Everything, or the work of these processors, whatever was done before.
    Anew { processors: Vec<String> },
}

impl Rerun {
    /// How many results of a stage would be found again, those not counted that follow from them.
    pub fn results_of(&self, stage: &ChangedStage) -> u64 {
        match self {
            Self::Changed => stage.changed,
            Self::Anew { processors } if processors.is_empty() => stage.results,
            Self::Anew { processors } => {
                if processors.iter().any(|name| *name == *stage.processor) {
                    stage.results
                } else {
                    0
                }
            }
        }
    }
}

impl App {
    /// Those that are named, or all that have ended and whose place no other has taken, as far as something of them is to be
    /// done again.
    pub async fn find_reruns(&self, rerun: &Rerun, named: &[String]) -> AppResult<Vec<ChangedSubmission>> {
        if let Rerun::Anew { processors } = rerun
            && let Some(unknown) = processors.iter().find(|name| self.engine.registry().get(name).is_none())
        {
            return Err(RerunRefused::NoProcessor(unknown.clone()).into());
        }
        let mut meant = Vec::new();
        for id in self.ended(named).await? {
            let found = self.engine.changed_results(id).await?;
            if *rerun != Rerun::Changed || found.changed() > 0 {
                meant.push(found);
            }
        }
        Ok(meant)
    }

    async fn ended(&self, named: &[String]) -> AppResult<Vec<SubmissionId>> {
        let mut ids = Vec::new();
        for id in named {
            let found = self.engine.find_submission(id).await?;
            self.refuse_run(found.id).await?;
            if !found.status.is_final() {
                return Err(RerunRefused::AtWork(found.id).into());
            }
            if !ids.contains(&found.id) {
                ids.push(found.id);
            }
        }
        if !named.is_empty() {
            return Ok(ids);
        }
        let all = self.store().submissions(SubmissionFilter::default()).await?;
        let replaced: HashSet<_> = all.iter().filter_map(|one| rerun_of(&one.metadata)).collect();
        let is_meant = |status| matches!(status, SubmissionStatus::Completed | SubmissionStatus::Failed);
        let ended = all.iter().filter(|one| is_meant(one.status) && one.channel != CHANNEL);
        ids.extend(ended.map(|one| one.id).filter(|id| !replaced.contains(id)));
        ids.sort_unstable();
        Ok(ids)
    }

    /// Begins the submission that takes the place of this one. The same change once more is the same submission: what was
    /// interrupted can be asked for again.
    pub async fn begin_rerun(&self, rerun: &Rerun, of: &ChangedSubmission) -> AppResult<SubmissionId> {
        let mut intake = self.engine.intake_again(of.submission).await?;
        match rerun {
            Rerun::Anew { processors } => {
                let only = (!processors.is_empty()).then_some(processors.as_slice());
                state_anew(&mut intake.metadata, only);
            }
            Rerun::Changed => {
                let what = json!([of.submission, of.recipes.to_string()]).to_string();
                intake.external_id = Some(format!("{BY_CONTENT}{}", ContentHash::of(what.as_bytes())));
            }
        }
        Ok(self.engine.submit(intake).await?.id())
    }
}
