//! Identity documents: what the machine-readable lines say, checked digit by digit.

use super::{
    extraction::{ConfidenceParts, Doubt, DoubtKind, Extraction, FieldValue, Tier},
    grounding,
    schema::{FieldType, Schema},
    sheet::Sheet,
    value::mrz,
};
use std::ops::Range;

/// Adds the values of the machine-readable lines, if the schema has a field for them and the pages have them.
///
/// They stand over what labels said: they are made to be read without error, and say themselves whether they were.
pub(super) fn add(sheet: &Sheet, schema: &Schema, extraction: &mut Extraction) {
    let Some(own) = schema.fields.iter().find(|field| field.kind == FieldType::Mrz) else { return };
    let mut texts = Vec::new();
    let mut spans: Vec<Range<usize>> = Vec::new();
    for line in &sheet.lines {
        let joined: String = sheet.tokens[line.tokens.clone()].iter().map(|token| token.text.as_str()).collect();
        if let Some(text) = mrz::clean_line(&joined) {
            texts.push(text);
            spans.push(line.tokens.clone());
        }
    }
    let printed: Vec<String> = extraction.fields.values().map(|value| value.normalised.clone()).collect();
    let Some((start, found)) = mrz::find(&texts, mrz::year_of(&printed)) else { return };
    let spans = &spans[start..start + found.lines.len()];
    let value = |name: &str, text: &str| {
        let place = grounding::place(sheet, spans);
        let check =
            found.checks.iter().find(|(covered, _)| *covered == name || (name == own.name && *covered == "all"));
        let holds = check.is_none_or(|(_, holds)| *holds);
        let mut doubts = Vec::new();
        if !holds {
            doubts.push(Doubt::new(
                DoubtKind::Checksum,
                format!("the check digit of the machine-readable {} is wrong", name.replace('_', " ")),
            ));
        }
        let parts = ConfidenceParts {
            kind: if holds { 1.0 } else { 0.4 },
            ocr: if check.is_some() && holds { 1.0 } else { place.ocr.unwrap_or(1.0) },
            ..ConfidenceParts::CERTAIN
        };
        FieldValue {
            value: text.to_owned(),
            normalised: text.to_owned(),
            page: place.page,
            quote: place.quote,
            bbox: place.bbox,
            confidence: parts.confidence(),
            tier: Tier::Candidate,
            source: Some("machine-readable lines".to_owned()),
            because: Vec::new(),
            parts,
            doubts,
            accepted_by: None,
        }
    };
    for field in &schema.fields {
        if let Some(text) = found.get(&field.name) {
            extraction.fields.insert(field.name.clone(), value(&field.name, text));
        }
    }
    extraction.fields.insert(own.name.clone(), value(&own.name, &found.lines.join("\n")));
}
