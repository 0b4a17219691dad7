//! What a run is given.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One input of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcessorInput {
    pub input_id: String,
    pub account_id: String,
    pub underwriting_id: String,
    pub data: Value,
    /// What a failed run left for its retry; anything else means that there is nothing to resume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
    /// Why what somebody gave for this input is none. It is not run: it fails at validation, and the others go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

/// Why a JSON value is no input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    #[error("expected an object with input_id, account_id, underwriting_id and data, found {0}")]
    NotAnObject(&'static str),
    #[error("`{0}` is missing")]
    Missing(&'static str),
    #[error("`{field}`: expected a text that is not blank, found {found}")]
    NotText { field: &'static str, found: String },
    #[error("unknown field `{0}`; an input has input_id, account_id, underwriting_id, data and payload")]
    Unknown(String),
}

const FIELDS: [&str; 6] = ["input_id", "account_id", "underwriting_id", "data", "payload", "unreadable"];

impl ProcessorInput {
    pub fn new(
        input_id: impl Into<String>,
        account_id: impl Into<String>,
        underwriting_id: impl Into<String>,
        data: Value,
    ) -> Self {
        Self {
            input_id: input_id.into(),
            account_id: account_id.into(),
            underwriting_id: underwriting_id.into(),
            data,
            payload: None,
            unreadable: None,
        }
    }

    #[must_use]
    pub fn with_payload(mut self, payload: Value) -> Self {
        self.payload = Some(payload);
        self
    }

    /// Stands for something that is no input, and says why: a message for people.
    #[must_use]
    pub fn unreadable_because(mut self, why: impl Into<String>) -> Self {
        self.unreadable = Some(why.into());
        self
    }

    /// An input as somebody wrote it; `account_id` and `underwriting_id` stand in where it does not name its own.
    pub fn from_json(
        value: Value,
        account_id: Option<&str>,
        underwriting_id: Option<&str>,
    ) -> Result<Self, InputError> {
        let Value::Object(mut fields) = value else { return Err(InputError::NotAnObject(kind_of(&value))) };
        if let Some(unknown) = fields.keys().find(|key| !FIELDS.contains(&key.as_str())) {
            return Err(InputError::Unknown(unknown.clone()));
        }
        Ok(Self {
            input_id: text(&mut fields, "input_id", None)?,
            account_id: text(&mut fields, "account_id", account_id)?,
            underwriting_id: text(&mut fields, "underwriting_id", underwriting_id)?,
            data: fields.remove("data").ok_or(InputError::Missing("data"))?,
            payload: fields.remove("payload").filter(|payload| !payload.is_null()),
            // What the result of an earlier run handed over for a retry.
            unreadable: fields.remove("unreadable").as_ref().and_then(Value::as_str).map(str::to_owned),
        })
    }

    /// Whether a JSON value is meant to be an input, rather than the data of one.
    pub fn is_meant_by(value: &Value) -> bool {
        value
            .as_object()
            .is_some_and(|fields| fields.contains_key("input_id") || fields.contains_key("underwriting_id"))
    }
}

fn text(fields: &mut Map<String, Value>, field: &'static str, default: Option<&str>) -> Result<String, InputError> {
    match fields.remove(field) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text),
        Some(other) => Err(InputError::NotText { field, found: shorten(&other) }),
        None => default.map(str::to_owned).ok_or(InputError::Missing(field)),
    }
}

fn shorten(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 40 { text } else { text.chars().take(40).chain(['…']).collect() }
}

pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
