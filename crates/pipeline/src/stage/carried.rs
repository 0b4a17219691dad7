//! Messages that are sent on with more in them.

use super::{Misfit, fields_of, fit};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned, de::Error as _};
use serde_json::{Map, Value};

/// The part of a message that a stage works on, with all the rest of it, which goes on as it came.
#[derive(Debug, Clone)]
pub(crate) struct Carried<T> {
    pub(crate) part: T,
    message: Map<String, Value>,
}

impl<T: DeserializeOwned> Carried<T> {
    pub(crate) fn read(message: Value) -> Result<Self, Misfit> {
        let part = fit(&message)?;
        let message = if let Value::Object(message) = message { message } else { Map::new() };
        Ok(Self { part, message })
    }
}

impl<T> Carried<T> {
    /// The message with another part, which is written over what it has under these names.
    pub(crate) fn with<U: Serialize>(mut self, part: U) -> Carried<U> {
        self.message.extend(fields_of(&part));
        Carried { part, message: self.message }
    }

    /// Without what need not go on.
    pub(crate) fn remove(mut self, name: &str) -> Self {
        self.message.shift_remove(name);
        self
    }

    pub(crate) fn into_message(self) -> Map<String, Value> {
        self.message
    }
}

impl<T> Serialize for Carried<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.message.serialize(serializer)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Carried<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(Value::Object(Map::deserialize(deserializer)?)).map_err(D::Error::custom)
    }
}
