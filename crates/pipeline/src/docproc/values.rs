//! From what was read to what a workflow asks for: typed values, how sure each is, where it stands, and what is doubtful.

use super::schema::{Wanted, words_of};
use crate::{borders::rounded, stage::fields_of};
use bindery_engine::workflow::FieldType as Asked;
use bindery_fields::extract::{Extraction, FieldType, FieldValue, parse_as, value::Habits};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Part of a value that should have more of them is not more sure than this.
const SURE_OF_A_PART: f64 = 0.5;

const YES: &[&str] = &["yes", "true", "y", "x", "1", "ja", "oui", "si", "sí", "☒", "☑", "✓"];
const NO: &[&str] = &["no", "false", "n", "0", "nein", "non", "☐"];

/// What a document says, in a workflow's terms.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// By the workflow's names, in its order; null where nothing was found.
    pub(super) data: Map<String, Value>,
    pub(super) confidences: Map<String, Value>,
    pub(super) evidence: BTreeMap<String, Evidence>,
    pub(super) doubts: Vec<String>,
    /// The least of all that was found, 0 if something required was not; None where nothing was asked for.
    pub(super) confidence: Option<f64>,
}

/// Where a value stands and why it is believed, under the names of messages.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    /// From 1, as the submission numbers its pages.
    page: Option<usize>,
    fields: Map<String, Value>,
}

impl Evidence {
    fn new(field: &FieldValue) -> Self {
        Self { page: field.page, fields: fields_of(field) }
    }

    /// For the value in the type that was asked for.
    fn of_value(mut self, value: Value) -> Self {
        self.fields.insert("normalised".to_owned(), value);
        self
    }

    /// Gives it both numbers of the page: its place in the submission, from 0, and in its file, from 1.
    pub(super) fn place(&mut self, page_numbers: &BTreeMap<u64, Option<u64>>) {
        let Some(index) = self.page.and_then(|number| number.checked_sub(1)).map(|index| index as u64) else { return };
        self.fields.insert("page_index".to_owned(), json!(index));
        self.fields.insert("page".to_owned(), json!(page_numbers.get(&index).copied().flatten()));
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(self.fields)
    }
}

/// The fields that a workflow asks for.
pub(super) fn answers(wanted: &[Wanted], extraction: &Extraction) -> Answers {
    let mut answers = Answers { confidence: Some(1.0), ..Answers::default() };
    for field in wanted {
        let found = find(field, extraction);
        for doubt in &found.doubts {
            answers.doubts.push(format!("{}: {doubt}", field.name));
        }
        let confidence = match (&found.value, field.required) {
            (Some(_), _) => Some(found.confidence),
            (None, true) => {
                let label = words_of(&field.name);
                answers
                    .doubts
                    .push(format!("the required field {} was not found: nothing is named {label:?}", field.name));
                Some(0.0)
            }
            (None, false) => None,
        };
        if let Some(confidence) = confidence {
            answers.confidences.insert(field.name.clone(), json!(rounded(confidence)));
            answers.confidence = answers.confidence.map(|least| least.min(confidence));
        }
        answers.data.insert(field.name.clone(), found.value.clone().unwrap_or_default());
        if let (Some(value), Some(evidence)) = (found.value, found.evidence) {
            answers.evidence.insert(field.name.clone(), evidence.of_value(value));
        }
    }
    if !wanted.is_empty() && answers.data.values().all(Value::is_null) {
        answers.confidence = Some(0.0);
        answers.doubts.push("none of the fields that the workflow asks for was found".to_owned());
    }
    answers
}

/// All that a type has, where the workflow asks for nothing in particular. Nothing is required, so nothing is judged.
pub(super) fn everything(extraction: &Extraction) -> Answers {
    let mut answers = Answers::default();
    for (name, field) in &extraction.fields {
        answers.data.insert(name.clone(), json!(field.normalised));
        answers.confidences.insert(name.clone(), json!(rounded(f64::from(field.confidence))));
        answers.evidence.insert(name.clone(), Evidence::new(field));
        answers.doubts.extend(field.doubts.iter().map(|doubt| format!("{name}: {}", doubt.text)));
    }
    for name in extraction.rows.keys() {
        answers.data.insert(name.clone(), rows(extraction, name));
    }
    answers
}

