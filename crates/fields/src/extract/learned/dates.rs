//! Features of dates: which of the days that a slip prints is the day it was issued.

use super::{
    lexicon::{self, Categories, Category, LexiconHit},
    sink::Sink,
};
use crate::{
    extract::{candidate::Candidate, sheet::Sheet},
    learn::calibrate::OcrCertainty,
    pattern::constant_regex,
};
use regex::Regex;
use std::{collections::BTreeMap, sync::LazyLock};

static TIME: LazyLock<Regex> =
    LazyLock::new(|| constant_regex(r"(?:^|\D)[0-2]?\d[:.][0-5]\d(?:[:.][0-5]\d)?\s*(?:[AaPp]\.?[Mm])?(?:\D|$)"));
const LABELS: &[Category] = &[
    Category::Date,
    Category::DueDate,
    Category::Time,
    Category::Number,
    Category::Title,
    Category::Card,
    Category::Clerk,
    Category::Greeting,
    Category::Registration,
    Category::Points,
    Category::Total,
];
/// More days on a paper are a list.
const MOST_PRINTS: usize = 120;

#[derive(Debug)]
struct DatePrint {
    line: usize,
    candidate: usize,
    label: Categories,
    row: Categories,
    above: Categories,
    has_time: bool,
    words: usize,
    has_long_year: bool,
    is_doubted: bool,
}

/// A day with all its prints.
#[derive(Debug)]
pub(crate) struct Day {
    pub normalised: String,
    prints: Vec<usize>,
    /// Days since the year 0, roughly: enough to compare.
    number: i64,
}

#[derive(Debug)]
pub(crate) struct Days {
    prints: Vec<DatePrint>,
    pub values: Vec<Day>,
    lines: usize,
    first_total: Option<usize>,
}

impl Days {
    pub(crate) fn new(sheet: &Sheet, candidates: &[Candidate]) -> Self {
        let mut prints = Vec::new();
        let mut by_value: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, candidate) in candidates.iter().enumerate().take(MOST_PRINTS) {
            by_value.entry(&candidate.parsed.normalised).or_default().push(prints.len());
            prints.push(print(sheet, candidates, index, candidate));
        }
        let values = by_value
            .into_iter()
            .map(|(normalised, prints)| Day {
                normalised: normalised.to_owned(),
                prints,
                number: day_number(normalised),
            })
            .collect();
        let first_total = sheet.lines.iter().position(|line| {
            let hits = lexicon::hits(line.parts.iter().map(|part| part.text.as_str()));
            hits.iter().any(|hit| hit.categories.has(Category::Total))
        });
        Self { prints, values, lines: sheet.lines.len(), first_total }
    }

    /// The candidate that shows a day best: with a label, else the first.
    pub(crate) fn best_print(&self, day: &Day) -> usize {
        let rank = |index: &&usize| {
            let print = &self.prints[**index];
            (print.is_doubted, !print.label.has(Category::Date), !print.has_time, print.line)
        };
        day.prints.iter().min_by_key(rank).map_or(0, |index| self.prints[*index].candidate)
    }

    /// How sure OCR was of the print of a day that it read best.
    pub(crate) fn ocr_certainty(&self, sheet: &Sheet, candidates: &[Candidate], day: &Day) -> Option<OcrCertainty> {
        let prints = day.prints.iter().filter_map(|index| candidates.get(self.prints[*index].candidate));
        let read = prints.filter_map(|candidate| sheet.ocr_certainty(std::slice::from_ref(&candidate.tokens)));
        read.max_by(|a, b| a.words.total_cmp(&b.words))
    }

    pub(crate) fn features(&self, day: &Day, sink: &mut Sink) {
        let own = || day.prints.iter().map(|index| &self.prints[*index]);
        let flag = |holds: bool| f32::from(u8::from(holds));
        for category in LABELS {
            sink.part("label", category.name(), flag(own().any(|print| print.label.has(*category))));
            sink.part("row", category.name(), flag(own().any(|print| print.row.has(*category))));
            sink.part("above", category.name(), flag(own().any(|print| print.above.has(*category))));
        }
        sink.flag(
            "plain_label",
            own().any(|print| print.label.has(Category::Date) && !print.label.has(Category::DueDate)),
        );
        let has_plain = |day: &Day| {
            day.prints.iter().any(|index| {
                let label = self.prints[*index].label;
                label.has(Category::Date) && !label.has(Category::DueDate)
            })
        };
        let others = || self.values.iter().filter(|other| other.normalised != day.normalised);
        sink.flag("plain_rival", others().any(has_plain));
        sink.flag("time", own().any(|print| print.has_time));
        let has_time = |day: &Day| day.prints.iter().any(|index| self.prints[*index].has_time);
        sink.flag("time_rival", others().any(has_time));
        sink.flag("no_words", own().any(|print| print.words == 0));
        sink.add("words", own().map(|print| print.words).min().unwrap_or(0) as f32);
        sink.flag("long_year", own().any(|print| print.has_long_year));
        sink.flag("doubted", own().all(|print| print.is_doubted));
        sink.add("prints", day.prints.len() as f32);
        sink.add(
            "prints_lead",
            day.prints.len() as f32 - others().map(|day| day.prints.len()).max().unwrap_or(0) as f32,
        );
        sink.add("values", self.values.len() as f32);
        let line = own().map(|print| print.line).min().unwrap_or(0);
        sink.add("y", line as f32 / self.lines.max(1) as f32);
        let before = |other: &&Day| other.prints.iter().any(|index| self.prints[*index].line < line);
        sink.add("before", others().filter(before).count() as f32);
        sink.flag("below_total", self.first_total.is_some_and(|total| line > total));
        sink.flag("latest", others().all(|other| other.number <= day.number));
        sink.flag("earliest", others().all(|other| other.number >= day.number));
        let away = others().map(|other| (other.number - day.number).abs()).min().unwrap_or(0);
        sink.add("days_away", (away as f32 + 1.0).ln());
        let year = day.number / 372;
        sink.flag("strange_year", !(1985..=2060).contains(&year));
    }

    pub(crate) fn feature_names() -> Vec<String> {
        let mut sink = Sink::with_names();
        let days = Self { prints: Vec::new(), values: Vec::new(), lines: 0, first_total: None };
        days.features(&Day { normalised: String::new(), prints: Vec::new(), number: 0 }, &mut sink);
        sink.into_names()
    }
}

