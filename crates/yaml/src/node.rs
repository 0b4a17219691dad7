//! YAML as a small tree in which every node knows its line and column.
//!
//! The tree is built from the parser's events rather than by its own loader, for three reasons: a key that is written
//! twice is reported like any other mistake, nesting is bounded before anything recurses over it, and an alias shares
//! the node it points to, so a file cannot unfold into more than it is worth.

use super::error::{Place, Problems};
use saphyr::Scalar;
use saphyr_parser::{Event, Marker, Parser};
use serde_json::Value;
use std::{collections::BTreeMap, rc::Rc};

/// Longer files are refused, and so are files whose aliases unfold to more than this.
pub const MAX_BYTES: usize = 1 << 20;
/// A workflow needs about five levels; `settings` may want some more.
const MAX_DEPTH: usize = 64;

/// What a file should hold, to say so where it does not.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// For example `workflow`.
    pub what: &'static str,
    /// The keys that it cannot do without.
    pub least: &'static str,
}

#[derive(Debug)]
pub struct Node {
    pub place: Place,
    pub data: Data,
    /// Bytes of text after unfolding all aliases, with one for each node.
    weight: usize,
    /// Levels below and including this node.
    depth: usize,
}

#[derive(Debug)]
pub enum Data {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Rc<Node>>),
    /// In written order, keys that occur twice included.
    Mapping(Vec<(Rc<Node>, Rc<Node>)>),
}

