//! Parsing once, evaluating many times.

use super::{
    bare_calls, convert, error::JsonataError, functions, guard, limits::Limits, position, surroundings::Surroundings,
};
use jsonata_core::{
    ast::AstNode,
    evaluator::{Context, Evaluator, EvaluatorOptions},
    parser,
    value::JValue,
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

/// A parsed expression. Copies share it, and any thread may evaluate it.
#[derive(Clone)]
pub struct Expression {
    source: Arc<str>,
    root: Arc<AstNode>,
}

impl Expression {
    pub fn parse(source: &str) -> Result<Self, JsonataError> {
        Self::parse_with(source, |_| ())
    }

    /// As state machines have it: a built-in function may be called without its dollar sign. Also the names of those
    /// that are.
    pub fn parse_for_states(source: &str) -> Result<(Self, Vec<String>), JsonataError> {
        let mut names = Vec::new();
        let expression = Self::parse_with(source, |root| names = bare_calls::accept(root))?;
        Ok((expression, names))
    }

    fn parse_with(source: &str, prepare: impl FnOnce(&mut AstNode)) -> Result<Self, JsonataError> {
        if source.len() > Limits::MAX_SOURCE {
            let message =
                format!("the expression has {} bytes, at most {} are allowed", source.len(), Limits::MAX_SOURCE);
            return Err(JsonataError::plain(message));
        }
        if source.trim().is_empty() {
            return Err(JsonataError::coded("S0207", "the expression is empty").at(0));
        }
        let root = guarded(|| {
            let parsed = parser::parse(source);
            let mut root =
                parsed.map_err(|error| JsonataError::from_parser(&error).at(position::of_error(source, &error)))?;
            prepare(&mut root);
            guard::apply(&mut root);
            Ok(root)
        })?;
        Ok(Self { source: source.into(), root: Arc::new(root) })
    }

    /// The text it was parsed from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The value that the expression has over an input; none if it is undefined.
    pub fn evaluate(&self, input: &Value, bindings: &Bindings, limits: Limits) -> Result<Option<Value>, JsonataError> {
        Scope::new(input, bindings, limits).evaluate(self)
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.source).finish()
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

/// Values that expressions know by name: one bound as `states` is `$states` in them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bindings(BTreeMap<String, Value>);

impl Bindings {
    /// `name` is written without the dollar sign.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: Value) -> Self {
        self.0.insert(name.into(), value);
        self
    }
}

impl FromIterator<(String, Value)> for Bindings {
    fn from_iter<T: IntoIterator<Item = (String, Value)>>(values: T) -> Self {
        Self(values.into_iter().collect())
    }
}

/// A value made ready for expressions once. Copies share it, and it stays on its thread.
#[derive(Clone)]
pub struct Prepared(JValue);

impl Prepared {
    pub fn new(value: &Value) -> Self {
        Self(convert::from_json(value))
    }

    pub fn object(parts: Vec<(String, Self)>) -> Self {
        Self(JValue::object(parts.into_iter().map(|(name, part)| (name, part.0)).collect()))
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").finish_non_exhaustive()
    }
}

/// An input made ready once, for several expressions. It stays on its thread.
pub struct Scope {
    input: JValue,
    bindings: Vec<(String, JValue)>,
    limits: Limits,
    surroundings: Option<Surroundings>,
}

impl Scope {
    pub fn new(input: &Value, bindings: &Bindings, limits: Limits) -> Self {
        let bound = bindings.0.iter().map(|(name, value)| (name.clone(), convert::from_json(value)));
        Self { input: convert::from_json(input), bindings: bound.collect(), limits, surroundings: None }
    }

    /// For expressions that need no input.
    pub fn without_input(bindings: &Bindings, limits: Limits) -> Self {
        Self { input: JValue::Undefined, ..Self::new(&Value::Null, bindings, limits) }
    }

    /// One more value by name, written without the dollar sign.
    #[must_use]
    pub fn bind(mut self, name: impl Into<String>, value: Prepared) -> Self {
        self.bindings.push((name.into(), value.0));
        self
    }

    /// With the functions of state machines, and with clock and chance from outside.
    #[must_use]
    pub fn within(mut self, surroundings: Surroundings) -> Self {
        self.surroundings = Some(surroundings);
        self
    }

    /// The limits count for each evaluation anew.
    pub fn evaluate(&self, expression: &Expression) -> Result<Option<Value>, JsonataError> {
        guarded(|| {
            let mut context = Context::new();
            for (name, value) in &self.bindings {
                context.bind(name.clone(), value.clone());
            }
            let options = EvaluatorOptions {
                timeout_ms: Some(u64::try_from(self.limits.time.as_millis()).unwrap_or(u64::MAX)),
                max_stack_depth: Some(self.limits.depth),
                max_sequence_length: Some(self.limits.items),
                cancel: None,
            };
            let mut evaluator = Evaluator::with_options(context, options);
            functions::register(&mut evaluator, self.limits).map_err(|error| JsonataError::from_evaluator(&error))?;
            if let Some(surroundings) = &self.surroundings {
                let registered = surroundings.register(&mut evaluator, self.limits);
                registered.map_err(|error| JsonataError::from_evaluator(&error))?;
            }
            let result = evaluator.evaluate(&expression.root, &self.input);
            let value = result.map_err(|error| JsonataError::from_evaluator(&error))?;
            convert::to_json(&value, &self.limits)
        })
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// The last resort: a fault of the library ends this call, not the thread.
fn guarded<T>(work: impl FnOnce() -> Result<T, JsonataError>) -> Result<T, JsonataError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let message = format!("this expression runs into a fault of ours: {}", text.unwrap_or("no reason given"));
        Err(JsonataError::plain(message))
    })
}
