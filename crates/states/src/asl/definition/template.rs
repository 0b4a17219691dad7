//! Values with expressions in them: `Parameters` with its `.$` keys, and what JSONata writes between `{%` and `%}`.

use crate::{asl::jsonpath::PathExpression, jsonata::Expression};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub enum Template {
    Constant(Value),
    /// A path or an intrinsic function, and the field it was written in, with its `.$`.
    Path {
        expression: PathExpression,
        field: String,
    },
    Jsonata(JsonataField),
    List(Vec<Template>),
    Object(Vec<(String, Template)>),
}

/// An expression of JSONata at a place of a state.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonataField {
    pub expression: Expression,
    /// From the state, for example `Arguments/Payload/ids[0]`.
    pub location: String,
}

/// A value that may be given by an expression instead.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    Fixed(Value),
    /// From a field whose name ends in `Path`.
    Path {
        expression: PathExpression,
        field: &'static str,
    },
    Jsonata(JsonataField),
}

/// The expression in `{% ... %}`, and how many characters stand before it.
pub(super) fn between_marks(text: &str) -> Option<(&str, usize)> {
    let inner = text.strip_prefix("{%")?.strip_suffix("%}")?;
    let trimmed = inner.trim();
    let before = 2 + inner.chars().take_while(|letter| letter.is_whitespace()).count();
    Some((trimmed, before))
}
