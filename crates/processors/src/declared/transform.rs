//! The body of a declared processor: what is computed from the input, and what must not be true of it.

use super::{
    TRANSFORMATION_ERROR,
    expression::{Source, limits, read_expression, scope},
};
use crate::{definition::Work, produced::Produced};
use bindery_core::StepError;
use bindery_engine::context::StepContext;
use bindery_states::jsonata::{Expression, Scope};
use bindery_yaml::{Data, Fields, Node, Problems};
use serde_json::{Map, Value};

pub(crate) const DECLARE_KEYS: &[&str] = &["transform", "checks"];
pub(crate) const CHECK_KEYS: &[&str] = &["when", "reject", "review", "retry"];
/// Exactly one of them says what follows.
const ENDINGS: &[(&str, Ending)] = &[("reject", Ending::Reject), ("review", Ending::Review), ("retry", Ending::Retry)];

/// What `declare` says.
#[derive(Debug, Clone)]
pub struct Transform {
    /// Without one the input stays as it is.
    shape: Option<Shape>,
    checks: Vec<Check>,
}

#[derive(Debug, Clone)]
enum Shape {
    One(Expression),
    /// An object, entry by entry.
    Object(Vec<(String, Expression)>),
}

/// A condition that ends the work.
#[derive(Debug, Clone)]
struct Check {
    path: String,
    when: Expression,
    ending: Ending,
    message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Reject,
    Review,
    Retry,
}

impl Work for Transform {
    fn process(&self, context: &StepContext, input: Value) -> Result<Produced, StepError> {
        let failed = |message: String| StepError::reject(message).named(TRANSFORMATION_ERROR);
        let limits = limits(context);
        let processed = match &self.shape {
            None => input.clone(),
            Some(shape) => shape.evaluate(&scope(&input, context, None, limits)).map_err(failed)?,
        };
        if !self.checks.is_empty() {
            let scope = scope(&processed, context, Some(&input), limits);
            for check in &self.checks {
                check.run(&scope)?;
            }
        }
        Ok(Produced::new(processed))
    }
}

impl Shape {
    fn evaluate(&self, scope: &Scope) -> Result<Value, String> {
        let value = |path: &str, expression: &Expression| {
            scope.evaluate(expression).map_err(|error| format!("{path}: {error}"))
        };
        match self {
            Self::One(expression) => {
                let made = value("declare.transform", expression)?;
                made.ok_or_else(|| "declare.transform: the expression has no value for this input".to_owned())
            }
            Self::Object(entries) => {
                let mut object = Map::new();
                for (key, expression) in entries {
                    if let Some(made) = value(&format!("declare.transform.{key}"), expression)? {
                        object.insert(key.clone(), made);
                    }
                }
                Ok(Value::Object(object))
            }
        }
    }
}

impl Check {
    fn run(&self, scope: &Scope) -> Result<(), StepError> {
        let value = scope.evaluate(&self.when);
        let value = value.map_err(|error| StepError::reject(format!("{}.when: {error}", self.path)));
        let value = value.map_err(|error| error.named(TRANSFORMATION_ERROR))?;
        if !value.as_ref().is_some_and(is_true) {
            return Ok(());
        }
        let error = match self.ending {
            Ending::Reject => StepError::reject(&self.message),
            Ending::Review => StepError::review(&self.message),
            Ending::Retry => StepError::retry(&self.message),
        };
        Err(error.named(TRANSFORMATION_ERROR))
    }
}

/// As `$boolean` has it: what is empty or zero is false, and so is a list of nothing else.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(values) => values.iter().any(is_true),
        Value::Object(entries) => !entries.is_empty(),
    }
}

/// `None` only together with a problem.
pub(crate) fn read_transform(
    node: &Node,
    path: &str,
    source: &Source<'_>,
    problems: &mut Problems,
) -> Option<Transform> {
    let fields = Fields::open(node, path, DECLARE_KEYS, problems)?;
    let shape = match fields.get("transform") {
        None => None,
        Some(node) => Some(read_shape(node, &fields.path_of("transform"), source, problems)?),
    };
    let nodes = fields.list("checks", problems).unwrap_or_default();
    let mut checks = Vec::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        let path = format!("{}[{index}]", fields.path_of("checks"));
        checks.extend(read_check(node, path, source, problems));
    }
    Some(Transform { shape, checks })
}

fn read_shape(node: &Node, path: &str, source: &Source<'_>, problems: &mut Problems) -> Option<Shape> {
    if !matches!(node.data, Data::Mapping(_)) {
        return read_expression(node, path, source, problems).map(Shape::One);
    }
    let fields = Fields::open_free(node, path, problems)?;
    let mut entries = Vec::new();
    for (key, node) in fields.iter() {
        let expression = read_expression(node, &fields.path_of(key), source, problems);
        entries.extend(expression.map(|expression| (key.to_owned(), expression)));
    }
    Some(Shape::Object(entries))
}

fn read_check(node: &Node, path: String, source: &Source<'_>, problems: &mut Problems) -> Option<Check> {
    let fields = Fields::open(node, &path, CHECK_KEYS, problems)?;
    let when = fields.require("when", "say in an expression when the work ends here", problems);
    let when = when.and_then(|node| read_expression(node, &fields.path_of("when"), source, problems));
    let written: Vec<&(&str, Ending)> = ENDINGS.iter().filter(|(key, _)| fields.get(key).is_some()).collect();
    let [(key, ending)] = written[..] else {
        let message = if written.is_empty() { "nothing follows from this check" } else { "a check has one ending" };
        let hint = "give one of `reject`, `review` and `retry` with a message for people";
        problems.add_with_hint(fields.place, &path, message, hint);
        return None;
    };
    let message = fields.text(key, problems)?.trim().to_owned();
    if message.is_empty() {
        fields.blame(key, "the message is blank", Some("tell people what is wrong with the input"), problems);
    }
    Some(Check { when: when?, ending: *ending, message, path })
}
