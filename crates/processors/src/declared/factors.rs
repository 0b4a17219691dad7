//! What is kept of a processed value: named factors, and how sure we are of them.

use super::expression::{Source, read_expression};
use bindery_states::jsonata::{Expression, Scope};
use bindery_yaml::{Data, Fields, Node, Problems, check_name};
use serde_json::{Map, Value};

pub(crate) const FACTOR_KEYS: &[&str] = &["value", "required", "default"];

/// The factors of a definition, in written order.
#[derive(Debug, Clone)]
pub struct Factors(Vec<Factor>);

/// One factor: a name and how its value is computed.
#[derive(Debug, Clone)]
pub struct Factor {
    pub name: String,
    pub value: Expression,
    pub required: bool,
    /// Stands in for an undefined value.
    pub default: Option<Value>,
}

impl Factors {
    pub fn iter(&self) -> impl Iterator<Item = &Factor> {
        self.0.iter()
    }

    /// Those that have a value. An error is one sentence that names the factor.
    pub fn extract(&self, scope: &Scope) -> Result<Map<String, Value>, String> {
        let mut found = Map::new();
        for factor in &self.0 {
            let value = scope.evaluate(&factor.value).map_err(|error| format!("factors.{}: {error}", factor.name))?;
            match value.or_else(|| factor.default.clone()) {
                Some(value) => {
                    found.insert(factor.name.clone(), value);
                }
                None if factor.required => {
                    return Err(format!("the factor {:?} is required and has no value", factor.name));
                }
                None => {}
            }
        }
        Ok(found)
    }
}

/// None where the expression is undefined.
pub(crate) fn confidence_of(expression: &Expression, scope: &Scope) -> Result<Option<f64>, String> {
    let value = scope.evaluate(expression).map_err(|error| format!("confidence: {error}"))?;
    let Some(value) = value else { return Ok(None) };
    let confidence = value.as_f64().filter(|confidence| (0.0..=1.0).contains(confidence));
    confidence.map(Some).ok_or_else(|| {
        let shown: String = value.to_string().chars().take(60).collect();
        format!("confidence: expected a number from 0 to 1, found {shown}")
    })
}

/// `None` only together with a problem.
pub(crate) fn read_factors(node: &Node, path: &str, source: &Source<'_>, problems: &mut Problems) -> Option<Factors> {
    let fields = Fields::open_free(node, path, problems)?;
    let mut factors = Vec::new();
    for (name, node) in fields.iter() {
        let path = fields.path_of(name);
        check_name(name, node.place, &path, problems);
        factors.extend(read_factor(name, node, &path, source, problems));
    }
    if factors.is_empty() && problems.is_empty() {
        problems.add_with_hint(node.place, path, "no factors are listed", "leave the key out to keep the whole value");
    }
    Some(Factors(factors))
}

fn read_factor(name: &str, node: &Node, path: &str, source: &Source<'_>, problems: &mut Problems) -> Option<Factor> {
    let name = name.to_owned();
    if !matches!(node.data, Data::Mapping(_)) {
        let value = read_expression(node, path, source, problems)?;
        return Some(Factor { name, value, required: false, default: None });
    }
    let fields = Fields::open(node, path, FACTOR_KEYS, problems)?;
    let value = fields.require("value", "give the expression that computes the factor", problems);
    let value = value.and_then(|node| read_expression(node, &fields.path_of("value"), source, problems));
    let required = fields.bool("required", problems).unwrap_or(false);
    let default = fields.get("default").and_then(|node| node.to_json(&fields.path_of("default"), problems));
    if required && default.is_some() {
        let message = "a factor with a default always has a value, so `required` says nothing";
        fields.blame("required", message, Some("keep one of `required` and `default`"), problems);
    }
    Some(Factor { name, value: value?, required, default })
}

pub(crate) fn read_confidence(node: &Node, source: &Source<'_>, problems: &mut Problems) -> Option<Expression> {
    read_expression(node, "confidence", source, problems)
}
