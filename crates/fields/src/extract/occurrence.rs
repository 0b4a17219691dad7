//! Where the labels of a schema stand on the pages.

use super::{
    label::Label,
    schema::{FieldType, Schema},
    sheet::Sheet,
};
use bindery_reader::Rect;
use std::{collections::HashMap, ops::Range};

/// A label on a page.
#[derive(Debug, Clone)]
pub(crate) struct Occurrence {
    /// As the schema writes it.
    pub label: String,
    /// How many words it has.
    pub words: usize,
    /// Its place among the labels of its field: the first is meant before the second.
    pub place: usize,
    pub line: usize,
    /// Its words; of a label with a gap, only those behind it.
    pub tokens: Range<usize>,
    /// Its first word.
    pub start: usize,
    /// How many parts of its words do not belong to it: one in `Meter-No.` for the label "no".
    pub extra: usize,
    pub rect: Rect,
}

/// All labels of a document, by line and from left to right.
#[derive(Debug, Default)]
pub(crate) struct Occurrences {
    all: Vec<Occurrence>,
    by_field: Vec<Vec<usize>>,
    /// Words that belong to some label.
    is_label: Vec<bool>,
    /// Words that name an amount of the document.
    names_amount: Vec<bool>,
    /// Words that name a date of the document.
    names_date: Vec<bool>,
    /// Lines that head a list of rows.
    header_lines: Vec<bool>,
}

/// More on one page are noise, and cost time.
const MOST_ON_A_PAGE: usize = 60;

struct LabelEntry<'s> {
    /// None for words that only look like a label.
    field: Option<usize>,
    label: &'s Label,
    place: usize,
}

struct Match<'s> {
    entry: &'s LabelEntry<'s>,
    parts: Range<usize>,
}

impl Occurrences {
    pub(crate) fn find(sheet: &Sheet, schema: &Schema) -> Self {
        let mut by_word: HashMap<&str, Vec<LabelEntry<'_>>> = HashMap::new();
        for (index, field) in schema.fields.iter().enumerate().filter(|(_, field)| field.kind != FieldType::Rows) {
            for (place, label) in field.labels.iter().enumerate() {
                by_word.entry(label.first()).or_default().push(LabelEntry { field: Some(index), label, place });
            }
            for (place, label) in field.never.iter().enumerate() {
                by_word.entry(label.first()).or_default().push(LabelEntry { field: None, label, place });
            }
        }
        let mut found = Self {
            all: Vec::new(),
            by_field: vec![Vec::new(); schema.fields.len()],
            is_label: vec![false; sheet.tokens.len()],
            names_amount: vec![false; sheet.tokens.len()],
            names_date: vec![false; sheet.tokens.len()],
            header_lines: header_lines(sheet, schema),
        };
        for line in 0..sheet.lines.len() {
            found.add_line(sheet, schema, line, &by_word);
        }
        found
    }

    fn add_line(&mut self, sheet: &Sheet, schema: &Schema, line: usize, by_word: &HashMap<&str, Vec<LabelEntry<'_>>>) {
        let printed = &sheet.lines[line];
        let mut matches: Vec<Match<'_>> = Vec::new();
        for start in 0..printed.parts.len() {
            for entry in by_word.get(printed.parts[start].text.as_str()).into_iter().flatten() {
                let part = |index: usize| printed.parts.get(start + index).map(|part| part.text.as_str());
                let length =
                    entry.label.matches(part).filter(|length| stands_whole(sheet, line, start..start + length));
                if let Some(length) = length {
                    matches.push(Match { entry, parts: start..start + length });
                }
            }
        }
        // No line of print has more; what follows is not worth comparing all with all.
        matches.truncate(200);
        // A label within a longer one is a part of its meaning: "date" in "due date".
        let longest: Vec<bool> = matches
            .iter()
            .map(|own| {
                !matches.iter().any(|other| {
                    !other.entry.label.has_gap()
                        && other.parts.start <= own.parts.start
                        && other.parts.end >= own.parts.end
                        && other.parts.len() > own.parts.len()
                        && other.entry.label.len() >= own.entry.label.len()
                })
            })
            .collect();
        for (own, _) in matches.iter().zip(longest).filter(|(_, is_longest)| *is_longest) {
            let start = printed.parts[own.parts.start].token;
            let last = printed.parts[own.parts.end - 1].token;
            let tokens = if own.entry.label.has_gap() { last..last + 1 } else { start..last + 1 };
            self.is_label[tokens.clone()].fill(true);
            let Some(field) = own.entry.field else { continue };
            match schema.fields[field].kind {
                FieldType::Money => self.names_amount[tokens.clone()].fill(true),
                FieldType::Date | FieldType::DateRange => self.names_date[tokens.clone()].fill(true),
                _ => {}
            }
            let on_page = self.by_field[field]
                .iter()
                .rev()
                .take_while(|index| sheet.lines[self.all[**index].line].page == printed.page);
            if on_page.count() >= MOST_ON_A_PAGE {
                continue;
            }
            self.by_field[field].push(self.all.len());
            let rect = sheet.rect_of(&tokens);
            let (label, words) = (own.entry.label.text.clone(), own.entry.label.len());
            let parts = printed.parts.iter().filter(|part| (start..=last).contains(&part.token)).count();
            let extra = parts - own.parts.len()
                + if own.entry.label.has_gap() { words_between(sheet, start + 1..last) } else { 0 };
            let place = own.entry.place;
            self.all.push(Occurrence { label, words, place, line, tokens, start, extra, rect });
        }
    }

