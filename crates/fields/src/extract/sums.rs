//! Sums that fail are looked at a second time, when rows and fields are known: another candidate with a label of the field
//! may make the sum hold, or an amount that no label names is what the two sides differ by, as what was paid before.

use super::{
    assign::Pick,
    check::Check,
    extraction::{ConfidenceParts, Extraction, FieldValue, Tier},
    extractor::FieldFinder,
    schema::{Field, FieldType},
    value::Decimal,
};
use std::collections::BTreeMap;

/// How many candidates of a field are tried.
const MOST_TRIED: usize = 8;
/// How often an amount that is what two sums differ by is what is missing between them.
const DIFFERENCE: f32 = 0.8;
/// How well a print fits that has the decimals or the currency of an amount.
const CLEAR_AMOUNT: f32 = 0.85;

impl FieldFinder<'_> {
    /// Settles what sums that fail say about the values that were read.
    pub(super) fn settle_sums(&self, extraction: &mut Extraction) {
        for check in &self.schema.checks {
            if check.run(extraction).is_none_or(|result| result.passed) {
                continue;
            }
            if !self.take_rival(check, extraction) {
                self.take_difference(check, extraction);
            }
        }
    }

    /// Gives a field the only other labelled candidate that makes the sum hold, where no other check fails by it.
    fn take_rival(&self, check: &Check, extraction: &mut Extraction) -> bool {
        let passed = |values: &Extraction| {
            self.schema.checks.iter().filter(|own| own.run(values).is_some_and(|result| result.passed)).count()
        };
        let before = passed(extraction);
        let mut found: BTreeMap<(String, String), FieldValue> = BTreeMap::new();
        for name in check.fields() {
            let is_read = |value: &FieldValue| value.tier == Tier::Candidate && !value.parts.calibrated;
            let Some(own) = extraction.fields.get(&name).filter(|own| is_read(own)).cloned() else { continue };
            let Some(index) = self.schema.fields.iter().position(|field| field.name == name) else { continue };
            let field = &self.schema.fields[index];
            let rivals = self.ranked(index, field).into_iter().take(MOST_TRIED);
            for scored in rivals.filter(|scored| scored.label.is_some()) {
                let normalised = scored.candidate.parsed.normalised.clone();
                // What another field of the sum states is that field's.
                let is_taken =
                    |other: &String| extraction.fields.get(other).is_some_and(|other| other.normalised == normalised);
                if check.fields().iter().any(is_taken) {
                    continue;
                }
                let answer = crate::learn::calibrate::Answer::new(0.0, std::iter::empty());
                let pick = Pick { field: index, scored, rival: None, larger: None, smaller: None, answer };
                let value = self.value(field, &pick);
                extraction.fields.insert(name.clone(), value.clone());
                let holds = check.run(extraction).is_some_and(|result| result.passed);
                if holds && passed(extraction) > before {
                    found.entry((name.clone(), normalised)).or_insert(value);
                }
            }
            extraction.fields.insert(name, own);
        }
        let mut found = found.into_iter();
        let (Some(((name, _), value)), None) = (found.next(), found.next()) else { return false };
        extraction.fields.insert(name, value);
        true
    }

    /// Gives the only optional term that the document does not state the amount that the sum lacks, if it is printed.
    fn take_difference(&self, check: &Check, extraction: &mut Extraction) {
        let Check::Sum { terms, .. } = check else { return };
        let is_absent = |name: &str| !extraction.fields.contains_key(name);
        let mut absent =
            terms.iter().filter(|term| term.is_optional && term.column.is_none() && is_absent(&term.field));
        let (Some(term), None) = (absent.next(), absent.next()) else { return };
        let money = |field: &&Field| field.name == term.field && field.kind == FieldType::Money;
        let Some(field) = self.schema.fields.iter().find(money) else { return };
        let Some(excess) = check.excess(extraction) else { return };
        let missing = if term.is_subtracted { excess } else { excess.negated() };
        if missing.is_negative() || missing.is_zero() {
            return;
        }
        let amounts = self.candidates.get(&FieldType::Money).map_or(&[][..], Vec::as_slice);
        let is_missing = |text: &str| Decimal::from_plain(text).is_some_and(|own| own.abs() == missing);
        // An amount of a row or of another field is what that says.
        let is_known = extraction.fields.values().any(|value| is_missing(&value.normalised))
            || extraction
                .rows
                .values()
                .flatten()
                .flat_map(|row| row.cells.values())
                .any(|cell| is_missing(&cell.normalised));
        let mut printed = amounts.iter().filter(|own| own.fit >= CLEAR_AMOUNT && is_missing(&own.parsed.normalised));
        let Some(candidate) = printed.next().filter(|_| !is_known) else { return };
        let parts = ConfidenceParts { label: DIFFERENCE, ..ConfidenceParts::CERTAIN };
        let spans = std::slice::from_ref(&candidate.tokens);
        let normalised = candidate.parsed.normalised.trim_start_matches('-');
        let mut value = self.value_with_evidence(&candidate.text, normalised, spans, parts, Vec::new(), None);
        let others: Vec<String> = check.fields().into_iter().filter(|name| *name != field.name).collect();
        value.because.push(format!("it is what {} differ by", others.join(" and ")));
        extraction.fields.insert(field.name.clone(), value);
    }
}
