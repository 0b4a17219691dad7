//! How likely a candidate is the value of a field: how far and in which direction from which label it stands.

use super::{
    candidate::{Candidate, span_ends, trim_marks},
    learned::{self, Labelled, Pair, hundredths, training::ModelKind},
    occurrence::{Occurrence, Occurrences},
    schema::{Field, FieldType, Prefer, Schema},
    sheet::Sheet,
    value::{Decimal, Parsed, date},
};
use crate::learn::{StoredModel, chance};
use std::ops::Range;

/// A candidate for a field.
#[derive(Debug, Clone)]
pub(crate) struct Scored {
    pub candidate: Candidate,
    /// From 0 to 1.
    pub score: f32,
    /// The label that speaks for it; None where only its type does.
    pub label: Option<String>,
}

/// Below this, a candidate is not worth showing.
pub(crate) const LEAST: f32 = 0.3;
/// How far below a label its value may stand, in heights of the label; farther below the headings of a table.
const FARTHEST_BELOW: f32 = 3.2;
const FARTHEST_BELOW_HEADING: f32 = 9.0;
/// How many candidates of a line are looked at; a line of print has no more.
const MOST_OF_A_LINE: usize = 24;
/// More labels and candidates of one field are noise, and cost time.
const MOST_PAIRS: usize = 400;
const MOST_LINES_BELOW: usize = 14;
/// Words that say nothing of their own between a label and its value.
const FILLERS: &[&str] = &[
    "de", "la", "le", "du", "des", "of", "the", "in", "eur", "usd", "gbp", "chf", "vom", "von", "am", "en", "is", "el",
    "at", "on", "a", "al", "per", "euro",
];

pub(crate) struct Scorer<'s> {
    pub sheet: &'s Sheet,
    pub occurrences: &'s Occurrences,
    pub schema: &'s Schema,
}

/// The model of labels that decides for a type's fields of some kind; it was trained on labels in order.
pub(crate) fn label_model(schema: &Schema, kind: FieldType) -> Option<&'static StoredModel> {
    let kind = ModelKind::for_labelled(kind).filter(|_| schema.labels_are_ranked)?;
    learned::models()?.get(kind).map(|(_, model, _)| model)
}

