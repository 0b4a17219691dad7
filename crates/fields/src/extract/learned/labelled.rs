//! Features of a candidate beside or below a label of its field, for the fields of all types, also users' own.
//!
//! Nothing here knows a word: only how the label, the candidate and what stands between them lie on the page.

use super::{merchant::key, sink::Sink};
use crate::extract::{
    candidate::Candidate,
    label::Label,
    occurrence::{Occurrence, Occurrences},
    schema::{Field, FieldType, Prefer, Schema},
    sheet::{Sheet, is_word},
    value::Parsed,
};
use bindery_reader::{Page, Rect, Word};
use std::collections::HashMap;

/// A word with this many figures is a date or an amount.
const FEWEST_FIGURES: usize = 4;

/// A candidate with the label that speaks for it.
#[derive(Debug)]
pub(crate) struct Pair<'o> {
    pub label: &'o Occurrence,
    pub candidate: Candidate,
    /// What the candidate states, whatever blanks and marks OCR has read between its letters.
    key: String,
    view: PairView,
}

/// How a pair lies on the page.
#[derive(Debug, Default)]
struct PairView {
    is_beside: bool,
    gap: f32,
    labels_between: f32,
    rivals_between: f32,
    foreign_between: f32,
    distance: f32,
    lines: f32,
    overlap: f32,
    left: f32,
    right: f32,
    center: f32,
    blockers: f32,
    rank: f32,
    own_label_left: bool,
    other_label_above: bool,
}

impl PairView {
    /// Whether nothing else stands between the label and the candidate.
    fn is_undisturbed(&self) -> bool {
        if self.is_beside {
            self.labels_between == 0.0 && self.rivals_between == 0.0 && self.foreign_between == 0.0
        } else {
            self.blockers == 0.0 && self.lines <= 2.0 && !self.own_label_left
        }
    }
}

/// What all pairs of a field together say.
struct Support<'p> {
    /// How many undisturbed labels speak for each value, and for all.
    by_value: HashMap<&'p str, usize>,
    all: usize,
    /// The first places among the labels that speak undisturbed, each with its value; of two values at most.
    places: Vec<(usize, &'p str)>,
    /// The values that stand undisturbed beside a label, by the label's first word.
    beside: HashMap<usize, Vec<&'p str>>,
}

impl<'p> Support<'p> {
    fn new(pairs: &'p [Pair<'_>]) -> Self {
        let mut support = Self { by_value: HashMap::new(), all: 0, places: Vec::new(), beside: HashMap::new() };
        for pair in pairs.iter().filter(|pair| pair.view.is_undisturbed()) {
            let value = pair.key.as_str();
            *support.by_value.entry(value).or_default() += 1;
            support.all += 1;
            support.places.push((pair.label.place, value));
            if pair.view.is_beside {
                support.beside.entry(pair.label.start).or_default().push(value);
            }
        }
        support.places.sort_unstable();
        let first = support.places.first().copied();
        let second = support.places.iter().copied().find(|(_, value)| first.is_some_and(|(_, other)| other != *value));
        support.places = first.into_iter().chain(second).collect();
        support
    }
}

pub(crate) struct Labelled<'s> {
    pub sheet: &'s Sheet,
    pub occurrences: &'s Occurrences,
    pub field: &'s Field,
    /// Which field of the schema it is.
    pub index: usize,
}

