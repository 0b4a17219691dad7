//! What a path finds.

use super::parse::{JsonPath, Root, Step};
use serde_json::Value;
use std::{borrow::Cow, fmt::Write};

/// What paths start from.
pub trait Roots {
    fn input(&self) -> &Value;
    fn context(&self) -> &Value;
    /// Something smaller that has the same under these steps, and how many of them lead to it: the context object holds
    /// the whole input of the execution, which few paths ask for.
    fn context_at(&self, _steps: &[Step]) -> (&Value, usize) {
        (self.context(), 0)
    }
    fn variable(&self, name: &str) -> Option<&Value>;
    /// A number from 0 to below 1, another one each time.
    fn random(&self) -> f64;
    fn uuid(&self) -> String;
}

/// Why a definite path has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    /// The last step finds nothing.
    #[error("No results for path: {0}")]
    Nothing(String),
    /// A step before the last finds nothing.
    #[error("Missing property in path {0}")]
    Missing(String),
    #[error("The variable '{0}' is not defined")]
    Variable(String),
}

/// More than any document needs, and little enough to stay quick: `$..x..y..z` multiplies what it finds.
const MOST_FOUND: usize = 1_000_000;

impl JsonPath {
    pub fn select<'a>(&self, roots: &'a dyn Roots) -> Result<Cow<'a, Value>, PathFault> {
        let (root, skipped) = match &self.root {
            Root::Input => (roots.input(), 0),
            Root::Context => roots.context_at(&self.steps),
            Root::Variable(name) => (roots.variable(name).ok_or_else(|| PathFault::Variable(name.clone()))?, 0),
        };
        if self.is_definite() {
            return self.select_one(root, skipped);
        }
        let found = select_all(root, root, &self.steps[skipped..]);
        Ok(Cow::Owned(Value::Array(found.into_iter().map(Cow::into_owned).collect())))
    }

    fn select_one<'a>(&self, root: &'a Value, skipped: usize) -> Result<Cow<'a, Value>, PathFault> {
        let mut current = Cow::Borrowed(root);
        for (place, step) in self.steps.iter().enumerate().skip(skipped) {
            let next = match current {
                Cow::Borrowed(value) => one(value, step),
                Cow::Owned(_) => None,
            };
            current = next.ok_or_else(|| {
                let shown = canonical(&self.steps[..=place]);
                if place + 1 == self.steps.len() { PathFault::Nothing(shown) } else { PathFault::Missing(shown) }
            })?;
        }
        Ok(current)
    }
}

/// `$['a'][0]`, as messages show a path.
fn canonical(steps: &[Step]) -> String {
    let mut shown = "$".to_owned();
    for step in steps {
        let _ = match step {
            Step::Child(name) => write!(shown, "['{name}']"),
            Step::Index(index) => write!(shown, "[{index}]"),
            _ => write!(shown, ".length()"),
        };
    }
    shown
}

fn one<'a>(value: &'a Value, step: &Step) -> Option<Cow<'a, Value>> {
    match (step, value) {
        (Step::Child(name), Value::Object(entries)) => entries.get(name).map(Cow::Borrowed),
        (Step::Index(index), Value::Array(values)) => at(values, *index).map(Cow::Borrowed),
        (Step::Length, Value::Array(values)) => Some(Cow::Owned(values.len().into())),
        (Step::Length, Value::Object(entries)) => Some(Cow::Owned(entries.len().into())),
        (Step::Length, Value::String(text)) => Some(Cow::Owned(text.chars().count().into())),
        _ => None,
    }
}

/// From the end, if the index is negative.
pub(super) fn at(values: &[Value], index: i64) -> Option<&Value> {
    let length = i64::try_from(values.len()).ok()?;
    let index = if index < 0 { index.checked_add(length)? } else { index };
    values.get(usize::try_from(index).ok()?)
}

/// Everything the steps find under a value; `root` is what `$` means in a filter.
pub(super) fn select_all<'a>(value: &'a Value, root: &'a Value, steps: &[Step]) -> Vec<Cow<'a, Value>> {
    let mut current = vec![Cow::Borrowed(value)];
    for step in steps {
        let mut next = Vec::new();
        for value in current {
            if let Cow::Borrowed(value) = value {
                apply(value, root, step, &mut next);
            }
            if next.len() > MOST_FOUND {
                next.truncate(MOST_FOUND);
                break;
            }
        }
        current = next;
    }
    current
}

