//! Templates as YAML, with every mistake at its place.

use super::{
    RowsRule,
    rule::{RulePlace, TemplateRule},
};
use crate::extract::{
    label::Label,
    schema_read::{read_labels, read_pattern, read_texts},
    value::vat,
};
use bindery_reader::Rect;
use bindery_yaml::{Data, Fields, Node, Problems};

const MATCH_KEYS: &[&str] = &["words", "vat_id"];
const FIELD_KEYS: &[&str] = &["after", "below", "area", "lines", "pattern"];
const ROWS_KEYS: &[&str] = &["columns"];
/// Of all words that documents are matched by; fewer name nobody.
const LEAST_LETTERS: usize = 3;
/// No block of a paper is longer.
const MOST_LINES: i64 = 12;

pub(super) fn read_match(entry: &Fields<'_>, problems: &mut Problems) -> (Vec<Label>, Option<String>) {
    let Some(node) = entry.get("match") else { return (Vec::new(), None) };
    let Some(own) = Fields::open(node, "match", MATCH_KEYS, problems) else { return (Vec::new(), None) };
    let words = read_labels(&own, "words", problems);
    let vat_id = own.text("vat_id", problems).map(|text| (text, vat::parse(text)));
    if let Some((text, None)) = &vat_id {
        own.blame("vat_id", format!("{text:?} is not a VAT id"), Some("for example DE136695976"), problems);
    }
    let letters: usize = words.iter().flat_map(|words| words.text.chars()).filter(|c| c.is_alphanumeric()).count();
    if !words.is_empty() && letters < LEAST_LETTERS {
        let hint = "give words that only this sender prints, such as the name";
        own.blame("words", "these stand on nearly every document", Some(hint), problems);
    }
    if words.is_empty() && vat_id.is_none() {
        own.blame(
            "words",
            "nothing to match by",
            Some("give `words` that stand on every such document, or the sender's `vat_id`"),
            problems,
        );
    }
    (words, vat_id.and_then(|(_, parsed)| parsed).map(|parsed| parsed.normalised))
}

pub(super) fn read_rules(entry: &Fields<'_>, problems: &mut Problems) -> Vec<TemplateRule> {
    let Some(fields) = entry.get("fields").and_then(|node| Fields::open_free(node, "fields", problems)) else {
        return Vec::new();
    };
    let mut rules = Vec::new();
    for (name, node) in fields.iter() {
        let Some(own) = Fields::open(node, &fields.path_of(name), FIELD_KEYS, problems) else { continue };
        let (after, below) = (read_labels(&own, "after", problems), read_labels(&own, "below", problems));
        let (pattern, area) = (read_pattern(&own, "pattern", problems), read_area(&own, problems));
        let lines = own.whole("lines", "a number of lines", 1, MOST_LINES, problems).unwrap_or(1);
        let places = ["after", "below", "area"].map(|key| own.get(key).is_some());
        if places == [false; 3] && own.get("pattern").is_none() {
            let hint = "give `after`, `below`, `area` or `pattern`";
            problems.add_with_hint(own.place, &own.path, "nothing says where the value stands", hint);
        }
        if places == [false; 3] && pattern.as_ref().is_some_and(|pattern| pattern.is_match("")) {
            let hint = "say where the value stands, or what it must have: `pattern: 'Order (\\d{6})'`";
            own.blame("pattern", "this pattern fits anything, on any line", Some(hint), problems);
        }
        if places.iter().filter(|given| **given).count() > 1 {
            let key = if places[2] { "area" } else { "below" };
            own.blame(key, "a value stands after words, below words or in an area", Some("keep one of them"), problems);
        }
        if lines > 1 && own.get("pattern").is_some() {
            own.blame(
                "pattern",
                "a value of several lines has no pattern",
                Some("leave out `lines` or `pattern`"),
                problems,
            );
        }
        let place = match (after.is_empty(), below.is_empty(), area) {
            (false, ..) => RulePlace::After(after),
            (_, false, _) => RulePlace::Below(below),
            (.., Some(area)) => RulePlace::Area(area),
            _ => RulePlace::Anywhere,
        };
        let lines = usize::try_from(lines).unwrap_or(1);
        rules.push(TemplateRule { field: name.to_owned(), place, pattern, lines });
    }
    rules
}

/// `[left, top, right, bottom]`, in hundredths of the page.
fn read_area(own: &Fields<'_>, problems: &mut Problems) -> Option<Rect> {
    let node = own.get("area")?;
    let number = |node: &Node| match &node.data {
        Data::Integer(number) => Some(*number as f32),
        Data::Float(number) => Some(*number as f32),
        _ => None,
    };
    let sides: Option<Vec<f32>> = match &node.data {
        Data::List(sides) => {
            sides.iter().map(|side| number(side).filter(|side| (0.0..=100.0).contains(side))).collect()
        }
        _ => None,
    };
    match sides.as_deref() {
        Some(&[left, top, right, bottom]) if left < right && top < bottom => Some(Rect::new(left, top, right, bottom)),
        _ => {
            let hint = "left, top, right and bottom in hundredths of the page, for example `area: [60, 5, 95, 12]`";
            own.blame("area", "expected four numbers from 0 to 100", Some(hint), problems);
            None
        }
    }
}

pub(super) fn read_rows(entry: &Fields<'_>, problems: &mut Problems) -> Vec<RowsRule> {
    let Some(lists) = entry.get("rows").and_then(|node| Fields::open_free(node, "rows", problems)) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for (name, node) in lists.iter() {
        let Some(own) = Fields::open(node, &lists.path_of(name), ROWS_KEYS, problems) else { continue };
        own.require("columns", "name the headings, for example `columns: {amount: Sum}`", problems);
        let Some(columns) =
            own.get("columns").and_then(|node| Fields::open_free(node, &own.path_of("columns"), problems))
        else {
            continue;
        };
        let columns = columns.iter().map(|(column, _)| {
            let labels = read_texts(&columns, column, problems).iter().filter_map(|text| Label::new(text)).collect();
            (column.to_owned(), labels)
        });
        all.push(RowsRule { field: name.to_owned(), columns: columns.collect() });
    }
    all
}
