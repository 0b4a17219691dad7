//! Who wrote a document and whom it is for.
//!
//! Names have no form of their own, so many signs are weighed: a legal form, the place on the page, a label above, an
//! address below, a line in small print with separators above the recipient, the domain of the e-mail address, and
//! whether the same name stands in several places.

use super::{
    occurrence::Occurrences,
    schema::{FieldType, Role, Schema},
    sheet::Sheet,
    value::{address, codes, date},
};
use bindery_reader::Rect;
use std::{collections::HashMap, ops::Range};

/// A name on a page, with how much speaks for each role.
#[derive(Debug, Clone)]
pub(crate) struct NameCandidate {
    pub line: usize,
    pub tokens: Range<usize>,
    pub text: String,
    pub sender: f32,
    pub recipient: f32,
    /// The label above or before it.
    pub label: Option<String>,
}

/// A part of a page that a label gives to one role.
#[derive(Debug, Clone)]
struct Section {
    role: Role,
    label: String,
    lines: Range<usize>,
    left: f32,
    right: f32,
}

/// The names of a document, and which parts of its pages belong to whom.
#[derive(Debug)]
pub(crate) struct Parties {
    sections: Vec<Section>,
    pub names: Vec<NameCandidate>,
}

const LONGEST_SECTION: usize = 9;
/// Names stand on the first pages and, in small print, at the end of the last.
const PAGES_WITH_NAMES: usize = 2;
const MOST_NAMES: usize = 400;
/// Words of titles and of the print around names, never a name by themselves.
const NOT_NAMES: &[&str] = &[
    "invoice",
    "rechnung",
    "facture",
    "factura",
    "gutschrift",
    "avoir",
    "abono",
    "receipt",
    "quittung",
    "beleg",
    "page",
    "seite",
    "página",
    "pagina",
    "original",
    "copy",
    "kopie",
    "duplicate",
    "duplicata",
    "tax",
    "date",
    "datum",
    "fecha",
    "total",
    "description",
    "beschreibung",
    "sales",
    "bill",
    "commercial",
    "credit",
    "note",
    "statement",
    "lieferschein",
    "rechnungskorrektur",
    "notes",
    "thank",
    "you",
    "vielen",
    "dank",
    "merci",
    "gracias",
    "deutschland",
    "germany",
    "france",
    "spain",
    "españa",
    "österreich",
    "schweiz",
    "switzerland",
    "austria",
    "united",
    "kingdom",
    "usa",
    "details",
    "payment",
    "zahlungsbedingungen",
    "bemerkungen",
    "payslip",
    "contract",
    "nr",
    "no",
    "de",
    "von",
    "of",
    "to",
    "confidential",
];

impl Parties {
    pub(crate) fn find(sheet: &Sheet, schema: &Schema, occurrences: &Occurrences) -> Self {
        let mut parties = Self { sections: sections(sheet, schema, occurrences), names: Vec::new() };
        parties.names = parties.weighed(sheet, occurrences);
        parties
    }

    /// Whose part of the page something stands in.
    pub(crate) fn role_at(&self, line: usize, rect: &Rect) -> Option<Role> {
        self.section_at(line, rect).map(|section| section.role)
    }

    fn section_at(&self, line: usize, rect: &Rect) -> Option<&Section> {
        let x = rect.x0 + 1.0;
        // The label that stands nearest above rules.
        self.sections
            .iter()
            .rev()
            .find(|section| section.lines.contains(&line) && (section.left..section.right).contains(&x))
    }

    /// The names for a role, best first.
    pub(crate) fn ranked(&self, role: Role) -> Vec<&NameCandidate> {
        let score = |name: &NameCandidate| if role == Role::Sender { name.sender } else { name.recipient };
        let mut ranked: Vec<&NameCandidate> = self.names.iter().collect();
        ranked.sort_by(|a, b| score(b).total_cmp(&score(a)).then(a.tokens.start.cmp(&b.tokens.start)));
        ranked
    }

