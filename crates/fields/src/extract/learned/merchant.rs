//! Features of the lines that may name who issued a slip.
//!
//! A name is a line as printed, without its registration number, up to a bracket, behind "owned by", or joined with the
//! next one or two lines.

use super::{
    lexicon::{self, Categories, Category, LexiconHit},
    sink::Sink,
};
use crate::{
    extract::{sheet::Sheet, value::address},
    pattern::constant_regex,
};
use regex::Regex;
use std::{collections::HashSet, ops::Range, sync::LazyLock};

/// Names head a slip; below these lines only those with a legal form are asked.
const HEAD: usize = 14;
const MOST_LINES: usize = 90;
const MOST_CANDIDATES: usize = 90;
const LONGEST: usize = 90;

/// A company's number at the end of its name: `(519537-X)`, `Co. No. 123456`.
static REGISTRATION: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?i)[\s,]*[\(\[]?\s*(?:(?:co|company|reg|roc|brn|gst|ssm)\.?\s*)*(?:(?:no|nr|id|reg)\.?\s*)?[:.]?\s*[A-Z]{0,3}\d{4,}[A-Z0-9]*\s*-?\s*[A-Z]?\s*[\)\]]?\.?\s*$",
    )
});
/// The same within a line, where a branch or a telephone follows.
static NUMBER_INSIDE: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(r"(?i)\s[\(\[]?(?:co\.?\s*(?:reg\.?\s*)?no\.?\s*:?\s*)?[A-Z]{0,2}\d{5,}-?[A-Z]?\b")
});
static OWNED: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?i)\b(?:owned by|own by|operated by|managed by|inh\.?|inhaber|t/a|exploité par|propriétaire|titular|propietario|titolare|gestito da|eigenaar|majitel|właściciel|innehavare|indehaver|proprietor)(?:[\s:]+|$)",
    )
});

/// A text that may be the name.
#[expect(clippy::struct_excessive_bools, reason = "each is a feature of its own")]
#[derive(Debug, Clone)]
pub(crate) struct NameText {
    pub text: String,
    pub spans: Vec<Range<usize>>,
    /// Index into the lines that were looked at, and how many it takes.
    first: usize,
    count: usize,
    is_whole: bool,
    is_cut: bool,
    is_unregistered: bool,
    is_owner: bool,
    is_segment: bool,
}

#[expect(clippy::struct_excessive_bools, reason = "each is a feature of its own")]
struct HeadLine {
    line: usize,
    text: String,
    categories: Categories,
    starts_legal: bool,
    ends_legal: bool,
    has_legal: bool,
    starts_trade: bool,
    is_address: bool,
    height: f32,
    center: f32,
    left: f32,
    width: f32,
    y0: f32,
    y1: f32,
    digits: f32,
}

/// The head of a document with the names it may state.
pub(crate) struct Names<'s> {
    sheet: &'s Sheet,
    lines: Vec<HeadLine>,
    pub candidates: Vec<NameText>,
    first_address: Option<usize>,
    first_number: Option<usize>,
    first_legal: Option<usize>,
    first_title: Option<usize>,
    median_height: f32,
    middle: f32,
    widest: f32,
    words: Vec<(String, usize)>,
}

