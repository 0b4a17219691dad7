//! JSON Schemas of Rust types: what a program is promised is written down once, as the type that the runtime uses.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A type that knows the JSON Schema of its values.
pub(crate) trait Described {
    /// Whether a field of this type may be missing.
    const OPTIONAL: bool = false;

    fn schema() -> Value;
}

/// A field of an object: its name, what it means, its schema, and whether it may be missing.
pub(crate) type FieldShape = (&'static str, &'static str, Value, bool);

/// The schema of an object; a closed one takes no other keys.
pub(crate) fn object(fields: Vec<FieldShape>, closed: bool) -> Value {
    let required: Vec<&str> = fields.iter().filter(|(.., optional)| !optional).map(|(name, ..)| *name).collect();
    let properties: Map<String, Value> = fields
        .into_iter()
        .map(|(name, meaning, schema, _)| (name.to_owned(), add_description(schema, meaning)))
        .collect();
    let mut shape = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        shape["required"] = json!(required);
    }
    if closed {
        shape["additionalProperties"] = json!(false);
    }
    shape
}

fn add_description(schema: Value, meaning: &str) -> Value {
    let mut explained = Map::from_iter([("description".to_owned(), meaning.trim().into())]);
    if let Value::Object(schema) = schema {
        explained.extend(schema);
    }
    explained.into()
}

/// The same schema for a value that may be null.
fn allow_null(mut schema: Value) -> Value {
    let listed = match schema.get("type").cloned() {
        Some(Value::String(one)) if one != "null" => json!([one, "null"]),
        Some(Value::Array(mut several)) => {
            if !several.iter().any(|one| one == "null") {
                several.push("null".into());
            }
            several.into()
        }
        _ => return schema,
    };
    schema["type"] = listed;
    if let Some(choices) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        choices.push(Value::Null);
    }
    schema
}

impl Described for String {
    fn schema() -> Value {
        json!({"type": "string"})
    }
}

impl Described for u64 {
    fn schema() -> Value {
        json!({"type": "integer", "minimum": 0})
    }
}

impl Described for i64 {
    fn schema() -> Value {
        json!({"type": "integer"})
    }
}

impl Described for f64 {
    fn schema() -> Value {
        json!({"type": "number"})
    }
}

/// Anything.
impl Described for Value {
    fn schema() -> Value {
        json!({})
    }
}

impl Described for Map<String, Value> {
    fn schema() -> Value {
        json!({"type": "object"})
    }
}

impl<T: Described> Described for Option<T> {
    const OPTIONAL: bool = true;

    fn schema() -> Value {
        allow_null(T::schema())
    }
}

impl<T: Described> Described for Vec<T> {
    fn schema() -> Value {
        json!({"type": "array", "items": T::schema()})
    }
}

impl<T: Described> Described for BTreeMap<String, T> {
    fn schema() -> Value {
        json!({"type": "object", "additionalProperties": T::schema()})
    }
}

/// Declares a struct together with its schema: the comments of its fields are what the schema says of them. `closed` ones
/// take no other keys.
macro_rules! described {
    (@closed open) => { false };
    (@closed closed) => { true };
    ($(#[$meta:meta])* $openness:ident struct $name:ident {
        $( $(#[doc = $doc:literal])+ $field:ident : $type:ty, )*
    }) => {
        $(#[$meta])*
        pub(crate) struct $name { $( $(#[doc = $doc])+ pub(crate) $field: $type, )* }

        impl $crate::contract::shape::Described for $name {
            fn schema() -> serde_json::Value {
                use $crate::contract::shape::{Described, object};
                object(
                    vec![$((
                        stringify!($field),
                        concat!($($doc),+),
                        <$type as Described>::schema(),
                        <$type as Described>::OPTIONAL,
                    )),*],
                    described!(@closed $openness),
                )
            }
        }
    };
}
pub(crate) use described;

#[cfg(test)]
mod tests {
    use super::*;

    described! {
        /// A parcel.
        #[derive(Debug, serde::Serialize)]
        closed struct Parcel {
            /// How heavy it is,
            /// in grams.
            weight: u64,
            /// Who gets it.
            to: Option<String>,
        }
    }

    #[test]
    fn a_type_s_schema_has_its_fields_and_their_comments() {
        let expected = json!({
            "type": "object",
            "properties": {
                "weight": {"description": "How heavy it is, in grams.", "type": "integer", "minimum": 0},
                "to": {"description": "Who gets it.", "type": ["string", "null"]},
            },
            "required": ["weight"],
            "additionalProperties": false,
        });
        assert_eq!(Parcel::schema(), expected);
        let parcel = Parcel { weight: 1, to: None };
        let validator = jsonschema::validator_for(&Parcel::schema()).unwrap();
        assert!(validator.is_valid(&json!(parcel)) && !validator.is_valid(&json!({"weight": -1})));
    }
}