    fn weighed(&self, sheet: &Sheet, occurrences: &Occurrences) -> Vec<NameCandidate> {
        let mut names = Vec::new();
        for line in name_lines(sheet) {
            for segment in &sheet.lines[line].segments {
                names.extend(name_in(sheet, occurrences, line, segment.tokens.clone()));
            }
        }
        names.truncate(MOST_NAMES);
        let domains = domains(sheet);
        let mut repeats: HashMap<String, usize> = HashMap::new();
        for name in &names {
            *repeats.entry(address::name_key(&name.text)).or_default() += 1;
        }
        let mut firsts: Vec<usize> = Vec::new();
        for name in &mut names {
            self.weigh(sheet, name, &domains, &repeats, &mut firsts);
        }
        names
    }

    fn weigh(
        &self,
        sheet: &Sheet,
        name: &mut NameCandidate,
        domains: &[String],
        repeats: &HashMap<String, usize>,
        firsts: &mut Vec<usize>,
    ) {
        let page = sheet.page_of(name.line);
        let rect = sheet.rect_of(&name.tokens);
        let key = address::name_key(&name.text);
        let height = rect.y0 / page.height.max(1.0);
        let is_first_page = sheet.lines[name.line].page == 0;
        let mut common = 0.0;
        if address::has_legal_form(&name.text) {
            common += 0.3;
        }
        let block = AddressBlock::below(sheet, name.line, &rect);
        if block.postcode.is_some() {
            common += 0.15;
        }
        let mut sender = common;
        let mut recipient = common;
        if is_first_page && height < 0.25 {
            sender += 0.12;
        }
        if is_first_page && name.line < sheet.pages[0].lines.start + 2 {
            sender += 0.1;
        }
        if height > 0.85 {
            sender += 0.06;
            recipient -= 0.2;
        }
        if is_sender_line(sheet, name) {
            sender += 0.3;
            recipient -= 0.3;
        }
        if rect.height() >= 1.3 * page.text_height && is_first_page {
            sender += 0.12;
        }
        if repeats.get(&key).is_some_and(|count| *count > 1) {
            sender += 0.1;
        }
        if key.len() >= 4
            && domains
                .iter()
                .any(|domain| domain.contains(&key) || (domain.len() >= 4 && key.contains(domain.as_str())))
        {
            sender += 0.2;
        }
        if block.has_own_numbers {
            sender += 0.12;
        }
        if is_first_page && (0.1..0.4).contains(&height) && block.postcode.is_some() && !block.has_own_numbers {
            recipient += 0.15;
        }
        if let Some(section) = self.section_at(name.line, &rect) {
            let id = section.lines.start * 2 + usize::from(section.role == Role::Sender);
            // The first name below a label is the one that it announces.
            let weight = if firsts.contains(&id) { 0.05 } else { 0.5 };
            firsts.push(id);
            match section.role {
                Role::Sender => (sender, recipient) = (sender + weight, recipient - 0.4),
                Role::Recipient => (sender, recipient) = (sender - 0.5, recipient + weight),
            }
            if weight > 0.1 {
                name.label = Some(section.label.clone());
            }
        }
        name.sender = sender;
        name.recipient = recipient;
    }

    /// The lines of the address of a name, down to the town.
    pub(crate) fn address_of(sheet: &Sheet, name: &NameCandidate) -> Vec<Range<usize>> {
        let rect = sheet.rect_of(&name.tokens);
        if let Some(segment) =
            sheet.segment_of(name.line, name.tokens.start).filter(|segment| segment.tokens.end > name.tokens.end)
        {
            let rest = name.tokens.end..segment.tokens.end;
            let text = sheet.quote(&rest);
            if address::is_postcode_line(&text) {
                let start = rest
                    .clone()
                    .find(|token| sheet.tokens[*token].text.chars().any(char::is_alphanumeric))
                    .unwrap_or(rest.start);
                return vec![start..rest.end];
            }
        }
        let block = AddressBlock::below(sheet, name.line, &rect);
        match block.postcode {
            Some(last) => block.lines[..=last].to_vec(),
            None => Vec::new(),
        }
    }
}

/// What stands below a name in its column.
struct AddressBlock {
    lines: Vec<Range<usize>>,
    /// Which of the lines has the town.
    postcode: Option<usize>,
    /// Whether telephone, tax or account numbers follow, as they do below the name of who writes.
    has_own_numbers: bool,
}

