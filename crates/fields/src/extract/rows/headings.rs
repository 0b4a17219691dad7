//! The line that heads the columns of a list, over as many lines as it is set in.

use super::super::{
    candidate,
    label::Label,
    parse_as,
    schema::{Column, Field, FieldType},
    sheet::{Line, Sheet},
};
use bindery_reader::Rect;
use std::ops::Range;

/// A heading on the page.
#[derive(Debug)]
pub(super) struct Heading {
    /// Index into the field's columns; None for one that the schema does not know.
    pub column: Option<usize>,
    /// As printed.
    pub text: String,
    pub rect: Rect,
}

/// How the column of words is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    Named,
    Leftmost,
    /// One heading is known, and amounts stand below others: what they are is for arithmetic to say.
    ByContent,
}

/// The headings that begin with this line, over as many lines as they are set in, and the first line below.
pub(super) fn heading_band(sheet: &Sheet, line: usize, field: &Field, words: Words) -> Option<(Vec<Heading>, usize)> {
    let first = &sheet.lines[line];
    if states_value(sheet, first)
        || first.segments.len() > 30
        || first.parts.len() > 80
        || (words == Words::ByContent && first.segments.len() < 3)
    {
        return None;
    }
    let mut end = line + 1;
    let page_end = sheet.page_of(line).lines.end;
    let height = first.rect.height().max(4.0);
    let mut matched = matches(first, field);
    if matched.is_empty() {
        return None;
    }
    // Headings of one table may be set in up to four lines, closer together than its rows.
    while end < page_end.min(line + 5) && sheet.lines[end].rect.y0 - sheet.lines[end - 1].rect.y1 < 0.5 * height {
        let next = matches(&sheet.lines[end], field);
        if has_amount(sheet, &sheet.lines[end]) {
            break;
        }
        matched.extend(next);
        end += 1;
    }
    let mut columns: Vec<usize> = matched.iter().map(|(column, _)| *column).collect();
    columns.sort_unstable();
    columns.dedup();
    let has_words = columns.iter().any(|column| field.columns[*column].kind == FieldType::String);
    let has_amounts = columns.iter().any(|column| field.columns[*column].kind == FieldType::Money);
    match words {
        Words::Named if columns.len() < field.columns.len().min(3) || !has_words => return None,
        // A heading of amounts and another one that are known make the others likely.
        Words::Leftmost if columns.len() < 2 || !has_amounts => return None,
        Words::Leftmost if !has_words => matched.push(words_heading(first, field, &matched)?),
        Words::ByContent if !heads_amounts(sheet, line, end) => return None,
        Words::ByContent if !has_words => matched.extend(words_heading(first, field, &matched)),
        _ => {}
    }
    // A word that comes twice heads one column only: of amounts the rightmost, of anything else the first.
    let mut headings: Vec<Heading> = Vec::new();
    let mut covered: Vec<Range<usize>> = Vec::new();
    for (column, tokens) in matched {
        let rect = sheet.rect_of(&tokens);
        let other = headings.iter_mut().find(|heading| heading.column == Some(column));
        let is_amount = field.columns[column].kind == FieldType::Money;
        let replaces = other.as_ref().is_some_and(|other| is_amount && other.rect.x1 < rect.x0);
        let own = (replaces || other.is_none()).then_some(column);
        if let Some(other) = other.filter(|_| replaces) {
            other.column = None;
        }
        headings.push(Heading { column: own, text: sheet.quote(&tokens), rect });
        covered.push(tokens);
    }
    for band in &sheet.lines[line..end] {
        for segment in &band.segments {
            if covered.iter().all(|tokens| tokens.end <= segment.tokens.start || tokens.start >= segment.tokens.end) {
                let rect = sheet.rect_of(&segment.tokens);
                let stands_free =
                    headings.iter().all(|heading| heading.rect.x1 <= rect.x0 || heading.rect.x0 >= rect.x1);
                if stands_free {
                    headings.push(Heading { column: None, text: sheet.quote(&segment.tokens), rect });
                }
            }
        }
    }
    Some((headings, end))
}

