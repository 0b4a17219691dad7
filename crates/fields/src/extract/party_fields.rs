//! The parties of a document as fields: names, addresses, and what the opening sentence of a contract states.

use super::{
    candidate::Candidate,
    extraction::{ConfidenceParts, Doubt, DoubtKind, FieldValue},
    extractor::FieldFinder,
    learned::Decided,
    party::{
        NameCandidate, Parties, prose,
        signatures::{is_same_party, signers},
    },
    schema::{Field, FieldType, Role},
    score::LEAST,
    value::address,
};
use std::{collections::BTreeMap, ops::Range};

/// How often the day in a contract's opening sentence is its day.
const OPENING: f32 = 0.92;
/// How often the only day that stands alone at the head of a letter is its day.
const LETTER_DATE: f32 = 0.85;
/// The head of a letter, in lines.
const HEAD_LINES: usize = 14;
/// How often a party that the opening sentence names is read whole.
const PROSE: f32 = 0.87;
/// How often a name before a role in brackets is that of a party. Who signs, a person has to say.
const DEFINED: f32 = 0.7;
/// How often a name that stands alone at the head of a contract is that of a party, at most.
const UNNAMED_PARTY: f32 = 0.6;

/// Whether a field is a party of a contract, by the label that opens contracts.
fn names_parties(field: &Field) -> bool {
    field.labels.iter().any(|label| matches!(label.text.as_str(), "between" | "and"))
}

