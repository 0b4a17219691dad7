//! More for a submission that exists: files that are added to it, and the same files once more as a submission that takes
//! its place.

use crate::{
    chain::{At, END, Next, internal_processor},
    engine::Engine,
    error::{EngineError, EngineResult},
    intake::{Intake, IntakeFile, raw_artifacts, uploaded},
    reuse::{OWN_KEY, state_rerun},
    workflow::Over,
};
use bindery_core::{
    JoinId, Name, Payload, SubmissionId,
    item::{Item, ItemKind},
    join::{JoinChange, JoinStep},
    submission::SubmissionStatus,
};
use bindery_store::{
    Again, Commit, CommitResult,
    query::{ItemFilter, JoinFilter, JoinScope},
};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// What became of files that were to be added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddedFiles {
    pub added: Vec<String>,
    /// The submission has a file with the same content.
    pub known: Vec<String>,
}

/// What intake says of a file.
#[derive(Debug, Deserialize)]
struct StoredFile {
    size: u64,
    media_type: String,
}

impl Engine {
    /// Adds files to a submission, all in one commit. Whatever it has closed over since is closed again, with them. A file
    /// whose content it has is left out, so that adding the same files twice adds them once.
    pub async fn add_files(&self, id: SubmissionId, files: Vec<IntakeFile>) -> EngineResult<AddedFiles> {
        let not_found = || EngineError::NotFound(id.to_string());
        let submission = self.store().submission(id).await?.ok_or_else(not_found)?;
        if submission.status == SubmissionStatus::Cancelled {
            let message = format!("{id} is cancelled; `bindery retry {id}` takes it up again, then files can be added");
            return Err(EngineError::Invalid(message));
        }
        let info = self.catalog().submission(id).await?;
        let first = &info.workflow.stages[0];
        if first.over != Over::File {
            let message = format!(
                "the first stage of workflow {}, {}, works on {id} as a whole, so files cannot be added; take them in as \
                 another submission",
                info.workflow.name, first.name
            );
            return Err(EngineError::Invalid(message));
        }
        self.check_processors(&info.workflow)?;
        let before = self.received_files(id).await?;
        let mut contents: HashSet<_> = before.iter().filter_map(|item| item.content).collect();
        let (new, known): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| contents.insert(file.content));
        let name = |files: &[IntakeFile]| files.iter().map(|file| file.name.clone()).collect();
        let said = AddedFiles { added: name(&new), known: name(&known) };
        let place = before.iter().map(|item| item.ordinal + 1).max().unwrap_or(0);
        let items = self.file_items(&info, &new, place).await?;
        let Some(first_item) = items.first().map(|item| item.id) else { return Ok(said) };
        let stage = info.workflow.next_collector_after(0, Over::Submission);
        let stage = stage.map_or_else(|| Name::from(END), |(_, stage)| stage.name.clone());
        let join = self.newest_join(id, stage).await?;
        let mut next = Next::new(self, &info);
        next.changes.items.clone_from(&items);
        next.changes.artifacts = raw_artifacts(&items, &new);
        // The first of them makes the join expect one more, the others the rest.
        let rest = items.len() as i64 - 1;
        if rest > 0 {
            next.changes.join_steps.push(JoinStep { join, change: JoinChange::Expect(rest) });
        }
        next.changes.again = Some(Again { submission: id, item: Some(first_item), join });
        for (item, file) in items.iter().zip(&new) {
            uploaded(&mut next, item.id, &item.public_id(), &file.name, &file.media_type);
            let at = At { stage: 0, item: Some(item.id), join: Some(join), priority: submission.priority };
            next.enter(at, Payload::Inline(item.data.clone())).await?;
        }
        match self.store().commit(vec![Commit::always(next.into_changes())]).await?.pop() {
            Some(CommitResult::Applied { .. }) => Ok(said),
            other => Err(EngineError::Invalid(format!("the files were not added to {id}: {other:?}"))),
        }
    }

    /// A submission of the same files, for the newest version of its workflow. It takes the place of the other one.
    pub async fn intake_again(&self, id: SubmissionId) -> EngineResult<Intake> {
        let not_found = || EngineError::NotFound(id.to_string());
        let submission = self.store().submission(id).await?.ok_or_else(not_found)?;
        let mut files = Vec::new();
        for item in self.received_files(id).await? {
            let name = item.label.clone().unwrap_or_else(|| item.public_id());
            let stored: Option<StoredFile> = serde_json::from_str(&item.data).ok();
            let (Some(content), Some(stored)) = (item.content, stored) else {
                let message = format!("{id} cannot be run again: the bytes of {name} are not here (any more)");
                return Err(EngineError::Invalid(message));
            };
            files.push(IntakeFile { name, content, size: stored.size, media_type: stored.media_type, key: item.key });
        }
        let mut metadata: Map<String, Value> = serde_json::from_str(&submission.metadata).unwrap_or_default();
        if let Some(Value::Object(own)) = metadata.get_mut(OWN_KEY) {
            own.shift_remove("anew");
        }
        state_rerun(&mut metadata, id);
        let intake = Intake::new(submission.workflow, files);
        Ok(Intake {
            owner: submission.owner,
            channel: submission.channel,
            priority: submission.priority,
            metadata,
            ..intake
        })
    }

    /// In the order in which they came.
    pub async fn received_files(&self, id: SubmissionId) -> EngineResult<Vec<Item>> {
        let filter = ItemFilter { kind: Some(ItemKind::File), ..ItemFilter::default() };
        let mut files = self.store().items(id, filter).await?;
        files.retain(|file| file.parent.is_none());
        files.sort_by_key(|file| (file.ordinal, file.id));
        Ok(files)
    }

    /// The join of a stage over the whole submission, of its newest generation.
    async fn newest_join(&self, id: SubmissionId, stage: Name) -> EngineResult<JoinId> {
        let missing = format!("{id} has no join at {stage}");
        let filter = JoinFilter { stage: Some(stage), scope: Some(JoinScope::Submission), ..JoinFilter::default() };
        let mut joins = self.store().joins(id, filter).await?;
        joins.retain(|join| join.on_close.processor != internal_processor::ADVANCE);
        let newest = joins.into_iter().max_by_key(|join| (join.generation, join.id));
        newest.map(|join| join.id).ok_or(EngineError::NotFound(missing))
    }
}
