//! What was read from a document: values with their evidence, rows, checks, and what a person should look at.

use super::{
    check::{CheckResult, Values},
    schema::{Field, FieldType, Schema},
    value::{Habits, Parsed},
};
use bindery_reader::Rect;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The values of a document. Everything in it can be stored as JSON and read back.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Extraction {
    /// The type whose fields were read.
    pub doctype: String,
    /// The least sure of the required fields, or of those found where none is required; 0 if a required one is missing.
    pub confidence: f32,
    pub fields: BTreeMap<String, FieldValue>,
    /// Lists of rows by field.
    pub rows: BTreeMap<String, Vec<Row>>,
    pub checks: Vec<CheckResult>,
    /// Fields that a person says the document does not state.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub absent: BTreeSet<String>,
    /// What is doubtful about the document as a whole, such as a missing field.
    pub doubts: Vec<Doubt>,
    /// Why a person should look at it, one sentence each; empty if nobody needs to.
    pub needs_review: Vec<String>,
}

/// One value and why it is believed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FieldValue {
    /// As the document states it.
    pub value: String,
    /// In the one exact form of its type: `1234.56`, `2018-03-05`.
    pub normalised: String,
    /// Where it stands, from 1.
    pub page: Option<usize>,
    /// The words of that page.
    pub quote: Option<String>,
    /// Around those words, in points from the top left; None where the file has no boxes.
    pub bbox: Option<Rect>,
    pub confidence: f32,
    pub tier: Tier,
    /// Path of the element in an e-invoice, name of a template, or the label beside the value.
    pub source: Option<String>,
    /// What spoke for it, the strongest first; empty where a label alone did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
    pub parts: ConfidenceParts,
    pub doubts: Vec<Doubt>,
    /// Who has accepted it as it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_by: Option<String>,
}

impl FieldValue {
    /// Whether a person has entered or accepted it.
    pub fn is_confirmed(&self) -> bool {
        self.tier == Tier::Person || self.accepted_by.is_some()
    }
}

/// A row of a list.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Row {
    pub page: Option<usize>,
    pub cells: BTreeMap<String, RowCell>,
    pub doubts: Vec<Doubt>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowCell {
    pub value: String,
    pub normalised: String,
    pub bbox: Option<Rect>,
    /// Who has entered it; None where it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entered_by: Option<String>,
}

/// How a value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// The e-invoice inside the file says so.
    EInvoice,
    /// A user's template says where it stands.
    Template,
    /// Labels and types speak for it.
    Candidate,
    /// A language model says so, and the page prints it.
    Model,
    /// A program of the user's own says so.
    Program,
    /// A person entered it.
    Person,
}

/// What the confidence is made of; each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceParts {
    /// How well a label names the value.
    pub label: f32,
    /// How well the print fits the type.
    pub kind: f32,
    /// Whether another value could be meant.
    pub unique: f32,
    /// How sure the words were read.
    pub ocr: f32,
    /// Whether checks confirm it; None where none speaks of it.
    pub checks: Option<f32>,
    /// Whether `label` is a calibrated chance, in which sums and the certainty of OCR are counted already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub calibrated: bool,
}

impl ConfidenceParts {
    pub(crate) const CERTAIN: Self =
        Self { label: 1.0, kind: 1.0, unique: 1.0, ocr: 1.0, checks: None, calibrated: false };

    pub(crate) fn confidence(&self) -> f32 {
        let read = if self.calibrated { 1.0 } else { self.ocr };
        let base = self.label * self.kind * self.unique * read;
        let whole = match self.checks {
            // A calibrated chance knows of sums that hold. One that fails is a reason for review by itself, and as often
            // the fault of the other values.
            Some(passed) if self.calibrated => base * (0.75 + 0.25 * passed),
            // What arithmetic confirms was hardly misread or mislabelled.
            Some(passed) if passed >= 1.0 => base + (1.0 - base) * 0.6,
            Some(passed) => base.min(0.2 + 0.2 * passed),
            None => base,
        };
        (whole.clamp(0.0, 1.0) * 1000.0).round() / 1000.0
    }
}

