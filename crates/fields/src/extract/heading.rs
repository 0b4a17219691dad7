//! The document's own title: its first heading, for fields that prefer it.

use super::{
    extraction::{ConfidenceParts, Extraction, FieldValue, Tier},
    grounding,
    label::plain_parts,
    schema::{FieldType, Prefer, Schema},
    sheet::Sheet,
};
use bindery_reader::{Page, model::BlockKind};
use std::ops::Range;

/// A longer one is a paragraph that was printed large.
const LONGEST: usize = 200;

/// Adds the heading as the value of the fields that prefer it and were not found by a label.
pub(super) fn add(sheet: &Sheet, schema: &Schema, pages: &[Page], extraction: &mut Extraction) {
    let wants = |name: &str, extraction: &Extraction| !extraction.fields.contains_key(name);
    let fields = schema.fields.iter().filter(|field| field.prefer == Prefer::Title && field.kind == FieldType::String);
    for field in fields {
        if wants(&field.name, extraction)
            && let Some(value) = heading(sheet, pages)
        {
            extraction.fields.insert(field.name.clone(), value);
        }
    }
}

fn heading(sheet: &Sheet, pages: &[Page]) -> Option<FieldValue> {
    let text = pages.first()?.blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Heading { text, .. } => Some(text.text()),
        _ => None,
    })?;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    let place = grounding::place(sheet, &spans(sheet, &text)?);
    // That it is a heading is sure; that it names the document, nearly.
    let parts = ConfidenceParts { label: 0.9, ocr: place.ocr.unwrap_or(1.0), ..ConfidenceParts::CERTAIN };
    Some(FieldValue {
        value: text.clone(),
        normalised: text,
        page: place.page,
        quote: place.quote,
        bbox: place.bbox,
        confidence: parts.confidence(),
        tier: Tier::Candidate,
        source: Some("heading".to_owned()),
        because: Vec::new(),
        parts,
        doubts: Vec::new(),
        accepted_by: None,
    })
}

/// The words of a text on the first page, line by line.
fn spans(sheet: &Sheet, text: &str) -> Option<Vec<Range<usize>>> {
    let wanted: Vec<String> = text.split_whitespace().flat_map(plain_parts).collect();
    let lines = sheet.pages.first()?.lines.clone();
    let parts: Vec<_> =
        sheet.lines[lines].iter().flat_map(|line| line.parts.iter().map(move |part| (line, part))).collect();
    let found = parts
        .windows(wanted.len().max(1))
        .find(|window| !wanted.is_empty() && window.iter().zip(&wanted).all(|((_, part), word)| part.text == *word))?;
    let mut spans: Vec<Range<usize>> = Vec::new();
    for (line, part) in found {
        match spans.last_mut().filter(|span| line.tokens.contains(&span.start)) {
            Some(span) => span.end = part.token + 1,
            None => spans.push(part.token..part.token + 1),
        }
    }
    Some(spans)
}
