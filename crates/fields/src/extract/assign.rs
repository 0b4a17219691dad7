//! Which candidate each field gets, decided for all fields together.
//!
//! The surest pair of field and candidate is settled first, and words that are settled are not given to a second field.
//! Before that, candidates that make a sum of the schema come true gain weight: arithmetic finds a total that its label
//! does not name.

use super::{
    check::Check,
    schema::{FieldType, Prefer, Schema},
    score::{LEAST, Scored, amount},
    value::Decimal,
};
use crate::learn::calibrate::Answer;
use std::collections::{BTreeMap, HashSet};

/// The candidates of one field, best first.
#[derive(Debug)]
pub(crate) struct Slot {
    pub field: usize,
    pub ranked: Vec<Scored>,
}

/// What a field gets.
#[derive(Debug, Clone)]
pub(crate) struct Pick {
    pub field: usize,
    pub scored: Scored,
    /// The best candidate with another value, and how near it comes: 1 is as good.
    pub rival: Option<(String, f32)>,
    /// A larger amount that has a label of the field as well, where the field prefers the largest.
    pub larger: Option<String>,
    /// The smaller amount that its label alone would have chosen.
    pub smaller: Option<String>,
    /// Its score beside those of all other values, as a calibration takes it.
    pub answer: Answer,
}

/// How many candidates of each field take part in sums; more make no sum truer.
const MOST_TRIED: usize = 12;
const CONFIRMED: f32 = 0.3;
/// A code of this many letters and figures is a whole one.
const LONG_CODE: usize = 4;

pub(crate) fn assign(schema: &Schema, mut slots: Vec<Slot>) -> Vec<Pick> {
    let confirmed = confirm_sums(schema, &mut slots);
    for slot in &mut slots {
        slot.ranked
            .sort_by(|a, b| b.score.total_cmp(&a.score).then(a.candidate.tokens.start.cmp(&b.candidate.tokens.start)));
    }
    let mut order: Vec<(f32, usize, usize)> = Vec::new();
    for (index, slot) in slots.iter().enumerate() {
        order.extend(
            slot.ranked
                .iter()
                .enumerate()
                .filter(|(_, scored)| scored.score >= LEAST)
                .map(|(rank, scored)| (scored.score, index, rank)),
        );
    }
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut taken: HashSet<(Family, usize, &str)> = HashSet::new();
    let mut picks: Vec<Option<Pick>> = slots.iter().map(|_| None).collect();
    for (_, index, rank) in order {
        if picks[index].is_some() {
            continue;
        }
        let slot = &slots[index];
        let scored = &slot.ranked[rank];
        let start = scored.candidate.tokens.start;
        let kind = schema.fields[slot.field].kind;
        // Two dates may be printed as one word: `02/26/20-03/03/20`.
        let value = if kind == FieldType::Date { scored.candidate.parsed.normalised.as_str() } else { "" };
        let words = (Family::from(kind), start, value);
        // Arithmetic may confirm that the same print is two fields: what is due is also the total.
        let may_share = confirmed.contains(&(slot.field, start));
        if taken.contains(&words) && !may_share {
            continue;
        }
        taken.insert(words);
        let prefers_largest = schema.fields[slot.field].prefer == Prefer::Largest && kind == FieldType::Money;
        // Of labelled amounts the largest is preferred; what its label alone would have chosen is a doubt, not the value.
        let larger = prefers_largest.then(|| larger(slot, scored)).flatten();
        let smaller = larger.filter(|_| has_own_models(schema)).map(|_| scored.candidate.text.clone());
        let scored = larger.filter(|_| smaller.is_some()).unwrap_or(scored);
        let larger = larger.filter(|_| smaller.is_none()).map(|larger| larger.candidate.text.clone());
        let (rival, answer) = (rival(slot, scored, kind), answer(slot, scored));
        picks[index] = Some(Pick { field: slot.field, scored: scored.clone(), rival, larger, smaller, answer });
    }
    picks.into_iter().flatten().collect()
}

/// Types that compete for the same words. `€ 12.00` is a currency as well as an amount, and both may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Family {
    Number,
    Text,
    Other(FieldType),
}

impl From<FieldType> for Family {
    fn from(kind: FieldType) -> Self {
        match kind {
            FieldType::Money | FieldType::Decimal | FieldType::Integer => Self::Number,
            FieldType::String | FieldType::Name | FieldType::Address => Self::Text,
            other => Self::Other(other),
        }
    }
}

fn rival(slot: &Slot, chosen: &Scored, kind: FieldType) -> Option<(String, f32)> {
    let own = &chosen.candidate.parsed.normalised;
    let signs = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).take(LONG_CODE).count();
    // A single figure beside a label is a page or a count, not the number of a document that has a longer one.
    let is_code = kind == FieldType::String && signs(own) == LONG_CODE;
    let is_rival = |other: &str| other != own && !(is_code && signs(other) == 1);
    let other = slot.ranked.iter().find(|scored| is_rival(&scored.candidate.parsed.normalised))?;
    Some((other.candidate.text.clone(), (other.score / chosen.score.max(0.01)).min(1.0)))
}

