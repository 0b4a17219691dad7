//! From pages to values: every source in turn, the surest first.

use super::{
    assign::{Pick, Slot, assign, speaks_for_itself},
    candidate::{self, Candidate},
    check, choice,
    doubts::without_labels,
    einvoice::{self, EInvoice},
    extraction::{ConfidenceParts, Doubt, DoubtKind, Extraction, FieldValue, Row, Tier},
    grounding, heading, identity,
    learned::{self, Decided, Decider},
    occurrence::Occurrences,
    party::Parties,
    rows,
    schema::{Field, FieldType, Meaning, Prefer, Role, Schema},
    score::{LEAST, Scored, Scorer, amount, best_of_each, label_model},
    sheet::Sheet,
    template::Templates,
    value::Decimal,
};
use crate::DocType;
use bindery_reader::{Attachment, Page};
use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
};

/// What can be read besides the pages.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'s> {
    /// Files inside the file; an e-invoice among them states most fields.
    pub attachments: &'s [Attachment],
    /// What users said of documents of certain senders.
    pub templates: &'s Templates,
}

/// Reads the fields of a document. The same pages always give the same values.
pub fn extract(doctype: &DocType, pages: &[Page], sources: &Sources<'_>) -> Extraction {
    let schema = &doctype.fields;
    let sheet = Sheet::new(pages);
    let occurrences = Occurrences::find(&sheet, schema);
    let parties = Parties::find(&sheet, schema, &occurrences);
    let finder = FieldFinder {
        schema,
        sheet: &sheet,
        occurrences: &occurrences,
        parties: &parties,
        candidates: all_candidates(&sheet, schema),
    };
    let mut extraction = Extraction { doctype: doctype.name.to_string(), ..Extraction::default() };
    extraction.fields = finder.fields();
    heading::add(&sheet, schema, pages, &mut extraction);
    identity::add(&sheet, schema, &mut extraction);
    for field in schema.fields.iter().filter(|field| field.kind == FieldType::Rows) {
        let adds_up = |rows: &[Row]| check::rows_add_up(&schema.checks, &extraction, &field.name, rows);
        let mut found = rows::find(&sheet, pages, field, &occurrences, adds_up);
        let total = schema.fields.iter().find(|field| field.meaning == Some(Meaning::ReceiptTotal));
        if let Some(total) = total.and_then(|field| extraction.fields.get(&field.name)) {
            found.rows.retain(|row| !is_below(row, total));
        }
        add_rows(found, field, &mut extraction);
    }
    finder.settle_sums(&mut extraction);
    sources.templates.apply(doctype, &sheet, pages, &mut extraction);
    for attachment in sources.attachments {
        match einvoice::read(attachment) {
            None => {}
            Some(Ok(invoice)) => add_einvoice(&invoice, &finder, &mut extraction),
            Some(Err(problem)) => extraction.doubts.push(Doubt::new(DoubtKind::Source, problem)),
        }
    }
    restrict(schema, &mut extraction);
    extraction.drop_unlikely_texts(schema);
    extraction.judge(schema);
    extraction
}

/// Whether a row stands below the total of its slip: a summary of taxes, not goods.
fn is_below(row: &Row, total: &FieldValue) -> bool {
    let top = row.cells.values().filter_map(|cell| cell.bbox).map(|rect| rect.y0).reduce(f32::min);
    let end = total.bbox.filter(|_| row.page == total.page).map(|rect| rect.y1);
    top.zip(end).is_some_and(|(top, end)| top >= end)
}

/// Adds rows; amounts below a heading that the schema does not know are a doubt.
fn add_rows(found: rows::FoundRows, field: &Field, extraction: &mut Extraction) {
    if found.rows.is_empty() {
        return;
    }
    let doubts = found.left_over.iter().map(|heading| {
        let text = format!("{}: no column is known for the amounts below {heading:?}", field.name);
        Doubt::new(DoubtKind::LeftOverColumn, text)
    });
    extraction.doubts.extend(doubts);
    extraction.rows.insert(field.name.clone(), found.rows);
}

