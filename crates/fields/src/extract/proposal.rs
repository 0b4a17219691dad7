//! What a language model says of values that are still doubtful. It is never taken at its word: a value that the pages do
//! not print, on the borders of words, stays a doubt, and one that contradicts what labels say is for a person.

use super::{
    block, candidate,
    choice::plain,
    extraction::{ConfidenceParts, Doubt, DoubtKind, Extraction, FieldValue, Tier},
    grounding::{self, Place, is_same},
    parse_as,
    schema::{Field, FieldType, Schema},
    sheet::Sheet,
    value::Habits,
};
use bindery_reader::Page;
use std::collections::BTreeMap;

/// How often a printed value is right that nothing but the model speaks for.
const ALONE: f32 = 0.8;
/// The same where labels speak for another value.
const DISPUTED: f32 = 0.5;
/// How often one is right that labels speak for, too.
const AGREED: f32 = 0.9;

/// The fields that are worth a question: required and missing, less sure than `least`, or with a doubt that a person would
/// be asked about. What people or an e-invoice state is not asked about, nor are lists, nor boxes to tick: every value of
/// those stands on the page.
pub fn doubtful_fields<'s>(schema: &'s Schema, extraction: &Extraction, least: f32) -> Vec<&'s Field> {
    let is_asked = |field: &&Field| !matches!(field.kind, FieldType::Rows | FieldType::Choice | FieldType::Mrz);
    let is_doubtful = |field: &&Field| match extraction.fields.get(&field.name) {
        None => field.required && !extraction.absent.contains(&field.name),
        Some(value) if value.is_confirmed() || value.tier == Tier::EInvoice => false,
        Some(value) => {
            let is_doubted = |doubt: &Doubt| doubt.kind.is_serious() || doubt.kind == DoubtKind::CheckFailed;
            value.confidence < least || value.doubts.iter().any(is_doubted)
        }
    };
    schema.fields.iter().filter(is_asked).filter(is_doubtful).collect()
}

impl Extraction {
    /// Takes a model's values over where the pages print them, and runs all checks again.
    pub fn propose(&mut self, schema: &Schema, pages: &[Page], values: &BTreeMap<String, String>, model: &str) {
        let sheet = Sheet::new(pages);
        for field in &schema.fields {
            let Some(said) = values.get(&field.name).map(|said| said.trim()).filter(|said| !said.is_empty()) else {
                continue;
            };
            match printed(&sheet, field, said) {
                Ok((normalised, place)) => self.take(field, said, normalised, place, model),
                Err(doubt) => self.doubt(&field.name, doubt),
            }
        }
        self.judge(schema);
    }

    fn doubt(&mut self, field: &str, doubt: Doubt) {
        match self.fields.get_mut(field) {
            Some(value) => value.doubts.push(doubt),
            None => self.doubts.push(Doubt { text: format!("{field}: {}", doubt.text), ..doubt }),
        }
    }

    fn take(&mut self, field: &Field, said: &str, normalised: String, place: Place, model: &str) {
        let before = self.fields.remove(&field.name);
        let is_guess = |value: &FieldValue| value.doubts.iter().any(|doubt| doubt.kind == DoubtKind::NoLabel);
        let value = match before {
            Some(before) if is_same(field.kind, &before.normalised, &normalised) => agreed(before, model),
            Some(before) if !is_guess(&before) => {
                let text = format!("the language model reads {said}, labels speak for {}", before.value);
                proposed(said, normalised, place, DISPUTED, vec![Doubt::new(DoubtKind::Ambiguous, text)], model)
            }
            _ => proposed(said, normalised, place, ALONE, Vec::new(), model),
        };
        self.fields.insert(field.name.clone(), value);
    }
}

/// What labels say and the model says, too. How it was printed and read stays as doubtful as it is.
fn agreed(before: FieldValue, model: &str) -> FieldValue {
    let is_settled = |kind| matches!(kind, DoubtKind::Rival | DoubtKind::NoLabel | DoubtKind::LargerLabelled);
    let mut value = FieldValue { tier: Tier::Model, source: Some(model.to_owned()), ..before };
    value.because.push("a language model reads the same".to_owned());
    value.doubts.retain(|doubt| !is_settled(doubt.kind));
    value.parts.label = value.parts.label.max(AGREED);
    value.parts.unique = 1.0;
    value
}

fn proposed(said: &str, normalised: String, place: Place, label: f32, doubts: Vec<Doubt>, model: &str) -> FieldValue {
    let parts = ConfidenceParts { label, ocr: place.ocr.unwrap_or(1.0), ..ConfidenceParts::CERTAIN };
    FieldValue {
        value: said.to_owned(),
        normalised,
        page: place.page,
        quote: place.quote,
        bbox: place.bbox,
        confidence: parts.confidence(),
        tier: Tier::Model,
        source: Some(model.to_owned()),
        because: vec!["a language model reads it so".to_owned()],
        parts,
        doubts,
        accepted_by: None,
    }
}

/// The exact form of what the model says, and where the pages print it.
fn printed(sheet: &Sheet, field: &Field, said: &str) -> Result<(String, Place), Doubt> {
    let is_text = matches!(field.kind, FieldType::String | FieldType::Name | FieldType::Address);
    let candidates = if is_text { Vec::new() } else { candidate::find(sheet, field.kind) };
    // As the document writes numbers and dates, or in the exact form that models like to give.
    let readings = [sheet.habits, Habits::default()].map(|habits| parse_as(field.kind, said, &habits));
    let readings: Vec<String> = readings.into_iter().flatten().map(|parsed| parsed.normalised).collect();
    if readings.is_empty() {
        let text = format!("the language model says {said:?}, which is no value of type {}", field.kind.as_str());
        return Err(Doubt::new(DoubtKind::NotAllowed, text));
    }
    if !field.one_of.is_empty() && !field.one_of.iter().any(|one| plain(one) == plain(said)) {
        let text = format!("the language model says {said:?}, which is none of {}", field.one_of.join(", "));
        return Err(Doubt::new(DoubtKind::NotAllowed, text));
    }
    let found = readings.into_iter().find_map(|normalised| {
        let place = if is_text {
            block::find_text(sheet, &normalised).first().map(|(_, spans)| grounding::place(sheet, spans))
        } else {
            grounding::find(sheet, field.kind, said, &normalised, &candidates)
        };
        Some((normalised, place?))
    });
    found.ok_or_else(|| {
        Doubt::new(DoubtKind::NotOnPage, format!("the language model says {said:?}, which stands on no page"))
    })
}
