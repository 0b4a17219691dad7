//! Everything on the pages that could be a value of a type, whatever it stands beside.

use super::{
    schema::{FieldType, SpanEnd},
    sheet::{Segment, Sheet},
    value::{
        Parsed, codes, currency, date,
        date_range::{self, SPAN_WORDS},
        decimal, vat,
    },
};
use bindery_reader::Rect;
use regex::Regex;
use std::ops::Range;

/// Words that could be a value.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub line: usize,
    pub tokens: Range<usize>,
    pub rect: Rect,
    /// As printed, without what only surrounds it.
    pub text: String,
    pub parsed: Parsed,
    pub currency: Option<&'static str>,
    /// How well the print fits the type, from 0 to 1.
    pub fit: f32,
}

/// The candidates of a type, by line and from left to right.
pub(crate) fn find(sheet: &Sheet, kind: FieldType) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (line, printed) in sheet.lines.iter().enumerate() {
        for segment in &printed.segments {
            let finder = CandidateFinder { sheet, line, segment };
            match kind {
                FieldType::Money | FieldType::Decimal | FieldType::Integer => finder.numbers(kind, &mut found),
                FieldType::Date => finder.dates(&mut found),
                FieldType::DateRange => finder.date_ranges(&mut found),
                FieldType::Currency => finder.currencies(&mut found),
                FieldType::Iban => finder.matches(&codes::IBAN, codes::iban, &mut found),
                FieldType::Bic => finder.matches(&codes::BIC, codes::bic, &mut found),
                FieldType::VatId => finder.matches(&vat::VAT_ID, vat::parse, &mut found),
                FieldType::Email => finder.matches(&codes::EMAIL, codes::email, &mut found),
                FieldType::Phone => finder.matches(&codes::PHONE, codes::phone, &mut found),
                FieldType::String
                | FieldType::Name
                | FieldType::Address
                | FieldType::Choice
                | FieldType::Mrz
                | FieldType::Rows => {}
            }
        }
    }
    if kind == FieldType::DateRange {
        found.extend(wide_ranges(sheet));
        found.sort_by_key(|candidate| (candidate.line, candidate.tokens.start));
    }
    found
}

/// How well a currency fits that stands alone among words.
pub(crate) const UNSURE: f32 = 0.6;

/// How far before an amount a group of its thousands may stand, in heights of the print.
const FARTHEST_GROUP: f32 = 1.2;

/// The dates that may be one end of a span: of a span only that end, placed where the span begins, so that the other
/// end does not stand between it and its label.
pub(crate) fn span_ends(sheet: &Sheet, dates: &[Candidate], wanted: SpanEnd) -> Vec<Candidate> {
    let mut found = Vec::with_capacity(dates.len());
    let mut index = 0;
    while let Some(date) = dates.get(index) {
        let other = dates.get(index + 1).filter(|other| is_span(sheet, date, other));
        match (other, wanted) {
            (Some(other), SpanEnd::End) => {
                found.push(Candidate { rect: date.rect.union(&other.rect), ..other.clone() });
            }
            _ => found.push(date.clone()),
        }
        index += if other.is_some() { 2 } else { 1 };
    }
    found
}

/// Spans with wide gaps around the word between the dates, as forms print them.
fn wide_ranges(sheet: &Sheet) -> Vec<Candidate> {
    let dates = find(sheet, FieldType::Date);
    let range = |pair: &[Candidate]| {
        let [first, second] = pair else { return None };
        let is_one_run = sheet.segment_of(first.line, first.tokens.start)?.tokens.contains(&second.tokens.start);
        let parsed = (!is_one_run && is_span(sheet, first, second))
            .then(|| date_range::join_dates(&first.parsed, &second.parsed))
            .flatten()?;
        let tokens = first.tokens.start..second.tokens.end;
        let (rect, text) = (first.rect.union(&second.rect), sheet.quote(&tokens));
        Some(Candidate { tokens, rect, text, parsed, ..first.clone() })
    };
    dates.windows(2).filter_map(range).collect()
}

