//! An input as an item: its data in the row when it is small, in the blob store when it is not.

use super::plan::Entry;
use crate::{
    engine::Engine,
    error::{EngineError, EngineResult},
    execution::ProcessorInput,
};
use bindery_core::{
    ContentHash, ItemId, Payload, SubmissionId,
    item::{Item, ItemKind},
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// What an item says about its input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredInput {
    #[serde(default, deserialize_with = "even_null", skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<Value>,
    /// Of the JSON text, which is also what tells whether an input has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) blob: Option<ContentHash>,
    /// What the caller gave as a resume point; one that the store knows anyway is not repeated.
    #[serde(default, deserialize_with = "even_null", skip_serializing_if = "Option::is_none")]
    payload: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    payload_blob: Option<ContentHash>,
    /// Why it cannot be run, whoever tries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unreadable: Option<String>,
    /// How often the caller gave the input's id.
    #[serde(default = "one_time", skip_serializing_if = "is_once")]
    pub(super) times: usize,
}

const fn one_time() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
const fn is_once(times: &usize) -> bool {
    *times == 1
}

/// `null` is data like any other; only a field that is not there is missing.
fn even_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl StoredInput {
    pub(super) fn from_item(item: &Item) -> EngineResult<Self> {
        serde_json::from_str(&item.data)
            .map_err(|error| EngineError::Invalid(format!("the stored input {}: {error}", item.public_id())))
    }

    pub(super) async fn read_data(&self, engine: &Engine) -> EngineResult<Value> {
        Ok(read(engine, self.data.as_ref(), self.blob).await?.unwrap_or_default())
    }

    pub(super) async fn read_payload(&self, engine: &Engine) -> EngineResult<Option<Value>> {
        read(engine, self.payload.as_ref(), self.payload_blob).await
    }

    pub(super) const fn has_payload(&self) -> bool {
        self.payload.is_some() || self.payload_blob.is_some()
    }
}

async fn read(engine: &Engine, inline: Option<&Value>, blob: Option<ContentHash>) -> EngineResult<Option<Value>> {
    match (inline, blob) {
        (Some(value), _) => Ok(Some(value.clone())),
        (None, Some(hash)) => Ok(Some(engine.read_payload(&Payload::Blob(hash)).await?)),
        (None, None) => Ok(None),
    }
}

/// Small values stay; large ones are durable in the blob store when this returns.
async fn put(engine: &Engine, value: &Value) -> EngineResult<(Option<Value>, Option<ContentHash>)> {
    match engine.store_payload(value).await? {
        Payload::Inline(_) => Ok((Some(value.clone()), None)),
        Payload::Blob(hash) => Ok((None, Some(hash))),
    }
}

/// The item of an input in its place.
pub(super) async fn item_of(
    engine: &Engine,
    submission: SubmissionId,
    id: ItemId,
    ordinal: usize,
    entry: &Entry,
) -> EngineResult<Item> {
    let ProcessorInput { input_id, data, payload, unreadable, .. } = &entry.input;
    let (data, blob) = put(engine, data).await?;
    let (payload, payload_blob) = match payload.as_ref().filter(|_| !entry.resumes) {
        Some(payload) => put(engine, payload).await?,
        None => (None, None),
    };
    let unreadable = unreadable.clone();
    let stored = StoredInput { data, blob, payload, payload_blob, unreadable, times: entry.times };
    Ok(Item {
        id,
        submission,
        parent: None,
        kind: ItemKind::File,
        ordinal: ordinal as i64,
        key: Some(input_id.clone()),
        label: None,
        content: blob,
        data: serde_json::to_string(&stored)
            .map_err(|error| EngineError::Invalid(format!("input {input_id}: {error}")))?,
    })
}
