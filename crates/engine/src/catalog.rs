//! What does not change about a submission, kept at hand: its pinned workflow, its owner, the id it is known by.

use crate::{
    error::{EngineError, EngineResult},
    workflow::Workflow,
};
use bindery_core::{
    Name, SubmissionId, Timestamp,
    submission::{Submission, senders_id},
};
use bindery_store::Store;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// How many submissions are remembered; forgetting is harmless.
const REMEMBERED: usize = 10_000;

/// The unchanging part of a submission.
#[derive(Debug)]
pub struct SubmissionInfo {
    pub id: SubmissionId,
    /// The sender's own id, where there is one.
    pub subject: Option<Name>,
    pub owner: Option<String>,
    pub channel: String,
    pub workflow: Arc<Workflow>,
    pub received_at: Timestamp,
    /// A JSON object.
    pub metadata: String,
}

impl SubmissionInfo {
    /// The id to show outside.
    pub fn public_id(&self) -> String {
        self.subject.as_ref().map_or_else(|| self.id.to_string(), ToString::to_string)
    }
}

#[derive(Debug)]
pub struct Catalog {
    store: Arc<dyn Store>,
    workflows: Mutex<HashMap<(Name, i64), Arc<Workflow>>>,
    submissions: Mutex<HashMap<SubmissionId, Arc<SubmissionInfo>>>,
}

impl Catalog {
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, workflows: Mutex::default(), submissions: Mutex::default() }
    }

    /// A workflow by name: the given version, or the newest.
    pub async fn workflow(&self, name: &Name, version: Option<i64>) -> EngineResult<Arc<Workflow>> {
        if let Some(version) = version
            && let Some(known) = lock(&self.workflows).get(&(name.clone(), version))
        {
            return Ok(Arc::clone(known));
        }
        let Some(stored) = self.store.workflow(name, version).await? else {
            let known = self.store.workflows().await?.into_iter().map(|known| known.name.to_string()).collect();
            return Err(EngineError::UnknownWorkflow { name: name.to_string(), known });
        };
        let parsed = Arc::new(Workflow::parse(&stored.text, Some(&format!("{name} version {}", stored.version)))?);
        lock(&self.workflows).insert((stored.name, stored.version), Arc::clone(&parsed));
        Ok(parsed)
    }

    /// What was looked up before, without waiting.
    pub fn find_cached(&self, id: SubmissionId) -> Option<Arc<SubmissionInfo>> {
        lock(&self.submissions).get(&id).cloned()
    }

    pub async fn submission(&self, id: SubmissionId) -> EngineResult<Arc<SubmissionInfo>> {
        if let Some(known) = self.find_cached(id) {
            return Ok(known);
        }
        let stored = self.store.submission(id).await?.ok_or_else(|| EngineError::NotFound(id.to_string()))?;
        self.remember(stored).await
    }

    pub async fn remember(&self, stored: Submission) -> EngineResult<Arc<SubmissionInfo>> {
        let workflow = self.workflow(&stored.workflow, Some(stored.workflow_version)).await?;
        let info = Arc::new(SubmissionInfo {
            id: stored.id,
            subject: senders_id(stored.external_id.as_deref()).map(Name::from),
            owner: stored.owner,
            channel: stored.channel,
            workflow,
            received_at: stored.received_at,
            metadata: stored.metadata,
        });
        let mut submissions = lock(&self.submissions);
        if submissions.len() >= REMEMBERED {
            submissions.clear();
        }
        submissions.insert(stored.id, Arc::clone(&info));
        Ok(info)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
