//! Which candidate each field of a known meaning gets, sums decided together.

use super::{
    FieldModels, ModelKind,
    dates::Days,
    merchant::{NameText, Names, behind_owner_label},
    money::{Amount, Amounts},
    reasons,
    sink::Sink,
};
use crate::{
    extract::{candidate::Candidate, schema::Meaning, sheet::Sheet},
    learn::{calibrate::Answer, chance},
};
use std::{collections::HashMap, ops::Range};

/// What a field gets, and why.
#[derive(Debug, Clone)]
pub(crate) struct Decided {
    pub value: String,
    pub normalised: String,
    pub spans: Vec<Range<usize>>,
    /// How often such an answer is right.
    pub confidence: f32,
    /// The best other value, where it comes near.
    pub rival: Option<String>,
    /// The words before the value.
    pub label: Option<String>,
    pub because: Vec<String>,
    /// A sentence where the print allows another reading.
    pub doubt: Option<String>,
}

/// Another value with at least this chance is named.
const NEAR: f32 = 0.25;
/// An answer that is more likely wrong than this is not worth showing, had its words been exact: a poor scan makes a value
/// doubtful, and no better one is to be had.
const LEAST: f32 = 0.12;
/// Net sum and tax, which no receipt has to state, are left out where they are more likely wrong than right.
const LEAST_OF_PARTS: f32 = 0.5;
/// Log-odds of what cannot be the answer.
const IMPOSSIBLE: f32 = -20.0;
/// How many candidates of each sum are tried together.
const MOST_TRIED: usize = 5;
/// What a sum that holds adds to the log-likelihood of a reading, and what one that fails takes.
const HOLDS: f32 = 1.5;
const FAILS: f32 = -3.0;
/// Sums may be off by what tills round.
const ROUNDED: i64 = 5;

/// The features of each candidate, as a model takes them.
fn feature_rows<T>(candidates: &[T], features: impl Fn(&T, &mut Sink)) -> Vec<Vec<f32>> {
    let row = |candidate| {
        let mut sink = Sink::default();
        features(candidate, &mut sink);
        sink.values
    };
    candidates.iter().map(row).collect()
}

pub(crate) struct Decider<'s> {
    pub sheet: &'s Sheet,
    pub models: &'s FieldModels,
    pub money: &'s [Candidate],
    pub dates: &'s [Candidate],
}