/// Whether a line states a value behind a label, as in `Number: 82`. It stands above a list and heads none.
fn states_value(sheet: &Sheet, line: &Line) -> bool {
    let words = &sheet.tokens[line.tokens.clone()];
    words.iter().rev().skip(1).any(|word| word.text.len() > 1 && word.text.ends_with(':'))
}

/// Whether a line of at least three headings stands above two lines of amounts, each with several numbers.
fn heads_amounts(sheet: &Sheet, line: usize, end: usize) -> bool {
    let below = end..(end + 2).min(sheet.page_of(line).lines.end);
    sheet.lines[line].segments.len() >= 3
        && !has_amount(sheet, &sheet.lines[line])
        && below.len() == 2
        && below.clone().all(|line| has_amount(sheet, &sheet.lines[line]) && sheet.lines[line].segments.len() >= 3)
}

/// The column of words and the run of words that heads it: the leftmost that means nothing else.
fn words_heading(line: &Line, field: &Field, matched: &[(usize, Range<usize>)]) -> Option<(usize, Range<usize>)> {
    let columns = field.columns.iter().enumerate();
    let texts: Vec<(usize, &Column)> = columns.filter(|(_, column)| column.kind == FieldType::String).collect();
    let column = texts.iter().find(|(_, column)| column.name == "description").or_else(|| texts.first())?.0;
    let first = line.segments.first()?;
    let is_free = matched.iter().all(|(_, tokens)| tokens.start >= first.tokens.end);
    (is_free && line.segments.len() >= 3).then(|| (column, first.tokens.clone()))
}

pub(super) fn has_amount(sheet: &Sheet, line: &Line) -> bool {
    sheet.tokens[line.tokens.clone()].iter().any(|token| {
        let text = candidate::trim_marks(&token.text);
        let digits = text.chars().filter(char::is_ascii_digit).count();
        digits >= 2 && text.contains([',', '.']) && parse_as(FieldType::Money, text, &sheet.habits).is_some()
    })
}

/// Which columns a line names, and the words that do.
fn matches(line: &Line, field: &Field) -> Vec<(usize, Range<usize>)> {
    let mut found: Vec<(usize, Range<usize>, usize)> = Vec::new();
    // The "number" of a longer word, as in "Kundennummer", is no heading of its own.
    let is_rest = |start: usize| {
        start > 0 && line.parts[start].text == "nr" && line.parts[start - 1].token == line.parts[start].token
    };
    for start in (0..line.parts.len()).filter(|start| !is_rest(*start)) {
        for (column, described) in field.columns.iter().enumerate() {
            let part = |index: usize| line.parts.get(start + index).map(|part| part.text.as_str());
            let longest = described.labels.iter().filter_map(|label: &Label| label.matches(part)).max();
            if let Some(length) = longest {
                found.push((column, start..start + length, length));
            }
        }
    }
    // Longer headings first: "unit price" is not "unit".
    found.sort_by(|a, b| b.2.cmp(&a.2).then(a.1.start.cmp(&b.1.start)).then(a.0.cmp(&b.0)));
    let mut kept: Vec<(usize, Range<usize>)> = Vec::new();
    for (column, parts, _) in found {
        if kept.iter().all(|(_, other)| other.end <= parts.start || other.start >= parts.end) {
            kept.push((column, parts));
        }
    }
    let to_tokens = |parts: Range<usize>| line.parts[parts.start].token..line.parts[parts.end - 1].token + 1;
    let mut kept: Vec<(usize, Range<usize>)> =
        kept.into_iter().map(|(column, parts)| (column, to_tokens(parts))).collect();
    kept.sort_by_key(|(column, tokens)| (tokens.start, *column));
    kept
}