impl Node {
    /// What was found, to finish the sentence "expected a name, found ...".
    pub fn describe(&self) -> String {
        match &self.data {
            Data::Null => "nothing".to_owned(),
            Data::Bool(value) => value.to_string(),
            Data::Integer(value) => format!("the number {value}"),
            Data::Float(value) => format!("the number {value}"),
            Data::Text(text) => format!("the text {}", quoted(text)),
            Data::List(_) => "a list".to_owned(),
            Data::Mapping(_) => "a mapping".to_owned(),
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The same as JSON; `None`, with the reasons in `problems`, when JSON has no such value.
    pub fn to_json(&self, path: &str, problems: &mut Problems) -> Option<Value> {
        Some(match &self.data {
            Data::Null => Value::Null,
            Data::Bool(value) => Value::from(*value),
            Data::Integer(value) => Value::from(*value),
            Data::Float(value) if value.is_finite() => Value::from(*value),
            Data::Float(value) => {
                problems.add(self.place, path, format!("expected a finite number, found {value}"));
                return None;
            }
            Data::Text(text) => Value::from(text.as_str()),
            Data::List(nodes) => {
                let values = nodes.iter().enumerate().map(|(i, node)| node.to_json(&format!("{path}[{i}]"), problems));
                // Every element is visited before the first `None` ends it, so that all problems are seen.
                let values: Vec<Option<Value>> = values.collect();
                Value::Array(values.into_iter().collect::<Option<_>>()?)
            }
            Data::Mapping(_) => {
                let entries = super::fields::Fields::open_free(self, path, problems)?;
                let mut object = serde_json::Map::new();
                for (key, node) in entries.iter() {
                    if let Some(value) = node.to_json(&entries.path_of(key), problems) {
                        object.insert(key.to_owned(), value);
                    }
                }
                Value::Object(object)
            }
        })
    }
}

/// Text in quotes, shortened so that an error stays one readable line.
pub fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    if text.chars().count() <= LONGEST {
        return format!("{text:?}");
    }
    let start: String = text.chars().take(LONGEST).collect();
    format!("{:?}", format!("{start}..."))
}

const SIGNS_NEED_QUOTES: &str = "put a text with a sign such as # : @ % * & ! ` in quotes: \"Invoice #\"";

/// Whether a sign that means something to YAML stands without quotes where reading ended: at the place itself, as a colon
/// or another sign, or before it, as a `#` that cuts a list short.
fn bare_sign(text: &str, place: Place) -> bool {
    let cuts_a_list = |line: &str| {
        line.find(" #").is_some_and(|at| {
            let before = &line[..at];
            let is_even = |mark: &str| before.matches(mark).count().is_multiple_of(2);
            before.matches(['[', '{']).count() > before.matches([']', '}']).count() && is_even("\"") && is_even("'")
        })
    };
    let lines = || text.lines().take(place.line);
    let at = lines().last().and_then(|line| line.chars().nth(place.column.saturating_sub(1)));
    at.is_some_and(|sign| "@`%*&!|>?:".contains(sign)) || lines().any(cuts_a_list)
}

fn place_of(marker: Marker) -> Place {
    Place { line: marker.line().max(1), column: marker.col() + 1 }
}

/// A list or mapping that is still being read.
struct Open {
    place: Place,
    anchor: usize,
    is_mapping: bool,
    children: Vec<Rc<Node>>,
}

/// The one document of a file. `None`, with the reason in `problems`, if there is no such thing.
pub fn read(text: &str, wanted: Wanted, problems: &mut Problems) -> Option<Rc<Node>> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes, more than the {MAX_BYTES} allowed", text.len());
        problems.add(Place::START, "", message);
        return None;
    }
    // Editors on some systems put a byte order mark in front; it means nothing in UTF-8.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut root: Option<Rc<Node>> = None;
    let mut open: Vec<Open> = Vec::new();
    let mut anchors: BTreeMap<usize, Rc<Node>> = BTreeMap::new();
    let mut unfolded = 0_usize;
    let mut documents = 0;

    for event in Parser::new_from_str(text) {
        let (event, span) = match event {
            Ok(event) => event,
            Err(error) => {
                let (place, message) = (place_of(*error.marker()), format!("not valid YAML: {}", error.info()));
                if bare_sign(text, place) {
                    problems.add_with_hint(place, "", message, SIGNS_NEED_QUOTES);
                } else {
                    problems.add(place, "", message);
                }
                return None;
            }
        };
        let place = place_of(span.start);
        let node = match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => continue,
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    let message = format!("expected one {} in a file, found a second YAML document", wanted.what);
                    problems.add_with_hint(place, "", message, format!("give each {} a file of its own", wanted.what));
                    return None;
                }
                continue;
            }
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() >= MAX_DEPTH => {
                problems.add(place, "", format!("nested more than {MAX_DEPTH} levels deep"));
                return None;
            }
            Event::SequenceStart(anchor, _) => {
                open.push(Open { place, anchor, is_mapping: false, children: Vec::new() });
                continue;
            }
            Event::MappingStart(anchor, _) => {
                open.push(Open { place, anchor, is_mapping: true, children: Vec::new() });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(closed) = open.pop() else { continue };
                let anchor = closed.anchor;
                let node = Rc::new(collection(closed));
                if anchor > 0 {
                    anchors.insert(anchor, Rc::clone(&node));
                }
                node
            }
            Event::Scalar(text, style, anchor, tag) => {
                let weight = text.len() + 1;
                let tag_name = tag.as_ref().map(|tag| tag.suffix.clone());
                let Some(scalar) = Scalar::parse_from_cow_and_metadata(text, style, tag.as_ref()) else {
                    let message = format!("this value does not fit its tag !!{}", tag_name.unwrap_or_default());
                    problems.add_with_hint(place, "", message, "leave the tag out");
                    return None;
                };
                let node = Rc::new(Node { place, data: scalar_data(scalar), weight, depth: 1 });
                if anchor > 0 {
                    anchors.insert(anchor, Rc::clone(&node));
                }
                node
            }
            Event::Alias(anchor) => {
                let Some(node) = anchors.get(&anchor) else {
                    problems.add(place, "", "this alias points to a node that contains it");
                    return None;
                };
                unfolded = unfolded.saturating_add(node.weight);
                if unfolded > MAX_BYTES || open.len() + node.depth > MAX_DEPTH {
                    let message =
                        format!("the aliases of this file unfold to more than {MAX_BYTES} bytes or {MAX_DEPTH} levels");
                    problems.add_with_hint(place, "", message, "write the values out where they are needed");
                    return None;
                }
                Rc::clone(node)
            }
        };
        match open.last_mut() {
            Some(parent) => parent.children.push(node),
            None => root = Some(node),
        }
    }
    match root {
        Some(root) if !matches!(root.data, Data::Null) => Some(root),
        _ => {
            problems.add_with_hint(
                Place::START,
                "",
                "the file is empty",
                format!("a {} has at least {}", wanted.what, wanted.least),
            );
            None
        }
    }
}

