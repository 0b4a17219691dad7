//! The rules of a Choice.

use super::template::{JsonataField, Template};
use crate::asl::jsonpath::JsonPath;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    pub condition: Condition,
    pub next: String,
    pub assign: Option<Template>,
    pub output: Option<Template>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// A literal `true` or `false`.
    Constant(bool),
    Jsonata(JsonataField),
    Test(Test),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    All(Vec<Test>),
    Any(Vec<Test>),
    Not(Box<Test>),
    Compare { variable: JsonPath, comparison: Comparison },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Comparison {
    Is(Kind, bool),
    Text(Order, Comparand),
    Number(Order, Comparand),
    Boolean(Comparand),
    Timestamp(Order, Comparand),
    /// `*` stands for anything, `\*` for itself.
    Matches(String),
}

/// What a value is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Comparand {
    Fixed(Value),
    Path(JsonPath),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Equals,
    LessThan,
    LessThanEquals,
    GreaterThan,
    GreaterThanEquals,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Present,
    Null,
    Text,
    Number,
    Boolean,
    Timestamp,
}

const KINDS: &[(&str, Kind)] = &[
    ("IsPresent", Kind::Present),
    ("IsNull", Kind::Null),
    ("IsString", Kind::Text),
    ("IsNumeric", Kind::Number),
    ("IsBoolean", Kind::Boolean),
    ("IsTimestamp", Kind::Timestamp),
];

const ORDERS: &[(&str, Order)] = &[
    ("Equals", Order::Equals),
    ("LessThanEquals", Order::LessThanEquals),
    ("LessThan", Order::LessThan),
    ("GreaterThanEquals", Order::GreaterThanEquals),
    ("GreaterThan", Order::GreaterThan),
];

/// What the value of an operator has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Is(Kind),
    Text(Order),
    Number(Order),
    Boolean,
    Timestamp(Order),
    Matches,
}

/// The operator of a name, and whether its value is a path.
pub(super) fn operator(name: &str) -> Option<(Operator, bool)> {
    if let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == name) {
        return Some((Operator::Is(*kind), false));
    }
    if name == "StringMatches" {
        return Some((Operator::Matches, false));
    }
    let (name, by_path) = name.strip_suffix("Path").map_or((name, false), |name| (name, true));
    let order = |rest: &str| ORDERS.iter().find(|(known, _)| *known == rest).map(|(_, order)| *order);
    let found = if let Some(rest) = name.strip_prefix("String") {
        Operator::Text(order(rest)?)
    } else if let Some(rest) = name.strip_prefix("Numeric") {
        Operator::Number(order(rest)?)
    } else if let Some(rest) = name.strip_prefix("Timestamp") {
        Operator::Timestamp(order(rest)?)
    } else if name == "BooleanEquals" {
        Operator::Boolean
    } else {
        return None;
    };
    Some((found, by_path))
}

/// Every operator's name, for suggestions.
pub(super) fn operator_names() -> Vec<String> {
    let mut names: Vec<String> = KINDS.iter().map(|(name, _)| (*name).to_owned()).collect();
    names.extend(["StringMatches", "BooleanEquals", "BooleanEqualsPath"].map(str::to_owned));
    for prefix in ["String", "Numeric", "Timestamp"] {
        for (order, _) in ORDERS {
            names.extend([format!("{prefix}{order}"), format!("{prefix}{order}Path")]);
        }
    }
    names
}
