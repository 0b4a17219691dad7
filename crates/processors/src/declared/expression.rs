//! Expressions in YAML: reading them with the exact place of a mistake, and what they see when they run.

use bindery_engine::context::StepContext;
use bindery_states::jsonata::{Bindings, Expression, JsonataError, Limits, Scope};
use bindery_yaml::{Data, Node, Place, Problems};
use serde_json::Value;
use std::time::Duration;

/// One expression may take this long; a definition has a handful of them.
const MOST_TIME: Duration = Duration::from_secs(5);

/// The text of a file, to find the line of a mistake inside of a value.
#[derive(Debug)]
pub(crate) struct Source<'t> {
    lines: Vec<&'t str>,
}

impl<'t> Source<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { lines: text.strip_prefix('\u{feff}').unwrap_or(text).lines().collect() }
    }

    /// The place of a character of a text value; where the value begins when it is written in a way that does not say,
    /// such as with escapes or folded lines.
    fn place_in(&self, node: &Node, text: &str, position: usize) -> Place {
        let start = node.place;
        let before: String = text.chars().take(position).collect();
        let (above, beside) = match before.rsplit_once('\n') {
            Some((above, beside)) => (above.matches('\n').count() + 1, beside),
            None => (0, before.as_str()),
        };
        let line = start.line + above;
        // The lines of a block stand below each other; a text in quotes begins after the quote.
        let written = self.lines.get(line - 1).map(|line| line.chars().skip(start.column - 1));
        let written: String = written.into_iter().flatten().collect();
        let quotes = (0..=1).find(|quotes| written.get(*quotes..).is_some_and(|rest| rest.starts_with(beside)));
        quotes.map_or(start, |quotes| Place { line, column: start.column + quotes + beside.chars().count() })
    }
}

/// The expression that a node holds; `None` only together with a problem.
pub(crate) fn read_expression(
    node: &Node,
    path: &str,
    source: &Source<'_>,
    problems: &mut Problems,
) -> Option<Expression> {
    let text = match &node.data {
        Data::Text(text) => text.clone(),
        Data::Bool(value) => value.to_string(),
        Data::Integer(value) => value.to_string(),
        Data::Float(value) => value.to_string(),
        Data::Null | Data::List(_) | Data::Mapping(_) => {
            let message = format!("expected an expression, found {}", node.describe());
            let hint = match node.data {
                Data::Null => "leave the key out, or write an expression such as `total * 2`",
                _ => "an expression that begins with `{` or `[` goes in quotes, or on its own lines after `|`",
            };
            problems.add_with_hint(node.place, path, message, hint);
            return None;
        }
    };
    match Expression::parse(&text) {
        Ok(expression) => Some(expression),
        Err(error) => {
            let place = error.position.map_or(node.place, |position| source.place_in(node, &text, position));
            let JsonataError { code, message, .. } = error;
            let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
            problems.add(place, path, format!("not a JSONata expression: {message}{code}"));
            None
        }
    }
}

/// What an expression may use in this step.
pub(crate) fn limits(context: &StepContext) -> Limits {
    Limits { time: context.time_left().map_or(MOST_TIME, |left| left.min(MOST_TIME)), ..Limits::default() }
}

/// What the expressions of a step see: the value as `$`, the stage's `$settings`, and the `$input` where there is one.
pub(crate) fn scope(value: &Value, context: &StepContext, input: Option<&Value>, limits: Limits) -> Scope<'static> {
    let mut bindings = Bindings::default().with("settings", Value::Object(context.settings().clone()));
    if let Some(input) = input {
        bindings = bindings.with("input", input.clone());
    }
    Scope::new(value, &bindings, limits)
}
