//! The Web API's answers in XML, turned into what the same answers are in JSON: a list of records.
//!
//! Two forms are around: an Atom feed, whose entries hold `properties`, and a plain list of `GranicusEvent` and the like,
//! with or without `Granicus` in front.

use crate::vendor::{FetchedPage, PageFault, xml_character::character};
use quick_xml::{Reader, events::Event};
use serde_json::{Map, Value};

/// Records are flat; lists of attachments in them are two levels deeper.
const DEEPEST: usize = 32;

/// Whether a page is such an answer, and not HTML.
pub(super) fn is_xml(start: &str) -> bool {
    let head: String = start.chars().take(600).collect();
    let xml = head.starts_with("<?xml") || head.contains("LegistarWebAPI") || head.contains("schemas.datacontract.org");
    let atom = head.starts_with("<feed") || head.starts_with("<entry");
    (xml || atom) && !head.to_ascii_lowercase().contains("<html")
}

/// An element that is not closed yet.
#[derive(Default)]
struct Open {
    name: String,
    is_null: bool,
    text: String,
    children: Vec<(String, Value)>,
}

pub(super) fn records(page: &FetchedPage, text: &str) -> Result<Vec<Value>, PageFault> {
    let broken = |detail: String| PageFault::cut_short(&page.url, detail);
    let mut reader = Reader::from_str(text);
    let (mut open, mut root): (Vec<Open>, Option<(String, Value)>) = (Vec::new(), None);
    loop {
        let event = reader.read_event().map_err(|error| broken(format!("XML cannot be read: {error}")))?;
        match event {
            Event::Start(tag) | Event::Empty(tag) if open.len() >= DEEPEST => {
                let name = String::from_utf8_lossy(tag.local_name().as_ref()).into_owned();
                return Err(PageFault::new_unexpected(
                    &page.url,
                    "records of the Web API",
                    format!("<{name}> too deep"),
                ));
            }
            Event::Start(tag) => open.push(open_tag(&tag)),
            Event::Empty(tag) => {
                let element = open_tag(&tag);
                close(element, &mut open, &mut root);
            }
            Event::Text(piece) => {
                if let Some(element) = open.last_mut() {
                    element.text.push_str(&piece.decode().unwrap_or_default());
                }
            }
            Event::CData(piece) => {
                if let Some(element) = open.last_mut() {
                    element.text.push_str(&String::from_utf8_lossy(&piece));
                }
            }
            Event::GeneralRef(name) => {
                if let Some(element) = open.last_mut() {
                    element.text.push_str(&character(&name.decode().unwrap_or_default()));
                }
            }
            Event::End(_) => {
                if let Some(element) = open.pop() {
                    close(element, &mut open, &mut root);
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    if let Some(element) = open.first() {
        return Err(broken(format!("<{}> is not closed", element.name)));
    }
    match root {
        Some((_, Value::Array(records))) => Ok(records),
        Some((_, record @ Value::Object(_))) => Ok(vec![record]),
        _ => Err(PageFault::new_unexpected(&page.url, "records of the Web API", "XML without any")),
    }
}

fn open_tag(tag: &quick_xml::events::BytesStart<'_>) -> Open {
    let is_null = tag.attributes().flatten().any(|attribute| {
        let name = attribute.key.local_name();
        matches!(name.as_ref(), b"nil" | b"null") && attribute.value.as_ref() == b"true"
    });
    let name = String::from_utf8_lossy(tag.local_name().as_ref()).into_owned();
    Open { name, is_null, ..Open::default() }
}

fn close(element: Open, open: &mut [Open], root: &mut Option<(String, Value)>) {
    let (name, value) = (element.name.clone(), value_of(element));
    match open.last_mut() {
        Some(parent) => parent.children.push((name, value)),
        None => *root = Some((name, value)),
    }
}

fn value_of(element: Open) -> Value {
    if element.is_null {
        return Value::Null;
    }
    // An entry of a feed is what its properties say.
    if matches!(element.name.as_str(), "entry" | "content") {
        let inner = element.children.into_iter().find(|(name, _)| matches!(name.as_str(), "content" | "properties"));
        return inner.map_or(Value::Null, |(_, value)| value);
    }
    if element.name == "feed" {
        let entries = element.children.into_iter().filter(|(name, _)| name == "entry");
        return Value::Array(entries.map(|(_, value)| value).collect());
    }
    // Lists are named for many: `ArrayOfGranicusEvent`, `EventItems`, `EventItemMatterAttachments`.
    let is_list = element.name.starts_with("ArrayOf")
        || ["EventItems", "Attachments", "Votes", "Sponsors"].iter().any(|end| element.name.ends_with(end));
    if is_list {
        return Value::Array(element.children.into_iter().map(|(_, value)| value).collect());
    }
    if element.children.is_empty() {
        return Value::String(element.text);
    }
    Value::Object(element.children.into_iter().collect::<Map<_, _>>())
}
