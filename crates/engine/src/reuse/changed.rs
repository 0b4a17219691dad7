//! Which results depend on something that is different now: a type of document, a template, a setting, a version.

use super::recipe_of;
use crate::{
    engine::Engine,
    error::EngineResult,
    workflow::{Stage, Workflow},
};
use bindery_core::{ContentHash, ItemId, Name, SubmissionId, item::ItemKind, outcome::Outcome};
use bindery_store::{
    pages::{ItemPages, OutcomePages},
    query::ItemFilter,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// What would be done again at one stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedStage {
    pub stage: Name,
    pub processor: Name,
    /// How many of its results depend on something that is different now.
    pub changed: u64,
    /// How many results it has.
    pub results: u64,
}

/// What would be done again of a submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedSubmission {
    pub submission: SubmissionId,
    /// The workflow has a newer version than the one it was worked on by.
    pub newer_workflow: Option<i64>,
    pub stages: Vec<ChangedStage>,
    /// The hash of all that its results would depend on now: the same while nothing changes.
    #[serde(skip)]
    pub recipes: ContentHash,
}

impl ChangedSubmission {
    pub fn changed(&self) -> u64 {
        self.stages.iter().map(|stage| stage.changed).sum()
    }
}

impl Engine {
    /// Counts the results of a submission that depend on what is different now. What depends on those in turn is found
    /// out when they are there: where they are as before, it is taken over.
    pub async fn changed_results(&self, submission: SubmissionId) -> EngineResult<ChangedSubmission> {
        let info = self.catalog().submission(submission).await?;
        let newest = self.catalog().workflow(&info.workflow.name, None).await?;
        let newer_workflow = (newest.version != info.workflow.version).then_some(newest.version);
        let (mut stages, mut recipes) = (Vec::new(), vec![json!([newest.name, newest.version])]);
        for stage in &info.workflow.stages {
            if let Some((changed, now)) = self.changed_stage(submission, stage, &newest).await? {
                stages.push(changed);
                recipes.push(json!(now.into_iter().collect::<Vec<_>>()));
            }
        }
        let recipes = ContentHash::of(Value::Array(recipes).to_string().as_bytes());
        Ok(ChangedSubmission { submission, newer_workflow, stages, recipes })
    }

    async fn changed_stage(
        &self,
        submission: SubmissionId,
        before: &Stage,
        newest: &Arc<Workflow>,
    ) -> EngineResult<Option<(ChangedStage, BTreeMap<Option<String>, ContentHash>)>> {
        let [only] = before.processors.as_slice() else { return Ok(None) };
        let Some(processor) = self.registry().get(&only.name) else { return Ok(None) };
        let Some(reusable) = processor.reuse() else { return Ok(None) };
        let Some(now) = newest.stages.iter().find(|stage| stage.processor(&only.name).is_some()) else {
            return Ok(None);
        };
        let labels = self.labels(submission, before).await?;
        let mut recipes = BTreeMap::new();
        let (mut changed, mut results) = (0, 0);
        let mut pages = OutcomePages::new(&**self.store(), submission, &before.name, None);
        loop {
            let page: Vec<Outcome> = pages.next().await?;
            if page.is_empty() {
                break;
            }
            for outcome in page {
                let Some(reuse) = &outcome.reuse else { continue };
                let label = outcome.item.and_then(|item| labels.get(&item)).cloned();
                let recipe = *recipes
                    .entry(label.clone())
                    .or_insert_with(|| recipe_of(&**processor, reusable, now, label.as_deref()));
                results += 1;
                changed += u64::from(recipe != reuse.recipe);
            }
        }
        let counted = ChangedStage { stage: before.name.clone(), processor: only.name.clone(), changed, results };
        Ok(Some((counted, recipes)))
    }

    /// The types of a submission's documents.
    async fn labels(&self, submission: SubmissionId, stage: &Stage) -> EngineResult<HashMap<ItemId, String>> {
        let mut labels = HashMap::new();
        if stage.over.item_kind() != Some(ItemKind::Document) {
            return Ok(labels);
        }
        let filter = ItemFilter { kind: Some(ItemKind::Document), ..ItemFilter::default() };
        let mut pages = ItemPages::new(&**self.store(), submission, filter);
        loop {
            let page = pages.next().await?;
            if page.is_empty() {
                return Ok(labels);
            }
            labels.extend(page.into_iter().filter_map(|item| Some((item.id, item.label?))));
        }
    }
}
