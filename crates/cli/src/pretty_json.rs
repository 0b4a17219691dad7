//! A streaming formatter of JSON: compact text in, the same on several lines out, in constant memory.

use bindery_app::StoredResult;
use serde_json::{Map, Value};
use std::io::{self, BufWriter, Write};

/// Writes a result on several lines, for people and programs.
pub(crate) fn write_pretty(result: &StoredResult, into: impl Write) -> io::Result<()> {
    let mut pretty = PrettyJson::new(BufWriter::new(into));
    result.copy_to(&mut pretty)?;
    pretty.finish().map(drop)
}

/// Writes an object on several lines, with a result, copied as it is stored, as the value of one of its fields.
pub(crate) fn write_around(
    answer: &Map<String, Value>,
    field: &str,
    result: Option<&StoredResult>,
    into: impl Write,
) -> io::Result<()> {
    let mut pretty = PrettyJson::new(BufWriter::new(into));
    let mut before = b'{';
    for (key, value) in answer {
        pretty.write_all(&[std::mem::replace(&mut before, b',')])?;
        serde_json::to_writer(&mut pretty, key)?;
        pretty.write_all(b":")?;
        match result {
            Some(result) if key == field => result.copy_to(&mut pretty)?,
            _ => serde_json::to_writer(&mut pretty, value)?,
        }
    }
    pretty.write_all(if before == b'{' { b"{}" } else { b"}" })?;
    pretty.finish().map(drop)
}

/// Formats what is written to it as `serde_json`'s pretty printer does. What goes in has to be JSON.
#[derive(Debug)]
pub(crate) struct PrettyJson<W> {
    into: W,
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// A list or an object has begun, and nothing is in it yet.
    fresh: bool,
}

impl<W: Write> PrettyJson<W> {
    pub(crate) fn new(into: W) -> Self {
        Self { into, depth: 0, in_text: false, escaped: false, fresh: false }
    }

    /// Ends with a line break, as every output does.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.into.write_all(b"\n")?;
        self.into.flush()?;
        Ok(self.into)
    }

    fn new_line(&mut self) -> io::Result<()> {
        self.into.write_all(b"\n")?;
        for _ in 0..self.depth {
            self.into.write_all(b"  ")?;
        }
        Ok(())
    }

    fn begin_value(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.fresh) { self.new_line() } else { Ok(()) }
    }

    fn byte(&mut self, byte: u8) -> io::Result<()> {
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => Ok(()),
            b'{' | b'[' => {
                self.begin_value()?;
                (self.depth, self.fresh) = (self.depth + 1, true);
                self.into.write_all(&[byte])
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if !std::mem::take(&mut self.fresh) {
                    self.new_line()?;
                }
                self.into.write_all(&[byte])
            }
            b',' => {
                self.into.write_all(b",")?;
                self.new_line()
            }
            b':' => self.into.write_all(b": "),
            _ => {
                self.begin_value()?;
                self.in_text = byte == b'"';
                self.into.write_all(&[byte])
            }
        }
    }
}

impl<W: Write> Write for PrettyJson<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let mut rest = buffer;
        while let Some((byte, after)) = rest.split_first() {
            if !self.in_text {
                self.byte(*byte)?;
                rest = after;
                continue;
            }
            // A text goes through in pieces.
            let end = rest.iter().position(|byte| {
                let ends = *byte == b'"' && !self.escaped;
                self.escaped = *byte == b'\\' && !self.escaped;
                ends
            });
            let (piece, after) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
            self.into.write_all(piece)?;
            self.in_text = end.is_none();
            rest = after;
        }
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.into.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pretty(value: &Value, piece: usize) -> String {
        let mut pretty = PrettyJson::new(Vec::new());
        for piece in value.to_string().as_bytes().chunks(piece) {
            pretty.write_all(piece).unwrap();
        }
        String::from_utf8(pretty.finish().unwrap()).unwrap()
    }

    #[test]
    fn it_looks_as_if_it_had_been_formatted_in_memory() {
        let values = [
            json!(null),
            json!({}),
            json!([]),
            json!([[], {}, [[]]]),
            json!({"a": {"b": [1, -2.5e9, true, null, "x, {y}: [z]"]}, "\"quoted\\": "ends with \\", "ü": "\u{1}\n"}),
            json!(["\\\"", "", {"": ""}]),
        ];
        for value in values {
            for piece in [1, 3, 1_000] {
                assert_eq!(pretty(&value, piece), serde_json::to_string_pretty(&value).unwrap() + "\n");
            }
        }
    }
}
