//! Runs of a Word file's letters into blocks: marks among the letters end paragraphs, cells and rows, hide the
//! instructions of fields, and stand for notes.

use super::{
    lists::Lists,
    pieces::Letters,
    properties::{LetterProperties, ParagraphProperties, Runs},
    styles::Styles,
};
use crate::{
    legacy::{
        field,
        flow::{Flow, Paragraph},
    },
    markup::written,
    model::{Block, Role, Style},
    plain::symbols::shown_symbol,
};
use std::{collections::HashSet, ops::Range};

/// Everything that is needed to read any run of the text.
#[derive(Debug)]
pub(super) struct Document<'b> {
    pub(super) letters: Letters,
    pub(super) paragraphs: Runs<'b>,
    pub(super) looks: Runs<'b>,
    pub(super) styles: Styles,
    pub(super) fonts: Vec<String>,
    pub(super) footnotes: HashSet<usize>,
    pub(super) endnotes: HashSet<usize>,
}

#[derive(Debug)]
struct Field {
    instruction: String,
    shows: bool,
    link: Option<String>,
}

#[derive(Debug)]
struct Story<'d> {
    document: &'d Document<'d>,
    lists: &'d mut Lists,
    flow: Flow,
    role: Role,
    fields: Vec<Field>,
    looks: LetterProperties,
    looks_until: u32,
    last_place: u32,
    text: String,
    high_surrogate: Option<u16>,
    notes: usize,
    end_notes: usize,
    /// The last mark was the end of a cell; another at once ends the row, where nothing else tells.
    after_cell: bool,
}

impl Document<'_> {
    /// The blocks of one run of the text.
    pub(super) fn blocks(&self, range: Range<usize>, role: Role, lists: &mut Lists) -> Vec<Block> {
        let mut story = Story {
            document: self,
            lists,
            flow: Flow::new(role),
            role,
            fields: Vec::new(),
            looks: LetterProperties::default(),
            looks_until: 0,
            last_place: u32::MAX,
            text: String::new(),
            high_surrogate: None,
            notes: 0,
            end_notes: 0,
            after_cell: false,
        };
        let end = range.end.min(self.letters.units.len());
        for index in range.start.min(end)..end {
            story.letter(index);
        }
        story.flush();
        story.flow.finish()
    }
}

