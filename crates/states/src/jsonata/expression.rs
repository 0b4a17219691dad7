//! Parsing once, evaluating many times.

use super::{
    bare_calls,
    error::JsonataError,
    guard,
    limits::Limits,
    needs::{self, Need},
    paths::{self, VariablePath},
    patterns::Patterns,
    position,
    scope::Scope,
};
use jsonata_core::{ast::AstNode, parser};
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
    pub(super) parsed: Arc<Parsed>,
}

pub(super) struct Parsed {
    pub(super) root: AstNode,
    pub(super) patterns: Patterns,
    /// Taken out of the expression, and found for it.
    pub(super) paths: Vec<VariablePath>,
    /// What the rest looks at, by the names of variables and functions.
    pub(super) needs: Need,
}

impl Parsed {
    fn new(mut root: AstNode, with_paths: bool) -> Self {
        let mut patterns = Patterns::default();
        let own = guard::apply(&mut root, &mut patterns);
        let paths = if with_paths { paths::take_out(&mut root, &own) } else { Vec::new() };
        let needs = needs::from_node(&mut root);
        Self { root, patterns, paths, needs }
    }
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
        let root = catch_panic(|| {
            let parsed = parser::parse(source);
            let mut root =
                parsed.map_err(|error| JsonataError::from_parser(&error).at(position::of_error(source, &error)))?;
            prepare(&mut root);
            Ok(root)
        })?;
        let parsed = catch_panic(|| Ok(Parsed::new(root, true)))?;
        Ok(Self { source: source.into(), parsed: Arc::new(parsed) })
    }

    /// Whether it may look at a value below a variable, such as `["states", "input"]`.
    pub fn asks_for(&self, names: &[&str]) -> bool {
        let Some((variable, below)) = names.split_first() else { return true };
        let is_on_the_way = |path: &VariablePath| {
            path.variable == *variable && path.steps.iter().zip(below).all(|(step, name)| step.name == *name)
        };
        let mut need = Some(&self.parsed.needs);
        for name in names {
            need = need.and_then(|need| need.part(name));
        }
        need.is_some() || self.parsed.paths.iter().any(is_on_the_way)
    }

    /// To compare with: every value is made ready as a whole, and every path is left to the library.
    #[cfg(test)]
    pub(super) fn parse_by_the_library(source: &str) -> Result<Self, JsonataError> {
        let mut expression = Self::parse(source)?;
        let root = parser::parse(source).map_err(|error| JsonataError::from_parser(&error))?;
        expression.parsed = Arc::new(Parsed { needs: Need::All, ..Parsed::new(root, false) });
        Ok(expression)
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
pub struct Bindings(pub(super) BTreeMap<String, Value>);

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

/// The last resort: a fault of the library ends this call, not the thread.
pub(super) fn catch_panic<T>(work: impl FnOnce() -> Result<T, JsonataError>) -> Result<T, JsonataError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let message = format!("this expression runs into a fault of ours: {}", text.unwrap_or("no reason given"));
        Err(JsonataError::plain(message))
    })
}
