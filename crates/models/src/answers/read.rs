//! What a model said, as an answer to the question about one item.

use super::{
    schema::Schema,
    text::{self, Found},
};
use crate::{
    request::Request,
    wire::{Message, Prompt},
};
use serde_json::Value;

/// The field in which an answer repeats whom it is about.
const ECHO: &str = "item_id";
/// How the first fault of an answer without a required field begins.
const LACKING: &str = "the answer lacks the field";

/// An answer that can be used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    pub(crate) value: Value,
    /// It broke off, and the end of it is not there.
    pub(crate) is_broken: bool,
    /// Required fields that went with the end.
    pub(crate) missing: Vec<String>,
    /// Entries of lists that are none of those allowed. They are not in the value.
    pub(crate) dropped: Vec<String>,
}

/// An answer that cannot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum WrongAnswer {
    /// What to tell the model; and what can be had without asking again, if anything.
    Faults { faults: Vec<String>, salvage: Option<Box<Reading>> },
    /// It is about another item.
    OtherItem(String),
}

/// The request as it is sent: the item's id goes along, and has to come back. It stands behind the question, so that
/// questions that begin alike are sent alike: services ask less for a beginning that they have just read.
pub(crate) fn with_echo(request: &Request) -> Prompt {
    let description = "the item_id of the question, repeated letter by letter";
    Prompt {
        system: format!("{}\n\nBegin your answer with the field `{ECHO}`: {description}.", request.system),
        messages: vec![Message::User(format!("{}\n\n{ECHO}: {}\n", request.user, request.item))],
        schema: request.schema.with_text(ECHO, description),
        max_output_tokens: request.max_output_tokens,
        temperature: request.temperature,
        thinking: None,
    }
}

/// Reads what a model said about an item. The echoed id is taken out of the value.
pub(crate) fn read(said: &str, schema: &Schema, item: &str) -> Result<Reading, WrongAnswer> {
    let faulty = |faults| Err(WrongAnswer::Faults { faults, salvage: None });
    let (mut value, is_broken) = match text::find(said) {
        Found::Whole(value) => (value, false),
        Found::Broken(value) => (value, true),
        Found::Nothing if said.trim().is_empty() => return faulty(vec!["the answer is empty".to_owned()]),
        Found::Nothing => return faulty(vec!["the answer holds no JSON object".to_owned()]),
    };
    let echo = value.as_object_mut().and_then(|fields| fields.shift_remove(ECHO));
    match echo.as_ref().and_then(Value::as_str).map(str::trim) {
        Some(echoed) if echoed == item.trim() => {}
        Some(echoed) => return Err(WrongAnswer::OtherItem(echoed.chars().take(100).collect())),
        None => return faulty(vec![format!("{LACKING} `{ECHO}`")]),
    }
    let dropped = schema.prune(&mut value);
    let faults = schema.faults(&value);
    if faults.is_empty() {
        return Ok(Reading { value, is_broken, missing: Vec::new(), dropped });
    }
    // Of what broke off, the fields at the end may be missing; those that are there have to be right.
    let required = schema.required_fields();
    let missing: Vec<String> =
        required.iter().filter(|name| value.get(**name).is_none()).map(|name| (*name).to_owned()).collect();
    let is_worth_keeping =
        is_broken && missing.len() < required.len() && faults.iter().all(|fault| fault.starts_with(LACKING));
    let salvage = is_worth_keeping.then(|| Box::new(Reading { value, is_broken, missing, dropped }));
    let mut faults = faults;
    if is_broken {
        faults.insert(0, "the answer broke off before its end, so it has to be shorter".to_owned());
    }
    Err(WrongAnswer::Faults { faults, salvage })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Schema {
        Schema::new(json!({
            "type": "object",
            "required": ["summary", "topics"],
            "properties": {
                "summary": {"type": "string"},
                "topics": {"type": "array", "items": {"type": "string", "enum": ["parks", "budget"]}},
                "note": {"type": "string"},
            },
        }))
        .unwrap()
    }

    #[test]
    fn the_item_is_compared_and_taken_out() {
        let said = r#"{"item_id": " item-7 ", "summary": "x", "topics": ["parks", "cats"], "mood": 1, "note": null}"#;
        let reading = read(said, &schema(), "item-7").unwrap();
        assert_eq!(reading.value, json!({"summary": "x", "topics": ["parks"]}));
        assert_eq!((reading.is_broken, reading.dropped), (false, vec!["cats".to_owned()]));
        assert_eq!(read(said, &schema(), "item-8"), Err(WrongAnswer::OtherItem("item-7".to_owned())));
        let said = r#"{"summary": "x", "topics": []}"#;
        let Err(WrongAnswer::Faults { faults, salvage: None }) = read(said, &schema(), "item-7") else { panic!() };
        assert_eq!(faults, ["the answer lacks the field `item_id`"]);
    }

    #[test]
    fn what_broke_off_is_kept_only_if_it_is_worth_it() {
        let said = r#"{"item_id": "7", "summary": "The council will vo"#;
        let Err(WrongAnswer::Faults { faults, salvage: Some(kept) }) = read(said, &schema(), "7") else { panic!() };
        assert!(faults[0].contains("broke off"));
        assert_eq!((kept.value, kept.missing), (json!({"summary": "The council will vo"}), vec!["topics".to_owned()]));
        let said = r#"{"item_id": "7", "topics": ["parks"], "summary": "The council will vo"#;
        assert!(read(said, &schema(), "7").unwrap().is_broken, "all required fields are there");
        let said = r#"{"item_id": "7", "summ"#;
        assert!(matches!(read(said, &schema(), "7"), Err(WrongAnswer::Faults { salvage: None, .. })));
        let said = r#"{"item_id": "7", "summary": 5, "topics": ["#;
        assert!(matches!(read(said, &schema(), "7"), Err(WrongAnswer::Faults { salvage: None, .. })));
    }

    #[test]
    fn prose_and_nothing_are_told_apart() {
        let told = |said: &str| match read(said, &schema(), "7") {
            Err(WrongAnswer::Faults { faults, .. }) => faults.join("; "),
            other => panic!("{other:?}"),
        };
        assert_eq!(told(" \n"), "the answer is empty");
        assert_eq!(told("The council met."), "the answer holds no JSON object");
    }
}
