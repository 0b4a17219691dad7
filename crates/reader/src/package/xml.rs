//! XML, read element by element.
//!
//! Names are local names: which prefix a producer chose for a namespace says nothing. Declared entities are never
//! expanded, so that no document can grow while it is read.

use crate::{
    error::{ReadError, ReadResult},
    options::Limits,
};
use quick_xml::{
    Reader,
    escape::{resolve_xml_entity, unescape_with},
    events::{BytesRef, BytesStart, Event, attributes::Attribute},
};
use std::borrow::Cow;

/// The text of an XML part: by its byte order mark, else by the encoding it declares, else UTF-8.
pub fn decode_xml(bytes: &[u8]) -> Cow<'_, str> {
    if let Some((encoding, length)) = encoding_rs::Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(bytes.get(length..).unwrap_or_default()).0;
    }
    // UTF-16 without a mark shows itself by the zeros around "<".
    match bytes {
        [b'<', 0, ..] => return encoding_rs::UTF_16LE.decode_without_bom_handling(bytes).0,
        [0, b'<', ..] => return encoding_rs::UTF_16BE.decode_without_bom_handling(bytes).0,
        _ => {}
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    declared_encoding(bytes).unwrap_or(encoding_rs::UTF_8).decode_without_bom_handling(bytes).0
}

fn declared_encoding(bytes: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let head = bytes.get(..bytes.len().min(200))?;
    let end = head.windows(2).position(|pair| pair == b"?>")?;
    let declaration = std::str::from_utf8(head.get(..end)?).ok()?;
    let value = declaration.split("encoding").nth(1)?.trim_start().strip_prefix('=')?.trim_start();
    let label = value.trim_start_matches(['"', '\'']).split(['"', '\'']).next()?;
    encoding_rs::Encoding::for_label(label.as_bytes())
}

/// What comes next in a part. Empty elements begin and end like any other.
#[derive(Debug)]
pub enum Pulled<'a> {
    Start(Tag<'a>),
    End,
    Text(Cow<'a, str>),
    Finished,
}

/// The beginning of an element.
#[derive(Debug)]
pub struct Tag<'a>(BytesStart<'a>);

impl Tag<'_> {
    /// The local name.
    pub fn name(&self) -> &str {
        std::str::from_utf8(self.0.local_name().into_inner()).unwrap_or_default()
    }

    /// An attribute by its local name.
    pub fn attribute(&self, name: &str) -> Option<String> {
        self.attributes().find(|(key, _)| local(key) == name).map(|(_, value)| value.into_owned())
    }

    /// All attributes, by their full names. What follows a broken one is left out.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let mut attributes = self.0.attributes();
        attributes.with_checks(false);
        attributes.map_while(Result::ok).filter_map(|Attribute { key, value }| {
            let key = std::str::from_utf8(key.into_inner()).ok()?;
            let value = match value {
                Cow::Borrowed(bytes) => Cow::Borrowed(std::str::from_utf8(bytes).ok()?),
                Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).ok()?),
            };
            Some((key, unescaped(value)))
        })
    }
}

pub(super) fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// The five entities and character references; text with any other stays as it is.
fn unescaped(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains('&') {
        return text;
    }
    match unescape_with(&text, resolve_xml_entity) {
        Ok(plain) => Cow::Owned(plain.into_owned()),
        Err(_) => text,
    }
}

/// Reads a part from its beginning to its end.
#[derive(Debug)]
pub struct Pull<'a> {
    reader: Reader<&'a [u8]>,
    depth: usize,
    deepest: usize,
}

impl<'a> Pull<'a> {
    pub fn new(text: &'a str, limits: &Limits) -> Self {
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        Self { reader, depth: 0, deepest: limits.xml_depth }
    }

    /// The next thing that matters: comments, declarations and document types are passed over.
    #[expect(clippy::should_implement_trait, reason = "the end is a thing that is pulled, and errors end it")]
    pub fn next(&mut self) -> ReadResult<Pulled<'a>> {
        loop {
            let event = self.reader.read_event().map_err(|error| {
                ReadError::damaged("XML", format!("{error} at byte {}", self.reader.error_position()))
            })?;
            return Ok(match event {
                Event::Start(start) | Event::Empty(start) => {
                    self.depth += 1;
                    if self.depth > self.deepest {
                        let deepest = self.deepest;
                        return Err(ReadError::too_large(format!("elements are nested deeper than {deepest}")));
                    }
                    Pulled::Start(Tag(start))
                }
                Event::End(_) => {
                    if self.depth == 0 {
                        continue;
                    }
                    self.depth -= 1;
                    Pulled::End
                }
                Event::Text(text) => Pulled::Text(text_of(text.into_inner())),
                Event::CData(text) => Pulled::Text(text_of(text.into_inner())),
                Event::GeneralRef(reference) => Pulled::Text(Cow::Owned(referred(&reference))),
                Event::Eof => Pulled::Finished,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => continue,
            });
        }
    }
}

fn text_of(bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
    match bytes {
        Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

fn referred(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return character.to_string();
    }
    let name = reference.decode().unwrap_or_default();
    match resolve_xml_entity(&name) {
        Some(text) => text.to_owned(),
        // HTML's name for a space that does not break is the one that turns up in XML without being declared.
        None if name == "nbsp" => "\u{a0}".to_owned(),
        None => format!("&{name};"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_told_by_mark_declaration_or_shape() {
        let utf16: Vec<u8> = "\u{feff}<a>é</a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode_xml(&utf16), "<a>é</a>");
        assert_eq!(decode_xml(&utf16[2..]), "<a>é</a>");
        assert_eq!(decode_xml("\u{feff}<a/>".as_bytes()), "<a/>");
        let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>";
        assert!(decode_xml(latin).ends_with("<a>é</a>"));
    }

    fn all_text(xml: &str, limits: &Limits) -> ReadResult<String> {
        let mut pull = Pull::new(xml, limits);
        let mut out = String::new();
        loop {
            match pull.next()? {
                Pulled::Text(text) => out.push_str(&text),
                Pulled::Finished => return Ok(out),
                _ => {}
            }
        }
    }

    #[test]
    fn entities_never_grow() {
        let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><x>&b;&amp;&#65;&#x42;&lt;</x>";
        assert_eq!(all_text(bomb, &Limits::default()).unwrap(), "&b;&AB<");
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "<a>".repeat(300);
        let error = all_text(&deep, &Limits::default()).unwrap_err();
        assert_eq!(error.to_string(), "elements are nested deeper than 256");
    }

    #[test]
    fn attributes_are_found_by_local_name_and_unescaped() {
        let mut pull = Pull::new("<w:a w:val='x &amp; y' other=\"1\"/>", &Limits::default());
        let Ok(Pulled::Start(tag)) = pull.next() else { panic!("an element is expected") };
        assert_eq!(tag.name(), "a");
        assert_eq!(tag.attribute("val").as_deref(), Some("x & y"));
        assert_eq!(tag.attribute("none"), None);
    }
}