/// Letters and digits in small letters: names that differ in nothing else are the same.
pub(crate) fn key(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

impl<'s> Names<'s> {
    pub(crate) fn new(sheet: &'s Sheet) -> Self {
        let mut lines = Vec::new();
        let mut words = Vec::new();
        let end = sheet.pages.first().map_or(0, |page| page.lines.end.min(page.lines.start + MOST_LINES));
        for line in 0..end {
            let text = sheet.quote(&sheet.lines[line].tokens);
            for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= 4) {
                words.push((word.to_lowercase(), lines.len()));
            }
            if text.chars().filter(|c| c.is_alphabetic()).count() >= 2 {
                lines.push(head_line(sheet, line, text));
            }
        }
        let mut heights: Vec<f32> = lines.iter().map(|line| line.height).collect();
        heights.sort_by(f32::total_cmp);
        let left = lines.iter().map(|line| line.left).fold(f32::MAX, f32::min);
        let right = lines.iter().map(|line| line.left + line.width).fold(0.0, f32::max);
        let is_number = |line: &HeadLine| {
            line.categories.has_any(&[Category::Registration, Category::Contact]) && line.digits > 0.2
        };
        let mut names = Self {
            sheet,
            first_address: lines.iter().position(|line| line.is_address),
            first_number: lines.iter().position(is_number),
            first_legal: lines.iter().position(|line| line.has_legal),
            first_title: lines.iter().position(|line| line.categories.has(Category::Title)),
            median_height: heights.get(heights.len() / 2).copied().unwrap_or(1.0).max(1.0),
            middle: f32::midpoint(left.min(right), right),
            widest: (right - left).max(1.0),
            lines,
            candidates: Vec::new(),
            words,
        };
        names.candidates = names.all_candidates();
        names
    }

    fn all_candidates(&self) -> Vec<NameText> {
        let mut found: Vec<NameText> = Vec::new();
        let mut seen: HashSet<String> = HashSet::new();
        let mut add = |candidate: NameText| {
            let key = key(&candidate.text);
            let letters = candidate.text.chars().filter(|c| c.is_alphabetic()).count();
            let fits = letters >= 2 && candidate.text.chars().count() <= LONGEST && found.len() < MOST_CANDIDATES;
            if fits && seen.insert(key) {
                found.push(candidate);
            }
        };
        for (index, line) in self.lines.iter().enumerate() {
            if index >= HEAD && !line.has_legal {
                continue;
            }
            for count in 1..=if index < HEAD { 3 } else { 2 } {
                if index + count > self.lines.len() {
                    break;
                }
                let own = &self.lines[index..index + count];
                // Lines of a name follow each other, and are of much the same size.
                let is_run = own.windows(2).all(|pair| pair[1].line <= pair[0].line + 2);
                if !is_run {
                    break;
                }
                let spans: Vec<Range<usize>> =
                    own.iter().map(|line| self.sheet.lines[line.line].tokens.clone()).collect();
                let text = own.iter().map(|line| line.text.trim()).collect::<Vec<_>>().join(" ");
                let base = NameText {
                    text: tidy(&text),
                    spans,
                    first: index,
                    count,
                    is_whole: true,
                    is_cut: false,
                    is_unregistered: false,
                    is_owner: false,
                    is_segment: false,
                };
                self.add_variants(&base, &text, &mut add);
                if count == 1 {
                    self.add_segments(&base, line.line, &mut add);
                }
            }
        }
        found
    }

    fn add_variants(&self, base: &NameText, text: &str, add: &mut impl FnMut(NameText)) {
        add(base.clone());
        let part = |part: &str, change: fn(&mut NameText)| {
            let mut candidate = NameText { text: tidy(part), is_whole: false, ..base.clone() };
            candidate.spans = self.spans_of(&candidate);
            change(&mut candidate);
            candidate
        };
        if let Some(number) = REGISTRATION.find(text).filter(|number| number.start() > 0) {
            add(part(&text[..number.start()], |name| name.is_unregistered = true));
        }
        if let Some(number) =
            NUMBER_INSIDE.find(text).filter(|number| number.start() > 2 && !REGISTRATION.is_match(text))
        {
            add(part(&text[..number.start()], |name| name.is_unregistered = true));
        }
        if let Some(bracket) = text.find(['(', '[']).filter(|at| *at > 2) {
            add(part(&text[..bracket], |name| name.is_cut = true));
        }
        if let Some(owned) = OWNED.find(text).filter(|owned| owned.start() > 0) {
            let owner = &text[owned.end()..];
            let owner = REGISTRATION.find(owner).map_or(owner, |number| &owner[..number.start()]);
            add(part(owner, |name| name.is_owner = true));
        }
    }

    fn add_segments(&self, base: &NameText, line: usize, add: &mut impl FnMut(NameText)) {
        let segments = &self.sheet.lines[line].segments;
        if segments.len() < 2 {
            return;
        }
        for segment in segments.iter().take(3) {
            let text = self.sheet.quote(&segment.tokens);
            let spans = std::iter::once(segment.tokens.clone()).collect();
            let own = NameText { text: tidy(&text), spans, is_whole: false, is_segment: true, ..base.clone() };
            add(own.clone());
            if let Some(number) = REGISTRATION.find(&text).filter(|number| number.start() > 0) {
                let text = tidy(&text[..number.start()]);
                let mut cut = NameText { text, is_unregistered: true, ..own };
                cut.spans = self.spans_of(&cut);
                add(cut);
            }
        }
    }

    /// The words of the spans that hold the letters of the text, and no others.
    fn spans_of(&self, candidate: &NameText) -> Vec<Range<usize>> {
        let wanted = key(&candidate.text);
        let all: Vec<usize> = candidate.spans.iter().flat_map(Clone::clone).collect();
        for start in 0..all.len() {
            let mut joined = String::new();
            for end in start..all.len() {
                joined.push_str(&key(&self.sheet.tokens[all[end]].text));
                if !wanted.starts_with(&joined) && !joined.starts_with(&wanted) {
                    break;
                }
                if joined.starts_with(&wanted) {
                    let chosen: HashSet<usize> = all[start..=end].iter().copied().collect();
                    let cut = |span: &Range<usize>| {
                        let mut own = span.clone().filter(|token| chosen.contains(token));
                        let first = own.next()?;
                        Some(first..own.next_back().unwrap_or(first) + 1)
                    };
                    return candidate.spans.iter().filter_map(cut).collect();
                }
            }
        }
        candidate.spans.clone()
    }

    pub(crate) fn features(&self, name: &NameText, sink: &mut Sink) {
        let own = self.lines.get(name.first..name.first + name.count).unwrap_or_default();
        let previous = name.first.checked_sub(1).and_then(|index| self.lines.get(index));
        let next = self.lines.get(name.first + name.count);
        sink.add("lines", name.count as f32);
        sink.flag("whole", name.is_whole);
        sink.flag("cut", name.is_cut);
        sink.flag("unregistered", name.is_unregistered);
        sink.flag("owner", name.is_owner);
        sink.flag("segment", name.is_segment);
        sink.add("line", (name.first as f32).min(40.0));
        let ends = WordEnds::new(&name.text);
        sink.flag("legal", ends.has_legal);
        sink.flag("legal_last", ends.ends_legal);
        sink.flag("legal_first", ends.starts_legal);
        sink.flag("trade", ends.categories.has(Category::Trade));
        sink.flag("trade_last", ends.ends_trade);
        sink.flag("trade_first", ends.starts_trade);
        for category in [
            Category::Address,
            Category::Contact,
            Category::Registration,
            Category::Title,
            Category::Greeting,
            Category::Clerk,
            Category::Date,
            Category::Total,
        ] {
            sink.part("text", category.name(), f32::from(u8::from(ends.categories.has(category))));
        }
        sink.flag("is_title", ends.is_all_title);
        for (side, line) in [("previous", previous), ("next", next)] {
            for category in
                [Category::Trade, Category::Address, Category::Registration, Category::Title, Category::Contact]
            {
                let has = line.is_some_and(|line| line.categories.has(category));
                sink.part(side, category.name(), f32::from(u8::from(has)));
            }
            sink.part(side, "legal", f32::from(u8::from(line.is_some_and(|line| line.has_legal))));
            sink.part(side, "legal_first", f32::from(u8::from(line.is_some_and(|line| line.starts_legal))));
            sink.part(side, "trade_first", f32::from(u8::from(line.is_some_and(|line| line.starts_trade))));
            sink.part(side, "legal_last", f32::from(u8::from(line.is_some_and(|line| line.ends_legal))));
            sink.part(side, "bracket", f32::from(u8::from(line.is_some_and(|line| line.text.starts_with(['(', '['])))));
            sink.part(side, "is_address", f32::from(u8::from(line.is_some_and(|line| line.is_address))));
            sink.part(side, "digits", line.map_or(-1.0, |line| line.digits));
            let height = own.first().map_or(1.0, |own| own.height).max(0.1);
            sink.part(side, "height", line.map_or(0.0, |line| (line.height / height).min(5.0)));
        }
        self.print_features(name, own, next, sink);
        let place = |first: Option<usize>| first.map_or(20.0, |at| (at as f32 - name.first as f32).clamp(-12.0, 12.0));
        sink.add("to_address", place(self.first_address));
        sink.add("to_number", place(self.first_number));
        sink.add("to_legal", place(self.first_legal));
        sink.add("to_title", place(self.first_title));
        let legal_lines = self.lines.iter().take(HEAD).filter(|line| line.has_legal).count();
        sink.add("legal_lines", legal_lines as f32);
        sink.add("repeats", self.repeats(name));
    }

    fn print_features(&self, name: &NameText, own: &[HeadLine], next: Option<&HeadLine>, sink: &mut Sink) {
        let count = name.text.chars().count().max(1) as f32;
        let digits = name.text.chars().filter(char::is_ascii_digit).count() as f32;
        let upper = name.text.chars().filter(|c| c.is_uppercase()).count() as f32;
        let letters = name.text.chars().filter(|c| c.is_alphabetic()).count() as f32;
        sink.add("length", count.min(90.0));
        sink.add("words", name.text.split_whitespace().count() as f32);
        sink.add("digits", digits / count);
        sink.add("upper", upper / letters.max(1.0));
        sink.add("letters", letters / count);
        sink.flag("starts_digit", name.text.starts_with(|c: char| c.is_ascii_digit()));
        sink.flag("comma", name.text.contains(','));
        sink.flag("colon", name.text.contains(':'));
        sink.flag("bracket", name.text.contains('('));
        let raw = own.last().map_or("", |line| line.text.trim_end());
        sink.flag("ends_comma", raw.ends_with([',', '-']));
        sink.flag("is_address", address::is_street_line(&name.text) || address::is_postcode_line(&name.text));
        let height = own.iter().map(|line| line.height).fold(0.0, f32::max);
        sink.add("height", (height / self.median_height).min(6.0));
        let taller = self.lines.iter().take(HEAD).filter(|line| line.height > 1.1 * height).count();
        sink.add("taller", taller as f32);
        let off = own.iter().map(|line| (line.center - self.middle).abs() / self.widest).fold(0.0, f32::max);
        sink.add("off_center", off);
        sink.add("width", own.iter().map(|line| line.width / self.widest).fold(0.0, f32::max));
        let ratio = own.windows(2).map(|pair| (pair[0].height / pair[1].height.max(0.1)).clamp(0.2, 5.0));
        sink.add(
            "height_ratio",
            ratio.fold(1.0, |most, own| if (own - 1.0).abs() > (most - 1.0_f32).abs() { own } else { most }),
        );
        let gap = |above: &HeadLine, below: &HeadLine| ((below.y0 - above.y1) / above.height.max(0.1)).clamp(-1.0, 6.0);
        let inner = own.windows(2).map(|pair| gap(&pair[0], &pair[1])).fold(-1.0, f32::max);
        let behind = own.last().zip(next).map_or(6.0, |(last, next)| gap(last, next));
        sink.add("gap_inside", inner);
        sink.add("gap_behind", behind);
        sink.add("gap_lead", behind - inner);
        sink.flag("indented", own.windows(2).any(|pair| (pair[0].center - pair[1].center).abs() > 0.12 * self.widest));
    }

    /// Which share of the longer words stands elsewhere, too.
    fn repeats(&self, name: &NameText) -> f32 {
        let own: Vec<String> = name
            .text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.chars().count() >= 4)
            .map(str::to_lowercase)
            .collect();
        let lines = name.first..name.first + name.count;
        let again =
            own.iter().filter(|word| self.words.iter().any(|(other, line)| other == *word && !lines.contains(line)));
        again.count() as f32 / own.len().max(1) as f32
    }

    pub(crate) fn feature_names() -> Vec<String> {
        let mut sink = Sink::with_names();
        let sheet = Sheet::new(&[]);
        let names = Names::new(&sheet);
        let empty = NameText {
            text: String::new(),
            spans: Vec::new(),
            first: 0,
            count: 0,
            is_whole: true,
            is_cut: false,
            is_unregistered: false,
            is_owner: false,
            is_segment: false,
        };
        names.features(&empty, &mut sink);
        sink.into_names()
    }
}

