//! Features of amounts: which of all amounts on a paper is its total, its net sum, its tax.
//!
//! An amount is a value with all its prints. What labels say is taken over all prints, arithmetic over all values.

use super::{
    lexicon::{self, Categories, Category, LexiconHit},
    sink::Sink,
};
use crate::{
    extract::{candidate::Candidate, sheet::Sheet},
    learn::calibrate::OcrCertainty,
};
use std::collections::{BTreeMap, HashSet};

/// Categories that the words beside an amount are asked for.
const LABELS: &[Category] = &[
    Category::Total,
    Category::Grand,
    Category::Sub,
    Category::Excl,
    Category::Incl,
    Category::Tax,
    Category::Cash,
    Category::Paid,
    Category::Change,
    Category::Card,
    Category::Rounding,
    Category::Discount,
    Category::Quantity,
    Category::Service,
    Category::Summary,
    Category::Price,
    Category::Points,
    Category::Capital,
    Category::Due,
    Category::Prepaid,
    Category::Net,
    Category::Tip,
    Category::Number,
    Category::Date,
];
const HEADINGS: &[Category] = &[
    Category::Total,
    Category::Tax,
    Category::Excl,
    Category::Price,
    Category::Quantity,
    Category::Summary,
    Category::Net,
];
const NEIGHBOURS: &[Category] = &[
    Category::Total,
    Category::Sub,
    Category::Tax,
    Category::Cash,
    Category::Change,
    Category::Card,
    Category::Rounding,
    Category::Discount,
    Category::Summary,
    Category::Quantity,
];
/// Words that make a total another sum.
const NOT_PLAIN: &[Category] = &[
    Category::Sub,
    Category::Excl,
    Category::Tax,
    Category::Quantity,
    Category::Discount,
    Category::Rounding,
    Category::Points,
    Category::Summary,
    Category::Change,
    Category::Cash,
    Category::Service,
    Category::Capital,
    Category::Prepaid,
];
const PAYMENTS: &[Category] = &[Category::Cash, Category::Paid, Category::Card];
/// More amounts on a paper are a statement, whose total no sum of items tells.
const MOST_PRINTS: usize = 300;
/// How far up a column its heading may stand.
const FARTHEST_HEADING: usize = 14;
/// Tax rates, in tenths of a per cent.
const RATES: &[i64] = &[
    30, 40, 50, 55, 60, 65, 70, 75, 77, 80, 81, 82, 88, 90, 95, 100, 120, 130, 135, 140, 150, 160, 170, 180, 190, 200,
    210, 220, 230, 240, 250, 255, 270,
];

/// One amount where it is printed.
#[derive(Debug, Clone)]
pub(crate) struct AmountPrint {
    /// In hundredths, without sign.
    pub value: i64,
    /// Index of the candidate.
    pub candidate: usize,
    line: usize,
    is_negative: bool,
    has_decimals: bool,
    has_sign: bool,
    label: Categories,
    heading: Categories,
    above: Categories,
    below: Categories,
    row: Categories,
    words: usize,
    amounts_left: usize,
    amounts_right: usize,
    right: f32,
    height: f32,
}

/// A value with its prints.
#[derive(Debug, Clone)]
pub(crate) struct Amount {
    pub value: i64,
    pub prints: Vec<usize>,
    strong: [f32; STRONG],
}

const STRONG: usize = 7;
const STRONG_NAMES: [&str; STRONG] =
    ["plain_total", "grand", "cash_less_change", "paid", "net_and_tax", "sum_above", "prints"];

/// All amounts of a document with what is computed once for all of them.
#[derive(Debug)]
pub(crate) struct Amounts {
    pub prints: Vec<AmountPrint>,
    pub values: Vec<Amount>,
    known: HashSet<i64>,
    cash: Vec<i64>,
    change: Vec<i64>,
    taxes: Vec<i64>,
    totals: Vec<i64>,
    roundings: Vec<i64>,
    discounts: Vec<i64>,
    largest: i64,
    first_payment: Option<usize>,
    first_summary: Option<usize>,
    money_lines: Vec<usize>,
    lines: usize,
    /// The last amount of each line that has one, by line.
    column: Vec<(usize, i64)>,
}