fn all_candidates(sheet: &Sheet, schema: &Schema) -> HashMap<FieldType, Vec<Candidate>> {
    let mut all = HashMap::new();
    for field in &schema.fields {
        all.entry(field.kind).or_insert_with(|| candidate::find(sheet, field.kind));
    }
    all
}

/// More words are a sentence, not a title.
const LONGEST_TITLE: usize = 12;

pub(super) struct FieldFinder<'s> {
    pub(super) schema: &'s Schema,
    pub(super) sheet: &'s Sheet,
    pub(super) occurrences: &'s Occurrences,
    pub(super) parties: &'s Parties,
    pub(super) candidates: HashMap<FieldType, Vec<Candidate>>,
}

impl FieldFinder<'_> {
    fn fields(&self) -> BTreeMap<String, FieldValue> {
        let mut decided = self.model_decisions();
        let mut slots = Vec::new();
        for (index, field) in self.schema.fields.iter().enumerate() {
            if decided.is_some() && field.meaning.is_some() {
                continue;
            }
            let is_named = matches!(field.kind, FieldType::Name | FieldType::Address) && field.role.is_some();
            if !is_named && !matches!(field.kind, FieldType::Rows | FieldType::Mrz) {
                slots.push(Slot { field: index, ranked: self.ranked(index, field) });
            }
        }
        let mut found = BTreeMap::new();
        for pick in assign(self.schema, slots) {
            let field = &self.schema.fields[pick.field];
            found.insert(field.name.clone(), self.value(field, &pick));
        }
        let merchant = decided.as_ref().and_then(|decided| decided.get(&Meaning::ReceiptMerchant)).cloned();
        self.add_parties(&mut found, merchant.as_ref());
        self.add_letter_date(&mut found);
        self.compare_signers(&mut found);
        for field in &self.schema.fields {
            let own = field.meaning.and_then(|meaning| decided.as_mut()?.remove(&meaning));
            found.extend(own.map(|own| (field.name.clone(), self.learned_value(&own))));
        }
        found
    }

    /// What models decide; None where no field has a meaning they were trained for.
    fn model_decisions(&self) -> Option<HashMap<Meaning, Decided>> {
        let wanted: Vec<Meaning> = self.schema.fields.iter().filter_map(|field| field.meaning).collect();
        let models = learned::models().filter(|_| !wanted.is_empty())?;
        let candidates = |kind| self.candidates.get(&kind).map_or(&[][..], Vec::as_slice);
        let decider = Decider {
            sheet: self.sheet,
            models,
            money: candidates(FieldType::Money),
            dates: candidates(FieldType::Date),
        };
        let mut decided = decider.decide(&wanted);
        let merchant = self.schema.fields.iter().find(|field| field.meaning == Some(Meaning::ReceiptMerchant));
        if let Some(mut name) = decided.remove(&Meaning::ReceiptMerchant) {
            name.doubt = learned::doubt_of_name(self.sheet, &name);
            decided.insert(Meaning::ReceiptMerchant, name);
        }
        let stated = merchant.and_then(|field| learned::beside_label(self.sheet, &field.labels));
        decided.extend(stated.map(|name| (Meaning::ReceiptMerchant, name)));
        Some(decided)
    }

    fn learned_value(&self, own: &Decided) -> FieldValue {
        let mut doubts: Vec<Doubt> = Vec::new();
        doubts.extend(own.doubt.as_ref().map(|text| Doubt::new(DoubtKind::Ambiguous, text.clone())));
        if let Some(rival) = &own.rival {
            doubts.push(Doubt::new(DoubtKind::Rival, format!("{rival} could be meant as well")));
        }
        let parts = ConfidenceParts { label: own.confidence, calibrated: true, ..ConfidenceParts::CERTAIN };
        let mut value =
            self.value_with_evidence(&own.value, &own.normalised, &own.spans, parts, doubts, own.label.clone());
        value.because.clone_from(&own.because);
        value
    }

    pub(super) fn ranked(&self, index: usize, field: &Field) -> Vec<Scored> {
        if field.kind == FieldType::Choice {
            return best_of_each(choice::rank(self.sheet, self.occurrences, index, field));
        }
        let candidates = self.candidates.get(&field.kind).map_or(&[][..], Vec::as_slice);
        let scorer = Scorer { sheet: self.sheet, occurrences: self.occurrences, schema: self.schema };
        let mut ranked = scorer.rank(index, field, candidates);
        if self.schema.labels_are_ranked {
            without_labels(field, &mut ranked);
        }
        if field.prefer == Prefer::Title {
            ranked.retain(|scored| is_title(&scored.candidate.text));
        }
        ranked.extend(without_label(field, candidates, &ranked));
        for scored in &mut ranked {
            scored.score *= match field.role {
                Some(role) => self.role_factor(role, scored),
                // Numbers and dates among the lines of a name and address are those of that party.
                None if self.parties.role_at(scored.candidate.line, &scored.candidate.rect).is_some() => 0.6,
                None => 1.0,
            };
        }
        best_of_each(ranked)
    }

    /// How well the part of the page fits the role of a field.
    fn role_factor(&self, role: Role, scored: &Scored) -> f32 {
        match self.parties.role_at(scored.candidate.line, &scored.candidate.rect) {
            Some(own) if own == role => 1.0,
            Some(_) => 0.3,
            None if role == Role::Sender || scored.label.is_some() => 0.95,
            // A number that nothing connects with the recipient is the sender's.
            None => 0.0,
        }
    }

    pub(super) fn value(&self, field: &Field, pick: &Pick) -> FieldValue {
        let candidate = &pick.scored.candidate;
        let fit = 0.4 + 0.6 * candidate.fit;
        let mut doubts: Vec<Doubt> = Vec::new();
        doubts.extend(candidate.parsed.doubt.as_ref().map(|text| Doubt::new(DoubtKind::Ambiguous, text.clone())));
        if pick.scored.label.is_none() && !speaks_for_itself(field.kind) && field.kind != FieldType::Currency {
            doubts.push(Doubt::new(
                DoubtKind::NoLabel,
                format!("no label says that {} is the {}", candidate.text, words_of(&field.name)),
            ));
        }
        let unique = match &pick.rival {
            Some((rival, nearness)) if *nearness > 0.75 => {
                doubts.push(Doubt::new(DoubtKind::Rival, format!("{rival} could be meant as well")));
                1.0 - (nearness - 0.75)
            }
            _ => 1.0,
        };
        let learned = pick.scored.label.as_ref().and_then(|_| label_model(self.schema, field.kind));
        if let Some(model) = learned {
            doubts.extend(self.labelled_doubts(field, pick));
            // A calibrated chance knows of rivals already.
            let parts = ConfidenceParts {
                label: model.calibration.confidence(
                    pick.answer.with_ocr(self.sheet.ocr_certainty(std::slice::from_ref(&candidate.tokens))),
                ),
                kind: if candidate.parsed.doubt.is_some() { 0.7 } else { 1.0 },
                ..ConfidenceParts::CERTAIN
            };
            return self.labelled_value(field, pick, parts, doubts);
        }
        let label = match &pick.scored.label {
            // A form that only one thing has needs no label, as long as nothing else has it.
            None if speaks_for_itself(field.kind) || field.kind == FieldType::Currency => 0.92,
            _ => (pick.scored.score / fit * 1.15).min(1.0),
        };
        let parts = ConfidenceParts {
            label,
            kind: 0.8 + 0.2 * candidate.fit - if candidate.parsed.doubt.is_some() { 0.3 } else { 0.0 },
            unique,
            ..ConfidenceParts::CERTAIN
        };
        self.labelled_value(field, pick, parts, doubts)
    }

    /// A value with its words, over all lines that it is set in.
    fn labelled_value(&self, field: &Field, pick: &Pick, parts: ConfidenceParts, doubts: Vec<Doubt>) -> FieldValue {
        let candidate = &pick.scored.candidate;
        let (mut text, mut normalised) = (candidate.text.clone(), candidate.parsed.normalised.clone());
        let spans = self.continued(field, pick);
        for more in &spans[1..] {
            let more = self.sheet.quote(more);
            text = format!("{text} {more}");
            normalised = format!("{normalised} {more}");
        }
        self.value_with_evidence(&text, &normalised, &spans, parts, doubts, pick.scored.label.clone())
    }

    /// The best print beside a label of a field that states some value.
    fn beside_label(&self, index: usize, field: &Field, is_meant: impl Fn(&str) -> bool) -> Option<grounding::Place> {
        let candidates = self.candidates.get(&field.kind).map_or(&[][..], Vec::as_slice);
        let scorer = Scorer { sheet: self.sheet, occurrences: self.occurrences, schema: self.schema };
        let ranked = scorer.rank(index, field, candidates).into_iter();
        let mut labelled = ranked.filter(|scored| scored.label.is_some() && scored.score >= LEAST);
        let best = labelled.find(|scored| is_meant(&scored.candidate.parsed.normalised))?;
        Some(grounding::place(self.sheet, std::slice::from_ref(&best.candidate.tokens)))
    }

    /// A value with the words that state it. Words of a page are the only way to one, so each is grounded.
    pub(super) fn value_with_evidence(
        &self,
        value: &str,
        normalised: &str,
        spans: &[Range<usize>],
        mut parts: ConfidenceParts,
        mut doubts: Vec<Doubt>,
        source: Option<String>,
    ) -> FieldValue {
        let place = grounding::place(self.sheet, spans);
        if let Some(ocr) = place.ocr {
            parts.ocr = ocr;
            if ocr < 0.8 {
                doubts.push(Doubt::new(
                    DoubtKind::Ocr,
                    format!("the words were read with a certainty of {:.0} %", ocr * 100.0),
                ));
            }
        }
        FieldValue {
            value: value.to_owned(),
            normalised: normalised.to_owned(),
            page: place.page,
            quote: place.quote,
            bbox: place.bbox,
            confidence: parts.confidence(),
            tier: Tier::Candidate,
            source,
            because: Vec::new(),
            parts,
            doubts,
            accepted_by: None,
        }
    }
}

