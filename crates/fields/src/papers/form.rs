//! Forms whose labels are meaningless words: what a type of one's own has to be read from.
//!
//! A form prints more labels than are asked for. Some labels have several words or alternatives, some are named in
//! prose, some stand above their values, in grids, or head a table of other values; a second label of a field may have
//! another value, and then the first of its labels is meant.

use super::{
    MadePaper,
    canvas::{At, Canvas},
    country::{COUNTRIES, Country, DatePrint},
    names, noise,
};
use fastrand::Rng;
use std::{collections::BTreeMap, fmt::Write as _};

/// What a value of a form is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Money,
    Date,
    Code,
    Text,
    /// Two dates, each of them asked for.
    Span,
}

struct FormEntry {
    kind: Kind,
    /// As printed, and other words that the type knows for it.
    label: String,
    others: Vec<String>,
    /// Another of its labels, printed with another value.
    second: Option<(String, Value)>,
    value: Value,
    is_asked: bool,
    is_printed: bool,
}

#[derive(Clone)]
struct Value {
    printed: String,
    normalised: String,
}

struct FormStyle {
    country: &'static Country,
    date: DatePrint,
    sign: &'static str,
    colon: &'static str,
    layout: u32,
    gap: f32,
    upper: bool,
    bounds: bool,
}

/// Words that labels of forms are often built with, so that some of them share words.
const SHARED: &[&str] =
    &["No", "Date", "Code", "Name", "Total", "Type", "Ref", "Amount", "Period", "Start", "End", "Gross", "Net"];
const PROSE: &[&str] = &[
    "please check that the",
    "the",
    "is binding for both parties",
    "subject to the terms",
    "as stated in the",
    "and the",
    "will be confirmed",
    "before any payment",
    "of this order",
    "may change without notice",
];

fn label(kind: Kind, rng: &mut Rng) -> String {
    let mut words: Vec<String> = (0..[1, 1, 2, 2, 3][rng.usize(..5)]).map(|_| names::invented_word(rng)).collect();
    if rng.u32(..3) == 0 {
        let shared = match kind {
            Kind::Date if rng.bool() => "Date",
            Kind::Code if rng.bool() => "No",
            _ => names::pick(rng, SHARED),
        };
        words.push(shared.to_owned());
    }
    words.join(" ")
}

fn value(kind: Kind, style: &FormStyle, rng: &mut Rng) -> Value {
    match kind {
        Kind::Money => {
            let most = [5_000, 100_000, 5_000_000][rng.usize(..3)];
            let cents = rng.i64(100..most);
            let cents = if rng.bool() { cents / 100 * 100 } else { cents };
            let sign = if rng.u32(..3) > 0 { style.sign } else { "" };
            let normalised = format!("{}.{:02}", cents / 100, cents % 100);
            Value { printed: style.country.amount(cents, sign), normalised }
        }
        Kind::Date => {
            let day = (rng.i32(2010..2027), rng.usize(1..13), rng.u32(13..29));
            let normalised = format!("{:04}-{:02}-{:02}", day.0, day.1, day.2);
            Value { printed: style.date.print(style.country, day, rng), normalised }
        }
        Kind::Span => {
            let (first, second) = (value(Kind::Date, style, rng), value(Kind::Date, style, rng));
            let (first, second) = if first.normalised <= second.normalised { (first, second) } else { (second, first) };
            let mark = [" - ", "-", " to ", " – "][rng.usize(..4)];
            Value {
                printed: format!("{}{mark}{}", first.printed, second.printed),
                normalised: format!("{} {}", first.normalised, second.normalised),
            }
        }
        Kind::Code => {
            let count = rng.usize(4..9);
            let mut text = names::digits(rng, count);
            match rng.u32(..4) {
                0 => text = format!("{}-{}", text, rng.u32(1..30)),
                1 => text.insert(0, rng.char('A'..='Z')),
                _ => {}
            }
            Value { normalised: text.clone(), printed: text }
        }
        Kind::Text => {
            let text = match rng.u32(..4) {
                0 => names::person(rng),
                1 => format!("{}/{}", names::invented_word(rng), names::invented_word(rng)),
                _ => names::company(rng, style.country),
            };
            let text = match rng.u32(..6) {
                0 => format!("{text} for {}", names::company(rng, style.country)),
                1 => format!("{text} {}", rng.u32(1990..2030)),
                2 => format!("{text} ({})", names::digits(rng, 4)),
                _ => text,
            };
            // Longer ones would run into the next column.
            let most = match style.layout {
                2 => 24,
                3 | 6 => 30,
                4 => 44,
                _ => 56,
            };
            let text: String = text.chars().take(most).collect();
            let text = text.trim_end_matches([' ', '(', '/', '&']).to_owned();
            Value { normalised: text.clone(), printed: text }
        }
    }
}

