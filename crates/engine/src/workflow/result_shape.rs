//! The shape that a result of a program outside must have before it counts: the stage's `result`.

use super::model::{Stage, StageProcessor};
use bindery_yaml::{Data, Fields, Node, Problems};
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// Where components put the confidence of their result, where the stage does not say so: the latest first, as messages
/// carry earlier ones along.
const CONFIDENCE_FIELDS: [&str; 4] = ["extraction_confidence", "classification_confidence", PLAIN, "ocr_confidence"];

/// The name of a confidence that any stage understands.
const PLAIN: &str = "confidence";

/// What the payload of a result must be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ResultShape {
    /// An object with any fields.
    #[default]
    Object,
    /// Any JSON value.
    Any,
    /// An object with at least these fields, in the order in which they are written.
    Fields(Vec<ResultField>),
}

/// A field that a result must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultField {
    pub name: String,
    pub kind: ValueKind,
    /// It may be null, but not missing: written with a `?` behind the kind.
    pub nullable: bool,
}

impl ResultField {
    /// What is wrong with a value, in one sentence.
    fn wrong(&self, value: &Value) -> Option<String> {
        if self.nullable && value.is_null() {
            return None;
        }
        wrong(&self.name, self.kind, value)
    }
}

/// What a field of a result holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueKind {
    Any,
    Boolean,
    /// A number from 0 to 1 that the stage's threshold is compared with. It may be missing: then a person is asked.
    Confidence,
    Integer,
    List,
    Number,
    Object,
    String,
}

impl ValueKind {
    pub const ALL: [Self; 8] = [
        Self::Any,
        Self::Boolean,
        Self::Confidence,
        Self::Integer,
        Self::List,
        Self::Number,
        Self::Object,
        Self::String,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Boolean => "boolean",
            Self::Confidence => "confidence",
            Self::Integer => "integer",
            Self::List => "list",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
        }
    }

    const fn expectation(self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::Boolean => "true or false",
            Self::Confidence => "a number from 0 to 1",
            Self::Integer => "a whole number",
            Self::List => "a list",
            Self::Number => "a number",
            Self::Object => "an object",
            Self::String => "a text",
        }
    }

    fn holds(self, value: &Value) -> bool {
        match self {
            Self::Any => !value.is_null(),
            Self::Boolean => value.is_boolean(),
            Self::Confidence => value.is_null() || is_confidence(value),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::List => value.is_array(),
            Self::Number => value.is_number(),
            Self::Object => value.is_object(),
            Self::String => value.is_string(),
        }
    }
}

fn is_confidence(value: &Value) -> bool {
    value.as_f64().is_some_and(|value| (0.0..=1.0).contains(&value))
}

impl ResultShape {
    /// Reads the key `result`: a mapping of fields to what they hold, or the word `any`.
    pub(super) fn read(node: &Node, path: &str, problems: &mut Problems) -> Self {
        if node.as_text() == Some("any") {
            return Self::Any;
        }
        if !matches!(node.data, Data::Mapping(_)) {
            let message =
                format!("expected a mapping of fields to what they hold, or `any`, found {}", node.describe());
            problems.add_with_hint(node.place, path, message, "for example {doc_type: string, extracted_data: object}");
            return Self::Object;
        }
        let Some(fields) = Fields::open_free(node, path, problems) else { return Self::Object };
        let plain = ValueKind::ALL.map(|kind| (kind.as_str().to_owned(), (kind, false)));
        let nullable = ValueKind::ALL.map(|kind| (format!("{}?", kind.as_str()), (kind, true)));
        let mut read: Vec<ResultField> = Vec::new();
        for (name, written) in fields.iter() {
            let path = fields.path_of(name);
            let text = written.as_text().unwrap_or_default();
            let known = plain.iter().chain(&nullable).find(|(word, _)| *word == text);
            let Some((_, (kind, nullable))) = known else {
                let words: Vec<&str> = plain.iter().map(|(word, _)| word.as_str()).collect();
                let message = format!("expected one of {}, found {}", words.join(", "), written.describe());
                problems.add_with_hint(written.place, &path, message, "a `?` behind it allows null, such as string?");
                continue;
            };
            let has_confidence = read.iter().any(|field| field.kind == ValueKind::Confidence);
            if *kind == ValueKind::Confidence && has_confidence {
                let message = "a result has one confidence, and another field is called that already";
                problems.add_with_hint(written.place, &path, message, "use `number` for the others");
            }
            read.push(ResultField { name: name.to_owned(), kind: *kind, nullable: *nullable });
        }
        Self::Fields(read)
    }

