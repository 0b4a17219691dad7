//! The result of a submission, read as a stream: it may be longer than what fits into memory.

use crate::{
    app::App,
    error::{AppError, AppResult},
};
use bindery_core::{Payload, SubmissionId};
use bindery_engine::view;
use bindery_files::ScratchFolder;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::{
    fmt,
    fs::File,
    io::{self, BufReader, Read, Write},
};

/// The longest key of a result: where every word stands. No table shows it.
const INDEX: &str = "index";

/// The name of a copied blob in its folder.
const COPY: &str = "result";

/// A result that is there to be read, any number of times.
#[derive(Debug)]
pub enum StoredResult {
    Text(String),
    /// The folder of a verified copy of its blob.
    Copy(ScratchFolder),
}

impl StoredResult {
    /// None while there is no result.
    pub async fn find(app: &App, id: SubmissionId) -> AppResult<Option<Self>> {
        Ok(match view::result_payload(&app.engine, id).await? {
            None => None,
            Some(Payload::Inline(text)) => Some(Self::Text(text)),
            Some(Payload::Blob(hash)) => {
                let copy = ScratchFolder::new()?;
                app.engine.blobs().fetch_to(hash, &copy.join(COPY)).await?;
                Some(Self::Copy(copy))
            }
        })
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(match self {
            Self::Text(text) => Box::new(text.as_bytes()),
            Self::Copy(copy) => Box::new(BufReader::new(File::open(copy.join(COPY))?)),
        })
    }

    /// As it is stored.
    pub fn copy_to(&self, into: &mut impl Write) -> io::Result<()> {
        io::copy(&mut self.open()?, into).map(drop)
    }

    /// The result without its index.
    pub fn without_index(&self) -> AppResult<Value> {
        Ok(WithoutIndex.deserialize(&mut serde_json::Deserializer::from_reader(self.open()?))?)
    }

    /// Hands over the entries of a list of the result one by one; false where it has no such list.
    pub fn each_of<E, F>(&self, list: &str, mut visit: F) -> Result<bool, E>
    where
        E: From<AppError>,
        F: FnMut(Value) -> Result<(), E>,
    {
        let mut failure = None;
        let seed = EachOf { list, visit: |value| visit(value).map_err(|error| failure = Some(error)).is_ok() };
        let reader = self.open().map_err(AppError::from)?;
        let found = seed.deserialize(&mut serde_json::Deserializer::from_reader(reader));
        // What the visitor says comes before what the reader makes of it.
        match failure {
            Some(error) => Err(error),
            None => Ok(found.map_err(AppError::from)?),
        }
    }
}

struct WithoutIndex;

impl<'de> DeserializeSeed<'de> for WithoutIndex {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for WithoutIndex {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a result")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut kept = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if key == INDEX {
                map.next_value::<IgnoredAny>()?;
            } else {
                kept.insert(key, map.next_value()?);
            }
        }
        Ok(Value::Object(kept))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(value) = list.next_element()? {
            all.push(value);
        }
        Ok(Value::Array(all))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(truth.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

/// Reads one list of an object, entry by entry.
struct EachOf<'a, F> {
    list: &'a str,
    /// False ends the reading.
    visit: F,
}

impl<'de, F: FnMut(Value) -> bool> DeserializeSeed<'de> for EachOf<'_, F> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: FnMut(Value) -> bool> Visitor<'de> for EachOf<'_, F> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<bool, A::Error> {
        let mut found = false;
        while let Some(key) = map.next_key::<String>()? {
            if key == self.list {
                found |= map.next_value_seed(Entries(&mut self.visit))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

struct Entries<'a, F>(&'a mut F);

impl<'de, F: FnMut(Value) -> bool> DeserializeSeed<'de> for Entries<'_, F> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, F: FnMut(Value) -> bool> Visitor<'de> for Entries<'_, F> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<bool, A::Error> {
        while let Some(entry) = list.next_element()? {
            if !(self.0)(entry) {
                return Err(serde::de::Error::custom("stopped"));
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_result_is_read_without_its_index_and_list_by_list() {
        let whole = json!({"index": {"a": [[1, 2]]}, "totals": {"n": 1.5}, "files": [{"name": "a"}, {"name": "b"}]});
        let result = StoredResult::Text(whole.to_string());
        assert_eq!(result.without_index().unwrap(), json!({"totals": {"n": 1.5}, "files": whole["files"]}));
        let mut names = Vec::new();
        let visit = |file: Value| {
            names.push(file["name"].clone());
            Ok::<_, AppError>(())
        };
        assert!(result.each_of("files", visit).unwrap());
        assert_eq!(names, [json!("a"), json!("b")]);
        assert!(!result.each_of("documents", |_| Ok::<_, AppError>(())).unwrap());
        let error = result.each_of("files", |_| Err(AppError::StoreAway("the disk is full".to_owned()))).unwrap_err();
        assert_eq!(error.to_string(), "the disk is full");
        let mut written = Vec::new();
        result.copy_to(&mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), whole.to_string());
        for other in [json!([1, "x"]), json!(7), json!("text"), json!(null), json!(true), json!(-1)] {
            assert_eq!(StoredResult::Text(other.to_string()).without_index().unwrap(), other);
        }
    }
}