impl Amounts {
    pub(crate) fn new(sheet: &Sheet, candidates: &[Candidate]) -> Self {
        let hits: Vec<Vec<LexiconHit>> =
            sheet.lines.iter().map(|line| lexicon::hits(line.parts.iter().map(|part| part.text.as_str()))).collect();
        let rows: Vec<Categories> = hits
            .iter()
            .map(|hits| hits.iter().fold(Categories::default(), |all, hit| all.union(hit.categories)))
            .collect();
        let mut prints = Vec::new();
        for (index, candidate) in candidates.iter().enumerate() {
            if prints.len() >= MOST_PRINTS {
                break;
            }
            prints.extend(print(sheet, candidates, index, candidate, &hits, &rows));
        }
        let mut by_value: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
        for (index, print) in prints.iter().enumerate() {
            by_value.entry(print.value).or_default().push(index);
        }
        let labelled = |wanted: &[Category], never: &[Category]| {
            let mut found: Vec<i64> = prints
                .iter()
                .filter(|print| print.label.has_any(wanted) && !print.label.has_any(never) && print.value != 0)
                .map(|print| print.value)
                .collect();
            found.sort_unstable();
            found.dedup();
            found.truncate(24);
            found
        };
        let mut column: Vec<(usize, i64)> = Vec::new();
        for print in &prints {
            let signed = if print.is_negative { -print.value } else { print.value };
            match column.last_mut().filter(|(line, _)| *line == print.line) {
                Some(last) => last.1 = signed,
                None => column.push((print.line, signed)),
            }
        }
        let mut amounts = Self {
            known: by_value.keys().copied().collect(),
            cash: labelled(PAYMENTS, &[Category::Change]),
            change: labelled(&[Category::Change], &[]),
            taxes: labelled(
                &[Category::Tax, Category::Service, Category::Tip],
                &[Category::Incl, Category::Excl, Category::Total],
            ),
            totals: labelled(&[Category::Total], &[]),
            roundings: labelled(&[Category::Rounding], &[]),
            discounts: labelled(&[Category::Discount, Category::Prepaid], &[]),
            largest: by_value.keys().next_back().copied().unwrap_or(0),
            first_payment: prints.iter().find(|print| print.label.has_any(PAYMENTS)).map(|print| print.line),
            first_summary: rows.iter().position(|row| row.has(Category::Summary) && row.has(Category::Tax)),
            money_lines: column.iter().map(|(line, _)| *line).collect(),
            lines: sheet.lines.len(),
            values: Vec::new(),
            prints,
            column,
        };
        amounts.values = by_value
            .into_iter()
            .map(|(value, prints)| {
                let strong = amounts.strong(value, &prints);
                Amount { value, prints, strong }
            })
            .collect();
        amounts
    }

    /// What speaks most for a total; compared with all rivals.
    fn strong(&self, value: i64, prints: &[usize]) -> [f32; STRONG] {
        let flag = |holds: bool| f32::from(u8::from(holds));
        let own = || prints.iter().map(|index| &self.prints[*index]);
        [
            own().filter(|print| is_plain_total(print)).count() as f32,
            flag(own().any(|print| print.label.has(Category::Grand) && !print.label.has_any(NOT_PLAIN))),
            flag(self.is_cash_less_change(value)),
            flag(self.cash.contains(&value)),
            self.net_and_tax(value),
            flag(self.is_sum_above(value, prints)),
            prints.len() as f32,
        ]
    }

    fn is_cash_less_change(&self, value: i64) -> bool {
        self.cash.iter().any(|cash| self.change.iter().any(|change| cash - change == value && *change > 0))
    }

    /// 1 if the value is a net amount and a tax that are both printed, more if the tax is named or has a known rate.
    fn net_and_tax(&self, value: i64) -> f32 {
        let mut best: f32 = 0.0;
        for net in self.known.iter().filter(|net| **net > 0 && **net < value) {
            let tax = value - net;
            if !self.known.contains(&tax) || tax * 3 > value {
                continue;
            }
            let named = f32::from(u8::from(self.taxes.contains(&tax)));
            let rated = f32::from(u8::from(has_rate(*net, tax)));
            best = best.max(1.0 + named + rated);
        }
        best
    }

