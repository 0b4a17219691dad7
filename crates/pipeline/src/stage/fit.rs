//! From a value of JSON to a type, with the path of the field that does not fit.

use serde::{
    Deserializer, Serialize,
    de::{DeserializeOwned, DeserializeSeed, MapAccess, SeqAccess, Visitor, value::StrDeserializer},
    forward_to_deserialize_any,
};
use serde_json::{Error, Map, Value};
use std::{borrow::Cow, cell::RefCell, fmt};

/// Which field does not fit, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misfit {
    path: String,
    why: String,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.why),
            path => write!(f, "{path}: {}", self.why),
        }
    }
}

/// The value as a type.
pub(crate) fn fit<T: DeserializeOwned>(value: &Value) -> Result<T, Misfit> {
    T::deserialize(value).map_err(|error| {
        // Only where it does not fit is it gone through once more, to find out where.
        let path = RefCell::default();
        let located = T::deserialize(Located { value, path: &path }).err();
        Misfit { path: path.into_inner(), why: located.unwrap_or(error).to_string() }
    })
}

/// The fields of one of our own types, which are objects all of them.
pub(crate) fn fields_of(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// What can be read of a message from outside. A field of another type than ours says nothing to us, and is no reason to
/// refuse the rest.
pub(crate) fn lenient<T: DeserializeOwned + Default>(message: &Value) -> T {
    let mut left = Cow::Borrowed(message);
    loop {
        let misfit: Misfit = match fit(&left) {
            Ok(read) => return read,
            Err(misfit) => misfit,
        };
        let field = misfit.path.split(['.', '[']).next().unwrap_or_default();
        if left.to_mut().as_object_mut().and_then(|fields| fields.shift_remove(field)).is_none() {
            return T::default();
        }
    }
}

/// A value that notes, while an error passes outwards, through which fields it passes.
struct Located<'de, 'p> {
    value: &'de Value,
    path: &'p RefCell<String>,
}

fn passed(path: &RefCell<String>, step: &str, error: Error) -> Error {
    let mut path = path.borrow_mut();
    let point = if path.is_empty() || path.starts_with('[') { "" } else { "." };
    *path = format!("{step}{point}{path}");
    error
}

impl<'de> Deserializer<'de> for Located<'de, '_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Object(fields) => visitor.visit_map(Fields { left: fields.iter(), current: None, path: self.path }),
            Value::Array(elements) => {
                visitor.visit_seq(Elements { left: elements.iter().enumerate(), path: self.path })
            }
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.value.deserialize_enum(name, variants, visitor)
    }

    /// Keys may be numbers, which the value itself knows to read.
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.value.deserialize_map(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct struct identifier ignored_any
    }
}

struct Fields<'de, 'p> {
    left: serde_json::map::Iter<'de>,
    current: Option<(&'de str, &'de Value)>,
    path: &'p RefCell<String>,
}

impl<'de> MapAccess<'de> for Fields<'de, '_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        self.current = self.left.next().map(|(name, value)| (name.as_str(), value));
        let Some((name, _)) = self.current else { return Ok(None) };
        seed.deserialize(StrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (name, value) = self.current.take().unwrap_or(("", &Value::Null));
        seed.deserialize(Located { value, path: self.path }).map_err(|error| passed(self.path, name, error))
    }
}

struct Elements<'de, 'p> {
    left: std::iter::Enumerate<std::slice::Iter<'de, Value>>,
    path: &'p RefCell<String>,
}

impl<'de> SeqAccess<'de> for Elements<'de, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some((place, value)) = self.left.next() else { return Ok(None) };
        let element = seed.deserialize(Located { value, path: self.path });
        element.map(Some).map_err(|error| passed(self.path, &format!("[{place}]"), error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Page {
        index: Option<u64>,
        text: Option<String>,
        places: Vec<u32>,
    }

    #[test]
    fn what_is_of_another_type_outside_says_nothing() {
        let read: Page = lenient(&json!({"index": "one", "text": "Dear reader", "places": [1, "two"], "more": {}}));
        assert_eq!(read, Page { text: Some("Dear reader".to_owned()), ..Page::default() });
        assert_eq!(lenient::<Page>(&json!("nothing of the kind")), Page::default());
    }
}