/// What stands behind words such as "owned by" at the beginning of a line; empty where they stand alone.
pub(crate) fn behind_owner_label(text: &str) -> Option<&str> {
    let label = OWNED.find(text.trim()).filter(|label| label.start() == 0)?;
    Some(text.trim()[label.end()..].trim())
}

/// Whether a text ends as the registered name of a company does, or has its legal form inside.
pub(crate) fn has_legal_form(text: &str) -> bool {
    WordEnds::new(text).has_legal
}

/// Whether a text is a trade and a legal form, without a word that tells one shop from the next.
pub(crate) fn is_bare_trade(text: &str) -> bool {
    let parts: Vec<String> = text.split_whitespace().flat_map(crate::extract::label::plain_parts).collect();
    let hits = lexicon::hits(parts.iter().map(String::as_str));
    let says_little = |hit: &&LexiconHit| hit.categories.has_any(&[Category::Trade, Category::Legal]);
    let covered: usize = hits.iter().filter(says_little).map(|hit| hit.end - hit.start).sum();
    has_legal_form(text) && covered == parts.len()
}

/// What the words of a text are, and which stand first and last.
#[expect(clippy::struct_excessive_bools, reason = "each is a feature of its own")]
struct WordEnds {
    categories: Categories,
    has_legal: bool,
    starts_legal: bool,
    ends_legal: bool,
    starts_trade: bool,
    ends_trade: bool,
    is_all_title: bool,
}