    /// Why a payload is no result, in one sentence; None if it is one.
    pub fn mistake(&self, payload: &Value) -> Option<String> {
        if *self == Self::Any {
            return payload.is_null().then(|| "the payload is missing".to_owned());
        }
        let fields = match payload {
            Value::Object(fields) => fields,
            Value::Null => return Some(format!("the payload is missing{}", self.expectation())),
            other => return Some(format!("payload: expected an object, found {}", excerpt(other))),
        };
        let Self::Fields(wanted) = self else { return None };
        wanted.iter().find_map(|field| match fields.get(&field.name) {
            None if field.kind == ValueKind::Confidence => None,
            None => Some(format!("payload.{} is missing (expected {})", field.name, field.kind.expectation())),
            Some(value) => field.wrong(value),
        })
    }

    /// The same for what a person has decided, which is laid over what was found: fields may be missing.
    pub fn mistake_in_part(&self, payload: &Value) -> Option<String> {
        match (self, payload) {
            (_, Value::Null) => Some("the payload is missing (expected what was decided)".to_owned()),
            (Self::Fields(wanted), Value::Object(fields)) => {
                wanted.iter().find_map(|field| field.wrong(fields.get(&field.name)?))
            }
            (_, Value::Object(_)) => None,
            (_, other) => Some(format!("payload: expected an object, found {}", excerpt(other))),
        }
    }

    /// The field that holds the confidence, where the stage says so.
    fn confidence_field(&self) -> Option<&str> {
        let Self::Fields(fields) = self else { return None };
        fields.iter().find(|field| field.kind == ValueKind::Confidence).map(|field| field.name.as_str())
    }

    fn expectation(&self) -> String {
        let Self::Fields(fields) = self else { return String::new() };
        let mut text = String::new();
        for ResultField { name, kind, .. } in fields.iter().filter(|field| field.kind != ValueKind::Confidence) {
            let before = if text.is_empty() { ": expected " } else { ", " };
            let _ = write!(text, "{before}payload.{name} ({})", kind.expectation());
        }
        text
    }
}

fn wrong(name: &str, kind: ValueKind, value: &Value) -> Option<String> {
    (!kind.holds(value)).then(|| format!("payload.{name}: expected {}, found {}", kind.expectation(), excerpt(value)))
}

/// A value as a message shows it: what it is, and itself where it is short.
fn excerpt(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::String(text) if text.chars().count() > 40 => "a long text".to_owned(),
        other => other.to_string(),
    }
}

impl Stage {
    /// Whether a program outside works at this stage.
    pub fn has_outside_processor(&self) -> bool {
        self.processors.iter().any(|processor| processor.external)
    }

    /// Whether a component goes by the name of this stage's own.
    pub fn is_done_by(&self, component: &str) -> bool {
        let named = |processor: &StageProcessor| processor.name == *component;
        self.component == *component || self.processors.iter().any(named)
    }