impl Decider<'_> {
    /// Decides the fields of these meanings together.
    pub(crate) fn decide(&self, wanted: &[Meaning]) -> HashMap<Meaning, Decided> {
        let mut decided = HashMap::new();
        if wanted.contains(&Meaning::ReceiptDate) {
            decided.extend(self.date().map(|date| (Meaning::ReceiptDate, date)));
        }
        if wanted.contains(&Meaning::ReceiptMerchant) {
            decided.extend(self.merchant().map(|name| (Meaning::ReceiptMerchant, name)));
        }
        if wanted.contains(&Meaning::ReceiptTotal) {
            decided.extend(self.sums(wanted));
        }
        decided
    }

    fn date(&self) -> Option<Decided> {
        let (_, model, names) = self.models.get(ModelKind::ReceiptDate)?;
        let days = Days::new(self.sheet, self.dates);
        let rows = feature_rows(&days.values, |day, sink| days.features(day, sink));
        let scores: Vec<f32> = rows.iter().map(|row| model.forest.score(row)).collect();
        let best = best_of(&scores)?;
        let ocr = days.ocr_certainty(self.sheet, self.dates, &days.values[best]);
        let answer = answer(&scores, best);
        let (exact, confidence) =
            (model.calibration.confidence(answer), model.calibration.confidence(answer.with_ocr(ocr)));
        let candidate = self.dates.get(days.best_print(&days.values[best]))?;
        let label = self.label_of(candidate);
        let rival = rival_of(&scores, best).map(|other| days.values[other].normalised.clone());
        let because = reasons::explain(names, &model.forest.shares(&rows[best]), label.as_deref());
        // Two days that come near each other: which of them is meant is a question for review.
        let two_days = rival.as_ref().map(|other| format!("{other} could be meant as well"));
        (exact >= LEAST).then(|| Decided {
            value: candidate.text.clone(),
            normalised: candidate.parsed.normalised.clone(),
            spans: std::iter::once(candidate.tokens.clone()).collect(),
            confidence,
            rival,
            label,
            because,
            doubt: candidate.parsed.doubt.clone().or(two_days),
        })
    }

    fn merchant(&self) -> Option<Decided> {
        let (_, model, feature_names) = self.models.get(ModelKind::ReceiptMerchant)?;
        let names = Names::new(self.sheet);
        let rows = feature_rows(&names.candidates, |name, sink| names.features(name, sink));
        // "Owned by" is no part of a name; the name behind it is a candidate of its own.
        let score = |(name, row): (&NameText, &Vec<f32>)| match behind_owner_label(&name.text) {
            Some(_) => IMPOSSIBLE,
            None => model.forest.score(row),
        };
        let scores: Vec<f32> = names.candidates.iter().zip(&rows).map(score).collect();
        let best = best_of(&scores)?;
        let name = &names.candidates[best];
        let ocr = self.sheet.ocr_certainty(&name.spans);
        let answer = answer(&scores, best);
        let (exact, confidence) =
            (model.calibration.confidence(answer), model.calibration.confidence(answer.with_ocr(ocr)));
        let rival = rival_of(&scores, best).map(|other| names.candidates[other].text.clone());
        let because = reasons::explain(feature_names, &model.forest.shares(&rows[best]), None);
        (exact >= LEAST).then(|| Decided {
            value: name.text.clone(),
            normalised: name.text.clone(),
            spans: name.spans.clone(),
            confidence,
            rival,
            label: None,
            because,
            doubt: None,
        })
    }

    /// Total, net sum and tax, which have to add up.
    fn sums(&self, wanted: &[Meaning]) -> Vec<(Meaning, Decided)> {
        let amounts = Amounts::new(self.sheet, self.money);
        if amounts.values.is_empty() {
            return Vec::new();
        }
        let rows = feature_rows(&amounts.values, |value, sink| amounts.features(value, &value.prints, sink));
        let kinds = [
            (Meaning::ReceiptTotal, ModelKind::ReceiptTotal),
            (Meaning::ReceiptNet, ModelKind::ReceiptNet),
            (Meaning::ReceiptTax, ModelKind::ReceiptTax),
        ];
        let scored: Vec<(Meaning, ModelKind, Vec<f32>)> = kinds
            .into_iter()
            .filter(|(meaning, _)| wanted.contains(meaning))
            .filter_map(|(meaning, kind)| {
                let (_, model, _) = self.models.get(kind)?;
                Some((meaning, kind, rows.iter().map(|row| model.forest.score(row)).collect()))
            })
            .collect();
        let scores: Vec<&[f32]> = scored.iter().map(|(_, _, scores)| scores.as_slice()).collect();
        let reading = joint(&amounts, &scores);
        scored
            .iter()
            .zip(reading)
            .filter_map(|((meaning, kind, scores), chosen)| {
                Some((*meaning, self.amount(*kind, &amounts, &rows, scores, chosen?)?))
            })
            .collect()
    }

    fn amount(
        &self,
        kind: ModelKind,
        amounts: &Amounts,
        rows: &[Vec<f32>],
        scores: &[f32],
        chosen: usize,
    ) -> Option<Decided> {
        let (_, model, names) = self.models.get(kind)?;
        let value = &amounts.values[chosen];
        let ocr = amounts.ocr_certainty(self.sheet, self.money, value);
        let answer = answer(scores, chosen);
        let (exact, confidence) =
            (model.calibration.confidence(answer), model.calibration.confidence(answer.with_ocr(ocr)));
        // The print that speaks loudest alone is the evidence.
        let alone = |print: &usize| {
            let mut sink = Sink::default();
            amounts.features(value, std::slice::from_ref(print), &mut sink);
            model.forest.score(&sink.values)
        };
        let print = value.prints.iter().copied().max_by(|a, b| alone(a).total_cmp(&alone(b)))?;
        let candidate = self.money.get(amounts.prints[print].candidate)?;
        let label = self.label_of(candidate);
        let text_of = |value: &Amount| {
            value
                .prints
                .first()
                .and_then(|print| self.money.get(amounts.prints[*print].candidate))
                .map(|own| own.text.clone())
        };
        let rival = rival_of(scores, chosen).and_then(|other| text_of(&amounts.values[other]));
        let because = reasons::explain(names, &model.forest.shares(&rows[chosen]), label.as_deref());
        let least = if kind == ModelKind::ReceiptTotal { LEAST } else { LEAST_OF_PARTS };
        (exact >= least).then(|| Decided {
            value: candidate.text.clone(),
            normalised: candidate.parsed.normalised.clone(),
            spans: std::iter::once(candidate.tokens.clone()).collect(),
            confidence,
            rival,
            label,
            because,
            doubt: candidate.parsed.doubt.clone(),
        })
    }

    /// The words before a value on its line, or on the line above where it stands alone.
    fn label_of(&self, candidate: &Candidate) -> Option<String> {
        let line = &self.sheet.lines[candidate.line];
        let is_word = |token: &usize| self.sheet.tokens[*token].text.chars().any(char::is_alphabetic);
        let mut before: Vec<usize> = (line.tokens.start..candidate.tokens.start).filter(is_word).collect();
        if before.is_empty() && candidate.line > self.sheet.page_of(candidate.line).lines.start {
            before = self.sheet.lines[candidate.line - 1].tokens.clone().filter(is_word).collect();
        }
        let last = before.split_off(before.len().saturating_sub(4));
        let texts: Vec<&str> = last.iter().map(|token| self.sheet.tokens[*token].text.trim_matches(':')).collect();
        (!texts.is_empty()).then(|| texts.join(" "))
    }
}

