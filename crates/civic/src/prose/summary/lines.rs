//! A document as passages: sentences with their page and section, without what only dresses the pages.
//!
//! Lines of a paragraph are joined, and paragraphs that a page break has cut. Headings set the section for what follows,
//! labels (`Subject: …`) for their own line. Lines that come back at the edges of pages, letterheads, routing, lists of
//! files and the like are dropped.

use super::{
    Citation, DocumentText, PageText, TITLE,
    facts::money,
    rules::{BOILERPLATE, HEADINGS, Section},
    sentences,
};
use crate::pattern::pattern;
use regex::Regex;
use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

/// A packet of a thousand pages has about as many. What comes behind is not looked at, so that no item takes long.
const MOST_PASSAGES: usize = 30_000;
/// How many lines at the top and the bottom of a page can be furniture.
const EDGE: usize = 4;
const LONGEST_HEADING: usize = 70;
/// How many paragraphs and points a recommendation has at most.
const SHORT_SECTION: usize = 25;
/// A signature above this many passages belongs to the head of a report.
const HEAD: usize = 5;

/// A sentence, or a row of a table.
#[derive(Debug, Clone)]
pub(super) struct Passage {
    pub(super) text: String,
    pub(super) section: Section,
    pub(super) citation: Citation,
    pub(super) is_row: bool,
    /// The order above the list that it is a point of: `APPROVE:`.
    pub(super) lead: Option<String>,
    /// The document's place among all, from 1; the title is 0.
    pub(super) document: usize,
    /// Its place in the document.
    pub(super) order: usize,
}

static MARKER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^\s*(?:[-–—•·*▪●○◦‣➢✓>\x{e000}-\x{f8ff}]+\s*|o\s+|\(?(?:\d{1,2}|[A-Za-z]|[ivx]{1,4})[.)]\s+)")
});
static LABELLED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[A-Z][A-Za-z /&'’()-]{1,40}:(?:\s|$)"));
static NUMBERING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^\s*(?:(?:section|part|item)\s+)?\(?(?:\d{1,2}(?:\.\d{1,2})*|[A-Z]|[IVX]{1,4})[.):]\s*")
});

// A paper whose number is not given yet: "RESOLUTION NO.________ - APPROVE THE PERMIT".
static UNNUMBERED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^(?:resolution|ordinance|order) no\.?[ _]*[-–—:] +"));
static POINT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:(?:and|or) )?[A-H][.)] "));

/// All passages of an item: the title first, then the documents in their order.
pub(super) fn passages(title: &str, documents: &[DocumentText]) -> Vec<Passage> {
    let mut all = Vec::new();
    let title = one_line(title);
    let told = UNNUMBERED.find(&title).and_then(|lead| title.get(lead.end()..)).unwrap_or(&title);
    for (order, sentence) in sentences::split(told).into_iter().enumerate() {
        let citation = Citation { document: TITLE.to_owned(), page: None };
        // "…; and B. AMENDING the budget" is a point of its own.
        let text = POINT.find(sentence).and_then(|mark| sentence.get(mark.end()..)).unwrap_or(sentence).to_owned();
        if order > 0 && is_boilerplate(&text) {
            continue;
        }
        all.push(Passage { text, section: Section::Subject, citation, is_row: false, lead: None, document: 0, order });
    }
    for (at, document) in documents.iter().enumerate() {
        Reading::new(document, at + 1).read(&mut all);
    }
    all
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A document while it is read.
struct Reading<'d> {
    document: &'d DocumentText,
    place: usize,
    section: Section,
    /// An order that a list follows.
    lead: Option<Lead>,
    order: usize,
    /// How many units were seen.
    seen: usize,
    /// How many units the section still holds for: what is asked for, and what it costs, is told in short.
    left: usize,
    /// Whoever wrote it has signed: what follows in the same file was attached.
    is_signed: bool,
    furniture: HashSet<String>,
}

/// `APPROVE:`, above a list.
struct Lead {
    /// As printed.
    shown: String,
    lowered: String,
    /// No point of the list was read yet.
    is_fresh: bool,
}

/// Lines that belong together.
struct Unit {
    text: String,
    page: usize,
    section: Section,
    is_row: bool,
    lead: Option<String>,
    /// A heading stands in front of it.
    is_first: bool,
    /// It stands behind the signature.
    is_attached: bool,
}