/// Candidates that no label speaks for, but their type, size or place.
fn without_label(field: &Field, candidates: &[Candidate], ranked: &[Scored]) -> Vec<Scored> {
    let unlabelled = |candidate: &Candidate, score: f32| Scored { candidate: candidate.clone(), score, label: None };
    let nothing_found = ranked.iter().all(|scored| scored.score < LEAST);
    match field.kind {
        kind if speaks_for_itself(kind) => candidates
            .iter()
            .take(20)
            .enumerate()
            .map(|(rank, candidate)| unlabelled(candidate, (0.5 - 0.01 * rank as f32) * candidate.fit))
            .collect(),
        FieldType::Currency => most_frequent(&sure_of(candidates))
            .map(|(candidate, share)| unlabelled(candidate, 0.45 + 0.4 * share))
            .into_iter()
            .collect(),
        FieldType::Money if field.prefer == Prefer::Largest => {
            let mut sized: Vec<(Decimal, &Candidate)> = candidates
                .iter()
                .filter(|candidate| candidate.fit >= 0.85)
                .filter_map(|candidate| Some((amount(candidate)?, candidate)))
                .collect();
            sized.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.line.cmp(&a.1.line)));
            let score = |rank| if rank == 0 && nothing_found && field.required { 0.34 } else { 0.1 };
            sized
                .into_iter()
                .take(8)
                .enumerate()
                .map(|(rank, (_, candidate))| unlabelled(candidate, score(rank)))
                .collect()
        }
        FieldType::Date if field.required && nothing_found => {
            candidates.first().map(|candidate| unlabelled(candidate, 0.34)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a text can head a document: sentences that happen to name the label do not.
fn is_title(text: &str) -> bool {
    let ends_sentence = text.ends_with([',', ';', '.']) && !text.ends_with("Inc.") && !text.ends_with("Ltd.");
    text.split_whitespace().count() <= LONGEST_TITLE && !ends_sentence && !text.starts_with(char::is_lowercase)
}

/// Currencies that stand beside an amount, not alone among words.
fn sure_of(candidates: &[Candidate]) -> Vec<&Candidate> {
    candidates.iter().filter(|candidate| candidate.fit > candidate::UNSURE).collect()
}

/// The currency that most amounts have, and which share of them.
fn most_frequent<'c>(candidates: &[&'c Candidate]) -> Option<(&'c Candidate, f32)> {
    let mut counts: BTreeMap<&str, (usize, &Candidate)> = BTreeMap::new();
    for candidate in candidates.iter().copied() {
        counts.entry(&candidate.parsed.normalised).or_insert((0, candidate)).0 += 1;
    }
    let (count, candidate) = counts.into_values().max_by(|a, b| a.0.cmp(&b.0).then(b.1.line.cmp(&a.1.line)))?;
    Some((candidate, count as f32 / candidates.len() as f32))
}