/// A form of a maker.
pub fn form(maker: u32, seed: u64) -> MadePaper {
    let own = &mut Rng::with_seed(0xf0f0_0000 + u64::from(maker));
    let country = &COUNTRIES[own.usize(..COUNTRIES.len())];
    let style = FormStyle {
        country,
        date: country.dates[own.usize(..country.dates.len())],
        sign: names::pick(own, country.sign),
        colon: ["", ":", " :", ":"][own.usize(..4)],
        layout: own.u32(..7),
        gap: [0.4, 0.8, 1.4][own.usize(..3)],
        upper: own.u32(..4) == 0,
        bounds: own.u32(..3) == 0,
    };
    // Labels belong to the maker, values to the paper.
    let kinds = [Kind::Money, Kind::Date, Kind::Code, Kind::Text, Kind::Span];
    let count = own.usize(7..18);
    let mut labels: Vec<(Kind, String, Vec<String>, bool)> = Vec::new();
    for index in 0..count {
        let kind = if index < 5 { kinds[index] } else { kinds[own.usize(..5)] };
        let others = (0..own.usize(..3)).map(|_| label(kind, own)).collect();
        labels.push((kind, label(kind, own), others, index < 5 || own.u32(..3) == 0));
    }
    // Labels of nobody that begin with the words of one that is asked for: "Client" and "Client Ref".
    for _ in 0..own.usize(..4) {
        let longer = format!("{} {}", labels[own.usize(..labels.len())].1, label(Kind::Code, own));
        labels.push((kinds[own.usize(2..4)], longer, Vec::new(), false));
    }
    own.shuffle(&mut labels);
    let mut rng = Rng::with_seed(seed ^ (u64::from(maker) << 32));
    let rng = &mut rng;
    let entries: Vec<FormEntry> = labels
        .into_iter()
        .map(|(kind, label, others, is_asked)| {
            let second = (is_asked && !others.is_empty() && rng.u32(..4) == 0)
                .then(|| (others[0].clone(), value(kind, &style, rng)));
            let is_printed = rng.u32(..7) > 0;
            FormEntry { kind, label, others, second, value: value(kind, &style, rng), is_asked, is_printed }
        })
        .collect();
    let mut form = Form { canvas: Canvas::new(560.0, 10.0), style: &style };
    form.print(&entries, rng);
    let mut truth = BTreeMap::new();
    for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.is_asked) {
        let second = entry.second.as_ref().map(|(_, value)| value);
        let meant = if entry.is_printed { Some(&entry.value) } else { second };
        let Some(meant) = meant else { continue };
        match meant.normalised.split_once(' ').filter(|_| entry.kind == Kind::Span) {
            Some((start, end)) => {
                truth.insert(format!("f{index}_start"), start.to_owned());
                truth.insert(format!("f{index}_end"), end.to_owned());
            }
            None => {
                truth.insert(format!("f{index}"), meant.normalised.clone());
            }
        }
    }
    let mut kept: Vec<String> = Vec::new();
    for entry in &entries {
        kept.extend([entry.value.printed.clone(), entry.label.clone(), entry.label.to_uppercase()]);
        kept.extend(entry.second.iter().flat_map(|(label, value)| [label.clone(), value.printed.clone()]));
    }
    let level = [0.0, 0.0, 0.0, 0.5, 1.0][rng.usize(..5)];
    let mut canvas = form.canvas;
    noise::spoil(&mut canvas, &kept, level, rng);
    MadePaper { page: canvas.into_page(), truth, doctype: Some(doctype(&entries)), maker }
}