impl<'d> Reading<'d> {
    fn new(document: &'d DocumentText, place: usize) -> Self {
        Self {
            document,
            place,
            section: Section::Body,
            lead: None,
            order: 0,
            seen: 0,
            left: SHORT_SECTION,
            is_signed: false,
            furniture: furniture(&document.pages),
        }
    }

    fn read(mut self, all: &mut Vec<Passage>) {
        let mut held: Option<Unit> = None;
        for page in &self.document.pages {
            for unit in self.units(page) {
                match held.as_mut() {
                    Some(before) if continues(before, &unit) => {
                        before.text.push(' ');
                        before.text.push_str(&unit.text);
                    }
                    _ => {
                        if let Some(done) = held.replace(unit) {
                            self.push(&done, all);
                        }
                    }
                }
                if all.len() >= MOST_PASSAGES {
                    return;
                }
            }
        }
        if let Some(done) = held {
            self.push(&done, all);
        }
    }

    fn units(&mut self, page: &PageText) -> Vec<Unit> {
        let mut units: Vec<Unit> = Vec::new();
        // A blank line ends a unit.
        let mut is_open = false;
        let mut is_first = false;
        let lines: Vec<&str> = page.text.lines().collect();
        let edges = edges(&lines);
        for (at, line) in lines.iter().enumerate() {
            let line = line.trim();
            if line.is_empty() {
                is_open = false;
                continue;
            }
            if edges.contains(&at) && self.furniture.contains(&shape(line)) {
                continue;
            }
            if let Some((section, only_its_line, rest)) = heading(line) {
                if !only_its_line {
                    self.section = section;
                    self.lead = None;
                    self.left = SHORT_SECTION;
                }
                self.is_signed |= self.seen > HEAD && SIGNED.is_match(line);
                is_open = false;
                is_first = true;
                let (rest, is_attached) = (rest.trim(), self.is_signed);
                if !rest.is_empty() {
                    let (text, is_row) = (one_line(rest), rest.contains('\t'));
                    units.push(Unit { text, page: page.number, section, is_row, lead: None, is_first, is_attached });
                    is_open = !only_its_line || section == Section::Subject;
                }
                continue;
            }
            let is_signature = SIGNED.is_match(line);
            if self.seen > HEAD && is_signature {
                self.is_signed = true;
                self.section = Section::Other;
            }
            let is_row = line.contains('\t');
            if let Some(order) = order_above_a_list(line) {
                self.lead = Some(Lead { shown: line.to_owned(), lowered: order, is_fresh: true });
                (is_open, is_first) = (false, true);
                continue;
            }
            let (is_point, is_attached) = (MARKER.is_match(line), self.is_signed);
            if !is_open || is_row || is_point || is_signature || LABELLED.is_match(line) {
                if self.section == Section::Dropped && line.len() > 120 && line.ends_with('.') {
                    self.section = Section::Body;
                }
                self.seen += 1;
                self.left = self.left.saturating_sub(1);
                if self.left == 0 && matches!(self.section, Section::Action | Section::Fiscal | Section::Next) {
                    self.section = Section::Body;
                }
                let mut text = if is_row { cells(line) } else { one_line(line) };
                let lead = self.lead.as_mut().filter(|_| is_point);
                if let Some(lead) = lead {
                    // A point that is no order itself is read with the order above it.
                    let bare = MARKER.replace(&text, "").to_lowercase();
                    if std::mem::take(&mut lead.is_fresh) && !super::cues::begins_with_order(&bare) {
                        text = format!("{} {}", lead.shown, MARKER.replace(&text, ""));
                    }
                }
                let lead = self.lead.as_ref().filter(|_| is_point).map(|lead| lead.lowered.clone());
                let section = self.section;
                units.push(Unit { text, page: page.number, section, is_row, lead, is_first, is_attached });
                is_first = false;
            } else if let Some(last) = units.last_mut() {
                if !last.text.ends_with('-') {
                    last.text.push(' ');
                }
                last.text.push_str(&one_line(line));
            }
            is_open = !is_row;
        }
        units
    }