impl FieldFinder<'_> {
    pub(super) fn add_parties(&self, found: &mut BTreeMap<String, FieldValue>, merchant: Option<&Decided>) {
        if self.add_prose_parties(found) {
            return;
        }
        let mut sender_key = merchant.map(|merchant| address::name_key(&merchant.value));
        for role in [Role::Sender, Role::Recipient] {
            if role == Role::Sender
                && let Some(merchant) = merchant
            {
                self.add_address_of(merchant, found);
                continue;
            }
            let wanted = |kind| self.schema.fields.iter().find(|field| field.kind == kind && field.role == Some(role));
            let ranked = self.parties.ranked(role);
            let score = |name: &NameCandidate| if role == Role::Sender { name.sender } else { name.recipient };
            let free = ranked
                .into_iter()
                .filter(|name| role == Role::Sender || Some(address::name_key(&name.text)) != sender_key);
            // A slip names nobody it is for, unless a label says so: what stands alone are branches and streets.
            let is_slip = merchant.is_some();
            let may_be_meant = |name: &&NameCandidate| score(name) >= LEAST && (!is_slip || name.label.is_some());
            let free: Vec<&NameCandidate> = free.filter(may_be_meant).collect();
            let Some(best) = free.first().copied() else { continue };
            let key = address::name_key(&best.text);
            if let Some(field) = wanted(FieldType::Name) {
                let rival = free.iter().find(|name| address::name_key(&name.text) != key);
                let mut doubts = Vec::new();
                let mut unique = 1.0;
                if let Some(rival) = rival.filter(|rival| score(rival) > 0.8 * score(best)) {
                    doubts.push(Doubt::new(DoubtKind::Rival, format!("{} could be meant as well", rival.text)));
                    unique = 0.8;
                }
                let mut label = (0.4 + score(best)).min(1.0);
                // Letterheads and logos name the author of a form as well as a party of a contract.
                if best.label.is_none() && names_parties(field) {
                    label = label.min(UNNAMED_PARTY);
                    let text = format!("nothing says that {} is a party", best.text);
                    doubts.push(Doubt::new(DoubtKind::NoLabel, text));
                }
                let parts = ConfidenceParts { label, unique, ..ConfidenceParts::CERTAIN };
                let spans = Parties::whole_name(self.sheet, best);
                let text = match &spans[1..] {
                    [] => best.text.clone(),
                    more => format!("{} {}", best.text, self.sheet.quote(&more[0])),
                };
                let value = self.value_with_evidence(&text, &text, &spans, parts, doubts, best.label.clone());
                found.insert(field.name.clone(), value);
            }
            if let Some(field) = wanted(FieldType::Address) {
                let spans = Parties::address_of(self.sheet, best);
                if !spans.is_empty() {
                    let lines: Vec<String> = spans.iter().map(|span| self.sheet.quote(span)).collect();
                    let text = lines.join(", ");
                    let parts = ConfidenceParts { label: (0.38 + score(best)).min(0.97), ..ConfidenceParts::CERTAIN };
                    found.insert(
                        field.name.clone(),
                        self.value_with_evidence(&text, &text, &spans, parts, Vec::new(), None),
                    );
                }
            }
            if role == Role::Sender {
                sender_key = Some(key);
            }
        }
        self.add_defined_parties(found);
    }

    /// The parties of a contract, where its opening sentence names them.
    fn add_prose_parties(&self, found: &mut BTreeMap<String, FieldValue>) -> bool {
        let field =
            |role| self.schema.fields.iter().find(|field| field.kind == FieldType::Name && field.role == Some(role));
        let (Some(first), Some(second)) = (field(Role::Sender), field(Role::Recipient)) else { return false };
        if !names_parties(first) {
            return false;
        }
        let Some(opening) = prose::opening(self.sheet) else { return false };
        self.add_opening_date(&opening.before, found);
        for (field, party) in [(first, Some(opening.first)), (second, opening.second)] {
            let Some(party) = party else { continue };
            let label = if party.doubt.is_some() { UNNAMED_PARTY } else { PROSE };
            let parts = ConfidenceParts { label, ..ConfidenceParts::CERTAIN };
            let doubts = party.doubt.iter().map(|text| Doubt::new(DoubtKind::Ambiguous, text.clone())).collect();
            let source = Some("between".to_owned());
            let value = self.value_with_evidence(&party.text, &party.text, &party.spans, parts, doubts, source);
            found.insert(field.name.clone(), value);
        }
        true
    }

    /// The parties that a contract names by their roles in brackets, or as a letter names whom it is written to: where no
    /// label names them.
    fn add_defined_parties(&self, found: &mut BTreeMap<String, FieldValue>) {
        let field =
            |role| self.schema.fields.iter().find(|field| field.kind == FieldType::Name && field.role == Some(role));
        let (Some(first), Some(second)) = (field(Role::Sender), field(Role::Recipient)) else { return };
        let is_named = |field: &Field| {
            found
                .get(&field.name)
                .is_some_and(|value| value.doubts.iter().all(|doubt| doubt.kind != DoubtKind::NoLabel))
        };
        if !names_parties(first) || [first, second].into_iter().all(is_named) {
            return;
        }
        let parties = prose::defined_parties(self.sheet);
        let mut fields = if parties.len() >= 2 { vec![first, second] } else { vec![second, first] };
        if let [party] = parties.as_slice() {
            let key = address::name_key(&party.text);
            let is_known =
                |field: &&Field| found.get(&field.name).is_some_and(|value| address::name_key(&value.value) == key);
            // The one that is known keeps its place; another one fills the place that is free.
            fields = match fields.iter().copied().find(is_known) {
                Some(known) => vec![known],
                None => fields.into_iter().filter(|field| !found.contains_key(&field.name)).collect(),
            };
        }
        for (field, party) in fields.into_iter().zip(&parties) {
            let parts = ConfidenceParts { label: DEFINED, ..ConfidenceParts::CERTAIN };
            let source = Some("its role in brackets".to_owned());
            let value = self.value_with_evidence(&party.text, &party.text, &party.spans, parts, Vec::new(), source);
            found.insert(field.name.clone(), value);
        }
    }

    /// Holds the parties of a contract against those who sign it: a name that signs is surer, and one that signs and is no
    /// party is a doubt.
    pub(super) fn compare_signers(&self, found: &mut BTreeMap<String, FieldValue>) {
        let is_party = |field: &&Field| field.kind == FieldType::Name && field.role.is_some();
        let fields: Vec<&Field> = self.schema.fields.iter().filter(is_party).collect();
        let signers = if fields.iter().any(|field| names_parties(field)) { signers(self.sheet) } else { return };
        let mut unknown: Vec<&String> = signers.iter().collect();
        for field in &fields {
            let Some(value) = found.get_mut(&field.name) else { continue };
            let is_own = |signer: &&String| is_same_party(signer, &value.value);
            if unknown.iter().any(is_own) {
                value.parts.label = value.parts.label.max(PROSE);
                value.confidence = value.parts.confidence();
            }
            unknown.retain(|signer| !is_own(signer));
        }
        // Who signs alone may do so for all that belong to one party.
        if let (Some(signer), Some(last)) =
            (unknown.first(), fields.last().and_then(|field| found.get_mut(&field.name)))
            && signers.len() >= 2
        {
            last.doubts.push(Doubt::new(DoubtKind::Ambiguous, format!("{signer} signs, too, and is no party here")));
        }
    }

    /// The day alone on a line at the head of a contract that is written as a letter.
    pub(super) fn add_letter_date(&self, found: &mut BTreeMap<String, FieldValue>) {
        let is_wanted = |field: &&Field| field.kind == FieldType::Date && field.required;
        let Some(field) = self.schema.fields.iter().find(is_wanted) else { return };
        let has_label = found.get(&field.name).is_some_and(|known| known.source.is_some());
        if has_label || !self.schema.fields.iter().any(names_parties) {
            return;
        }
        let Some(first) = self.sheet.pages.first() else { return };
        let head = first.lines.start..first.lines.end.min(first.lines.start + HEAD_LINES);
        let dates = self.candidates.get(&FieldType::Date).map_or(&[][..], Vec::as_slice);
        let is_alone = |date: &&Candidate| {
            head.contains(&date.line)
                && self.sheet.segment_of(date.line, date.tokens.start).is_some_and(|own| own.tokens == date.tokens)
        };
        let mut alone = dates.iter().filter(is_alone);
        let (Some(date), None) = (alone.next(), alone.next()) else { return };
        let doubts = date.parsed.doubt.iter().map(|text| Doubt::new(DoubtKind::Ambiguous, text.clone())).collect();
        let parts = ConfidenceParts { label: LETTER_DATE, ..ConfidenceParts::CERTAIN };
        let spans = std::slice::from_ref(&date.tokens);
        let source = Some("head of the letter".to_owned());
        let value = self.value_with_evidence(&date.text, &date.parsed.normalised, spans, parts, doubts, source);
        found.insert(field.name.clone(), value);
    }

    /// The day that stands in the opening sentence before the parties is the day of the contract.
    fn add_opening_date(&self, opening: &Range<usize>, found: &mut BTreeMap<String, FieldValue>) {
        let is_wanted = |field: &&Field| field.kind == FieldType::Date && field.required;
        let Some(field) = self.schema.fields.iter().find(is_wanted) else { return };
        let dates = self.candidates.get(&FieldType::Date).map_or(&[][..], Vec::as_slice);
        let mut stated = dates.iter().filter(|date| opening.contains(&date.tokens.start));
        // Of two days in one sentence neither is certain.
        let (Some(date), None) = (stated.next(), stated.next()) else { return };
        let known = found.get(&field.name);
        let agrees = known.is_some_and(|known| known.normalised == date.parsed.normalised);
        let is_unsure = known.is_none_or(|known| known.confidence < OPENING);
        if agrees && !is_unsure {
            return;
        }
        let doubts = match known {
            Some(other) if !agrees && !is_unsure => {
                vec![Doubt::new(DoubtKind::Rival, format!("{} could be meant as well", other.value))]
            }
            _ => date.parsed.doubt.iter().map(|text| Doubt::new(DoubtKind::Ambiguous, text.clone())).collect(),
        };
        let unique = if doubts.is_empty() { 1.0 } else { 0.8 };
        let parts = ConfidenceParts { label: OPENING, unique, ..ConfidenceParts::CERTAIN };
        let spans = std::slice::from_ref(&date.tokens);
        let source = Some("opening sentence".to_owned());
        let value = self.value_with_evidence(&date.text, &date.parsed.normalised, spans, parts, doubts, source);
        found.insert(field.name.clone(), value);
    }

    /// The address below the name that a model chose.
    fn add_address_of(&self, merchant: &Decided, found: &mut BTreeMap<String, FieldValue>) {
        let is_wanted = |field: &&Field| field.kind == FieldType::Address && field.role == Some(Role::Sender);
        let Some(field) = self.schema.fields.iter().find(is_wanted) else { return };
        let Some(last) = merchant.spans.last() else { return };
        let line = self.sheet.lines.partition_point(|line| line.tokens.end <= last.start);
        let spans = Parties::address_below(self.sheet, line, last);
        if !spans.is_empty() {
            let lines: Vec<String> = spans.iter().map(|span| self.sheet.quote(span)).collect();
            let text = lines.join(", ");
            let parts = ConfidenceParts { label: 0.9 * merchant.confidence, ..ConfidenceParts::CERTAIN };
            found.insert(field.name.clone(), self.value_with_evidence(&text, &text, &spans, parts, Vec::new(), None));
        }
    }
}
