//! From text to a path.

use super::filter::{self, Filter};

/// A parsed path, and the text it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonPath {
    pub root: Root,
    pub steps: Vec<Step>,
    pub text: String,
}

/// What a path starts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Root {
    /// `$`: the input.
    Input,
    /// `$$`: the context object.
    Context,
    /// `$name`: a variable.
    Variable(String),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Child(String),
    Index(i64),
    Wildcard,
    Slice {
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    },
    /// Several names, or several places of a list.
    Union(Vec<Step>),
    Filter(Filter),
    /// The next step, at every depth.
    Descend(Box<Step>),
    /// `.length()`: how many there are.
    Length,
}

/// Why a text is no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (at character {})", position + 1)]
pub struct PathError {
    pub message: String,
    /// In characters from 0.
    pub position: usize,
}

/// Paths within paths, as filters have them, nest at most this deep.
const MAX_NESTING: usize = 32;

impl JsonPath {
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let mut cursor = Cursor::new(text);
        let path = Self::read(&mut cursor)?;
        if cursor.peek().is_some() {
            return Err(cursor.error("this is not part of a path"));
        }
        Ok(path)
    }

    /// One value or none, never a list of what was found.
    pub fn is_definite(&self) -> bool {
        self.steps.iter().all(|step| matches!(step, Step::Child(_) | Step::Index(_) | Step::Length))
    }

    /// A path that is followed by something else, as in the arguments of a function.
    pub(super) fn read(cursor: &mut Cursor) -> Result<Self, PathError> {
        let start = cursor.at;
        if cursor.next() != Some('$') {
            return Err(cursor.error_at(start, "a path starts with `$`"));
        }
        let root = if cursor.take('$') {
            Root::Context
        } else {
            match cursor.name() {
                name if name.is_empty() => Root::Input,
                name => Root::Variable(name),
            }
        };
        let steps = read_steps(cursor)?;
        Ok(Self { root, steps, text: cursor.since(start) })
    }
}

pub(super) fn read_steps(cursor: &mut Cursor) -> Result<Vec<Step>, PathError> {
    let mut steps = Vec::new();
    loop {
        match cursor.peek() {
            Some('[') => steps.push(read_bracket(cursor)?),
            Some('.') => {
                cursor.next();
                if cursor.take('.') {
                    let step = if cursor.peek() == Some('[') { read_bracket(cursor)? } else { read_name(cursor)? };
                    steps.push(Step::Descend(Box::new(step)));
                } else if cursor.peek() == Some('[') {
                    steps.push(read_bracket(cursor)?);
                } else {
                    steps.push(read_name(cursor)?);
                }
            }
            _ => return Ok(steps),
        }
    }
}

fn read_name(cursor: &mut Cursor) -> Result<Step, PathError> {
    if cursor.take('*') {
        return Ok(Step::Wildcard);
    }
    let name = cursor
        .while_some(|c| !matches!(c, '.' | '[' | ']' | ',' | '(' | ')' | '*' | '\'' | '"' | '?') && !c.is_whitespace());
    if name.is_empty() {
        return Err(cursor.error("a name is missing here"));
    }
    if cursor.peek() == Some('(') {
        return if name == "length" && cursor.take_text("()") {
            Ok(Step::Length)
        } else {
            Err(cursor.error(format!("a path has no function `{name}`")))
        };
    }
    Ok(Step::Child(name))
}

fn read_bracket(cursor: &mut Cursor) -> Result<Step, PathError> {
    cursor.nested(|cursor| {
        cursor.next();
        cursor.skip_space();
        let step = match cursor.peek() {
            Some('*') => {
                cursor.next();
                Step::Wildcard
            }
            Some('?') => {
                cursor.next();
                Step::Filter(filter::read(cursor)?)
            }
            _ => read_selectors(cursor)?,
        };
        cursor.skip_space();
        if !cursor.take(']') {
            return Err(cursor.error("`]` is missing"));
        }
        Ok(step)
    })
}

fn read_selectors(cursor: &mut Cursor) -> Result<Step, PathError> {
    let mut selectors = vec![read_selector(cursor)?];
    cursor.skip_space();
    while cursor.take(',') {
        cursor.skip_space();
        selectors.push(read_selector(cursor)?);
        cursor.skip_space();
    }
    Ok(if selectors.len() == 1 { selectors.remove(0) } else { Step::Union(selectors) })
}

