//! What a program may answer: one object, whose schema depends on what its stage works on.

use super::shape::{Described, described};
use serde::Deserialize;
use serde_json::{Map, Value, json};

described! {
    /// Beside an `output`.
    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    open struct Said {
        /// The id of the item that the answer is about; another one than that of the request is refused.
        item: Option<String>,
        /// How sure the output is, from 0 to 1; compared with the stage's `confidence_threshold`.
        confidence: Option<Share>,
        /// Why a person should look, one sentence each. The stage needs a `backoffice_queue`.
        review: Option<Vec<String>>,
        /// Files to keep. A `command` writes them into `work.folder`, where each file is kept whether or not it is
        /// listed here; an endpoint sends their bytes.
        files: Option<Vec<FileReturned>>,
        /// The parts that the next stage works on.
        children: Option<Vec<ChildReturned>>,
    }
}

/// A number from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Share(pub(crate) f64);

impl Described for Share {
    fn schema() -> Value {
        json!({"type": "number", "minimum": 0, "maximum": 1})
    }
}

described! {
    /// A file that is to be kept.
    #[derive(Debug, Clone, Deserialize)]
    closed struct FileReturned {
        /// Where it is in `work.folder`, such as charts/a.png; also its name in the result.
        path: String,
        /// Such as image/png; without it the name tells.
        media_type: Option<String>,
        /// From an endpoint: the bytes.
        content_base64: Option<String>,
    }
}

described! {
    /// A part of an item.
    #[derive(Debug, Clone, Deserialize)]
    closed struct ChildReturned {
        /// What people call it.
        label: Option<String>,
        /// An id that programs outside know it by; unique in its submission.
        key: Option<String>,
        /// The `path` of one of the answer's files: the child's bytes.
        file: Option<String>,
        /// The input of its first stage, kept with it as `item.data`.
        data: Option<Map<String, Value>>,
    }
}

described! {
    /// Money spent.
    #[derive(Debug)]
    #[allow(dead_code, reason = "read as the engine's own type of the same fields")]
    open struct CostReturned {
        /// Who is paid.
        service: String,
        /// For what.
        operation: String,
        /// In millionths of the currency unit.
        micros: u64,
    }
}

described! {
    /// Instead of an output.
    #[derive(Debug)]
    #[allow(dead_code, reason = "read field by field, with a sentence for each mistake")]
    open struct ErrorReturned {
        /// A name that reports group by.
        kind: Option<String>,
        /// One sentence.
        message: Option<String>,
        /// retry (the default), reject, review or park.
        class: Option<String>,
        /// With `retry`: not before so many seconds.
        retry_after_seconds: Option<f64>,
        /// With `park`: what to wait for.
        until: Option<String>,
    }
}

/// What a program says of a document: fields, and whatever else.
pub(super) fn document_output() -> Value {
    json!({
        "description": "What was found. `fields` become fields of the document; the rest is kept under the stage's name.",
        "properties": {"fields": {"type": "object", "additionalProperties": FieldStated::schema()}},
    })
}

/// A field as a program states it: a value, or `{"value": …, "confidence": …}`.
struct FieldStated;

impl Described for FieldStated {
    fn schema() -> Value {
        let values = json!({"type": ["string", "number", "boolean", "null"]});
        json!({
            "description": "A value, or a value with how sure it is. Null says nothing.",
            "type": ["string", "number", "boolean", "null", "object"],
            "properties": {"value": values, "confidence": Option::<Share>::schema()},
            "required": ["value"],
            "additionalProperties": false,
        })
    }
}