fn is_span(sheet: &Sheet, first: &Candidate, second: &Candidate) -> bool {
    if first.line != second.line || first.parsed.normalised > second.parsed.normalised {
        return false;
    }
    // Both in one word, or with a single word between them that says so.
    if first.tokens.start == second.tokens.start {
        return true;
    }
    let between = sheet.tokens.get(first.tokens.end..second.tokens.start).unwrap_or_default();
    match between {
        [] => {
            sheet.tokens[second.tokens.start].text.starts_with(['-', '–'])
                || sheet.tokens[first.tokens.end - 1].text.ends_with(['-', '–'])
        }
        [word] => SPAN_WORDS.contains(&word.text.to_lowercase().as_str()),
        _ => false,
    }
}

/// Marks that end a word without being a part of the value.
pub(crate) fn trim_marks(text: &str) -> &str {
    text.trim_matches(|c: char| matches!(c, ',' | ';' | ':' | '"' | '“' | '”' | '„' | '*' | '|' | '='))
}

struct CandidateFinder<'s> {
    sheet: &'s Sheet,
    line: usize,
    segment: &'s Segment,
}

impl CandidateFinder<'_> {
    fn candidate(&self, tokens: Range<usize>, text: &str, parsed: Parsed, fit: f32) -> Candidate {
        let rect = self.sheet.rect_of(&tokens);
        Candidate { line: self.line, tokens, rect, text: text.to_owned(), parsed, currency: None, fit }
    }

    fn dates(&self, found: &mut Vec<Candidate>) {
        let before = found.len();
        for date in date::find(&self.segment.text, self.sheet.habits.dates) {
            let text = &self.segment.text[date.range.clone()];
            let fit = if text.len() >= 8 { 1.0 } else { 0.8 };
            found.push(self.candidate(self.segment.tokens_at(&date.range), text, date.parsed, fit));
        }
        if found.len() == before {
            self.misread_dates(found);
        }
    }

    /// Dates that only appear when letters are taken for the figures that OCR misread: a doubt, whatever they say.
    fn misread_dates(&self, found: &mut Vec<Candidate>) {
        // Scans whose text was recognised by others have no certainties; there only slashes tell.
        let is_ocr = self.sheet.ocr_confidence(&self.segment.tokens).is_some();
        let figures = is_ocr.then(|| date::with_figures_restored(&self.segment.text)).flatten();
        let slashes = date::with_slashes_restored(figures.as_deref().unwrap_or(&self.segment.text));
        let Some(restored) = slashes.or(figures) else { return };
        for mut date in date::find(&restored, self.sheet.habits.dates) {
            let read = &self.segment.text[date.range.clone()];
            if read != &restored[date.range.clone()] {
                date.parsed.doubt = Some(format!("{read} was read as {}", date.parsed.normalised));
                found.push(self.candidate(self.segment.tokens_at(&date.range), read, date.parsed, UNSURE));
            }
        }
    }

    fn date_ranges(&self, found: &mut Vec<Candidate>) {
        for span in date_range::find(&self.segment.text, self.sheet.habits.dates) {
            let text = &self.segment.text[span.range.clone()];
            found.push(self.candidate(self.segment.tokens_at(&span.range), text, span.parsed, 1.0));
        }
    }

    fn currencies(&self, found: &mut Vec<Candidate>) {
        for index in self.segment.tokens.clone() {
            let token = &self.sheet.tokens[index].text;
            let alone = currency::parse(token);
            let Some(code) = alone.or_else(|| currency::split_off(trim_marks(token)).0) else { continue };
            // ALL, PEN and TRY are words, too: a code counts beside an amount, or where a label asks for it.
            let is_word = alone.is_some() && token.chars().all(|c| !c.is_ascii_punctuation()) && token.is_ascii();
            let counts = |neighbour: Option<usize>| {
                let text = neighbour.and_then(|index| self.word(index)).map(trim_marks);
                text.is_some_and(|text| decimal::parse(text, self.sheet.habits.decimal_mark).is_some())
            };
            let fit = if !is_word || counts(index.checked_sub(1)) || counts(Some(index + 1)) { 1.0 } else { UNSURE };
            found.push(self.candidate(index..index + 1, token, Parsed::sure(code), fit));
        }
    }

    fn matches(&self, pattern: &Regex, parse: impl Fn(&str) -> Option<Parsed>, found: &mut Vec<Candidate>) {
        for printed in pattern.find_iter(&self.segment.text) {
            let Some(parsed) = parse(printed.as_str()) else { continue };
            let text = matching_start(printed.as_str(), &parsed.normalised);
            let range = printed.start()..printed.start() + text.len();
            // A number inside a longer word is a part of something else.
            let before = self.segment.text[..range.start].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '/') {
                continue;
            }
            let fit = if parsed.checksum == Some(false) { 0.7 } else { 1.0 };
            found.push(self.candidate(self.segment.tokens_at(&range), text, parsed, fit));
        }
    }

    fn numbers(&self, kind: FieldType, found: &mut Vec<Candidate>) {
        let mut index = self.segment.tokens.start;
        while index < self.segment.tokens.end {
            let candidate = self.number_at(index, kind);
            index = candidate.as_ref().map_or(index + 1, |candidate| candidate.tokens.end);
            found.extend(candidate);
        }
    }

    fn word(&self, index: usize) -> Option<&str> {
        self.segment.tokens.contains(&index).then(|| self.sheet.tokens[index].text.as_str())
    }

    /// A number that begins with this word: `1`, `234,56` and `€` may be three of them.
    fn number_at(&self, start: usize, kind: FieldType) -> Option<Candidate> {
        let mut end = start;
        let mut text = String::new();
        let mut code = None;
        while let Some(sign) = self.word(end).filter(|word| is_sign(word) || currency::parse(word).is_some()) {
            code = code.or(currency::parse(sign));
            if is_sign(sign) {
                text.push('-');
            }
            end += 1;
        }
        let first = self.word(end)?;
        if !first.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        if end > start && !first.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '−' | '(' | '.' | ','))
        {
            return None;
        }
        text.push_str(without_tax_mark(trim_marks(first)));
        end += 1;
        if is_group_start(first) {
            while let Some(next) = self.word(end).filter(|word| is_group(word) && self.stands_close(end)) {
                text.push(' ');
                text.push_str(trim_marks(next));
                end += 1;
            }
        }
        let (mut number, attached) = currency::amount_of(text.trim_end_matches('.'));
        code = code.or(attached);
        if let Some(behind) = self.word(end).and_then(currency::parse).filter(|_| code.is_none()) {
            code = Some(behind);
            end += 1;
        } else if self.word(end).is_some_and(is_sign) && self.word(end + 1).is_none() {
            number.push('-');
            end += 1;
        }
        if number.ends_with('%') || self.word(end).is_some_and(|word| word.starts_with('%')) {
            if kind == FieldType::Money {
                return None;
            }
            number = number.trim_end_matches('%').to_owned();
        }
        let mut parsed = decimal::parse(&number, self.sheet.habits.decimal_mark)?;
        if kind == FieldType::Money && parsed.doubt.is_none() {
            parsed.doubt = self.cut_thousands(start, &number);
        }
        // "Free delivery (orders > 300 €)" states a bound.
        let before = start.checked_sub(1).and_then(|index| self.word(index));
        if kind == FieldType::Money && before.is_some_and(|word| matches!(word, ">" | "<" | "≥" | "≤" | ">=" | "<="))
        {
            return None;
        }
        let is_whole = code.is_none() && !parsed.normalised.contains('.');
        if kind == FieldType::Money && is_whole && self.word(end).is_some_and(is_unit_of_time) {
            return None;
        }
        let fit = fit(&number, &parsed.normalised, code, kind)?;
        let tokens = start..end;
        let quote = self.sheet.quote(&tokens);
        let mut candidate = self.candidate(tokens, trim_marks(&quote), parsed, fit);
        candidate.currency = code;
        Some(candidate)
    }

    /// A doubt where a group of thousands may have been cut off: the `3` of `3 411,00`, printed with a wide space.
    fn cut_thousands(&self, start: usize, number: &str) -> Option<String> {
        let before = start.checked_sub(1).and_then(|index| self.word(index))?;
        let is_group_of_thousands = self.sheet.habits.decimal_mark == Some(',')
            && number.find(',') == Some(3)
            && number.bytes().take(3).all(|byte| byte.is_ascii_digit())
            && (1..=3).contains(&before.len())
            && before.bytes().all(|byte| byte.is_ascii_digit());
        let (first, second) = (&self.sheet.tokens[start - 1].rect, &self.sheet.tokens[start].rect);
        let is_near = second.x0 - first.x1 <= FARTHEST_GROUP * second.height().max(1.0);
        (is_group_of_thousands && is_near)
            .then(|| format!("{before} {number} can be read as {number} or as {before}{number}"))
    }

    /// Whether a word follows the one before it as digits of one number do.
    fn stands_close(&self, index: usize) -> bool {
        let (before, word) = (&self.sheet.tokens[index - 1].rect, &self.sheet.tokens[index].rect);
        word.x0 - before.x1 <= 0.45 * word.height().max(1.0) || !self.sheet.tokens[index].has_box
    }
}

