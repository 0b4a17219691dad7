//! JSON that travels with a row: small ones inside it, large ones as an artifact that the row points to.

use crate::ContentHash;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Payloads longer than this live in the blob store, so that queue rows stay small.
pub const INLINE_LIMIT: usize = 8 * 1024;

/// A JSON value, serialised once and carried as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Payload {
    /// The JSON text itself.
    Inline(String),
    /// The hash of a blob that holds the JSON text.
    Blob(ContentHash),
}

impl Payload {
    /// JSON `null`: nothing to say.
    pub fn null() -> Self {
        Self::Inline("null".to_owned())
    }

    /// Serialises a value. It is the caller's business to move a [large](Self::is_large) one to the blob store.
    pub fn json(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(Self::Inline)
    }

    pub fn is_large(&self) -> bool {
        matches!(self, Self::Inline(text) if Self::is_too_long(text))
    }

    /// Whether a text would be a [large](Self::is_large) payload.
    pub const fn is_too_long(text: &str) -> bool {
        text.len() > INLINE_LIMIT
    }

    /// Reads an inline payload; `None` for one that has to be fetched from the blob store first.
    pub fn read<T: DeserializeOwned>(&self) -> Option<Result<T, serde_json::Error>> {
        match self {
            Self::Inline(text) => Some(serde_json::from_str(text)),
            Self::Blob(_) => None,
        }
    }
}

impl Default for Payload {
    fn default() -> Self {
        Self::null()
    }
}
