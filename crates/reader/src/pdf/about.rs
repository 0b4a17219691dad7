//! What a PDF says of itself: its information dictionary, its XMP packet, its outline and the labels of its pages.

use super::{streams, strings, tree};
use crate::{
    model::{Metadata, OutlineEntry},
    numerals,
};
use hayro_syntax::{
    Pdf,
    object::{self, Array, DateTime, Dict, MaybeRef, Name, Object, Stream},
};
use quick_xml::events::Event;
use std::collections::{HashMap, HashSet};

const MOST_OUTLINE_ENTRIES: usize = 20_000;
const MOST_XMP_BYTES: usize = 1 << 20;

pub(super) fn metadata(pdf: &Pdf, catalog: &Dict<'_>) -> Metadata {
    let info = pdf.metadata();
    let text = |bytes: &Option<Box<[u8]>>| bytes.as_deref().and_then(strings::line);
    let xmp = Xmp::read(catalog);
    let language = catalog.get::<object::String<'_>>(b"Lang").and_then(|language| strings::line(language.as_bytes()));
    Metadata {
        title: text(&info.title).or_else(|| xmp.value("dc:title")),
        author: text(&info.author).or_else(|| xmp.value("dc:creator")),
        subject: text(&info.subject).or_else(|| xmp.value("dc:description")),
        keywords: text(&info.keywords).or_else(|| xmp.value("pdf:Keywords")),
        created: info.creation_date.map(time).or_else(|| xmp.value("xmp:CreateDate")),
        modified: info.modification_date.map(time).or_else(|| xmp.value("xmp:ModifyDate")),
        creator: text(&info.creator).or_else(|| xmp.value("xmp:CreatorTool")),
        producer: text(&info.producer).or_else(|| xmp.value("pdf:Producer")),
        language: language.or_else(|| xmp.value("dc:language")),
    }
}

fn time(time: DateTime) -> String {
    let DateTime { year, month, day, hour, minute, second, utc_offset_hour, utc_offset_minute } = time;
    let zone = match (utc_offset_hour, utc_offset_minute) {
        (0, 0) => "Z".to_owned(),
        (hours, minutes) => format!("{}{:02}:{minutes:02}", if hours < 0 { '-' } else { '+' }, hours.unsigned_abs()),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}")
}

/// The XML packet in which newer files repeat what they say of themselves.
struct Xmp(HashMap<String, String>);

impl Xmp {
    fn read(catalog: &Dict<'_>) -> Self {
        let stream = catalog.get::<Stream<'_>>(b"Metadata");
        let data = stream.and_then(|stream| streams::unpack(&stream, streams::MOST_BYTES)).unwrap_or_default();
        Self(Self::values(data.get(..data.len().min(MOST_XMP_BYTES)).unwrap_or_default()))
    }