fn day_number(normalised: &str) -> i64 {
    let mut parts = normalised.split('-').filter_map(|part| part.parse::<i64>().ok());
    let mut next = || parts.next().unwrap_or(0);
    next() * 372 + next() * 31 + next()
}

fn print(sheet: &Sheet, candidates: &[Candidate], index: usize, candidate: &Candidate) -> DatePrint {
    let line = &sheet.lines[candidate.line];
    let hits = lexicon::hits(line.parts.iter().map(|part| part.text.as_str()));
    let previous = candidates[..index].iter().rev().find(|other| other.line == candidate.line);
    let start = previous.map_or(line.tokens.start, |other| other.tokens.end);
    let union = |hits: &[LexiconHit], keep: &dyn Fn(&LexiconHit) -> bool| {
        hits.iter().filter(|hit| keep(hit)).fold(Categories::default(), |all, hit| all.union(hit.categories))
    };
    let mut label = union(&hits, &|hit| (start..candidate.tokens.start).contains(&line.parts[hit.start].token));
    // `Date:31/01/2018` is one word.
    label = label.union(union(&hits, &|hit| line.parts[hit.start].token == candidate.tokens.start));
    let above = candidate.line.checked_sub(1).filter(|line| sheet.page_of(candidate.line).lines.contains(line));
    let above = above.map_or(Categories::default(), |above| {
        let hits = lexicon::hits(sheet.lines[above].parts.iter().map(|part| part.text.as_str()));
        union(&hits, &|_| true)
    });
    let is_word = |token: &usize| {
        sheet.tokens[*token].text.chars().filter(|c| c.is_alphabetic()).count() >= 2
            && !candidate.tokens.contains(token)
    };
    let text = sheet.quote(&line.tokens).replacen(&candidate.text, " ", 1);
    let long_year = candidate.parsed.normalised.get(..4).is_some_and(|year| candidate.text.contains(year));
    DatePrint {
        line: candidate.line,
        candidate: index,
        label,
        row: union(&hits, &|_| true),
        above,
        has_time: TIME.is_match(&text),
        words: line.tokens.clone().filter(is_word).count(),
        has_long_year: long_year,
        is_doubted: candidate.parsed.doubt.is_some(),
    }
}
