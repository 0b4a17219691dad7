//! What stands where a path is allowed: a path, or a call of an intrinsic function whose arguments are paths, calls and
//! plain values.

use super::{
    evaluate::{PathFault, Roots},
    intrinsics::Function,
    parse::{Cursor, JsonPath, PathError},
};
use serde_json::Value;
use std::borrow::Cow;

#[derive(Debug, Clone, PartialEq)]
pub enum PathExpression {
    Path(JsonPath),
    Call(Call),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub(super) function: Function,
    pub(super) arguments: Vec<Argument>,
    pub(super) text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Argument {
    Path(JsonPath),
    Call(Call),
    /// As written between the quotes; `States.Format` has its own reading of escapes.
    Text(String),
    Plain(Value),
}

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationFault {
    #[error("{fault}")]
    Path { path: String, fault: PathFault },
    #[error("The function '{call}' had the following error: {reason}")]
    Intrinsic { call: String, reason: String },
}

/// The language allows this many calls within calls.
const DEEPEST_CALL: usize = 10;

impl PathExpression {
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if !text.starts_with("States.") {
            return JsonPath::parse(text).map(Self::Path);
        }
        let mut cursor = Cursor::new(text);
        let call = read_call(&mut cursor, 0)?;
        cursor.skip_space();
        match cursor.peek() {
            None => Ok(Self::Call(call)),
            Some(_) => Err(cursor.error("nothing follows the closing bracket of a function")),
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Path(path) => &path.text,
            Self::Call(call) => &call.text,
        }
    }

    pub fn evaluate<'a>(&self, roots: &'a dyn Roots) -> Result<Cow<'a, Value>, EvaluationFault> {
        match self {
            Self::Path(path) => select(path, roots),
            Self::Call(call) => call.evaluate(roots).map(Cow::Owned),
        }
    }
}

fn select<'a>(path: &JsonPath, roots: &'a dyn Roots) -> Result<Cow<'a, Value>, EvaluationFault> {
    path.select(roots).map_err(|fault| EvaluationFault::Path { path: path.text.clone(), fault })
}

fn read_call(cursor: &mut Cursor, depth: usize) -> Result<Call, PathError> {
    let start = cursor.at;
    if depth >= DEEPEST_CALL {
        return Err(cursor.error(format!("functions nest at most {DEEPEST_CALL} levels deep")));
    }
    let name = cursor.while_some(|c| c.is_alphanumeric() || c == '.');
    let function = Function::named(&name).ok_or_else(|| {
        let known = Function::names().min_by_key(|known| strsim::damerau_levenshtein(known, &name));
        cursor.error_at(start, format!("there is no function `{name}`; did you mean `{}`?", known.unwrap_or_default()))
    })?;
    cursor.skip_space();
    if !cursor.take('(') {
        return Err(cursor.error(format!("the arguments of `{name}` are missing: `{name}(...)`")));
    }
    let mut arguments = Vec::new();
    cursor.skip_space();
    while !cursor.take(')') {
        if !arguments.is_empty() {
            if !cursor.take(',') {
                return Err(cursor.error("`,` or `)` is missing"));
            }
            cursor.skip_space();
        }
        arguments.push(read_argument(cursor, depth)?);
        cursor.skip_space();
    }
    let allowed = function.arguments();
    if !allowed.contains(&arguments.len()) {
        let count = if allowed.start() == allowed.end() {
            allowed.start().to_string()
        } else {
            format!("{} to {}", allowed.start(), allowed.end())
        };
        return Err(cursor.error_at(start, format!("`{name}` takes {count} arguments, here are {}", arguments.len())));
    }
    Ok(Call { function, arguments, text: cursor.since(start) })
}

fn read_argument(cursor: &mut Cursor, depth: usize) -> Result<Argument, PathError> {
    match cursor.peek() {
        Some('$') => JsonPath::read(cursor).map(Argument::Path),
        Some('\'') => read_text(cursor).map(Argument::Text),
        Some('S') => read_call(cursor, depth + 1).map(Argument::Call),
        _ => {
            let start = cursor.at;
            let word = cursor.while_some(|c| c.is_alphanumeric() || matches!(c, '-' | '+' | '.'));
            let value = serde_json::from_str(&word).map(Argument::Plain);
            value.map_err(|_| {
                cursor.error_at(start, "an argument is a path, a 'text', a number, true, false, null or a function")
            })
        }
    }
}

fn read_text(cursor: &mut Cursor) -> Result<String, PathError> {
    let start = cursor.at;
    cursor.next();
    let inner = cursor.at;
    loop {
        match cursor.next() {
            Some('\\') => drop(cursor.next()),
            Some('\'') => break,
            Some(_) => {}
            None => return Err(cursor.error_at(start, "this text has no end")),
        }
    }
    let mut text = cursor.since(inner);
    text.pop();
    Ok(text)
}

impl Call {
    fn evaluate(&self, roots: &dyn Roots) -> Result<Value, EvaluationFault> {
        let mut given = Vec::with_capacity(self.arguments.len());
        for (place, argument) in self.arguments.iter().enumerate() {
            given.push(match argument {
                Argument::Path(path) => select(path, roots)?.into_owned(),
                Argument::Call(call) => call.evaluate(roots)?,
                Argument::Text(text) if self.function == Function::Format && place == 0 => Value::String(text.clone()),
                Argument::Text(text) => Value::String(without_escapes(text)),
                Argument::Plain(value) => value.clone(),
            });
        }
        let result = self.function.call(&given, roots);
        result.map_err(|reason| EvaluationFault::Intrinsic { call: self.text.clone(), reason })
    }
}

/// `\'`, `\{`, `\}` and `\\` stand for what follows the backslash.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some('\'' | '{' | '}' | '\\')) => plain.extend(letters.next()),
            _ => plain.push(letter),
        }
    }
    plain
}