fn best_of(scores: &[f32]) -> Option<usize> {
    (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]).then(b.cmp(a)))
}

fn rival_of(scores: &[f32], chosen: usize) -> Option<usize> {
    let others = (0..scores.len()).filter(|index| *index != chosen && chance(scores[*index]) >= NEAR);
    others.max_by(|a, b| scores[*a].total_cmp(&scores[*b]))
}

fn answer(scores: &[f32], chosen: usize) -> Answer {
    let others = scores.iter().enumerate().filter(|(index, _)| *index != chosen).map(|(_, score)| *score);
    Answer::new(scores[chosen], others)
}

/// The most likely reading of total, net sum and tax: net sum and tax are each one of their best candidates or absent.
/// The total is the best of its own model, which knows of sums already: where goods are taxed at two rates, the sums of
/// one rate add up to what is not the total.
fn joint(amounts: &Amounts, scores: &[&[f32]]) -> Vec<Option<usize>> {
    let options: Vec<Vec<Option<usize>>> = scores
        .iter()
        .enumerate()
        .map(|(index, scores)| {
            let mut order: Vec<usize> = (0..scores.len()).collect();
            order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
            let most = if index == 0 { 1 } else { MOST_TRIED };
            let mut own: Vec<Option<usize>> = order.into_iter().take(most).map(Some).collect();
            if index > 0 {
                own.push(None);
            }
            own
        })
        .collect();
    let likelihood = |index: usize, choice: Option<usize>| {
        let chosen = choice.map_or_else(
            || 1.0 - chance(scores[index].iter().copied().fold(f32::MIN, f32::max)),
            |value| chance(scores[index][value]),
        );
        chosen.max(1e-4).ln()
    };
    let mut best = (f32::MIN, vec![None; scores.len()]);
    let mut ranks = vec![0usize; scores.len()];
    loop {
        let reading: Vec<Option<usize>> = ranks.iter().zip(&options).map(|(rank, own)| own[*rank]).collect();
        let mut score: f32 = reading.iter().enumerate().map(|(index, choice)| likelihood(index, *choice)).sum();
        if let [Some(total), Some(net), Some(tax)] = reading[..] {
            let value = |index: usize| amounts.values[index].value;
            let holds = (value(net) + value(tax) - value(total)).abs() <= ROUNDED;
            score += if holds { HOLDS } else { FAILS };
        }
        if score > best.0 {
            best = (score, reading);
        }
        let Some(place) = (0..ranks.len()).rev().find(|place| ranks[*place] + 1 < options[*place].len()) else { break };
        ranks[place] += 1;
        ranks[place + 1..].fill(0);
    }
    best.1
}
