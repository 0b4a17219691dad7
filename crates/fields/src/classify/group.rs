//! Consecutive pages become documents.
//!
//! A page begins a document when more speaks for that than for its belonging to the page before. What speaks is weighed
//! and kept as reasons: the page's own number, other or equal reference numbers, another type, a title or salutation, a
//! running title that goes on, another language or another size of paper.

use super::{class::PageClass, marks::Marks, reason::Reason};
use crate::doctype::OTHER;
use bindery_core::Name;
use bindery_reader::Page;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A page's class counts for less than this much of a change of type when it is unsure.
const SURE: f64 = 0.6;
/// The first page has the title; the later ones often only say a part.
const FIRST_PAGE_WEIGHT: f64 = 1.5;
/// A later page that fits no type says little about the document.
const OTHER_PAGE_WEIGHT: f64 = 0.4;

/// How sure a type is that the file itself states. Only what a person says is certain.
const KNOWN: f64 = 0.995;
/// How many other types a document names, and how likely they must be.
const RUNNERS_UP: usize = 3;
const LEAST_LIKELIHOOD: f64 = 0.05;

/// Pages that belong together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Their numbers, from 1, in order.
    pub pages: Vec<usize>,
    pub doctype: Name,
    /// From 0 to 1.
    pub confidence: f64,
    /// Why it begins where it begins, why each page belongs to it, and why it is of this type.
    pub because: Vec<Reason>,
    /// The other types that come into question, the likeliest first.
    #[serde(default)]
    pub runners_up: Vec<(Name, f64)>,
}

impl Document {
    /// How likely the document is of this type.
    pub fn likelihood(&self, doctype: &str) -> f64 {
        if self.doctype == *doctype {
            return self.confidence;
        }
        self.runners_up.iter().find(|(name, _)| *name == *doctype).map_or(0.0, |(_, likelihood)| *likelihood)
    }
}

/// All pages as one document of a type that is known from elsewhere, such as the e-invoice inside their file.
pub(super) fn one_document(pages: &[(&Page, &PageClass)], doctype: &str, because: String) -> Document {
    Document {
        pages: pages.iter().map(|(page, _)| page.number).collect(),
        doctype: Name::from(doctype),
        confidence: KNOWN,
        because: vec![Reason::new(because, 1.0)],
        runners_up: Vec::new(),
    }
}

/// Puts pages, in their order, together to documents.
pub fn group(pages: &[(&Page, &PageClass)]) -> Vec<Document> {
    let marks: Vec<Marks> = pages.iter().map(|(page, _)| Marks::new(page)).collect();
    let mut drafts: Vec<Draft> = Vec::new();
    // The last page with text: a blank one between two pages says nothing about them.
    let mut before: Option<usize> = None;
    for index in 0..pages.len() {
        let blank = !marks[index].has_text;
        let Some(last) = before.filter(|_| !blank) else {
            add_blank_or_first(&mut drafts, index, blank, &marks);
            before = (!blank).then_some(index).or(before);
            continue;
        };
        let reasons = compare((&marks[last], pages[last].1), (&marks[index], pages[index].1));
        let sum: f64 = reasons.iter().map(|reason| reason.weight).sum();
        let blanks_between = index - last > 1;
        if sum > 0.0 || (blanks_between && sum > -3.0) {
            drafts.push(Draft { pages: vec![index], because: spoke(reasons, 1.0) });
        } else {
            // Blank pages between two that belong together are the empty backs of sheets.
            while blanks_between && drafts.last().is_some_and(|draft| draft.pages[0] > last) {
                drafts.pop();
            }
            if let Some(draft) = drafts.last_mut() {
                draft.pages.extend(last + 1..=index);
                draft.because.extend(spoke(reasons, -1.0).into_iter().map(|reason| {
                    Reason::new(format!("page {} goes on: {}", pages[index].0.number, reason.text), reason.weight.abs())
                }));
            }
        }
        before = Some(index);
    }
    drafts.into_iter().map(|draft| draft.finish(pages)).collect()
}

/// A document in the making; pages are indexes.
#[derive(Debug)]
struct Draft {
    pages: Vec<usize>,
    because: Vec<Reason>,
}

fn add_blank_or_first(drafts: &mut Vec<Draft>, index: usize, blank: bool, marks: &[Marks]) {
    match drafts.last_mut() {
        Some(draft) if blank && draft.pages.last().is_some_and(|last| !marks[*last].has_text) => {
            draft.pages.push(index);
        }
        _ => drafts.push(Draft { pages: vec![index], because: Vec::new() }),
    }
}

/// The reasons that decided: those on the side of the decision, the heaviest first.
fn spoke(mut reasons: Vec<Reason>, side: f64) -> Vec<Reason> {
    reasons.retain(|reason| reason.weight * side > 0.0);
    reasons.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
    reasons
}

/// What speaks for a new document (above zero), and for the same one (below).
fn compare(last: (&Marks, &PageClass), next: (&Marks, &PageClass)) -> Vec<Reason> {
    let mut reasons = Vec::new();
    by_number(last.0, next.0, &mut reasons);
    by_class(last.1, next.1, next.0.large_title || next.0.contact_at_top, &mut reasons);
    by_marks(last.0, next.0, next.1.begins > 0.0, &mut reasons);
    reasons
}

