//! The keys that other programs look for, and writing under them.

use super::{
    places::{Places, refusal, wait},
    setting,
};
use bindery_core::{ContentHash, StepError};
use bindery_engine::{context::StepContext, processor::NewArtifact};
use bindery_reader::split::page_name;
use bindery_store::blobs::{KeyLayout, OutwardKey, Shelf, Stored};
use serde_json::{Map, Value};

/// Under which keys a stage keeps what it makes, and where else it writes it.
///
/// `settings.keys` gives kinds of artifacts other prefixes; `settings.publish` is the bucket or folder that the bytes are
/// also written to.
#[derive(Debug)]
pub(super) struct Outward {
    layout: KeyLayout,
    shelf: Option<Shelf>,
}

/// Bytes to be kept.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bytes<'a> {
    New(&'a [u8]),
    /// Stored already.
    Known(ContentHash, u64),
}

impl Outward {
    pub(super) fn from_context(context: &StepContext, places: &Places) -> Result<Self, StepError> {
        let layout = layout_of(setting(context, "keys"))?;
        let shelf = match setting(context, "publish") {
            None | Some(Value::Null) => None,
            Some(Value::String(url)) => Some(places.open(url).map_err(refusal)?),
            Some(found) => {
                let message = format!("settings.publish: expected a place such as s3://bucket/prefix, found {found}");
                return Err(StepError::reject(message).named("BadSettings"));
            }
        };
        Ok(Self { layout, shelf })
    }

    /// The key of one artifact.
    pub(super) fn key(&self, kind: &str, name: &str) -> Result<OutwardKey, StepError> {
        self.layout.key(kind, name).map_err(|error| refusal(error.into()))
    }

    /// The key of one page, counted from 1.
    pub(super) fn page(&self, kind: &str, document: &str, page: usize, ending: &str) -> Result<OutwardKey, StepError> {
        self.key(kind, &format!("{document}/{}.{ending}", page_name(page)))
    }

    /// Keeps bytes under a key: in the store and, where that is wanted, outside.
    pub(super) fn keep(
        &self,
        context: &StepContext,
        key: &OutwardKey,
        bytes: Bytes<'_>,
        media_type: &str,
    ) -> Result<NewArtifact, StepError> {
        let (hash, size) = match bytes {
            Bytes::Known(hash, size) => (hash, size),
            Bytes::New(bytes) => {
                let Stored { hash, size, .. } = context.put_blob(bytes.to_vec())?;
                (hash, size)
            }
        };
        if let Some(shelf) = self.shelf.clone() {
            let outside = match bytes {
                Bytes::New(bytes) => bytes.to_vec(),
                Bytes::Known(hash, _) => context.blob(hash)?,
            };
            let key = key.clone();
            wait(async move { shelf.put(&key, outside).await })?.map_err(refusal)?;
        }
        Ok(NewArtifact { key: key.to_string(), hash, size, media_type: media_type.to_owned() })
    }
}

/// The seed's prefixes, with those that somebody has changed.
pub(super) fn layout_of(keys: Option<&Value>) -> Result<KeyLayout, StepError> {
    let bad = |message: String| StepError::reject(message).named("BadSettings");
    let known = KeyLayout::default();
    let none = Map::new();
    let changed = match keys {
        None | Some(Value::Null) => &none,
        Some(Value::Object(changed)) => changed,
        Some(found) => return Err(bad(format!("settings.keys: expected kinds with their prefixes, found {found}"))),
    };
    let mut layout = known.clone();
    for (kind, prefix) in changed {
        if !known.iter().any(|(name, _)| name == kind) {
            let names: Vec<&str> = known.iter().map(|(name, _)| name).collect();
            return Err(bad(format!("settings.keys.{kind}: there is no such kind; there are {}", names.join(", "))));
        }
        let prefix = prefix
            .as_str()
            .ok_or_else(|| bad(format!("settings.keys.{kind}: expected a prefix such as raw/, found {prefix}")))?;
        layout = layout.with(kind, prefix).map_err(|error| bad(format!("settings.keys.{kind}: {error}")))?;
    }
    Ok(layout)
}
