//! From the `fields` of a type's file to a [`Schema`], with every mistake at its place.

use super::{
    check::Check,
    choice::plain,
    label::Label,
    schema::{Column, Field, FieldType, Meaning, Prefer, Role, Schema, SpanEnd},
};
use bindery_yaml::{Data, Fields, Node, Problems, check_name, suggest};
use regex::{Regex, RegexBuilder};

/// The key in `fields` that is no field.
const CHECKS: &str = "checks";
const FIELD_KEYS: &[&str] =
    &["type", "required", "labels", "never", "pattern", "role", "meaning", "span", "prefer", "one_of", "columns"];
const COLUMN_KEYS: &[&str] = &["type", "labels"];
const LANGUAGES: &[&str] = &["en", "de", "fr", "es", "it", "nl", "pt", "pl", "sv", "da", "no", "fi", "cs", "any"];
const ROLES: &[(&str, Role)] = &[("sender", Role::Sender), ("recipient", Role::Recipient)];
const PREFERENCES: &[(&str, Prefer)] =
    &[("first", Prefer::First), ("last", Prefer::Last), ("largest", Prefer::Largest), ("title", Prefer::Title)];
const SPANS: &[(&str, SpanEnd)] = &[("start", SpanEnd::Start), ("end", SpanEnd::End)];
const MEANINGS: &[(&str, Meaning)] = &[
    ("receipt_total", Meaning::ReceiptTotal),
    ("receipt_net", Meaning::ReceiptNet),
    ("receipt_tax", Meaning::ReceiptTax),
    ("receipt_date", Meaning::ReceiptDate),
    ("receipt_merchant", Meaning::ReceiptMerchant),
];
/// Patterns run over every line of every page, so they stay small.
const LARGEST_PATTERN: usize = 1 << 18;

impl Schema {
    pub(crate) fn read(node: &Node, path: &str, problems: &mut Problems) -> Self {
        let mut schema = Self { labels_are_ranked: true, ..Self::default() };
        let Some(entries) = Fields::open_free(node, path, problems) else { return schema };
        for (name, node) in entries.iter().filter(|(name, _)| *name != CHECKS) {
            let path = entries.path_of(name);
            check_name(name, node.place, &path, problems);
            if let Some(field) = read_field(name, node, &path, problems) {
                schema.fields.push(field);
            }
        }
        // A field that could not be read is known all the same: its own problem is enough.
        let broken: Vec<&str> =
            entries.iter().map(|(name, _)| name).filter(|name| schema.field(name).is_none()).collect();
        if let Some(nodes) = entries.list(CHECKS, problems) {
            let path = entries.path_of(CHECKS);
            for (index, node) in nodes.iter().enumerate() {
                schema.checks.extend(Check::read(node, &format!("{path}[{index}]"), &schema.fields, &broken, problems));
            }
        }
        schema
    }
}

fn read_field(name: &str, node: &Node, path: &str, problems: &mut Problems) -> Option<Field> {
    let entry = Fields::open(node, path, FIELD_KEYS, problems)?;
    let kind = read_type(&entry, problems);
    let columns = read_columns(&entry, kind, problems);
    let (labels, never) = (read_labels(&entry, "labels", problems), read_labels(&entry, "never", problems));
    for both in never.iter().filter(|never| labels.iter().any(|label| label.is_same_as(never))) {
        let message = format!("{:?} is among `labels`, too", both.text);
        entry.blame("never", message, Some("take it out of one of them"), problems);
    }
    if labels.is_empty() && (!never.is_empty() || kind == Some(FieldType::Date) && entry.get("span").is_some()) {
        let key = if never.is_empty() { "span" } else { "never" };
        entry.blame(
            key,
            "says nothing without `labels`",
            Some("list the words beside the value in `labels`"),
            problems,
        );
    }
    Some(Field {
        name: name.to_owned(),
        kind: kind?,
        required: entry.bool("required", problems).unwrap_or(false),
        labels,
        never,
        pattern: read_pattern(&entry, "pattern", problems),
        role: entry.choice("role", ROLES, problems),
        meaning: read_meaning(&entry, kind, problems),
        span: read_span(&entry, kind, problems),
        prefer: entry.choice("prefer", PREFERENCES, problems).unwrap_or_default(),
        one_of: read_one_of(&entry, kind, problems),
        columns,
    })
}