fn by_number(last: &Marks, next: &Marks, reasons: &mut Vec<Reason>) {
    if let (Some(a), Some(b)) = (last.numbering, next.numbering)
        && b.page == a.page + 1
        && a.of == b.of
        && a.certain == b.certain
    {
        let weight = if a.certain && a.of.is_some() {
            -6.0
        } else if a.certain {
            -4.0
        } else {
            -2.5
        };
        reasons.push(Reason::new(format!("page number {} follows {}", b.page, a.page), weight));
        return;
    }
    if let Some(a) = last.numbering.filter(|a| a.certain && a.of == Some(a.page)) {
        reasons.push(Reason::new(format!("page {} of {} came before", a.page, a.page), 3.0));
    }
    if let Some(b) = next.numbering {
        let weight = if b.certain { 3.5 } else { 1.5 };
        if b.page == 1 {
            reasons.push(Reason::new("its page number is 1", weight));
        } else if b.certain && last.numbering.is_none_or(|a| a.page + 1 != b.page) {
            reasons.push(Reason::new(format!("its page number is {}", b.page), -0.5));
        }
    }
}

fn by_class(last: &PageClass, next: &PageClass, has_head: bool, reasons: &mut Vec<Reason>) {
    if last.doctype == next.doctype {
        reasons.push(Reason::new(format!("it is of the same type, {}", &*next.doctype), -1.0));
    } else if last.confidence >= SURE && next.confidence >= SURE {
        let types = format!("it is of another type, {} after {}", &*next.doctype, &*last.doctype);
        // A page that fits no type and has no head is rather an annex than a document; a later page of a credit note
        // may look like an invoice's.
        let weight = match (next.doctype == *OTHER, has_head || next.begins > 0.0) {
            (true, false) => 0.5,
            (true, true) => 2.0,
            (false, false) => 1.5,
            (false, true) => 3.0,
        };
        reasons.push(Reason::new(types, weight));
    } else {
        reasons.push(Reason::new(format!("it seems to be of another type, {}", &*next.doctype), 0.5));
    }
    if next.begins > 0.0 {
        reasons.push(Reason::new("it says what a first page says", (next.begins * 0.6).min(3.0)));
    } else if next.begins < 0.0 {
        reasons.push(Reason::new("it says what a later page says", (next.begins * 0.8).max(-3.0)));
    } else if !has_head {
        reasons.push(Reason::new("nothing on it says that it is a first page", -1.0));
    }
    if last.ends > 0.0 {
        reasons.push(Reason::new("the page before says what a last page says", (last.ends * 0.5).min(2.0)));
    }
}

fn by_marks(last: &Marks, next: &Marks, begins: bool, reasons: &mut Vec<Reason>) {
    if let Some(shared) = last.references.intersection(&next.references).next() {
        reasons.push(Reason::new(format!("both pages have the number {shared}"), -3.0));
    }
    if last.edges.intersection(&next.edges).next().is_some() {
        // Two copies of a printed form have it, too, and each says that it is a first page.
        let weight = if begins { -0.8 } else { -2.0 };
        reasons.push(Reason::new("both pages have the same line at their edge", weight));
    }
    if let (Some(a), Some(b)) = (last.language, next.language)
        && a != b
    {
        reasons.push(Reason::new("it is in another language", 3.0));
    }
    if let (Some(a), Some(b)) = (last.size, next.size)
        && ((a.0 - b.0).abs() > 12 || (a.1 - b.1).abs() > 12)
    {
        reasons.push(Reason::new("the paper has another size", 2.0));
    }
    if next.large_title {
        reasons.push(Reason::new("large letters stand at its top", 1.0));
    }
    if next.contact_at_top && !last.contact_at_top {
        reasons.push(Reason::new("a letterhead or an address stands at its top", 1.0));
    }
    if next.is_annex {
        reasons.push(Reason::new("it is an annex", -4.0));
    }
    if next.is_signature_page {
        reasons.push(Reason::new("it has lines to sign on and little else", -3.0));
    }
    if next.goes_on && last.breaks_off {
        reasons.push(Reason::new("its text goes on in the middle of a sentence", -2.5));
    }
}

impl Draft {
    fn finish(self, pages: &[(&Page, &PageClass)]) -> Document {
        let mut votes: BTreeMap<&Name, f64> = BTreeMap::new();
        let mut total = 0.0;
        let weight_of = |position: usize, class: &PageClass| {
            let weight = if position == 0 { FIRST_PAGE_WEIGHT } else { 1.0 };
            if position > 0 && class.doctype == *OTHER { weight * OTHER_PAGE_WEIGHT } else { weight }
        };
        for (position, index) in self.pages.iter().enumerate() {
            let class = pages[*index].1;
            let weight = weight_of(position, class);
            total += weight;
            *votes.entry(&class.doctype).or_default() += weight * class.confidence;
            for (name, likelihood) in &class.runners_up {
                *votes.entry(name).or_default() += weight * likelihood;
            }
        }
        // Names in order, so that equal votes always fall the same way.
        let mut ranked: Vec<(&Name, f64)> = votes.into_iter().collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (doctype, vote) = ranked.first().map_or((Name::from(OTHER), 0.0), |(name, vote)| ((*name).clone(), *vote));
        let share = |vote: f64| if total > 0.0 { vote / total } else { 0.0 };
        let others = ranked.iter().skip(1).map(|(name, vote)| ((*name).clone(), share(*vote)));
        let runners_up = others.filter(|(_, share)| *share >= LEAST_LIKELIHOOD).take(RUNNERS_UP).collect();
        let mut because = self.because;
        let own = self.pages.iter().map(|index| pages[*index].1).find(|class| class.doctype == doctype);
        because.extend(
            own.into_iter().flat_map(|class| class.because.iter().filter(|reason| reason.weight >= 0.0)).cloned(),
        );
        Document {
            pages: self.pages.iter().map(|index| pages[*index].0.number).collect(),
            doctype,
            confidence: share(vote),
            because,
            runners_up,
        }
    }
}
