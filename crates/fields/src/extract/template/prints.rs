//! Where a known value is printed, and all the ways in which a template could say so.

use super::rule::{LINES_BELOW, RulePlace, TemplateRule};
use crate::extract::{block, grounding::is_same, label::Label, parse_as, schema::FieldType, sheet::Sheet};
use bindery_reader::Rect;
use regex::Regex;
use std::{collections::BTreeSet, ops::Range};

/// Words of a label at most.
const LONGEST_LABEL: usize = 5;
/// The longest value, in words.
const LONGEST_VALUE: usize = 12;
/// Around the prints of an area, in hundredths of the page.
const MARGIN: f32 = 1.5;
/// Words that stand farther to the left, in hundredths of the page, hardly name a value.
const FAR: f32 = 20.0;
/// An area that is larger, in hundredths of the page, names no place.
const LARGEST_AREA: (f32, f32) = (60.0, 6.0);

/// A value on a page.
#[derive(Debug, Clone)]
pub(super) struct Print {
    pub line: usize,
    pub spans: Vec<Range<usize>>,
}

/// Everywhere that the pages print a value, on the borders of words.
pub(super) fn find(sheet: &Sheet, kind: FieldType, normalised: &str) -> Vec<Print> {
    if matches!(kind, FieldType::String | FieldType::Name | FieldType::Address) {
        let found = block::find_text(sheet, normalised).into_iter();
        return found.map(|(line, spans)| Print { line, spans }).collect();
    }
    let is_meant = |span: &Range<usize>| {
        parse_as(kind, &sheet.quote(span), &sheet.habits)
            .is_some_and(|parsed| is_same(kind, &parsed.normalised, normalised))
    };
    let mut found = Vec::new();
    for (line, printed) in sheet.lines.iter().enumerate() {
        for segment in &printed.segments {
            for start in segment.tokens.clone() {
                let mut spans = (start + 1..=segment.tokens.end.min(start + LONGEST_VALUE)).map(|end| start..end);
                found.extend(spans.find(is_meant).map(|span| Print { line, spans: vec![span] }));
            }
        }
    }
    found
}

/// Every rule that some print suggests, the most telling first: words behind which it stands, words below which it
/// stands, the same with a pattern, an area, a pattern alone.
pub(super) fn rules(
    field: &str,
    kind: FieldType,
    sheets: &[&Sheet],
    printed: &[Vec<Print>],
) -> impl Iterator<Item = TemplateRule> {
    let mut labels: BTreeSet<(LabelPlace, usize, String)> = BTreeSet::new();
    let all = || sheets.iter().zip(printed).flat_map(|(sheet, prints)| prints.iter().map(move |print| (*sheet, print)));
    let lines = all().map(|(_, print)| print.spans.len()).max().unwrap_or(1);
    for (sheet, print) in all() {
        for (place, label) in labels_of(sheet, print) {
            // Of labels in one place, the longest says most.
            labels.insert((place, LONGEST_LABEL - label.split(' ').count(), label));
        }
    }
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for (place, _, text) in labels {
        let Some(label) = Label::new(&text).map(|label| vec![label]) else { continue };
        match place {
            LabelPlace::Before => near.push(RulePlace::After(label)),
            LabelPlace::Above => near.push(RulePlace::Below(label)),
            LabelPlace::FarBefore => far.push(RulePlace::After(label)),
        }
    }
    let pattern = (lines == 1).then(|| pattern_of(sheets, printed)).flatten();
    let area = area_of(sheets, printed).map(RulePlace::Area);
    // The form of a date or an amount is known; a pattern of figures would only shut out others.
    let own_pattern = pattern.filter(|_| kind == FieldType::String);
    let rule = {
        let field = field.to_owned();
        move |place: RulePlace, pattern: Option<Regex>| TemplateRule { field: field.clone(), place, pattern, lines }
    };
    let mut rules: Vec<TemplateRule> = near.iter().map(|place| rule(place.clone(), None)).collect();
    if let Some(pattern) = &own_pattern {
        rules.extend(near.into_iter().map(|place| rule(place, Some(pattern.clone()))));
    }
    if let Some(area) = area {
        rules.extend(own_pattern.clone().map(|pattern| rule(area.clone(), Some(pattern))));
        rules.push(rule(area, None));
    }
    rules.extend(far.into_iter().map(|place| rule(place, None)));
    rules.extend(own_pattern.map(|pattern| rule(RulePlace::Anywhere, Some(pattern))));
    rules.into_iter()
}

/// Where a label stands to its value, the most telling first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LabelPlace {
    Before,
    Above,
    FarBefore,
}

