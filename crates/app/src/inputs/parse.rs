//! From bytes to what may be inputs, each with its place for messages.

use super::files::{Form, Source};
use bindery_engine::execution::ProcessorInput;
use serde_json::Value;

/// Something that was read.
#[derive(Debug)]
pub(super) enum Raw {
    /// Meant to be an input; whether it is one is seen when its owner is known. `id` is for one that names none.
    Input { id: String, place: String, value: Value },
    /// The data of an input.
    Data { id: String, data: Value },
    /// No JSON at all.
    Unreadable { id: String, why: String, text: String },
}

impl Raw {
    /// What the input says in this field.
    pub(super) fn named(&self, field: &str) -> Option<&str> {
        match self {
            Self::Input { value, .. } => text_of(value, field),
            Self::Data { .. } | Self::Unreadable { .. } => None,
        }
    }
}

/// A text that is not blank.
pub(super) fn text_of<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str().filter(|text| !text.trim().is_empty())
}

pub(super) fn read(source: &Source, found: &mut Vec<Raw>) {
    let bytes = match &source.bytes {
        Ok(bytes) => bytes,
        Err(why) => {
            found.push(Raw::Unreadable { id: source.id.clone(), why: why.clone(), text: String::new() });
            return;
        }
    };
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.trim_start_matches('\u{feff}'),
        Err(error) => {
            let why = format!("{}: byte {} is not UTF-8, expected JSON", source.shown, error.valid_up_to() + 1);
            let text = String::from_utf8_lossy(bytes).into_owned();
            found.push(Raw::Unreadable { id: source.id.clone(), why, text });
            return;
        }
    };
    match source.form {
        Form::Lines => lines(source, text, found),
        Form::Unknown if is_lines(text) => lines(source, text, found),
        Form::Json | Form::Unknown => whole(source, text, found),
    }
}

/// Several lines, the first of which is an input by itself.
fn is_lines(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().and_then(|line| serde_json::from_str(line).ok());
    first.is_some_and(|value| ProcessorInput::is_meant_by(&value)) && lines.next().is_some()
}

fn lines(source: &Source, text: &str, found: &mut Vec<Raw>) {
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = index + 1;
        let id = format!("{}:{number}", source.id);
        found.push(match serde_json::from_str(line) {
            Ok(value) => Raw::Input { id, place: format!("{}, line {number}", source.shown), value },
            Err(error) => {
                let place = format!("{}, line {number}, column {}", source.shown, error.column());
                Raw::Unreadable { id, why: format!("{place}: {}", not_json(&error)), text: line.to_owned() }
            }
        });
    }
}

fn whole(source: &Source, text: &str, found: &mut Vec<Raw>) {
    let (id, shown) = (source.id.clone(), &source.shown);
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            let why = if text.trim().is_empty() {
                format!("{shown} is empty, expected JSON")
            } else {
                format!("{shown}, line {}, column {}: {}", error.line(), error.column(), not_json(&error))
            };
            found.push(Raw::Unreadable { id, why, text: text.to_owned() });
            return;
        }
    };
    match value {
        // A list of something else is the data of one input.
        Value::Array(list) if list.is_empty() || list.iter().any(ProcessorInput::is_meant_by) => {
            found.extend(list.into_iter().enumerate().map(|(index, value)| {
                let number = index + 1;
                Raw::Input { id: format!("{id}:{number}"), place: format!("{shown}, input {number}"), value }
            }));
        }
        value if ProcessorInput::is_meant_by(&value) => found.push(Raw::Input { id, place: shown.clone(), value }),
        data => found.push(Raw::Data { id, data }),
    }
}

/// What the parser says, without the place, which is said by us.
fn not_json(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let what = said.rsplit_once(" at line ").map_or(said.as_str(), |(what, _)| what);
    format!("not JSON: {what}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::{InputPile, Owner};

    fn read_as(form: Form, text: &str) -> Vec<ProcessorInput> {
        let source = Source {
            shown: "in/a.json".to_owned(),
            id: "a.json".to_owned(),
            form,
            bytes: Ok(text.as_bytes().to_vec()),
        };
        let mut raw = Vec::new();
        read(&source, &mut raw);
        let owner = Owner { account_id: "acc".to_owned(), underwriting_id: "uw".to_owned() };
        InputPile { raw }.into_inputs(&owner)
    }

    fn text_pairs(form: Form, text: &str) -> Vec<(String, String)> {
        let inputs = read_as(form, text).into_iter();
        inputs.map(|input| (input.input_id, input.unreadable.unwrap_or_default())).collect()
    }

    #[test]
    fn any_json_is_the_data_of_one_input() {
        for text in ["{\"amount\": 1}", "[1, 2]", "null", "\u{feff}7"] {
            let inputs = read_as(Form::Json, text);
            assert_eq!(inputs.len(), 1, "{text}");
            assert_eq!((&*inputs[0].input_id, &*inputs[0].account_id), ("a.json", "acc"));
            assert_eq!(inputs[0].data, serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')).unwrap());
        }
    }

    #[test]
    fn a_list_and_lines_hold_inputs() {
        let one = "{\"input_id\": \"x\", \"data\": 1}";
        let two = "{\"input_id\": \"y\", \"account_id\": \"other\", \"data\": 2}";
        for inputs in [
            read_as(Form::Json, &format!("[{one}, {two}]")),
            read_as(Form::Lines, &format!("{one}\n\n{two}\n")),
            read_as(Form::Unknown, &format!("{one}\r\n{two}")),
        ] {
            let ids: Vec<_> = inputs.iter().map(|input| (&*input.input_id, &*input.account_id)).collect();
            assert_eq!(ids, [("x", "acc"), ("y", "other")]);
        }
        assert!(read_as(Form::Json, "[]").is_empty());
        assert!(read_as(Form::Lines, "\n").is_empty());
    }

    #[test]
    fn what_is_no_input_says_where_and_why() {
        let told_of = |form, text: &str| text_pairs(form, text).pop().unwrap();
        let both = |id: &str, why: &str| (id.to_owned(), why.to_owned());
        assert_eq!(told_of(Form::Json, ""), both("a.json", "in/a.json is empty, expected JSON"));
        assert_eq!(
            told_of(Form::Json, "{\n\"a\": }"),
            both("a.json", "in/a.json, line 2, column 6: not JSON: expected value")
        );
        assert_eq!(
            told_of(Form::Lines, "{\"input_id\": \"x\", \"data\": 1}\n{oops"),
            both("a.json:2", "in/a.json, line 2, column 2: not JSON: key must be a string")
        );
        assert_eq!(told_of(Form::Lines, "{\"data\": 1}"), both("a.json:1", "in/a.json, line 1: `input_id` is missing"));
        assert_eq!(told_of(Form::Json, "[{\"input_id\": \"x\"}]"), both("x", "in/a.json, input 1: `data` is missing"));
        assert_eq!(
            told_of(Form::Json, "{\"input_id\": \"x\", \"data\": 1, \"dta\": 2}").1,
            "in/a.json: unknown field `dta`; an input has input_id, account_id, underwriting_id, data and payload"
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_told() {
        let source = Source {
            shown: "a".to_owned(),
            id: "a".to_owned(),
            form: Form::Json,
            bytes: Ok(b"{\"a\": \"\xff\"}".to_vec()),
        };
        let mut raw = Vec::new();
        read(&source, &mut raw);
        let Some(Raw::Unreadable { why, .. }) = raw.pop() else { panic!("it was read") };
        assert_eq!(why, "a: byte 8 is not UTF-8, expected JSON");
    }
}