impl Labelled<'_> {
    /// The pair of a label and a candidate that it can speak for; `near` are all that stand near the label.
    pub(crate) fn pair<'o>(
        &self,
        label: &'o Occurrence,
        candidate: &Candidate,
        near: &[Candidate],
    ) -> Option<Pair<'o>> {
        let view = if candidate.line == label.line {
            self.beside_view(label, candidate, near)?
        } else {
            self.below_view(label, candidate, near)?
        };
        let stated = &candidate.parsed.normalised;
        let is_text = matches!(self.field.kind, FieldType::String | FieldType::Name | FieldType::Address);
        let letters = if is_text { key(stated) } else { String::new() };
        let key = if letters.is_empty() { stated.clone() } else { letters };
        Some(Pair { label, candidate: candidate.clone(), key, view })
    }

    fn beside_view(&self, label: &Occurrence, candidate: &Candidate, near: &[Candidate]) -> Option<PairView> {
        if candidate.tokens.start < label.tokens.end {
            return None;
        }
        let between = label.tokens.end..candidate.tokens.start;
        let count = |count: usize| (count as f32).min(6.0);
        let rivals =
            near.iter().filter(|rival| rival.line == label.line && between.contains(&rival.tokens.start)).count();
        Some(PairView {
            is_beside: true,
            gap: (candidate.rect.x0 - label.rect.x1) / label.rect.height().max(1.0),
            labels_between: count(between.clone().filter(|token| self.occurrences.is_label(*token)).count()),
            rivals_between: count(rivals),
            foreign_between: count(between.filter(|token| self.is_word(*token)).count()),
            rank: count(rivals),
            ..PairView::default()
        })
    }

    fn below_view(&self, label: &Occurrence, candidate: &Candidate, near: &[Candidate]) -> Option<PairView> {
        let (above, rect) = (label.rect, candidate.rect);
        let height = above.height().max(1.0);
        let distance = (rect.y0 - above.y1) / height;
        let overlap = rect.x1.min(above.x1) - rect.x0.max(above.x0);
        let (left, right) = ((rect.x0 - above.x0) / height, (rect.x1 - above.x1) / height);
        let center = (rect.center().0 - above.center().0) / height;
        if distance > 9.0 || (overlap <= 0.0 && left.abs().min(right.abs()).min(center.abs()) > 1.5) {
            return None;
        }
        let in_column = |other: &Candidate| {
            other.line > label.line
                && other.line < candidate.line
                && other.rect.x0 < rect.x1.max(above.x1)
                && other.rect.x1 > rect.x0.min(above.x0)
        };
        let mut blockers = 0;
        for line in label.line + 1..candidate.line {
            let stands_between = self.sheet.lines[line].segments.iter().any(|segment| {
                let own = self.sheet.rect_of(&segment.tokens);
                own.x0 < above.x1 && own.x1 > above.x0
            });
            blockers += usize::from(stands_between);
        }
        Some(PairView {
            is_beside: false,
            distance,
            lines: (candidate.line - label.line) as f32,
            overlap: (overlap / rect.width().min(above.width()).max(1.0)).clamp(-1.0, 1.0),
            left: left.clamp(-20.0, 20.0),
            right: right.clamp(-20.0, 20.0),
            center: center.clamp(-20.0, 20.0),
            blockers: (blockers as f32).min(6.0),
            rank: (near.iter().filter(|other| in_column(other)).count() as f32).min(6.0),
            own_label_left: self.own_label_left(candidate),
            other_label_above: self.other_label_above(label, candidate),
            ..PairView::default()
        })
    }

    /// Whether a label stands right before a candidate on its own line.
    fn own_label_left(&self, candidate: &Candidate) -> bool {
        let line = &self.sheet.lines[candidate.line];
        let mut before = (line.tokens.start..candidate.tokens.start).rev();
        let word = before.find(|token| self.sheet.tokens[*token].text.chars().any(char::is_alphanumeric));
        word.is_some_and(|token| {
            let text = &self.sheet.tokens[token];
            let is_near = candidate.rect.x0 - text.rect.x1 < 12.0 * candidate.rect.height().max(1.0);
            is_near && (self.occurrences.is_label(token) || text.text.ends_with(':'))
        })
    }

    /// Whether another label stands nearer above a candidate.
    fn other_label_above(&self, label: &Occurrence, candidate: &Candidate) -> bool {
        (label.line..candidate.line).any(|line| {
            self.sheet.lines[line].tokens.clone().any(|token| {
                let rect = self.sheet.tokens[token].rect;
                let is_above = rect.x0 < candidate.rect.x1 && rect.x1 > candidate.rect.x0;
                is_above && self.occurrences.is_label(token) && !(line == label.line && label.tokens.contains(&token))
            })
        })
    }

    fn is_word(&self, token: usize) -> bool {
        is_word(&self.sheet.tokens[token].text)
    }

    /// The features of each pair, which also know of the others.
    pub(crate) fn features(&self, pairs: &[Pair<'_>], largest: Option<i64>) -> Vec<Vec<f32>> {
        let support = Support::new(pairs);
        let labels = self.occurrences.count(self.index);
        pairs
            .iter()
            .map(|pair| {
                let mut sink = Sink::default();
                self.one(pair, &support, largest, labels, &mut sink);
                sink.values
            })
            .collect()
    }

    fn one(&self, pair: &Pair<'_>, support: &Support<'_>, largest: Option<i64>, labels: usize, sink: &mut Sink) {
        let (view, label, candidate) = (&pair.view, pair.label, &pair.candidate);
        sink.flag("beside", view.is_beside);
        sink.add("gap", view.gap.clamp(-5.0, 80.0));
        sink.add("labels_between", view.labels_between);
        sink.add("rivals_between", view.rivals_between);
        sink.add("foreign_between", view.foreign_between);
        sink.add("distance", view.distance);
        sink.add("lines", view.lines);
        sink.add("overlap", view.overlap);
        sink.add("left", view.left);
        sink.add("right", view.right);
        sink.add("center", view.center);
        sink.add("blockers", view.blockers);
        sink.add("rank", view.rank);
        sink.flag("own_label_left", view.own_label_left);
        sink.flag("other_label_above", view.other_label_above);
        sink.flag("undisturbed", view.is_undisturbed());
        self.label_features(label, candidate, sink);
        self.candidate_features(candidate, largest, sink);
        let value = pair.key.as_str();
        let own = support.by_value.get(value).copied().unwrap_or(0);
        sink.add("supports", (own as f32).min(5.0));
        sink.add("rival_supports", ((support.all - own) as f32).min(5.0));
        let best = support.places.iter().find(|(_, other)| *other != value).map(|(place, _)| *place);
        sink.add("label_lead", best.map_or(9.0, |best| (best as f32 - label.place as f32).clamp(-8.0, 8.0)));
        let beside = support.beside.get(&label.start);
        sink.flag("label_has_beside", beside.is_some_and(|values| values.iter().any(|other| *other != value)));
        sink.add("labels", (labels as f32).min(12.0));
    }

    /// The names of the features, in order, from a page with one label and one value.
    pub(crate) fn feature_names() -> Vec<String> {
        let mut page = Page::converted(1);
        for (index, text) in ["Day", "2"].into_iter().enumerate() {
            let left = 20.0 * index as f32;
            let bbox = Rect::new(left, 0.0, left + 15.0, 10.0);
            page.words.push(Word { text: text.to_owned(), bbox, confidence: None });
        }
        let field = Field {
            name: String::new(),
            kind: FieldType::String,
            required: false,
            labels: Label::new("Day").into_iter().collect(),
            never: Vec::new(),
            pattern: None,
            role: None,
            meaning: None,
            span: None,
            prefer: Prefer::First,
            one_of: Vec::new(),
            columns: Vec::new(),
        };
        let sheet = Sheet::new(&[page]);
        let schema = Schema { fields: vec![field], ..Schema::default() };
        let occurrences = Occurrences::find(&sheet, &schema);
        let labelled = Labelled { sheet: &sheet, occurrences: &occurrences, field: &schema.fields[0], index: 0 };
        let mut sink = Sink::with_names();
        let candidate = Candidate {
            line: 0,
            tokens: 1..2,
            rect: Rect::new(20.0, 0.0, 35.0, 10.0),
            text: "2".to_owned(),
            parsed: Parsed::sure("2"),
            currency: None,
            fit: 1.0,
        };
        let pairs: Vec<Pair<'_>> =
            occurrences.for_field(0).filter_map(|label| labelled.pair(label, &candidate, &[])).collect();
        if let Some(pair) = pairs.first() {
            labelled.one(pair, &Support::new(&pairs), None, 1, &mut sink);
        }
        sink.into_names()
    }

    fn label_features(&self, label: &Occurrence, candidate: &Candidate, sink: &mut Sink) {
        let segment = self.sheet.segment_of(label.line, label.tokens.start);
        // Where forms print two labels with their values close together, the first value ends what belongs to the first.
        let is_value =
            |token: &usize| self.sheet.tokens[*token].text.bytes().filter(u8::is_ascii_digit).count() >= FEWEST_FIGURES;
        let before = segment.map_or(0, |segment| {
            let before = segment.tokens.start..label.start.max(segment.tokens.start);
            before.rev().take_while(|token| !is_value(token)).filter(|token| self.is_word(*token)).count()
        });
        let end = segment.map_or(label.tokens.end, |segment| segment.tokens.end);
        let end = if candidate.line == label.line { end.min(candidate.tokens.start) } else { end };
        let behind = (label.tokens.end..end.max(label.tokens.end)).filter(|token| self.is_word(*token)).count();
        let last = &self.sheet.tokens[label.tokens.end - 1].text;
        let next = self.sheet.lines[label.line]
            .tokens
            .contains(&label.tokens.end)
            .then(|| &self.sheet.tokens[label.tokens.end].text);
        sink.add("label_words", label.words as f32);
        sink.add("label_place", (label.place as f32).min(12.0));
        sink.add("label_extra", label.extra as f32);
        sink.add("before", (before as f32).min(8.0));
        sink.add("behind", (behind as f32).min(8.0));
        sink.flag("colon", last.ends_with(':') || next.is_some_and(|next| next.starts_with(':')));
        let first = &self.sheet.tokens[label.start].text;
        sink.flag("label_lower", first.starts_with(char::is_lowercase));
        let line = &self.sheet.lines[label.line];
        sink.add("segments", (line.segments.len() as f32).min(8.0));
        sink.flag("heads_rows", self.occurrences.is_header(label.line));
        sink.add("label_height", label.rect.height() / self.sheet.page_of(label.line).text_height);
    }

    fn candidate_features(&self, candidate: &Candidate, largest: Option<i64>, sink: &mut Sink) {
        let text = &candidate.text;
        let count = text.chars().count().max(1) as f32;
        let share = |wanted: fn(char) -> bool| text.chars().filter(|c| wanted(*c)).count() as f32 / count;
        sink.add("fit", candidate.fit);
        sink.flag("is_label", self.occurrences.is_label(candidate.tokens.start));
        sink.flag("ends_colon", text.ends_with(':') || self.sheet.quote(&candidate.tokens).ends_with(':'));
        sink.flag("currency", candidate.currency.is_some());
        sink.flag("doubted", candidate.parsed.doubt.is_some());
        sink.add("words", (text.split_whitespace().count() as f32).min(20.0));
        sink.add("length", count.min(60.0));
        sink.add("digits", share(|c| c.is_ascii_digit()));
        let value = super::money::hundredths(&candidate.parsed.normalised).map(|(value, _, _)| value);
        sink.flag("largest", largest.is_some() && value == largest);
        sink.flag("prefers_largest", self.field.prefer == Prefer::Largest);
        sink.flag("prefers_last", self.field.prefer == Prefer::Last);
        sink.flag("pattern", self.field.pattern.is_some());
        sink.add("height", candidate.rect.height() / self.sheet.page_of(candidate.line).text_height);
        let segment = self.sheet.segment_of(candidate.line, candidate.tokens.start);
        let rest = segment.map_or(0, |segment| segment.tokens.len().saturating_sub(candidate.tokens.len()));
        sink.add("segment_rest", (rest as f32).min(12.0));
    }
}
