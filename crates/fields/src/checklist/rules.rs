//! What contradicts across documents, and what is there twice.

use super::{
    compare::Comparison,
    model::{Agreement, DateSequence, FieldRef},
    paper::{Paper, PaperStatus},
    report::{Contradiction, DuplicatePaper, StatedValue},
};
use std::collections::HashMap;

/// Fewer equal values may be chance: two letters have the same sender and recipient.
const LEAST_EQUAL_VALUES: usize = 3;

/// The documents that fulfil each requirement, by its name.
pub(super) type Assigned<'a> = HashMap<&'a str, Vec<&'a Paper>>;

/// What the documents of a requirement state.
pub(super) fn stated_values(assigned: &Assigned<'_>, reference: &FieldRef) -> Vec<StatedValue> {
    let papers = assigned.get(reference.requirement.as_str()).into_iter().flatten();
    let stated = papers.filter_map(|paper| {
        let value = paper.joined_value(&reference.fields)?;
        Some(StatedValue {
            document_id: paper.id.clone(),
            file: paper.file.clone(),
            field: reference.fields.join("+"),
            value: value.text,
            confidence: value.confidence,
        })
    });
    stated.collect()
}

/// The value that all documents agree on, or how they contradict. The first value that a rule names is what the others
/// are compared with.
pub(super) fn check_agreement(
    assigned: &Assigned<'_>,
    rule: &Agreement,
) -> (Option<StatedValue>, Option<Contradiction>) {
    let values: Vec<StatedValue> = rule.fields.iter().flat_map(|field| stated_values(assigned, field)).collect();
    let Some(first) = values.first().cloned() else { return (None, None) };
    let differing = values.iter().filter(|value| !rule.comparison.agree(&first.value, &value.value));
    // The same other value in three payslips is said once.
    let mut others: Vec<&StatedValue> = Vec::new();
    for value in differing {
        if !others.iter().any(|known| rule.comparison.agree(&known.value, &value.value)) {
            others.push(value);
        }
    }
    if others.is_empty() {
        return (Some(first), None);
    }
    let others: Vec<String> = others.iter().map(|value| describe(value)).collect();
    let message = format!("{}: {}, but {}", rule.title, describe(&first), others.join(" and "));
    let kind = rule.comparison.as_str().to_owned();
    (None, Some(Contradiction { rule: rule.name.to_string(), kind, message, values }))
}

fn describe(value: &StatedValue) -> String {
    format!("{} in {} ({})", value.value, value.file, value.document_id)
}

/// The first pair of dates that is the wrong way round.
pub(super) fn check_order(assigned: &Assigned<'_>, rule: &DateSequence) -> Option<Contradiction> {
    let (earlier, later) = (stated_values(assigned, &rule.earlier), stated_values(assigned, &rule.later));
    for first in &earlier {
        // Normalised dates are in the order of their text.
        if let Some(second) = later.iter().find(|second| first.value > second.value) {
            let message = format!("{}: {} is after {}", rule.title, describe(first), describe(second));
            let values = vec![first.clone(), second.clone()];
            return Some(Contradiction { rule: rule.name.to_string(), kind: "order".to_owned(), message, values });
        }
    }
    None
}

/// Documents of one type that state the same values.
pub(super) fn duplicates(papers: &[Paper]) -> Vec<DuplicatePaper> {
    let mut found: Vec<DuplicatePaper> = Vec::new();
    for (index, paper) in papers.iter().enumerate() {
        let is_known = |other: &&Paper| !found.iter().any(|known| known.document_id == other.id);
        let Some(first) = papers[..index].iter().filter(is_known).find(|other| says_the_same(other, paper)) else {
            continue;
        };
        let message = format!("{} says the same as {} and counts once", paper.display_name(), first.display_name());
        let same_as = first.id.clone();
        found.push(DuplicatePaper { document_id: paper.id.clone(), file: paper.file.clone(), same_as, message });
    }
    found
}

fn says_the_same(one: &Paper, other: &Paper) -> bool {
    if one.doc_type != other.doc_type || one.status == PaperStatus::Failed || other.status == PaperStatus::Failed {
        return false;
    }
    // A value that only one of them states may be what tells them apart, such as the month of a payslip.
    one.values.len() >= LEAST_EQUAL_VALUES
        && one.values.len() == other.values.len()
        && one.values.iter().all(|(field, value)| {
            other.value(field).is_some_and(|other| Comparison::Text.agree(&value.text, &other.text))
        })
}