    pub(crate) fn for_field(&self, field: usize) -> impl Iterator<Item = &Occurrence> {
        self.by_field[field].iter().map(|index| &self.all[*index])
    }

    /// How many labels of a field there are.
    pub(crate) fn count(&self, field: usize) -> usize {
        self.by_field[field].len()
    }

    /// Whether a word belongs to the label of any field.
    pub(crate) fn is_label(&self, token: usize) -> bool {
        self.is_label[token]
    }

    /// Whether a word belongs to the label of a date or an amount, as none stands among the lines of an address.
    pub(crate) fn names_document(&self, token: usize) -> bool {
        self.names_date[token] || self.names_amount[token]
    }

    pub(crate) fn names_amount(&self, token: usize) -> bool {
        self.names_amount[token]
    }

    /// Whether a line heads a list of rows: what stands below it belongs to rows.
    pub(crate) fn is_header(&self, line: usize) -> bool {
        self.header_lines[line]
    }
}

/// Words in the gap of a label that change its meaning: "invoice for your order of" is not "invoice … of".
fn words_between(sheet: &Sheet, tokens: Range<usize>) -> usize {
    let is_word = |text: &str| {
        text.chars().filter(|c| c.is_alphabetic()).count() >= 4 && !text.chars().any(|c| c.is_ascii_digit())
    };
    let counts = |token: &usize| {
        is_word(&sheet.tokens[*token].text) && super::label::plain_parts(&sheet.tokens[*token].text) != ["nr"]
    };
    tokens.filter(counts).count()
}

/// Whether a label ends where a word ends, and stays within one run of words.
fn stands_whole(sheet: &Sheet, line: usize, parts: Range<usize>) -> bool {
    let all = &sheet.lines[line].parts;
    let (first, last) = (&all[parts.start], &all[parts.end - 1]);
    // A wide gap parts "Customer:" and "Number" in two columns.
    let is_one_run = sheet.segment_of(line, first.token).is_some_and(|segment| segment.tokens.contains(&last.token));
    // `Invoice#123` is a label and its value in one word; the A of `A-1086` is no word of a label.
    let ends_word = all.get(parts.end).is_none_or(|next| {
        next.token != last.token || (last.text == "nr" && next.text.starts_with(|c: char| c.is_ascii_digit()))
    });
    (is_one_run || is_heading_with_name(sheet, line, first.token..last.token + 1)) && ends_word
}

/// Whether a label stands in two runs of words, the heading of a part of a form and a name with a colon within it:
/// `Advertiser    Name:    Birch Paper`.
fn is_heading_with_name(sheet: &Sheet, line: usize, tokens: Range<usize>) -> bool {
    let segments = &sheet.lines[line].segments;
    let mut pairs = segments.windows(2).filter_map(|pair| <&[_; 2]>::try_from(pair).ok());
    pairs.any(|[heading, name]| {
        tokens == (heading.tokens.start..name.tokens.end)
            && !sheet.tokens[heading.tokens.end - 1].text.ends_with(':')
            && sheet.tokens[name.tokens.end - 1].text.ends_with(':')
    })
}

/// Lines with the headings of at least three columns, one of them of words.
fn header_lines(sheet: &Sheet, schema: &Schema) -> Vec<bool> {
    let columns: Vec<_> = schema.fields.iter().flat_map(|field| &field.columns).collect();
    sheet
        .lines
        .iter()
        .map(|line| {
            // Nobody heads a table with more words than this; hostile lines are not worth the time.
            if columns.is_empty() || line.parts.len() > 80 || line.segments.len() < 3 {
                return false;
            }
            let stands = |label: &Label| {
                (0..line.parts.len()).any(|start| {
                    label.matches(|index| line.parts.get(start + index).map(|part| part.text.as_str())).is_some()
                })
            };
            let matched: Vec<_> = columns.iter().filter(|column| column.labels.iter().any(stands)).collect();
            matched.len() >= 3 && matched.iter().any(|column| column.kind == FieldType::String)
        })
        .collect()
}
