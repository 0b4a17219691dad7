//! Changes to a parsed expression that keep it within its limits, and that put right what the library gets wrong.
//!
//! | where | why |
//! |---|---|
//! | the arguments of `$pad` | its width is not limited |
//! | the sides of `&`, lists in `[...]` | each can double what it is given, and a loop can repeat it |
//! | the argument of `$string` and of `$join` | shared parts are written out again and again |
//! | `$distinct` | takes quadratic time |
//! | `$exists($)` | is false in a predicate, whatever the item |
//! | `$reduce` of an empty list | gives null instead of nothing |
//! | `$filter` of null | swallows the errors of its function |
//! | `$toMillis` of a text as it is written | reads it each time |
//! | `$contains`, `$split`, `$match` and `$replace` with a pattern | compile it each time |

use super::{
    functions::{DISTINCT, FILLED, LISTED, SAME, SIZED, WIDTH, WRITABLE},
    patterns::Patterns,
};
use jsonata_core::{
    ast::{AstNode, BinaryOp, PathStep, Stage},
    evaluator::Evaluator,
    value::JValue,
};
use std::collections::{HashMap, HashSet};

/// An expression of so few parts, without functions and variables of its own, cannot make much of a little. It runs
/// without the checks against growth, which cost time.
const HARMLESS_PARTS: usize = 24;

/// What an expression is made of.
#[derive(Default)]
struct Survey {
    parts: usize,
    /// Variables and parameters. What has a built-in's name is left alone.
    own: HashSet<String>,
    /// For each parameter how often it stands for a part of the input, less how often it is one at all.
    parameters: HashMap<String, isize>,
    repeats: bool,
    /// A moment is read from a text that is handed on, which a call alone does not show.
    moment_handed_on: bool,
}

impl Survey {
    fn note(&mut self, node: &AstNode) {
        self.parts += 1;
        match node {
            AstNode::Binary { op: BinaryOp::ColonEqual, lhs, .. } => {
                self.repeats = true;
                if let AstNode::Variable(name) = &**lhs {
                    self.own.insert(name.clone());
                }
            }
            AstNode::Binary { op: BinaryOp::ChainPipe, rhs, .. } => {
                self.moment_handed_on |= matches!(&**rhs, AstNode::Function { name, .. } if name == "toMillis");
            }
            AstNode::Path { steps } => {
                for step in steps {
                    self.own.extend(step.focus.iter().chain(&step.index_var).cloned());
                    self.own.extend(step.stages.iter().filter_map(|stage| match stage {
                        Stage::Index(name) => Some(name.clone()),
                        _ => None,
                    }));
                }
            }
            AstNode::Lambda { params, .. } => {
                self.repeats = true;
                self.own.extend(params.iter().cloned());
                self.count(params, -1);
            }
            AstNode::Function { name, args, is_builtin: true } => {
                if let ("map" | "filter", [list, AstNode::Lambda { params, .. }]) = (name.as_str(), &args[..])
                    && is_of_the_input(list)
                {
                    // A third one would be the whole list.
                    self.count(&params[..params.len().min(2)], 1);
                }
            }
            _ => {}
        }
    }

    fn count(&mut self, params: &[String], change: isize) {
        for param in params {
            *self.parameters.entry(param.clone()).or_default() += change;
        }
    }

    fn can_grow(&self) -> bool {
        self.repeats || self.parts > HARMLESS_PARTS
    }

    /// Parameters that always stand for a part of the input, or for its place: they are not larger than what came in,
    /// whatever is done with the results.
    fn parts_of_the_input(&self) -> HashSet<&str> {
        let always = self.parameters.iter().filter(|(_, count)| **count == 0);
        always.map(|(name, _)| name.as_str()).collect()
    }
}