#[derive(Debug, Default)]
struct Found {
    value: Option<Value>,
    confidence: f64,
    evidence: Option<Evidence>,
    doubts: Vec<String>,
}

fn find(wanted: &Wanted, extraction: &Extraction) -> Found {
    let parts_of = |parts: &Vec<String>| -> Vec<FieldValue> {
        parts.iter().filter_map(|part| extraction.fields.get(part)).cloned().collect()
    };
    let complete = wanted.sources.iter().find(|parts| parts_of(parts).len() == parts.len());
    let source = complete.or_else(|| wanted.sources.iter().max_by_key(|parts| parts_of(parts).len()));
    let Some(source) = source else { return Found::default() };
    if let [only] = source.as_slice()
        && extraction.rows.get(only).is_some_and(|rows| !rows.is_empty())
    {
        return Found { value: Some(rows(extraction, only)), confidence: 1.0, ..Found::default() };
    }
    let parts = parts_of(source);
    let Some(mut whole) = joined(&parts) else { return Found::default() };
    let mut doubts: Vec<String> = parts.iter().flat_map(|part| &part.doubts).map(|doubt| doubt.text.clone()).collect();
    let mut confidence = f64::from(whole.confidence);
    if parts.len() < source.len() {
        doubts.push(format!("only a part of it was found, {:?}", whole.value));
        confidence = confidence.min(SURE_OF_A_PART);
    }
    let Some(value) = typed(wanted.kind, &whole.normalised) else {
        doubts.push(format!("{:?} is not of the type {}", whole.value, wanted.kind));
        return Found { doubts, ..Found::default() };
    };
    whole.doubts = parts.into_iter().flat_map(|part| part.doubts).collect();
    Found { value: Some(value), confidence, evidence: Some(Evidence::new(&whole)), doubts }
}

/// The parts of a value in one; as sure as the least sure of them, and where the first of them stands.
fn joined(parts: &[FieldValue]) -> Option<FieldValue> {
    let mut whole = parts.first()?.clone();
    for part in &parts[1..] {
        whole.value = format!("{} {}", whole.value, part.value);
        whole.normalised = format!("{} {}", whole.normalised, part.normalised);
        whole.confidence = whole.confidence.min(part.confidence);
        let other_words = part.quote.as_ref().filter(|quote| whole.quote.as_ref() != Some(quote));
        whole.quote = match (whole.quote.take(), other_words) {
            (Some(first), Some(second)) => Some(format!("{first} {second}")),
            (first, second) => first.or_else(|| second.cloned()),
        };
    }
    Some(whole)
}

/// An exact value as the type that was asked for, or None if it is none of it. Decimals stay texts, which are exact.
fn typed(kind: Asked, normalised: &str) -> Option<Value> {
    let as_kind = |kind| parse_as(kind, normalised, &Habits::default()).map(|parsed| parsed.normalised);
    match kind {
        Asked::String => Some(json!(normalised)),
        Asked::Integer => as_kind(FieldType::Integer)?.parse::<i64>().ok().map(|number| json!(number)),
        Asked::Decimal => as_kind(FieldType::Decimal).map(|number| json!(number)),
        // Documents state days; which hour it was is not made up.
        Asked::Date | Asked::DateTime => as_kind(FieldType::Date).map(|date| json!(date)),
        Asked::Boolean => {
            let word = normalised.trim().to_lowercase();
            let said = |words: &[&str]| words.contains(&word.as_str());
            if said(YES) { Some(json!(true)) } else { said(NO).then(|| json!(false)) }
        }
    }
}

