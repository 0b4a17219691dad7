//! Regular expressions that are compiled once, with the expression they stand in. The library compiles one each time it
//! is used; `guard` hands calls with a pattern as it is written over to the functions here.

use super::{
    functions::{Registry, too_long},
    limits::Limits,
};
use jsonata_core::{
    ast::AstNode,
    evaluator::EvaluatorError,
    functions::string::{RegexMatches, build_regex, match_regex, replace_regex, substitute_capture_groups},
    value::JValue,
};
use regex::Regex;
use std::{borrow::Cow, sync::Arc};

/// Names with a space, so that no expression can mean them.
const CONTAINS: &str = "contains a pattern";
const SPLIT: &str = "split at a pattern";
const MATCH: &str = "match a pattern";
const REPLACE: &str = "replace a pattern";

/// The patterns of one expression.
#[derive(Clone, Default)]
pub(super) struct Patterns(Arc<Vec<Regex>>);

type Outcome = Result<JValue, EvaluatorError>;

impl Patterns {
    /// A call such as `$contains(text, /pattern/)`, with the number of its pattern instead. `place` is where the pattern
    /// stands. What cannot be compiled is left to the library, which says so when it is reached.
    pub(super) fn take_over(&mut self, name: &mut String, args: &mut [AstNode], place: usize) {
        let own = match (name.as_str(), args.get(place + 1..)) {
            ("contains", Some([])) => CONTAINS,
            ("split", Some([])) => SPLIT,
            ("match", Some([] | [_])) => MATCH,
            // What is no text may be a function, which only the library can call.
            ("replace", Some([AstNode::String(_)] | [AstNode::String(_), _])) => REPLACE,
            _ => return,
        };
        if args.iter().any(|arg| matches!(arg, AstNode::Placeholder)) {
            return;
        }
        let Some(AstNode::Regex { pattern, flags }) = args.get(place) else { return };
        let Ok(regex) = build_regex(pattern, flags) else { return };
        let number = self.0.len();
        Arc::make_mut(&mut self.0).push(regex);
        own.clone_into(name);
        args[place] = AstNode::Number(number as f64);
    }

    pub(super) fn register(&self, registry: &mut Registry<'_>, limits: Limits) -> Result<(), EvaluatorError> {
        let own = self.clone();
        registry.add(CONTAINS, move |given: &[JValue]| {
            own.with("contains", given, |regex, text, _| Ok(JValue::Bool(regex.is_match(text))))
        })?;
        let own = self.clone();
        registry.add(SPLIT, move |given: &[JValue]| {
            own.with("split", given, |regex, text, _| Ok(JValue::array(regex.split(text).map(JValue::from).collect())))
        })?;
        let own = self.clone();
        registry.add(MATCH, move |given: &[JValue]| {
            own.with("match", given, |regex, text, rest| {
                let negative = "D3040: Third argument of match function must evaluate to a positive number";
                Ok(match_regex(regex, text, most("match", 3, rest.first(), negative)?)?)
            })
        })?;
        let own = self.clone();
        registry.add(REPLACE, move |given: &[JValue]| {
            own.with("replace", given, |regex, text, rest| replace(regex, text, rest, limits))
        })
    }

    fn with(&self, name: &str, given: &[JValue], work: impl FnOnce(&Regex, &str, &[JValue]) -> Outcome) -> Outcome {
        match given {
            [JValue::Undefined, ..] => Ok(JValue::Undefined),
            [JValue::String(text), JValue::Number(number), rest @ ..] => match self.0.get(*number as usize) {
                Some(regex) => work(regex, text, rest),
                None => Ok(JValue::Undefined),
            },
            _ => Err(unfit(name, 1)),
        }
    }
}

fn unfit(name: &str, place: usize) -> EvaluatorError {
    EvaluatorError::TypeError(format!(
        "T0410: argument {place} of function \"{name}\" does not match function signature"
    ))
}

/// How many matches are wanted; a part of one counts as one.
fn most(name: &str, place: usize, given: Option<&JValue>, negative: &str) -> Result<Option<usize>, EvaluatorError> {
    match given {
        None | Some(JValue::Undefined) => Ok(None),
        Some(JValue::Number(most)) if *most < 0.0 => Err(EvaluatorError::EvaluationError(negative.to_owned())),
        Some(JValue::Number(most)) => Ok(Some(most.ceil() as usize)),
        Some(_) => Err(unfit(name, place)),
    }
}

fn replace(regex: &Regex, text: &str, rest: &[JValue], limits: Limits) -> Outcome {
    let Some(JValue::String(replacement)) = rest.first() else { return Err(unfit("replace", 3)) };
    let negative = "D3011: Fourth argument of replace function must evaluate to a positive number";
    let most = most("replace", 4, rest.get(1), negative)?;
    let replaced = replace_regex(RegexMatches::new(regex, text), most, |found, written| {
        if written.len() > limits.bytes {
            return Err(too_long(limits));
        }
        substitute_capture_groups(written, replacement, found.text, found.groups.len(), |group| {
            Ok::<_, EvaluatorError>(found.groups[group].map(Cow::Borrowed))
        })
    })?;
    Ok(JValue::from(replaced))
}
