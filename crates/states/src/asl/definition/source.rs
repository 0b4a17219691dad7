//! JSON text with the places of its values, so that a fault can be pointed at. Keys that stand twice stay both, to be
//! told.
//!
//! Another format can come in through the same door: whatever builds a [`Node`] can be read as a definition.

use super::diagnostic::Diagnostic;
use serde_json::{Map, Number, Value};

/// Both from 1; zeros where the place is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub place: Place,
    pub data: Data,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Object(Vec<Entry>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key: String,
    pub place: Place,
    pub value: Node,
}

/// Deeper text is not read.
const MAX_NESTING: usize = 100;
/// The service takes a megabyte; longer text is not read.
pub const MAX_BYTES: usize = 4 << 20;

impl Node {
    /// Reads JSON text, up to the first fault of the text itself.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let mut reader = Reader { text: text.as_bytes(), source: text, at: 0, place: Place { line: 1, column: 1 } };
        if text.len() > MAX_BYTES {
            return Err(
                reader.fault(format!("the definition has {} bytes, at most {MAX_BYTES} are allowed", text.len()))
            );
        }
        let node = reader.value(0)?;
        reader.skip_space();
        if reader.at < text.len() {
            return Err(reader.fault("nothing may follow the definition"));
        }
        Ok(node)
    }

    /// From JSON that was read elsewhere; no place is known.
    pub fn from_value(value: &Value) -> Self {
        let data = match value {
            Value::Null => Data::Null,
            Value::Bool(value) => Data::Bool(*value),
            Value::Number(number) => Data::Number(number.clone()),
            Value::String(text) => Data::Text(text.clone()),
            Value::Array(values) => Data::List(values.iter().map(Self::from_value).collect()),
            Value::Object(entries) => {
                let entry = |(key, value): (&String, &Value)| Entry {
                    key: key.clone(),
                    place: Place::default(),
                    value: Self::from_value(value),
                };
                Data::Object(entries.iter().map(entry).collect())
            }
        };
        Self { place: Place::default(), data }
    }

    /// Of keys that stand twice the last counts.
    pub fn to_value(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(value) => Value::Bool(*value),
            Data::Number(number) => Value::Number(number.clone()),
            Data::Text(text) => Value::String(text.clone()),
            Data::List(nodes) => Value::Array(nodes.iter().map(Self::to_value).collect()),
            Data::Object(entries) => Value::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.value.to_value())).collect::<Map<_, _>>(),
            ),
        }
    }

    /// What it is, for messages.
    pub fn describe(&self) -> &'static str {
        match self.data {
            Data::Null => "null",
            Data::Bool(_) => "a boolean",
            Data::Number(_) => "a number",
            Data::Text(_) => "a text",
            Data::List(_) => "a list",
            Data::Object(_) => "an object",
        }
    }
}

struct Reader<'a> {
    text: &'a [u8],
    source: &'a str,
    at: usize,
    place: Place,
}

