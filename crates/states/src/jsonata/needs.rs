//! What an expression looks at, so that only that is made ready for it: a state's input may be large, and an expression
//! seldom asks for more than a few fields of it.

use super::guard::{children, children_of_step};
use jsonata_core::{
    ast::{AstNode, PathStep, Stage},
    value::with_stack,
};
use std::collections::{BTreeMap, HashSet};

/// Functions that look at nothing but the value they are given.
const OF_ONE_VALUE: &[&str] = &[
    "average",
    "boolean",
    "count",
    "exists",
    "length",
    "lowercase",
    "max",
    "min",
    "not",
    "number",
    "string",
    "sum",
    "trim",
    "uppercase",
];

/// The part of a value that is looked at. What is not part of it may be missing without making a difference.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Need {
    All,
    /// These fields of an object, or of each object of a list.
    Fields(BTreeMap<String, Need>),
    /// One item of a list, or what is no list.
    Item(usize, Box<Need>),
}

impl Need {
    /// What is needed of a field; none if it is not looked at.
    pub(super) fn part(&self, name: &str) -> Option<&Self> {
        match self {
            Self::All => Some(self),
            Self::Fields(fields) => fields.get(name),
            Self::Item(_, need) => need.part(name),
        }
    }

    /// Nothing but these fields, if that is all that expressions look at in what they are evaluated over.
    pub(super) fn of_context<'n>(nodes: impl IntoIterator<Item = &'n AstNode>, own: &HashSet<String>) -> Self {
        let mut all = Self::nothing();
        for node in nodes {
            all.join(Self::in_context(node, own));
        }
        all
    }

    fn in_context(node: &AstNode, own: &HashSet<String>) -> Self {
        match node {
            AstNode::String(_) | AstNode::Number(_) | AstNode::Boolean(_) | AstNode::Null => Self::nothing(),
            AstNode::Name(name) => Self::Fields(BTreeMap::from([(name.clone(), Self::All)])),
            AstNode::Path { steps } if steps.iter().all(|step| plain_step(step).is_some()) => Self::from_steps(steps),
            // With its one argument there, none of them takes the context instead.
            AstNode::Function { name, args, is_builtin: true }
                if args.len() == 1 && OF_ONE_VALUE.contains(&name.as_str()) && !own.contains(name) =>
            {
                Self::in_context(&args[0], own)
            }
            _ => Self::All,
        }
    }

    fn nothing() -> Self {
        Self::Fields(BTreeMap::new())
    }

    fn join(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::All, _) => {}
            (Self::Fields(own), Self::Fields(others)) => {
                for (name, need) in others {
                    match own.get_mut(&name) {
                        Some(known) => known.join(need),
                        None => {
                            own.insert(name, need);
                        }
                    }
                }
            }
            (Self::Item(own, known), Self::Item(other, need)) if *own == other => known.join(*need),
            _ => *self = Self::All,
        }
    }

    /// Along the steps of a path, as far as they are plain.
    fn from_steps(steps: &[PathStep]) -> Self {
        let Some((step, rest)) = steps.split_first() else { return Self::All };
        let (name, need) = match (plain_step(step), &step.node) {
            (Some((name, None)), _) => (name, Self::from_steps(rest)),
            (Some((name, Some(item))), _) => (name, Self::Item(item, Box::new(Self::from_steps(rest)))),
            (None, AstNode::Name(name)) if !is_bound(step) => (name.as_str(), Self::All),
            _ => return Self::All,
        };
        Self::Fields(BTreeMap::from([(name.to_owned(), need)]))
    }
}

/// A step that is a name, or a name and the number of an item.
pub(super) fn plain_step(step: &PathStep) -> Option<(&str, Option<usize>)> {
    let AstNode::Name(name) = &step.node else { return None };
    let item = match &step.stages[..] {
        _ if is_bound(step) => return None,
        [] => None,
        [Stage::Filter(filter)] => match **filter {
            AstNode::Number(number) if number >= 0.0 && number.fract() == 0.0 => Some(number as usize),
            _ => return None,
        },
        _ => return None,
    };
    Some((name, item))
}

/// Whether more than its value is kept of a step.
pub(super) fn is_bound(step: &PathStep) -> bool {
    step.focus.is_some()
        || step.index_var.is_some()
        || step.ancestor_label.is_some()
        || step.is_tuple
        || step.inner_tuple
}

/// The names that an expression mentions, variables and functions alike, and what it needs of each.
pub(super) fn from_node(root: &mut AstNode) -> Need {
    let mut all = Need::nothing();
    look(root, &mut all);
    all
}

fn look(node: &mut AstNode, found: &mut Need) {
    let mut need = |name: &str, need: Need| found.join(Need::Fields(BTreeMap::from([(name.to_owned(), need)])));
    match node {
        // Text that is run may mention anything, and a parent is what nobody has named.
        AstNode::Parent(_) => *found = Need::All,
        AstNode::Variable(name) | AstNode::Function { name, .. } if name == "eval" => *found = Need::All,
        AstNode::Path { steps } => {
            let Some((first, rest)) = steps.split_first_mut() else { return };
            match &first.node {
                AstNode::Variable(name) if first.stages.is_empty() && !is_bound(first) => {
                    need(name, Need::from_steps(rest));
                }
                _ => children_of_step(first, &mut |child| with_stack(|| look(child, found))),
            }
            for step in rest {
                children_of_step(step, &mut |child| with_stack(|| look(child, found)));
            }
            return;
        }
        AstNode::Variable(name) | AstNode::Function { name, .. } => need(name, Need::All),
        _ => {}
    }
    children(node, &mut |child| with_stack(|| look(child, found)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonata_core::parser;

    fn describe(source: &str) -> String {
        fn show(need: &Need) -> String {
            match need {
                Need::All => "*".to_owned(),
                Need::Item(item, need) => format!("[{item}]{}", show(need)),
                Need::Fields(fields) => {
                    let fields: Vec<String> =
                        fields.iter().map(|(name, need)| format!("{name}:{}", show(need))).collect();
                    format!("{{{}}}", fields.join(","))
                }
            }
        }
        show(&from_node(&mut parser::parse(source).unwrap()))
    }

    #[test]
    fn only_what_is_named_is_needed() {
        for (source, expected) in [
            ("$s.input.a.b", "{s:{input:{a:{b:*}}}}"),
            ("$s.input.a[2].b + $s.input.c", "{s:{input:{a:[2]{b:*},c:*}}}"),
            ("$s.input.a.b & $s.input.a", "{s:{input:{a:*}}}"),
            ("$s.input.a[x = 1].b", "{s:{input:{a:*}}}"),
            ("$s.input.*", "{s:{input:*}}"),
            ("$s[0].input", "{s:*}"),
            ("$s", "{s:*}"),
            ("a.$s.b", "{s:*}"),
            ("$s.a.b.%.c", "*"),
            ("$eval('$s')", "*"),
            ("$count($s.a[-1])", "{count:*,s:{a:*}}"),
            ("$map($s.a, function($x){ $x.y & $s.b })", "{map:*,s:{a:*,b:*},x:{y:*}}"),
        ] {
            assert_eq!(describe(source), expected, "{source}");
        }
    }
}