/// Something doubtful, by kind and as a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    pub kind: DoubtKind,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DoubtKind {
    /// A required field was not found.
    Missing,
    /// The print allows two readings.
    Ambiguous,
    /// The pages do not state what another source says.
    NotOnPage,
    /// The pages state another value.
    PageDisagrees,
    /// No label speaks for it.
    NoLabel,
    /// Another value fits nearly as well.
    Rival,
    /// The type prefers the largest amount, and a larger one has a label of the field, too.
    LargerLabelled,
    /// The words were hard to read.
    Ocr,
    /// Its checksum is wrong.
    Checksum,
    /// A check over several fields failed.
    CheckFailed,
    /// It is none of the allowed values.
    NotAllowed,
    /// A source could not be used.
    Source,
    /// Amounts stand below a heading that the type has no column for.
    LeftOverColumn,
}

impl DoubtKind {
    /// Whether a person should look because of it alone.
    pub(crate) const fn is_serious(self) -> bool {
        matches!(self, Self::PageDisagrees | Self::NotAllowed | Self::Ambiguous | Self::LargerLabelled)
    }
}

impl Doubt {
    pub(crate) fn new(kind: DoubtKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

/// As likely wrong as right.
const EVEN: f32 = 0.5;

impl Values for Extraction {
    fn value(&self, field: &str) -> Option<&str> {
        self.fields.get(field).map(|value| value.normalised.as_str())
    }

    fn column(&self, field: &str, column: &str) -> Option<Vec<Option<&str>>> {
        let rows = self.rows.get(field)?;
        Some(rows.iter().map(|row| row.cells.get(column).map(|cell| cell.normalised.as_str())).collect())
    }
}

impl Extraction {
    /// Runs the checks and says what follows from them: confidence, doubts, what needs a person.
    pub(super) fn judge(&mut self, schema: &Schema) {
        self.checks = schema.checks.iter().filter_map(|check| check.run(self)).collect();
        self.checks.extend(self.checksums(schema));
        let verdicts = |name: &str| {
            self.checks
                .iter()
                .filter(|check| check.fields.iter().any(|field| field == name))
                .map(|check| check.passed)
                .collect::<Vec<_>>()
        };
        let verdicts: BTreeMap<String, Vec<bool>> =
            self.fields.keys().map(|name| (name.clone(), verdicts(name))).collect();
        let failed: Vec<CheckResult> = self.checks.iter().filter(|check| !check.passed).cloned().collect();
        for (name, value) in &mut self.fields {
            value.doubts.retain(|doubt| doubt.kind != DoubtKind::CheckFailed);
            let passed = &verdicts[name];
            let share = passed.iter().filter(|passed| **passed).count() as f32 / passed.len().max(1) as f32;
            value.parts.checks = (!passed.is_empty()).then_some(share);
            let own = failed.iter().filter(|check| check.fields.contains(name));
            value.doubts.extend(own.map(|check| Doubt::new(DoubtKind::CheckFailed, check.message.clone())));
            // What a person confirmed stays certain; a failed check is still named.
            value.confidence = if value.is_confirmed() { 1.0 } else { value.parts.confidence() };
        }
        self.doubts.retain(|doubt| doubt.kind != DoubtKind::Missing);
        let missing: Vec<&str> = schema
            .fields
            .iter()
            .filter(|field| field.required && !self.has(&field.name) && !self.absent.contains(&field.name))
            .map(|field| field.name.as_str())
            .collect();
        self.doubts.extend(
            missing
                .iter()
                .map(|name| Doubt::new(DoubtKind::Missing, format!("the required field {name} was not found"))),
        );
        self.confidence = if missing.is_empty() { self.least_sure(schema) } else { 0.0 };
        self.needs_review = self
            .doubts
            .iter()
            .filter(|doubt| doubt.kind == DoubtKind::Missing)
            .map(|doubt| doubt.text.clone())
            .collect();
        // A number in an e-invoice was not misread: its checksum is a doubt about it, no contradiction.
        let is_exact = |check: &CheckResult| match check.fields.as_slice() {
            [name] => self.fields.get(name).is_some_and(|value| value.tier == Tier::EInvoice),
            _ => false,
        };
        let contradicted = failed.iter().filter(|check| !is_exact(check)).map(|check| check.message.clone());
        let contradicted: Vec<String> = contradicted.collect();
        self.needs_review.extend(contradicted);
        self.needs_review.extend(self.likely_wrong(schema));
        if schema.fields.iter().any(|field| self.lacks_amounts(field)) {
            let left_over = self.doubts.iter().filter(|doubt| doubt.kind == DoubtKind::LeftOverColumn);
            self.needs_review.extend(left_over.map(|doubt| doubt.text.clone()));
        }
        // No review because an address or words of prose are written in another way on the page.
        let is_soft = |name: &str, doubt: &Doubt| {
            let is_soft_field = schema.field(name).is_some_and(|field| match field.kind {
                FieldType::Address | FieldType::Phone | FieldType::Email => true,
                FieldType::String => field.pattern.is_none() && !field.required,
                _ => false,
            });
            is_soft_field && doubt.kind == DoubtKind::PageDisagrees
        };
        for (name, value) in self.fields.iter().filter(|(_, value)| !value.is_confirmed()) {
            self.needs_review.extend(
                value
                    .doubts
                    .iter()
                    .filter(|doubt| doubt.kind.is_serious() && !is_soft(name, doubt))
                    .map(|doubt| format!("{name}: {}", doubt.text)),
            );
        }
    }

    /// The confidence of the least sure value that counts. Where nothing was asked for and nothing found, there is
    /// nothing to doubt.
    fn least_sure(&self, schema: &Schema) -> f32 {
        let requires = schema.fields.iter().any(|field| field.required);
        let counts = |name: &str| !requires || schema.field(name).is_some_and(|field| field.required);
        let counted = self.fields.iter().filter(|(name, _)| counts(name)).map(|(_, value)| value.confidence);
        counted.reduce(f32::min).unwrap_or(1.0)
    }

    /// Takes away texts that nobody asked for and that are more likely wrong than right, as words of prose behind "payment"
    /// are: to ask a person about them helps nobody.
    ///
    /// Where an e-invoice states the document, a value that it does not state and that is a guess is left out, too.
    pub(super) fn drop_unlikely_texts(&mut self, schema: &Schema) {
        let has_einvoice = self.fields.values().any(|value| value.tier == Tier::EInvoice);
        self.fields.retain(|name, value| {
            let optional = schema.field(name).filter(|field| !field.required);
            let is_text = |field: &Field| field.kind == FieldType::String && field.pattern.is_none();
            let is_unasked = optional.is_some_and(|field| has_einvoice || is_text(field));
            !(is_unasked && value.tier == Tier::Candidate && value.confidence < EVEN)
        });
    }

    /// Values of optional fields that are more likely wrong than right: nobody asked for them, but a guess is not to
    /// pass as a value.
    fn likely_wrong(&self, schema: &Schema) -> Vec<String> {
        let is_optional = |name: &str| schema.field(name).is_some_and(|field| !field.required);
        // A sum that is wrong is a reason by itself.
        let has_failed = |value: &FieldValue| value.doubts.iter().any(|doubt| doubt.kind == DoubtKind::CheckFailed);
        let doubted = self
            .fields
            .iter()
            .filter(|(name, value)| value.confidence < EVEN && is_optional(name) && !has_failed(value));
        let reason = |(name, value): (&String, &FieldValue)| {
            let doubts: Vec<&str> = value.doubts.iter().map(|doubt| doubt.text.as_str()).collect();
            let because = if doubts.is_empty() { String::new() } else { format!(": {}", doubts.join("; ")) };
            format!("{name} is {:.0} % sure{because}", value.confidence * 100.0)
        };
        doubted.map(reason).collect()
    }

    /// Whether a list should have amounts, and none of its rows has one.
    fn lacks_amounts(&self, field: &Field) -> bool {
        let mut columns = field.columns.iter().filter(|column| column.kind == FieldType::Money).peekable();
        let Some(rows) = self.rows.get(&field.name).filter(|_| columns.peek().is_some()) else { return false };
        columns.all(|column| rows.iter().all(|row| !row.cells.contains_key(&column.name)))
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.fields.contains_key(field) || self.rows.get(field).is_some_and(|rows| !rows.is_empty())
    }

    /// Checksums that values carry themselves, reported like other checks.
    fn checksums(&self, schema: &Schema) -> Vec<CheckResult> {
        let checked = self.fields.iter().filter_map(|(name, value)| {
            let kind = schema.field(name)?.kind;
            let checksum = super::parse_as(kind, &value.normalised, &Habits::default())
                .and_then(|parsed: Parsed| parsed.checksum)?;
            let verdict = if checksum { "right" } else { "wrong" };
            Some(CheckResult {
                check: format!("checksum of {name}"),
                passed: checksum,
                fields: vec![name.clone()],
                message: format!("the checksum of {name}, {}, is {verdict}", value.normalised),
            })
        });
        checked.collect()
    }
}