    fn push(&mut self, unit: &Unit, all: &mut Vec<Passage>) {
        if unit.section == Section::Dropped {
            return;
        }
        let text = MARKER.replace(&unit.text, "");
        if is_boilerplate(&text) {
            return;
        }
        let parts = if unit.is_row { vec![&*text] } else { sentences::split(&text) };
        for part in parts {
            let part = MARKER.find(part).map_or(part, |marker| part.get(marker.end()..).unwrap_or(part));
            let part = part.trim();
            // A row of stars below a paragraph is no part of it.
            let part = if part.ends_with("***") { part.trim_end_matches(['*', ' ']) } else { part };
            if part.is_empty() || is_boilerplate(part) {
                continue;
            }
            let citation =
                Citation { document: self.document.name.clone(), page: (unit.page > 0).then_some(unit.page) };
            let (section, is_row, lead) = (unit.section, unit.is_row, unit.lead.clone());
            let (document, order) = (self.place + usize::from(unit.is_attached), self.order);
            all.push(Passage { text: part.to_owned(), section, citation, is_row, lead, document, order });
            self.order += 1;
        }
    }
}

/// `CONSIDER:`, `That the Council:`: the points of the list below are what is asked for.
fn order_above_a_list(line: &str) -> Option<String> {
    let order = line.strip_suffix(':').filter(|order| order.len() <= 90)?;
    let told = MARKER.replace(order, "").to_lowercase();
    super::cues::begins_with_order(super::cues::without_lead(&told)).then_some(told)
}

static SIGNED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:respectfully submitted|(?:prepared|submitted|reviewed|approved) by\b|approved as to form|sincerely)",
    )
});
static UNFINISHED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(?:or|and|of|to|into|the|an?|for|with|in|by|on|at|from|as|that|between|its)$"));

/// A paragraph that the end of a page, or an empty line, has cut in two.
fn continues(before: &Unit, unit: &Unit) -> bool {
    let is_open = !before.text.ends_with(['.', ':', ';', '?', '!', '”', '"']);
    !before.is_row
        && !unit.is_row
        && !unit.is_first
        && is_open
        && before.section == unit.section
        && before.text.split(' ').count() >= 4
        && (unit.text.starts_with(char::is_lowercase) || UNFINISHED.is_match(&before.text))
        && !MARKER.is_match(&unit.text)
}

fn cells(line: &str) -> String {
    line.split('\t').map(one_line).filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join(" | ")
}

fn is_boilerplate(text: &str) -> bool {
    let lowered = text.to_lowercase();
    let straight = lowered.replace(['\u{2018}', '\u{2019}'], "'");
    let letters = straight.chars().filter(|letter| letter.is_alphabetic()).count();
    letters < 3
        || BOILERPLATE
            .iter()
            .any(|rule| rule.pattern.is_match(&straight) && !(rule.unless_money && money::is_in(&straight)))
}

/// The section that a line opens, whether for itself only, and what the line says behind it.
fn heading(line: &str) -> Option<(Section, bool, &str)> {
    let plain = NUMBERING.find(line).map_or(line, |number| line.get(number.end()..).unwrap_or(line));
    let colon = plain.find([':', '\t']).filter(|at| *at <= LONGEST_HEADING);
    if let Some((head, rest)) = colon.and_then(|at| plain.split_at_checked(at))
        && let Some((section, only_its_line)) = known_heading(head)
    {
        return Some((section, only_its_line, rest.trim_start_matches([':', '\t', ' '])));
    }
    if plain.len() > LONGEST_HEADING || plain.ends_with(['.', ',', ';']) {
        return None;
    }
    // A label needs its colon: "Contact" alone may be anything.
    if let Some((section, false)) = known_heading(plain) {
        return Some((section, false, ""));
    }
    let letters = || plain.chars().filter(|letter| letter.is_alphabetic());
    let words = plain.split_whitespace().count();
    let is_shouted = (1..=8).contains(&words) && letters().count() >= 4 && letters().all(char::is_uppercase);
    let is_order = super::cues::is_clear_order(&plain.to_lowercase());
    (is_shouted && !is_order && !plain.contains('$')).then_some((Section::Other, false, ""))
}

