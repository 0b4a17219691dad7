//! What is doubtful about a value that labels speak for: evidence on the page that something else may be meant.

use super::{
    assign::Pick,
    candidate::{self, Candidate},
    extraction::{Doubt, DoubtKind},
    extractor::FieldFinder,
    schema::{Field, FieldType},
    score::Scored,
};
use bindery_reader::Rect;

/// Shorter numbers begin others by chance.
const SHORTEST_NUMBER: usize = 4;
/// A value below its label stands on one of the next lines.
const FARTHEST_BELOW: usize = 3;

impl FieldFinder<'_> {
    /// All doubts about a labelled value that a model chose for a field of a user's own type.
    pub(super) fn labelled_doubts(&self, field: &Field, pick: &Pick) -> Vec<Doubt> {
        let candidate = &pick.scored.candidate;
        let mut doubts: Vec<Doubt> = Vec::new();
        if let Some(larger) = &pick.larger {
            let text = format!("{larger} is larger and has a label of the field, too");
            doubts.push(Doubt::new(DoubtKind::LargerLabelled, text));
        }
        if let Some(smaller) = &pick.smaller {
            let text = format!("{smaller} is smaller, but its label names the field better");
            doubts.push(Doubt::new(DoubtKind::LargerLabelled, text));
        }
        doubts.extend(self.unread_label(pick));
        doubts.extend(self.longer_code(field, candidate));
        doubts.extend(names_label(field, &candidate.text));
        doubts.extend(self.beside_label_of_lower(field, pick));
        doubts
    }

    /// A doubt about a number that stands beside a label which the type lists late, while one that it lists earlier is
    /// printed as well and says nothing: what it says may have been lost on a poor scan.
    fn unread_label(&self, pick: &Pick) -> Option<Doubt> {
        let field = &self.schema.fields[pick.field];
        let own = pick.scored.label.as_ref().filter(|_| field.kind == FieldType::String && field.pattern.is_some())?;
        let place = field.labels.iter().position(|label| label.text == *own)?;
        let earlier = self.occurrences.for_field(pick.field).find(|label| label.place < place)?;
        let text = format!("{:?} is printed, too, but nothing beside it can be read", earlier.label);
        Some(Doubt::new(DoubtKind::Ambiguous, text))
    }

    /// A doubt about a number that is printed elsewhere with a revision behind it: `8396` where `8396-2` stands, too.
    fn longer_code(&self, field: &Field, candidate: &Candidate) -> Option<Doubt> {
        let own = &candidate.parsed.normalised;
        let is_number = field.kind == FieldType::String && field.pattern.is_some() && own.len() >= SHORTEST_NUMBER;
        let is_longer = |text: &&str| {
            let rest = text.strip_prefix(own.as_str()).and_then(|rest| rest.strip_prefix(['-', '/']));
            rest.is_some_and(|rest| (1..=2).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let mut texts = self.sheet.tokens.iter().map(|token| candidate::trim_marks(&token.text)).filter(|_| is_number);
        let longer = texts.find(is_longer)?;
        Some(Doubt::new(DoubtKind::Ambiguous, format!("{longer} is printed, too, and may be the whole number")))
    }

    /// A doubt about words in the column of the labels: they stand below their label, which has words of its own beside it.
    fn beside_label_of_lower(&self, field: &Field, pick: &Pick) -> Option<Doubt> {
        let candidate = &pick.scored.candidate;
        let label = pick.scored.label.as_ref().filter(|_| is_free_text(field))?;
        let above = candidate.line.saturating_sub(FARTHEST_BELOW)..candidate.line;
        let in_column = |x: f32, other: f32| (x - other).abs() < 0.5 * candidate.rect.height().max(4.0);
        let mut labels = self.occurrences.for_field(pick.field);
        let own = labels.find(|own| {
            own.label == *label && above.contains(&own.line) && in_column(own.rect.x0, candidate.rect.x0)
        })?;
        let farthest = own.rect.x1 + 0.3 * self.sheet.page_of(own.line).width;
        let segments = self.sheet.lines[own.line].segments.iter();
        // In a grid of labels above their values, what stands beside a label is the next label.
        let heads_column = |rect: &Rect| {
            self.sheet.lines[candidate.line].segments.iter().any(|below| {
                let below = self.sheet.rect_of(&below.tokens);
                below.x0 > candidate.rect.x1 && (below.x0 - rect.x0).abs() < 2.0 * rect.height()
            })
        };
        let mut beside = segments.filter(|segment| {
            let rect = self.sheet.rect_of(&segment.tokens);
            let is_free = !self.occurrences.is_label(segment.tokens.start) && !heads_column(&rect);
            segment.tokens.start >= own.tokens.end && rect.x0 < farthest && is_free
        });
        let text = format!("{} stands beside the label, too", beside.next()?.text);
        Some(Doubt::new(DoubtKind::Ambiguous, text))
    }
}

fn is_free_text(field: &Field) -> bool {
    matches!(field.kind, FieldType::String | FieldType::Name) && field.pattern.is_none()
}

/// Takes away texts that read like another label with its value, where others are left.
pub(super) fn without_labels(field: &Field, ranked: &mut Vec<Scored>) {
    let is_label = |scored: &Scored| names_label(field, &scored.candidate.text).is_some();
    if ranked.iter().any(|scored| !is_label(scored) && scored.score >= super::score::LEAST) {
        ranked.retain(|scored| !is_label(scored));
    }
}

/// A doubt about words that read like another label with its value: `Product Desc: MBLM/0110`.
fn names_label(field: &Field, text: &str) -> Option<Doubt> {
    let (label, value) = text.split_once(':').filter(|_| is_free_text(field))?;
    let is_label = label.chars().all(|c| c.is_alphabetic() || c == ' ') && (1..=3).contains(&label.split(' ').count());
    let is_stated = label.chars().count() >= 2 && value.starts_with(' ');
    (is_label && is_stated).then(|| {
        Doubt::new(DoubtKind::Ambiguous, format!("{text:?} reads like the label {label:?} with a value of its own"))
    })
}
