//! Paths such as `$states.input.pages[0].lines.text` are followed in the JSON itself, and only what they lead to is made
//! ready. What the library would make of them is the measure: lists of lists, where its rules are involved, are left to
//! it.

use super::{
    convert,
    guard::children,
    needs::{Need, is_bound, plain_step},
};
use jsonata_core::{
    ast::{AstNode, BinaryOp},
    value::{JValue, with_stack},
};
use serde_json::Value;
use std::collections::HashSet;

/// Gives what a path leads to, by the path's number. The name holds a space, so that no expression can mean it.
pub(super) const FOUND: &str = "found at a path";

/// A path that begins at a variable.
pub(super) struct VariablePath {
    pub(super) variable: String,
    pub(super) steps: Vec<Step>,
    /// Whether only the number of values is asked for.
    pub(super) counted: bool,
    /// What is looked at in the values.
    pub(super) need: Need,
    /// As it was written.
    pub(super) original: AstNode,
}

/// A name, and which item of what is there.
pub(super) struct Step {
    pub(super) name: String,
    item: Option<usize>,
}

impl Step {
    pub(super) fn is_name(&self) -> bool {
        self.item.is_none()
    }
}

/// Takes the paths out of an expression, and leaves their numbers. `own` names what is not bound from outside.
pub(super) fn take_out(root: &mut AstNode, own: &HashSet<String>) -> Vec<VariablePath> {
    let mut paths = Vec::new();
    look(root, own, &mut paths);
    paths
}

/// Whether an expression is a path and nothing else.
pub(super) fn is_found(root: &AstNode) -> bool {
    matches!(root, AstNode::Function { name, .. } if name == FOUND)
}

fn look(node: &mut AstNode, own: &HashSet<String>, paths: &mut Vec<VariablePath>) {
    look_for(node, Need::All, own, paths);
}

/// `need` is what is looked at in the value of the node.
fn look_for(node: &mut AstNode, need: Need, own: &HashSet<String>, paths: &mut Vec<VariablePath>) {
    let counted = match &*node {
        AstNode::Function { name, args, is_builtin: true } if name == "count" && !own.contains(name) => {
            if let [argument] = &args[..] { Some(argument) } else { None }
        }
        _ => None,
    };
    if let Some((variable, steps)) = plain_path(counted.unwrap_or(node)).filter(|(name, _)| !own.contains(*name)) {
        let (variable, counted) = (variable.to_owned(), counted.is_some());
        let number = AstNode::Number(paths.len() as f64);
        let found = AstNode::Function { name: FOUND.to_owned(), args: vec![number], is_builtin: true };
        let original = std::mem::replace(node, found);
        paths.push(VariablePath { variable, steps, counted, need, original });
        return;
    }
    // What stands where a function is called must stay what it is, and so must a path within a path.
    let left_alone = |node: &AstNode| matches!(node, AstNode::Path { .. });
    if let AstNode::ObjectTransform { input, pattern } = node
        && matches!(**input, AstNode::Path { .. })
    {
        let need = Need::of_context(pattern.iter().flat_map(|(key, value)| [key, value]), own);
        look_for(input, need, own, paths);
        for (key, value) in pattern {
            look(key, own, paths);
            look(value, own, paths);
        }
        return;
    }
    let mut below = |child: &mut AstNode| with_stack(|| look(child, own, paths));
    match node {
        AstNode::Binary { op: BinaryOp::ChainPipe, lhs, rhs } => {
            below(lhs);
            if !left_alone(rhs) {
                below(rhs);
            }
        }
        AstNode::Call { procedure, args } => {
            if !left_alone(procedure) {
                below(procedure);
            }
            args.iter_mut().for_each(below);
        }
        AstNode::Path { .. } => children(node, &mut |child| {
            if left_alone(child) { children(child, &mut below) } else { below(child) }
        }),
        _ => children(node, &mut below),
    }
}

fn plain_path(node: &AstNode) -> Option<(&str, Vec<Step>)> {
    let AstNode::Path { steps } = node else { return None };
    let (first, rest) = steps.split_first()?;
    let AstNode::Variable(variable) = &first.node else { return None };
    if variable.is_empty() || rest.is_empty() || !first.stages.is_empty() || is_bound(first) {
        return None;
    }
    let steps = rest.iter().map(|step| plain_step(step).map(|(name, item)| Step { name: name.to_owned(), item }));
    Some((variable, steps.collect::<Option<_>>()?))
}

/// What a path leads to.
pub(super) enum Found<'v> {
    /// One value as it is.
    One(&'v Value),
    /// What was found in several places; nothing at all means undefined.
    Many(Vec<&'v Value>),
}

/// None where the library has to be asked.
pub(super) fn follow<'v>(value: &'v Value, steps: &[Step]) -> Option<Found<'v>> {
    let mut current = flat(vec![value]);
    let mut steps = steps.iter().peekable();
    while let Some(step) = steps.next() {
        let mut found = Vec::new();
        for value in &current {
            let Value::Object(entries) = value else {
                if value.is_array() {
                    return None;
                }
                continue;
            };
            match (entries.get(&step.name), step.item) {
                (Some(Value::Array(values)), Some(item)) => match values.get(item) {
                    Some(Value::Array(_)) => return None,
                    Some(value) => found.push(value),
                    None => {}
                },
                (Some(value), None | Some(0)) => found.push(value),
                (None, _) | (Some(_), Some(_)) => {}
            }
        }
        if steps.peek().is_none()
            && let [one] = found[..]
        {
            return Some(Found::One(one));
        }
        current = flat(found);
    }
    Some(Found::Many(current))
}

/// Lists become part of the list they stand in.
fn flat(found: Vec<&Value>) -> Vec<&Value> {
    if !found.iter().any(|value| value.is_array()) {
        return found;
    }
    let room = found.iter().map(|value| value.as_array().map_or(1, Vec::len)).sum();
    let mut flat = Vec::with_capacity(room);
    for value in found {
        match value {
            Value::Array(values) => flat.extend(values),
            _ => flat.push(value),
        }
    }
    flat
}

impl Found<'_> {
    pub(super) fn value(&self, need: &Need) -> JValue {
        match self {
            Self::One(value) => convert::convert_needed(value, need),
            Self::Many(values) => match values[..] {
                [] => JValue::Undefined,
                [value] => convert::convert_needed(value, need),
                _ => JValue::sequence(values.iter().map(|value| convert::needed_item(value, need)).collect()),
            },
        }
    }

    pub(super) fn count(&self) -> JValue {
        let count = match self {
            Self::One(Value::Array(values)) => values.len(),
            Self::One(_) => 1,
            // A single one may be a list itself.
            Self::Many(values) => match values[..] {
                [Value::Array(values)] => values.len(),
                _ => values.len(),
            },
        };
        JValue::from(count)
    }
}