    /// The confidence that a result states, None where it states none. `input` is what the component was sent: what it
    /// only hands on is an earlier stage's confidence. The error is a sentence about a value that is none.
    pub fn confidence_of(&self, payload: &Value, input: &Value) -> Result<Option<f64>, String> {
        let none = Map::new();
        let fields = payload.as_object().unwrap_or(&none);
        let stated = |field: &&str| fields.get(*field).is_some_and(|value| !value.is_null());
        let is_new = |field: &&str| stated(field) && input.get(*field) != fields.get(*field);
        let name = match self.result.confidence_field() {
            Some(own) => Some(own).filter(stated).or_else(|| Some(PLAIN).filter(is_new)),
            None => CONFIDENCE_FIELDS.into_iter().find(is_new),
        };
        match name.and_then(|name| Some((name, fields.get(name)?))) {
            None | Some((_, Value::Null)) => Ok(None),
            Some((_, value)) if is_confidence(value) => Ok(value.as_f64()),
            Some((name, value)) => Err(wrong(name, ValueKind::Confidence, value).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::Workflow;
    use serde_json::json;

    fn stage(result: &str) -> Stage {
        let yaml = format!("name: w\nstages:\n- {{name: a, result: {result}}}\n");
        Workflow::parse(&yaml, None).unwrap_or_else(|error| panic!("{error}")).stages.remove(0)
    }

    #[test]
    fn a_payload_is_held_against_the_fields() {
        let shape = stage("{doc_type: string, pages: list, sure: confidence}").result;
        let good = json!({"doc_type": "invoice", "pages": [], "more": 1});
        assert_eq!(shape.mistake(&good), None, "the confidence may be missing, others may be there");
        for (payload, mistake) in [
            (json!(null), "the payload is missing: expected payload.doc_type (a text), payload.pages (a list)"),
            (json!("text"), "payload: expected an object, found \"text\""),
            (json!({}), "payload.doc_type is missing (expected a text)"),
            (json!({"doc_type": 7, "pages": []}), "payload.doc_type: expected a text, found 7"),
            (json!({"doc_type": "x", "pages": null}), "payload.pages: expected a list, found null"),
            (
                json!({"doc_type": "x", "pages": [], "sure": 90}),
                "payload.sure: expected a number from 0 to 1, found 90",
            ),
        ] {
            assert_eq!(shape.mistake(&payload).as_deref(), Some(mistake));
        }
        let nullable = stage("{doc_type: string?}").result;
        assert_eq!(nullable.mistake(&json!({"doc_type": null})), None);
        assert_eq!(nullable.mistake(&json!({})).unwrap(), "payload.doc_type is missing (expected a text)");
        assert_eq!(shape.mistake_in_part(&json!({"pages": [1]})), None, "a person says what is different");
        assert_eq!(shape.mistake_in_part(&json!({"pages": 1})).unwrap(), "payload.pages: expected a list, found 1");
        assert!(shape.mistake_in_part(&json!(null)).unwrap().starts_with("the payload is missing"));
    }

    #[test]
    fn where_nothing_is_said_a_result_is_an_object_and_with_any_it_is_anything() {
        let shape = ResultShape::default();
        assert_eq!(shape.mistake(&json!({})), None);
        assert_eq!(shape.mistake(&json!(null)).unwrap(), "the payload is missing");
        assert!(shape.mistake(&json!([1])).unwrap().contains("found a list"));
        let any = stage("any").result;
        assert_eq!((any.mistake(&json!("text")), any.mistake(&json!([]))), (None, None));
        assert!(any.mistake(&json!(null)).is_some());
    }

    #[test]
    fn an_earlier_stage_s_confidence_is_not_this_one_s() {
        let named = stage("{classification_confidence: confidence}");
        let input = json!({"ocr_confidence": 0.99});
        assert_eq!(named.confidence_of(&json!({"ocr_confidence": 0.99}), &input), Ok(None));
        assert_eq!(named.confidence_of(&json!({"classification_confidence": 0.4}), &input), Ok(Some(0.4)));
        assert_eq!(named.confidence_of(&json!({"confidence": 0.5}), &input), Ok(Some(0.5)), "a plain one will do");
        let unnamed = Stage { result: ResultShape::Object, ..named };
        assert_eq!(unnamed.confidence_of(&json!({"ocr_confidence": 0.99}), &input), Ok(None), "handed on");
        assert_eq!(unnamed.confidence_of(&json!({"confidence": 0.7, "ocr_confidence": 0.99}), &input), Ok(Some(0.7)));
        let wrong = unnamed.confidence_of(&json!({"confidence": "high"}), &input).unwrap_err();
        assert_eq!(wrong, "payload.confidence: expected a number from 0 to 1, found \"high\"");
    }

    #[test]
    fn what_is_wrong_with_the_key_is_told() {
        let said = |result: &str| {
            let yaml = format!("name: w\nstages:\n- {{name: a, result: {result}}}\n");
            Workflow::parse(&yaml, Some("w.yaml")).unwrap_err().to_string()
        };
        assert!(said("[a]").contains("stages[0].result: expected a mapping of fields to what they hold, or `any`"));
        assert!(
            said("{a: text}")
                .contains("expected one of any, boolean, confidence, integer, list, number, object, string, found")
        );
        assert!(said("{a: confidence, b: confidence}").contains("stages[0].result.b: a result has one confidence"));
    }
}
