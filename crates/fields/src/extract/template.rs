//! What users say of the documents of one sender: `templates/*.yaml`.
//!
//! A template matches by words that stand on the pages or by the sender's VAT id. Its fields say where a value stands:
//! behind or below some words, as a pattern, or both; its rows name the headings of a table's columns.

use super::{
    extraction::{ConfidenceParts, Doubt, DoubtKind, Extraction, FieldValue, Tier},
    grounding,
    label::Label,
    occurrence::Occurrences,
    rows,
    schema::{Column, Field, FieldType, Prefer},
    schema_read::{read_labels, read_pattern, read_texts},
    score::pattern_matches,
    sheet::Sheet,
    value::vat,
};
use crate::DocType;
use bindery_core::Name;
use bindery_yaml::{self as yaml, Fields, LoadError, Node, Problems, Wanted, YamlError};
use regex::Regex;
use std::{ops::Range, path::Path};

const WANTED: Wanted = Wanted { what: "template", least: "`name`, `match` and `fields`" };
const KEYS: &[&str] = &["name", "doctype", "match", "fields", "rows"];
const MATCH_KEYS: &[&str] = &["words", "vat_id"];
const FIELD_KEYS: &[&str] = &["after", "below", "pattern"];
const ROWS_KEYS: &[&str] = &["columns"];

/// All templates of a user; the first that matches a document counts.
#[derive(Debug, Clone, Default)]
pub struct Templates(Vec<Template>);

/// One file in `templates/`.
#[derive(Debug, Clone)]
pub struct Template {
    pub name: Name,
    /// The type that it is for; None for all.
    pub doctype: Option<Name>,
    /// All of these stand on the pages.
    words: Vec<Label>,
    /// Or this does.
    vat_id: Option<String>,
    fields: Vec<TemplateRule>,
    rows: Vec<RowsRule>,
}

/// A list of rows, and the headings of its columns.
#[derive(Debug, Clone)]
struct RowsRule {
    field: String,
    columns: Vec<(String, Vec<Label>)>,
}

/// Where a value stands.
#[derive(Debug, Clone)]
struct TemplateRule {
    field: String,
    anchor: Option<(Direction, Vec<Label>)>,
    pattern: Option<Regex>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    After,
    Below,
}

impl Templates {
    /// All `*.yaml` files of a folder, by name.
    pub fn load(folder: &Path) -> Result<Self, LoadError> {
        let load = |file: &Path| Template::parse(&yaml::read_text(file)?, &file.display().to_string());
        let clash = |new: &Template, other: &Template| {
            (new.name == other.name).then(|| format!("another file describes the template {:?}, too", &*new.name))
        };
        yaml::load_dir(folder, load, clash).map(Self)
    }

    pub fn new(templates: Vec<Template>) -> Self {
        Self(templates)
    }

    /// Puts what the matching template says in the place of what labels said.
    pub(super) fn apply(&self, doctype: &DocType, sheet: &Sheet, extraction: &mut Extraction) {
        let own = self.0.iter().filter(|template| template.doctype.as_ref().is_none_or(|name| *name == doctype.name));
        if let Some(template) = own.into_iter().find(|template| template.matches(sheet)) {
            template.apply(doctype, sheet, extraction);
        }
    }
}

impl Template {
    /// Reads a template, with all of its problems if it has any. `file` only appears in the messages.
    pub fn parse(text: &str, file: &str) -> Result<Self, YamlError> {
        let mut problems = Problems::default();
        let template = yaml::read(text, WANTED, &mut problems).and_then(|root| Self::read(&root, &mut problems));
        match template {
            Some(template) if problems.is_empty() => Ok(template),
            _ => Err(problems.into_error(Some(file))),
        }
    }

    fn read(root: &Node, problems: &mut Problems) -> Option<Self> {
        let entry = Fields::open(root, "", KEYS, problems)?;
        entry.require("name", "give the template a name that results can show", problems);
        entry.require("match", "say which documents it is for: `match: {words: [Sender Ltd]}`", problems);
        entry.require("fields", "say where the values stand", problems);
        let name = entry.name("name", problems);
        let doctype = entry.name("doctype", problems);
        let (words, vat_id) = read_match(&entry, problems);
        let fields = read_rules(&entry, problems);
        let rows = read_rows(&entry, problems);
        Some(Self { name: name?, doctype, words, vat_id, fields, rows })
    }

