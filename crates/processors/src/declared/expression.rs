//! Expressions in YAML: reading them with the exact place of a mistake, and what they see when they run.

use bindery_engine::{
    context::StepContext,
    yaml::{Data, Node, Place, Problems},
};
use bindery_states::jsonata::{Bindings, Expression, JsonataError, Limits, Scope};
use serde_json::Value;
use std::time::{Duration, Instant};

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

    /// The place of a character of a text value; where the value begins when it is written in a way that does not say.
    fn place_in(&self, node: &Node, text: &str, position: usize) -> Place {
        let place = node.place;
        let line_at = |line: usize| self.lines.get(line.wrapping_sub(1)).copied().unwrap_or_default();
        let before: String = text.chars().take(position).collect();
        let written: String = line_at(place.line).chars().skip(place.column - 1).collect();
        let quotes = usize::from(written.starts_with(['"', '\'']));
        if written.get(quotes..).is_some_and(|rest| rest.starts_with(&before)) {
            return Place { line: place.line, column: place.column + quotes + position };
        }
        if !written.starts_with('|') {
            return place;
        }
        // The lines of a block stand below its sign, each after the same number of spaces.
        let (above, column) = match before.rsplit_once('\n') {
            Some((above, rest)) => (above.matches('\n').count() + 1, rest.chars().count()),
            None => (0, before.chars().count()),
        };
        let line = place.line + 1 + above;
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let indented = (place.line + 1..).map_while(|line| self.lines.get(line - 1)).find(|line| line.ends_with(first));
        let indent = indented.map_or(0, |line| line.chars().count() - first.chars().count());
        Place { line, column: indent + column + 1 }
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
    let left = context.deadline().map(|deadline| deadline.saturating_duration_since(Instant::now()));
    Limits { time: left.map_or(MOST_TIME, |left| left.min(MOST_TIME)), ..Limits::default() }
}

/// What the expressions of a step see: the value as `$`, the stage's `$settings`, and the `$input` where there is one.
pub(crate) fn scope(value: &Value, context: &StepContext, input: Option<&Value>, limits: Limits) -> Scope {
    let mut bindings = Bindings::default().with("settings", Value::Object(context.settings().clone()));
    if let Some(input) = input {
        bindings = bindings.with("input", input.clone());
    }
    Scope::new(value, &bindings, limits)
}