fn known_heading(head: &str) -> Option<(Section, bool)> {
    let head = one_line(head).to_lowercase().replace('\u{2019}', "'");
    let head = head.trim_matches(|c: char| !c.is_alphanumeric() && c != '(' && c != ')');
    let singular = |words: &str| {
        let words = words.trim().trim_end_matches("(s)").trim_end_matches(['*', ' ']);
        HEADINGS.get(words).or_else(|| HEADINGS.get(words.strip_suffix('s')?)).copied()
    };
    if let Some(found) = singular(head) {
        return Some(found);
    }
    if head.split(' ').count() > 7 {
        return None;
    }
    // "Background and discussion", "Fiscal impact / funding": the first of them counts.
    let first = head.split([',', '/', '&', '(']).next()?.split(" and ").next()?;
    singular(first).filter(|(_, only_its_line)| first.len() < head.len() && !only_its_line)
}

/// The places of the first and the last lines with something on them.
fn edges(lines: &[&str]) -> HashSet<usize> {
    let filled = || (0..lines.len()).filter(|at| lines.get(*at).is_some_and(|line| !line.trim().is_empty()));
    filled().take(EDGE).chain(filled().rev().take(EDGE)).collect()
}

/// A line with its numbers made equal, so that `Page 2` and `Page 3` are one.
fn shape(line: &str) -> String {
    let digits = |letter: char| if letter.is_ascii_digit() { '#' } else { letter };
    one_line(line).to_lowercase().chars().map(digits).collect()
}

/// The lines that come back at the edges of pages.
fn furniture(pages: &[PageText]) -> HashSet<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for page in pages {
        let lines: Vec<&str> = page.text.lines().collect();
        let here: HashSet<String> =
            edges(&lines).into_iter().filter_map(|at| lines.get(at)).map(|line| shape(line)).collect();
        for line in here {
            *seen.entry(line).or_default() += 1;
        }
    }
    let needed = (pages.len() / 3).max(2);
    seen.into_iter().filter(|(line, count)| *count >= needed && line.len() <= 160).map(|(line, _)| line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(Section, String)> {
        let document = DocumentText::plain("Report", text);
        passages("", &[document]).into_iter().map(|passage| (passage.section, passage.text)).collect()
    }

    #[test]
    fn headings_and_labels_say_what_follows() {
        let text = "CITY OF BROOKFIELD\nSTAFF REPORT\n\nTO: The Council\nFROM: Public Works\nSUBJECT: Repair of the weir\n\n\
            RECOMMENDATION:\n\n1. Adopt the resolution.\n2. Authorize the Manager to sign.\n\n\
            Fiscal Impact/Funding: The works cost $40,000.\n\nIII. BACKGROUND AND DISCUSSION\nThe weir dates from\n1931. It leaks.\n\nATTACHMENTS:\nA. Map\nRespectfully submitted,\n";
        assert_eq!(
            read(text),
            [
                (Section::Subject, "Repair of the weir".to_owned()),
                (Section::Action, "Adopt the resolution.".to_owned()),
                (Section::Action, "Authorize the Manager to sign.".to_owned()),
                (Section::Fiscal, "The works cost $40,000.".to_owned()),
                (Section::Background, "The weir dates from 1931.".to_owned()),
                (Section::Background, "It leaks.".to_owned()),
            ]
        );
    }

    #[test]
    fn edges_that_come_back_are_dropped_and_cut_paragraphs_joined() {
        let page = |number: usize, text: &str| PageText {
            number,
            text: format!("Brookfield council packet {number}\n\n{text}\n\nPrinted 1/{number}/2026\n"),
        };
        let pages = vec![
            page(1, "The bridge was built in 1931 and carries"),
            page(2, "nine thousand cars a day."),
            page(3, "It is closed."),
        ];
        let found = passages("", &[DocumentText { name: "Report".into(), pages }]);
        let texts: Vec<_> = found.iter().map(|passage| (passage.citation.page, passage.text.as_str())).collect();
        assert_eq!(
            texts,
            [
                (Some(1), "The bridge was built in 1931 and carries nine thousand cars a day."),
                (Some(3), "It is closed.")
            ]
        );
    }

    #[test]
    fn recitals_stay_out_unless_they_carry_the_money() {
        let text = "WHEREAS, the river is old; and\n\nWHEREAS, the grant of $75,000 was received;\n\nNOW, THEREFORE, BE IT RESOLVED";
        assert_eq!(read(text).len(), 1);
    }
}
