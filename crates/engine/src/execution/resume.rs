//! Where an input's steps begin: at the start, or where an earlier run failed.

use super::{context::ExecutionContext, input::ProcessorInput};
use crate::processor::Processor;
use bindery_core::{ContentHash, StepError, outcome::Step};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// What must still be true for work to be resumed or reused: the same processor in the same version, the same input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    pub processor: String,
    pub version: u32,
    pub input: ContentHash,
}

impl Fingerprint {
    pub fn compute(processor: &dyn Processor, data: &Value) -> Self {
        Self {
            processor: processor.name().to_owned(),
            version: processor.version(),
            input: ContentHash::of(canonical(data).as_bytes()),
        }
    }

    /// The form in a payload; the opposite of its `Display`.
    fn parse(text: &str) -> Option<Self> {
        let (rest, input) = text.rsplit_once(':')?;
        let (processor, version) = rest.rsplit_once('@')?;
        Some(Self { processor: processor.to_owned(), version: version.parse().ok()?, input: input.parse().ok()? })
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}:{}", self.processor, self.version, self.input)
    }
}

/// The same text for the same data, in whatever order its keys were written.
fn canonical(data: &Value) -> String {
    fn write(value: &Value, text: &mut String) {
        match value {
            Value::Array(values) => {
                text.push('[');
                for value in values {
                    write(value, text);
                    text.push(',');
                }
                text.push(']');
            }
            Value::Object(fields) => {
                let mut fields: Vec<_> = fields.iter().collect();
                fields.sort_unstable_by_key(|(key, _)| *key);
                text.push('{');
                for (key, value) in fields {
                    text.push_str(&Value::from(key.as_str()).to_string());
                    text.push(':');
                    write(value, text);
                    text.push(',');
                }
                text.push('}');
            }
            plain => text.push_str(&plain.to_string()),
        }
    }
    let mut text = String::new();
    write(data, &mut text);
    text
}

/// What a failed input leaves behind: the step, what went wrong, and what the step was given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Payload {
    pub step: Step,
    pub exception: String,
    pub message: String,
    pub data: Value,
    /// The number of the retry that it is meant for; only in what is handed over for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_count: Option<u32>,
    /// Tells on resume whether the processor or the input has changed; only in what is handed over for a retry. A
    /// payload without it is taken at its word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

/// Where the steps of an input begin, and why there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Start {
    pub(super) step: Step,
    /// What the first step is given; none for the input's own data.
    pub(super) data: Option<Value>,
    /// Why a payload was set aside.
    pub(super) note: Option<String>,
}

impl Start {
    fn from_validation(note: Option<&str>) -> Self {
        Self { step: Step::Validation, data: None, note: note.map(str::to_owned) }
    }
}

/// Only a retry resumes, and only from a payload that is a map and names one of the three steps. Where the processor's
/// version or the input has changed since, everything is done again; what another processor left is refused.
pub(super) fn start_of(
    input: &ProcessorInput,
    context: &ExecutionContext,
    processor: &dyn Processor,
) -> Result<Start, StepError> {
    let Some(Value::Object(payload)) = input.payload.as_ref().filter(|_| context.is_retry()) else {
        return Ok(Start::from_validation(None));
    };
    let step = match payload.get("step") {
        None | Some(Value::Null) => return Ok(Start::from_validation(None)),
        Some(named) => match named.as_str().and_then(Step::from_name) {
            Some(step) => step,
            None => {
                return Ok(Start::from_validation(Some(&format!(
                    "the payload names the step {named}, which does not exist"
                ))));
            }
        },
    };
    if let Some(left) = payload.get("fingerprint").and_then(Value::as_str).and_then(Fingerprint::parse) {
        if left.processor != processor.name() {
            let message =
                format!("the payload was left by the processor {}, not by {}", left.processor, processor.name());
            return Err(StepError::reject(message).named("ForeignResume"));
        }
        if left.version != processor.version() {
            let (old, new) = (left.version, processor.version());
            return Ok(Start::from_validation(Some(&format!("the processor has changed from version {old} to {new}"))));
        }
        if left.input != Fingerprint::compute(processor, &input.data).input {
            return Ok(Start::from_validation(Some("the input has changed")));
        }
    }
    // A validation that failed was given the input itself.
    let data = payload.get("data").filter(|_| step != Step::Validation).cloned();
    if data.is_none() && step != Step::Validation {
        return Ok(Start::from_validation(Some(&format!("the payload has no data for the step {step}"))));
    }
    Ok(Start { step, data, note: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_keys_does_not_matter_and_everything_else_does() {
        let hash = |text: &str| ContentHash::of(canonical(&serde_json::from_str(text).unwrap()).as_bytes());
        let one = hash(r#"{"a": [1, {"x": null, "y": "2"}], "b": true}"#);
        assert_eq!(one, hash(r#"{"b": true, "a": [1, {"y": "2", "x": null}]}"#));
        for other in [
            r#"{"a": [{"x": null, "y": "2"}, 1], "b": true}"#,
            r#"{"a": [1, {"x": null, "y": 2}], "b": true}"#,
            r#"{"a": [1], "b": true, "x": null, "y": "2"}"#,
        ] {
            assert_ne!(one, hash(other), "{other}");
        }
    }

    #[test]
    fn a_fingerprint_is_read_as_it_is_written() {
        let written = Fingerprint { processor: "a@b:c".to_owned(), version: 3, input: ContentHash::of(b"x") };
        assert_eq!(Fingerprint::parse(&written.to_string()), Some(written));
        for bad in ["", "a", "a@1", "a@x:00", "a@1:zz"] {
            assert_eq!(Fingerprint::parse(bad), None, "{bad}");
        }
    }
}
