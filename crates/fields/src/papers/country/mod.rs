//! Words, marks, dates, taxes and legal forms of a country.

mod continent;
mod english;

use fastrand::Rng;

/// How days are printed.
#[derive(Debug, Clone, Copy)]
pub(super) enum DatePrint {
    /// `d`, `m`, `y` in order with a mark; years of four digits or two.
    Figures(&'static str, &'static str, bool),
    /// `24 MAR 2018`, `24-Mar-18`.
    DayMonth(&'static str, bool),
    /// `Mar 24, 2018`.
    MonthDay,
}

#[derive(Debug)]
pub(super) struct Country {
    pub sign: &'static [&'static str],
    pub decimal: char,
    pub group: &'static str,
    pub dates: &'static [DatePrint],
    pub months: [&'static str; 12],
    pub total: &'static [&'static str],
    pub grand: &'static [&'static str],
    pub sub: &'static [&'static str],
    pub net: &'static [&'static str],
    pub tax: &'static [&'static str],
    pub rates: &'static [u32],
    pub cash: &'static [&'static str],
    pub change: &'static [&'static str],
    pub card: &'static [&'static str],
    pub rounding: &'static [&'static str],
    /// 5 where nobody has coins of one.
    pub step: i64,
    pub discount: &'static [&'static str],
    pub service: &'static [&'static str],
    pub quantity: &'static [&'static str],
    pub summary: &'static [&'static str],
    pub headings: [&'static str; 4],
    pub title: &'static [&'static str],
    pub date: &'static [&'static str],
    pub time: &'static [&'static str],
    pub clerk: &'static [&'static str],
    pub number: &'static [&'static str],
    pub phone: &'static [&'static str],
    pub tax_id: &'static [&'static str],
    pub legal: &'static [&'static str],
    pub trade: &'static [&'static str],
    pub street: &'static [&'static str],
    pub greeting: &'static [&'static str],
    pub points: &'static [&'static str],
    pub valid: &'static [&'static str],
    pub owner: &'static [&'static str],
}

const ENGLISH_MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY_FIRST: &[DatePrint] = &[
    DatePrint::Figures("dmy", "/", true),
    DatePrint::Figures("dmy", "/", false),
    DatePrint::Figures("dmy", "-", true),
    DatePrint::Figures("dmy", "-", false),
    DatePrint::Figures("dmy", ".", true),
    DatePrint::Figures("ymd", "-", true),
    DatePrint::DayMonth(" ", true),
    DatePrint::DayMonth("-", true),
    DatePrint::Figures("ymd", "/", true),
];
const DOTTED: &[DatePrint] = &[
    DatePrint::Figures("dmy", ".", true),
    DatePrint::Figures("dmy", ".", false),
    DatePrint::Figures("ymd", "-", true),
    DatePrint::Figures("dmy", "/", true),
];
/// The order is part of what a seed means: papers are made by drawing from it.
pub(super) const COUNTRIES: &[Country] = &[
    english::MALAYSIA,
    english::SINGAPORE,
    english::UNITED_STATES,
    english::UNITED_KINGDOM,
    continent::GERMANY,
    continent::FRANCE,
    continent::SPAIN,
    continent::NETHERLANDS,
    continent::ITALY,
    continent::SWEDEN,
    continent::POLAND_AND_CZECHIA,
];
impl DatePrint {
    /// A day in print.
    pub(super) fn print(self, country: &Country, (year, month, day): (i32, usize, u32), rng: &mut Rng) -> String {
        let upper = rng.bool();
        let name = country.months[month - 1];
        let short: String = name.chars().take(if rng.bool() { 3 } else { 20 }).collect();
        let short = if upper { short.to_uppercase() } else { short };
        match self {
            Self::Figures(order, mark, long) => {
                let part = |c: char| match c {
                    'd' => format!("{day:02}"),
                    'm' => format!("{month:02}"),
                    _ if long => format!("{year}"),
                    _ => format!("{:02}", year % 100),
                };
                order.chars().map(part).collect::<Vec<_>>().join(mark)
            }
            Self::DayMonth(mark, long) => {
                let year = if long { year } else { year % 100 };
                format!("{day}{mark}{short}{mark}{year}")
            }
            Self::MonthDay => format!("{short} {day}, {year}"),
        }
    }
}

impl Country {
    /// An amount in hundredths, as it is printed here.
    pub(super) fn amount(&self, value: i64, sign: &str) -> String {
        let whole = (value.abs() / 100).to_string();
        let mut grouped = String::new();
        for (index, digit) in whole.chars().enumerate() {
            if index > 0 && (whole.len() - index).is_multiple_of(3) {
                grouped.push_str(self.group);
            }
            grouped.push(digit);
        }
        let minus = if value < 0 { "-" } else { "" };
        let number = format!("{grouped}{}{:02}", self.decimal, value.abs() % 100);
        if sign.starts_with(' ') { format!("{minus}{number}{sign}") } else { format!("{minus}{sign}{number}") }
    }
}
