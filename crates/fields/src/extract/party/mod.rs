//! Who wrote a document and whom it is for.
//!
//! Names have no form of their own, so many signs are weighed: a legal form, the place on the page, a label above, an
//! address below, a line in small print with separators above the recipient, the domain of the e-mail address, and
//! whether the same name stands in several places.

mod names;
pub(crate) mod prose;
mod sections;
pub(crate) mod signatures;

use super::{
    occurrence::Occurrences,
    schema::{Role, Schema},
    sheet::Sheet,
    value::address,
};
use bindery_reader::Rect;
use names::{AddressBlock, MOST_NAMES, domains, is_name, is_sender_line, name_in, name_lines};
use sections::{Section, sections};
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

/// The names of a document, and which parts of its pages belong to whom.
#[derive(Debug)]
pub(crate) struct Parties {
    sections: Vec<Section>,
    pub names: Vec<NameCandidate>,
}

impl Parties {
    pub(crate) fn find(sheet: &Sheet, schema: &Schema, occurrences: &Occurrences) -> Self {
        let mut parties = Self { sections: sections(sheet, schema, occurrences), names: Vec::new() };
        parties.names = parties.weigh_names(sheet, occurrences);
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

    fn weigh_names(&self, sheet: &Sheet, occurrences: &Occurrences) -> Vec<NameCandidate> {
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
        let block = AddressBlock::find_below(sheet, name.line, &rect);
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
            sender += 0.25;
        }
        if block.has_own_numbers {
            sender += 0.12;
        }
        if is_first_page && (0.1..0.4).contains(&height) && block.postcode.is_some() && !block.has_own_numbers {
            recipient += 0.15;
            if name.line >= sheet.pages[0].lines.start + 3 {
                sender -= 0.1;
            }
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

    /// A name that goes on in the line below, where its legal form stands.
    pub(crate) fn whole_name(sheet: &Sheet, name: &NameCandidate) -> Vec<Range<usize>> {
        let rect = sheet.rect_of(&name.tokens);
        let mut spans = vec![name.tokens.clone()];
        let next = sheet.lines.get(name.line + 1).filter(|_| name.line + 1 < sheet.page_of(name.line).lines.end);
        let below = next.and_then(|line| {
            line.segments.iter().find(|segment| (sheet.tokens[segment.tokens.start].rect.x0 - rect.x0).abs() < 4.0)
        });
        if let Some(segment) = below.filter(|segment| {
            !address::has_legal_form(&name.text) && address::has_legal_form(&segment.text) && is_name(&segment.text)
        }) {
            let gap = sheet.rect_of(&segment.tokens).y0 - rect.y1;
            if gap < 0.8 * rect.height().max(4.0) {
                spans.push(segment.tokens.clone());
            }
        }
        spans
    }

    /// The lines of the address of a name, down to the town.
    pub(crate) fn address_of(sheet: &Sheet, name: &NameCandidate) -> Vec<Range<usize>> {
        Self::address_below(sheet, name.line, &name.tokens)
    }

    /// The lines of the address of whoever these words name.
    pub(crate) fn address_below(sheet: &Sheet, line: usize, name: &Range<usize>) -> Vec<Range<usize>> {
        let rect = sheet.rect_of(name);
        if let Some(segment) = sheet.segment_of(line, name.start).filter(|segment| segment.tokens.end > name.end) {
            let rest = name.end..segment.tokens.end;
            let text = sheet.quote(&rest);
            if address::is_postcode_line(&text) {
                let start = rest
                    .clone()
                    .find(|token| sheet.tokens[*token].text.chars().any(char::is_alphanumeric))
                    .unwrap_or(rest.start);
                return std::iter::once(start..rest.end).collect();
            }
        }
        let block = AddressBlock::find_below(sheet, line, &rect);
        match block.postcode {
            Some(last) => block.lines[..=last].to_vec(),
            None => Vec::new(),
        }
    }
}
