//! The cases of the language's reference suite. They are kept outside of the repository; without them nothing is
//! checked, and one line says so.

use bindery_states::jsonata::{Bindings, Expression, JsonataError, Limits, Scope};
use serde::Deserialize;
use serde_json::Value;
use std::{fs, time::Duration};

/// What has to pass. The others: texts that are no valid Unicode, and other codes for recursion without end.
const ENOUGH: usize = 1_681;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    id: String,
    expr: String,
    #[serde(default)]
    bindings: serde_json::Map<String, Value>,
    has_data: bool,
    #[serde(default)]
    data: Value,
    expect: String,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    unordered: bool,
    #[serde(default)]
    timelimit: Option<u64>,
    #[serde(default)]
    depth: Option<usize>,
}

impl Case {
    fn run(&self) -> Result<Option<Value>, JsonataError> {
        let limits = Limits {
            time: Duration::from_millis(self.timelimit.unwrap_or(10_000)),
            depth: self.depth.unwrap_or(30_000),
            items: 10_000_000,
            bytes: 1 << 30,
            eval: true,
        };
        let bindings: Bindings = self.bindings.clone().into_iter().collect();
        let expression = Expression::parse(&self.expr)?;
        let scope = if self.has_data {
            Scope::new(&self.data, &bindings, limits)
        } else {
            Scope::without_input(&bindings, limits)
        };
        scope.evaluate(&expression)
    }

    /// What is wrong with the outcome, if something is.
    fn wrong(&self, outcome: &Result<Option<Value>, JsonataError>) -> Option<String> {
        let good = match (self.expect.as_str(), outcome) {
            ("undefined", Ok(None)) => true,
            ("result", Ok(Some(value))) => same(value, &self.result, self.unordered),
            ("code", Err(error)) => error.code == self.code,
            _ => false,
        };
        (!good).then(|| {
            let shown = format!("{outcome:?}").chars().take(160).collect::<String>();
            format!("{}: expected {} {:?}, got {shown}", self.id, self.expect, self.code)
        })
    }
}

fn same(one: &Value, other: &Value, unordered: bool) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && if unordered {
                    one.iter().all(|value| other.iter().any(|candidate| same(value, candidate, false)))
                } else {
                    one.iter().zip(other).all(|(one, other)| same(one, other, false))
                }
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| same(value, other, false)))
        }
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}

#[test]
fn the_reference_suite_passes() {
    let Some(file) = bindery_testkit::shared("conformance/jsonata/cases.jsonl") else { return };
    let text = fs::read_to_string(file).expect("the cases can be read");
    let mut wrong = Vec::new();
    let mut total = 0;
    for (index, line) in text.lines().enumerate() {
        // Texts that are no valid Unicode cannot be read at all.
        let outcome = match serde_json::from_str::<Case>(line) {
            Ok(case) => case.wrong(&case.run()),
            Err(error) => Some(format!("line {}: {error}", index + 1)),
        };
        total += 1;
        wrong.extend(outcome);
    }
    let passed = total - wrong.len();
    eprintln!("{passed} of {total} cases pass; not:\n{}", wrong.join("\n"));
    assert!(passed >= ENOUGH.min(total), "only {passed} of {total} cases pass");
}