fn collection(open: Open) -> Node {
    let mut weight = 1_usize;
    let mut depth = 0;
    for child in &open.children {
        weight = weight.saturating_add(child.weight);
        depth = depth.max(child.depth);
    }
    let data = if open.is_mapping {
        let mut entries = Vec::with_capacity(open.children.len() / 2);
        let mut children = open.children.into_iter();
        while let (Some(key), Some(value)) = (children.next(), children.next()) {
            entries.push((key, value));
        }
        Data::Mapping(entries)
    } else {
        Data::List(open.children)
    };
    Node { place: open.place, data, weight, depth: depth + 1 }
}

fn scalar_data(scalar: Scalar<'_>) -> Data {
    match scalar {
        Scalar::Null => Data::Null,
        Scalar::Boolean(value) => Data::Bool(value),
        Scalar::Integer(value) => Data::Integer(value),
        Scalar::FloatingPoint(value) => Data::Float(value.into_inner()),
        Scalar::String(text) => Data::Text(text.into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: Wanted = Wanted { what: "workflow", least: "`name` and `stages`" };

    fn error_of(text: &str) -> String {
        let mut problems = Problems::default();
        assert!(read(text, WANTED, &mut problems).is_none(), "{text:.40} was read");
        problems.into_error(None).to_string()
    }

    #[test]
    fn files_that_are_no_single_document_are_refused() {
        let empty = "workflow:1:1: the file is empty\n  hint: a workflow has at least `name` and `stages`";
        for text in ["", "\n\n", "# only a remark\n", "---\n", "\u{feff}"] {
            assert_eq!(error_of(text), empty, "{text:?}");
        }
        assert_eq!(
            error_of("a: 1\n---\nb: 2\n"),
            "workflow:2:1: expected one workflow in a file, found a second YAML document\n  \
             hint: give each workflow a file of its own"
        );
        assert!(error_of("a: [1, 2\n").starts_with("workflow:2:1: not valid YAML: "));
        assert!(!error_of("a: [1, 2\n").contains("hint"));
        for signs in ["[Invoice #, Number]", "@home", "*star", "%", "`x`", "Nr: 5", "[{b: Invoice #}]"] {
            assert!(error_of(&format!("a: {signs}\n")).ends_with(SIGNS_NEED_QUOTES), "{signs}");
        }
        assert_eq!(
            error_of("a: !!int soon"),
            "workflow:1:4: this value does not fit its tag !!int\n  hint: leave the tag out"
        );
    }

    #[test]
    fn a_huge_file_is_refused_before_it_is_read() {
        let text = format!("a: {}", "x".repeat(MAX_BYTES));
        assert_eq!(error_of(&text), "workflow:1:1: the file has 1048579 bytes, more than the 1048576 allowed");
    }

    #[test]
    fn aliases_cannot_unfold_without_end() {
        let mut laughs = "a: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha]\n".to_owned();
        for level in 1..12 {
            let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
            laughs = format!("{laughs}k{level}: &a{level} [{aliases}]\n");
        }
        assert!(error_of(&laughs).contains("the aliases of this file unfold to more than 1048576 bytes"));
        let long_text = format!("a: &a {}\nb: [{}]\n", "x".repeat(400_000), "*a, ".repeat(100_000));
        assert!(error_of(&long_text).contains("unfold to more than"));
        assert!(error_of("a: &a [*a]").contains("points to a node that contains it"));
    }

    #[test]
    fn depth_is_bounded_however_it_is_written() {
        let block = "- ".repeat(200_000);
        let flow = "[".repeat(200_000);
        let chained = (1..40).fold("- &a0 [[[[[[[x]]]]]]]\n".to_owned(), |text, level| {
            text + &format!("- &a{level} [[[[[[[*a{}]]]]]]]\n", level - 1)
        });
        for text in [block, flow, "? ".repeat(200_000), chained] {
            let error = error_of(&text);
            // Of brackets the parser itself allows fewer than 256, before it tells us of any.
            assert!(error.contains("levels") || error.contains("recursion limit"), "{error}");
        }
    }

    #[test]
    fn an_alias_stands_for_the_node_it_points_to() {
        let mut problems = Problems::default();
        let root = read("a: &x [1, two, 0.5, yes, true, ~]\nb: *x\n", WANTED, &mut problems).unwrap();
        let json = root.to_json("", &mut problems).unwrap();
        assert_eq!(json["b"], serde_json::json!([1, "two", 0.5, "yes", true, null]));
        assert!(problems.is_empty());
    }
}
