//! What a processor's step knows and may ask for.

use crate::{
    catalog::SubmissionInfo,
    engine::Engine,
    error::EngineError,
    workflow::{Stage, Workflow},
};
use bindery_core::{
    ContentHash, ItemId, Name, Payload, StepError,
    item::{Item, ItemKind},
    outcome::Outcome,
};
use bindery_store::{
    blobs::{BlobsExt, Stored},
    query::ItemFilter,
};
use serde_json::{Map, Value};
use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Set when a step should stop: its lease is lost, its time is over, or it was cancelled.
#[derive(Debug, Clone, Default)]
pub struct CancelFlag(Arc<AtomicBool>);

impl CancelFlag {
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// One piece of work, as its processor sees it. Reads wait for the store; call them from a step only.
#[derive(Debug)]
pub struct StepContext {
    pub(crate) engine: Engine,
    pub(crate) runtime: tokio::runtime::Handle,
    pub(crate) submission: Arc<SubmissionInfo>,
    pub(crate) stage: usize,
    pub(crate) item: Option<ItemId>,
    pub(crate) attempt: u32,
    pub(crate) cancel: CancelFlag,
}

impl StepContext {
    pub fn submission(&self) -> &SubmissionInfo {
        &self.submission
    }

    pub fn workflow(&self) -> &Workflow {
        &self.submission.workflow
    }

    pub fn stage(&self) -> &Stage {
        &self.submission.workflow.stages[self.stage]
    }

    /// The stage's `settings:`.
    pub fn settings(&self) -> &Map<String, Value> {
        &self.stage().settings
    }

    /// 1 for the first try.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Long steps should look now and then, and return early.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// The id of the item that is worked on; none for the submission as a whole.
    pub fn item_id(&self) -> Option<ItemId> {
        self.item
    }

    fn wait<T, E: Into<EngineError>>(&self, asked: impl Future<Output = Result<T, E>>) -> Result<T, StepError> {
        self.runtime.block_on(asked).map_err(|error| StepError::from(error.into()))
    }

    /// The item that is worked on.
    pub fn item(&self) -> Result<Item, StepError> {
        let id = self.item.ok_or_else(|| StepError::bug("this stage works on the submission, which is no item"))?;
        self.wait(self.engine.store().item(self.submission.id, id))?
            .ok_or_else(|| StepError::bug(format!("{id} is not in the store")))
    }

    /// The submission's items of a kind, or the parts of one item.
    pub fn items(&self, kind: Option<ItemKind>, parent: Option<ItemId>) -> Result<Vec<Item>, StepError> {
        self.wait(self.engine.store().items(self.submission.id, ItemFilter { kind, parent }))
    }

    /// The current results of a stage, in the order of its items.
    pub fn outcomes(&self, stage: &str) -> Result<Vec<Outcome>, StepError> {
        let stage = Name::from(stage);
        self.wait(self.engine.store().outcomes(self.submission.id, Some(&stage)))
    }

    /// A payload's value, wherever it is kept.
    pub fn read(&self, payload: &Payload) -> Result<Value, StepError> {
        self.wait(self.engine.read_payload(payload))
    }

    pub fn blob(&self, hash: ContentHash) -> Result<Vec<u8>, StepError> {
        self.wait(self.engine.blobs().get(hash))
    }

    /// Durable once this returns, though nothing points to it yet.
    pub fn put_blob(&self, bytes: Vec<u8>) -> Result<Stored, StepError> {
        self.wait(self.engine.blobs().put(bytes))
    }

    pub fn put_json(&self, value: &Value) -> Result<Stored, StepError> {
        self.wait(self.engine.blobs().put_json(value))
    }

    /// A value as a payload: inside the row when it is small, in the blob store when it is not.
    pub fn payload(&self, value: &Value) -> Result<Payload, StepError> {
        let inline = Payload::Inline(value.to_string());
        if inline.is_large() { Ok(Payload::Blob(self.put_json(value)?.hash)) } else { Ok(inline) }
    }
}
