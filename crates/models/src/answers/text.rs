//! The JSON object in what a model said: alone, in a code fence, among prose, behind its thoughts, or broken off.

use serde_json::{Deserializer, Value};

/// So many opening braces are tried as the beginning of the object.
const MOST_BEGINNINGS: usize = 20;
/// Deeper than any answer we ask for.
const DEEPEST: usize = 64;
/// The end of what some models think aloud.
const END_OF_THOUGHT: &str = "</think>";

/// What was found in a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Found {
    Whole(Value),
    /// The text ends within it. What was said last may be half a sentence; half an entry of a list is left out.
    Broken(Value),
    Nothing,
}

pub(super) fn find(text: &str) -> Found {
    let text = text.rsplit_once(END_OF_THOUGHT).map_or(text, |(_, said)| said);
    let mut broken = None;
    for (at, _) in text.match_indices('{').take(MOST_BEGINNINGS) {
        let rest = &text[at..];
        match Deserializer::from_str(rest).into_iter::<Value>().next() {
            Some(Ok(value)) if broken.is_none() => return Found::Whole(value),
            // What is whole inside of what is broken is only a part.
            Some(Err(error)) if error.is_eof() && broken.is_none() => broken = salvage(rest),
            _ => {}
        }
    }
    broken.map_or(Found::Nothing, Found::Broken)
}

#[derive(Clone, Copy)]
enum Frame {
    /// Whether a value comes next, and not a name.
    Object {
        at_value: bool,
    },
    Array,
}

/// A place at which everything before it is complete, and what is open there.
struct Safe {
    end: usize,
    open: Vec<Frame>,
}

/// The object as far as it goes.
fn salvage(text: &str) -> Option<Value> {
    let mut open: Vec<Frame> = Vec::new();
    let mut safe = Safe { end: 0, open: Vec::new() };
    let mut in_string = false;
    let mut last_escape = None;
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        if in_string {
            match c {
                '\\' => {
                    last_escape = Some(at);
                    characters.next();
                }
                '"' => {
                    in_string = false;
                    if !matches!(open.last(), Some(Frame::Object { at_value: false })) {
                        safe = Safe { end: at + 1, open: open.clone() };
                    }
                }
                _ => {}
            }
            continue;
        }
        match c {
            '"' => (in_string, last_escape) = (true, None),
            '{' | '[' => {
                if open.len() >= DEEPEST {
                    return None;
                }
                open.push(if c == '{' { Frame::Object { at_value: false } } else { Frame::Array });
                safe = Safe { end: at + 1, open: open.clone() };
            }
            '}' | ']' => {
                open.pop();
                safe = Safe { end: at + 1, open: open.clone() };
            }
            ',' => {
                safe = Safe { end: at, open: open.clone() };
                if let Some(Frame::Object { at_value }) = open.last_mut() {
                    *at_value = false;
                }
            }
            ':' => {
                if let Some(Frame::Object { at_value }) = open.last_mut() {
                    *at_value = true;
                }
            }
            _ => {}
        }
    }
    // The text that was being said, with or without the escape that may be incomplete.
    if in_string && matches!(open.last(), Some(Frame::Object { at_value: true })) {
        for end in [Some(text.len()), last_escape].into_iter().flatten() {
            if let Some(value) = close_frames(&format!("{}\"", &text[..end]), &open) {
                return Some(value);
            }
        }
    }
    close_frames(&text[..safe.end], &safe.open)
}

fn close_frames(text: &str, open: &[Frame]) -> Option<Value> {
    let ends = open.iter().rev().map(|frame| if matches!(frame, Frame::Array) { ']' } else { '}' });
    serde_json::from_str(&text.chars().chain(ends).collect::<String>()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn an_object_is_found_wherever_it_stands() {
        let object = json!({"a": "x {y} \"z\"", "b": [1, 2]});
        for text in [
            object.to_string(),
            format!("```json\n{object}\n```"),
            format!("Here you are:\n\n{object}\n\nAnything else?"),
            format!("<think>perhaps {{\"a\": 1}}</think>{object}"),
            format!("a set {{x}} of things: {object}"),
        ] {
            assert_eq!(find(&text), Found::Whole(object.clone()), "{text}");
        }
        for text in ["", "I cannot do that.", "[1, 2]", "{", "{x"] {
            assert!(!matches!(find(text), Found::Whole(_)), "{text}");
        }
        assert_eq!(find("I cannot do that."), Found::Nothing);
    }

    #[test]
    fn what_broke_off_is_kept_as_far_as_it_goes() {
        for (text, kept) in [
            (r#"{"id": "7", "summary": "The city bu"#, json!({"id": "7", "summary": "The city bu"})),
            (r#"{"id": "7", "summary": "a\"b\"#, json!({"id": "7", "summary": "a\"b"})),
            (r#"{"id": "7", "summary": "caf\u00"#, json!({"id": "7", "summary": "caf"})),
            (
                r#"{"id": "7", "summary": "x", "topics": ["parks", "bud"#,
                json!({"id": "7", "summary": "x", "topics": ["parks"]}),
            ),
            (r#"{"id": "7", "summary": "x", "top"#, json!({"id": "7", "summary": "x"})),
            (r#"{"id": "7", "summary": "x", "topics""#, json!({"id": "7", "summary": "x"})),
            (r#"{"id": "7", "summary": "x", "topics":"#, json!({"id": "7", "summary": "x"})),
            (r#"{"id": "7", "cost": 12"#, json!({"id": "7"})),
            (r#"{"id": "7", "money": [{"amount": 5}, {"amou"#, json!({"id": "7", "money": [{"amount": 5}, {}]})),
            (r#"Sure: {"id": "7","#, json!({"id": "7"})),
        ] {
            assert_eq!(find(text), Found::Broken(kept), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_beginning_of_an_object_is_understood(at in 0usize..200, text in "[a-z\"\\\\é{}\\[\\]:, ]{0,20}") {
            let object = json!({"item_id": "x", "summary": text, "list": [text, {"n": 1.5, "b": [true, null]}], "end": "e"});
            let whole = object.to_string();
            let cut: String = whole.chars().take(at.max(1)).collect();
            match find(&cut) {
                Found::Whole(value) => prop_assert_eq!(value, object),
                Found::Broken(value) => prop_assert!(value.is_object()),
                Found::Nothing => prop_assert!(false, "{}", cut),
            }
        }

        #[test]
        fn nothing_that_is_said_panics(text in "\\PC{0,80}") {
            let _ = find(&text);
        }
    }
}
