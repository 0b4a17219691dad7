//! JSON as vendors send it: read as a whole or refused with a sentence, and its fields taken out without trust.

use super::{FetchedPage, PageFault};
use jiff::{Timestamp, tz::TimeZone};
use serde_json::{Map, Value};

/// The page as JSON.
pub fn read(page: &FetchedPage, expected: &str) -> Result<Value, PageFault> {
    let text = page.text();
    serde_json::from_str(&text).map_err(|error| {
        let start = text.trim_start();
        if start.starts_with('<') {
            return super::whole::not_html(page, &text, expected);
        }
        if error.is_eof() && !start.is_empty() {
            return PageFault::CutShort {
                url: page.url.clone(),
                detail: format!("JSON ends after {} bytes", text.len()),
            };
        }
        let found = if start.is_empty() { "nothing".to_owned() } else { format!("something else ({error})") };
        PageFault::unexpected(&page.url, expected, found)
    })
}

/// The page as a list of entries.
pub fn list(page: &FetchedPage, expected: &str) -> Result<Vec<Value>, PageFault> {
    match read(page, expected)? {
        Value::Array(entries) => Ok(entries),
        other => Err(PageFault::unexpected(&page.url, expected, kind(&other))),
    }
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
            let names = || fields.keys().take(5).cloned().collect::<Vec<_>>().join(", ");
            said.map_or_else(|| format!("an object with {}", names()), |said| format!("the answer \"{said}\""))
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
    text(value, field).map(|text| super::whole::plain(&text)).filter(|text| !text.is_empty())
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
    let says_something = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    };
    let fields = value.as_object().into_iter().flatten();
    fields
        .filter(|(name, value)| !read.contains(&name.as_str()) && says_something(value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// A true instant (`2023-10-12T15:00:00+00:00`) by the clock on the jurisdiction's wall.
pub fn instant(text: &str, zone: &TimeZone) -> Option<super::model::Start> {
    let instant: Timestamp = text.parse().ok()?;
    let local = instant.to_zoned(zone.clone()).datetime();
    Some(super::model::Start { date: local.date(), time: Some(local.time()), note: None })
}
