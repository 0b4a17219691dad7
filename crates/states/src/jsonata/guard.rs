//! Changes to a parsed expression that keep it within its limits, and that put right what the library gets wrong.
//!
//! | where | why |
//! |---|---|
//! | the arguments of `$pad` | its width is not limited |
//! | `&` of two values, two lists in `[...]` | each can double what it is given, and a loop can repeat it |
//! | the argument of `$string` | shared parts are written out again and again |
//! | `$distinct` | takes quadratic time |
//! | `$exists($)` | is false in a predicate, whatever the item |
//! | `$reduce` of an empty list | gives null instead of nothing |
//! | `$filter` of null | swallows the errors of its function |

use super::functions::{DISTINCT, FILLED, LISTED, SAME, SIZED, WIDTH, WRITABLE};
use jsonata_core::ast::{AstNode, BinaryOp, PathStep, Stage};
use std::collections::HashSet;

/// The changes; what an expression defines itself under a built-in's name is left alone.
pub(super) fn apply(root: &mut AstNode) {
    let mut own = HashSet::new();
    visit(root, &mut |node| match node {
        AstNode::Binary { op: BinaryOp::ColonEqual, lhs, .. } => {
            if let AstNode::Variable(name) = &**lhs {
                own.insert(name.clone());
            }
        }
        AstNode::Lambda { params, .. } => own.extend(params.iter().cloned()),
        _ => {}
    });
    visit(root, &mut |node| change(node, &own));
}

fn change(node: &mut AstNode, own: &HashSet<String>) {
    match node {
        AstNode::Function { name, args, is_builtin: true } if !own.contains(name) => change_call(name, args),
        AstNode::Variable(name) if name == "distinct" && !own.contains(name) => DISTINCT.clone_into(name),
        AstNode::Variable(name) if name == "pad" && !own.contains(name) => *node = pad_as_a_value(),
        AstNode::Binary { op: BinaryOp::ChainPipe, lhs, rhs } => {
            let AstNode::Function { name, args, is_builtin: true } = &**rhs else { return };
            match name.as_str() {
                "reduce" if args.len() == 1 => wrap(lhs, FILLED),
                "filter" if args.len() == 1 => wrap(lhs, LISTED),
                "string" if args.is_empty() => wrap(lhs, WRITABLE),
                _ => {}
            }
        }
        AstNode::Binary { op: BinaryOp::Concatenate, lhs, rhs } if !is_literal(lhs) && !is_literal(rhs) => {
            wrap(node, SIZED);
        }
        AstNode::Array(items) if items.iter().filter(|item| is_spread(item)).count() > 1 => {
            items.iter_mut().filter(|item| is_spread(item)).for_each(|item| wrap(item, SIZED));
        }
        _ => {}
    }
}

fn change_call(name: &mut String, args: &mut [AstNode]) {
    match (name.as_str(), &mut *args) {
        ("pad", args) => {
            let given = args.iter_mut().filter(|arg| !matches!(arg, AstNode::Placeholder | AstNode::String(_)));
            given.for_each(|arg| wrap(arg, WIDTH));
        }
        ("string", [value, ..]) => wrap(value, WRITABLE),
        ("distinct", [_]) => DISTINCT.clone_into(name),
        ("exists", [AstNode::Variable(context)]) if context.is_empty() => wrap(&mut args[0], SAME),
        ("reduce", [list, _]) => wrap(list, FILLED),
        ("filter", [list, _]) => wrap(list, LISTED),
        _ => {}
    }
}

fn wrap(node: &mut AstNode, function: &str) {
    if matches!(node, AstNode::Placeholder) {
        return;
    }
    let inner = std::mem::replace(node, AstNode::Undefined);
    *node = AstNode::Function { name: function.to_owned(), args: vec![inner], is_builtin: true };
}

/// `$pad` handed to another function, as a function that calls it with a checked width.
fn pad_as_a_value() -> AstNode {
    let params = ["text", "width", "filler"];
    let mut args = params.map(|param| AstNode::Variable(param.to_owned()));
    wrap(&mut args[1], WIDTH);
    let body = AstNode::Function { name: "pad".to_owned(), args: args.into(), is_builtin: true };
    let params = params.map(str::to_owned).into();
    AstNode::Lambda { params, body: Box::new(body), signature: None, thunk: false }
}

fn is_literal(node: &AstNode) -> bool {
    matches!(node, AstNode::String(_) | AstNode::Number(_) | AstNode::Boolean(_) | AstNode::Null)
}

/// Whether a list at this place of `[...]` becomes part of the new one.
fn is_spread(node: &AstNode) -> bool {
    matches!(
        node,
        AstNode::Variable(_)
            | AstNode::Function { .. }
            | AstNode::Call { .. }
            | AstNode::Block(_)
            | AstNode::Conditional { .. }
    )
}

/// Every node, the inner ones first. The parser bounds how deep they nest.
fn visit(node: &mut AstNode, seen: &mut dyn FnMut(&mut AstNode)) {
    match node {
        AstNode::Path { steps } => steps.iter_mut().for_each(|step| visit_step(step, seen)),
        AstNode::Binary { lhs, rhs, .. } => {
            visit(lhs, seen);
            visit(rhs, seen);
        }
        AstNode::Unary { operand: inner, .. }
        | AstNode::FunctionApplication(inner)
        | AstNode::Lambda { body: inner, .. } => visit(inner, seen),
        AstNode::Call { procedure, args } => {
            visit(procedure, seen);
            for arg in args {
                visit(arg, seen);
            }
        }
        AstNode::Function { args: nodes, .. }
        | AstNode::Array(nodes)
        | AstNode::Block(nodes)
        | AstNode::ArrayGroup(nodes) => nodes.iter_mut().for_each(|node| visit(node, seen)),
        AstNode::Object(pairs) => visit_pairs(pairs, seen),
        AstNode::ObjectTransform { input, pattern } => {
            visit(input, seen);
            visit_pairs(pattern, seen);
        }
        AstNode::Conditional { condition, then_branch, else_branch } => {
            visit(condition, seen);
            visit(then_branch, seen);
            if let Some(branch) = else_branch {
                visit(branch, seen);
            }
        }
        AstNode::Sort { input, terms } => {
            visit(input, seen);
            for (term, _) in terms {
                visit(term, seen);
            }
        }
        AstNode::Transform { location, update, delete } => {
            visit(location, seen);
            visit(update, seen);
            if let Some(delete) = delete {
                visit(delete, seen);
            }
        }
        AstNode::String(_)
        | AstNode::Name(_)
        | AstNode::Number(_)
        | AstNode::Boolean(_)
        | AstNode::Null
        | AstNode::Undefined
        | AstNode::Placeholder
        | AstNode::Regex { .. }
        | AstNode::Variable(_)
        | AstNode::ParentVariable(_)
        | AstNode::Wildcard
        | AstNode::Descendant
        | AstNode::Parent(_) => {}
    }
    seen(node);
}

fn visit_step(step: &mut PathStep, seen: &mut dyn FnMut(&mut AstNode)) {
    visit(&mut step.node, seen);
    for stage in &mut step.stages {
        if let Stage::Filter(filter) = stage {
            visit(filter, seen);
        }
    }
}

fn visit_pairs(pairs: &mut [(AstNode, AstNode)], seen: &mut dyn FnMut(&mut AstNode)) {
    for (key, value) in pairs {
        visit(key, seen);
        visit(value, seen);
    }
}
