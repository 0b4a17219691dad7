//! What is wrong with an expression, or with what it met: one sentence, the language's own code, and the place.

use jsonata_core::{
    evaluator::{EvaluatorError, error_code_prefix},
    parser::ParserError,
};
use std::fmt;

/// Why an expression could not be parsed or evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct JsonataError {
    /// The code that the reference implementation has for it, for example `S0202` or `T2001`.
    pub code: Option<String>,
    pub message: String,
    /// Where in the expression, in characters from 0. Only known for expressions that cannot be parsed.
    pub position: Option<usize>,
}

impl JsonataError {
    /// When an evaluation takes too long.
    pub const TIME: &'static str = "D1012";
    /// When an evaluation nests too deep.
    pub const DEPTH: &'static str = "D1011";
    /// When a list becomes too long.
    pub const ITEMS: &'static str = "D2015";
    /// When a text or a result becomes too large.
    pub const BYTES: &'static str = "D3011";
    /// When `$eval` is switched off.
    pub const EVAL_OFF: &'static str = "D3122";

    pub(super) fn coded(code: &str, message: impl Into<String>) -> Self {
        Self { code: Some(code.to_owned()), message: message.into(), position: None }
    }

    pub(super) fn plain(message: impl Into<String>) -> Self {
        Self { code: None, message: message.into(), position: None }
    }

    /// From a message that may begin with its code, or with a kind and its code.
    fn from_text(text: &str) -> Self {
        let after_kind = text.split_once(": ").map_or("", |(_, rest)| rest);
        let coded = [text, after_kind].into_iter().find_map(|text| Some((error_code_prefix(text)?, text)));
        let Some((code, text)) = coded else { return Self::plain(sentence(text)) };
        let message = match code {
            Self::DEPTH => "the evaluation nests too deep; does a function call itself without end?".to_owned(),
            _ => sentence(text[code.len() + 1..].trim_start()),
        };
        Self::coded(code, message)
    }

    pub(super) fn from_parser(error: &ParserError) -> Self {
        match error {
            ParserError::UnclosedComment => Self::coded("S0106", "this comment has no end"),
            _ => Self::from_text(&error.to_string()),
        }
    }

    pub(super) fn from_evaluator(error: &EvaluatorError) -> Self {
        Self::from_text(error.message())
    }

    pub(super) fn at(mut self, position: usize) -> Self {
        self.position = Some(position);
        self
    }

    pub fn is(&self, code: &str) -> bool {
        self.code.as_deref() == Some(code)
    }
}

impl fmt::Display for JsonataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match (&self.code, self.position) {
            (Some(code), Some(position)) => write!(f, " ({code} at character {})", position + 1),
            (Some(code), None) => write!(f, " ({code})"),
            (None, Some(position)) => write!(f, " (at character {})", position + 1),
            (None, None) => Ok(()),
        }
    }
}

/// How the library's token names are written in an expression.
const TOKENS: &[(&str, &str)] = &[
    ("RightParen", "`)`"),
    ("LeftParen", "`(`"),
    ("RightBracket", "`]`"),
    ("LeftBracket", "`[`"),
    ("RightBrace", "`}`"),
    ("LeftBrace", "`{`"),
    ("Colon", "`:`"),
    ("ColonEqual", "`:=`"),
    ("Semicolon", "`;`"),
    ("Comma", "`,`"),
    ("Dot", "`.`"),
    ("DotDot", "`..`"),
    ("Question", "`?`"),
    ("Pipe", "`|`"),
    ("Plus", "`+`"),
    ("Star", "`*`"),
    ("Slash", "`/`"),
    ("Percent", "`%`"),
    ("Equal", "`=`"),
    ("NotEqual", "`!=`"),
    ("LessThan", "`<`"),
    ("LessThanOrEqual", "`<=`"),
    ("GreaterThan", "`>`"),
    ("GreaterThanOrEqual", "`>=`"),
    ("Ampersand", "`&`"),
    ("Caret", "`^`"),
    ("At", "`@`"),
    ("Hash", "`#`"),
    ("TildeArrow", "`~>`"),
    ("Minus", "`-`"),
    ("StarStar", "`**`"),
    ("QuestionQuestion", "`??`"),
    ("QuestionColon", "`?:`"),
    ("Eof", "the end"),
];

/// One line, in lower case, without a full stop, with symbols instead of token names.
fn sentence(message: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in message.split_whitespace() {
        let bare = word.trim_end_matches([',', '.', ':']);
        let symbol = TOKENS.iter().find(|(name, _)| *name == bare).map(|(_, symbol)| *symbol);
        match (symbol, token_text(word)) {
            (Some(symbol), _) => words.push(format!("{symbol}{}", &word[bare.len()..])),
            (None, Some(text)) => words.push(format!("`{text}`")),
            (None, None) => words.push(word.to_owned()),
        }
    }
    let line = words.join(" ");
    // Of several sentences the first says what is wrong.
    let line = line.split(". ").next().unwrap_or_default().trim_end_matches('.');
    let mut letters = line.chars();
    match (letters.next(), letters.next()) {
        // An abbreviation stays as it is.
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain(line.chars().skip(1)).collect()
        }
        _ => line.to_owned(),
    }
}

/// `bar` of `Identifier("bar")`, and likewise of the other tokens with a content.
fn token_text(word: &str) -> Option<&str> {
    let (kind, rest) = word.split_once('(')?;
    if !matches!(kind, "Identifier" | "Variable" | "Number" | "String" | "Name") {
        return None;
    }
    let text = rest.strip_suffix(')')?.trim_matches('"');
    Some(if kind == "Number" { text.trim_end_matches(".0") } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_one_plain_sentence() {
        let error = JsonataError::from_text("S0202: Expected RightBracket, got Colon");
        assert_eq!(error.to_string(), "expected `]`, got `:` (S0202)");
        assert_eq!(sentence("Syntax error: Identifier(\"bar\")"), "syntax error: `bar`");
        assert_eq!(sentence("regex parse error:\n    ((((a\n       ^\nerror: unclosed"), {
            "regex parse error: ((((a ^ error: unclosed"
        });
        assert_eq!(sentence("ISO dates only."), "ISO dates only");
    }
}