    fn matches(&self, sheet: &Sheet) -> bool {
        let stands = |label: &Label| {
            sheet.lines.iter().any(|line| {
                (0..line.parts.len()).any(|start| {
                    label.matches(|index| line.parts.get(start + index).map(|part| part.text.as_str())).is_some()
                })
            })
        };
        let by_words = !self.words.is_empty() && self.words.iter().all(stands);
        let by_id = self.vat_id.as_deref().is_some_and(|id| {
            sheet.lines.iter().flat_map(|line| &line.segments).any(|segment| {
                vat::VAT_ID
                    .find_iter(&segment.text)
                    .filter_map(|found| vat::parse(found.as_str()))
                    .any(|parsed| parsed.normalised == id)
            })
        });
        by_words || by_id
    }

    fn apply(&self, doctype: &DocType, sheet: &Sheet, extraction: &mut Extraction) {
        for rule in &self.fields {
            let kind = doctype.fields.field(&rule.field).map_or(FieldType::String, |field| field.kind);
            if let Some((tokens, text, normalised)) = rule.find(sheet, kind) {
                let value = self.value(sheet, &tokens, text, normalised);
                extraction.fields.insert(rule.field.clone(), value);
            } else {
                let text =
                    format!("the template {} says where {} stands, but nothing fits there", &*self.name, rule.field);
                extraction.doubts.push(Doubt::new(DoubtKind::Source, text));
            }
        }
        for RowsRule { field: name, columns: headings } in &self.rows {
            let known = doctype.fields.field(name);
            let columns = headings.iter().map(|(column, labels)| {
                let kind = known
                    .and_then(|field| field.columns.iter().find(|known| known.name == *column))
                    .map_or(FieldType::String, |known| known.kind);
                Column { name: column.clone(), kind, labels: labels.clone() }
            });
            let field = rows_field(name, columns.collect());
            let found = rows::find(sheet, &field, &Occurrences::find(sheet, &doctype.fields)).rows;
            if !found.is_empty() {
                extraction.rows.insert(name.clone(), found);
            }
        }
    }

    fn value(&self, sheet: &Sheet, tokens: &Range<usize>, text: String, normalised: String) -> FieldValue {
        let place = grounding::place(sheet, std::slice::from_ref(tokens));
        let parts = ConfidenceParts { label: 0.97, ocr: place.ocr.unwrap_or(1.0), ..ConfidenceParts::CERTAIN };
        FieldValue {
            value: text,
            normalised,
            page: place.page,
            quote: place.quote,
            bbox: place.bbox,
            confidence: parts.confidence(),
            tier: Tier::Template,
            source: Some(self.name.to_string()),
            because: Vec::new(),
            parts,
            doubts: Vec::new(),
            accepted_by: None,
        }
    }
}

fn rows_field(name: &str, columns: Vec<Column>) -> Field {
    Field {
        name: name.to_owned(),
        kind: FieldType::Rows,
        required: false,
        labels: Vec::new(),
        never: Vec::new(),
        pattern: None,
        role: None,
        meaning: None,
        span: None,
        prefer: Prefer::First,
        one_of: Vec::new(),
        columns,
    }
}

impl TemplateRule {
    /// The first place that fits: words, the value's text and its normalised form.
    fn find(&self, sheet: &Sheet, kind: FieldType) -> Option<(Range<usize>, String, String)> {
        match &self.anchor {
            None => sheet.lines.iter().find_map(|line| self.value_in(sheet, line.tokens.clone(), kind)),
            Some((direction, labels)) => {
                anchors(sheet, labels).into_iter().find_map(|(line, tokens)| match direction {
                    Direction::After => self.value_in(sheet, tokens.end..sheet.lines[line].tokens.end, kind),
                    Direction::Below => self.below(sheet, line, &tokens, kind),
                })
            }
        }
    }

    fn below(
        &self,
        sheet: &Sheet,
        line: usize,
        anchor: &Range<usize>,
        kind: FieldType,
    ) -> Option<(Range<usize>, String, String)> {
        let rect = sheet.rect_of(anchor);
        let end = sheet.page_of(line).lines.end.min(line + 7);
        sheet.lines[line + 1..end].iter().flat_map(|line| &line.segments).find_map(|segment| {
            let own = sheet.rect_of(&segment.tokens);
            let overlaps = own.x0 < rect.x1 + 10.0 && own.x1 > rect.x0 - 10.0;
            overlaps.then(|| self.value_in(sheet, segment.tokens.clone(), kind)).flatten()
        })
    }