impl Reader<'_> {
    fn fault(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::fault(self.place, "$", message).with_hint("check the JSON around this place")
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Columns count characters, not bytes.
    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        if byte == b'\n' {
            self.place = Place { line: self.place.line + 1, column: 1 };
        } else if byte & 0b1100_0000 != 0b1000_0000 {
            self.place.column += 1;
        }
        Some(byte)
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.next();
        }
    }

    fn value(&mut self, nesting: usize) -> Result<Node, Diagnostic> {
        self.skip_space();
        if nesting > MAX_NESTING {
            return Err(self.fault(format!("the definition nests more than {MAX_NESTING} levels deep")));
        }
        let place = self.place;
        let data = match self.peek() {
            Some(b'{') => self.object(nesting)?,
            Some(b'[') => self.list(nesting)?,
            Some(b'"') => Data::Text(self.text()?),
            Some(_) => self.word()?,
            None => return Err(self.fault("the definition ends too early")),
        };
        Ok(Node { place, data })
    }

    fn list(&mut self, nesting: usize) -> Result<Data, Diagnostic> {
        let mut nodes = Vec::new();
        self.next();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.next();
            return Ok(Data::List(nodes));
        }
        loop {
            nodes.push(self.value(nesting + 1)?);
            if !self.goes_on(b']')? {
                return Ok(Data::List(nodes));
            }
        }
    }

    fn object(&mut self, nesting: usize) -> Result<Data, Diagnostic> {
        let mut entries = Vec::new();
        self.next();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.next();
            return Ok(Data::Object(entries));
        }
        loop {
            self.skip_space();
            let place = self.place;
            if self.peek() != Some(b'"') {
                return Err(self.fault("a key in quotes is missing"));
            }
            let key = self.text()?;
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.fault("`:` is missing"));
            }
            self.next();
            entries.push(Entry { key, place, value: self.value(nesting + 1)? });
            if !self.goes_on(b'}')? {
                return Ok(Data::Object(entries));
            }
        }
    }

    fn goes_on(&mut self, end: u8) -> Result<bool, Diagnostic> {
        self.skip_space();
        match self.peek() {
            Some(b',') => {
                self.next();
                Ok(true)
            }
            Some(byte) if byte == end => {
                self.next();
                Ok(false)
            }
            _ => Err(self.fault(format!("`,` or `{}` is missing", char::from(end)))),
        }
    }

    /// The escapes are left to the JSON library; only the end is looked for.
    fn text(&mut self) -> Result<String, Diagnostic> {
        let (start, place) = (self.at, self.place);
        self.next();
        loop {
            match self.next() {
                Some(b'"') => break,
                Some(b'\\') => drop(self.next()),
                Some(b'\n') | None => {
                    self.place = place;
                    return Err(self.fault("this text has no end"));
                }
                Some(_) => {}
            }
        }
        serde_json::from_str(&self.source[start..self.at]).map_err(|error| {
            self.place = place;
            self.fault(format!("this text cannot be read: {error}"))
        })
    }

    fn word(&mut self) -> Result<Data, Diagnostic> {
        let (start, place) = (self.at, self.place);
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b'_'))
        {
            self.next();
        }
        let word = &self.source[start..self.at];
        match serde_json::from_str(word) {
            Ok(Value::Null) => Ok(Data::Null),
            Ok(Value::Bool(value)) => Ok(Data::Bool(value)),
            Ok(Value::Number(number)) => Ok(Data::Number(number)),
            _ => {
                self.place = place;
                let shown =
                    if word.is_empty() { self.source[start..].chars().take(1).collect() } else { word.to_owned() };
                Err(self.fault(format!("`{shown}` is no JSON value")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_know_their_places() {
        let node = Node::parse("{\n  \"größe\": [1, \"é\\n\", null],\n  \"b\": {\"c\": true}\n}").unwrap();
        assert_eq!(node.to_value(), json!({"größe": [1, "é\n", null], "b": {"c": true}}));
        let Data::Object(entries) = &node.data else { panic!() };
        assert_eq!(entries[0].place, Place { line: 2, column: 3 });
        assert_eq!(entries[0].value.place, Place { line: 2, column: 12 });
        assert_eq!(entries[1].place, Place { line: 3, column: 3 });
    }

    #[test]
    fn broken_text_is_pointed_at() {
        for (text, expected) in [
            ("{\"a\": 1,}", "1:9: $: a key in quotes is missing"),
            ("{\"a\" 1}", "1:6: $: `:` is missing"),
            ("{\"a\": tru}", "1:7: $: `tru` is no JSON value"),
            ("{\"a\": \"b}", "1:7: $: this text has no end"),
            ("[1 2]", "1:4: $: `,` or `]` is missing"),
            ("", "1:1: $: the definition ends too early"),
            ("{} x", "1:4: $: nothing may follow the definition"),
            ("{\"a\": 'b'}", "1:7: $: `'` is no JSON value"),
        ] {
            let shown = Node::parse(text).unwrap_err().to_string();
            assert_eq!(shown.lines().next(), Some(expected), "{text}");
        }
        assert!(Node::parse(&"[".repeat(100_000)).is_err());
    }
}