impl AddressBlock {
    fn below(sheet: &Sheet, line: usize, rect: &Rect) -> Self {
        let mut block = Self { lines: Vec::new(), postcode: None, has_own_numbers: false };
        let end = sheet.page_of(line).lines.end.min(line + 16);
        let mut bottom = rect.y1;
        for below in line + 1..end {
            let printed = &sheet.lines[below];
            let segment = printed
                .segments
                .iter()
                .find(|segment| (sheet.tokens[segment.tokens.start].rect.x0 - rect.x0).abs() < 6.0);
            let Some(segment) = segment else { continue };
            let own = sheet.rect_of(&segment.tokens);
            if own.y0 - bottom > 2.5 * rect.height().max(6.0) {
                break;
            }
            bottom = own.y1;
            if block.postcode.is_none() && block.lines.len() < 5 {
                block.lines.push(segment.tokens.clone());
                if address::is_postcode_line(&segment.text) {
                    block.postcode = Some(block.lines.len() - 1);
                }
            }
            let text = segment.text.to_lowercase();
            block.has_own_numbers |= ["tel", "phone", "fon", "fax", "iban", "www.", "http", "siret", "hrb", "@"]
                .iter()
                .any(|word| text.contains(word));
        }
        block
    }
}

fn name_lines(sheet: &Sheet) -> Vec<usize> {
    let count = sheet.pages.len();
    let mut lines = Vec::new();
    for (index, page) in sheet.pages.iter().enumerate() {
        let is_front = index < PAGES_WITH_NAMES;
        let is_last = index + 1 == count;
        lines.extend(
            page.lines.clone().filter(|line| is_front || (is_last && sheet.lines[*line].rect.y0 > 0.8 * page.height)),
        );
    }
    lines
}

/// The name that a run of words begins with, if it can be one.
fn name_in(sheet: &Sheet, occurrences: &Occurrences, line: usize, tokens: Range<usize>) -> Option<NameCandidate> {
    let end = tokens.clone().find(|token| is_separator(&sheet.tokens[*token].text)).unwrap_or(tokens.end);
    let mut own = tokens.start..end;
    if own.is_empty() {
        return None;
    }
    // "Name GmbH, Street 1, 12345 Town" in one line: the comma before the street ends the name.
    let comma = own.clone().find(|token| {
        sheet.tokens[*token].text.ends_with(',') && {
            let rest = sheet.quote(&(*token + 1..tokens.end));
            address::is_postcode_line(&rest) || address::is_street_line(rest.split(',').next().unwrap_or_default())
        }
    });
    if let Some(comma) = comma {
        own.end = comma + 1;
    }
    let text = sheet.quote(&own);
    let text = text.trim().trim_end_matches([',', ';', '.']).trim();
    // A dot belongs to "Ltd." and "Inc.".
    let text = if sheet.quote(&own).trim_end().ends_with('.') && address::has_legal_form(&format!("{text}.")) {
        format!("{text}.")
    } else {
        text.to_owned()
    };
    let labels = own.clone().filter(|token| occurrences.is_label(*token)).count();
    (is_name(&text) && labels * 2 < own.len().max(1)).then_some(NameCandidate {
        line,
        tokens: own,
        text,
        sender: 0.0,
        recipient: 0.0,
        label: None,
    })
}

fn is_separator(text: &str) -> bool {
    matches!(text, "●" | "•" | "·" | "|" | "-" | "–" | "—" | "*" | "∙" | "⋅" | "/" | "■" | "▪" | "," | "»")
}

fn is_name(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let count = text.chars().count();
    let words: Vec<&str> = text.split_whitespace().collect();
    let starts_well = text
        .starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || (c.is_alphabetic() && !c.is_lowercase()))
        || words.iter().any(|word| word.starts_with(char::is_uppercase)) && words.len() <= 4;
    if !(3..=70).contains(&count) || words.len() > 8 || letters * 2 < count || !starts_well {
        return false;
    }
    let lower = text.to_lowercase();
    let is_title = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .all(|word| NOT_NAMES.contains(&word) || word.bytes().all(|b| b.is_ascii_digit()));
    let is_other = text.contains([':', '@', '%', '€', '$', '£']) || lower.contains("www.") || lower.contains("http");
    !is_title
        && !is_other
        && !address::is_postcode_line(text)
        && !address::is_street_line(text)
        && date::parse(text, super::value::DateOrder::Unknown).is_none()
}