/// Tills print a letter or two for the tax right behind an amount: `62.50Z`, `4.90SR`, `1,99*`.
fn without_tax_mark(word: &str) -> &str {
    let bare = word.trim_end_matches(|c: char| c.is_ascii_uppercase() || c == '*' || c == '#');
    let mark = &word[bare.len()..];
    let digits = bare.bytes().rev().take_while(u8::is_ascii_digit).count();
    let has_decimals = digits == 2 && bare[..bare.len() - digits].ends_with(['.', ',']);
    if has_decimals && mark.len() <= 2 && currency::parse(mark).is_none() { bare } else { word }
}

/// "Please pay within 30 days" asks for no 30 of any currency.
fn is_unit_of_time(word: &str) -> bool {
    const UNITS: &[&str] = &[
        "day", "days", "week", "weeks", "month", "months", "year", "years", "hour", "hours", "tag", "tage", "tagen",
        "woche", "wochen", "monat", "monate", "monaten", "jahr", "jahre", "jahren", "stunden", "jour", "jours",
        "semaine", "semaines", "mois", "an", "ans", "heures", "día", "días", "dias", "semana", "semanas", "mes",
        "meses", "año", "años", "anos", "giorni", "giorno", "mesi", "anni", "dagen", "dag", "weken", "maanden", "jaar",
        "dni", "dagar", "dage", "dnů",
    ];
    let word = word.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    UNITS.contains(&word.as_str())
}