    /// 1 if another value is this one and a tax.
    fn is_net(&self, value: i64) -> f32 {
        let mut best: f32 = 0.0;
        for tax in self.taxes.iter().filter(|tax| self.known.contains(&(value + **tax))) {
            best = best.max(if has_rate(value, *tax) { 2.0 } else { 1.0 });
        }
        best
    }

    /// 1 if the value is the tax between two printed sums.
    fn is_tax(&self, value: i64) -> f32 {
        let mut best: f32 = 0.0;
        if value == 0 {
            return best;
        }
        for net in self.known.iter().filter(|net| **net > 2 * value && self.known.contains(&(**net + value))) {
            best = best.max(if has_rate(*net, value) { 2.0 } else { 1.0 });
        }
        best
    }

    /// Whether the value is the sum of two amounts that are both called totals, as those of two tax rates.
    fn is_two_totals(&self, value: i64) -> bool {
        self.totals.iter().any(|total| *total > 0 && *total < value && self.totals.contains(&(value - total)))
    }

    /// Whether the amounts on the rows right above add up to the value.
    fn is_sum_above(&self, value: i64, prints: &[usize]) -> bool {
        prints.iter().any(|index| {
            let line = self.prints[*index].line;
            let end = self.column.partition_point(|(own, _)| *own < line);
            let mut sum = 0i64;
            let mut count = 0;
            for (_, amount) in self.column[..end].iter().rev().take(80) {
                sum += amount;
                count += 1;
                if sum == value && count >= 2 {
                    return true;
                }
                if sum > 4 * value.max(1) {
                    return false;
                }
            }
            false
        })
    }

    /// How sure OCR was of the print of a value that it read best.
    pub(crate) fn ocr_certainty(
        &self,
        sheet: &Sheet,
        candidates: &[Candidate],
        value: &Amount,
    ) -> Option<OcrCertainty> {
        let prints = value.prints.iter().filter_map(|index| candidates.get(self.prints[*index].candidate));
        let read = prints.filter_map(|candidate| sheet.ocr_certainty(std::slice::from_ref(&candidate.tokens)));
        read.max_by(|a, b| a.words.total_cmp(&b.words))
    }

    /// The features of a value by some of its prints.
    pub(crate) fn features(&self, value: &Amount, prints: &[usize], sink: &mut Sink) {
        let own = || prints.iter().map(|index| &self.prints[*index]);
        let flag = |holds: bool| f32::from(u8::from(holds));
        for category in LABELS {
            sink.part("label", category.name(), flag(own().any(|print| print.label.has(*category))));
        }
        for category in HEADINGS {
            sink.part("heading", category.name(), flag(own().any(|print| print.heading.has(*category))));
        }
        for category in NEIGHBOURS {
            sink.part("above", category.name(), flag(own().any(|print| print.above.has(*category))));
            sink.part("below", category.name(), flag(own().any(|print| print.below.has(*category))));
        }
        sink.flag("row_total", own().any(|print| print.row.has(Category::Total)));
        sink.flag("no_label", own().all(|print| print.label.is_empty()));
        sink.flag("unknown_label", own().any(|print| print.label.is_empty() && print.words > 0));
        sink.add("words", own().map(|print| print.words).min().unwrap_or(0) as f32);
        sink.add("amounts_left", own().map(|print| print.amounts_left).min().unwrap_or(0) as f32);
        sink.add("amounts_right", own().map(|print| print.amounts_right).min().unwrap_or(0) as f32);
        sink.flag("currency", own().any(|print| print.has_sign));
        sink.flag("decimals", own().any(|print| print.has_decimals));
        sink.flag("negative", own().all(|print| print.is_negative));
        self.value_features(value, sink);
        self.place_features(prints, sink);
        for (index, name) in STRONG_NAMES.iter().enumerate() {
            let others = self.values.iter().filter(|other| other.value != value.value);
            let rival = others.map(|other| other.strong[index]).fold(0.0, f32::max);
            sink.part("own", name, value.strong[index]);
            sink.part("lead", name, value.strong[index] - rival);
        }
    }

