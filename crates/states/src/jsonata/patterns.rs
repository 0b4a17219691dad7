//! Regular expressions that are compiled once. The library compiles one each time it is used; `guard` hands `$contains`
//! and `$split` with a pattern as it is written over to these functions, which keep what they have compiled.

use jsonata_core::{
    ast::AstNode,
    evaluator::{Evaluator, EvaluatorError},
    functions::string::build_regex,
    value::JValue,
};
use regex::Regex;
use std::{cell::RefCell, collections::HashMap};

/// Names with a space, so that no expression can mean them.
const CONTAINS: &str = "contains a pattern";
const SPLIT: &str = "split at a pattern";
/// More are not kept; then all are forgotten.
const MOST_KEPT: usize = 256;

thread_local! {
    static COMPILED: RefCell<HashMap<(String, String), Regex>> = RefCell::new(HashMap::new());
}

pub(super) fn register(evaluator: &mut Evaluator) -> Result<(), EvaluatorError> {
    evaluator.register_fn(CONTAINS, |given: &[JValue]| {
        with_pattern("contains", given, |regex, text| JValue::Bool(regex.is_match(text)))
    })?;
    evaluator.register_fn(SPLIT, |given: &[JValue]| {
        with_pattern("split", given, |regex, text| JValue::array(regex.split(text).map(JValue::from).collect()))
    })
}

/// `$contains(text, /pattern/)` with its pattern as two texts.
pub(super) fn hand_over(name: &mut String, args: &mut Vec<AstNode>) {
    let own = match name.as_str() {
        "contains" => CONTAINS,
        "split" => SPLIT,
        _ => return,
    };
    if let [_, AstNode::Regex { pattern, flags }] = &args[..] {
        let texts = [AstNode::String(pattern.clone()), AstNode::String(flags.clone())];
        own.clone_into(name);
        args.pop();
        args.extend(texts);
    }
}

fn with_pattern(
    name: &str,
    given: &[JValue],
    work: impl FnOnce(&Regex, &str) -> JValue,
) -> Result<JValue, EvaluatorError> {
    let (text, pattern, flags) = match given {
        [JValue::Undefined, ..] => return Ok(JValue::Undefined),
        [JValue::String(text), JValue::String(pattern), JValue::String(flags)] => (text, pattern, flags),
        _ => {
            let message = format!("T0410: argument 1 of function \"{name}\" does not match function signature");
            return Err(EvaluatorError::TypeError(message));
        }
    };
    COMPILED.with_borrow_mut(|compiled| {
        let key = (pattern.to_string(), flags.to_string());
        if !compiled.contains_key(&key) {
            if compiled.len() >= MOST_KEPT {
                compiled.clear();
            }
            compiled.insert(
                key.clone(),
                build_regex(pattern, flags).map_err(|error| EvaluatorError::EvaluationError(error.to_string()))?,
            );
        }
        Ok(compiled.get(&key).map_or(JValue::Undefined, |regex| work(regex, text)))
    })
}