impl WordEnds {
    fn new(text: &str) -> Self {
        let parts: Vec<String> = text.split_whitespace().flat_map(crate::extract::label::plain_parts).collect();
        let hits = lexicon::hits(parts.iter().map(String::as_str));
        let categories = hits.iter().fold(Categories::default(), |all, hit| all.union(hit.categories));
        // A legal form is never the whole name, and short ones count only at the end.
        let is_legal = |hit: &LexiconHit| {
            hit.categories.has(Category::Legal)
                && (hit.end - hit.start > 1 || parts[hit.start].len() >= 3 || hit.end == parts.len())
        };
        let starts = |category: Category| hits.iter().any(|hit| hit.start == 0 && hit.categories.has(category));
        let ends = |category: Category| hits.iter().any(|hit| hit.end == parts.len() && hit.categories.has(category));
        let titled: usize =
            hits.iter().filter(|hit| hit.categories.has(Category::Title)).map(|hit| hit.end - hit.start).sum();
        Self {
            categories,
            has_legal: hits.iter().any(|hit| hit.start > 0 && is_legal(hit)),
            starts_legal: hits.iter().any(|hit| hit.start == 0 && is_legal(hit)),
            ends_legal: hits.iter().any(|hit| hit.start > 0 && hit.end == parts.len() && is_legal(hit)),
            starts_trade: starts(Category::Trade),
            ends_trade: ends(Category::Trade),
            is_all_title: titled > 0 && titled == parts.len(),
        }
    }
}