/// The allowed values. A choice needs at least two that can be told apart.
fn read_one_of(entry: &Fields<'_>, kind: Option<FieldType>, problems: &mut Problems) -> Vec<String> {
    let values = read_texts(entry, "one_of", problems);
    if kind == Some(FieldType::DateRange) && entry.get("one_of").is_some() {
        let hint = "take it out, or write `type: choice`";
        entry.blame("one_of", "a span of dates has no list of allowed values", Some(hint), problems);
    }
    if kind != Some(FieldType::Choice) {
        return values;
    }
    let hint = "list the values of the choice, for example `one_of: [Weekly, Monthly]`";
    if entry.require("one_of", hint, problems).is_some() && values.len() < 2 {
        entry.blame("one_of", "a choice has at least two values", Some(hint), problems);
    }
    for (index, value) in values.iter().enumerate() {
        let own = plain(value);
        if own.is_empty() {
            let message = format!("{value:?} has no letter or digit");
            entry.blame("one_of", message, Some("write the words beside the box"), problems);
        } else if let Some(same) = values[..index].iter().find(|other| plain(other) == own) {
            entry.blame("one_of", format!("{value:?} and {same:?} are the same value"), Some("take one out"), problems);
        }
    }
    values
}

fn read_span(entry: &Fields<'_>, kind: Option<FieldType>, problems: &mut Problems) -> Option<SpanEnd> {
    let span = entry.choice("span", SPANS, problems)?;
    if kind.is_some_and(|kind| kind != FieldType::Date) {
        let hint = match kind {
            Some(FieldType::DateRange) => "take it out: a `date_range` is both ends",
            _ => "write `type: date`",
        };
        entry.blame("span", "only a date is an end of a span", Some(hint), problems);
        return None;
    }
    Some(span)
}

/// A meaning is of one type: a model of amounts cannot choose a date.
fn read_meaning(entry: &Fields<'_>, kind: Option<FieldType>, problems: &mut Problems) -> Option<Meaning> {
    let meaning = entry.choice("meaning", MEANINGS, problems)?;
    let wanted = match meaning {
        Meaning::ReceiptTotal | Meaning::ReceiptNet | Meaning::ReceiptTax => FieldType::Money,
        Meaning::ReceiptDate => FieldType::Date,
        Meaning::ReceiptMerchant => FieldType::Name,
    };
    if kind.is_some_and(|kind| kind != wanted) {
        let hint = format!("write `type: {}`", wanted.as_str());
        entry.blame("meaning", "a value of this meaning has another type", Some(&hint), problems);
        return None;
    }
    Some(meaning)
}

fn read_type(entry: &Fields<'_>, problems: &mut Problems) -> Option<FieldType> {
    entry.require("type", "say what the value is, for example `type: date`", problems)?;
    let text = entry.text("type", problems)?;
    let found = FieldType::ALL.iter().copied().find(|kind| kind.as_str() == text);
    if found.is_none() {
        let known: Vec<&str> = FieldType::ALL.iter().map(|kind| kind.as_str()).collect();
        entry.blame("type", format!("unknown field type {text:?}"), Some(&suggest(text, &known)), problems);
    }
    found
}