fn read_selector(cursor: &mut Cursor) -> Result<Step, PathError> {
    if matches!(cursor.peek(), Some('\'' | '"')) {
        return cursor.quoted().map(Step::Child);
    }
    let start = cursor.integer()?;
    cursor.skip_space();
    if !cursor.take(':') {
        return start.map(Step::Index).ok_or_else(|| cursor.error("a place or a quoted name is missing in `[...]`"));
    }
    cursor.skip_space();
    let end = cursor.integer()?;
    cursor.skip_space();
    let step = if cursor.take(':') { cursor.integer()?.unwrap_or(1) } else { 1 };
    if step <= 0 {
        return Err(cursor.error("a slice goes forwards, by 1 or more"));
    }
    Ok(Step::Slice { start, end, step })
}

/// Where the reading is.
pub(super) struct Cursor {
    characters: Vec<char>,
    pub(super) at: usize,
    nesting: usize,
}

impl Cursor {
    pub(super) fn new(text: &str) -> Self {
        Self { characters: text.chars().collect(), at: 0, nesting: 0 }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    pub(super) fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    pub(super) fn take_text(&mut self, wanted: &str) -> bool {
        let found = wanted.chars().enumerate().all(|(offset, c)| self.characters.get(self.at + offset) == Some(&c));
        if found {
            self.at += wanted.chars().count();
        }
        found
    }

    pub(super) fn skip_space(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    pub(super) fn while_some(&mut self, belongs: impl Fn(char) -> bool) -> String {
        let start = self.at;
        while self.peek().is_some_and(&belongs) {
            self.at += 1;
        }
        self.since(start)
    }

    /// Letters, digits and underscores.
    pub(super) fn name(&mut self) -> String {
        self.while_some(|c| c.is_alphanumeric() || c == '_')
    }

    pub(super) fn since(&self, start: usize) -> String {
        self.characters[start..self.at].iter().collect()
    }

    pub(super) fn error(&self, message: impl Into<String>) -> PathError {
        self.error_at(self.at, message)
    }

    #[expect(clippy::unused_self, reason = "reads as the other one does")]
    pub(super) fn error_at(&self, position: usize, message: impl Into<String>) -> PathError {
        PathError { message: message.into(), position }
    }

    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, PathError>) -> Result<T, PathError> {
        if self.nesting >= MAX_NESTING {
            return Err(self.error(format!("this nests more than {MAX_NESTING} levels deep")));
        }
        self.nesting += 1;
        let result = read(self);
        self.nesting -= 1;
        result
    }

    fn integer(&mut self) -> Result<Option<i64>, PathError> {
        let start = self.at;
        self.take('-');
        self.while_some(|c| c.is_ascii_digit());
        let text = self.since(start);
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| self.error_at(start, format!("`{text}` is no whole number")))
    }

    /// A text in single or double quotes. A backslash keeps a quote of the same kind, or a backslash; any other stands
    /// for itself.
    pub(super) fn quoted(&mut self) -> Result<String, PathError> {
        let start = self.at;
        let quote = self.next();
        let mut text = String::new();
        while let Some(character) = self.next() {
            match character {
                _ if Some(character) == quote => return Ok(text),
                '\\' if self.peek() == quote || self.peek() == Some('\\') => text.extend(self.next()),
                _ => text.push(character),
            }
        }
        Err(self.error_at(start, "this text has no end"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dialect_is_read() {
        for text in [
            "$",
            "$$",
            "$$.Execution.Id",
            "$name",
            "$name.a[0]",
            "$.detail-type",
            "$.[0]",
            "$..x",
            "$.a[1:3]",
            "$.a[:1]",
            "$.a[-1]",
            "$.a[*].b",
            "$['a b']['c']",
            "$.a['b','c']",
            "$.a[0,1]",
            "$.a[?(@.b == 'c')]",
            "$.größe",
            "$.a.length()",
            "$.*",
            "$..[0]",
        ] {
            let path = JsonPath::parse(text);
            assert_eq!(path.as_ref().map(|path| path.text.as_str()), Ok(text), "{path:?}");
        }
        assert!(JsonPath::parse("$.a[0].b").unwrap().is_definite());
        assert!(!JsonPath::parse("$.a[*]").unwrap().is_definite());
    }

    #[test]
    fn what_is_no_path_is_told_with_its_place() {
        let shown = |text: &str| JsonPath::parse(text).unwrap_err().to_string();
        assert_eq!(shown("a.b"), "a path starts with `$` (at character 1)");
        assert_eq!(shown("$.a["), "a place or a quoted name is missing in `[...]` (at character 5)");
        assert_eq!(shown("$.a['b"), "this text has no end (at character 5)");
        assert_eq!(shown("$.a b"), "this is not part of a path (at character 4)");
        assert_eq!(shown("$.a.max()"), "a path has no function `max` (at character 8)");
        assert!(JsonPath::parse(&format!("${}", "[?(@".repeat(100))).is_err());
    }
}