/// Values that are none of those allowed are doubted.
fn restrict(schema: &Schema, extraction: &mut Extraction) {
    for field in schema.fields.iter().filter(|field| !field.one_of.is_empty()) {
        if let Some(value) = extraction
            .fields
            .get_mut(&field.name)
            .filter(|value| !field.one_of.iter().any(|one| one.eq_ignore_ascii_case(&value.normalised)))
        {
            // What a template found is a choice, however it is written.
            if let Some(allowed) = field.allowed(&value.normalised).filter(|_| field.kind == FieldType::Choice) {
                allowed.clone_into(&mut value.normalised);
                continue;
            }
            let text = format!("{} is none of {}", value.value, field.one_of.join(", "));
            value.doubts.push(Doubt::new(DoubtKind::NotAllowed, text));
        }
    }
}

/// What the e-invoice states stands, with its place on the page where the page states the same.
fn add_einvoice(invoice: &EInvoice, finder: &FieldFinder<'_>, extraction: &mut Extraction) {
    for (index, field) in finder.schema.fields.iter().enumerate() {
        let Some(stated) = invoice.values.get(field.name.as_str()) else { continue };
        let Some(parsed) = super::parse_as(field.kind, &stated.text, &super::value::Habits::default()) else {
            continue;
        };
        let printed = extraction.fields.remove(&field.name).filter(|printed| printed.tier != Tier::EInvoice);
        let is_same = |other: &str| grounding::is_same(field.kind, other, &parsed.normalised);
        let candidates = finder.candidates.get(&field.kind).map_or(&[][..], Vec::as_slice);
        let agreed = printed.as_ref().filter(|printed| is_same(&printed.normalised));
        let place = match agreed {
            Some(printed) => Some(grounding::Place {
                page: printed.page,
                quote: printed.quote.clone(),
                bbox: printed.bbox,
                ocr: None,
            }),
            None => finder
                .beside_label(index, field, is_same)
                .or_else(|| grounding::find(finder.sheet, field.kind, &stated.text, &parsed.normalised, candidates)),
        };
        let mut doubts = Vec::new();
        match (&place, printed.as_ref().filter(|printed| printed.confidence >= 0.7)) {
            (None, Some(printed)) => doubts.push(Doubt::new(
                DoubtKind::PageDisagrees,
                format!(
                    "the e-invoice says {}, page {} says {}",
                    stated.text,
                    printed.page.unwrap_or(1),
                    printed.value
                ),
            )),
            // A page does not print what is not to be paid.
            (None, None) if is_same("0") => {}
            (None, None) => doubts.push(Doubt::new(DoubtKind::NotOnPage, format!("no page states {}", stated.text))),
            (Some(_), _) => {}
        }
        let place = place.unwrap_or_default();
        let label = if doubts.iter().any(|doubt| doubt.kind == DoubtKind::PageDisagrees) { 0.6 } else { 1.0 };
        let parts = ConfidenceParts { label, ..ConfidenceParts::CERTAIN };
        extraction.fields.insert(
            field.name.clone(),
            FieldValue {
                value: stated.text.clone(),
                normalised: parsed.normalised,
                page: place.page,
                quote: place.quote,
                bbox: place.bbox,
                confidence: parts.confidence(),
                tier: Tier::EInvoice,
                source: Some(stated.path.clone()),
                because: Vec::new(),
                parts,
                doubts,
                accepted_by: None,
            },
        );
    }
    for field in finder.schema.fields.iter().filter(|field| field.kind == FieldType::Rows) {
        let stated = invoice.rows(&field.columns);
        if !stated.is_empty() && einvoice::LINE_FIELDS.contains(&field.name.as_str()) {
            extraction.rows.insert(field.name.clone(), stated);
        }
    }
}

fn words_of(name: &str) -> String {
    name.replace('_', " ")
}
