//! Intake: files become a submission with its items, events, joins and first jobs, in one transaction.

use crate::{
    catalog::SubmissionInfo,
    chain::{At, Next},
    engine::Engine,
    error::{EngineError, EngineResult},
    workflow::{Over, Workflow},
};
use bindery_core::{
    ContentHash, ItemId, JoinId, Name, Payload, SubmissionId, Timestamp,
    artifact::Artifact,
    event::kind,
    fault::FaultPoint,
    item::{Item, ItemKind},
    join::NewJoin,
    submission::{Deadline, NewSubmission, SubmissionStatus, senders_id},
};
use bindery_store::{Commit, CommitResult, Guard, Rejection, SubmissionChange};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A file whose bytes are in the blob store.
#[derive(Debug, Clone)]
pub struct IntakeFile {
    /// For people; never a path.
    pub name: String,
    pub content: ContentHash,
    pub size: u64,
    pub media_type: String,
    /// The id that the sender knows it by.
    pub key: Option<String>,
}

/// What is taken in.
#[derive(Debug, Clone)]
pub struct Intake {
    /// The sender's own id: a second intake under it is the same submission.
    pub external_id: Option<String>,
    pub owner: Option<String>,
    pub channel: String,
    pub workflow: Name,
    /// None: the newest.
    pub version: Option<i64>,
    pub priority: i32,
    /// When it was received, if that was before now. The deadline counts from here.
    pub received_at: Option<Timestamp>,
    pub metadata: Map<String, Value>,
    pub files: Vec<IntakeFile>,
    /// False when somebody outside will say how many documents there are.
    pub files_are_all: bool,
}

impl Intake {
    /// An intake of these files for a workflow, with nothing else said.
    pub fn new(workflow: impl Into<Name>, files: Vec<IntakeFile>) -> Self {
        Self {
            external_id: None,
            owner: None,
            channel: "api".to_owned(),
            workflow: workflow.into(),
            version: None,
            priority: 0,
            received_at: None,
            metadata: Map::new(),
            files,
            files_are_all: true,
        }
    }
}

/// What became of an intake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    New(SubmissionId),
    /// Taken in before under the same external id; nothing was changed.
    Already(SubmissionId),
}

impl Received {
    pub const fn id(self) -> SubmissionId {
        match self {
            Self::New(id) | Self::Already(id) => id,
        }
    }
}

/// A submission that is planned but not stored: outside reports make theirs inside a larger commit.
#[derive(Debug)]
pub struct PlannedSubmission {
    pub info: Arc<SubmissionInfo>,
    pub commit: Commit,
    /// The join that its files end in.
    pub files_join: JoinId,
    pub items: Vec<Item>,
}

impl Engine {
    /// Takes a submission in. Durable when it returns; twice under one external id is once.
    pub async fn submit(&self, intake: Intake) -> EngineResult<Received> {
        if let Some(id) = intake.external_id.as_deref().filter(|id| id.parse::<SubmissionId>().is_ok()) {
            let message = format!("external id {id:?}: ids of that form are Bindery's own; choose another");
            return Err(EngineError::Invalid(message));
        }
        let workflow = self.catalog().workflow(&intake.workflow, intake.version).await?;
        self.check_processors(&workflow)?;
        let planned = self.plan_submission(intake, workflow).await?;
        let id = planned.info.id;
        // The files' bytes were put before; only this commit makes them somebody's.
        self.faults().hit(FaultPoint::AfterBlobBeforeCommit);
        match self.store().commit(vec![planned.commit]).await?.pop() {
            Some(CommitResult::Applied { .. }) => Ok(Received::New(id)),
            Some(CommitResult::Rejected(Rejection::AlreadyExists(existing))) => Ok(Received::Already(existing)),
            other => Err(EngineError::Invalid(format!("the submission was not stored: {other:?}"))),
        }
    }

    pub(crate) async fn plan_submission(
        &self,
        intake: Intake,
        workflow: Arc<Workflow>,
    ) -> EngineResult<PlannedSubmission> {
        let id = self.ids().submission().await?;
        let received_at = intake.received_at.unwrap_or_else(|| self.clock().now());
        let new = NewSubmission {
            id,
            external_id: intake.external_id.clone(),
            owner: intake.owner.clone(),
            channel: intake.channel.clone(),
            workflow: workflow.name.clone(),
            workflow_version: workflow.version,
            priority: intake.priority,
            received_at,
            deadline: deadline(&workflow, received_at),
            metadata: Value::Object(intake.metadata).to_string(),
        };
        let info = Arc::new(SubmissionInfo {
            id,
            subject: senders_id(intake.external_id.as_deref()).map(Name::from),
            owner: intake.owner,
            channel: intake.channel,
            workflow,
            received_at,
            metadata: new.metadata.clone(),
        });
        let items = self.file_items(&info, &intake.files, 0).await?;
        let mut next = Next::new(self, &info);
        next.changes.submissions.push(new);
        next.changes.items.clone_from(&items);
        next.changes.artifacts = raw_artifacts(&items, &intake.files);
        let routing = SubmissionChange { id, status: SubmissionStatus::Routing, error: None };
        next.changes.submission_changes.push(routing);
        announce(&mut next, &info, &items, &intake.files, intake.files_are_all);
        let files_join = self.begin(&mut next, &items, intake.files_are_all, intake.priority).await?;
        let commit = Commit { guard: Guard::NewSubmission, changes: next.into_changes() };
        Ok(PlannedSubmission { info, commit, files_join, items })
    }