fn apply<'a>(value: &'a Value, root: &'a Value, step: &Step, found: &mut Vec<Cow<'a, Value>>) {
    match step {
        Step::Child(_) | Step::Index(_) | Step::Length => found.extend(one(value, step)),
        Step::Wildcard => match value {
            Value::Array(values) => found.extend(values.iter().map(Cow::Borrowed)),
            Value::Object(entries) => found.extend(entries.values().map(Cow::Borrowed)),
            _ => {}
        },
        Step::Slice { start, end, step } => {
            if let Value::Array(values) = value {
                found.extend(slice(values, *start, *end, *step).map(Cow::Borrowed));
            }
        }
        Step::Union(steps) => steps.iter().for_each(|step| apply(value, root, step, found)),
        Step::Filter(filter) => match value {
            Value::Array(values) => {
                found.extend(values.iter().filter(|item| filter.holds(item, root)).map(Cow::Borrowed));
            }
            Value::Object(_) if filter.holds(value, root) => found.push(Cow::Borrowed(value)),
            _ => {}
        },
        Step::Descend(step) => descend(value, root, step, found),
    }
}

fn descend<'a>(value: &'a Value, root: &'a Value, step: &Step, found: &mut Vec<Cow<'a, Value>>) {
    if found.len() > MOST_FOUND {
        return;
    }
    apply(value, root, step, found);
    match value {
        Value::Array(values) => values.iter().for_each(|value| descend(value, root, step, found)),
        Value::Object(entries) => entries.values().for_each(|value| descend(value, root, step, found)),
        _ => {}
    }
}

fn slice(values: &[Value], start: Option<i64>, end: Option<i64>, step: i64) -> impl Iterator<Item = &Value> {
    let length = values.len() as i64;
    let place = |index: i64| (if index < 0 { index.saturating_add(length) } else { index }).clamp(0, length) as usize;
    let (start, end) = (place(start.unwrap_or(0)), place(end.unwrap_or(length)));
    values[start..end.max(start)].iter().step_by(usize::try_from(step).unwrap_or(usize::MAX))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// Fixed roots for tests of this module and its neighbours.
    pub(in super::super) struct Fixed {
        pub(in super::super) input: Value,
        pub(in super::super) context: Value,
        pub(in super::super) variables: Value,
    }

    impl Roots for Fixed {
        fn input(&self) -> &Value {
            &self.input
        }
        fn context(&self) -> &Value {
            &self.context
        }
        fn variable(&self, name: &str) -> Option<&Value> {
            self.variables.get(name)
        }
        fn random(&self) -> f64 {
            0.5
        }
        fn uuid(&self) -> String {
            "00000000-0000-4000-8000-000000000000".to_owned()
        }
    }

    pub(in super::super) fn fixed() -> Fixed {
        let items =
            json!([{"id": 1, "tags": ["x"], "price": 5}, {"id": 2, "tags": [], "price": 15}, {"id": 3, "price": 25}]);
        Fixed {
            input: json!({"detail-type": "D", "items": items, "deep": {"id": 4, "more": {"id": 5}}, "limit": 10, "list": [[1, 2], [3]]}),
            context: json!({"Execution": {"Name": "run-1"}}),
            variables: json!({"bucket": {"name": "b"}}),
        }
    }

    fn find(path: &str) -> Result<Value, PathFault> {
        JsonPath::parse(path).unwrap().select(&fixed()).map(Cow::into_owned)
    }

    #[test]
    fn one_value_or_a_list() {
        assert_eq!(find("$.detail-type"), Ok(json!("D")));
        assert_eq!(find("$.items[-1].id"), Ok(json!(3)));
        assert_eq!(find("$.list.[0]"), Ok(json!([1, 2])));
        assert_eq!(find("$.items[*].id"), Ok(json!([1, 2, 3])));
        assert_eq!(find("$..id"), Ok(json!([1, 2, 3, 4, 5])));
        assert_eq!(find("$.items[0,2].id"), Ok(json!([1, 3])));
        assert_eq!(find("$.items[1:].id"), Ok(json!([2, 3])));
        assert_eq!(find("$.items[:-1].id"), Ok(json!([1, 2])));
        assert_eq!(find("$.items[0]['id','price']"), Ok(json!([1, 5])));
        assert_eq!(find("$.items[?(@.price > $.limit)].id"), Ok(json!([2, 3])));
        assert_eq!(find("$.items.length()"), Ok(json!(3)));
        assert_eq!(find("$$.Execution.Name"), Ok(json!("run-1")));
        assert_eq!(find("$bucket.name"), Ok(json!("b")));
    }

    #[test]
    fn what_is_not_there() {
        assert_eq!(find("$.nothing").unwrap_err().to_string(), "No results for path: $['nothing']");
        assert_eq!(find("$.deep.no.way").unwrap_err().to_string(), "Missing property in path $['deep']['no']");
        assert_eq!(find("$.nothing.at[*].all"), Ok(json!([])));
        assert_eq!(find("$nothing"), Err(PathFault::Variable("nothing".to_owned())));
        assert_eq!(find("$.items[3]").unwrap_err().to_string(), "No results for path: $['items'][3]");
    }
}