fn read_columns(entry: &Fields<'_>, kind: Option<FieldType>, problems: &mut Problems) -> Vec<Column> {
    let is_rows = kind == Some(FieldType::Rows);
    if is_rows {
        entry.require("columns", "name the columns, for example `amount: {type: money, labels: [Amount]}`", problems);
    }
    let Some(node) = entry.get("columns") else { return Vec::new() };
    if !is_rows && kind.is_some() {
        entry.blame("columns", "only a field of type `rows` has columns", Some("write `type: rows`"), problems);
    }
    let Some(columns) = Fields::open_free(node, &entry.path_of("columns"), problems) else { return Vec::new() };
    let mut read = Vec::new();
    for (name, node) in columns.iter() {
        let path = columns.path_of(name);
        check_name(name, node.place, &path, problems);
        let Some(column) = Fields::open(node, &path, COLUMN_KEYS, problems) else { continue };
        let kind = read_type(&column, problems);
        if kind == Some(FieldType::Rows) {
            column.blame("type", "rows within rows are not read", Some("give the column another type"), problems);
        }
        if kind == Some(FieldType::Choice) {
            column.blame("type", "a column is no choice", Some("write `type: string`"), problems);
        }
        let labels = read_labels(&column, "labels", problems);
        read.extend(kind.map(|kind| Column { name: name.to_owned(), kind, labels }));
    }
    read
}

/// One label, a list of them, or lists by language.
pub(super) fn read_labels(entry: &Fields<'_>, key: &str, problems: &mut Problems) -> Vec<Label> {
    let Some(node) = entry.get(key) else { return Vec::new() };
    let path = entry.path_of(key);
    match &node.data {
        Data::Mapping(_) => {
            let Some(languages) = Fields::open(node, &path, LANGUAGES, problems) else { return Vec::new() };
            languages
                .iter()
                .flat_map(|(language, node)| labels_of(node, &languages.path_of(language), problems))
                .collect()
        }
        _ => labels_of(node, &path, problems),
    }
}

fn labels_of(node: &Node, path: &str, problems: &mut Problems) -> Vec<Label> {
    let texts = texts_of(node, path, "a label or a list of labels", problems);
    texts
        .into_iter()
        .filter_map(|(node, text)| {
            let label = Label::new(text);
            if label.is_none() {
                let hint = "a label has at least one letter or digit, and no `…` at its ends";
                problems.add_with_hint(node.place, path, format!("{text:?} is not a label"), hint);
            }
            label
        })
        .collect()
}

fn texts_of<'n>(node: &'n Node, path: &str, wanted: &str, problems: &mut Problems) -> Vec<(&'n Node, &'n str)> {
    match &node.data {
        Data::Text(text) => vec![(node, text)],
        Data::List(nodes) => nodes
            .iter()
            .filter_map(|node| {
                if node.as_text().is_none() {
                    problems.add_with_hint(
                        node.place,
                        path,
                        format!("expected a text, found {}", node.describe()),
                        "put it in quotes",
                    );
                }
                node.as_text().map(|text| (&**node, text))
            })
            .collect(),
        _ => {
            problems.add(node.place, path, format!("expected {wanted}, found {}", node.describe()));
            Vec::new()
        }
    }
}

pub(super) fn read_texts(entry: &Fields<'_>, key: &str, problems: &mut Problems) -> Vec<String> {
    let Some(node) = entry.get(key) else { return Vec::new() };
    texts_of(node, &entry.path_of(key), "a text or a list of texts", problems)
        .into_iter()
        .map(|(_, text)| text.to_owned())
        .collect()
}

pub(super) fn read_pattern(entry: &Fields<'_>, key: &str, problems: &mut Problems) -> Option<Regex> {
    let text = entry.text(key, problems)?;
    match RegexBuilder::new(text).size_limit(LARGEST_PATTERN).build() {
        Ok(pattern) => Some(pattern),
        Err(error) => {
            let reason = error.to_string().lines().last().unwrap_or_default().trim().to_owned();
            let hint = "put the pattern in single quotes, where `\\` needs no doubling";
            entry.blame(key, format!("not a regular expression: {reason}"), Some(hint), problems);
            None
        }
    }
}