    /// `first` is the place of the first of them in the submission.
    pub(crate) async fn file_items(
        &self,
        info: &SubmissionInfo,
        files: &[IntakeFile],
        first: i64,
    ) -> EngineResult<Vec<Item>> {
        let ids = self.ids().items(files.len()).await?;
        let items = ids.into_iter().zip(files).enumerate().map(|(ordinal, (id, file))| Item {
            id,
            submission: info.id,
            parent: None,
            kind: ItemKind::File,
            ordinal: first + ordinal as i64,
            key: file.key.clone(),
            label: Some(file.name.clone()),
            content: Some(file.content),
            data: json!({"name": file.name, "size": file.size, "media_type": file.media_type}).to_string(),
        });
        Ok(items.collect())
    }

    /// Makes the joins that the submission ends in, and its first jobs. Returns the join that each file's chain ends
    /// in.
    async fn begin(
        &self,
        next: &mut Next<'_>,
        items: &[Item],
        files_are_all: bool,
        priority: i32,
    ) -> EngineResult<JoinId> {
        let root = self.ids().joins(1).await?.remove(0);
        let files = items.len() as i64;
        let info = next.info();
        let first = &info.workflow.stages[0];
        if first.over == Over::Submission {
            let end = next.root_join(root, 1, true, priority);
            next.changes.joins.push(end);
            let at = At { stage: 0, item: None, join: Some(root), priority };
            next.enter(at, files_payload(items)).await?;
            return Ok(root);
        }
        if first.over != Over::File {
            let message = format!(
                "workflow {}: the first stage {} works on each {}, but nothing has made any yet",
                info.workflow.name, first.name, first.over
            );
            return Err(EngineError::Invalid(message));
        }
        let join = match info.workflow.next_collector_after(0, Over::Submission) {
            None => {
                let end = next.root_join(root, files, files_are_all, priority);
                next.changes.joins.push(end);
                root
            }
            Some((index, stage)) => {
                let end = next.root_join(root, 1, true, priority);
                next.changes.joins.push(end);
                let id = self.ids().joins(1).await?.remove(0);
                let on_close = next.job_behind_join(index, None, Some(root), priority)?;
                next.changes.joins.push(NewJoin {
                    id,
                    submission: info.id,
                    stage: stage.name.clone(),
                    scope: None,
                    expected: if files_are_all { files } else { 0 },
                    declared: files_are_all,
                    outer: Some(root),
                    on_close,
                });
                id
            }
        };
        for item in items {
            let at = At { stage: 0, item: Some(item.id), join: Some(join), priority };
            next.enter(at, Payload::Inline(item.data.clone())).await?;
        }
        Ok(join)
    }
}

fn deadline(workflow: &Workflow, received_at: Timestamp) -> Deadline {
    let Some(sla) = workflow.sla else { return Deadline::default() };
    let share = |percent: u8| received_at + sla.deadline.mul_f64(f64::from(percent) / 100.0);
    Deadline {
        at: Some(received_at + sla.deadline),
        warn_at: Some(share(sla.warn_threshold_pct)),
        escalate_at: Some(share(sla.escalation_threshold_pct)),
        breached_at: None,
    }
}

/// What a stage over the whole submission is given.
fn files_payload(items: &[Item]) -> Payload {
    let files: Vec<Value> = items.iter().map(|item| json!({"item": item.id, "name": item.label})).collect();
    Payload::Inline(json!({"files": files}).to_string())
}

pub(crate) fn raw_artifacts(items: &[Item], files: &[IntakeFile]) -> Vec<Artifact> {
    let artifacts = items.iter().zip(files).map(|(item, file)| Artifact {
        submission: item.submission,
        item: Some(item.id),
        key: format!("raw/{}", item.id),
        hash: file.content,
        size: file.size,
        media_type: file.media_type.clone(),
    });
    artifacts.collect()
}

/// `SubmissionCreated`, then one `DocumentUploadedEvent` per file. Where somebody outside says how many documents there are,
/// that is their `SubmissionCreated`, and the only one.
fn announce(next: &mut Next<'_>, info: &SubmissionInfo, items: &[Item], files: &[IntakeFile], all: bool) {
    if all {
        let urls: Vec<String> = items.iter().map(Item::public_id).collect();
        let created = json!({
            "userId": info.owner, "channel": info.channel, "workflow": info.workflow.name,
            "workflowVersion": info.workflow.version, "documentUrls": urls, "totalDocuments": items.len(),
        });
        next.event(kind::SUBMISSION_CREATED, None, &created);
    }
    for (item, file) in items.iter().zip(files) {
        uploaded(next, item.id, &item.public_id(), &file.name, &file.media_type);
    }
}

/// Says that there is a document to read.
pub(crate) fn uploaded(next: &mut Next<'_>, item: ItemId, document_id: &str, name: &str, media_type: &str) {
    let data = json!({"documentId": document_id, "documentUrl": format!("raw/{item}"), "fileName": name, "mimeType": media_type});
    next.event(kind::DOCUMENT_UPLOADED, Some(item), &data);
}
