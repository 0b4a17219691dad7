//! XML as a small tree, read without trust: no document types, no entities of its own, bounded in depth and size.

use quick_xml::{
    Reader,
    escape::resolve_predefined_entity,
    events::{BytesStart, Event},
};

const MOST_BYTES: usize = 20 << 20;
const DEEPEST: usize = 64;
const MOST_ELEMENTS: usize = 500_000;

/// An element; names are without their prefix.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    pub text: String,
    pub children: Vec<Element>,
}

impl Element {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The first element at a path such as `A/B|C/D@scheme=VA`: `|` parts names that mean the same.
    pub(super) fn find(&self, path: &str) -> Option<&Self> {
        self.all(path).into_iter().next()
    }

    pub(super) fn all(&self, path: &str) -> Vec<&Self> {
        path.split('/').fold(vec![self], |found, step| {
            let (names, condition) =
                step.split_once('@').map_or((step, None), |(names, condition)| (names, condition.split_once('=')));
            let fits = |child: &&Self| {
                names.split('|').any(|name| name == child.name)
                    && condition.is_none_or(|(key, value)| child.attribute(key) == Some(value))
            };
            found.into_iter().flat_map(|element| element.children.iter().filter(fits)).collect()
        })
    }
}

/// The root element, or a sentence that says why there is none.
pub(super) fn parse(bytes: &[u8]) -> Result<Element, String> {
    if bytes.len() > MOST_BYTES {
        return Err(format!("it has {} bytes, more than the {MOST_BYTES} allowed", bytes.len()));
    }
    let text = decode(bytes);
    let mut reader = Reader::from_str(&text);
    let mut open: Vec<Element> = vec![Element::default()];
    let mut count = 0usize;
    loop {
        let event = reader.read_event().map_err(|error| format!("it is not well-formed XML: {error}"))?;
        match event {
            Event::Start(start) => {
                count += 1;
                if open.len() > DEEPEST || count > MOST_ELEMENTS {
                    return Err("it is nested too deeply or has too many elements".to_owned());
                }
                open.push(element(&start));
            }
            Event::Empty(start) => {
                count += 1;
                if count > MOST_ELEMENTS {
                    return Err("it has too many elements".to_owned());
                }
                let empty = element(&start);
                if let Some(parent) = open.last_mut() {
                    parent.children.push(empty);
                }
            }
            Event::End(_) => {
                let Some(mut closed) = open.pop().filter(|_| !open.is_empty()) else {
                    return Err("it closes an element that was never opened".to_owned());
                };
                let text = closed.text.trim().to_owned();
                closed.text = text;
                if let Some(parent) = open.last_mut() {
                    parent.children.push(closed);
                }
            }
            Event::Text(text) => push_text(&mut open, &text.xml10_content().unwrap_or_default()),
            Event::CData(data) => push_text(&mut open, &String::from_utf8_lossy(&data)),
            Event::GeneralRef(reference) => {
                let name = String::from_utf8_lossy(&reference).into_owned();
                let character = reference.resolve_char_ref().ok().flatten().map(String::from);
                let resolved = character.or_else(|| resolve_predefined_entity(&name).map(str::to_owned));
                push_text(
                    &mut open,
                    &resolved.ok_or_else(|| format!("it uses the entity &{name};, which is not read"))?,
                );
            }
            Event::DocType(_) => return Err("it declares a document type, which is not read".to_owned()),
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
            Event::Eof => break,
        }
    }
    let mut root = open.into_iter().next().unwrap_or_default();
    root.children.pop().ok_or_else(|| "it has no element".to_owned())
}

fn push_text(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

/// UTF-8 with or without a mark, or UTF-16 with one; what is neither is taken letter by letter.
fn decode(bytes: &[u8]) -> String {
    let wide = |unit: fn([u8; 2]) -> u16| {
        let units = bytes[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
        },
    }
}

fn element(start: &BytesStart<'_>) -> Element {
    let local = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let attributes = start.attributes().flatten().map(|attribute| {
        (local(attribute.key.local_name().as_ref()), String::from_utf8_lossy(&attribute.value).into_owned())
    });
    Element { name: local(start.local_name().as_ref()), attributes: attributes.collect(), ..Element::default() }
}