/// Whether the items of a list are parts of what came in, as they are.
fn is_of_the_input(list: &AstNode) -> bool {
    match list {
        AstNode::Path { steps } => steps.iter().enumerate().all(|(place, step)| match &step.node {
            AstNode::Name(_) => true,
            AstNode::Variable(_) => place == 0,
            _ => false,
        }),
        AstNode::Function { name, args, is_builtin: true } => match (name.as_str(), &args[..]) {
            ("filter", [list, AstNode::Lambda { .. }]) => is_of_the_input(list),
            _ => false,
        },
        _ => false,
    }
}

/// Also gives the names of the expression's own variables and parameters, and keeps the patterns it compiles.
pub(super) fn apply(root: &mut AstNode, patterns: &mut Patterns) -> HashSet<String> {
    let mut survey = Survey::default();
    visit(root, &mut |node| survey.note(node));
    let own = &survey.own;
    let read_moments = !survey.moment_handed_on && !own.contains("toMillis");
    visit(root, &mut |node| {
        if let Some(moment) = moment(node).filter(|_| read_moments) {
            *node = moment;
        }
        put_right(node, own, patterns);
    });
    if survey.can_grow() {
        let parts = survey.parts_of_the_input();
        visit(root, &mut |node| hold_back(node, own, &parts));
    }
    survey.own
}

fn put_right(node: &mut AstNode, own: &HashSet<String>, patterns: &mut Patterns) {
    match node {
        AstNode::Function { name, args, is_builtin: true } if !own.contains(name) => {
            patterns.take_over(name, args, 1);
            put_call_right(name, args);
        }
        // What calls one of our functions last needs no help against calling itself without end.
        AstNode::Lambda { body, thunk, .. } => {
            let is_ours = |name: &str| name.contains(' ');
            *thunk &= !matches!(&**body, AstNode::Function { name, .. } if is_ours(name));
        }
        AstNode::Variable(name) if name == "distinct" && !own.contains(name) => DISTINCT.clone_into(name),
        AstNode::Variable(name) if name == "pad" && !own.contains(name) => *node = pad_as_a_value(),
        AstNode::Binary { op: BinaryOp::ChainPipe, lhs, rhs } => {
            let AstNode::Function { name, args, is_builtin: true } = &mut **rhs else { return };
            if !own.contains(name) {
                patterns.take_over(name, args, 0);
            }
            match name.as_str() {
                "reduce" if args.len() == 1 => wrap(lhs, FILLED),
                "filter" if args.len() == 1 => wrap(lhs, LISTED),
                _ => {}
            }
        }
        _ => {}
    }
}

/// The language has no way to write a moment but as a text, which means the same each time.
fn moment(node: &AstNode) -> Option<AstNode> {
    let AstNode::Function { name, args, is_builtin: true } = node else { return None };
    if name != "toMillis" || !args.iter().all(|arg| matches!(arg, AstNode::String(_))) || args.is_empty() {
        return None;
    }
    match Evaluator::new().evaluate(node, &JValue::Undefined) {
        Ok(JValue::Number(moment)) => Some(AstNode::Number(moment)),
        _ => None,
    }
}

fn put_call_right(name: &mut String, args: &mut [AstNode]) {
    match (name.as_str(), &mut *args) {
        ("pad", args) => {
            let given = args.iter_mut().filter(|arg| !matches!(arg, AstNode::Placeholder | AstNode::String(_)));
            given.for_each(|arg| wrap(arg, WIDTH));
        }
        ("distinct", [_]) => DISTINCT.clone_into(name),
        ("exists", [AstNode::Variable(context)]) if context.is_empty() => wrap(&mut args[0], SAME),
        ("reduce", [list, _]) => wrap(list, FILLED),
        ("filter", [list, _]) => wrap(list, LISTED),
        _ => {}
    }
}

