//! Where one value stands, and what stands there.

use crate::extract::{
    block,
    label::Label,
    parse_as,
    schema::FieldType,
    score::pattern_matches,
    sheet::{Sheet, Token},
};
use bindery_reader::Rect;
use regex::Regex;
use std::ops::Range;

/// The longest run of words that is tried as one value.
const LONGEST_VALUE: usize = 12;
/// Lines below a label among which its value is looked for.
pub(super) const LINES_BELOW: usize = 6;

/// Where a value stands.
#[derive(Debug, Clone)]
pub(super) struct TemplateRule {
    pub field: String,
    pub place: RulePlace,
    pub pattern: Option<Regex>,
    /// How many lines the value may take; more than one make a block.
    pub lines: usize,
}

#[derive(Debug, Clone)]
pub(super) enum RulePlace {
    Anywhere,
    After(Vec<Label>),
    Below(Vec<Label>),
    /// Of the first page, in hundredths of its width and height.
    Area(Rect),
}

/// What stands there.
#[derive(Debug)]
pub(super) struct Found {
    /// Its words, line by line.
    pub spans: Vec<Range<usize>>,
    pub text: String,
    pub normalised: String,
}

impl TemplateRule {
    /// The first place that fits.
    pub(super) fn find(&self, sheet: &Sheet, kind: FieldType) -> Option<Found> {
        match &self.place {
            RulePlace::Anywhere => sheet.lines.iter().find_map(|line| self.value_in(sheet, line.tokens.clone(), kind)),
            RulePlace::After(labels) => anchors(sheet, labels)
                .into_iter()
                .find_map(|(line, tokens)| self.value_in(sheet, tokens.end..sheet.lines[line].tokens.end, kind)),
            RulePlace::Below(labels) => anchors(sheet, labels)
                .into_iter()
                .find_map(|(line, tokens)| self.find_below(sheet, line, &tokens, kind)),
            RulePlace::Area(area) => self.inside(sheet, area, kind),
        }
    }

    fn find_below(&self, sheet: &Sheet, line: usize, anchor: &Range<usize>, kind: FieldType) -> Option<Found> {
        let rect = sheet.rect_of(anchor);
        let end = sheet.page_of(line).lines.end.min(line + 1 + LINES_BELOW);
        sheet.lines[line + 1..end].iter().flat_map(|line| &line.segments).find_map(|segment| {
            let is_below = block::is_one_column(&sheet.rect_of(&segment.tokens), &rect);
            is_below.then(|| self.value_in(sheet, segment.tokens.clone(), kind)).flatten()
        })
    }

    fn inside(&self, sheet: &Sheet, area: &Rect, kind: FieldType) -> Option<Found> {
        let page = sheet.pages.first()?;
        let (width, height) = (page.width / 100.0, page.height / 100.0);
        let stands_inside = |token: &Token| {
            let (x, y) = token.rect.center();
            (area.x0..=area.x1).contains(&(x / width)) && (area.y0..=area.y1).contains(&(y / height))
        };
        sheet.lines[page.lines.clone()].iter().find_map(|line| {
            let start = line.tokens.clone().find(|token| stands_inside(&sheet.tokens[*token]))?;
            let inside = (start..line.tokens.end).take_while(|token| stands_inside(&sheet.tokens[*token]));
            self.value_in(sheet, start..start + inside.count(), kind)
        })
    }

    fn value_in(&self, sheet: &Sheet, mut tokens: Range<usize>, kind: FieldType) -> Option<Found> {
        while tokens.start < tokens.end && !sheet.tokens[tokens.start].text.chars().any(char::is_alphanumeric) {
            tokens.start += 1;
        }
        if tokens.is_empty() {
            return None;
        }
        let parsed = |text: &str| parse_as(kind, text, &sheet.habits).map(|parsed| parsed.normalised);
        if let Some(pattern) = &self.pattern {
            return pattern_matches(sheet, &tokens, pattern).into_iter().find_map(|(span, text)| {
                let normalised = parsed(&text)?;
                Some(Found { spans: vec![span], text, normalised })
            });
        }
        // Texts end at a gap.
        let line = sheet.lines.partition_point(|line| line.tokens.end <= tokens.start);
        let segment_end =
            sheet.segment_of(line, tokens.start).map_or(tokens.end, |segment| segment.tokens.end.min(tokens.end));
        if self.lines > 1 {
            let spans = block::lines(sheet, line, tokens.start..segment_end, self.lines);
            let text = block::text(sheet, &spans);
            return parsed(&text).map(|normalised| Found { spans, text, normalised });
        }
        // Without a pattern, the longest run of words from the first on that is a value of the type.
        let longest = segment_end.min(tokens.start + LONGEST_VALUE);
        (tokens.start + 1..=longest).rev().find_map(|end| {
            let span = tokens.start..end;
            let text = sheet.quote(&span);
            let normalised = parsed(&text)?;
            Some(Found { spans: vec![span], text, normalised })
        })
    }
}

/// Everywhere that one of these labels stands: its line and its words.
fn anchors(sheet: &Sheet, labels: &[Label]) -> Vec<(usize, Range<usize>)> {
    let mut found = Vec::new();
    for (index, line) in sheet.lines.iter().enumerate() {
        for start in 0..line.parts.len() {
            let part = |offset: usize| line.parts.get(start + offset).map(|part| part.text.as_str());
            if let Some(length) = labels.iter().filter_map(|label| label.matches(part)).max() {
                found.push((index, line.parts[start].token..line.parts[start + length - 1].token + 1));
            }
        }
    }
    found
}