impl Scorer<'_> {
    /// The candidates that labels speak for, best first, each once.
    pub(crate) fn rank(&self, index: usize, field: &Field, candidates: &[Candidate]) -> Vec<Scored> {
        if let Some(model) = label_model(self.schema, field.kind) {
            let pairs = self.pairs(index, field, candidates);
            let rows = self.labelled_pairs(index, field).features(&pairs, largest_of(candidates));
            let scored = pairs.into_iter().zip(rows).map(|(pair, row)| Scored {
                candidate: pair.candidate,
                score: chance(model.forest.score(&row)),
                label: Some(pair.label.label.clone()),
            });
            return best_of_each(scored.filter(|scored| scored.score > 0.02).collect());
        }
        let mut ranked: Vec<Scored> = Vec::new();
        for occurrence in self.occurrences.for_field(index) {
            if self.occurrences.is_header(occurrence.line) && field.kind != FieldType::String {
                continue;
            }
            if matches!(field.kind, FieldType::String | FieldType::Name | FieldType::Address) {
                let own = self.texts_near(occurrence, field);
                ranked.extend(own.iter().filter_map(|candidate| self.score(occurrence, candidate, &own)));
            } else {
                let near = self.near(occurrence, candidates);
                ranked.extend(near.iter().filter_map(|candidate| self.score(occurrence, candidate, &near)));
            }
        }
        let largest = candidates.iter().filter(|candidate| candidate.fit > 0.6).filter_map(amount).max();
        for scored in &mut ranked {
            scored.score *= self.preference(field.prefer, &scored.candidate, largest);
        }
        best_of_each(ranked)
    }

    fn labelled_pairs<'f>(&'f self, index: usize, field: &'f Field) -> Labelled<'f> {
        Labelled { sheet: self.sheet, occurrences: self.occurrences, field, index }
    }

    /// Every candidate with each label of the field that can speak for it.
    fn pairs(&self, index: usize, field: &Field, candidates: &[Candidate]) -> Vec<Pair<'_>> {
        let labelled = self.labelled_pairs(index, field);
        let ends = field.span.map(|end| span_ends(self.sheet, candidates, end));
        let candidates = ends.as_deref().unwrap_or(candidates);
        let mut pairs = Vec::new();
        for occurrence in self.occurrences.for_field(index) {
            if pairs.len() >= MOST_PAIRS {
                break;
            }
            if self.occurrences.is_header(occurrence.line) && field.kind != FieldType::String {
                continue;
            }
            let near = match field.kind {
                FieldType::String | FieldType::Name | FieldType::Address => self.texts_near(occurrence, field),
                _ => self.near(occurrence, candidates),
            };
            pairs.extend(near.iter().filter_map(|candidate| labelled.pair(occurrence, candidate, &near)));
        }
        pairs
    }

    /// The candidate of each pair, and its features: for the trainer.
    pub(crate) fn features(
        &self,
        index: usize,
        field: &Field,
        candidates: &[Candidate],
    ) -> (Vec<Candidate>, Vec<Vec<f32>>) {
        let pairs = self.pairs(index, field, candidates);
        let rows = self.labelled_pairs(index, field).features(&pairs, largest_of(candidates));
        (pairs.into_iter().map(|pair| pair.candidate).collect(), rows)
    }

    fn preference(&self, prefer: Prefer, candidate: &Candidate, largest: Option<Decimal>) -> f32 {
        let place = candidate.line as f32 / self.sheet.lines.len().max(1) as f32;
        match prefer {
            Prefer::First | Prefer::Title => 1.0 - 0.08 * place,
            Prefer::Last => 0.92 + 0.08 * place,
            Prefer::Largest if amount(candidate) == largest => 1.0,
            Prefer::Largest => 0.75 + 0.05 * place,
        }
    }

    /// Candidates on the label's line and on the lines below it.
    fn near(&self, label: &Occurrence, candidates: &[Candidate]) -> Vec<Candidate> {
        let last = (label.line + MOST_LINES_BELOW).min(self.sheet.page_of(label.line).lines.end.saturating_sub(1));
        let start = candidates.partition_point(|candidate| candidate.line < label.line);
        let mut near = Vec::new();
        let mut line_start = start;
        for line in label.line..=last {
            let from = candidates[line_start..].partition_point(|candidate| candidate.line < line) + line_start;
            let to = candidates[from..].partition_point(|candidate| candidate.line == line) + from;
            let own = &candidates[from..to];
            let left = if line == label.line {
                label.rect.x1 - 2.0
            } else {
                label.rect.x0 - 0.35 * self.sheet.page_of(line).width
            };
            let visible = own.partition_point(|candidate| candidate.rect.x0 < left);
            near.extend(own[visible..].iter().take(MOST_OF_A_LINE).cloned());
            line_start = to;
        }
        near
    }

    /// The texts behind and below a label, cut to the field's pattern if it has one.
    fn texts_near(&self, label: &Occurrence, field: &Field) -> Vec<Candidate> {
        let mut texts = Vec::new();
        let line = &self.sheet.lines[label.line];
        let own = self.sheet.segment_of(label.line, label.tokens.end - 1);
        if let Some(rest) = own.map(|segment| label.tokens.end..segment.tokens.end) {
            self.add_text(label.line, rest, field, &mut texts);
        }
        let right = line.segments.iter().filter(|segment| segment.tokens.start >= label.tokens.end);
        for segment in right.take(2) {
            self.add_text(label.line, segment.tokens.clone(), field, &mut texts);
        }
        let page_end = self.sheet.page_of(label.line).lines.end;
        for below in label.line + 1..(label.line + 4).min(page_end) {
            for segment in &self.sheet.lines[below].segments {
                let rect = self.sheet.rect_of(&segment.tokens);
                if rect.x0 < label.rect.x1 + 20.0 && rect.x1 > label.rect.x0 - 4.0 {
                    self.add_text(below, segment.tokens.clone(), field, &mut texts);
                }
            }
        }
        texts
    }

    fn add_text(&self, line: usize, mut tokens: Range<usize>, field: &Field, texts: &mut Vec<Candidate>) {
        while tokens.start < tokens.end && self.sheet.tokens[tokens.start].text.chars().all(|c| !c.is_alphanumeric()) {
            tokens.start += 1;
        }
        if tokens.is_empty() {
            return;
        }
        match &field.pattern {
            Some(pattern) => {
                for (range, text) in pattern_matches(self.sheet, &tokens, pattern) {
                    let is_aside = self.sheet.tokens[range.start].text.starts_with('(');
                    if !is_other_type(&text) && !is_aside {
                        texts.push(self.text(line, range, &text));
                    }
                }
            }
            // Words of another label are not a value.
            None if !self.occurrences.is_label(tokens.start) => {
                let text = self.sheet.quote(&tokens);
                let text = trim_marks(text.trim()).trim();
                if text.chars().any(char::is_alphanumeric) && text.len() <= 300 {
                    texts.push(self.text(line, tokens, text));
                }
            }
            None => {}
        }
    }

    fn text(&self, line: usize, tokens: Range<usize>, text: &str) -> Candidate {
        let rect = self.sheet.rect_of(&tokens);
        Candidate { line, tokens, rect, text: text.to_owned(), parsed: Parsed::sure(text), currency: None, fit: 1.0 }
    }

    fn score(&self, label: &Occurrence, candidate: &Candidate, rivals: &[Candidate]) -> Option<Scored> {
        let (place, words_between) = if candidate.line == label.line {
            self.beside_score(label, candidate, rivals)?
        } else {
            (self.below_score(label, candidate)?, 0.0)
        };
        let strength = self.strength(label, candidate, words_between);
        let score = place * strength * (0.4 + 0.6 * candidate.fit);
        (score > 0.12).then(|| Scored { candidate: candidate.clone(), score, label: Some(label.label.clone()) })
    }

    /// On the same line, to the right: near is better, and nothing else should stand between.
    fn beside_score(&self, label: &Occurrence, candidate: &Candidate, rivals: &[Candidate]) -> Option<(f32, f32)> {
        let gap = candidate.rect.x0 - label.rect.x1;
        if candidate.tokens.start < label.tokens.end {
            return None;
        }
        let between = label.tokens.end..candidate.tokens.start;
        let labels = between.clone().filter(|token| self.occurrences.is_label(*token)).count();
        let rivals =
            rivals.iter().filter(|rival| rival.line == label.line && between.contains(&rival.tokens.start)).count();
        let foreign = between.filter(|token| self.is_foreign(*token)).count();
        let width = self.sheet.page_of(label.line).width.max(1.0);
        let place =
            1.0 - 0.3 * (gap.max(0.0) / width).min(1.0) - 0.3 * labels.min(2) as f32 - 0.22 * rivals.min(3) as f32;
        (place > 0.2).then_some((place, foreign as f32))
    }

    /// Below, in the same column.
    fn below_score(&self, label: &Occurrence, candidate: &Candidate) -> Option<f32> {
        let (above, rect) = (label.rect, candidate.rect);
        let height = above.height().max(1.0);
        let distance = (rect.y0 - above.y1) / height;
        let heads_columns = self.sheet.lines[label.line].segments.len() >= 3;
        let farthest = if heads_columns { FARTHEST_BELOW_HEADING } else { FARTHEST_BELOW };
        let overlap = rect.x1.min(above.x1) - rect.x0.max(above.x0);
        let edges =
            (rect.x0 - above.x0).abs().min((rect.x1 - above.x1).abs()).min((rect.center().0 - above.center().0).abs());
        if distance > farthest || (overlap <= 0.0 && edges > 1.5 * height) {
            return None;
        }
        let misaligned = (edges / (4.0 * height)).min(1.0);
        // Below headings stand several rows, of which the last is often the sum of the others.
        let fall = if heads_columns { 0.0 } else { 0.07 };
        Some(0.9 - fall * distance.max(0.0) - 0.25 * misaligned)
    }

    /// How much the label says: more words say more, and words around it that are not part of it take that back.
    fn strength(&self, label: &Occurrence, candidate: &Candidate, words_between: f32) -> f32 {
        let Some(segment) = self.sheet.segment_of(label.line, label.tokens.start) else { return 0.5 };
        let before = (segment.tokens.start..label.start.max(segment.tokens.start))
            .rev()
            .take_while(|token| !self.ends_clause(*token))
            .filter(|token| self.is_foreign(*token))
            .count() as f32;
        let end = if candidate.line == label.line {
            candidate.tokens.start.min(segment.tokens.end)
        } else {
            segment.tokens.end
        };
        let behind =
            (label.tokens.end..end.max(label.tokens.end)).filter(|token| self.is_foreign(*token)).count() as f32;
        let own = label.tokens.len().max(label.words) as f32;
        let coverage = own / (own + before + behind.max(words_between) + 0.5 * label.extra as f32);
        let is_bare = label.words == 1 && self.is_number_word(label.tokens.start);
        let words = match label.words {
            // "Number" alone names the number of anything.
            1 if is_bare => 0.75,
            1 => 0.9,
            _ => 1.0,
        };
        words * (0.35 + 0.65 * coverage)
    }

    /// Whether a clause ends with a word, so that a label with a colon behind it begins another: "and affiliates DATE: …".
    fn ends_clause(&self, token: usize) -> bool {
        let (Some(own), Some(next)) = (self.sheet.tokens.get(token), self.sheet.tokens.get(token + 1)) else {
            return false;
        };
        let is_heading = next.text.ends_with(':') && next.text.chars().filter(|c| c.is_uppercase()).count() >= 2;
        is_heading && (own.text.starts_with(char::is_lowercase) || own.text.ends_with(['.', ';', ')']))
    }

    fn is_number_word(&self, token: usize) -> bool {
        super::label::plain_parts(&self.sheet.tokens[token].text) == ["nr"]
    }

    /// A word with a meaning of its own.
    fn is_foreign(&self, token: usize) -> bool {
        let plain: String =
            self.sheet.tokens[token].text.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
        !plain.is_empty() && !FILLERS.contains(&&*plain)
    }
}