    fn value_features(&self, value: &Amount, sink: &mut Sink) {
        let larger = self.values.iter().filter(|other| other.value > value.value).count();
        sink.add("rank", (larger as f32).min(30.0));
        sink.add("share", value.value as f32 / self.largest.max(1) as f32);
        sink.flag("zero", value.value == 0);
        sink.add("size", (value.value as f32 + 1.0).ln());
        sink.add("count", self.values.len() as f32);
        sink.flag("has_cash", !self.cash.is_empty());
        sink.flag("has_change", !self.change.is_empty());
        sink.flag("is_change", self.change.contains(&value.value));
        sink.flag("is_tax_named", self.taxes.contains(&value.value));
        sink.flag("is_discount", self.discounts.contains(&value.value));
        sink.add("is_net", self.is_net(value.value));
        sink.add("is_tax", self.is_tax(value.value));
        let below_cash = self.cash.iter().filter(|cash| **cash >= value.value).count();
        sink.flag("below_all_cash", below_cash == self.cash.len() && !self.cash.is_empty());
        // A sum and its rounded form stand both on the slip.
        let near = |step: i64| self.known.contains(&(value.value + step)) || self.known.contains(&(value.value - step));
        let has_twin = value.value > 20 && (1..=4).any(near);
        sink.flag("rounding_twin", has_twin);
        sink.flag("rounded", has_twin && value.value % 5 == 0);
        sink.flag("unrounded", has_twin && value.value % 5 != 0);
        let rounded_by = |sign: i64| self.roundings.iter().any(|by| self.known.contains(&(value.value + sign * by)));
        sink.flag("after_rounding", rounded_by(1) || rounded_by(-1));
        sink.flag("after_discount", self.discounts.iter().any(|by| self.known.contains(&(value.value + by))));
        sink.flag("two_totals", self.is_two_totals(value.value));
        sink.flag("before_discount", self.discounts.iter().any(|by| self.known.contains(&(value.value - by))));
    }

    fn place_features(&self, prints: &[usize], sink: &mut Sink) {
        let own = || prints.iter().map(|index| &self.prints[*index]);
        let first = own().map(|print| print.line).min().unwrap_or(0);
        let last = own().map(|print| print.line).max().unwrap_or(0);
        let all = self.lines.max(1) as f32;
        sink.add("first_y", first as f32 / all);
        sink.add("last_y", last as f32 / all);
        let behind = |line: usize| self.money_lines.len() - self.money_lines.partition_point(|own| *own <= line);
        sink.add("rows_behind_first", (behind(first) as f32).min(20.0));
        sink.add("rows_behind_last", (behind(last) as f32).min(20.0));
        let to_payment = self.first_payment.map_or(15.0, |line| (line as f32 - first as f32).clamp(-12.0, 12.0));
        sink.add("to_payment_first", to_payment);
        let to_payment = self.first_payment.map_or(15.0, |line| (line as f32 - last as f32).clamp(-12.0, 12.0));
        sink.add("to_payment_last", to_payment);
        sink.flag("below_summary", self.first_summary.is_some_and(|line| first > line));
        let largest = own().map(|print| print.height).fold(0.0, f32::max);
        sink.add("height", largest);
        sink.add("right", own().map(|print| print.right).fold(1.0, f32::min));
        let rows: HashSet<usize> = own().map(|print| print.line).collect();
        sink.add("rows", rows.len() as f32);
    }

    /// The names of the features, in order.
    pub(crate) fn feature_names() -> Vec<String> {
        let mut sink = Sink::with_names();
        let sheet = Sheet::new(&[]);
        let amounts = Self::new(&sheet, &[]);
        amounts.features(&Amount { value: 0, prints: Vec::new(), strong: [0.0; STRONG] }, &[], &mut sink);
        sink.into_names()
    }
}

fn is_plain_total(print: &AmountPrint) -> bool {
    print.label.has(Category::Total) && !print.label.has_any(NOT_PLAIN)
}

/// Whether a tax is a known rate of a net amount, to the cent.
fn has_rate(net: i64, tax: i64) -> bool {
    RATES.iter().any(|rate| (net * rate / 1000 - tax).abs() <= 1 || ((net * rate + 500) / 1000 - tax).abs() <= 1)
}