    fn value(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    /// The first text inside each element, and attributes of the description, by their names.
    fn values(xml: &[u8]) -> HashMap<String, String> {
        let mut reader = quick_xml::Reader::from_reader(xml);
        let mut open: Vec<String> = Vec::new();
        let mut values = HashMap::new();
        let mut keep = |name: &str, text: &str| {
            if let Some(line) = strings::line_of(text) {
                values.entry(name.to_owned()).or_insert(line);
            }
        };
        loop {
            match reader.read_event() {
                Ok(Event::Start(element)) => {
                    for attribute in element.attributes().flatten() {
                        keep(
                            &String::from_utf8_lossy(attribute.key.as_ref()),
                            &String::from_utf8_lossy(&attribute.value),
                        );
                    }
                    open.push(String::from_utf8_lossy(element.name().as_ref()).into_owned());
                }
                Ok(Event::Empty(element)) => {
                    for attribute in element.attributes().flatten() {
                        keep(
                            &String::from_utf8_lossy(attribute.key.as_ref()),
                            &String::from_utf8_lossy(&attribute.value),
                        );
                    }
                }
                Ok(Event::Text(text)) => {
                    let text = text.decode().unwrap_or_default();
                    // Lists of one item stand between the property and its text.
                    let property = open.iter().rev().find(|name| !name.starts_with("rdf:"));
                    if let Some(property) = property {
                        keep(property, &text);
                    }
                }
                Ok(Event::End(_)) => drop(open.pop()),
                Ok(Event::Eof) | Err(_) => return values,
                _ => {}
            }
        }
    }
}

/// The pages by their objects, to find where a destination leads.
pub(super) fn page_numbers(pdf: &Pdf) -> HashMap<(u32, i32), usize> {
    let pages = pdf.pages().iter().enumerate();
    pages
        .filter_map(|(index, page)| page.raw().obj_id().map(|id| ((id.obj_number, id.gen_number), index + 1)))
        .collect()
}

pub(super) fn outline(catalog: &Dict<'_>, pages: &HashMap<(u32, i32), usize>) -> Vec<OutlineEntry> {
    let Some(root) = catalog.get::<Dict<'_>>(b"Outlines") else { return Vec::new() };
    let mut entries = Vec::new();
    let mut seen = HashSet::new();
    // Entries still to be read, the next one last.
    let mut waiting = vec![(root.get::<Dict<'_>>(b"First"), root.get_ref(b"First"), 1u8)];
    while let Some((item, reference, level)) = waiting.pop() {
        let Some(item) = item else { continue };
        let known = reference.is_some_and(|reference| !seen.insert((reference.obj_number, reference.gen_number)));
        if known || entries.len() >= MOST_OUTLINE_ENTRIES {
            continue;
        }
        if let Some(title) = item.get::<object::String<'_>>(b"Title").and_then(|title| strings::line(title.as_bytes()))
        {
            let page = destination(&item).and_then(|target| page_of(&target, catalog, pages));
            entries.push(OutlineEntry { title, level, page });
        }
        waiting.push((item.get::<Dict<'_>>(b"Next"), item.get_ref(b"Next"), level));
        if level < 32 {
            waiting.push((item.get::<Dict<'_>>(b"First"), item.get_ref(b"First"), level + 1));
        }
    }
    entries
}

/// Where an outline entry or link leads inside the file.
pub(super) fn destination<'a>(holder: &Dict<'a>) -> Option<Object<'a>> {
    holder.get::<Object<'_>>(b"Dest").or_else(|| {
        let action = holder.get::<Dict<'_>>(b"A")?;
        action.get::<Name<'_>>(b"S").filter(|kind| kind.as_ref() == b"GoTo")?;
        action.get::<Object<'_>>(b"D")
    })
}

/// The page that a destination names, from 1.
pub(super) fn page_of(target: &Object<'_>, catalog: &Dict<'_>, pages: &HashMap<(u32, i32), usize>) -> Option<usize> {
    let array = match target {
        Object::Array(array) => array.clone(),
        Object::Name(name) => named(catalog, name.as_ref())?,
        Object::String(name) => named(catalog, name.as_bytes())?,
        Object::Dict(dict) => dict.get::<Array<'_>>(b"D")?,
        _ => return None,
    };
    match array.raw_iter().next()? {
        MaybeRef::Ref(page) => pages.get(&(page.obj_number, page.gen_number)).copied(),
        MaybeRef::NotRef(Object::Number(number)) => usize::try_from(number.as_i64()).ok().map(|index| index + 1),
        MaybeRef::NotRef(_) => None,
    }
}

fn named<'a>(catalog: &Dict<'a>, name: &[u8]) -> Option<Array<'a>> {
    let target = catalog
        .get::<Dict<'_>>(b"Dests")
        .and_then(|dests| dests.get::<Object<'_>>(name))
        .or_else(|| tree::find_name(&catalog.get::<Dict<'_>>(b"Names")?.get::<Dict<'_>>(b"Dests")?, name))?;
    match target {
        Object::Array(array) => Some(array),
        Object::Dict(dict) => dict.get::<Array<'_>>(b"D"),
        _ => None,
    }
}

/// The label of each page, as a reader would print it; empty if the file has none.
pub(super) fn labels(catalog: &Dict<'_>, page_count: usize) -> Vec<String> {
    let Some(root) = catalog.get::<Dict<'_>>(b"PageLabels") else { return Vec::new() };
    let mut ranges = tree::numbers(&root);
    ranges.sort_by_key(|(start, _)| *start);
    let mut labels = Vec::with_capacity(page_count);
    for page in 0..page_count {
        let at = ranges.partition_point(|(start, _)| *start <= page);
        let Some((start, dict)) = at.checked_sub(1).and_then(|at| ranges.get(at)) else {
            labels.push(String::new());
            continue;
        };
        let first = usize::try_from(dict.get::<i32>(b"St").unwrap_or(1)).unwrap_or(1);
        let number = first + page - start;
        let prefix = dict
            .get::<object::String<'_>>(b"P")
            .map(|prefix| strings::text_string(prefix.as_bytes()))
            .unwrap_or_default();
        let number = match dict.get::<Name<'_>>(b"S").as_ref().map(AsRef::as_ref) {
            Some(b"D") => number.to_string(),
            Some(b"r") => roman(number),
            Some(b"R") => roman(number).to_uppercase(),
            Some(b"a") => letters(number),
            Some(b"A") => letters(number).to_uppercase(),
            _ => String::new(),
        };
        labels.push(format!("{prefix}{number}"));
    }
    labels
}

fn roman(number: usize) -> String {
    numerals::roman(u32::try_from(number).unwrap_or(u32::MAX)).to_lowercase()
}

/// a to z, then aa to zz.
fn letters(number: usize) -> String {
    numerals::alphabetic(u32::try_from(number).unwrap_or(u32::MAX), 'a')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_counted_as_printed() {
        assert_eq!([4, 19, 1990].map(roman), ["iv", "xix", "mcmxc"]);
        assert_eq!([1, 26, 28].map(letters), ["a", "z", "bb"]);
    }

    #[test]
    fn an_xmp_packet_is_read_by_property() {
        let xml = br#"<rdf:RDF><rdf:Description pdf:Producer="P"><dc:title><rdf:Alt><rdf:li>A title</rdf:li></rdf:Alt></dc:title></rdf:Description></rdf:RDF>"#;
        let values = Xmp::values(xml);
        assert_eq!(values.get("dc:title").map(String::as_str), Some("A title"));
        assert_eq!(values.get("pdf:Producer").map(String::as_str), Some("P"));
    }
}