fn hold_back(node: &mut AstNode, own: &HashSet<String>, parts: &HashSet<&str>) {
    let is_writer = |name: &str| matches!(name, "string" | "join") && !own.contains(name);
    match node {
        AstNode::Function { name, args, is_builtin: true } if is_writer(name) => {
            args.iter_mut().take(1).for_each(|arg| wrap(arg, WRITABLE));
        }
        AstNode::Binary { op: BinaryOp::ChainPipe, lhs, rhs } => match &**rhs {
            AstNode::Function { name, is_builtin: true, .. } | AstNode::Variable(name) if is_writer(name) => {
                wrap(lhs, WRITABLE);
            }
            _ => {}
        },
        AstNode::Binary { op: BinaryOp::Concatenate, lhs, rhs } => {
            for side in [lhs, rhs].into_iter().filter(|side| !is_text(side, parts)) {
                wrap(side, WRITABLE);
            }
        }
        AstNode::Array(items) if items.iter().filter(|item| is_spread(item)).count() > 1 => {
            items.iter_mut().filter(|item| is_spread(item)).for_each(|item| wrap(item, SIZED));
        }
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

/// Whether it is as long as it is written, or as what came in, or put together from sides that are checked themselves.
fn is_text(node: &AstNode, parts: &HashSet<&str>) -> bool {
    match node {
        AstNode::String(_)
        | AstNode::Number(_)
        | AstNode::Boolean(_)
        | AstNode::Null
        | AstNode::Binary { op: BinaryOp::Concatenate, .. } => true,
        AstNode::Variable(name) => parts.contains(name.as_str()),
        AstNode::Path { steps } => match steps.split_first() {
            Some((first, rest)) => {
                is_text(&first.node, parts) && rest.iter().all(|step| matches!(step.node, AstNode::Name(_)))
            }
            None => false,
        },
        AstNode::Function { name, args, is_builtin: true } => {
            matches!(name.as_str(), "uppercase" | "lowercase" | "trim" | "length")
                && args.iter().all(|arg| is_text(arg, parts))
        }
        _ => false,
    }
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
pub(super) fn visit(node: &mut AstNode, seen: &mut dyn FnMut(&mut AstNode)) {
    children(node, &mut |child| visit(child, seen));
    seen(node);
}

/// The nodes right below one.
pub(super) fn children(node: &mut AstNode, each: &mut dyn FnMut(&mut AstNode)) {
    match node {
        AstNode::Path { steps } => steps.iter_mut().for_each(|step| children_of_step(step, each)),
        AstNode::Binary { lhs, rhs, .. } => {
            each(lhs);
            each(rhs);
        }
        AstNode::Unary { operand: inner, .. }
        | AstNode::FunctionApplication(inner)
        | AstNode::Lambda { body: inner, .. } => each(inner),
        AstNode::Call { procedure, args } => {
            each(procedure);
            args.iter_mut().for_each(each);
        }
        AstNode::Function { args: nodes, .. }
        | AstNode::Array(nodes)
        | AstNode::Block(nodes)
        | AstNode::ArrayGroup(nodes) => nodes.iter_mut().for_each(each),
        AstNode::Object(pairs) => of_pairs(pairs, each),
        AstNode::ObjectTransform { input, pattern } => {
            each(input);
            of_pairs(pattern, each);
        }
        AstNode::Conditional { condition, then_branch, else_branch } => {
            each(condition);
            each(then_branch);
            if let Some(branch) = else_branch {
                each(branch);
            }
        }
        AstNode::Sort { input, terms } => {
            each(input);
            for (term, _) in terms {
                each(term);
            }
        }
        AstNode::Transform { location, update, delete } => {
            each(location);
            each(update);
            if let Some(delete) = delete {
                each(delete);
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
}

pub(super) fn children_of_step(step: &mut PathStep, each: &mut dyn FnMut(&mut AstNode)) {
    each(&mut step.node);
    for stage in &mut step.stages {
        if let Stage::Filter(filter) = stage {
            each(filter);
        }
    }
}

fn of_pairs(pairs: &mut [(AstNode, AstNode)], each: &mut dyn FnMut(&mut AstNode)) {
    for (key, value) in pairs {
        each(key);
        each(value);
    }
}
