//! The fields of JSON as vendors send it, taken out without trust: a field that is absent, empty or of another kind is none.

use super::{FetchedPage, PageFault, model::Start};
use crate::html;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

/// The list under a name that an answer must have.
pub fn required<'a>(
    page: &FetchedPage,
    answer: &'a Value,
    field: &str,
    expected: &str,
) -> Result<&'a [Value], PageFault> {
    let list = answer.get(field).and_then(Value::as_array).map(Vec::as_slice);
    list.ok_or_else(|| PageFault::new_unexpected(&page.url, format!("{expected} (`{field}`)"), kind(answer)))
}

/// What a value is, for a sentence; the words of an error that the vendor sends in place of an answer are told.
pub fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(_) => "true or false".into(),
        Value::Number(_) => "a number".into(),
        Value::String(_) => "a text".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(fields) => {
            let said = ["Message", "message", "error", "title"].iter().find_map(|name| text(value, name));
            let names = fields.keys().take(5).cloned().collect::<Vec<_>>().join(", ");
            match said {
                Some(said) => format!("the answer \"{said}\""),
                None if names.is_empty() => "an empty object".into(),
                None => format!("an object with {names}"),
            }
        }
    }
}

/// A field as text, numbers too; blanks around it are left out, and an empty one is none.
pub fn text(value: &Value, field: &str) -> Option<String> {
    match value.get(field)? {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A field as text without tags and with single blanks.
pub fn plain(value: &Value, field: &str) -> Option<String> {
    text(value, field).map(|text| html::plain(&text)).filter(|text| !text.is_empty())
}

/// True, 1, "1", "true".
pub fn flag(value: &Value, field: &str) -> Option<bool> {
    match value.get(field)? {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => Some(number.as_f64() != Some(0.0)),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" => Some(true),
            "false" | "0" | "no" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

pub fn number(value: &Value, field: &str) -> Option<i64> {
    match value.get(field)? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// The entries of a list; none where there is no list.
pub fn entries<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// What an entry says besides: everything that is not null, empty, or among the fields that were read.
pub fn besides(value: &Value, read: &[&str]) -> Map<String, Value> {
    filled_fields(value, |name| !read.contains(&name))
}

/// What an entry says in these fields, as far as it is not null or empty.
pub fn picked(value: &Value, names: &[&str]) -> Map<String, Value> {
    filled_fields(value, |name| names.contains(&name))
}

fn filled_fields(value: &Value, is_wanted: impl Fn(&str) -> bool) -> Map<String, Value> {
    let says_something = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    };
    let fields = value.as_object().into_iter().flatten();
    fields
        .filter(|(name, value)| is_wanted(name) && says_something(value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// A true instant (`2023-10-12T15:00:00+00:00`) by the clock on the jurisdiction's wall.
pub fn instant(text: &str, zone: &TimeZone) -> Option<Start> {
    Some(Start::at(text.parse().ok()?, zone))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn fields_of_any_kind_are_text_or_none() {
        let entry = json!({"id": 7, "name": " A &amp; B ", "empty": " ", "list": [], "flag": "Yes", "deep": {"a": 1}});
        assert_eq!(text(&entry, "id").as_deref(), Some("7"));
        assert_eq!(plain(&entry, "name").as_deref(), Some("A & B"));
        assert_eq!((text(&entry, "empty"), text(&entry, "list"), text(&entry, "absent")), (None, None, None));
        assert_eq!((flag(&entry, "flag"), flag(&entry, "name")), (Some(true), None));
        let names = |fields: Map<String, Value>| fields.into_iter().map(|(name, _)| name).collect::<BTreeSet<_>>();
        assert_eq!(names(besides(&entry, &["id", "name"])), BTreeSet::from(["deep".to_owned(), "flag".to_owned()]));
        assert_eq!(names(picked(&entry, &["id", "empty", "absent"])), BTreeSet::from(["id".to_owned()]));
    }

    #[test]
    fn an_answer_without_its_list_is_told() {
        let page = FetchedPage::from_kept("x", "");
        let fault = |answer: Value| required(&page, &answer, "d", "meetings").unwrap_err().to_string();
        assert_eq!(fault(json!({})), "x: expected meetings (`d`), found an empty object");
        assert_eq!(fault(json!({"message": "gone"})), "x: expected meetings (`d`), found the answer \"gone\"");
        assert_eq!(fault(json!([])), "x: expected meetings (`d`), found a list");
        assert_eq!(required(&page, &json!({"d": [1]}), "d", "meetings").unwrap().len(), 1);
    }
}