    fn value_in(
        &self,
        sheet: &Sheet,
        mut tokens: Range<usize>,
        kind: FieldType,
    ) -> Option<(Range<usize>, String, String)> {
        while tokens.start < tokens.end && !sheet.tokens[tokens.start].text.chars().any(char::is_alphanumeric) {
            tokens.start += 1;
        }
        if tokens.is_empty() {
            return None;
        }
        let parsed = |text: &str| super::parse_as(kind, text, &sheet.habits).map(|parsed| parsed.normalised);
        if let Some(pattern) = &self.pattern {
            return pattern_matches(sheet, &tokens, pattern).into_iter().find_map(|(range, text)| {
                let normalised = parsed(&text)?;
                Some((range, text, normalised))
            });
        }
        // Without a pattern, the longest run of words from the first on that is a value of the type; texts end at a gap.
        let line = sheet.lines.partition_point(|line| line.tokens.end <= tokens.start);
        let segment_end =
            sheet.segment_of(line, tokens.start).map_or(tokens.end, |segment| segment.tokens.end.min(tokens.end));
        let longest = segment_end.min(tokens.start + 12);
        (tokens.start + 1..=longest).rev().find_map(|end| {
            let range = tokens.start..end;
            let text = sheet.quote(&range);
            let normalised = parsed(&text)?;
            Some((range, text, normalised))
        })
    }
}

/// Everywhere that one of these labels stands: its line and its words.
fn anchors(sheet: &Sheet, labels: &[Label]) -> Vec<(usize, Range<usize>)> {
    let mut found = Vec::new();
    for (index, line) in sheet.lines.iter().enumerate() {
        for start in 0..line.parts.len() {
            let part = |offset: usize| line.parts.get(start + offset).map(|part| part.text.as_str());
            if let Some(length) = labels.iter().filter_map(|label| label.matches(part)).max() {
                found.push((index, line.parts[start].token..line.parts[start + length - 1].token + 1));
            }
        }
    }
    found
}

fn read_match(entry: &Fields<'_>, problems: &mut Problems) -> (Vec<Label>, Option<String>) {
    let Some(node) = entry.get("match") else { return (Vec::new(), None) };
    let Some(own) = Fields::open(node, "match", MATCH_KEYS, problems) else { return (Vec::new(), None) };
    let words = read_labels(&own, "words", problems);
    let vat_id = own.text("vat_id", problems).map(|text| (text, vat::parse(text)));
    if let Some((text, None)) = &vat_id {
        own.blame("vat_id", format!("{text:?} is not a VAT id"), Some("for example DE136695976"), problems);
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

fn read_rules(entry: &Fields<'_>, problems: &mut Problems) -> Vec<TemplateRule> {
    let Some(fields) = entry.get("fields").and_then(|node| Fields::open_free(node, "fields", problems)) else {
        return Vec::new();
    };
    let mut rules = Vec::new();
    for (name, node) in fields.iter() {
        let Some(own) = Fields::open(node, &fields.path_of(name), FIELD_KEYS, problems) else { continue };
        let after = read_labels(&own, "after", problems);
        let below = read_labels(&own, "below", problems);
        let pattern = read_pattern(&own, "pattern", problems);
        if after.is_empty() && below.is_empty() && own.get("pattern").is_none() {
            problems.add_with_hint(
                own.place,
                &own.path,
                "nothing says where the value stands",
                "give `after`, `below` or `pattern`",
            );
        }
        if !after.is_empty() && !below.is_empty() {
            own.blame("below", "a value stands either after or below words", Some("keep one of the two"), problems);
        }
        let anchor = match (after.is_empty(), below.is_empty()) {
            (false, _) => Some((Direction::After, after)),
            (true, false) => Some((Direction::Below, below)),
            (true, true) => None,
        };
        rules.push(TemplateRule { field: name.to_owned(), anchor, pattern });
    }
    rules
}

fn read_rows(entry: &Fields<'_>, problems: &mut Problems) -> Vec<RowsRule> {
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