/// The words before a print, and those above it.
fn labels_of(sheet: &Sheet, print: &Print) -> Vec<(LabelPlace, String)> {
    let Some(first) = print.spans.first() else { return Vec::new() };
    let line = &sheet.lines[print.line];
    let mut found = Vec::new();
    // Words of the same run, or of the one before it.
    let before = line.segments.iter().rfind(|segment| segment.tokens.start < first.start);
    if let Some(segment) = before {
        let words = label_words(sheet, segment.tokens.start..segment.tokens.end.min(first.start));
        let gap = sheet.tokens[first.start].rect.x0 - sheet.rect_of(&segment.tokens).x1;
        let is_far = gap > sheet.page_of(print.line).width * FAR / 100.0;
        let place = if is_far { LabelPlace::FarBefore } else { LabelPlace::Before };
        let longest = words.len().min(LONGEST_LABEL);
        found.extend((1..=longest).map(|count| (place, words[words.len() - count..].join(" "))));
    }
    let rect = sheet.rect_of(first);
    let top = sheet.page_of(print.line).lines.start.max(print.line.saturating_sub(LINES_BELOW));
    for above in sheet.lines[top..print.line].iter().rev() {
        for segment in
            above.segments.iter().filter(|segment| block::is_one_column(&sheet.rect_of(&segment.tokens), &rect))
        {
            let words = label_words(sheet, segment.tokens.clone());
            if !words.is_empty() && words.len() == segment.tokens.len() && words.len() <= LONGEST_LABEL {
                found.push((LabelPlace::Above, words.join(" ")));
            }
        }
    }
    found
}

/// The last words without figures, as they are printed but for the marks at their ends.
fn label_words(sheet: &Sheet, tokens: Range<usize>) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for token in tokens.rev() {
        let text = sheet.tokens[token].text.trim_end_matches([':', '.', ',', ';', '-', '–', '|']);
        if text.is_empty() && words.is_empty() {
            continue;
        }
        let is_word = text.chars().any(char::is_alphabetic) && !text.chars().any(|c| c.is_ascii_digit());
        if !is_word && text != "#" {
            break;
        }
        words.push(text.to_owned());
    }
    words.reverse();
    words
}

/// The part of the first page that all prints share, in hundredths; None where they stand apart or have no boxes.
fn area_of(sheets: &[&Sheet], printed: &[Vec<Print>]) -> Option<Rect> {
    let mut area: Option<Rect> = None;
    for (sheet, prints) in sheets.iter().zip(printed) {
        let Some(print) = prints.first() else { continue };
        let page = sheet.pages.first().filter(|page| page.lines.contains(&print.line))?;
        let rect = print.spans.iter().map(|span| sheet.box_of(span)).collect::<Option<Vec<_>>>()?;
        let rect = rect.into_iter().reduce(|all, next| all.union(&next))?;
        let (width, height) = (page.width / 100.0, page.height / 100.0);
        let own = Rect::new(rect.x0 / width, rect.y0 / height, rect.x1 / width, rect.y1 / height);
        area = Some(area.map_or(own, |area| area.union(&own)));
    }
    let area = area.filter(|area| area.width() <= LARGEST_AREA.0 && area.height() <= LARGEST_AREA.1)?;
    let outer = |side: f32| ((side * 10.0).round() / 10.0).clamp(0.0, 100.0);
    Some(Rect::new(outer(area.x0 - MARGIN), outer(area.y0 - MARGIN), outer(area.x1 + MARGIN), outer(area.y1 + MARGIN)))
}

/// What a run of letters in a value is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Run {
    Digits,
    Letters,
    Sign,
}

/// The form that all values have: figures as figures, letters that never change as they are.
fn pattern_of(sheets: &[&Sheet], printed: &[Vec<Print>]) -> Option<Regex> {
    let texts = sheets.iter().zip(printed).filter_map(|(sheet, prints)| {
        let print = prints.first()?;
        Some(sheet.quote(print.spans.first()?).trim_end_matches(['.', ',', ';', ':', '-', '/']).to_owned())
    });
    let runs: Vec<Vec<(Run, String)>> = texts.map(|text| runs_of(&text)).collect();
    let first = runs.first()?;
    let is_same_form = |other: &Vec<(Run, String)>| {
        other.len() == first.len() && other.iter().zip(first).all(|(one, two)| one.0 == two.0)
    };
    if !runs.iter().all(is_same_form) || !first.iter().any(|(run, _)| *run == Run::Digits) {
        return None;
    }
    let mut pattern = String::new();
    let is_worded = |run: Option<&(Run, String)>| run.is_some_and(|(run, _)| *run != Run::Sign);
    if is_worded(first.first()) {
        pattern.push_str(r"\b");
    }
    for (at, (run, text)) in first.iter().enumerate() {
        let is_constant = runs.iter().all(|other| other[at].1 == *text);
        let is_as_long = runs.iter().all(|other| other[at].1.chars().count() == text.chars().count());
        let count = if is_as_long { format!("{{{}}}", text.chars().count()) } else { "+".to_owned() };
        match run {
            Run::Digits => pattern.extend([r"\d", count.as_str()]),
            Run::Letters if !is_constant => pattern.extend([r"\p{L}", count.as_str()]),
            Run::Sign if !is_constant => return None,
            Run::Letters | Run::Sign => pattern.push_str(&regex::escape(text)),
        }
    }
    if is_worded(first.last()) {
        pattern.push_str(r"\b");
    }
    Regex::new(&pattern).ok()
}

fn runs_of(text: &str) -> Vec<(Run, String)> {
    let mut runs: Vec<(Run, String)> = Vec::new();
    for c in text.chars() {
        let run = match c {
            c if c.is_ascii_digit() => Run::Digits,
            c if c.is_alphabetic() => Run::Letters,
            _ => Run::Sign,
        };
        match runs.last_mut().filter(|(last, _)| *last == run) {
            Some((_, text)) => text.push(c),
            None => runs.push((run, c.to_string())),
        }
    }
    runs
}
