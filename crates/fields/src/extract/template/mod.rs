//! What users say of the documents of one sender: `templates/*.yaml`.
//!
//! A template matches by words that stand on the pages or by the sender's VAT id. Its fields say where a value stands:
//! behind or below some words, in an area of the first page, as a pattern; its rows name the headings of a table's columns.
//!
//! | module | what it owns |
//! |---|---|
//! | `rule` | where one value stands, and what stands there |
//! | `read` | templates as YAML |
//! | `prints` | where a known value is printed, and all the ways to say so |
//! | [`suggest`] | a template learned from corrections, and what it would change |

mod prints;
mod read;
mod rule;
pub mod suggest;

use super::{
    check,
    extraction::{ConfidenceParts, Doubt, DoubtKind, Extraction, FieldValue, Row, Tier},
    grounding,
    label::Label,
    occurrence::Occurrences,
    rows,
    schema::{Column, Field, FieldType, Prefer},
    sheet::Sheet,
    value::vat,
};
use crate::DocType;
use bindery_core::Name;
use bindery_reader::Page;
use bindery_yaml::{self as yaml, Fields, LoadError, Node, Problems, Wanted, YamlError};
use read::{read_match, read_rows, read_rules};
use rule::{Found, TemplateRule};
use std::path::Path;

const WANTED: Wanted = Wanted { what: "template", least: "`name`, `match` and `fields`" };
const KEYS: &[&str] = &["name", "doctype", "match", "fields", "rows"];

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
    pub(super) fn apply(&self, doctype: &DocType, sheet: &Sheet, pages: &[Page], extraction: &mut Extraction) {
        if let Some(template) = self.matching(doctype, sheet) {
            template.apply(doctype, sheet, pages, extraction);
        }
    }

    /// Those that may be applied to documents of a type.
    pub fn for_doctype(&self, name: &str) -> impl Iterator<Item = &Template> {
        self.0.iter().filter(move |template| template.doctype.as_ref().is_none_or(|own| **own == *name))
    }

    /// The template that counts for a document.
    pub fn for_document(&self, doctype: &DocType, pages: &[Page]) -> Option<&Template> {
        self.matching(doctype, &Sheet::new(pages))
    }

    /// The same with one more, which counts before the others.
    #[must_use]
    pub fn led_by(&self, first: Template) -> Self {
        Self(std::iter::once(first).chain(self.0.iter().cloned()).collect())
    }

    fn matching(&self, doctype: &DocType, sheet: &Sheet) -> Option<&Template> {
        let mut own =
            self.0.iter().filter(|template| template.doctype.as_ref().is_none_or(|name| *name == doctype.name));
        own.find(|template| template.matches(sheet))
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
        let by_words = !self.words.is_empty() && self.words.iter().all(|words| stands_on(sheet, words));
        by_words || self.vat_id.as_deref().is_some_and(|id| has_vat_id(sheet, id))
    }

    fn apply(&self, doctype: &DocType, sheet: &Sheet, pages: &[Page], extraction: &mut Extraction) {
        for rule in &self.fields {
            let kind = doctype.fields.field(&rule.field).map_or(FieldType::String, |field| field.kind);
            if let Some(found) = rule.find(sheet, kind) {
                let value = self.value(sheet, found);
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
            let found = {
                let occurrences = Occurrences::find(sheet, &doctype.fields);
                let adds_up = |rows: &[Row]| check::rows_add_up(&doctype.fields.checks, extraction, name, rows);
                rows::find(sheet, pages, &field, &occurrences, adds_up).rows
            };
            if !found.is_empty() {
                extraction.rows.insert(name.clone(), found);
            }
        }
    }

    fn value(&self, sheet: &Sheet, Found { spans, text, normalised }: Found) -> FieldValue {
        let place = grounding::place(sheet, &spans);
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

/// Whether these words stand on a line of the pages.
fn stands_on(sheet: &Sheet, words: &Label) -> bool {
    sheet.lines.iter().any(|line| {
        let part = |at: usize| line.parts.get(at).map(|part| part.text.as_str());
        (0..line.parts.len()).any(|start| words.matches(|index| part(start + index)).is_some())
    })
}

/// Whether this VAT id stands on the pages, however it is printed.
fn has_vat_id(sheet: &Sheet, id: &str) -> bool {
    sheet.lines.iter().flat_map(|line| &line.segments).any(|segment| {
        let mut found = vat::VAT_ID.find_iter(&segment.text).filter_map(|found| vat::parse(found.as_str()));
        found.any(|parsed| parsed.normalised == id)
    })
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
