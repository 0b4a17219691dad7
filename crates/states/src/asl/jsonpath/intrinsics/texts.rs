//! Functions over texts.

use super::Outcome;
use crate::asl::functions;
use serde_json::Value;
use std::fmt::Write;

/// The longest text that is encoded, decoded or hashed.
const LONGEST: usize = 10_000;

fn short(text: &str) -> Result<&str, String> {
    let length = text.chars().count();
    if length > LONGEST {
        Err(format!("the text has {length} characters, at most {LONGEST} are allowed"))
    } else {
        Ok(text)
    }
}

pub(super) fn base64_encode(text: &str) -> Outcome {
    Ok(functions::base64_encode(short(text)?.as_bytes()).into())
}

pub(super) fn base64_decode(text: &str) -> Outcome {
    let bytes = functions::base64_decode(short(text)?).ok_or("the text is not Base64")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned().into())
}

pub(super) fn hash(data: &Value, algorithm: &str) -> Outcome {
    let text = match data {
        Value::String(text) => text.clone(),
        _ => data.to_string(),
    };
    let hash = functions::hash(short(&text)?, algorithm);
    hash.map(Value::String)
        .ok_or_else(|| format!("the algorithm is one of {}, not `{algorithm}`", functions::ALGORITHMS.join(", ")))
}

pub(super) fn to_json(text: &str) -> Outcome {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    functions::parse_json(text).map_err(|error| format!("the text is no JSON: {error}"))
}

/// At each of the characters of `delimiters`; empty pieces are left out.
pub(super) fn split(text: &str, delimiters: &str) -> Value {
    if delimiters.is_empty() {
        return Value::Array(vec![text.into()]);
    }
    let pieces = text.split(|letter| delimiters.contains(letter)).filter(|piece| !piece.is_empty());
    Value::Array(pieces.map(Value::from).collect())
}

/// Fills each `{}`; `\{`, `\}`, `\'` and `\\` are the letters themselves.
pub(super) fn format(template: &str, values: &[Value]) -> Outcome {
    let mut text = String::with_capacity(template.len());
    let mut places = 0;
    let mut letters = template.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some('{' | '}' | '\'' | '\\')) => text.extend(letters.next()),
            ('{', Some('}')) => {
                letters.next();
                if let Some(value) = values.get(places) {
                    show(value, &mut text);
                }
                places += 1;
            }
            _ => text.push(letter),
        }
    }
    if places == values.len() {
        Ok(text.into())
    } else {
        Err(format!("the template has {places} places, {} values are given", values.len()))
    }
}

/// Texts without quotes; objects and lists as the service shows them, `{key=value}` and `[value, value]`.
fn show(value: &Value, text: &mut String) {
    match value {
        Value::String(value) => text.push_str(value),
        Value::Array(values) => {
            text.push('[');
            for (place, value) in values.iter().enumerate() {
                text.push_str(if place > 0 { ", " } else { "" });
                show(value, text);
            }
            text.push(']');
        }
        Value::Object(entries) => {
            text.push('{');
            for (place, (key, value)) in entries.iter().enumerate() {
                let _ = write!(text, "{}{key}=", if place > 0 { ", " } else { "" });
                show(value, text);
            }
            text.push('}');
        }
        _ => {
            let _ = write!(text, "{value}");
        }
    }
}