fn head_line(sheet: &Sheet, line: usize, text: String) -> HeadLine {
    let ends = WordEnds::new(&text);
    let rect = sheet.lines[line].rect;
    let mut heights: Vec<f32> =
        sheet.tokens[sheet.lines[line].tokens.clone()].iter().map(|token| token.rect.height()).collect();
    heights.sort_by(f32::total_cmp);
    let digits = text.chars().filter(char::is_ascii_digit).count() as f32 / text.chars().count().max(1) as f32;
    let is_address = address::is_street_line(&text)
        || address::is_postcode_line(&text)
        || (ends.categories.has(Category::Address) && (text.contains(',') || digits > 0.0));
    HeadLine {
        line,
        categories: ends.categories,
        starts_legal: ends.starts_legal,
        ends_legal: ends.ends_legal,
        has_legal: ends.has_legal || ends.starts_legal,
        starts_trade: ends.starts_trade,
        is_address,
        height: heights.get(heights.len() / 2).copied().unwrap_or(1.0),
        center: rect.center().0,
        left: rect.x0,
        width: rect.width(),
        y0: rect.y0,
        y1: rect.y1,
        digits,
        text,
    }
}

/// Without marks at its ends that are no part of a name, and with single spaces.
fn tidy(text: &str) -> String {
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain = plain.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '(' && c != '"');
    plain.trim_end_matches([',', ';', ':', '-', '*', '(', '[', '/', ' ', '|']).to_owned()
}