/// "Name · Street 1 · 12345 Town" in one line, as it stands in the window of an envelope or in a letterhead.
fn is_sender_line(sheet: &Sheet, name: &NameCandidate) -> bool {
    let line = &sheet.lines[name.line];
    let rest = name.tokens.end..line.tokens.end;
    let next = sheet.tokens.get(name.tokens.end).filter(|_| name.tokens.end < line.tokens.end);
    let is_parted =
        next.is_some_and(|token| is_separator(&token.text)) || sheet.tokens[name.tokens.end - 1].text.ends_with(',');
    is_parted && rest.len() < 40 && address::is_postcode_line(&sheet.quote(&rest))
}

/// The names in e-mail and web addresses, without the ending.
fn domains(sheet: &Sheet) -> Vec<String> {
    let mut domains: Vec<String> = Vec::new();
    for token in &sheet.tokens {
        let text = token.text.to_lowercase();
        let host = match (codes::EMAIL.find(&text), text.find("www.")) {
            (Some(email), _) => email.as_str().rsplit('@').next().map(str::to_owned),
            (None, Some(at)) => Some(text[at + 4..].to_owned()),
            _ => None,
        };
        let stem = host.as_deref().and_then(|host| host.split('.').next()).map(|stem| stem.replace('-', ""));
        if let Some(stem) = stem.filter(|stem| stem.len() >= 4 && !domains.contains(stem) && domains.len() < 20) {
            domains.push(stem);
        }
    }
    domains
}

/// Labels of names that stand alone open a section: what follows below or beside belongs to that role.
fn sections(sheet: &Sheet, schema: &Schema, occurrences: &Occurrences) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let roles = schema.fields.iter().enumerate().filter(|(_, field)| field.kind == FieldType::Name);
    for (index, role) in roles.filter_map(|(index, field)| Some((index, field.role?))) {
        for occurrence in occurrences.of(index) {
            let line = &sheet.lines[occurrence.line];
            let Some(segment) = sheet.segment_of(occurrence.line, occurrence.tokens.start) else { continue };
            let starts_segment = segment.tokens.start == occurrence.tokens.start;
            let words = segment.tokens.len();
            let has_colon = sheet.tokens[occurrence.tokens.end - 1].text.ends_with(':');
            if !starts_segment || (!has_colon && words > occurrence.tokens.len() + 2) {
                continue;
            }
            let right = line.segments.iter().find(|other| other.tokens.start >= segment.tokens.end);
            let right = right.map(|other| sheet.tokens[other.tokens.start].rect.x0 - 2.0);
            let end = section_end(sheet, occurrence.line);
            // A label with its value on the same line is open to the right.
            let has_value_beside = has_colon && right.is_some() || words > occurrence.tokens.len();
            let right = right.filter(|_| !has_value_beside).unwrap_or(f32::MAX);
            sections.push(Section {
                role,
                label: occurrence.label.clone(),
                lines: occurrence.line..end,
                left: occurrence.rect.x0 - 8.0,
                right,
            });
        }
    }
    sections.sort_by(|a, b| a.lines.start.cmp(&b.lines.start).then(a.left.total_cmp(&b.left)));
    sections
}

/// A section ends with the page, after some lines, or before a wide gap.
fn section_end(sheet: &Sheet, line: usize) -> usize {
    let page_end = sheet.page_of(line).lines.end;
    let mut end = line + 1;
    while end < page_end.min(line + 1 + LONGEST_SECTION) {
        let (above, below) = (&sheet.lines[end - 1].rect, &sheet.lines[end].rect);
        if below.y0 - above.y1 > 3.0 * above.height().max(6.0) {
            break;
        }
        end += 1;
    }
    end
}