/// The type that asks for the values of a form.
fn doctype(entries: &[FormEntry]) -> String {
    let mut text = String::from("name: form_of_ones_own\nfields:\n");
    for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.is_asked) {
        let kind = match entry.kind {
            Kind::Money => "money",
            Kind::Date | Kind::Span => "date",
            Kind::Code | Kind::Text => "string",
        };
        let labels: Vec<String> =
            std::iter::once(&entry.label).chain(&entry.others).map(|label| format!("{label:?}")).collect();
        let ends: &[&str] = if entry.kind == Kind::Span { &["start", "end"] } else { &[""] };
        for end in ends {
            let name = if end.is_empty() { format!("f{index}") } else { format!("f{index}_{end}") };
            let _ = write!(text, "  {name}:\n    type: {kind}\n    labels: [{}]\n", labels.join(", "));
            if !end.is_empty() {
                let _ = writeln!(text, "    span: {end}");
            }
        }
        if entry.kind == Kind::Code {
            let _ = writeln!(text, "    pattern: '[A-Za-z0-9]*\\d[A-Za-z0-9]*(?:[-/._][A-Za-z0-9]+)*'");
        }
    }
    text
}

struct Form<'s> {
    canvas: Canvas,
    style: &'s FormStyle,
}

impl Form<'_> {
    fn label(&self, label: &str) -> String {
        let text = if self.style.upper { label.to_uppercase() } else { label.to_owned() };
        format!("{text}{}", self.style.colon)
    }

    fn print(&mut self, entries: &[FormEntry], rng: &mut Rng) {
        self.canvas.put(At::Left(30.0), &names::company(rng, self.style.country), 1.4);
        self.canvas.feed(1.4, 0.4);
        for line in names::address(rng, self.style.country) {
            self.canvas.put(At::Left(30.0), &line, 1.0);
            self.canvas.feed(1.0, 0.3);
        }
        self.canvas.feed(0.0, 1.5);
        let mut all: Vec<(String, &str)> = Vec::new();
        // An amount may be the total of a table, and stand in its last row.
        let is_amount = |entry: &FormEntry| entry.kind == Kind::Money && entry.is_printed;
        let total = if rng.bool() { entries.iter().position(is_amount) } else { None };
        for (index, entry) in entries.iter().enumerate() {
            if total == Some(index) {
                continue;
            }
            if entry.is_printed {
                all.push((self.label(&entry.label), &entry.value.printed));
            } else if rng.u32(..4) > 0 {
                // Many forms are printed with their labels, and left blank.
                all.push((self.label(&entry.label), ""));
            }
        }
        for entry in entries {
            if let Some((label, value)) = &entry.second {
                let at = rng.usize(..=all.len());
                all.insert(at, (self.label(label), &value.printed));
            }
        }
        if rng.u32(..3) == 0 {
            self.prose(entries, rng);
        }
        match self.style.layout {
            0 | 1 => self.pairs(&all, 1, rng),
            2 => self.pairs(&all, 2, rng),
            3 => self.grid(&all, 3),
            4 => self.grid(&all, 2),
            5 => self.add_mixed(&all, rng),
            _ => {
                let half = all.len() / 2;
                self.grid(&all[..half], 3);
                self.pairs(&all[half..], 1, rng);
            }
        }
        let total = total.map(|index| (self.label(&entries[index].label), entries[index].value.printed.as_str()));
        if total.is_some() || rng.bool() {
            self.table(total, rng);
        }
        if rng.u32(..3) == 0 {
            self.prose(entries, rng);
        }
    }

    /// `label: value`, in one column or two.
    fn pairs(&mut self, all: &[(String, &str)], columns: usize, rng: &mut Rng) {
        let width = 500.0 / columns as f32;
        let indent = [0.0, 90.0, 130.0][rng.usize(..3)];
        for row in all.chunks(columns) {
            for (column, (label, value)) in row.iter().enumerate() {
                let left = 30.0 + width * column as f32;
                self.canvas.put(At::Left(left), label, 1.0);
                let end = left + (label.chars().count() as f32 + 1.0) * self.canvas.height * 0.52;
                self.canvas.put(At::Left(end.max(left + indent)), value, 1.0);
            }
            self.canvas.feed(1.0, self.style.gap);
        }
        self.canvas.feed(0.0, 1.0);
    }

    /// Labels in a row, and their values below.
    fn grid(&mut self, all: &[(String, &str)], columns: usize) {
        let width = 520.0 / columns as f32;
        for row in all.chunks(columns) {
            for (column, (label, _)) in row.iter().enumerate() {
                self.canvas.put(At::Left(30.0 + width * column as f32), label, 0.8);
            }
            self.canvas.feed(0.8, 0.3);
            for (column, (_, value)) in row.iter().enumerate() {
                self.canvas.put(At::Left(30.0 + width * column as f32), value, 1.0);
            }
            self.canvas.feed(1.0, self.style.gap);
        }
        self.canvas.feed(0.0, 1.0);
    }

    fn add_mixed(&mut self, all: &[(String, &str)], rng: &mut Rng) {
        for (label, value) in all {
            let left = [30.0, 300.0][rng.usize(..2)];
            self.canvas.put(At::Left(left), label, 1.0);
            if rng.bool() {
                self.canvas.put(At::Right(540.0), value, 1.0);
            } else {
                self.canvas.feed(1.0, 0.2);
                self.canvas.put(At::Left(left), value, 1.0);
            }
            self.canvas.feed(1.0, self.style.gap);
        }
    }

    /// Rows of days and amounts that nobody asks for, and perhaps their total, which somebody does.
    fn table(&mut self, total: Option<(String, &str)>, rng: &mut Rng) {
        let columns = [30.0, 140.0, 280.0, 420.0];
        for left in columns {
            let heading =
                if rng.u32(..3) == 0 { names::pick(rng, SHARED).to_owned() } else { names::invented_word(rng) };
            self.canvas.put(At::Left(left), &heading, 1.0);
        }
        self.canvas.feed(1.0, 0.4);
        let rows = rng.usize(1..7);
        for _ in 0..rows {
            for (left, kind) in columns.into_iter().zip([Kind::Code, Kind::Date, Kind::Text, Kind::Money]) {
                let text: String = value(kind, self.style, rng).printed.chars().take(22).collect();
                self.canvas.put(At::Left(left), &text, 1.0);
            }
            self.canvas.feed(1.0, 0.3);
        }
        if let Some((label, value)) = total {
            self.canvas.put(At::Left(columns[rng.usize(..3)]), &label, 1.0);
            if rng.bool() {
                self.canvas.put(At::Right(400.0), &rng.u32(1..90).to_string(), 1.0);
            }
            self.canvas.put(At::Left(420.0), value, 1.0);
            self.canvas.feed(1.0, 0.3);
        }
        if self.style.bounds {
            self.canvas.put(At::Left(280.0), names::pick(rng, SHARED), 1.0);
            let text = value(Kind::Money, self.style, rng).printed;
            self.canvas.put(At::Left(420.0), &text, 1.0);
            self.canvas.feed(1.0, 0.3);
        }
        self.canvas.feed(0.0, 1.0);
    }

    /// Sentences that name labels without stating their values.
    fn prose(&mut self, entries: &[FormEntry], rng: &mut Rng) {
        for _ in 0..rng.usize(1..4) {
            let mut words: Vec<String> = Vec::new();
            for _ in 0..3 {
                words.push(names::pick(rng, PROSE).to_owned());
                let entry = &entries[rng.usize(..entries.len())];
                words.push(if rng.bool() { entry.label.to_lowercase() } else { entry.label.clone() });
                if rng.u32(..3) == 0 {
                    words.push(value([Kind::Date, Kind::Money, Kind::Code][rng.usize(..3)], self.style, rng).printed);
                }
            }
            self.canvas.put(At::Left(30.0), &words.join(" "), 0.8);
            self.canvas.feed(0.8, 0.3);
        }
        self.canvas.feed(0.0, 0.8);
    }
}
