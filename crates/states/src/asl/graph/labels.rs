//! Conditions, resources and settings in a few words.

use crate::asl::{
    definition::{Comparand, Comparison, Condition, Kind, Order, Setting, State, StateKind, Template, Test, WaitFor},
    stepper::Resource,
};
use serde_json::Value;

/// What a rule of a Choice asks for.
pub(super) fn condition(condition: &Condition) -> String {
    match condition {
        Condition::Constant(value) => value.to_string(),
        Condition::Jsonata(field) => expression(field.expression.source()),
        Condition::Test(test) => test_label(test, false),
    }
}

/// Nearly everything is about the state's input, so that this need not be said.
fn expression(source: &str) -> String {
    source.split_whitespace().collect::<Vec<_>>().join(" ").replace("$states.input.", "")
}

fn test_label(test: &Test, inner: bool) -> String {
    let joined = |tests: &[Test], word: &str| {
        let all = tests.iter().map(|test| test_label(test, true)).collect::<Vec<_>>().join(word);
        if inner { format!("({all})") } else { all }
    };
    match test {
        Test::All(tests) => joined(tests, " and "),
        Test::Any(tests) => joined(tests, " or "),
        Test::Not(test) => format!("not {}", test_label(test, true)),
        Test::Compare { variable, comparison } => format!("{} {}", variable.text, compared(comparison)),
    }
}

fn compared(comparison: &Comparison) -> String {
    let with = |comparand: &Comparand| match comparand {
        Comparand::Fixed(value) => value.to_string(),
        Comparand::Path(path) => path.text.clone(),
    };
    match comparison {
        Comparison::Is(kind, yes) => {
            let what = match kind {
                Kind::Present => "present",
                Kind::Null => "null",
                Kind::Text => "a string",
                Kind::Number => "a number",
                Kind::Boolean => "a boolean",
                Kind::Timestamp => "a timestamp",
            };
            format!("is {}{what}", if *yes { "" } else { "not " })
        }
        Comparison::Text(order, other) | Comparison::Number(order, other) | Comparison::Timestamp(order, other) => {
            format!("{} {}", sign(*order), with(other))
        }
        Comparison::Boolean(other) => format!("= {}", with(other)),
        Comparison::Matches(pattern) => format!("like \"{pattern}\""),
    }
}

fn sign(order: Order) -> &'static str {
    match order {
        Order::Equals => "=",
        Order::LessThan => "<",
        Order::LessThanEquals => "<=",
        Order::GreaterThan => ">",
        Order::GreaterThanEquals => ">=",
    }
}

/// What a state does, in at most three lines.
pub(super) fn details(state: &State) -> Vec<String> {
    let mut lines = match &state.kind {
        StateKind::Task(task) => {
            let named = state.arguments.as_ref().and_then(function_name);
            std::iter::once(resource(&task.resource)).chain(named).collect()
        }
        StateKind::Wait(WaitFor::Seconds(seconds)) => vec![format!("{} s", setting(seconds))],
        StateKind::Wait(WaitFor::Timestamp(moment)) => vec![format!("until {}", setting(moment))],
        StateKind::Fail { error: Some(error), .. } => {
            let name = setting(error);
            if name == state.name { Vec::new() } else { vec![name] }
        }
        StateKind::Map(map) => {
            let most = map.max_concurrency.as_ref().map(|most| format!("at most {} at once", setting(most)));
            map.distributed.then(|| "distributed".to_owned()).into_iter().chain(most).collect()
        }
        _ => Vec::new(),
    };
    let retries: u32 = state.retry.iter().map(|retrier| retrier.max_attempts).fold(0, u32::saturating_add);
    if retries > 0 {
        lines.push(format!("up to {retries} {}", if retries == 1 { "retry" } else { "retries" }));
    }
    lines
}

fn resource(text: &str) -> String {
    match Resource::parse(text) {
        Resource::Service { service, action, .. } => format!("{service}:{action}"),
        Resource::Activity(arn) => format!("activity {}", arn.rsplit(':').next().unwrap_or(arn)),
        Resource::Function(name) => name.split(":function:").last().unwrap_or(name).to_owned(),
    }
}

/// The function or machine that a service is asked to run.
fn function_name(arguments: &Template) -> Option<String> {
    let names = ["FunctionName", "StateMachineArn"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match arguments {
        Template::Constant(Value::Object(values)) => names.iter().find_map(|name| values.get(*name)).and_then(text),
        Template::Object(fields) => fields.iter().find_map(|(key, field)| match field {
            Template::Constant(value) if names.contains(&key.as_str()) => text(value),
            _ => None,
        }),
        _ => None,
    }
}

fn setting(setting: &Setting) -> String {
    match setting {
        Setting::Fixed(Value::String(text)) => text.clone(),
        Setting::Fixed(value) => value.to_string(),
        Setting::Path { expression, .. } => expression.text().to_owned(),
        Setting::Jsonata(field) => expression(field.expression.source()),
    }
}