/// An amount in hundredths, without its sign.
pub(crate) fn hundredths(normalised: &str) -> Option<(i64, bool, usize)> {
    let unsigned = normalised.trim_start_matches('-');
    let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    if whole.len() > 11 || decimals.len() > 2 {
        return None;
    }
    let whole: i64 = whole.parse().ok()?;
    let fraction: i64 = match decimals.len() {
        0 => 0,
        1 => decimals.parse::<i64>().ok()? * 10,
        _ => decimals.parse().ok()?,
    };
    Some((whole * 100 + fraction, normalised.starts_with('-'), decimals.len()))
}

fn print(
    sheet: &Sheet,
    candidates: &[Candidate],
    index: usize,
    candidate: &Candidate,
    hits: &[Vec<LexiconHit>],
    rows: &[Categories],
) -> Option<AmountPrint> {
    let (value, is_negative, decimals) = hundredths(&candidate.parsed.normalised)?;
    let line = &sheet.lines[candidate.line];
    let is_amount = |other: &Candidate| {
        other.line == candidate.line && (other.parsed.normalised.contains('.') || other.currency.is_some())
    };
    let before = candidates[..index].iter().rev().take_while(|other| other.line == candidate.line);
    let previous = before.clone().find(|other| is_amount(other)).map_or(line.tokens.start, |other| other.tokens.end);
    let amounts_left = before.filter(|other| is_amount(other)).count();
    let amounts_right = candidates[index + 1..]
        .iter()
        .take_while(|other| other.line == candidate.line)
        .filter(|other| is_amount(other))
        .count();
    let mut label = Categories::default();
    for hit in &hits[candidate.line] {
        let token = line.parts[hit.start].token;
        if (previous..candidate.tokens.start).contains(&token) {
            label = label.union(hit.categories);
        }
    }
    let is_word = |token: &usize| sheet.tokens[*token].text.chars().filter(|c| c.is_alphabetic()).count() >= 2;
    let words = (previous..candidate.tokens.start).filter(is_word).count();
    let page = sheet.page_of(candidate.line);
    let neighbour = |line: Option<usize>| {
        line.filter(|line| page.lines.contains(line)).map_or(Categories::default(), |line| rows[line])
    };
    let above = neighbour(candidate.line.checked_sub(1));
    let has_words = line.tokens.clone().any(|token| is_word(&token) && !candidate.tokens.contains(&token));
    // A label may stand on a row of its own, above an amount that has none.
    if !has_words && candidate.line > page.lines.start {
        let is_free = !candidates.iter().any(|other| {
            other.line + 1 == candidate.line && (other.parsed.normalised.contains('.') || other.currency.is_some())
        });
        if is_free {
            label = label.union(above);
        }
    }
    if decimals < 2 && candidate.currency.is_none() && (label.is_empty() || value > 1_000_000_000) {
        return None;
    }
    Some(AmountPrint {
        value,
        candidate: index,
        line: candidate.line,
        is_negative,
        has_decimals: decimals == 2,
        has_sign: candidate.currency.is_some(),
        label,
        heading: heading(sheet, candidate, hits),
        above,
        below: neighbour(Some(candidate.line + 1)),
        row: rows[candidate.line],
        words,
        amounts_left,
        amounts_right,
        right: ((page.width - candidate.rect.x1) / page.width.max(1.0)).clamp(0.0, 1.0),
        height: (candidate.rect.height() / page.text_height).clamp(0.0, 5.0),
    })
}

/// What the nearest words above an amount in its column say.
fn heading(sheet: &Sheet, candidate: &Candidate, hits: &[Vec<LexiconHit>]) -> Categories {
    let first = sheet.page_of(candidate.line).lines.start.max(candidate.line.saturating_sub(FARTHEST_HEADING));
    for above in (first..candidate.line).rev() {
        let line = &sheet.lines[above];
        for segment in &line.segments {
            let rect = sheet.rect_of(&segment.tokens);
            let overlaps = rect.x0 < candidate.rect.x1 && rect.x1 > candidate.rect.x0;
            if !overlaps || segment.text.chars().any(|c| c.is_ascii_digit()) {
                continue;
            }
            if segment.text.chars().filter(|c| c.is_alphabetic()).count() < 2 {
                continue;
            }
            let own = hits[above].iter().filter(|hit| segment.tokens.contains(&line.parts[hit.start].token));
            return own.fold(Categories::default(), |all, hit| all.union(hit.categories));
        }
    }
    Categories::default()
}