/// The largest amount above the chosen one that a label of the field stands beside, too.
fn larger<'s>(slot: &'s Slot, chosen: &Scored) -> Option<&'s Scored> {
    let own = amount(&chosen.candidate)?;
    let others = slot.ranked.iter().filter(|scored| scored.label.is_some() && scored.candidate.fit > 0.6);
    let sized = others.filter_map(|scored| Some((amount(&scored.candidate)?, scored)));
    let (_, largest) =
        sized.filter(|(value, _)| *value > own).max_by(|a, b| a.0.cmp(&b.0).then(a.1.score.total_cmp(&b.1.score)))?;
    Some(largest)
}

/// Whether models of labels decide, as for types of users' own.
fn has_own_models(schema: &Schema) -> bool {
    schema.labels_are_ranked
}

/// The log-odds of the chosen value and of the best print of every other.
fn answer(slot: &Slot, chosen: &Scored) -> Answer {
    let log_odds = |score: f32| {
        let chance = score.clamp(0.002, 0.998);
        (chance / (1.0 - chance)).ln()
    };
    let own = &chosen.candidate.parsed.normalised;
    let mut others: BTreeMap<&str, f32> = BTreeMap::new();
    for scored in slot.ranked.iter().filter(|scored| scored.candidate.parsed.normalised != *own) {
        let best = others.entry(&scored.candidate.parsed.normalised).or_insert(f32::MIN);
        *best = best.max(log_odds(scored.score));
    }
    Answer::new(log_odds(chosen.score), others.into_values())
}

/// Gives weight to the best set of candidates for each sum that comes true. Gives back which they are.
fn confirm_sums(schema: &Schema, slots: &mut [Slot]) -> HashSet<(usize, usize)> {
    let mut confirmed = HashSet::new();
    for check in &schema.checks {
        let Check::Sum { terms, equals, within } = check else { continue };
        if terms.iter().any(|term| term.column.is_some()) {
            continue;
        }
        let needed: Vec<_> = terms.iter().filter(|term| !term.is_optional).collect();
        let names = needed.iter().map(|term| (term.field.as_str(), term.is_subtracted));
        let Some(total) = equals.first() else { continue };
        let all: Option<Vec<(usize, bool)>> = names
            .chain([(total.as_str(), true)])
            .map(|(name, is_subtracted)| {
                let slot = slots.iter().position(|slot| schema.fields[slot.field].name == name)?;
                Some((slot, is_subtracted))
            })
            .collect();
        // Four fields with a dozen candidates each are tried in no time; longer sums are left to the check itself.
        let Some(all) = all.filter(|all| (3..=4).contains(&all.len())) else { continue };
        if let Some(best) = best_sum(slots, &all, *within) {
            for ((slot, _), rank) in all.iter().zip(best) {
                let field = slots[*slot].field;
                let scored = &mut slots[*slot].ranked[rank];
                scored.score += CONFIRMED;
                confirmed.insert((field, scored.candidate.tokens.start));
            }
        }
    }
    confirmed
}

/// The candidates, one of each slot, that add up to nothing when the total is subtracted, with the highest scores.
fn best_sum(slots: &[Slot], terms: &[(usize, bool)], within: Decimal) -> Option<Vec<usize>> {
    let mut best: Option<(f32, Vec<usize>)> = None;
    let mut ranks = vec![0usize; terms.len()];
    let counts: Vec<usize> = terms.iter().map(|(slot, _)| slots[*slot].ranked.len().min(MOST_TRIED)).collect();
    if counts.contains(&0) {
        return None;
    }
    loop {
        let chosen: Vec<&Scored> =
            terms.iter().zip(&ranks).map(|((slot, _), rank)| &slots[*slot].ranked[*rank]).collect();
        let labelled = chosen.iter().filter(|scored| scored.score >= LEAST).count();
        let score: f32 = chosen.iter().map(|scored| scored.score).sum();
        if labelled + 1 >= terms.len()
            && best.as_ref().is_none_or(|(other, _)| score > *other)
            && adds_up(&chosen, terms, within)
        {
            best = Some((score, ranks.clone()));
        }
        let Some(place) = (0..ranks.len()).rev().find(|place| ranks[*place] + 1 < counts[*place]) else { break };
        ranks[place] += 1;
        ranks[place + 1..].fill(0);
    }
    best.map(|(_, ranks)| ranks)
}

fn adds_up(chosen: &[&Scored], terms: &[(usize, bool)], within: Decimal) -> bool {
    let mut sum = Decimal::ZERO;
    for (scored, (_, is_subtracted)) in chosen.iter().zip(terms) {
        let Some(amount) = Decimal::from_plain(&scored.candidate.parsed.normalised) else { return false };
        let next = if *is_subtracted { sum.minus(amount) } else { sum.plus(amount) };
        let Some(next) = next else { return false };
        sum = next;
    }
    sum.is_within(Decimal::ZERO, within)
}

/// Kinds that say by their form alone what they are.
pub(crate) fn speaks_for_itself(kind: FieldType) -> bool {
    matches!(kind, FieldType::Iban | FieldType::VatId | FieldType::Email)
}
