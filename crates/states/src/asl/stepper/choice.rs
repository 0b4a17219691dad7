//! Choices: the first rule that holds decides.

use super::{
    execution::ThreadId,
    failure::{Failure, names},
    machine::{Exit, Stepper},
    view::{View, unexpected_type},
};
use crate::asl::{
    definition::{Comparand, Comparison, Condition, Kind, Order, QueryLanguage, Rule, State, Test},
    jsonpath::JsonPath,
    time,
};
use serde_json::Value;
use std::{borrow::Cow, cmp::Ordering};

impl<'a> Stepper<'a> {
    pub(super) fn choice(
        &mut self,
        id: ThreadId,
        state: &'a State,
        rules: &'a [Rule],
        default: Option<&'a str>,
    ) -> Result<(), Failure> {
        let input = self.selected_input(id, state)?;
        let view = self.view(id, &input);
        let mut found = None;
        for rule in rules {
            if view.holds(&rule.condition)? {
                found = Some((rule.next.as_str(), rule.assign.as_ref(), rule.output.as_ref()));
                break;
            }
        }
        let (next, assign, output) = match (found, default) {
            (Some(found), _) => found,
            (None, Some(default)) => (default, state.assign.as_ref(), state.output.as_ref()),
            (None, None) => {
                let cause = "Failed to transition out of the state. The state does not point to a next state.";
                return Err(Failure::of_state(names::NO_CHOICE, cause));
            }
        };
        // A rule's own output comes before the state's.
        let output = output.or(state.output.as_ref());
        let output = match (state.language, output) {
            (QueryLanguage::Jsonata, Some(template)) => view.resolve(template)?,
            (QueryLanguage::Jsonata, None) => input.clone().into_owned(),
            (QueryLanguage::JsonPath, _) => view.select(&state.output_path)?,
        };
        let assigned = view.assigned(assign)?;
        drop(view);
        drop(input);
        self.leave(id, state, Exit { output, assigned, next: Some(next) })
    }
}

impl View<'_> {
    fn holds(&self, condition: &Condition) -> Result<bool, Failure> {
        match condition {
            Condition::Constant(value) => Ok(*value),
            Condition::Jsonata(field) => match self.evaluate(field)? {
                Value::Bool(value) => Ok(value),
                value => Err(unexpected_type(field, "boolean", &value)),
            },
            Condition::Test(test) => self.passes(test),
        }
    }

    fn passes(&self, test: &Test) -> Result<bool, Failure> {
        match test {
            Test::All(tests) => {
                for test in tests {
                    if !self.passes(test)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Test::Any(tests) => {
                for test in tests {
                    if self.passes(test)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Test::Not(test) => Ok(!self.passes(test)?),
            Test::Compare { variable, comparison } => self.compares(variable, comparison),
        }
    }

    fn compares(&self, variable: &JsonPath, comparison: &Comparison) -> Result<bool, Failure> {
        if let Comparison::Is(Kind::Present, wanted) = comparison {
            return Ok(variable.select(self).is_ok() == *wanted);
        }
        let value = self.compared(variable)?;
        Ok(match comparison {
            Comparison::Is(kind, wanted) => is_kind(&value, *kind) == *wanted,
            Comparison::Matches(pattern) => value.as_str().is_some_and(|text| matches(text, pattern)),
            Comparison::Text(order, other) => {
                let other = self.comparand(other)?;
                holds(*order, value.as_str().zip(other.as_str()).map(|(one, other)| one.cmp(other)))
            }
            Comparison::Number(order, other) => {
                let other = self.comparand(other)?;
                holds(*order, value.as_f64().zip(other.as_f64()).and_then(|(one, other)| one.partial_cmp(&other)))
            }
            Comparison::Boolean(other) => {
                let other = self.comparand(other)?;
                value.as_bool().zip(other.as_bool()).is_some_and(|(one, other)| one == other)
            }
            Comparison::Timestamp(order, other) => {
                let other = self.comparand(other)?;
                let moment = |value: &Value| value.as_str().and_then(time::parse);
                holds(*order, moment(&value).zip(moment(&other)).map(|(one, other)| one.cmp(&other)))
            }
        })
    }

    fn compared<'v>(&'v self, path: &JsonPath) -> Result<Cow<'v, Value>, Failure> {
        path.select(self).map_err(|_| {
            let text = &path.text;
            Failure::runtime(format!(
                "Invalid path '{text}': The choice state's condition path references an invalid value."
            ))
        })
    }

    fn comparand<'v>(&'v self, comparand: &'v Comparand) -> Result<Cow<'v, Value>, Failure> {
        match comparand {
            Comparand::Fixed(value) => Ok(Cow::Borrowed(value)),
            Comparand::Path(path) => self.compared(path),
        }
    }
}

/// Values of different types are not comparable, and nothing holds for them.
fn holds(order: Order, found: Option<Ordering>) -> bool {
    match order {
        Order::Equals => found == Some(Ordering::Equal),
        Order::LessThan => found == Some(Ordering::Less),
        Order::LessThanEquals => matches!(found, Some(Ordering::Less | Ordering::Equal)),
        Order::GreaterThan => found == Some(Ordering::Greater),
        Order::GreaterThanEquals => matches!(found, Some(Ordering::Greater | Ordering::Equal)),
    }
}

fn is_kind(value: &Value, kind: Kind) -> bool {
    match kind {
        Kind::Present => true,
        Kind::Null => value.is_null(),
        Kind::Text => value.is_string(),
        Kind::Number => value.is_number(),
        Kind::Boolean => value.is_boolean(),
        Kind::Timestamp => value.as_str().is_some_and(|text| time::parse(text).is_some()),
    }
}

/// `*` stands for anything, `\*` for itself. Goes back to the last star only, so that it takes at most the product of
/// both lengths.
fn matches(text: &str, pattern: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let mut parts: Vec<Option<char>> = Vec::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        parts.push(match letter {
            '\\' => Some(letters.next().unwrap_or('\\')),
            '*' => None,
            _ => Some(letter),
        });
    }
    let (mut at, mut part) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    while at < text.len() {
        match parts.get(part) {
            Some(None) => {
                last_star = Some((part, at));
                part += 1;
            }
            Some(Some(letter)) if *letter == text[at] => {
                at += 1;
                part += 1;
            }
            _ => {
                let Some((star, start)) = last_star else { return false };
                last_star = Some((star, start + 1));
                (at, part) = (start + 1, star + 1);
            }
        }
    }
    parts[part..].iter().all(Option::is_none)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (text, pattern, expected) in [
            ("log-1.txt", "log-*.txt", true),
            ("log-.txt", "log-*.txt", true),
            ("log-1.csv", "log-*.txt", false),
            ("", "*", true),
            ("a*b", "a\\*b", true),
            ("axb", "a\\*b", false),
            ("abcabc", "*abc", true),
            ("abc", "", false),
            ("", "", true),
        ] {
            assert_eq!(matches(text, pattern), expected, "{text} {pattern}");
        }
        assert!(!matches(&"a".repeat(5_000), &format!("{}b", "*a".repeat(50))));
    }
}
