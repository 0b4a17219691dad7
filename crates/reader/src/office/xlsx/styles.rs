//! What a workbook keeps once for all sheets: texts, and the formats of cells.

use super::formats::built_in;
use crate::{
    error::{ReadError, ReadResult},
    options::Limits,
    package::{Pull, Pulled, Tree},
};
use std::collections::HashMap;

/// By the number that cells refer to: the code of their number format.
pub(super) fn cell_formats(tree: &Tree) -> Vec<Option<String>> {
    let root = tree.root();
    let own: HashMap<&str, &str> = root
        .child("numFmts")
        .into_iter()
        .flat_map(|formats| formats.all("numFmt").collect::<Vec<_>>())
        .filter_map(|format| Some((format.attribute("numFmtId")?, format.attribute("formatCode")?)))
        .collect();
    let Some(formats) = root.child("cellXfs") else { return Vec::new() };
    let code = |id: Option<&str>| {
        let id = id?;
        let found = own.get(id).copied().or_else(|| built_in(id.parse().ok()?))?;
        (!found.eq_ignore_ascii_case("general")).then(|| found.to_owned())
    };
    formats.all("xf").map(|format| code(format.attribute("numFmtId"))).collect()
}

/// The texts that cells refer to by number. How Japanese is spoken is written beside the text; it is left out.
pub(super) fn shared_strings(xml: &str, limits: &Limits) -> ReadResult<Vec<String>> {
    let mut strings: Vec<String> = Vec::new();
    let mut pull = Pull::new(xml, limits);
    let mut current: Option<String> = None;
    let mut open: Vec<Part> = Vec::new();
    loop {
        match pull.next()? {
            Pulled::Start(tag) => {
                let part = match tag.name() {
                    "si" => {
                        current = Some(String::new());
                        Part::Item
                    }
                    "t" => Part::Text,
                    "rPh" => Part::Phonetic,
                    _ => Part::Other,
                };
                open.push(part);
            }
            Pulled::End => {
                if strings.len() > limits.xml_nodes {
                    let most = limits.xml_nodes;
                    return Err(ReadError::too_large(format!("there are more than {most} of them")));
                }
                if open.pop() == Some(Part::Item) {
                    strings.push(current.take().unwrap_or_default());
                }
            }
            Pulled::Text(text) => {
                if open.last() == Some(&Part::Text)
                    && !open.contains(&Part::Phonetic)
                    && let Some(current) = &mut current
                {
                    current.push_str(&text);
                }
            }
            Pulled::Finished => return Ok(strings),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Item,
    Text,
    Phonetic,
    Other,
}