/// The largest amount that looks like one.
fn largest_of(candidates: &[Candidate]) -> Option<i64> {
    let amounts = candidates.iter().filter(|candidate| candidate.fit > 0.6);
    amounts.filter_map(|candidate| hundredths(&candidate.parsed.normalised)).map(|(value, _, _)| value).max()
}

pub(crate) fn amount(candidate: &Candidate) -> Option<Decimal> {
    Decimal::from_plain(&candidate.parsed.normalised).map(Decimal::abs)
}

/// A pattern's matches in a run of words, as whole words where it can be.
pub(crate) fn pattern_matches(
    sheet: &Sheet,
    tokens: &Range<usize>,
    pattern: &regex::Regex,
) -> Vec<(Range<usize>, String)> {
    let mut text = String::new();
    let mut starts = Vec::new();
    for token in &sheet.tokens[tokens.clone()] {
        if !text.is_empty() {
            text.push(' ');
        }
        starts.push(text.len());
        text.push_str(&token.text);
    }
    // A pattern that fits nothing, too, fits between any two letters; a line is not searched without end.
    let found = pattern
        .captures_iter(&text)
        .take(200)
        .filter_map(|captures| captures.name("value").or_else(|| captures.get(1)).or_else(|| captures.get(0)));
    found
        .filter(|found| !found.is_empty())
        .take(4)
        .map(|found| {
            let first = starts.partition_point(|start| *start <= found.start()).saturating_sub(1);
            let behind = starts.partition_point(|start| *start < found.end());
            let value = found.as_str().trim_end_matches(['.', ',', ';', ':', '-', '/']).to_owned();
            (tokens.start + first..tokens.start + behind, value)
        })
        .collect()
}

/// Dates and amounts look like numbers of documents, but are not.
fn is_other_type(text: &str) -> bool {
    let is_date =
        date::find(text, super::value::DateOrder::Unknown).iter().any(|date| date.range.len() + 1 >= text.len());
    let is_amount = text.contains(',') && super::value::decimal::parse(text, None).is_some();
    let is_rate = text.ends_with('%');
    is_date || is_amount || is_rate
}

/// Sorted by score; of several labels that speak for the same words, the best counts.
pub(crate) fn best_of_each(mut ranked: Vec<Scored>) -> Vec<Scored> {
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.candidate.tokens.start.cmp(&b.candidate.tokens.start)));
    let mut seen = std::collections::HashSet::new();
    ranked.retain(|scored| seen.insert((scored.candidate.tokens.start, scored.candidate.tokens.end)));
    ranked.truncate(40);
    ranked
}