impl Story<'_> {
    fn letter(&mut self, index: usize) {
        let letters = &self.document.letters;
        let (Some(unit), Some(place)) = (letters.units.get(index).copied(), letters.places.get(index).copied()) else {
            return;
        };
        self.find_looks(place);
        let ends_cell = unit == 7;
        match unit {
            7 => self.end_cell(place),
            0x0d | 0x0c => self.end_paragraph(place),
            0x0b => self.write("\n"),
            0x13 => {
                self.flush();
                if self.fields.len() < 64 {
                    self.fields.push(Field { instruction: String::new(), shows: false, link: None });
                }
            }
            0x14 => self.field_result(),
            0x15 => self.end_field(),
            2 if self.looks.special || self.role != Role::Body || self.is_reference(index) => self.note(index),
            0x28 if self.looks.special && self.looks.symbol.is_some() => self.sign(),
            0x1e => self.write("-"),
            0xa0 => self.write(" "),
            9 => self.write("\t"),
            0..=0x1f => {}
            0xf020..=0xf0ff => self.sign_of("Symbol", unit.into()),
            unit => self.unit(unit),
        }
        self.after_cell = ends_cell;
    }

    fn is_reference(&self, index: usize) -> bool {
        self.document.footnotes.contains(&index) || self.document.endnotes.contains(&index)
    }

    fn find_looks(&mut self, place: u32) {
        if place < self.looks_until && place >= self.last_place {
            self.last_place = place;
            return;
        }
        let (looks, until) = self.document.looks.letters(place).unwrap_or_default();
        if looks != self.looks {
            self.flush();
            self.looks = looks;
        }
        (self.looks_until, self.last_place) = (until, place);
    }

    fn unit(&mut self, unit: u16) {
        match (self.high_surrogate.take(), unit) {
            (_, 0xd800..=0xdbff) => self.high_surrogate = Some(unit),
            (Some(high), 0xdc00..=0xdfff) => {
                self.text.extend(char::decode_utf16([high, unit]).flatten());
            }
            (_, unit) => self.text.extend(char::from_u32(unit.into())),
        }
    }

    fn write(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn sign(&mut self) {
        let Some((font, code)) = self.looks.symbol else { return };
        let name = self.document.fonts.get(usize::from(font)).map_or("Symbol", String::as_str).to_owned();
        self.sign_of(&name, code.into());
    }

    fn sign_of(&mut self, font: &str, code: u32) {
        self.text.extend(shown_symbol(font, code));
    }

    /// The number of a note, where it is referred to and before its own text.
    fn note(&mut self, index: usize) {
        self.flush();
        let is_end = match self.role {
            Role::Body => self.document.endnotes.contains(&index),
            _ => false,
        };
        let number = if is_end {
            self.end_notes += 1;
            written(self.end_notes as i64, 'i')
        } else {
            self.notes += 1;
            self.notes.to_string()
        };
        if self.role == Role::Comment {
            return;
        }
        self.flow.text(&number, Style { superscript: true, ..Style::default() }, None);
    }

    fn field_result(&mut self) {
        self.flush();
        if let Some(field) = self.fields.last_mut() {
            field.shows = true;
            let instruction = field.instruction.trim();
            if let Some((name, rest)) = instruction.split_once(char::is_whitespace)
                && name.eq_ignore_ascii_case("HYPERLINK")
            {
                field.link = field::target(rest);
            }
        }
    }

    fn end_field(&mut self) {
        self.flush();
        let Some(field) = self.fields.pop() else { return };
        // Letters with a reading above them are written as an equation, which has no result.
        if !field.shows
            && field.instruction.trim_start().starts_with("EQ")
            && let Some((_, text)) = field.instruction.rsplit_once(',')
        {
            self.text.push_str(text.trim_end().trim_end_matches(')'));
            self.flush();
        }
    }

    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        if text.is_empty() {
            return;
        }
        // Only what stands outside of every instruction is shown.
        if let Some(hidden) = self.fields.iter_mut().find(|field| !field.shows) {
            hidden.instruction.push_str(&text);
            return;
        }
        if self.looks.hidden || self.looks.deleted {
            return;
        }
        let link = self.fields.iter().rev().find_map(|field| field.link.as_deref());
        self.flow.text(&text, self.looks.style, link);
    }

    fn properties(&self, place: u32) -> ParagraphProperties {
        let Some((style, changes)) = self.document.paragraphs.paragraph(place) else {
            return ParagraphProperties::default();
        };
        let mut properties = self.document.styles.paragraph(style);
        properties.apply(changes);
        properties
    }

    fn paragraph(&mut self, properties: &ParagraphProperties) -> Paragraph {
        let heading = match properties.outline {
            Some(level) if level < 9 => Some((level + 1).min(6)),
            _ => self.document.styles.heading(properties.style),
        };
        // An empty paragraph has no number.
        let list = match properties.list {
            Some(list) if list > 0 && list < 0x7ff && !self.flow.line_is_blank() => {
                self.lists.next(list, properties.list_level).map(|marker| (properties.list_level, marker))
            }
            _ => None,
        };
        Paragraph { heading, list, in_table: properties.in_table || properties.depth > 0 }
    }

    fn end_paragraph(&mut self, place: u32) {
        self.flush();
        let properties = self.properties(place);
        let paragraph = self.paragraph(&properties);
        self.flow.end_paragraph(&paragraph);
    }

    fn end_cell(&mut self, place: u32) {
        self.flush();
        let properties = self.properties(place);
        if properties.ends_row || (self.document.paragraphs.is_empty() && self.after_cell) {
            self.flow.end_row(properties.row.unwrap_or_default());
            return;
        }
        let paragraph = self.paragraph(&properties);
        self.flow.end_cell(&paragraph);
    }
}