/// The cells of a list by column.
fn rows(extraction: &Extraction, field: &str) -> Value {
    let rows = extraction.rows.get(field).map_or(&[][..], Vec::as_slice);
    let row = |row: &bindery_fields::extract::Row| {
        let cells = row.cells.iter().map(|(column, cell)| (column.clone(), json!(cell.normalised)));
        Value::Object(cells.collect())
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_fields::extract::{ConfidenceParts, Tier};

    fn value(normalised: &str, confidence: f32) -> FieldValue {
        FieldValue {
            value: normalised.to_owned(),
            normalised: normalised.to_owned(),
            page: Some(1),
            quote: Some(normalised.to_owned()),
            bbox: None,
            confidence,
            tier: Tier::Candidate,
            source: None,
            because: Vec::new(),
            parts: ConfidenceParts { label: 1.0, kind: 1.0, unique: 1.0, ocr: 1.0, checks: None, calibrated: false },
            doubts: Vec::new(),
            accepted_by: None,
        }
    }

    fn extraction(fields: &[(&str, &str, f32)]) -> Extraction {
        let fields = fields.iter().map(|(name, text, sure)| ((*name).to_owned(), value(text, *sure))).collect();
        Extraction { fields, ..Extraction::default() }
    }

    fn new_wanted(name: &str, kind: Asked, required: bool, sources: &[&[&str]]) -> Wanted {
        let sources = sources.iter().map(|parts| parts.iter().map(|part| (*part).to_owned()).collect()).collect();
        Wanted { name: name.to_owned(), kind, required, sources }
    }

    #[test]
    fn the_least_sure_field_speaks_for_the_document() {
        let found = extraction(&[("number", "A-1", 0.9), ("grand_total", "119.00", 0.8)]);
        let asked = [
            new_wanted("invoice_number", Asked::String, true, &[&["number"]]),
            new_wanted("total_amount", Asked::Decimal, true, &[&["grand_total"]]),
            new_wanted("date", Asked::Date, false, &[&["issue_date"]]),
        ];
        let answers = answers(&asked, &found);
        assert_eq!(json!(answers.data), json!({"invoice_number": "A-1", "total_amount": "119.00", "date": null}));
        assert_eq!(json!(answers.confidences), json!({"invoice_number": 0.9, "total_amount": 0.8}));
        assert!((answers.confidence.unwrap() - 0.8).abs() < 1e-6);
        assert_eq!(answers.doubts, [] as [&str; 0]);
    }

    #[test]
    fn a_required_field_that_is_missing_leaves_no_confidence() {
        let asked = [
            new_wanted("invoice_number", Asked::String, false, &[&["number"]]),
            new_wanted("cost_centre", Asked::String, true, &[&["cost_centre"]]),
        ];
        let answers = answers(&asked, &extraction(&[("number", "A-1", 0.9)]));
        assert_eq!((answers.confidence, &answers.confidences["cost_centre"]), (Some(0.0), &json!(0.0)));
        assert_eq!(answers.doubts, ["the required field cost_centre was not found: nothing is named \"cost centre\""]);
    }

    #[test]
    fn a_value_of_another_type_is_none() {
        let asked = [new_wanted("pages", Asked::Integer, true, &[&["number"]])];
        let answers = answers(&asked, &extraction(&[("number", "twelve", 0.9)]));
        assert_eq!((&answers.data["pages"], answers.confidence), (&Value::Null, Some(0.0)));
        assert!(answers.doubts[0].contains("\"twelve\" is not of the type integer"), "{:?}", answers.doubts);
    }

    #[test]
    fn values_have_the_types_that_were_asked_for() {
        let cases = [
            (Asked::String, "0012", json!("0012")),
            (Asked::Integer, "12", json!(12)),
            (Asked::Decimal, "12.50", json!("12.50")),
            (Asked::Date, "2026-03-14", json!("2026-03-14")),
            (Asked::DateTime, "2026-03-14", json!("2026-03-14")),
            (Asked::Boolean, "Yes", json!(true)),
            (Asked::Boolean, "nein", json!(false)),
        ];
        for (kind, text, expected) in cases {
            assert_eq!(typed(kind, text), Some(expected), "{kind}");
        }
        assert_eq!(typed(Asked::Boolean, "perhaps"), None);
        assert_eq!(typed(Asked::Date, "soon"), None);
    }

    #[test]
    fn a_name_may_come_in_parts() {
        let asked = [new_wanted("full_name", Asked::String, true, &[&["full_name"], &["given_names", "surname"]])];
        let both = answers(&asked, &extraction(&[("given_names", "Ana", 0.9), ("surname", "Ruiz", 0.8)]));
        assert_eq!((&both.data["full_name"], both.doubts.len()), (&json!("Ana Ruiz"), 0));
        assert_eq!(both.evidence["full_name"].clone().into_value()["quote"], "Ana Ruiz");
        let one = answers(&asked, &extraction(&[("surname", "Ruiz", 0.9)]));
        assert_eq!((&one.data["full_name"], one.confidence), (&json!("Ruiz"), Some(0.5)));
        assert_eq!(one.doubts, ["full_name: only a part of it was found, \"Ruiz\""]);
    }
}