fn is_sign(word: &str) -> bool {
    matches!(word, "-" | "−" | "–")
}

fn is_group_start(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| !c.is_ascii_digit());
    !digits.is_empty() && digits.len() <= 3 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Three digits, the last group with or without decimals.
fn is_group(word: &str) -> bool {
    let word = trim_marks(word);
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let behind = &word[digits..];
    digits == 3 && (behind.is_empty() || behind.starts_with(['.', ',', '€', '$', '£', '-']))
}

/// How much a number looks like one of its type; None if it cannot be one.
fn fit(printed: &str, normalised: &str, code: Option<&str>, kind: FieldType) -> Option<f32> {
    let (whole, decimals) = normalised.split_once('.').unwrap_or((normalised, ""));
    let digits = whole.trim_start_matches('-').len();
    match kind {
        FieldType::Integer => (decimals.is_empty() && digits <= 18).then_some(1.0),
        FieldType::Decimal => (digits <= 15).then_some(1.0),
        _ => {
            let has_marks = printed.contains(['.', ',', '\'', ' ', '’']);
            if digits > 12 || (digits > 7 && !has_marks && code.is_none()) {
                return None;
            }
            Some(match (decimals.len(), code.is_some()) {
                (2, true) => 1.0,
                (2, false) => 0.95,
                (0, true) => 0.85,
                (_, true) => 0.7,
                (0, false) => 0.35,
                _ => 0.5,
            })
        }
    }
}

/// The start of a print that holds the letters and digits of its normalised form; what follows belongs to others.
fn matching_start<'t>(printed: &'t str, normalised: &str) -> &'t str {
    let wanted = normalised.chars().filter(|c| c.is_alphanumeric()).count();
    let mut count = 0;
    for (at, c) in printed.char_indices() {
        count += usize::from(c.is_alphanumeric());
        if count >= wanted && c.is_alphanumeric() {
            let end = at + c.len_utf8();
            // Only a form that is as long as its print can be cut by counting; others are cut by their pattern.
            let is_same = printed[..end]
                .chars()
                .filter(|c| c.is_alphanumeric())
                .eq(normalised.chars().filter(|c| c.is_alphanumeric()));
            return if is_same { &printed[..end] } else { printed };
        }
    }
    printed
}
