//! Examples for the trainer: the candidates of a page with their features, and which of them are true.

pub use super::ModelKind;
use super::{
    dates::Days,
    merchant::{Names, key},
    money::{Amounts, hundredths},
    sink::Sink,
};
use crate::{
    DocType,
    extract::{candidate, occurrence::Occurrences, schema::FieldType, score::Scorer, sheet::Sheet},
    learn::calibrate::OcrCertainty,
};
use bindery_reader::Page;
use std::collections::BTreeMap;

/// The candidates of one page for one model.
#[derive(Debug, Clone, Default)]
pub struct PageExamples {
    /// What each candidate states.
    pub values: Vec<String>,
    pub rows: Vec<Vec<f32>>,
    pub is_true: Vec<bool>,
    /// How sure OCR was of each; None where the words are exact.
    pub ocr: Vec<Option<OcrCertainty>>,
}

/// All candidates of a page; those that state `truth` are true. Without a truth, none is.
pub fn examples(kind: ModelKind, page: &Page, truth: Option<&str>) -> PageExamples {
    let sheet = Sheet::new(std::slice::from_ref(page));
    let mut found = PageExamples::default();
    match kind {
        ModelKind::ReceiptTotal | ModelKind::ReceiptNet | ModelKind::ReceiptTax => {
            let wanted = truth.and_then(hundredths).map(|(value, _, _)| value);
            let candidates = candidate::find(&sheet, FieldType::Money);
            let amounts = Amounts::new(&sheet, &candidates);
            for value in &amounts.values {
                let mut sink = Sink::default();
                amounts.features(value, &value.prints, &mut sink);
                found.values.push(value.value.to_string());
                found.rows.push(sink.values);
                found.is_true.push(wanted == Some(value.value));
                found.ocr.push(amounts.ocr_certainty(&sheet, &candidates, value));
            }
        }
        ModelKind::ReceiptMerchant => {
            let wanted = truth.map(key);
            let names = Names::new(&sheet);
            for name in &names.candidates {
                let mut sink = Sink::default();
                names.features(name, &mut sink);
                found.values.push(name.text.clone());
                found.rows.push(sink.values);
                found.is_true.push(wanted.as_ref() == Some(&key(&name.text)));
                found.ocr.push(sheet.ocr_certainty(&name.spans));
            }
        }
        ModelKind::ReceiptDate => {
            let candidates = candidate::find(&sheet, FieldType::Date);
            let days = Days::new(&sheet, &candidates);
            for day in &days.values {
                let mut sink = Sink::default();
                days.features(day, &mut sink);
                found.values.push(day.normalised.clone());
                found.rows.push(sink.values);
                found.is_true.push(truth == Some(day.normalised.as_str()));
                found.ocr.push(days.ocr_certainty(&sheet, &candidates, day));
            }
        }
        // These depend on a type; see `labelled`.
        ModelKind::LabelledNumber | ModelKind::LabelledDate | ModelKind::LabelledText => {}
    }
    found
}

/// The candidates beside the labels of each field of a type, with the field's name; those that state its truth are true.
pub fn labelled_examples(
    doctype: &DocType,
    page: &Page,
    truth: &BTreeMap<String, String>,
) -> Vec<(ModelKind, String, PageExamples)> {
    let sheet = Sheet::new(std::slice::from_ref(page));
    let occurrences = Occurrences::find(&sheet, &doctype.fields);
    let scorer = Scorer { sheet: &sheet, occurrences: &occurrences, schema: &doctype.fields };
    let mut all = Vec::new();
    for (index, field) in doctype.fields.fields.iter().enumerate() {
        let Some(kind) = ModelKind::for_labelled(field.kind) else { continue };
        let candidates = candidate::find(&sheet, field.kind);
        let (stated, rows) = scorer.features(index, field, &candidates);
        let ocr = stated.iter().map(|candidate| sheet.ocr_certainty(std::slice::from_ref(&candidate.tokens))).collect();
        let values: Vec<String> = stated.into_iter().map(|candidate| candidate.parsed.normalised).collect();
        let wanted = truth.get(&field.name).map(String::as_str);
        let is_true =
            values.iter().map(|value| wanted.is_some_and(|wanted| is_same(field.kind, value, wanted))).collect();
        all.push((kind, field.name.clone(), PageExamples { values, rows, is_true, ocr }));
    }
    all
}

fn is_same(kind: FieldType, value: &str, wanted: &str) -> bool {
    match kind {
        FieldType::Money => hundredths(value).is_some() && hundredths(value) == hundredths(wanted),
        _ => key(value) == key(wanted),
    }
}
