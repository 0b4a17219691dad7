//! Whether a value is what was recorded, apart from what recorders hide.

use serde_json::Value;
use std::collections::BTreeSet;

/// What stands for anything.
#[derive(Debug, Default)]
pub(super) struct Wildcards {
    /// Texts that the recorder put in the place of others.
    learned: BTreeSet<String>,
    /// Numbers and texts differ from run to run.
    chance: bool,
}

/// How the names of hidden values end.
const HIDDEN: &[&str] = &["arn", "date", "time", "timestamp", "url", "token", "uuid"];

impl Wildcards {
    pub(super) fn new(chance: bool) -> Self {
        Self { learned: BTreeSet::new(), chance }
    }

    /// From the same value, as recorded and as it was given.
    pub(super) fn learn(&mut self, recorded: &Value, given: &Value) {
        match (recorded, given) {
            (Value::String(recorded), Value::String(given)) if recorded != given => {
                self.learned.insert(recorded.clone());
            }
            (Value::Array(recorded), Value::Array(given)) => {
                recorded.iter().zip(given).for_each(|(recorded, given)| self.learn(recorded, given));
            }
            (Value::Object(recorded), Value::Object(given)) => {
                for (key, recorded) in recorded {
                    self.learn(recorded, given.get(key).unwrap_or(&Value::Null));
                }
            }
            _ => {}
        }
    }

    /// Recorders turn JSON text into JSON where they can, so that text and value may be the same.
    pub(super) fn same(&self, recorded: &Value, ours: &Value) -> bool {
        match (recorded, ours) {
            (Value::String(recorded), Value::String(ours)) => self.same_text(recorded, ours),
            (Value::Number(recorded), Value::Number(ours)) => self.chance || recorded.as_f64() == ours.as_f64(),
            (Value::Array(recorded), Value::Array(ours)) => {
                recorded.len() == ours.len()
                    && recorded.iter().zip(ours).all(|(recorded, ours)| self.same(recorded, ours))
            }
            (Value::Object(recorded), Value::Object(ours)) => {
                recorded.len() == ours.len()
                    && recorded
                        .iter()
                        .all(|(key, recorded)| ours.get(key).is_some_and(|ours| self.same(recorded, ours)))
            }
            (Value::String(text), _) if self.is_hidden(text) => true,
            (Value::String(text), _) => json(text).is_some_and(|value| !value.is_string() && self.same(&value, ours)),
            (_, Value::String(text)) => {
                json(text).is_some_and(|value| !value.is_string() && self.same(recorded, &value))
            }
            _ => recorded == ours,
        }
    }

    fn same_text(&self, recorded: &str, ours: &str) -> bool {
        if self.chance || recorded == ours || self.is_hidden(recorded) || matches(recorded, ours) {
            return true;
        }
        match (json(recorded), json(ours)) {
            (Some(recorded), Some(ours)) => self.same(&recorded, &ours),
            _ => false,
        }
    }

    fn is_hidden(&self, text: &str) -> bool {
        let is_name =
            text.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_-".contains(letter));
        self.learned.contains(text)
            || (is_name && HIDDEN.iter().any(|end| text.rsplit(['_', '-']).next() == Some(end)))
            || (text.starts_with("arn:<") && !text.contains(' '))
            || text.ends_with("EventDetails.output")
    }
}

fn json(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// `<...>` in the recorded text stands for anything, and may hold another one.
fn matches(recorded: &str, ours: &str) -> bool {
    let mut literal = vec![String::new()];
    let mut depth = 0_usize;
    for letter in recorded.chars() {
        match letter {
            '<' => depth += 1,
            '>' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    literal.push(String::new());
                }
            }
            _ if depth == 0 => literal.iter_mut().last().into_iter().for_each(|part| part.push(letter)),
            _ => {}
        }
    }
    let [first, middle @ .., last] = &literal[..] else { return false };
    let Some(mut left) = ours.strip_prefix(first.as_str()) else { return false };
    for part in middle {
        match left.find(part.as_str()) {
            Some(place) => left = &left[place + part.len()..],
            None => return false,
        }
    }
    depth == 0 && left.ends_with(last.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_recorders_hide_is_anything() {
        let mut wildcards = Wildcards::new(false);
        wildcards.learn(&json!({"a": "bucket-name", "b": ["<x>"]}), &json!({"a": "bucket", "b": ["y"]}));
        for (recorded, ours, expected) in [
            (json!("bucket-name"), json!("bucket"), true),
            (json!("other"), json!("bucket"), false),
            (json!("snf_role_arn"), json!("arn:x"), true),
            (json!("arn:<partition>:states:<region>:1:x"), json!("arn:aws:other"), true),
            (json!("at <time:1> it was"), json!("at noon it was"), true),
            (json!("at <time:1> it was"), json!("at noon it is"), false),
            (json!("<<token>:1>"), json!("x"), true),
            (json!({"a": 1}), json!("{\"a\": 1.0}"), true),
            (json!("[1, 2]"), json!("[1,2]"), true),
            (json!("1"), json!(1), true),
            (json!("\"x\""), json!("x"), false),
            (json!({"a": 1}), json!({"a": 1, "b": 2}), false),
        ] {
            assert_eq!(wildcards.same(&recorded, &ours), expected, "{recorded} {ours}");
        }
        assert!(Wildcards::new(true).same(&json!({"id": "a", "n": 1}), &json!({"id": "b", "n": 2})));
    }
}
